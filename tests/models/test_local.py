"""Local attention: blocks that cover a picture, the same numbers as a masked matrix, and its own gradients."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from local_attention import LocalAttention
from torch import Tensor

from models.layers.attention import attention_weights
from models.layers.local import Block, blocks_1d, blocks_2d, direct, local_attention, order_2d

LAYOUTS = {
    "1D": blocks_1d(48, 8, 8),
    "1D, sizes that do not divide": blocks_1d(37, 7, 11),
    "1D, no memory": blocks_1d(20, 6, 0),
    "1D, one block": blocks_1d(5, 9, 4),
    "2D": blocks_2d(6, 8, (2, 4), (2, 2)),
    "2D, sizes that do not divide": blocks_2d(7, 5, (3, 2), (2, 1)),
    "2D, no flange": blocks_2d(4, 6, (2, 3), (0, 0)),
    "2D, a flange wider than the picture": blocks_2d(5, 5, (2, 2), (9, 9)),
}
everywhere = pytest.mark.parametrize("blocks", LAYOUTS.values(), ids=LAYOUTS.keys())


def dense(blocks: Sequence[Block]) -> Tensor:
    """What each query may see, (query, key): written here from the definition, pair by pair."""
    mask = torch.zeros(blocks[-1].stop, blocks[-1].stop, dtype=torch.bool)
    for block in blocks:
        for query in range(block.start, block.stop):
            for key in (*block.memory, *range(block.start, query + 1)):
                mask[query, key] = True
    return mask


def inputs(length: int, seed: int = 3) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 3, length, 4, generator=generator, dtype=torch.float64, requires_grad=True) for _ in range(3)]


@everywhere
def test_blocks_cover_every_position_once_and_a_query_never_sees_the_future(blocks: tuple[Block, ...]) -> None:
    assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(blocks[-1].stop))
    assert all(list(block.memory) == sorted(set(block.memory)) and max(block.memory, default=-1) < block.start for block in blocks)
    assert not dense(blocks).triu(1).any()


@everywhere
def test_blocked_attention_is_masked_attention(blocks: tuple[Block, ...]) -> None:
    query, key, value = inputs(blocks[-1].stop)
    expected = attention_weights(query, key, dense(blocks)) @ value
    torch.testing.assert_close(direct(query, key, value, blocks), expected)
    with torch.no_grad():
        torch.testing.assert_close(local_attention(query, key, value, blocks), expected)
    torch.testing.assert_close(local_attention(query, key, value, blocks), expected)


@everywhere
def test_its_own_gradients_are_those_of_masked_attention(blocks: tuple[Block, ...]) -> None:
    query, key, value = inputs(blocks[-1].stop)
    outside = torch.randn_like(query)
    ours = torch.autograd.grad(local_attention(query, key, value, blocks), (query, key, value), outside)
    theirs = torch.autograd.grad(attention_weights(query, key, dense(blocks)) @ value, (query, key, value), outside)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("length", [32, 64])
def test_1d_is_what_the_local_attention_package_computes(length: int) -> None:
    peer = LocalAttention(dim=4, window_size=16, causal=True, look_backward=1, look_forward=0, dropout=0.0, use_rotary_pos_emb=False)
    query, key, value = (one.float() for one in inputs(length))
    torch.testing.assert_close(local_attention(query, key, value, blocks_1d(length, 16, 16)), peer(query, key, value), atol=1e-5, rtol=1e-4)


def test_the_flange_reaches_to_the_upper_right_but_not_to_the_right_of_its_own_row() -> None:
    order = order_2d(4, 6, (2, 2))
    blocks = blocks_2d(4, 6, (2, 2), (2, 2))
    middle = blocks[4]  # the tile of rows 2 and 3, columns 2 and 3
    assert {order[i] for i in range(middle.start, middle.stop)} == {(2, 2), (2, 3), (3, 2), (3, 3)}
    seen = {order[i] for i in middle.memory}
    assert seen == {(row, column) for row in (0, 1) for column in range(6)} | {(row, column) for row in (2, 3) for column in (0, 1)}


def test_tiles_are_made_one_after_the_other_and_their_pixels_in_raster_order() -> None:
    assert order_2d(3, 4, (2, 2)) == [
        *((0, 0), (0, 1), (1, 0), (1, 1)),
        *((0, 2), (0, 3), (1, 2), (1, 3)),
        *((2, 0), (2, 1), (2, 2), (2, 3)),
    ]


def test_half_precision_does_not_leak_the_future() -> None:
    blocks = LAYOUTS["1D"]
    query, key, value = (one.detach().bfloat16().requires_grad_() for one in inputs(blocks[-1].stop))
    output = local_attention(query, key, value, blocks)
    for position in (0, 7, 20):
        (gradient,) = torch.autograd.grad(output[:, :, position].sum(), value, retain_graph=True)
        assert not gradient[:, :, position + 1 :].any()


def test_blocks_of_another_length_are_refused() -> None:
    query, key, value = inputs(12)
    with pytest.raises(ValueError, match="blocks of 48 positions for 12 queries"):
        local_attention(query, key, value, LAYOUTS["1D"])


@pytest.mark.parametrize(("query", "memory"), [(0, 4), (4, -1)])
def test_sizes_that_make_no_sense_are_refused(query: int, memory: int) -> None:
    with pytest.raises(ValueError, match="blocks of"):
        blocks_1d(20, query, memory)
    with pytest.raises(ValueError, match="tiles of"):
        blocks_2d(4, 4, (2, query), (memory, 0))
