"""The guided lecture: every lab's steps in teaching order, and one button that begins it.

A lab of the lecture carries ``lecture=1`` in its address. There the frame leads from the last step
of one lab to the first of the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import gradio as gr

from explorer.components.base import place_widget
from explorer.contract import labels
from explorer.contract.lab import LANGUAGES, OpenLab

# for the head of the page
TITLE, LEAD = labels.LECTURE["title"]["en"], labels.LECTURE["lead"]["en"]


def place_lecture(labs: Sequence[OpenLab]) -> gr.HTML:
    """Place the page of the lecture.

    labs: in teaching order.
    """
    return place_widget(
        "lecture",
        texts={name: dict(text) for name, text in labels.LECTURE.items()},
        labs=[
            {
                "path": lab.path,
                "title": dict(lab.title),
                "short": dict(lab.short),
                "line": dict(lab.line),
                "year": lab.year,
                "steps": [{"title": dict(step.title), "say": dict(step.say)} for step in lab.steps],
            }
            for lab in labs
        ],
    )


def write_handout(labs: Sequence[OpenLab]) -> str:
    """Return the lecture as HTML for a reader whose browser runs no scripts: the text of every
    step, in each language."""
    parts = []
    for language in LANGUAGES:
        parts.append(f'<article lang="{"zh-CN" if language == "zh" else language}">')
        parts.append(
            f"<h1>{escape(labels.LECTURE['title'][language])}</h1>"
            f"<p>{escape(labels.LECTURE['lead'][language])}</p>"
        )
        for lab in labs:
            parts.append(
                f"<h2>{escape(lab.title[language])}"
                f" ({lab.year})</h2><p>{escape(lab.line[language])}</p><ol>"
            )
            for number, step in enumerate(lab.steps, 1):
                address = escape(f"{lab.path}?step={number}&lecture=1&lang={language}")
                parts.append(
                    f'<li><a href="{address}">{escape(step.title[language])}</a>:'
                    f" {escape(step.say[language])}</li>"
                )
            parts.append("</ol>")
        parts.append("</article>")
    return "".join(parts)
