"""Pictures of the clock: the measured times beside their formulas, and what a layer costs on
paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract.control_kinds import Value
from explorer.contract.labels import Text, fill_text, join_parts, join_sentences
from explorer.figures.curves import Curve, Place
from explorer.labs.cost import drawn, texts
from explorer.page.curves import draw_curve_figure
from models.cost.records import (
    FORMULAS,
    LAYERS,
    SECONDS,
    Clock,
    Explanation,
    Point,
    Request,
    exponent,
    lengths,
    operations,
)

COLOURS = dict(zip(LAYERS, (f"var(--cat-{n})" for n in (1, 2, 3, 4)), strict=True))
# both axes are logarithmic; names stand at the ends of the lines
WHOLE: Final[dict[str, Any]] = {"across": "log", "up": "log", "room": 104}
BEYOND = 8  # formulas are drawn up to this multiple of the longest length


def format_milliseconds(seconds: float) -> str:
    """Return milliseconds with three significant digits."""
    return f"{seconds * 1e3:,.3g}" if seconds < 1 else f"{seconds * 1e3:,.0f}"


def select_asked(points: Sequence[Point]) -> list[Point]:
    """Return the points of the layers as requested, without those of other variants."""
    return [point for point in points if not point.variant]


def _describe_progress(points: Sequence[Point], request: Request) -> dict[str, object]:
    far = max((point.length for point in points), default=0)
    return {
        "n": len(select_asked(points)),
        "of": len(LAYERS) * len(lengths(request.length)),
        "length": f"{far:,}",
    }


def progress(steps: Sequence[Point], request: Request) -> Text:
    """Return the sentence that says how far the clock has come."""
    return fill_text(texts.PROGRESS, **_describe_progress(steps, request))


def draw_partial_clock(steps: Sequence[Point], request: Request) -> Value:
    """Draw the clock while it runs. steps: the points so far."""
    return _draw_points(
        steps, request, fill_text(texts.CLOCK_BEGINS, **_describe_progress(steps, request))
    )


def draw_clock(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw the milliseconds of each layer against length, beside its formula."""
    assert explanation.clock is not None
    return _draw_points(
        explanation.clock.points, request, _describe_end(explanation.clock, request)
    )


def _describe_end(run: Clock, request: Request) -> Text:
    last = {
        point.layer: point.seconds
        for point in select_asked(run.points)
        if point.length == request.length
    }
    so_far, said = _describe_progress(run.points, request), []
    if run.stopped:
        said.append(fill_text(texts.STOPPED, **so_far) if run.points else texts.NOTHING)
    elif run.left:
        names = [
            fill_text(texts.LEFT_ONE, name=texts.LAYERS[layer], length=f"{length:,}")
            for layer, length in run.left
        ]
        said.append(
            fill_text(texts.LEFT, seconds=f"{SECONDS:g}", names=join_parts(names, ", ", "、"))
        )
    if {"attention", "recurrence"} <= last.keys():
        share, times = (
            operations("recurrence", request.length, request)
            / operations("attention", request.length, request),
            last["recurrence"] / last["attention"],
        )
        layers = {layer: format_milliseconds(last[layer]) for layer in ("attention", "recurrence")}
        numbers = {"length": request.length, "width": request.width, "cross": 4 * request.width}
        written = {name: f"{value:,}" for name, value in numbers.items()}
        said.append(
            fill_text(
                texts.CLOCK_SAYS, **layers, **written, share=f"{share:,.3g}", times=f"{times:,.3g}"
            )
        )
    return join_sentences(*said) or fill_text(texts.CLOCK_BEGINS, **so_far)


def _draw_points(points: Sequence[Point], request: Request, sentence: Text) -> Value:
    lines, legend = [], []
    for layer in LAYERS:
        mine = sorted((p for p in select_asked(points) if p.layer == layer), key=lambda p: p.length)
        name, colour, fitted, paper_ = (
            texts.LAYERS[layer],
            COLOURS[layer],
            exponent(mine),
            f"{FORMULAS[layer].slope:g}",
        )
        said = texts.UNFITTED if fitted is None else texts.FITTED
        legend.append(
            Mark(fill_text(said, name=name, fitted=f"{fitted or 0:.2f}", paper=paper_), colour)
        )
        if mine:
            # milliseconds for an operation
            slow = mine[-1].seconds * 1e3 / operations(layer, mine[-1].length, request)
            far = [mine[0].length, request.length, BEYOND * request.length]
            lines.append(
                Curve(
                    name,
                    far,
                    [operations(layer, n, request) * slow for n in far],
                    colour,
                    dashed=True,
                    end=name,
                )
            )
            lines.append(
                Curve(name, [p.length for p in mine], [p.seconds * 1e3 for p in mine], colour)
            )
    return draw_curve_figure(
        "cost-clock",
        lines,
        (texts.POSITIONS, texts.MILLISECONDS),
        (texts.CLOCK, texts.CLOCK_UNITS, sentence),
        (texts.LAYER, texts.LENGTH_COLUMN, texts.TIME_COLUMN, texts.RUNS_COLUMN),
        [
            (texts.LAYERS[p.layer], p.length, round(p.seconds * 1e3, 4), p.repeats)
            for p in select_asked(points)
        ],
        legend=legend,
        ticks=[*lengths(request.length), 4 * request.length],
        mark=Place(request.length, yours=True),
        **WHOLE,
        height=320,
    )


def draw_path_lengths(_seen: Explanation, request: Request, _state: str) -> Value:
    """Draw through how many layers or steps a signal goes from one word to another, against the
    distance between them."""
    n, kernel, window = request.length, request.kernel, request.window
    apart = sorted({max(2, round(n ** (at / 12))) for at in range(13)})
    paths = {
        layer: [FORMULAS[layer].path(one, kernel, window) for one in apart] for layer in LAYERS
    }

    lines = [
        Curve(texts.LAYERS[one], apart, paths[one], COLOURS[one], dots=False, end=texts.LAYERS[one])
        for one in LAYERS
    ]
    said = {layer: f"{paths[layer][-1]:,}" for layer in LAYERS}
    words = (
        texts.FAR,
        fill_text(texts.FAR_UNITS, kernel=kernel, window=f"{window:,}"),
        fill_text(texts.FAR_SAYS, length=f"{n:,}", **said),
    )
    columns = (texts.APART, *(texts.LAYERS[layer] for layer in LAYERS))
    rows = [(one, *(paths[layer][at] for layer in LAYERS)) for at, one in enumerate(apart)]
    ticks, axes = [2, 8, *lengths(n)[1:]], (texts.APART, texts.LONGEST)
    return draw_curve_figure(
        "cost-far", lines, axes, words, columns, rows, legend=(), ticks=ticks, **WHOLE, height=230
    )


def draw_operations(_seen: Explanation, request: Request, _state: str) -> Value:
    """Draw the table of operations, path and steps for the request."""
    n, kernel, window = request.length, request.kernel, request.window
    amounts = [operations(layer, n, request) for layer in LAYERS]
    written = [drawn.format_power(amount, 3) for amount in amounts]
    paths = [FORMULAS[layer].path(n, kernel, window) for layer in LAYERS]
    waits = [FORMULAS[layer].steps(n) for layer in LAYERS]
    columns = (
        (texts.OPERATIONS, written),
        (texts.PATH, [f"{one:,}" for one in paths]),
        (texts.STEPS_COLUMN, [f"{one:,}" for one in waits]),
    )
    sizes = {
        "length": f"{n:,}",
        "width": f"{request.width:,}",
        "kernel": kernel,
        "window": f"{window:,}",
        "layers": paths[2],
    }

    def draw(language: str) -> drawn.Figure:
        names = [f"{texts.LAYERS[layer][language]}<br>{texts.FORMULAS[layer]}" for layer in LAYERS]
        return drawn.draw_bars_table(
            names,
            amounts,
            [(heading[language], cells) for heading, cells in columns],
            list(COLOURS.values()),
        )

    return describe_drawn_figure(
        "cost-paper",
        draw,
        (
            texts.PAPER,
            fill_text(texts.PAPER_UNITS, **sizes),
            fill_text(texts.PAPER_SAYS, **dict(zip(LAYERS, written, strict=True)), **sizes),
        ),
        (texts.LAYER, texts.FORMULA, texts.OPERATIONS, texts.LONGEST, texts.SEQUENTIAL),
        [
            (texts.LAYERS[one], texts.FORMULAS[one], amounts[at], paths[at], waits[at])
            for at, one in enumerate(LAYERS)
        ],
        height=230,
    )
