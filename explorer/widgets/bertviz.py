"""bertviz's own three views of a run, in a sandboxed frame: closed at first, and nothing is computed before it is opened.

The value it draws is one JSON object, built with `ready`, `shown` and `refused`.

    state: "ready" | "shown" | "refused"
    run: the request part of the permalink that was asked for
    views: those that this run can be seen in; view, src: what the frame shows
    error: {en, zh} or None

Its one event, `show`, asks for a view of the run in the address: {"view", "run", "kind", "head"}; `Look.of` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import gradio as gr

from explorer.figures.bertviz import VIEWS, Attention, TooLarge, View, page
from explorer.packing import ArrayStore, address, frames
from explorer.widgets.base import widget

__all__ = ["Attention", "Look", "View", "bertviz", "ready", "refused", "shown"]

Text = Mapping[str, str]
Value = dict[str, object]

ENCODER_DECODER: Final[Text] = {
    "en": "bertviz names a row of the decoder by the word that goes in, <s> first; the map above names it by the word that comes out.",
    "zh": "bertviz 用输入的词来标记解码器的行，第一个是 <s>；上面的图用输出的词来标记。",
}


def bertviz(value: Value | None = None, *, note: Text | None = None) -> gr.HTML:
    """Place the widget. note: what a visitor has to know to compare these views with the ones around them."""
    return widget("bertviz", ready() if value is None else value, events=("show",), note=None if note is None else dict(note))


@dataclass(frozen=True)
class Look:
    """What a visitor wants to see. Nonsense in the event becomes the default: it can only come from a made-up request."""

    view: View
    run: str  # the request part of the permalink, empty for the first example
    chosen: str = ""  # key of the attention shown first
    layer: int = 0  # from 0
    head: int = 0

    @classmethod
    def of(cls, detail: object) -> Look:
        """Reads the event's detail."""
        given = detail if isinstance(detail, Mapping) else {}
        view: View = next((each for each in VIEWS if each == given.get("view")), "head")
        run, kind = (given.get(name) for name in ("run", "kind"))
        layer, _, head = str(given.get("head") or "").partition(".")
        return cls(view, run if isinstance(run, str) else "", kind if isinstance(kind, str) else "", _place(layer), _place(head))


def _place(number: str) -> int:
    """From the address, where layers and heads count from 1, to an index."""
    return int(number) - 1 if number.isascii() and number.isdecimal() and 0 < len(number) < 4 and int(number) else 0


def ready(views: Sequence[View] = VIEWS) -> Value:
    """Closed, and nothing is computed. views: without "neuron" where queries and keys are never watched."""
    return {"state": "ready", "views": list(views), "error": None}


def shown(look: Look, attentions: Sequence[Attention], store: ArrayStore | None = None, views: Sequence[View] | None = None) -> Value:
    """The page for the frame, built and put where the frame fetches it, or the refusal that says why not.

    store: the process's own by default. views: those that this run can be seen in; left out, those that these arrays are enough for.
    A layer or head beyond the run's becomes the first.
    Takes up to half a second: call it from a worker thread.
    """
    enough = [view for view in VIEWS if view != "neuron" or all(each.queries is not None for each in attentions)]
    views = enough if views is None else list(views)
    view = look.view if look.view in enough else enough[0]
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
        return refused(look, error.text, views)
    return {**ready(views), "state": "shown", "run": look.run, "view": view, "src": address("frames", digest)}


def refused(look: Look, error: Text, views: Sequence[View] = VIEWS) -> Value:
    """Why this view is not shown, in one sentence."""
    return {**ready(views), "state": "refused", "run": look.run, "view": look.view, "error": dict(error)}
