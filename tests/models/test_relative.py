"""Relative attention: skewing is the direct formula, in blocks and in one piece, forwards and backwards."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from models.layers.relative import BLOCK, direct, relative_attention, skewed, skewing, weights_of
from models.trace import Trace
from tests.models.networks import largest_tensor

SHAPES = {
    "one block": (24, 24, 24),
    "an odd length": (37, 37, 37),
    "several blocks": (2 * BLOCK + 5, 2 * BLOCK + 5, 2 * BLOCK + 5),
    "as long as a block": (BLOCK, BLOCK, BLOCK),
    "more distances than positions": (19, 19, 64),
    "fewer distances than positions": (BLOCK + 9, BLOCK + 9, 11),
    "one distance": (30, 30, 1),
    "one query of a cache": (1, 70, 33),
    "some queries of a cache": (BLOCK + 1, 150, 90),
    "one position": (1, 1, 1),
}
everywhere = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


def inputs(shape: tuple[int, int, int], dtype: torch.dtype = torch.float64, gradient: bool = False) -> list[Tensor]:
    """Query, key, value and E_r for (queries, keys, distances)."""
    generator = torch.Generator().manual_seed(3)
    queries, keys, distances = shape
    sizes = ((2, 3, queries, 8), (2, 3, keys, 8), (2, 3, keys, 8), (3, distances, 8))
    return [torch.randn(size, generator=generator, dtype=dtype).requires_grad_(gradient) for size in sizes]


@everywhere
def test_blocks_of_skewed_scores_are_the_direct_formula(shape: tuple[int, int, int]) -> None:
    query, key, value, table = inputs(shape, torch.float32)
    torch.testing.assert_close(relative_attention(query, key, value, table), direct(query, key, value, table), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 31, 64, 97])
def test_skewing_all_at_once_is_the_direct_formula(length: int) -> None:
    four = inputs((length, length, length))
    torch.testing.assert_close(skewed(*four), direct(*four))


def test_without_distances_it_is_plain_causal_attention() -> None:
    query, key, value, _ = inputs((BLOCK + 7, BLOCK + 7, 1))
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(relative_attention(query, key, value, None), expected)
    query.requires_grad_()
    torch.testing.assert_close(relative_attention(query, key, value, None), expected)


@pytest.mark.parametrize("distances", [1, 30, 70, 90])
def test_the_last_position_alone_is_the_last_row_of_all(distances: int) -> None:
    query, key, value, table = inputs((70, 70, distances))
    torch.testing.assert_close(
        relative_attention(query[:, :, -1:], key, value, table), relative_attention(query, key, value, table)[:, :, -1:]
    )


def test_distances_beyond_the_trained_ones_share_the_last_embedding() -> None:
    query, key, value, table = inputs((80, 80, 10))
    longer = torch.cat((table, table[:, -1:].expand(-1, 70, -1)), 1)
    torch.testing.assert_close(relative_attention(query, key, value, table), relative_attention(query, key, value, longer))


def test_no_tensor_is_larger_than_a_block_of_scores() -> None:
    length = 1024
    query, key, value, table = (one.requires_grad_() for one in inputs((length, length, length), torch.float32))
    largest = largest_tensor(lambda: relative_attention(query, key, value, table).sum().backward())
    assert largest <= 2 * 3 * BLOCK * length


def test_each_step_of_skewing_is_kept_and_ends_at_the_direct_formula() -> None:
    query, table = torch.randn(7, 4, dtype=torch.float64), torch.randn(7, 4, dtype=torch.float64)
    steps = skewing(query, table)
    assert [tuple(one.shape) for one in (steps.product, steps.padded, steps.reshaped, steps.sliced)] == [(7, 7), (7, 8), (8, 7), (7, 7)]
    assert torch.equal(steps.padded[:, 1:], steps.product)
    assert not steps.padded[:, 0].any()
    assert torch.equal(steps.reshaped.flatten(), steps.padded.flatten())
    assert torch.equal(steps.sliced, steps.reshaped[1:])
    torch.testing.assert_close(steps.sliced[steps.allowed], steps.direct[steps.allowed])
    assert not torch.allclose(steps.sliced[~steps.allowed], steps.direct[~steps.allowed])  # garbage above the diagonal


def test_watched_weights_are_those_of_the_output() -> None:
    query, key, value, table = inputs((20, 45, 30))
    trace = Trace("weights")
    output = relative_attention(query, key, value, table, None, trace)
    (weights,) = trace.stack("weights")
    torch.testing.assert_close(torch.from_numpy(weights).double() @ value, output, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(weights_of(query[:, :, 3:4], key, table, [28]) @ value, output[:, :, 3:4])
    assert not weights[:, :, 3, 29:].any()


def test_more_queries_than_keys_are_refused() -> None:
    query, key, value, table = inputs((5, 5, 5))
    with pytest.raises(ValueError, match="5 queries for 4 keys"):
        relative_attention(query, key[:, :, :4], value[:, :, :4], table)


@everywhere
@pytest.mark.parametrize("window", [None, 1, 20, BLOCK, 3 * BLOCK])
def test_a_second_query_meets_the_distances_and_a_window_hides_what_lies_before_it(shape: tuple[int, int, int], window: int | None) -> None:
    query, key, value, table = inputs(shape, gradient=True)
    positional = torch.randn_like(query, requires_grad=True)
    ours = relative_attention(query, key, value, table, positional=positional, window=window)
    theirs = direct(query, key, value, table, positional, window)
    torch.testing.assert_close(ours, theirs)
    five, outside = (query, key, value, table, positional), torch.randn_like(ours)
    for one, other in zip(torch.autograd.grad(ours, five, outside), torch.autograd.grad(theirs, five, outside), strict=True):
        torch.testing.assert_close(one, other)
    with torch.no_grad():
        torch.testing.assert_close(relative_attention(query, key, value, table, positional=positional, window=window), theirs)


@pytest.mark.parametrize("window", [1, 7, 70])
def test_weights_within_a_window_make_its_output(window: int) -> None:
    query, key, value, table = inputs((30, 70, 12))
    output = relative_attention(query, key, value, table, positional=query * 2, window=window)
    places = list(range(40, 70))
    torch.testing.assert_close(weights_of(query, key, table, places, query * 2, window) @ value, output)
    with torch.no_grad():
        plain = relative_attention(query, key, value, None, window=window)
    torch.testing.assert_close(weights_of(query, key, None, places, window=window) @ value, plain)


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="sees itself"):
        relative_attention(*inputs((4, 4, 4)), window=0)
