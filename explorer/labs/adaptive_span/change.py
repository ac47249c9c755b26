"""What changes if …, for adaptive span: what forced spans cost, in words and for the panel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from explorer.figures.sides import Side, most_bits
from explorer.labels import change_sentence, filled
from explorer.labs.adaptive_span import texts
from explorer.widgets import reread
from models.adaptive_span.records import EVERY, Explanation, Losses, Request

Text = Mapping[str, str]
Value = dict[str, object]

NAMED = 2  # forced spans that are named one by one


def said(request: Request) -> Text:
    """What a request forces, in words; "" where it forces nothing."""
    parts = [_one(*span) for span in request.spans]
    if len(parts) > NAMED:
        parts = [filled(texts.SEVERAL, n=len(parts))]
    return {"en": " and ".join(part["en"] for part in parts), "zh": "，".join(part["zh"] for part in parts)}


def _one(layer: int, head: int, z: float) -> Text:
    if layer == EVERY:
        return filled(texts.ALL, z=f"{z:g}")
    if head == EVERY:
        return filled(texts.LAYER, layer=layer + 1, z=f"{z:g}")
    return filled(texts.HEAD, head=f"{layer + 1}·{head + 1}", z=f"{z:g}")


def done(request: Request, before: Explanation, after: Explanation, losses: Losses, shown: Value) -> Value:
    """What the panel draws of a comparison. losses: of what `before` holds, read under the forced spans. shown: the request for the
    browser."""
    side = Side(
        before.variant,
        texts.NAMES[before.variant],
        before.nats,
        losses.nats,
        before.given,
        0,
        (before.text[before.given :], after.text[before.given :]),
        text=before.text,
    )
    return reread.done(shown, [side], sentence(request, before, after, side))


def sentence(request: Request, before: Explanation, after: Explanation, side: Side) -> Text:
    """The comparison in words: how much, and how far the heads look before and after."""
    bits = [float(nats[: side.given].mean() / np.log(2)) for nats in (side.before, side.after)]
    mean, was = (float(seen.saved.long_positions.mean()) for seen in (after, before))
    cost = change_sentence(texts.SAYS, texts.SAYS_SAME, *bits, change=said(request), most=most_bits(side.before, side.after))
    looks = change_sentence(texts.LOOKS, texts.LOOKS_SAME, was, mean, show="{:,.0f}".format)
    return {"en": cost["en"][:1].upper() + cost["en"][1:] + looks["en"], "zh": cost["zh"] + looks["zh"]}
