"""Reversible layers: what goes in comes back, gradients are the ordinary ones, and memory stays."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from models.layers.reversible import (
    ChunkedFeedForward,
    run_checkpointed,
    run_ordinary,
    run_reversible,
    step_back,
    step_forward,
)
from models.reformer.model import Config, Reformer, Turn

LAYERS = 3


def turns(dtype: torch.dtype = torch.float64) -> tuple[list[Turn], Tensor, Tensor]:
    """Layers that hash, and two halves of a stream that differ."""
    torch.manual_seed(1)
    model = Reformer(
        Config(8, 32, 2, 4, 4, 8, d_model=16, d_ff=24, n_heads=2, n_layers=LAYERS, ff_chunks=3)
    ).to(dtype)
    first, second = torch.randn(2, 2, 21, 16, dtype=dtype)
    return model.turns(model.rotations(2, 4)), first.requires_grad_(), second.requires_grad_()


@pytest.mark.parametrize("other", [run_ordinary, run_checkpointed])
def test_gradients_are_those_of_ordinary_layers(other: object) -> None:
    layers, first, second = turns()
    inputs = (first, second, *(p for one in layers for p in one.parameters()))
    outside = torch.randn(2, *first.shape, dtype=first.dtype)
    found = []
    for way in (run_reversible, other):
        pair = way(layers, first, second)  # type: ignore[operator]
        found.append((*pair, *torch.autograd.grad(pair, inputs, tuple(outside))))
    assert len(found[0]) == len(inputs) + 2
    assert all(one.abs().sum() > 0 for one in found[0])
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("dtype", "most"), [(torch.float64, 1e-13), (torch.float32, 1e-5)])
def test_inputs_come_back_from_outputs(dtype: torch.dtype, most: float) -> None:
    layers, first, second = turns(dtype)
    with torch.no_grad():
        pair, memos = (first, second), []
        for layer in layers:
            memos.append(layer.memo(pair[1]))
            pair = step_forward(layer, *pair, memos[-1])
        assert float((pair[0] - first).detach().abs().max()) > 0.1
        for layer, memo in zip(reversed(layers), reversed(memos), strict=True):
            pair = step_back(layer, *pair, memo)
    assert (
        max(float((a - b).detach().abs().max()) for a, b in zip(pair, (first, second), strict=True))
        < most
    )


def test_nothing_inside_is_kept_for_the_way_back() -> None:
    kept: dict[str, int] = {}
    for way in (run_reversible, run_ordinary):
        layers, first, second = turns()
        held: list[Tensor] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda x, held=held: held.append(x) or x, lambda x: x
        ):  # type: ignore[misc]
            way(layers, first, second)
        kept[way.__name__] = len({x.data_ptr() for x in held})
    assert kept["run_reversible"] == 2
    assert kept["run_ordinary"] > 10 * LAYERS


@pytest.mark.parametrize("chunks", [1, 2, 5, 7, 64])
def test_a_feed_forward_network_in_chunks_gives_the_same_numbers(chunks: int) -> None:
    torch.manual_seed(2)
    network = ChunkedFeedForward(6, 12, chunks).double()
    x = torch.randn(2, 7, 6, dtype=torch.float64, requires_grad=True)
    whole = network.run_whole(x)
    torch.testing.assert_close(network(x), whole)
    with torch.no_grad():
        torch.testing.assert_close(network(x), whole)
    inputs = (x, *network.parameters())
    torch.testing.assert_close(
        torch.autograd.grad(network(x).sin().sum(), inputs),
        torch.autograd.grad(whole.sin().sum(), inputs),
    )


def test_no_chunk_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="0 chunks"):
        ChunkedFeedForward(4, 4, 0)
