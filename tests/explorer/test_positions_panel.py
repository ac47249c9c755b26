"""The panel about word order: what it draws is what the model said, in both languages, and a visitor's words are never markup."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from explorer.figures import positions as drawing
from explorer.labs.translation.deeper import positions as panel
from explorer.widgets.folded import Question
from models.translation.position_records import MAX_SEED, Positions, TwoOrders
from models.translation.records import EXAMPLES

HOSTILE = ("<img src=x onerror=alert(1)>", "</script>", "{size}", "⟦q:x⟧")


def table(length: int, d: int) -> drawing.Array:
    """Sinusoids, computed here."""
    angle = np.arange(length)[:, None] / 10_000 ** (np.arange(0, d, 2) / d)[None]
    return np.stack((np.sin(angle), np.cos(angle)), 2).reshape(length, d).astype(np.float32)


def moved(value: Mapping[str, Any]) -> dict[str, Any]:
    """The figure of how far the vectors move."""
    found: dict[str, Any] = value["figures_moved"][0]["figure"]
    return found


@pytest.fixture
def seen() -> Positions:
    """An answer with hostile words, in an order of its own."""
    return Positions(
        source=HOSTILE,
        source_space=(True,) * 4,
        order=(2, 0, 1, 3),
        size=9.5,
        signal=TwoOrders(np.array([1.0, 2.0, 7.5, 3.0], np.float32), 2.25, "so", "anders"),
        silence=TwoOrders(np.array([1e-6, 2e-6, 0.0, 3e-6], np.float32), 1.2e-6, "gleich", "gleich"),
        own=table(60, 192),
        textbook=table(32, 128),
    )


def test_the_product_of_two_positions_depends_on_their_distance_alone() -> None:
    for length, d in ((32, 128), (60, 192)):
        signal = table(length, d)
        similar = drawing.similarity(signal)
        everywhere = signal @ signal.T / (d / 2)
        p, q = np.indices(everywhere.shape)
        np.testing.assert_allclose(everywhere, similar[np.abs(p - q)], atol=1e-5)
        assert similar[0] == pytest.approx(1)
        assert similar[1:].max() < 1


def test_wavelengths_grow_from_two_pi() -> None:
    assert drawing.wavelength(0, 128) == drawing.wavelength(1, 128) == pytest.approx(2 * np.pi)
    assert drawing.wavelength(127, 128) == pytest.approx(2 * np.pi * 10_000 ** (126 / 128))


def test_the_panel_says_the_numbers_of_the_run_in_both_languages(seen: Positions) -> None:
    value = panel.value(seen)
    json.dumps(value)
    for language in ("en", "zh"):
        said = moved(value)["sentence"][language]
        assert "1.0" in said and "7.5" in said and "1.2 × 10⁻⁶" in said and HOSTILE[1] in said
        assert not re.search(r"\{(?!size)\w+\}", said)
    rows: list[dict[str, Any]] = value["table"]["rows"]  # type: ignore[index]
    assert [(row["cells"][0]["en"], *row["cells"][1:]) for row in rows] == [
        ("with the signal", "2.25", "so", "anders"),
        ("without it", "1.2 × 10⁻⁶", "gleich", "gleich"),
    ]
    assert [row["marks"][3] for row in rows] == ["text other", "text"]
    line = value["lines"][1]["pieces"]  # type: ignore[index]
    assert [(piece["text"], piece["index"], piece["role"]) for piece in line] == [
        (HOSTILE[2], 2, "key"),
        (HOSTILE[0], 0, "key"),
        (HOSTILE[1], 1, "key"),
        (HOSTILE[3], 3, None),
    ]
    assert value["button"]["set"] == {"order": "2"}  # type: ignore[index]


def test_what_a_visitor_typed_is_no_markup_in_a_figure(seen: Positions) -> None:
    made = json.dumps(moved(panel.value(seen))["figures"])
    assert "<img" not in made and "</script" not in made
    assert "&lt;img" in made


def test_a_distance_of_nothing_stands_at_the_end_of_the_axis(seen: Positions) -> None:
    bars = moved(panel.value(seen))["figures"]["en"]["data"]
    assert bars[1]["y"][2] == drawing.NOTHING
    assert bars[0]["y"] == [1.0, 2.0, 7.5, 3.0]


def test_the_textbook_s_size_is_one_switch_away(seen: Positions) -> None:
    found: list[Any] = panel.value(seen)["figures"]  # type: ignore[assignment]
    own, textbook = ([one for one in found if one["when"]["signal"] == name] for name in ("own", "textbook"))
    for figures, signal in ((own, seen.own), (textbook, seen.textbook)):
        np.testing.assert_allclose(figures[0]["figure"]["figures"]["en"]["data"][0]["z"], signal, atol=1e-4)
        assert len(figures[0]["figure"]["table"]["rows"]) == len(signal)
        assert "data" not in figures[0]["figure"]["figures"]["zh"], "numbers travel once"
        pairs = np.asarray(figures[2]["figure"]["figures"]["en"]["data"][0]["z"])
        assert pairs.shape == (len(signal), len(signal)) and (pairs == pairs.T).all()
    assert "4" in own[0]["figure"]["sentence"]["en"].split("first ")[1]


@pytest.mark.parametrize(
    ("wish", "seed"),
    [
        ({"order": "7"}, 7),
        ({"order": "0"}, 1),
        ({"order": f"{MAX_SEED + 1}"}, 1),
        ({"order": "x"}, 1),
        ({"order": 7}, 1),
        (None, 1),
        ([], 1),
    ],
)
def test_a_made_up_wish_becomes_the_first_order(wish: object, seed: int) -> None:
    wished = panel.wished(EXAMPLES[0], Question("", wish))
    assert (wished.seed, wished.sentence) == (seed, EXAMPLES[0].sentence)


@pytest.mark.parametrize(
    ("number", "text"), [(1.19e-6, "1.2 × 10⁻⁶"), (3e-12, "3.0 × 10⁻¹²"), (0.84, "0.84"), (0.0, "0.00"), (12.345, "12.35")]
)
def test_small_numbers_are_written_as_one_reads_them(number: float, text: str) -> None:
    assert panel.power(number) == text
