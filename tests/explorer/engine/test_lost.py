"""Replicas of a cluster: one is lost, or all, and who asked is answered all the same, or hears why
not; several web servers share them."""

from __future__ import annotations

import asyncio
import errno
import os
import pickle
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import aclosing, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.cluster import Cluster, Link
from explorer.engine import Answer, Busy, Engine, Failed, Limits, QueuePlace
from explorer.page import wiring
from explorer.page.newest import Newest
from tests.explorer.engine.fakes import PATIENCE, Ask, Timed, asked, until, values
from tests.support.visitors.served import free_port

SPELL, HELD, VERSION = (
    f"tests.explorer.engine.lent:{name}" for name in ("spell", "held", "version")
)
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


async def test_a_lost_replica_repeats_no_step(pair: Paired, tmp_path: Path) -> None:
    follower = await lost(pair, Ask(str(tmp_path)))
    await until(lambda: len(spellers(tmp_path)) == 2)
    (tmp_path / "go").touch()
    assert (await follower.task, follower.steps) == ("abc", ["a", "b", "c"])
    assert pair.snapshot().answered == 1 and pair.snapshot().failed == 0


async def test_what_is_live_is_not_repeated_and_its_page_is_told(
    pair: Paired, tmp_path: Path
) -> None:
    follower = await lost(pair, Timed(str(tmp_path)))
    with pytest.raises(Failed) as told:
        await follower.task
    assert (
        told.value.code == "lost"
        and "start it again" in told.value.text["en"]
        and told.value.text["zh"]
    )
    assert len(spellers(tmp_path)) == 1


async def test_leaving_a_second_try_leaves_nothing(pair: Paired, tmp_path: Path) -> None:
    # what is beyond its deadline is waited for a while, in case it still comes
    others = {*pair.link._hearers}
    follower = await lost(pair, Ask(str(tmp_path)))
    follower.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await follower.task
    assert not pair._scheduler.runs
    await until(lambda: pair.link._hearers.keys() <= others)
    (tmp_path / "go").touch()


async def test_models_of_another_version_are_refused_by_both_names(
    pair: Paired, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair.link, "digest", "ba9876543210")
    with pytest.raises(Failed) as refused:
        await pair.ask("builtins:list", "x")
    assert refused.value.code == "version"
    assert all(
        digest in refused.value.text[language]
        for digest in ("0123456789ab", "ba9876543210")
        for language in ("en", "zh")
    )


class Short(Link):
    """A link to a replica without Ray."""

    module = "tests.explorer.engine.bridge"


@pytest.fixture
def short(tmp_path: Path) -> Iterator[Cluster]:
    """An engine over a link without Ray; it is away while the folder holds "shut"."""
    with closing(Cluster(Short("", VERSION, {"all": "1"}, folder=str(tmp_path / "shut")))) as made:
        yield made


async def answers(engine: Cluster, text: str) -> bool:
    """Does it, once it is within reach?"""
    async with asyncio.timeout(PATIENCE):
        await engine.wait_until_reachable()
        return bool((await engine.ask("builtins:list", text)).value == text)


@pytest.mark.slow
async def test_a_lost_cluster_comes_back_by_itself(short: Cluster, tmp_path: Path) -> None:
    assert await answers(short, "before")
    (held,) = asked(short, SPELL, tmp_path)
    await until(lambda: bool(spellers(tmp_path)))
    (tmp_path / "shut").touch()
    assert short.link._process is not None
    short.link._process.kill()
    for away in await values([held, short.ask("builtins:list", "during")]):
        assert (
            isinstance(away, Busy)
            and away.code == "away"
            and "out of reach" in away.text["en"]
            and away.text["zh"]
        )
    assert short.away
    (tmp_path / "shut").unlink()
    assert await answers(short, "after") and not short.away
    short.close(0.0)
    assert not short.link._hearers


async def test_a_failed_start_leaves_no_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs, start = list[tuple[socket.socket, socket.socket]](), subprocess.Popen

    def pair() -> tuple[socket.socket, socket.socket]:
        pairs.append(real())
        return pairs[-1]

    def full(*given: Any, **named: Any) -> Any:
        if len(pairs) == 1:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        return start(*given, **named)

    real = socket.socketpair
    monkeypatch.setattr("explorer.cluster.link.REST", 0.0)
    monkeypatch.setattr("explorer.cluster.link.socket.socketpair", pair)
    monkeypatch.setattr("explorer.cluster.link.subprocess.Popen", full)
    with closing(Cluster(Short("", VERSION, {"all": "1"}))) as engine:
        assert await answers(engine, "x")
    assert [one.fileno() for both in pairs for one in both] == [-1] * 4


@pytest.mark.slow
async def test_an_unreadable_message_is_survived(
    short: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await answers(short, "before")
    (held,) = asked(short, SPELL, tmp_path)
    await until(lambda: bool(spellers(tmp_path)))
    first, read = short.link._process, iter([pickle.UnpicklingError("damaged")])

    def loads(packed: bytes) -> Any:
        for error in read:
            raise error
        return pickle.loads(packed)

    monkeypatch.setattr(
        "explorer.cluster.link.pickle", SimpleNamespace(loads=loads, dumps=pickle.dumps)
    )
    short.link.call_replicas("count_waiting")
    async with asyncio.timeout(PATIENCE):
        (away,) = await values([held])
    (tmp_path / "go").touch()
    assert isinstance(away, Busy) and away.code == "away"
    assert await answers(short, "after") and short.link._process is not first


async def test_a_failing_listener_is_alone(
    short: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def deaf(kind: str, content: Any) -> None:
        heard.append(kind)
        raise KeyError("ha" * 3)

    assert await answers(short, "before")
    heard, first = list[str](), short.link._process
    short.link.send_message(deaf, "call", ("count_waiting",))
    async with asyncio.timeout(PATIENCE):
        await until(lambda: len(heard) == 2)
    with monkeypatch.context() as patched:
        patched.setattr(short._worker, "_take_counts", lambda *_: deaf("news", None))
        with pytest.raises(Failed) as told:
            await short.ask("builtins:list", "y")
    assert heard == ["end", "unread", "news"] and told.value.code == "failed"
    assert "KeyError" in caplog.text and "hahaha" not in caplog.text
    assert await answers(short, "after") and short.link._process is first


@pytest.mark.parametrize(
    "error", [RuntimeError("away"), TimeoutError(), None], ids=["lost", "silent", "not there"]
)
async def test_a_stopped_timing_is_let_go(
    error: Exception | None, short: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wished() -> list[Any]:
        updates = newest.follow_newest(
            "one page", short.stream(SPELL, Timed(str(tmp_path)), "one page")
        )
        return [update async for update in updates]

    def call(*_: object) -> Future[Any]:
        assert error is not None, "nobody is asked who is not there"
        future: Future[Any] = Future()
        future.set_exception(error)
        return future

    newest = Newest()
    page = SimpleNamespace(session_hash="one page", client=None)
    assert await answers(short, "before")
    following = asyncio.create_task(wished())
    await until(lambda: bool(spellers(tmp_path)) and short.snapshot().running == 1)
    with monkeypatch.context() as patched:
        patched.setattr(short.link, "call_replicas", call)
        if error is None:
            patched.setattr(short.link, "up", threading.Event())
        stop: Any = wiring.stop_on_event(newest, short.halt)
        await stop(SimpleNamespace(_data={}), page)
    async with asyncio.timeout(PATIENCE):
        assert not any(isinstance(update, Answer) for update in await following)


async def test_a_cluster_that_was_never_there_is_said_so() -> None:
    with (
        closing(Cluster(Link(f"127.0.0.1:{free_port()}", VERSION, {"all": "1"}))) as engine,
        pytest.raises(Busy) as away,
    ):
        await engine.ask("builtins:list", "x")
    assert away.value.code == "away" and engine.away


async def test_a_fatal_request_ends_after_three() -> None:
    class Deaf(Short):
        """Whoever is asked is lost."""

        def send_message(self, hear: Any, kind: str, content: Any) -> int:
            asyncio.get_running_loop().call_soon(hear, "lost", "died")
            asks.append(kind)
            return len(asks)

    asks: list[str] = []
    engine = Cluster(Deaf("", VERSION, {"all": "1"}))
    with pytest.raises(Failed) as told:
        await engine.ask("builtins:list", "x")
    engine.link.close()
    assert (
        asks == ["ask"] * 3
        and told.value.code == "lost"
        and "Three machines" in told.value.text["en"]
    )


async def test_a_place_and_a_refusal_count_what_all_web_servers_ask(
    link: Link, tmp_path: Path
) -> None:
    first, second = (
        Paired(link, limits=Limits(queue=4, batch=1), name="several") for _ in range(2)
    )
    try:
        tasks = asked(first, HELD, tmp_path)
        await until(lambda: first.snapshot().running == 1)
        for width in (2, 3, 4):
            tasks += asked(first, HELD, tmp_path, width=width)
        async with aclosing(second.watch(HELD, Ask(str(tmp_path), 9))) as updates:
            async for update in updates:
                if isinstance(update, QueuePlace) and update.of == 4:
                    break
            with pytest.raises(Busy) as refused:
                await second.ask(HELD, Ask(str(tmp_path), 10))
            (tmp_path / "go").touch()
            await asyncio.gather(*tasks)
        assert isinstance(update, QueuePlace) and (update.place, update.of) == (4, 4)
        assert refused.value.text["en"].startswith("4 requests are waiting")
    finally:
        (tmp_path / "go").touch()
        for one in (first, second):
            one.close()
