"""The figures that only this page has, as Plotly's own JSON: maps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme

Array = NDArray[np.float32]
Figure = dict[str, Any]

PRINTED = 200  # cells of a map, up to which each has its number


Map = tuple[str, Array, float, float]  # its title, (query, key), the values of the darkest and of the brightest colour


def maps(given: Sequence[Map], queries: Sequence[str], keys: Sequence[str]) -> Figure:
    """Maps of the same queries and keys beside each other; one that has a single number for each query becomes bars.

    ValueError where a map has another size.
    """
    if any(values.shape not in {(len(queries), len(keys)), (len(queries),)} for _, values, _, _ in given):
        raise ValueError(f"maps {[values.shape for _, values, _, _ in given]} for {len(queries)} queries and {len(keys)} keys")
    frame = {**theme.layout(), "showlegend": False, "margin": {"l": 70, "r": 10, "t": 70, "b": 10}, "annotations": []}
    data: list[Figure] = []
    at, plain, count = list(range(len(queries))), {"showgrid": False, "zeroline": False}, len(given)
    for n, (title, values, least, most) in enumerate(given):
        name = str(n + 1) if n else ""
        domain = [n / count + 0.015 * (n > 0), (n + 1) / count - 0.015]
        frame["annotations"].append({"text": title, "x": sum(domain) / 2, "y": 1, "yshift": 62, **_AT})
        across = {"domain": domain, "side": "top", "anchor": f"y{name}", **plain}
        rows = {"tickvals": at, "ticktext": list(queries), "anchor": f"x{name}", "range": [len(at) - 0.5, -0.5], "showticklabels": not n}
        frame[f"yaxis{name}"] = {**theme.layout()["yaxis"], **rows, **plain}
        axes = {"xaxis": f"x{name}", "yaxis": f"y{name}"}
        if values.ndim == 1:
            across |= {"range": [0, 1.25], "tickvals": [0, 0.5, 1]}
            bars = {"type": "bar", "orientation": "h", "x": values.tolist(), "y": at, "marker": {"color": "var(--accent)"}}
            text = {"text": [f"{value:.2f}" for value in values], "textposition": "outside", "cliponaxis": False, "hoverinfo": "skip"}
            data.append({**bars, **text, **axes})
        else:
            across |= {"tickvals": list(range(len(keys))), "ticktext": list(keys), "tickangle": -60}
            cells = {"z": values.tolist(), "zmin": least, "zmax": most, "colorscale": theme.colorscale(theme.WEIGHTS), "showscale": False}
            cells |= {"customdata": [[[query, key] for key in keys] for query in queries], "hovertemplate": HOVER, "xgap": 1, "ygap": 1}
            text = {"texttemplate": "%{z:.2f}", "textfont": {"size": 11}} if values.size <= PRINTED else {}
            data.append({"type": "heatmap", **cells, **text, **axes})
        frame[f"xaxis{name}"] = {**theme.layout()["xaxis"], **across}
    return {"data": data, "layout": frame}


HOVER = "%{customdata[0]} → %{customdata[1]}: %{z:.3f}<extra></extra>"
_AT: Figure = {"xref": "paper", "yref": "paper", "showarrow": False, "yanchor": "bottom", "font": {"size": 13, "color": "var(--ink)"}}
