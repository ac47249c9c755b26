"""Making pictures with a bounded cache gives what the network itself says, and each request draws for itself."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from models.image_transformer.decode import Grey, Wanted, generate, turns, uniforms
from models.image_transformer.model import LEVELS, Config, ImageTransformer, Layout
from models.sampling import FREE

SIZE = {"rows": 6, "columns": 9, "classes": 3, "d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 2}
PIXELS = 54
ROWS = Config(pattern="local_1d", query=(2, 9), memory=(2, 9), **SIZE)
ODD = Config(pattern="local_1d", query=(1, 7), memory=(1, 11), **SIZE)
TILES = Config(pattern="local_2d", query=(2, 4), memory=(2, 3), **SIZE)
configs = pytest.mark.parametrize("config", [ROWS, ODD, TILES], ids=["rows", "odd", "tiles"])


def network(config: Config) -> ImageTransformer:
    """A small network whose every part matters: sizes far from those at the start of training."""
    torch.manual_seed(3)
    model = ImageTransformer(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.normal_(std=0.4)
    return model


def asked(
    kinds: list[int],
    seeds: list[int],
    *,
    counts: list[int] | None = None,
    temperature: float = 1.0,
    top_k: int = LEVELS,
    known: Tensor | None = None,
    gains: Tensor | None = None,
    layout: Layout | None = None,
) -> Wanted:
    counts = counts or [1] * len(kinds)
    drawn = torch.cat([uniforms(seed, count, PIXELS) for seed, count in zip(seeds, counts, strict=True)])
    heat, k = (temperature,) * len(kinds), (top_k,) * len(kinds)
    return Wanted(torch.tensor(kinds), drawn, tuple(counts), heat, k, known, gains, layout)


def bits_of(
    model: ImageTransformer, pictures: Tensor, kinds: list[int], layout: Layout | None = None, gains: Tensor | None = None
) -> Tensor:
    """−log₂ p of every pixel, as the network says in one pass."""
    levels = pictures.long()
    logits = model(levels, torch.tensor(kinds), layout, gains)
    return F.cross_entropy(logits.flatten(0, -2), levels.flatten(), reduction="none").view(levels.shape) / math.log(2)


@pytest.mark.parametrize("config", [ROWS, TILES], ids=["rows", "tiles"])
def test_the_cache_is_no_larger_for_a_taller_picture(config: Config) -> None:
    def slots(rows: int) -> int:
        layout = Config(**{**vars(config), "rows": rows}).layout()
        return max(len(turn.held) + turn.stop - turn.start for turn in turns(layout.blocks))

    assert slots(12) == slots(60)
    assert slots(60) <= 5 * config.columns


def test_a_turn_holds_all_that_its_block_sees_and_gives_away_what_nobody_will(config: Config = TILES) -> None:
    layout = config.layout()
    for number, (turn, block) in enumerate(zip(turns(layout.blocks), layout.blocks, strict=True)):
        assert turn.held[turn.first :] == list(block.memory)
        later = {p for other in layout.blocks[number + 1 :] for p in other.memory}
        assert set(turn.held[: turn.first]) == {p for p in later if p < block.start} - set(block.memory)


@pytest.mark.usefixtures("way")
@configs
def test_the_likelihood_of_a_made_picture_is_what_making_it_reported(config: Config) -> None:
    model = network(config)
    pictures, bits = generate(model, asked([0, 3], [5, 6], counts=[2, 1], temperature=0.7, top_k=40)).pictures()
    assert pictures.shape == (3, 6, 9)
    torch.testing.assert_close(bits, bits_of(model, pictures, [0, 0, 3]), atol=1e-3, rtol=1e-4)


def test_both_orders_draw_a_pixel_with_the_same_number() -> None:
    bias = torch.randn(LEVELS, generator=torch.Generator().manual_seed(1))
    for config in (ROWS, TILES):
        model = network(config)
        model.readout.weight.zero_()
        model.readout.bias.copy_(bias)  # every pixel has this distribution, whatever came before
        pictures, _ = generate(model, asked([0], [4])).pictures()
        expected = torch.searchsorted(bias.softmax(-1).cumsum(-1), uniforms(4, 1, PIXELS).view(6, 9), right=True)
        assert torch.equal(pictures[0].long(), expected)


@configs
def test_known_pixels_stay_and_the_rest_is_drawn_as_if_they_had_been(config: Config) -> None:
    model = network(config)
    whole, bits = generate(model, asked([0, 1], [3, 4])).pictures()
    known = torch.full((2, 6, 9), FREE)
    known[:, :4] = whole[:, :4].long()
    again, bits_again = generate(model, asked([0, 1], [3, 4], known=known.flatten(1))).pictures()
    assert torch.equal(whole, again)
    torch.testing.assert_close(bits, bits_again, atol=1e-3, rtol=1e-4)
    other = 255 - known
    other[known == FREE] = FREE
    changed, changed_bits = generate(model, asked([0, 1], [3, 4], known=other.flatten(1))).pictures()
    assert torch.equal(changed[:, :4].long(), other[:, :4])
    torch.testing.assert_close(changed_bits, bits_of(model, changed, [0, 1]), atol=1e-3, rtol=1e-4)


def test_requests_of_a_batch_may_know_different_pixels() -> None:
    model = network(ROWS)
    known = torch.full((2, 6, 9), FREE)
    known[0, :2] = 100
    known[1, :2] = 50
    known[1, 4, 3] = 7
    pictures, bits = generate(model, asked([0, 1], [3, 4], known=known.flatten(1))).pictures()
    assert bool((pictures[0, :2] == 100).all()) and bool((pictures[1, :2] == 50).all()) and pictures[1, 4, 3] == 7
    torch.testing.assert_close(bits, bits_of(model, pictures, [0, 1]), atol=1e-3, rtol=1e-4)


def test_requests_of_a_batch_may_differ_in_temperature_and_top_k() -> None:
    model = network(ROWS)
    drawn = torch.cat([uniforms(1, 1, PIXELS)] * 3)
    together = Wanted(torch.tensor([0, 0, 0]), drawn, (1, 1, 1), (1.0, 0.3, 1.0), (LEVELS, LEVELS, 1))
    pictures, _ = generate(model, together).pictures()
    for i, (temperature, top_k) in enumerate([(1.0, LEVELS), (0.3, LEVELS), (1.0, 1)]):
        (alone,), _ = generate(model, asked([0], [1], temperature=temperature, top_k=top_k)).pictures()
        assert torch.equal(pictures[i], alone)


@pytest.mark.usefixtures("way")
def test_a_silenced_head_changes_its_own_request_alone() -> None:
    model = network(TILES)
    gains = torch.ones(2, 2, 2)
    gains[0, 1, 1] = 0
    plain, _ = generate(model, asked([0, 0], [1, 1])).pictures()
    changed, bits = generate(model, asked([0, 0], [1, 1], gains=gains)).pictures()
    assert torch.equal(plain[0], changed[0])
    assert not torch.equal(plain[1], changed[1])
    torch.testing.assert_close(bits, bits_of(model, changed, [0, 0], None, gains), atol=1e-3, rtol=1e-4)


@pytest.mark.usefixtures("way")
@configs
@pytest.mark.parametrize("less", [None, (1, 2), (0, 0)], ids=["trained", "less", "none"])
def test_cached_steps_equal_the_network_whether_the_first_blocks_were_read_at_once_or_not(
    config: Config, less: tuple[int, int] | None
) -> None:
    model = network(config)
    layout = None if less is None else config.layout(less)
    gains = torch.ones(2, 3, 2)
    gains[1, 0, 1] = 0
    picture = torch.randint(LEVELS, (3, 6, 9), generator=torch.Generator().manual_seed(1))
    expected = model(picture, torch.tensor([0, 2, 3]), layout, gains).flatten(1, 2)
    for blocks in (0, 1):
        wanted = asked([0, 2, 3], [1, 2, 3], gains=gains, layout=layout)
        reader = Grey(model, wanted, layout or model.layout)
        made = (layout or model.layout).made(picture)
        pixels = (layout or model.layout).pixels.tolist()
        before = torch.cat((made.new_full((3, 1), model.start), made[:, :-1]), 1)
        begin = reader.cache.turns[blocks].start
        for first, stop in [*([(0, begin)] if blocks else ()), *((i, i + 1) for i in range(begin, PIXELS))]:
            torch.testing.assert_close(reader.read(before[:, first:stop]), expected[:, pixels[first:stop]], atol=2e-4, rtol=1e-4)
