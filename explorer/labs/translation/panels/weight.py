"""The panel about one weight: the vectors of the head in view, fetched head by head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.components.folded import Question, Value
from explorer.labs.translation.figures.weight import describe_head
from explorer.page.views import View, view_in_folded_panel
from models.explaining.errors import InputError, read_whole_number
from models.translation.head_records import Head, Look
from models.translation.records import Explanation, Request

TITLE: Final = {"en": "How does one weight come about?", "zh": "一个权重是怎么来的？"}
FUNCTION = "models.translation.vectors:heads"


def read_question(question: Question) -> tuple[str, int, int]:
    """Return the requested (kind, layer, head), from 0; nonsense becomes the first head of
    cross-attention."""
    given = question.wish if isinstance(question.wish, Mapping) else {}
    try:
        return (
            str(given["kind"]),
            read_whole_number(given["layer"]),
            read_whole_number(given["head"]),
        )
    except (KeyError, TypeError, InputError):
        return "cross", 0, 0


def draw_panel(found: Head, look: tuple[str, int, int], run: Request) -> Value:
    """Draw the panel of a head. look: (kind, layer, head); run: the request that it belongs to."""
    return describe_head(
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


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "weight",
    TITLE,
    lambda found, question: draw_panel(found.answer, read_question(question), found.request),
    function=FUNCTION,
    wish=lambda found, question: Look(found.request, *read_question(question)),
    picture="translation/weight",
    needs="request",
)
