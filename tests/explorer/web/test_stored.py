"""Examples and guided steps leave by the server's own route, made once and held for everybody; what
is made lies on disk for the next."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import os
import re
import shutil
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest import mock

import brotli
import numpy as np
import pytest

from explorer.contract.lab import OpenLab
from explorer.engine import Engine, Limits
from explorer.engine.disk_store import VARIABLE, Disk
from explorer.engine.records import is_away, queue_is_full
from explorer.labs import LABS
from explorer.page.program import Program
from explorer.page.rendered_results import RenderedResult
from explorer.values import packing
from explorer.values.exact_rows import Looks, RowSource, exact_row_store
from explorer.web import options
from explorer.web.server import Site
from explorer.web.stored_results import StoredResults, write_meta
from models.act_rnn.records import Request
from models.checkpoints import folders
from tests.browser.waiting import prepared as ready
from tests.conftest import built
from tests.explorer.asking import ask
from tests.explorer.web.test_site import lab
from tests.explorer.wishes import alone

# one of them has rows to look up
QUICK = [lab for lab in LABS if lab.slug in {"act_rnn", "reformer"}]


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The engine of a server, with the patience that a busy machine needs."""
    made = Engine("models.checkpoints.device:choose_server_device", Limits(deadline=300))
    yield made
    made.close(0.0)


def prepared(stored: StoredResults, engine: Engine) -> StoredResults:
    """With all that can be made."""
    alone(stored.prepare_all(engine))
    return stored


def held(stored: StoredResults, labs: Sequence[OpenLab]) -> dict[str, bytes | None]:
    """Every result by its address, None where there is none."""
    found = {
        address: stored.get(address)
        for one in labs
        for address in stored.list_addresses(one).values()
    }
    return {address: asset and asset.plain for address, asset in found.items()}


@pytest.mark.parametrize("one", LABS, ids=lambda lab: lab.slug)
def test_every_example_and_step_is_ready_before_anybody_asks(site: str, one: OpenLab) -> None:
    ready(site, one.slug)
    addresses = StoredResults(LABS).list_addresses(one)
    assert set(addresses) == {*one.examples, *(step.query for step in one.steps)}
    for query, address in addresses.items():
        with urllib.request.urlopen(
            urllib.request.Request(site + address, headers={"accept-encoding": "br"}), timeout=60
        ) as answer:
            packed = answer.read()
        assert answer.headers["content-encoding"] == "br" and len(packed) < 120_000, query
        states = {value.get("state") for value in json.loads(brotli.decompress(packed)).values()}
        assert "stored" in states and not states & {"running", "waiting", "refused"}, query


def test_a_result_comes_from_memory_at_an_address_of_its_own(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")  # nothing of an earlier run
    calls: list[str] = []

    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        calls.append(query)
        return {"prompt": {"state": "stored", "text": "wörter " * 100}}

    site = built(lambda: Site([lab(stored=draw)], engine))
    one = site.labs[0]
    address = next(iter(site.stored.list_addresses(one).values()))
    assert ask(site, address).status_code == 204, "not made yet: the page asks the model"
    prepared(site.stored, engine)
    made = len(calls)
    first, *_ = [ask(site, address) for _ in range(3)]
    assert first.json()["prompt"]["state"] == "stored" and len(calls) == made
    assert "immutable" in first.headers["cache-control"] and first.headers["content-encoding"] in {
        "br",
        "gzip",
    }
    assert ask(site, address, headers={"if-none-match": first.headers["etag"]}).status_code == 304
    assert ask(site, f"/stored/000000000000/{one.slug}/0").status_code == 204
    assert ask(site, "/readyz").json()["stored"] == {one.slug: [made, made]}


@pytest.mark.parametrize(
    "late", [False, True], ids=["what cannot be stored", "what came too late on a busy machine"]
)
def test_unstorable_results_go_to_the_model(engine: Engine, late: bool) -> None:
    tried: list[str] = []

    async def draw(engine: Engine, query: str) -> Mapping[str, object] | None:
        tried.append(query)
        if late and tried.count(query) > 1:
            return {"prompt": {"state": "stored"}}
        if "beam" in query:
            raise TimeoutError if late else RuntimeError("no")
        return None  # as a page's program says that time has run out

    one = lab(stored=draw)
    found = held(prepared(StoredResults([one]), engine), [one])
    assert found and all((value is not None) == late for value in found.values())


def rows(name: str) -> str:
    """Puts exact rows into the store; their digest."""
    address = exact_row_store().put(
        RowSource(lambda layer, head, rows: np.zeros((len(rows), 4), np.float32), 1, 1, 4, 64),
        name.encode(),
    )
    return address.rpartition("/")[2]


async def test_rows_that_could_not_be_read_are_read_for_who_asks_later(engine: Engine) -> None:
    full = [True]

    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        if full:
            raise queue_is_full(600, 9)
        return {"attention": {"look": f"/looks/{rows('read late')}"}}

    one, digest = lab(stored=draw), rows("read late")
    stored = StoredResults([one])
    stored._engine, stored._unread = engine, {digest: (one, one.examples[0])}
    assert await stored.get_rows(digest) is None
    full.clear()
    assert await stored.get_rows(digest) is not None


async def test_rows_of_a_remembered_drawing(engine: Engine) -> None:
    digest = hashlib.sha256(b"remembered").hexdigest()[:32]

    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        return {"attention": {"look": f"/looks/{digest}"}}  # puts nothing into the store

    one = lab(stored=draw)
    exact_row_store().promise([digest], lambda: rows("remembered"))
    stored = StoredResults([one])
    stored._engine, stored._unread = engine, {digest: (one, one.examples[0])}
    assert await stored.get_rows(digest) is not None


async def test_rows_that_many_ask_for_at_once_are_drawn_once() -> None:
    stored, drawn = StoredResults([]), []
    exact_row_store().promise([rows("promised")], lambda: drawn.append(rows("promised")))
    found = await asyncio.gather(*(stored.get_rows(rows("promised")) for _ in range(20)))
    assert len(drawn) == 1 and None not in found


class Far(Engine):
    """Its machines are out of reach until somebody waits for them."""

    away = True

    async def wait_until_reachable(self) -> None:
        self.away = False


def test_results_are_stored_after_an_outage() -> None:
    far, made = Far(), list[str]()

    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        if engine.away:
            raise is_away()
        far.away = not made  # and it goes once more, during the first
        made.append(query)
        if far.away:
            raise is_away()
        return {"prompt": {"state": "stored"}}

    one = lab(stored=draw)
    found = held(prepared(StoredResults([one]), far), [one])
    assert found and None not in found.values() and len(made) == len(found) + 1


def test_what_lies_on_disk_is_there_before_the_cluster_is(tmp_path: Path) -> None:
    class Gone(Far):
        """They never come back."""

        async def wait_until_reachable(self) -> None:
            raise ConnectionError

    async def draw(engine: Engine, query: str) -> Mapping[str, object] | None:
        return {"prompt": {"state": "stored"}} if query == last else None

    one = lab(stored=draw)
    *_, last = StoredResults([one]).list_addresses(one)
    prepared(StoredResults([one], Disk(tmp_path)), Far())
    stored = StoredResults([one], Disk(tmp_path))
    with pytest.raises(ConnectionError):
        prepared(stored, Gone())
    assert stored.get(stored.list_addresses(one)[last]) is not None


def test_the_arrays_of_a_stored_result_outlive_any_crowd(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, rng = packing.ArrayStore(capacity=300_000), np.random.default_rng(1)
    monkeypatch.setattr("explorer.web.stored_results.array_store", lambda: small)

    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        return {
            "attention": {
                "state": "stored",
                "weights": packing.pack_array(rng.random((200, 500), np.float32), store=small),
            }
        }

    one = lab(stored=draw, examples=LABS[0].examples[:3], steps=LABS[0].steps)
    stored = prepared(StoredResults([one]), engine)
    urls = [
        json.loads(plain)["attention"]["weights"]["url"]
        for plain in held(stored, [one]).values()
        if plain
    ]
    assert len(urls) > 3
    digest = urls[0].rpartition("/")[2]
    assert small.get(digest) is None and stored.get_array(digest) is not None


def test_the_addresses_stand_in_the_head_as_text() -> None:
    assert write_meta({}) == ""
    assert (
        write_meta({'v=1&sentence="><script>': "/stored/a/b/0"}) == '<meta name="tfe-stored"'
        ' content="{&quot;v=1&amp;sentence=\\&quot;&gt;&lt;script&gt;&quot;:'
        ' &quot;/stored/a/b/0&quot;}" />'
    )


# ---- what a start leaves on disk for the next

Filled = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A folder as a start has left it, and every result of that start."""
    folder, engine = (
        tmp_path_factory.mktemp("filled"),
        Engine("models.checkpoints.device:choose_server_device", Limits(deadline=300)),
    )
    first = held(prepared(StoredResults(QUICK, Disk(folder)), engine), QUICK)
    engine.close(0.0)
    return folder, first


@pytest.fixture
def left(filled: Filled, tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(filled[0], tmp_path / "left"))


def named(results: Mapping[str, Any], route: str) -> set[str]:
    """All digests of a route that results name."""
    return {part[:32] for text in results.values() for part in text.decode().split(route)[1:]}


@pytest.mark.slow  # builds the site again
def test_a_second_start_computes_nothing_and_shows_the_same(
    engine: Engine, filled: Filled, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Looks()
    for module in (
        "explorer.page.drawings",
        "explorer.page.rendered_results",
        "explorer.web.stored_results",
        "explorer.values.exact_rows",
        "explorer.labs.reformer.views",
        "explorer.labs.reformer.lab",
    ):
        monkeypatch.setattr(f"{module}.exact_row_store", lambda: empty, raising=False)
    again, first = prepared(StoredResults(QUICK, Disk(left)), engine), filled[1]
    assert held(again, QUICK) == first and len(first) > 10 and None not in first.values()
    arrays, wanted = named(first, "/arrays/"), named(first, "/looks/")
    assert arrays and all(again.get_array(digest) for digest in arrays)
    assert wanted and not any(empty.get(digest) for digest in wanted), (
        "exact rows come from disk when somebody looks"
    )

    async def look_twice() -> list[Any]:
        return await asyncio.gather(*(again.get_rows(digest) for digest in [*wanted, *wanted]))

    assert all(look is not None and look.encode_rows(0, 0, 0, 1) for look in alone(look_twice()))
    assert engine.snapshot().asked == 0


def test_a_second_start_draws_nothing_new(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    one = dataclasses.replace(
        next(lab for lab in LABS if lab.slug == "transformer_xl"), ancestors=()
    )

    def page() -> tuple[Site, str]:
        site = built(lambda: Site([one]))
        return site, json.dumps(
            [getattr(block, "value", None) for block in site.blocks.blocks.values()], default=str
        )

    drawing = mock.patch.object(
        Program, "render_run", autospec=True, side_effect=Program.render_run
    )
    with drawing as drawn:
        _, was = page()
        assert drawn.call_count == 1
    for store in (packing.array_store(), exact_row_store()):
        store._kept.clear()
        store.size = 0  # else it goes on letting go of what earlier tests have put there
    with drawing as drawn:
        again, now = page()
        assert drawn.call_count == 0 and now == was
        for kind in ("arrays", "looks"):
            address, *_ = re.findall(rf"/{kind}/[0-9a-f]{{32}}", now)
            assert ask(again, address + ("/0/0/0/1" if kind == "looks" else "")).status_code == 200
        assert drawn.call_count == 1, "exact rows are made again when somebody looks"


def test_what_another_version_has_left_is_computed_anew(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def draw(engine: Engine, query: str) -> Mapping[str, object]:
        await engine.ask("builtins:list", Request("addition", "47+5"))
        return {"prompt": {"state": "stored"}}

    asked = []
    for version in ("this", "this", "another"):
        monkeypatch.setattr(
            "explorer.web.stored_results.digest_files",
            lambda patterns, version=version: f"{version} {len(patterns)}",
        )
        prepared(StoredResults([lab(stored=draw)], Disk(tmp_path)), engine)
        asked.append(engine.snapshot().asked)
    assert asked == [1, 1, 2], (
        "for all results once, and again where neither what was drawn nor what was computed is"
        " of use"
    )


@pytest.mark.slow  # builds the site again
def test_a_file_that_cannot_be_trusted_is_made_again(
    engine: Engine, filled: Filled, left: Path
) -> None:
    first, files = filled[1], sorted(left.iterdir())
    assert len(files) > 8
    whole = {path: path.read_bytes() for path in files}
    for path, other, damage in zip(
        files,
        [*files[1:], files[0]],
        cycle(("cut", "emptied", "foreign", "another result's")),
        strict=False,
    ):
        if damage == "foreign":
            np.savez(
                path,
                json=np.frombuffer(
                    json.dumps({"kind": "os:system", "key": "x"}).encode(), np.uint8
                ),
            )
        else:
            path.write_bytes(
                {"cut": whole[path][: len(whole[path]) // 2], "emptied": b""}.get(
                    damage, whole[other]
                )
            )
    again: Any = held(prepared(StoredResults(QUICK, Disk(left)), engine), QUICK)
    assert (
        engine.snapshot().asked > 0
        and again.keys() == first.keys()
        and not list(left.glob("*.part"))
    )
    for address, text in again.items():  # how long it took this time may differ
        assert json.loads(text).keys() == json.loads(first[address]).keys()


def test_the_oldest_files_make_room(
    tmp_path: Path,
) -> None:
    disk, record = (
        Disk(tmp_path / "kept", limit=30_000),
        RenderedResult("x", {"0" * 32: np.zeros(10_000, np.uint8)}, (), ()),
    )
    for name in "abcd":
        disk.put(name, record)
    assert disk.get("a") is None and disk.get("d") is not None
    assert sum(path.stat().st_size for path in disk.folder.iterdir()) <= 30_000
    (tmp_path / "file").write_text("")
    disk = Disk(tmp_path / "file" / "folder")
    disk.put("a", RenderedResult("x", {}, (), ()))
    assert disk.get("a") is None


def test_a_pipe_among_the_kept_files_is_removed(tmp_path: Path) -> None:
    disk, record = Disk(tmp_path), RenderedResult("x", {}, (), ())
    disk.put("a", record)
    (path,) = tmp_path.iterdir()
    path.unlink()
    os.mkfifo(path)
    assert disk.get("a") is None and not path.exists()
    disk.put("a", record)
    assert disk.get("a") is not None


@pytest.mark.parametrize("name", ["cache", "model.json", "first.npz"])
def test_a_pipe_of_the_operator_s_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    path = tmp_path / "models" / "music" / "relative" / name
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    monkeypatch.setenv(folders.NAME, "")
    monkeypatch.setenv(VARIABLE, str(path if name == "cache" else tmp_path))
    with pytest.raises(SystemExit):
        options.read_options(
            [] if name == "cache" else ["--assets", str(tmp_path / "models")], offline=True
        )
    said = (
        f"EXPLORER_CACHE names {path}, which is no folder"
        if name == "cache"
        else f"{path} cannot be read: it is no regular file"
    )
    assert capsys.readouterr().err.endswith(f"error: {said}\n")


def test_an_empty_variable_keeps_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for value, folder in (
        ("", None),
        (str(tmp_path / "kept"), tmp_path / "kept"),
        (None, tmp_path / "transformer-family-explorer"),
    ):
        monkeypatch.delenv(VARIABLE) if value is None else monkeypatch.setenv(VARIABLE, value)
        assert getattr(Disk.from_environment(), "folder", None) == folder
