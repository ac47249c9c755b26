"""The stage: any picture of a run on a page, with all that a picture promises. The contract of a picture is at the head of stage.js.

In a folded panel (folded.py) a picture asks for what it draws: see asked.js.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from explorer.widgets.base import ROOT, address, files, later, vendor, widget
from explorer.widgets.folded import ready

Text = Mapping[str, str]


def stage(
    name: str,
    value: Mapping[str, object] | None = None,
    *,
    texts: Mapping[str, Text],
    picture: str = "",
    events: Sequence[str] = (),
) -> gr.HTML:
    """Place a picture. value: what it draws, with its `query` and `state`; None while there is nothing to show.

    name: of the view. picture: its module, left out that of the view's name: NAME of explorer/pictures/NAME.js, or SLUG/NAME of
    explorer/labs/SLUG/NAME.js. texts: en and zh, by name: ``title``; where they fit better than the picture's own, ``question`` (the title
    in projector mode) and ``empty`` (what stands there while there is nothing); and what else the picture reads. events: ("look",) of a
    picture that asks for what is looked at; the answer arrives through `looked`.
    The module of one that the page's first result does not draw comes when it has a value, or is seen.
    Raises FileNotFoundError where there is no such picture.
    """
    return widget(name, value, script="stage", events=events, **_of(name, texts, picture, later if value is None else address))


def looked(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place what a picture's event `look` is answered through. It draws nothing."""
    return widget("looked", value)


def asked(name: str, *, texts: Mapping[str, Text], picture: str = "") -> gr.HTML:
    """Place a picture in a folded panel. Its event `ask` brings what is wished for (`folded.Question`); `folded.shown` answers it.

    texts: as for `stage`; ``title`` is the panel's question. `below` of its value: parts that stand under it, as of
    `figure.opened`. In the address: its name (open).
    """
    return widget(name, ready(), script="asked", events=("ask",), plotly=vendor("plotly"), **_of(name, texts, picture, later))


def _of(name: str, texts: Mapping[str, Text], picture: str, at: Callable[[str], str]) -> dict[str, Any]:
    module = picture or name
    path = f"labs/{module}.js" if "/" in module else f"pictures/{module}.js"
    if path not in files():
        raise FileNotFoundError(f"there is no picture {ROOT / path}")
    return {"view": name, "picture": at(path), "texts": {key: dict(text) for key, text in texts.items()}}
