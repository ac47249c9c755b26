"""Attention by hashing equals full attention where everything meets, transformers' layer, and a slow program that takes pair by pair."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from transformers import ReformerConfig
from transformers.models.reformer.modeling_reformer import LSHSelfAttention as TheirAttention

from models.layers.lsh import (
    LSHSelfAttention,
    direct,
    hash_vectors,
    lsh_attention,
    met,
    rotations,
    shared_attention,
    shared_weights,
    sort_by_bucket,
)


def drawn(length: int, rounds: int, buckets: int, batch: int = 2, heads: int = 3, d_head: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """Random queries and values in float64, and the buckets of the queries."""
    generator = torch.Generator().manual_seed(length + rounds)
    query, value = (torch.randn(batch, heads, length, d_head, generator=generator, dtype=torch.float64) for _ in range(2))
    return query, value, hash_vectors(query, rotations(heads, d_head, rounds, buckets, generator))


def written_out(query: Tensor, value: Tensor, buckets: Tensor, chunk: int) -> Tensor:
    """The definition, one query at a time: a set of keys from all rounds, each in it once, and a softmax over them."""
    output = torch.zeros_like(value)
    batch, heads, rounds, length = buckets.shape
    for b in range(batch):
        for h in range(heads):
            chunks = []
            for r in range(rounds):
                order = sorted(range(length), key=lambda p: (int(buckets[b, h, r, p]), p))
                chunks.append({p: place // chunk for place, p in enumerate(order)})
            for i in range(length):
                keys = {j for c in chunks for j in range(i) if c[i] - c[j] in (0, 1)} or {i}
                scores = {j: float(query[b, h, i] @ query[b, h, j] / query[b, h, j].norm()) for j in keys}
                total = sum(math.exp(s) for s in scores.values())
                output[b, h, i] = sum(math.exp(s) / total * value[b, h, j] for j, s in scores.items())
    return output


@pytest.mark.parametrize("length", [1, 7, 16, 29])
@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("chunk", [3, 4])
def test_every_length_and_number_of_rounds_gives_what_the_definition_says(length: int, rounds: int, chunk: int) -> None:
    query, value, buckets = drawn(length, rounds, 6)
    torch.testing.assert_close(lsh_attention(query, value, buckets, chunk), written_out(query, value, buckets, chunk))


def test_a_pair_that_all_rounds_find_counts_once() -> None:
    query, value, buckets = drawn(24, 1, 4)
    four = buckets.repeat(1, 1, 4, 1)
    torch.testing.assert_close(lsh_attention(query, value, four, 4), lsh_attention(query, value, buckets, 4))


def test_one_bucket_and_a_chunk_for_all_is_full_attention() -> None:
    query, value, _ = drawn(21, 1, 2)
    one_bucket = torch.zeros(2, 3, 2, 21, dtype=torch.int16)
    full = shared_attention(query, value)
    for chunk in (11, 21, 64):
        torch.testing.assert_close(lsh_attention(query, value, one_bucket, chunk), full)
    torch.testing.assert_close(shared_weights(query) @ value, full)


def test_more_buckets_than_positions_change_nothing_but_the_order() -> None:
    query, value, buckets = drawn(5, 3, 512)
    torch.testing.assert_close(lsh_attention(query, value, buckets, 2), written_out(query, value, buckets, 2))


def test_the_first_position_sees_itself_and_the_others_never_do() -> None:
    query, value, buckets = drawn(12, 2, 4)
    output = lsh_attention(query, value, buckets, 4)
    torch.testing.assert_close(output[:, :, 0], value[:, :, 0])
    weights = shared_weights(query)
    assert weights[..., 0, 0].eq(1).all()
    assert not weights.diagonal(dim1=-2, dim2=-1)[..., 1:].any()


def test_rows_that_are_worked_on_apart_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    query, value, buckets = drawn(20, 2, 4)
    together = lsh_attention(query, value, buckets, 4)
    monkeypatch.setattr("models.layers.lsh.TOGETHER", 1)
    torch.testing.assert_close(lsh_attention(query, value, buckets, 4), together)


def test_weights_far_below_others_are_nothing_and_large_scores_do_no_harm() -> None:
    query, value, buckets = drawn(16, 2, 4)
    output = lsh_attention(query.float() * 60, value.float(), buckets, 4)
    assert output.isfinite().all()
    torch.testing.assert_close(output.double(), written_out(query * 60, value, buckets, 4), atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("length", [32, 48])
def test_one_round_equals_the_layer_of_transformers(length: int) -> None:
    # Theirs lets the first chunk of the sorted order look around at the last one; with more rounds it counts a pair in each of them.
    torch.manual_seed(3)
    config = ReformerConfig(
        attention_head_size=8, hidden_size=16, num_attention_heads=2, num_buckets=4, num_hashes=1, lsh_attn_chunk_length=8,
        is_decoder=True, hash_seed=5, attn_layers=["lsh"], lsh_attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    theirs = TheirAttention(config).eval()
    ours = LSHSelfAttention(16, 2, 8)
    ours.query.weight, ours.value.weight = theirs.query_key.weight, theirs.value.weight
    torch.nn.init.eye_(ours.project_out.weight)
    x = torch.randn(2, length, 16)
    torch.manual_seed(5)
    rotation = torch.randn(2, 8, 1, 2).transpose(1, 2)  # theirs: (head, d_head, round, half), drawn from the same seed
    buckets = ours.hashes(x, rotation)
    expected = theirs(x)
    assert torch.equal(expected.buckets.long(), buckets.long())
    places = torch.arange(length).expand(2, 2, length)
    rank = torch.empty_like(places).scatter_(2, sort_by_bucket(buckets)[:, :, 0], places)
    behind = (rank >= 8)[..., None]  # whoever has a chunk before its own
    found, wanted = (ours.split(one) for one in (ours(x, buckets), expected.hidden_states))
    assert behind.sum() == 2 * 2 * (length - 8)
    torch.testing.assert_close(found * behind, wanted * behind, atol=1e-5, rtol=1e-4)


def test_what_meets_is_what_hashing_attends_to() -> None:
    query, value, buckets = drawn(18, 3, 4)
    seen = met(sort_by_bucket(buckets), 4).any(2)
    torch.testing.assert_close(shared_weights(query, seen) @ value, lsh_attention(query, value, buckets, 4))
    torch.testing.assert_close(direct(query, value, buckets, 4), lsh_attention(query, value, buckets, 4))


def test_a_hash_is_the_farthest_of_the_columns_and_their_mirror_images() -> None:
    query, _, _ = drawn(30, 1, 2)
    rotation = rotations(3, 4, 2, 6, torch.Generator().manual_seed(1))
    found = hash_vectors(query, rotation)
    rotated = torch.einsum("bhld,hrdc->bhrlc", query, rotation.double())
    assert torch.equal(found.long(), torch.cat((rotated, -rotated), -1).argmax(-1))
    assert torch.equal(hash_vectors(query * 7, rotation), found)


def test_positions_of_a_bucket_stay_in_order() -> None:
    order = sort_by_bucket(torch.tensor([[2, 0, 2, 1, 0]], dtype=torch.int16))
    assert order.tolist() == [[1, 4, 3, 0, 2]]


def test_what_makes_no_sense_is_refused_in_one_sentence() -> None:
    query, value, buckets = drawn(10, 2, 4)
    with pytest.raises(ValueError, match="0 rounds of hashing"):
        rotations(1, 4, 0, 4)
    for number in (0, 1, 7):
        with pytest.raises(ValueError, match=f"{number} buckets"):
            rotations(1, 4, 1, number)
    with pytest.raises(ValueError, match=r"buckets \(2, 3, 2, 10\) for queries \(2, 3, 9, 4\)"):
        lsh_attention(query[:, :, :9], value[:, :, :9], buckets, 4)
    with pytest.raises(ValueError, match="chunks of 0 places"):
        lsh_attention(query, value, buckets, 0)
    with pytest.raises(ValueError, match="d_model 10"):
        LSHSelfAttention(10, 3, 4)
