"""What changes if …, for adaptive span: the knob of spans, and what forced ones cost, in words and for the panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from explorer import labels
from explorer.controls import Control
from explorer.figures.sides import Side
from explorer.knobs import Spans
from explorer.labels import Text, change_sentence, filled, raised, strung
from explorer.labs.adaptive_span import texts
from explorer.widgets.change import Readings
from models.adaptive_span.records import EVERY, PAGES, Again, Explanation, Losses, Request

NAMED = 2  # forced spans that are named one by one


def knobs(layers: int, heads: int, span: int, ramp: int) -> tuple[Control, ...]:
    """What may be changed in a model of so many layers and heads, with spans up to `span`."""
    knob = Spans(layers=layers, heads=heads, span=span, ramp=ramp)
    return (Control("spans", texts.SPANS, "knob", knob=knob, change=True, says=said),)


def said(spans: Sequence[tuple[int, int, float]]) -> Text:
    """What a request forces, in words."""
    parts = [_one(*span) for span in spans]
    return labels.listed(parts if len(parts) <= NAMED else [filled(texts.SEVERAL, n=len(parts))]) or {}


def again(request: Request, seen: Explanation) -> Again | None:
    """What was read and written, to be read under the spans that a request forces; None where it forces none."""
    return Again(replace(request, text="", page=PAGES[0], length=0), seen.text) if request.spans else None


def _one(layer: int, head: int, z: float) -> Text:
    if layer == EVERY:
        return filled(texts.ALL, z=f"{z:g}")
    if head == EVERY:
        return filled(texts.LAYER, layer=layer + 1, z=f"{z:g}")
    return filled(texts.HEAD, head=f"{layer + 1}·{head + 1}", z=f"{z:g}")


def readings(seen: tuple[Explanation, Explanation], losses: tuple[Losses | None, Losses], _request: Request, change: Text) -> Readings:
    """What the panel draws of a comparison. losses: of what was read before, read under the forced spans."""
    before, after = seen
    side = Side(
        before.variant,
        texts.NAMES[before.variant],
        before.nats,
        losses[1].nats,
        before.given,
        written=(before.text[before.given :], after.text[before.given :]),
        text=before.text,
    )
    return Readings([side], sentence(change, before, after, side))


def sentence(change: Text, before: Explanation, after: Explanation, side: Side) -> Text:
    """The comparison in words: how much, and how far the heads look before and after. change: in words."""
    mean, was = (float(seen.saved.long_positions.mean()) for seen in (after, before))
    cost = change_sentence(texts.SAYS, texts.SAYS_SAME, *side.bits, change=change, most=side.most)
    looks = change_sentence(texts.LOOKS, texts.LOOKS_SAME, was, mean, show="{:,.0f}".format)
    return raised(strung([cost, looks], "", ""))
