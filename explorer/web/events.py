"""The events that a page posts: read strictly, and refused where no page of ours sends them so."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.gradio_adapter.type_marks import has_type_mark

CANCEL = "/gradio_api/cancel"
RESET = "/gradio_api/reset"
JOIN = "/gradio_api/queue/join"
SESSION = 64  # characters of the name that a page gives itself
FIELDS = frozenset({"data", "event_data", "fn_index", "session_hash", "trigger_id"})  # of an event


@dataclass(frozen=True)
class EndedEvent:
    """An event that its page no longer waits for."""

    session: str
    event: str | None  # None: the page did not know it yet


def read_ending(body: bytes, path: str) -> EndedEvent | None:
    """Return the event that a page no longer waits for.

    Return None for a body that Gradio's page does not send to `path`.
    """
    fields = _parse_object(body)
    if fields is None or not isinstance(fields.get("event_id"), str | None):
        return None
    session, event = fields.get("session_hash"), fields.get("event_id")
    if path == RESET:  # nothing is left to do, because the page has cancelled before
        return EndedEvent("", event)
    if (
        type(fields.get("fn_index")) is not int
        or "event_id" not in fields
        or not (isinstance(session, str) and 0 < len(session) <= SESSION)
    ):
        return None
    return EndedEvent(session, event)


@dataclass(frozen=True)
class PageEvent:
    """An event of a page: its body, and the name that the page gave itself."""

    body: bytes
    session: str


def read_event(body: bytes, events: Mapping[int, int] | None) -> PageEvent | None:
    """Return an event of the form that our pages send, its texts well-formed; None for anything
    else.

    Half a surrogate pair, which JSON may name and no encoding can write, would end the answer's
    stream in the middle.
    """
    fields = _parse_object(body)
    if fields is None or not fields.keys() <= FIELDS or not isinstance(fields.get("data"), list):
        return None
    number, session = fields.get("fn_index"), fields.get("session_hash")
    if (
        type(number) is not int
        or not (events is None or events.get(number) == len(fields["data"]))
        or type(fields.get("trigger_id", 0)) not in {int, type(None)}
        or not (isinstance(session, str) and 0 < len(session) <= SESSION)
        or has_type_mark(fields)
    ):
        return None
    if rb"\ud" not in body.lower():
        return PageEvent(body, session)
    # The session's name too, because both sides must use the same name.
    mended = (
        json.dumps(fields, ensure_ascii=False)
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
        .encode()
    )
    return PageEvent(mended, json.loads(mended)["session_hash"])


def _parse_object(body: bytes) -> dict[str, Any] | None:
    """Return the object that a body holds as JSON, else None.

    A number that is not finite is refused: it could be read, but an answer that repeats it could
    not be written.
    """
    try:
        # As UTF-8 alone, because structure was counted in it: the parser would read other encodings
        # too.
        fields = json.loads(body.decode(), parse_constant=_parse_finite, parse_float=_parse_finite)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _parse_finite(number: str) -> float:
    """Return a finite number.

    Raise ValueError for NaN, infinity, and a number too large for a float.
    """
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is no number of JSON")
    return value
