"""Examples and guided steps leave by the server's own route, made once and held for everybody."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import brotli
import numpy as np
import pytest

from explorer import packing
from explorer.disk import VARIABLE
from explorer.engine import Engine, Limits
from explorer.lab import Lab
from explorer.labs import LABS
from explorer.stored import Stored, meta
from tests.browser.waiting import prepared as ready
from tests.explorer.asking import ask
from tests.explorer.test_site import lab


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The engine of a server, with the patience that a busy machine needs."""
    made = Engine("models.device:beside_a_server", Limits(deadline=300))
    yield made
    made.close(0.0)


def prepared(stored: Stored, engine: Engine) -> Stored:
    """With all that can be made."""
    with ThreadPoolExecutor(1) as pool:  # where a browser is driven, this thread has a running loop already
        pool.submit(asyncio.run, stored.prepare(engine)).result()
    return stored


@pytest.mark.parametrize("one", LABS, ids=lambda lab: lab.slug)
def test_every_example_and_step_is_ready_before_anybody_asks(site: str, one: Lab) -> None:
    ready(site, one.slug)
    addresses = Stored(LABS).addresses(one)
    assert set(addresses) == {*one.examples, *(step.query for step in one.steps)}
    for query, address in addresses.items():
        with urllib.request.urlopen(urllib.request.Request(site + address, headers={"accept-encoding": "br"}), timeout=60) as answer:
            packed = answer.read()
        assert answer.headers["content-encoding"] == "br" and len(packed) < 120_000, query
        drawn = json.loads(brotli.decompress(packed))
        assert "stored" in {value.get("state") for value in drawn.values()}, query
        assert not {value.get("state") for value in drawn.values()} & {"running", "waiting", "refused"}, query


def test_a_result_comes_from_memory_at_an_address_of_its_own(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")  # nothing of an earlier run
    calls: list[str] = []

    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        calls.append(query)
        return {"prompt": {"state": "stored", "text": "wörter " * 100}}

    site = _site(lab(stored=draw), engine)
    address = next(iter(site.stored.addresses(site.labs[0]).values()))
    assert ask(site, address).status_code == 204, "not made yet: the page asks the model"
    prepared(site.stored, engine)
    made = len(calls)
    answers = [ask(site, address) for _ in range(3)]
    assert answers[0].json()["prompt"]["state"] == "stored" and len(calls) == made
    assert "immutable" in answers[0].headers["cache-control"] and answers[0].headers["content-encoding"] in {"br", "gzip"}
    assert ask(site, address, headers={"if-none-match": answers[0].headers["etag"]}).status_code == 304
    assert ask(site, f"/stored/000000000000/{site.labs[0].slug}/0").status_code == 204
    told = ask(site, "/readyz").json()["stored"]
    assert told == {site.labs[0].slug: [made, made]}


def test_what_cannot_be_stored_is_left_to_the_model(engine: Engine) -> None:
    async def draw(engine: Engine, query: str) -> Mapping[str, object] | None:
        if "beam" in query:
            raise RuntimeError("no")
        return None

    one = lab(stored=draw)
    stored = prepared(Stored([one]), engine)
    assert all(stored.get(address) is None for address in stored.addresses(one).values())


def test_the_arrays_of_a_stored_result_outlive_any_crowd(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    small = packing.ArrayStore(capacity=300_000)
    monkeypatch.setattr("explorer.stored.arrays", lambda: small)
    rng = np.random.default_rng(1)

    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        return {"attention": {"state": "stored", "weights": packing.pack(rng.random((200, 500), np.float32), store=small)}}

    one = lab(stored=draw, examples=LABS[0].examples[:3], steps=LABS[0].steps)
    stored = prepared(Stored([one]), engine)
    digests = [
        json.loads(asset.plain)["attention"]["weights"]["url"].rpartition("/")[2]
        for asset in map(stored.get, stored.addresses(one).values())
        if asset is not None
    ]
    assert len(digests) > 3
    assert small.get(digests[0]) is None and stored.array(digests[0]) is not None


def test_the_addresses_stand_in_the_head_as_text() -> None:
    assert meta({}) == ""
    assert meta({'v=1&sentence="><script>': "/stored/a/b/0"}) == (
        '<meta name="tfe-stored" content="{&quot;v=1&amp;sentence=\\&quot;&gt;&lt;script&gt;&quot;: &quot;/stored/a/b/0&quot;}" />'
    )


def _site(one: Any, engine: Engine) -> Any:
    from explorer.server import Site
    from tests.conftest import built

    return built(lambda: Site([one], engine))


def test_a_result_that_came_too_late_on_a_busy_machine_is_made_once_more(engine: Engine) -> None:
    tried: list[str] = []

    async def draw(engine: Engine, query: str) -> Mapping[str, object] | None:
        tried.append(query)
        if tried.count(query) == 1:
            if "beam" in query:
                raise TimeoutError
            return None  # as a page's program says that time has run out
        return {"prompt": {"state": "stored"}}

    one = lab(stored=draw)
    stored = prepared(Stored([one]), engine)
    assert all(stored.get(address) is not None for address in stored.addresses(one).values())
