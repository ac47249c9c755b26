"""Queries and keys of a head as points of one plane, as Plotly's own JSON, coloured by their class
or by their position."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme
from explorer.figures.attention import show_token

QUERY, KEY = "var(--query)", "var(--key)"


def draw_plane(
    points: NDArray[np.float32],
    asks: NDArray[np.bool_],
    pieces: Sequence[str],
    positions: NDArray[np.int32],
    texts: Sequence[str],
    names: tuple[str, str],
    axes: tuple[str, str],
    colours: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the figure of the points. Queries are circles, keys diamonds.

    points: (point, 2).
    asks: whether each point is a query.
    pieces, positions, texts: those of each point, texts whole.
    names: those of queries and of keys, in the hover.
    colours: those of each point, in place of the two roles'; empty: dark at the beginning of a
        text, light at its end.
    """
    last = max(1, int(positions.max(initial=1)))
    traces: list[dict[str, Any]] = []
    for side, name, symbol, colour in (
        (asks, names[0], "circle", QUERY),
        (~asks, names[1], "diamond", KEY),
    ):
        which = np.flatnonzero(side).tolist()
        placed: dict[str, Any] = {"color": [colours[at] for at in which] if colours else colour}
        if colours is not None and not colours:
            placed = {
                "color": positions[which].tolist(),
                "colorscale": theme.colorscale(theme.WEIGHTS),
                "cmin": 0,
                "cmax": last,
            }
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": [round(float(points[at, 0]), 4) for at in which],
                "y": [round(float(points[at, 1]), 4) for at in which],
                "marker": {"size": 9, "symbol": symbol, "opacity": 0.8, **placed},
                "customdata": [
                    [_isolate_text(pieces[at]), int(positions[at]), _isolate_text(texts[at])]
                    for at in which
                ],
                "hovertemplate": (
                    f"{name} “%{{customdata[0]}}”"
                    " (%{customdata[1]})<br>%{customdata[2]}<extra></extra>"
                ),
            }
        )
    frame = theme.make_titled_layout(axes)
    frame["xaxis"] |= {"zeroline": False}
    frame["yaxis"] |= {"zeroline": False, "scaleanchor": "x"}  # the distances carry the meaning
    return {"data": traces, "layout": {**frame, "hovermode": "closest"}}


def _isolate_text(text: str) -> str:
    """Return the text without markup and with a direction of its own."""
    plain = " ".join(map(show_token, text.split(" "))) or show_token(text)
    return f"\u2068{escape(plain, quote=True)}\u2069"
