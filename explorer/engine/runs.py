"""The records of one computation: who asks for it, its batch, and the cost of its kind."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import math
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from explorer.engine.records import Answer, Function, Limits
from models.explaining.errors import InputError


class Asker:
    """A waiting handler, which the worker's thread wakes in the handler's own event loop."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.address: str = getattr(session, "address", "")
        self.loop = asyncio.get_running_loop()
        self.woken = asyncio.Event()

    def wake(self) -> None:
        """Wake the handler; the worker's thread calls this."""
        with contextlib.suppress(RuntimeError):  # its loop is closed, so nobody waits there
            self.loop.call_soon_threadsafe(self.woken.set)

    async def wait(self, seconds: float) -> None:
        """Return once woken, or after some seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        self.woken.clear()


class EngineRun:
    """One computation, for all who ask for it."""

    def __init__(
        self,
        key: Hashable,
        work: Work,
        request: Hashable,
        group: Hashable,
        most: int,
        arrived: float,
        expected: float,
    ) -> None:
        self.key, self.work, self.request, self.group = key, work, request, group
        self.live = bool(getattr(request, "live", False))  # see records.Function
        self.most = 1 if self.live else most  # requests in its batch
        self.begun = False
        self.halted = False  # whether the page wants the result as far as it has come
        self.halved = False
        self.arrived = arrived
        self.due = arrived + expected  # short calls go before long ones, and none waits for ever
        self.askers: set[Asker] = set()
        self.steps: list[Any] = []
        # steps to leave out when a spoiled batch is tried again, because they were sent already
        self.skip = 0
        self.outcome: Answer[Any] | InputError | None = None

    @property
    def addresses(self) -> set[str]:
        """The addresses that ask for it; "" is the server itself."""
        return {asker.address for asker in self.askers}

    @property
    def pages(self) -> set[str]:
        """The pages that ask for it; "" stands for every page without a name."""
        return {asker.session for asker in self.askers}

    def add_steps(self, steps: list[Any]) -> bool:
        """Note new steps, and return whether there are any."""
        told = min(self.skip, len(steps))
        self.skip -= told
        self.steps += steps[told:]
        return len(steps) > told

    def wake(self) -> None:
        """Wake all askers, because there is news."""
        for asker in self.askers:
            asker.wake()


class RunBatch:
    """Requests that are computed together.

    turns: the rest of the generator, where the function yields.
    """

    def __init__(self, work: Work, group: Hashable, runs: list[EngineRun], limits: Limits) -> None:
        self.work, self.group, self.runs = work, group, runs
        self.due = min((run.due for run in runs), default=0.0)
        self.turns: Iterator[list[Any]] | None = None
        self.took = 0.0  # seconds of computing so far, without the call or turn that runs now
        # Seconds of computing before the deadline.
        self.allowed = limits.deadline + (0.0 if work.loaded else limits.loading)
        self._began: float | None = None

    @property
    def addresses(self) -> set[str]:
        """The addresses that ask for its requests; empty where nobody follows any more."""
        return {address for run in self.runs for address in run.addresses}

    def begin_turn(self) -> None:
        """Note the time at which a call or turn begins."""
        self._began = time.monotonic()

    def end_turn(self) -> float:
        """Note the end of a call or turn, and return its seconds: 0 where none is under way."""
        took, self._began = self.measure_turn(), None
        self.took += took
        return took

    def measure_turn(self) -> float:
        """Return the seconds of the call or turn under way."""
        began = self._began  # read once, because the thread that computes may clear it in between
        return 0.0 if began is None else time.monotonic() - began

    def expect_seconds(self) -> float:
        """Return the expected seconds of computing."""
        return self.work.find_cost(self.group).seconds * len(self.runs)


class Cost:
    """The cost of the requests of one group, learned with slow forgetting."""

    def __init__(self) -> None:
        self.seconds = 0.1  # of a request in its batch
        # Requests in a batch: halved when memory runs out, one more after each batch that fits.
        self.most = math.inf

    def learn_from(self, batch: RunBatch, limits: Limits) -> None:
        """Learn from a finished batch.

        A fast batch counts more than a slow one, because the first call also loads a model.
        """
        seconds = batch.took / len(batch.runs)
        self.seconds += (0.7 if seconds < self.seconds else 0.3) * (seconds - self.seconds)
        self.most = self.most + 1 if self.most < limits.batch else math.inf

    def limit_batch(self, limits: Limits) -> int:
        """Return how many requests one batch should hold."""
        return int(
            max(1, min(limits.batch, self.most, limits.batch_seconds / max(self.seconds, 1e-6)))
        )


class Work:
    """A function that the engine runs."""

    def __init__(self, name: Hashable, function: Function) -> None:
        self.name = name
        self.yields = False  # known after its first call
        self.loaded = False  # whether a call has ever ended; the first one also reads a model
        self._function = function
        self._costs: dict[Hashable, Cost] = {}

    def import_function(self) -> Callable[..., Any]:
        """Return the function itself, which is imported at its first use."""
        if isinstance(self._function, str):
            module, _, name = self._function.partition(":")
            self._function = getattr(importlib.import_module(module), name)
        return self._function  # type: ignore[return-value]

    def find_cost(self, group: Hashable) -> Cost:
        """Return the cost of the requests of a group."""
        if len(self._costs) > 256 and group not in self._costs:
            self._costs.clear()
        return self._costs.setdefault(group, Cost())
