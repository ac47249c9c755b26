"""The engine over a Ray of this machine: two replicas against one, what a call costs more than in one process, what a lost replica costs.

The stand-in for a model waits 50 ms for each request, so that replicas share no core: what is measured is the way there and back.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import Bound, Report
from explorer.cluster import Cluster, Link
from explorer.engine import Answer, Engine

CROWD, KILLED_UNDER, CALLS, ROUNDS = 80, 60, 100, 3
HERE = "benchmarks.cluster:"


def waits(requests: list[str]) -> list[str]:
    """The stand-in."""
    time.sleep(0.05 * len(requests))
    return requests


def answers(requests: list[str]) -> list[int]:
    """At once: the process."""
    return [os.getpid() for _ in requests]


def version() -> str:
    """What replicas and web server hold: the same."""
    return "stand-in"


def measure(device: torch.device) -> Report:
    """One Ray for all; a quiet machine is told from a busy one by `in_process_ms`, of which 10 are spent waiting for others."""
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # it listens on this machine's own address alone
    with tempfile.TemporaryDirectory(prefix="ray-") as folder:
        link = Link("", f"{HERE}version", {"one": "1", "two": "2"}, cpus=0.1, memory=100, folder=str(Path(folder) / "r"))
        if not link.up.wait(300):
            raise RuntimeError("Ray has not started")
        engines = {group: Cluster(link, name=group, group=group) for group in ("one", "two")}
        try:
            return asyncio.run(measured(engines, Engine()))
        finally:
            link.close()


async def measured(engines: dict[str, Cluster], local: Engine) -> Report:
    """The figures, the groups of replicas in alternation."""
    one, two = engines["one"], engines["two"]
    seconds: dict[str, list[float]] = {"one": [], "two": []}
    for turn in range(ROUNDS + 1):  # the first is not counted
        for group, engine in engines.items():
            began = time.perf_counter()
            await asyncio.gather(*(engine.ask(f"{HERE}waits", f"{group} {turn} {number}") for number in range(CROWD)))
            seconds[group] += [time.perf_counter() - began] * bool(turn)
    calls: dict[str, list[float]] = {"local": [], "one": []}
    for number in range(CALLS):
        for name, asked in (("local", local), ("one", one)):
            began = time.perf_counter()
            await asked.ask(f"{HERE}answers", f"call {number}")
            calls[name].append((time.perf_counter() - began) * 1000)
    local.close(0.0)
    crowd = [asyncio.create_task(two.ask(f"{HERE}waits", f"killed {number}")) for number in range(KILLED_UNDER)]
    victim = (await two.ask(f"{HERE}answers", "who?")).value
    os.kill(victim, signal.SIGKILL)
    told: list[Any] = await asyncio.gather(*crowd, return_exceptions=True)
    unanswered = [outcome for outcome in told if not isinstance(outcome, Answer)]
    here = statistics.median(calls["local"])
    return Report(
        figures={
            "speedup_ratio": statistics.median(seconds["one"]) / statistics.median(seconds["two"]),
            "one_replica_s": statistics.median(seconds["one"]),
            "two_replicas_s": statistics.median(seconds["two"]),
            "overhead_ms": statistics.median(calls["one"]) - here,
            "in_process_ms": here,
            "lost": float(len(unanswered)),
        },
        bounds={"speedup_ratio": Bound(1.8, at_least=True), "overhead_ms": Bound(8), "lost": Bound(0)},
        notes={
            "speedup_ratio": f"{CROWD} requests at once of a stand-in that waits 50 ms for each, median of {ROUNDS} rounds",
            "lost": f"of {KILLED_UNDER} calls under way when one of two replicas is killed",
            **{f"wrong {number}": repr(outcome) for number, outcome in enumerate(unanswered[:3], 1)},
        },
    )
