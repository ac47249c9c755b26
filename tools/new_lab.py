"""Write a lab that runs, from ``tools/template``: ``python -m tools.new_lab SLUG``.

It copies the template under the new name, names the lab in ``LABS``, trains its tiny network,
measures it and stores its first example: everything that a page needs. Then its author fills each
of its files with the lab's subject; every missing part begins with “[to write]”.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEMPLATE = Path(__file__).parent / "template"
# The name of the lab in the template; in names of files that are saved, "new-lab".
NAME = "new_lab"
LIST = Path("explorer/labs/__init__.py")
KINDS = (".py", ".md", ".js", ".css")


def copy(slug: str, root: Path = ROOT) -> list[Path]:
    """Copy the template under a new name, and return the files that it wrote.

    Raise ValueError for a bad name, FileExistsError where a file is there already.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", slug):
        raise ValueError(
            f"{slug!r} is no name of a lab: lower-case letters, digits and underscores, a letter"
            " first"
        )
    pairs = {
        path: root / str(path.relative_to(TEMPLATE)).replace(NAME, slug)
        for path in sorted(TEMPLATE.rglob("*"))
        if path.suffix in KINDS
    }
    there = next((path for path in pairs.values() if path.exists()), None)
    if there is not None:
        raise FileExistsError(f"{there.relative_to(root)} is there already")
    for source, target in pairs.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (
            source.read_text("utf-8")
            .replace(NAME, slug)
            .replace(NAME.replace("_", "-"), slug.replace("_", "-"))
        )
        target.write_text(text, "utf-8")
    return list(pairs.values())


def enlist(slug: str, root: Path = ROOT) -> None:
    """Name the lab in LABS, behind all others."""
    path = root / LIST
    text = path.read_text("utf-8")
    path.write_text(
        re.sub(r"(NAMES = \(\n(?:    \"\w+\",\n)*)", rf'\1    "{slug}",\n', text, count=1), "utf-8"
    )


def tidy(files: Sequence[Path]) -> None:
    """Sort imports and break lines anew, because the new name is longer or shorter."""
    written = [str(path) for path in files if path.suffix == ".py"]
    for command in (("check", "--quiet", "--fix", "--select", "I"), ("format", "--quiet")):
        subprocess.run([sys.executable, "-m", "ruff", *command, *written], cwd=ROOT, check=True)


def make(slug: str, root: Path = ROOT) -> None:
    """Run `learn` in a process that imports the new files."""
    subprocess.run(
        [sys.executable, "-c", f"from tools.new_lab import learn; learn({slug!r})"],
        cwd=root,
        check=True,
    )


def learn(slug: str) -> None:
    """Train the network of a lab on the CPU, measure it and store its first example."""
    import torch

    from models.__main__ import find_recipe, store_examples

    recipe, cpu = find_recipe(slug), torch.device("cpu")
    with tempfile.TemporaryDirectory() as runs:
        recipe.train(Path(), Path(runs), device=cpu)
    recipe.evaluate(Path(), device=cpu, record=True)
    store_examples(slug)


def main() -> int:
    """Write the lab that the command line names; return 0 when it runs, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.new_lab", description="Write a lab that runs."
    )
    parser.add_argument("slug", help="name of the lab, its folders, its address and its assets")
    slug = parser.parse_args().slug
    try:
        files = copy(slug)
    except (ValueError, FileExistsError) as error:
        print(error, file=sys.stderr)
        return 1
    enlist(slug)
    tidy(files)
    make(slug)
    print(*(path.relative_to(ROOT) for path in files), sep="\n")
    print(
        f"/{slug} runs: python app.py. Next: python -m explorer.readme, and what still begins with"
        " “[to write]”."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
