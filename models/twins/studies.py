"""The stored studies of the laboratory: bands of five seeds, the field of outcomes, and techniques
that are compared at their own best rates."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models.twins import study_plan
from models.twins.data import HELD_OUT, LARGE, draw_held_out
from models.twins.records import SLUG, Request, Shape, Techniques
from models.twins.study_plan import (
    BROKEN,
    CHOOSING,
    CHOSEN_ON,
    ENOUGH,
    GRID,
    MANY,
    SEEDS,
    WIDEN,
    Knob,
    list_banded,
    name_band,
)
from models.twins.training import Slots, list_frames


class Log:
    """Finished pieces of work, a line of JSON each, so that a study that was stopped goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text("utf-8").splitlines() if path.exists() else ()
        self.found: dict[str, Any] = dict(json.loads(line) for line in lines)

    def do(self, key: str, work: Callable[[], Any]) -> Any:
        """Return the result of a piece of work, which is done unless it stands in the log."""
        if key not in self.found:
            self.found[key] = work()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, self.found[key]]) + "\n")
        return self.found[key]


def train_to_end(
    shape: Shape, runs: Sequence[Techniques], seeds: Sequence[int], steps: int, draw: int = 0
) -> list[dict[str, float]]:
    """Train runs side by side; return the held-out figures of each at the end. A run whose loss was
    no number has a loss without bound."""
    ends = []
    given, answers = draw_held_out(shape, LARGE, draw)
    for begin in range(0, len(runs), MANY):
        part = slice(begin, begin + MANY)
        slots = Slots(shape, runs[part], seeds[part], steps)
        for _ in range(steps):
            slots.advance()
        end = slots.judge(given, answers)
        for at, broke in enumerate(slots.broke):
            figures = {name: round(float(getattr(end, name)[at]), 5) for name in BROKEN}
            ends.append(dict(BROKEN) if broke or math.isnan(figures["loss"]) else figures)
    return ends


def choose_rate(
    run: Techniques, shape: Shape, steps: int, log: Log, grid: Sequence[float] = GRID
) -> tuple[float, dict[str, float]]:
    """Return the rate whose mean held-out loss over the choosing seeds is lowest, and the loss of
    each rate. The grid is widened until its best lies inside, or at the largest rate, 1."""
    losses: dict[float, float] = {}

    def measure(rates: Iterable[float]) -> None:
        todo = [rate for rate in rates if rate not in losses]
        key = repr(("rate", asdict(run), asdict(shape), steps, [f"{rate:.4g}" for rate in todo]))

        def work() -> list[float]:
            pairs = list(product(todo, CHOOSING))
            runs = [replace(run, rate=rate) for rate, _ in pairs]
            ends = train_to_end(shape, runs, [seed for _, seed in pairs], steps, CHOSEN_ON)
            each = np.array([end["loss"] for end in ends]).reshape(len(todo), -1)
            return [float(value) for value in each.mean(1)]

        if todo:
            losses.update(zip(todo, log.do(key, work), strict=True))

    measure(grid)
    while True:
        rates = sorted(losses)
        best = min(rates, key=losses.__getitem__)
        if best == rates[0] and best > 1e-5:
            measure([best / WIDEN])
        elif best == rates[-1] and best < 1:
            measure([min(1.0, best * WIDEN)])
        else:
            return best, {f"{rate:.3g}": round(losses[rate], 4) for rate in rates}


def measure_ends(
    knob: Knob, run: Techniques, rate: float, seeds: Sequence[int], draw: int
) -> list[float]:
    """Return the figure of a knob at this rate for every seed."""
    runs = [replace(run, rate=rate)] * len(seeds)
    ends = train_to_end(knob.shape, runs, seeds, knob.steps, draw)
    return [end[knob.metric] for end in ends]


def compare_knob(name: str, log: Log) -> dict[str, Any]:
    """Return the comparison of a knob: both best rates, and the figures of every seed."""
    knob = study_plan.KNOBS[name]
    sides: dict[str, Any] = {}
    for side, run in (("before", knob.before), ("after", knob.after)):
        rate, losses = choose_rate(run, knob.shape, knob.steps, log)
        key = repr(("end", asdict(run), rate, asdict(knob.shape), knob.steps, knob.metric))
        work = partial(measure_ends, knob, run, rate, SEEDS, 0)
        sides[side] = {"rate": rate, "losses": losses, "ends": log.do(key, work)}
    both = [np.array(sides[side]["ends"]) for side in ("before", "after")]
    up, down = int((both[1] > both[0]).sum()), int((both[1] < both[0]).sum())
    return {
        "metric": knob.metric,
        "task": knob.shape.task,
        "layers": knob.shape.layers,
        "length": knob.shape.length,
        "steps": knob.steps,
        **sides,
        "up": up,
        "down": down,
        "sign": 1 if up >= ENOUGH else -1 if down >= ENOUGH else 0,
    }


def measure_field(log: Log) -> dict[str, Any]:
    """Return the share of digits right in every cell of the field: (norm, warm-up, layers, rate,
    seed)."""
    cells = []
    for norm, warmup, layers in product(
        ("post", "pre"), study_plan.FIELD_WARMUPS, study_plan.FIELD_LAYERS
    ):
        cell = replace(study_plan.FIELD, norm=norm, warmup=warmup, layers=layers)

        def work(cell: Request = cell) -> list[float]:
            (run,) = cell.list_techniques()
            pairs = list(product(study_plan.FIELD_RATES, study_plan.FIELD_SEEDS))
            runs = [replace(run, rate=rate) for rate, _ in pairs]
            ends = train_to_end(cell.shape, runs, [seed for _, seed in pairs], cell.steps)
            return [end["right"] for end in ends]

        cells.append(log.do(repr(("field", norm, warmup, layers)), work))
    sizes = (
        2,
        len(study_plan.FIELD_WARMUPS),
        len(study_plan.FIELD_LAYERS),
        len(study_plan.FIELD_RATES),
        len(study_plan.FIELD_SEEDS),
    )
    return {"right": np.array(cells).reshape(sizes).round(4).tolist()}


def measure_bands(log: Log) -> dict[str, list[list[float]]]:
    """Return the held-out loss of five seeds at every frame, (frame, seed), by request."""
    bands = {}
    for request in list_banded():

        def work(request: Request = request) -> list[list[float]]:
            run = request.list_techniques()[-1]
            slots = Slots(request.shape, [run] * len(SEEDS), SEEDS, request.steps)
            held_out = draw_held_out(request.shape, HELD_OUT)
            frames = []
            for until in list_frames(request.steps):
                while slots.step < until:
                    slots.advance()
                frames.append([round(float(x), 3) for x in slots.judge(*held_out).loss])
            return frames

        bands[name_band(request)] = log.do(repr(("band", name_band(request))), work)
    return bands


def run_all(log: Log) -> dict[str, Any]:
    """Return the results of all studies."""
    return {
        "bands": measure_bands(log),
        "field": measure_field(log),
        "knobs": {name: compare_knob(name, log) for name in study_plan.KNOBS},
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    run_all(Log(Path("runs") / SLUG / "studies.jsonl"))
