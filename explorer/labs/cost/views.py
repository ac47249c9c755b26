"""The page's declarations: its input, its stored run, its place on the family map and its guided
steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    DrawingControl,
    MenuControl,
    SamplePictures,
    SeedControl,
    SliderControl,
    StopsControl,
    SwitchControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.labs.cost import about, texts
from explorer.labs.cost.clock import select_asked
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from models.cost.records import ALPHAS, EXAMPLES, FILTERS, LAYERS, Explanation
from models.data.pixels import load_shipped_pictures

first = runs.load_first_once("cost", EXAMPLES[0], Explanation)


def load_pictures() -> NDArray[np.uint8]:
    """Load the example pictures, (picture, row, column)."""
    return load_shipped_pictures("cost", "pictures")["levels"]


def _remove_changes(*values: float) -> dict[float, Text]:
    return {value: dict.fromkeys(("en", "zh"), f"{value:,g}") for value in values}


def controls() -> tuple[Control, ...]:
    """Return the controls of each experiment, and what may be changed in it."""
    clock, scale, heads = ({"task": (task,)} for task in texts.TASKS)
    said = {
        name: lambda value, name=name: fill_text(texts.SAYS[name], n=f"{value:,g}")
        for name in texts.SAYS
    }
    return (
        ChoiceControl("task", texts.TASK, names=texts.TASKS),
        MenuControl(
            "length",
            texts.LENGTH,
            names=_remove_changes(64, 128, 256, 512, 1000, 2048, 4096),
            when=clock,
        ),
        MenuControl(
            "width",
            texts.WIDTH,
            names=_remove_changes(16, 64, 128, 256, 512, 1000),
            when=clock,
        ),
        MenuControl("kernel", texts.KERNEL, names=_remove_changes(3, 5, 7), when=clock),
        MenuControl("d_k", texts.D_K, names=_remove_changes(*(4**n for n in range(6))), when=scale),
        DrawingControl(
            "picture",
            texts.PICTURE,
            drawings=SamplePictures(load_pictures(), texts.PICTURES, ink=False),
            when=heads,
        ),
        MenuControl("kernel", texts.FILTER_SIZE, names=_remove_changes(3, 5, 7), when=heads),
        MenuControl(
            "filter",
            texts.FILTER,
            names={name: texts.FILTERS[name] for name in FILTERS},
            when=heads,
        ),
        SeedControl("seed", texts.SEED, hint=texts.SEED_HINT, when={"task": ("scale", "heads")}),
        StopsControl(
            "window",
            texts.KNOBS["window"],
            names=_remove_changes(16, 32, 64, 128, 256, 512),
            change=True,
            says=said["window"],
            when=clock,
        ),
        SwitchControl(
            "fused",
            texts.KNOBS["fused"],
            names={True: texts.YES, False: texts.NO},
            change=True,
            says=lambda _no: texts.SAYS["fused"],
            when=clock,
        ),
        SliderControl(
            "power",
            texts.KNOBS["power"],
            step=0.25,
            names=texts.POWERS,
            change=True,
            says=said["power"],
            when=scale,
        ),
        StopsControl(
            "alpha",
            texts.KNOBS["alpha"],
            names=_remove_changes(0, *ALPHAS),
            change=True,
            says=said["alpha"],
            when=heads,
        ),
        SliderControl(
            "without",
            texts.KNOBS["without"],
            names={0: texts.NONE},
            change=True,
            says=said["without"],
            when=heads,
        ),
    )


SIDE = 48  # cells along an edge of the picture on the family map


def thumbnail(explanation: Explanation) -> Thumbnail | None:
    """Draw the stored run: the times of each layer as a curve over the length, both logarithmic."""
    if explanation.clock is None:
        return None
    picture, points = (
        np.full((SIDE, SIDE), np.nan, np.float32),
        select_asked(explanation.clock.points),
    )
    ends = np.log(
        [
            [min(values), max(values)]
            for values in ([p.length for p in points], [p.seconds for p in points])
        ]
    )
    for number, layer in enumerate(LAYERS):
        mine = sorted((point.length, point.seconds) for point in points if point.layer == layer)
        if not mine:
            continue
        x, y = (
            (np.log(values) - low) / (high - low)
            for values, (low, high) in zip(zip(*mine, strict=True), ends, strict=True)
        )
        across = np.arange(SIDE)
        up = np.round(np.interp(across, x * (SIDE - 1), y * (SIDE - 3))).astype(int)
        for thick in (0, 1):
            picture[SIDE - 1 - up - thick, across] = number / (len(LAYERS) - 1)
    return Thumbnail(picture)


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: experiments as links, and the figure that each speaks about."""
    # a lab whose files cannot be read has no steps, and is closed
    first(), load_pictures(), about.read_family()
    shown: dict[str, Shown] = {
        "paths": ("", {}, "far"),
        "paper": ("", {}, "paper"),
        "clock": ("", {}, "clock"),
        "scale": (spell_query(EXAMPLES[1]), {}, "hardens"),
        "scores": (spell_query(EXAMPLES[1]), {}, "scores"),
        "heads": (spell_query(EXAMPLES[3]), {}, "filtered"),
        "family": ("", {}, "seconds"),
    }
    return build_steps(texts, shown)
