"""What the engine keeps about one computation: who asks for it, in which batch it runs, what its kind costs."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import math
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from explorer.engine.records import Answer, Function, Limits
from models.errors import InputError


class Asker:
    """A waiting handler, woken from the worker's thread in its own event loop."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.address: str = getattr(session, "address", "")
        self.loop = asyncio.get_running_loop()
        self.woken = asyncio.Event()

    def wake(self) -> None:
        """Called from the worker's thread."""
        with contextlib.suppress(RuntimeError):  # its loop has been closed: nobody waits there
            self.loop.call_soon_threadsafe(self.woken.set)

    async def wait(self, seconds: float) -> None:
        """Until woken, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        self.woken.clear()


class Run:
    """One computation, for all who ask for it."""

    def __init__(self, key: Hashable, work: Work, request: Hashable, group: Hashable, most: int, arrived: float, expected: float) -> None:
        self.key, self.work, self.request, self.group = key, work, request, group
        self.live = bool(getattr(request, "live", False))  # see records.Function
        self.most = 1 if self.live else most  # requests in its batch
        self.begun = False
        self.halted = False  # whoever asked wants what there is of it
        self.halved = False
        self.arrived = arrived
        self.due = arrived + expected  # short calls go before long ones, and none waits for ever
        self.askers: set[Asker] = set()
        self.steps: list[Any] = []
        self.skip = 0  # steps told already when a spoiled batch is tried again
        self.outcome: Answer[Any] | InputError | None = None

    @property
    def addresses(self) -> set[str]:
        """From where it is asked for; "" is the server itself."""
        return {asker.address for asker in self.askers}

    def add(self, steps: list[Any]) -> bool:
        """Note new steps; was there any?"""
        told = min(self.skip, len(steps))
        self.skip -= told
        self.steps += steps[told:]
        return len(steps) > told

    def wake(self) -> None:
        """Tell all askers that there is news."""
        for asker in self.askers:
            asker.wake()


class Batch:
    """Requests computed together. turns: where the function yields, what is left of it."""

    def __init__(self, work: Work, group: Hashable, runs: list[Run], limits: Limits) -> None:
        self.work, self.group, self.runs = work, group, runs
        self.due = min((run.due for run in runs), default=0.0)
        self.turns: Iterator[list[Any]] | None = None
        self.took = 0.0  # seconds of computing so far, without the call or turn that runs now
        self.allowed = limits.deadline + (0.0 if work.loaded else limits.loading)  # seconds of computing
        self._began: float | None = None

    @property
    def addresses(self) -> set[str]:
        """From where its requests are asked for; empty where nobody follows any more."""
        return {address for run in self.runs for address in run.addresses}

    def begin(self) -> None:
        """A call or turn begins."""
        self._began = time.monotonic()

    def rest(self) -> float:
        """It is over; the seconds that it took, 0 where none was under way."""
        took, self._began = self.seconds(), None
        self.took += took
        return took

    def seconds(self) -> float:
        """How long the call or turn under way has run."""
        began = self._began  # once: the thread that computes may stop the watch between two looks
        return 0.0 if began is None else time.monotonic() - began

    def expected(self) -> float:
        """Seconds of computing, as far as is known."""
        return self.work.cost(self.group).seconds * len(self.runs)


class Cost:
    """What requests of one group cost: learned, forgetting slowly."""

    def __init__(self) -> None:
        self.seconds = 0.1  # of a request in its batch
        self.most = math.inf  # requests in a batch: halved when memory runs out, one more after each batch that fits

    def learn(self, batch: Batch, limits: Limits) -> None:
        """From a finished batch. What went fast counts more than what went slowly: the first call also loads a model."""
        seconds = batch.took / len(batch.runs)
        self.seconds += (0.7 if seconds < self.seconds else 0.3) * (seconds - self.seconds)
        self.most = self.most + 1 if self.most < limits.batch else math.inf

    def limit(self, limits: Limits) -> int:
        """How many requests one batch should hold."""
        return int(max(1, min(limits.batch, self.most, limits.batch_seconds / max(self.seconds, 1e-6))))


class Work:
    """A function that the engine runs."""

    def __init__(self, name: Hashable, function: Function) -> None:
        self.name = name
        self.yields = False  # known after its first call
        self.loaded = False  # has it ever come to an end? Its first call also reads a model
        self._function = function
        self._costs: dict[Hashable, Cost] = {}

    def resolve(self) -> Callable[..., Any]:
        """The function itself, imported at first use."""
        if isinstance(self._function, str):
            module, _, name = self._function.partition(":")
            self._function = getattr(importlib.import_module(module), name)
        return self._function  # type: ignore[return-value]

    def cost(self, group: Hashable) -> Cost:
        """What a request of that group costs."""
        if len(self._costs) > 256 and group not in self._costs:
            self._costs.clear()
        return self._costs.setdefault(group, Cost())
