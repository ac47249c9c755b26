"""What chooses a model is never what it is reported on; each model.json says both, and how its
figure was measured."""

from __future__ import annotations

import json

import pytest

from models.__main__ import LABS
from models.checkpoints import checkpoint

SHIPPED = {
    f"{path.parent.parent.name}/{path.parent.name}": path
    for slug in LABS
    for path in sorted((checkpoint.ASSETS / slug).glob("*/model.json"))
}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_model_says_how_it_was_chosen(
    name: str,
) -> None:
    known = json.loads(SHIPPED[name].read_text("utf-8"))
    assert known["chosen_on"] and known["protocol"]
    assert known["reported_on"] == known["figure"]["split"]
    assert known["chosen_on"] not in (known["reported_on"], "not recorded")


def test_a_recorded_figure_brings_its_split_and_its_protocol() -> None:
    found = checkpoint.add_figure(
        {"chosen_on": "val"}, {"split": "test", "value": 1.0}, "all of it"
    )
    assert (
        found["chosen_on"],
        found["reported_on"],
        found["protocol"],
        found["figure"]["value"],
    ) == ("val", "test", "all of it", 1.0)
    assert (
        checkpoint.add_figure(found, {"split": "valid"}, "longer", "longer")["reported_on"]
        == "test"
    )
