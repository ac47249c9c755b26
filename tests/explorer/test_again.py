"""What a web server does not hold, because another one has drawn it, is made once more from its address; within what a page may ask."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from explorer import packing
from explorer.engine import Engine
from explorer.figures.bertviz import Attention
from explorer.program import Program, looked
from explorer.runs import Run
from explorer.server import Site
from explorer.views import View, in_bertviz
from explorer.widgets.figure import own
from tests.conftest import built
from tests.explorer import small_lab
from tests.explorer.asking import ask
from tests.explorer.test_site import lab

LARGE = 200  # squared and in 32 bits, more than travels inside a value
ran: list[str] = []


def explain(requests: Sequence[small_lab.Ask]) -> list[Any]:
    """The small lab's model, which notes what it is asked."""
    ran.extend(one.text for one in requests)
    return small_lab.explain(requests)


def drawn(seen: small_lab.Said, request: small_lab.Ask, state: str) -> dict[str, Any]:
    """A picture of many numbers."""
    return {"state": state, "numbers": packing.pack(np.full((LARGE, LARGE), len(seen.answer), np.int32))}


def attention(seen: small_lab.Said) -> Attention:
    """A map of the answer's letters."""
    n = len(seen.answer)
    return Attention("self", small_lab.text("self", "自"), np.full((1, 1, n, n), 1 / n, np.float32), [*seen.answer], [*seen.answer])


PROGRAM: Program[Any, Any] = replace(
    small_lab.PROGRAM,
    slug="small",
    explain=explain,
    views=(View("large", partial(own, "difficulty"), drawn, at="side"), in_bertviz(("head",), attention)),
    change=None,
)


@pytest.fixture
def site(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A web server that holds nothing yet."""
    monkeypatch.setattr(small_lab.Ask, "live", property(lambda self: self.text == "live"), raising=False)
    ran.clear()
    small = lab(slug="small", page=lambda lab, engine: None, stored=None, probe=None, endpoint=None, again=PROGRAM.again)
    return built(lambda: Site([small], engine))


def forgotten() -> None:
    """As if it were another process."""
    packing.arrays.cache_clear()
    packing.frames.cache_clear()


def address_of(text: str) -> str:
    """Where another web server has told a page that the numbers are."""
    request = replace(small_lab.Ask(), text=text)
    (seen,) = small_lab.explain([request])
    shown = PROGRAM.drawn(seen, request, Run("live", 1.0, "cpu"))["large"]
    forgotten()
    return str(shown["numbers"]["url"])


def test_an_array_that_another_server_has_drawn_is_made_again_and_once(site: Site) -> None:
    address = address_of("abc")
    answer = ask(site, address)
    assert answer.status_code == 200
    assert np.array_equal(np.frombuffer(answer.content, np.int32), np.full(LARGE * LARGE, 6))
    assert ask(site, address).content == answer.content and ran == ["abc"]


def test_a_view_that_another_server_has_opened_is_made_again(site: Site, engine: Engine) -> None:
    look = PROGRAM.views[1].look
    assert look is not None

    async def shown() -> Any:
        asked = {"view": "head", "run": "v=1&text=abcd", "kind": "", "head": "", "wished": 3}
        return [value async for value in looked(PROGRAM, engine, look, asked)][-1]

    address = asyncio.run(shown())["src"]
    page = ask(site, address).content
    forgotten()
    assert ask(site, address).content == page and page.startswith(b"<!doctype html>")
    assert ask(site, address.partition("?")[0]).status_code == 200, "now it is held"


@pytest.mark.parametrize(
    "change",
    [
        ("of=small", "of=another"),
        ("run=", "run=v%3D1%26text%3Dlive%26"),
        ("run=", "run=v%3D1%26times%3D99%26"),
        ("run=", "view=bertviz&asked=%5B&run="),
    ],
)
def test_what_an_address_may_not_ask_for_is_not_there_and_nothing_runs(site: Site, change: tuple[str, str]) -> None:
    address = address_of("abcde").replace(*change)
    assert ask(site, address).status_code == 404
    assert ran == []


def test_the_digest_alone_says_what_is_there(site: Site) -> None:
    mine, another = address_of("abc"), address_of("abcd")
    assert ask(site, mine.partition("?")[0] + "?" + another.partition("?")[2]).status_code == 404
    assert ask(site, another).status_code == 200


def test_a_page_of_another_site_makes_nothing_run(site: Site) -> None:
    address = address_of("abcdef")
    assert ask(site, address, headers={"sec-fetch-site": "cross-site"}).status_code == 404 and ran == []
    assert ask(site, address, headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_what_is_live_or_too_long_for_an_address_says_nothing_of_itself() -> None:
    with packing.made_of(of="small", run="x" * packing.LONGEST):
        assert packing.address("arrays", "0") == "/arrays/0"
