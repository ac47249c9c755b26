"""What changes if …, for networks that decide how long they think: threshold, limit, forced steps, halting bias, step signal.

Then the answer and the ponder of this input, and accuracy, ponder and time over held-out inputs, each before, after and the difference.

The value it draws is one JSON object, built with `idle`, `running`, `done` and `refused`:

    state: "empty" | "running" | "done" | "refused"
    request: the request in view, interventions included; None before there is one
    answers: [before, after], strings or {en, zh}; right: [bool, bool]; own_ponder, accuracy, ponder, milliseconds: [before, after]
    sample: how many held-out inputs
    sentence: {en, zh}, parts in ⟦q:…⟧, ⟦k:…⟧, ⟦o:…⟧ wear the colour of query, key and output
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import gradio as gr

from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("ask",)  # not "change": Gradio fires that itself whenever a value changes
TEXTS = ("limit", "forced", "told")


@dataclass(frozen=True)
class Limits:
    """How far the knobs go.

    max_epsilon: the largest ε. max_limit: the largest limit of updates. max_bias: the halting bias, up or down. most_forced: updates that
    every position may be forced to. trained: task -> its limit as trained, which a request writes as 0. epsilon: ε as trained.
    """

    max_epsilon: float
    max_limit: int
    max_bias: float
    most_forced: int
    trained: Mapping[str, int]
    epsilon: float = 0.01


def rethink(value: Value, *, limits: Limits, texts: Mapping[str, Text]) -> gr.HTML:
    """Place the panel. Its event `ask` brings the whole request as it shall be, its fields epsilon, limit, forced, bias and told changed.

    texts: what the knobs are called that say what one step is: limit, forced, told.
    """
    missing = [name for name in TEXTS if name not in texts]
    if missing:
        raise ValueError(f"the panel has no text for {', '.join(missing)}")
    return widget(
        "rethink",
        value,
        events=EVENTS,
        limits=asdict(limits) | {"trained": dict(limits.trained)},
        texts={name: dict(text) for name, text in texts.items()},
    )


def idle(request: Value | None = None) -> Value:
    """Nothing is changed: the knobs alone."""
    return {"state": "empty", "request": request}


def running() -> Value:
    """The network thinks again; the last comparison stays, dimmed."""
    return {"state": "running"}


def refused(text: Text | None) -> Value:
    """The intervention was refused, in one sentence; without one, nothing came of it and the input bar says why."""
    return {"state": "refused", "error": dict(text) if text else None}


def done(
    request: Value,
    *,
    answers: tuple[str | Text, str | Text],
    right: tuple[bool, bool],
    own_ponder: tuple[float, float],
    accuracy: tuple[float, float],
    ponder: tuple[float, float],
    milliseconds: tuple[float, float],
    sample: int,
    sentence: Text,
) -> Value:
    """A comparison, each pair before and after: of this input its answer, whether it is right, and its mean N + R; of `sample` held-out
    inputs the share of right answers (0 … 1), the mean N + R and the milliseconds that all of them took.
    """
    return {
        "state": "done",
        "request": request,
        "answers": [answer if isinstance(answer, str) else dict(answer) for answer in answers],
        "right": [bool(one) for one in right],
        "own_ponder": [float(one) for one in own_ponder],
        "accuracy": [float(one) for one in accuracy],
        "ponder": [float(one) for one in ponder],
        "milliseconds": [float(one) for one in milliseconds],
        "sample": sample,
        "sentence": dict(sentence),
    }
