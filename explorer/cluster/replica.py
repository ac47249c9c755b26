"""The engine on a machine of the cluster.

It is the same as in a server of one process, shared by several web servers.

The engine's scheduler makes the batches, not Ray's `@serve.batch`, which mixes groups. For 200
requests at once both are as fast where all belong to one group (0.77 s and 0.80 s). Ray's takes
1.8 times as long with two groups in halves, and 3.5 times as long with one longer request in ten.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import pickle
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator
from typing import Any

from explorer.engine import Answer, Engine, Limits, QueuePlace, TooSlow
from explorer.engine.records import other_version, went_wrong
from explorer.engine.runs import Work
from models.explaining.errors import InputError

# Seconds between the two clocks, read once, so that the order of arrival stays.
AHEAD = time.time() - time.monotonic()
# Seconds to wait for an answer beyond its deadline, so that the next request finds it.
LATE = 60.0


@dataclasses.dataclass(frozen=True)
class Key:
    """The client of a replica: requests with the same key share an engine.

    device: the same as for `Engine`.
    """

    name: str
    device: str
    limits: Limits


@dataclasses.dataclass(frozen=True)
class RemoteRequest:
    """One request as it travels.

    version: digest of the models that the web server holds.
    expected: seconds that the request is expected to take.
    """

    key: Key
    version: str
    function: Any
    request: Any
    session: str
    expected: float
    # the time of the request by the wall clock: replicas take waiting requests in this order
    at: float


class Served:
    """An engine, with a note of which of its counts were reported already."""

    def __init__(self, key: Key) -> None:
        # The web server limits each visitor and paces the updates itself.
        limits = dataclasses.replace(
            key.limits, session=1 << 30, updates=0.02, events=600.0, prompt=True
        )
        self.engine = Engine(key.device, limits, key.name)
        self.lines: deque[dict[str, Any]] = deque(maxlen=1000)
        self._told: Counter[Any] = Counter()

    def take_news(self) -> tuple[Counter[Any], list[dict[str, Any]]]:
        """Return the counts and log lines since the last call.

        The counts are batch sizes, "computing" in seconds, and the other counts by name.
        """
        seen = self.engine.snapshot()
        now: Counter[Any] = Counter(dict(seen.batch_sizes))
        named: dict[str, Any] = {
            "asked": seen.asked,
            "cancelled": seen.cancelled,
            "out_of_memory": seen.out_of_memory,
        }
        now.update(named | {"computing": seen.computing_seconds})
        new = now - self._told
        self._told = now
        return new, [self.lines.popleft() for _ in range(len(self.lines))]


class Replica(logging.Handler):
    """The actor that Ray runs.

    It answers in bytes, so that the transport needs no knowledge of their content.
    """

    def __init__(self, version: str) -> None:
        """Start without an engine; each client gets its own at its first request.

        version: the name of the function that returns the digest of the models held here.
        """
        super().__init__()
        self._own = asyncio.create_task(
            asyncio.to_thread(lambda: str(Work(version, version).import_function()()))
        )
        self._served: dict[Key, Served] = {}
        logging.getLogger("explorer").addHandler(self)
        logging.getLogger("explorer").setLevel(logging.INFO)

    async def follow(self, asked: bytes) -> AsyncGenerator[bytes, None]:
        """Yield a request's updates: that it starts to run, its steps, its outcome last."""
        one: RemoteRequest = pickle.loads(asked)
        own = await self._own
        served = self._find_engine(one.key)
        if own != one.version:
            yield _pack_update(served, other_version(one.version, own))
            return
        cost = served.engine.expect(one.function, one.request, one.expected)
        # The clocks of two machines may differ.
        runs, since = False, min(one.at - AHEAD, time.monotonic())
        try:
            async with contextlib.aclosing(
                served.engine.stream(one.function, one.request, one.session, since)
            ) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        yield _pack_update(served, update, cost.seconds)
                    elif not (isinstance(update, QueuePlace) and (update.place or runs)):
                        runs = True
                        yield _pack_update(served, update)
        except InputError as error:
            yield _pack_update(served, error)
            end = asyncio.get_running_loop().time() + LATE * isinstance(error, TooSlow)
            while asyncio.get_running_loop().time() < end:
                await asyncio.sleep(0.2)
                if (late := served.engine.recall(one.function, one.request)) is not None:
                    yield _pack_update(served, dataclasses.replace(late, known=False))
                    return

    async def halt(self, key: Key, session: str) -> bool:
        """Halt the runs of a page; see `Engine.halt`."""
        return self._find_engine(key).engine.halt(session)

    async def warm(self, key: Key, asked: bytes) -> bytes:
        """Import one function; return None or the error, pickled. See `Engine.warm`."""
        try:
            await asyncio.wrap_future(self._find_engine(key).engine.warm(pickle.loads(asked))[0])
        except Exception as error:
            return pickle.dumps(error)
        return pickle.dumps(None)

    async def news(self, key: Key) -> bytes:
        """Return the counts and log lines of `Served.take_news`.

        `follow` sends them with every update.
        """
        return pickle.dumps(self._find_engine(key).take_news())

    async def count_waiting(self) -> bytes:
        """Return the number of requests that wait here, by client."""
        return pickle.dumps(
            {key: served.engine.snapshot().waiting for key, served in self._served.items()}
        )

    async def check_health(self) -> None:
        """Raise RuntimeError where an engine is stuck: Ray, which asks, replaces this replica."""
        if any(served.engine.is_stuck for served in self._served.values()):
            raise RuntimeError("an engine is stuck in calls that have outlived their deadline")

    def _find_engine(self, key: Key) -> Served:
        return (
            self._served.setdefault(key, Served(key))
            if key not in self._served
            else self._served[key]
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Send a log line of an engine's thread to that engine's clients.

        The thread has the engine's name. The line goes to this machine's own log as well.
        """
        line = {
            "name": record.name,
            "levelno": record.levelno,
            "msg": record.getMessage(),
            "facts": getattr(record, "facts", {}),
        }
        for key, served in list(self._served.items()):
            if key.name == record.threadName:
                served.lines.append({**line, "levelname": record.levelname})


def _pack_update(served: Served, update: Any, seconds: float = 0.0) -> bytes:
    """Return an update with its news, pickled.

    seconds: what a request of this kind costs; 0 where that is not known.
    """
    cause = update.__cause__ if isinstance(update, InputError) else None
    try:
        return pickle.dumps((update, cause, seconds, served.take_news()), protocol=5)
    except Exception:
        logging.getLogger(__name__).exception("a result cannot be pickled")
        return pickle.dumps(
            (update if cause is not None else went_wrong(), None, seconds, served.take_news())
        )
