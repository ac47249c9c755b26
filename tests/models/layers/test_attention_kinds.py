"""What one kind of attention alone promises: its peers in other packages, its plans and steps, and
what it never looks at."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from local_attention import LocalAttention
from torch import nn
from transformers import ReformerConfig
from transformers.models.reformer.modeling_reformer import LSHSelfAttention as TheirAttention

from models.explaining.trace import Trace
from models.layers import lsh, sparse
from models.layers.attention import MultiHeadAttention
from models.layers.local import Block, blocks_1d, blocks_2d, local_attention, order_2d
from models.layers.lsh import (
    LSHSelfAttention,
    draw_rotations,
    hash_vectors,
    lsh_attention,
    mark_meetings,
    shared_attention,
    shared_weights,
    sort_by_bucket,
)
from models.layers.masks import broadcast_key_mask, causal_mask
from models.layers.patterns import FACTORS, Factor, Pattern
from models.layers.relative import compute_weights_of, list_skewing_steps, relative_attention
from models.layers.span import group_by_reach, measure_reach, plan_groups, soft_mask, span_attention
from models.layers.sparse import gathered_attention
from tests.models.layers.test_attention_layers import (
    LAYOUTS,
    RAMP,
    SIZES,
    SPAN,
    SPANS,
    by_hashing,
    by_pattern,
    drawn,
    hashed,
    three,
)

# ---- full attention


def test_attention_equals_that_of_torch() -> None:
    torch.manual_seed(1)
    ours, theirs = MultiHeadAttention(24, 4), nn.MultiheadAttention(24, 4, batch_first=True)
    theirs.in_proj_weight.data.copy_(ours.project_in.weight)
    theirs.in_proj_bias.data.normal_()
    ours.project_in.bias.data.copy_(theirs.in_proj_bias)
    theirs.out_proj.load_state_dict(ours.project_out.state_dict())
    x, source = torch.randn(2, 5, 24), torch.randn(2, 7, 24)
    allowed, trace = torch.tensor([[True] * 7, [True] * 4 + [False] * 3]), Trace("weights")
    expected, weights = theirs(
        x, source, source, key_padding_mask=~allowed, average_attn_weights=False
    )
    torch.testing.assert_close(
        ours(x, source, mask=broadcast_key_mask(allowed), trace=trace),
        expected,
        atol=1e-5,
        rtol=1e-5,
    )
    torch.testing.assert_close(
        torch.from_numpy(trace.stack("weights")[0]), weights.detach(), atol=1e-5, rtol=1e-5
    )
    expected, _ = theirs(x, x, x, attn_mask=~causal_mask(5, 5))
    torch.testing.assert_close(ours(x, causal=True), expected, atol=1e-5, rtol=1e-5)


# ---- in blocks


@pytest.mark.parametrize("blocks", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_blocks_cover_each_position_once(
    blocks: tuple[Block, ...],
) -> None:
    assert [i for block in blocks for i in range(block.start, block.stop)] == list(
        range(blocks[-1].stop)
    )
    assert all(
        list(block.memory) == sorted(set(block.memory))
        and max(block.memory, default=-1) < block.start
        for block in blocks
    )


@pytest.mark.parametrize("length", [32, 64])
def test_1d_is_what_the_local_attention_package_computes(length: int) -> None:
    peer = LocalAttention(
        dim=4,
        window_size=16,
        causal=True,
        look_backward=1,
        look_forward=0,
        dropout=0.0,
        use_rotary_pos_emb=False,
    )
    given = three(length, dtype=torch.float32)
    torch.testing.assert_close(
        local_attention(*given, blocks_1d(length, 16, 16)), peer(*given), atol=1e-5, rtol=1e-4
    )


def test_the_flange_reaches_the_upper_right() -> None:
    tiles = [
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [(0, 2), (0, 3), (1, 2), (1, 3)],
        [(2, 0), (2, 1), (2, 2), (2, 3)],
    ]
    assert order_2d(3, 4, (2, 2)) == [place for tile in tiles for place in tile]
    # the tile of rows 2 and 3, columns 2 and 3
    order, middle = order_2d(4, 6, (2, 2)), blocks_2d(4, 6, (2, 2), (2, 2))[4]
    assert {order[i] for i in range(middle.start, middle.stop)} == {(2, 2), (2, 3), (3, 2), (3, 3)}
    seen = {(row, column) for row in (0, 1) for column in range(6)} | {
        (row, column) for row in (2, 3) for column in (0, 1)
    }
    assert {order[i] for i in middle.memory} == seen


# ---- by distance


def test_each_step_of_skewing_is_kept() -> None:
    query, table = drawn(7, 4), drawn(7, 4) + 1
    steps = list_skewing_steps(query, table)
    assert [
        tuple(one.shape) for one in (steps.product, steps.padded, steps.reshaped, steps.sliced)
    ] == [(7, 7), (7, 8), (8, 7), (7, 7)]
    assert torch.equal(steps.padded[:, 1:], steps.product) and not steps.padded[:, 0].any()
    assert torch.equal(steps.reshaped.flatten(), steps.padded.flatten()) and torch.equal(
        steps.sliced, steps.reshaped[1:]
    )
    by_hand = torch.stack(
        [torch.stack([query[i] @ table[max(i - j, 0)] for j in range(7)]) for i in range(7)]
    )
    torch.testing.assert_close(steps.direct, by_hand.tril())
    torch.testing.assert_close(steps.sliced.tril(), by_hand.tril())
    # garbage above the diagonal
    assert torch.equal(steps.allowed, causal_mask(7, 7)) and not torch.allclose(
        steps.sliced, by_hand
    )


@pytest.mark.parametrize("window", [None, 1, 7, 70])
def test_watched_weights_are_those_of_the_output(window: int | None) -> None:
    query, key, value = three(30, 70)
    for table, other in ((drawn(3, 12, 4), query * 2), (drawn(3, 12, 4), None), (None, None)):
        trace = Trace("weights")
        output = relative_attention(
            query, key, value, table, None, trace, positional=other, window=window
        )
        torch.testing.assert_close(
            compute_weights_of(query, key, table, list(range(40, 70)), other, window) @ value,
            output,
        )
        if window in {None, 70}:
            (weights,) = trace.stack("weights")
            torch.testing.assert_close(
                torch.from_numpy(weights).double() @ value, output, atol=1e-6, rtol=1e-5
            )
            assert not weights[:, :, 3, 44:].any()


# ---- by pattern


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("name", FACTORS)
def test_a_pattern_is_its_definition(name: str, size: tuple[int, int, int]) -> None:
    (length, *numbers), factor = size, Factor(name, *size[1:])
    expected = by_pattern(name, length, *numbers)
    assert np.array_equal(factor.build_mask(length), expected) and np.array_equal(
        factor.count_keys(length), expected.sum(1)
    )
    for i in (0, length // 2, length - 1):
        assert np.array_equal(
            factor.list_keys(i), expected[i].nonzero()[0]
        )  # ascending, no pair twice


@pytest.mark.parametrize("name", ["strided", "fixed", "summary"])
def test_without_the_fused_kernel_it_is_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, factor = three(41), Factor(name, 7, 3)
    expected = gathered_attention(*given, factor)
    monkeypatch.setattr(sparse, "KERNEL", "no_kernel_of_this_name")
    monkeypatch.setattr(sparse, "_attend_fused", None)
    torch.testing.assert_close(gathered_attention(*given, factor), expected)


@pytest.mark.parametrize("kind", ["strided", "fixed"])
@pytest.mark.parametrize(("stride", "summary"), [(7, 2), (6, 1), (50, 9), (1, 1)])
def test_everything_before_is_reached_over_one_position_between(
    kind: str, stride: int, summary: int
) -> None:
    union = Pattern(kind, stride, summary).joint_factor.build_mask(45).astype(int)
    # p steps, within the p + 1 of §4.2
    assert np.array_equal((union + union @ union > 0), np.tri(45, dtype=bool))


# ---- by span


def test_the_soft_mask_worked_out_by_hand() -> None:
    distance = torch.tensor([0, 4, 5, 6, 7, 8, 9, 100])
    # (4 + 5 − x) / 4 from x = 5 to x = 9
    assert soft_mask(distance, torch.tensor(5.0), 4).tolist() == [1, 1, 1, 0.75, 0.5, 0.25, 0, 0]
    for z in (0.0, 0.2, 7.0, 19.5, 140.0, 150.0):
        alive = soft_mask(torch.arange(SPAN), torch.tensor(z), RAMP) > 0
        assert measure_reach(z, RAMP, SPAN) == int(alive.sum()), (
            "a head reaches exactly as far as its mask is above zero"
        )


def test_what_lies_behind_the_ramp_is_never_looked_at() -> None:
    query, key, value = three(140)
    z, table = SPANS["a span per head"].double(), drawn(1, SPAN, 4)
    exact = span_attention(query, key, value, table, z, SPAN, RAMP)
    key, value = key.clone(), value.clone()
    # head 0 reaches 33 positions: the block from 128 on needs 96 … 139
    key[:, 0, :40], value[:, 0, :40] = torch.nan, torch.nan
    torch.testing.assert_close(
        span_attention(query, key, value, table, z, SPAN, RAMP)[:, 0, 128:], exact[:, 0, 128:]
    )


def test_heads_of_equal_span_share_a_pass() -> None:
    assert [(group.heads, group.reaches) for group in group_by_reach([33, 140, 60, 150], 64)] == [
        ((0, 2), (60,)),
        ((1, 3), (150,)),
    ]
    z = torch.zeros(1, 3, 130)
    z[0, 0, 70], z[0, 2, 129], z[0, 1, 0] = 50, 60, 118
    groups = plan_groups(z, 130, SPAN, RAMP)
    assert [(group.heads, group.reaches) for group in groups] == [
        ((0, 2), (32, 82, 92)),
        ((1,), (150, 32, 32)),
    ]


# ---- by hashing


def test_without_hashing_all_past_is_seen() -> None:
    query, value, buckets = hashed(21, 2, 4)
    full = by_hashing(query, value, torch.zeros_like(buckets), 64)
    torch.testing.assert_close(shared_attention(query, value), full)
    torch.testing.assert_close(shared_weights(query) @ value, full)
    torch.testing.assert_close(lsh_attention(query, value, torch.zeros_like(buckets), 11), full)
    seen = mark_meetings(sort_by_bucket(buckets), 4).any(2)
    torch.testing.assert_close(
        shared_weights(query, seen) @ value, lsh_attention(query, value, buckets, 4)
    )
    repeated = buckets[:, :, :1].repeat(1, 1, 4, 1)
    torch.testing.assert_close(
        lsh_attention(query, value, repeated, 4), by_hashing(query, value, buckets[:, :, :1], 4)
    )


def test_rows_that_are_worked_on_apart_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    query, value, buckets = hashed(20, 2, 4)
    together = lsh_attention(query, value, buckets, 4)
    monkeypatch.setattr(lsh, "TOGETHER", 1)
    torch.testing.assert_close(lsh_attention(query, value, buckets, 4), together)


def test_extreme_scores_do_no_harm() -> None:
    query, value, buckets = hashed(16, 2, 4)
    output = lsh_attention(query.float() * 60, value.float(), buckets, 4)
    torch.testing.assert_close(
        output.double(), by_hashing(query * 60, value, buckets, 4), atol=1e-3, rtol=1e-3
    )


@pytest.mark.parametrize("length", [32, 48])
def test_one_round_equals_the_layer_of_transformers(length: int) -> None:
    # Theirs lets the first chunk of the sorted order look around at the last one; with more rounds
    # it counts a pair in each of them.
    torch.manual_seed(3)
    config = ReformerConfig(
        attention_head_size=8, hidden_size=16, num_attention_heads=2, num_buckets=4, num_hashes=1,
        lsh_attn_chunk_length=8,
        is_decoder=True, hash_seed=5, attn_layers=["lsh"], lsh_attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    theirs, ours = TheirAttention(config).eval(), LSHSelfAttention(16, 2, 8)
    ours.query.weight, ours.value.weight = theirs.query_key.weight, theirs.value.weight
    nn.init.eye_(ours.project_out.weight)
    x = torch.randn(2, length, 16)
    torch.manual_seed(5)
    # theirs: (head, d_head, round, half), drawn from the same seed
    rotation = torch.randn(2, 8, 1, 2).transpose(1, 2)
    buckets, expected = ours.hash_inputs(x, rotation), theirs(x)
    assert torch.equal(expected.buckets.long(), buckets.long())
    places = torch.arange(length).expand(2, 2, length)
    rank = torch.empty_like(places).scatter_(2, sort_by_bucket(buckets)[:, :, 0], places)
    behind = (rank >= 8)[..., None]  # whoever has a chunk before its own
    assert behind.sum() == 2 * 2 * (length - 8)
    found, wanted = (ours.split_heads(one) for one in (ours(x, buckets), expected.hidden_states))
    torch.testing.assert_close(found * behind, wanted * behind, atol=1e-5, rtol=1e-4)


def test_a_hash_is_the_farthest_column() -> None:
    query, rotation = three(30)[0], draw_rotations(3, 4, 2, 6, torch.Generator().manual_seed(1))
    found = hash_vectors(query, rotation)
    rotated = torch.einsum("bhld,hrdc->bhrlc", query, rotation.double())
    assert torch.equal(found.long(), torch.cat((rotated, -rotated), -1).argmax(-1)) and torch.equal(
        hash_vectors(query * 7, rotation), found
    )
    assert sort_by_bucket(torch.tensor([[2, 0, 2, 1, 0]], dtype=torch.int16)).tolist() == [
        [1, 4, 3, 0, 2]
    ]
