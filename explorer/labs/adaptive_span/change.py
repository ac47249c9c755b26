"""The change panel of adaptive span: the knob of spans, and the cost of forced ones, in words and
for the panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorer.components.change_panel import Readings
from explorer.contract import labels
from explorer.contract.control_kinds import Control, KnobControl
from explorer.contract.knobs import Spans
from explorer.contract.labels import Text, capitalise, fill_text, join_parts, write_change_sentence
from explorer.figures.sides import TextSide
from explorer.labs.adaptive_span import texts
from models.adaptive_span.records import EVERY, PAGES, Explanation, Losses, Request, Rereading

NAMED = 2  # forced spans that are named one by one


def list_controls(layers: int, heads: int, span: int, ramp: int) -> tuple[Control, ...]:
    """Return the controls of what may be changed in a model with these layers and heads and spans
    up to `span`."""
    knob = Spans(layers=layers, heads=heads, span=span, ramp=ramp)
    return (KnobControl("spans", texts.SPANS, knob=knob, change=True, says=describe_forced_spans),)


def describe_forced_spans(spans: Sequence[tuple[int, int, float]]) -> Text:
    """Return the spans that a request forces, in words."""
    parts = [_describe_span(*span) for span in spans]
    return (
        labels.join_with_and(
            parts if len(parts) <= NAMED else [fill_text(texts.SEVERAL, n=len(parts))]
        )
        or {}
    )


def ask_to_reread(request: Request, explanation: Explanation) -> Rereading | None:
    """Return the text of the run, to be read again under the spans that a request forces; None
    where it forces none."""
    return (
        Rereading(replace(request, text="", page=PAGES[0], length=0), explanation.text)
        if request.spans
        else None
    )


def _describe_span(layer: int, head: int, z: float) -> Text:
    if layer == EVERY:
        return fill_text(texts.ALL, z=f"{z:g}")
    if head == EVERY:
        return fill_text(texts.LAYER, layer=layer + 1, z=f"{z:g}")
    return fill_text(texts.HEAD, head=f"{layer + 1}·{head + 1}", z=f"{z:g}")


def compare_readings(
    explanations: tuple[Explanation, Explanation],
    losses: tuple[Losses | None, Losses],
    _request: Request,
    change: Text,
) -> Readings:
    """Draw a comparison for the change panel. losses: of the text read before, read under the
    forced spans."""
    before, after = explanations
    side = TextSide(
        before.variant,
        texts.NAMES[before.variant],
        before.nats,
        losses[1].nats,
        before.given,
        written=(before.text[before.given :], after.text[before.given :]),
        text=before.text,
    )
    return Readings([side], describe_change(change, before, after, side))


def describe_change(change: Text, before: Explanation, after: Explanation, side: TextSide) -> Text:
    """Describe the comparison in words: how much, and how far the heads look before and after.
    change: in words."""
    mean, was = (
        float(np.minimum(seen.span, seen.z + seen.ramp).mean()) for seen in (after, before)
    )
    cost = write_change_sentence(
        texts.SAYS, texts.SAYS_SAME, *side.measure_bits, change=change, most=side.find_most_bits
    )
    looks = write_change_sentence(texts.LOOKS, texts.LOOKS_SAME, was, mean, show="{:,.0f}".format)
    return capitalise(join_parts([cost, looks], "", ""))
