"""From what the pondering networks explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from dataclasses import replace

from explorer import runs
from explorer.controls import Control, Value, query
from explorer.figures import ponder
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled
from explorer.labs import adaptive_depth
from explorer.labs.act_rnn import about, texts
from explorer.labs.guided import Shown, guided
from explorer.widgets import ask
from models.act_rnn.records import EXAMPLES, LIMIT, MAX_BITS, MAX_DIGITS, Explanation, Request


def say(task: str, answer: str) -> str | Text:
    """An answer as a visitor reads it: digits as they are, "even" and "odd" in both languages."""
    return {"even": texts.EVEN, "odd": texts.ODD}.get(answer, answer) if task == "parity" else answer


WORDS = adaptive_depth.Words(texts.INPUT, texts.ONE_UPDATE, texts.UPDATES, texts.NO_SIGNAL, say)
CONTROLS = (
    Control("task", texts.TASK, "choice", names={"addition": texts.SUM, "parity": texts.BITS}),
    adaptive_depth.typed("addition", "sum", texts.SUM_PROMPT, filled(texts.SUM_HINT, digits=MAX_DIGITS), "478+256"),
    adaptive_depth.typed("parity", "bits", texts.BITS_PROMPT, filled(texts.BITS_HINT, bits=MAX_BITS), "1011001", places=MAX_BITS),
    *adaptive_depth.knobs(WORDS, texts.KNOBS, LIMIT),
)


first = runs.kept("act_rnn", EXAMPLES[0], Explanation)


# ---- a run -------------------------------------------------------------------------------------------------------------------------


def answer(seen: Explanation, request: Request) -> Value:
    """What stands as the answer, with that of the network without ACT beside it."""
    beside = [ask.Beside(texts.WITHOUT, say(request.task, seen.without), seen.without == seen.expected)] if seen.without else []
    return adaptive_depth.answer(seen, request, WORDS, beside)


def mechanism(seen: Explanation, request: Request, state: str) -> Value:
    """What the ponder widget draws: one bar for each input."""
    return adaptive_depth.mechanism(seen, request, state, WORDS, names(seen, request))


def hard(seen: Explanation, request: Request, _state: str) -> Value | None:
    """Hard things take longer, with the run in view."""
    return about.difficulty(request.task, (seen.difficulty, seen.ponder))


def names(seen: Explanation, request: Request) -> tuple[str, ...]:
    """What each input is called: a digit of the second number wears its plus sign."""
    if request.task == "parity":
        return seen.inputs
    return tuple(f"+{name}" if at % 2 and name.isdigit() else name for at, name in enumerate(seen.inputs))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def telling() -> int:
    """The input of the stored first result that thinks longest; the fourth where none is stored."""
    kept = first()
    return 3 if kept is None else ponder.telling(kept.seen.steps, kept.seen.remainder, kept.seen.wanted)


def thumbnail(seen: Explanation) -> Thumbnail:
    """How long the first result thinks about each of its inputs."""
    return Thumbnail(adaptive_depth.towers(seen.steps))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what the stored run has to tell."""
    start, place = EXAMPLES[0], str(telling())
    parity = next(example for example in EXAMPLES if example.task == "parity")
    shown: dict[str, Shown] = {
        "effort": ("", {}, "ponder"),
        "halts": ("", {"pos": place, "step": "2"}, "ponder"),
        "remainder": ("", {"pos": place}, "ponder"),
        "now": ("", {"pos": place, "step": "1"}, "ponder"),
        "force": (query(replace(start, forced=1)), {}, "ponder"),
        "hard": (query(parity), {}, "ponder"),
        "price": (query(replace(start, epsilon=0.8)), {"pos": place}, "change", "ponder"),
    }
    return guided(texts, shown)
