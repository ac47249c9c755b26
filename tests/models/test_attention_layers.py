"""What every kind of attention promises, whatever program of its own computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from models.layers.attention import attend
from models.layers.local import blocks_1d, blocks_2d, local_attention
from models.layers.lsh import hash_vectors, lsh_attention, rotations
from models.layers.patterns import Pattern
from models.layers.relative import relative_attention
from models.layers.span import span_attention
from models.layers.sparse import sparse_attention
from models.trace import Trace

LENGTH, HEADS = 12, 2


def drawn(*size: int) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(sum(size)), dtype=torch.float64)


TABLE, SPANS = drawn(HEADS, 7, 4), torch.tensor([1.5, 6.25], dtype=torch.float64)[None, :, None]
BUCKETS = hash_vectors(drawn(2, HEADS, LENGTH, 4), rotations(HEADS, 4, 3, 4, torch.Generator().manual_seed(1)))
KINDS: dict[str, Callable[..., Tensor]] = {  # (query, key, value, gain, trace)
    "full": lambda q, k, v, *how: attend(q, k, v, None, *how, causal=True),
    "relative": lambda q, k, v, *how: relative_attention(q, k, v, TABLE, *how),
    "local, 1D": lambda q, k, v, *how: local_attention(q, k, v, blocks_1d(LENGTH, 4, 3), *how),
    "local, 2D": lambda q, k, v, *how: local_attention(q, k, v, blocks_2d(3, 4, (2, 2), (1, 1)), *how),
    "by hashing": lambda q, k, v, *how: lsh_attention(q, v, BUCKETS[: len(q)], 4, *how),
    "strided": lambda q, k, v, *how: sparse_attention(q, k, v, Pattern("strided", 4).of_heads("merged", 0, HEADS), *how),
    "fixed": lambda q, k, v, *how: sparse_attention(q, k, v, Pattern("fixed", 4, 1).of_heads("split", 0, HEADS), *how),
    "spans": lambda q, k, v, gain, trace: span_attention(q, k, v, drawn(1, 9, 4), SPANS, 9, 2, trace),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def inputs(rows: int = 2) -> list[Tensor]:
    return [x.contiguous().requires_grad_() for x in drawn(3, rows, HEADS, LENGTH, 4).unbind(0)]


def of(kind: str, three: list[Tensor], gain: Tensor | None = None, trace: Trace | None = None) -> Tensor:
    how: list[Any] = [gain, trace] if trace is not None or kind == "spans" else [gain]
    return KINDS[kind](*three, *[Trace() if one is None and i else one for i, one in enumerate(how)])


@every_kind
def test_no_position_is_told_from_what_comes_later(kind: str) -> None:
    three = inputs()
    output = of(kind, three)
    for position in range(LENGTH):
        found = torch.autograd.grad(output[:, :, position].sum(), three, retain_graph=True, allow_unused=True)
        assert all(one is None or not one[:, :, position + 1 :].any() for one in found)


@every_kind
def test_gradients_are_those_of_small_differences(kind: str) -> None:
    assert torch.autograd.gradcheck(lambda *three: of(kind, list(three)), inputs(1))


@every_kind
def test_watching_changes_nothing_with_gradients_or_without(kind: str) -> None:
    three, trace = inputs(), Trace("queries")
    plain = of(kind, three)
    assert torch.equal(of(kind, three, trace=trace), plain)
    torch.testing.assert_close(torch.from_numpy(trace.stack("queries")[0]).double(), three[0].detach(), atol=1e-6, rtol=1e-6)
    with torch.no_grad():
        torch.testing.assert_close(of(kind, three), plain)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "spans"])
def test_a_gain_of_zero_silences_one_head_of_one_row(kind: str) -> None:
    three, gain = inputs(), torch.ones(2, HEADS, dtype=torch.float64)
    gain[1, 0] = 0
    plain, silenced = of(kind, three), of(kind, three, gain)
    assert not silenced[1, 0].any()
    assert torch.equal(silenced[0], plain[0]) and torch.equal(silenced[1, 1], plain[1, 1])
