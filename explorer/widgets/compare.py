"""Two pictures side by side: two heads, two inputs, or two labs that share an input, and what differs between them.

Each side is the page of a lab with just one picture, as alive as it is there. Where both draw maps of one shape, a picture between them
draws the difference (pictures/difference.js).
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs

import gradio as gr

from explorer import labels
from explorer.lab import Lab
from explorer.widgets.base import address, widget

TITLE, LEAD = labels.COMPARE["title"]["en"], labels.COMPARE["lead"]["en"]
TYPED = ("sentence", "text")  # fields of a request that a side offers as a line to type into
ARRIVES = "v=1&sentence=Two+dogs+are+running+through+the+snow."  # told in German word for word, so that rows of two labs are of one word
# What a lab shows here where an address says nothing: the first that it has, or its first. One that has several of them lets choose.
FIGURES = ("attention", "ponder", "reading", "passes")


def compare(labs: Sequence[Lab]) -> gr.HTML:
    """Place the page. labs: in teaching order; one that is closed is left out.

    field: what of a request is typed into a side's line; task: which of its tasks then reads it, "" where it has one.
    """
    return widget(
        "compare",
        texts={name: dict(text) for name, text in labels.COMPARE.items()},
        stage={
            "view": "difference",
            "picture": address("pictures/difference.js"),
            "texts": {"title": dict(labels.COMPARE["difference"]), "empty": dict(labels.COMPARE["waits"])},
        },
        labs=[
            {
                "path": lab.path,
                "short": dict(lab.short),
                "figures": [name for name in FIGURES if name in lab.exports] or [*lab.exports][:1],
                **_typed(lab),
                "first": lab.examples[0],
                "arrives": ARRIVES if ARRIVES in lab.examples else lab.examples[0],
            }
            for lab in labs
            if not lab.closed
        ],
    )


def _typed(lab: Lab) -> dict[str, str]:
    typed = ((name, fields.get("task", [""])[0]) for name in TYPED for fields in map(parse_qs, lab.examples) if name in fields)
    return dict(zip(("field", "task"), next(typed, ("", "")), strict=True))
