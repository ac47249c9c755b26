"""The exercises of a lab in a folded panel, and the page with those of all labs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from explorer.components.base import place_widget
from explorer.components.folded import show_closed
from explorer.contract.exercises import TEXTS, Exercise
from explorer.contract.lab import OpenLab

NAME = "exercises"  # of the panel, in addresses too
# for the head of the page
TITLE, LEAD = TEXTS["title"]["en"], TEXTS["lead"]["en"]


def place_exercise_panel(slug: str, exercises: Sequence[Exercise[Any, Any]]) -> gr.HTML:
    """Place the folded panel of a lab's exercises (`folded`).

    Its question holds {"exercise": its key, "look": the selection in view}, null when it is merely
    opened; its answer `solved`, whether that state solves it.
    """
    return place_widget(
        NAME,
        show_closed(),
        events=("ask",),
        texts=_list_texts(),
        exercises=[
            {
                "id": f"{slug}.{exercise.key}",
                "key": exercise.key,
                "question": dict(exercise.question),
            }
            for exercise in exercises
        ],
    )


def place_exercise_sheet(labs: Sequence[OpenLab]) -> gr.HTML:
    """Place the page of all exercises: what this browser has solved, the sheet for printing, and
    the code that a student hands in.

    labs: in teaching order.
    """
    return place_widget(
        "exercise-sheet",
        script="exercise_sheet",
        texts=_list_texts(),
        labs=[
            {
                "path": lab.path,
                "title": dict(lab.title),
                "exercises": [
                    {
                        "id": f"{lab.slug}.{exercise.key}",
                        "question": dict(exercise.question),
                        "answer": dict(exercise.answer),
                        "solution": exercise.solution,
                    }
                    for exercise in lab.exercises
                ],
            }
            for lab in labs
            if lab.exercises
        ],
    )


def _list_texts() -> dict[str, dict[str, str]]:
    return {name: dict(text) for name, text in TEXTS.items()}
