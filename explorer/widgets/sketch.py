"""The input of the lab of sparse attention: a digit whose upper rows stay, or a text, and how the rest of it is made.

A digit is a held-out one of ours, drawn by hand, or a file of the visitor's (read by the server, see explorer/uploads.py). Its greys become
pixels of 0 and 1 in the browser, each drawn once with P(1) = grey and always the same draws, so that the same strokes give the same pixels;
a request carries them as base64url, without padding, of one bit per pixel in raster order.

The value it draws is one JSON object, built with `empty`, `reading`, `waiting`, `running`, `done` and `refused`. Waiting and refused name
little: the browser keeps the last request in view beside them.

    state: "stored" | "running" | "waiting" | "live" | "refused" | "empty"
    badge: {milliseconds, device}, {done: {at, of}, device} or {place, of, seconds}
    error, notice, warning: {en, zh} or None
    request: all fields of the request, lists for tuples, as the permalink in `query` says it

The bar itself sets the fields of `FIELDS`. Those of `neutral` belong to the panel that changes the models: they stay as they are in the
request in view while the same digit or text is asked for again, and are neutral for another one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.packing import Packed
from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]
Pixels = NDArray[np.uint8]

EVENTS = ("run", "open", "stop")
TASKS = ("digit", "text")
FIELDS = ("task", "drawing", "keep", "text", "length", "seed", "temperature")
SEED = 0  # of the draws that make pixels of greys
LEVELS = 255  # the brightest of a grey picture
UPLOAD = "/picture/grey"


@dataclass(frozen=True)
class Limits:
    """What the lab accepts, as the page says it.

    side: rows and columns of a digit. positions: code points of a text at most, given and made together. seed: the largest.
    temperature: smallest, largest, and the step of its slider. file: bytes of a visitor's picture.
    """

    side: int = 28
    positions: int = 1024
    temperature: tuple[float, float, float] = (0.0, 2.0, 0.1)
    seed: int = 999_999
    file: int = 5 << 20


def sketch(
    value: Value,
    *,
    texts: Mapping[str, Text],
    tasks: Sequence[str],
    pictures: Pixels,
    names: Sequence[Text],
    limits: Limits,
    examples: Sequence[Value],
    neutral: Value,
    upload: str = UPLOAD,
) -> gr.HTML:
    """Place the input bar. Its events `run` ({request}), `open` ({query}) and `stop` ({}) reach handlers of the page.

    texts: region, what the bar is called for screen readers; where texts are offered also label and placeholder of their box.
    tasks: "digit", "text" or both: a text only where its models are shipped. With one of them there are no tabs.
    pictures: (picture, row, column) 0 or 1, held-out digits of which a request calls the first "test:0"; names: what each shows.
    examples: whole requests, each with its "query" and its "title" {en, zh}, whose result the server may hold ready; those of a task not
    offered are left out, and the first one of a task says what its requests hold in the fields of the other.
    neutral: the further fields of a request, with the values that change nothing. upload: where a visitor's file is sent to be read.
    ValueError for another task, a task without an example, an example that lacks a field, and pictures that are none or not named.
    """
    unknown = [task for task in tasks if task not in TASKS]
    if unknown or not tasks:
        raise ValueError(f"tasks {list(tasks)}; there are {', '.join(TASKS)}")
    missing = [key for key in ("region", *(("label", "placeholder") if "text" in tasks else ())) if key not in texts]
    if missing:
        raise ValueError(f"the bar has no text for {', '.join(missing)}")
    if pictures.shape[1:] != (limits.side, limits.side) or not len(pictures) or pictures.max(initial=0) > 1:
        raise ValueError(f"pictures {pictures.shape} up to {pictures.max(initial=0)}; some of {limits.side} × {limits.side} of 0 and 1")
    if len(pictures) != len(names):
        raise ValueError(f"{len(pictures)} pictures and {len(names)} names")
    offered = [example for example in examples if example.get("task") in tasks]
    for example in offered:
        absent = [field for field in (*FIELDS, *neutral, "query", "title") if field not in example]
        if absent:
            raise ValueError(f"an example has no {', '.join(absent)}")
    bare = [task for task in tasks if all(example["task"] != task for example in offered)]
    if bare:
        raise ValueError(f"no example of {', '.join(bare)}: the first one fills the controls")
    return widget(
        "sketch",
        value,
        events=EVENTS,
        texts={key: dict(text) for key, text in texts.items()},
        tasks=list(tasks),
        pictures=_carried(pictures),
        names=[dict(name) for name in names],
        thresholds=_carried(thresholds(limits.side)),
        limits={
            "side": limits.side,
            "positions": limits.positions,
            "temperature": list(limits.temperature),
            "seed": limits.seed,
            "file": limits.file,
        },
        examples=[dict(example) for example in offered],
        neutral=dict(neutral),
        upload=upload,
    )


def thresholds(side: int) -> Pixels:
    """(row, column) the least level, 1 … 255, at which a grey becomes ink: draw < level / 255, with draws from a fixed seed.

    Black is never ink and white always; the levels between become pixels once and for all, as in the data.
    """
    draws = np.random.default_rng(SEED).random((side, side))
    return (np.floor(draws * LEVELS) + 1).astype(np.uint8)


def _carried(pixels: Pixels) -> Packed:
    """Pixels inside the page itself: what it offers to begin with must not depend on what the server still remembers."""
    raw = np.ascontiguousarray(pixels, np.uint8).tobytes()
    return Packed(dtype="u1", shape=list(pixels.shape), scale=1.0, data=base64.b64encode(raw).decode())


def empty() -> Value:
    """Nothing asked yet: the first example stands in the controls."""
    return {"state": "empty"}


def reading() -> Value:
    """The models have the request; nothing has come out yet."""
    return {"state": "waiting", "badge": {}}


def waiting(place: int, of: int, seconds: float) -> Value:
    """Others are before this request: its place (1 = next), how many wait, and about how long."""
    return {"state": "waiting", "badge": {"place": place, "of": of, "seconds": seconds}}


def running(request: Value, query: str, at: int, of: int, device: str = "") -> Value:
    """Models read and make: `at` of `of` pixels or characters, on `device` where that is known; of several the slowest counts."""
    return {"state": "running", "request": request, "query": query, "badge": {"done": {"at": at, "of": of}, "device": device}}


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

    query: "" where the text is too long for a link.
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
