"""Every kind of attention, whatever program computes it, is its definition pair by pair, forwards and backwards.

The definitions are written here once more: a mask over all pairs, distances between them, spans, or the sets of keys that hashing finds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from local_attention import LocalAttention
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import ReformerConfig
from transformers.models.reformer.modeling_reformer import LSHSelfAttention as TheirAttention

from models.layers import local, lsh, relative, span, sparse
from models.layers.attention import MultiHeadAttention, attend, attention_weights
from models.layers.local import Block, blocks_1d, blocks_2d, local_attention, order_2d
from models.layers.lsh import (
    LSHSelfAttention,
    hash_vectors,
    lsh_attention,
    met,
    rotations,
    shared_attention,
    shared_weights,
    sort_by_bucket,
)
from models.layers.masks import causal, keys_allowed
from models.layers.patterns import FACTORS, PAIRS, USES, Factor, Pattern
from models.layers.patterns import KINDS as PATTERNS
from models.layers.relative import BLOCK, relative_attention, skewed, skewing, weights_of
from models.layers.span import grouped, plan, reach, soft_mask, span_attention
from models.layers.sparse import gathered_attention, one_query, sparse_attention
from models.trace import Trace
from tests.models.networks import largest_tensor


def drawn(*size: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(sum(size)), dtype=dtype)


def three(queries: int, keys: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Query, key and value, (2, 3, position, 4), laid out as a projection leaves them: positions outside, heads inside."""
    return [
        drawn(2, length, 3, 4 + i, dtype=dtype)[..., :4].transpose(1, 2)
        for i, length in enumerate((queries, keys or queries, keys or queries))
    ]


# ---- the definitions -----------------------------------------------------------------------------------------------------------------


def masked(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor, more: Tensor | float = 0.0) -> Tensor:
    """Every pair computed, and then what is not allowed thrown away; 0 for a query that has no key."""
    scores = ((query @ key.transpose(-2, -1) + more) / math.sqrt(query.shape[-1])).masked_fill(~allowed, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0) @ value


def dense(blocks: Sequence[Block]) -> Tensor:
    """What each query of blocks may see, (query, key)."""
    mask = torch.zeros(blocks[-1].stop, blocks[-1].stop, dtype=torch.bool)
    for block in blocks:
        for query in range(block.start, block.stop):
            mask[query, [*block.memory, *range(block.start, query + 1)]] = True
    return mask


def by_distance(
    query: Tensor, key: Tensor, value: Tensor, table: Tensor | None, other: Tensor | None = None, window: int | None = None
) -> Tensor:
    """(q_i · k_j + p_i · E[i − j]) / √d over the keys of a window; far distances share the last E."""
    queries, keys = query.shape[2], key.shape[2]
    distance = torch.arange(keys)[-queries:, None] - torch.arange(keys)
    allowed = (distance >= 0) & (distance < (window or keys))
    if table is None:
        return masked(query, key, value, allowed)
    rows = table[:, distance.clamp(0, table.shape[1] - 1)]
    return masked(query, key, value, allowed, ((query if other is None else other)[:, :, :, None] * rows).sum(-1))


def by_pattern(name: str, length: int, stride: int, summary: int) -> NDArray[np.bool_]:
    """Child et al. (2019), §4.3, pair by pair."""
    near = {"row": lambda i, j: j >= max(0, i - stride), "block": lambda i, j: j // stride == i // stride}
    far = {"column": lambda i, j: (i - j) % stride == 0, "summary": lambda i, j: j % stride >= stride - summary}
    one = {**near, **far, "all": lambda i, j: True}
    one["strided"] = lambda i, j: one["row"](i, j) or one["column"](i, j)
    one["fixed"] = lambda i, j: one["block"](i, j) or one["summary"](i, j)
    return np.array([[j <= i and one[name](i, j) for j in range(length)] for i in range(length)])


def by_span(query: Tensor, key: Tensor, value: Tensor, table: Tensor, z: Tensor, size: int, ramp: int) -> Tensor:
    """Σ m exp(s) v / Σ m exp(s), s = q_t · (k_r + p_(t − r)) / √d and m the soft mask, within the whole span."""
    queries, keys = query.shape[2], key.shape[2]
    distance = torch.arange(keys)[-queries:, None] - torch.arange(keys)
    scores = (query @ key.transpose(-2, -1) + (query[:, :, :, None] * table[:, distance.clamp(0, size - 1)]).sum(-1)) / 2
    soft = ((ramp + z[..., None] - distance) / ramp).clamp(0, 1) * ((distance >= 0) & (distance < size))
    raised = soft * (scores - scores.amax(-1, keepdim=True).detach()).exp()
    return raised / raised.sum(-1, keepdim=True) @ value


def by_hashing(query: Tensor, value: Tensor, buckets: Tensor, chunk: int) -> Tensor:
    """One query at a time: a set of keys from all rounds, each in it once, and a softmax over them."""
    output = torch.zeros_like(value)
    batch, heads, rounds, length = buckets.shape
    for b, h in np.ndindex(batch, heads):
        chunks = []
        for r in range(rounds):
            order = sorted(range(length), key=lambda p: (int(buckets[b, h, r, p]), p))
            chunks.append({p: place // chunk for place, p in enumerate(order)})
        for i in range(length):
            keys = {j for c in chunks for j in range(i) if c[i] - c[j] in (0, 1)} or {i}
            raised = {j: math.exp(float(query[b, h, i] @ query[b, h, j] / query[b, h, j].norm())) for j in keys}
            output[b, h, i] = sum(s / sum(raised.values()) * value[b, h, j] for j, s in raised.items())
    return output


# ---- the programs --------------------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "1D": blocks_1d(48, 8, 8),
    "1D, sizes that do not divide": blocks_1d(37, 7, 11),
    "1D, no memory": blocks_1d(20, 6, 0),
    "1D, one by one": blocks_1d(9, 1, 3),
    "1D, one block": blocks_1d(5, 9, 4),
    "2D": blocks_2d(6, 8, (2, 4), (2, 2)),
    "2D, sizes that do not divide": blocks_2d(7, 5, (3, 2), (2, 1)),
    "2D, no flange": blocks_2d(4, 6, (2, 3), (0, 0)),
    "2D, a flange wider than the picture": blocks_2d(5, 5, (2, 2), (9, 9)),
}
SHAPES = {  # queries, keys, distances
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
SPAN, RAMP = 150, 32
SPANS: dict[str, Tensor] = {
    "a span per head": torch.tensor([0.3, 20.4, 149.7])[None, :, None],
    "none": torch.full((1, 3, 1), 0.25),
    "a span per request": torch.tensor([[0.3, 60.2, 100.6], [33.1, 2.7, 140.2]])[..., None],
    "a span per token": torch.rand(2, 3, 140, generator=torch.Generator().manual_seed(2)) * 120,
}
CASES: dict[str, tuple[Any, ...]] = {}  # what is computed, its definition, what both are given, what else each is told


def case(name: str, program: Any, definition: Any, given: Sequence[Any], ours: Sequence[Any] = (), theirs: Sequence[Any] = ()) -> None:
    """given: how many queries, how many keys, and what follows the values: tensors, or shapes of random ones."""
    CASES[f"{program.__module__} {program.__name__}, {name}"] = (program, definition, given, ours, theirs)


def causally(*given: Tensor) -> Tensor:
    return attend(*given, causal=True)


def weighted(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    return attention_weights(query, key, mask) @ value


def windowed(query: Tensor, key: Tensor, value: Tensor, table: Tensor, other: Tensor, window: int | None) -> Tensor:
    return relative_attention(query, key, value, table, positional=other, window=window)


HOLES = drawn(2, 1, 5, 7) > -0.3
HOLES[0, 0, 2] = False  # may attend to nothing
case("masked", attend, masked, (5, 7), [HOLES], [HOLES])
case("masked", weighted, masked, (5, 7), [HOLES], [HOLES])
case("full", causally, masked, (9, 9), (), [causal(9, 9)])
for name, blocks in LAYOUTS.items():
    for program in (local_attention, local.direct):
        case(name, program, masked, (blocks[-1].stop,) * 2, [blocks], [dense(blocks)])
for name, (queries, keys, distances) in SHAPES.items():
    for window in (None, 1, 20, BLOCK, 3 * BLOCK):
        given = (queries, keys, (3, distances, 4), (2, 3, queries, 4))
        for program in (windowed, relative.direct):
            case(f"{name}, {window}", program, by_distance, given, [window], [window])
    for program in (relative_attention, relative.direct, *([skewed] if queries == keys else [])):
        case(name, program, by_distance, (queries, keys, (3, distances, 4)))
    case(f"{name}, without distances", relative_attention, by_distance, (queries, keys), [None], [None])
for name, (length, *numbers) in SIZES.items():
    for factor in FACTORS:
        allowed = torch.from_numpy(by_pattern(factor, length, *numbers))
        for program in (gathered_attention, sparse.direct):
            case(f"{factor}, {name}", program, masked, (length, length), [Factor(factor, *numbers)], [allowed])
        case(f"{factor}, {name}", one_query, masked, (1, length), [Factor(factor, *numbers)], [allowed[-1:]])
for kind, use, layer in itertools.product(PATTERNS, USES, (0, 1)):
    first, second, union = (torch.from_numpy(by_pattern(one, 37, 6, 2)) for one in PAIRS[kind])
    rows = {"interleaved": [second if layer else first] * 3, "merged": [union] * 3, "split": [first, second, second]}[use]
    case(f"{kind}, {use}, {layer}", sparse_attention, masked, (37, 37), [Pattern(kind, 6, 2).of_heads(use, layer, 3)], [torch.stack(rows)])
for (name, z), (queries, keys) in itertools.product(SPANS.items(), ((140, 140), (140, 190), (70, 200), (1, 60))):
    for program in (span_attention, span.direct):
        case(
            f"{name}, {queries} of {keys}", program, by_span, (queries, keys, (1, SPAN, 4), z[..., :queries].double()), *[(SPAN, RAMP)] * 2
        )


@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_is_its_definition_forwards_and_backwards(name: str) -> None:
    program, definition, (queries, keys, *more), ours, theirs = CASES[name]
    given = [*three(queries, keys), *(one if isinstance(one, Tensor) else drawn(*one) for one in more)]
    given = [one.detach().clone().requires_grad_() for one in given]
    found, expected = program(*given, *ours), definition(*given, *theirs)
    torch.testing.assert_close(found, expected)
    with torch.no_grad():
        torch.testing.assert_close(program(*given, *ours), expected)
        torch.testing.assert_close(program(*(one.float() for one in given), *ours), expected.float(), atol=1e-4, rtol=1e-4)
    if not found.requires_grad:  # a query without a key
        return
    outside = drawn(*found.shape)
    for one, other in zip(*(torch.autograd.grad(out, given, outside) for out in (found, expected)), strict=True):
        torch.testing.assert_close(one, other)


def hashed(length: int, rounds: int, buckets: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random queries and values, and the buckets of the queries."""
    query, _, value = three(length)
    return query, value, hash_vectors(query, rotations(3, 4, rounds, buckets, torch.Generator().manual_seed(length + rounds)))


@pytest.mark.parametrize("buckets", [6, 512])
@pytest.mark.parametrize("length", [1, 7, 29])
@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("chunk", [3, 40])
def test_what_hashing_computes_is_its_definition(length: int, rounds: int, chunk: int, buckets: int) -> None:
    query, value, found = hashed(length, rounds, buckets)
    expected = by_hashing(query, value, found, chunk)
    torch.testing.assert_close(lsh_attention(query, value, found, chunk), expected)
    torch.testing.assert_close(lsh.direct(query, value, found, chunk), expected)


# ---- what every kind promises --------------------------------------------------------------------------------------------------------

LENGTH, HEADS = 12, 3
TABLE, BUCKETS = drawn(HEADS, 7, 4), hashed(LENGTH, 3, 4)[2]
KINDS: dict[str, Callable[..., Tensor]] = {  # (query, key, value, gain, trace)
    "full": lambda q, k, v, *how: attend(q, k, v, None, *how, causal=True),
    "relative": lambda q, k, v, *how: relative_attention(q, k, v, TABLE, *how),
    "local, 1D": lambda q, k, v, *how: local_attention(q, k, v, blocks_1d(LENGTH, 4, 3), *how),
    "local, 2D": lambda q, k, v, *how: local_attention(q, k, v, blocks_2d(3, 4, (2, 2), (1, 1)), *how),
    "by hashing": lambda q, k, v, *how: lsh_attention(q, v, BUCKETS, 4, *how),
    "shared": lambda q, k, v, *how: shared_attention(q, v, *how),
    "strided": lambda q, k, v, *how: sparse_attention(q, k, v, Pattern("strided", 4).of_heads("merged", 0, HEADS), *how),
    "fixed": lambda q, k, v, *how: sparse_attention(q, k, v, Pattern("fixed", 4, 1).of_heads("split", 0, HEADS), *how),
    "spans": lambda q, k, v, gain, trace=None: span_attention(q, k, v, drawn(1, 9, 4), SPANS["none"], 9, 2, trace or Trace()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_watching_changes_nothing_and_a_gain_of_zero_silences_one_head_of_one_row(kind: str) -> None:
    given, trace = [one.requires_grad_() for one in three(LENGTH)], Trace("queries", "spans")
    plain = KINDS[kind](*given, None)
    assert torch.equal(KINDS[kind](*given, None, trace), plain)
    torch.testing.assert_close(torch.from_numpy(trace.stack("queries")[0]).double(), given[0].detach(), atol=1e-6, rtol=1e-6)
    with torch.no_grad():
        torch.testing.assert_close(KINDS[kind](*given, None), plain)
    if kind == "spans":
        assert torch.equal(torch.from_numpy(trace.stack("spans")[0]), SPANS["none"])
    else:
        gain = torch.ones(2, HEADS, dtype=torch.float64)
        gain[1, 0] = 0
        silenced = KINDS[kind](*given, gain)
        assert not silenced[1, 0].any()
        assert torch.equal(silenced[0], plain[0]) and torch.equal(silenced[1, 1:], plain[1, 1:])


@pytest.mark.parametrize("kind", ["by hashing", "shared"])
def test_the_gradients_of_hashing_are_those_of_small_differences(kind: str) -> None:
    query, _, value = (one[:1, :1].detach().requires_grad_() for one in three(LENGTH))
    assert torch.autograd.gradcheck(
        lambda q, v: lsh_attention(q, v, BUCKETS[:1, :1], 4) if kind == "by hashing" else shared_attention(q, v), (query, value)
    )


@pytest.mark.parametrize("kind", ["relative", "strided", "fixed", "row", "summary"])
def test_nothing_as_large_as_all_pairs_is_ever_made(kind: str) -> None:
    length = 1024
    given = [one[:1].detach().requires_grad_() for one in three(length, dtype=torch.float32)]
    if kind == "relative":
        table = drawn(3, length, 4, dtype=torch.float32).requires_grad_()
        assert largest_tensor(lambda: relative_attention(*given, table).sum().backward()) <= 3 * BLOCK * length
    else:
        one = [x[:, :1] for x in given]
        assert largest_tensor(lambda: gathered_attention(*one, Factor(kind, 32, 4)).sum().backward()) <= length * length // 8


@pytest.mark.parametrize("kind", ["local", "spans", "strided", "fixed"])
def test_half_precision_stays_close_and_does_not_leak_the_future(kind: str) -> None:
    z = SPANS["a span per head"]
    programs: dict[str, Callable[..., Tensor]] = {
        "local": lambda *qkv: local_attention(*qkv, LAYOUTS["1D"]),
        "spans": lambda *qkv: span_attention(*qkv, drawn(1, SPAN, 4).to(z.dtype), z, SPAN, RAMP),
        **{name: lambda *qkv, name=name: gathered_attention(*qkv, Factor(name, 8, 2)) for name in ("strided", "fixed")},
    }
    given = three(48, dtype=torch.float32)
    exact, low = programs[kind](*given), [one.bfloat16().requires_grad_() for one in given]
    found = programs[kind](*low)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), exact, atol=0.06, rtol=0.06)
    for position in (0, 7, 20):
        gradient = torch.autograd.grad(found[:, :, position].float().sum(), low, retain_graph=True)
        assert all(one.isfinite().all() and not one[:, :, position + 1 :].any() for one in gradient)


# ---- full attention ------------------------------------------------------------------------------------------------------------------


def test_multi_head_attention_equals_that_of_torch_with_the_same_parameters() -> None:
    torch.manual_seed(1)
    ours, theirs = MultiHeadAttention(24, 4), nn.MultiheadAttention(24, 4, batch_first=True)
    theirs.in_proj_weight.data.copy_(ours.project_in.weight)
    theirs.in_proj_bias.data.normal_()
    ours.project_in.bias.data.copy_(theirs.in_proj_bias)
    theirs.out_proj.load_state_dict(ours.project_out.state_dict())
    x, source = torch.randn(2, 5, 24), torch.randn(2, 7, 24)
    allowed, trace = torch.tensor([[True] * 7, [True] * 4 + [False] * 3]), Trace("weights")
    expected, weights = theirs(x, source, source, key_padding_mask=~allowed, average_attn_weights=False)
    torch.testing.assert_close(ours(x, source, keys_allowed(allowed), trace=trace), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(torch.from_numpy(trace.stack("weights")[0]), weights.detach(), atol=1e-5, rtol=1e-5)
    expected, _ = theirs(x, x, x, attn_mask=~causal(5, 5))
    torch.testing.assert_close(ours(x, causal=True), expected, atol=1e-5, rtol=1e-5)


# ---- in blocks -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_blocks_cover_every_position_once_and_a_query_never_sees_the_future(blocks: tuple[Block, ...]) -> None:
    assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(blocks[-1].stop))
    assert all(list(block.memory) == sorted(set(block.memory)) and max(block.memory, default=-1) < block.start for block in blocks)


@pytest.mark.parametrize("length", [32, 64])
def test_1d_is_what_the_local_attention_package_computes(length: int) -> None:
    peer = LocalAttention(dim=4, window_size=16, causal=True, look_backward=1, look_forward=0, dropout=0.0, use_rotary_pos_emb=False)
    given = three(length, dtype=torch.float32)
    torch.testing.assert_close(local_attention(*given, blocks_1d(length, 16, 16)), peer(*given), atol=1e-5, rtol=1e-4)


def test_tiles_follow_each_other_and_the_flange_reaches_to_the_upper_right_but_not_to_the_right_of_its_own_row() -> None:
    tiles = [[(0, 0), (0, 1), (1, 0), (1, 1)], [(0, 2), (0, 3), (1, 2), (1, 3)], [(2, 0), (2, 1), (2, 2), (2, 3)]]
    assert order_2d(3, 4, (2, 2)) == [place for tile in tiles for place in tile]
    order, middle = order_2d(4, 6, (2, 2)), blocks_2d(4, 6, (2, 2), (2, 2))[4]  # the tile of rows 2 and 3, columns 2 and 3
    assert {order[i] for i in range(middle.start, middle.stop)} == {(2, 2), (2, 3), (3, 2), (3, 3)}
    seen = {(row, column) for row in (0, 1) for column in range(6)} | {(row, column) for row in (2, 3) for column in (0, 1)}
    assert {order[i] for i in middle.memory} == seen


# ---- by distance ---------------------------------------------------------------------------------------------------------------------


def test_each_step_of_skewing_is_kept_and_ends_at_the_direct_formula() -> None:
    query, table = drawn(7, 4), drawn(7, 4) + 1
    steps = skewing(query, table)
    assert [tuple(one.shape) for one in (steps.product, steps.padded, steps.reshaped, steps.sliced)] == [(7, 7), (7, 8), (8, 7), (7, 7)]
    assert torch.equal(steps.padded[:, 1:], steps.product) and not steps.padded[:, 0].any()
    assert torch.equal(steps.reshaped.flatten(), steps.padded.flatten()) and torch.equal(steps.sliced, steps.reshaped[1:])
    by_hand = torch.stack([torch.stack([query[i] @ table[max(i - j, 0)] for j in range(7)]) for i in range(7)])
    torch.testing.assert_close(steps.direct, by_hand.tril())
    torch.testing.assert_close(steps.sliced.tril(), by_hand.tril())
    assert torch.equal(steps.allowed, causal(7, 7)) and not torch.allclose(steps.sliced, by_hand)  # garbage above the diagonal


@pytest.mark.parametrize("window", [None, 1, 7, 70])
def test_watched_weights_are_those_of_the_output(window: int | None) -> None:
    query, key, value = three(30, 70)
    for table, other in ((drawn(3, 12, 4), query * 2), (drawn(3, 12, 4), None), (None, None)):
        trace = Trace("weights", keep={"head": [2, 0], "query": [29, 3]})
        output = relative_attention(query, key, value, table, None, trace, positional=other, window=window)
        torch.testing.assert_close(weights_of(query, key, table, list(range(40, 70)), other, window) @ value, output)
        if window in {None, 70}:
            (weights,) = trace.stack("weights")
            expected = output[:, [2, 0]][:, :, [29, 3]]
            torch.testing.assert_close(torch.from_numpy(weights).double() @ value[:, [2, 0]], expected, atol=1e-6, rtol=1e-5)
            assert not weights[:, :, 1, 44:].any()


# ---- by pattern ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("name", FACTORS)
def test_a_pattern_is_its_definition_and_its_counts_are_its_pairs(name: str, size: tuple[int, int, int]) -> None:
    (length, *numbers), factor = size, Factor(name, *size[1:])
    expected = by_pattern(name, length, *numbers)
    assert np.array_equal(factor.allowed(length), expected) and np.array_equal(factor.counts(length), expected.sum(1))
    for i in (0, length // 2, length - 1):
        assert np.array_equal(factor.keys(i), expected[i].nonzero()[0])  # ascending, no pair twice


@pytest.mark.parametrize("name", ["strided", "fixed", "summary"])
def test_without_the_fused_kernel_it_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given, factor = three(41), Factor(name, 7, 3)
    expected = gathered_attention(*given, factor)
    monkeypatch.setattr(sparse, "KERNEL", "no_kernel_of_this_name")
    monkeypatch.setattr(sparse, "_fused", None)
    torch.testing.assert_close(gathered_attention(*given, factor), expected)


@pytest.mark.parametrize("kind", ["strided", "fixed"])
@pytest.mark.parametrize(("stride", "summary"), [(7, 2), (6, 1), (50, 9), (1, 1)])
def test_everything_before_is_reached_over_one_position_between(kind: str, stride: int, summary: int) -> None:
    union = Pattern(kind, stride, summary).union.allowed(45).astype(int)
    assert np.array_equal((union + union @ union > 0), np.tri(45, dtype=bool))  # p steps, within the p + 1 of §4.2


# ---- by span -------------------------------------------------------------------------------------------------------------------------


def test_the_soft_mask_worked_out_by_hand() -> None:
    distance = torch.tensor([0, 4, 5, 6, 7, 8, 9, 100])
    assert soft_mask(distance, torch.tensor(5.0), 4).tolist() == [1, 1, 1, 0.75, 0.5, 0.25, 0, 0]  # (4 + 5 − x) / 4 from x = 5 to x = 9
    for z in (0.0, 0.2, 7.0, 19.5, 140.0, 150.0):
        alive = soft_mask(torch.arange(SPAN), torch.tensor(z), RAMP) > 0
        assert reach(z, RAMP, SPAN) == int(alive.sum()), "a head reaches exactly as far as its mask is above zero"


def test_what_lies_behind_the_ramp_is_never_looked_at() -> None:
    query, key, value = three(140)
    z, table = SPANS["a span per head"].double(), drawn(1, SPAN, 4)
    exact = span_attention(query, key, value, table, z, SPAN, RAMP)
    key, value = key.clone(), value.clone()
    key[:, 0, :40], value[:, 0, :40] = torch.nan, torch.nan  # head 0 reaches 33 positions: the block from 128 on needs 96 … 139
    torch.testing.assert_close(span_attention(query, key, value, table, z, SPAN, RAMP)[:, 0, 128:], exact[:, 0, 128:])


def test_heads_of_like_reach_are_computed_together_and_each_block_of_a_following_span_by_its_own_need() -> None:
    assert [(group.heads, group.reaches) for group in grouped([33, 140, 60, 150], 64)] == [((0, 2), (60,)), ((1, 3), (150,))]
    z = torch.zeros(1, 3, 130)
    z[0, 0, 70], z[0, 2, 129], z[0, 1, 0] = 50, 60, 118
    groups = plan(z, 130, SPAN, RAMP)
    assert [(group.heads, group.reaches) for group in groups] == [((0, 2), (32, 82, 92)), ((1,), (150, 32, 32))]


# ---- by hashing ----------------------------------------------------------------------------------------------------------------------


def test_without_hashing_every_query_sees_all_that_came_before_it() -> None:
    query, value, buckets = hashed(21, 2, 4)
    full = by_hashing(query, value, torch.zeros_like(buckets), 64)
    torch.testing.assert_close(shared_attention(query, value), full)
    torch.testing.assert_close(shared_weights(query) @ value, full)
    torch.testing.assert_close(lsh_attention(query, value, torch.zeros_like(buckets), 11), full)
    seen = met(sort_by_bucket(buckets), 4).any(2)
    torch.testing.assert_close(shared_weights(query, seen) @ value, lsh_attention(query, value, buckets, 4))
    repeated = buckets[:, :, :1].repeat(1, 1, 4, 1)
    torch.testing.assert_close(lsh_attention(query, value, repeated, 4), by_hashing(query, value, buckets[:, :, :1], 4))


def test_rows_that_are_worked_on_apart_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    query, value, buckets = hashed(20, 2, 4)
    together = lsh_attention(query, value, buckets, 4)
    monkeypatch.setattr(lsh, "TOGETHER", 1)
    torch.testing.assert_close(lsh_attention(query, value, buckets, 4), together)


def test_weights_far_below_others_are_nothing_and_large_scores_do_no_harm() -> None:
    query, value, buckets = hashed(16, 2, 4)
    output = lsh_attention(query.float() * 60, value.float(), buckets, 4)
    torch.testing.assert_close(output.double(), by_hashing(query * 60, value, buckets, 4), atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("length", [32, 48])
def test_one_round_equals_the_layer_of_transformers(length: int) -> None:
    # Theirs lets the first chunk of the sorted order look around at the last one; with more rounds it counts a pair in each of them.
    torch.manual_seed(3)
    config = ReformerConfig(
        attention_head_size=8, hidden_size=16, num_attention_heads=2, num_buckets=4, num_hashes=1, lsh_attn_chunk_length=8,
        is_decoder=True, hash_seed=5, attn_layers=["lsh"], lsh_attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    theirs, ours = TheirAttention(config).eval(), LSHSelfAttention(16, 2, 8)
    ours.query.weight, ours.value.weight = theirs.query_key.weight, theirs.value.weight
    nn.init.eye_(ours.project_out.weight)
    x = torch.randn(2, length, 16)
    torch.manual_seed(5)
    rotation = torch.randn(2, 8, 1, 2).transpose(1, 2)  # theirs: (head, d_head, round, half), drawn from the same seed
    buckets, expected = ours.hashes(x, rotation), theirs(x)
    assert torch.equal(expected.buckets.long(), buckets.long())
    places = torch.arange(length).expand(2, 2, length)
    rank = torch.empty_like(places).scatter_(2, sort_by_bucket(buckets)[:, :, 0], places)
    behind = (rank >= 8)[..., None]  # whoever has a chunk before its own
    assert behind.sum() == 2 * 2 * (length - 8)
    found, wanted = (ours.split(one) for one in (ours(x, buckets), expected.hidden_states))
    torch.testing.assert_close(found * behind, wanted * behind, atol=1e-5, rtol=1e-4)


def test_a_hash_is_the_farthest_of_the_columns_and_their_mirror_images_and_positions_of_a_bucket_stay_in_order() -> None:
    query, rotation = three(30)[0], rotations(3, 4, 2, 6, torch.Generator().manual_seed(1))
    found = hash_vectors(query, rotation)
    rotated = torch.einsum("bhld,hrdc->bhrlc", query, rotation.double())
    assert torch.equal(found.long(), torch.cat((rotated, -rotated), -1).argmax(-1)) and torch.equal(
        hash_vectors(query * 7, rotation), found
    )
    assert sort_by_bucket(torch.tensor([[2, 0, 2, 1, 0]], dtype=torch.int16)).tolist() == [[1, 4, 3, 0, 2]]


# ---- what makes no sense -------------------------------------------------------------------------------------------------------------

Q, K, V = three(10)
REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("no mask", lambda: attend(Q, K, V, causal=True, mask=causal(10, 10))),
    ("10 is no multiple of 4", lambda: MultiHeadAttention(10, 4)),
    ("blocks of 48 positions for 10 queries", lambda: local_attention(Q, K, V, LAYOUTS["1D"])),
    *[("blocks of", lambda sizes=sizes: blocks_1d(20, *sizes)) for sizes in ((0, 4), (4, -1))],
    *[("tiles of", lambda sizes=sizes: blocks_2d(4, 4, (2, sizes[0]), (sizes[1], 0))) for sizes in ((0, 4), (4, -1))],
    ("10 queries for 4 keys", lambda: relative_attention(Q, K[:, :, :4], V[:, :, :4], TABLE)),
    ("sees itself", lambda: relative_attention(Q, K, V, TABLE, window=0)),
    ("stride 4 with 5 summary columns", lambda: Pattern("fixed", 4, 5)),
    ("not diagonal", lambda: Factor("diagonal")),
    ("not local", lambda: Pattern("local")),
    ("one head", lambda: Pattern("fixed", 4).of_heads("split", 0, 1)),
    ("not both", lambda: Pattern("fixed", 4).of_heads("both", 0, 2)),
    ("2 heads of 3", lambda: sparse_attention(Q, K, V, ((2, Factor("row", 2)),))),
    ("expected one shape", lambda: gathered_attention(Q[:, :, 1:], K, V, Factor("row", 2))),
    ("10 queries for 4 keys", lambda: span_attention(Q, K[:, :, :4], V[:, :, :4], drawn(1, SPAN, 4), SPANS["none"], SPAN, RAMP)),
    ("150 distances for a span of 99", lambda: span_attention(Q, K, V, drawn(1, SPAN, 4), SPANS["none"], 99, RAMP)),
    ("0 rounds of hashing", lambda: rotations(1, 4, 0, 4)),
    *[(f"{number} buckets", lambda number=number: rotations(1, 4, 1, number)) for number in (0, 1, 7)],
    (r"buckets \(2, 3, 3, 12\) for queries \(2, 3, 10, 4\)", lambda: lsh_attention(Q, V, BUCKETS, 4)),
    ("chunks of 0 places", lambda: lsh_attention(*hashed(10, 2, 4), 0)),
    ("d_model 10", lambda: LSHSelfAttention(10, 3, 4)),
]


@pytest.mark.parametrize(("said", "ask"), REFUSED)
def test_what_makes_no_sense_is_refused_in_one_sentence(said: str, ask: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=said):
        ask()
