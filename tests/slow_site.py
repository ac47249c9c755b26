"""The translation lab alone, its translator slowed down: ``python -m tests.slow_site PORT GRACE``,
for tests of leaving and draining."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

PAUSE = float(os.environ.get("PAUSE", "0.25"))  # seconds before each word
# words after which a long sentence goes on without end, until it is stopped or left; 0: it ends
HOLD = int(os.environ.get("HOLD", "0"))
LONG = 100  # characters of a long sentence


def generate(requests: list[Any]) -> Iterator[list[Any]]:
    """The lab's own generator, word by word: a fast machine would say several in one turn, and be
    done before anyone leaves."""
    from models.translation import explain

    explain.TURN = 1e-9  # seconds: over after one word
    for said, entries in enumerate(explain.generate(requests)):
        while HOLD and said >= HOLD and any(len(one.sentence) > LONG for one in requests):
            time.sleep(PAUSE)
            yield [[] for _ in requests]
        time.sleep(PAUSE)
        yield entries


def main() -> None:
    """Serves until it is told to leave."""
    from explorer.labs.translation.lab import LAB
    from explorer.page.lab import open_lab
    from explorer.web import log
    from explorer.web.launch import serve

    log.begin_logging()
    lab = open_lab(replace(LAB, explain="tests.slow_site:generate"))
    serve([replace(lab, stored=None)], "127.0.0.1", int(sys.argv[1]), grace=float(sys.argv[2]))


if __name__ == "__main__":
    main()
