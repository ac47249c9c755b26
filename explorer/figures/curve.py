"""Curves over training: what a model's loss did, one line for the training set, one for the held-out set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

TRAINING, HELD_OUT = "var(--cat-1)", "var(--cat-2)"


def training(log: Sequence[Mapping[str, float]], *, axes: tuple[str, str] = ("epoch", "loss, nats per piece")) -> go.Figure:
    """The training curve of a run.

    log: one entry per epoch with "epoch", "loss" (training) and "validation", nats per piece, as the training loop writes it.
    axes: titles of the two axes, in the reader's language. Raises ValueError for an empty log or an entry without these names.
    """
    import plotly.graph_objects as go  # costs half a second, which a page without a curve need not wait for

    from explorer.figures.theme import template

    if not log:
        raise ValueError("a training log of 0 epochs")
    missing = {name for name in ("epoch", "loss", "validation") if any(name not in line for line in log)}
    if missing:
        raise ValueError(f"a training log without {', '.join(sorted(missing))}")
    epochs = [line["epoch"] for line in log]
    names = (("loss", TRAINING), ("validation", HELD_OUT))
    lines = [
        go.Scatter(
            x=epochs,
            y=[line[name] for line in log],
            name=name,
            mode="lines+markers" if len(log) < 3 else "lines",
            line={"color": colour, "width": 2},
            hovertemplate="%{x}: %{y:.3f}<extra></extra>",
        )
        for name, colour in names
    ]
    top = max(max(line[name] for line in log) for name, _ in names)
    figure = go.Figure(lines, {"template": template(), "showlegend": False})
    figure.update_xaxes({"title": {"text": axes[0]}, "showgrid": False, "showline": True, "rangemode": "tozero"})
    figure.update_yaxes({"title": {"text": axes[1]}, "range": [0, 1.05 * top], "showline": True})
    return figure


@dataclass(frozen=True)
class Line:
    """One model's curve. x: how far it was trained. y: its held-out loss, in the unit of the axis. colour: a token, "var(--cat-1)"."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str


def compared(lines: Sequence[Line], *, axes: tuple[str, str]) -> go.Figure:
    """Curves of several models on the same held-out data; the vertical axis begins just below the lowest of them.

    axes: titles of the two axes, in the reader's language. ValueError for no lines, or for one without points.
    """
    import plotly.graph_objects as go

    from explorer.figures.theme import template

    if not lines or not all(len(line.x) and len(line.x) == len(line.y) for line in lines):
        raise ValueError(f"{len(lines)} curves, each with as many values as places")
    figure = go.Figure(
        [
            go.Scatter(
                x=list(line.x),
                y=list(line.y),
                name=line.name,
                mode="lines+markers" if len(line.x) < 3 else "lines",
                line={"color": line.colour, "width": 2},
                hovertemplate=f"{line.name}, %{{x}}: %{{y:.3f}}<extra></extra>",
            )
            for line in lines
        ],
        {"template": template(), "showlegend": False},
    )
    # What comes before the first look at held-out data is far above the rest and would flatten it.
    low, high = min(min(line.y) for line in lines), max(line.y[len(line.y) // 5] for line in lines)
    figure.update_xaxes({"title": {"text": axes[0]}, "showgrid": False, "showline": True, "rangemode": "tozero"})
    figure.update_yaxes({"title": {"text": axes[1]}, "range": [low - 0.05, high + 0.05], "showline": True})
    return figure
