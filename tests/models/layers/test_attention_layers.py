"""Every kind of attention, whatever program computes it, is its definition pair by pair, forwards
and backwards.

The definitions are written here once more: a mask over all pairs, distances between them, spans, or
    the sets of keys that hashing finds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.explaining.trace import Trace
from models.layers import local, lsh, relative, span, sparse
from models.layers.attention import MultiHeadAttention, attend, attention_weights
from models.layers.local import Block, blocks_1d, blocks_2d, local_attention
from models.layers.lsh import (
    LSHSelfAttention,
    draw_rotations,
    hash_vectors,
    lsh_attention,
    shared_attention,
)
from models.layers.masks import causal_mask
from models.layers.patterns import FACTORS, PAIRS, USES, Factor, Pattern
from models.layers.patterns import KINDS as PATTERNS
from models.layers.relative import BLOCK, attend_by_skewing, relative_attention
from models.layers.span import span_attention
from models.layers.sparse import attend_last_query, gathered_attention, sparse_attention
from tests.models.networks import largest_tensor


def drawn(*size: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(sum(size)), dtype=dtype)


def three(queries: int, keys: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Query, key and value, (2, 3, position, 4), laid out as a projection leaves them: positions
    outside, heads inside."""
    return [
        drawn(2, length, 3, 4 + i, dtype=dtype)[..., :4].transpose(1, 2)
        for i, length in enumerate((queries, keys or queries, keys or queries))
    ]


# ---- the definitions


def masked(
    query: Tensor, key: Tensor, value: Tensor, allowed: Tensor, more: Tensor | float = 0.0
) -> Tensor:
    """Every pair computed, and then what is not allowed thrown away; 0 for a query that has no
    key."""
    scores = ((query @ key.transpose(-2, -1) + more) / math.sqrt(query.shape[-1])).masked_fill(
        ~allowed, -math.inf
    )
    return scores.softmax(-1).nan_to_num(0.0) @ value


def dense(blocks: Sequence[Block]) -> Tensor:
    """What each query of blocks may see, (query, key)."""
    mask = torch.zeros(blocks[-1].stop, blocks[-1].stop, dtype=torch.bool)
    for block in blocks:
        for query in range(block.start, block.stop):
            mask[query, [*block.memory, *range(block.start, query + 1)]] = True
    return mask


def by_distance(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    table: Tensor | None,
    other: Tensor | None = None,
    window: int | None = None,
) -> Tensor:
    """(q_i · k_j + p_i · E[i − j]) / √d over the keys of a window; far distances share the last
    E."""
    queries, keys = query.shape[2], key.shape[2]
    distance = torch.arange(keys)[-queries:, None] - torch.arange(keys)
    allowed = (distance >= 0) & (distance < (window or keys))
    if table is None:
        return masked(query, key, value, allowed)
    rows = table[:, distance.clamp(0, table.shape[1] - 1)]
    return masked(
        query,
        key,
        value,
        allowed,
        ((query if other is None else other)[:, :, :, None] * rows).sum(-1),
    )


def by_pattern(name: str, length: int, stride: int, summary: int) -> NDArray[np.bool_]:
    """Child et al. (2019), §4.3, pair by pair."""
    near = {
        "row": lambda i, j: j >= max(0, i - stride),
        "block": lambda i, j: j // stride == i // stride,
    }
    far = {
        "column": lambda i, j: (i - j) % stride == 0,
        "summary": lambda i, j: j % stride >= stride - summary,
    }
    one = {**near, **far, "all": lambda i, j: True}
    one["strided"] = lambda i, j: one["row"](i, j) or one["column"](i, j)
    one["fixed"] = lambda i, j: one["block"](i, j) or one["summary"](i, j)
    return np.array([[j <= i and one[name](i, j) for j in range(length)] for i in range(length)])


def by_span(
    query: Tensor, key: Tensor, value: Tensor, table: Tensor, z: Tensor, size: int, ramp: int
) -> Tensor:
    """Σ m exp(s) v / Σ m exp(s), s = q_t · (k_r + p_(t − r)) / √d and m the soft mask, within the
    whole span."""
    queries, keys = query.shape[2], key.shape[2]
    distance = torch.arange(keys)[-queries:, None] - torch.arange(keys)
    scores = (
        query @ key.transpose(-2, -1)
        + (query[:, :, :, None] * table[:, distance.clamp(0, size - 1)]).sum(-1)
    ) / 2
    soft = ((ramp + z[..., None] - distance) / ramp).clamp(0, 1) * (
        (distance >= 0) & (distance < size)
    )
    raised = soft * (scores - scores.amax(-1, keepdim=True).detach()).exp()
    return raised / raised.sum(-1, keepdim=True) @ value


def by_hashing(query: Tensor, value: Tensor, buckets: Tensor, chunk: int) -> Tensor:
    """One query at a time: a set of keys from all rounds, each in it once, and a softmax over
    them."""
    output = torch.zeros_like(value)
    batch, heads, rounds, length = buckets.shape
    for b, h in np.ndindex(batch, heads):
        chunks = []
        for r in range(rounds):
            order = sorted(range(length), key=lambda p: (int(buckets[b, h, r, p]), p))
            chunks.append({p: place // chunk for place, p in enumerate(order)})
        for i in range(length):
            keys = {j for c in chunks for j in range(i) if c[i] - c[j] in (0, 1)} or {i}
            raised = {
                j: math.exp(float(query[b, h, i] @ query[b, h, j] / query[b, h, j].norm()))
                for j in keys
            }
            output[b, h, i] = sum(
                s / sum(raised.values()) * value[b, h, j] for j, s in raised.items()
            )
    return output


# ---- the programs

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
# what is computed, its definition, what both are given, what else each is told
CASES: dict[str, tuple[Any, ...]] = {}


def case(
    name: str,
    program: Any,
    definition: Any,
    given: Sequence[Any],
    ours: Sequence[Any] = (),
    theirs: Sequence[Any] = (),
) -> None:
    """given: how many queries, how many keys, and what follows the values: tensors, or shapes of
    random ones."""
    CASES[f"{program.__module__} {program.__name__}, {name}"] = (
        program,
        definition,
        given,
        ours,
        theirs,
    )


def causally(*given: Tensor) -> Tensor:
    return attend(*given, causal=True)


def weighted(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    return attention_weights(query, key, mask) @ value


def windowed(
    query: Tensor, key: Tensor, value: Tensor, table: Tensor, other: Tensor, window: int | None
) -> Tensor:
    return relative_attention(query, key, value, table, positional=other, window=window)


HOLES = drawn(2, 1, 5, 7) > -0.3
HOLES[0, 0, 2] = False  # may attend to nothing
case("masked", attend, masked, (5, 7), [HOLES], [HOLES])
case("masked", weighted, masked, (5, 7), [HOLES], [HOLES])
case("full", causally, masked, (9, 9), (), [causal_mask(9, 9)])
for name, blocks in LAYOUTS.items():
    for program in (local_attention, local.attend_by_mask):
        case(name, program, masked, (blocks[-1].stop,) * 2, [blocks], [dense(blocks)])
for name, (queries, keys, distances) in SHAPES.items():
    for window in (None, 1, 20, BLOCK, 3 * BLOCK):
        given = (queries, keys, (3, distances, 4), (2, 3, queries, 4))
        for program in (windowed, relative.attend_by_definition):
            case(f"{name}, {window}", program, by_distance, given, [window], [window])
    for program in (
        relative_attention,
        relative.attend_by_definition,
        *([attend_by_skewing] if queries == keys else []),
    ):
        case(name, program, by_distance, (queries, keys, (3, distances, 4)))
    case(
        f"{name}, without distances",
        relative_attention,
        by_distance,
        (queries, keys),
        [None],
        [None],
    )
for name, (length, *numbers) in SIZES.items():
    for factor in FACTORS:
        allowed = torch.from_numpy(by_pattern(factor, length, *numbers))
        for program in (gathered_attention, sparse.attend_by_mask):
            case(
                f"{factor}, {name}",
                program,
                masked,
                (length, length),
                [Factor(factor, *numbers)],
                [allowed],
            )
        case(
            f"{factor}, {name}",
            attend_last_query,
            masked,
            (1, length),
            [Factor(factor, *numbers)],
            [allowed[-1:]],
        )
for kind, use, layer in itertools.product(PATTERNS, USES, (0, 1)):
    first, second, union = (torch.from_numpy(by_pattern(one, 37, 6, 2)) for one in PAIRS[kind])
    rows = {
        "interleaved": [second if layer else first] * 3,
        "merged": [union] * 3,
        "split": [first, second, second],
    }[use]
    case(
        f"{kind}, {use}, {layer}",
        sparse_attention,
        masked,
        (37, 37),
        [Pattern(kind, 6, 2).assign_heads(use, layer, 3)],
        [torch.stack(rows)],
    )
for (name, z), (queries, keys) in itertools.product(
    SPANS.items(), ((140, 140), (140, 190), (70, 200), (1, 60))
):
    for program in (span_attention, span.attend_by_definition):
        case(
            f"{name}, {queries} of {keys}",
            program,
            by_span,
            (queries, keys, (1, SPAN, 4), z[..., :queries].double()),
            *[(SPAN, RAMP)] * 2,
        )


@pytest.mark.usefixtures("way")
# in single precision; in double all go the plain way
@pytest.mark.parametrize("way", ["fused"], indirect=True)
@pytest.mark.parametrize("name", CASES)
def test_layers_equal_their_definition(name: str) -> None:
    program, definition, (queries, keys, *more), ours, theirs = CASES[name]
    given = [
        *three(queries, keys),
        *(one if isinstance(one, Tensor) else drawn(*one) for one in more),
    ]
    given = [one.detach().clone().requires_grad_() for one in given]
    found, expected = program(*given, *ours), definition(*given, *theirs)
    torch.testing.assert_close(found, expected)
    with torch.no_grad():
        torch.testing.assert_close(program(*given, *ours), expected)
        torch.testing.assert_close(
            program(*(one.float() for one in given), *ours), expected.float(), atol=1e-4, rtol=1e-4
        )
    if not found.requires_grad:  # a query without a key
        return
    outside = drawn(*found.shape)
    for one, other in zip(
        *(torch.autograd.grad(out, given, outside) for out in (found, expected)), strict=True
    ):
        torch.testing.assert_close(one, other)


def hashed(length: int, rounds: int, buckets: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random queries and values, and the buckets of the queries."""
    query, _, value = three(length)
    return (
        query,
        value,
        hash_vectors(
            query,
            draw_rotations(3, 4, rounds, buckets, torch.Generator().manual_seed(length + rounds)),
        ),
    )


@pytest.mark.parametrize("buckets", [6, 512])
@pytest.mark.parametrize("length", [1, 7, 29])
@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("chunk", [3, 40])
def test_what_hashing_computes_is_its_definition(
    length: int, rounds: int, chunk: int, buckets: int
) -> None:
    query, value, found = hashed(length, rounds, buckets)
    expected = by_hashing(query, value, found, chunk)
    torch.testing.assert_close(lsh_attention(query, value, found, chunk), expected)
    torch.testing.assert_close(lsh.attend_by_mask(query, value, found, chunk), expected)


# ---- what every kind promises

LENGTH, HEADS = 12, 3
TABLE, BUCKETS = drawn(HEADS, 7, 4), hashed(LENGTH, 3, 4)[2]
KINDS: dict[str, Callable[..., Tensor]] = {  # (query, key, value, gain, trace)
    "full": lambda q, k, v, *how: attend(q, k, v, None, *how, causal=True),
    "relative": lambda q, k, v, *how: relative_attention(q, k, v, TABLE, *how),
    "local, 1D": lambda q, k, v, *how: local_attention(q, k, v, blocks_1d(LENGTH, 4, 3), *how),
    "local, 2D": lambda q, k, v, *how: local_attention(
        q, k, v, blocks_2d(3, 4, (2, 2), (1, 1)), *how
    ),
    "by hashing": lambda q, k, v, *how: lsh_attention(q, v, BUCKETS, 4, *how),
    "shared": lambda q, k, v, *how: shared_attention(q, v, *how),
    "strided": lambda q, k, v, *how: sparse_attention(
        q, k, v, Pattern("strided", 4).assign_heads("merged", 0, HEADS), *how
    ),
    "fixed": lambda q, k, v, *how: sparse_attention(
        q, k, v, Pattern("fixed", 4, 1).assign_heads("split", 0, HEADS), *how
    ),
    "spans": lambda q, k, v, gain, trace=None: span_attention(
        q, k, v, drawn(1, 9, 4), SPANS["none"], 9, 2, trace or Trace()
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_watching_changes_nothing(
    kind: str,
) -> None:
    given, trace = [one.requires_grad_() for one in three(LENGTH)], Trace("queries", "spans")
    plain = KINDS[kind](*given, None)
    assert torch.equal(KINDS[kind](*given, None, trace), plain)
    torch.testing.assert_close(
        torch.from_numpy(trace.stack("queries")[0]).double(),
        given[0].detach(),
        atol=1e-6,
        rtol=1e-6,
    )
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
        lambda q, v: (
            lsh_attention(q, v, BUCKETS[:1, :1], 4)
            if kind == "by hashing"
            else shared_attention(q, v)
        ),
        (query, value),
    )


@pytest.mark.parametrize("kind", ["relative", "strided", "fixed", "row", "summary"])
def test_nothing_as_large_as_all_pairs_is_ever_made(kind: str) -> None:
    length = 1024
    given = [one[:1].detach().requires_grad_() for one in three(length, dtype=torch.float32)]
    if kind == "relative":
        table = drawn(3, length, 4, dtype=torch.float32).requires_grad_()
        assert (
            largest_tensor(lambda: relative_attention(*given, table).sum().backward())
            <= 3 * BLOCK * length
        )
    else:
        one = [x[:, :1] for x in given]
        assert (
            largest_tensor(lambda: gathered_attention(*one, Factor(kind, 32, 4)).sum().backward())
            <= length * length // 8
        )


@pytest.mark.parametrize("kind", ["local", "spans", "strided", "fixed"])
def test_half_precision_stays_close_and_does_not_leak_the_future(kind: str) -> None:
    z = SPANS["a span per head"]
    programs: dict[str, Callable[..., Tensor]] = {
        "local": lambda *qkv: local_attention(*qkv, LAYOUTS["1D"]),
        "spans": lambda *qkv: span_attention(*qkv, drawn(1, SPAN, 4).to(z.dtype), z, SPAN, RAMP),
        **{
            name: lambda *qkv, name=name: gathered_attention(*qkv, Factor(name, 8, 2))
            for name in ("strided", "fixed")
        },
    }
    given = three(48, dtype=torch.float32)
    exact, low = programs[kind](*given), [one.bfloat16().requires_grad_() for one in given]
    found = programs[kind](*low)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), exact, atol=0.06, rtol=0.06)
    for position in (0, 7, 20):
        gradient = torch.autograd.grad(found[:, :, position].float().sum(), low, retain_graph=True)
        assert all(one.isfinite().all() and not one[:, :, position + 1 :].any() for one in gradient)


# ---- what makes no sense

Q, K, V = three(10)
REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("no mask", lambda: attend(Q, K, V, causal=True, mask=causal_mask(10, 10))),
    ("10 is no multiple of 4", lambda: MultiHeadAttention(10, 4)),
    ("blocks of 48 positions for 10 queries", lambda: local_attention(Q, K, V, LAYOUTS["1D"])),
    *[("blocks of", lambda sizes=sizes: blocks_1d(20, *sizes)) for sizes in ((0, 4), (4, -1))],
    *[
        ("tiles of", lambda sizes=sizes: blocks_2d(4, 4, (2, sizes[0]), (sizes[1], 0)))
        for sizes in ((0, 4), (4, -1))
    ],
    ("10 queries for 4 keys", lambda: relative_attention(Q, K[:, :, :4], V[:, :, :4], TABLE)),
    ("0 keys; expected 1 or more", lambda: relative_attention(Q, K, V, TABLE, window=0)),
    ("stride 4 with 5 summary columns", lambda: Pattern("fixed", 4, 5)),
    ("not diagonal", lambda: Factor("diagonal")),
    ("not local", lambda: Pattern("local")),
    ("one head", lambda: Pattern("fixed", 4).assign_heads("split", 0, 1)),
    ("not both", lambda: Pattern("fixed", 4).assign_heads("both", 0, 2)),
    ("2 heads of 3", lambda: sparse_attention(Q, K, V, ((2, Factor("row", 2)),))),
    ("expected one shape", lambda: gathered_attention(Q[:, :, 1:], K, V, Factor("row", 2))),
    (
        "10 queries for 4 keys",
        lambda: span_attention(
            Q, K[:, :, :4], V[:, :, :4], drawn(1, SPAN, 4), SPANS["none"], SPAN, RAMP
        ),
    ),
    (
        "150 distances for a span of 99",
        lambda: span_attention(Q, K, V, drawn(1, SPAN, 4), SPANS["none"], 99, RAMP),
    ),
    ("0 rounds of hashing", lambda: draw_rotations(1, 4, 0, 4)),
    *[
        (f"{number} buckets", lambda number=number: draw_rotations(1, 4, 1, number))
        for number in (0, 1, 7)
    ],
    (
        r"buckets \(2, 3, 3, 12\) for queries \(2, 3, 10, 4\)",
        lambda: lsh_attention(Q, V, BUCKETS, 4),
    ),
    ("chunks of 0 places", lambda: lsh_attention(*hashed(10, 2, 4), 0)),
    ("d_model 10", lambda: LSHSelfAttention(10, 3, 4)),
]


@pytest.mark.parametrize(("said", "ask"), REFUSED)
def test_what_makes_no_sense_is_refused_in_one_sentence(
    said: str, ask: Callable[[], object]
) -> None:
    with pytest.raises(ValueError, match=said):
        ask()
