"""10,000 inputs that nobody means well: hostile texts, events, links, addresses and pictures, through the whole app as a page sends them.

Each gets a translation, a picture, or one sentence that says what is accepted. Uncaught is everything else: a status of 500 and above, a
connection or a stream that ends without an answer, the sentence that admits a defect, a line of an error in the app's log.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import random
import struct
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Any
from urllib.parse import quote, quote_plus

import torch
from PIL import Image

from benchmarks.measure import Bound, Report
from benchmarks.visitors.recording import Recording, events_of, record
from benchmarks.visitors.sentences import captions, stories
from benchmarks.visitors.served import Served
from benchmarks.visitors.visitor import Heard, Visitor, Wrong
from benchmarks.visitors.wire import Reply
from explorer.engine.records import went_wrong
from explorer.lab import Lab
from explorer.labels import DEFECT
from explorer.labs import LABS

INPUTS, TOGETHER, SEED = 10_000, 16, 0
DEFECTS = (DEFECT["en"], went_wrong().text["en"])  # what a page says where the program is at fault

Random = random.Random


@dataclass(frozen=True)
class Kind:
    """One way in: what comes that way, and how it is sent; `send` raises where the answer is none."""

    make: Callable[[Random], Any]
    send: Callable[[Visitor, Any], Awaitable[None]]
    share: float  # of all inputs


@dataclass
class Found:
    """What came of it. worst: seconds, by kind."""

    sent: Counter[str] = field(default_factory=Counter)
    worst: dict[str, tuple[float, str]] = field(default_factory=dict)
    uncaught: Counter[str] = field(default_factory=Counter)


def measure(device: torch.device) -> Report:
    """All kinds of inputs, some at a time, to one app."""
    with Served() as served:
        served.prepare()
        recording = record(served.url)
        found = asyncio.run(fuzzed(served.url, recording))
        found.uncaught.update(served.defects())
        alive = served.get("/healthz")
    slowest = max(found.worst, key=lambda name: found.worst[name][0])
    return Report.of(
        figures={
            "inputs": found.sent.total(),
            "uncaught": (found.uncaught.total() + (not alive), Bound(0)),
            "worst_s": (found.worst[slowest][0], Bound(3)),
            **{f"worst_{name}_s": seconds for name, (seconds, _) in sorted(found.worst.items())},
        },
        notes={
            "inputs": ", ".join(f"{count:,} × {name}" for name, count in found.sent.most_common()),
            "slowest": f"{slowest}: {found.worst[slowest][1]}",
            **{f"uncaught {n}, {count} ×": what for n, (what, count) in enumerate(found.uncaught.most_common(5), 1)},
        },
    )


async def fuzzed(url: str, recording: Recording, inputs: int = INPUTS, seed: int = SEED, labs: Sequence[Lab] = LABS) -> Found:
    """Send so many inputs, each of a kind drawn by its share. labs: those that the app has."""
    found = Found()
    draw = Random(seed)
    asked = [await _request(url, recording, lab.path) for lab in labs]
    kinds = KINDS | {"number": Kind(partial(_number, asked), _send_number, 0.1)}
    names = draw.choices(list(kinds), [kind.share for kind in kinds.values()], k=inputs)
    waiting = iter([(name, draw.getrandbits(64)) for name in names])
    _pool(), _files()  # made now: drawn while others wait for their answers, they would count as the app's time

    async def work() -> None:
        visitor = Visitor(url, recording)
        await visitor.open(held=True)
        for name, number in waiting:
            given = kinds[name].make(Random(number))
            began = time.perf_counter()
            try:
                await kinds[name].send(visitor, given)
            except Exception as error:
                found.uncaught[f"{name} {number}: {type(error).__name__}: {error}"[:300]] += 1
            seconds = time.perf_counter() - began
            found.sent[name] += 1
            found.worst[name] = max(found.worst.get(name, (0.0, "")), (seconds, f"{number}, {_short(given)}"))
        visitor.leave()

    await asyncio.gather(*(work() for _ in range(TOGETHER)))
    return found


# ---- how it is sent, and what an answer is -------------------------------------------------------------------------------------------


def _said(heard: Heard) -> None:
    """An event's answer: refused at the door, or a value that the prompt can draw and that admits no defect."""
    for reply in heard.replies:
        _refused(reply)
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


def _refused(reply: Reply) -> None:
    if reply.status >= 500 and reply.status != 503:
        raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")


async def _send_text(visitor: Visitor, text: str) -> None:
    _said(await visitor.run(text))


async def _send_body(visitor: Visitor, body: bytes) -> None:
    _refused(await visitor.join(body))


async def _send_event(visitor: Visitor, detail: object) -> None:
    _said(await visitor.wish(detail))


async def _send_number(visitor: Visitor, given: tuple[int, object]) -> None:
    event, detail = given
    heard = await visitor.wish(detail, event=event)
    _said(heard)
    if not any(isinstance(value, dict) and value.get("state") == "refused" for value in heard.values()):
        raise Wrong("a number of more digits than any request has was taken")


async def _send_link(visitor: Visitor, query: str) -> None:
    _said(await visitor.follow(query))


async def _send_address(visitor: Visitor, path: str) -> None:
    reply = await visitor.look(path)
    if reply.status not in {200, 204, 304, 400, 404, 414, 422}:
        raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")


async def _send_picture(visitor: Visitor, given: tuple[str, bytes]) -> None:
    path, data = given
    reply = await visitor.send(path, data)
    _refused(reply)
    told = json.loads(reply.text())
    sentence = told["picture"] if reply.status == 200 else told["error"]["en"]
    if reply.status not in {200, 413, 422, 503} or len(sentence) < 10 or sentence in DEFECTS:
        raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")


# ---- texts ---------------------------------------------------------------------------------------------------------------------------

BAITS: tuple[str, ...] = (
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</script><svg/onload=alert(1)>", "{{7*7}}", "${7*7}"),
    *("{0.__class__}", "%s%n%x", "'; DROP TABLE users; --", "../../../../etc/passwd", "..\\..\\windows\\win.ini"),
    *("file:///etc/passwd", "http://169.254.169.254/latest/", "\r\nSet-Cookie: a=b", "data: {}\n\n", "event: x\n\n", "NaN"),
    *("Infinity", "-0", "1e999", "null", "undefined", "true", "[]", "{}", '{"__type__": "update"}', "__proto__", "constructor"),
    *("\ufeff", "\ufdfa" * 200, "\u202e dlrow \u202c", "\u2066\u2067\u2068", "\u200b" * 500, "e\u0301" * 300),
    *("Z" + "\u0336\u0489" * 400, "👩‍👩‍👧‍👦" * 50, "🏳️‍🌈🇩🇪", "نص عربي طويل", "מבחן", "你好世界" * 30, "ไทย" * 40, "ﷺ", "\x00"),
    *("\x1b[31m", "\x7f\x80\x9f", "\ud800", "\udfff\ud800", "\U0010ffff", "\ue000" * 20, "a" * 1_999, "a " * 999, "a" * 2_001),
    *("word " * 5_000, ".", " ", "\t\n\r", "", "?" * 1_500, "the " * 60, "<unk>", "<s> </s>", "▁", "Ġ", "[MASK]"),
)


@cache
def _pool() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Captions, and sentences as long as is read."""
    return tuple(islice(captions(5), 2_000)), tuple(islice(stories(5), 500))


def _text(draw: Random) -> str:
    """A text that is no caption, or a caption that something happened to."""
    match draw.randrange(8):
        case 0:
            return draw.choice(BAITS)
        case 1:
            return "".join(draw.choice(BAITS) for _ in range(draw.randrange(1, 6)))
        case 2:  # any characters of any plane, half a surrogate pair among them
            return "".join(chr(draw.randrange(0x110000 if draw.random() < 0.3 else 0x250)) for _ in range(draw.randrange(1, 120)))
        case 3:  # more than is read
            return draw.choice(("a", "word ", "🙂", "\u0301", "\n", "猫")) * draw.randrange(1, draw.choice((2_000, 20_000, 200_000)))
        case 4:  # as long as is read, the dearest to compute
            return draw.choice(_pool()[1])
    caption = list(draw.choice(_pool()[0]))
    for _ in range(draw.randrange(1, 8)):
        place = draw.randrange(len(caption) + 1)
        caption[place : place + draw.randrange(3)] = draw.choice(BAITS)[: draw.randrange(1, 40)]
    return "".join(caption)


# ---- events, bodies, links, addresses --------------------------------------------------------------------------------------------------

ABSURD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 8, 9, 99, 10**30, -(10**30), 0.5, 1e308, float("nan"), float("inf")),
    *("", "4", "NaN", "\ud800", "__proto__", {"sentence": "A dog."}, [{"__type__": "update"}], {}),
    *([], [[]], [None], [["encoder", 0, 0]], [["encoder", 99, 0]], [["", -1, "x"]], [["cross", 0]], [["decoder", 1.5, True]]),
    *([["cross", 3, 5]] * 5_000, [0], [-1], list(range(60)), [10**12], ["0"], [True]),
)


def _event(draw: Random) -> Any:
    """What the page would never send for a run: values of no sense, parts that lack, things of another kind."""
    usual: dict[str, Any] = {"sentence": draw.choice(_pool()[0]), "beam": "1", "alpha": "0.6", "silenced": "", "hidden": "", "without": ""}
    match draw.randrange(5):
        case 0:
            return draw.choice(ABSURD)
        case 1:
            return {"query": draw.choice(ABSURD), "set": usual}
        case 2:
            fields = {name: value for name, value in usual.items() if draw.random() < 0.7}
        case 3:
            fields = usual | {"sentence": _text(draw), "beam": str(draw.randrange(1, 9)), "alpha": f"{draw.random() * 2}"}
            fields |= {"extra": draw.choice(ABSURD)} if draw.random() < 0.5 else {}
        case _:
            fields = usual | {draw.choice(list(usual)): draw.choice(ABSURD) for _ in range(draw.randrange(1, 4))}
    return {"query": "", "set": fields}


HUGE = (2**63, -(2**63) - 1, 10**30, -(10**30), 10**400, 1e30)


async def _request(url: str, recording: Recording, path: str) -> tuple[int, dict[str, Any]]:
    """What a lab's page sends to have its first example run: the number of the event, and the request."""
    events = await asyncio.to_thread(events_of, url + path)
    visitor = Visitor(url, recording)
    visitor.name()
    drawn = (await visitor.wish({"query": ""}, event=events["ask"])).values()
    visitor.leave()
    value = next(value for value in drawn if isinstance(value, dict) and "fields" in value)
    # The page sends fields as texts; it is sent numbers, which is no form that it knows.
    return events["ask"], {"query": "", "set": {name: int(text) for name, text in value["fields"].items() if text.lstrip("-").isdigit()}}


def _number(asked: list[tuple[int, dict[str, Any]]], draw: Random) -> tuple[int, Any]:
    """A request of any lab, one whole number in it beyond 64 bits."""
    event, request = draw.choice(asked)
    return event, {**request, "set": {**request["set"], draw.choice(list(request["set"])): draw.choice(HUGE)}}


def _body(draw: Random) -> bytes:
    """What is no event of a page at all."""
    whole = json.dumps({"data": [], "event_data": {"query": ""}, "fn_index": 0, "trigger_id": 11, "session_hash": "somebody"}).encode()
    match draw.randrange(6):
        case 0:
            return draw.randbytes(draw.randrange(400))
        case 1:
            return whole[: draw.randrange(len(whole))]
        case 2:  # one byte is another
            place = draw.randrange(len(whole))
            return whole[:place] + draw.randbytes(1) + whole[place + 1 :]
        case 3:
            depth = draw.choice((10, 900, 5_000, 200_000))
            return b"[" * depth + b"]" * depth if draw.random() < 0.5 else b'{"data":' * depth + b"0" + b"}" * depth
        case 4:
            return b'{"data":[],"fn_index":' + b"9" * draw.choice((1, 20, 5_000, 100_000)) + b',"session_hash":"somebody"}'
    told = json.loads(whole) | {draw.choice(("data", "event_data", "fn_index", "trigger_id", "session_hash")): draw.choice(ABSURD)}
    return json.dumps(told).encode()


def _query(draw: Random) -> str:
    """A link that nobody copied."""
    sentence = quote_plus(draw.choice(_pool()[0]) if draw.random() < 0.5 else _text(draw)[:3_000], errors="replace")
    match draw.randrange(7):
        case 0:  # what unpacks to very much
            packed = zlib.compress(draw.choice((b"a", b"word ", b"\0")) * draw.choice((10, 400, 100_000, 4_000_000)), 9)
            return "v=1&sentence.z=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
        case 1:
            return "v=1&sentence.z=" + "".join(draw.choice("abcXYZ019-_=+/%") for _ in range(draw.randrange(200)))
        case 2:
            keys = ("beam", "alpha", "silenced", "hidden", "v", "sentence", "step", "_head", "lang", "x", "")
            absurd = [quote_plus(str(value)[:5_000], errors="replace") for value in ABSURD]
            return "&".join(f"{draw.choice(keys)}={draw.choice(absurd)}" for _ in range(draw.randrange(80)))
        case 3:
            return _text(draw)[: draw.choice((50, 5_000, 50_000))]
        case 4:
            return f"v=1&sentence={sentence}&beam=" + draw.choice(("8", "1e3", "٣", "0x8", "-1", " 4", "4.0", "9" * 5_000))
        case 5:
            kinds = ("encoder", "cross", "x", "")
            heads = ",".join(f"{draw.choice(kinds)}.{draw.randrange(-3, 12)}.{draw.randrange(12)}" for _ in range(draw.randrange(40)))
            hidden = ",".join(map(str, range(draw.randrange(70))))
            return f"v=1&sentence={sentence}&silenced={heads}&hidden={hidden}"
    whole = f"v=1&sentence={sentence}&beam=4&alpha=1.0&silenced=cross.2.4"
    place = draw.randrange(len(whole))
    return whole[:place] + draw.choice(("%", "%00", "%ff", "&", "=", "+", "%u0041", "#", "\x00", "é")) + whole[place + draw.randrange(3) :]


STARTS = (
    *("/", "/translation", "/assets/", "/ui/", "/stored/", "/arrays/", "/frames/", "/qr?text=", "/proxy="),
    *("/gradio_api/file=", "/gradio_api/queue/data", "/gradio_api/app_id"),
)
TAILS = (
    *("../" * 8 + "etc/passwd", "..%2f" * 8 + "etc/passwd", "%2e%2e/" * 5, "..%255c" * 4, "\\..\\..", "%00"),
    *("//evil.example/", "/etc/passwd", "a" * 20_000),
)


def _path(draw: Random) -> str:
    """An address where nothing is, or that is too much."""
    text = _text(draw)[:500]
    return draw.choice(STARTS) + draw.choice((*TAILS, quote(text, errors="replace"), "?" + quote(text, safe="&=/", errors="replace")))


# ---- pictures ------------------------------------------------------------------------------------------------------------------------

FORMATS = (
    *(("PNG", "L"), ("PNG", "RGBA"), ("PNG", "P"), ("PNG", "I;16")),
    *(("JPEG", "RGB"), ("JPEG", "CMYK"), ("WEBP", "RGB"), ("GIF", "P"), ("TIFF", "RGB")),
)
NO_PICTURES = (b"", b"%PDF-1.7", b"<svg onload='alert(1)'/>", b"<html><script>alert(1)</script>", b"PK\x03\x04")


@cache
def _files() -> tuple[bytes, ...]:
    """Pictures as they should be, some of them of the greatest size, and files that are no pictures."""
    made = []
    for name, mode in FORMATS:
        for size in ((28, 28), (1, 1), (8, 80), (640, 480), (4_000, 4_000)):
            if name in {"GIF", "TIFF"} and size[0] > 1_000:
                continue
            drawn = Image.effect_noise(size, 90) if size[0] < 1_000 else Image.new("L", size, 200)
            file = io.BytesIO()
            (drawn.convert("I").convert(mode) if mode == "I;16" else drawn.convert(mode)).save(file, name)
            made.append(file.getvalue())
    frames = [Image.new("RGB", (64, 64), (shade, 0, 0)) for shade in range(0, 250, 5)]
    for name in ("WEBP", "PNG", "GIF"):
        file = io.BytesIO()
        frames[0].save(file, name, save_all=True, append_images=frames[1:])
        made.append(file.getvalue())
    return (*made, *NO_PICTURES)


def _file(draw: Random) -> tuple[str, bytes]:
    """A picture that something happened to, and where it is sent."""
    data = draw.choice(_files())
    match draw.randrange(6):
        case 0:  # cut off
            data = data[: draw.randrange(len(data) + 1)]
        case 1:  # some bytes are others
            changed = bytearray(data)
            for _ in range(draw.randrange(1, 20)):
                if changed:
                    changed[draw.randrange(min(len(changed), draw.choice((64, 1 << 30))))] = draw.randrange(256)
            data = bytes(changed)
        case 2:  # a header that asks for very much memory
            width, height = draw.choice((1, 60_000, 2**31 - 1)), draw.choice((0, 8_000, 60_000))
            header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, draw.choice((0, 2, 6, 9)), 0, 0, 0)
            data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + data[33:]
        case 3:
            data = data[:12] + draw.randbytes(draw.choice((100, 5_000, 6 << 20)))
        case 4:
            data = data + draw.choice(_files())
    return draw.choice(("/picture/grey", "/picture/colour")), data


KINDS = {
    "text": Kind(_text, _send_text, 0.35),
    "event": Kind(_event, _send_event, 0.15),
    "body": Kind(_body, _send_body, 0.1),
    "link": Kind(_query, _send_link, 0.2),
    "address": Kind(_path, _send_address, 0.1),
    "picture": Kind(_file, _send_picture, 0.1),
}
