"""The common part of the folded panels: questions about the model and the head of the run in
view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.components.folded import Question, Value, parse_head
from explorer.contract.labels import Text
from explorer.engine import Function
from explorer.labs.reformer import views
from explorer.page.views import Found, View, view_in_folded_panel
from models.reformer.records import Explanation, Place, Read, Request


def read_place(explanation: Explanation, run: Request, question: Question) -> Place:
    """Return the model, the layer and the head of a question, and its number of buckets, 0 for the
    run's own. Fields that are missing, or make no sense, become the selection on arrival."""
    given = question.wish if isinstance(question.wish, Mapping) else {}
    pick = views.find_telling_letter(explanation, run)
    read = next(
        (one for one in explanation.read if one.variant == (given.get("model") or pick["model"])),
        explanation.read[0],
    )
    first = parse_head(pick["head"]) or (0, 0)
    layer, head = parse_head(given.get("head")) or (
        _read_whole_number(given.get("layer"), first[0]),
        first[1],
    )
    layers, heads = read.queries.shape[:2]
    return Place(
        run,
        read.variant,
        min(layer, layers - 1),
        min(head, heads - 1),
        _read_whole_number(given.get("buckets"), 0),
    )


def _read_whole_number(value: object, otherwise: int) -> int:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 256
        else otherwise
    )


def find_reading(explanation: Explanation, place: Place) -> Read:
    """Return the reading of the run by the model of a place."""
    return next(one for one in explanation.read if one.variant == place.variant)


def make_panel(
    name: str,
    texts: Mapping[str, Text],
    value: Callable[[Explanation, Any, Place], Value],
    function: Function,
) -> View[Request, Explanation]:
    """Make a panel about a place of the run in view. name: the panel's, and its picture's.
    value(run, the function's result, place): the value to draw."""

    def of(found: Found[Request, Explanation], question: Question) -> Place:
        return read_place(found.run, found.request, question)

    return view_in_folded_panel(
        name,
        texts["title"],
        lambda found, question: value(found.run, found.answer, of(found, question)),
        function=function,
        wish=of,
        picture=f"reformer/{name}",
        texts=texts,
    )
