"""The figures that only this page has, as Plotly's own JSON: maps side by side, and curves over words, lengths and distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import theme
from explorer.widgets import figure

Array = NDArray[np.float32]
Figure = dict[str, Any]
Text = Mapping[str, str]
Axes = Mapping[str, tuple[str, str]]  # titles of the two axes in each language
Rows = Sequence[Sequence[str | float | Text | None]]

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


Line = tuple[Text, Sequence[float], str]  # what it is called, one number for each place, a colour


def lines(
    given: Sequence[Line], places: Sequence[str], axes: Axes, language: str, mark: int | None = None, logarithmic: bool = False
) -> Figure:
    """Curves over named places. mark: the place of the run in view. logarithmic: the vertical axis."""
    frame = theme.titled(axes[language])
    frame["margin"] = {"l": 52, "r": 12, "t": 12, "b": 44}
    at = list(range(len(places)))
    frame["xaxis"] |= {"tickvals": at, "ticktext": list(places), "showgrid": False, "zeroline": False}
    frame["yaxis"] |= {"type": "log"} if logarithmic else {"rangemode": "tozero", "zeroline": False}
    if mark is not None:
        across = {"type": "rect", "xref": "x", "yref": "paper", "x0": mark - 0.3, "x1": mark + 0.3, "y0": 0, "y1": 1}
        frame["shapes"] = [{**across, "layer": "below", "line": {"width": 0}, "fillcolor": "var(--query-soft)"}]
    data = []
    for name, values, colour in given:
        drawn = {"x": at, "y": [float(value) for value in values], "customdata": list(places), "line": {"width": 2, "color": colour}}
        hover = f"{name[language]}, %{{customdata}}: %{{y:.3g}}<extra></extra>"
        marker = {"size": 7, "color": colour}
        data.append({"type": "scatter", "mode": "lines+markers", "name": name[language], "marker": marker, "hovertemplate": hover} | drawn)
    return {"data": data, "layout": frame}


def shown(
    name: str,
    draw: Callable[[str], Figure],
    said: tuple[Text, Text, Text],
    columns: Sequence[Text],
    rows: Rows,
    legend: Sequence[Line] = (),
) -> dict[str, object]:
    """A figure with what stands around it. draw(language); said: title, units and sentence; legend: the curves that it names."""
    title, units, sentence = said
    figures = {language: draw(language) for language in ("en", "zh")}
    tall = {} if legend else {"height": 100 + max(160, 26 * len(figures["en"]["layout"]["yaxis"]["tickvals"]))}
    marks = [figure.Mark(text, colour) for text, _, colour in legend]
    table = figure.Table(columns, rows)
    return figure.value(figures, title=title, units=units, sentence=sentence, legend=marks, table=table, name=name, **tall)
