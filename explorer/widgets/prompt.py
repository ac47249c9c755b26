"""The prompt: a text goes in, words come out, with examples, search knobs and the badge that says where a result comes from.

The value it draws is one JSON object, built with `running`, `waiting`, `done` and `refused`. Waiting and refused name
little: the browser keeps the last result in view beside them.

    state: "stored" | "running" | "waiting" | "live" | "refused" | "empty"
    badge: {milliseconds, device} or {place, of, seconds}
    error, notice, warning: {en, zh} or None
    request: {sentence, beam, alpha, silenced, hidden, without}, as the permalink in `query` says it
    output: {pieces, space}; log_probability: nats; hypotheses: [[text, log-probability, score], …]
    pick: {kind, row} that is locked on arrival
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("run", "open", "stop")


@dataclass(frozen=True)
class Limits:
    """What a text lab accepts, as the page says it.

    tokens: pieces at most; words: about how many words that is; characters: beyond this a text is refused before it is sent.
    beam: fewest and most hypotheses; alpha: smallest and largest length penalty and the step of its slider.
    """

    tokens: int
    words: int
    characters: int
    beam: tuple[int, int] = (1, 8)
    alpha: tuple[float, float, float] = (0.0, 2.0, 0.1)


def prompt(value: Value, *, texts: Mapping[str, Text], limits: Limits, examples: Sequence[Value], output_language: str = "") -> gr.HTML:
    """Place the prompt. Its events `run` (a request), `open` ({query}) and `stop` reach handlers of the page.

    texts: region, label, placeholder, run, output; "{tokens}" and "{words}" in them are filled from the limits.
    examples: requests {sentence, beam, alpha, …} with their "query", whose result the server may hold ready.
    output_language: BCP 47 tag of what comes out, for screen readers.
    """
    missing = {"region", "label", "placeholder", "run", "output"} - texts.keys()
    if missing:
        raise ValueError(f"the prompt has no text for {', '.join(sorted(missing))}")
    return widget(
        "prompt",
        value,
        events=EVENTS,
        texts={key: dict(text) for key, text in texts.items()},
        limits={
            "tokens": limits.tokens,
            "words": limits.words,
            "characters": limits.characters,
            "beam": list(limits.beam),
            "alpha": list(limits.alpha),
        },
        examples=[dict(example) for example in examples],
        outputLanguage=output_language,
    )


def empty() -> Value:
    """Nothing asked yet: one sentence and a button with an example."""
    return {"state": "empty"}


def running(request: Value, query: str, pieces: Sequence[str], space: Sequence[bool], pick: Value | None = None) -> Value:
    """Words are appearing: those produced so far."""
    return {"state": "running", "request": request, "query": query, "output": output(pieces, space), "pick": pick}


def reading() -> Value:
    """The model has the request; nothing has come out yet. The last result stays in view."""
    return {"state": "waiting", "badge": {}}


def waiting(place: int, of: int, seconds: float) -> Value:
    """Others are before this request: its place (1 = next), how many wait, and about how long. The last result stays in view."""
    return {"state": "waiting", "badge": {"place": place, "of": of, "seconds": seconds}}


def done(
    request: Value,
    query: str,
    *,
    state: str,
    pieces: Sequence[str],
    space: Sequence[bool],
    log_probability: float,
    hypotheses: Sequence[tuple[str, float, float]],
    milliseconds: float,
    device: str,
    pick: Value | None = None,
    warning: Text | None = None,
    notice: Text | None = None,
) -> Value:
    """A finished result. state: "live", or "stored" for the one that is shipped; milliseconds of compute on `device`."""
    return {
        "state": state,
        "badge": {"milliseconds": milliseconds, "device": device},
        "request": request,
        "query": query,
        "output": output(pieces, space),
        "log_probability": log_probability,
        "hypotheses": [list(hypothesis) for hypothesis in hypotheses],
        "pick": pick,
        "warning": dict(warning) if warning else None,
        "notice": dict(notice) if notice else None,
    }


def refused(text: Text) -> Value:
    """What was given cannot be read: one sentence. The input, and the last result with it, stay as they are."""
    return {"state": "refused", "error": dict(text)}


def output(pieces: Sequence[str], space: Sequence[bool]) -> Value:
    """Pieces and where a space stands before them, of equal number."""
    if len(pieces) != len(space):
        raise ValueError(f"{len(pieces)} pieces and {len(space)} spaces")
    return {"pieces": list(pieces), "space": [bool(flag) for flag in space]}
