"""The input of the labs that make pictures: what kind, how it is drawn, and the visitor's own picture to go on from.

Three ways to begin: a picture of a kind, the rest of a picture whose top is given, a small coloured picture made larger. A picture
is one of ours, a file of the visitor's (read by the server, see explorer/uploads.py), or drawn by hand.

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

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.packing import inside
from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("run", "open", "stop")
UPLOAD: Mapping[str, str] = {"grey": "/picture/grey", "colour": "/picture/colour"}


@dataclass(frozen=True)
class Limits:
    """What a picture lab accepts, as the page says it.

    side: of a grey picture, pixels; large, small: sides of a coloured picture and of what it is raised from.
    rows_kept: how much of a picture may be given. count: pictures at once. seed: the largest. file: bytes of a visitor's picture.
    temperature: smallest, largest, and the step of its slider. top_k: numbers of levels to choose among, the last meaning all.
    """

    side: int
    large: int
    small: int
    rows_kept: tuple[int, ...]
    count: int
    temperature: tuple[float, float, float] = (0.1, 2.0, 0.1)
    top_k: tuple[int, ...] = (1, 4, 16, 64, 256)
    seed: int = 999_999
    file: int = 5 << 20


@dataclass(frozen=True)
class Pictures:
    """Pictures of ours to begin with, which no model has learned from.

    levels: (picture, row, column) or (picture, row, column, channel), uint8. names: what each shows.
    The request calls the first of them "test:0".
    """

    levels: NDArray[np.uint8]
    names: tuple[Text, ...]

    def __post_init__(self) -> None:
        if len(self.levels) != len(self.names):
            raise ValueError(f"{len(self.levels)} pictures and {len(self.names)} names")


def maker(
    value: Value,
    *,
    texts: Mapping[str, Text],
    kinds: Sequence[Text],
    examples: Sequence[Value],
    pictures: Mapping[str, Pictures],
    limits: Limits,
    upload: Mapping[str, str] = UPLOAD,
) -> gr.HTML:
    """Place the input bar. Its events `run` ({request}), `open` ({query}) and `stop` ({}) reach handlers of the page.

    texts: region, what the bar is called for screen readers.
    kinds: names of the kinds; one more number, len(kinds), stands for "not told". examples: requests, each with its "query" and its
    "title" {en, zh}, whose result the server may hold ready. pictures: "grey" and "colour", those to begin with; without "colour"
    nothing is made larger. upload: where a visitor's file is sent to be read, under the same names.
    """
    if "region" not in texts or "grey" not in pictures:
        raise ValueError("the bar needs a text “region” and pictures “grey”")
    return widget(
        "maker",
        value,
        events=EVENTS,
        texts={key: dict(text) for key, text in texts.items()},
        kinds=[dict(kind) for kind in kinds],
        examples=[dict(example) for example in examples],
        pictures={key: {"levels": inside(some.levels), "names": [dict(name) for name in some.names]} for key, some in pictures.items()},
        limits={key: list(limit) if isinstance(limit, tuple) else limit for key, limit in asdict(limits).items()},
        upload=dict(upload),
    )


def empty() -> Value:
    """Nothing asked yet."""
    return {"state": "empty"}


def running(request: Value, query: str, at: int, of: int, device: str = "") -> Value:
    """A picture grows: `at` of its `of` pixels are made, on `device` where that is known."""
    return {"state": "running", "request": request, "query": query, "badge": {"done": {"at": at, "of": of}, "device": device}}


def reading() -> Value:
    """The model has the request; nothing has come out yet."""
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
    """A finished result. state: "live", or "stored" for one that is held ready; milliseconds of compute on `device`."""
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
