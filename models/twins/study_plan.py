"""The plan of the stored studies, and the file of their results, without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from models.checkpoints import folders
from models.explaining.errors import reading_file
from models.twins.records import CHANGES, SLUG, Request, Shape, Techniques

SEEDS = (1, 2, 3, 4, 5)
CHOOSING = (101, 102)  # seeds on which a rate is chosen
CHOSEN_ON = 1  # the held-out set on which it is, beside the one that is reported, 0
GRID = (0.001, 0.003, 0.01)  # widened while the best rate stands at an end
WIDEN = 10**0.5
ENOUGH = 4  # seeds of five in which a sign must hold
BROKEN = {"loss": 99.0, "right": 0.0, "whole": 0.0, "calibration": 1.0}
MANY = 24  # runs in one program

# ---- the field

FIELD_RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
FIELD_LAYERS = (1, 2, 4, 6)
FIELD_WARMUPS = (0, 100)
FIELD = Request(rate=0.003, schedule="constant", batch=8, steps=200)
FIELD_SEEDS = (1, 2, 3)

# ---- the bands: some changes of each of these

BASES: Mapping[Request, tuple[str, ...]] = {
    Request(): tuple(CHANGES),
    Request(task="reverse", rate=0.01, steps=300): ("none", "residual", "constant"),
    Request(few=1, rate=0.01, steps=300): ("none", "dropout", "smoothing"),
    Request(layers=6, rate=0.01, schedule="constant", steps=100): ("none", "norm", "warmup"),
}


TEN = Shape(length=10)


@dataclass(frozen=True)
class Knob:
    """A technique that is compared: without it and with it, each at its own best rate.

    metric: "right" (share of digits), "whole" (share of sequences), "loss" (held-out nats a digit)
    or "calibration" (its error).
    """

    before: Techniques
    after: Techniques
    metric: str
    shape: Shape = TEN
    steps: int = 300


_BASE = Techniques()
_FEW = replace(_BASE, few=True)
_CONSTANT = replace(_BASE, schedule="constant")
_DEEP = Shape(layers=6, length=8)
KNOBS: Final[Mapping[str, Knob]] = {
    "constant": Knob(_BASE, _CONSTANT, "whole"),
    "average": Knob(_CONSTANT, replace(_CONSTANT, average=True), "whole"),
    "residual": Knob(_BASE, replace(_BASE, residual=False), "whole", Shape(task="reverse")),
    "batch": Knob(_BASE, replace(_BASE, batch=4), "whole"),
    "dropout_few": Knob(_FEW, replace(_FEW, dropout=0.1), "loss"),
    "dropout": Knob(_BASE, replace(_BASE, dropout=0.1), "whole"),
    "smoothing_few": Knob(_FEW, replace(_FEW, smoothing=0.1), "calibration"),
    "sgd": Knob(_BASE, replace(_BASE, optimizer="sgd"), "whole"),
    "norm": Knob(_CONSTANT, replace(_CONSTANT, norm="pre"), "right", _DEEP, 200),
    "warmup": Knob(_CONSTANT, replace(_CONSTANT, warmup=60), "right", _DEEP, 200),
}


def list_banded() -> list[Request]:
    """Return the requests whose last run has a stored band."""
    return [replace(base, change=name) for base, some in BASES.items() for name in some]


def name_band(request: Request) -> str:
    """Return the name under which the band of a request's last run is stored."""
    run = request.list_techniques()[-1]
    shape = request.shape
    values = (*asdict(shape).values(), *asdict(run).values(), request.steps)
    return " ".join(str(value) for value in values)


def find_stored() -> Path:
    """Return the file of the stored studies."""
    return folders.find_lab_folder(SLUG, folders.ASSETS) / "studies.json"


def load_stored() -> dict[str, Any]:
    """Return the stored studies: bands, field, knobs, prices. Raise DamagedFile where they cannot
    be read."""
    with reading_file(find_stored()):
        stored: dict[str, Any] = json.loads(find_stored().read_text("utf-8"))
        return stored
