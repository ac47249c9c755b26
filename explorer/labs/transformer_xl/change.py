"""The change panel of Transformer-XL: the knobs, and the cost of a change of memory, in words and
for the panel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.components.change_panel import Readings
from explorer.contract.control_kinds import ChoiceControl, Control, KnobControl
from explorer.contract.knobs import Range
from explorer.contract.labels import Text, capitalise, fill_text, write_change_sentence
from explorer.figures.sides import TextSide
from explorer.labs.transformer_xl import texts
from models.transformer_xl.records import (
    INTERVENTIONS,
    MEMORIES,
    Explanation,
    Losses,
    Request,
    Rereading,
)

TRAINED = Request()
BEGINNING = 16  # characters that count as the beginning of a segment


SAID = {"cut": texts.CUT, "shuffled": texts.SHUFFLED, "foreign": texts.FOREIGN}


def list_controls() -> tuple[Control, ...]:
    """Return the controls of what may be changed in the models."""
    named = texts.KNOBS
    unused = ("intervention", "cut", named["unused"])
    memory = Range(
        "memory", named["memory"], MEMORIES, TRAINED.memory, named["unit"], named["beyond"], unused
    )
    return (
        KnobControl(
            "memory",
            named["memory"],
            knob=memory,
            change=True,
            says=lambda n: fill_text(texts.MEMORY, n=f"{n:,}"),
        ),
        ChoiceControl(
            "intervention",
            named["intervention"],
            names={one: named[one] for one in INTERVENTIONS},
            change=True,
            says=SAID.__getitem__,
        ),
        ChoiceControl(
            "segment",
            named["segment"],
            change=True,
            says=lambda n: fill_text(texts.SEGMENT, n=n),
        ),
    )


def ask_to_reread(request: Request, explanation: Explanation) -> Rereading | None:
    """Return the text of the run, to be read again under the request's change; None where the
    request changes nothing."""
    changed = replace(request, text="", page=TRAINED.page, length=0)
    same = (request.memory, request.segment, request.intervention) == (
        TRAINED.memory,
        TRAINED.segment,
        TRAINED.intervention,
    )
    return None if same else Rereading(changed, tuple(one.text for one in explanation.readings))


def compare_readings(
    explanations: tuple[Explanation, Explanation],
    losses: tuple[Losses | None, Losses],
    _request: Request,
    change: Text,
) -> Readings:
    """Draw a comparison for the change panel. losses: of the text read before, read under the
    change."""
    before, after = explanations
    sides = [
        TextSide(
            one.variant,
            texts.NAMES[one.variant],
            one.nats,
            nats,
            before.given,
            one.segment,
            (one.text[before.given :], other.text[before.given :]),
            text=one.text,
            unreached=fill_text(texts.UNREACHED, model=texts.NAMES[one.variant])
            if not one.memory
            else None,
        )
        for one, other, nats in zip(before.readings, after.readings, losses[1].nats, strict=True)
    ]
    return Readings(sides, describe_change(change, sides))


def describe_change(change: Text, sides: list[TextSide]) -> Text:
    """Describe the comparison in words, for the first model that the change reaches: how much, and
    where most. change: in words."""
    side = next((one for one in sides if one.is_changed()), None)
    if side is None:
        return capitalise(fill_text(texts.SAME, change=change))
    return capitalise(
        write_change_sentence(
            texts.SAYS,
            texts.SAYS_SAME,
            *side.measure_bits,
            change=change,
            model=side.name,
            most=side.find_most_bits,
            where=_describe_place(side.after - side.before, side.segment),
        )
    )


def _describe_place(more: NDArray[np.floating], segment: int) -> Text:
    """Describe at the beginning of which segment the change costs most; nothing where it costs
    nothing there."""
    begins = range(segment, len(more) - BEGINNING + 1, segment)
    if not begins:
        return {"en": "", "zh": ""}
    costs = [float(more[begin : begin + BEGINNING].mean() / np.log(2)) for begin in begins]
    most = int(np.argmax(costs))
    if costs[most] < 0.05:
        return {"en": "", "zh": ""}
    return fill_text(texts.MOST, n=most + 2, more=f"{costs[most]:.1f}")
