"""What is drawn of long texts that models have read, from made-up runs of a fixed seed."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from explorer.figures import reading as figure
from explorer.figures.reading import Model
from explorer.looks import LEVELS, looks
from tests.explorer import readings
from tests.explorer.readings import COPIES, HEADS, LAYERS, MEMORY, SEGMENT, rows
from tests.explorer.rolls import unpacked

NAME = {"en": "a model", "zh": "模型"}


def shown(**more: Any) -> dict[str, Any]:
    """A finished run as the widget gets it, once around JSON."""
    found: dict[str, Any] = json.loads(json.dumps(readings.value(**more)))
    return found


def plain(text: str, nats: list[float], **more: Any) -> Model:
    """A model without heads."""
    return Model("one", NAME, NAME, text, np.array(nats, np.float32), **more)


def test_every_model_stands_with_its_text_and_what_each_character_cost() -> None:
    made, given = readings.run()
    value = shown()
    assert (value["given"], value["segment"], value["of"]) == (given, SEGMENT, max(len(one.text) for one in made))
    for model, one in zip(value["models"], made, strict=True):
        assert model["text"] == one.text
        np.testing.assert_allclose(unpacked(model["nats"]), one.nats, rtol=1e-6)
        bits = one.nats / np.log(2)
        assert model["bits"] == {
            "given": pytest.approx(bits[:given].mean(), abs=1e-3),
            "written": pytest.approx(bits[given:].mean(), abs=1e-3),
        }
    unknown = unpacked(value["unknown"])
    assert {made[0].text[n] for n in unknown} == set("海は静かだった。")


def test_a_text_that_is_all_given_has_no_bits_of_what_was_written() -> None:
    facts: dict[str, Any] = {"segment": 0, "memory": 0, "unknown": (), "query": "", "state": "live"}
    value = figure.value([plain("ab", [np.log(2), 3 * np.log(2)])], given=2, **facts)
    assert value["models"][0]["bits"] == {"given": pytest.approx(2.0, abs=1e-4), "written": None}  # type: ignore[index]


def test_a_character_is_a_code_point_and_one_without_its_cost_is_refused() -> None:
    facts: dict[str, Any] = {"given": 0, "segment": 0, "memory": 0, "unknown": (), "query": "", "state": "live"}
    assert figure.value([plain("a🐋\u0301", [1, 2, 3])], **facts)["of"] == 3
    with pytest.raises(ValueError, match="2 characters with 3 nats"):
        figure.value([plain("ab", [1, 2, 3])], **facts)
    with pytest.raises(ValueError, match="first_seen of shape"):
        figure.value([replace(plain("ab", [1, 2]), layers=1, heads=1, first_seen=np.zeros(3, np.int32))], **facts)
    with pytest.raises(ValueError, match="profiles of shape"):
        figure.value([replace(plain("ab", [1, 2]), layers=1, heads=2, profiles=np.zeros((1, 1, 2), np.float32))], **facts)


@pytest.mark.parametrize("distances", [1, 2, 3, 7, 128, 512, 640, 1152])
def test_bands_of_distances_leave_none_out_and_widen_steadily(distances: int) -> None:
    edges = figure.bands(distances)
    assert edges[0] == 1 and edges[-1] == distances + 1
    assert edges == sorted(set(edges))
    assert all(right / left <= 2 for left, right in pairwise(edges))


def test_a_profile_in_bands_keeps_all_the_weight() -> None:
    profiles = np.random.default_rng(0).random((2, 3, 640)).astype(np.float32)
    profiles /= profiles.sum(-1, keepdims=True)
    edges = figure.bands(640)
    found = figure.banded(profiles, edges)
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(found[1, 2, 9], profiles[1, 2, edges[9] - 1 : edges[10] - 1].sum(), rtol=1e-5)
    assert not figure.banded(profiles[..., :0], figure.bands(0)).any()


def test_a_model_carries_its_profiles_its_memory_and_the_address_of_its_rows() -> None:
    made, _ = readings.run()
    xl, absolute = shown()["models"]
    np.testing.assert_array_equal(unpacked(xl["first_seen"]), np.arange(len(made[0].text)) // SEGMENT * SEGMENT)
    assert (xl["memory"], absolute["memory"]) == (MEMORY, 0) and "first_seen" not in absolute
    assert unpacked(xl["profiles"]).shape == (LAYERS, HEADS, len(xl["edges"]) - 1)
    assert absolute["edges"][-1] == SEGMENT + 2, "it sees its segment alone"
    kept = looks().get(xl["look"].removeprefix("/looks/"))
    assert kept is not None
    answer = kept.answer(*COPIES, 300, 2)
    assert answer is not None
    weights = np.frombuffer(answer, "<u2").reshape(2, -1) / LEVELS
    np.testing.assert_allclose(weights, rows(made[0], *COPIES, [300, 301]), atol=1e-4)


def test_a_model_says_what_its_pattern_lets_a_position_look_at() -> None:
    one = Model("one", NAME, NAME, "It was", np.ones(6, np.float32), look="/looks/x", layers=1, heads=2)
    fixed = {"kind": "fixed", "l": 8, "c": 2}
    models = [one, replace(one, key="two", pattern=fixed)]
    drawn: Any = figure.value(models, given=6, segment=0, memory=0, unknown=(), query="", state="live")["models"]
    assert "pattern" not in drawn[0] and drawn[1]["pattern"] == fixed


def test_the_telling_character_was_written_and_its_head_is_sure_of_one_far_back() -> None:
    made, given = readings.run()
    pick = figure.telling(made, rows, given=given)
    assert pick is not None and pick["model"] == "xl" and pick["head"] == f"{COPIES[0] + 1}.{COPIES[1] + 1}"
    position = int(str(pick["pos"]))
    weights = rows(made[0], *COPIES, [position])[0]
    assert position >= given and not made[0].text[position].isspace()
    assert weights.max() >= figure.SURE and position + 1 - weights.argmax() > 8


def test_without_heads_or_text_nothing_is_telling_and_the_next_model_may_be() -> None:
    made, given = readings.run()
    blind = replace(made[0], queries=made[0].queries[:0])
    assert figure.telling([blind], rows, given=given) is None
    found = figure.telling([blind, made[1]], rows, given=given)
    assert found is not None and found["model"] == "absolute"
    short = replace(made[0], text="a", nats=made[0].nats[:1])
    assert figure.telling([short], rows, given=1) is None
    blank = replace(made[0], text="    ", nats=made[0].nats[:4])
    assert figure.telling([blank], rows, given=4) is not None


def test_while_it_reads_everything_so_far_stands_there() -> None:
    made, given = readings.run()
    value = json.loads(json.dumps(readings.growing(0, given + 5)))
    assert value["state"] == "running" and value["pick"] is None and value["of"] == max(len(one.text) for one in made)
    for model, one in zip(value["models"], made, strict=True):
        assert model["text"] == one.text[: given + 5] and model["look"] is None and model["heads"] == 0
        assert model["bits"]["written"] == pytest.approx(one.nats[given : given + 5].mean() / np.log(2), abs=1e-3)
    assert json.loads(json.dumps(readings.growing(0, 0)))["models"][0]["bits"] == {"given": None, "written": None}
