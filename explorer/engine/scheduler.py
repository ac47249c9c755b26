"""The scheduler of the engine: who asks for what, who stands where in the queue, what was answered. Nothing is computed here."""

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
    Snapshot,
    TooSlow,
    Waiting,
    is_closing,
    queue_is_full,
    the_clock_is_busy,
    too_many_of_your_address,
    too_many_of_yours,
)
from explorer.engine.runs import Asker, Batch, Run, Work
from explorer.engine.store import Store
from models.errors import InputError

clock = time.monotonic


class Scheduler:
    """Runs by what they compute, those that wait in the order in which they are due, and who asks for them.

    `changed` guards everything here, and is told of every change; its lock may be taken again by the thread that holds it.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.changed = threading.Condition(threading.RLock())
        self.waiting: list[Run] = []  # by Run.due
        self.runs: dict[Hashable, Run] = {}  # unfinished, by what they compute
        self.current: Batch | None = None  # what is computed now
        self.elsewhere = 0  # requests of other web servers that wait for the same machines
        self.machines = 1
        self.closing = False
        self._served: dict[str, float] = {}  # address that has more waiting -> when a request of it was taken last
        self.askers = 0
        self.sessions: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.sizes: Counter[int] = Counter()  # of batches
        self.computing = 0.0  # seconds
        self.store = Store(limits.store)
        self._works: dict[Hashable, Work] = {}
        self._places: tuple[float, dict[Run, Waiting]] = (-math.inf, {})
        self._latencies = [0] * (len(LATENCIES) + 1)
        self._latency = 0.0

    def work(self, function: Function) -> Work:
        """What is known about a function; the same for a function and its name."""
        key = key_of(function)
        return self._works.setdefault(key, Work(key, function))

    def known(self, function: Function, request: Hashable) -> Answer[Any] | None:
        """The remembered result of a request, or None."""
        with self.changed:
            found = self.store.get((key_of(function), request))
        return None if found is None else dataclasses.replace(found, known=True)

    def enter(self, function: Function, request: Hashable, session: str, since: float | None = None) -> Answer[Any] | tuple[Run, Asker]:
        """A remembered answer, or a place at a run of this request: one that is there already, or a new one at the queue's end.

        Raises Busy where there is no place.
        """
        asker = Asker(session)
        with self.changed:
            self.counts["asked"] += 1
            if (answer := self.known(function, request)) is not None:
                self.counts["from_store"] += 1
                self.counts["answered"] += 1
                return answer
            if self.closing:
                self._refuse(is_closing())
            if session and self.sessions[session] >= self.limits.session:
                self._refuse(too_many_of_yours(self.limits.session))
            key = (key_of(function), request)
            run = self.runs.get(key)
            if run is None or (run.live and (run.halted or not self._is_of(run, session))):
                self._keep_places(asker.address)
                work = self.work(function)
                group = request.group() if hasattr(request, "group") else None
                new = Run(key, work, request, group, self.limits.batch, clock(), work.cost(group).seconds)
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
        """Raises Busy where the queue is full, or is half full and this address has its share of it."""
        waiting, limits = len(self.waiting) + self.elsewhere, self.limits
        most = limits.queue * self.machines
        if waiting >= most:
            self._refuse(queue_is_full(most, self._work_ahead()))
        if address and waiting * 2 >= most:
            own = sum(address in run.addresses for run in self.waiting)
            if own >= limits.share:
                self._refuse(too_many_of_your_address(limits.share, self._work_ahead()))

    def _keep_the_clock(self, session: str) -> None:
        """Raises Busy while something is timed for somebody else; a page's own older run ends by itself."""
        timed = [run for run in self.runs.values() if run.live and run.askers and not self._is_of(run, session)]
        if timed:
            self._refuse(the_clock_is_busy(sum(self.place(run).seconds for run in timed)))

    def _is_of(self, run: Run, session: str) -> bool:
        """Does only this page ask for it?"""
        return bool(session) and all(asker.session == session for asker in run.askers)

    def halt(self, session: str) -> bool:
        """End what this page has timed, with its result as far as it has come; False where nothing of it is under way."""
        with self.changed:
            mine = [run for run in self.runs.values() if run.live and run.askers and self._is_of(run, session) and run not in self.waiting]
            for run in mine:
                run.halted = True
            return bool(mine)

    def _work_ahead(self) -> float:
        """Seconds until all that waits is computed, at least one."""
        own = sum(run.work.cost(run.group).seconds for run in self.waiting)
        return max(1.0, own * (1 + self._others()) / self.machines)

    def _others(self) -> float:
        """How many requests of other web servers wait for each that waits here."""
        return self.elsewhere / max(1, len(self.waiting))

    def line(self) -> list[Run]:
        """Those that wait in the order in which they go: addresses take turns, and of one address what is due first goes first.

        A request of no address, which the server asks itself, stands where it is due.
        """
        turns: Counter[str] = Counter()
        ranks: dict[Run, tuple[float, float]] = {}
        for place, run in enumerate(self.waiting):
            ranks[run] = min(((turns[a], self._served.get(a, 0.0)) if a else (place, 0.0) for a in run.addresses), default=(place, 0.0))
            turns.update(run.addresses)
        return sorted(self.waiting, key=ranks.__getitem__)

    def take(self, runs: list[Run]) -> None:
        """These are computed next: their addresses have had their turn."""
        taken = set(runs)
        with self.changed:
            self.waiting = [run for run in self.waiting if run not in taken]
            for run in runs:
                run.begun = True
                if self.limits.prompt:
                    run.wake()
            present = {address for run in self.waiting for address in run.addresses}
            now = clock()
            self._served.update((address, now) for run in runs for address in run.addresses)
            self._served = {address: when for address, when in self._served.items() if address in present}

    def leave(self, run: Run, asker: Asker) -> None:
        """Nobody waits there any more. A queued run without askers is dropped; a stream is closed at its next turn."""
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

    def line_up(self, run: Run) -> None:
        """Put a run into the queue, behind those that are due before it."""
        with self.changed:
            insort(self.waiting, run, key=attrgetter("due"))
            self.changed.notify_all()

    def forget(self, run: Run) -> None:
        """Nobody can join this run any more."""
        with self.changed:
            if self.runs.get(run.key) is run:
                del self.runs[run.key]
            self.changed.notify_all()

    def finish(self, run: Run, outcome: Answer[Any] | InputError) -> None:
        """Tell all askers of a run how it ended; the first outcome holds, and an answer that comes too late is still remembered."""
        with self.changed:
            if isinstance(outcome, Answer) and not run.live:
                self.store.put(run.key, outcome)
            if run.outcome is not None:
                return
            run.outcome = outcome
            kinds = {TooSlow: "too_slow", Failed: "failed", Busy: "refused", Answer: "answered"}
            self.counts[kinds.get(type(outcome), "input_errors")] += len(run.askers) if isinstance(outcome, Answer) else 1
            seconds = clock() - run.arrived
            self._latencies[bisect_left(LATENCIES, seconds)] += 1
            self._latency += seconds
            self.forget(run)
            run.wake()

    def place(self, run: Run) -> Waiting:
        """Where a run stands, as of the last tenth of a second."""
        with self.changed:
            made, places = self._places
            if clock() - made > 0.1 or run not in places:
                seconds = 0.0
                if self.current is not None:
                    seconds = max(0.0, self.current.expected() - self.current.seconds())
                waiting, each = len(self.waiting) + self.elsewhere, 1 + self._others()
                places = {r: Waiting(0, waiting, seconds) for r in self.runs.values()}
                for place, r in enumerate(self.line(), 1):
                    seconds += r.work.cost(r.group).seconds * each / self.machines
                    places[r] = Waiting(round(place * each), waiting, seconds)
                self._places = (clock(), places)
            return places.get(run, Waiting(0, len(self.waiting), 0.0))

    def snapshot(self) -> Snapshot:
        """The engine in numbers, consistent in themselves."""
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

    def _refuse(self, busy: Busy) -> None:
        self.counts["refused"] += 1
        raise busy


def key_of(function: Function) -> Hashable:
    """One key for a function and its name; a function inside another is its own key."""
    if isinstance(function, str) or "<" in getattr(function, "__qualname__", "<"):
        return function
    return f"{function.__module__}:{function.__qualname__}"
