"""Watching a pass: what is asked for is kept, and nothing else."""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np
import pytest
import torch

from models.explaining.trace import OFF, Trace, TraceTooLarge
from models.layers.attention import attend


def pass_of(trace: Trace, heads: int = 2, queries: int = 3) -> None:
    for i in range(2):
        generator = torch.Generator().manual_seed(i)
        query = torch.randn(1, heads, queries, 4, generator=generator)
        attend(query, query, query, trace=trace.within("encoder", i, "self"))


def test_taps_are_stacked_in_order() -> None:
    trace, other = Trace("encoder/*/self/weights"), Trace("decoder/*/self/weights")
    pass_of(trace)
    pass_of(other)
    assert (
        trace.names() == ("encoder/0/self/weights", "encoder/1/self/weights")
        and other.names() == ()
    )
    assert trace.stack("encoder/*/self/weights").shape == (2, 1, 2, 3, 3)
    assert trace.stack("encoder/1/self/weights").dtype == np.float32
    assert not Trace("*/weights").within("encoder", 0, "self").wants("weights"), (
        "a star stands for one level only"
    )
    assert Trace("encoder/*/self/*").within("encoder", 7, "self").wants("weights")
    with pytest.raises(KeyError, match="encoder/1/self/weights"):
        trace.stack("encoder/*/cross/weights")


@pytest.mark.parametrize(
    ("error", "said", "ask"),
    [
        (
            TraceTooLarge,
            "144 bytes of 100",
            lambda: pass_of(Trace("encoder/*/self/weights", budget=100)),
        ),
        (ValueError, "1 axes", lambda: Trace("x").tap("x", "batch position", torch.ones(2))),
    ],
)
def test_what_cannot_be_kept_says_so(
    error: type[Exception], said: str, ask: Callable[[], None]
) -> None:
    with pytest.raises(error, match=said):
        ask()


def test_what_was_tapped_does_not_change_with_the_tensor() -> None:
    trace, values = Trace("x"), torch.ones(2)
    trace.tap("x", "position", values)
    values.zero_()
    assert trace.stack("x").tolist() == [[1, 1]]


def test_off_wants_nothing_and_costs_next_to_nothing() -> None:
    assert not OFF.within("encoder", 0).wants("weights")
    best = (
        min(timeit.repeat(lambda: OFF.within("encoder", 0).wants("weights"), number=1000, repeat=5))
        / 1000
    )
    assert best < 5e-6
