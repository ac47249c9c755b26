"""What spans save, as a figure: shares against the full span, by quantity and layer, what was measured, and what it says in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.figures import saving as figures
from explorer.figures.saving import Bar, Group
from explorer.labs.adaptive_span.deeper import saving
from models.adaptive_span.records import Saved
from tests.explorer import spanned
from tests.explorer.numbers import refused

MEASURED = {"vs_fixed_ratio": 1.9, "cache_vs_fixed_ratio": 0.3125, "ours_ms": 12.0}


def value(seen: Saved, **more: Any) -> dict[str, Any]:
    """The figure of one run's record."""
    made: dict[str, Any] = saving.value({"en": "Adaptive span", "zh": "自适应跨度"}, seen, **more)
    return made


def shares(made: dict[str, Any]) -> list[float]:
    """The length of every solid bar, in percent."""
    return [trace["x"][0] for trace in made["figures"]["en"]["data"]]


def test_every_bar_is_a_share_of_the_full_span() -> None:
    seen = spanned.run().saved
    made = value(seen)
    whole = (seen.flops + seen.other_flops) / (seen.full_flops + seen.other_flops)
    expected = [
        float(seen.positions.mean()) / seen.full_positions,
        float(seen.long_positions.mean()) / 512,
        seen.flops / seen.full_flops,
        whole,
        seen.cache_bytes / seen.full_cache_bytes,
        *(float(row) / 512 for row in seen.long_positions.mean(1)),
    ]
    np.testing.assert_allclose(shares(made), [100 * share for share in expected], rtol=1e-6)
    shapes = made["figures"]["zh"]["layout"]["shapes"]
    assert len(shapes) == 9 and all(shape["x1"] == 100 and shape["line"]["dash"] for shape in shapes)
    percents = [float(cell) for cell in made["table"]["rows"][2][1:]]
    np.testing.assert_allclose(percents, [100 * share for share in expected], atol=0.006)
    assert [row[0] for row in made["table"]["rows"]] == ["z + R", "S", "%"]


def test_the_sentence_tells_positions_operations_and_memory() -> None:
    seen = spanned.run().saved
    said = value(seen)["sentence"]
    far = float(seen.long_positions.mean())
    assert f"attends to {far:.0f} of 512 positions, the mean of the heads ({100 * far / 512:.0f} %)" in said["en"]
    assert f"attention takes {100 * seen.flops / seen.full_flops:.0f} % of the operations" in said["en"]
    assert f"({100 * seen.cache_bytes / seen.full_cache_bytes:.0f} %)" in said["en"]
    assert "512" in said["zh"] and "{" not in said["en"] + said["zh"]
    assert "Measured" not in said["en"]


def test_what_was_measured_stands_beside_what_is_counted_and_says_at_which_span() -> None:
    made = value(spanned.run().saved, measured=MEASURED)
    assert shares(made)[-2:] == pytest.approx([100 / 1.9, 31.25])
    assert "Measured at S = 4,096: reading is 1.90 × as fast, and the cache holds 31 % of the bytes" in made["sentence"]["en"]
    texts = [note["text"] for note in made["figures"]["en"]["layout"]["annotations"]]
    assert "<b>Measured, spans stretched to S = 4,096</b>" in texts and "time to read · 1.90 × faster" in texts
    colours = [trace["marker"]["color"] for trace in made["figures"]["en"]["data"]]
    assert colours == [figures.COUNTED] * 9 + [figures.MEASURED] * 2
    assert made["table"]["rows"][0][-2:] == [None, None] or made["table"]["rows"][0][-2:] == (None, None)
    slower = value(spanned.run().saved, measured={"vs_fixed_ratio": 0.8})
    assert "time to read · 1.25 × slower" in [note["text"] for note in slower["figures"]["en"]["layout"]["annotations"]]
    assert "Measured" not in slower["sentence"]["en"]


def test_a_span_that_may_be_long_anywhere_saves_no_cache() -> None:
    made = value(spanned.run("dynamic").saved)
    assert shares(made)[4] == 100
    assert "(100 %)" in made["sentence"]["en"]


def test_amounts_that_compare_with_nothing_are_refused() -> None:
    refused("full span has no positions", value, replace(spanned.run().saved, full_positions=0))
    refused("0 bars", figures.bars, [Group({"en": "A", "zh": "A"}, [])])
    refused("0 or more", Bar, {"en": "A", "zh": "A"}, {"en": "", "zh": ""}, -0.1)
