"""The three networks: what they see, what counts, and that cached decoding is the whole pass."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from models.music.data import batch_of
from models.music.model import MusicTransformer
from models.music.recipe import Objective
from models.trace import Trace
from models.windows import NONE, Batch
from tests.models.networks import EVENTS, MUSIC, music

kinds = pytest.mark.parametrize("kind", ["relative", "transformer", "lstm"])


def sequences(count: int = 3, length: int = 80) -> list[np.ndarray]:
    generator = np.random.default_rng(5)
    return [generator.integers(0, EVENTS, length - 7 * i) for i in range(count)]


@kinds
def test_padding_never_counts(kind: str) -> None:
    model = music(kind)
    objective = Objective(model)
    pieces = sequences()
    together = objective(batch_of(pieces, EVENTS))
    alone = [objective(batch_of([piece], EVENTS)) for piece in pieces]
    assert int(together[1]) == sum(map(len, pieces)) == sum(int(count) for _, count in alone)
    torch.testing.assert_close(together[0], torch.stack([loss for loss, _ in alone]).sum())
    together[0].backward()
    ours = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    batch = batch_of(pieces, EVENTS)
    noisy = Batch(torch.where(batch.wanted == NONE, 4, batch.before), batch.wanted)
    objective(noisy)[0].backward()
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.grad, ours[name], atol=1e-5, rtol=1e-4)


def test_relative_positions_go_on_where_sinusoids_end() -> None:
    before = torch.zeros(1, 250, dtype=torch.long)
    with torch.no_grad():
        assert music("relative")(before).shape == (1, 250, EVENTS)
        with pytest.raises(ValueError, match="250"):
            music("transformer")(before)


def test_the_same_events_later_in_a_piece_look_the_same_to_relative_attention_alone() -> None:
    torch.manual_seed(2)
    moved = {}
    for distances in (24, 0):
        model = MusicTransformer(dataclasses.replace(MUSIC, distances=distances, cycles=(), n_layers=1)).eval()
        with torch.no_grad():
            motif = torch.tensor([[1, 2, 3, 4, 5, 6]])
            moved[distances] = (model(motif)[0, -1] - model(motif, first=40)[0, -1]).abs().max()
    assert moved[24] == 0
    assert moved[0] > 1e-3


def test_the_trace_sees_each_layer_and_the_weights_sum_to_one() -> None:
    trace = Trace("*/self/weights", "*/self/keys")
    with torch.no_grad():
        music("relative")(batch_of(sequences(1), EVENTS).before, trace=trace)
    weights = trace.stack("*/self/weights")[..., 39, :]
    assert weights.shape == (2, 1, 3, 80)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert not weights[..., 40:].any()
    assert trace.stack("*/self/keys").shape == (2, 1, 3, 80, 8)
