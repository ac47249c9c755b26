"""The input of labs that answer: which task, what is typed for it, and the answer with what other networks say beside it.

A task brings its own keyboard: bits are switched on and off, a story has a question and words to insert, sums and words are plain lines, a
text is a field of several.

The value it draws is one JSON object, built with `empty`, `reading`, `waiting`, `done` and `refused`. Waiting and refused name little: the
browser keeps the last answer in view beside them.

    state: "stored" | "waiting" | "live" | "refused" | "empty"
    badge: {milliseconds, device} or {place, of, seconds}
    error, notice, warning: {en, zh} or None
    request: all fields of the request, as the permalink in `query` says it
    answer, expected: a string or {en, zh}; right: bool, or None where nobody knows; sure: 0 … 1; ponder: updates; None where there is none
    verdict: {en, zh} in place of “right” or “wrong”; left out where these say it
    beside: [{name, answer, right}], with a verdict of its own where it has one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import gradio as gr

from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("run", "open", "stop")


@dataclass(frozen=True)
class Task:
    """Something that the lab answers.

    key: as the request says it. label: its name. prompt: what is typed, above the line. placeholder: an example inside the empty line.
    keyboard: "bits" (a row of places beside the line), "sum", "letters", "text" (several lines), or "story" (sentences, a question, words
    to insert).
    hint: what is accepted, under the line. most: characters of text and question together; more is refused before it is sent.
    places: of "bits", how many; question: of "story", the placeholder of its question.
    """

    key: str
    label: Text
    prompt: Text
    placeholder: str
    keyboard: Literal["bits", "sum", "letters", "text", "story"]
    hint: Text
    most: int
    places: int = 16
    question: str = ""


@dataclass(frozen=True)
class Group:
    """Words of one kind that a story may use. before: what is typed along, such as "the"."""

    name: Text
    words: tuple[str, ...]
    before: str = ""


@dataclass(frozen=True)
class Beside:
    """What another network answers to the same input. verdict: said in place of “right” or “wrong”."""

    name: Text
    answer: str | Text
    right: bool
    verdict: Text | None = None


def asker(
    value: Value,
    *,
    texts: Mapping[str, Text],
    tasks: Sequence[Task],
    examples: Sequence[Value],
    neutral: Mapping[str, object],
    vocabulary: Sequence[Group] = (),
) -> gr.HTML:
    """Place the input bar. Its events `run` ({request}), `open` ({query}) and `stop` ({}) reach handlers of the page.

    texts: region, what the bar is called for screen readers. examples: requests, each with its "query" and its "title" {en, zh}, whose
    result the server may hold ready; the first of each task fills its line to begin with. neutral: the fields of a request that say how
    the network runs (epsilon, limit, forced, bias, told), with nothing changed: a new input begins so. vocabulary: words of stories.
    A request also has task and text, and a question where any task is a story.
    """
    if "region" not in texts or not tasks:
        raise ValueError("the bar needs a text “region” and at least one task")
    return widget(
        "asker",
        value,
        events=EVENTS,
        texts={key: dict(text) for key, text in texts.items()},
        tasks=[
            {
                "key": task.key,
                "label": dict(task.label),
                "prompt": dict(task.prompt),
                "placeholder": task.placeholder,
                "keyboard": task.keyboard,
                "hint": dict(task.hint),
                "most": task.most,
                "places": task.places,
                "question": task.question,
            }
            for task in tasks
        ],
        examples=[dict(example) for example in examples],
        neutral=dict(neutral),
        vocabulary=[{"name": dict(group.name), "words": list(group.words), "before": group.before} for group in vocabulary],
    )


def empty() -> Value:
    """Nothing asked yet."""
    return {"state": "empty"}


def reading() -> Value:
    """The model has the request; no answer has come out yet."""
    return {"state": "waiting", "badge": {}}


def waiting(place: int, of: int, seconds: float) -> Value:
    """Others are before this request: its place (1 = next), how many wait, and about how long."""
    return {"state": "waiting", "badge": {"place": place, "of": of, "seconds": seconds}}


def done(
    request: Value,
    query: str,
    *,
    state: str,
    milliseconds: float,
    device: str,
    answer: str | Text,
    right: bool | None,
    expected: str | Text,
    sure: float | None = None,
    ponder: float | None = None,
    verdict: Text | None = None,
    beside: Sequence[Beside] = (),
    notice: Text | None = None,
    warning: Text | None = None,
) -> Value:
    """An answer. state: "live", or "stored" for one that is held ready; milliseconds of compute on `device`.

    right: is the answer the expected one; None where nobody knows. sure: the smallest probability of a part of the answer. ponder: mean of
    N + R. verdict: said in place of “right” or “wrong”. beside: what other networks answer. None: there is no such thing here.
    """
    return {
        "state": state,
        "badge": {"milliseconds": milliseconds, "device": device},
        "request": request,
        "query": query,
        "answer": _said(answer),
        "right": right,
        "expected": _said(expected),
        "sure": None if sure is None else float(sure),
        "ponder": None if ponder is None else float(ponder),
        **({"verdict": dict(verdict)} if verdict else {}),
        "beside": [_beside(other) for other in beside],
        "warning": dict(warning) if warning else None,
        "notice": dict(notice) if notice else None,
    }


def refused(text: Text) -> Value:
    """What was given cannot be read: one sentence. What the visitor typed, and the last answer, stay as they are."""
    return {"state": "refused", "error": dict(text)}


def _beside(other: Beside) -> Value:
    told: Value = {"name": dict(other.name), "answer": _said(other.answer), "right": other.right}
    return {**told, "verdict": dict(other.verdict)} if other.verdict else told


def _said(text: str | Text) -> object:
    return text if isinstance(text, str) else dict(text)
