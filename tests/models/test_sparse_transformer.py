"""Sparse attention over pixels and characters: the network, its data, training and measuring, and
what a page gets."""

from __future__ import annotations

import dataclasses
import gzip
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from models.checkpoints import checkpoint
from models.checkpoints.pretrained import Pretrained
from models.data.characters import UNKNOWN, Alphabet
from models.decoding.sampling import SamplingCache
from models.explaining.errors import InputError
from models.layers.patterns import KINDS, USES, Pattern
from models.sparse_transformer import recipe
from models.sparse_transformer.data import (
    alphabet,
    binarise,
    characters,
    digits,
    drawn_digits,
    drawn_text,
)
from models.sparse_transformer.examples import choose
from models.sparse_transformer.explain import explain
from models.sparse_transformer.model import Config, SparseTransformer
from models.sparse_transformer.pretrained import read
from models.sparse_transformer.recipe import VARIANTS, Recipe, costs, nats_per_character, task_of
from models.sparse_transformer.records import MODELS, Explanation, Request, spell_pixels
from models.sparse_transformer.weights import factor_of, look, overview
from tests.models.networks import BRIEF, answer, shelve, sparse, trained

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 2}
BOOK = "It was a dark night.\nNobody spoke, and the rain went on and on; then it stopped. "
DIGIT = Request(drawing="test:2", keep=27)
TEXT = Request("text", text="It was a night", length=9)
CPU = torch.device("cpu")
Networks = dict[str, SparseTransformer]


@pytest.fixture(autouse=True)
def networks(monkeypatch: pytest.MonkeyPatch) -> Networks:
    """Every variant, small and untrained, in the places of the shipped ones, with held-out digits
    beside them."""
    torch.manual_seed(8)
    digit, known = Config(symbols=2, kind="strided", **SMALL), Alphabet.from_texts([BOOK]).letters
    text = Config(
        symbols=len(known) + 1,
        kind="fixed",
        stride=8,
        summary=2,
        length=64,
        width=8,
        letters=known,
        **SMALL,
    )
    kinds = {"strided": (digit, "strided"), "dense": (digit, "full"), "fixed": (digit, "fixed")}
    kinds |= {"text_fixed": (text, "fixed"), "text_strided": (text, "strided")}
    found = {
        name: SparseTransformer(dataclasses.replace(one, kind=kind)).eval().requires_grad_(False)
        for name, (one, kind) in kinds.items()
    }
    shipped = {
        name: Pretrained(network, {"variant": name, "surprising_above": 0.1})
        for name, network in found.items()
    }
    monkeypatch.setattr(
        "models.sparse_transformer.explain.load", lambda variant, seed=1: shipped[variant]
    )
    pixels = (np.random.default_rng(2).random((4, 28, 28)) < 0.3).astype(np.uint8)
    monkeypatch.setattr(
        "models.data.pixels.load_shipped_pictures",
        lambda _slug: {"pixels": pixels, "kinds": np.arange(4)},
    )
    return found


# ---- the network


def symbols(rows: int, length: int = 23) -> Tensor:
    return torch.randint(0, 5, (rows, length), generator=torch.Generator().manual_seed(7))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_rest_on_pattern_paths(kind: str, use: str) -> None:
    model, length = sparse(kind, use), 23
    embedded = model.embed_symbols(model.after(symbols(1)))

    def predicted(moved: Tensor) -> Tensor:
        x = embedded + moved
        for i, layer in enumerate(model.layers):
            x = layer(x, i, pattern=model.config.pattern)
        return model.readout(model.norm(x))[0, :, 0]  # type: ignore[no-any-return]

    jacobian = (
        torch.autograd.functional.jacobian(
            predicted, torch.zeros(1, length, 16, dtype=torch.float64)
        )
        .abs()
        .sum((1, 3))
        > 0
    )
    assert not jacobian.triu(1).any() and jacobian.diagonal().all()  # nothing from what comes later
    assert math.isqrt(VARIANTS["text_fixed"].config.length) == VARIANTS["text_fixed"].config.stride
    # two steps reach everything
    assert use != "merged" or torch.equal(jacobian, jacobian.new_ones(length, length).tril())


def test_a_new_symbol_reads_only_the_keys_of_its_pattern() -> None:
    model = sparse("strided", "split")
    before, answers = model.after(symbols(1)), []
    for spoil in (False, True):
        cache = SamplingCache(model, 1, 23)
        model(before[:, :22], 0, cache)
        cache.position = 22
        if spoil:
            hidden = np.setdiff1d(np.arange(22), model.config.pattern.joint_factor.list_keys(22))
            assert len(hidden)
            cache.keys[..., hidden, :], cache.values[..., hidden, :] = 1e6, torch.nan
        answers.append(model(before[:, 22:], 22, cache))
    torch.testing.assert_close(answers[1], answers[0])


def test_a_given_pattern_replaces_its_own() -> None:
    models = {kind: sparse(kind) for kind in KINDS}
    before = models["fixed"].after(symbols(1))
    for kind, other in models.items():
        torch.testing.assert_close(
            models["fixed"](before, pattern=Pattern(kind, 5, 2)), other(before)
        )
    assert not torch.allclose(
        models["strided"](before, pattern=Pattern("strided", 6)), models["strided"](before)
    )
    # A fixed pattern whose every column is a summary is full attention.
    torch.testing.assert_close(
        models["fixed"](before, pattern=Pattern("fixed", 4, 4)), models["full"](before)
    )


# ---- data, training and measuring


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, networks: Networks) -> Path:
    """A few digits and a short book in the layout of the real ones; every variant has a tiny
    recipe, and its assets go to a folder here."""
    monkeypatch.setattr("models.data.pixels.HELD_OUT", 20)
    generator = np.random.default_rng(1)
    (tmp_path / "mnist").mkdir()
    for name, count in (("train", 32), ("t10k", 6)):
        levels = np.zeros((count, 28, 28), np.uint8)
        levels[:, 8:20, 8:20] = generator.integers(0, 256, (count, 12, 12))
        for kind, header, values in (
            ("images-idx3", 16, levels),
            ("labels-idx1", 8, np.arange(count) % 10),
        ):
            with gzip.open(tmp_path / "mnist" / f"{name}-{kind}-ubyte.gz", "wb", 1) as file:
                file.write(bytes(header) + values.astype(np.uint8).tobytes())
    short = Recipe(BRIEF, 2, 2, evaluation_interval=2, rate=3e-3)
    configs = {name: dataclasses.replace(networks[name].config, letters="") for name in VARIANTS}
    tasks = {
        name: dataclasses.replace(task, recipe=short, config=configs[name])
        for name, task in VARIANTS.items()
    }
    monkeypatch.setattr(recipe.LAB, "variants", tasks)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    return shelve(
        tmp_path, [(split, BOOK * n) for split, n in (("train", 4), ("valid", 2), ("test", 3))]
    )


def test_pixels_are_drawn_once_by_their_grey() -> None:
    levels = np.full((3000, 4, 4), 51, np.uint8)
    levels[:, 0], levels[:, 1] = 0, 255
    pixels = binarise(levels)
    assert (
        not pixels[:, 0].any()
        and pixels[:, 1].all()
        and pixels[:, 2:].mean() == pytest.approx(0.2, abs=0.01)
    )
    # one stream, whatever the parts
    assert np.array_equal(pixels, np.random.default_rng(0).random(levels.shape) < levels / 255)


def test_splits_of_digits_share_no_digit(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = [digits(data, split) for split in ("train", "val", "test")]
    assert [len(one) for one in splits] == [12, 20, 6] and splits[1].kinds[0] == 12 % 10
    with pytest.raises(ValueError, match="not all"):
        digits(data, "all")
    assert drawn_digits(splits[0].pixels, 5)(np.random.default_rng(1), 0.0).symbols.shape == (
        5,
        784,
    )
    found = dataclasses.replace(splits[1], kinds=np.random.default_rng(1).permutation(20) % 10)
    monkeypatch.setattr("models.sparse_transformer.examples.digits", lambda data, split: found)
    choose(data, tmp_path / "held" / "examples.npz")
    with np.load(tmp_path / "held" / "examples.npz") as file:
        assert file["kinds"].tolist() == [*range(10), *range(10)] and file["pixels"].shape == (
            20,
            28,
            28,
        )


def test_the_alphabet_is_that_of_the_books_learned_from(data: Path) -> None:
    letters = alphabet(data).letters
    text = characters(data, "test", letters)
    assert text.min() > UNKNOWN and UNKNOWN in characters(
        data, "test", letters.replace("z", "").replace("w", "")
    )
    batches = [
        drawn_text(text, 3, 20)(np.random.default_rng(1), done).symbols for done in (0.0, 0.5)
    ]
    assert batches[0].shape == (3, 20) and torch.equal(*batches)


def test_windows_do_not_change_the_cost(networks: Networks) -> None:
    model = networks["text_strided"]
    text = np.random.default_rng(1).integers(1, 9, 150).astype(np.uint8)
    found = nats_per_character(model, text)
    for counted, window, first in (
        (slice(64), slice(64), 0),
        (slice(64, 96), slice(32, 96), 32),
        (slice(128, None), slice(96, None), 32),
    ):
        np.testing.assert_allclose(
            found[counted], costs(model, text[None, window])[0, first:], atol=1e-5
        )


@pytest.mark.parametrize("variant", ["strided", "text_fixed"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path) -> None:
    found, pretrained = trained(recipe, read, data, variant)
    text = variant == "text_fixed"
    assert (found["metric"], found["n"]) == (
        ("bits per character", 243) if text else ("nats per image", 6)
    )
    # nothing learned yet: about log₂ 30, about 784 · log 2
    low, high = (1, 7) if text else (100, 1000)
    assert low < found["value"] < high and pretrained.facts["surprising_above"] > 0
    assert bool(pretrained.model.config.letters) == text


def test_a_figure_is_that_of_a_sum_by_hand(data: Path, networks: Networks) -> None:
    model = networks["fixed"]
    pixels = torch.from_numpy(digits(data, "test").pixels.reshape(6, -1).astype(np.int64))
    p = model(model.after(pixels)).softmax(-1).gather(2, pixels[..., None])
    assert recipe.measure_split(model, task_of("fixed"), data, "test")["value"] == pytest.approx(
        float(-p.log().sum() / 6), rel=1e-4
    )


# ---- what a page gets

answered = partial(answer, explain, Explanation)


@pytest.mark.parametrize(
    ("request_", "given"),
    [(DIGIT, 27 * 28), (dataclasses.replace(DIGIT, keep=28), 784), (TEXT, 14)],
    ids=str,
)
def test_given_symbols_stay_and_costs_agree(
    request_: Request, given: int, networks: Networks
) -> None:
    seen = answered(request_)
    assert [made.variant for made in seen.made] == list(MODELS[request_.task])
    assert (
        seen.kind == 2
        if request_.task == "digit"
        else seen.whole is None and seen.made[0].drawn.startswith("It was a night")
    )
    for made in seen.made:
        count = 784 if request_.task == "digit" else 23
        assert made.given.tolist() == [True] * given + [False] * (count - given)
        model, found = networks[made.variant], torch.from_numpy(made.symbols.astype(np.int64))[None]
        if seen.whole is not None:
            assert np.array_equal(made.symbols[:given], seen.whole.flatten()[:given]) and set(
                np.unique(made.symbols)
            ) <= {0, 1}
        p = model(model.after(found)).softmax(-1).gather(2, found[..., None])[0, :, 0]
        np.testing.assert_allclose(made.nats, -p.log().numpy(), atol=1e-5)
        assert made.unusual  # 0.7 nats a pixel against a limit of 0.1


def test_a_look_is_the_models_attention(
    networks: Networks,
) -> None:
    for made in answered(DIGIT).made:
        queries, keys = (x[1, 0].astype(np.float64) for x in (made.queries, made.keys))
        factor = factor_of(made, 1, 0)
        assert factor == networks[made.variant].config.pattern.joint_factor
        scores = np.where(factor.build_mask(784), queries @ keys.T / np.sqrt(8), -np.inf)
        exact = look(made, 1, 0, range(784))
        np.testing.assert_allclose(
            exact, np.exp(scores) / np.exp(scores).sum(1, keepdims=True), atol=1e-5
        )
        whole = overview(made)
        assert (whole.by, whole.pooled.shape) == (4, (2, 2, 196, 196))
        np.testing.assert_allclose(
            whole.pooled[1, 0], exact.reshape(196, 4, 196, 4).sum(3).mean(1), atol=1e-5
        )
        np.testing.assert_allclose(
            whole.distances[1, 0, 28], np.diagonal(exact, -28).mean(), atol=1e-5
        )
    for layer, row, said in ((2, 0, "2 × 2 heads"), (0, 784, "784 positions")):
        with pytest.raises(IndexError, match=said):
            look(made, layer, 0, [row])


def test_a_query_without_a_key_gives_no_weight() -> None:
    made = dataclasses.replace(answered(TEXT).made[0], use="split")
    assert factor_of(made, 0, 1).name == "summary"
    np.testing.assert_allclose(overview(made).pooled[0, 1], look(made, 0, 1, range(23)), atol=1e-6)
    weights = look(made, 0, 1, [3, 6, 20])
    assert weights.sum(1) == pytest.approx([0, 1, 1]) and weights[1].nonzero()[0].tolist() == [6]


def test_a_run_says_with_which_pattern_each_model_ran() -> None:
    changed = answered(dataclasses.replace(DIGIT, pattern="fixed", stride=14, summary=2))
    assert {made.pattern for made in changed.made} == {Pattern("fixed", 14, 2)}


def test_an_empty_drawing_is_a_drawing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = answered(Request(drawing=spell_pixels(np.zeros((28, 28))), keep=27))
    assert seen.kind == -1 and not seen.made[0].symbols[: 27 * 28].any()
    nothing = answered(Request("text", length=5)).made[0]
    assert not nothing.given.any() and not nothing.unusual
    monkeypatch.setattr("models.sparse_transformer.records.reads", lambda _task: False)
    assert "No model of texts is shipped" in str(answer(explain, InputError, TEXT))
