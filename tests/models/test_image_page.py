"""What a page gets of the picture models: requests and the pictures in them, what is made of them,
or one sentence that says why not."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from models.checkpoints.checkpoint import CheckpointError
from models.data.pixels import load_shipped_pictures, read_picture
from models.explaining.errors import InputError
from models.image_transformer import explain as module
from models.image_transformer import reading
from models.image_transformer.colour import ColourTransformer
from models.image_transformer.colour import Config as ColourConfig
from models.image_transformer.data import reduce_pictures
from models.image_transformer.examples import mix_kinds
from models.image_transformer.explain import explain, generate
from models.image_transformer.model import Config, ImageTransformer
from models.image_transformer.pixelcnn import Config as PixelConfig
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.pretrained import Together
from models.image_transformer.records import (
    KINDS,
    PATTERNS,
    Explanation,
    Request,
    spelled,
)
from models.image_transformer.weights import weights
from tests.models.networks import answer

SMALL: dict[str, Any] = {"d_model": 16, "d_ff": 24, "n_heads": 2}
KEPT = Request(mode="complete", picture="test:1", keep=14, kind=10, count=2)
# of which little is to be made
SHORT = Request(mode="complete", picture="test:1", keep=21, kind=10, seed=3)
RAISED = Request(mode="enlarge", picture="test:0", count=2)
one = partial(answer, explain, Explanation)
close = partial(np.testing.assert_allclose, atol=2e-3)


@pytest.fixture(scope="module")
def networks() -> tuple[Together, ColourTransformer]:
    """Networks that have learned nothing, but whose every part matters."""
    torch.manual_seed(6)
    tiled = Config(pattern="local_2d", query=(7, 7), memory=(7, 7), n_layers=2, **SMALL)
    rows, tiles = ImageTransformer(Config(n_layers=2, **SMALL)), ImageTransformer(tiled)
    cnn, colour = (
        PixelCNN(PixelConfig(features=8, readout=12, n_layers=2)),
        ColourTransformer(ColourConfig(n_decoder=2, **SMALL)),
    )
    for model in (rows, tiles, cnn, colour):
        for parameter in model.eval().requires_grad_(False).parameters():
            parameter.normal_(std=0.3)
    return Together((rows, tiles), cnn, 7.5), colour


@pytest.fixture
def small(
    networks: tuple[Together, ColourTransformer], monkeypatch: pytest.MonkeyPatch
) -> Together:
    """Small networks and random pictures in the place of the shipped ones."""
    draw = np.random.default_rng(1)
    held = {
        name: draw.integers(0, 256, size).astype(np.uint8)
        for name, size in (("grey", (3, 28, 28)), ("colour", (2, 16, 16, 3)))
    }
    for each in (module, reading):
        monkeypatch.setattr(each, "together", lambda: networks[0])
        monkeypatch.setattr(each, "enlarger", lambda: networks[1])
    monkeypatch.setattr(reading, "load_shipped_pictures", lambda _slug: held)
    return networks[0]


page = pytest.mark.usefixtures("small")


def test_a_made_picture_comes_with_its_order(small: Together) -> None:
    seen = one(Request(kind=3, count=2))
    assert (
        tuple(made.pattern for made in seen.made) == PATTERNS
        and seen.given is None
        and seen.small is None
    )
    for made, model in zip(seen.made, small.patterns, strict=True):
        assert made.pictures.shape == made.bits.shape == (2, 28, 28)
        assert (made.pictures.dtype, made.bits.dtype, made.queries.dtype) == (
            np.uint8,
            np.float32,
            np.float16,
        )
        assert made.queries.shape == made.keys.shape == (2, 2, 784, 8)
        assert made.order.tolist() == [row * 28 + column for row, column in model.layout.order]
        assert made.starts.tolist() == [
            *(block.start for block in model.layout.blocks),
            784,
        ] and made.ends[-1] == len(made.memory)
        for block, part in zip(
            model.layout.blocks, np.split(made.memory, made.ends[:-1]), strict=True
        ):
            assert part.tolist() == list(block.memory)
    np.testing.assert_array_equal(seen.read, seen.made[1].pictures[0])
    assert seen.surprise.shape == (3, 28, 28)
    close(seen.surprise[1], seen.made[1].bits[0])


def test_what_is_unlike_the_training_pictures_is_said_to_be(
    small: Together, monkeypatch: pytest.MonkeyPatch
) -> None:
    mean = float(np.mean(one(SHORT).surprise[1]))
    for above, unusual in ((mean - 0.01, True), (mean + 0.01, False), (None, False)):
        monkeypatch.setattr(
            module,
            "together",
            lambda above=above: dataclasses.replace(small, surprising_above=above),
        )
        assert one(SHORT).unusual is unusual
        assert not one(dataclasses.replace(SHORT, flange=0)).unusual, (
            "a changed model finds everything unlike"
        )


@page
def test_the_kept_rows_stay_and_each_continuation_is_another() -> None:
    seen = one(KEPT)
    np.testing.assert_array_equal(seen.read, seen.given)
    for made in seen.made:
        assert all(np.array_equal(picture[:14], seen.given[:14]) for picture in made.pictures)
        assert (made.pictures[0, 14:] != made.pictures[1, 14:]).any() and (
            made.pictures[0, 14:] != seen.given[14:]
        ).any()
    picture = np.random.default_rng(2).integers(0, 256, (28, 28)).astype(np.uint8)
    np.testing.assert_array_equal(
        one(dataclasses.replace(KEPT, picture=spelled(picture))).given, picture
    )
    first = next(entry for (entry,) in generate([KEPT]) if entry)
    assert first[0].first == 0 and first[0].levels.shape[-1] >= 14 * 28, "a kept part comes at once"


@page
def test_the_surprise_is_that_of_the_models_as_they_were_changed() -> None:
    plain, changed = (
        one(KEPT),
        one(dataclasses.replace(KEPT, silenced=(("local_2d", 0, 0),), flange=2)),
    )
    moved = [
        abs(before - after).max() > 0.01
        for before, after in zip(plain.surprise, changed.surprise, strict=True)
    ]
    assert moved == [False, True, False]
    made = one(Request(silenced=(("local_2d", 0, 0),)))
    close(made.surprise[1], made.made[1].bits[0])


@page
def test_a_small_picture_is_raised_channel_by_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = one(RAISED)
    (made,) = seen.made
    assert made.pattern == "colour" and made.pictures.shape == made.bits.shape == (2, 16, 16, 3)
    assert (
        made.order.tolist() == [i // 3 for i in range(768)]
        and made.starts[-1] == 768
        and made.queries.shape == (2, 2, 768, 8)
    )
    np.testing.assert_array_equal(seen.small, reduce_pictures(seen.given[None], 8)[0])
    assert seen.read is None and seen.surprise is None and not seen.unusual
    np.testing.assert_allclose(weights(made, 1).sum(-1), 1, atol=1e-5)

    def missing() -> ColourTransformer:
        raise CheckpointError("no model.json in colour: train it first")

    monkeypatch.setattr(reading, "enlarger", missing)
    error, fine = explain([RAISED, SHORT])
    assert (
        isinstance(error, InputError)
        and error.code == "not_shipped"
        and isinstance(fine, Explanation)
    )


@page
def test_less_memory_is_seen_in_the_blocks() -> None:
    assert [
        len(made.memory) for made in one(dataclasses.replace(SHORT, memory_rows=0, flange=0)).made
    ] == [0, 0]
    assert len(one(dataclasses.replace(SHORT, memory_rows=2)).made[0].memory) < len(
        one(SHORT).made[0].memory
    )


@page
def test_a_turn_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that every block of positions moves on by 10 ms."""
    now = iter(0.01 * i for i in range(1_000_000))
    monkeypatch.setattr("models.explaining.batching.time.perf_counter", lambda: next(now))
    steps = [
        entry[0].levels.shape[-1]
        for (entry,) in generate([Request()])
        if isinstance(entry, list) and entry
    ]
    assert max(steps) <= 3 * module.STRIDE and sum(steps) == 784


# ---- requests and shipped pictures


@pytest.mark.parametrize("shape", [(28, 28), (16, 16, 3), (3, 5)])
def test_a_spelled_picture_is_read_as_it_was(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8)
    text = spelled(picture)
    assert text.replace("-", "a").replace("_", "a").isalnum() and text.isascii()
    np.testing.assert_array_equal(read_picture(text, shape), picture)


def test_pictures_are_mixed_so_that_each_kind_comes_as_often() -> None:
    held = load_shipped_pictures("image_transformer")
    assert (
        np.bincount(held["grey_kinds"], minlength=KINDS).min() >= 2
        and len(set(held["colour_kinds"].tolist())) == 8
    )
    assert (
        mix_kinds(np.array([1, 1, 0, 1, 0, 2]), 3),
        mix_kinds(np.array([1, 1, 0, 1, 0]), 4),
    ) == ([0, 2, 5], [0, 2, 1, 4])
    with pytest.raises(ValueError, match="5 mixed pictures"):
        mix_kinds(np.array([1, 1, 0, 1, 1]), 5)
