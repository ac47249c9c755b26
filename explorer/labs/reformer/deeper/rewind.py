"""The panel about layers that run backwards: forward and back on the run in view, and what has been measured of the memory it saves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from explorer.labs.reformer import texts, views
from explorer.labs.reformer.deeper import asking
from explorer.views import View, unfolded
from explorer.widgets.folded import Question, Value
from explorer.widgets.rewind import boards, rewind
from models.reformer.records import Backwards, Explanation, Place, Request

BACKWARDS = "models.reformer.asked:backwards"
RESULTS = Path(__file__).parents[4] / "benchmarks" / "results"


def wanted(seen: Explanation, run: Request, question: Question) -> Place:
    """The model and the layer that a question is about."""
    read, layer, _ = asking.chosen(seen, run, asking.wished(question))
    return Place(run, read.variant, layer)


def value(seen: Explanation, found: Backwards, place: Place) -> Value:
    """What the panel draws of a model."""
    read = next(one for one in seen.read if one.variant == place.variant)
    rewound, parts = found.rewound, found.parts
    return boards(
        texts.NAMES[read.variant],
        forward=rewound.forward,
        again=rewound.again,
        single=rewound.single,
        double=rewound.double,
        tokens=views.spelled_tokens(seen),
        hashed=bool(read.buckets.shape[2]),
        layer=place.layer,
        chunks=parts.chunks,
        difference=parts.difference,
        inner_bytes=parts.inner_bytes,
        reversible=measured("reversible"),
        lsh=measured("lsh_attention"),
    )


def measured(name: str) -> dict[str, Any] | None:
    """What `python -m benchmarks NAME --save` has measured; None before it did."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


PANEL: View[Request, Explanation] = unfolded(
    "rewind",
    rewind,
    lambda found, question: value(found.run, found.answer, wanted(found.run, found.request, question)),
    function=BACKWARDS,
    wish=lambda found, question: wanted(found.run, found.request, question),
)
