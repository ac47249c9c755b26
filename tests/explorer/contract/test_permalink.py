"""Links carry every request there and back, and answer nonsense with one sentence."""

from __future__ import annotations

import base64
import random
import zlib
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import pytest

from explorer.contract import permalink
from models.act_rnn.records import Request
from models.explaining.errors import InputError


@dataclass(frozen=True)
class Wish:
    """A request with a field of every type that an address carries."""

    sentence: str
    beam: int = 1
    alpha: float = 0.6
    sample: bool = False
    pattern: Literal["strided", "fixed"] = "strided"
    silenced: tuple[tuple[str, int, int], ...] = ()
    hidden: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    box: tuple[float, float] | None = None


HOSTILE = [
    *(
        "</script><img src=x onerror=alert(1)>",
        "a&beam=99&sentence=b#c?d=e",
        "100 % + 1 = 2; “x”, y.z",
        "\u202eabc\u202c שלום مرحبا",
    ),
    *("👩🏽‍🚀👨‍👩‍👧‍👦", "零\t一\n二\r三", "\x00\x01\x7f", "", " ", "%2C%2E%25", "__class__"),
]
POOLS = [
    *(
        "&=?#%+;,./\\<>\"' ",
        "abcdefghij",
        "äöüßéñ",
        "查询语言模型",
        "שלום",
        "👍🏽🤷‍♀️",
        "\u0000\u0007\u200b\ufeff\u202e",
    ),
    "\U0001d54f\U000e0041",
]


def sentence(draw: random.Random, length: int) -> str:
    """Characters from all over Unicode, those of markup and of addresses among them."""
    return "".join(draw.choice(draw.choice(POOLS)) for _ in range(length))


def wish(draw: random.Random) -> Wish:
    """Any request that an address can carry."""
    return Wish(
        sentence(draw, draw.choice([0, 1, 5, 40, 200])),
        draw.randint(-(10**14), 10**14),
        draw.choice([0.0, -0.5, 1e-7, 1 / 3, 123456.789, 2.5e10]),
        draw.random() < 0.5,
        draw.choice(["strided", "fixed"]),
        tuple(
            (sentence(draw, 3) or "x", draw.randint(0, 99), draw.randint(0, 99))
            for _ in range(draw.randint(0, 4))
        ),
        tuple(draw.randint(0, 99) for _ in range(draw.randint(0, 4))),
        tuple(sentence(draw, 4) or "x" for _ in range(draw.choice([0, 2, 3]))),
        draw.choice([None, (0.25, 1.0)]),
    )


def test_every_request_comes_back_from_its_link() -> None:
    for seed in range(300):
        asked = wish(random.Random(seed))
        query = permalink.encode(asked)
        assert query.isascii() and not set(query) & set("<>\"'# \n"), seed
        assert permalink.decode(Wish, query) == (asked, None), seed


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_come_back_unchanged_and_say_nothing_else(text: str) -> None:
    query = permalink.encode(Wish(text))
    assert permalink.decode(Wish, query) == (Wish(text), None)
    assert not set(query) & set("<>\"'# \n")


def test_a_link_names_only_what_differs_from_the_defaults() -> None:
    assert permalink.encode(Wish("A dog runs.")) == "v=1&sentence=A+dog+runs."
    asked = Wish("A dog runs.", beam=4, silenced=(("cross", 2, 4), ("encoder", 0, 1)))
    assert (
        permalink.encode(asked) == "v=1&sentence=A+dog+runs.&beam=4&silenced=cross.2.4,encoder.0.1"
    )


def test_a_link_survives_being_written_again_by_the_browser() -> None:
    asked = Wish("Zwei Männer, 3 % + x", silenced=(("cross", 2, 4),), hidden=(1, 2))
    rewritten = urlencode(parse_qsl(permalink.encode(asked), keep_blank_values=True))
    assert permalink.decode(Wish, rewritten)[0] == asked


def test_what_belongs_to_the_view_is_passed_over() -> None:
    query = (
        permalink.encode(Wish("A dog.")) + "&_head=3.5&_row=9&step=2&lecture=1&lang=zh&__theme=dark"
    )
    assert permalink.decode(Wish, query) == (Wish("A dog."), None)


def test_a_long_text_travels_compressed() -> None:
    long = Wish("Zwei junge Männer im Freien. " * 300)
    query = permalink.encode(long)
    assert len(query) < 600 and permalink.decode(Wish, query)[0] == long
    draw = random.Random(0)
    with pytest.raises(permalink.LinkTooLong, match="2,048") as caught:
        permalink.encode(Wish("".join(chr(draw.randint(0x4E00, 0x9FFF)) for _ in range(3000))))
    assert "2,048" in caught.value.text["zh"]


def test_unknown_keys_are_named_and_left_out() -> None:
    asked, notice = permalink.decode(Wish, "v=1&sentence=A+dog.&colour=red&speed=9")
    assert asked == Wish("A dog.")
    assert (
        notice is not None
        and "“colour”, “speed”" in notice["en"]
        and "“colour”、“speed”" in notice["zh"]
    )
    _, notice = permalink.decode(
        Wish, "sentence=a&" + "&".join(f"k{i}\u202e\x00{'y' * 99}=1" for i in range(50))
    )
    assert (
        notice is not None
        and "47 more" in notice["en"]
        and len(notice["en"]) < 300
        and notice["en"].isprintable()
    )


@pytest.mark.parametrize(
    ("query", "named"),
    [
        *(
            ("beam=2", "sentence"),
            ("sentence=a&sentence=b", "twice"),
            ("v=2&sentence=a", "version 2"),
            ("v=&sentence=a", "version"),
        ),
        *(
            ("v=<b>&sentence=a", "<b>"),
            ("sentence.z=%%%", "cannot be read"),
            ("sentence.z=", "cannot be read"),
        ),
        *(
            ("sentence.z=eJw", "cannot be read"),
            ("&".join(f"a{i}=1" for i in range(200)), "64"),
            ("sentence=" + "a" * 20_000, "20,009"),
        ),
        *((f"sentence=a&beam={beam}", beam[:3]) for beam in ("two", "1.5", "٣", "9" * 5000)),
        *((f"sentence=a&beam={beam}", "whole number") for beam in ("", "%00%0a")),
        *((f"sentence=a&alpha={alpha}", alpha) for alpha in ("nan", "inf", "1e999", "0x10")),
        *(("sentence=a&sample=maybe", "0 or 1"), ("sentence=a&pattern=cubic", "strided, fixed")),
        *(
            (f"sentence=a&silenced={heads}", "list")
            for heads in ("cross.2", "cross.2.4.6", "cross.2.x")
        ),
        *(
            (f"sentence=a&hidden={words}", "list")
            for words in ("1,,2", ",".join("1" for _ in range(600)))
        ),
        # A bomb is not unpacked.
        (
            "sentence.z="
            + base64.urlsafe_b64encode(zlib.compress(b"a" * 8_000_000, 9)).decode().rstrip("="),
            "cannot be read",
        ),
    ],
)
def test_an_absurd_link_gets_one_sentence_that_names_it(query: str, named: str) -> None:
    with pytest.raises(InputError) as caught:
        permalink.decode(Wish, query)
    assert named in caught.value.text["en"]
    assert all(
        told and len(told) < 300 and told.isprintable() for told in caught.value.text.values()
    )


def test_random_queries_are_read_or_refused() -> None:
    keys = [*Wish.__dataclass_fields__, "v", "_head", "step", "sentence.z", "sentence", "sentence"]
    for seed in range(300):
        draw = random.Random(seed)
        pairs = [
            (draw.choice(keys), sentence(draw, draw.randint(0, 12)))
            for _ in range(draw.randint(0, 6))
        ]
        query = (
            urlencode(pairs)
            if draw.random() < 0.5
            else sentence(draw, 60) + "&sentence=%ff%fe&a=%zz"
        )
        try:
            asked, _ = permalink.decode(Wish, query)
        except InputError as error:
            assert error.text["en"].isprintable(), seed
        else:
            assert isinstance(asked.sentence, str) and isinstance(asked.beam, int), seed


@pytest.mark.parametrize("name", ["told", "step_signal"])
def test_a_link_may_use_a_former_name(name: str) -> None:
    assert permalink.names_request(Request, f"{name}=0")
    request, notice = permalink.decode(Request, f"v=1&{name}=0")
    assert request == Request(step_signal=False) and notice is None
    assert permalink.encode(request) == "v=1&step_signal=0"


def test_the_name_of_today_wins() -> None:
    request, notice = permalink.decode(Request, "told=0&step_signal=1")
    assert request.step_signal and notice is None
