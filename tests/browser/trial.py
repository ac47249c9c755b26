"""Trial sites: the real server with pages of a test file's own, each a widget alone. Run as a program, such a file is its own server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from explorer.lab import GuidedStep, Lab
from tests.conftest import Running

TEXT = {"en": "Trial", "zh": "试验"}


def serve(port: int, pages: dict[str, Callable[[Lab, Any], None]], year: int = 2017, steps: int = 5) -> None:
    """The site with one lab for each page, by its slug."""
    from explorer import server

    facts: dict[str, Any] = dict.fromkeys(("title", "short", "line", "card"), TEXT)
    texts: dict[str, Any] = dict.fromkeys(("paper", "authors", "arxiv", "licence", "equation"), "")
    rest: dict[str, Any] = {
        "ancestors": (),
        "changed": "input",
        "examples": ("",) * 3,
        "steps": (GuidedStep(TEXT, TEXT, "", {}),) * steps,
        "words": (),
        "interventions": ("none",),
        "exports": (),
        "thumbnail": lambda: None,
        "probe": None,
    }
    labs = [Lab(slug=slug, year=year, page=page, **facts, **texts, **rest) for slug, page in pages.items()]
    server.serve(labs, "127.0.0.1", port)


def served(file: str) -> Iterator[str]:
    """The address of the server that a test file is, for a fixture."""
    server = Running(command=[str(Path(file)), "PORT"], PYTHONPATH=str(Path(__file__).parents[2]))
    try:
        yield server.start(ready=False).url
    finally:
        server.close()
