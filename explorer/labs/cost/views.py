"""What the page declares of its input, its stored run, its place on the family map and its guided steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, Drawings, query
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled
from explorer.labs.cost import about, texts
from explorer.labs.cost.clock import own
from explorer.labs.guided import Shown, guided
from models.cost.records import ALPHAS, EXAMPLES, FILTERS, LAYERS, Explanation
from models.pixels import shipped

first = runs.kept("cost", EXAMPLES[0], Explanation)


def pictures() -> NDArray[np.uint8]:
    """The pictures to begin with, (picture, row, column)."""
    return shipped("cost", "pictures")["levels"]


def _plain(*values: float) -> dict[float, Text]:
    return {value: dict.fromkeys(("en", "zh"), f"{value:,g}") for value in values}


def controls() -> tuple[Control, ...]:
    """What may be set, by experiment, and what may be changed in it."""
    clock, scale, heads = ({"task": (task,)} for task in texts.TASKS)
    said = {name: lambda value, name=name: filled(texts.SAYS[name], n=f"{value:,g}") for name in texts.SAYS}
    return (
        Control("task", texts.TASK, "choice", names=texts.TASKS),
        Control("length", texts.LENGTH, "select", names=_plain(64, 128, 256, 512, 1000, 2048, 4096), when=clock),
        Control("width", texts.WIDTH, "select", names=_plain(16, 64, 128, 256, 512, 1000), when=clock),
        Control("kernel", texts.KERNEL, "select", names=_plain(3, 5, 7), when=clock),
        Control("d_k", texts.D_K, "select", names=_plain(*(4**n for n in range(6))), when=scale),
        Control("picture", texts.PICTURE, "drawing", drawings=Drawings(pictures(), texts.PICTURES, ink=False), when=heads),
        Control("kernel", texts.FILTER_SIZE, "select", names=_plain(3, 5, 7), when=heads),
        Control("filter", texts.FILTER, "select", names={name: texts.FILTERS[name] for name in FILTERS}, when=heads),
        Control("seed", texts.SEED, "seed", hint=texts.SEED_HINT, when={"task": ("scale", "heads")}),
        Control(
            "window", texts.KNOBS["window"], "stops", names=_plain(16, 32, 64, 128, 256, 512), change=True, says=said["window"], when=clock
        ),
        Control(
            "fused",
            texts.KNOBS["fused"],
            "switch",
            names={True: texts.YES, False: texts.NO},
            change=True,
            says=lambda _no: texts.SAYS["fused"],
            when=clock,
        ),
        Control("power", texts.KNOBS["power"], "number", step=0.25, names=texts.POWERS, change=True, says=said["power"], when=scale),
        Control("alpha", texts.KNOBS["alpha"], "stops", names=_plain(0, *ALPHAS), change=True, says=said["alpha"], when=heads),
        Control("without", texts.KNOBS["without"], "number", names={0: texts.NONE}, change=True, says=said["without"], when=heads),
    )


SIDE = 48  # cells of the picture on the family map


def thumbnail(seen: Explanation) -> Thumbnail | None:
    """The stored run: the times of each layer as a curve over the length, both logarithmic."""
    if seen.clock is None:
        return None
    picture, points = np.full((SIDE, SIDE), np.nan, np.float32), own(seen.clock.points)
    ends = np.log([[min(values), max(values)] for values in ([p.length for p in points], [p.seconds for p in points])])
    for number, layer in enumerate(LAYERS):
        mine = sorted((point.length, point.seconds) for point in points if point.layer == layer)
        if not mine:
            continue
        x, y = ((np.log(values) - low) / (high - low) for values, (low, high) in zip(zip(*mine, strict=True), ends, strict=True))
        across = np.arange(SIDE)
        up = np.round(np.interp(across, x * (SIDE - 1), y * (SIDE - 3))).astype(int)
        for thick in (0, 1):
            picture[SIDE - 1 - up - thick, across] = number / (len(LAYERS) - 1)
    return Thumbnail(picture)


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: experiments as links, and the figure that each speaks about."""
    first(), pictures(), about.family()  # a lab whose files cannot be read has no steps, and is closed
    shown: dict[str, Shown] = {
        "paths": ("", {}, "far"),
        "paper": ("", {}, "paper"),
        "clock": ("", {}, "clock"),
        "scale": (query(EXAMPLES[1]), {}, "hardens"),
        "scores": (query(EXAMPLES[1]), {}, "scores"),
        "heads": (query(EXAMPLES[3]), {}, "filtered"),
        "family": ("", {}, "seconds"),
    }
    return guided(texts, shown)
