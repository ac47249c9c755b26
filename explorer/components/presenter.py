"""The presenter's window: the words and gestures of each step, the next step, the time gone and
planned, and the steps that may be skipped.

It drives the window that projects, in the same browser, and follows it (lib/hall.js).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import gradio as gr

from explorer.components.base import place_widget
from explorer.contract import labels
from explorer.contract.lab import OpenLab

TITLE, LEAD = labels.PRESENTER["title"]["en"], labels.PRESENTER["lead"]["en"]
ROUTES = (45, 90)  # minutes
LEAST = 50.0  # average seconds of a step at the least; a shorter route leaves steps out
GUESSING = 1.5  # factor of time for a step whose figure is guessed at first


def plan_route(labs: Sequence[OpenLab], minutes: int) -> list[tuple[int, int, float]]:
    """Return a way through all labs: (place of the lab, number of the step from 1, seconds
    planned), in teaching order.

    The route takes the steps of rank 1, and then as many of the next ranks as have time enough, of
    each lab in turn. The seconds add up to the time of the route.
    """
    steps = [
        (at, number, step)
        for at, lab in enumerate(labs)
        for number, step in enumerate(lab.steps, 1)
    ]
    turn: Counter[tuple[int, int]] = Counter()  # the number of a rank's steps that its lab has had
    places = []
    for at, _, step in steps:
        places.append((step.rank, turn[at, step.rank]))
        turn[at, step.rank] += 1
    order = sorted(range(len(steps)), key=places.__getitem__)
    weighed = [1.0 if step.guess is None else GUESSING for _, _, step in steps]
    until = list(accumulate(weighed[one] for one in order))
    kept = max(
        sum(total * LEAST <= 60 * minutes for total in until),
        sum(step.rank == 1 for _, _, step in steps),
    )
    taken, weights = (
        zip(*((steps[one], weighed[one]) for one in sorted(order[:kept])), strict=True)
        if order
        else ((), ())
    )
    second = 60 * minutes / max(1.0, sum(weights))
    return [
        (at, number, second * weight)
        for (at, number, _), weight in zip(taken, weights, strict=True)
    ]


def place_presenter(labs: Sequence[OpenLab]) -> gr.HTML:
    """Place the presenter's page.

    labs: in teaching order.
    """
    return place_widget(
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
                        "question": dict(step.projected_question),
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
        routes={str(minutes): plan_route(labs, minutes) for minutes in ROUTES},
    )
