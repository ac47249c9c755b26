"""The learning rate of every shipped network lies inside the grid that it was chosen from."""

from __future__ import annotations

import json
from typing import Any

from models.__main__ import LABS
from models.checkpoints import checkpoint

# A network leaves these lists when it is trained again.
SEARCHED_TO_AN_EDGE = {  # the best rate that was tried is the smallest or the largest
    *(f"adaptive_span/{one}" for one in ("dynamic", "fixed")),
    *(f"music/{one}" for one in ("relative", "transformer")),
    *(
        f"reformer/{one}"
        for one in ("full", "lsh_1", "lsh_2", "lsh_4", "lsh_4-seed2", "lsh_4-seed3", "text")
    ),
    *(f"sparse_transformer/{one}" for one in ("text_fixed", "text_strided")),
}
CHOSEN_OTHERWISE = {  # model.json holds no grid, or one that chose another rate
    "adaptive_span/adaptive",
    "detection/base",
    *(f"image_transformer/{one}" for one in ("local_1d", "local_2d", "pixelcnn")),
    "nonautoregressive/cmlm_distilled",
    "sagan/classifier",
    *(f"speech/{one}" for one in ("base", "without_theo")),
    *(
        f"rnn_attention/{one}"
        for one in ("additive", "dot", "general", "dot_unscaled", "general_unscaled", "none")
    ),
    *(f"translation/{one}" for one in ("base", "residual_timing_encoder")),
}


def describe_fault(rates: dict[str, float], peak: float) -> str:
    """Say what is wrong with a rate and its grid: "otherwise", "edge" or "" for nothing."""
    if not rates or rates.get(f"{peak:g}") != min(rates.values()):
        return "otherwise"
    return "" if min(map(float, rates)) < peak < max(map(float, rates)) else "edge"


def read_trained() -> dict[str, tuple[dict[str, float], float]]:
    """Return the grid and the largest rate of every network that we trained; other seeds take those
    of the first."""
    found = {}
    for path in sorted(checkpoint.ASSETS.glob("*/*/model.json")):
        facts: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if path.parent.parent.name not in LABS or "schedule" not in facts.get("recipe", {}):
            continue
        first: dict[str, Any] = facts
        if facts["seed"] > 1:
            first = json.loads(
                (path.parent.parent / facts["variant"] / "model.json").read_text("utf-8")
            )
        rates = facts["rates"] or first["rates"]
        found[f"{path.parent.parent.name}/{path.parent.name}"] = (
            rates,
            facts["recipe"]["schedule"]["peak"],
        )
    return found


def test_a_rate_lies_inside_its_grid() -> None:
    faults = {name: describe_fault(*one) for name, one in read_trained().items()}
    assert {name for name, fault in faults.items() if fault == "edge"} == SEARCHED_TO_AN_EDGE
    assert {name for name, fault in faults.items() if fault == "otherwise"} == CHOSEN_OTHERWISE


def test_faults_are_found() -> None:
    grid = {"0.001": 2.0, "0.002": 1.0, "0.004": 1.5}
    assert describe_fault(grid, 0.002) == "" and describe_fault(grid, 0.004) == "otherwise"
    assert (
        describe_fault({}, 0.002) == "otherwise"
        and describe_fault({"0.001": 1.0, "0.002": 1.0}, 0.001) == "edge"
    )
