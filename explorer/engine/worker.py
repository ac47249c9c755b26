"""The thread that computes.

It takes from the scheduler what is due, advances it by a call or a turn, and informs its askers.
"""

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

from explorer.engine.records import (
    Answer,
    cannot_be_read,
    is_stuck,
    memory_ran_out,
    out_of_time,
    went_wrong,
)
from explorer.engine.runs import EngineRun, RunBatch, Work
from explorer.engine.scheduler import Scheduler, clock
from models.explaining.errors import DamagedFile, InputError, Stopped

logger = logging.getLogger(__name__)


class Worker:
    """One thread at a time: a thread that outlives a deadline is left behind, and a fresh one goes
    on.

    `Scheduler.changed` guards it.
    """

    def __init__(self, scheduler: Scheduler, device: str, name: str = "engine") -> None:
        """Set up a worker; its thread starts when it is needed.

        device, name: see `Engine`.
        """
        self.scheduler = scheduler
        self.name = name
        self.limits = scheduler.limits
        self._device = device
        self._streams: list[RunBatch] = []
        # address that has a stream under way -> time at which one of its streams was advanced last
        self._advanced: dict[str, float] = {}
        self._stream_next = False  # calls and streams alternate
        self._warming: deque[tuple[Work, Future[None]]] = deque()
        self._thread: threading.Thread | None = None
        self._left_behind: set[threading.Thread] = set()

    @property
    def is_stuck(self) -> bool:
        """Whether all threads that it may have were left behind, and none has come back yet."""
        with self.scheduler.changed:
            return self._thread is None and len(self._left_behind) >= self.limits.left_behind

    def ensure_thread(self) -> None:
        """Start the thread, if there is none and another may be.

        Where none may be, all runs end with the error of `is_stuck`.
        """
        with self.scheduler.changed:
            if self.is_stuck:
                for run in list(self.scheduler.runs.values()):
                    self.scheduler.finish(run, is_stuck())
                self.scheduler.waiting.clear()
            elif self._thread is None and not self.scheduler.closing:
                thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
                try:
                    thread.start()
                except (RuntimeError, MemoryError) as error:
                    self._refuse_all(error)
                else:
                    self._thread = thread

    def _refuse_all(self, error: Exception) -> None:
        """End all waiting runs with an error, because the machine has no room for another thread.

        The next request tries again.
        """
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
            self.ensure_thread()
            self.scheduler.changed.notify_all()
        return future

    def leave_overdue_behind(self) -> None:
        """Leave a call behind that has used up its time and cannot be stopped.

        Its askers get an error, and a fresh thread goes on with the others.
        """
        with self.scheduler.changed:
            batch = self.scheduler.current
            if (
                batch is None
                or self._thread is None
                or batch.took + batch.measure_turn() <= batch.allowed
            ):
                return
            for run in batch.runs:
                self.scheduler.finish(run, out_of_time(self.limits.deadline))
            logger.error(
                "%s outlived its deadline in a batch of %d", batch.work.name, len(batch.runs)
            )
            self._left_behind.add(self._thread)
            self._thread = self.scheduler.current = None
            self.ensure_thread()

    def drop_run(self, run: EngineRun) -> None:
        """Note that somebody left a run; nothing is to do here.

        The next turn of a stream closes what nobody follows.
        """

    def halt(self, session: str) -> bool:
        """Return True: the next turn of a live run sees by itself that it is to end."""
        return True

    def stop(self) -> None:
        """Let the thread go: it ends when it comes back from its present call."""
        with self.scheduler.changed:
            thread, self._thread = self._thread, None
            while self._warming:
                self._warming.popleft()[1].cancel()
            self.scheduler.changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(1.0)

    # ---- the thread

    def _serve(self) -> None:
        """Take what is due, advance it and inform its askers, until the engine closes.

        The loop also ends when the engine leaves this thread behind.
        """
        me, changed = threading.current_thread(), self.scheduler.changed
        while True:
            with changed:
                while True:
                    if self._thread is not me or (
                        self.scheduler.closing and not self.scheduler.runs
                    ):
                        self._close_streams()
                        return
                    due = self._choose_next()
                    if due is not None and not isinstance(due, float):
                        break
                    changed.wait(due)
                if isinstance(due, RunBatch):
                    self.scheduler.current = due
            if not isinstance(due, RunBatch):
                _import_function(*due)
                continue
            self._advance_batch(due)
            with changed:
                due.end_turn()
                if self._thread is me:
                    self.scheduler.current = None
                    changed.notify_all()
                    continue
                # The deadline, or the engine, was over before this came back.
                self._left_behind.discard(me)
                self.ensure_thread()
            if due.turns is not None:
                _close_generator(due.turns)
            return

    def _choose_next(self) -> RunBatch | tuple[Work, Future[None]] | float | None:
        """Return what is due: a batch, an import, seconds to wait for others, or None for nothing.

        Streams and calls take turns, calls first.
        """
        if self._streams and self._stream_next:
            self._stream_next = False
            return self._next_stream()
        waiting = self.scheduler.order_queue()
        head = next((run for run in waiting if self._may_begin(run)), None)
        batch_wait = None
        if head is not None:
            cost = head.work.find_cost(head.group)
            most = max(1, min(head.most, cost.limit_batch(self.limits)))
            runs = [
                r
                for r in waiting
                if r.work is head.work and r.group == head.group and r.most == head.most
            ][:most]
            batch_wait = head.arrived + self.limits.batch_wait - clock()
            if len(runs) >= most or batch_wait <= 0 or self.scheduler.closing:
                self.scheduler.take_turns(runs)
                self._stream_next = True
                self.scheduler.sizes[len(runs)] += 1
                return self._give_turn(RunBatch(head.work, head.group, runs, self.limits))
        if self._streams:
            return self._next_stream()
        if self._warming and head is None:
            return self._warming.popleft()
        return batch_wait

    def _may_begin(self, run: EngineRun) -> bool:
        """Return whether a run may begin.

        A call always may. A stream may while there are few, and one more where none of its address
        is under way.
        """
        under_way, most = len(self._streams), self.limits.streams
        if not run.work.yields or under_way < most:
            return True
        return under_way == most and run.addresses.isdisjoint(
            address for batch in self._streams for address in batch.addresses
        )

    def _next_stream(self) -> RunBatch:
        """Return the stream whose turn it is: addresses take turns, and so do the streams of one
        address.

        The brief ones among the streams of one address go one after the other, the one that is due
        first to its end: side by side all would end late.
        """
        addresses = [batch.addresses for batch in self._streams]
        self._advanced = {
            address: self._advanced.get(address, 0.0)
            for several in addresses
            for address in several
        }
        last = [
            min((self._advanced[address] for address in several), default=0.0)
            for several in addresses
        ]
        due = self._streams.pop(last.index(min(last)))
        if due.took >= self.limits.brief:
            return self._give_turn(due)
        self._streams.append(due)
        alike = [
            batch
            for batch in self._streams
            if batch.took < self.limits.brief and batch.addresses == due.addresses
        ]
        first = min(alike, key=lambda batch: batch.due)
        self._streams.remove(first)
        return self._give_turn(first)

    def _give_turn(self, batch: RunBatch) -> RunBatch:
        """Return the same batch, after a note that its addresses have their turn now."""
        self._advanced.update(dict.fromkeys(batch.addresses, clock()))
        return batch

    def _advance_batch(self, batch: RunBatch) -> None:
        """Run one call, or one turn of a function that yields; then inform its askers."""
        if batch.turns is not None and self._nobody_follows(batch):
            _close_generator(batch.turns)
            if any(run.outcome is None for run in batch.runs):
                self._log_batch(batch, "left")
            return
        try:
            function = batch.work.import_function()
            self._locate_code()
            batch.begin_turn()  # after the import, which is no computing
            if batch.turns is not None and any(run.halted for run in batch.runs):
                outcomes = batch.turns.throw(Stopped())  # type: ignore[attr-defined]
                self._deliver_results(batch, [[] for _ in batch.runs], outcomes, over=True)
                _close_generator(batch.turns)
                return
            if batch.turns is None:
                given = function([run.request for run in batch.runs])
                if not hasattr(given, "__next__"):
                    self._deliver_results(batch, [[] for _ in batch.runs], list(given), over=True)
                    return
                batch.turns, batch.work.yields = given, True
            self._deliver_results(batch, *self._advance_stream(batch.turns, len(batch.runs)))
        # because the next request must find a worker after any error
        except BaseException as error:
            self._retry_batch(batch, error)

    def _advance_stream(
        self, turns: Iterator[list[Any]], size: int
    ) -> tuple[list[list[Any]], list[Any], bool]:
        """Advance a generator for at most `Limits.turn`, if its yields are shorter.

        Returns the new steps and the outcome (or None) of each request, and whether it is over.
        """
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

    def _deliver_results(
        self, batch: RunBatch, steps: list[list[Any]], outcomes: list[Any], over: bool
    ) -> None:
        """Hand out new steps and results, and note their cost."""
        if len(outcomes) != len(batch.runs):
            raise ValueError(f"{len(outcomes)} results for {len(batch.runs)} requests")
        took = batch.end_turn()
        device = self._locate_code()
        with self.scheduler.changed:
            self.scheduler.computing += took
            for run, new, outcome in zip(batch.runs, steps, outcomes, strict=True):
                if isinstance(outcome, InputError):
                    self.scheduler.finish(run, outcome)
                elif outcome is not None:
                    run.add_steps(new)
                    self.scheduler.finish(
                        run, Answer(outcome, batch.took * 1000, device, known=False)
                    )
                elif run.outcome is None and over:
                    raise ValueError("the function ended without a result for one of its requests")
                elif run.outcome is None and batch.took > batch.allowed:
                    self.scheduler.finish(run, out_of_time(self.limits.deadline))
                elif run.add_steps(new):
                    run.wake()
            ended = over or all(run.outcome is not None for run in batch.runs)
            if ended:
                batch.work.find_cost(batch.group).learn_from(batch, self.limits)
                batch.work.loaded = True
            if batch.turns is not None and not over and self._thread is threading.current_thread():
                # A stream that nobody needs any more is closed at its next turn.
                self._streams.append(batch)
        if ended:
            self._log_batch(batch, "done")

    def _nobody_follows(self, batch: RunBatch) -> bool:
        """Return whether every request of a stream is finished or left by its askers.

        That stream is forgotten here, so that nobody can join it any more.
        """
        with self.scheduler.changed:
            if any(run.outcome is None and run.askers for run in batch.runs):
                return False
            for run in batch.runs:
                self.scheduler.forget(run)
            return True

    def _retry_batch(self, batch: RunBatch, error: BaseException) -> None:
        """Try a batch again after an exception, so that it spoils no other request.

        The requests go one by one, or, out of memory, once in halves. A damaged file spoils them
        all.
        """
        batch.end_turn()
        no_memory, damaged = _is_out_of_memory(error), isinstance(error, DamagedFile)
        if damaged:  # its message names a file, and nothing that a visitor wrote
            logger.error("%s", error)
        logger.error(
            "%s in %s, batch of %d\n%s",
            type(error).__name__,
            batch.work.name,
            len(batch.runs),
            _describe_traceback(error),
        )
        self._log_batch(batch, "memory" if no_memory else "failed")
        if batch.turns is not None:
            _close_generator(batch.turns)
        with self.scheduler.changed:
            size = len(batch.runs)
            self.scheduler.counts["out_of_memory"] += no_memory
            if no_memory:
                batch.work.find_cost(batch.group).most = max(1, size // 2)
            for run in batch.runs:
                if run.outcome is not None:
                    continue
                if size == 1 or damaged or (no_memory and run.halved):
                    outcome = (
                        memory_ran_out()
                        if no_memory
                        else cannot_be_read()
                        if damaged
                        else went_wrong()
                    )
                    # The frames of the error would hold the memory.
                    outcome.__cause__ = None if no_memory else error
                    self.scheduler.finish(run, outcome)
                elif run.askers and self._thread is threading.current_thread():
                    run.most, run.halved, run.skip = (
                        (size // 2, True, len(run.steps))
                        if no_memory
                        else (1, run.halved, len(run.steps))
                    )
                    self.scheduler.line_up(run)
                else:
                    self.scheduler.forget(run)
        if no_memory:
            error.__traceback__ = None
            _free_memory()

    def _log_batch(self, batch: RunBatch, outcome: str) -> None:
        """Log one line about a batch; it holds nothing that a visitor wrote."""
        facts = {
            "function": str(batch.work.name),
            "requests": len(batch.runs),
            "computing_s": round(batch.took, 4),
            "outcome": outcome,
        }
        logger.info("computed", extra={"facts": facts})

    def _close_streams(self) -> None:
        while self._streams:
            turns = self._streams.pop().turns
            if turns is not None:
                _close_generator(turns)

    def _locate_code(self) -> str:
        if ":" in self._device:
            self._device = str(Work(self._device, self._device).import_function()())
        return self._device


def _import_function(work: Work, future: Future[None]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        work.import_function()
        future.set_result(None)
    except BaseException as error:
        logger.exception("import of %s", work.name)
        future.set_exception(error)


def _close_generator(turns: Iterator[list[Any]]) -> None:
    """Close a generator, so that its `finally` runs."""
    try:
        if hasattr(turns, "close"):
            turns.close()
    except Exception as error:
        logger.error("%s while closing\n%s", type(error).__name__, _describe_traceback(error))


def _describe_traceback(error: BaseException) -> str:
    """Return the traceback without the message, which may hold what a visitor wrote."""
    return "".join(traceback.format_tb(error.__traceback__))


def _is_out_of_memory(error: BaseException) -> bool:
    said = isinstance(error, RuntimeError) and any(
        s in str(error) for s in ("not enough memory", "can't allocate memory", "out of memory")
    )
    return said or isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _free_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
