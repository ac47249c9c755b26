"""Said twice: a word as it was given, under it what each model says, letter by letter; below, accuracy by rounds of hashing.

The value is made by `explorer.figures.spelling.value`, the table by `explorer.figures.spelling.table`. All happens in the browser. In the
address: ``pos``, the position that says the locked letter ("31"; "none"; several "31,40"), ``model``, and ``spelling_table`` (the letters
as a table). While a letter is pointed at, ``hover-pos`` {pos} is fired on the page's bus.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.theme import SURPRISE
from explorer.widgets.base import widget


def spelling(value: Mapping[str, object] | None = None, *, table: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the widget. value: a run, or None while there is none. table: None while nothing was measured."""
    return widget(
        "spelling",
        value,
        rounds=None if table is None else dict(table),
        surprise={mode: list(stops) for mode, stops in SURPRISE.items()},
    )
