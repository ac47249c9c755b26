"""The input bar: a control for each input field of the request, the source of the result, the
changes in the model, and the answer.

It sends all requests of the page: its own, and those of the change panel, of links and of steps. An
event is {query, set: {field: text}}: the request of a query string with some fields set anew. The
server merges and checks them, and the answer brings the query in its one spelling.

The value that it draws is one JSON object, built with `show_empty`, `show_reading`, `show_waiting`,
`show_result` and `show_refusal`. Waiting and refused values name little: the browser keeps the last
answer in view beside them.

    state: "stored" | "remembered" | "live" | "waiting" | "running" | "refused" | "empty"
    badge: {milliseconds, device}, {place, of, seconds} or {progress: {en, zh}}
    query, plain: the request in view as a link, and without its changes in the model; fields: every
        field as text
    pick: {model, kind, head, row, col, pos} in view on arrival, where the page has these keys: a
        change of the model leaves it in view
    changes: the changes in words, {en, zh} or None
    answer: from `describe_answer` or `describe_pieces`; grown: the part of it that exists already;
        lines: of a file, {en, zh} each
    ended: why each generated result ends: {reason, count, text, brief}
    error, notice, warning: {en, zh} or None

A value in state "before" is no answer of its own: `values` holds the drawings of the other widgets
for the run that `query` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.components.base import place_widget, write_script_address
from explorer.components.border import InputBarProps
from explorer.contract.control_kinds import Control
from explorer.contract.labels import ENDED, ENDED_BRIEFLY, ENDED_OF, capitalise, fill_text
from explorer.values.packing import convert_to_json, record_fields

Text = Mapping[str, str]
Value = dict[str, object]

# Kinds of controls that have a script of their own.
INPUTS = {"drawing": "frontend/inputs/drawing.js", "passage": "frontend/inputs/passage.js"}
EVENTS = ("ask", "before", "stop")


@dataclass(frozen=True)
class Example:
    """An input that the bar offers.

    query: its link.
    fields: all of its fields as text.
    short: the title's short form, for a chip.
    """

    title: Text
    query: str
    fields: Mapping[str, str]
    short: Text | None = None


@dataclass(frozen=True)
class Beside:
    """The answer of another network to the same input.

    verdict: the text in place of “right” or “wrong”.
    """

    name: Text
    answer: str | Text
    right: bool
    verdict: Text | None = None


def place_input_bar(
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
    """Place the input bar. Its events `ask` ({query, set}), `before` ({query}) and `stop` ({})
    reach handlers of the page.

    region: the name of the bar for screen readers.
    controls: the controls of the page. Those that change nothing stand here.
    kind: the class of the page's requests.
    answers: names of all widgets that the answer to a request draws.
    run: the text of its button, where it is not "Ask".
    begins: whether a bare address requests the first example.
    """
    shown = [one.describe_control(kind) for one in controls if not one.change]
    scripts = {
        str(one["kind"]): str(one["script"] or INPUTS.get(str(one["kind"]), "")) for one in shown
    }
    props = InputBarProps(
        typing={name: write_script_address(script) for name, script in scripts.items() if script},
        region=region,
        run=run,
        controls=shown,
        examples=[
            {**record_fields(one), "short": dict(one.short or one.title)} for one in examples
        ],
        answers=answers,
        begins=begins,
    )
    return place_widget(
        "ask",
        value,
        script="input_bar",
        events=EVENTS,
        **record_fields(props),
    )


def show_empty() -> Value:
    """Return the value before any request."""
    return {"state": "empty"}


def show_reading() -> Value:
    """Return the value while the model has the request and no answer has come out yet."""
    return {"state": "waiting", "badge": {}}


def show_waiting(place: int, of: int, seconds: float) -> Value:
    """Return the value while others are before this request: its place (1 = next), the number that
    wait, and about how long, in seconds."""
    return {"state": "waiting", "badge": {"place": place, "of": of, "seconds": seconds}}


def show_refusal(text: Text) -> Value:
    """Return the value for input that cannot be read: one sentence. The visitor's text and the last
    answer stay as they are."""
    return {"state": "refused", "error": dict(text)}


def show_growing(about: Value, progress: Text, answer: Value | None = None) -> Value:
    """Return the value of an answer that grows, piece by piece.

    about: query, plain and fields of the request.
    progress: the progress so far.
    answer: the part of it that exists, None where it stands in a view.
    """
    return {"state": "running", "badge": {"progress": dict(progress)}, **about, "grown": answer}


def show_result(
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
    ended: Sequence[Value] = (),
) -> Value:
    """Return the value of a result.

    about: query, plain and fields of the request.
    state: "live", "remembered" or "stored".
    milliseconds: the time that it was computed in.
    answer: None where it stands in a view.
    lines: the further lines in its text file.
    ended: why the generated result ends, from `describe_ending`.
    """
    return {
        "state": state,
        "badge": {"milliseconds": milliseconds, "device": device},
        **about,
        "answer": answer,
        "ended": list(ended),
        **convert_to_json(
            {"lines": lines, "changes": changes, "notice": notice, "warning": warning}
        ),
    }


def show_run_before(query: str, values: Mapping[str, object]) -> Value:
    """Return the drawings of the widgets for the run without its changes, which `query` names."""
    return {"state": "before", "query": query, "values": dict(values)}


def describe_answer(
    given: str,
    said: str | Text,
    *,
    right: bool | None,
    expected: str | Text,
    verdict: Text | None = None,
    facts: Sequence[tuple[Text, Text]] = (),
    beside: Sequence[Beside] = (),
) -> Value:
    """Return the network's answer as the bar draws it.

    given: the input, on one line.
    right: whether the answer is the expected one, None where nobody knows.
    verdict: the text in place of “right” or “wrong”.
    facts: remarks on the answer, each with its meaning.
    beside: the answers of other networks.
    """
    told = {
        "given": given,
        "said": said,
        "right": right,
        "expected": expected,
        "verdict": verdict,
        "facts": facts,
        "beside": beside,
    }
    return dict(convert_to_json(told))


def describe_pieces(
    words: Sequence[str],
    space: Sequence[bool],
    *,
    language: str = "",
    log_probability: float | None = None,
    hypotheses: Sequence[tuple[str, float, float, str]] = (),
    text: str = "",
) -> Value:
    """Return an answer of pieces that a network has produced. Each piece is a row of the attention
    in view.

    space: True where a space stands before a piece.
    language: the BCP 47 tag of the text.
    log_probability: that of the whole answer, in nats, None while it grows.
    hypotheses: (text, log-probability, score, why it ends), best first, where several were kept.
    text: the text of the pieces in a file, by default the pieces joined.
    Raise ValueError where the numbers of pieces and spaces differ.
    """
    if len(words) != len(space):
        raise ValueError(f"{len(words)} pieces and {len(space)} spaces")
    told = {
        "pieces": words,
        "space": space,
        "language": language,
        "log_probability": log_probability,
        "hypotheses": hypotheses,
    }
    return dict(convert_to_json({**told, "text": text}))


def describe_ending(reason: str, count: int, unit: Text, of: Text | None = None) -> Value:
    """Return why a generated result ends.

    reason: one of `models.explaining.shared_records.REASONS`.
    count, unit: its length, "{n} pieces".
    of: its name, where several were generated.
    """
    said = fill_text(ENDED[reason], size=fill_text(unit, n=count))
    said = said if of is None else fill_text(ENDED_OF, of=of, said=said)
    brief = fill_text(ENDED_BRIEFLY[reason], n=count)
    return {"reason": reason, "count": count, "text": dict(capitalise(said)), "brief": dict(brief)}
