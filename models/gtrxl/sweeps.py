"""The success of an agent without each head, with each gate forced, and by length of memory:
measured once and stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.checkpoints import checkpoint, folders
from models.gtrxl.environment import draw_layout, join_layouts
from models.gtrxl.model import Agent, Switches
from models.gtrxl.play import build_switches, join_switches, walk_corridors
from models.gtrxl.pretrained import SLUG, load
from models.gtrxl.records import NETWORKS

LENGTH = 12  # of the corridors
COUNT = 300  # corridors for each change
SEED = 13  # of the corridors
MEMORIES = range(17)  # k
LEVELS = (0.0, 0.12, 0.5, 1.0)  # that z is forced to
FILE = "switches.json"


def measure_each(agent: Agent, changes: Sequence[Switches], count: int) -> list[dict[str, float]]:
    """Return the success with each change, in the same corridors: `right` and `late`.

    changes: of change lane each.
    """
    layout = draw_layout(np.random.default_rng(SEED), [LENGTH] * count)
    lanes = join_switches([change for change in changes for _ in range(count)])
    walked = walk_corridors(agent, join_layouts([layout] * len(changes)), lanes)
    right, late = (change.reshape(-1, count).mean(1) for change in (walked.right, walked.late))
    return [
        {"right": round(float(a), 4), "late": round(float(b), 4)}
        for a, b in zip(right, late, strict=True)
    ]


def sweep_agent(agent: Agent, count: int = COUNT) -> dict[str, Any]:
    """Return the success of an agent by k, without each head alone, and with each gate, and all of
    them, forced to each level. count: corridors for each."""
    config = agent.config
    switch = build_switches
    results: dict[str, Any] = {
        "memory": measure_each(agent, [switch(config, 1, k) for k in MEMORIES], count)
    }
    layers = range(config.n_layers)
    if config.kind != "lstm":
        heads = [(layer, head) for layer in layers for head in range(config.n_heads)]
        results["heads"] = measure_each(
            agent, [switch(config, 1, None, [change]) for change in heads], count
        )
    if config.kind == "gtrxl":
        places = [(layer, place) for layer in layers for place in (0, 1)]
        some = [[change] for change in places] + [places]
        forced = [dict.fromkeys(each, z) for each in some for z in LEVELS]
        rows = measure_each(
            agent, [switch(config, 1, None, [], change) for change in forced], count
        )
        each = len(LEVELS)
        results["gates"] = [rows[at * each : (at + 1) * each] for at in range(len(some))]
    return results


def write_sweeps() -> Path:
    """Measure all shipped agents and write the file; return its path."""
    agents = {name: sweep_agent(load(name).model) for name in NETWORKS}
    facts = {"length": LENGTH, "n": COUNT, "memories": [*MEMORIES], "levels": [*LEVELS]}
    where = folders.find_lab_folder(SLUG, checkpoint.ASSETS) / FILE
    return checkpoint.write_json(where, {**facts, "agents": agents})
