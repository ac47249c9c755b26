"""The scheduler of the engine: requests, their places in the queue, and their answers.

Nothing is computed here.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Hashable
from operator import attrgetter
from typing import Any

from explorer.engine.records import (
    LATENCIES,
    Answer,
    Busy,
    Failed,
    Function,
    Limits,
    QueuePlace,
    Snapshot,
    TooSlow,
    is_closing,
    queue_is_full,
    the_clock_is_busy,
    too_many_of_your_address,
    too_many_of_yours,
)
from explorer.engine.runs import Asker, EngineRun, RunBatch, Work
from explorer.engine.store import Store
from models.explaining.errors import InputError

clock = time.monotonic


class Scheduler:
    """Runs by their key, the queue in the order in which it is due, and everybody who asks.

    `changed` guards everything here and is notified of every change. Its lock is reentrant.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.changed = threading.Condition(threading.RLock())
        self.waiting: list[EngineRun] = []  # in the order of EngineRun.due
        self.runs: dict[Hashable, EngineRun] = {}  # unfinished runs by function and request
        self.current: RunBatch | None = None  # the batch that is computed now
        self.elsewhere = 0  # requests of other web servers that wait for the same machines
        self.machines = 1
        self.closing = False
        # address that has more waiting -> time at which a request of it was taken last
        self._served: dict[str, float] = {}
        self._served_pages: dict[str, float] = {}  # the same by the name of a page
        self.askers = 0
        self.sessions: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.sizes: Counter[int] = Counter()  # of batches
        self.computing = 0.0  # seconds
        self.store = Store(limits.store)
        self._works: dict[Hashable, Work] = {}
        self._places: tuple[float, dict[EngineRun, QueuePlace]] = (-math.inf, {})
        self._latencies = [0] * (len(LATENCIES) + 1)
        self._latency = 0.0

    def find_work(self, function: Function) -> Work:
        """Return the record of a function; a function and its name share one."""
        key = make_key(function)
        return self._works.setdefault(key, Work(key, function))

    def recall(self, function: Function, request: Hashable) -> Answer[Any] | None:
        """Return the remembered result of a request, or None."""
        with self.changed:
            found = self.store.get((make_key(function), request))
        return None if found is None else dataclasses.replace(found, known=True)

    def enter(
        self, function: Function, request: Hashable, session: str, since: float | None = None
    ) -> Answer[Any] | tuple[EngineRun, Asker]:
        """Return a remembered answer, or a place at a run of this request.

        The run is one that is there already, or a new one at the queue's end. Raise Busy where
        there is no place.
        """
        asker = Asker(session)
        with self.changed:
            self.counts["asked"] += 1
            if (answer := self.recall(function, request)) is not None:
                self.counts["from_store"] += 1
                self.counts["answered"] += 1
                return answer
            if self.closing:
                self._raise_busy(is_closing())
            if session and self.sessions[session] >= self.limits.session:
                self._raise_busy(too_many_of_yours(self.limits.session))
            key = (make_key(function), request)
            run = self.runs.get(key)
            if run is None or (run.live and (run.halted or not self._is_of(run, session))):
                self._keep_places(asker.address)
                work = self.find_work(function)
                group = request.group() if hasattr(request, "group") else None
                new = EngineRun(
                    key,
                    work,
                    request,
                    group,
                    self.limits.batch,
                    clock(),
                    work.find_cost(group).seconds,
                )
                new.due += 0.0 if since is None else since - new.arrived
                if new.live:
                    self._keep_the_clock(session)
                run = self.runs[key] = new
                self.line_up(run)
            else:
                self.counts["shared"] += 1
            run.askers.add(asker)
            self.askers += 1
            if session:
                self.sessions[session] += 1
        return run, asker

    def _keep_places(self, address: str) -> None:
        """Raise Busy where the queue is full, or half full with this address at its share."""
        waiting, limits = len(self.waiting) + self.elsewhere, self.limits
        most = limits.queue * self.machines
        if waiting >= most:
            self._raise_busy(queue_is_full(most, self._work_ahead()))
        if address and waiting * 2 >= most:
            own = sum(address in run.addresses for run in self.waiting)
            if own >= limits.share:
                self._raise_busy(too_many_of_your_address(limits.share, self._work_ahead()))

    def _keep_the_clock(self, session: str) -> None:
        """Raise Busy while a live run of another page is under way.

        An older live run of the same page ends by itself.
        """
        timed = [
            run
            for run in self.runs.values()
            if run.live and run.askers and not self._is_of(run, session)
        ]
        if timed:
            self._raise_busy(the_clock_is_busy(sum(self.place(run).seconds for run in timed)))

    def _is_of(self, run: EngineRun, session: str) -> bool:
        """Return whether only this page asks for a run."""
        return bool(session) and all(asker.session == session for asker in run.askers)

    def halt(self, session: str) -> bool:
        """End the live runs of this page with their result so far.

        Returns False where nothing of this page is under way.
        """
        with self.changed:
            mine = [
                run
                for run in self.runs.values()
                if run.live and run.askers and self._is_of(run, session) and run not in self.waiting
            ]
            for run in mine:
                run.halted = True
            return bool(mine)

    def _work_ahead(self) -> float:
        """Return the seconds until all that waits is computed, at least one."""
        own = sum(run.work.find_cost(run.group).seconds for run in self.waiting)
        return max(1.0, own * (1 + self._estimate_remote_queue()) / self.machines)

    def _estimate_remote_queue(self) -> float:
        """Return how many requests of other web servers wait for each one that waits here."""
        return self.elsewhere / max(1, len(self.waiting))

    def order_queue(self) -> list[EngineRun]:
        """Return the waiting runs in the order in which they go.

        Addresses take turns, and so do the pages of one address. Of one page, the run that is due
        first goes first. A request without an address, which the server makes itself, stands where
        it is due.
        """
        places = {run: place for place, run in enumerate(self.waiting)}
        turns: Counter[str] = Counter()
        ranks: dict[EngineRun, tuple[float, float]] = {}
        for run in self._by_page():
            due = (places[run], 0.0)
            ranks[run] = min(
                ((turns[a], self._served.get(a, 0.0)) if a else due for a in run.addresses),
                default=due,
            )
            turns.update(run.addresses)
        return sorted(self.waiting, key=ranks.__getitem__)

    def _by_page(self) -> list[EngineRun]:
        """Return the waiting runs in rounds: the first of every page, then the second ones."""
        turns: Counter[str] = Counter()
        ranks: dict[EngineRun, tuple[int, float]] = {}
        for run in self.waiting:
            ranks[run] = min(
                ((turns[page], self._served_pages.get(page, 0.0)) for page in run.pages),
                default=(0, 0.0),
            )
            turns.update(run.pages - {""})
        return sorted(self.waiting, key=ranks.__getitem__)

    def take_turns(self, runs: list[EngineRun]) -> None:
        """Take runs out of the queue that are computed next; their addresses had their turn."""
        taken = set(runs)
        with self.changed:
            self.waiting = [run for run in self.waiting if run not in taken]
            for run in runs:
                run.begun = True
                if self.limits.prompt:
                    run.wake()
            now = clock()
            self._served.update((address, now) for run in runs for address in run.addresses)
            self._served_pages.update((page, now) for run in runs for page in run.pages - {""})
            addresses = {address for run in self.waiting for address in run.addresses}
            self._served = _only(self._served, addresses)
            pages = {page for run in self.waiting for page in run.pages}
            self._served_pages = _only(self._served_pages, pages)

    def leave(self, run: EngineRun, asker: Asker) -> None:
        """Take an asker away from a run.

        A queued run without askers is dropped; a stream is closed at its next turn.
        """
        with self.changed:
            run.askers.discard(asker)
            self.askers -= 1
            if asker.session:
                self.sessions[asker.session] -= 1
                if not self.sessions[asker.session]:
                    del self.sessions[asker.session]
            if run.outcome is None:
                self.counts["cancelled"] += 1
                if not run.askers and run in self.waiting:
                    self.waiting.remove(run)
                    self.forget(run)
                self.changed.notify_all()

    def line_up(self, run: EngineRun) -> None:
        """Put a run into the queue, behind the runs that are due before it."""
        with self.changed:
            insort(self.waiting, run, key=attrgetter("due"))
            self.changed.notify_all()

    def forget(self, run: EngineRun) -> None:
        """Drop a run, so that nobody can join it any more."""
        with self.changed:
            if self.runs.get(run.key) is run:
                del self.runs[run.key]
            self.changed.notify_all()

    def finish(self, run: EngineRun, outcome: Answer[Any] | InputError) -> None:
        """Give a run its outcome and wake its askers.

        The first outcome holds. An answer that comes too late is still remembered.
        """
        with self.changed:
            if isinstance(outcome, Answer) and not run.live:
                self.store.put(run.key, outcome)
            if run.outcome is not None:
                return
            run.outcome = outcome
            kinds = {TooSlow: "too_slow", Failed: "failed", Busy: "refused", Answer: "answered"}
            self.counts[kinds.get(type(outcome), "input_errors")] += (
                len(run.askers) if isinstance(outcome, Answer) else 1
            )
            seconds = clock() - run.arrived
            self._latencies[bisect_left(LATENCIES, seconds)] += 1
            self._latency += seconds
            self.forget(run)
            run.wake()

    def place(self, run: EngineRun) -> QueuePlace:
        """Return the place of a run, at most a tenth of a second old."""
        with self.changed:
            made, places = self._places
            if clock() - made > 0.1 or run not in places:
                seconds = 0.0
                if self.current is not None:
                    seconds = max(0.0, self.current.expect_seconds() - self.current.measure_turn())
                waiting, each = (
                    len(self.waiting) + self.elsewhere,
                    1 + self._estimate_remote_queue(),
                )
                places = {r: QueuePlace(0, waiting, seconds) for r in self.runs.values()}
                for place, r in enumerate(self.order_queue(), 1):
                    seconds += r.work.find_cost(r.group).seconds * each / self.machines
                    places[r] = QueuePlace(round(place * each), waiting, seconds)
                self._places = (clock(), places)
            return places.get(run, QueuePlace(0, len(self.waiting), 0.0))

    def snapshot(self) -> Snapshot:
        """Return the engine in numbers that are consistent with each other."""
        with self.changed:
            count = self.counts
            return Snapshot(
                waiting=len(self.waiting),
                running=len(self.runs) - len(self.waiting),
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
                batch_sizes=tuple(sorted(self.sizes.items())),
                computing_seconds=self.computing,
                latencies=tuple(self._latencies),
                latency_seconds=self._latency,
                store_bytes=self.store.bytes,
                sessions=len(self.sessions),
            )

    def _raise_busy(self, busy: Busy) -> None:
        self.counts["refused"] += 1
        raise busy


def _only(served: dict[str, float], present: set[str]) -> dict[str, float]:
    """Return the entries of those that have more waiting."""
    return {name: when for name, when in served.items() if name in present}


def make_key(function: Function) -> Hashable:
    """Return one key for a function and its name; a function inside another is its own key."""
    if isinstance(function, str) or "<" in getattr(function, "__qualname__", "<"):
        return function
    return f"{function.__module__}:{function.__qualname__}"
