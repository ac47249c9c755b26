"""The files that Gradio's own script fetches for a page.

Its scripts are named early, so that none waits for another; its styles become one sheet.

Gradio's build (Vite) writes beside each ``import()`` which files come with it, and fetches none
that a link in the page names already. Where another version writes them differently nothing is
found here, and the page fetches each by itself, as Gradio does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

WRITTEN_FOR = "6.31.0"  # the version of Gradio

_LIST = re.compile(r"m\.f=\[(.*?)\]")
_LOST = re.compile(
    r"this\.connection_lost\|\|\(this\.connection_lost=!0,this\.on_connection_lost_cb\(\)\)"
)
_IMPORT = re.compile(
    r"import\(`\./([\w-]+\.js)`\)(?:(?!import\().)*?__vite__mapDeps\(\[([\d,]*)\]\)"
)


def list_fetched_files(folder: Path, entry: str, components: Iterable[str]) -> list[str]:
    """Return the names of the scripts and styles that a page fetches after its first script.

    They come in Gradio's order.

    folder: the folder of Gradio's files.
    entry: the name of the first script.
    components: the page's components as Gradio names them in a configuration: "html", "column".
    """
    start = _read_text(folder / entry)
    found = list(_list_dependencies(start, start))
    for name in list(dict.fromkeys(found)):
        text = _read_text(folder / name)
        if name.startswith("Index-"):
            found += _list_dependencies(
                text,
                "".join(re.findall(r"import\(`\./Blocks-.*?__vite__mapDeps\(\[[\d,]*\]\)", text)),
            )
        if name.startswith("core-"):
            for component in sorted(components):
                found += _list_dependencies(
                    text,
                    "".join(re.findall(rf"[{{,]{re.escape(component)}:\{{([^{{}}]*)\}}", text)),
                )
    return [name for name in dict.fromkeys(found) if name != entry and (folder / name).is_file()]


def join_styles(folder: Path, names: Iterable[str]) -> str:
    """Return the styles among these files as one sheet, whose addresses hold wherever it stands."""
    styles = ((folder / name).read_text("utf-8") for name in names if name.endswith(".css"))
    return "\n".join(re.sub(r"url\((['\"]?)\./", r"url(\1/assets/", text) for text in styles)


def list_patched_scripts(folder: Path) -> dict[str, Callable[[], str]]:
    """Return Gradio's scripts that end a page once its server is out of reach, mended, by name.

    Gradio's own page then says so in English, asks nothing more and loads anew. Ours goes on: the
    server holds nothing of a page, and the page sends again what was not answered
    (lib/connection.js).
    """

    def read(path: Path) -> str:
        return _LOST.sub("0", path.read_text("utf-8"))

    return {path.name: partial(read, path) for path in folder.glob("Blocks-*.js")}


def _read_text(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() and path.suffix == ".js" else ""


def _list_dependencies(script: str, part: str) -> Iterator[str]:
    """Yield the files that come with each import() in a part of a script."""
    listed = _LIST.search(script)
    files = re.findall(r'"\./([\w.-]+)"', listed[1]) if listed else []
    for name, numbers in _IMPORT.findall(part):
        yield name
        yield from (
            files[int(number)]
            for number in numbers.split(",")
            if number and int(number) < len(files)
        )
