"""The models of pictures: no value knows of a later one, in whichever order they are made, and a
bounded cache gives the same numbers."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.decoding.sampling import FREE
from models.explaining.trace import Trace
from models.image_transformer import pixelcnn
from models.image_transformer.colour import LEVELS, ColourTransformer, levels_from
from models.image_transformer.colour import Config as ColourConfig
from models.image_transformer.data import reduce_pictures
from models.image_transformer.decode import Colour, Grey, Wanted, generate, turns, uniforms
from models.image_transformer.model import Config, ImageTransformer, Layout, layout_of

SIZE: dict[str, Any] = {
    "rows": 6,
    "columns": 9,
    "classes": 3,
    "d_model": 16,
    "d_ff": 24,
    "n_heads": 2,
    "n_layers": 2,
}
PIXELS = 54
CONFIGS = {
    "rows": Config(pattern="local_1d", query=(2, 9), memory=(2, 9), **SIZE),
    "odd": Config(pattern="local_1d", query=(1, 7), memory=(1, 11), **SIZE),
    "tiles": Config(pattern="local_2d", query=(2, 4), memory=(2, 3), **SIZE),
}
ROWS, ODD, TILES = CONFIGS.values()
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
either_way = pytest.mark.usefixtures("way")


def network(config: Config) -> ImageTransformer:
    """A small network whose every part matters: sizes far from those at the start of training."""
    torch.manual_seed(3)
    model = ImageTransformer(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.normal_(std=0.4)
    return model


def pictures(count: int = 1, *shape: int) -> Tensor:
    return torch.randint(
        LEVELS, (count, *(shape or (6, 9))), generator=torch.Generator().manual_seed(1)
    )


def influence(model: nn.Module, embedding: nn.Module, *given: Tensor) -> list[Tensor]:
    """(place of the logits, row of the embedding) bool for each use of an embedding: where the
    Jacobian of the logits is not 0.

    Logits in raster order; the rows of the embedding in the order in which the model takes levels.
    """
    kept: list[Tensor] = []
    hook = embedding.register_forward_hook(
        lambda module, given, made: kept.append(made.requires_grad_()) or made
    )
    logits = model(*given).flatten(0, -2)
    hook.remove()
    outside = torch.randn(LEVELS)
    found = [torch.autograd.grad(row @ outside, kept, retain_graph=True) for row in logits]
    return [torch.stack([one[i].flatten(0, -2).any(-1) for one in found]) for i in range(len(kept))]


# ---- the networks


@every_config
def test_each_pixel_depends_on_earlier_ones(config: Config) -> None:
    model = network(config)
    layout = model.layout
    (found,) = influence(model, model.embedding.level, pictures(), torch.tensor([1]))
    # (position, position): the input is shifted by one, i brings pixel i − 1
    seen = found[layout.pixels]
    direct = torch.zeros_like(seen)
    for block in layout.blocks:
        for query in range(block.start, block.stop):
            direct[query, [*block.memory, *range(block.start, query + 1)]] = True
    reach = torch.eye(PIXELS)
    for _ in range(config.n_layers):
        reach = reach @ direct.float()
    # all those that the blocks of two layers reach
    assert torch.equal(seen, reach > 0) and not seen.triu(1).any()
    assert torch.equal(layout.pixels[layout.places], torch.arange(PIXELS))
    assert torch.equal(layout.order_levels(pictures())[:, layout.places].view(1, 6, 9), pictures())


def test_the_pixelcnn_sees_every_earlier_pixel_and_no_later_one() -> None:
    torch.manual_seed(4)
    model = (
        pixelcnn.PixelCNN(pixelcnn.Config(rows=5, columns=7, features=8, readout=12, n_layers=8))
        .eval()
        .requires_grad_(False)
    )
    (seen,) = influence(model, model.level, pictures(1, 5, 7), torch.tensor([1]))
    assert torch.equal(seen, torch.ones(35, 35, dtype=torch.bool).tril(-1))


@every_config
def test_training_predicts_the_whole_picture(
    config: Config,
) -> None:
    model, kind, pixels = network(config), torch.tensor([0, 1, 2]), network(config).layout.pixels
    plain, trace = model(pictures(3), kind), Trace("*/self/queries", "*/self/keys")
    logits, levels = model.predictions(pictures(3), kind)
    assert torch.equal(levels, pictures(3).flatten(1)[:, pixels])
    torch.testing.assert_close(logits, plain.flatten(1, 2)[:, pixels])
    assert torch.equal(model(pictures(3), kind, trace=trace), plain)
    assert (
        trace.stack("*/self/queries").shape
        == trace.stack("*/self/keys").shape
        == (2, 3, 2, PIXELS, 8)
    )
    zero, one, unknown = (model(pictures(), torch.tensor([told])) for told in (0, 1, model.unknown))
    assert all((a != b).any(-1).all() for a, b in ((zero, one), (one, unknown), (zero, unknown)))
    gains = torch.ones(2, 3, 2)
    gains[0, 1, 1] = 0
    silenced = model(pictures(3), kind, gains=gains)
    torch.testing.assert_close(silenced[::2], plain[::2])
    assert not torch.allclose(silenced[1], plain[1])
    less = config.layout((0, 0))
    assert less.order == model.layout.order
    changed, (row, column) = model(pictures(3), kind, layout=less), less.order[0]
    assert not torch.allclose(changed, plain)
    # the first pixel never had any
    torch.testing.assert_close(changed[0, row, column], plain[0, row, column])


# ---- making pictures


def asked(
    kinds: list[int],
    seeds: list[int],
    *,
    counts: tuple[int, ...] = (),
    heat: float = 1.0,
    top_k: int = LEVELS,
    **more: Any,
) -> Wanted:
    counts, n = counts or (1,) * len(kinds), len(kinds)
    drawn = torch.cat(
        [uniforms(seed, count, PIXELS) for seed, count in zip(seeds, counts, strict=True)]
    )
    return Wanted(torch.tensor(kinds), drawn, counts, (heat,) * n, (top_k,) * n, **more)


def bits_of(model: ImageTransformer, levels: Tensor, kinds: list[int]) -> Tensor:
    """−log₂ p of every pixel, as the network says in one pass."""
    logits = model(levels.long(), torch.tensor(kinds))
    return F.cross_entropy(logits.permute(0, 3, 1, 2), levels.long(), reduction="none") / math.log(
        2
    )


@pytest.mark.parametrize("config", [ROWS, TILES], ids=["rows", "tiles"])
def test_the_cache_ignores_the_height(
    config: Config,
) -> None:
    def slots(rows: int) -> int:
        found = turns(dataclasses.replace(config, rows=rows).layout().blocks)
        return max(len(turn.held) + turn.stop - turn.start for turn in found)

    assert slots(12) == slots(60) <= 5 * config.columns
    blocks = config.layout().blocks
    for number, (turn, block) in enumerate(zip(turns(blocks), blocks, strict=True)):
        assert turn.held[turn.first :] == list(block.memory)
        later = {p for other in blocks[number + 1 :] for p in other.memory if p < block.start}
        assert set(turn.held[: turn.first]) == later - set(block.memory)


@either_way
@every_config
@pytest.mark.parametrize("less", [None, (1, 2), (0, 0)], ids=["trained", "less", "none"])
def test_cached_steps_equal_the_network(config: Config, less: tuple[int, int] | None) -> None:
    model, gains = network(config), torch.ones(2, 3, 2)
    gains[1, 0, 1] = 0
    layout: Layout = model.layout if less is None else config.layout(less)
    expected = model(pictures(3), torch.tensor([0, 2, 3]), layout, gains).flatten(1, 2)
    made, pixels = layout.order_levels(pictures(3)), layout.pixels.tolist()
    before = torch.cat((made.new_full((3, 1), model.start), made[:, :-1]), 1)
    for blocks in (0, 1):
        reader = Grey(model, asked([0, 2, 3], [1, 2, 3], gains=gains, layout=layout), layout)
        begin = reader.cache.turns[blocks].start
        for first, stop in [
            *([(0, begin)] if blocks else ()),
            *((i, i + 1) for i in range(begin, PIXELS)),
        ]:
            torch.testing.assert_close(
                reader.read(before[:, first:stop]),
                expected[:, pixels[first:stop]],
                atol=2e-4,
                rtol=1e-4,
            )


@either_way
@every_config
def test_known_pixels_stay_as_given(
    config: Config,
) -> None:
    model = network(config)
    many, bits = generate(
        model, asked([0, 3], [5, 6], counts=(2, 1), heat=0.7, top_k=40)
    ).pictures()
    torch.testing.assert_close(bits, bits_of(model, many, [0, 0, 3]), atol=1e-3, rtol=1e-4)
    whole, bits = generate(model, asked([0, 1], [3, 4])).pictures()
    known = torch.full((2, 6, 9), FREE)
    known[:, :4] = whole[:, :4].long()
    again, bits_again = generate(model, asked([0, 1], [3, 4], known=known.flatten(1))).pictures()
    assert torch.equal(whole, again)
    torch.testing.assert_close(bits, bits_again, atol=1e-3, rtol=1e-4)
    known[:, :4] = 255 - known[:, :4]
    known[1, 2:4], known[1, 4, 3] = FREE, 7  # requests of a batch may know different pixels
    changed, bits = generate(model, asked([0, 1], [3, 4], known=known.flatten(1))).pictures()
    assert torch.equal(changed[known != FREE].long(), known[known != FREE])
    torch.testing.assert_close(bits, bits_of(model, changed, [0, 1]), atol=1e-3, rtol=1e-4)


def test_both_orders_draw_a_pixel_with_the_same_number() -> None:
    bias = torch.randn(LEVELS, generator=torch.Generator().manual_seed(1))
    for config in (ROWS, TILES):
        model = network(config)
        model.readout.weight.zero_()
        model.readout.bias.copy_(bias)  # every pixel has this distribution, whatever came before
        made, _ = generate(model, asked([0], [4])).pictures()
        expected = torch.searchsorted(
            bias.softmax(-1).cumsum(-1), uniforms(4, 1, PIXELS).view(6, 9), right=True
        )
        assert torch.equal(made[0].long(), expected)


def test_requests_of_a_batch_may_differ_in_temperature_and_top_k() -> None:
    model, drawn = network(ROWS), torch.cat([uniforms(1, 1, PIXELS)] * 3)
    together, _ = generate(
        model, Wanted(torch.zeros(3).long(), drawn, (1, 1, 1), (1.0, 0.3, 1.0), (LEVELS, LEVELS, 1))
    ).pictures()
    for made, (heat, top_k) in zip(together, [(1.0, LEVELS), (0.3, LEVELS), (1.0, 1)], strict=True):
        (alone,), _ = generate(model, asked([0], [1], heat=heat, top_k=top_k)).pictures()
        assert torch.equal(made, alone)


# ---- coloured pictures

SMALL = ColourConfig(
    side=6, small=3, query=1, memory=2, d_model=16, d_ff=24, n_heads=2, n_encoder=1, n_decoder=2
)
LENGTH = 6 * 6 * 3


@pytest.fixture(scope="module")
def colour() -> ColourTransformer:
    torch.manual_seed(4)
    return ColourTransformer(SMALL).eval().requires_grad_(False)


def test_a_level_knows_those_before_it(
    colour: ColourTransformer,
) -> None:
    of_small, of_own = influence(
        colour, colour.embedding.level, pictures(1, 6, 6, 3), pictures(1, 3, 3, 3)
    )
    assert of_small.all()  # all of the small picture is seen from everywhere
    # shifted by one: row i brings the level before i
    assert not of_own.triu(1).any() and of_own.tril().triu(-2).sum() == 3 * LENGTH - 3
    picture, small, trace = (
        pictures(1, 6, 6, 3),
        pictures(1, 3, 3, 3),
        Trace("*/self/queries", "*/cross/weights"),
    )
    torch.testing.assert_close(colour(picture, small, trace=trace), colour(picture, small))
    assert trace.stack("*/self/queries").shape == (2, 1, 2, LENGTH, 8)
    np.testing.assert_allclose(trace.stack("*/cross/weights").sum(-1), 1, rtol=1e-5)


@either_way
@pytest.mark.parametrize(
    "changed", [False, True], ids=["as trained", "less memory and a silenced head"]
)
def test_level_by_level_equals_one_pass(colour: ColourTransformer, changed: bool) -> None:
    small, known, change = pictures(3, 3, 3, 3), torch.full((3, LENGTH), -1), {}
    known[2, :30] = pictures(1, LENGTH)[0, :30]
    if changed:
        change = {"layout": SMALL.layout(1), "gains": torch.ones(2, 3, 2)}
        change["gains"][1, 1, 0] = 0
    drawn = torch.cat([uniforms(i, 1, LENGTH) for i in range(3)])
    wanted = Wanted(small, drawn, (1, 1, 1), (1.0, 0.6, 1.5), (LEVELS, 12, 40), known, **change)
    assert Colour(colour, wanted, SMALL.layout()).cache.capacity == (1 + 2) * 6 * 3 < LENGTH, (
        "however large the picture"
    )
    levels, bits = generate(colour, wanted).part(0, LENGTH)
    assert torch.equal(levels[2, :30].long(), known[2, :30])
    logits = colour(levels.long().view(-1, 6, 6, 3), small, **change).flatten(1, 3)
    expected = -logits.log_softmax(-1).gather(2, levels.long()[:, :, None])[..., 0] / np.log(2)
    torch.testing.assert_close(bits, expected, atol=1e-4, rtol=1e-4)
    assert not changed or not torch.allclose(
        logits, colour(levels.long().view(-1, 6, 6, 3), small).flatten(1, 3)
    )


def test_a_small_picture_lies_in_its_squares(
    colour: ColourTransformer,
) -> None:
    below, of_itself = colour.embedding.below.view(6, 6, 3), torch.arange(27).view(3, 3, 3)
    for row, column, channel in ((0, 0, 0), (1, 0, 2), (3, 5, 1), (5, 5, 2)):
        assert below[row, column, channel] == of_itself[row // 2, column // 2, channel]
    large = np.arange(LENGTH, dtype=np.uint8).reshape(1, 6, 6, 3)
    assert reduce_pictures(large, 3)[0, 1, 2, 0] == np.rint(large[0, 2:4, 4:6, 0].mean())


def test_the_readout_averages_what_remains(
    colour: ColourTransformer,
) -> None:
    large = np.random.default_rng(6).integers(0, 256, (2, 6, 6, 3))
    small = large.reshape(2, 3, 2, 3, 2, 3).mean((2, 4))  # not rounded, so that the sums are right
    means = (
        colour.embedding.means(
            torch.from_numpy(large).flatten(1), torch.from_numpy(small).float().flatten(1)
        )
        .view(2, 6, 6, 3)
        .numpy()
    )
    block = large[:, 2:4, 4:6].reshape(2, 4, 3)
    for row, column, of_block in ((2, 4, 0), (2, 5, 1), (3, 4, 2), (3, 5, 3)):
        np.testing.assert_allclose(means[:, row, column], block[:, of_block:].mean(1), rtol=1e-5)
    # no small pixel is the mean of its block
    noise = colour.embedding.means(pictures(4, LENGTH), pictures(4, 27))
    assert noise.min() == 0 and noise.max() == LEVELS - 1


def test_the_readout_and_its_refusals() -> None:
    levels = levels_from(
        torch.arange(-255.0, 256.0).expand(3, -1), torch.tensor([0.0, 254.6, 100.4])
    )
    for row, mean in zip(levels, (0, 255, 100), strict=True):
        torch.testing.assert_close(row, torch.arange(LEVELS) - float(mean))
    with pytest.raises(ValueError, match="7 pixels cannot be raised from 3"):
        ColourTransformer(ColourConfig(side=7, small=3))
    with pytest.raises(ValueError, match="not local_3d"):
        layout_of("local_3d", 4, 4, (2, 2), (2, 2))
