"""What a page gets of the sparse models."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest
import torch

from models.errors import InputError
from models.sparse_transformer.explain import explain, measure
from models.sparse_transformer.model import SparseTransformer
from models.sparse_transformer.records import MODELS, Again, Explanation, Losses, Request, spelled
from models.sparse_transformer.weights import factor_of, look, overview
from tests.models.networks import answer

DIGIT = Request(drawing="test:2", keep=27)
TEXT = Request("text", text="It was a night", length=9)


@pytest.fixture(autouse=True)
def _small(small: dict[str, SparseTransformer]) -> None:
    """Small networks everywhere."""


answered = partial(answer, explain, Explanation)


refused = partial(answer, explain, InputError)


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
    with pytest.raises(IndexError, match="2 × 2 heads"):
        look(made, 2, 0, [0])
    with pytest.raises(IndexError, match="784 positions"):
        look(made, 0, 0, [784])


def test_an_overview_is_every_look_pooled() -> None:
    for made in answered(DIGIT).made:
        whole = overview(made)
        assert (whole.by, whole.pooled.shape) == (4, (2, 2, 196, 196))
        exact = look(made, 1, 0, range(784))
        np.testing.assert_allclose(whole.pooled[1, 0], exact.reshape(196, 4, 196, 4).sum(3).mean(1), atol=1e-5)
        np.testing.assert_allclose(whole.distances[1, 0, 28], np.diagonal(exact, -28).mean(), atol=1e-5)
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


def test_an_empty_drawing_is_a_drawing() -> None:
    seen = answered(Request(drawing=spelled(np.zeros((28, 28))), keep=27))
    assert seen.kind == -1
    assert not seen.made[0].symbols[: 27 * 28].any()


def test_nothing_given_is_nothing_unusual() -> None:
    nothing = answered(Request("text", length=5))
    assert not nothing.made[0].given.any()
    assert not nothing.made[0].unusual


def test_a_text_is_refused_in_words_where_no_model_reads_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.sparse_transformer.records.reads", lambda _task: False)
    assert "No model of texts is shipped" in str(refused(TEXT))
