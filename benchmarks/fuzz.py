"""10,000 hostile inputs: texts, events, links, addresses, pictures and calls, through the whole app
as a page or a script sends them.

Each gets a translation, a picture, or one sentence that says what is accepted. Any other outcome
counts as uncaught: a status of 500 and above, a connection or a stream that ends without an answer,
the sentence that admits a defect, a line of an error in the app's log. Refusals of any status
without a sentence are counted beside it.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.request import urlopen

import torch

from benchmarks.fuzz_inputs import (
    draw_body,
    draw_event,
    draw_file,
    draw_number,
    draw_path,
    draw_query,
    draw_text,
    list_files,
    list_pool,
    record_request,
)
from benchmarks.measure import Bound, Report
from benchmarks.sizes import size
from explorer.contract.lab import OpenLab
from explorer.contract.labels import DEFECT
from explorer.engine.records import went_wrong
from tests.support.visitors.recording import Recording, recorded
from tests.support.visitors.scripts import Endpoint, read_endpoints, read_refusal, write_call
from tests.support.visitors.served import prepared
from tests.support.visitors.small_app import LABS
from tests.support.visitors.visitor import Heard, Visitor, Wrong
from tests.support.visitors.wire import Reply

INPUTS, TOGETHER, SEED = size(10_000, 40), 16, 0
ANSWERED = "answered_call"  # a model's own work, of any lab, which may be long
# the page's sentence where the program is at fault
DEFECTS = (DEFECT["en"], went_wrong().text["en"])

Random = random.Random


@dataclass(frozen=True)
class Kind:
    """One way in: the inputs that come that way, and the function that sends them. `send` raises
    where the reply is no answer, and may name another kind of time."""

    make: Callable[[Random], Any]
    send: Callable[[Visitor, Any], Awaitable[str | None]]
    share: float  # of all inputs


class Silent(Exception):
    """The error for a refusal without a sentence."""


@dataclass
class Found:
    """The outcome of a run.

    worst: seconds, by kind.
    silent: refusals without a sentence.
    """

    sent: Counter[str] = field(default_factory=Counter)
    worst: dict[str, tuple[float, str]] = field(default_factory=dict)
    uncaught: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)


def measure(device: torch.device) -> Report:
    """Measure all kinds of inputs, some at a time, on one app."""
    with prepared() as served:
        recording = recorded(served.url)
        found = asyncio.run(send_inputs(served.url, recording))
        found.uncaught.update(served.defects())
        alive = served.get("/healthz")
    slowest = max(found.worst.keys() - {ANSWERED}, key=lambda name: found.worst[name][0])
    return Report.of(
        figures={
            "inputs": found.sent.total(),
            "uncaught": (found.uncaught.total() + (not alive), Bound(0)),
            "without_sentence": (found.silent.total(), Bound(0)),
            "worst_s": (found.worst[slowest][0], Bound(3)),
            **{f"worst_{name}_s": seconds for name, (seconds, _) in sorted(found.worst.items())},
        },
        notes={
            "inputs": ", ".join(f"{count:,} × {name}" for name, count in found.sent.most_common()),
            "slowest": f"{slowest}: {found.worst[slowest][1]}",
            **{
                f"uncaught {n}, {count} ×": what
                for n, (what, count) in enumerate(found.uncaught.most_common(5), 1)
            },
            **{
                f"without a sentence {n}, {count} ×": what
                for n, (what, count) in enumerate(found.silent.most_common(5), 1)
            },
        },
    )


async def send_inputs(
    url: str,
    recording: Recording,
    inputs: int = INPUTS,
    seed: int = SEED,
    labs: Sequence[OpenLab] = LABS,
) -> Found:
    """Send this many inputs, each of a kind drawn by its share.

    labs: those that the app has.
    """
    found = Found()
    draw = Random(seed)
    asked = [await record_request(url, recording, lab.path) for lab in labs]
    endpoints = await asyncio.to_thread(_endpoints, url)
    kinds = KINDS | {
        "number": Kind(partial(draw_number, asked), _send_number, 0.1),
        "call": Kind(partial(write_call, endpoints), _send_call, 0.15),
    }
    names = draw.choices(list(kinds), [kind.share for kind in kinds.values()], k=inputs)
    waiting = iter([(name, draw.getrandbits(64)) for name in names])
    # made in advance: drawn while others wait for their answers, they would count as the app's time
    list_pool(), list_files()

    async def work(place: int) -> None:
        # one address would exceed its rate
        visitor = Visitor(url, recording, f"127.0.0.{place + 2}")
        await visitor.open(held=True)
        for name, number in waiting:
            given = kinds[name].make(Random(number))
            began, timed = time.perf_counter(), name
            try:
                timed = await kinds[name].send(visitor, given) or name
            except Silent as error:
                found.silent[f"{name} {number}: {error}"[:300]] += 1
            except Exception as error:
                found.uncaught[f"{name} {number}: {type(error).__name__}: {error}"[:300]] += 1
            seconds = time.perf_counter() - began
            found.sent[name] += 1
            found.worst[timed] = max(
                found.worst.get(timed, (0.0, "")), (seconds, f"{number}, {_short(given)}")
            )
        visitor.leave()

    await asyncio.gather(*(work(place) for place in range(TOGETHER)))
    return found


# ---- how inputs are sent, and which answers count


def _check_answer(heard: Heard) -> None:
    """Raise unless an event's answer is a refusal at the door, or a value that the prompt can draw
    and that admits no defect."""
    for reply in heard.replies:
        _is_refused(reply)
        if reply.status >= 400:
            return
    boxes = [value for value in heard.values() if isinstance(value, dict) and "state" in value]
    if not boxes or boxes[0]["state"] not in {"live", "remembered", "stored", "refused"}:
        raise Wrong(f"no answer: {str(heard.values())[:200]}")
    for box in boxes:
        sentence = (box.get("error") or {}).get("en", "")
        if sentence in DEFECTS:
            raise Wrong(f"a defect: {sentence}")
        if box["state"] == "refused" and box is boxes[0] and not 10 < len(sentence) < 400:
            raise Wrong(f"refused with {sentence[:200]!r}")


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 100 else f"{text[:100]}… ({len(text):,} characters)"


def _is_refused(reply: Reply) -> None:
    if reply.status >= 500 and reply.status != 503:
        raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")
    if reply.status >= 400 and not _is_sentence(_sentence(reply)):
        raise Silent(f"status {reply.status}: {reply.body[:200]!r}")


def _sentence(reply: Reply) -> str:
    """Return the sentence of a refusal, in English."""
    text = reply.text()
    if not reply.headers.get("content-type", "").startswith("application/json"):
        return text
    error = json.loads(text).get("error")
    return str(error["en"] if isinstance(error, dict) else error or "")


def _is_sentence(text: str) -> bool:
    return len(text) > 10 and " " in text


async def _send_text(visitor: Visitor, text: str) -> None:
    _check_answer(await visitor.run(text))


async def _send_body(visitor: Visitor, body: bytes) -> None:
    _is_refused(await visitor.join(body))


async def _send_event(visitor: Visitor, detail: object) -> None:
    _check_answer(await visitor.wish(detail))


async def _send_number(visitor: Visitor, given: tuple[int, object]) -> None:
    event, detail = given
    heard = await visitor.wish(detail, event=event)
    _check_answer(heard)
    if not any(
        isinstance(value, dict) and value.get("state") == "refused" for value in heard.values()
    ):
        raise Wrong("a number with more digits than any request has was accepted")


def _endpoints(url: str) -> list[Endpoint]:
    """Return the endpoints that a site offers to scripts."""
    config, info = (
        urlopen(url + path, timeout=60).read() for path in ("/config", "/gradio_api/info")
    )
    return read_endpoints(config, info)


async def _send_call(visitor: Visitor, given: tuple[int, list[Any]]) -> str | None:
    heard = await visitor.call(*given)
    for reply in heard.replies:
        _is_refused(reply)
        if reply.status >= 400:
            return None
    last = json.loads(heard.events[-1].removeprefix(b"data: "))
    if last["msg"] != "process_completed":
        raise Wrong(f"no answer: {str(last)[:200]}")
    judge_outcome(last)
    return ANSWERED if last["success"] else None


def judge_outcome(message: Mapping[str, Any]) -> None:
    """Raise where an event's last message admits a defect, or refuses without a sentence."""
    sentence = read_refusal(message)
    if sentence is None:
        return
    if any(defect in sentence for defect in DEFECTS):
        raise Wrong(f"a defect: {sentence[:200]}")
    if not _is_sentence(sentence) or len(sentence) > 1_000:
        raise Silent(f"refused with {sentence[:200]!r}")


async def _send_link(visitor: Visitor, query: str) -> None:
    _check_answer(await visitor.follow(query))


async def _send_address(visitor: Visitor, path: str) -> None:
    reply = await visitor.look(path)
    _is_refused(reply)
    if reply.status not in {200, 204, 304, 400, 404, 414, 422}:
        raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")


async def _send_picture(visitor: Visitor, given: tuple[str, bytes]) -> None:
    path, data = given
    reply = await visitor.send(path, data)
    _is_refused(reply)
    told = json.loads(reply.text())
    sentence = told["picture"] if reply.status == 200 else told["error"]["en"]
    if reply.status not in {200, 413, 422, 503} or len(sentence) < 10 or sentence in DEFECTS:
        raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")


KINDS = {
    "text": Kind(draw_text, _send_text, 0.35),
    "event": Kind(draw_event, _send_event, 0.15),
    "body": Kind(draw_body, _send_body, 0.1),
    "link": Kind(draw_query, _send_link, 0.2),
    "address": Kind(draw_path, _send_address, 0.1),
    "picture": Kind(draw_file, _send_picture, 0.1),
}
