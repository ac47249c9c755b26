"""bertviz's own three views of a run, in a sandboxed frame in a folded panel (folded.py).

Its answer says `view` and `src`, what the frame shows; it asks for {view, kind, head}, which `Look.of` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import gradio as gr

from explorer.figures.attention import Kind
from explorer.figures.bertviz import VIEWS, Attention, TooLarge, View, of, page
from explorer.packing import ArrayStore, address, frames
from explorer.widgets import folded
from explorer.widgets.base import widget

__all__ = ["Attention", "Kind", "Look", "View", "bertviz", "of", "shown"]

Text = Mapping[str, str]

ENCODER_DECODER: Final[Text] = {
    "en": "bertviz names a row of the decoder by the word that goes in, <s> first; the map above names it by the word that comes out.",
    "zh": "bertviz 用输入的词来标记解码器的行，第一个是 <s>；上面的图用输出的词来标记。",
}


def bertviz(views: Sequence[View] = VIEWS, *, note: Text | None = None) -> gr.HTML:
    """Place the widget. views: without "neuron" where queries and keys are never watched. note: what a visitor has to know to compare them
    with the ones around them."""
    return widget("bertviz", folded.ready(), events=("ask",), views=list(views), note=None if note is None else dict(note))


@dataclass(frozen=True)
class Look(folded.Question):
    """What a visitor wants to see. Nonsense in the event becomes the default: it can only come from a made-up request."""

    view: View = "head"
    chosen: str = ""  # key of the attention shown first
    layer: int = 0  # from 0
    head: int = 0

    @classmethod
    def of(cls, detail: object) -> Look:
        """Reads the event's detail."""
        asked = folded.Question.of(detail)
        given = asked.wish if isinstance(asked.wish, Mapping) else {}
        view: View = next((each for each in VIEWS if each == given.get("view")), "head")
        kind, (layer, _, head) = given.get("kind"), str(given.get("head") or "").partition(".")
        return cls(asked.run, asked.wish, view, kind if isinstance(kind, str) else "", _place(layer), _place(head))


def _place(number: str) -> int:
    """From the address, where layers and heads count from 1, to an index."""
    return int(number) - 1 if number.isascii() and number.isdecimal() and 0 < len(number) < 4 and int(number) else 0


def shown(look: Look, attentions: Sequence[Attention], store: ArrayStore | None = None) -> folded.Value:
    """The page for the frame, built and put where the frame fetches it, or the refusal that says why not.

    store: the process's own by default. A layer or head beyond the run's becomes the first, and so does a view that these arrays are not
    enough for. Takes up to half a second: call it from a worker thread.
    """
    view: View = look.view if look.view != "neuron" or all(each.queries is not None for each in attentions) else "head"
    layers, heads = attentions[0].weights.shape[:2]
    try:
        document = page(
            view,
            attentions,
            chosen=look.chosen,
            layer=look.layer if look.layer < layers else 0,
            head=look.head if look.head < heads else 0,
        )
        digest = (frames() if store is None else store).put(document.encode())
    except TooLarge as error:
        return folded.refused(look, error.text)
    return folded.shown(look, view=view, src=address("frames", digest))
