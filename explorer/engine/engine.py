"""The engine itself, which the pages call.

The scheduler keeps who asks and who waits; the worker computes.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Hashable
from concurrent.futures import Future
from typing import Any

from explorer.engine.records import Answer, Function, Limits, QueuePlace, Snapshot, is_closing
from explorer.engine.runs import Cost
from explorer.engine.scheduler import Scheduler, clock
from explorer.engine.worker import Worker


class Engine:
    """The engine: it runs functions for many visitors at once.

    All methods may be called from any thread and any event loop.
    """

    away = False  # whether the machines that compute are out of reach now

    async def wait_until_reachable(self) -> None:
        """Return once the machines that compute are within reach."""

    def __init__(
        self, device: str = "cpu", limits: Limits | None = None, name: str = "engine"
    ) -> None:
        """Set up an engine; its thread starts with the first request.

        device: the text of the badge, or the name of a function that returns it,
        "models.checkpoints.device:choose_server_device". The thread that computes calls it once,
        before it computes.
        name: the name of that thread.
        """
        self.limits = limits or Limits()
        self._scheduler = Scheduler(self.limits)
        self._worker = Worker(self._scheduler, device, name)

    @property
    def is_stuck(self) -> bool:
        """Whether nothing is computed until a call that has outlived its deadline comes back."""
        self._worker.leave_overdue_behind()  # because its askers may all have left
        return self._worker.is_stuck

    async def ask(
        self, function: Function, request: Hashable, session: str = "", since: float | None = None
    ) -> Answer[Any]:
        """Return the result of one request.

        since: as in `stream`.

        Raise its InputError, Busy, TooSlow or Failed. Cancelling the task gives its place back.
        """
        async with contextlib.aclosing(self.watch(function, request, session, since)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    return update
        raise AssertionError("a watch ends with its answer or an error")

    async def watch(
        self, function: Function, request: Hashable, session: str = "", since: float | None = None
    ) -> AsyncGenerator[QueuePlace | Answer[Any], None]:
        """Yield the place of a request in the queue, and its Answer last.

        An update comes at least every 2 s, and every 0.5 s with less than 30 waiting. Errors are
        those of `ask`.
        """
        async with contextlib.aclosing(self.stream(function, request, session, since)) as updates:
            async for update in updates:
                if not isinstance(update, list):
                    yield update

    async def stream(
        self, function: Function, request: Hashable, session: str = "", since: float | None = None
    ) -> AsyncGenerator[QueuePlace | list[Any] | Answer[Any], None]:
        """Yield what `watch` yields, and the steps of a function that yields.

        At most 10 updates come in a second, each with all steps since the last one. A stream that
        runs already gives all its steps so far, then goes on. A remembered result comes without
        steps.

        since: the time of the request (time.monotonic) where it began elsewhere, or where it is a
        part of an earlier request.
        """
        entered = self._scheduler.enter(function, request, session, since)
        if isinstance(entered, Answer):
            yield entered
            return
        run, asker = entered
        # A quick answer comes without a word about the queue.
        seen, spoken = 0, clock() - self.limits.heartbeat / 2
        told = not self.limits.prompt
        try:
            self._worker.ensure_thread()
            while run.outcome is None:
                self._worker.leave_overdue_behind()
                if run.begun and not told:
                    told = True
                    yield QueuePlace(0, 0, run.work.find_cost(run.group).seconds)
                crowd = self._scheduler.askers / self.limits.events
                fresh = len(run.steps) > seen
                silence = min(
                    2.0, max(self.limits.updates if fresh else self.limits.heartbeat, crowd)
                )
                if (rest := spoken + silence - clock()) > 0:
                    await asker.wait(rest)
                    continue
                steps = run.steps[seen:]
                seen, spoken = seen + len(steps), clock()
                yield steps or self._scheduler.place(run)
            if len(run.steps) > seen:
                yield run.steps[seen:]
            if not isinstance(run.outcome, Answer):
                raise run.outcome.with_traceback(None)
            yield run.outcome
        finally:
            self._scheduler.leave(run, asker)
            self._worker.drop_run(run)

    def halt(self, session: str) -> bool:
        """Stop the live runs of this page: their answer holds what there is so far.

        Returns False where nothing of this page is under way.
        """
        return self._scheduler.halt(session) and self._worker.halt(session)

    def recall(self, function: Function, request: Hashable) -> Answer[Any] | None:
        """Return the remembered result of a request, or None: nothing is computed."""
        return self._scheduler.recall(function, request)

    def expect(self, function: Function, request: Hashable, seconds: float) -> Cost:
        """Return the cost of requests of this kind, which is learned from now on.

        seconds: the cost to begin with, where no request of this kind was computed yet.
        """
        with self._scheduler.changed:
            work = self._scheduler.find_work(function)
            cost = work.find_cost(request.group() if hasattr(request, "group") else None)
            if not work.loaded:
                cost.seconds = seconds
            return cost

    def warm(self, *functions: Function) -> list[Future[None]]:
        """Import functions in the background, where they will run.

        Returns one future for each; it holds the error if the import fails.
        """
        with self._scheduler.changed:
            return [
                self._worker.warm(self._scheduler.find_work(function)) for function in functions
            ]

    def snapshot(self) -> Snapshot:
        """Return the engine in numbers that are consistent with each other."""
        return self._scheduler.snapshot()

    def close(self, grace: float = 20.0) -> bool:
        """Refuse new work, finish what runs and waits, and end the rest as Busy after `grace`
        seconds.

        Returns whether every request was answered. It blocks: from an event loop, call `await
        asyncio.to_thread(engine.close)`.
        """
        scheduler = self._scheduler
        with scheduler.changed:
            scheduler.closing = True
            scheduler.changed.notify_all()
            finished = scheduler.changed.wait_for(lambda: not scheduler.runs, grace)
            for run in list(scheduler.runs.values()):
                scheduler.finish(run, is_closing())
            scheduler.waiting.clear()
        self._worker.stop()
        return finished
