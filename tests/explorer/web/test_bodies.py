"""Bodies of requests: their structure is counted before anything is parsed, and no address shuts
out another."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from explorer.web import bodies
from explorer.web.bodies import ADDRESSES, BURST, PER_SECOND, Rates, Structure

Random = random.Random


def _value(draw: Random, depth: int = 0) -> Any:
    """A JSON value whose texts are full of what looks like structure."""
    kind = draw.randrange(6 if depth < 5 else 3)
    if kind < 3:
        text = "".join(draw.choice('\\"[]{},:a猫\n') for _ in range(draw.randrange(12)))
        return draw.choice((text, draw.random(), None, True))
    values = [_value(draw, depth + 1) for _ in range(draw.randrange(6))]
    return values if kind == 3 else {f'"{number}\\': value for number, value in enumerate(values)}


def _structure(value: Any) -> tuple[int, int]:
    """Characters of structure and quotes of a value as `json.dumps` writes it, and how deep it is
    nested."""
    if isinstance(value, str):
        return 2, 0
    if not isinstance(value, list | dict):
        return 0, 0
    inside = [_structure(inner) for inner in (value.values() if isinstance(value, dict) else value)]
    keys = 3 * len(value) if isinstance(value, dict) else 0  # a colon and the quotes
    return 2 + max(0, len(value) - 1) + keys + sum(count for count, _ in inside), 1 + max(
        (depth for _, depth in inside), default=0
    )


def _accepted(body: bytes, cut: Callable[[int], int]) -> bool:
    """Whether a body is accepted that arrives in parts; cut(bytes that are left): those of the next
    part."""
    structure = Structure()
    while body:
        size = cut(len(body))
        if not structure.accepts(body[:size]):
            return False
        body = body[size:]
    return True


def test_structure_is_what_a_parser_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(200):
        draw = Random(seed)
        value = [_value(draw) for _ in range(draw.randrange(1, 4))]
        count, depth = _structure(value)
        body = json.dumps(value, ensure_ascii=draw.random() < 0.5).encode()
        for most, deepest in ((count, depth), (count - 1, depth), (count, depth - 1)):
            monkeypatch.setattr(bodies, "STRUCTURE", most)
            monkeypatch.setattr(bodies, "DEPTH", deepest)
            for cut in (
                lambda left: left,
                lambda _left: 1,
                lambda left, draw=draw: draw.randrange(1, left + 1),
            ):
                assert _accepted(body, cut) == (most >= count and deepest >= depth), seed


MUCH = 1 << 20
HOSTILE = {
    "pairs": b"[" + b"[]," * MUCH,
    "deep": b"[" * 33,
    "deep objects": b'{"a":' * 33,
    "empty texts": b'""' * MUCH,
    "texts that do not end": b'"a' * MUCH,
    "after an escaped backslash": rb'["\\",' + b"[]," * MUCH,
    "after an escaped quote": rb'["\"",' + b"[]," * MUCH,
    "after both": rb'["\\\"\\",' + b"[]," * MUCH,
    "keys": b'{"a":1,' + b'"a":1,' * MUCH,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_much_structure_is_refused_wherever_it_is_cut(body: bytes) -> None:
    for cut in (lambda left: min(left, 64 << 10), lambda left: min(left, 4097)):
        assert not _accepted(body, cut)


@pytest.mark.parametrize(
    "text", ["[" * MUCH, '"' * MUCH, "\\" * MUCH, "\\" * (MUCH + 1), '\\"[' * MUCH, "猫" * MUCH]
)
def test_a_text_may_hold_anything(text: str) -> None:
    for ascii_alone in (True, False):
        body = json.dumps(
            {"data": [text], "event_data": {"set": {"text": text[:99]}}}, ensure_ascii=ascii_alone
        ).encode()
        assert _accepted(body, lambda left: min(left, 64 << 10)) and _accepted(
            body, lambda left: min(left, 65_537)
        )


def test_an_address_has_a_burst_and_then_a_rate() -> None:
    now = 0.0
    rates = Rates(lambda: now)
    take = partial(rates.take, "203.0.113.1")
    assert {take() for _ in range(BURST)} == {0.0}
    wait = take()
    assert wait == pytest.approx(1 / PER_SECOND) and rates.take("203.0.113.2") == 0
    assert take() == wait, "who is sent away pays nothing"
    now += wait
    assert take() == 0 and take() > 0
    now += BURST
    assert {take() for _ in range(BURST)} == {0.0} and take() > 0


def test_few_addresses_are_remembered() -> None:
    rates = Rates()
    for number in range(ADDRESSES + 9):
        rates.take(str(number))
    assert len(rates._paid_until) == ADDRESSES
