"""What is drawn of the clock: times beside their formulas, and what a layer costs on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from explorer.controls import Value
from explorer.figures.curves import Curve, Place
from explorer.labels import Text, filled, joined, strung
from explorer.labs.cost import drawn, texts
from explorer.labs.lined import lined
from explorer.widgets.figure import Mark, shown
from models.cost.records import FORMULAS, LAYERS, SECONDS, Clock, Explanation, Point, Request, exponent, lengths, operations

COLOURS = dict(zip(LAYERS, (f"var(--cat-{n})" for n in (1, 2, 3, 4)), strict=True))
WHOLE: Final[dict[str, Any]] = {"across": "log", "up": "log", "room": 104}  # both axes logarithmic, names at the ends of lines
BEYOND = 8  # times the longest length, to which formulas are drawn


def ms(seconds: float) -> str:
    """Milliseconds with three digits that count."""
    return f"{seconds * 1e3:,.3g}" if seconds < 1 else f"{seconds * 1e3:,.0f}"


def own(points: Sequence[Point]) -> list[Point]:
    """The points of the layers as they are asked for."""
    return [point for point in points if not point.variant]


def _so_far(points: Sequence[Point], request: Request) -> dict[str, object]:
    far = max((point.length for point in points), default=0)
    return {"n": len(own(points)), "of": len(LAYERS) * len(lengths(request.length)), "length": f"{far:,}"}


def progress(steps: Sequence[Point], request: Request) -> Text:
    """How far the clock has come."""
    return filled(texts.PROGRESS, **_so_far(steps, request))


def growing(steps: Sequence[Point], request: Request) -> Value:
    """The clock while it runs. steps: the points so far."""
    return _drawn(steps, request, filled(texts.CLOCK_BEGINS, **_so_far(steps, request)))


def clock(seen: Explanation, request: Request, _state: str) -> Value:
    """Milliseconds of each layer against length, beside its formula."""
    assert seen.clock is not None
    return _drawn(seen.clock.points, request, _ended(seen.clock, request))


def _ended(run: Clock, request: Request) -> Text:
    last = {point.layer: point.seconds for point in own(run.points) if point.length == request.length}
    so_far, said = _so_far(run.points, request), []
    if run.stopped:
        said.append(filled(texts.STOPPED, **so_far) if run.points else texts.NOTHING)
    elif run.left:
        names = [filled(texts.LEFT_ONE, name=texts.LAYERS[layer], length=f"{length:,}") for layer, length in run.left]
        said.append(filled(texts.LEFT, seconds=f"{SECONDS:g}", names=strung(names, ", ", "、")))
    if {"attention", "recurrence"} <= last.keys():
        share, times = (
            operations("recurrence", request.length, request) / operations("attention", request.length, request),
            last["recurrence"] / last["attention"],
        )
        layers = {layer: ms(last[layer]) for layer in ("attention", "recurrence")}
        numbers = {"length": request.length, "width": request.width, "cross": 4 * request.width}
        written = {name: f"{value:,}" for name, value in numbers.items()}
        said.append(filled(texts.CLOCK_SAYS, **layers, **written, share=f"{share:,.3g}", times=f"{times:,.3g}"))
    return joined(*said) or filled(texts.CLOCK_BEGINS, **so_far)


def _drawn(points: Sequence[Point], request: Request, sentence: Text) -> Value:
    lines, legend = [], []
    for layer in LAYERS:
        mine = sorted((p for p in own(points) if p.layer == layer), key=lambda p: p.length)
        name, colour, fitted, paper_ = texts.LAYERS[layer], COLOURS[layer], exponent(mine), f"{FORMULAS[layer].slope:g}"
        said = texts.UNFITTED if fitted is None else texts.FITTED
        legend.append(Mark(filled(said, name=name, fitted=f"{fitted or 0:.2f}", paper=paper_), colour))
        if mine:
            slow = mine[-1].seconds * 1e3 / operations(layer, mine[-1].length, request)  # ms for an operation
            far = [mine[0].length, request.length, BEYOND * request.length]
            lines.append(Curve(name, far, [operations(layer, n, request) * slow for n in far], colour, dashed=True, end=name))
            lines.append(Curve(name, [p.length for p in mine], [p.seconds * 1e3 for p in mine], colour))
    return lined(
        "cost-clock",
        lines,
        (texts.POSITIONS, texts.MILLISECONDS),
        (texts.CLOCK, texts.CLOCK_UNITS, sentence),
        (texts.LAYER, texts.LENGTH_COLUMN, texts.TIME_COLUMN, texts.RUNS_COLUMN),
        [(texts.LAYERS[p.layer], p.length, round(p.seconds * 1e3, 4), p.repeats) for p in own(points)],
        legend=legend,
        ticks=[*lengths(request.length), 4 * request.length],
        mark=Place(request.length, yours=True),
        **WHOLE,
        height=320,
    )


def far(_seen: Explanation, request: Request, _state: str) -> Value:
    """Through how many layers or steps a signal goes from one word to another, by how far apart they stand."""
    n, kernel, window = request.length, request.kernel, request.window
    apart = sorted({max(2, round(n ** (at / 12))) for at in range(13)})
    paths = {layer: [FORMULAS[layer].path(one, kernel, window) for one in apart] for layer in LAYERS}

    lines = [Curve(texts.LAYERS[one], apart, paths[one], COLOURS[one], dots=False, end=texts.LAYERS[one]) for one in LAYERS]
    said = {layer: f"{paths[layer][-1]:,}" for layer in LAYERS}
    words = (texts.FAR, filled(texts.FAR_UNITS, kernel=kernel, window=f"{window:,}"), filled(texts.FAR_SAYS, length=f"{n:,}", **said))
    columns = (texts.APART, *(texts.LAYERS[layer] for layer in LAYERS))
    rows = [(one, *(paths[layer][at] for layer in LAYERS)) for at, one in enumerate(apart)]
    ticks, axes = [2, 8, *lengths(n)[1:]], (texts.APART, texts.LONGEST)
    return lined("cost-far", lines, axes, words, columns, rows, legend=(), ticks=ticks, **WHOLE, height=230)


def paper(_seen: Explanation, request: Request, _state: str) -> Value:
    """The table of operations, path and steps for what is asked."""
    n, kernel, window = request.length, request.kernel, request.window
    amounts = [operations(layer, n, request) for layer in LAYERS]
    written = [drawn.power(amount, 3) for amount in amounts]
    paths = [FORMULAS[layer].path(n, kernel, window) for layer in LAYERS]
    waits = [FORMULAS[layer].steps(n) for layer in LAYERS]
    columns = (
        (texts.OPERATIONS, written),
        (texts.PATH, [f"{one:,}" for one in paths]),
        (texts.STEPS_COLUMN, [f"{one:,}" for one in waits]),
    )
    sizes = {"length": f"{n:,}", "width": f"{request.width:,}", "kernel": kernel, "window": f"{window:,}", "layers": paths[2]}

    def draw(language: str) -> drawn.Figure:
        names = [f"{texts.LAYERS[layer][language]}<br>{texts.FORMULAS[layer]}" for layer in LAYERS]
        return drawn.paper(names, amounts, [(heading[language], cells) for heading, cells in columns], list(COLOURS.values()))

    return shown(
        "cost-paper",
        draw,
        (texts.PAPER, filled(texts.PAPER_UNITS, **sizes), filled(texts.PAPER_SAYS, **dict(zip(LAYERS, written, strict=True)), **sizes)),
        (texts.LAYER, texts.FORMULA, texts.OPERATIONS, texts.LONGEST, texts.SEQUENTIAL),
        [(texts.LAYERS[one], texts.FORMULAS[one], amounts[at], paths[at], waits[at]) for at, one in enumerate(LAYERS)],
        height=230,
    )
