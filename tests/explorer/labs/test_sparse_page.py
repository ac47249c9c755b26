"""The page of sparse attention without a browser: what a wish becomes, what the widgets are told,
what another pattern costs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.contract import controls
from explorer.contract.control_kinds import draw_ink_thresholds
from explorer.contract.labels import fill_text
from explorer.engine import Engine
from explorer.labs.sparse_transformer import about, change, texts, views
from explorer.labs.sparse_transformer import drawn as figure
from explorer.labs.sparse_transformer.change import Changed, describe_change
from models.layers.patterns import Pattern
from models.sparse_transformer.records import SIDE, Made, Request, spell_pixels
from models.sparse_transformer.weights import factor_of, look
from tests.explorer import drawn_digits
from tests.explorer.numbers import refused, rows_at, unpacked
from tests.explorer.wishes import finished, program_of, told

WHOLE = Request(keep=28)  # only read, which is quick
WRITTEN = Request("text", text="It was a dark and stormy night; the rain fell", length=12, seed=3)
ALL = range(784)
LIVE: dict[str, Any] = {"state": "live", "query": ""}


# ---- changes


@pytest.mark.parametrize(
    ("changes", "reached"),
    [
        ({"stride": 27}, ["strided", "fixed"]),
        ({"summary": 1}, ["fixed"]),
        ({"silenced": (("strided", 0, 0), ("strided", 3, 1))}, ["strided"]),
    ],
    ids=["a wrong stride", "one summary column", "silenced heads"],
)
def test_a_change_reaches_the_patterns_that_have_what_it_changes(
    changes: dict[str, Any], reached: list[str]
) -> None:
    assert [*change.list_changed_models(replace(WHOLE, **changes))] == [
        variant for variant in about.facts() if variant in reached
    ]


def test_a_wrong_stride_costs_more_bits(
    engine: Engine,
) -> None:
    request = replace(WHOLE, stride=29)
    drawn, plain = (
        finished(program_of("sparse_transformer"), one, engine) for one in (request, WHOLE)
    )
    pairs = {one["key"]: one["number"] for one in drawn["change"]["pairs"]}
    assert [*pairs] == [*change.list_changed_models(request)] and pairs["strided"]["after"] > pairs[
        "strided"
    ]["before"] + 1
    assert "reading" not in plain
    costs, changed = (
        {model["key"]: model["cost"]["whole"] for model in one["digits"]["models"]}
        for one in (plain, drawn)
    )
    for key, number in pairs.items():
        assert number["before"] == pytest.approx(costs[key], abs=0.05)
        assert number["after"] == pytest.approx(changed[key], abs=0.05)  # all of it was given
        assert number["after"] != pytest.approx(number["before"], abs=0.05)


def test_a_sentence_names_the_model_that_pays_most() -> None:
    def paid(variant: str, more: Any) -> Changed:
        nats, none = np.full(784, 0.1, np.float32), np.zeros((1, 1, 784, 1), np.float16)
        own = Made(
            variant,
            Pattern("strided", 28, 4),
            "merged",
            np.zeros(784, np.int16),
            nats > 1,
            nats,
            "",
            False,
            none,
            none,
        )
        return Changed(own, own, more)

    more = np.full(784, 0.1, np.float32)
    dear = more + 12.5 * (np.arange(784) == 28 * 7 + 3)
    said = describe_change(
        [paid("dense", more), paid("strided", dear.astype(np.float32))],
        fill_text(texts.UNDER_STRIDE, n=27),
    )
    assert (
        said["en"]
        == "With stride 27, the same digit costs the strided model 12.5 nats more, most of it in"
        " ⟦k:row 7⟧; drawn again, the digit is the same."
    )


# ---- the input bar


def test_greys_become_the_pixels_that_the_models_would_draw() -> None:
    drawing = next(one for one in views.list_controls() if one.kind == "drawing").describe_control(
        Request
    )["drawings"]
    levels = np.random.default_rng(3).integers(0, 256, (SIDE, SIDE))
    assert np.array_equal(
        levels >= unpacked(drawing["thresholds"]),
        np.random.default_rng(0).random(levels.shape) < levels / 255,
    )
    assert draw_ink_thresholds(SIDE).min() >= 1, "black is never ink"
    assert 0.4 < (draw_ink_thresholds(SIDE) <= 128).mean() < 0.6, (
        "a grey of one half is ink half the time"
    )


@pytest.mark.parametrize("level", [0, 1])
def test_an_empty_and_a_full_drawing_are_drawn(engine: Engine, level: int) -> None:
    drawn = finished(
        program_of("sparse_transformer"),
        Request(drawing=spell_pixels(np.full((28, 28), level)), keep=28),
        engine,
    )
    assert (
        drawn["ask"]["state"] == "live"
        and drawn["attention"]["kinds"]
        and drawn["digits"]["models"]
    )
    assert not level or drawn["ask"]["warning"]  # no digit is all ink


# ---- in words


@pytest.mark.parametrize(
    ("fixed", "said"),
    [(84.2, "0.20 nats less than the strided"), (86.0, "1.60 nats more than the strided")],
)
def test_the_order_of_the_patterns_is_told_as_it_came_out(fixed: float, said: str) -> None:
    figures = {"strided": 84.4, "dense": 82.7, "fixed": fixed}
    found = about.describe_standing({name: {"value": value} for name, value in figures.items()})
    assert (
        said in found["en"] and "1.7 nats more than dense" in found["en"] and "{" not in found["zh"]
    )


@pytest.mark.parametrize(
    ("fixed", "says"),
    [(1.7, "the fixed pattern takes 0.100 bits less"), (1.9, "it is the other way round")],
)
def test_which_pattern_suits_text_is_told_as_it_came_out(
    fixed: float, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"text_fixed": {"value": fixed}, "text_strided": {"value": 1.8}}
    monkeypatch.setattr(
        about,
        "list_measured",
        lambda task: dict(sorted(known.items(), key=lambda one: one[1]["value"])),
    )
    drawn: Any = about.draw_on_text()
    assert says in drawn["sentence"]["en"] and "{" not in drawn["sentence"]["zh"]


def test_a_text_is_read_under_both_patterns(
    engine: Engine,
) -> None:
    updates = told(program_of("sparse_transformer"), "", controls.spell_fields(WRITTEN), engine)
    assert all("digits" not in update for update in updates)
    models, last = updates[-1]["reading"]["models"], updates[-1]
    assert (
        [model["key"] for model in models]
        == list(about.facts("text"))
        == [kind["key"] for kind in last["attention"]["kinds"]]
    )
    for model in models:
        assert (
            model["text"].startswith(WRITTEN.text)
            and len(model["text"]) == len(WRITTEN.text) + WRITTEN.length
        )
        assert (
            model["pattern"] == {"kind": model["key"].removeprefix("text_"), "l": 32, "c": 8}
            and 0 < model["bits"]["given"] < 6
        )


# ---- digits that several models have made, from made-up runs


def shown(**more: Any) -> Any:
    """The models of a finished run as the widget gets them, once around JSON."""
    return json.loads(json.dumps(drawn_digits.value(**more)))


def uses() -> list[Made]:
    """Runs with every factor there is."""
    pairs = (
        ("interleaved", Pattern("strided", 28)),
        ("split", Pattern("fixed", 28, 4)),
        ("merged", Pattern("fixed", 28, 4)),
    )
    return [drawn_digits.made("strided", use=use, pattern=pattern) for use, pattern in pairs]


def test_models_show_pixels_costs_and_heads() -> None:
    value = shown()
    assert [model["key"] for model in value["models"]] == ["strided", "dense", "fixed"] and value[
        "kind"
    ] == 3
    for model, one in zip(value["models"], drawn_digits.all_made(), strict=True):
        assert model["given"] == 14 * 28 and model["count"] == 784
        sums = {"given": one.nats[:392], "made": one.nats[392:], "whole": one.nats}
        assert model["cost"] == {
            name: pytest.approx(nats.sum(), abs=1e-3) for name, nats in sums.items()
        }
    np.testing.assert_array_equal(unpacked(value["whole"]).reshape(28, 28), drawn_digits.whole())
    factors = [[["row"] * 4, ["column"] * 4] * 2, [["block"] * 2 + ["summary"] * 2] * 4]
    for made, expected in zip(uses(), factors, strict=False):
        told_: Any = json.loads(json.dumps(figure.draw_digits([made], **LIVE)))["models"]
        assert told_[0]["factors"] == expected


@pytest.mark.parametrize(
    "made",
    [*uses(), drawn_digits.made("dense")],
    ids=["row, column", "block, summary", "fixed", "all"],
)
def test_whole_maps_of_weights_are_those_of_the_exact_rows(made: Made) -> None:
    for layer, head in ((0, 0), (1, 3)):
        found, allowed = (
            figure.compute_weights(made, layer, head),
            factor_of(made, layer, head).build_mask(784),
        )
        np.testing.assert_allclose(found, look(made, layer, head, ALL), atol=2e-6)
        assert not found[~allowed].any()
        np.testing.assert_allclose(found.sum(1)[allowed.any(1)], 1, atol=1e-4)
        assert not found[~allowed.any(1)].any(), "a pixel that may look nowhere looks nowhere"


def test_the_mean_by_displacement_is_a_mean() -> None:
    made = uses()[0]
    found = figure.average_looks(made)
    exact = look(made, 1, 2, ALL).reshape(28, 28, 28, 28)
    for up in (3, 0, 6):
        every = [
            exact[row, column, row - up, column] for row in range(up, 28) for column in range(28)
        ]
        assert found.maps[1, 2, 6 - up, 7] == pytest.approx(np.mean(every), abs=1e-5)
    never = np.isnan(found.maps[1, 2])
    assert never[:, :7].all() and never[:, 8:].all() and not never[:, 7].any(), "a column alone"
    row = np.isnan(found.maps[0, 0])
    one_above = not row[6, :8].any() and row[6, 8:].all() and not row[5, 7:].any() and row[:5].all()
    assert one_above, "this row, and the rest of the one above"
    inside = sum(
        exact[row, column, row - up, column]
        for row in range(28)
        for column in range(28)
        for up in range(min(7, row + 1))
    )
    assert found.beyond[1, 2] == pytest.approx(1 - inside / exact.sum(), abs=1e-4)


def test_mean_looks_travel_as_square_roots() -> None:
    raw, maps = (
        unpacked(shown()["models"][0]["offsets"]).astype(float),
        figure.average_looks(drawn_digits.made("strided")).maps,
    )
    assert raw.shape == (4, 4, figure.UP, figure.ACROSS)
    np.testing.assert_array_equal(raw == 0, np.isnan(maps))
    np.testing.assert_allclose(((raw[raw > 0] - 1) / 254) ** 2, maps[~np.isnan(maps)], atol=0.004)


def test_rollout_halves_heads_and_residual() -> None:
    made = drawn_digits.made("strided")
    half = [
        0.5 * np.mean([look(made, layer, head, ALL) for head in range(4)], 0) + 0.5 * np.eye(784)
        for layer in range(2)
    ]
    roll = figure.Rollout(made)
    np.testing.assert_allclose(
        roll.rows(1, 0, [400, 783]), (half[1] @ half[0])[[400, 783]], atol=2e-4
    )
    np.testing.assert_allclose(roll.rows(3, 0, range(0, 784, 97)).sum(1), 1, atol=2e-3)
    assert (roll.rows(1, 0, [600])[0, :601] > 0).all(), (
        "two steps of the strided pattern reach everything before"
    )
    assert not roll.rows(3, 0, [600])[0, 601:].any()
    nowhere = drawn_digits.made("fixed", use="interleaved")
    assert not look(nowhere, 1, 0, [10]).any(), "its share stays on the residual path"
    assert figure.Rollout(nowhere).rows(1, 0, [10]).sum() == pytest.approx(1, abs=1e-3)


def test_a_model_address_answers_exact_rows() -> None:
    model, made = shown(**drawn_digits.addresses())["models"][2], drawn_digits.made("fixed")
    rows = {
        ("look", 1): look(made, 2, 1, [500, 501]),
        ("roll", 0): figure.Rollout(made).rows(2, 0, [500, 501]),
    }
    for (name, head), exact in rows.items():
        np.testing.assert_allclose(rows_at(model[name], 2, head, 500, 2), exact, atol=1e-4)


def test_the_default_pixel_was_made() -> None:
    made = drawn_digits.all_made()
    pick: Any = figure.find_telling_pixel(made, look)
    layer, head = (int(n) - 1 for n in pick["head"].split("."))
    position = int(pick["pos"])
    assert pick["model"] == "strided" and not made[0].given[position]
    row, column = np.divmod(np.arange(784), 28)
    beside = (abs(row - position // 28) <= 1) & (abs(column - position % 28) <= 1)
    assert look(made[0], layer, head, [position])[0][~beside].max() > 0.3
    read: Any = figure.find_telling_pixel([drawn_digits.made("dense", 28)], look)
    assert read["model"] == "dense" and figure.find_telling_pixel([], look) is None, (
        "without anything made it is a given pixel, without a model none"
    )


def test_what_grows_holds_all_steps_so_far() -> None:
    steps = [
        drawn_digits.steps("strided", 0, 300),
        drawn_digits.steps("dense", 0, 410),
        drawn_digits.steps("strided", 300, 420),
    ]
    value = figure.draw_growing_digits(
        dict.fromkeys(("strided", "dense", "fixed"), (4, 4)),
        steps,
        query="v=2",
        keep=14,
        whole=drawn_digits.whole(),
    )
    strided, dense, fixed = json.loads(json.dumps(value))["models"]
    assert [model["count"] for model in (strided, dense, fixed)] == [420, 410, 0]
    one, symbols = drawn_digits.made("strided"), unpacked(strided["symbols"])
    np.testing.assert_array_equal(symbols[:420], one.symbols[:420])
    assert not symbols[420:].any() and strided["cost"]["made"] == pytest.approx(
        one.nats[392:420].sum(), abs=1e-3
    )
    np.testing.assert_array_equal(
        unpacked(fixed["symbols"])[:392], drawn_digits.whole().reshape(-1)[:392]
    )
    assert fixed["cost"] == {"given": 0, "made": 0, "whole": 0}


def test_a_run_that_is_no_digit_is_refused() -> None:
    made = drawn_digits.made("strided")
    few = replace(made, symbols=made.symbols[:100], nats=made.nats[:100])
    refused("no model", figure.draw_digits, [], **LIVE)
    refused(r"strided: \(100,\) pixels", figure.draw_digits, [few], **LIVE)
    refused("a digit of 100 pixels", figure.draw_digits, [made], whole=np.zeros((10, 10)), **LIVE)
