"""The time until a started app listens, and until its first visitor has a live result. The disk is
warm: the app has run before.

Both count from the start of the process. The visitor comes as soon as the app listens, with a new
browser, opens the page and runs a sentence at once, while torch and the model are still loading.

listening_vs_import_ratio, first_live_vs_import_ratio: both over the time of a process that imports
    gradio and ends, round by round.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from unittest import mock

import torch

from benchmarks.measure import ROUNDS, Bound, Report, median, ratio
from explorer.engine.disk_store import VARIABLE
from tests.support.visitors.recording import Recording, recorded
from tests.support.visitors.sentences import captions
from tests.support.visitors.served import Served, prepared
from tests.support.visitors.visitor import Visitor, check


def measure(device: torch.device) -> Report:
    """Measure medians of five starts, after one that is not counted: it also leaves on disk its
    results for the examples."""
    # Python keeps compiled files, as it does by default.
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {VARIABLE: folder, "PYTHONDONTWRITEBYTECODE": ""}),
    ):
        return _measure_start()


def _measure_start() -> Report:
    with prepared() as served:
        first_quiet = served.cpu_s
        recording = recorded(served.url)
    imports, starts = [], []
    for _, sentence in zip(range(ROUNDS), captions(), strict=False):
        imports.append(_time_imports())
        starts.append(time_start(recording, sentence))
    seconds = dict(
        zip(("listening", "first", "ready"), map(list, zip(*starts, strict=True)), strict=True)
    ) | {"import": imports}
    quiet = median([_quiet() for _ in range(ROUNDS)])
    return Report.of(
        figures={
            "listening_s": (median(seconds["listening"]), Bound(4)),
            "first_live_result_s": (median(seconds["first"]), Bound(6)),
            "ready_s": median(seconds["ready"]),
            "import_s": median(imports),
            "listening_vs_import_ratio": (ratio(seconds, "listening", "import"), Bound(1.3)),
            "first_live_vs_import_ratio": (ratio(seconds, "first", "import"), Bound(2.0)),
            "quiet_cpu_s": (quiet, Bound(15)),
            "first_quiet_cpu_s": first_quiet,
        },
        notes={
            "first visitor": (
                f"{len(recording.opening)} calls to open the page, then a sentence, from the moment"
                " the app listens"
            ),
            "quiet": (
                "processor seconds until every example and step is ready: at a second start, and at"
                " the first one ever"
            ),
        },
    )


def time_start(recording: Recording, sentence: str) -> tuple[float, float, float]:
    """Return the seconds after the start of one app until it listens, until its first visitor's
    live result, and until it says that it is ready."""
    with Served() as served:
        return time_visit(served, recording, sentence)


def time_visit(served: Served, recording: Recording, sentence: str) -> tuple[float, float, float]:
    """Return the same of an app that has just been started."""
    listening = served.until("/healthz", every=0.02)
    first = asyncio.run(_first(Visitor(served.url, recording), served, sentence))
    return listening, first, served.until()


def _time_imports() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import gradio"], check=True)
    return time.perf_counter() - began


def _quiet() -> float:
    with Served() as served:
        served.prepare()
        return served.cpu_s


async def _first(visitor: Visitor, served: Served, sentence: str) -> float:
    try:
        await visitor.open()
        heard = await visitor.run(sentence)
        seconds = served.age_s
    finally:
        visitor.leave()
    check(heard.values(), sentence, live=True)
    return seconds
