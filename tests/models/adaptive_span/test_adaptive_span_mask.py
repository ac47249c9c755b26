"""The soft mask by hand, blocks beside the dense formula, and the gradients of spans."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from models.layers.span import direct, grouped, plan, reach, soft_mask, span_attention

SPAN, RAMP = 150, 32
SPANS: dict[str, Tensor] = {
    "a span per head": torch.tensor([0.3, 20.4, 149.7])[None, :, None],
    "none": torch.full((1, 3, 1), 0.25),
    "a span per request": torch.tensor([[0.3, 60.2, 100.6], [33.1, 2.7, 140.2]])[..., None],
    "a span per token": torch.rand(2, 3, 140, generator=torch.Generator().manual_seed(2)) * 120,
}
everywhere = pytest.mark.parametrize("z", SPANS.values(), ids=SPANS.keys())


def inputs(queries: int = 140, keys: int = 140) -> list[Tensor]:
    generator = torch.Generator().manual_seed(3)
    sizes = [(2, 3, queries, 4), (2, 3, keys, 4), (2, 3, keys, 4), (1, SPAN, 4)]
    return [torch.randn(size, generator=generator, dtype=torch.float64, requires_grad=True) for size in sizes]


def test_the_soft_mask_worked_out_by_hand() -> None:
    distance = torch.tensor([0, 4, 5, 6, 7, 8, 9, 100])
    expected = [1, 1, 1, 0.75, 0.5, 0.25, 0, 0]  # (4 + 5 − x) / 4 between x = 5 and x = 9
    assert soft_mask(distance, torch.tensor(5.0), 4).tolist() == expected
    for z in (0.0, 0.2, 7.0, 19.5, 140.0, 150.0):
        alive = soft_mask(torch.arange(SPAN), torch.tensor(z), RAMP) > 0
        assert reach(z, RAMP, SPAN) == int(alive.sum()), "a head reaches exactly as far as its mask is above zero"
    assert soft_mask(torch.tensor([0, 1, 2]), torch.tensor(0.5), 2).tolist() == [1, 0.75, 0.25]


@everywhere
@pytest.mark.parametrize(("queries", "keys"), [(140, 140), (70, 200), (1, 60)])
def test_blocks_are_the_dense_formula_renormalised(z: Tensor, queries: int, keys: int) -> None:
    z = z[..., :queries].double()
    query, key, value, table = inputs(queries, keys)
    expected = direct(query, key, value, table, z, SPAN, RAMP)
    torch.testing.assert_close(span_attention(query, key, value, table, z, SPAN, RAMP), expected)
    with torch.no_grad():
        torch.testing.assert_close(span_attention(query, key, value, table, z, SPAN, RAMP), expected)


def test_the_dense_formula_is_the_printed_one_pair_by_pair() -> None:
    query, key, value, table = (one.detach() for one in inputs(12, 12))
    z = torch.tensor([1.5, 4.25, 0.5], dtype=torch.float64)[None, :, None]
    found = direct(query, key, value, table[:, :6], z, 6, 4)
    for head in range(3):
        for t in range(12):
            top, below = torch.zeros(4, dtype=torch.float64), 0.0
            for r in range(max(0, t - 5), t + 1):
                m = min(max((4 + float(z[0, head, 0]) - (t - r)) / 4, 0), 1)
                s = float(query[1, head, t] @ (key[1, head, r] + table[0, t - r])) / 4**0.5
                top += m * np.exp(s) * value[1, head, r]
                below += m * np.exp(s)
            torch.testing.assert_close(found[1, head, t], top / below)


@everywhere
@pytest.mark.parametrize("keys", [140, 190])
def test_gradients_are_those_of_the_formula_the_spans_included(z: Tensor, keys: int) -> None:
    five = [*inputs(140, keys), z.double().requires_grad_()]
    outside = torch.randn_like(five[0])
    ours = torch.autograd.grad(span_attention(*five, SPAN, RAMP), five, outside)
    theirs = torch.autograd.grad(direct(*five, SPAN, RAMP), five, outside)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)
    assert theirs[4].abs().max() > 1e-4


def test_what_lies_behind_the_ramp_is_never_looked_at() -> None:
    query, key, value, table = (one.detach() for one in inputs())
    z = SPANS["a span per head"].double()
    before = span_attention(query, key, value, table, z, SPAN, RAMP)
    key, value = key.clone(), value.clone()
    key[:, 0, :40], value[:, 0, :40] = torch.nan, torch.nan  # head 0 reaches 33 positions: the block from 128 on needs 96 … 139
    torch.testing.assert_close(span_attention(query, key, value, table, z, SPAN, RAMP)[:, 0, 128:], before[:, 0, 128:])


def test_heads_of_like_reach_are_computed_together_and_each_block_of_a_following_span_by_its_own_need() -> None:
    assert [(group.heads, group.reaches) for group in grouped([33, 140, 60, 150], 64)] == [((0, 2), (60,)), ((1, 3), (150,))]
    z = torch.zeros(1, 3, 130)
    z[0, 0, 70], z[0, 2, 129], z[0, 1, 0] = 50, 60, 118
    groups = plan(z, 130, SPAN, RAMP)
    assert [(group.heads, group.reaches) for group in groups] == [((0, 2), (32, 82, 92)), ((1,), (150, 32, 32))]


def test_half_precision_on_the_way_stays_close() -> None:
    query, key, value, table = (one.detach() for one in inputs())
    z = SPANS["a span per head"]
    exact = span_attention(query, key, value, table, z.double(), SPAN, RAMP)
    rough = span_attention(query.bfloat16(), key.bfloat16(), value.bfloat16(), table, z, SPAN, RAMP)
    assert rough.dtype == torch.bfloat16
    torch.testing.assert_close(rough.double(), exact, atol=0.06, rtol=0.06)


def test_sizes_that_make_no_sense_are_refused() -> None:
    query, key, value, table = inputs(20, 12)
    with pytest.raises(ValueError, match="20 queries for 12 keys"):
        span_attention(query, key, value, table, SPANS["none"], SPAN, RAMP)
    with pytest.raises(ValueError, match="150 distances for a span of 99"):
        span_attention(query[:, :, :5], key, value, table, SPANS["none"], 99, RAMP)
