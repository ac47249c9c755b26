"""The shared part of the folded panels of a page. They are closed at first, and nothing is computed
before one is opened. Their script is lib/folded.js.

A panel's value is one JSON object, built with `show_closed`, `show_answer` and `show_refusal`:

    state: "ready" | "shown" | "refused"
    run: the request part of the permalink of the run in question; wish: the rest of the question,
        echoed as JSON
    error: {en, zh} or None
    own: the panel's drawings, as one JSON text, because Gradio's script copies a value leaf by
        leaf, and a figure has thousands of leaves

Its one event, `ask`, brings {"run", "wish"}; `Question.from_event` reads it.
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
    """A visitor's question to a folded panel: the run (the request part of its permalink, "" for
    the first example), and the question about it."""

    run: str
    wish: Any = None

    @classmethod
    def from_event(cls, detail: object) -> Question:
        """Return the question in the event's detail. Nonsense becomes the first example, because it
        can only come from a made-up request."""
        given = detail if isinstance(detail, Mapping) else {}
        run = given.get("run")
        return cls(run if isinstance(run, str) else "", given.get("wish"))

    def read_text(self, name: str) -> str:
        """Return the question's text of this name, as the address spells it, "" where it holds
        none."""
        found = self.wish.get(name) if isinstance(self.wish, Mapping) else None
        return found if isinstance(found, str) else ""

    def read_number(self, name: str) -> int | None:
        """Return the question's text of this name as a whole number from 0, or None."""
        found = self.read_text(name)
        return int(found) if found.isascii() and found.isdigit() and len(found) < 8 else None


def parse_head(head: object) -> tuple[int, int] | None:
    """Return layer and head of "3.4", both counted from 1 -> (2, 3); None for any other text."""
    found = re.fullmatch(r"([1-9][0-9]?)\.([1-9][0-9]?)", head) if isinstance(head, str) else None
    return (int(found[1]) - 1, int(found[2]) - 1) if found else None


def show_closed() -> Value:
    """Return the value of a closed panel without a question."""
    return {"state": "ready", "run": None, "wish": None, "error": None}


def show_answer(question: Question, **own: object) -> Value:
    """Return the value of an answer.

    own: the panel's drawings, as JSON.
    """
    text = json.dumps(own, ensure_ascii=False, separators=(",", ":"))
    return {
        **show_closed(),
        "state": "shown",
        "run": question.run,
        "wish": question.wish,
        "own": text,
    }


def with_drawings_as_text(value: Mapping[str, object]) -> Value:
    """Return the same value with its drawings as one text, as the script reads them."""
    rest = {name: part for name, part in value.items() if name != "own"}
    return {**rest, **json.loads(str(value.get("own", "{}")))}


def show_refusal(question: Question, error: Text) -> Value:
    """Return the value that says in one sentence why there is no answer."""
    return {
        **show_closed(),
        "state": "refused",
        "run": question.run,
        "wish": question.wish,
        "error": dict(error),
    }
