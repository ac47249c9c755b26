"""A number of more digits than any request has is refused in words: every event of every lab ends
with an answer that can be sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any, get_type_hints

import gradio as gr
import orjson
import pytest

from explorer.contract.lab import OpenLab
from explorer.engine import Engine
from explorer.labs import LABS
from explorer.page import wiring
from explorer.page.program import Program
from explorer.web.site import build_blocks
from models.explaining.errors import InputError, read_whole_number
from tests.conftest import built

HUGE = (10**30, -(10**30), 10**400, 2**63, 1e30)
SENTENCES = ("15 digits", "form in which this page sends it")


@pytest.fixture(scope="module")
def pages() -> Iterator[gr.Blocks]:
    """The pages of all labs, at an engine that computes nothing."""
    engine = Engine()
    engine.close(0)
    yield built(lambda: build_blocks(LABS, engine))


def events(pages: gr.Blocks, lab: OpenLab) -> dict[int, tuple[str, Any]]:
    """The handlers of a page that take what an event carries, by number, with the name of their
    event; that which draws most is first."""
    return {
        number: (str(next(iter(handler.targets))[1]), handler.fn)
        for number, handler in sorted(pages.fns.items(), key=lambda one: -len(one[1].outputs))
        if handler.page == lab.slug
        and handler.outputs
        and next(iter(handler.targets))[1] not in {"unfold", "load"}
    }


def told(handler: Any, detail: Any) -> list[bytes]:
    """All that a handler says to an event, as it goes over the wire."""

    async def hear() -> list[bytes]:
        event: Any = SimpleNamespace(_data=detail)
        caller: Any = SimpleNamespace(
            session_hash="page", client=SimpleNamespace(host="203.0.113.1")
        )
        return [orjson.dumps(update) async for update in handler(event, caller)]

    return asyncio.run(hear())


def wishes(pages: gr.Blocks, lab: OpenLab) -> Iterator[tuple[Any, Any]]:
    """The handler of a lab's page with wishes for such numbers, one at a time, as the texts of a
    request's fields."""
    asking = next(handler for name, handler in events(pages, lab).values() if name == "ask")
    hints = get_type_hints(import_module(f"models.{lab.slug}.records").Request)
    for number in HUGE:
        text = f"{number:.0f}" if isinstance(number, float) else str(number)
        yield from (
            (asking, {"query": "", "set": {field: text}}) for field in hints if hints[field] is int
        )


@pytest.mark.parametrize("lab", LABS, ids=[lab.slug for lab in LABS])
def test_every_number_of_a_request_is_refused_in_words(pages: gr.Blocks, lab: OpenLab) -> None:
    tried = 0
    for handler, detail in wishes(pages, lab):
        refused = next(
            value
            for value in orjson.loads(told(handler, detail)[-1])
            if isinstance(value, dict) and value.get("state") == "refused"
        )
        assert any(words in refused["error"]["en"] for words in SENTENCES), refused["error"]["en"]
        tried += 1
    assert tried >= len(HUGE)


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page draws of a run is drawn once: whatever else such an event says, most are about
    the stored first example."""
    drawing = Program.render_run
    kept: dict[Any, Any] = {}

    def drawn(program: Program[Any, Any], seen: Any, request: Any, run: Any) -> Any:
        key = request, str(run)
        if key not in kept:
            kept[key] = drawing(program, seen, request, run)
        return kept[key]

    monkeypatch.setattr(Program, "render_run", drawn)


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize("lab", LABS, ids=[lab.slug for lab in LABS])
def test_absurd_numbers_get_sendable_answers(pages: gr.Blocks, lab: OpenLab) -> None:
    names = (
        "wished",
        "layer",
        "head",
        "round",
        "row",
        "order",
        "first",
        "queries",
        "beam",
        "pos",
        "keep",
        "stride",
        "farthest",
        "seed",
    )
    for name, handler in events(pages, lab).values():
        for number in HUGE:
            numbers: dict[str, Any] = dict.fromkeys(names, number)
            for detail in (
                numbers,
                {"query": "", **numbers},
                {"run": "", "wish": numbers, "wished": number},
                number,
                [number],
            ):
                if name != "stop":
                    told(handler, detail)


def test_a_whole_number_is_one_that_a_link_could_carry() -> None:
    assert read_whole_number(10**15 - 1) == 10**15 - 1 and read_whole_number(-5) == -5
    for number in HUGE:
        with pytest.raises(InputError, match="15 digits") as refused:
            read_whole_number(number)
        assert len(refused.value.text["en"]) < 120 and "15" in refused.value.text["zh"]
    for other in (True, "5", 1.5, None, []):
        with pytest.raises(TypeError):
            read_whole_number(other)


def test_an_event_that_is_nested_beyond_all_sense_is_nothing() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    event: Any = SimpleNamespace(_data=deep)
    assert wiring.read_detail(event) is None
