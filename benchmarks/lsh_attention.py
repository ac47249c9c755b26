"""Attention by hashing beside reformer-pytorch, transformers' layer, and dense attention, fused and
explicit, float32, 4 rounds, chunks of 64 places.

Width 512, 8 heads, one sequence, as many buckets as chunks, hashing included, forward without
gradients. All get shared queries and values as they are; transformers' layer runs without its
projections. Conventions differ in points that no time depends on (models/layers/lsh.py). Ours alone
counts a pair that several rounds find only once.
explicit_mb: that of softmax(Q Kᵀ) V written out, all scores in memory at once, which is the memory
    that hashing saves. It is not timed.
vs_*_ratio: their time over ours at 8,192.
memory_vs_best_package_ratio: our peak over the smaller of the packages', the profiler's, in a fresh
    process each, results included.
growth_exponent: slope of log time over log length of ours, 1,024 … 16,384.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import (
    D_HEAD,
    HEADS,
    Bound,
    Figure,
    Report,
    fresh,
    growth,
    heads,
    median,
    peak_bytes,
    ratio,
    time_in_turns,
)
from benchmarks.sizes import size
from models.layers.lsh import draw_rotations, hash_vectors, lsh_attention

LENGTHS = size((1024, 2048, 4096, 8192, 16384), (128, 256))
LENGTH, CHUNK, ROUNDS = size((8192, 64, 4), (256, 64, 2))
PACKAGES = ("reformer_pytorch", "transformers")
Side = Callable[[], object]


def build_ours(length: int, device: torch.device) -> Side:
    """Build our attention: hash, sort, attend."""
    query, value = heads(2, length, device)
    drawn = draw_rotations(HEADS, D_HEAD, ROUNDS, max(2, length // CHUNK)).to(device)
    return lambda: lsh_attention(query, value, hash_vectors(query, drawn), CHUNK)


def dense(length: int, device: torch.device) -> Side:
    """Build the library's fused causal attention over everything before."""
    query, value = heads(2, length, device)
    return lambda: F.scaled_dot_product_attention(query, query, value, is_causal=True)


def explicit(length: int, device: torch.device) -> Side:
    """Build the same attention written out: scores of every query and key, masked in place, their
    softmax, times the values."""
    query, value = heads(2, length, device)
    future = torch.ones(length, length, dtype=torch.bool, device=device).triu_(1)

    def side() -> Tensor:
        scores = (
            (query @ query.transpose(2, 3))
            .mul_(1 / math.sqrt(D_HEAD))
            .masked_fill_(future, -math.inf)
        )
        return scores.softmax(-1) @ value

    return side


def reformer_pytorch(length: int, device: torch.device) -> Side:
    """Build the package's attention, unchanged. It counts a pair in every round that finds it."""
    from reformer_pytorch import LSHAttention

    layer = LSHAttention(bucket_size=CHUNK, n_hashes=ROUNDS, causal=True).to(device).eval()
    query, value = (one.flatten(0, 1) for one in heads(2, length, device))
    return lambda: layer(query, value)


def transformers(length: int, device: torch.device) -> Side:
    """Build the layer of transformers without its projections: queries and values come as they
    are."""
    from transformers import ReformerConfig
    from transformers.models.reformer.modeling_reformer import LSHSelfAttention

    config = ReformerConfig(
        attention_head_size=D_HEAD,
        hidden_size=HEADS * D_HEAD,
        num_attention_heads=HEADS,
        num_buckets=max(2, length // CHUNK),
        num_hashes=ROUNDS,
        lsh_attn_chunk_length=CHUNK,
        is_decoder=True,
        attn_layers=["lsh"],
        lsh_attention_probs_dropout_prob=0.0,
    )
    layer = LSHSelfAttention(config).to(device).eval()
    query, value = (one.transpose(1, 2).flatten(2) for one in heads(2, length, device))
    layer.register_module("query_key", torch.nn.Identity())
    given: Any = torch.nn.Identity()
    given.forward = lambda _hidden: value
    layer.register_module("value", given)
    return lambda: layer(query)


WAYS: dict[str, Callable[[int, torch.device], Side]] = {
    "ours": build_ours,
    "dense": dense,
    "reformer_pytorch": reformer_pytorch,
    "transformers": transformers,
}
PEAKS = {**WAYS, "explicit": explicit}  # whose memory is measured


def _peak(way: str, length: int, device: str) -> int:
    """Return the profiler's peak of one call, in bytes. Call it in a fresh process."""
    torch.manual_seed(1)
    side = PEAKS[way](length, torch.device(device))
    with torch.no_grad():
        return peak_bytes(side, torch.device(device))


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    with torch.no_grad():
        times = time_in_turns({way: make(LENGTH, device) for way, make in WAYS.items()}, device)
    lengths = growth(
        "ours", {length: build_ours(length, device) for length in LENGTHS}, device, 1.2, rounds=3
    )
    peaks = {way: fresh(_peak, way, LENGTH, str(device)) for way in PEAKS}
    figures: dict[str, Figure] = {
        f"{way}_ms": median(seconds) * 1e3 for way, seconds in times.items()
    }
    figures |= {f"{way}_mb": peak / 1e6 for way, peak in peaks.items()}
    figures |= lengths
    for way, least in (("dense", 1.4), ("reformer_pytorch", 1.7), ("transformers", 1.7)):
        figures[f"vs_{way}_ratio"] = ratio(times, way, "ours"), Bound(least, at_least=True)
    figures["memory_vs_best_package_ratio"] = (
        peaks["ours"] / min(peaks[way] for way in PACKAGES),
        Bound(0.5),
    )
    return Report.of(figures)
