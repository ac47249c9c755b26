"""The panel about one weight: what the head in view computed with, fetched head by head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer import wiring
from explorer.figures.weight import head
from explorer.views import View, unfolded
from explorer.widgets.folded import Question, Value
from models.errors import InputError
from models.translation.head_records import Head, Look
from models.translation.records import Explanation, Request

TITLE: Final = {"en": "How does one weight come about?", "zh": "一个权重是怎么来的？"}
FUNCTION = "models.translation.vectors:heads"


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


PANEL: View[Request, Explanation] = unfolded(
    "weight",
    TITLE,
    lambda found, question: value(found.answer, wished(question), found.request),
    function=FUNCTION,
    wish=lambda found, question: Look(found.request, *wished(question)),
    picture="translation/weight",
    needs="request",
)
