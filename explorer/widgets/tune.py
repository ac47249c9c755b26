"""The input of the music lab: a motif, what is to be made of it, and how it is drawn.

A motif is one of ours, played on the keyboard of the page, or a MIDI file of the visitor's (read by the server). It is continued, or,
being a chorale's melody, harmonised. The browser writes what was played as a request carries it.

The value it draws is one JSON object, built with `running`, `waiting`, `done` and `refused`. Waiting and refused name little: the
browser keeps the last request in view beside them.

    state: "stored" | "running" | "waiting" | "live" | "refused" | "empty"
    badge: {milliseconds, device}, {done: {at, of}, device} or {place, of, seconds}
    error, notice, warning: {en, zh} or None
    request: all fields of the request, lists for tuples, as the permalink in `query` says it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

import gradio as gr

from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("run", "open", "stop")
BLACK = frozenset({1, 3, 6, 8, 10})  # pitches of an octave
UPLOAD: Mapping[str, str] = MappingProxyType({"chorale": "/music/chorale", "piano": "/music/piano"})


@dataclass(frozen=True)
class Limits:
    """What a music lab accepts, as the page says it. By style, "chorale" and "piano":

    motif: events or cells that may be given. made: that may be made. grid: milliseconds of a step. keys: the lowest and the highest MIDI
    pitch of the keyboard, white keys both.
    temperature: smallest, largest, and the step of its slider. seed: the largest. file: bytes of a visitor's MIDI file.
    """

    motif: Mapping[str, int]
    made: Mapping[str, int]
    grid: Mapping[str, int]
    keys: Mapping[str, tuple[int, int]]
    temperature: tuple[float, float, float] = (0.0, 2.0, 0.1)
    seed: int = 999_999
    file: int = 256 << 10


def tune(
    value: Value,
    *,
    texts: Mapping[str, Text],
    examples: Sequence[Value],
    styles: Sequence[Mapping[str, object]],
    limits: Limits,
    upload: Mapping[str, str] = UPLOAD,
) -> gr.HTML:
    """Place the input bar. Its events `run` ({request}), `open` ({query}) and `stop` ({}) reach handlers of the page.

    texts: region, what the bar is called for screen readers.
    examples: requests, each with its "query" and its "title" {en, zh}, whose result the server may hold ready.
    styles: those whose models are there, {"key", "name" {en, zh}, "modes": ["continue", "harmonise"], "models": how many continue};
    the last may be left out. Examples of other styles are not offered.
    upload: where a visitor's file is sent to be read, by style.
    ValueError where no style is there, no example is left, a style has no limits or no address, or a keyboard ends with a black key.
    """
    known = [str(style["key"]) for style in styles]
    offered = [dict(example) for example in examples if example["style"] in known]
    if "region" not in texts or not offered:
        raise ValueError("the bar needs a text “region” and an example of a style that is there")
    for key in known:
        if any(key not in there for there in (limits.motif, limits.made, limits.grid, limits.keys, upload)):
            raise ValueError(f"the style {key} has no limits or no address to send its files to")
        if BLACK.intersection(pitch % 12 for pitch in limits.keys[key]):
            raise ValueError(f"the keyboard of {key} begins and ends with a white key, not with {limits.keys[key]}")
    return widget(
        "tune",
        value,
        events=EVENTS,
        texts={key: dict(text) for key, text in texts.items()},
        examples=offered,
        styles=[dict(style) for style in styles],
        limits={key: _plain(limit) for key, limit in asdict(limits).items()},
        upload=dict(upload),
    )


def _plain(limit: object) -> object:
    if isinstance(limit, Mapping):
        return {key: _plain(inner) for key, inner in limit.items()}
    return list(limit) if isinstance(limit, tuple) else limit


def empty() -> Value:
    """Nothing asked yet."""
    return {"state": "empty"}


def running(request: Value, query: str, at: int, of: int, device: str = "") -> Value:
    """Music grows: `at` of the `of` events or cells that all models make together, on `device` where that is known."""
    return {"state": "running", "request": request, "query": query, "badge": {"done": {"at": at, "of": of}, "device": device}}


def reading() -> Value:
    """The models have the request; nothing has come out yet."""
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
    warning: Text | None = None,
    notice: Text | None = None,
) -> Value:
    """A finished result. state: "live", or "stored" for one that is held ready; milliseconds of compute on `device`.

    query: "" where the motif is too long for a link.
    """
    return {
        "state": state,
        "badge": {"milliseconds": milliseconds, "device": device},
        "request": request,
        "query": query,
        "warning": dict(warning) if warning else None,
        "notice": dict(notice) if notice else None,
    }


def refused(text: Text) -> Value:
    """What was given cannot be read: one sentence. What the visitor chose, and the last result, stay as they are."""
    return {"state": "refused", "error": dict(text)}
