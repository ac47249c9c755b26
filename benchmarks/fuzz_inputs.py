"""Hostile inputs, drawn at random: texts, events, request bodies, links, addresses, pictures."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import random
import struct
import zlib
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import quote, quote_plus

from PIL import Image

from benchmarks.sizes import size
from tests.support.visitors.recording import Recording, events_of
from tests.support.visitors.sentences import captions, stories
from tests.support.visitors.visitor import Visitor

GREATEST = size(4_000, 800)  # rows and columns of a picture

Random = random.Random


# ---- texts

BAITS: tuple[str, ...] = (
    *(
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</script><svg/onload=alert(1)>",
        "{{7*7}}",
        "${7*7}",
    ),
    *(
        "{0.__class__}",
        "%s%n%x",
        "'; DROP TABLE users; --",
        "../../../../etc/passwd",
        "..\\..\\windows\\win.ini",
    ),
    *(
        "file:///etc/passwd",
        "http://169.254.169.254/latest/",
        "\r\nSet-Cookie: a=b",
        "data: {}\n\n",
        "event: x\n\n",
        "NaN",
    ),
    *(
        "Infinity",
        "-0",
        "1e999",
        "null",
        "undefined",
        "true",
        "[]",
        "{}",
        '{"__type__": "update"}',
        "__proto__",
        "constructor",
    ),
    *(
        "\ufeff",
        "\ufdfa" * 200,
        "\u202e dlrow \u202c",
        "\u2066\u2067\u2068",
        "\u200b" * 500,
        "e\u0301" * 300,
    ),
    *(
        "Z" + "\u0336\u0489" * 400,
        "👩‍👩‍👧‍👦" * 50,
        "🏳️‍🌈🇩🇪",
        "نص عربي طويل",
        "מבחן",
        "你好世界" * 30,
        "ไทย" * 40,
        "ﷺ",
        "\x00",
    ),
    *(
        "\x1b[31m",
        "\x7f\x80\x9f",
        "\ud800",
        "\udfff\ud800",
        "\U0010ffff",
        "\ue000" * 20,
        "a" * 1_999,
        "a " * 999,
        "a" * 2_001,
    ),
    *(
        "word " * 5_000,
        ".",
        " ",
        "\t\n\r",
        "",
        "?" * 1_500,
        "the " * 60,
        "<unk>",
        "<s> </s>",
        "▁",
        "Ġ",
        "[MASK]",
    ),
)


@cache
def list_pool() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return captions, and sentences of the greatest length that is read."""
    return tuple(islice(captions(5), 2_000)), tuple(islice(stories(5), 500))


def draw_text(draw: Random) -> str:
    """Return a text that is no caption, or a changed caption."""
    match draw.randrange(8):
        case 0:
            return draw.choice(BAITS)
        case 1:
            return "".join(draw.choice(BAITS) for _ in range(draw.randrange(1, 6)))
        case 2:  # any characters of any plane, half a surrogate pair among them
            return "".join(
                chr(draw.randrange(0x110000 if draw.random() < 0.3 else 0x250))
                for _ in range(draw.randrange(1, 120))
            )
        case 3:  # more than is read
            return draw.choice(("a", "word ", "🙂", "\u0301", "\n", "猫")) * draw.randrange(
                1, draw.choice((2_000, 20_000, 200_000))
            )
        case 4:  # of the greatest length that is read, the most expensive to compute
            return draw.choice(list_pool()[1])
    caption = list(draw.choice(list_pool()[0]))
    for _ in range(draw.randrange(1, 8)):
        place = draw.randrange(len(caption) + 1)
        caption[place : place + draw.randrange(3)] = draw.choice(BAITS)[: draw.randrange(1, 40)]
    return "".join(caption)


# ---- events, bodies, links, addresses

ABSURD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        8,
        9,
        99,
        10**30,
        -(10**30),
        0.5,
        1e308,
        float("nan"),
        float("inf"),
    ),
    *("", "4", "NaN", "\ud800", "__proto__", {"sentence": "A dog."}, [{"__type__": "update"}], {}),
    *(
        [],
        [[]],
        [None],
        [["encoder", 0, 0]],
        [["encoder", 99, 0]],
        [["", -1, "x"]],
        [["cross", 0]],
        [["decoder", 1.5, True]],
    ),
    *([["cross", 3, 5]] * 5_000, [0], [-1], list(range(60)), [10**12], ["0"], [True]),
)


def draw_event(draw: Random) -> Any:
    """Return an event that the page would never send for a run: values without sense, missing
    parts, values of another kind."""
    usual: dict[str, Any] = {
        "sentence": draw.choice(list_pool()[0]),
        "beam": "1",
        "alpha": "0.6",
        "silenced": "",
        "hidden": "",
        "without": "",
    }
    match draw.randrange(5):
        case 0:
            return draw.choice(ABSURD)
        case 1:
            return {"query": draw.choice(ABSURD), "set": usual}
        case 2:
            fields = {name: value for name, value in usual.items() if draw.random() < 0.7}
        case 3:
            fields = usual | {
                "sentence": draw_text(draw),
                "beam": str(draw.randrange(1, 9)),
                "alpha": f"{draw.random() * 2}",
            }
            fields |= {"extra": draw.choice(ABSURD)} if draw.random() < 0.5 else {}
        case _:
            fields = usual | {
                draw.choice(list(usual)): draw.choice(ABSURD) for _ in range(draw.randrange(1, 4))
            }
    return {"query": "", "set": fields}


HUGE = (2**63, -(2**63) - 1, 10**30, -(10**30), 10**400, 1e30)


async def record_request(url: str, recording: Recording, path: str) -> tuple[int, dict[str, Any]]:
    """Return the page's request for a lab's first example: the number of the event, and the
    request."""
    events = await asyncio.to_thread(events_of, url + path)
    visitor = Visitor(url, recording)
    visitor.name()
    drawn = (await visitor.wish({"query": ""}, event=events["ask"])).values()
    visitor.leave()
    value = next(value for value in drawn if isinstance(value, dict) and "fields" in value)
    # The page sends fields as texts. Here they are numbers, a form that it does not know.
    return events["ask"], {
        "query": "",
        "set": {
            name: int(text) for name, text in value["fields"].items() if text.lstrip("-").isdigit()
        },
    }


def draw_number(asked: list[tuple[int, dict[str, Any]]], draw: Random) -> tuple[int, Any]:
    """Return a request of any lab, with one whole number in it beyond 64 bits."""
    event, request = draw.choice(asked)
    return event, {
        **request,
        "set": {**request["set"], draw.choice(list(request["set"])): draw.choice(HUGE)},
    }


def draw_body(draw: Random) -> bytes:
    """Return a body that is no event of a page at all."""
    whole = json.dumps(
        {
            "data": [],
            "event_data": {"query": ""},
            "fn_index": 0,
            "trigger_id": 11,
            "session_hash": "somebody",
        }
    ).encode()
    match draw.randrange(6):
        case 0:
            return draw.randbytes(draw.randrange(400))
        case 1:
            return whole[: draw.randrange(len(whole))]
        case 2:  # one byte is changed
            place = draw.randrange(len(whole))
            return whole[:place] + draw.randbytes(1) + whole[place + 1 :]
        case 3:
            depth = draw.choice((10, 900, 5_000, 200_000))
            return (
                b"[" * depth + b"]" * depth
                if draw.random() < 0.5
                else b'{"data":' * depth + b"0" + b"}" * depth
            )
        case 4:
            return (
                b'{"data":[],"fn_index":'
                + b"9" * draw.choice((1, 20, 5_000, 100_000))
                + b',"session_hash":"somebody"}'
            )
    told = json.loads(whole) | {
        draw.choice(("data", "event_data", "fn_index", "trigger_id", "session_hash")): draw.choice(
            ABSURD
        )
    }
    return json.dumps(told).encode()


def draw_query(draw: Random) -> str:
    """Return a link that no page has written."""
    sentence = quote_plus(
        draw.choice(list_pool()[0]) if draw.random() < 0.5 else draw_text(draw)[:3_000],
        errors="replace",
    )
    match draw.randrange(7):
        case 0:  # a text that unpacks to a very long one
            packed = zlib.compress(
                draw.choice((b"a", b"word ", b"\0")) * draw.choice((10, 400, 100_000, 4_000_000)), 9
            )
            return "v=1&sentence.z=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
        case 1:
            return "v=1&sentence.z=" + "".join(
                draw.choice("abcXYZ019-_=+/%") for _ in range(draw.randrange(200))
            )
        case 2:
            keys = (
                "beam",
                "alpha",
                "silenced",
                "hidden",
                "v",
                "sentence",
                "step",
                "_head",
                "lang",
                "x",
                "",
            )
            absurd = [quote_plus(str(value)[:5_000], errors="replace") for value in ABSURD]
            return "&".join(
                f"{draw.choice(keys)}={draw.choice(absurd)}" for _ in range(draw.randrange(80))
            )
        case 3:
            return draw_text(draw)[: draw.choice((50, 5_000, 50_000))]
        case 4:
            return f"v=1&sentence={sentence}&beam=" + draw.choice(
                ("8", "1e3", "٣", "0x8", "-1", " 4", "4.0", "9" * 5_000)
            )
        case 5:
            kinds = ("encoder", "cross", "x", "")
            heads = ",".join(
                f"{draw.choice(kinds)}.{draw.randrange(-3, 12)}.{draw.randrange(12)}"
                for _ in range(draw.randrange(40))
            )
            hidden = ",".join(map(str, range(draw.randrange(70))))
            return f"v=1&sentence={sentence}&silenced={heads}&hidden={hidden}"
    whole = f"v=1&sentence={sentence}&beam=4&alpha=1.0&silenced=cross.2.4"
    place = draw.randrange(len(whole))
    return (
        whole[:place]
        + draw.choice(("%", "%00", "%ff", "&", "=", "+", "%u0041", "#", "\x00", "é"))
        + whole[place + draw.randrange(3) :]
    )


STARTS = (
    *(
        "/",
        "/translation",
        "/assets/",
        "/ui/",
        "/stored/",
        "/arrays/",
        "/frames/",
        "/qr?text=",
        "/proxy=",
    ),
    *("/gradio_api/file=", "/gradio_api/queue/data", "/gradio_api/app_id"),
)
TAILS = (
    *(
        "../" * 8 + "etc/passwd",
        "..%2f" * 8 + "etc/passwd",
        "%2e%2e/" * 5,
        "..%255c" * 4,
        "\\..\\..",
        "%00",
    ),
    *("//evil.example/", "/etc/passwd", "a" * 20_000),
)


def draw_path(draw: Random) -> str:
    """Return an address with no page behind it, or one that is too long."""
    text = draw_text(draw)[:500]
    return draw.choice(STARTS) + draw.choice(
        (*TAILS, quote(text, errors="replace"), "?" + quote(text, safe="&=/", errors="replace"))
    )


# ---- pictures

FORMATS = (
    *(("PNG", "L"), ("PNG", "RGBA"), ("PNG", "P"), ("PNG", "I;16")),
    *(("JPEG", "RGB"), ("JPEG", "CMYK"), ("WEBP", "RGB"), ("GIF", "P"), ("TIFF", "RGB")),
)
NO_PICTURES = (
    b"",
    b"%PDF-1.7",
    b"<svg onload='alert(1)'/>",
    b"<html><script>alert(1)</script>",
    b"PK\x03\x04",
)


@cache
def list_files() -> tuple[bytes, ...]:
    """Return correct pictures, some of them of the greatest size, and files that are no
    pictures."""
    made = []
    for name, mode in FORMATS:
        for shape in ((28, 28), (1, 1), (8, 80), (640, 480), (GREATEST, GREATEST)):
            if name in {"GIF", "TIFF"} and shape[0] > 1_000:
                continue
            drawn = (
                Image.effect_noise(shape, 90) if shape[0] < 1_000 else Image.new("L", shape, 200)
            )
            file = io.BytesIO()
            (drawn.convert("I").convert(mode) if mode == "I;16" else drawn.convert(mode)).save(
                file, name
            )
            made.append(file.getvalue())
    frames = [Image.new("RGB", (64, 64), (shade, 0, 0)) for shade in range(0, 250, 5)]
    for name in ("WEBP", "PNG", "GIF"):
        file = io.BytesIO()
        frames[0].save(file, name, save_all=True, append_images=frames[1:])
        made.append(file.getvalue())
    return (*made, *NO_PICTURES)


def draw_file(draw: Random) -> tuple[str, bytes]:
    """Return a damaged picture, and the address that it is sent to."""
    data = draw.choice(list_files())
    match draw.randrange(6):
        case 0:  # cut off
            data = data[: draw.randrange(len(data) + 1)]
        case 1:  # some bytes are changed
            changed = bytearray(data)
            for _ in range(draw.randrange(1, 20)):
                if changed:
                    changed[draw.randrange(min(len(changed), draw.choice((64, 1 << 30))))] = (
                        draw.randrange(256)
                    )
            data = bytes(changed)
        case 2:  # a header that requests very much memory
            width, height = draw.choice((1, 60_000, 2**31 - 1)), draw.choice((0, 8_000, 60_000))
            header = b"IHDR" + struct.pack(
                ">IIBBBBB", width, height, 8, draw.choice((0, 2, 6, 9)), 0, 0, 0
            )
            data = (
                b"\x89PNG\r\n\x1a\n"
                + struct.pack(">I", 13)
                + header
                + struct.pack(">I", zlib.crc32(header))
                + data[33:]
            )
        case 3:
            data = data[:12] + draw.randbytes(draw.choice((100, 5_000, 6 << 20)))
        case 4:
            data = data + draw.choice(list_files())
    return draw.choice(("/picture/grey", "/picture/colour")), data
