"""What the folded panels do alike: find the run in view, the model and the head that are meant, ask the engine, and say in words what
cannot be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.labs.reformer import views
from explorer.widgets.folded import Question, place_of
from models.reformer.records import Explanation, Read, Request


@dataclass(frozen=True)
class Wish:
    """model: in view. layer, head: from 0. number: of buckets, 0 for the run's own. "" and None: as on arrival."""

    model: str = ""
    layer: int | None = None
    head: int | None = None
    number: int = 0


def wished(question: Question) -> Wish:
    """What the browser asks for; where it makes no sense, it is what stands there on arrival."""
    given = question.wish if isinstance(question.wish, Mapping) else {}
    model, head, layer, buckets = (given.get(name) for name in ("model", "head", "layer", "buckets"))
    place = place_of(head)
    return Wish(
        model=model if isinstance(model, str) else "",
        layer=place[0] if place else _whole(layer),
        head=place[1] if place else None,
        number=_whole(buckets) or 0,
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 256 else None


def chosen(seen: Explanation, request: Request, wish: Wish) -> tuple[Read, int, int]:
    """The model, layer and head that are meant; what there is not is what is looked at on arrival."""
    pick = views.telling(seen, request)
    read = next((one for one in seen.read if one.variant == (wish.model or pick["model"])), seen.read[0])
    arrival = [int(n) - 1 for n in str(pick["head"]).split(".")]
    layers, heads = read.queries.shape[:2]
    layer, head = (here if asked is None else asked for asked, here in zip((wish.layer, wish.head), arrival, strict=True))
    return read, min(layer, layers - 1), min(head, heads - 1)
