"""The engine itself: what pages call. Who asks and who waits is kept at the scheduler, what computes is the worker."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Hashable
from concurrent.futures import Future
from typing import Any

from explorer.engine.records import Answer, Function, Limits, Snapshot, Waiting, is_closing
from explorer.engine.runs import Cost
from explorer.engine.scheduler import Scheduler, clock
from explorer.engine.worker import Worker


class Engine:
    """Runs functions for many visitors at once. All methods may be called from any thread and any event loop."""

    away = False  # what computes is out of reach just now

    async def reached(self) -> None:
        """Returns once what computes is within reach."""

    def __init__(self, device: str = "cpu", limits: Limits | None = None, name: str = "engine") -> None:
        """device: what the badge says, or the name of a function that tells it, "models.device:beside_a_server", called once by the
        thread that computes, before it does. name: of that thread."""
        self.limits = limits or Limits()
        self._scheduler = Scheduler(self.limits)
        self._worker = Worker(self._scheduler, device, name)

    async def ask(self, function: Function, request: Hashable, session: str = "") -> Answer[Any]:
        """The result of one request. Raises its InputError, Busy, TooSlow or Failed. Cancelling the task gives the place back."""
        async with contextlib.aclosing(self.watch(function, request, session)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    return update
        raise AssertionError("a watch ends with its answer or an error")

    async def watch(
        self, function: Function, request: Hashable, session: str = "", since: float | None = None
    ) -> AsyncGenerator[Waiting | Answer[Any], None]:
        """As `ask`, saying where the request stands at least every 2 s (every 0.5 s with less than 30 waiting), the Answer last."""
        async with contextlib.aclosing(self.stream(function, request, session, since)) as updates:
            async for update in updates:
                if not isinstance(update, list):
                    yield update

    async def stream(
        self, function: Function, request: Hashable, session: str = "", since: float | None = None
    ) -> AsyncGenerator[Waiting | list[Any] | Answer[Any], None]:
        """As `watch`, with the steps of a function that yields: at most 10 updates a second, each all steps since the last.

        since: when it was asked for (time.monotonic), where that was elsewhere, or when that was of which it is a part. Whoever asks for a
        stream that runs already gets all its steps so far, then follows. A remembered result comes without steps.
        """
        entered = self._scheduler.enter(function, request, session, since)
        if isinstance(entered, Answer):
            yield entered
            return
        run, asker = entered
        seen, spoken = 0, clock() - self.limits.heartbeat / 2  # who is answered soon hears of no queue
        told = not self.limits.prompt
        try:
            self._worker.ensure()
            while run.outcome is None:
                self._worker.leave_overdue_behind()
                if run.begun and not told:
                    told = True
                    yield Waiting(0, 0, run.work.cost(run.group).seconds)
                crowd = self._scheduler.askers / self.limits.events
                fresh = len(run.steps) > seen
                silence = min(2.0, max(self.limits.updates if fresh else self.limits.heartbeat, crowd))
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
            self._worker.left(run)

    def halt(self, session: str) -> bool:
        """Stop what is timed for this page: its answer comes as far as it is there. False where nothing of it is under way."""
        return self._scheduler.halt(session) and self._worker.halt(session)

    def known(self, function: Function, request: Hashable) -> Answer[Any] | None:
        """The remembered result of a request, or None: nothing is computed."""
        return self._scheduler.known(function, request)

    def expect(self, function: Function, request: Hashable, seconds: float) -> Cost:
        """What a request of this kind costs, as learned from now on; `seconds` where nothing of it was computed yet."""
        with self._scheduler.changed:
            work = self._scheduler.work(function)
            cost = work.cost(request.group() if hasattr(request, "group") else None)
            if not work.loaded:
                cost.seconds = seconds
            return cost

    def warm(self, *functions: Function) -> list[Future[None]]:
        """Import functions in the background, where they will run; one future each, which holds the error if the import fails."""
        with self._scheduler.changed:
            return [self._worker.warm(self._scheduler.work(function)) for function in functions]

    def snapshot(self) -> Snapshot:
        """The engine in numbers, consistent in themselves."""
        return self._scheduler.snapshot()

    def close(self, grace: float = 20.0) -> bool:
        """Refuse new work, finish what runs and waits, and hand the rest back (Busy) after `grace` seconds. True: all was answered.

        It blocks: from an event loop, `await asyncio.to_thread(engine.close)`.
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
