"""Making pictures with a bounded cache gives what the network itself says, and each request draws for itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from models.image_transformer.decode import FREE, Cache, Generation, Wanted, generate, turns, uniforms
from models.image_transformer.model import LEVELS, Config, ImageTransformer, Layout
from models.image_transformer.weights import weights
from models.layers.local import weights_of
from models.trace import Trace

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


def of(generation: Generation) -> tuple[Tensor, Tensor]:
    return generation.pictures()


@configs
@pytest.mark.parametrize("less", [None, (1, 2), (0, 0)], ids=["trained", "less", "none"])
def test_cached_steps_equal_the_network(config: Config, less: tuple[int, int] | None) -> None:
    model = network(config)
    layout = None if less is None else config.layout(less)
    gains = torch.ones(2, 3, 2)
    gains[1, 0, 1] = 0
    kinds = [0, 2, 3]
    picture = torch.randint(LEVELS, (3, 6, 9), generator=torch.Generator().manual_seed(1))
    expected = model(picture, torch.tensor(kinds), layout, gains).flatten(1, 2)
    cache = Cache(model, asked(kinds, [1, 2, 3], gains=gains, layout=layout))
    pixels = cache.layout.pixels.tolist()
    made = cache.layout.made(picture)
    out = torch.empty(3, LEVELS)
    before = torch.full((3,), LEVELS)
    for position, pixel in enumerate(pixels):
        cache.step(before, out)
        torch.testing.assert_close(out, expected[:, pixel], atol=2e-4, rtol=1e-4)
        before = made[:, position]


@pytest.mark.parametrize("config", [ROWS, TILES], ids=["rows", "tiles"])
def test_the_cache_is_no_larger_for_a_taller_picture(config: Config) -> None:
    def slots(rows: int) -> int:
        layout = Config(**{**vars(config), "rows": rows}).layout()
        return max(len(turn.held) + turn.stop - turn.start for turn in turns(layout))

    assert slots(12) == slots(60)
    assert slots(60) <= 5 * config.columns


def test_a_turn_holds_all_that_its_block_sees_and_gives_away_what_nobody_will(config: Config = TILES) -> None:
    layout = config.layout()
    for number, (turn, block) in enumerate(zip(turns(layout), layout.blocks, strict=True)):
        assert turn.held[turn.first :].tolist() == list(block.memory)
        later = {p for other in layout.blocks[number + 1 :] for p in other.memory}
        assert set(turn.held[: turn.first].tolist()) == {p for p in later if p < block.start} - set(block.memory)


@configs
def test_the_likelihood_of_a_made_picture_is_what_making_it_reported(config: Config) -> None:
    model = network(config)
    pictures, bits = of(generate(model, asked([0, 3], [5, 6], counts=[2, 1], temperature=0.7, top_k=40)))
    assert pictures.shape == (3, 6, 9)
    torch.testing.assert_close(bits, bits_of(model, pictures, [0, 0, 3]), atol=1e-3, rtol=1e-4)


@configs
def test_the_same_seed_makes_the_same_picture_whatever_the_company(config: Config) -> None:
    model = network(config)
    alone, _ = of(generate(model, asked([1], [8])))
    among, _ = of(generate(model, asked([0, 1, 2], [7, 8, 8], counts=[2, 3, 1])))
    assert torch.equal(alone[0], among[2])
    assert not torch.equal(among[2], among[3])  # a request's second picture is another one
    other, _ = of(generate(model, asked([1], [9])))
    assert not torch.equal(alone, other)


def test_both_orders_draw_a_pixel_with_the_same_number() -> None:
    bias = torch.randn(LEVELS, generator=torch.Generator().manual_seed(1))
    for config in (ROWS, TILES):
        model = network(config)
        model.readout.weight.zero_()
        model.readout.bias.copy_(bias)  # every pixel has this distribution, whatever came before
        pictures, _ = of(generate(model, asked([0], [4])))
        expected = torch.searchsorted(bias.softmax(-1).cumsum(-1), uniforms(4, 1, PIXELS).view(6, 9), right=True)
        assert torch.equal(pictures[0].long(), expected)


@configs
def test_known_pixels_stay_and_the_rest_is_drawn_as_if_they_had_been(config: Config) -> None:
    model = network(config)
    whole, bits = of(generate(model, asked([0, 1], [3, 4])))
    known = torch.full((2, 6, 9), FREE)
    known[:, :4] = whole[:, :4].long()
    assert Cache(model, asked([0, 1], [3, 4])).blocks_within(36) > 0
    again, bits_again = of(generate(model, asked([0, 1], [3, 4], known=known.flatten(1))))
    assert torch.equal(whole, again)
    torch.testing.assert_close(bits, bits_again, atol=1e-3, rtol=1e-4)
    other = 255 - known
    other[known == FREE] = FREE
    changed, changed_bits = of(generate(model, asked([0, 1], [3, 4], known=other.flatten(1))))
    assert torch.equal(changed[:, :4].long(), other[:, :4])
    torch.testing.assert_close(changed_bits, bits_of(model, changed, [0, 1]), atol=1e-3, rtol=1e-4)


@configs
def test_reading_the_known_part_at_once_equals_reading_it_step_by_step(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network(config)
    known = torch.full((3, 6, 9), FREE)
    known[:, :4] = torch.randint(LEVELS, (3, 4, 9), generator=torch.Generator().manual_seed(2))
    gains = torch.ones(2, 3, 2)
    gains[0, 1, 0] = 0
    wanted = asked([0, 1, 2], [3, 4, 5], counts=[1, 3, 2], known=known.flatten(1), gains=gains)
    at_once = generate(model, wanted)
    monkeypatch.setattr(Cache, "blocks_within", lambda self, positions: 0)
    stepwise = generate(model, wanted)
    for one, other in zip(of(at_once), of(stepwise), strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-4)
    torch.testing.assert_close(at_once.queries.float(), stepwise.queries.float(), atol=0.02, rtol=2e-3)
    torch.testing.assert_close(at_once.keys.float(), stepwise.keys.float(), atol=0.02, rtol=2e-3)


def test_requests_of_a_batch_may_know_different_pixels() -> None:
    model = network(ROWS)
    known = torch.full((2, 6, 9), FREE)
    known[0, :2] = 100
    known[1, :2] = 50
    known[1, 4, 3] = 7
    pictures, bits = of(generate(model, asked([0, 1], [3, 4], known=known.flatten(1))))
    assert bool((pictures[0, :2] == 100).all()) and bool((pictures[1, :2] == 50).all()) and pictures[1, 4, 3] == 7
    torch.testing.assert_close(bits, bits_of(model, pictures, [0, 1]), atol=1e-3, rtol=1e-4)


def test_the_likeliest_level_alone_needs_no_luck() -> None:
    model = network(ROWS)
    one, _ = of(generate(model, asked([0], [1], top_k=1)))
    other, _ = of(generate(model, asked([0], [2], top_k=1)))
    assert torch.equal(one, other)
    best = model(one.long(), torch.tensor([0])).argmax(-1)
    assert torch.equal(best, one.long())


def test_requests_of_a_batch_may_differ_in_temperature_and_top_k() -> None:
    model = network(ROWS)
    drawn = torch.cat([uniforms(1, 1, PIXELS)] * 3)
    together = Wanted(torch.tensor([0, 0, 0]), drawn, (1, 1, 1), (1.0, 0.3, 1.0), (LEVELS, LEVELS, 1))
    pictures, _ = of(generate(model, together))
    for i, (temperature, top_k) in enumerate([(1.0, LEVELS), (0.3, LEVELS), (1.0, 1)]):
        (alone,), _ = of(generate(model, asked([0], [1], temperature=temperature, top_k=top_k)))
        assert torch.equal(pictures[i], alone)


def test_a_level_without_probability_is_never_drawn() -> None:
    model = network(ROWS)
    wanted = asked([0, 0], [1, 2], top_k=2)
    wanted.uniforms[0], wanted.uniforms[1] = 0.0, float(np.nextafter(np.float32(1), np.float32(0)))
    pictures, _ = of(generate(model, wanted))
    likeliest = model(pictures.long(), torch.tensor([0, 0])).topk(2, dim=-1).indices
    assert bool((likeliest == pictures[..., None]).any(-1).all())


def test_a_silenced_head_changes_its_own_request_alone() -> None:
    model = network(TILES)
    gains = torch.ones(2, 2, 2)
    gains[0, 1, 1] = 0
    plain, _ = of(generate(model, asked([0, 0], [1, 1])))
    changed, bits = of(generate(model, asked([0, 0], [1, 1], gains=gains)))
    assert torch.equal(plain[0], changed[0])
    assert not torch.equal(plain[1], changed[1])
    torch.testing.assert_close(bits, bits_of(model, changed, [0, 0], None, gains), atol=1e-3, rtol=1e-4)


@configs
def test_queries_and_keys_of_first_pictures_are_those_of_the_network(config: Config) -> None:
    model = network(config)
    generation = generate(model, asked([0, 1], [1, 2], counts=[2, 2]))
    pictures, _ = of(generation)
    trace = Trace("*/self/queries", "*/self/keys")
    model(pictures[[0, 2]].long(), torch.tensor([0, 1]), trace=trace)
    for name, found in (("queries", generation.queries), ("keys", generation.keys)):
        np.testing.assert_allclose(found.float().numpy(), trace.stack(f"*/self/{name}"), atol=0.02, rtol=2e-3)


def test_advancing_in_small_steps_changes_nothing() -> None:
    model = network(TILES)
    whole = of(generate(model, asked([0], [1])))
    generation = Generation(model, asked([0], [1]))
    seen = 0
    while not generation.done:
        generation.advance(5)
        assert generation.position == min(seen + 5, PIXELS)
        seen = generation.position
    for one, other in zip(of(generation), whole, strict=True):
        torch.testing.assert_close(one, other)


@configs
def test_weights_made_from_queries_and_keys_are_those_of_the_network(config: Config) -> None:
    from models.image_transformer.explain import _made  # what pages get of a generation

    model = network(config)
    generation = generate(model, asked([0], [1]))
    pictures, bits = of(generation)
    made = _made(config.pattern, generation, 0, pictures.numpy(), bits.numpy())
    trace = Trace("1/self/queries", "1/self/keys")
    model(pictures.long(), torch.tensor([0]), trace=trace)
    query, key = (torch.from_numpy(trace.stack(f"1/self/{name}")[0]) for name in ("queries", "keys"))
    found = weights(made, 1)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-5)
    for block in model.layout.blocks:
        expected = weights_of(query, key, block)[0].numpy()
        np.testing.assert_allclose(found[:, block.start : block.stop, : expected.shape[-1]], expected, atol=5e-3)
        assert np.all(found[:, block.start : block.stop, expected.shape[-1] :] == 0)
