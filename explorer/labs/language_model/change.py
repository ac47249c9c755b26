"""The effect of a change of the language models."""

from __future__ import annotations

from dataclasses import replace

from explorer.components.change_panel import Readings
from explorer.contract.labels import Text, capitalise, write_change_sentence
from explorer.figures.sides import TextSide
from explorer.labs.language_model import texts
from models.language_model.records import (
    KINDS,
    Explanation,
    Losses,
    Request,
    Rereading,
)


def ask_to_reread(request: Request, explanation: Explanation) -> Rereading | None:
    """Return the text of the run, to be read again under the request's change; None where the
    request changes nothing."""
    changed = replace(request, text="", length=0, typed="", seed=0)
    return None if request == request.plain() else Rereading(changed, explanation.numbers)


def difference(
    explanations: tuple[Explanation, Explanation],
    losses: tuple[Losses | None, Losses],
    request: Request,
    what: Text,
) -> Readings:
    """Draw the effect of a change. losses: of the text written before, read under the change. what:
    the change in words."""
    before, after = explanations
    given = before.given or len(before.symbols)
    cold = request.temperature == 0
    side = TextSide(
        before.variant,
        texts.NAMES[before.variant],
        before.nats,
        losses[1].nats,
        given,
        written=(before.written, after.written),
        text="".join(before.symbols) if request.task == KINDS[0] else "",
        unreached=texts.GREEDY if cold else None,
    )
    told = write_change_sentence(
        texts.SAYS,
        texts.SAYS_SAME,
        *side.measure_bits,
        change=what,
        most=side.find_most_bits,
        unit=texts.PER[request.task],
    )
    return Readings([side], capitalise(told))
