"""What changes if …, for pictures: what the panel is told of its knobs, and of each model before and after."""

from __future__ import annotations

import base64
import json
from typing import Any

import gradio as gr
import numpy as np
import pytest

from explorer.widgets import remake
from tests.conftest import built

NAME = {"en": "One", "zh": "一"}
UNIT = {"en": "{n} positions", "zh": "{n} 个位置"}
MODELS = ("strided", "fixed")
STRIDE = remake.Range("stride", NAME, UNIT, 1, 56, 28, MODELS)
SUMMARY = remake.Range("summary", NAME, UNIT, 1, 28, 4, ("fixed",), within="stride")
PATTERN = remake.Pick("pattern", NAME, (("", NAME), ("full", NAME)), "", MODELS)
DIGIT = (np.eye(28) * 255).astype(np.uint8)


def placed(*knobs: remake.Knob | remake.Range | remake.Pick, **more: Any) -> dict[str, Any]:
    """The props of a panel on a page, as the browser gets them."""
    patterns = dict.fromkeys(MODELS, NAME)

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            heads = dict.fromkeys(MODELS, (4, 4))
            panel = remake.remake(remake.idle(), knobs=knobs, patterns=patterns, heads=heads, number_label=NAME, **more)
        names = ("knobs", "numberKey", "moreLabel", "viewKey", "heads")
        return {name: panel.props[name] for name in names}

    told: dict[str, Any] = json.loads(json.dumps(built(inside)))
    return told


def test_the_panel_gets_its_knobs_as_the_page_declares_them() -> None:
    cut = remake.Knob("memory_rows", NAME, UNIT, 3, ("strided",))
    props = placed(cut, PATTERN, STRIDE, SUMMARY, number_key="nats", view="model")
    cut_, pick, stride, summary = props["knobs"]
    assert (cut_["values"], cut_["neutral"], cut_["plain"], cut_["patterns"]) == ([0, 1, 2, 3], 3, True, ["strided"])
    assert (pick["kind"], [option["value"] for option in pick["options"]], pick["neutral"]) == ("pick", ["", "full"], "")
    assert (stride["values"][0], stride["values"][-1], stride["neutral"], stride["written"]) == (1, 56, 28, 0)
    assert stride["within"] is None and summary["within"] == "stride"
    assert (props["numberKey"], props["viewKey"], props["moreLabel"]) == ("nats", "model", remake.NATS)
    assert placed(cut)["viewKey"] == "pattern" and placed(cut)["numberKey"] == "bits_per_dim"


def test_a_value_as_trained_may_be_written_out() -> None:
    assert remake.Range("stride", NAME, UNIT, 1, 56, 28, MODELS, unchanged=None).spelled()["written"] == 28


def test_knobs_that_could_not_be_given_back_are_an_error() -> None:
    with pytest.raises(ValueError, match="60 as trained"):
        remake.Range("stride", NAME, UNIT, 1, 56, 60, MODELS)
    with pytest.raises(ValueError, match="0 is a stride of its own"):
        remake.Range("stride", NAME, UNIT, 0, 56, 28, MODELS)
    with pytest.raises(ValueError, match="'' changes nothing"):
        remake.Pick("pattern", NAME, (("full", NAME),), "", MODELS)
    with pytest.raises(ValueError, match="summary stays within stride"):
        placed(SUMMARY)
    with pytest.raises(ValueError, match="summary stays within stride"):
        placed(remake.Range("stride", NAME, UNIT, 1, 56, 2, MODELS), SUMMARY)


def test_a_map_of_what_each_pixel_costs_more_travels_with_its_signs() -> None:
    more = np.linspace(-1.5, 2.5, 784, dtype=np.float32).reshape(28, 28)
    pairs = [remake.Pair("strided", DIGIT, DIGIT.T, (80.0, 95.5), more), remake.Pair("fixed", DIGIT, DIGIT, (81.0, 81.0))]
    value: dict[str, Any] = json.loads(json.dumps(remake.done({"stride": 7}, MODELS, pairs, NAME, {"model": "fixed", "head": "2.3"})))
    first, second = value["pictures"]
    assert np.array_equal(np.frombuffer(base64.b64decode(first["more"]["data"]), "<f4").reshape(first["more"]["shape"]), more)
    assert second["more"] is None and first["number"] == {"before": 80.0, "after": 95.5}
    assert value["pick"] == {"model": "fixed", "head": "2.3"} and value["patterns"] == ["strided", "fixed"]


def test_pictures_and_maps_that_do_not_fit_are_an_error_with_their_sizes() -> None:
    with pytest.raises(ValueError, match=r"\(28, 28\) and after \(28, 27\)"):
        remake.Pair("fixed", DIGIT, DIGIT[:, 1:], (1.0, 1.0))
    with pytest.raises(ValueError, match=r"map \(784,\)"):
        remake.Pair("fixed", DIGIT, DIGIT, (1.0, 1.0), np.zeros(784, np.float32))
    remake.Pair("colour", np.zeros((16, 16, 3), np.uint8), np.zeros((16, 16, 3), np.uint8), (1.0, 1.0), np.zeros((16, 16)))
    with pytest.raises(ValueError, match="not finite"):
        remake.done({}, MODELS, [remake.Pair("fixed", DIGIT, DIGIT, (1.0, 1.0), np.full((28, 28), np.inf))], NAME)
