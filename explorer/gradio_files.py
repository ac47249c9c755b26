"""What Gradio's own script fetches for a page: its scripts, named early so that none waits for another, its styles as one sheet.

Gradio's build (Vite) writes beside each ``import()`` which files come with it, and fetches none that a link in the page names already.
Where another version writes them differently nothing is found here, and the page fetches each by itself, as Gradio does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

_LIST = re.compile(r"m\.f=\[(.*?)\]")
_RELOAD = re.compile(r"(\w+)===`connected`\|\|\1===`changed`\)&&\(([^()]*\(\w+\),\w+=null,)window\.location\.reload\(\)\)")
_IMPORT = re.compile(r"import\(`\./([\w-]+\.js)`\)(?:(?!import\().)*?__vite__mapDeps\(\[([\d,]*)\]\)")


def fetched(folder: Path, entry: str, components: Iterable[str]) -> list[str]:
    """Names of the scripts and styles in `folder` that a page with these components fetches after its first script, in Gradio's order.

    entry: the name of that script. components: as Gradio calls them in a page's configuration: "html", "column".
    """
    start = _read(folder / entry)
    found = list(_with(start, start))
    for name in list(dict.fromkeys(found)):
        text = _read(folder / name)
        if name.startswith("Index-"):
            found += _with(text, "".join(re.findall(r"import\(`\./Blocks-.*?__vite__mapDeps\(\[[\d,]*\]\)", text)))
        if name.startswith("core-"):
            for component in sorted(components):
                found += _with(text, "".join(re.findall(rf"[{{,]{re.escape(component)}:\{{([^{{}}]*)\}}", text)))
    return [name for name in dict.fromkeys(found) if name != entry and (folder / name).is_file()]


def sheet(folder: Path, names: Iterable[str]) -> str:
    """The styles among these files as one sheet, whose addresses stand wherever it does."""
    styles = ((folder / name).read_text("utf-8") for name in names if name.endswith(".css"))
    return "\n".join(re.sub(r"url\((['\"]?)\./", r"url(\1/assets/", text) for text in styles)


def staying(folder: Path) -> dict[str, Callable[[], str]]:
    """Gradio's scripts that reload a page once its server is back, by name, so that they do so only where the server is another one: ours
    holds nothing of a page, and the input bar sends again what was not answered."""

    def read(path: Path) -> str:
        return _RELOAD.sub(r"\1===`connected`||\1===`changed`)&&(\2\1===`changed`&&window.location.reload())", path.read_text("utf-8"))

    return {path.name: partial(read, path) for path in folder.glob("Blocks-*.js")}


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() and path.suffix == ".js" else ""


def _with(script: str, part: str) -> Iterator[str]:
    """The files that come with each import() in a part of a script."""
    listed = _LIST.search(script)
    files = re.findall(r'"\./([\w.-]+)"', listed[1]) if listed else []
    for name, numbers in _IMPORT.findall(part):
        yield name
        yield from (files[int(number)] for number in numbers.split(",") if number and int(number) < len(files))
