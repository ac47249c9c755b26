"""What changes if …, for Transformer-XL: the knobs, and what a change of memory costs, in words and for the panel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.controls import Control
from explorer.figures.sides import Side
from explorer.knobs import Range
from explorer.labels import Text, change_sentence, filled, raised
from explorer.labs.transformer_xl import texts
from explorer.widgets.change import Readings
from models.transformer_xl.records import INTERVENTIONS, MEMORIES, Again, Explanation, Losses, Request

TRAINED = Request()
BEGINNING = 16  # characters of a segment that are its beginning


SAID = {"cut": texts.CUT, "shuffled": texts.SHUFFLED, "foreign": texts.FOREIGN}


def knobs() -> tuple[Control, ...]:
    """What may be changed in the models."""
    named = texts.KNOBS
    unused = ("intervention", "cut", named["unused"])
    memory = Range("memory", named["memory"], MEMORIES, TRAINED.memory, named["unit"], named["beyond"], unused)
    return (
        Control("memory", named["memory"], "knob", knob=memory, change=True, says=lambda n: filled(texts.MEMORY, n=f"{n:,}")),
        Control(
            "intervention",
            named["intervention"],
            "choice",
            names={one: named[one] for one in INTERVENTIONS},
            change=True,
            says=SAID.__getitem__,
        ),
        Control("segment", named["segment"], "choice", change=True, says=lambda n: filled(texts.SEGMENT, n=n)),
    )


def again(request: Request, seen: Explanation) -> Again | None:
    """What was read and written, to be read under what a request changes; None where it changes nothing."""
    changed = replace(request, text="", page=TRAINED.page, length=0)
    same = (request.memory, request.segment, request.intervention) == (TRAINED.memory, TRAINED.segment, TRAINED.intervention)
    return None if same else Again(changed, tuple(one.text for one in seen.readings))


def readings(seen: tuple[Explanation, Explanation], losses: tuple[Losses | None, Losses], _request: Request, change: Text) -> Readings:
    """What the panel draws of a comparison. losses: of what was read before, read under the change."""
    before, after = seen
    sides = [
        Side(
            one.variant,
            texts.NAMES[one.variant],
            one.nats,
            nats,
            before.given,
            one.segment,
            (one.text[before.given :], other.text[before.given :]),
            text=one.text,
            unreached=filled(texts.UNREACHED, model=texts.NAMES[one.variant]) if not one.memory else None,
        )
        for one, other, nats in zip(before.readings, after.readings, losses[1].nats, strict=True)
    ]
    return Readings(sides, sentence(change, sides))


def sentence(change: Text, sides: list[Side]) -> Text:
    """The comparison in words, for the first model that the change reaches: how much, and where most. change: in words."""
    side = next((one for one in sides if one.reached()), None)
    if side is None:
        return raised(filled(texts.SAME, change=change))
    return raised(
        change_sentence(
            texts.SAYS,
            texts.SAYS_SAME,
            *side.bits,
            change=change,
            model=side.name,
            most=side.most,
            where=_where(side.after - side.before, side.segment),
        )
    )


def _where(more: NDArray[np.floating], segment: int) -> Text:
    """At the beginning of which segment the change costs most; nothing where it costs nothing there."""
    begins = range(segment, len(more) - BEGINNING + 1, segment)
    if not begins:
        return {"en": "", "zh": ""}
    costs = [float(more[begin : begin + BEGINNING].mean() / np.log(2)) for begin in begins]
    most = int(np.argmax(costs))
    if costs[most] < 0.05:
        return {"en": "", "zh": ""}
    return filled(texts.MOST, n=most + 2, more=f"{costs[most]:.1f}")
