"""What a page gets of the sparse models."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from models import stored
from models.checkpoint import CheckpointError
from models.errors import InputError
from models.layers.patterns import Pattern
from models.sparse_transformer.explain import (
    EXAMPLES,
    Again,
    Explanation,
    Losses,
    Request,
    by_offset,
    connections,
    drawing,
    explain,
    generate,
    look,
    measure,
    paths,
)
from models.sparse_transformer.model import SparseTransformer
from models.sparse_transformer.records import DIGITS, MODELS, POSITIONS, TEXTS, Step, check, read_drawing, spelled
from models.sparse_transformer.weights import factor_of, overview

DIGIT = Request(drawing="test:2", keep=27)
TEXT = Request("text", text="It was a night", length=9)


@pytest.fixture(autouse=True)
def _small(small: dict[str, SparseTransformer]) -> None:
    """Small networks everywhere."""


def answered(request: Request) -> Explanation:
    (seen,) = explain([request])
    assert isinstance(seen, Explanation)
    return seen


def refused(request: Request) -> InputError:
    (seen,) = explain([request])
    assert isinstance(seen, InputError)
    assert set(seen.text) == {"en", "zh"}
    return seen


def test_a_half_drawn_digit_is_completed_by_each_variant_and_its_top_stays() -> None:
    seen = answered(DIGIT)
    assert [made.variant for made in seen.made] == list(MODELS["digit"])
    assert seen.kind == 2
    assert seen.whole is not None
    for made in seen.made:
        pixels = made.symbols.reshape(28, 28)
        assert np.array_equal(pixels[:27], seen.whole[:27])
        assert set(np.unique(pixels)) <= {0, 1}
        assert made.given.sum() == 27 * 28
        assert (made.nats > 0).all()


def test_surprise_is_what_the_network_says_of_every_pixel(small: dict[str, SparseTransformer]) -> None:
    seen = answered(dataclasses.replace(DIGIT, keep=28))
    for made in seen.made:
        model = small[made.variant]
        symbols = torch.from_numpy(made.symbols.astype(np.int64))[None]
        p = model(model.after(symbols)).softmax(-1).gather(2, symbols[..., None])[0, :, 0]
        np.testing.assert_allclose(made.nats, -p.log().numpy(), atol=1e-5)
        assert made.given.all()
        assert made.unusual  # 0.7 nats a pixel against a limit of 0.1


def test_a_text_goes_on(small: dict[str, SparseTransformer]) -> None:
    seen = answered(TEXT)
    assert [made.variant for made in seen.made] == list(MODELS["text"])
    assert seen.whole is None
    for made in seen.made:
        assert made.drawn.startswith("It was a night")
        assert len(made.drawn) == len(made.symbols) == 23
        assert made.given.tolist() == [True] * 14 + [False] * 9


def test_a_look_is_the_attention_of_the_model(small: dict[str, SparseTransformer]) -> None:
    for made in answered(DIGIT).made:
        queries, keys = (x[1, 1].astype(np.float64) for x in (made.queries, made.keys))
        factor = factor_of(made, 1, 1)
        assert factor == small[made.variant].config.pattern.union
        scores = np.where(factor.allowed(784), queries @ keys.T / np.sqrt(8), -np.inf)
        expected = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        np.testing.assert_allclose(look(made, 1, 1, [0, 400, 783]), expected[[0, 400, 783]], atol=1e-5)
        profile = by_offset(made, 1, 1)
        np.testing.assert_allclose(profile[28], np.diagonal(expected, -28).mean(), atol=1e-5)
    with pytest.raises(IndexError, match="2 layers of 2 heads"):
        look(made, 2, 0, [0])
    with pytest.raises(IndexError, match="not 784"):
        look(made, 0, 0, [784])


def test_an_overview_is_every_look_pooled() -> None:
    for made in answered(DIGIT).made:
        whole = overview(made)
        assert (whole.by, whole.pooled.shape) == (4, (2, 2, 196, 196))
        exact = look(made, 1, 0, range(784))
        np.testing.assert_allclose(whole.pooled[1, 0], exact.reshape(196, 4, 196, 4).sum(3).mean(1), atol=1e-5)
        np.testing.assert_allclose(whole.distances[1, 0], by_offset(made, 1, 0), atol=1e-5)
        np.testing.assert_allclose(whole.pooled.sum(3), 1, atol=1e-4)


def test_a_query_without_a_key_gives_no_weight() -> None:
    made = dataclasses.replace(answered(TEXT).made[0], use="split")
    assert factor_of(made, 0, 1).name == "summary"
    np.testing.assert_allclose(overview(made).pooled[0, 1], look(made, 0, 1, range(23)), atol=1e-6)
    weights = look(made, 0, 1, [3, 6, 20])
    assert not weights[0].any()
    assert weights[1:].sum(1) == pytest.approx([1, 1])
    assert weights[1].nonzero()[0].tolist() == [6]


@pytest.mark.parametrize(
    ("change", "models"),
    [
        ({"pattern": "fixed"}, (True, True, False)),
        ({"pattern": "full"}, (True, False, True)),
        ({"stride": 27}, (True, False, True)),
        ({"stride": 29}, (True, False, True)),
        ({"summary": 1}, (False, False, True)),
        ({"silenced": (("dense", 1, 0),)}, (False, True, False)),
    ],
    ids=str,
)
def test_an_intervention_changes_what_the_same_pixels_cost(change: dict[str, object], models: tuple[bool, ...]) -> None:
    without, under = explain([DIGIT, dataclasses.replace(DIGIT, **change)])
    assert isinstance(without, Explanation) and isinstance(under, Explanation)
    (found,) = measure([Again(dataclasses.replace(Request(), **change), tuple(made.symbols.tobytes() for made in without.made))])
    assert isinstance(found, Losses)
    for before, after, forced, changed in zip(without.made, under.made, found.nats, models, strict=True):
        assert np.allclose(forced, before.nats, atol=1e-5) != changed
        trained = before.pattern
        numbers = {name: change.get(name, getattr(trained, name)) for name in ("stride", "summary")}
        assert after.pattern == dataclasses.replace(trained, kind=change.get("pattern", trained.kind), **numbers)
        assert np.array_equal(after.symbols[: 27 * 28], before.symbols[: 27 * 28])


def test_steps_come_as_they_are_made_and_add_up_to_the_explanation() -> None:
    seen: dict[str, list[int]] = {variant: [] for variant in MODELS["digit"]}
    costs: dict[str, list[float]] = {variant: [] for variant in MODELS["digit"]}
    last = None
    for (entry,) in generate([DIGIT]):
        if isinstance(entry, Explanation):
            last = entry
            continue
        assert isinstance(entry, list)
        for step in entry:
            assert isinstance(step, Step)
            assert step.first == len(seen[step.variant])
            seen[step.variant] += step.symbols.tolist()
            costs[step.variant] += step.nats.tolist()
    assert last is not None
    for made in last.made:
        assert seen[made.variant] == made.symbols.tolist()
        np.testing.assert_allclose(costs[made.variant], made.nats)


def test_one_bad_request_spoils_no_other_and_company_changes_nothing() -> None:
    bad = dataclasses.replace(DIGIT, drawing="test:99")
    found = explain([DIGIT, bad, TEXT, dataclasses.replace(DIGIT, seed=8)])
    assert isinstance(found[1], InputError)
    alone = answered(DIGIT)
    assert isinstance(found[0], Explanation)
    for one, other in zip(found[0].made, alone.made, strict=True):
        assert np.array_equal(one.symbols, other.symbols)
        np.testing.assert_allclose(one.nats, other.nats, atol=1e-5)
    turns = list(generate([bad, TEXT]))
    assert isinstance(turns[0][0], InputError)
    assert all(turn[0] is None for turn in turns[1:])
    assert isinstance(turns[-1][1], Explanation)


def test_an_empty_drawing_is_a_drawing() -> None:
    seen = answered(Request(drawing=drawing(np.zeros((28, 28))), keep=27))
    assert seen.kind == -1
    assert not seen.made[0].symbols[: 27 * 28].any()


def test_nothing_given_is_nothing_unusual() -> None:
    nothing = answered(Request("text", length=5))
    assert not nothing.made[0].given.any()
    assert not nothing.made[0].unusual


def test_a_drawing_survives_its_spelling() -> None:
    levels = np.zeros((28, 28))
    levels[3, 4:20], levels[20:] = 1.0, 0.5
    pixels = read_drawing(drawing(levels))
    assert pixels[3, 4:20].all()
    assert not pixels[4:20].any()
    assert 0.3 < pixels[20:].mean() < 0.7  # drawn, never thresholded
    assert np.array_equal(read_drawing(spelled(pixels)), pixels)


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        (np.zeros((27, 28)), "27 × 28 pixels; 28 × 28"),
        ([], "0 pixels"),
        ("scribble", "0 pixels|pixels; 28 × 28"),
        (np.full((28, 28), 1.5), "the value 1.5; pixels lie between 0 and 1"),
        (np.full((28, 28), -0.1), "the value -0.1"),
        (np.full((28, 28), np.nan), "the value nan"),
    ],
    ids=["size", "nothing", "no numbers", "above", "below", "nan"],
)
def test_what_is_no_drawing_gets_one_sentence(levels: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        drawing(levels)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "code", "sentence"),
    [
        (Request(drawing=""), "drawing", "no drawing of 28 × 28"),
        (Request(drawing="***"), "drawing", "no drawing"),
        (Request(drawing=spelled(np.zeros((8, 8)))), "drawing", "no drawing"),
        (Request(drawing="test:"), "drawing", "there are 0 to 3"),
        (Request(drawing="test:²"), "drawing", "there are 0 to 3"),
        (Request(keep=29), "keep", "it can be 0 to 28"),
        (Request(temperature=float("nan")), "temperature", "it can be 0 to 2"),
        (Request(stride=-1), "stride", "it can be 0 to 1024"),
        (Request(stride=3), "summary", "A stride of 3 with 4 summary columns"),
        (Request(pattern="plaid"), "pattern", "no pattern plaid"),
        (Request("sound"), "task", "no task sound"),
        (Request(silenced=(("strided", 9, 0),)), "silenced", "no head 10·1 "),
        (Request(silenced=(("text_fixed", 0, 0),)), "silenced", "there are strided, dense, fixed"),
        (Request("text", text="a" * 60, length=9), "too_long", "64 together are the most"),
        (Request("text", text="a night 你", length=9), "unseen", "the character 你"),
        (Request("text", text="a\x00", length=9), "unseen", "U\\+0000"),
        (Request("text", text="", length=0), "empty", "no text to read"),
    ],
    ids=lambda x: None if isinstance(x, Request) else str(x),
)
def test_what_cannot_be_read_gets_one_sentence(request_: Request, code: str, sentence: str) -> None:
    found = refused(request_)
    assert found.code == code
    with pytest.raises(InputError, match=sentence):
        raise found


def test_a_text_is_refused_in_words_where_no_model_reads_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.sparse_transformer.records.reads", lambda _task: False)
    assert "No model of texts is shipped" in str(refused(TEXT))


def test_connections_count_the_pairs_that_a_pattern_saves() -> None:
    seen = connections("strided", 28, 4, 784)
    assert seen.matrix.shape == (784, 784)
    assert seen.pairs == int((seen.matrix > 0).sum()) == int(seen.counts.sum())
    assert seen.of_factors == (int((seen.matrix & 1).sum()), int((seen.matrix >> 1).sum()))
    assert seen.causal == 784 * 785 // 2
    assert seen.square == 784**2
    assert connections("full", 28, 4, 50).pairs == 50 * 51 // 2
    for wrong in (("fixed", 4, 5, 9), ("plaid", 4, 1, 9), ("fixed", 4, 1, 0), ("fixed", 4, 1, 1025), ("fixed", True, 1, 9)):
        with pytest.raises(InputError):
            connections(*wrong)


def test_paths_lead_from_everywhere_over_one_position() -> None:
    seen = paths("fixed", 28, 1, 400)
    assert seen.reached == (400 - 392 + 1 + 14, 401)
    assert seen.steps[5] == 2
    assert seen.via[5] == 27  # the summary column of its block
    with pytest.raises(InputError, match="no position -1"):
        paths("fixed", 28, 1, -1)


def test_an_explanation_can_be_stored_and_read_again(tmp_path: Path) -> None:
    seen = answered(DIGIT)
    stored.save(tmp_path / "first.npz", seen, 12, "cpu")
    again, _, _ = stored.load(tmp_path / "first.npz", Explanation)
    assert again.made[0].pattern == Pattern("strided", 28, 4)
    assert np.array_equal(again.made[1].keys, seen.made[1].keys)
    assert not again.made[0].symbols.flags.writeable


def test_examples_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert EXAMPLES[: len(DIGITS)] == DIGITS
    for request in (*DIGITS, *TEXTS):
        check(request)
        assert len(request.text) + request.length <= POSITIONS["text"]
    assert len(DIGITS) >= 3

    def missing(variant: str, seed: int = 1) -> None:
        raise CheckpointError(f"no model.json in {variant}: train it first")

    monkeypatch.setattr("models.sparse_transformer.explain.load", missing)
    with pytest.raises(CheckpointError, match="train one first"):
        explain([DIGIT])
