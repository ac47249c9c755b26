"""The thread that computes: it takes from the scheduler what is due, advances it by a call or a turn, and tells its askers."""

from __future__ import annotations

import gc
import logging
import sys
import threading
import traceback
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from explorer.engine.records import Answer, cannot_be_read, memory_ran_out, out_of_time, went_wrong
from explorer.engine.runs import Batch, Run, Work
from explorer.engine.scheduler import Scheduler, clock
from models.errors import DamagedFile, InputError, Stopped

logger = logging.getLogger(__name__)


class Worker:
    """One thread at a time; one that outlives a deadline is left behind, and a fresh one goes on. `Scheduler.changed` guards it."""

    def __init__(self, scheduler: Scheduler, device: str, name: str = "engine") -> None:
        """device, name: see `Engine`."""
        self.scheduler = scheduler
        self.name = name
        self.limits = scheduler.limits
        self._device = device
        self._streams: list[Batch] = []
        self._advanced: dict[str, float] = {}  # address that has a stream under way -> when one of its streams was advanced last
        self._stream_next = False  # calls and streams alternate
        self._warming: deque[tuple[Work, Future[None]]] = deque()
        self._thread: threading.Thread | None = None
        self._left_behind: set[threading.Thread] = set()

    def ensure(self) -> None:
        """Start the thread, if there is none and another may be."""
        with self.scheduler.changed:
            if self._thread is None and not self.scheduler.closing and len(self._left_behind) < self.limits.left_behind:
                thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
                try:
                    thread.start()
                except (RuntimeError, MemoryError) as error:
                    self._not_started(error)
                else:
                    self._thread = thread

    def _not_started(self, error: Exception) -> None:
        """The machine has no room for another thread: whoever waits is told so, and whoever asks next tries again."""
        logger.error("the thread that computes could not be started: %s", error)
        for run in self.scheduler.waiting:
            outcome = went_wrong()
            outcome.__cause__ = error
            self.scheduler.finish(run, outcome)
        self.scheduler.waiting.clear()

    def warm(self, work: Work) -> Future[None]:
        """Import a function when nothing else is due."""
        future: Future[None] = Future()
        with self.scheduler.changed:
            self._warming.append((work, future))
            self.ensure()
            self.scheduler.changed.notify_all()
        return future

    def leave_overdue_behind(self) -> None:
        """A call that cannot be stopped has used up its time: tell its askers and let a fresh thread go on with the others."""
        with self.scheduler.changed:
            batch = self.scheduler.current
            if batch is None or self._thread is None or batch.took + batch.seconds() <= batch.allowed:
                return
            for run in batch.runs:
                self.scheduler.finish(run, out_of_time(self.limits.deadline))
            logger.error("%s outlived its deadline in a batch of %d", batch.work.name, len(batch.runs))
            self._left_behind.add(self._thread)
            self._thread = self.scheduler.current = None
            self.ensure()

    def left(self, run: Run) -> None:
        """Somebody no longer asks for a run; what nobody follows is closed at its next turn, which sees that by itself."""

    def halt(self, session: str) -> bool:
        """What this page has timed is to end; its next turn sees that by itself. True: it will."""
        return True

    def stop(self) -> None:
        """Let the thread go: it ends when it comes back from what it is doing."""
        with self.scheduler.changed:
            thread, self._thread = self._thread, None
            while self._warming:
                self._warming.popleft()[1].cancel()
            self.scheduler.changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(1.0)

    # ---- the thread ------------------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        """The thread's life: take what is due, advance it, tell its askers; until the engine closes or leaves this thread behind."""
        me, changed = threading.current_thread(), self.scheduler.changed
        while True:
            with changed:
                while True:
                    if self._thread is not me or (self.scheduler.closing and not self.scheduler.runs):
                        self._close_streams()
                        return
                    due = self._choose()
                    if due is not None and not isinstance(due, float):
                        break
                    changed.wait(due)
                if isinstance(due, Batch):
                    self.scheduler.current = due
            if not isinstance(due, Batch):
                _import(*due)
                continue
            self._advance(due)
            with changed:
                due.rest()
                if self._thread is me:
                    self.scheduler.current = None
                    changed.notify_all()
                    continue
                self._left_behind.discard(me)  # the deadline, or the engine, was over before this came back
                self.ensure()
            if due.turns is not None:
                _shut(due.turns)
            return

    def _choose(self) -> Batch | tuple[Work, Future[None]] | float | None:
        """What is due: a batch, an import, seconds to wait for others, or None: nothing. Streams and calls take turns, calls first."""
        if self._streams and self._stream_next:
            self._stream_next = False
            return self._next_stream()
        waiting = self.scheduler.line()
        head = next((run for run in waiting if self._may_begin(run)), None)
        batch_wait = None
        if head is not None:
            cost = head.work.cost(head.group)
            most = max(1, min(head.most, cost.limit(self.limits)))
            runs = [r for r in waiting if r.work is head.work and r.group == head.group and r.most == head.most][:most]
            batch_wait = head.arrived + self.limits.batch_wait - clock()
            if len(runs) >= most or batch_wait <= 0 or self.scheduler.closing:
                self.scheduler.take(runs)
                self._stream_next = True
                self.scheduler.sizes[len(runs)] += 1
                return self._turn_of(Batch(head.work, head.group, runs, self.limits))
        if self._streams:
            return self._next_stream()
        if self._warming and head is None:
            return self._warming.popleft()
        return batch_wait

    def _may_begin(self, run: Run) -> bool:
        """A call may. A stream may while there are few, and one more where none of its address is under way."""
        under_way, most = len(self._streams), self.limits.streams
        if not run.work.yields or under_way < most:
            return True
        return under_way == most and run.addresses.isdisjoint(address for batch in self._streams for address in batch.addresses)

    def _next_stream(self) -> Batch:
        """The stream whose turn it is: addresses take turns, and so do the streams of one address.

        The turns of the brief ones among them go to the one that is due first, until it is over: side by side all would end late.
        """
        addresses = [batch.addresses for batch in self._streams]
        self._advanced = {address: self._advanced.get(address, 0.0) for several in addresses for address in several}
        last = [min((self._advanced[address] for address in several), default=0.0) for several in addresses]
        due = self._streams.pop(last.index(min(last)))
        if due.took >= self.limits.brief:
            return self._turn_of(due)
        self._streams.append(due)
        alike = [batch for batch in self._streams if batch.took < self.limits.brief and batch.addresses == due.addresses]
        first = min(alike, key=lambda batch: batch.due)
        self._streams.remove(first)
        return self._turn_of(first)

    def _turn_of(self, batch: Batch) -> Batch:
        """The same batch; its addresses have their turn now."""
        self._advanced.update(dict.fromkeys(batch.addresses, clock()))
        return batch

    def _advance(self, batch: Batch) -> None:
        """One call, or one turn of a function that yields; then its askers are told."""
        if batch.turns is not None and self._nobody_follows(batch):
            _shut(batch.turns)
            if any(run.outcome is None for run in batch.runs):
                self._note(batch, "left")
            return
        try:
            function = batch.work.resolve()
            self._where()
            batch.begin()  # an import is no computing
            if batch.turns is not None and any(run.halted for run in batch.runs):
                self._deliver(batch, [[] for _ in batch.runs], batch.turns.throw(Stopped()), over=True)  # type: ignore[attr-defined]
                _shut(batch.turns)
                return
            if batch.turns is None:
                given = function([run.request for run in batch.runs])
                if not hasattr(given, "__next__"):
                    self._deliver(batch, [[] for _ in batch.runs], list(given), over=True)
                    return
                batch.turns, batch.work.yields = given, True
            self._deliver(batch, *self._turn(batch.turns, len(batch.runs)))
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

    def _deliver(self, batch: Batch, steps: list[list[Any]], outcomes: list[Any], over: bool) -> None:
        """Hand out new steps and results, and note what they cost."""
        if len(outcomes) != len(batch.runs):
            raise ValueError(f"{len(outcomes)} results for {len(batch.runs)} requests")
        took = batch.rest()
        device = self._where()
        with self.scheduler.changed:
            self.scheduler.computing += took
            for run, new, outcome in zip(batch.runs, steps, outcomes, strict=True):
                if isinstance(outcome, InputError):
                    self.scheduler.finish(run, outcome)
                elif outcome is not None:
                    run.add(new)
                    self.scheduler.finish(run, Answer(outcome, batch.took * 1000, device, known=False))
                elif run.outcome is None and over:
                    raise ValueError("the function ended without a result for one of its requests")
                elif run.outcome is None and batch.took > batch.allowed:
                    self.scheduler.finish(run, out_of_time(self.limits.deadline))
                elif run.add(new):
                    run.wake()
            ended = over or all(run.outcome is not None for run in batch.runs)
            if ended:
                batch.work.cost(batch.group).learn(batch, self.limits)
                batch.work.loaded = True
            if batch.turns is not None and not over and self._thread is threading.current_thread():
                self._streams.append(batch)  # one that nobody needs any more is closed at its next turn
        if ended:
            self._note(batch, "done")

    def _nobody_follows(self, batch: Batch) -> bool:
        """Is every request of a stream finished or left by its askers? Then it is forgotten here, so that nobody can join any more."""
        with self.scheduler.changed:
            if any(run.outcome is None and run.askers for run in batch.runs):
                return False
            for run in batch.runs:
                self.scheduler.forget(run)
            return True

    def _spoiled(self, batch: Batch, error: BaseException) -> None:
        """An exception spoils no other request: the batch is tried again one by one, or, out of memory, once in halves. A damaged file
        spoils them all."""
        batch.rest()
        no_memory, damaged = _out_of_memory(error), isinstance(error, DamagedFile)
        if damaged:  # its message names a file, and nothing that a visitor wrote
            logger.error("%s", error)
        logger.error("%s in %s, batch of %d\n%s", type(error).__name__, batch.work.name, len(batch.runs), _where_in_code(error))
        self._note(batch, "memory" if no_memory else "failed")
        if batch.turns is not None:
            _shut(batch.turns)
        with self.scheduler.changed:
            size = len(batch.runs)
            self.scheduler.counts["out_of_memory"] += no_memory
            if no_memory:
                batch.work.cost(batch.group).most = max(1, size // 2)
            for run in batch.runs:
                if run.outcome is not None:
                    continue
                if size == 1 or damaged or (no_memory and run.halved):
                    outcome = memory_ran_out() if no_memory else cannot_be_read() if damaged else went_wrong()
                    outcome.__cause__ = None if no_memory else error  # its frames would hold the memory
                    self.scheduler.finish(run, outcome)
                elif run.askers and self._thread is threading.current_thread():
                    run.most, run.halved, run.skip = (size // 2, True, len(run.steps)) if no_memory else (1, run.halved, len(run.steps))
                    self.scheduler.line_up(run)
                else:
                    self.scheduler.forget(run)
        if no_memory:
            error.__traceback__ = None
            _free_memory()

    def _note(self, batch: Batch, outcome: str) -> None:
        """One line in the log for what was computed together; nothing of what anybody asked."""
        facts = {"function": str(batch.work.name), "requests": len(batch.runs), "computing_s": round(batch.took, 4), "outcome": outcome}
        logger.info("computed", extra={"facts": facts})

    def _close_streams(self) -> None:
        while self._streams:
            turns = self._streams.pop().turns
            if turns is not None:
                _shut(turns)

    def _where(self) -> str:
        if ":" in self._device:
            self._device = str(Work(self._device, self._device).resolve()())
        return self._device


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
