"""The input of the labs on long texts: a page of a held-out book or the visitor's own text, and how much is written after it.

The bar holds what is given, the knobs of the writing, and where a result comes from; what was written is drawn by another widget.

The value it draws is one JSON object, built with `empty`, `reading`, `waiting`, `running`, `done` and `refused`. Waiting and refused name
little: the browser keeps the last request in view beside them.

    state: "stored" | "running" | "waiting" | "live" | "refused" | "empty"
    badge: {milliseconds, device}, {read, written, of, device} or {place, of, seconds}
    error, notice, warning: {en, zh} or None
    request: all fields of the request, lists for tuples, as the permalink in `query` says it
    given: the text that was read; readers: [{name, bits, written}], written None where a model read alone

A request has text ("": the page called `page` is read), page, length (characters to write), seed, temperature. The bar changes those and
the fields of its choices; whatever else a request has travels along as in the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.widgets.base import widget

Text = Mapping[str, str]
Value = dict[str, object]

EVENTS = ("run", "open", "stop")
TEXTS = ("region", "label", "placeholder", "run")
FIELDS = ("text", "page", "length", "seed", "temperature")


@dataclass(frozen=True)
class Limits:
    """What a lab on long texts accepts, as the page says it.

    characters: code points of a text; a longer one is refused before it is sent. written: fewest and most characters to write, and the step
    of that slider. temperature: smallest, largest, and the step of its slider. seed: the largest.
    """

    characters: int
    written: tuple[int, int, int]
    temperature: tuple[float, float, float] = (0.0, 2.0, 0.1)
    seed: int = 999_999


@dataclass(frozen=True)
class Page:
    """A held-out page, which stands whole in the box when it is chosen.

    key: as the request's `page` says it. title: in a tip; short: on a chip. text: the page itself. source: author, title, year, chapter.
    """

    key: str
    title: Text
    short: Text
    text: str
    source: Text


@dataclass(frozen=True)
class Choice:
    """A field of the request that the bar offers as a select. options: values as the request says them, with their names, all different."""

    field: str
    label: Text
    options: Sequence[tuple[str | int, Text]]


@dataclass(frozen=True)
class Reader:
    """What one model made of a text. bits: per character of what was given. written: what it went on with; None where it only read."""

    name: Text
    bits: float
    written: str | None = None


def writer(
    value: Value,
    *,
    texts: Mapping[str, Text],
    limits: Limits,
    pages: Sequence[Page],
    examples: Sequence[Value],
    choices: Sequence[Choice] = (),
) -> gr.HTML:
    """Place the input bar. Its events `run` ({request}), `open` ({query}) and `stop` ({}) reach handlers of the page.

    texts: region, what the bar is called for screen readers; label and placeholder of the box; run, what the button says. "{characters}" in
    them is filled from the limits.
    examples: whole requests, each with its "query", its "title" and its "short" {en, zh}, whose result the server may hold ready. The first
    one's page is what the requests of a visitor's own text name too, so that their links stay short. A page of no example gets a chip.
    ValueError where a text or an example is missing, an example lacks a field, names no page or is too long, or a choice has no options.
    """
    missing = [key for key in TEXTS if key not in texts]
    if missing:
        raise ValueError(f"the bar has no text for {', '.join(missing)}")
    if not examples:
        raise ValueError("the bar needs an example: the first one fills it")
    known = {page.key: _plain(page.text) for page in pages}
    if len(known) != len(pages):
        raise ValueError(f"two of the pages {', '.join(page.key for page in pages)} are called alike")
    for choice in choices:
        if not choice.options:
            raise ValueError(f"the choice of {choice.field} has no options")
    fields = (*FIELDS, *(choice.field for choice in choices), "query", "title", "short")
    for example in examples:
        absent = [field for field in fields if field not in example]
        if absent:
            raise ValueError(f"an example has no {', '.join(absent)}")
        if not example["text"] and example["page"] not in known:
            raise ValueError(f"an example takes the page {example['page']!r}; there are {', '.join(known)}")
    for text in (*known.values(), *(str(example["text"]) for example in examples)):
        if len(text) > limits.characters:
            raise ValueError(f"a page or an example has {len(text):,} characters; the bar takes {limits.characters:,}")
    return widget(
        "writer",
        value,
        events=EVENTS,
        texts={key: dict(text) for key, text in texts.items()},
        limits={
            "characters": limits.characters,
            "written": list(limits.written),
            "temperature": list(limits.temperature),
            "seed": limits.seed,
        },
        pages=[
            {"key": page.key, "title": dict(page.title), "short": dict(page.short), "text": known[page.key], "source": dict(page.source)}
            for page in pages
        ],
        examples=[dict(example) for example in examples],
        choices=[
            {"field": choice.field, "label": dict(choice.label), "options": [[key, dict(name)] for key, name in choice.options]}
            for choice in choices
        ],
    )


def _plain(text: str) -> str:
    """A text with its lines ended as a box ends them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def empty() -> Value:
    """Nothing asked yet: the first example stands in the controls."""
    return {"state": "empty"}


def reading() -> Value:
    """The models have the request; nothing has been read yet. The last result stays in view."""
    return {"state": "waiting", "badge": {}}


def waiting(place: int, of: int, seconds: float) -> Value:
    """Others are before this request: its place (1 = next), how many wait, and about how long. The last result stays in view."""
    return {"state": "waiting", "badge": {"place": place, "of": of, "seconds": seconds}}


def running(request: Value, query: str, read: int, written: int, of: int, device: str = "") -> Value:
    """A text is read, then written on: characters read so far, characters written so far, and how many shall be written.

    Where several models write at once: what each has, the slowest counting. device: where that is known.
    """
    return {
        "state": "running",
        "request": request,
        "query": query,
        "badge": {"read": read, "written": written, "of": of, "device": device},
    }


def done(
    request: Value,
    query: str,
    *,
    state: str,
    milliseconds: float,
    device: str,
    given: str,
    readers: Sequence[Reader],
    notice: Text | None = None,
    warning: Text | None = None,
) -> Value:
    """A finished result. state: "live", or "stored" for one that is held ready; milliseconds of compute on `device`.

    query: "" where the text is too long for a link. given: the text as it was read; readers: every model that read it, those that wrote
    first: what the visitor takes along as a text file. ValueError where no model is named.
    """
    if not readers:
        raise ValueError("a result needs a model that has read the text")
    return {
        "state": state,
        "badge": {"milliseconds": milliseconds, "device": device},
        "request": request,
        "query": query,
        "given": given,
        "readers": [{"name": dict(reader.name), "bits": float(reader.bits), "written": reader.written} for reader in readers],
        "notice": dict(notice) if notice else None,
        "warning": dict(warning) if warning else None,
    }


def refused(text: Text) -> Value:
    """What was given cannot be read: one sentence. What the visitor typed, and the last result, stay as they are."""
    return {"state": "refused", "error": dict(text)}
