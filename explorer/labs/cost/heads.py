"""Pictures of a filter made of heads: both results, each head's map, the error, and what leads from
one position to another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.figure import describe_drawn_figure
from explorer.contract.control_kinds import Value
from explorer.contract.labels import fill_text
from explorer.figures import heatmaps
from explorer.figures.curves import Curve, Place
from explorer.figures.heatmaps import Figure, Map
from explorer.labs.cost import texts
from explorer.labs.cost.drawn import format_power
from explorer.page.curves import draw_curve_figure
from models.cost.records import ALPHAS, SIDE, Explanation, Heads, Request

# The input and the difference stand below each other, both results large beside them.
HALL = (((0, 0.19), (0.56, 1)), ((0.21, 0.6), (0, 1)), ((0.61, 1), (0, 1)), ((0, 0.19), (0, 0.44)))
CROP = 5  # pixels shown on each side of the one whose maps are drawn


def _read_heads(explanation: Explanation) -> Heads:
    assert explanation.heads is not None
    return explanation.heads


def format_error(value: float) -> str:
    """Return an error as people read it: 0.30, or 1.2 × 10⁻¹⁴."""
    return f"{value:.2f}" if value >= 0.005 or value == 0 else format_power(value)


def draw_filtered(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw picture, filter and heads on one scale, and their difference."""
    found = _read_heads(explanation)
    most = float(max(np.abs(found.true).max(), np.abs(found.made).max()))
    k, count = request.kernel, fill_text(texts.OF_HEADS, n=request.kernel**2)
    names, made = (
        (texts.PICTURE_IN, texts.CONVOLVED, count, texts.DIFFERENCE),
        (found.true, found.made, found.made - found.true),
    )
    numbers = {
        "alpha": f"{request.alpha:g}",
        "error": format_error(found.error),
        "most": f"{np.abs(found.true).max():.2f}",
    }
    values = zip(found.picture.flat, found.true.flat, found.made.flat, strict=True)

    def draw(language: str) -> Figure:
        first, *others = (name[language] for name in names)
        filters = [
            Map(name, one, -most, most, "signed") for name, one in zip(others, made, strict=True)
        ]
        return heatmaps.draw_maps(
            [Map(first, found.picture, scale="grey"), *filters], square=True, hall=HALL
        )

    return describe_drawn_figure(
        "cost-filter",
        draw,
        (
            texts.FILTERED,
            fill_text(
                texts.FILTERED_UNITS, k=k, name=texts.FILTERS[request.filter], most=f"{most:.2f}"
            ),
            fill_text(texts.FILTERED_SAYS, n=k * k, k=k, **numbers),
        ),
        (texts.PIXEL, texts.PICTURE_IN, texts.CONVOLVED, count),
        [
            (f"{at // SIDE}, {at % SIDE}", *(round(float(one), 6) for one in several))
            for at, several in enumerate(values)
        ],
        height=210,
    )


def draw_maps(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw the map of each head around one pixel, in the order of the filter's taps."""
    found = _read_heads(explanation)
    row, column = found.query
    around = found.maps[:, row - CROP : row + CROP + 1, column - CROP : column + CROP + 1]
    k, half = request.kernel, request.kernel // 2
    weight = float(
        np.mean([found.maps[h, row + h // k - half, column + h % k - half] for h in range(k * k)])
    )
    panels = [Map(str(h + 1) if k == 3 else "", one) for h, one in enumerate(around)]
    return describe_drawn_figure(
        "cost-maps",
        lambda _language: heatmaps.draw_maps(panels, lines=k, square=True),
        (
            texts.MAPS,
            fill_text(texts.MAPS_UNITS, alpha=f"{request.alpha:g}"),
            fill_text(texts.MAPS_SAYS, n=k * k, weight=f"{weight:.2f}"),
        ),
        (texts.HEAD, texts.LARGEST),
        [(h + 1, round(float(one.max()), 6)) for h, one in enumerate(found.maps)],
        height=300,
    )


def draw_errors(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw the largest error against α."""
    found = _read_heads(explanation).errors
    line = Curve(texts.ERROR, ALPHAS, np.maximum(found, 1e-17).tolist(), "var(--cat-1)")
    mark, axes = (
        Place(request.alpha, yours=True) if request.alpha >= ALPHAS[0] else None,
        (texts.SHARPNESS, texts.ERROR),
    )
    says = fill_text(
        texts.ERRORS_SAYS,
        first=format_error(found[0]),
        last=format_error(found[-1]),
        low=f"{ALPHAS[0]:g}",
        high=f"{ALPHAS[-1]:g}",
    )
    rows = [(alpha, float(f"{error:.4g}")) for alpha, error in zip(ALPHAS, found, strict=True)]
    how: dict[str, Any] = {
        "ticks": ALPHAS[::2],
        "across": "log",
        "up": "log",
        "mark": mark,
        "height": 200,
    }
    return draw_curve_figure(
        "cost-errors",
        [line],
        axes,
        (texts.ERRORS, texts.ERRORS_UNITS, says),
        axes,
        rows,
        legend=(),
        **how,
    )


def draw_reach(explanation: Explanation, _request: Request, _state: str) -> Value:
    """Draw what leads from one position to another, by distance and content."""
    found = _read_heads(explanation).reach
    kinds, contents, distances, size, _ = found.shape
    most, far = float(np.abs(found).max()), distances // 2

    def board(kind: int) -> NDArray[np.float32]:
        """Place contents below each other and distances side by side, with gaps."""
        gaps = np.pad(found[kind], ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.nan)
        joined: NDArray[np.float32] = gaps.transpose(0, 2, 1, 3).reshape(contents * (size + 1), -1)[
            :-1, :-1
        ]
        return joined

    def alike(kind: int) -> str:
        flat = found[kind, 0].reshape(distances, -1)
        flat = flat / np.linalg.norm(flat, axis=1, keepdims=True)
        return f"{np.abs(flat @ flat.T)[np.triu_indices(distances, 1)].mean():.2f}"

    def draw(language: str) -> Figure:
        made = heatmaps.draw_maps(
            [
                Map(name[language], board(at), -most, most, "signed")
                for at, name in enumerate(texts.REACHES)
            ],
            lines=3,
        )
        frame, middle = made["layout"], [n * (size + 1) + (size - 1) / 2 for n in range(distances)]
        frame["margin"] = {**frame["margin"], "l": 72, "b": 40}
        said = [fill_text(texts.CONTENT, n=c + 1)[language] for c in range(contents)]
        for name in ("yaxis", "yaxis2", "yaxis3"):
            frame[name] |= {"showticklabels": True, "tickvals": middle[:contents], "ticktext": said}
        steps = [str(j - far).replace("-", "−") for j in range(distances)]
        frame["xaxis3"] |= {"showticklabels": True, "tickvals": middle, "ticktext": steps}
        frame["xaxis3"]["title"] = {
            "text": texts.DISTANCE[language],
            "standoff": 4,
            "font": {"size": 12, "color": "var(--ink2)"},
        }
        return made

    return describe_drawn_figure(
        "cost-reach",
        draw,
        (
            texts.REACH,
            fill_text(texts.REACH_UNITS, most=f"{most:.1f}"),
            fill_text(texts.REACH_SAYS, alike=alike(1), other=alike(2)),
        ),
        (texts.KIND_OF, texts.CONTENT_COLUMN, texts.DISTANCE, texts.SIZE),
        [
            (
                texts.REACHES[kind],
                fill_text(texts.CONTENT, n=c + 1),
                j - far,
                round(float(np.linalg.norm(found[kind, c, j])), 4),
            )
            for kind, c, j in np.ndindex(kinds, contents, distances)
        ],
        height=360,
    )
