"""The input bar: a control for each field of the request that is input, where the result comes from, what is changed, and the answer.

It sends all wishes of the page: its own, those of the panel of changes, of links and steps. An event is {query, set: {field: text}}: the
request of a query string with some fields set anew; the server merges and checks, and the answer brings the query in its one spelling.

The value it draws is one JSON object, built with `empty`, `reading`, `waiting`, `done` and `refused`. Waiting and refused name little: the
browser keeps the last answer in view beside them.

    state: "stored" | "remembered" | "live" | "waiting" | "running" | "refused" | "empty"
    badge: {milliseconds, device}, {place, of, seconds} or {progress: {en, zh}}
    query, plain: the request in view as a link, and without what it changes in the model; fields: every field as text
    pick: {model, kind, head, row, col, pos} in view on arrival, where the page has such a thing: a change of the model leaves it in view
    changes: what it changes in words, {en, zh} or None
    answer: from `answer` or `pieces`; grown: the part of it that is there; lines: of a file, {en, zh} each
    error, notice, warning: {en, zh} or None

A value in state "before" is no answer of its own: `values` holds what the other widgets draw of the run that `query` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.controls import Control
from explorer.packing import record, spelled
from explorer.widgets.base import address, widget

Text = Mapping[str, str]
Value = dict[str, object]

# Kinds of controls that have a script of their own.
INPUTS = {"drawing": "widgets/inputs/drawing.js", "passage": "widgets/inputs/passage.js"}
EVENTS = ("ask", "before", "stop")


@dataclass(frozen=True)
class Example:
    """An input that the bar offers. query: its link; fields: all of its fields as text. short: of the title, for a chip."""

    title: Text
    query: str
    fields: Mapping[str, str]
    short: Text | None = None


@dataclass(frozen=True)
class Beside:
    """What another network answers to the same input. verdict: said in place of “right” or “wrong”."""

    name: Text
    answer: str | Text
    right: bool
    verdict: Text | None = None


def ask(
    value: Value,
    *,
    region: Text,
    controls: Sequence[Control],
    kind: Any,
    examples: Sequence[Example],
    answers: Sequence[str],
    run: Text | None = None,
    begins: bool = False,
) -> gr.HTML:
    """Place the input bar. Its events `ask` ({query, set}), `before` ({query}) and `stop` ({}) reach handlers of the page.

    region: what the bar is called for screen readers. controls: of the page; those that change nothing stand here. kind: the class of its
    requests. answers: names of all widgets that the answer to a wish draws. run: what its button says, where not "Ask". begins: does a bare
    address ask for the first example?
    """
    shown = [one.drawn(kind) for one in controls if not one.change]
    scripts = {str(one["kind"]): str(one["script"] or INPUTS.get(str(one["kind"]), "")) for one in shown}
    return widget(
        "ask",
        value,
        events=EVENTS,
        typing={name: address(script) for name, script in scripts.items() if script},
        region=dict(region),
        run=spelled(run),
        controls=shown,
        examples=[{**record(one), "short": dict(one.short or one.title)} for one in examples],
        answers=list(answers),
        begins=begins,
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


def refused(text: Text) -> Value:
    """What was given cannot be read: one sentence. What the visitor typed, and the last answer, stay as they are."""
    return {"state": "refused", "error": dict(text)}


def growing(about: Value, progress: Text, answer: Value | None = None) -> Value:
    """An answer that grows, piece by piece. about: query, plain and fields of the request. progress: how far it has come. answer: the part
    of it that is there, None where it stands in a view."""
    return {"state": "running", "badge": {"progress": dict(progress)}, **about, "grown": answer}


def done(
    about: Value,
    *,
    state: str,
    milliseconds: float,
    device: str,
    answer: Value | None,
    lines: Sequence[Text] = (),
    changes: Text | None = None,
    notice: Text | None = None,
    warning: Text | None = None,
) -> Value:
    """A result. about: query, plain and fields of the request. state: "live", "remembered" or "stored"; computed in `milliseconds`.

    answer: None where it stands in a view. lines: what a text file of it says beside.
    """
    return {
        "state": state,
        "badge": {"milliseconds": milliseconds, "device": device},
        **about,
        "answer": answer,
        **spelled({"lines": lines, "changes": changes, "notice": notice, "warning": warning}),
    }


def before(query: str, values: Mapping[str, object]) -> Value:
    """What the widgets draw of the run without its changes, which `query` names."""
    return {"state": "before", "query": query, "values": dict(values)}


def answer(
    given: str,
    said: str | Text,
    *,
    right: bool | None,
    expected: str | Text,
    verdict: Text | None = None,
    facts: Sequence[tuple[Text, Text]] = (),
    beside: Sequence[Beside] = (),
) -> Value:
    """What the network answers. given: what was asked, on one line. right: is the answer the expected one; None where nobody knows.

    verdict: said in place of “right” or “wrong”.
    facts: what is to be said of it, each with what that means. beside: what other networks answer.
    """
    told = {"given": given, "said": said, "right": right, "expected": expected, "verdict": verdict, "facts": facts, "beside": beside}
    return dict(spelled(told))


def pieces(
    words: Sequence[str],
    space: Sequence[bool],
    *,
    language: str = "",
    log_probability: float | None = None,
    hypotheses: Sequence[tuple[str, float, float]] = (),
) -> Value:
    """An answer of pieces that a network has produced, each of which is a row of the attention in view.

    space: True where a space stands before a piece. language: BCP 47 tag of the text. log_probability: of all of it, in nats, None while it
    grows. hypotheses: (text, log-probability, score), best first, where several were kept. ValueError for pieces and spaces of two numbers.
    """
    if len(words) != len(space):
        raise ValueError(f"{len(words)} pieces and {len(space)} spaces")
    told = {"pieces": words, "space": space, "language": language, "log_probability": log_probability, "hypotheses": hypotheses}
    return dict(spelled(told))
