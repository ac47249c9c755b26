"""Write a lab that runs, from ``tools/template``: ``python -m tools.new_lab SLUG``.

It copies the template under the new name, names the lab in ``LABS``, trains its tiny network, measures it and stores its first example:
what a page needs. Then each of its files can be made into what the lab is about; what is still to be written begins with “[to write]”.
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
NAME = "new_lab"  # what the lab is called in the template; in names of files that are saved, "new-lab"
LIST = Path("explorer/labs/__init__.py")
KINDS = (".py", ".md", ".js", ".css")


def copy(slug: str, root: Path = ROOT) -> list[Path]:
    """Copy the template under a new name; the files that it wrote. ValueError for a bad name, FileExistsError where one is there."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", slug):
        raise ValueError(f"{slug!r} is no name of a lab: lower-case letters, digits and underscores, a letter first")
    pairs = {
        path: root / str(path.relative_to(TEMPLATE)).replace(NAME, slug) for path in sorted(TEMPLATE.rglob("*")) if path.suffix in KINDS
    }
    there = next((path for path in pairs.values() if path.exists()), None)
    if there is not None:
        raise FileExistsError(f"{there.relative_to(root)} is there already")
    for source, target in pairs.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text("utf-8").replace(NAME, slug).replace(NAME.replace("_", "-"), slug.replace("_", "-"))
        target.write_text(text, "utf-8")
    return list(pairs.values())


def enlist(slug: str, root: Path = ROOT) -> None:
    """Name the lab in LABS, behind all others."""
    path = root / LIST
    text = path.read_text("utf-8")
    path.write_text(re.sub(r"(NAMES = \(\n(?:    \"\w+\",\n)*)", rf'\1    "{slug}",\n', text, count=1), "utf-8")


def tidy(files: Sequence[Path]) -> None:
    """Sort imports and break lines anew, for the new name is longer or shorter."""
    written = [str(path) for path in files if path.suffix == ".py"]
    for command in (("check", "--quiet", "--fix", "--select", "I"), ("format", "--quiet")):
        subprocess.run([sys.executable, "-m", "ruff", *command, *written], cwd=ROOT, check=True)


def make(slug: str, root: Path = ROOT) -> None:
    """What `learn` does, in a process that imports what was just written."""
    subprocess.run([sys.executable, "-c", f"from tools.new_lab import learn; learn({slug!r})"], cwd=root, check=True)


def learn(slug: str) -> None:
    """Train the network of a lab on the CPU, measure it and store its first example."""
    import torch

    from models.__main__ import examples, recipe_of

    recipe, cpu = recipe_of(slug), torch.device("cpu")
    with tempfile.TemporaryDirectory() as runs:
        recipe.train(Path(), Path(runs), device=cpu)
    recipe.evaluate(Path(), device=cpu, record=True)
    examples(slug)


def main() -> int:
    """Write the lab that the command line names; 0 when it runs."""
    parser = argparse.ArgumentParser(prog="python -m tools.new_lab", description="Write a lab that runs.")
    parser.add_argument("slug", help="its name: folders, address and assets are called so")
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
    print(f"/{slug} runs: python app.py. Next: python -m explorer.readme, and what still begins with “[to write]”.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
