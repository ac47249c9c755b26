"""What the panel about reversible layers is given: live numbers, and stored ones as benchmarks save them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from explorer.figures import memory
from explorer.labs.reformer.deeper import rewind
from tests.explorer import rewound
from tests.explorer.rolls import unpacked

NAME = {"en": "Reformer", "zh": "Reformer"}


def boards(**changed: Any) -> dict[str, Any]:
    """The value of one model, some of its parts replaced."""
    return rewind.boards(NAME, **{**rewound.parts(), **changed})


def below(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The figures under the picture, by name."""
    return {one["figure"]["name"]: one["figure"] for one in value["below"]["figures"]}


def test_norms_travel_and_parts_say_bytes_and_differences() -> None:
    found = rewound.parts()
    value = json.loads(json.dumps(boards()))
    np.testing.assert_array_equal(unpacked(value["forward"]), found["forward"].astype(np.float32))
    np.testing.assert_array_equal(unpacked(value["again"]), found["again"].astype(np.float32))
    assert value["single"] == found["single"].tolist() and max(value["double"]) < 1e-12
    assert below(value)["feed-forward-parts"]["table"]["rows"][-1] == [16.0, 4096.0, "1.8\u00a0×\u00a010⁻⁷"]
    bars = below(value)["feed-forward-parts"]["figures"]["en"]["data"]
    assert [round(bar["x"][0], 1) for bar in bars] == [100.0, 52.6, 26.3, 15.8, 10.5]


def test_before_anything_was_measured_a_sentence_stands_in_place_of_each_figure() -> None:
    value = boards()
    assert list(below(value)) == ["feed-forward-parts"]
    assert [sorted(note) for note in value["below"]["notes"]] == [["en", "zh"]] * 2
    value = boards(reversible=rewound.REVERSIBLE)
    assert "memory-depth" in below(value) and len(value["below"]["notes"]) == 1
    without = {**rewound.LSH, "figures": {name: size for name, size in rewound.LSH["figures"].items() if name != "explicit_mb"}}
    assert "memory-attention" not in below(boards(lsh=without))


def test_memory_against_depth_is_read_from_a_saved_result() -> None:
    found = memory.depth_of(rewound.REVERSIBLE)
    assert found is not None and found.depths == (4, 8, 16, 32)
    assert found.of("ordinary") == (250e6, 500e6, 1000e6, 2000e6)
    assert (found.device, found.threads) == ("cpu", 2)
    value = below(boards(reversible=rewound.REVERSIBLE))["memory-depth"]
    assert "8.00 × for ordinary layers" in value["sentence"]["en"] and "cpu, 2 threads" in value["sentence"]["en"]
    lines = value["figures"]["zh"]["data"]
    assert [line["name"] for line in lines] == [rewind.WAYS[way]["zh"] for way in memory.WAYS]
    assert lines[2]["y"] == [81.0, 82.0, 84.0, 88.0] and lines[2]["marker"]["symbol"] == "diamond"
    assert memory.depth_of({**rewound.REVERSIBLE, "figures": {"reversible_4_mb": 80.0, "ordinary_4_mb": 90.0}}) is None


def test_the_honest_part_says_that_fused_attention_needs_least_only_where_it_does() -> None:
    value = below(boards(lsh=rewound.LSH))["memory-attention"]
    assert "less than any attention by hashing" in value["sentence"]["en"]
    assert [row[0] for row in value["table"]["rows"]] == ["explicit", "reformer_pytorch", "transformers", "ours", "dense"]
    other = {**rewound.LSH, "figures": {**rewound.LSH["figures"], "dense_mb": 500.0}}
    assert "less than any" not in below(boards(lsh=other))["memory-attention"]["sentence"]["en"]


@pytest.mark.parametrize(("number", "said"), [(0.0, "0"), (4.83e-7, "4.8 × 10⁻⁷"), (9.97e-16, "1.0 × 10⁻¹⁵"), (12.0, "1.2 × 10¹")])
def test_small_numbers_are_read_as_powers_of_ten(number: float, said: str) -> None:
    assert memory.power(number).replace("\u00a0", " ") == said


@pytest.mark.parametrize(("size", "said"), [(512, "512 B"), (4096, "4.1 kB"), (110.4e6, "110 MB"), (4.3117e9, "4.31 GB")])
def test_bytes_are_read_in_their_unit(size: float, said: str) -> None:
    assert memory.amount(size) == said
