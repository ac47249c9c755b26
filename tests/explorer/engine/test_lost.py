"""A replica, or the whole cluster, is lost: who asked is answered all the same, or hears why not in one sentence."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from explorer.cluster import Cluster, Link
from explorer.engine import Answer, Busy, Engine, Failed
from tests.conftest import free_port
from tests.explorer.engine.fakes import Ask, run, until

SPELL = "tests.explorer.engine.lent:spell"
pytestmark = pytest.mark.xdist_group("ray")


@dataclass(frozen=True)
class Timed:
    """A request whose answer is another one every time."""

    text: str
    live: bool = True


class Paired(Cluster):
    """Asks the pair of replicas; its link outlasts it."""

    def close(self, grace: float = 20.0) -> bool:
        return Engine.close(self, grace)


@pytest.fixture
def pair(link: Link) -> Iterator[Paired]:
    made = Paired(link, name="pair", group="pair")
    yield made
    made.close(0.0)


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


async def killed(folder: Path) -> int:
    """The replica that spells is gone."""
    await until(lambda: bool(spellers(folder)))
    (spelling,) = spellers(folder)
    os.kill(spelling, signal.SIGKILL)
    return spelling


def test_a_call_that_lost_its_replica_runs_again_and_tells_no_step_twice(pair: Paired, tmp_path: Path) -> None:
    async def go() -> tuple[list[str], Any]:
        follower = Follower(pair, Ask(str(tmp_path)))
        await until(lambda: follower.steps == ["a", "b"])
        await killed(tmp_path)
        await until(lambda: len(spellers(tmp_path)) == 2)
        (tmp_path / "go").touch()
        return follower.steps, await follower.task

    steps, answer = run(go())  # type: ignore[misc]
    assert (steps, answer) == (["a", "b", "c"], "abc")
    assert pair.snapshot().answered == 1 and pair.snapshot().failed == 0


def test_what_is_live_is_not_repeated_and_its_page_is_told(pair: Paired, tmp_path: Path) -> None:
    async def go() -> None:
        follower = Follower(pair, Timed(str(tmp_path)))
        await until(lambda: bool(follower.steps))
        await killed(tmp_path)
        with pytest.raises(Failed) as lost:
            await follower.task
        assert lost.value.code == "lost" and "start it again" in lost.value.text["en"] and lost.value.text["zh"]

    run(go())
    assert len(spellers(tmp_path)) == 1


def test_whoever_leaves_during_the_second_try_leaves_nothing_behind(pair: Paired, tmp_path: Path) -> None:
    async def go() -> None:
        others = {*pair.link._hearers}  # what is beyond its deadline is waited for a while, in case it still comes
        follower = Follower(pair, Ask(str(tmp_path)))
        await until(lambda: bool(follower.steps))
        await killed(tmp_path)
        follower.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await follower.task
        assert not pair._scheduler.runs
        await until(lambda: pair.link._hearers.keys() <= others)

    run(go())
    (tmp_path / "go").touch()


def test_models_of_another_version_are_refused_by_both_names(pair: Paired, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair.link, "digest", "ba9876543210")
    with pytest.raises(Failed) as refused:
        run(pair.ask("builtins:list", "x"))
    assert refused.value.code == "version"
    assert all(digest in refused.value.text[language] for digest in ("0123456789ab", "ba9876543210") for language in ("en", "zh"))


class Short(Link):
    """A link to a replica without Ray."""

    module = "tests.explorer.engine.bridge"


def test_a_cluster_that_goes_away_is_said_so_and_comes_back_by_itself(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    engine = Cluster(Short("", "tests.explorer.engine.lent:version", {"all": "1"}, folder=str(shut)))

    async def go() -> None:
        await engine.reached()
        assert (await engine.ask("builtins:list", "before")).value == "before"
        held = asyncio.create_task(engine.ask(SPELL, Ask(str(tmp_path))))
        await until(lambda: bool(spellers(tmp_path)))
        shut.touch()
        assert engine.link._process is not None
        engine.link._process.kill()
        for asking in (held, engine.ask("builtins:list", "during")):
            with pytest.raises(Busy) as away:
                await asking
            assert away.value.code == "away" and "out of reach" in away.value.text["en"] and away.value.text["zh"]
        assert engine.away
        shut.unlink()
        await engine.reached()
        assert (await engine.ask("builtins:list", "after")).value == "after" and not engine.away

    try:
        run(go())
    finally:
        engine.close(0.0)
    assert not engine.link._hearers


def test_a_cluster_that_was_never_there_is_said_so() -> None:
    engine = Cluster(Link(f"127.0.0.1:{free_port()}", "tests.explorer.engine.lent:version", {"all": "1"}))
    try:
        with pytest.raises(Busy) as away:
            run(engine.ask("builtins:list", "x"))
    finally:
        engine.close(0.0)
    assert away.value.code == "away" and engine.away


def test_a_request_that_costs_every_replica_its_life_ends_after_three(tmp_path: Path) -> None:
    class Deaf(Short):
        """Whoever is asked is lost."""

        def send(self, hear: Any, kind: str, content: Any) -> int:
            asyncio.get_running_loop().call_soon(hear, "lost", "died")
            asked.append(kind)
            return len(asked)

    asked: list[str] = []
    engine = Cluster(Deaf("", "tests.explorer.engine.lent:version", {"all": "1"}))
    with pytest.raises(Failed) as lost:
        run(engine.ask("builtins:list", "x"))
    engine.link.close()
    assert asked == ["ask"] * 3 and lost.value.code == "lost" and "Three machines" in lost.value.text["en"]
