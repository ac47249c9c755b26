"""The panel about one weight: what the head in view computed with, fetched head by head."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from explorer import wiring
from explorer.engine import Engine
from explorer.labs.translation.deeper import asking
from explorer.widgets.folded import Question, Value
from explorer.widgets.newest import Newest
from explorer.widgets.weight import head, weight
from models.errors import InputError
from models.translation.head_records import Head, Look
from models.translation.records import Request

FUNCTION = "models.translation.vectors:heads"


def place(engine: Engine) -> None:
    """Place the panel and answer it."""
    panel = weight()
    newest = Newest()

    def answer(detail: Any, session: str) -> AsyncGenerator[Value, None]:
        question = Question.of(detail)
        look = wished(question)
        return asking.answers(
            engine,
            FUNCTION,
            question,
            lambda: Look(asking.run_of(question), *look),
            lambda found: value(found, look, asking.run_of(question)),
            session,
        )

    panel.ask(wiring.following(newest, answer), None, panel, **wiring.HOW)


def wished(question: Question) -> tuple[str, int, int]:
    """(kind, layer, head) that is asked for, from 0; nonsense becomes the first head of cross-attention."""
    given = question.wish if isinstance(question.wish, Mapping) else {}
    try:
        return str(given["kind"]), wiring.whole(given["layer"]), wiring.whole(given["head"])
    except (KeyError, TypeError, InputError):
        return "cross", 0, 0


def value(found: Head, look: tuple[str, int, int], run: Request) -> Value:
    """What the panel draws of a head. look: (kind, layer, head); run: the request that it is of."""
    return head(
        look[0],
        look[1:],
        (found.layers, found.heads),
        query=found.queries,
        key=found.keys,
        value=found.values,
        queries=found.query_pieces,
        keys=found.key_pieces,
        causal=found.causal,
        scaled=found.scaled,
        hidden=found.hidden,
        silenced=look in run.silenced,
    )
