"""What is drawn of a softmax over scores: how it hardens, what it lets through, what it gives, and which scores it is given."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.controls import Value
from explorer.figures.curves import Curve, Place
from explorer.figures.heatmaps import Map, maps
from explorer.labels import Text, filled
from explorer.labs.cost import about, drawn, texts
from explorer.labs.cost.clock import ms
from explorer.labs.lined import lined
from explorer.widgets.figure import Mark, shown
from models.cost.records import N_KEYS, WIDTHS, Explanation, Request, Scale

COLOURS = ("var(--cat-2)", "var(--cat-1)", "var(--cat-4)")  # not divided, by √d_k, as asked for


def _scale(seen: Explanation) -> Scale:
    assert seen.scale is not None
    return seen.scale


def _divided(power: float) -> Text:
    return texts.DIVIDED.get(power) or filled(texts.AS_ASKED, p=f"{power:g}")


def _by_width(found: Scale, request: Request, which: int, words: tuple[Text, Text, Text], axis: Text, top: float) -> Value:
    """One of the two measures against d_k. which: 0 entropy, 1 gradient. words: title, units, and the sentence to be filled in."""
    values = (found.entropy, found.gradient)[which]
    rows = range(2 if request.power in texts.DIVIDED else 3)
    names = [_divided(found.powers[row]) for row in rows]
    lines = [Curve(names[row], WIDTHS, values[row].tolist(), COLOURS[row]) for row in rows]
    title, units, says = words
    plain, scaled = (f"{found.at[row, which]:.2f}" for row in (0, 1))
    told = (title, units, filled(says, d_k=request.d_k, plain=plain, scaled=scaled, most=f"{math.log2(N_KEYS):g}", n=N_KEYS))
    name, place = ("cost-entropy", "cost-gradient")[which], Place(request.d_k, yours=True)
    return lined(name, lines, (texts.WIDTHS, axis), told, [texts.D_K], ticks=WIDTHS[::2], across="log", up=(0, top), mark=place, height=220)


def hardens(seen: Explanation, request: Request, _state: str) -> Value:
    """Entropy of the weights against d_k."""
    words = (texts.HARDENS, filled(texts.HARDENS_UNITS, n=N_KEYS), texts.HARDENS_SAYS)
    return _by_width(_scale(seen), request, 0, words, texts.BITS, math.log2(N_KEYS) + 0.2)


def slopes(seen: Explanation, request: Request, _state: str) -> Value:
    """What reaches the weights of a push on the scores, against d_k."""
    return _by_width(_scale(seen), request, 1, (texts.SLOPES, texts.SLOPES_UNITS, texts.SLOPES_SAYS), texts.GRADIENT, 1.05)


def rows(seen: Explanation, _request: Request, _state: str) -> Value:
    """Some rows of weights, not divided and as asked for; divided by √d_k where it is asked that they are not."""
    found = _scale(seen)
    beside = 2 if found.powers[2] else 1
    hows, both = (texts.DIVIDED[0.0], _divided(found.powers[beside])), (found.weights[0], found.weights[beside])
    largest: list[NDArray[np.float32]] = [one.max(-1) for one in both]
    plain, asked = (f"{one.mean():.2f}" for one in largest)

    def draw(language: str) -> drawn.Figure:
        panels = [Map(how[language], one) for how, one in zip(hows, both, strict=True)]
        return maps(panels, axes=(texts.KEY[language], texts.QUERY[language]))

    return shown(
        "cost-rows",
        draw,
        (
            texts.ROWS,
            filled(texts.ROWS_UNITS, rows=len(both[0]), keys=N_KEYS),
            filled(texts.ROWS_SAYS, plain=plain, asked=asked, divided=hows[1]),
        ),
        (texts.QUERY, *(filled(texts.LARGEST_OF, how=how) for how in hows)),
        [(at, round(float(one), 4), round(float(other), 4)) for at, (one, other) in enumerate(zip(*largest, strict=True))],
        height=220,
    )


def scores(seen: Explanation, request: Request, _state: str) -> Value:
    """Dot products and additive scores: how they spread, and what they take."""
    found = _scale(seen)
    names, colours = (texts.DOT, texts.ADDITIVE), COLOURS[1::-1]
    kinds = about.family()["kinds"]
    length = max(kinds["additive"])
    slow, fast = (ms(kinds[kind][length]["ms"] / 1e3) for kind in ("additive", "explicit"))
    dot, sums = (f"{one.std():.3g}" for one in found.scores)
    root = f"{math.sqrt(request.d_k):.3g}"

    def draw(language: str) -> drawn.Figure:
        sets = [(name[language], values, colour) for name, values, colour in zip(names, found.scores, colours, strict=True)]
        return drawn.histograms(sets, (texts.SCORE[language], texts.SHARE[language]))

    says = filled(texts.SCORES_SAYS, d_k=request.d_k, dot=dot, root=root, additive=sums, length=f"{length:,}", slow=slow, fast=fast)
    return shown(
        "cost-scores",
        draw,
        (texts.SCORES, filled(texts.SCORES_UNITS, n=f"{N_KEYS**2:,}"), says),
        (texts.D_K, *names),
        [
            (width, round(float(one), 4), round(float(other), 4))
            for width, one, other in zip(WIDTHS, found.dot, found.additive, strict=True)
        ],
        [Mark(name, colour) for name, colour in zip(names, colours, strict=True)],
        height=200,
    )
