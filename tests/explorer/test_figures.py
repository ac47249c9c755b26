"""Figures: what is in them, never how they look."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.figures import attention
from explorer.figures.attention import Kind
from explorer.figures.curves import LABEL as LABEL_ROOM
from explorer.figures.curves import Curve, curves
from explorer.widgets import figure

Array = NDArray[np.float32]
LABEL = {"en": "Cross", "zh": "交叉"}
KEYS = ["A", "blond", "holding", "hands", "."]
QUERIES = ["Eine", "Blond", "ine", "."]
WEIGHTS = np.array([[0.8, 0.05, 0.05, 0.05, 0.05], [0, 1, 0, 0, 0], [0.1, 0.48, 0.4, 0.02, 0], [0.2] * 5], np.float32)


def softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    made: Array = (raised / raised.sum(-1, keepdims=True)).astype(np.float32)
    return made


def flat(layers: int, heads: int, queries: int, keys: int) -> Array:
    return np.full((layers, heads, queries, keys), 1 / keys, np.float32)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [(" ", "␣"), ("a\nb", "a⏎b"), ("\x00", "␀"), ("", "∅"), ("\u202eevil", "⟨U+202E⟩evil"), ("שלום", "שלום"), ("👩‍👧", "👩‍👧")],
)
def test_what_cannot_be_seen_is_drawn_as_a_sign(text: str, drawn: str) -> None:
    assert attention.shown(text) == drawn


def test_weights_that_do_not_fit_their_labels_are_named_with_both_sizes() -> None:
    with pytest.raises(ValueError, match=r"weights \(2, 3, 4, 4\) for 4 queries and 5 keys"):
        Kind("cross", LABEL, flat(2, 3, 4, 4), QUERIES, KEYS)


def test_a_telling_cell_is_a_far_confident_look_that_not_everybody_shares() -> None:
    scores = np.zeros((1, 3, 6, 6), np.float32)
    scores[0, 0][np.arange(6), np.arange(6)] = 4  # a diagonal head
    scores[0, 0, 4] = [0, 6, 0, 0, 0, 0]  # … in which one word looks far
    scores[0, 1, :, 5] = 8  # everybody rests on the full stop
    kind = Kind("cross", LABEL, softmax(scores), ["Der", "Hund", "läuft", "zum", "Händ", "."], ["The", "hands", "dog", "runs", "to", "."])
    found = attention.pick(kind)
    assert (found["layer"], found["head"], found["row"], found["col"]) == (0, 0, 4, 1)


def test_a_telling_cell_is_never_a_masked_one() -> None:
    allowed = np.tril(np.ones((5, 5), bool))
    weights = softmax(np.where(allowed, 0, -np.inf).astype(np.float32)[None, None])
    found = attention.pick(Kind("decoder", LABEL, weights, list("abcde"), list("abcde"), mask="causal"))
    assert found["col"] <= found["row"]


@pytest.mark.parametrize(("shift", "job"), [(-1, "previous"), (1, "next"), (0, "itself")])
def test_a_head_that_always_looks_beside_itself_has_that_job(shift: int, job: str) -> None:
    scores = np.zeros((2, 2, 6, 6), np.float32)
    for i in range(6):
        if 0 <= i + shift < 6:
            scores[1, 0, i, i + shift] = 5
    found = attention.jobs(Kind("encoder", LABEL, softmax(scores), list("abcdef"), list("abcdef")))
    assert [(one["layer"], one["head"], one["job"]) for one in found] == [(1, 0, job)]
    assert 0.4 <= float(str(found[0]["score"])) <= 1


def test_a_head_that_rests_on_one_token_aligns_nothing() -> None:
    scores = np.zeros((1, 2, 5, 5), np.float32)
    scores[0, 0, :, 4] = 9
    scores[0, 1][np.arange(5), [2, 1, 0, 4, 3]] = 9
    found = attention.jobs(Kind("cross", LABEL, softmax(scores), list("abcde"), list("vwxyz")))
    assert {(one["head"], one["job"]) for one in found} == {(0, "last"), (1, "alignment")}


def test_rollout_follows_the_residual_path_by_half_in_every_layer() -> None:
    weights = np.zeros((2, 1, 2, 2), np.float32)
    weights[..., 0] = 1  # both queries look at key 0 only
    made = attention.rollout(Kind("encoder", LABEL, weights, ["a", "b"], ["a", "b"]))
    assert np.allclose(made, [[1, 0], [0.75, 0.25]])


def test_rollout_of_cross_attention_passes_through_the_encoder() -> None:
    weights = np.zeros((1, 1, 2, 2), np.float32)
    weights[..., 0] = 1
    encoder = Kind("encoder", LABEL, weights, ["a", "b"], ["a", "b"])
    cross = Kind("cross", LABEL, np.array([[[[0, 1]]]], np.float32), ["x"], ["a", "b"], through="encoder")
    assert np.allclose(attention.rollout(cross, encoder), [[0.5, 0.5]])


def test_a_value_is_json_and_says_what_the_browser_needs() -> None:
    kinds = [Kind("cross", LABEL, flat(2, 3, 4, 5), QUERIES, KEYS, through="encoder")]
    made = attention.value(kinds, silenced=[("cross", 1, 2)], query="", state="stored")
    assert json.loads(json.dumps(made)) == made
    assert (made["layers"], made["heads"], made["state"], made["silenced"]) == (2, 3, "stored", [["cross", 1, 2]])
    assert set(made["pick"]) == {"kind", "layer", "head", "row", "col"}  # type: ignore[call-overload]


def test_no_attention_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="0 kinds"):
        attention.value([], query="")


def test_a_long_map_is_pooled_and_its_rows_still_sum_to_one() -> None:
    size = 700
    scores = np.random.default_rng(0).normal(size=(1, 1, size, size)).astype(np.float32)
    kind = Kind("encoder", LABEL, softmax(scores), [str(i) for i in range(size)], [str(i) for i in range(size)])
    pooled = attention._pooled(kind)
    assert pooled.blocks is not None
    assert (pooled.blocks.by_query, pooled.blocks.by_key) == (3, 3)
    assert pooled.weights.shape == (1, 1, 234, 234)
    assert np.allclose(pooled.weights.sum(-1), 1, atol=1e-4)
    assert attention.value([kind], query="")["kinds"][0]["pooled"] == [3, 3]  # type: ignore[index]


def test_one_token_on_each_side_is_a_map_too() -> None:
    kind = Kind("cross", LABEL, np.ones((1, 1, 1, 1), np.float32), ["Hallo"], ["Hi"])
    assert attention.value([kind], query="")["pick"] == {"kind": "cross", "layer": 0, "head": 0, "row": 0, "col": 0}


def curve(*values: float, name: Mapping[str, str] = LABEL, **how: Any) -> Curve:
    return Curve(name, range(1, len(values) + 1), values, "var(--cat-1)", **how)


def test_an_axis_begins_below_the_lowest_curve_or_at_zero_as_is_asked() -> None:
    lines = [curve(3.5, 3.0, 2.5), curve(4.0, 3.0, 3.0)]
    tight, zero, given = (curves(lines, ("a", "b"), "en", up=up)["layout"]["yaxis"]["range"] for up in ("tight", "zero", (1.0, 9.0)))
    assert 2.3 < tight[0] < 2.5 and 4.0 < tight[1] < 4.2
    assert zero[0] == 0 and zero[1] > 4.0 and given == [1.0, 9.0]
    with pytest.raises(ValueError, match="another number of places"):
        curves([Curve(LABEL, (1, 2), (1,), "var(--cat-1)")], ("a", "b"), "en")
    with pytest.raises(ValueError, match="0 curves"):
        curves([], ("a", "b"), "en")


def test_many_points_make_a_line_and_few_are_marked() -> None:
    few, many = (curves([curve(*range(n))], ("a", "b"), "en")["data"][0] for n in (5, 500))
    assert (few["mode"], many["mode"]) == ("lines+markers", "lines")


def test_names_of_lines_that_end_side_by_side_keep_apart() -> None:
    lines = [curve(1, 1 + 0.01 * n, end=LABEL) for n in range(4)]
    figure = curves(lines, ("a", "b"), "en", across="log", up="log", height=250)
    (low, high), places = figure["layout"]["yaxis"]["range"], sorted(note["y"] for note in figure["layout"]["annotations"])
    assert min(np.diff(places)) * 200 / (high - low) >= LABEL_ROOM - 1


def test_a_figure_travels_with_its_table_and_its_sentence() -> None:
    made = figure.value(
        lambda language: curves([curve(2.0, 3.0)], ("a", "b"), language),
        title=LABEL,
        sentence={"en": "One.", "zh": "一。"},
        table=figure.Table([LABEL, LABEL], [["a", 1.5], ["b", None]]),
        legend=[figure.Mark(LABEL, "var(--cat-1)")],
    )
    assert json.loads(json.dumps(made)) == made
    with pytest.raises(ValueError, match=r"rows of \[1\] cells under 2 columns"):
        figure.Table([LABEL, LABEL], [["a"]])


def stepped(taken: list[int], steps: int = 3) -> Kind:
    """One block used step after step, over positions that stop at different times."""
    names = ["mary went to the garden", "where is mary"]
    weights = softmax(np.random.default_rng(3).normal(0, 1, (steps, 2, 2, 2)).astype(np.float32))
    return Kind("self", LABEL, weights, names, names, axis="step", taken=taken, spaced=True)


def test_a_position_that_has_stopped_asks_nothing_any_more() -> None:
    made = attention.value([stepped([1, 3])], query="", silences=False)
    (kind,) = made["kinds"]  # type: ignore[misc]
    assert kind["axis"] == "step" and kind["taken"] == [1, 3] and kind["spaced"] is True
    assert made["silences"] is False
    packed = kind["weights"]
    weights = np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["dtype"]).reshape(packed["shape"]) * packed["scale"]
    sums = weights.sum(-1)  # (step, head, query)
    assert np.allclose(sums[:, :, 1], 1, atol=1e-4)
    assert np.allclose(sums[0, :, 0], 1, atol=1e-4) and not sums[1:, :, 0].any()


def test_what_has_stopped_passes_through_a_rollout_unchanged() -> None:
    kind = attention._asking(stepped([1, 3]))
    once = attention.rollout(Kind("self", LABEL, kind.weights[:1], kind.queries, kind.keys))
    assert np.allclose(attention.rollout(kind)[0], once[0])


def test_every_position_takes_at_least_one_step() -> None:
    with pytest.raises(ValueError, match="at least once"):
        stepped([0, 3])
    with pytest.raises(ValueError, match="2 queries"):
        stepped([1, 2, 3])


def test_layers_are_layers_unless_they_are_said_to_be_steps() -> None:
    made = attention.value([Kind("cross", LABEL, flat(2, 2, 4, 5), QUERIES, KEYS)], query="")
    (kind,) = made["kinds"]  # type: ignore[misc]
    assert (kind["axis"], kind["taken"], kind["spaced"], made["silences"]) == ("layer", None, False, True)
