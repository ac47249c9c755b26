"""What is drawn of digits that several models have made, from made-up runs of a fixed seed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.figures import digits as figure
from explorer.looks import LEVELS, looks
from models.layers.patterns import Pattern
from models.sparse_transformer.records import Made
from models.sparse_transformer.weights import factor_of, look
from tests.explorer import drawn_digits
from tests.explorer.rolls import unpacked

ALL = range(784)


def shown(**more: Any) -> dict[str, Any]:
    """A finished run as the widget gets it, once around JSON."""
    found: dict[str, Any] = json.loads(json.dumps(drawn_digits.value(**more)))
    return found


def uses() -> list[Made]:
    """Runs with every factor there is."""
    pairs = (("interleaved", Pattern("strided", 28)), ("split", Pattern("fixed", 28, 4)), ("merged", Pattern("fixed", 28, 4)))
    return [drawn_digits.made("strided", use=use, pattern=pattern) for use, pattern in pairs]


def test_every_model_stands_with_its_pixels_and_what_they_cost() -> None:
    value = shown()
    assert [model["key"] for model in value["models"]] == ["strided", "dense", "fixed"] and value["kind"] == 3
    for model, one in zip(value["models"], drawn_digits.all_made(), strict=True):
        np.testing.assert_array_equal(unpacked(model["symbols"]), one.symbols)
        np.testing.assert_allclose(unpacked(model["nats"]) * model["nats"]["scale"], one.nats, atol=1 / figure.FINE)
        assert model["given"] == 14 * 28 and model["count"] == 784
        assert model["cost"] == {
            "given": pytest.approx(one.nats[:392].sum(), abs=1e-3),
            "made": pytest.approx(one.nats[392:].sum(), abs=1e-3),
            "whole": pytest.approx(one.nats.sum(), abs=1e-3),
        }
    np.testing.assert_array_equal(unpacked(value["whole"]).reshape(28, 28), drawn_digits.whole())


def test_each_head_says_what_it_attends_with() -> None:
    interleaved, split, _ = uses()
    value = figure.value([interleaved], state="live", query="")
    assert json.loads(json.dumps(value))["models"][0]["factors"] == [["row"] * 4, ["column"] * 4] * 2
    value = figure.value([split], state="live", query="")
    assert json.loads(json.dumps(value))["models"][0]["factors"] == [["block"] * 2 + ["summary"] * 2] * 4


@pytest.mark.parametrize("made", [*uses(), drawn_digits.made("dense")], ids=["row, column", "block, summary", "fixed", "all"])
def test_whole_maps_of_weights_are_those_of_the_exact_rows(made: Made) -> None:
    for layer, head in ((0, 0), (1, 3)):
        found = figure.weights(made, layer, head)
        np.testing.assert_allclose(found, look(made, layer, head, ALL), atol=2e-6)
        allowed = factor_of(made, layer, head).allowed(784)
        assert not found[~allowed].any()
        sums = found.sum(1)
        np.testing.assert_allclose(sums[allowed.any(1)], 1, atol=1e-4)
        assert not sums[~allowed.any(1)].any(), "a pixel that may look nowhere looks nowhere"


def test_the_mean_look_by_displacement_is_a_mean_over_all_pixels_that_have_one_there() -> None:
    made = uses()[0]
    found = figure.offsets(made)
    exact = look(made, 1, 2, ALL).reshape(28, 28, 28, 28)
    for up, right in ((3, 0), (0, 0), (6, 0)):
        every = [
            exact[row, column, row - up, column + right] for row in range(up, 28) for column in range(max(0, -right), min(28, 28 - right))
        ]
        assert found.maps[1, 2, 6 - up, 7 + right] == pytest.approx(np.mean(every), abs=1e-5)
    never = np.isnan(found.maps[1, 2])
    assert never[:, :7].all() and never[:, 8:].all() and not never[:, 7].any(), "a column alone"
    rows = np.isnan(found.maps[0, 0])
    assert not rows[6, :8].any() and rows[6, 8:].all() and not rows[5, 7:].any() and rows[:5].all(), (
        "this row, and the rest of the one above"
    )
    inside = sum(exact[row, column, row - up, column] for row in range(28) for column in range(28) for up in range(min(7, row + 1)))
    assert found.beyond[1, 2] == pytest.approx(1 - inside / exact.sum(), abs=1e-4)


def test_mean_looks_travel_as_their_square_root_and_never_is_not_nothing() -> None:
    model = shown()["models"][0]
    raw = unpacked(model["offsets"]).astype(float)
    maps = figure.offsets(drawn_digits.made("strided")).maps
    assert raw.shape == (4, 4, figure.UP, figure.ACROSS)
    np.testing.assert_array_equal(raw == 0, np.isnan(maps))
    np.testing.assert_allclose(((raw[raw > 0] - 1) / 254) ** 2, maps[~np.isnan(maps)], atol=0.004)


def test_rollout_multiplies_half_the_mean_of_the_heads_with_half_the_residual_path() -> None:
    made = drawn_digits.made("strided")
    means = [np.mean([look(made, layer, head, ALL) for head in range(4)], 0) for layer in range(2)]
    half = [0.5 * mean + 0.5 * np.eye(784) for mean in means]
    roll = figure.Rollout(made)
    np.testing.assert_allclose(roll.rows(1, 0, [400, 783]), (half[1] @ half[0])[[400, 783]], atol=2e-4)
    np.testing.assert_allclose(roll.rows(3, 0, range(0, 784, 97)).sum(1), 1, atol=2e-3)
    assert (roll.rows(1, 0, [600])[0, :601] > 0).all(), "two steps of the strided pattern reach everything before"
    assert not roll.rows(3, 0, [600])[0, 601:].any()


def test_a_head_that_may_look_nowhere_leaves_its_share_on_the_residual_path() -> None:
    made = drawn_digits.made("fixed", use="interleaved")
    assert not look(made, 1, 0, [10]).any()
    assert figure.Rollout(made).rows(1, 0, [10]).sum() == pytest.approx(1, abs=1e-3)


def test_the_address_of_a_model_answers_with_its_exact_rows_and_its_rollout() -> None:
    value = shown(**drawn_digits.addresses())
    made = drawn_digits.made("fixed")
    model = value["models"][2]
    for address, exact in ((model["look"], look(made, 2, 1, [500, 501])), (model["roll"], figure.Rollout(made).rows(2, 0, [500, 501]))):
        kept = looks().get(address.removeprefix("/looks/"))
        assert kept is not None
        answer = kept.answer(2, 1 if address == model["look"] else 0, 500, 2)
        assert answer is not None
        np.testing.assert_allclose(np.frombuffer(answer, "<u2").reshape(2, -1) / LEVELS, exact, atol=1e-4)


def test_the_telling_pixel_was_made_and_its_head_is_sure_of_one_that_is_not_beside_it() -> None:
    made = drawn_digits.all_made()
    pick = figure.telling(made, look)
    assert pick is not None and pick["model"] == "strided"
    layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
    position = int(str(pick["pos"]))
    weights = look(made[0], layer, head, [position])[0]
    assert not made[0].given[position]
    row, column = np.divmod(np.arange(784), 28)
    beside = (abs(row - position // 28) <= 1) & (abs(column - position % 28) <= 1)
    assert weights[~beside].max() > 0.3


def test_without_anything_made_a_given_pixel_is_telling_and_without_a_model_none() -> None:
    assert figure.telling([], look) is None
    read = drawn_digits.made("dense", 28)
    pick = figure.telling([read], look)
    assert pick is not None and pick["model"] == "dense"
    blank = replace(read, symbols=np.zeros(784, np.int16))
    assert figure.telling([blank], look) is not None


def test_what_grows_holds_the_rows_that_were_given_and_all_steps_so_far() -> None:
    told = [drawn_digits.steps("strided", 0, 300), drawn_digits.steps("dense", 0, 410), drawn_digits.steps("strided", 300, 420)]
    value = figure.growing(("strided", "dense", "fixed"), told, query="v=2", keep=14, whole=drawn_digits.whole())
    strided, dense, fixed = json.loads(json.dumps(value))["models"]
    assert [model["count"] for model in (strided, dense, fixed)] == [420, 410, 0]
    one = drawn_digits.made("strided")
    np.testing.assert_array_equal(unpacked(strided["symbols"])[:420], one.symbols[:420])
    assert not unpacked(strided["symbols"])[420:].any()
    assert strided["cost"]["made"] == pytest.approx(one.nats[392:420].sum(), abs=1e-3)
    np.testing.assert_array_equal(unpacked(fixed["symbols"])[:392], drawn_digits.whole().reshape(-1)[:392])
    assert fixed["cost"] == {"given": 0, "made": 0, "whole": 0}


def test_a_run_that_is_no_digit_is_refused() -> None:
    made = drawn_digits.made("strided")
    facts: dict[str, Any] = {"state": "live", "query": ""}
    with pytest.raises(ValueError, match="no model"):
        figure.value([], **facts)
    with pytest.raises(ValueError, match=r"strided: \(100,\) pixels"):
        figure.value([replace(made, symbols=made.symbols[:100], nats=made.nats[:100])], **facts)
    with pytest.raises(ValueError, match="a digit of 100 pixels"):
        figure.value([made], whole=np.zeros((10, 10)), **facts)
