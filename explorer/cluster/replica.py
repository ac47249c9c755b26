"""What stands on a machine of the cluster: the engine as it is in a server of one process, asked from several of them.

Its scheduler makes the batches, and not Ray's `@serve.batch`: of 200 requests at once both are as fast where all are of one group (0.77 s
and 0.80 s), and Ray's takes 1.8 times as long with two groups in halves, 3.5 times with one in ten of the longer, for it mixes them.
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

from explorer.engine import Answer, Engine, Limits, TooSlow, Waiting
from explorer.engine.records import other_version, went_wrong
from explorer.engine.runs import Work
from models.errors import InputError

AHEAD = time.time() - time.monotonic()  # of the clock by which engines count, read once: who came first stays first
LATE = 60.0  # seconds that an answer beyond its deadline is waited for: whoever asks again then finds it


@dataclasses.dataclass(frozen=True)
class Key:
    """Who asks: requests of the same key share an engine. device: as of `Engine`."""

    name: str
    device: str
    limits: Limits


@dataclasses.dataclass(frozen=True)
class Asked:
    """One request, as it travels. version: digest of what the web server holds. expected: seconds that it is thought to take."""

    key: Key
    version: str
    function: Any
    request: Any
    session: str
    expected: float
    at: float  # when it was asked for, by the clock on the wall: replicas take up what waits in this order


class Served:
    """An engine, and how much of what it has done was told."""

    def __init__(self, key: Key) -> None:
        # The web server says how much each visitor may ask for, and paces what is shown.
        limits = dataclasses.replace(key.limits, session=1 << 30, updates=0.02, events=600.0, prompt=True)
        self.engine = Engine(key.device, limits, key.name)
        self.lines: deque[dict[str, Any]] = deque(maxlen=1000)
        self._told: Counter[Any] = Counter()

    def news(self) -> tuple[Counter[Any], list[dict[str, Any]]]:
        """What was counted (batch sizes; "computing", in seconds; what else has a name) and logged since this was last asked for."""
        seen = self.engine.snapshot()
        now: Counter[Any] = Counter(dict(seen.batch_sizes))
        named: dict[str, Any] = {"asked": seen.asked, "cancelled": seen.cancelled, "out_of_memory": seen.out_of_memory}
        now.update(named | {"computing": seen.computing_seconds})
        new = now - self._told
        self._told = now
        return new, [self.lines.popleft() for _ in range(len(self.lines))]


class Replica(logging.Handler):
    """Answers in bytes, so that what carries them need not know what they hold."""

    def __init__(self, version: str) -> None:
        """version: the name of the function that tells the digest of what is held here."""
        super().__init__()
        self._own = asyncio.create_task(asyncio.to_thread(lambda: str(Work(version, version).resolve()())))
        self._served: dict[Key, Served] = {}
        logging.getLogger("explorer").addHandler(self)
        logging.getLogger("explorer").setLevel(logging.INFO)

    async def follow(self, asked: bytes) -> AsyncGenerator[bytes, None]:
        """A request's updates: once that it runs, its steps, its outcome last."""
        one: Asked = pickle.loads(asked)
        own = await self._own
        served = self._of(one.key)
        if own != one.version:
            yield _packed(served, other_version(one.version, own))
            return
        cost = served.engine.expect(one.function, one.request, one.expected)
        runs, since = False, min(one.at - AHEAD, time.monotonic())  # clocks of two machines may differ
        try:
            async with contextlib.aclosing(served.engine.stream(one.function, one.request, one.session, since)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        yield _packed(served, update, cost.seconds)
                    elif not (isinstance(update, Waiting) and (update.place or runs)):
                        runs = True
                        yield _packed(served, update)
        except InputError as error:
            yield _packed(served, error)
            end = asyncio.get_running_loop().time() + LATE * isinstance(error, TooSlow)
            while asyncio.get_running_loop().time() < end:
                await asyncio.sleep(0.2)
                if (late := served.engine.known(one.function, one.request)) is not None:
                    yield _packed(served, dataclasses.replace(late, known=False))
                    return

    async def halt(self, key: Key, session: str) -> bool:
        """As `Engine.halt`."""
        return self._of(key).engine.halt(session)

    async def warm(self, key: Key, asked: bytes) -> bytes:
        """As `Engine.warm`, of one function: None, or the error."""
        try:
            await asyncio.wrap_future(self._of(key).engine.warm(pickle.loads(asked))[0])
        except Exception as error:
            return pickle.dumps(error)
        return pickle.dumps(None)

    async def news(self, key: Key) -> bytes:
        """As `Served.news`; `follow` tells it with every update."""
        return pickle.dumps(self._of(key).news())

    async def alive(self) -> bytes:
        """How many requests wait here, by who asks."""
        return pickle.dumps({key: served.engine.snapshot().waiting for key, served in self._served.items()})

    def _of(self, key: Key) -> Served:
        return self._served.setdefault(key, Served(key)) if key not in self._served else self._served[key]

    def emit(self, record: logging.LogRecord) -> None:
        """A line of an engine's thread, which has its name, goes to those who asked, as well as to this machine's own log."""
        line = {"name": record.name, "levelno": record.levelno, "msg": record.getMessage(), "facts": getattr(record, "facts", {})}
        for key, served in list(self._served.items()):
            if key.name == record.threadName:
                served.lines.append({**line, "levelname": record.levelname})


def _packed(served: Served, update: Any, seconds: float = 0.0) -> bytes:
    """An update with its news. seconds: what a request of this kind costs, 0 where that is not said."""
    cause = update.__cause__ if isinstance(update, InputError) else None
    try:
        return pickle.dumps((update, cause, seconds, served.news()), protocol=5)
    except Exception:
        logging.getLogger(__name__).exception("what was computed cannot travel")
        return pickle.dumps((update if cause is not None else went_wrong(), None, seconds, served.news()))
