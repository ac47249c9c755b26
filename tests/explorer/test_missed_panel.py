"""What the panel about missed weight is given, from numbers of a fixed seed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from explorer.figures import missed
from tests.explorer import missing
from tests.explorer.rolls import unpacked

NAME = {"en": "4 rounds", "zh": "4 轮"}


def boards(**changed: Any) -> dict[str, Any]:
    """The value of one head, some of its parts replaced."""
    return missed.boards(NAME, (0, 1), (2, 3), **{**missing.head(0, 1), **changed})


def test_maps_and_tables_travel_as_they_are() -> None:
    found = missing.head(0, 1)
    value = json.loads(json.dumps(boards()))
    np.testing.assert_array_equal(unpacked(value["log_full"]), np.tril(found["log_full"], -1))
    np.testing.assert_array_equal(np.rint(unpacked(value["first"]) * value["first"]["scale"] * 255), found["first"])
    np.testing.assert_array_equal(unpacked(value["table"]), found["table"])
    np.testing.assert_array_equal(unpacked(value["pairs"]), found["pairs"])
    assert (value["chosen"], value["ran"], value["trained"], value["kinds"]) == (8, [4, 8], 4, list(missing.KINDS))
    assert value["tokens"] == list(missing.TOKENS)


def test_the_query_told_of_on_arrival_is_the_one_of_the_second_half_that_misses_most() -> None:
    found = missing.head(0, 1)
    met = (found["first"] > 0) & (found["first"] <= 4)
    lost = np.where(met, 0, np.tril(np.exp(found["log_full"]), -1)).sum(1)
    half = len(lost) // 2
    assert boards()["pos"] == half + int(lost[half:].argmax())
    assert boards(pos=3)["pos"] == 3
