"""Check the types of our scripts: ``python -m tools.script_types``.

``deno check`` reads what JSDoc says of each function and what explorer/frontend/border.d.ts says
of the values that Python sends. The files of `UNTYPED` are not checked yet. The list only shrinks:
one of them that has no fault any more is named too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "explorer"
CONFIG = FOLDER / "frontend/deno.json"
UNTYPED: tuple[str, ...] = (
    "frontend/components/compare.js",
    "frontend/frames/bertviz.js",
    "frontend/lib/board.js",
    "frontend/lib/export_picture.js",
    "frontend/lib/knobs.js",
    "frontend/lib/map.js",
    "frontend/lib/maps.js",
    "frontend/lib/pen.js",
    "frontend/lib/plots.js",
    "labs/bert/arrows.js",
    "labs/image_transformer/spans.js",
    "labs/music/skew.js",
    "labs/nonautoregressive/passes.js",
    "labs/reformer/hashboards.js",
    "labs/reformer/hashing.js",
    "labs/reformer/rewind.js",
    "labs/transformer_xl/segments.js",
    "labs/transformer_xl/terms.js",
)
FAULT = re.compile(r"^(TS\d+ .*?)^    at file://([^\n]*?):(\d+):\d+", re.DOTALL | re.MULTILINE)
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def list_scripts() -> list[Path]:
    """Return the scripts and declarations that are checked together."""
    return sorted(path for ending in ("js", "d.ts") for path in FOLDER.rglob(f"*.{ending}"))


def check_scripts(paths: list[Path]) -> dict[str, list[str]]:
    """Return what deno finds wrong in each file, by its path under explorer/.

    Raise RuntimeError where deno says something else.
    """
    deno = str(Path(sys.executable).with_name("deno"))
    done = subprocess.run(
        [deno, "check", "--quiet", f"--config={CONFIG}", *map(str, paths)],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    said = COLOUR.sub("", done.stderr)
    faults: dict[str, list[str]] = defaultdict(list)
    for text, place, line in FAULT.findall(said):
        name = Path(os.path.relpath(place, FOLDER)).as_posix()
        faults[name].append(f"{line}: {text.splitlines()[0]}")
    if done.returncode and not faults:
        raise RuntimeError(f"deno check failed: {said.strip()[-1000:]}")
    return dict(faults)


def list_faults(faults: dict[str, list[str]], untyped: tuple[str, ...] = UNTYPED) -> list[str]:
    """Return a line for each fault that is not allowed, and for each allowance without a fault."""
    wrong = [
        f"explorer/{name}:{fault}"
        for name, each in sorted(faults.items())
        if name not in untyped
        for fault in each
    ]
    clean = [f"explorer/{name} has no fault: take it off UNTYPED" for name in untyped]
    return wrong + [line for name, line in zip(untyped, clean, strict=True) if name not in faults]


def main() -> None:
    """Print what is wrong; exit with 1 where something is."""
    wrong = list_faults(check_scripts(list_scripts()))
    print(*wrong, sep="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
