"""A site of three models that somebody brings along, in one process: ``python -m tests.own_site PORT FOLDER``, each in its folder there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

KINDS = ("bert", "gpt2", "t5")
FOLDER = Path(sys.argv[-1])


def _told(kind: str) -> None:
    from models.your_model import records

    os.environ[records.NAME] = str(FOLDER / kind)
    records.here.cache_clear()


def _explains(kind: str) -> Callable[[Sequence[Any]], list[Any]]:
    def explain(requests: Sequence[Any]) -> list[Any]:
        from models.your_model import explain as own

        _told(kind)
        own.opened.cache_clear()
        return own.explain(requests)

    return explain


bert, gpt2, t5 = map(_explains, KINDS)


def main() -> None:
    """Serves until it is told to leave."""
    from explorer import journal
    from explorer.labs.your_model import lab
    from explorer.server import serve

    journal.begin()
    labs = []
    for kind in KINDS:
        _told(kind)
        lab.EXPLAIN = f"tests.own_site:{kind}"
        labs.append(replace(lab.lab(), slug=f"your_{kind}"))
    serve(labs, "127.0.0.1", int(sys.argv[1]))


if __name__ == "__main__":
    main()
