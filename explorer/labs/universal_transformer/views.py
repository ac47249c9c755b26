"""The views of the Universal Transformer, from explanations to values of the widgets: pure
functions of records, no model and no Gradio."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components import input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    LettersControl,
    QuestionControl,
    StoryControl,
    StoryWords,
    SumControl,
    Value,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.figures import attention
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Kind
from explorer.labs.universal_transformer import about, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import adaptive_computation
from models.explaining.request_fields import read_narrow
from models.universal_transformer.records import (
    EXAMPLES,
    LIMIT,
    MAX_DIGITS,
    MAX_FACTS,
    MAX_LETTERS,
    TASKS,
    Explanation,
    Request,
)
from models.universal_transformer.vocabulary import CONTAINERS, NOBODY, PEOPLE, PLACES, THINGS

Array = NDArray[np.float32]

LETTERS, DIGITS = 20, 9  # letters of the longest word and digits of the longest number in training


first = runs.load_first_once("universal_transformer", EXAMPLES[0], Explanation)


def format_answer(task: str, answer: str) -> str | Text:
    """Return an answer for a visitor."""
    return texts.NOBODY if task == "stories" and answer == NOBODY else answer


# ---- the input bar

VOCABULARY = (  # all words that the network knows, as they are put into a story
    StoryWords(texts.GROUPS["people"], PEOPLE),
    StoryWords(texts.GROUPS["verbs"], ("went to", "took", "put", "in")),
    StoryWords(texts.GROUPS["places"], PLACES, "the"),
    StoryWords(texts.GROUPS["things"], THINGS, "the"),
    StoryWords(texts.GROUPS["containers"], CONTAINERS, "the"),
    StoryWords(texts.GROUPS["asking"], ("where is",)),
)


def describe_text(task: str) -> dict[str, Any]:
    """Return what every control of a task's text needs."""
    hint = fill_text(texts.HINTS[task], facts=MAX_FACTS, digits=MAX_DIGITS, letters=MAX_LETTERS)
    return {"label": texts.PROMPTS[task], "hint": hint, "when": {"task": (task,)}}


WORDS = adaptive_computation.LabWords(
    texts.PLACE, texts.STEP, texts.STEPS_OF, texts.NO_SIGNAL, format_answer
)
CONTROLS = (
    ChoiceControl("task", texts.TASK, names=texts.TASKS),
    StoryControl(
        "text", placeholder=EXAMPLES[0].text, words=VOCABULARY, **describe_text("stories")
    ),
    QuestionControl(
        "question",
        texts.QUESTION,
        placeholder=EXAMPLES[0].question,
        when={"task": ("stories",)},
    ),
    SumControl("text", placeholder="478+256", **describe_text("addition")),
    LettersControl("text", placeholder="transformer", **describe_text("reverse")),
    LettersControl("text", placeholder="universal", **describe_text("copy")),
    *adaptive_computation.list_halting_controls(WORDS, texts.KNOBS, dict.fromkeys(TASKS, LIMIT)),
)


def describe_warning(request: Request, _seen: Explanation) -> Text | None:
    """Return a warning for an input that is longer than any in training; None for others."""
    if request.task == "addition":
        longest = max(
            (
                len(number.strip().lstrip("0"))
                for number in read_narrow(request.text).replace("=", "").split("+")
            ),
            default=0,
        )
        return (
            fill_text(texts.BEYOND, limit=DIGITS, what=texts.DIGITS) if longest > DIGITS else None
        )
    if request.task in {"reverse", "copy"} and len("".join(request.text.split())) > LETTERS:
        return fill_text(texts.BEYOND, limit=LETTERS, what=texts.LETTERS)
    return None


# ---- the views


def answer(explanation: Explanation, request: Request) -> Value:
    """Return the answer of the network, with those of other networks beside it; only stories have a
    question."""
    beside = [
        input_bar.Beside(
            texts.BESIDE[other.variant], format_answer(request.task, other.answer), other.right
        )
        for other in explanation.beside
    ]
    return adaptive_computation.describe_answer(
        explanation,
        request if request.task == "stories" else replace(request, question=""),
        WORDS,
        beside,
    )


def draw_ponder(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw how many steps each position took, and its output."""
    return adaptive_computation.draw_ponder(
        explanation,
        request,
        state,
        WORDS,
        explanation.positions,
        marks=explanation.facts,
        pick=find_longest(explanation),
    )


def find_longest(explanation: Explanation) -> int:
    """Return the position of the answer that took the most steps."""
    return max(
        explanation.wanted, key=lambda i: float(explanation.steps[i] + explanation.remainder[i])
    )


def find_telling_place(explanation: Explanation) -> tuple[int, int, int, int]:
    """Return (step, head, row, column), all from 0: where the position with the most steps looks
    most at what its answer needs."""
    row = find_longest(explanation)
    columns = [
        i
        for i in explanation.facts or range(len(explanation.positions))
        if i != row and i not in explanation.wanted
    ] or list(range(len(explanation.positions)))
    looks = explanation.attention[: int(explanation.steps[row]), :, row][:, :, columns]
    step, head, column = np.unravel_index(int(looks.argmax()), looks.shape)
    return int(step), int(head), row, columns[int(column)]


def draw_attention_kind(explanation: Explanation, task: str) -> Kind:
    """Return the attention of all steps and heads."""
    sort = "stories" if task == "stories" else ""
    return Kind(
        "self",
        texts.KIND,
        explanation.attention,
        explanation.positions,
        explanation.positions,
        question=texts.QUESTIONS[sort],
        roles=(texts.ROLES[sort], texts.ROLES[sort]),
        axis="step",
        taken=[int(n) for n in explanation.steps],
        spaced=task == "stories",
    )


def draw_heads(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention view."""
    step, head, row, column = find_telling_place(explanation)
    place = {"kind": "self", "layer": step, "head": head, "row": row, "col": column}
    made = attention.draw_attention(
        [draw_attention_kind(explanation, request.task)],
        pick=place,
        query=spell_query(request),
        state=state,
        silences=False,
    )
    jobs = made["jobs"]
    assert isinstance(jobs, list)
    return {**made, "jobs": [{**job, "name": dict(texts.JOBS[job["job"]])} for job in jobs]}


def list_for_bertviz(explanation: Explanation) -> drawing.Attention:
    """Return the same attention as bertviz shows it; positions that have halted send no query."""
    asks = np.arange(len(explanation.attention))[:, None] < explanation.steps
    weights: Array = explanation.attention * asks[:, None, :, None].astype(np.float32)
    return drawing.Attention(
        "self", texts.KIND, weights, explanation.positions, explanation.positions
    )


def draw_hardness(explanation: Explanation, request: Request, _state: str) -> Value:
    """Draw how hard inputs take longer, with the run in view; {} before anything was measured."""
    return (
        about.draw_hardness(
            request.task, (float(explanation.difficulty), explanation.ponder_of_answer)
        )
        or {}
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw how many steps the first result takes for each of its positions: they lie below each
    other, as in its own picture."""
    return Thumbnail(np.flip(adaptive_computation.draw_towers(explanation.steps), 0).T.copy())


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views in which these runs show the
    point."""
    kept = first()
    start, one_fact, carry = EXAMPLES[0], EXAMPLES[1], EXAMPLES[3]
    # a word depends on its steps more than any story
    backwards = next(example for example in EXAMPLES if example.task == "reverse")
    # the step at which one position alone goes on, and a head in which it looks back
    question, alone, head = start.text.count("."), 2, 0
    if kept is not None:
        question, alone = (
            find_longest(kept.seen),
            min(int(np.sort(kept.seen.steps)[-2]) + 1, int(kept.seen.steps.max())),
        )
        head = find_telling_place(kept.seen)[1]
    here = {"pos": str(question)}
    width = max(len(number) for number in carry.text.split("+"))
    ends = {"pos": str(2 * width + 2)}  # the first digit of the answer, where the carry ends
    shown: dict[str, Shown] = {
        "block": ("", {**here, "step": "1"}, "ponder"),
        "halting": ("", here, "ponder"),
        "stopped": (
            "",
            {**here, "step": str(alone), "kind": "self", "head": f"{alone}.{head + 1}"},
            "attention",
        ),
        "signal": (spell_query(replace(backwards, step_signal=False)), {}, "change", "ponder"),
        "facts": (spell_query(one_fact), {"pos": str(one_fact.text.count("."))}, "difficulty"),
        "carries": (spell_query(carry), {**ends, "step": "1"}, "ponder"),
        "forced": (spell_query(replace(carry, forced=1)), ends, "ponder"),
    }
    by = about.facts().get("stories", {}).get("figure", {}).get("ponder_by_facts", {})
    means = {
        name: f"{by[level]['mean']:.2f}" if level in by else "–"
        for name, level in (("one", "1"), ("two", "2"), ("three", "3"))
    }
    return build_steps(texts, shown, **means)
