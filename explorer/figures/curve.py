"""Curves over training: what a model's loss did, one line for the training set, one for the held-out set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
