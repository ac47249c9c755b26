"""The stage: any picture of a run on a page, with every promise of a picture. The contract of a
picture is at the head of stage.js.

In a folded panel (folded.py) a picture requests its own drawings: see folded_view.js.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from explorer.components.base import (
    ROOT,
    list_frontend_files,
    place_widget,
    write_late_address,
    write_script_address,
    write_vendor_address,
)
from explorer.components.border import StageProps
from explorer.components.folded import show_closed
from explorer.values.packing import record_fields

Text = Mapping[str, str]


def place_picture(
    name: str,
    value: Mapping[str, object] | None = None,
    *,
    texts: Mapping[str, Text],
    picture: str = "",
    events: Sequence[str] = (),
) -> gr.HTML:
    """Place a picture.

    value: the value that it draws, with its `query` and `state`; None while there is nothing to
        show.
    name: the name of the view.
    picture: its module, by default the one of the view's name: NAME of
        explorer/frontend/pictures/NAME.js, or SLUG/NAME of explorer/labs/SLUG/NAME.js.
    texts: en and zh, by name: ``title``; where they fit better than the picture's own, ``question``
        (the title in projector mode) and ``empty`` (the text while there is nothing); and any other
        text that the picture reads.
    events: ("look",) of a picture that requests the rows of its selection. The answer arrives
        through `place_row_sink`.
    The module of a picture that the page's first result does not draw comes when the picture has a
    value or is in sight. Raise FileNotFoundError where there is no picture of this name.
    """
    return place_widget(
        name,
        value,
        script="stage",
        events=events,
        **_describe_picture(
            name, texts, picture, write_late_address if value is None else write_script_address
        ),
    )


def place_row_sink(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the component that answers a picture's event `look`. It draws nothing."""
    return place_widget("looked", value, script="row_sink")


def place_folded_picture(name: str, *, texts: Mapping[str, Text], picture: str = "") -> gr.HTML:
    """Place a picture in a folded panel. Its event `ask` brings the question (`folded.Question`),
    and `folded.show_answer` answers it.

    texts: as for `place_picture`. ``title`` is the panel's question.
    `below` of its value: parts that stand under it, as in `figure.place_folded_figures`. The
    address holds its name (open).
    """
    return place_widget(
        name,
        show_closed(),
        script="folded_view",
        events=("ask",),
        **_describe_picture(name, texts, picture, write_late_address),
    )


def _describe_picture(
    name: str, texts: Mapping[str, Text], picture: str, at: Callable[[str], str]
) -> dict[str, Any]:
    """Return a picture's props."""
    module = picture or name
    path = f"labs/{module}.js" if "/" in module else f"frontend/pictures/{module}.js"
    if path not in list_frontend_files():
        raise FileNotFoundError(f"there is no picture {ROOT / path}")
    return record_fields(StageProps(name, write_vendor_address("plotly"), at(path), texts))
