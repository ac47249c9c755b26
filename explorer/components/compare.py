"""Two pictures side by side: two heads, two inputs, or two labs that share an input, and the
difference between them.

Each side is the page of a lab with just one picture, as live as it is there. Where both draw maps
of one shape, a picture between them draws the difference (pictures/difference.js).
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs

import gradio as gr

from explorer.components.base import place_widget, write_script_address
from explorer.contract import labels
from explorer.contract.lab import OpenLab

TITLE, LEAD = labels.COMPARE["title"]["en"], labels.COMPARE["lead"]["en"]
TYPED = ("sentence", "text")  # fields of a request that a side offers as a line to type into
# translates into German word for word, so that a row is the same word in two labs
ARRIVES = "v=1&sentence=Two+dogs+are+running+through+the+snow."
# The picture that a lab shows where an address names none: the first that it has of these, or its
# first. A lab that has several of them offers a choice.
FIGURES = ("attention", "ponder", "reading", "passes")


def place_comparison(labs: Sequence[OpenLab]) -> gr.HTML:
    """Place the page.

    labs: in teaching order. A closed lab is left out.

    In the sides, `field` is the field of a request that a side's line sets, and `task` is the lab's
    task that reads it, "" where the lab has one task.
    """
    return place_widget(
        "compare",
        texts={name: dict(text) for name, text in labels.COMPARE.items()},
        stage={
            "view": "difference",
            "picture": write_script_address("frontend/pictures/difference.js"),
            "texts": {
                "title": dict(labels.COMPARE["difference"]),
                "empty": dict(labels.COMPARE["waits"]),
            },
        },
        labs=[
            {
                "path": lab.path,
                "short": dict(lab.short),
                "figures": [name for name in FIGURES if name in lab.exports] or [*lab.exports][:1],
                **_list_typed_controls(lab),
                "first": lab.examples[0],
                "arrives": ARRIVES if ARRIVES in lab.examples else lab.examples[0],
            }
            for lab in labs
            if not lab.is_closed
        ],
    )


def _list_typed_controls(lab: OpenLab) -> dict[str, str]:
    typed = (
        (name, fields.get("task", [""])[0])
        for name in TYPED
        for fields in map(parse_qs, lab.examples)
        if name in fields
    )
    return dict(zip(("field", "task"), next(typed, ("", "")), strict=True))
