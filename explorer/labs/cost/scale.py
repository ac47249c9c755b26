"""Pictures of a softmax over scores: how it hardens, which gradient it lets through, which weights
it gives, and which scores it is given."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract.control_kinds import Value
from explorer.contract.labels import Text, fill_text
from explorer.figures.curves import Curve, Place
from explorer.figures.heatmaps import Map, draw_maps
from explorer.labs.cost import about, drawn, texts
from explorer.labs.cost.clock import format_milliseconds
from explorer.page.curves import draw_curve_figure
from models.cost.records import N_KEYS, WIDTHS, Explanation, Request, Scale

# not divided, divided by √d_k, as requested
COLOURS = ("var(--cat-2)", "var(--cat-1)", "var(--cat-4)")


def _read_scale(explanation: Explanation) -> Scale:
    assert explanation.scale is not None
    return explanation.scale


def _describe_division(power: float) -> Text:
    return texts.DIVIDED.get(power) or fill_text(texts.AS_ASKED, p=f"{power:g}")


def _draw_by_width(
    found: Scale,
    request: Request,
    which: int,
    words: tuple[Text, Text, Text],
    axis: Text,
    top: float,
) -> Value:
    """Draw one of the two measures against d_k. which: 0 entropy, 1 gradient. words: title, units,
    and the sentence to be filled in."""
    values = (found.entropy, found.gradient)[which]
    rows = range(2 if request.power in texts.DIVIDED else 3)
    names = [_describe_division(found.powers[row]) for row in rows]
    lines = [Curve(names[row], WIDTHS, values[row].tolist(), COLOURS[row]) for row in rows]
    title, units, says = words
    plain, scaled = (f"{found.at[row, which]:.2f}" for row in (0, 1))
    told = (
        title,
        units,
        fill_text(
            says,
            d_k=request.d_k,
            plain=plain,
            scaled=scaled,
            most=f"{math.log2(N_KEYS):g}",
            n=N_KEYS,
        ),
    )
    name, place = ("cost-entropy", "cost-gradient")[which], Place(request.d_k, yours=True)
    return draw_curve_figure(
        name,
        lines,
        (texts.WIDTHS, axis),
        told,
        [texts.D_K],
        ticks=WIDTHS[::2],
        across="log",
        up=(0, top),
        mark=place,
        height=220,
    )


def draw_entropy(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw the entropy of the weights against d_k."""
    words = (texts.HARDENS, fill_text(texts.HARDENS_UNITS, n=N_KEYS), texts.HARDENS_SAYS)
    return _draw_by_width(
        _read_scale(explanation), request, 0, words, texts.BITS, math.log2(N_KEYS) + 0.2
    )


def draw_gradients(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw the gradient that reaches the scores through the weights, against d_k."""
    return _draw_by_width(
        _read_scale(explanation),
        request,
        1,
        (texts.SLOPES, texts.SLOPES_UNITS, texts.SLOPES_SAYS),
        texts.GRADIENT,
        1.05,
    )


def draw_rows(explanation: Explanation, _request: Request, _state: str) -> Value:
    """Draw some rows of weights, not divided and as requested; also divided by √d_k where the
    request does not divide."""
    found = _read_scale(explanation)
    beside = 2 if found.powers[2] else 1
    hows, both = (
        (texts.DIVIDED[0.0], _describe_division(found.powers[beside])),
        (found.weights[0], found.weights[beside]),
    )
    largest: list[NDArray[np.float32]] = [one.max(-1) for one in both]
    plain, asked = (f"{one.mean():.2f}" for one in largest)

    def draw(language: str) -> drawn.Figure:
        panels = [Map(how[language], one) for how, one in zip(hows, both, strict=True)]
        return draw_maps(panels, axes=(texts.KEY[language], texts.QUERY[language]))

    return describe_drawn_figure(
        "cost-rows",
        draw,
        (
            texts.ROWS,
            fill_text(texts.ROWS_UNITS, rows=len(both[0]), keys=N_KEYS),
            fill_text(texts.ROWS_SAYS, plain=plain, asked=asked, divided=hows[1]),
        ),
        (texts.QUERY, *(fill_text(texts.LARGEST_OF, how=how) for how in hows)),
        [
            (at, round(float(one), 4), round(float(other), 4))
            for at, (one, other) in enumerate(zip(*largest, strict=True))
        ],
        height=220,
    )


def draw_scores(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw dot products and additive scores: their spread and their cost."""
    found = _read_scale(explanation)
    names, colours = (texts.DOT, texts.ADDITIVE), COLOURS[1::-1]
    kinds = about.read_family()["kinds"]
    length = max(kinds["additive"])
    slow, fast = (
        format_milliseconds(kinds[kind][length]["ms"] / 1e3) for kind in ("additive", "explicit")
    )
    dot, sums = (f"{one.std():.3g}" for one in found.scores)
    divided = [f"{one.std() / math.sqrt(request.d_k):.2f}" for one in found.scores]
    both = dict(zip(("dot_divided", "additive_divided"), divided, strict=True))
    root = f"{math.sqrt(request.d_k):.3g}"

    def draw(language: str) -> drawn.Figure:
        sets = [
            (name[language], values, colour)
            for name, values, colour in zip(names, found.scores, colours, strict=True)
        ]
        return drawn.draw_histograms(sets, (texts.SCORE[language], texts.SHARE[language]))

    spread: dict[str, object] = {
        "d_k": request.d_k,
        "dot": dot,
        "root": root,
        "additive": sums,
        **both,
    }
    says = fill_text(texts.SCORES_SAYS, **spread, length=f"{length:,}", slow=slow, fast=fast)
    return describe_drawn_figure(
        "cost-scores",
        draw,
        (texts.SCORES, fill_text(texts.SCORES_UNITS, n=f"{N_KEYS**2:,}"), says),
        (texts.D_K, *names),
        [
            (width, round(float(one), 4), round(float(other), 4))
            for width, one, other in zip(WIDTHS, found.dot, found.additive, strict=True)
        ],
        [Mark(name, colour) for name, colour in zip(names, colours, strict=True)],
        height=200,
    )
