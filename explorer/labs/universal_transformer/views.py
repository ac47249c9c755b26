"""From what the Universal Transformer explains to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer import controls, runs
from explorer.controls import Control, Value, Words, query
from explorer.figures import attention
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Kind
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled
from explorer.labs import adaptive_depth
from explorer.labs.guided import Shown, guided
from explorer.labs.universal_transformer import about, texts
from explorer.widgets import ask
from models.universal_transformer.records import EXAMPLES, LIMIT, MAX_DIGITS, MAX_FACTS, MAX_LETTERS, TASKS, Explanation, Request
from models.universal_transformer.vocabulary import CONTAINERS, NOBODY, PEOPLE, PLACES, THINGS

Array = NDArray[np.float32]

LETTERS, DIGITS = 20, 9  # of the longest word, and the longest number, in training


first = runs.kept("universal_transformer", EXAMPLES[0], Explanation)


def say(task: str, answer: str) -> str | Text:
    """An answer as a visitor reads it."""
    return texts.NOBODY if task == "stories" and answer == NOBODY else answer


# ---- the input bar -----------------------------------------------------------------------------------------------------------------

VOCABULARY = (  # all words that the network knows, as they are put into a story
    Words(texts.GROUPS["people"], PEOPLE),
    Words(texts.GROUPS["verbs"], ("went to", "took", "put", "in")),
    Words(texts.GROUPS["places"], PLACES, "the"),
    Words(texts.GROUPS["things"], THINGS, "the"),
    Words(texts.GROUPS["containers"], CONTAINERS, "the"),
    Words(texts.GROUPS["asking"], ("where is",)),
)


def typed(task: str, kind: controls.Kind, placeholder: str, words: Sequence[Words] = ()) -> Control:
    """How the text of a task is asked for."""
    hint = filled(texts.HINTS[task], facts=MAX_FACTS, digits=MAX_DIGITS, letters=MAX_LETTERS)
    return adaptive_depth.typed(task, kind, texts.PROMPTS[task], hint, placeholder, words=words)


WORDS = adaptive_depth.Words(texts.PLACE, texts.STEP, texts.STEPS_OF, texts.NO_SIGNAL, say)
CONTROLS = (
    Control("task", texts.TASK, "choice", names=texts.TASKS),
    typed("stories", "story", EXAMPLES[0].text, VOCABULARY),
    Control("question", texts.QUESTION, "question", placeholder=EXAMPLES[0].question, when={"task": ("stories",)}),
    typed("addition", "sum", "478+256"),
    typed("reverse", "letters", "transformer"),
    typed("copy", "letters", "universal"),
    *adaptive_depth.knobs(WORDS, texts.KNOBS, dict.fromkeys(TASKS, LIMIT)),
)


def warning(request: Request, _seen: Explanation) -> Text | None:
    """What to say of an input that is longer than any in training; None for others."""
    if request.task == "addition":
        longest = max((len(number.strip().lstrip("0")) for number in request.text.replace("=", "").split("+")), default=0)
        return filled(texts.BEYOND, limit=DIGITS, what=texts.DIGITS) if longest > DIGITS else None
    if request.task in {"reverse", "copy"} and len("".join(request.text.split())) > LETTERS:
        return filled(texts.BEYOND, limit=LETTERS, what=texts.LETTERS)
    return None


# ---- the views ---------------------------------------------------------------------------------------------------------------------


def answer(seen: Explanation, request: Request) -> Value:
    """What stands as the answer, with those of other networks beside it; only stories have a question."""
    beside = [ask.Beside(texts.BESIDE[other.variant], say(request.task, other.answer), other.right) for other in seen.beside]
    return adaptive_depth.answer(seen, request if request.task == "stories" else replace(request, question=""), WORDS, beside)


def thinking(seen: Explanation, request: Request, state: str) -> Value:
    """How long each position thought, and what it made of it."""
    return adaptive_depth.mechanism(seen, request, state, WORDS, seen.positions, marks=seen.facts, pick=longest(seen))


def longest(seen: Explanation) -> int:
    """The position of the answer that thought longest."""
    return max(seen.wanted, key=lambda i: float(seen.steps[i] + seen.remainder[i]))


def telling(seen: Explanation) -> tuple[int, int, int, int]:
    """(step, head, row, column), all from 0: where the position that thought longest looks most at what its answer needs."""
    row = longest(seen)
    columns = [i for i in (seen.facts or range(len(seen.positions))) if i != row and i not in seen.wanted] or list(
        range(len(seen.positions))
    )
    looks = seen.attention[: int(seen.steps[row]), :, row][:, :, columns]
    step, head, column = np.unravel_index(int(looks.argmax()), looks.shape)
    return int(step), int(head), row, columns[int(column)]


def kind(seen: Explanation, task: str) -> Kind:
    """The attention of all steps and heads."""
    sort = "stories" if task == "stories" else ""
    return Kind(
        "self",
        texts.KIND,
        seen.attention,
        seen.positions,
        seen.positions,
        question=texts.QUESTIONS[sort],
        roles=(texts.ROLES[sort], texts.ROLES[sort]),
        axis="step",
        taken=[int(n) for n in seen.steps],
        spaced=task == "stories",
    )


def heads(seen: Explanation, request: Request, state: str) -> Value:
    """What the attention view draws."""
    step, head, row, column = telling(seen)
    place = {"kind": "self", "layer": step, "head": head, "row": row, "col": column}
    made = attention.value([kind(seen, request.task)], pick=place, query=query(request), state=state, silences=False)
    jobs = made["jobs"]
    assert isinstance(jobs, list)
    return {**made, "jobs": [{**job, "name": dict(texts.JOBS[job["job"]])} for job in jobs]}


def bertviz(seen: Explanation) -> drawing.Attention:
    """The same attention as bertviz shows it; what has stopped asks nothing."""
    asks = np.arange(len(seen.attention))[:, None] < seen.steps
    weights: Array = seen.attention * asks[:, None, :, None].astype(np.float32)
    return drawing.Attention("self", texts.KIND, weights, seen.positions, seen.positions)


def hard(seen: Explanation, request: Request, _state: str) -> Value:
    """Hard things take longer, with the run in view; {} before anything was measured."""
    return about.hardness(request.task, (float(seen.difficulty), seen.ponder_of_answer)) or {}


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail(seen: Explanation) -> Thumbnail:
    """How long the first result thinks about each of its positions: they lie below each other, as they do in its picture."""
    return Thumbnail(np.flip(adaptive_depth.towers(seen.steps), 0).T.copy())


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views that show what these runs have to tell."""
    kept = first()
    start, one_fact, carry = EXAMPLES[0], EXAMPLES[1], EXAMPLES[3]
    backwards = next(example for example in EXAMPLES if example.task == "reverse")  # a word depends on its steps as no story does
    question, alone, head = start.text.count("."), 2, 0  # the step at which one position alone goes on, and a head that it asks with
    if kept is not None:
        question, alone = longest(kept.seen), min(int(np.sort(kept.seen.steps)[-2]) + 1, int(kept.seen.steps.max()))
        head = telling(kept.seen)[1]
    here = {"pos": str(question)}
    width = max(len(number) for number in carry.text.split("+"))
    ends = {"pos": str(2 * width + 2)}  # the first digit of the answer, where the carry ends
    shown: dict[str, Shown] = {
        "block": ("", {**here, "step": "1"}, "ponder"),
        "halting": ("", here, "ponder"),
        "stopped": ("", {**here, "step": str(alone), "kind": "self", "head": f"{alone}.{head + 1}"}, "attention"),
        "signal": (query(replace(backwards, told=False)), {}, "change", "ponder"),
        "facts": (query(one_fact), {"pos": str(one_fact.text.count("."))}, "difficulty"),
        "carries": (query(carry), {**ends, "step": "1"}, "ponder"),
        "forced": (query(replace(carry, forced=1)), ends, "ponder"),
    }
    by = about.facts().get("stories", {}).get("figure", {}).get("ponder_by_facts", {})
    means = {name: f"{by[level]['mean']:.2f}" if level in by else "–" for name, level in (("one", "1"), ("two", "2"), ("three", "3"))}
    return guided(texts, shown, **means)
