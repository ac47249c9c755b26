"""The views of adaptive computation time, from explanations to values of the widgets: pure
functions of records, no model and no Gradio."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import input_bar
from explorer.contract.control_kinds import BitsControl, ChoiceControl, SumControl, Value
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.figures import ponder
from explorer.labs.act_rnn import about, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import adaptive_computation
from models.act_rnn.records import EXAMPLES, LIMIT, MAX_BITS, MAX_DIGITS, Explanation, Request


def format_answer(task: str, answer: str) -> str | Text:
    """Return an answer for a visitor: digits as they are, "even" and "odd" in both languages."""
    return (
        {"even": texts.EVEN, "odd": texts.ODD}.get(answer, answer) if task == "parity" else answer
    )


WORDS = adaptive_computation.LabWords(
    texts.INPUT, texts.ONE_UPDATE, texts.UPDATES, texts.NO_SIGNAL, format_answer
)
CONTROLS = (
    ChoiceControl("task", texts.TASK, names={"addition": texts.SUM, "parity": texts.BITS}),
    SumControl(
        "text",
        texts.SUM_PROMPT,
        hint=fill_text(texts.SUM_HINT, digits=MAX_DIGITS),
        placeholder="478+256",
        when={"task": ("addition",)},
    ),
    BitsControl(
        "text",
        texts.BITS_PROMPT,
        hint=fill_text(texts.BITS_HINT, bits=MAX_BITS),
        placeholder="1011001",
        places=MAX_BITS,
        when={"task": ("parity",)},
    ),
    *adaptive_computation.list_halting_controls(WORDS, texts.KNOBS, LIMIT),
)


first = runs.load_first_once("act_rnn", EXAMPLES[0], Explanation)


# ---- a run


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the answer of the network, with that of the network without ACT beside it."""
    beside = (
        [
            input_bar.Beside(
                texts.WITHOUT,
                format_answer(request.task, explanation.without),
                explanation.without == explanation.expected,
            )
        ]
        if explanation.without
        else []
    )
    return adaptive_computation.describe_answer(explanation, request, WORDS, beside)


def draw_ponder(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the ponder widget: one bar for each input."""
    return adaptive_computation.draw_ponder(
        explanation, request, state, WORDS, name_inputs(explanation, request)
    )


def draw_hardness(explanation: Explanation, request: Request, _state: str) -> Value | None:
    """Draw how hard inputs take longer, with the run in view."""
    return about.draw_difficulty(request.task, (explanation.difficulty, explanation.ponder))


def name_inputs(explanation: Explanation, request: Request) -> tuple[str, ...]:
    """Return the name of each input: the first digit of the second number is written with its plus
    sign."""
    if request.task == "parity":
        return explanation.inputs
    return tuple(
        f"+{name}" if at % 2 and name.isdigit() else name
        for at, name in enumerate(explanation.inputs)
    )


# ---- the family map and the guided steps


def find_telling_input() -> int:
    """Return the input of the stored first result that takes the most steps; the fourth where none
    is stored."""
    kept = first()
    return (
        3
        if kept is None
        else ponder.find_telling_position(kept.seen.steps, kept.seen.remainder, kept.seen.wanted)
    )


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw how many steps the first result takes for each of its inputs."""
    return Thumbnail(adaptive_computation.draw_towers(explanation.steps))


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which the stored run shows
    the point."""
    start, place = EXAMPLES[0], str(find_telling_input())
    parity = next(example for example in EXAMPLES if example.task == "parity")
    shown: dict[str, Shown] = {
        "effort": ("", {}, "ponder"),
        "halts": ("", {"pos": place, "step": "2"}, "ponder"),
        "remainder": ("", {"pos": place}, "ponder"),
        "now": ("", {"pos": place, "step": "1"}, "ponder"),
        "force": (spell_query(replace(start, forced=1)), {}, "ponder"),
        "hard": (spell_query(parity), {}, "ponder"),
        "price": (spell_query(replace(start, epsilon=0.8)), {"pos": place}, "change", "ponder"),
    }
    return build_steps(texts, shown)
