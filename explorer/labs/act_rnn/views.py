"""From what the pondering networks explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from explorer.figures import ponder
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import filled
from explorer.labs import pondering, runs
from explorer.labs.act_rnn import about, texts
from explorer.labs.pondering import Value, query, spelled
from explorer.labs.runs import Run, Stored
from explorer.widgets import asker, rethink
from models.act_rnn.records import (
    EPSILON,
    EXAMPLES,
    LIMIT,
    MAX_BIAS,
    MAX_BITS,
    MAX_CHARACTERS,
    MAX_DIGITS,
    MAX_EPSILON,
    MAX_LIMIT,
    Explanation,
    Request,
)

Text = Mapping[str, str]

TASKS = (
    asker.Task("addition", texts.SUM, texts.SUM_PROMPT, "478+256", "sum", filled(texts.SUM_HINT, digits=MAX_DIGITS), MAX_CHARACTERS),
    asker.Task(
        "parity", texts.BITS, texts.BITS_PROMPT, "1011001", "bits", filled(texts.BITS_HINT, bits=MAX_BITS), MAX_CHARACTERS, places=MAX_BITS
    ),
)
LIMITS = rethink.Limits(
    max_epsilon=MAX_EPSILON, max_limit=MAX_LIMIT, max_bias=MAX_BIAS, most_forced=MAX_LIMIT, trained=LIMIT, epsilon=EPSILON
)


def say(task: str, answer: str) -> str | Text:
    """An answer as a visitor reads it: digits as they are, "even" and "odd" in both languages."""
    return {"even": texts.EVEN, "odd": texts.ODD}.get(answer, answer) if task == "parity" else answer


WORDS = pondering.Words(texts.INPUT, texts.ONE_UPDATE, texts.UPDATES, texts.NO_SIGNAL, say)


@cache
def first() -> Stored[Request, Explanation] | None:
    """The stored first example, or None where none is shipped."""
    return runs.first("act_rnn", EXAMPLES[0], Explanation)


def examples() -> list[Value]:
    """What the input bar offers to begin with."""
    return [
        {**spelled(request), "query": query(request), "title": dict(title)} for request, title in zip(EXAMPLES, texts.EXAMPLES, strict=True)
    ]


# ---- a run -------------------------------------------------------------------------------------------------------------------------


def draw(seen: Explanation, request: Request, run: Run) -> tuple[Value, Value, Value | None]:
    """What the input bar, the mechanism and the figure of difficulty draw of a run."""
    beside = [asker.Beside(texts.WITHOUT, say(request.task, seen.without), seen.without == seen.expected)] if seen.without else []
    bar = pondering.bar(seen, request, run, WORDS, beside)
    return bar, mechanism(seen, request, run.state), about.difficulty(request.task, (seen.difficulty, seen.ponder))


def mechanism(seen: Explanation, request: Request, state: str) -> Value:
    """What the ponder widget draws: one bar for each input."""
    return ponder.value(
        state=state,
        query=query(request),
        positions=names(seen, request),
        wanted=seen.wanted,
        steps=seen.updates,
        remainder=seen.remainder,
        halting=seen.halting.T,
        weights=seen.weights.T,
        totals=seen.totals.T,
        distance=seen.distance.T,
        stopped=[say(request.task, answer) for answer in seen.stopped],
        answer=say(request.task, seen.answer),
        expected=say(request.task, seen.expected),
        threshold=seen.threshold,
        limit=seen.limit,
        forced=request.forced,
        axis=texts.INPUT,
    )


def names(seen: Explanation, request: Request) -> tuple[str, ...]:
    """What each input is called: a digit of the second number wears its plus sign."""
    if request.task == "parity":
        return seen.inputs
    return tuple(f"+{name}" if at % 2 and name.isdigit() else name for at, name in enumerate(seen.inputs))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def telling() -> int:
    """The input of the stored first result that thinks longest; the fourth where none is stored."""
    kept = first()
    return 3 if kept is None else ponder.telling(kept.seen.updates, kept.seen.remainder, kept.seen.wanted)


def thumbnail() -> Thumbnail | None:
    """One input of the first result: row n is what each update would weigh if it stopped at the n-th, the remainder last."""
    kept = first()
    if kept is None:
        return None
    at = telling()
    count = int(kept.seen.updates[at])
    halting = kept.seen.halting[at, :count].astype(np.float64)
    weights = np.tril(np.broadcast_to(halting, (count, count)), -1)
    np.fill_diagonal(weights, 1 - weights.sum(1))
    return Thumbnail(weights.clip(0, 1).astype(np.float32))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell."""
    start, place = EXAMPLES[0], str(telling())
    parity = next(example for example in EXAMPLES if example.task == "parity")
    shown: dict[str, tuple[str, Mapping[str, str], str]] = {
        "effort": ("", {}, "ponder"),
        "halts": ("", {"pos": place, "step": "2"}, "ponder"),
        "remainder": ("", {"pos": place}, "ponder"),
        "now": ("", {"pos": place, "step": "1"}, "ponder"),
        "force": (query(replace(start, forced=1)), {}, "ponder"),
        "hard": (query(parity), {}, "ponder"),
        "price": (query(replace(start, epsilon=0.5)), {"pos": place}, "ponder"),
    }
    return tuple(GuidedStep(title, say_, *shown[key]) for key, title, say_ in texts.STEPS)
