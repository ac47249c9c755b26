"""Sparse patterns are their definitions, and what is gathered is what a dense mask would have left."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.layers import sparse
from models.layers.patterns import FACTORS, KINDS, PAIRS, USES, Factor, Pattern
from models.layers.sparse import gathered_attention, one_query, sparse_attention
from tests.models.networks import largest_tensor

SIZES = {  # length, stride, summary width
    "whole blocks": (36, 6, 2),
    "a length that no stride divides": (41, 7, 3),
    "shorter than a stride": (5, 9, 2),
    "one position": (1, 4, 4),
    "a stride of one": (6, 1, 1),
    "blocks that are all summary": (22, 5, 5),
    "windows of several tiles": (150, 40, 3),
    "a stride beyond a tile": (71, 33, 1),
}
everywhere = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())


def defined(name: str, length: int, stride: int, summary: int) -> NDArray[np.bool_]:
    """Child et al. (2019), §4.3, pair by pair."""
    near = {"row": lambda i, j: j >= max(0, i - stride), "block": lambda i, j: j // stride == i // stride}
    far = {"column": lambda i, j: (i - j) % stride == 0, "summary": lambda i, j: j % stride >= stride - summary}
    one = {**near, **far, "all": lambda i, j: True}
    one["strided"] = lambda i, j: one["row"](i, j) or one["column"](i, j)
    one["fixed"] = lambda i, j: one["block"](i, j) or one["summary"](i, j)
    return np.array([[j <= i and one[name](i, j) for j in range(length)] for i in range(length)])


def masked(query: Tensor, key: Tensor, value: Tensor, allowed: NDArray[np.bool_]) -> Tensor:
    """Every pair computed, and then what the pattern does not hold thrown away; 0 for a query that has no key."""
    scores = (query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])).masked_fill(~torch.from_numpy(allowed), -math.inf)
    return scores.softmax(-1).nan_to_num(0.0) @ value


def inputs(length: int, heads: int = 2, gradient: bool = False, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Query, key and value, laid out as a projection leaves them: positions outside, heads inside."""
    generator = torch.Generator().manual_seed(4)
    made = [torch.randn(2, length, heads, 4, generator=generator, dtype=dtype).transpose(1, 2) for _ in range(3)]
    return [one.detach().requires_grad_(gradient) for one in made]


@everywhere
@pytest.mark.parametrize("name", FACTORS)
def test_a_pattern_is_its_definition_and_its_counts_are_its_pairs(name: str, size: tuple[int, int, int]) -> None:
    length, stride, summary = size
    factor = Factor(name, stride, summary)
    expected = defined(name, length, stride, summary)
    assert np.array_equal(factor.allowed(length), expected)
    assert np.array_equal(factor.counts(length), expected.sum(1))
    for i in (0, length // 2, length - 1):
        assert np.array_equal(factor.keys(i), expected[i].nonzero()[0])  # ascending, no pair twice


@everywhere
@pytest.mark.parametrize("name", FACTORS)
def test_gathered_blocks_are_a_dense_mask_forwards_and_backwards(name: str, size: tuple[int, int, int]) -> None:
    length, stride, summary = size
    three = inputs(length, gradient=True)
    ours = gathered_attention(*three, Factor(name, stride, summary))
    theirs = masked(*three, defined(name, length, stride, summary))
    torch.testing.assert_close(sparse.direct(*three, Factor(name, stride, summary)), theirs)
    torch.testing.assert_close(ours, theirs)
    outside = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1), dtype=ours.dtype)
    got, wanted = (torch.autograd.grad(one, three, outside) for one in (ours, theirs))
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("use", USES)
def test_the_three_ways_of_use_are_three_masks(kind: str, use: str) -> None:
    length, stride, summary = 37, 6, 2
    query, key, value = inputs(length, heads=4)
    first, second, union = (defined(name, length, stride, summary) for name in PAIRS[kind])
    for layer in (0, 1):
        expected = {"interleaved": [second if layer else first] * 4, "merged": [union] * 4, "split": [first] * 2 + [second] * 2}[use]
        heads = Pattern(kind, stride, summary).of_heads(use, layer, 4)
        torch.testing.assert_close(sparse_attention(query, key, value, heads), masked(query, key, value, np.stack(expected)))


@everywhere
@pytest.mark.parametrize("name", FACTORS)
def test_the_last_position_alone_is_the_last_row_of_all(name: str, size: tuple[int, int, int]) -> None:
    query, key, value = inputs(size[0])
    factor = Factor(name, *size[1:])
    torch.testing.assert_close(one_query(query[:, :, -1:], key, value, factor), gathered_attention(query, key, value, factor)[:, :, -1:])


@pytest.mark.parametrize("name", ["strided", "fixed", "row", "summary"])
def test_nothing_as_large_as_all_pairs_is_ever_made(name: str) -> None:
    length = 1024
    three = inputs(length, heads=1, gradient=True, dtype=torch.float32)
    largest = largest_tensor(lambda: gathered_attention(*three, Factor(name, 32, 4)).sum().backward())
    assert largest <= 2 * length * length // 8  # a batch of 2


@pytest.mark.parametrize("name", ["strided", "fixed", "summary"])
def test_without_the_fused_kernel_it_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    three, factor = inputs(41), Factor(name, 7, 3)
    expected = gathered_attention(*three, factor)
    monkeypatch.setattr(sparse, "KERNEL", "no_kernel_of_this_name")
    monkeypatch.setattr(sparse, "_fused", None)
    torch.testing.assert_close(gathered_attention(*three, factor), expected)


def test_half_precision_stays_close() -> None:
    three = inputs(50, dtype=torch.float32)
    for name in ("strided", "fixed"):
        exact = gathered_attention(*three, Factor(name, 8, 2))
        low = [x.bfloat16().requires_grad_() for x in three]
        found = gathered_attention(*low, Factor(name, 8, 2))
        found.float().sum().backward()
        torch.testing.assert_close(found.float(), exact, atol=0.05, rtol=0.05)
        assert all(x.grad is not None and x.grad.isfinite().all() for x in low)


def test_what_makes_no_pattern_is_refused() -> None:
    query, key, value = inputs(6)
    with pytest.raises(ValueError, match="stride 4 with 5 summary columns"):
        Pattern("fixed", 4, 5)
    with pytest.raises(ValueError, match="not diagonal"):
        Factor("diagonal")
    with pytest.raises(ValueError, match="not local"):
        Pattern("local")
    with pytest.raises(ValueError, match="one head"):
        Pattern("fixed", 4).of_heads("split", 0, 1)
    with pytest.raises(ValueError, match="not both"):
        Pattern("fixed", 4).of_heads("both", 0, 2)
    with pytest.raises(ValueError, match="3 heads of 2"):
        sparse_attention(query, key, value, ((3, Factor("row", 2)),))
    with pytest.raises(ValueError, match="expected one shape"):
        gathered_attention(query[:, :, 1:], key, value, Factor("row", 2))


@pytest.mark.parametrize("kind", ["strided", "fixed"])
@pytest.mark.parametrize(("stride", "summary"), [(7, 2), (6, 1), (50, 9), (1, 1)])
def test_everything_before_is_reached_over_one_position_between(kind: str, stride: int, summary: int) -> None:
    union = Pattern(kind, stride, summary).union.allowed(45).astype(int)
    assert np.array_equal((union + union @ union > 0), np.tri(45, dtype=bool))  # p steps, within the p + 1 of §4.2
