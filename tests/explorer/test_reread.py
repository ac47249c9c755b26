"""What changes if …, for long texts: what the panel is told of its knobs, and of each model before and after."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import gradio as gr
import numpy as np
import pytest

from explorer.figures.sides import Side
from explorer.widgets import reread
from tests.conftest import built

NAME = {"en": "One", "zh": "一"}
UNIT = {"en": "characters", "zh": "个字符"}
SENTENCE = {"en": "⟦k:segment 2⟧ costs most.", "zh": "⟦k:第 2 个片段⟧变化最大。"}


def side(worse: float = 0.5, **more: Any) -> Side:
    """Six characters, of which three are given; each costs one bit, the even ones `worse` bits more under the change."""
    before = np.full(6, math.log(2), np.float32)
    return Side("xl", NAME, before, before + np.float32(worse * math.log(2)) * (np.arange(6) % 2 == 0), 3, 2, **more)


def unpacked(packed: dict[str, Any]) -> list[float]:
    """The numbers of a packed array."""
    values: list[float] = np.frombuffer(base64.b64decode(packed["data"]), "<f4").tolist()
    return values


def test_the_number_is_the_mean_bits_of_the_given_characters_alone() -> None:
    value = json.loads(json.dumps(reread.done({"memory": 64}, [side(text="abcdef", written=("def", "xyz"))], SENTENCE, {"pos": 3})))
    (one,) = value["sides"]
    assert (one["number"]["before"], one["number"]["after"]) == pytest.approx((1.0, 4 / 3))
    assert unpacked(one["before"]) == pytest.approx([1.0] * 6)
    assert unpacked(one["after"]) == pytest.approx([1.5, 1.0] * 3)
    assert one["reached"] and one["text"] == "abcdef" and one["written"] == ["def", "xyz"]
    assert value["state"] == "done" and value["request"] == {"memory": 64} and value["pick"] == {"pos": 3}


def test_a_model_that_the_change_does_not_reach_is_told_without_pictures() -> None:
    why = {"en": "It has no memory.", "zh": "它没有记忆。"}
    value: dict[str, Any] = reread.done({}, [side(), side(0.0, written=("ef", "ef"), unreached=why), side(1e-4)], SENTENCE)
    reached, same, nearly = value["sides"]
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
        reread.done({}, [Side("xl", NAME, nats, nats + np.float32(math.inf), 4, 2)], SENTENCE)
    with pytest.raises(ValueError, match="0 sides"):
        reread.done({}, [], SENTENCE)


def test_a_character_is_a_code_point() -> None:
    nats = np.ones(4, np.float32)
    value: dict[str, Any] = reread.done({}, [Side("xl", NAME, nats, nats * 2, 3, 0, text="a😀b\n")], SENTENCE)
    assert value["sides"][0]["text"] == "a😀b\n"


def test_spans_stop_at_numbers_half_as_long_again_up_to_the_longest() -> None:
    assert reread.Spans(layers=4, heads=4, span=512, ramp=32).stops()[:9] == [0, 1, 2, 3, 4, 6, 8, 12, 16]
    assert reread.Spans(layers=4, heads=4, span=512, ramp=32).stops()[-3:] == [256, 384, 512]
    assert reread.Spans(layers=1, heads=1, span=100, ramp=0).stops()[-3:] == [64, 96, 100]
    assert reread.Spans(layers=1, heads=1, span=1, ramp=0).stops() == [0, 1]


def test_the_panel_gets_its_knobs_as_the_page_declares_them() -> None:
    knobs = [
        reread.Range("memory", NAME, (0, 512, 1024), 512, UNIT, NAME),
        reread.Pick("intervention", NAME, (("none", NAME), ("cut", NAME)), "none"),
        reread.Spans(layers=4, heads=8, span=512, ramp=32),
    ]

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            props: dict[str, Any] = reread.reread(reread.idle({"memory": 512}), knobs=knobs).props
        return props

    props = json.loads(json.dumps(built(inside)))
    told, picked, spanned = props["knobs"]
    assert (told["kind"], told["values"], told["neutral"], told["mark"]) == ("range", [0, 512, 1024], 512, NAME)
    assert (picked["kind"], [option["value"] for option in picked["options"]], picked["neutral"]) == ("pick", ["none", "cut"], "none")
    assert (spanned["kind"], spanned["field"], spanned["neutral"], spanned["layers"], spanned["heads"]) == ("spans", "spans", [], 4, 8)
    assert set(props["scales"]) == {"surprise", "signed"}


def test_knobs_that_could_not_be_given_back_are_an_error() -> None:
    with pytest.raises(ValueError, match="100 as trained"):
        reread.Range("memory", NAME, (0, 512), 100, UNIT)
    with pytest.raises(ValueError, match="increase"):
        reread.Range("memory", NAME, (512, 0), 512, UNIT)
    with pytest.raises(ValueError, match="'none' changes nothing"):
        reread.Pick("intervention", NAME, (("cut", NAME),), "none")
    with pytest.raises(ValueError, match="0 layers"):
        reread.Spans(layers=0, heads=4, span=512, ramp=32)
    with pytest.raises(ValueError, match="0 knobs"):
        reread.reread(reread.idle(), knobs=[])


def test_states_carry_what_they_need_and_nothing_else() -> None:
    assert reread.idle() == {"state": "empty", "request": None, "pick": None}
    assert reread.idle({"memory": 512}, {"pos": 3}) == {"state": "empty", "request": {"memory": 512}, "pick": {"pos": 3}}
    assert reread.running() == {"state": "running"}
    assert reread.running({"memory": 512}) == {"state": "running", "request": {"memory": 512}}
    assert reread.refused(None)["error"] is None and reread.refused(NAME)["error"] == NAME


def test_stops_and_heads_that_cannot_be_are_errors() -> None:
    with pytest.raises(ValueError, match="two or more, each once"):
        reread.Stops("rounds", NAME, [(1, NAME), (1, NAME)], 1, NAME)
    with pytest.raises(ValueError, match="each model has one or more"):
        reread.Heads({"full": (NAME, (0, 4))})
