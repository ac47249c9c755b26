"""What changes if …, for Transformer-XL: what a change of memory costs, in words and for the panel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from explorer.figures.sides import Side, most_bits
from explorer.labels import change_sentence, filled
from explorer.labs.transformer_xl import texts
from explorer.widgets import reread
from models.transformer_xl.records import Explanation, Losses, Request

Text = Mapping[str, str]
Value = dict[str, object]

TRAINED = Request()
BEGINNING = 16  # characters of a segment that are its beginning


def said(request: Request) -> Text:
    """What a request changes in the models, in words."""
    parts: list[Text] = []
    if request.intervention == "cut":
        parts.append(texts.CUT)
    elif request.intervention == "shuffled":
        parts.append(texts.SHUFFLED)
    elif request.intervention == "foreign":
        parts.append(texts.FOREIGN)
    if request.memory != TRAINED.memory:
        parts.append(filled(texts.MEMORY, n=f"{request.memory:,}"))
    if request.segment != TRAINED.segment:
        parts.append(filled(texts.SEGMENT, n=request.segment))
    return {"en": " and ".join(part["en"] for part in parts), "zh": "，".join(part["zh"] for part in parts)}


def done(request: Request, before: Explanation, after: Explanation, losses: Losses, shown: Value) -> Value:
    """What the panel draws of a comparison. losses: of what `before` holds, read under the change. shown: the request for the browser."""
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
        for one, other, nats in zip(before.readings, after.readings, losses.nats, strict=True)
    ]
    return reread.done(shown, sides, sentence(request, sides))


def sentence(request: Request, sides: list[Side]) -> Text:
    """The comparison in words, for the first model that the change reaches: how much, and where most."""
    change = said(request)
    side = next((one for one in sides if one.reached()), None)
    if side is None:
        return _capital(filled(texts.SAME, change=change))
    bits = [float(nats[: side.given].mean() / np.log(2)) for nats in (side.before, side.after)]
    return _capital(
        change_sentence(
            texts.SAYS,
            texts.SAYS_SAME,
            *bits,
            change=change,
            model=side.name,
            most=most_bits(side.before, side.after),
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


def _capital(text: Text) -> Text:
    english = text["en"]
    return {"en": english[:1].upper() + english[1:], "zh": text["zh"]}
