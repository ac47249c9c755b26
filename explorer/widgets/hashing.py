"""The hashing widget: hash → sort → chunk → attend → back in place, in five steps on the visitor's own sequence.

The value is made by `explorer.figures.hashing.value` or, while models read, by `growing`. Steps, rounds, positions and who meets whom are
worked out in the browser. Rotated vectors and weights of a head and round that was not looked at yet are asked for: the event ``look``
carries {query, model, head ("2.3", from 1), round (from 1; 0: all rounds together)}, and the companion `looked` brings
`explorer.figures.hashing.looked`, `together` or `unseen`.

In the address: ``model``, ``head`` ("2.3"), ``pos`` (the locked position, from 0; "3,9" for several, the last one told of; "none" for no
lock), ``hashingstep`` ("1" … "5"), ``hashinground`` ("1" … ; "all", where step 5 unites them) and ``hashingplane`` ("first": the first two
coordinates instead of those that decide). Hovering a position fires ``hover-pos`` {pos} on the page's bus, and follows it.
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explorer.figures.hashing import scales
from explorer.widgets.base import widget


def hashing(value: Mapping[str, object] | None = None, *, empty: Mapping[str, str] | None = None) -> gr.HTML:
    """Place the widget. value: from `explorer.figures.hashing`, or None while there is nothing to show.

    empty: the sentence that stands there while there is nothing, en and zh.
    """
    return widget("hashing", value, events=("look",), scales=scales(), empty=None if empty is None else dict(empty))


def looked(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the companion of `hashing`, which draws nothing: one head and round arrive through it (`explorer.figures.hashing.looked`)."""
    return widget("looked", value)
