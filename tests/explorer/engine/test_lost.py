"""Replicas of a cluster: one is lost, or all, and who asked is answered all the same, or hears why not; several web servers share them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from explorer.cluster import Cluster, Link
from explorer.engine import Answer, Busy, Engine, Failed, Limits, Waiting
from tests.conftest import free_port
from tests.explorer.engine.fakes import Ask, asked, until, values
from tests.explorer.engine.test_streams import Timed

SPELL, HELD, VERSION = (f"tests.explorer.engine.lent:{name}" for name in ("spell", "held", "version"))
pytestmark = pytest.mark.xdist_group("ray")


class Paired(Cluster):
    """Asks the pair of replicas; its link outlasts it."""

    def close(self, grace: float = 0.0) -> bool:
        return Engine.close(self, grace)


@pytest.fixture
def pair(link: Link) -> Iterator[Paired]:
    with closing(Paired(link, name="pair", group="pair")) as made:
        yield made


class Follower:
    """Reads a stream to its end."""

    def __init__(self, engine: Engine, request: Any) -> None:
        self.steps: list[str] = []
        self.task = asyncio.create_task(self._read(engine, request))

    async def _read(self, engine: Engine, request: Any) -> Any:
        async for update in engine.stream(SPELL, request):
            if isinstance(update, list):
                self.steps += update
            elif isinstance(update, Answer):
                return update.value
        raise AssertionError("no answer came")


def spellers(folder: Path) -> set[int]:
    """The replicas that have begun to spell."""
    return {int(path.stem) for path in folder.glob("*.pid")}


async def lost(engine: Engine, request: Any) -> Follower:
    """A stream that was begun by a replica which is gone."""
    follower, folder = Follower(engine, request), Path(request.text)
    await until(lambda: follower.steps == ["a", "b"])
    (spelling,) = spellers(folder)
    os.kill(spelling, signal.SIGKILL)
    return follower


async def test_a_call_that_lost_its_replica_runs_again_and_tells_no_step_twice(pair: Paired, tmp_path: Path) -> None:
    follower = await lost(pair, Ask(str(tmp_path)))
    await until(lambda: len(spellers(tmp_path)) == 2)
    (tmp_path / "go").touch()
    assert (await follower.task, follower.steps) == ("abc", ["a", "b", "c"])
    assert pair.snapshot().answered == 1 and pair.snapshot().failed == 0


async def test_what_is_live_is_not_repeated_and_its_page_is_told(pair: Paired, tmp_path: Path) -> None:
    follower = await lost(pair, Timed(str(tmp_path)))
    with pytest.raises(Failed) as told:
        await follower.task
    assert told.value.code == "lost" and "start it again" in told.value.text["en"] and told.value.text["zh"]
    assert len(spellers(tmp_path)) == 1


async def test_whoever_leaves_during_the_second_try_leaves_nothing_behind(pair: Paired, tmp_path: Path) -> None:
    others = {*pair.link._hearers}  # what is beyond its deadline is waited for a while, in case it still comes
    follower = await lost(pair, Ask(str(tmp_path)))
    follower.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await follower.task
    assert not pair._scheduler.runs
    await until(lambda: pair.link._hearers.keys() <= others)
    (tmp_path / "go").touch()


async def test_models_of_another_version_are_refused_by_both_names(pair: Paired, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair.link, "digest", "ba9876543210")
    with pytest.raises(Failed) as refused:
        await pair.ask("builtins:list", "x")
    assert refused.value.code == "version"
    assert all(digest in refused.value.text[language] for digest in ("0123456789ab", "ba9876543210") for language in ("en", "zh"))


class Short(Link):
    """A link to a replica without Ray."""

    module = "tests.explorer.engine.bridge"


async def test_a_cluster_that_goes_away_is_said_so_and_comes_back_by_itself(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    engine = Cluster(Short("", VERSION, {"all": "1"}, folder=str(shut)))
    try:
        await engine.reached()
        assert (await engine.ask("builtins:list", "before")).value == "before"
        (held,) = asked(engine, SPELL, tmp_path)
        await until(lambda: bool(spellers(tmp_path)))
        shut.touch()
        assert engine.link._process is not None
        engine.link._process.kill()
        for away in await values([held, engine.ask("builtins:list", "during")]):
            assert isinstance(away, Busy) and away.code == "away" and "out of reach" in away.text["en"] and away.text["zh"]
        assert engine.away
        shut.unlink()
        await engine.reached()
        assert (await engine.ask("builtins:list", "after")).value == "after" and not engine.away
    finally:
        engine.close(0.0)
    assert not engine.link._hearers


async def test_a_cluster_that_was_never_there_is_said_so() -> None:
    engine = Cluster(Link(f"127.0.0.1:{free_port()}", VERSION, {"all": "1"}))
    try:
        with pytest.raises(Busy) as away:
            await engine.ask("builtins:list", "x")
    finally:
        engine.close(0.0)
    assert away.value.code == "away" and engine.away


async def test_a_request_that_costs_every_replica_its_life_ends_after_three() -> None:
    class Deaf(Short):
        """Whoever is asked is lost."""

        def send(self, hear: Any, kind: str, content: Any) -> int:
            asyncio.get_running_loop().call_soon(hear, "lost", "died")
            asks.append(kind)
            return len(asks)

    asks: list[str] = []
    engine = Cluster(Deaf("", VERSION, {"all": "1"}))
    with pytest.raises(Failed) as told:
        await engine.ask("builtins:list", "x")
    engine.link.close()
    assert asks == ["ask"] * 3 and told.value.code == "lost" and "Three machines" in told.value.text["en"]


async def test_a_place_and_a_refusal_count_what_all_web_servers_ask(link: Link, tmp_path: Path) -> None:
    first, second = (Paired(link, limits=Limits(queue=4, batch=1), name="several") for _ in range(2))
    try:
        tasks = asked(first, HELD, tmp_path)
        await until(lambda: first.snapshot().running == 1)
        for width in (2, 3, 4):
            tasks += asked(first, HELD, tmp_path, width=width)
        async with aclosing(second.watch(HELD, Ask(str(tmp_path), 9))) as updates:
            async for update in updates:
                if isinstance(update, Waiting) and update.of == 4:
                    break
            with pytest.raises(Busy) as refused:
                await second.ask(HELD, Ask(str(tmp_path), 10))
            (tmp_path / "go").touch()
            await asyncio.gather(*tasks)
        assert isinstance(update, Waiting) and (update.place, update.of) == (4, 4)
        assert refused.value.text["en"].startswith("4 requests are waiting")
    finally:
        (tmp_path / "go").touch()
        for one in (first, second):
            one.close()
