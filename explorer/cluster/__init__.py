"""An engine that computes on a Ray cluster, with the contract of the engine that computes here.

This side decides who may ask, who shares a run and who waits at which place, and it remembers
results. Each run then goes to one of the replicas. A replica is an engine as in a server of one
process, and makes the batches. A deterministic request whose replica is lost is tried again, which
nobody notices.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
from collections import Counter
from concurrent.futures import Future
from functools import partial
from typing import Any

from explorer.cluster.link import Link
from explorer.cluster.replica import AHEAD, Key, RemoteRequest
from explorer.engine import Answer, Engine, Limits, QueuePlace
from explorer.engine.records import is_away, was_lost, went_wrong
from explorer.engine.runs import EngineRun, Work
from explorer.engine.scheduler import Scheduler
from explorer.engine.worker import Worker
from models.explaining.errors import InputError

TRIES = 3  # attempts at a request whose replica was lost

__all__ = ["Cluster", "Link"]


class Cluster(Engine):
    """An engine whose replicas compute on other machines."""

    def __init__(
        self,
        link: Link,
        device: str = "cpu",
        limits: Limits | None = None,
        name: str = "engine",
        group: str = "all",
    ) -> None:
        """Set up an engine over a link to the cluster; close() also ends the link.

        device, limits, name: the same as for `Engine`; web servers that agree in all three share
        the batches of the replicas.
        group: the group of replicas for functions whose lab has no group of its own.
        """
        super().__init__(device, limits, name)
        self.link = link
        self._worker = Courier(self._scheduler, link, Key(name, device, self.limits), group)

    @property
    def away(self) -> bool:  # type: ignore[override]
        """Is the cluster out of reach?"""
        return self.link.away

    async def wait_until_reachable(self) -> None:
        """Return once the cluster is there."""
        while not self.link.up.is_set():
            await asyncio.sleep(0.1)

    def close(self, grace: float = 20.0) -> bool:
        """Close the engine and its link; see `Engine.close`."""
        answered = super().close(grace)
        self.link.close()
        return answered


class Courier(Worker):
    """A stand-in for the thread that computes: it carries what waits to the replicas and back."""

    def __init__(self, scheduler: Scheduler, link: Link, key: Key, group: str = "all") -> None:
        super().__init__(scheduler, key.device)
        self._link, self._key, self._group = link, key, group
        link.queues.add(self)
        self._sent: dict[EngineRun, int] = {}  # the numbers of their messages
        self._tries: Counter[EngineRun] = Counter()
        self.told: Counter[str] = Counter()  # requests sent out, by "asked" and "cancelled"
        # the part of them that the replicas have counted so far
        self.heard: Counter[str] = Counter()

    def ensure_thread(self) -> None:
        """Send every waiting run that was not sent yet."""
        with self.scheduler.changed:
            for run in [run for run in self.scheduler.waiting if run not in self._sent]:
                self._send_run(run)

    def _send_run(self, run: EngineRun) -> None:
        if self._link.away:
            self._end_run(run, is_away())
            return
        session = next(iter(run.askers)).session if run.askers else ""
        expected, at = run.work.find_cost(run.group).seconds, run.arrived + AHEAD
        try:
            asked = pickle.dumps(
                RemoteRequest(
                    self._key,
                    self._link.digest,
                    self.name_function(run.work),
                    run.request,
                    session,
                    expected,
                    at,
                )
            )
        except Exception as error:
            raise TypeError(
                f"{run.work.name} and its request must be values that pickle can carry"
            ) from error
        self.told["asked"] += 1
        self._sent[run] = self._link.send_message(
            partial(self._receive_answer, run), "ask", (self.choose_group(run.work), asked)
        )

    def choose_group(self, work: Work) -> str:
        """Return the group of replicas that answers a function.

        The lab of "models.music.explain:…" is music: its own group answers where there is one.
        """
        lab = next(iter(re.findall(r"^models\.(\w+)\.", str(work.name))), "")
        return lab if lab in self._link.groups else self._group

    def name_function(self, work: Work) -> Any:
        """Return the name by which a replica finds the function."""
        return work.name

    def update_queues(self, told: list[dict[Key, int]]) -> None:
        """Note how many requests wait in each replica, with those of other web servers."""
        queues = [queue[self._key] for queue in told if self._key in queue]
        with self.scheduler.changed:
            self.scheduler.machines = max(1, len(queues))
            self.scheduler.elsewhere = max(0, sum(queues) - len(self.scheduler.waiting))

    def _receive_answer(self, run: EngineRun, kind: str, content: Any) -> None:
        with self.scheduler.changed:
            if kind == "lost":
                self._retry_lost_run(run)
            elif kind == "unread":
                self._end_run(run, went_wrong())
            elif kind == "said":
                update, cause, seconds, news = pickle.loads(content)
                self._take_counts(*news)
                if run in self.scheduler.waiting:
                    self.scheduler.take_turns([run])
                if seconds:
                    run.work.find_cost(run.group).seconds = seconds
                if isinstance(update, InputError):
                    update.__cause__ = cause
                if isinstance(update, Answer | InputError):
                    self._end_run(run, update)
                elif not isinstance(update, QueuePlace) and run.add_steps(update):
                    run.wake()

    def _end_run(self, run: EngineRun, outcome: Answer[Any] | InputError) -> None:
        if run in self.scheduler.waiting:
            self.scheduler.waiting.remove(run)
        self._sent.pop(run, None)
        self._tries.pop(run, None)
        self.scheduler.finish(run, outcome)

    def _retry_lost_run(self, run: EngineRun) -> None:
        """Send a run again after its replica, or the way to all of them, was lost.

        A live run is not repeated, because a visitor would notice: it ends with an error. So does a
        run that was lost `TRIES` times.
        """
        number = self._sent.pop(run, None)
        if number is None or run.outcome is not None:
            return
        self._tries[run] += 1
        if run.live or self._tries[run] == TRIES:
            self._end_run(run, was_lost(run.live))
            return
        run.skip = len(run.steps)
        self._send_run(run)

    def _take_counts(self, counted: Counter[Any], lines: list[dict[str, Any]]) -> None:
        self.scheduler.computing += counted.pop("computing", 0.0)
        self.heard.update({name: counted.pop(name, 0) for name in ("asked", "cancelled")})
        self.scheduler.counts["out_of_memory"] += counted.pop("out_of_memory", 0)
        self.scheduler.sizes.update(counted)
        for line in lines:
            logging.getLogger(line["name"]).handle(logging.makeLogRecord(line))

    def drop_run(self, run: EngineRun) -> None:
        """Free the replica of a run that nobody follows any more."""
        with self.scheduler.changed:
            if run.askers or run.outcome is not None:
                return
            self._tries.pop(run, None)
            if (number := self._sent.pop(run, None)) is not None:
                self.told["cancelled"] += 1
                self._link.leave_message(number)
            self.scheduler.forget(run)

    def halt(self, session: str) -> bool:
        """Halt this page's runs and return once the replicas know; see `Worker.halt`.

        Returns False also where the replicas cannot be reached: nothing ends by itself then.
        """
        if not self._link.up.is_set():
            return False
        try:
            return any(self._link.call_replicas("halt", self._key, session).result(10))
        except (RuntimeError, TimeoutError):
            return False

    def warm(self, work: Work) -> Future[None]:
        """Import a function on every replica; see `Worker.warm`."""
        future: Future[None] = Future()

        def finish(asked: Future[list[bytes]]) -> None:
            error = asked.exception() or next(filter(None, map(pickle.loads, asked.result())), None)
            future.set_exception(error) if error else future.set_result(None)

        self._link.call_replicas(
            "warm", self._key, pickle.dumps(self.name_function(work))
        ).add_done_callback(finish)
        return future

    def leave_overdue_behind(self) -> None:
        """Do nothing: the replica watches its own deadlines."""

    def stop(self) -> None:
        """Free the replicas of all runs under way, and read their last counts."""
        with self.scheduler.changed:
            numbers, self._sent = list(self._sent.values()), {}
        for number in numbers:
            self._link.leave_message(number)
        if self._link.up.is_set():
            try:
                self.hear_news()
            except Exception as error:
                logging.getLogger(__name__).warning(
                    "the replicas sent no last counts: %s", type(error).__name__
                )

    def hear_news(self) -> None:
        """Fetch the counts and log lines of the replicas.

        They otherwise come with every answer.
        """
        for news in self._link.call_replicas("news", self._key).result(10):
            with self.scheduler.changed:
                self._take_counts(*pickle.loads(news))
