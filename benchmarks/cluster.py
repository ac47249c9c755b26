"""The engine over a Ray of this machine: two replicas against one, the cost of a call above a call
in one process, and the losses when a replica or one of two web servers ends.

The stand-in for a model waits 50 ms for each request, so that replicas share no core: the way there
and back is measured. The web servers, ``python -m benchmarks.cluster PORT``, have one lab with a
stand-in of this kind.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch

from benchmarks.measure import Bound, Report
from benchmarks.sizes import size
from explorer.cluster import Cluster
from explorer.engine import Answer, Engine
from tests.support.visitors.balanced import balanced
from tests.support.visitors.recording import Recording, asking, events_of
from tests.support.visitors.sentences import captions
from tests.support.visitors.served import Served, a_ray
from tests.support.visitors.visitor import Visitor

CROWD, KILLED_UNDER, CALLS, ROUNDS = size((80, 60, 100, 3), (4, 8, 2, 1))
TRIES = 5  # for a page whose web server is gone
HERE = "benchmarks.cluster:"


def waits(requests: list[str]) -> list[str]:
    """Wait, as the stand-in of a model does."""
    time.sleep(0.05 * len(requests))
    return requests


def answers(requests: list[str]) -> list[int]:
    """Return at once the number of the process."""
    return [os.getpid() for _ in requests]


def version() -> str:
    """Return the version that replicas and web server share."""
    return "stand-in"


def says(requests: Sequence[Any]) -> list[Any]:
    """Return the answer to the lab's first example after a while. This is the stand-in of the
    lab."""
    from explorer.page.runs import load_first
    from models.translation.records import EXAMPLES, Explanation

    time.sleep(0.05 * len(requests))
    kept = load_first("translation", EXAMPLES[0], Explanation)
    assert kept is not None
    return [kept.seen] * len(requests)


def measure(device: torch.device) -> Report:
    """Measure with one Ray for all. `in_process_ms` shows whether the machine is quiet: 10 of its
    milliseconds are spent waiting for others."""
    with a_ray(f"{HERE}version", one="1", two="2") as link:
        engines = {group: Cluster(link, name=group, group=group) for group in ("one", "two")}
        report = asyncio.run(measure_groups(engines, Engine()))
        unanswered = with_a_web_server_less(link.address)
    notes = {f"page {number}": what for number, what in enumerate(unanswered[:3], 1)}
    return replace(
        report,
        figures={**report.figures, "lost": report.figures["lost"] + len(unanswered)},
        notes={**report.notes, **notes},
    )


def with_a_web_server_less(address: str) -> list[str]:
    """Return the outcomes of calls without an answer, among those under way when one of two web
    servers is killed.

    address: that of the Ray of both.
    """
    settings = {
        "EXPLORER_ENGINE": f"ray://{address}",
        "EXPLORER_REPLICAS": "2",
        "EXPLORER_REPLICA_CPUS": "0.1",
    }
    with ExitStack() as stack:
        webs = [
            stack.enter_context(Served(("-m", "benchmarks.cluster", "PORT"), None, **settings))
            for _ in range(2)
        ]
        for web in webs:
            web.until("/healthz")
        number = events_of(f"{webs[0].url}/translation")["ask"]
        url = f"http://127.0.0.1:{stack.enter_context(balanced([web.port for web in webs]))}"
        return asyncio.run(killed_under(webs, url, asking(number)))


async def killed_under(webs: Sequence[Served], url: str, page: Recording) -> list[str]:
    """Kill the web server of half of the visitors while all of them wait. Their pages come back
    from the other, and send their requests again."""
    sentences = captions(seed=3)
    for web in webs:  # this also starts its connection to the cluster
        first = Visitor(web.url, page)
        first.name()
        (await first.run(next(sentences))).values()
        first.leave()
    heard = [asyncio.Event() for _ in range(KILLED_UNDER)]

    async def visit(visitor: int, sentence: str) -> str:
        browser = Visitor(url, page.carrying(f"tfe_web={visitor}"))
        error = ""
        for _ in range(TRIES):
            browser.name()  # a page that is loaded anew has another name
            try:
                values = (await browser.run(sentence, lambda _: heard[visitor].set())).values()
                box = next(
                    value for value in values if isinstance(value, dict) and "fields" in value
                )
                error = (
                    ""
                    if box["fields"]["sentence"] == sentence
                    else f"another answer: {box['state']}"
                )
                break
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"[:200]
                await asyncio.sleep(0.5)
        browser.leave()
        return error

    visits = [
        asyncio.create_task(visit(visitor, next(sentences))) for visitor in range(KILLED_UNDER)
    ]
    await asyncio.gather(*(one.wait() for one in heard))
    assert not all(one.done() for one in visits), "somebody still waits"
    webs[0].signal(signal.SIGKILL)
    webs[0].wait(TRIES)
    return [error for error in await asyncio.gather(*visits) if error]


async def measure_groups(engines: dict[str, Cluster], local: Engine) -> Report:
    """Measure the figures, the groups of replicas in alternation."""
    one, two = engines["one"], engines["two"]
    seconds: dict[str, list[float]] = {"one": [], "two": []}
    for turn in range(ROUNDS + 1):  # the first round is not counted
        for group, engine in engines.items():
            began = time.perf_counter()
            await asyncio.gather(
                *(engine.ask(f"{HERE}waits", f"{group} {turn} {number}") for number in range(CROWD))
            )
            seconds[group] += [time.perf_counter() - began] * bool(turn)
    calls: dict[str, list[float]] = {"local": [], "one": []}
    for number in range(CALLS):
        for name, asked in (("local", local), ("one", one)):
            began = time.perf_counter()
            await asked.ask(f"{HERE}answers", f"call {number}")
            calls[name].append((time.perf_counter() - began) * 1000)
    local.close(0.0)
    crowd = [
        asyncio.create_task(two.ask(f"{HERE}waits", f"killed {number}"))
        for number in range(KILLED_UNDER)
    ]
    victim = (await two.ask(f"{HERE}answers", "who?")).value
    os.kill(victim, signal.SIGKILL)
    told: list[Any] = await asyncio.gather(*crowd, return_exceptions=True)
    unanswered = [outcome for outcome in told if not isinstance(outcome, Answer)]
    here = statistics.median(calls["local"])
    return Report.of(
        figures={
            "speedup_ratio": (
                statistics.median(seconds["one"]) / statistics.median(seconds["two"]),
                Bound(1.8, at_least=True),
            ),
            "one_replica_s": statistics.median(seconds["one"]),
            "two_replicas_s": statistics.median(seconds["two"]),
            "overhead_ms": (statistics.median(calls["one"]) - here, Bound(8)),
            "in_process_ms": here,
            "lost": (len(unanswered), Bound(0)),
        },
        notes={
            "speedup_ratio": (
                f"{CROWD} requests at once of a stand-in that waits 50 ms for each, median of"
                f" {ROUNDS} rounds"
            ),
            "lost": (
                f"of {KILLED_UNDER} calls under way when one of two replicas is killed, and as many"
                " when one of two web servers is"
            ),
            **{
                f"wrong {number}": repr(outcome) for number, outcome in enumerate(unanswered[:3], 1)
            },
        },
    )


def serve() -> None:
    """Run one of the web servers, until it is told to end."""
    from explorer.labs.translation.lab import LAB
    from explorer.page.lab import open_lab
    from explorer.web import launch, options

    lab = open_lab(replace(LAB, explain=f"{HERE}says"))
    launch.serve(
        [replace(lab, stored=None, probe=None)],
        "127.0.0.1",
        int(sys.argv[1]),
        engine=options.choose_engine(os.environ["EXPLORER_ENGINE"]),
    )


if __name__ == "__main__":
    serve()
