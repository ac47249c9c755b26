"""Before and after a change: what the panel is told of its knobs, of pictures and of texts."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
import pytest

from explorer.controls import Control
from explorer.figures.pairs import Measure, Pair
from explorer.figures.sides import Side
from explorer.knobs import Range, Spans
from explorer.widgets.change import Pictures, Readings, done
from tests.explorer.small_drawer import MODELS, Ask, text

NAME = text("One", "一")
UNIT = text("{n} positions", "{n} 个位置")
SENTENCE = text("⟦k:segment 2⟧ costs most.", "⟦k:第 2 个片段⟧变化最大。")
DIGIT = (np.eye(28) * 255).astype(np.uint8)


def unpacked(packed: dict[str, Any]) -> Any:
    """The numbers of a packed array."""
    return np.frombuffer(base64.b64decode(packed["data"]), "<f4").reshape(packed["shape"])


def pictures(*pairs: Pair) -> dict[str, Any]:
    """What the browser gets of pictures."""
    told: dict[str, Any] = json.loads(json.dumps(done({"query": "v=1"}, Pictures(pairs, Measure(NAME, "nats", UNIT), MODELS, SENTENCE))))
    return told


def readings(*sides: Side) -> dict[str, Any]:
    """What the browser gets of texts."""
    told: dict[str, Any] = json.loads(json.dumps(done({"query": "v=1"}, Readings(sides, SENTENCE))))
    return told


def side(worse: float = 0.5, **more: Any) -> Side:
    """Six characters, of which three are given; each costs one bit, the even ones `worse` bits more under the change."""
    before = np.full(6, math.log(2), np.float32)
    return Side("xl", NAME, before, before + np.float32(worse * math.log(2)) * (np.arange(6) % 2 == 0), 3, 2, **more)


def test_a_number_as_trained_may_be_written_as_another() -> None:
    stride = Range("stride", NAME, range(1, 57), 28, UNIT, unchanged=0)
    told: Any = json.loads(json.dumps(Control("stride", NAME, "knob", knob=stride, change=True).drawn(Ask)))["knob"]
    assert (told["values"][0], told["values"][-1], told["neutral"], told["written"], told["within"]) == (1, 56, 28, 0, None)
    memory = Range("memory", NAME, (0, 512, 1024), 512, UNIT, NAME, within="stride").spelled()
    assert (memory["written"], memory["within"], memory["mark"]) == (512, "stride", NAME)


def test_knobs_that_could_not_be_given_back_are_an_error() -> None:
    with pytest.raises(ValueError, match="100 as trained"):
        Range("memory", NAME, (0, 512), 100, UNIT)
    with pytest.raises(ValueError, match="increase"):
        Range("memory", NAME, (512, 0), 512, UNIT)
    with pytest.raises(ValueError, match="0 is a stride of its own"):
        Range("stride", NAME, range(57), 28, UNIT, unchanged=0)
    with pytest.raises(ValueError, match="0 layers"):
        Spans(layers=0, heads=4, span=512, ramp=32)


def test_spans_stop_at_numbers_half_as_long_again_up_to_the_longest() -> None:
    assert Spans(layers=4, heads=4, span=512, ramp=32).stops()[:9] == [0, 1, 2, 3, 4, 6, 8, 12, 16]
    assert Spans(layers=4, heads=4, span=512, ramp=32).stops()[-3:] == [256, 384, 512]
    assert Spans(layers=1, heads=1, span=100, ramp=0).stops()[-3:] == [64, 96, 100]
    assert Spans(layers=1, heads=1, span=1, ramp=0).stops() == [0, 1]


def test_a_map_of_what_each_pixel_costs_more_travels_with_its_signs() -> None:
    more = np.linspace(-1.5, 2.5, 784, dtype=np.float32).reshape(28, 28)
    value = pictures(Pair("strided", DIGIT, DIGIT.T, (80.0, 95.5), more), Pair("fixed", DIGIT, DIGIT, (81.0, 81.0)))
    first, second = value["pairs"]
    assert np.array_equal(unpacked(first["more"]), more)
    assert second["more"] is None and first["number"] == {"before": 80.0, "after": 95.5}
    assert value["measure"]["key"] == "nats" and value["names"] == MODELS and value["state"] == "done"


def test_pictures_and_maps_that_do_not_fit_are_an_error_with_their_sizes() -> None:
    with pytest.raises(ValueError, match=r"\(28, 28\) and after \(28, 27\)"):
        Pair("fixed", DIGIT, DIGIT[:, 1:], (1.0, 1.0))
    with pytest.raises(ValueError, match=r"map \(784,\)"):
        Pair("fixed", DIGIT, DIGIT, (1.0, 1.0), np.zeros(784, np.float32))
    Pair("colour", np.zeros((16, 16, 3), np.uint8), np.zeros((16, 16, 3), np.uint8), (1.0, 1.0), np.zeros((16, 16)))
    with pytest.raises(ValueError, match="not finite"):
        pictures(Pair("fixed", DIGIT, DIGIT, (1.0, 1.0), np.full((28, 28), np.inf)))


def test_the_number_is_the_mean_bits_of_the_given_characters_alone() -> None:
    (one,) = readings(side(text="abcdef", written=("def", "xyz")))["sides"]
    assert (one["number"]["before"], one["number"]["after"]) == pytest.approx((1.0, 4 / 3))
    assert unpacked(one["before"]).tolist() == pytest.approx([1.0] * 6)
    assert unpacked(one["after"]).tolist() == pytest.approx([1.5, 1.0] * 3)
    assert one["reached"] and one["text"] == "abcdef" and one["written"] == ["def", "xyz"]


def test_a_model_that_the_change_does_not_reach_is_told_without_pictures() -> None:
    why = text("It has no memory.", "它没有记忆。")
    reached, same, nearly = readings(side(), side(0.0, written=("ef", "ef"), unreached=why), side(1e-4))["sides"]
    assert [one["reached"] for one in (reached, same, nearly)] == [True, False, False], "rounding is no change"
    assert same["before"] is None and same["written"] is None and same["unreached"] == why
    assert nearly["number"]["before"] == nearly["number"]["after"] == pytest.approx(1.0)


def test_sides_that_do_not_fit_are_an_error_with_their_sizes() -> None:
    nats = np.ones(6, np.float32)
    for given, after in ((0, nats), (7, nats), (4, nats[:5])):
        with pytest.raises(ValueError, match=r"before \(6,\)"):
            Side("xl", NAME, nats, after, given, 2)
    with pytest.raises(ValueError, match="5 characters for 6 positions"):
        side(text="abcde")
    with pytest.raises(ValueError, match="not finite"):
        readings(Side("xl", NAME, nats, nats + np.float32(math.inf), 4, 2))


def test_a_character_is_a_code_point() -> None:
    nats = np.ones(4, np.float32)
    (one,) = readings(Side("xl", NAME, nats, nats * 2, 3, 0, text="a😀b\n"))["sides"]
    assert one["text"] == "a😀b\n"
