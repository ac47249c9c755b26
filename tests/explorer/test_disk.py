"""What the server computes at its start lies on disk for the next one; a file that cannot be trusted is made again."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from explorer.disk import VARIABLE, Disk
from explorer.drawn import Drawn
from explorer.engine import Engine
from explorer.labs import LABS
from explorer.looks import looks
from explorer.packing import arrays
from explorer.program import Program
from explorer.server import Site
from explorer.stored import Stored
from tests.conftest import built
from tests.explorer.asking import ask

QUICK = [lab for lab in LABS if lab.slug in {"act_rnn", "reformer"}]  # one of them has rows to look up


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The engine of a server."""
    made = Engine("models.device:beside_a_server")
    yield made
    made.close(0.0)


def prepared(engine: Engine, disk: Disk) -> Stored:
    """What a start of the server leaves."""
    stored = Stored(QUICK, disk)
    with ThreadPoolExecutor(1) as pool:  # where a browser is driven, this thread has a running loop already
        pool.submit(asyncio.run, stored.prepare(engine)).result()
    return stored


def texts(stored: Stored) -> dict[str, bytes]:
    """Every result by its address."""
    return {
        address: asset.plain for lab in QUICK for address in stored.addresses(lab).values() if (asset := stored.get(address)) is not None
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A folder as a start has left it, and every result of that start."""
    folder, engine = tmp_path_factory.mktemp("filled"), Engine("models.device:beside_a_server")
    first = texts(prepared(engine, Disk(folder)))
    assert engine.snapshot().asked > 0
    engine.close(0.0)
    return folder, first


@pytest.fixture
def left(filled: tuple[Path, dict[str, bytes]], tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(filled[0], tmp_path / "left"))


def test_a_second_start_computes_nothing_and_shows_the_same(engine: Engine, filled: tuple[Path, dict[str, bytes]], left: Path) -> None:
    first, again = filled[1], prepared(engine, Disk(left))
    assert engine.snapshot().asked == 0
    assert texts(again) == first and len(first) > 10
    arrays = {part[:32] for text in first.values() for part in text.decode().split("/arrays/")[1:]}
    assert arrays and all(again.array(digest) for digest in arrays)


def test_what_another_version_has_left_is_computed_anew(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "QUICK", QUICK[:1])
    prepared(engine, Disk(tmp_path))
    asked = engine.snapshot().asked
    monkeypatch.setattr("explorer.stored.version", lambda patterns: f"other {len(patterns)}")
    prepared(engine, Disk(tmp_path))
    assert engine.snapshot().asked == 2 * asked > 0


def test_exact_rows_come_from_disk_when_somebody_looks(engine: Engine, left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.looks import Looks

    empty = Looks()
    for module in ("explorer.drawn", "explorer.stored", "explorer.looks", "explorer.labs.reformer.views", "explorer.labs.reformer.page"):
        monkeypatch.setattr(f"{module}.looks", lambda: empty, raising=False)
    again = prepared(engine, Disk(left))
    wanted = {part[:32] for text in texts(again).values() for part in text.decode().split("/looks/")[1:]}
    assert wanted and not any(empty.get(digest) for digest in wanted)

    async def look_twice() -> list[Any]:
        return await asyncio.gather(*(again.look(digest) for digest in [*wanted, *wanted]))

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(asyncio.run, look_twice()).result()
    assert all(look is not None and look.answer(0, 0, 0, 1) for look in found)
    assert engine.snapshot().asked == 0


def test_a_second_start_draws_no_first_example_and_its_page_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    lab = dataclasses.replace(next(lab for lab in LABS if lab.slug == "transformer_xl"), ancestors=())

    def page() -> tuple[Site, str]:
        site = built(lambda: Site([lab]))
        return site, json.dumps([getattr(block, "value", None) for block in site.blocks.blocks.values()], default=str)

    drawing = mock.patch.object(Program, "drawn", autospec=True, side_effect=Program.drawn)
    with drawing as drawn:
        _, was = page()
        assert drawn.call_count == 1
    for store in (arrays(), looks()):
        store._kept.clear()
    with drawing as drawn:
        again, now = page()
        assert drawn.call_count == 0 and now == was
        for kind in ("arrays", "looks"):
            (address, *_) = re.findall(rf"/{kind}/[0-9a-f]{{32}}", now)
            assert ask(again, address + ("/0/0/0/1" if kind == "looks" else "")).status_code == 200
        assert drawn.call_count == 1, "exact rows are made again when somebody looks"


def test_a_file_that_cannot_be_trusted_is_made_again(engine: Engine, filled: tuple[Path, dict[str, bytes]], left: Path) -> None:
    first, files = filled[1], sorted(left.iterdir())
    assert len(files) > 8
    whole = {path: path.read_bytes() for path in files}
    for path, other, damage in zip(files, [*files[1:], files[0]], cycle(("cut", "emptied", "foreign", "another result's")), strict=False):
        match damage:
            case "cut":
                path.write_bytes(whole[path][: len(whole[path]) // 2])
            case "emptied":
                path.write_bytes(b"")
            case "foreign":
                np.savez(path, json=np.frombuffer(json.dumps({"kind": "os:system", "key": "x"}).encode(), np.uint8))
            case _:
                path.write_bytes(whole[other])
    again = texts(prepared(engine, Disk(left)))
    assert engine.snapshot().asked > 0 and again.keys() == first.keys()
    for address, text in again.items():  # how long it took this time may differ
        assert json.loads(text).keys() == json.loads(first[address]).keys()
    assert not list(left.glob("*.part"))


def test_the_oldest_files_make_room(tmp_path: Path) -> None:
    disk = Disk(tmp_path, limit=30_000)
    record = Drawn("x", {"0" * 32: np.zeros(10_000, np.uint8)}, (), ())
    for name in "abcd":
        disk.put(name, record)
    assert disk.get("a") is None and disk.get("d") is not None
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 30_000


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    disk = Disk(tmp_path / "file" / "folder")
    disk.put("a", Drawn("x", {}, (), ()))
    assert disk.get("a") is None


def test_an_empty_variable_keeps_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert Disk.of_environment() is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    disk = Disk.of_environment()
    assert disk is not None and disk.folder == tmp_path / "kept"
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    disk = Disk.of_environment()
    assert disk is not None and disk.folder == tmp_path / "transformer-family-explorer"
