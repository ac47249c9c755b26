"""The presenter's window: what to say and show at each step, what comes next, the time gone and planned, and what may be skipped.

It drives the window that projects, in the same browser, and follows it (lib/hall.js).
"""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from explorer import labels
from explorer.lab import Lab
from explorer.widgets.base import widget

TITLE, LEAD = labels.PRESENTER["title"]["en"], labels.PRESENTER["lead"]["en"]
ROUTES = (45, 90)  # minutes
LEAST = 50.0  # seconds of a step on average; a route with less leaves steps out
GUESSING = 1.5  # how much longer a step takes whose figure is guessed at first


def route(labs: Sequence[Lab], minutes: int) -> list[tuple[int, int, float]]:
    """A way through all labs: (place of the lab, number of the step from 1, seconds planned), in teaching order.

    It takes the steps up to the highest rank for which each has time enough; those of rank 1 it always takes. The seconds add up to it.
    """
    steps = [(at, number, step) for at, lab in enumerate(labs) for number, step in enumerate(lab.steps, 1)]
    for rank in (3, 2, 1):
        taken = [one for one in steps if one[2].rank <= rank]
        if len(taken) * LEAST <= 60 * minutes:
            break
    weights = [1.0 if step.guess is None else GUESSING for _, _, step in taken]
    second = 60 * minutes / max(1.0, sum(weights))
    return [(at, number, second * weight) for (at, number, _), weight in zip(taken, weights, strict=True)]


def presenter(labs: Sequence[Lab]) -> gr.HTML:
    """Place the presenter's page. labs: in teaching order."""
    return widget(
        "presenter",
        texts={name: dict(text) for name, text in labels.PRESENTER.items()},
        labs=[
            {
                "path": lab.path,
                "title": dict(lab.title),
                "short": dict(lab.short),
                "steps": [
                    {
                        "title": dict(step.title),
                        "question": dict(step.asks),
                        "say": dict(step.say),
                        "show": step.show and dict(step.show),
                        "guess": step.guess and dict(step.guess),
                        "rank": step.rank,
                    }
                    for step in lab.steps
                ],
            }
            for lab in labs
        ],
        routes={str(minutes): route(labs, minutes) for minutes in ROUTES},
    )
