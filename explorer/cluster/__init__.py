"""The engine whose computing is done by a Ray cluster, with the contract of the one that computes here.

This side says who may ask, who shares a run, who waits where, and remembers; what is asked for then goes to one of the replicas, each of
which is an engine as in a server of one process, and makes the batches. A replica that is lost costs a deterministic request a second
try, which nobody notices.
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
from explorer.cluster.replica import AHEAD, Asked, Key
from explorer.engine import Answer, Engine, Limits, Waiting
from explorer.engine.records import is_away, was_lost, went_wrong
from explorer.engine.runs import Run, Work
from explorer.engine.scheduler import Scheduler
from explorer.engine.worker import Worker
from models.errors import InputError

TRIES = 3  # of a request whose replica was lost

__all__ = ["Cluster", "Link"]


class Cluster(Engine):
    """An engine that computes elsewhere."""

    def __init__(self, link: Link, device: str = "cpu", limits: Limits | None = None, name: str = "engine", group: str = "all") -> None:
        """device, limits, name: as of `Engine`; web servers that agree in them share the replicas' batches. close() also ends the link.

        group: of replicas, for what no lab has its own.
        """
        super().__init__(device, limits, name)
        self.link = link
        self._worker = Courier(self._scheduler, link, Key(name, device, self.limits), group)

    @property
    def away(self) -> bool:  # type: ignore[override]
        """Is the cluster out of reach?"""
        return self.link.away

    async def reached(self) -> None:
        """Returns once the cluster is there."""
        while not self.link.up.is_set():
            await asyncio.sleep(0.1)

    def close(self, grace: float = 20.0) -> bool:
        """As of `Engine`."""
        answered = super().close(grace)
        self.link.close()
        return answered


class Courier(Worker):
    """Stands where the thread that computes would, and carries what waits to the replicas and back."""

    def __init__(self, scheduler: Scheduler, link: Link, key: Key, group: str = "all") -> None:
        super().__init__(scheduler, key.device)
        self._link, self._key, self._group = link, key, group
        link.queues.add(self)
        self._sent: dict[Run, int] = {}  # the numbers of their messages
        self._tries: Counter[Run] = Counter()
        self.told: Counter[str] = Counter()  # requests "asked" and "cancelled"
        self.heard: Counter[str] = Counter()  # of those, what the replicas say has arrived

    def ensure(self) -> None:
        """Send what waits and was not sent."""
        with self.scheduler.changed:
            for run in [run for run in self.scheduler.waiting if run not in self._sent]:
                self._send(run)

    def _send(self, run: Run) -> None:
        if self._link.away:
            self._end(run, is_away())
            return
        session = next(iter(run.askers)).session if run.askers else ""
        expected, at = run.work.cost(run.group).seconds, run.arrived + AHEAD
        try:
            asked = pickle.dumps(Asked(self._key, self._link.digest, self.named(run.work), run.request, session, expected, at))
        except Exception as error:
            raise TypeError(f"{run.work.name} and its request must be such as can travel") from error
        self.told["asked"] += 1
        self._sent[run] = self._link.send(partial(self._hear, run), "ask", (self.group(run.work), asked))

    def group(self, work: Work) -> str:
        """The replicas that answer it: those of its lab, "models.music.explain:…", where there are such."""
        lab = next(iter(re.findall(r"^models\.(\w+)\.", str(work.name))), "")
        return lab if lab in self._link.groups else self._group

    def named(self, work: Work) -> Any:
        """What a replica finds the function by."""
        return work.name

    def waits(self, told: list[dict[Key, int]]) -> None:
        """Hear how many requests wait in each replica, those of other web servers among them."""
        queues = [queue[self._key] for queue in told if self._key in queue]
        with self.scheduler.changed:
            self.scheduler.machines = max(1, len(queues))
            self.scheduler.elsewhere = max(0, sum(queues) - len(self.scheduler.waiting))

    def _hear(self, run: Run, kind: str, content: Any) -> None:
        with self.scheduler.changed:
            if kind == "lost":
                self._lost(run)
            elif kind == "unread":
                self._end(run, went_wrong())
            elif kind == "said":
                update, cause, seconds, news = pickle.loads(content)
                self._learn(*news)
                if run in self.scheduler.waiting:
                    self.scheduler.take([run])
                if seconds:
                    run.work.cost(run.group).seconds = seconds
                if isinstance(update, InputError):
                    update.__cause__ = cause
                if isinstance(update, Answer | InputError):
                    self._end(run, update)
                elif not isinstance(update, Waiting) and run.add(update):
                    run.wake()

    def _end(self, run: Run, outcome: Answer[Any] | InputError) -> None:
        if run in self.scheduler.waiting:
            self.scheduler.waiting.remove(run)
        self._sent.pop(run, None)
        self._tries.pop(run, None)
        self.scheduler.finish(run, outcome)

    def _lost(self, run: Run) -> None:
        """Its replica is gone, or the way to all of them: once more, where nobody will notice."""
        number = self._sent.pop(run, None)
        if number is None or run.outcome is not None:
            return
        self._tries[run] += 1
        if run.live or self._tries[run] == TRIES:
            self._end(run, was_lost(run.live))
            return
        run.skip = len(run.steps)
        self._send(run)

    def _learn(self, counted: Counter[Any], lines: list[dict[str, Any]]) -> None:
        self.scheduler.computing += counted.pop("computing", 0.0)
        self.heard.update({name: counted.pop(name, 0) for name in ("asked", "cancelled")})
        self.scheduler.counts["out_of_memory"] += counted.pop("out_of_memory", 0)
        self.scheduler.sizes.update(counted)
        for line in lines:
            logging.getLogger(line["name"]).handle(logging.makeLogRecord(line))

    def left(self, run: Run) -> None:
        """Nobody follows: its replica is freed."""
        with self.scheduler.changed:
            if run.askers or run.outcome is not None:
                return
            self._tries.pop(run, None)
            if (number := self._sent.pop(run, None)) is not None:
                self.told["cancelled"] += 1
                self._link.leave(number)
            self.scheduler.forget(run)

    def halt(self, session: str) -> bool:
        """As of `Worker`: returns when the replicas know. False also where they cannot be told: nothing ends by itself then."""
        if not self._link.up.is_set():
            return False
        try:
            return any(self._link.call("halt", self._key, session).result(10))
        except (RuntimeError, TimeoutError):
            return False

    def warm(self, work: Work) -> Future[None]:
        """As of `Worker`, on every replica."""
        future: Future[None] = Future()

        def done(asked: Future[list[bytes]]) -> None:
            error = asked.exception() or next(filter(None, map(pickle.loads, asked.result())), None)
            future.set_exception(error) if error else future.set_result(None)

        self._link.call("warm", self._key, pickle.dumps(self.named(work))).add_done_callback(done)
        return future

    def leave_overdue_behind(self) -> None:
        """The replica sees to it."""

    def stop(self) -> None:
        """Free the replicas of what is still under way, and read the last they have to tell."""
        with self.scheduler.changed:
            numbers, self._sent = list(self._sent.values()), {}
        for number in numbers:
            self._link.leave(number)
        if self._link.up.is_set():
            try:
                self.hear_news()
            except Exception as error:
                logging.getLogger(__name__).warning("the replicas told no news: %s", type(error).__name__)

    def hear_news(self) -> None:
        """What the replicas have counted and logged, as they otherwise tell with every answer."""
        for news in self._link.call("news", self._key).result(10):
            with self.scheduler.changed:
                self._learn(*pickle.loads(news))
