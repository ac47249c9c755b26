"""Read JavaScript by its syntax tree, which ``deno lint`` hands to tools/measure.js."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

PLUGIN = Path(__file__).with_name("measure.js")


@dataclass(frozen=True)
class Function:
    """A function of a script: its name, "" for none, its first line, and how many it has."""

    name: str
    line: int
    lines: int


@dataclass(frozen=True)
class Script:
    """A script: its code without comments, sentences as one sign, strings without brackets."""

    code: str
    functions: tuple[Function, ...]


def read_scripts(paths: Iterable[Path]) -> dict[Path, Script]:
    """Return what each script holds, by its path.

    Raise ValueError for one that is no JavaScript.
    """
    wanted = {path.resolve(): path for path in paths}
    if not wanted:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "deno.json")
        rules = {"tags": [], "include": ["measure/script"]}
        lint = {"plugins": [PLUGIN.as_uri()], "rules": rules}
        config.write_text(json.dumps({"lint": lint}), "utf-8")
        deno = str(Path(sys.executable).with_name("deno"))
        done = subprocess.run(
            [deno, "lint", "--json", f"--config={config}", *map(str, wanted)],
            capture_output=True,
            text=True,
            check=False,
        )
    said = json.loads(done.stdout or '{"diagnostics": []}')
    scripts = {}
    for message in said["diagnostics"]:
        if message["code"] != "measure/script":
            continue
        path = wanted[Path(unquote(urlsplit(message["filename"]).path))]
        facts = json.loads(message["message"])
        functions = tuple(Function(**each) for each in facts["functions"])
        scripts[path] = Script(facts["code"], functions)
    if missing := [str(path) for path in wanted.values() if path not in scripts]:
        raise ValueError(f"deno reads no script in {', '.join(missing)}: {done.stderr[-500:]}")
    return scripts


def read_script(source: str) -> Script:
    """Return what the text of one script holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.js")
        path.write_text(source, "utf-8")
        return read_scripts([path])[path]
