"""Coloured pictures: an encoder that sees all, a decoder that sees no later level, and a cache that gives the same numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor

from models.image_transformer.colour import LEVELS, ColourTransformer, Config, levels_from
from models.image_transformer.data import reduced
from models.image_transformer.decode import Colour, Wanted, generate, uniforms
from models.trace import Trace

SMALL = Config(side=6, small=3, query=1, memory=2, d_model=16, d_ff=24, n_heads=2, n_encoder=1, n_decoder=2)
LENGTH = 6 * 6 * 3


@pytest.fixture(scope="module")
def model() -> ColourTransformer:
    torch.manual_seed(4)
    return ColourTransformer(SMALL).eval().requires_grad_(False)


def pictures(count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(LEVELS, (count, side, side, 3), generator=generator) for side in (6, 3))  # type: ignore[return-value]


def raised(model: ColourTransformer, small: Tensor, **more: object) -> tuple[Tensor, Tensor]:
    """Levels and bits, each (row, position)."""
    count = len(small)
    wanted = Wanted(small, torch.cat([uniforms(i, 1, LENGTH) for i in range(count)]), (1,) * count, (1.0,) * count, (LEVELS,) * count)
    levels, bits = generate(model, dataclasses.replace(wanted, **more)).part(0, LENGTH)  # type: ignore[arg-type]
    return levels.long(), bits


def bits_of(model: ColourTransformer, levels: Tensor, small: Tensor, **more: object) -> Tensor:
    """−log₂ p by one pass over the finished picture, (row, position)."""
    logits = model(levels.view(-1, 6, 6, 3), small, **more).flatten(1, 3)
    return -logits.log_softmax(-1).gather(2, levels[:, :, None])[..., 0] / np.log(2)


def test_a_level_knows_those_before_it_channels_inside_pixels_and_no_later_one(model: ColourTransformer) -> None:
    picture, small = pictures(1)
    kept: list[Tensor] = []
    hook = model.embedding.level.register_forward_hook(lambda module, given, made: kept.append(made.requires_grad_()) or made)
    logits = model(picture, small).flatten(0, 3)
    hook.remove()
    outside = torch.randn(LEVELS)
    source, own = kept
    for position, row in enumerate(logits):
        of_small, of_own = torch.autograd.grad(row @ outside, (source, own), retain_graph=True)
        seen = of_own[0].any(-1)
        assert not seen[position + 1 :].any()  # shifted by one: row i brings the level before i
        assert seen[max(0, position - 2) : position + 1].all()
        assert of_small[0].any(-1).all()  # all of the small picture is seen from everywhere


@pytest.mark.usefixtures("way")
def test_making_a_picture_level_by_level_gives_the_numbers_of_one_pass(model: ColourTransformer) -> None:
    _, small = pictures(3)
    levels, bits = raised(model, small, temperatures=(1.0, 0.6, 1.5), top_k=(LEVELS, 12, 40))
    torch.testing.assert_close(bits, bits_of(model, levels, small), atol=1e-4, rtol=1e-4)


@pytest.mark.usefixtures("way")
def test_so_it_does_with_less_memory_and_silenced_heads(model: ColourTransformer) -> None:
    _, small = pictures(2)
    layout, gains = SMALL.layout(1), torch.ones(2, 2, 2)
    gains[1, 1, 0] = 0
    levels, bits = raised(model, small, layout=layout, gains=gains)
    torch.testing.assert_close(bits, bits_of(model, levels, small, layout=layout, gains=gains), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(bits, bits_of(model, levels, small))


def test_the_cache_holds_a_block_and_its_memory_however_large_the_picture(model: ColourTransformer) -> None:
    _, small = pictures(1)
    wanted = Wanted(small, uniforms(1, 1, LENGTH), (1,), (1.0,), (LEVELS,))
    assert Colour(model, wanted, SMALL.layout()).cache.room == (1 + 2) * 6 * 3 < LENGTH


def test_levels_that_are_given_stay(model: ColourTransformer) -> None:
    picture, small = pictures(1)
    known = torch.full((1, LENGTH), -1)
    known[0, :30] = picture.flatten()[:30]
    levels, bits = raised(model, small, known=known)
    assert torch.equal(levels[0, :30], picture.flatten()[:30])
    torch.testing.assert_close(bits, bits_of(model, levels, small), atol=1e-4, rtol=1e-4)


def test_watching_changes_nothing(model: ColourTransformer) -> None:
    picture, small = pictures(1)
    trace = Trace("*/self/queries", "*/cross/weights")
    torch.testing.assert_close(model(picture, small, trace=trace), model(picture, small))
    assert trace.stack("*/self/queries").shape == (2, 1, 2, LENGTH, 8)
    np.testing.assert_allclose(trace.stack("*/cross/weights").sum(-1), 1, rtol=1e-5)


def test_a_small_picture_stands_where_the_large_one_has_its_squares(model: ColourTransformer) -> None:
    below = model.embedding.below.view(6, 6, 3)
    of_itself = torch.arange(27).view(3, 3, 3)
    for row, column, channel in ((0, 0, 0), (1, 0, 2), (3, 5, 1), (5, 5, 2)):
        assert below[row, column, channel] == of_itself[row // 2, column // 2, channel]
    large = np.arange(LENGTH, dtype=np.uint8).reshape(1, 6, 6, 3)
    assert reduced(large, 3)[0, 1, 2, 0] == np.rint(large[0, 2:4, 4:6, 0].mean())


def test_what_remains_of_a_small_pixel_is_the_mean_of_the_values_still_to_come(model: ColourTransformer) -> None:
    generator = np.random.default_rng(6)
    large = generator.integers(0, 256, (2, 6, 6, 3))
    small = large.reshape(2, 3, 2, 3, 2, 3).mean((2, 4))  # not rounded, so that the sums are right
    means = model.embedding.means(torch.from_numpy(large).flatten(1), torch.from_numpy(small).float().flatten(1)).view(2, 6, 6, 3).numpy()
    for row, column, of_block in ((2, 4, 0), (2, 5, 1), (3, 4, 2), (3, 5, 3)):
        block = large[:, 2:4, 4:6].reshape(2, 4, 3)
        np.testing.assert_allclose(means[:, row, column], block[:, of_block:].mean(1), rtol=1e-5)


def test_what_remains_stays_within_the_levels_whatever_was_made(model: ColourTransformer) -> None:
    picture, small = pictures(4)  # of noise: no small pixel is the mean of its block
    means = model.embedding.means(picture.flatten(1), small.flatten(1))
    assert means.min() == 0 and means.max() == LEVELS - 1


def test_the_readout_speaks_of_the_distance_from_what_remains() -> None:
    distances = torch.arange(-255.0, 256.0).expand(3, -1)
    levels = levels_from(distances, torch.tensor([0.0, 254.6, 100.4]))
    for row, mean in zip(levels, (0, 255, 100), strict=True):
        torch.testing.assert_close(row, torch.arange(LEVELS) - float(mean))


def test_sides_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ValueError, match="7 pixels cannot be raised from 3"):
        ColourTransformer(Config(side=7, small=3))
