"""How likely the model holds a German sentence that the visitor typed: a folded panel (folded.py), scored piece by piece.

Its wish is {"german": text}, {"own": true} for the model's own translation, or None for what the page begins with; its value, when shown:

    german: the text that was read; own, ownLogP, ownLength: the model's own translation, nats, pieces
    source, target: {pieces, space}; logp, ranks: per target piece; favourites, probabilities: per target piece the likeliest five
    cross: packed (layer, head, target, source)

In the address: ``forced`` (open), ``german`` (the text; "*" for the model's own), ``fword`` (the piece looked at), ``fhead`` ("4": the
mean of a layer's heads, "4.3": one head, both from 1).
"""

from __future__ import annotations

import gradio as gr

from explorer.figures.theme import SURPRISE, WEIGHTS, colorscale
from explorer.widgets.base import widget
from explorer.widgets.folded import ready


def forced(*, most: int) -> gr.HTML:
    """Place the panel, folded. most: characters of a text that is sent at all."""
    return widget(
        "forced",
        ready(),
        events=("ask",),
        scales={"weights": colorscale(WEIGHTS), "surprise": {mode: colorscale(scale) for mode, scale in SURPRISE.items()}},
        most=most,
    )
