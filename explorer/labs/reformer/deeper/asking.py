"""What the folded panels do alike: they ask about the model and the head of the run in view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.engine import Function
from explorer.labels import Text
from explorer.labs.reformer import views
from explorer.views import Found, View, unfolded
from explorer.widgets.folded import Question, Value, place_of
from models.reformer.records import Explanation, Place, Read, Request


def place(seen: Explanation, run: Request, question: Question) -> Place:
    """The model, the layer and the head that are meant, and a number of buckets, 0 for the run's own. What is not said, or makes no sense,
    is what is looked at on arrival."""
    given = question.wish if isinstance(question.wish, Mapping) else {}
    pick = views.telling(seen, run)
    read = next((one for one in seen.read if one.variant == (given.get("model") or pick["model"])), seen.read[0])
    first = place_of(pick["head"]) or (0, 0)
    layer, head = place_of(given.get("head")) or (_whole(given.get("layer"), first[0]), first[1])
    layers, heads = read.queries.shape[:2]
    return Place(run, read.variant, min(layer, layers - 1), min(head, heads - 1), _whole(given.get("buckets"), 0))


def _whole(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 256 else otherwise


def read_of(seen: Explanation, place: Place) -> Read:
    """What the model of a place made of the run."""
    return next(one for one in seen.read if one.variant == place.variant)


def panel(
    name: str, texts: Mapping[str, Text], value: Callable[[Explanation, Any, Place], Value], function: Function
) -> View[Request, Explanation]:
    """A panel about a place of the run in view. name: also its picture's. value(run, what the function answers, place): what it draws."""

    def of(found: Found[Request, Explanation], question: Question) -> Place:
        return place(found.run, found.request, question)

    return unfolded(
        name,
        texts["title"],
        lambda found, question: value(found.run, found.answer, of(found, question)),
        function=function,
        wish=of,
        picture=f"reformer/{name}",
        texts=texts,
    )
