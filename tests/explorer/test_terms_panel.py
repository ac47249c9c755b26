"""What the panel of the four terms is given, from numbers of a fixed seed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from explorer.figures import terms
from tests.explorer import segmented
from tests.explorer.rolls import unpacked

NAME = {"en": "Transformer-XL", "zh": "Transformer-XL"}


def cut(last: int = 180, count: int = 32, **more: Any) -> dict[str, Any]:
    """The parts of one head, some of them replaced."""
    seen = segmented.reading(length=200, segment=64, memory=160, layers=2, heads=3)
    return {**segmented.cut(seen, 1, 2, last, count), **more}


def test_the_last_keys_stand_there_and_the_weight_of_the_others_is_told() -> None:
    parts = cut()
    value = json.loads(json.dumps(terms.boards(NAME, (1, 2), (2, 3), **parts)))
    left = len(parts["keys"]) - terms.KEYS
    assert left > 0 and value["left_off"] == left
    assert value["memory_until"] == parts["memory_until"] - left
    for name in ("content", "position", "global_content", "global_position", "scores"):
        np.testing.assert_array_equal(unpacked(value[name]), parts[name][:, left:])
    np.testing.assert_allclose(unpacked(value["elsewhere"]) / 65_535, parts["weights"][:, :left].sum(1), atol=1e-5)
    np.testing.assert_array_equal(unpacked(value["allowed"]), parts["allowed"][:, left:])
    assert unpacked(value["keys"]["positions"]).tolist() == [position for position, _ in parts["keys"][left:]]
    assert value["queries"]["names"] == [name for _, name in parts["queries"]]
    assert unpacked(value["queries"]["positions"])[-1] == 180


def test_a_short_past_stands_there_whole() -> None:
    parts = cut(last=40, count=16)
    value = terms.boards(NAME, (0, 0), (2, 3), **parts)
    assert value["left_off"] == 0 and value["memory_until"] == 0
    assert not unpacked(value["elsewhere"]).any()  # type: ignore[arg-type]


def test_terms_that_do_not_fit_or_do_not_add_up_are_refused_with_their_sizes() -> None:
    parts = cut()
    keys = len(parts["keys"])
    with pytest.raises(ValueError, match=rf"\(32, {keys - 1}\).* for 32 queries and {keys} keys"):
        terms.boards(NAME, (0, 0), (2, 3), **cut(position=parts["position"][:, 1:]))
    with pytest.raises(ValueError, match=r"u \(8,\) and v \(7,\)"):
        terms.boards(NAME, (0, 0), (2, 3), **cut(v=parts["v"][1:]))
    with pytest.raises(ValueError, match="the four terms miss the scores by 1"):
        terms.boards(NAME, (0, 0), (2, 3), **cut(scores=parts["scores"] + 1))
