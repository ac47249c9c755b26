"""What the folded panels of a page share: closed at first, nothing is computed before one is opened. Their script is lib/folded.js.

A panel's value is one JSON object, built with `ready`, `shown` and `refused`:

    state: "ready" | "shown" | "refused"
    run: the request part of the permalink that was asked about; wish: what was asked beside it, echoed as JSON
    error: {en, zh} or None
    own: what the panel draws, as one JSON text: Gradio's script copies what it is sent leaf by leaf, and a figure has thousands of them

Its one event, `ask`, brings {"run", "wish"}; `Question.of` reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Text = Mapping[str, str]
Value = dict[str, object]


@dataclass(frozen=True)
class Question:
    """What a visitor wants to know: of which run (the request part of its permalink, "" for the first example), and what of it."""

    run: str
    wish: Any = None

    @classmethod
    def of(cls, detail: object) -> Question:
        """Reads the event's detail. Nonsense becomes the first example: it can only come from a made-up request."""
        given = detail if isinstance(detail, Mapping) else {}
        run = given.get("run")
        return cls(run if isinstance(run, str) else "", given.get("wish"))

    def said(self, name: str) -> str:
        """A text that the wish holds by this name, as the address says it; "" where it holds none."""
        found = self.wish.get(name) if isinstance(self.wish, Mapping) else None
        return found if isinstance(found, str) else ""

    def number(self, name: str) -> int | None:
        """A whole number from 0 that the wish holds as such a text."""
        found = self.said(name)
        return int(found) if found.isascii() and found.isdigit() and len(found) < 8 else None


def place_of(head: object) -> tuple[int, int] | None:
    """Layer and head of "3.4", both counted from 1 -> (2, 3); None for whatever else was sent."""
    found = re.fullmatch(r"([1-9][0-9]?)\.([1-9][0-9]?)", head) if isinstance(head, str) else None
    return (int(found[1]) - 1, int(found[2]) - 1) if found else None


def ready() -> Value:
    """Closed, and nothing asked."""
    return {"state": "ready", "run": None, "wish": None, "error": None}


def shown(question: Question, **own: object) -> Value:
    """The answer. own: what this panel draws, as JSON."""
    text = json.dumps(own, ensure_ascii=False, separators=(",", ":"))
    return {**ready(), "state": "shown", "run": question.run, "wish": question.wish, "own": text}


def read(value: Mapping[str, object]) -> Value:
    """The same value with what it draws beside the rest, as the script reads it."""
    rest = {name: part for name, part in value.items() if name != "own"}
    return {**rest, **json.loads(str(value.get("own", "{}")))}


def refused(question: Question, error: Text) -> Value:
    """Why there is no answer, in one sentence."""
    return {**ready(), "state": "refused", "run": question.run, "wish": question.wish, "error": dict(error)}
