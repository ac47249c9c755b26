"""The measurement of the training laboratory. Nothing is shipped as weights: its studies are
trained by `python -m models.twins.studies` and stored by `python -m models examples twins`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import torch

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import store_first
from models.training import driver
from models.training.driver import FigureRequest, LabModels, Measurement, Plan
from models.twins import studies, study_plan
from models.twins.explain import explain
from models.twins.records import EXAMPLES, SLUG

FIRST = 1_000  # of the seeds that a draw takes

VARIANTS = {
    SLUG: driver.Task(
        recipe=None,
        data="random digits, sorted, reversed or copied, made by a seeded generator",
        licence="Apache-2.0: the generator and these results",
        metric="signs_held",
        protocol="share of the claimed comparisons whose sign holds in at least 4 of 5 new seeds",
    )
}


def _refuse(*_given: Any, **_options: Any) -> NoReturn:
    raise ValueError(f"{SLUG} has nothing to train: its weights are made while a page watches")


def _plan(_job: Any) -> Plan[Any]:
    _refuse()


def measure(_asked: FigureRequest[driver.Task], draw: int) -> Measurement:
    """Train every claimed comparison anew, with five other seeds at the stored rates, and count
    the signs that hold on the held-out set of this draw."""
    if _asked.split != "test":
        raise ValueError(f"{SLUG} has the split test, not {_asked.split}")
    seeds = tuple(FIRST + 5 * draw + at for at in range(5))
    held: dict[str, int] = {}
    for name, stored in study_plan.load_stored()["knobs"].items():
        if not stored["sign"]:
            continue  # nothing is claimed
        knob = study_plan.KNOBS[name]
        before, after = (
            studies.measure_ends(knob, run, stored[side]["rate"], seeds, draw)
            for side, run in (("before", knob.before), ("after", knob.after))
        )
        held[name] = sum(
            (y > x) if stored["sign"] > 0 else (y < x) for x, y in zip(before, after, strict=True)
        )
        print(f"{name}: the sign holds in {held[name]} of 5", flush=True)
    signs = {name: count >= study_plan.ENOUGH for name, count in held.items()}
    value = round(sum(signs.values()) / max(1, len(signs)), 4)
    figure = {
        "metric": "signs_held",
        "split": "test",
        "value": value,
        "n": len(signs),
        "draw": draw,
        "signs_held": signs,
        "held_in": held,
    }
    return Measurement(
        figure,
        f"{sum(signs.values())} of {len(signs)} signs hold",
        key=None,
        refused="of a trained network, and this lab has none",
        higher=True,
    )


LAB = LabModels(
    SLUG,
    VARIANTS,
    lambda _where, _on: None,
    _plan,
    measure,
    options={"draw": {"type": int, "default": 0, "help": "draw other seeds and sequences"}},
)
train, evaluate, task_of = _refuse, LAB.evaluate, LAB.task_of


def examples() -> Path:
    """Store the examples and the studies, which go on where their log ends; return the first
    example's file."""
    torch.set_num_threads(1)
    log = studies.Log(Path("runs") / SLUG / "studies.jsonl")
    checkpoint.write_json(study_plan.find_stored(), studies.run_all(log))
    for at, example in enumerate(EXAMPLES[1:], 1):
        store_first(SLUG, explain, example, f"example{at}.npz")
    return store_first(SLUG, explain, EXAMPLES[0])
