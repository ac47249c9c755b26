"""The engine itself: a queue, a worker, and turns."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import logging
import math
import sys
import threading
import time
import traceback
from bisect import insort
from collections import Counter, deque
from collections.abc import AsyncGenerator, Hashable, Iterator
from concurrent.futures import Future
from operator import attrgetter
from typing import Any

from explorer.engine.records import (
    Answer,
    Busy,
    Failed,
    Function,
    Limits,
    Snapshot,
    TooSlow,
    Waiting,
    is_closing,
    memory_ran_out,
    out_of_time,
    queue_is_full,
    too_many_of_yours,
    went_wrong,
)
from explorer.engine.runs import Asker, Batch, Run, Work
from explorer.engine.store import Store
from models.errors import InputError

clock = time.monotonic
logger = logging.getLogger(__name__)


class Engine:
    """Runs functions for many visitors at once. All methods may be called from any thread and any event loop."""

    def __init__(self, device: str = "cpu", limits: Limits | None = None) -> None:
        """device: what the badge says, or the name of a function that tells it, "models.device:beside_a_server", called once by the
        thread that computes, before it does."""
        self.limits = limits or Limits()
        self._device = device
        self._changed = threading.Condition(threading.RLock())  # guards all that follows
        self._works: dict[Hashable, Work] = {}
        self._waiting: list[Run] = []  # by Run.due
        self._runs: dict[Hashable, Run] = {}  # unfinished, by what they compute
        self._streams: deque[Batch] = deque()
        self._current: Batch | None = None
        self._stream_next = False  # calls and streams alternate
        self._warming: deque[tuple[Work, Future[None]]] = deque()
        self._store = Store(self.limits.store)
        self._sessions: Counter[str] = Counter()
        self._thread: threading.Thread | None = None
        self._left_behind: set[threading.Thread] = set()
        self._closing = False
        self._askers = 0
        self._places: tuple[float, dict[Run, Waiting]] = (-math.inf, {})
        self._counts: Counter[str] = Counter()
        self._sizes: Counter[int] = Counter()
        self._computing = 0.0
        self._latencies: deque[float] = deque(maxlen=1000)

    # ---- what pages call -------------------------------------------------------------------------------------------------------

    async def ask(self, function: Function, request: Hashable, session: str = "") -> Answer[Any]:
        """The result of one request. Raises its InputError, Busy, TooSlow or Failed. Cancelling the task gives the place back."""
        async with contextlib.aclosing(self.watch(function, request, session)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    return update
        raise AssertionError("a watch ends with its answer or an error")

    async def watch(self, function: Function, request: Hashable, session: str = "") -> AsyncGenerator[Waiting | Answer[Any], None]:
        """As `ask`, saying where the request stands at least every 2 s (every 0.5 s with less than 30 waiting), the Answer last."""
        async with contextlib.aclosing(self.stream(function, request, session)) as updates:
            async for update in updates:
                if not isinstance(update, list):
                    yield update

    async def stream(
        self, function: Function, request: Hashable, session: str = ""
    ) -> AsyncGenerator[Waiting | list[Any] | Answer[Any], None]:
        """As `watch`, with the steps of a function that yields: at most 10 updates a second, each all steps since the last.

        Whoever asks for a stream that runs already gets all its steps so far, then follows. A remembered result comes without steps.
        """
        entered = self._enter(function, request, session)
        if isinstance(entered, Answer):
            yield entered
            return
        run, asker = entered
        seen, spoken = 0, clock() - self.limits.heartbeat / 2  # who is answered soon hears of no queue
        try:
            while run.outcome is None:
                self._leave_overdue_behind()
                crowd = self._askers / self.limits.events
                fresh = len(run.steps) > seen
                silence = min(2.0, max(self.limits.updates if fresh else self.limits.heartbeat, crowd))
                if (rest := spoken + silence - clock()) > 0:
                    await asker.wait(rest)
                    continue
                steps = run.steps[seen:]
                seen, spoken = seen + len(steps), clock()
                yield steps or self._place(run)
            if len(run.steps) > seen:
                yield run.steps[seen:]
            if not isinstance(run.outcome, Answer):
                raise run.outcome.with_traceback(None)
            yield run.outcome
        finally:
            self._leave(run, asker)

    def known(self, function: Function, request: Hashable) -> Answer[Any] | None:
        """The remembered result of a request, or None: nothing is computed."""
        with self._changed:
            found = self._store.get((_key(function), request))
        return None if found is None else dataclasses.replace(found, known=True)

    def warm(self, *functions: Function) -> list[Future[None]]:
        """Import functions in the background, where they will run; one future each, which holds the error if the import fails."""
        futures: list[Future[None]] = []
        with self._changed:
            for function in functions:
                futures.append(Future())
                self._warming.append((self._work_of(function), futures[-1]))
            self._ensure_worker()
            self._changed.notify_all()
        return futures

    def snapshot(self) -> Snapshot:
        """The engine in numbers, consistent in themselves."""
        with self._changed:
            late = sorted(self._latencies) or [0.0]
            count = self._counts
            return Snapshot(
                waiting=len(self._waiting),
                running=len(self._runs) - len(self._waiting),
                asked=count["asked"],
                answered=count["answered"],
                from_store=count["from_store"],
                shared=count["shared"],
                cancelled=count["cancelled"],
                refused=count["refused"],
                input_errors=count["input_errors"],
                failed=count["failed"],
                too_slow=count["too_slow"],
                out_of_memory=count["out_of_memory"],
                batches=sum(self._sizes.values()),
                batch_sizes=tuple(sorted(self._sizes.items())),
                computing_seconds=self._computing,
                latency_median=late[len(late) // 2],
                latency_p95=late[math.ceil(len(late) * 0.95) - 1],
                store_items=len(self._store),
                store_bytes=self._store.bytes,
            )

    def close(self, grace: float = 20.0) -> bool:
        """Refuse new work, finish what runs and waits, and hand the rest back (Busy) after `grace` seconds. True: all was answered.

        It blocks: from an event loop, `await asyncio.to_thread(engine.close)`.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            finished = self._changed.wait_for(lambda: not self._runs, grace)
            for run in list(self._runs.values()):
                self._finish(run, is_closing())
            self._waiting.clear()
            thread, self._thread = self._thread, None
            while self._warming:
                self._warming.popleft()[1].cancel()
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(1.0)
        return finished

    # ---- coming and going ------------------------------------------------------------------------------------------------------

    def _work_of(self, function: Function) -> Work:
        key = _key(function)
        return self._works.setdefault(key, Work(key, function))

    def _enter(self, function: Function, request: Hashable, session: str) -> Answer[Any] | tuple[Run, Asker]:
        """A remembered answer, or a place at a run of this request: one that is there already, or a new one at the queue's end."""
        asker = Asker(session)
        with self._changed:
            self._counts["asked"] += 1
            if (answer := self.known(function, request)) is not None:
                self._counts["from_store"] += 1
                self._counts["answered"] += 1
                return answer
            key = (_key(function), request)
            run = self._runs.get(key)
            if self._closing:
                self._refuse(is_closing())
            if session and self._sessions[session] >= self.limits.session:
                self._refuse(too_many_of_yours(self.limits.session))
            if run is None:
                if len(self._waiting) >= self.limits.queue:
                    self._refuse(queue_is_full(self.limits.queue))
                work = self._work_of(function)
                group = request.group() if hasattr(request, "group") else None
                run = Run(key, work, request, group, self.limits.batch, clock(), work.cost(group).seconds)
                self._runs[key] = run
                insort(self._waiting, run, key=attrgetter("due"))
                self._ensure_worker()
                self._changed.notify_all()
            else:
                self._counts["shared"] += 1
            run.askers.add(asker)
            self._askers += 1
            if session:
                self._sessions[session] += 1
        return run, asker

    def _refuse(self, busy: Busy) -> None:
        self._counts["refused"] += 1
        raise busy

    def _leave(self, run: Run, asker: Asker) -> None:
        """Nobody waits there any more. A queued run without askers is dropped; a stream is closed at its next turn."""
        with self._changed:
            run.askers.discard(asker)
            self._askers -= 1
            if asker.session:
                self._sessions[asker.session] -= 1
                if not self._sessions[asker.session]:
                    del self._sessions[asker.session]
            if run.outcome is None:
                self._counts["cancelled"] += 1
                if not run.askers and run in self._waiting:
                    self._waiting.remove(run)
                    del self._runs[run.key]
                self._changed.notify_all()

    def _place(self, run: Run) -> Waiting:
        with self._changed:
            made, places = self._places
            if clock() - made > 0.1 or run not in places:
                seconds = 0.0
                if self._current is not None:
                    seconds = max(0.0, self._current.expected() - (clock() - self._current.began))
                waiting, places = len(self._waiting), {r: Waiting(0, len(self._waiting), seconds) for r in self._runs.values()}
                for place, r in enumerate(self._waiting, 1):
                    seconds += r.work.cost(r.group).seconds
                    places[r] = Waiting(place, waiting, seconds)
                self._places = (clock(), places)
            return places.get(run, Waiting(0, len(self._waiting), 0.0))

    # ---- the worker ------------------------------------------------------------------------------------------------------------

    def _ensure_worker(self) -> None:
        if self._thread is None and not self._closing and len(self._left_behind) < self.limits.left_behind:
            self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        """The worker's life: take what is due, advance it, tell its askers; until the engine closes or leaves this thread behind."""
        me = threading.current_thread()
        while True:
            with self._changed:
                while True:
                    if self._thread is not me or (self._closing and not self._runs):
                        self._close_streams()
                        return
                    due = self._choose()
                    if due is not None and not isinstance(due, float):
                        break
                    self._changed.wait(due)
                if isinstance(due, Batch):
                    due.began, self._current = clock(), due
            if not isinstance(due, Batch):
                _import(*due)
                continue
            self._advance(due)
            with self._changed:
                if self._thread is me:
                    self._current = None
                    self._changed.notify_all()
                    continue
                self._left_behind.discard(me)  # the deadline, or the engine, was over before this came back
                self._ensure_worker()
            if due.turns is not None:
                _shut(due.turns)
            return

    def _choose(self) -> Batch | tuple[Work, Future[None]] | float | None:
        """What is due: a batch, an import, seconds to wait for company, or None: nothing. Streams and calls take turns, calls first."""
        if self._streams and self._stream_next:
            self._stream_next = False
            return self._streams.popleft()
        head = next((run for run in self._waiting if len(self._streams) < self.limits.streams or not run.work.yields), None)
        company = None
        if head is not None:
            cost = head.work.cost(head.group)
            most = max(1, min(head.most, cost.limit(self.limits)))
            runs = [r for r in self._waiting if r.work is head.work and r.group == head.group and r.most == head.most][:most]
            company = head.arrived + self.limits.company - clock()
            if len(runs) >= most or company <= 0 or self._closing:
                taken = set(runs)
                self._waiting = [run for run in self._waiting if run not in taken]
                self._stream_next = True
                self._sizes[len(runs)] += 1
                return Batch(head.work, head.group, runs)
        if self._streams:
            return self._streams.popleft()
        if self._warming and head is None:
            return self._warming.popleft()
        return company

    def _advance(self, batch: Batch) -> None:
        """One call, or one turn of a function that yields; then its askers are told."""
        if batch.turns is not None and self._nobody_follows(batch):
            _shut(batch.turns)
            return
        began = clock()
        try:
            function = batch.work.resolve()
            self._where()
            began = batch.began = clock()  # an import is no computing
            if batch.turns is None:
                given = function([run.request for run in batch.runs])
                if not hasattr(given, "__next__"):
                    self._deliver(batch, began, [[] for _ in batch.runs], list(given), over=True)
                    return
                batch.turns, batch.work.yields = given, True
            self._deliver(batch, began, *self._turn(batch.turns, len(batch.runs)))
        except BaseException as error:  # whatever it is, the next request must find a worker
            self._spoiled(batch, error)

    def _turn(self, turns: Iterator[list[Any]], size: int) -> tuple[list[list[Any]], list[Any], bool]:
        """Advance for at most `Limits.turn`, if its yields are shorter: new steps and outcome (or None) of each request; is it over?"""
        steps: list[list[Any]] = [[] for _ in range(size)]
        outcomes: list[Any] = [None] * size
        began, longest = clock(), 0.0
        while True:
            before = clock()
            entries = next(turns, None)
            if entries is None:
                return steps, outcomes, True
            for i, entry in enumerate(entries):
                if isinstance(entry, list):
                    steps[i] += entry
                elif entry is not None:
                    outcomes[i] = entry
            longest = max(longest, clock() - before)
            if clock() - began + longest > self.limits.turn:
                return steps, outcomes, False

    def _deliver(self, batch: Batch, began: float, steps: list[list[Any]], outcomes: list[Any], over: bool) -> None:
        """Hand out new steps and results, and note what they cost."""
        if len(outcomes) != len(batch.runs):
            raise ValueError(f"{len(outcomes)} results for {len(batch.runs)} requests")
        took = clock() - began
        device = self._where()
        with self._changed:
            self._computing += took
            batch.took += took
            for run, new, outcome in zip(batch.runs, steps, outcomes, strict=True):
                if isinstance(outcome, InputError):
                    self._finish(run, outcome)
                elif outcome is not None:
                    answer = Answer(outcome, batch.took * 1000, device, known=False)
                    self._store.put(run.key, answer)
                    run.add(new)
                    self._finish(run, answer)
                elif run.outcome is None and over:
                    raise ValueError("the function ended without a result for one of its requests")
                elif run.outcome is None and batch.took > self.limits.deadline:
                    self._finish(run, out_of_time(self.limits.deadline))
                elif run.add(new):
                    run.wake()
            if over or all(run.outcome is not None for run in batch.runs):
                batch.work.cost(batch.group).learn(batch, self.limits)
            if batch.turns is not None and not over and self._thread is threading.current_thread():
                self._streams.append(batch)  # one that nobody needs any more is closed at its next turn

    def _finish(self, run: Run, outcome: Answer[Any] | InputError) -> None:
        if run.outcome is not None:
            return
        run.outcome = outcome
        if self._runs.get(run.key) is run:
            del self._runs[run.key]
        kinds = {TooSlow: "too_slow", Failed: "failed", Busy: "refused", Answer: "answered"}
        self._counts[kinds.get(type(outcome), "input_errors")] += len(run.askers) if isinstance(outcome, Answer) else 1
        self._latencies.append(clock() - run.arrived)
        run.wake()
        self._changed.notify_all()

    def _nobody_follows(self, batch: Batch) -> bool:
        """Is every request of a stream finished or left by its askers? Then it is forgotten here, so that nobody can join any more."""
        with self._changed:
            if any(run.outcome is None and run.askers for run in batch.runs):
                return False
            for run in batch.runs:
                if self._runs.get(run.key) is run:
                    del self._runs[run.key]
            self._changed.notify_all()
            return True

    def _spoiled(self, batch: Batch, error: BaseException) -> None:
        """An exception spoils no other request: the batch is tried again one by one, or, out of memory, once in halves."""
        no_memory = _out_of_memory(error)
        logger.error("%s in %s, batch of %d\n%s", type(error).__name__, batch.work.name, len(batch.runs), _where_in_code(error))
        if batch.turns is not None:
            _shut(batch.turns)
        with self._changed:
            size = len(batch.runs)
            self._counts["out_of_memory"] += no_memory
            if no_memory:
                batch.work.cost(batch.group).most = max(1, size // 2)
            for run in batch.runs:
                if run.outcome is not None:
                    continue
                if size == 1 or (no_memory and run.halved):
                    outcome = memory_ran_out() if no_memory else went_wrong()
                    outcome.__cause__ = None if no_memory else error  # its frames would hold the memory
                    self._finish(run, outcome)
                elif run.askers and self._thread is threading.current_thread():
                    run.most, run.halved, run.skip = (size // 2, True, len(run.steps)) if no_memory else (1, run.halved, len(run.steps))
                    insort(self._waiting, run, key=attrgetter("due"))
                else:
                    self._runs.pop(run.key, None)
            self._changed.notify_all()
        if no_memory:
            error.__traceback__ = None
            _free_memory()

    def _leave_overdue_behind(self) -> None:
        """A call that cannot be stopped has used up its time: tell its askers and let a fresh thread go on with the others."""
        with self._changed:
            batch = self._current
            if batch is None or self._thread is None or batch.began + self.limits.deadline > clock() - batch.took:
                return
            for run in batch.runs:
                self._finish(run, out_of_time(self.limits.deadline))
            logger.error("%s outlived its deadline in a batch of %d", batch.work.name, len(batch.runs))
            self._left_behind.add(self._thread)
            self._thread = self._current = None
            self._ensure_worker()

    def _close_streams(self) -> None:
        while self._streams:
            turns = self._streams.popleft().turns
            if turns is not None:
                _shut(turns)

    def _where(self) -> str:
        if ":" in self._device:
            self._device = str(Work(self._device, self._device).resolve()())
        return self._device


def _key(function: Function) -> Hashable:
    """One key for a function and its name; a function inside another is its own key."""
    if isinstance(function, str) or "<" in getattr(function, "__qualname__", "<"):
        return function
    return f"{function.__module__}:{function.__qualname__}"


def _import(work: Work, future: Future[None]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        work.resolve()
        future.set_result(None)
    except BaseException as error:
        logger.exception("import of %s", work.name)
        future.set_exception(error)


def _shut(turns: Iterator[list[Any]]) -> None:
    """Let a generator run its `finally`."""
    try:
        if hasattr(turns, "close"):
            turns.close()
    except Exception as error:
        logger.error("%s while closing\n%s", type(error).__name__, _where_in_code(error))


def _where_in_code(error: BaseException) -> str:
    """The traceback without the message, which may hold what a visitor wrote."""
    return "".join(traceback.format_tb(error.__traceback__))


def _out_of_memory(error: BaseException) -> bool:
    said = isinstance(error, RuntimeError) and any(s in str(error) for s in ("not enough memory", "can't allocate memory", "out of memory"))
    return said or isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _free_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
