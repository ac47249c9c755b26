"""bertviz's own three views of a run, in a sandboxed frame in a folded panel (folded.py).

The answer gives `view` and `src`, the page of the frame. The question is {view, kind, head}, which
`BertvizSelection.from_event` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import gradio as gr

from explorer.components import folded
from explorer.components.base import place_widget
from explorer.figures.attention import Kind
from explorer.figures.bertviz import VIEWS, Attention, TooLarge, View, write_page
from explorer.values.packing import ArrayStore, frame_store, write_address

__all__ = ["Attention", "BertvizSelection", "Kind", "View", "place_bertviz", "render_frame"]

Text = Mapping[str, str]

ENCODER_DECODER: Final[Text] = {
    "en": (
        "bertviz names a row of the decoder by the word that goes in, <s> first; the map above"
        " names it by the word that comes out."
    ),
    "zh": "bertviz 用输入的词来标记解码器的行，第一个是 <s>；上面的图用输出的词来标记。",
}


def place_bertviz(views: Sequence[View] = VIEWS, *, note: Text | None = None) -> gr.HTML:
    """Place the widget.

    views: the views on offer, without "neuron" where queries and keys are never recorded.
    note: a remark that a visitor needs to compare them with the views around them.
    """
    return place_widget(
        "bertviz",
        folded.show_closed(),
        events=("ask",),
        views=list(views),
        note=None if note is None else dict(note),
    )


@dataclass(frozen=True)
class BertvizSelection(folded.Question):
    """The selection of a visitor. Nonsense in the event becomes the default, because it can only
    come from a made-up request."""

    view: View = "head"
    chosen: str = ""  # key of the attention that is shown first
    layer: int = 0  # from 0
    head: int = 0

    @classmethod
    def from_event(cls, detail: object) -> BertvizSelection:
        """Return the selection that the event's detail holds."""
        asked = folded.Question.from_event(detail)
        given = asked.wish if isinstance(asked.wish, Mapping) else {}
        view: View = next((each for each in VIEWS if each == given.get("view")), "head")
        kind, (layer, _, head) = given.get("kind"), str(given.get("head") or "").partition(".")
        return cls(
            asked.run,
            asked.wish,
            view,
            kind if isinstance(kind, str) else "",
            _read_index(layer),
            _read_index(head),
        )


def _read_index(number: str) -> int:
    """Return the index for a number of the address, where layers and heads count from 1."""
    return (
        int(number) - 1
        if number.isascii() and number.isdecimal() and 0 < len(number) < 4 and int(number)
        else 0
    )


def render_frame(
    look: BertvizSelection, attentions: Sequence[Attention], store: ArrayStore | None = None
) -> folded.Value:
    """Return the frame's page, stored where the frame fetches it, or the refusal with its reason.

    store: the process's own by default.
    A layer or head beyond the run's becomes the first, and so does a view that these arrays are not
    enough for. This takes up to half a second: call it from a worker thread.
    """
    view: View = (
        look.view
        if look.view != "neuron" or all(each.queries is not None for each in attentions)
        else "head"
    )
    layers, heads = attentions[0].weights.shape[:2]
    try:
        document = write_page(
            view,
            attentions,
            chosen=look.chosen,
            layer=look.layer if look.layer < layers else 0,
            head=look.head if look.head < heads else 0,
        )
        digest = (frame_store() if store is None else store).put(document.encode())
    except TooLarge as error:
        return folded.show_refusal(look, error.text)
    return folded.show_answer(look, view=view, src=write_address("frames", digest))
