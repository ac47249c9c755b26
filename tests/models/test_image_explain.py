"""What a page gets of the picture models: pictures with their layout, surprise and weights, or one sentence that says why not."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest
import torch

from models.checkpoint import CheckpointError
from models.errors import InputError
from models.image_transformer import explain as module
from models.image_transformer import reading
from models.image_transformer.colour import ColourTransformer
from models.image_transformer.colour import Config as ColourConfig
from models.image_transformer.data import reduced
from models.image_transformer.explain import explain, generate, measure
from models.image_transformer.model import Config, ImageTransformer
from models.image_transformer.pixelcnn import Config as PixelConfig
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.pretrained import Together
from models.image_transformer.records import MODELS, PATTERNS, Again, Bits, Explanation, Request, spelled
from models.image_transformer.weights import weights
from tests.models.networks import answer

SMALL = {"d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 2}
KEPT = Request(mode="complete", picture="test:1", keep=14, kind=10, count=2)
SHORT = Request(mode="complete", picture="test:1", keep=21, kind=10, seed=3)  # of which little is to be made
RAISED = Request(mode="enlarge", picture="test:0", count=2)


def still(model: torch.nn.Module) -> None:
    """A network that has learned nothing, but whose every part matters."""
    model.eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.normal_(std=0.3)


@pytest.fixture(scope="module")
def networks() -> tuple[Together, ColourTransformer]:
    torch.manual_seed(6)
    rows, tiles = ImageTransformer(Config(**SMALL)), ImageTransformer(Config(pattern="local_2d", query=(7, 7), memory=(7, 7), **SMALL))
    pixelcnn = PixelCNN(PixelConfig(features=8, readout=12, n_layers=2))
    colour = ColourTransformer(ColourConfig(d_model=16, d_ff=24, n_heads=2, n_decoder=2))
    for model in (rows, tiles, pixelcnn, colour):
        still(model)
    return Together((rows, tiles), pixelcnn, 7.5), colour


@pytest.fixture(autouse=True)
def shipped(networks: tuple[Together, ColourTransformer], monkeypatch: pytest.MonkeyPatch) -> Together:
    """Small networks and random pictures in the place of the shipped ones."""
    draw = np.random.default_rng(1)
    grey, colour = (draw.integers(0, 256, shape).astype(np.uint8) for shape in ((3, 28, 28), (2, 16, 16, 3)))
    held = {"grey": grey, "colour": colour}
    for each in (module, reading):
        monkeypatch.setattr(each, "together", lambda: networks[0])
        monkeypatch.setattr(each, "enlarger", lambda: networks[1])
    monkeypatch.setattr(reading, "shipped", lambda _slug: held)
    return networks[0]


one = partial(answer, explain, Explanation)


def again(seen: Explanation, request: Request) -> Bits:
    """What the first pictures of a run cost under what a request changes."""
    small = b"" if seen.small is None else seen.small.tobytes()
    (found,) = measure([Again(request, tuple(made.pictures[0].tobytes() for made in seen.made), small)])
    assert isinstance(found, Bits)
    return found


def test_a_made_picture_comes_with_its_order_its_blocks_and_its_surprise(shipped: Together) -> None:
    seen = one(Request(kind=3, count=2))
    assert tuple(made.pattern for made in seen.made) == PATTERNS
    for made, model in zip(seen.made, shipped.patterns, strict=True):
        assert made.pictures.shape == made.bits.shape == (2, 28, 28)
        assert (made.pictures.dtype, made.bits.dtype) == (np.uint8, np.float32)
        assert made.order.tolist() == [row * 28 + column for row, column in model.layout.order]
        assert made.starts.tolist() == [*(block.start for block in model.layout.blocks), 784]
        for block, part in zip(model.layout.blocks, np.split(made.memory, made.ends[:-1]), strict=True):
            assert part.tolist() == list(block.memory)
        assert made.ends[-1] == len(made.memory)
        assert made.queries.shape == made.keys.shape == (2, 2, 784, 8)
        assert made.queries.dtype == np.float16
    assert seen.given is None and seen.small is None
    assert seen.read is not None and seen.surprise is not None
    np.testing.assert_array_equal(seen.read, seen.made[1].pictures[0])
    assert seen.surprise.shape == (len(MODELS), 28, 28)
    np.testing.assert_allclose(seen.surprise[1], seen.made[1].bits[0], atol=2e-3)


def test_what_is_unlike_the_training_pictures_is_said_to_be(shipped: Together, monkeypatch: pytest.MonkeyPatch) -> None:
    mean = float(np.mean(one(SHORT).surprise[1]))
    for above, unusual in ((mean - 0.01, True), (mean + 0.01, False), (None, False)):
        monkeypatch.setattr(module, "together", lambda above=above: dataclasses.replace(shipped, surprising_above=above))
        assert one(SHORT).unusual is unusual
        assert not one(dataclasses.replace(SHORT, flange=0)).unusual, "a changed model finds everything unlike"


def test_the_kept_rows_stay_and_each_continuation_is_another() -> None:
    seen = one(KEPT)
    assert seen.given is not None
    np.testing.assert_array_equal(seen.read, seen.given)
    for made in seen.made:
        for picture in made.pictures:
            np.testing.assert_array_equal(picture[:14], seen.given[:14])
        assert (made.pictures[0, 14:] != made.pictures[1, 14:]).any()
        assert (made.pictures[0, 14:] != seen.given[14:]).any()


def test_a_picture_may_travel_in_the_request() -> None:
    picture = np.random.default_rng(2).integers(0, 256, (28, 28)).astype(np.uint8)
    np.testing.assert_array_equal(one(dataclasses.replace(KEPT, picture=spelled(picture))).given, picture)


def test_the_surprise_is_that_of_the_models_as_they_were_changed() -> None:
    plain, changed = one(KEPT), one(dataclasses.replace(KEPT, silenced=(("local_2d", 0, 0),), flange=2))
    assert [abs(before - after).max() > 0.01 for before, after in zip(plain.surprise, changed.surprise, strict=True)] == [
        False,
        True,
        False,
    ]
    np.testing.assert_allclose(again(plain, dataclasses.replace(KEPT, flange=2)).bits[0], plain.made[0].bits[0], atol=2e-3)
    made = one(Request(silenced=(("local_2d", 0, 0),)))
    np.testing.assert_allclose(made.surprise[1], made.made[1].bits[0], atol=2e-3)


def test_a_small_picture_is_raised_channel_by_channel() -> None:
    seen = one(RAISED)
    (made,) = seen.made
    assert made.pattern == "colour"
    assert made.pictures.shape == made.bits.shape == (2, 16, 16, 3)
    assert made.order.tolist() == [i // 3 for i in range(768)] and made.starts[-1] == 768
    assert seen.given is not None and seen.small is not None
    np.testing.assert_array_equal(seen.small, reduced(seen.given[None], 8)[0])
    assert seen.read is None and seen.surprise is None and not seen.unusual
    assert made.queries.shape == (2, 2, 768, 8)
    np.testing.assert_allclose(weights(made, 1).sum(-1), 1, atol=1e-5)


def test_a_kept_part_comes_at_once() -> None:
    first = next(entry for (entry,) in generate([KEPT]) if entry)
    assert isinstance(first, list)
    assert first[0].first == 0 and first[0].levels.shape[-1] >= 14 * 28


def test_nothing_changed_costs_nothing() -> None:
    for request in (SHORT, RAISED):
        seen = one(request)
        np.testing.assert_allclose(again(seen, request).bits, np.stack([made.bits[0] for made in seen.made]), atol=2e-3)


@pytest.mark.parametrize(
    ("change", "reached"),
    [
        ({"silenced": (("local_1d", 1, 0),)}, 0),
        ({"silenced": (("local_2d", 0, 1),)}, 1),
        ({"memory_rows": 1}, 0),
        ({"flange": 2}, 1),
    ],
)
def test_an_intervention_changes_the_picture_of_its_own_pattern_alone(change: dict[str, object], reached: int) -> None:
    request = dataclasses.replace(SHORT, **change)  # type: ignore[arg-type]
    before, after = one(SHORT), one(request)
    forced = again(before, request).bits
    for i in range(2):
        assert (before.made[i].pictures != after.made[i].pictures).any() == (i == reached)
        assert (abs(forced[i] - before.made[i].bits[0]).max() > 0.01) == (i == reached)
    assert forced.shape == (2, 28, 28) and forced.dtype == np.float32


def test_less_memory_is_seen_in_the_blocks() -> None:
    cut = one(dataclasses.replace(SHORT, memory_rows=0, flange=0))
    assert [len(made.memory) for made in cut.made] == [0, 0]
    assert len(one(dataclasses.replace(SHORT, memory_rows=2)).made[0].memory) < len(one(SHORT).made[0].memory)


def test_an_enlargement_is_read_again_too() -> None:
    seen = one(RAISED)
    forced = again(seen, dataclasses.replace(RAISED, silenced=(("colour", 0, 0),))).bits
    assert forced.shape == (1, 16, 16, 3)
    assert abs(forced - seen.made[0].bits[:1]).max() > 0.001


def test_without_the_model_of_coloured_pictures_nothing_is_enlarged(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> ColourTransformer:
        raise CheckpointError("no model.json in colour: train it first")

    monkeypatch.setattr(reading, "enlarger", missing)
    error, seen = explain([RAISED, Request()])
    assert isinstance(error, InputError) and error.code == "not_shipped"
    assert isinstance(seen, Explanation)


def test_a_turn_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that every block of positions moves on by 10 ms."""
    now = [0.0]

    def clock() -> float:
        now[0] += 0.01
        return now[0]

    monkeypatch.setattr("models.turns.time.perf_counter", clock)
    steps = [entry for (entry,) in generate([Request()]) if isinstance(entry, list) and entry]
    longest = max(step[0].levels.shape[-1] for step in steps)
    assert longest <= 3 * module.STRIDE
    assert sum(step[0].levels.shape[-1] for step in steps) == 784
