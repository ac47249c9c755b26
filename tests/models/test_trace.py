"""Watching a pass: what is asked for is kept, and nothing else."""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np
import pytest
import torch

from models.layers.attention import attend, attention_weights
from models.trace import OFF, Trace, TraceTooLarge


def pass_of(trace: Trace, heads: int = 2, queries: int = 3) -> None:
    for i in range(2):
        generator = torch.Generator().manual_seed(i)
        query = torch.randn(1, heads, queries, 4, generator=generator)
        attend(query, query, query, trace=trace.within("encoder", i, "self"))


def test_taps_come_back_stacked_in_the_order_of_the_pass_and_what_nobody_asked_for_is_not_kept() -> None:
    trace, other = Trace("encoder/*/self/weights"), Trace("decoder/*/self/weights")
    pass_of(trace)
    pass_of(other)
    assert trace.names() == ("encoder/0/self/weights", "encoder/1/self/weights") and other.names() == ()
    assert trace.stack("encoder/*/self/weights").shape == (2, 1, 2, 3, 3)
    assert trace.stack("encoder/1/self/weights").dtype == np.float32
    assert not Trace("*/weights").within("encoder", 0, "self").wants("weights"), "a star stands for one level only"
    assert Trace("encoder/*/self/*").within("encoder", 7, "self").wants("weights")
    with pytest.raises(KeyError, match="encoder/1/self/weights"):
        trace.stack("encoder/*/cross/weights")


@pytest.mark.parametrize(
    ("error", "said", "ask"),
    [
        (IndexError, "head 5 of 2", lambda: pass_of(Trace("encoder/*/self/weights", keep={"head": [5]}))),
        (TraceTooLarge, "144 bytes of 100", lambda: pass_of(Trace("encoder/*/self/weights", budget=100))),
        (ValueError, "1 axes", lambda: Trace("x").tap("x", "batch position", torch.ones(2))),
    ],
)
def test_what_cannot_be_kept_says_so(error: type[Exception], said: str, ask: Callable[[], None]) -> None:
    with pytest.raises(error, match=said):
        ask()


@pytest.mark.parametrize("causal", [False, True])
def test_only_the_kept_head_and_query_are_watched_and_pooled_rows_are_sums_of_keys_and_means_of_queries(causal: bool) -> None:
    x = torch.randn(1, 2, 12, 8, generator=torch.Generator().manual_seed(1))
    seen = {}
    for name, how in {"whole": {}, "kept": {"keep": {"head": [1], "query": [2]}}, "pooled": {"pool": 4}, "fits": {"pool": 64}}.items():
        trace = Trace("weights", **how)
        attend(x, x, x, trace=trace, causal=causal)
        seen[name] = trace.stack("weights")[0]
    mask = torch.ones(12, 12, dtype=torch.bool).tril() if causal else None
    np.testing.assert_allclose(seen["whole"], attention_weights(x, x, mask).numpy(), atol=1e-6)
    np.testing.assert_allclose(seen["fits"], seen["whole"], atol=1e-6)
    np.testing.assert_allclose(seen["kept"], seen["whole"][:, 1:2, 2:3], atol=1e-6)
    edges = [0, 3, 6, 9]
    by_key = np.add.reduceat(seen["whole"], edges, 3)
    by_hand = np.stack([by_key[:, :, begin : begin + 3].mean(2) for begin in edges], 2)
    np.testing.assert_allclose(seen["pooled"], by_hand, atol=1e-5)
    odd = Trace("weights", pool=4)
    attend(x[:, :, :10], x[:, :, :10], x[:, :, :10], trace=odd, causal=causal)
    np.testing.assert_allclose(odd.stack("weights")[0].sum(-1), 1, atol=1e-5)


def test_what_was_tapped_does_not_change_with_the_tensor() -> None:
    trace, values = Trace("x"), torch.ones(2)
    trace.tap("x", "position", values)
    values.zero_()
    assert trace.stack("x").tolist() == [[1, 1]]


def test_off_wants_nothing_and_costs_next_to_nothing() -> None:
    assert not OFF.within("encoder", 0).wants("weights")
    best = min(timeit.repeat(lambda: OFF.within("encoder", 0).wants("weights"), number=1000, repeat=5)) / 1000
    assert best < 5e-6
