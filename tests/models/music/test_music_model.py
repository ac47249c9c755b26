"""The three networks: what they see, what counts, and that cached decoding is the whole pass."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from models.music import lstm
from models.music.data import NONE, Batch, batch_of
from models.music.decode import reader
from models.music.lstm import PerformanceRNN
from models.music.model import Config, MusicTransformer
from models.music.pretrained import Network
from models.music.recipe import Objective, costs
from models.sampling import FREE, Wanted, Writer, uniforms, written
from models.trace import Trace

EVENTS = 13
SMALL = Config(EVENTS, distances=24, cycles=(4, 8), d_model=24, d_ff=32, n_heads=3, n_layers=2)


def network(kind: str) -> Network:
    torch.manual_seed(6)
    if kind == "lstm":
        return PerformanceRNN(lstm.Config(EVENTS, d_model=16)).eval()
    return MusicTransformer(SMALL if kind == "relative" else dataclasses.replace(SMALL, distances=0, longest=200)).eval()


kinds = pytest.mark.parametrize("kind", ["relative", "transformer", "lstm"])


def sequences(count: int = 3, length: int = 80) -> list[np.ndarray]:
    generator = np.random.default_rng(5)
    return [generator.integers(0, EVENTS, length - 7 * i) for i in range(count)]


@kinds
def test_no_event_is_told_from_what_comes_later(kind: str) -> None:
    model = network(kind)
    before = batch_of(sequences(), EVENTS).before
    changed = before.clone()
    changed[:, 50:] = 0
    with torch.no_grad():
        one, other = model(before), model(changed)
    torch.testing.assert_close(one[:, :50], other[:, :50])
    assert not torch.allclose(one[:, 50:], other[:, 50:])


@kinds
def test_padding_never_counts(kind: str) -> None:
    model = network(kind)
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


@kinds
def test_cached_reading_is_the_whole_pass(kind: str) -> None:
    model = network(kind)
    before = batch_of([one[:40] for one in sequences(2)], EVENTS).before
    with torch.no_grad():
        whole = model(before)
    begun = reader(model, 2, 40)
    torch.testing.assert_close(begun.read(before[:, :17])[:, -1], whole[:, 16], atol=1e-5, rtol=1e-5)  # some at once, then one by one
    for i in range(17, 40):
        torch.testing.assert_close(begun.read(before[:, i : i + 1])[:, -1], whole[:, i], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("farthest", [0, 1, 5])
def test_cached_reading_under_an_intervention_is_the_whole_pass_too(farthest: int) -> None:
    model = network("relative")
    before = batch_of([one[:40] for one in sequences(2)], EVENTS).before
    gains = torch.ones(2, 2, 3)
    gains[1, 0, 2] = 0
    with torch.no_grad():
        whole = model(before, gains=gains, farthest=farthest)
        assert not torch.allclose(whole, model(before), atol=1e-4)
    begun = reader(model, 2, 40, gains, farthest)
    begun.read(before[:, :20])
    torch.testing.assert_close(begun.read(before[:, 20:21])[:, -1], whole[:, 20], atol=1e-5, rtol=1e-5)


@kinds
def test_what_is_made_costs_what_the_whole_pass_says(kind: str) -> None:
    model = network(kind)
    known = torch.full((2, 30), FREE)
    known[:, :9] = torch.from_numpy(sequences(1)[0][:9])
    known[:, 14] = 3  # given in the midst, as a melody is
    wanted = Wanted(known, torch.stack([uniforms(s, 30) for s in (1, 2)]), (1.0, 0.7))
    made, nats = written(Writer(reader(model, 2, 30), wanted, given=False))
    assert torch.equal(made[:, :9], known[:, :9])
    assert made[:, 14].tolist() == [3, 3]
    assert not torch.equal(made[0, 9:], made[1, 9:])
    told = costs(model, [row.numpy() for row in made])
    expected = np.where(known.numpy() == FREE, np.stack(told), 0)
    np.testing.assert_allclose(nats.numpy(), expected, atol=1e-4)


@kinds
def test_company_in_a_batch_changes_nothing(kind: str) -> None:
    model = network(kind)
    draws = torch.stack([uniforms(s, 25) for s in (4, 5)])
    together, _ = written(Writer(reader(model, 2, 25), Wanted(torch.full((2, 25), FREE), draws, (1.0, 1.0))))
    alone, _ = written(Writer(reader(model, 1, 25), Wanted(torch.full((1, 25), FREE), draws[1:], (1.0,))))
    assert torch.equal(together[1:], alone)


def test_what_is_given_is_read_at_once() -> None:
    known = torch.full((1, 20), FREE)
    known[:, :12] = 1
    writer = Writer(reader(network("relative"), 1, 20), Wanted(known, uniforms(1, 20)[None], (1.0,)))
    assert writer.step() == 13
    assert writer.step() == 1
    writer = Writer(reader(network("lstm"), 1, 20), Wanted(torch.ones(1, 20, dtype=torch.long), uniforms(1, 20)[None], (1.0,)))
    assert writer.step() == 20
    assert writer.done
    assert writer.step() == 0


def test_a_cache_that_is_full_says_so() -> None:
    begun = reader(network("relative"), 1, 4)
    with pytest.raises(ValueError, match="5 positions in a cache for 4"):
        begun.read(torch.zeros(1, 5, dtype=torch.long))


def test_relative_positions_go_on_where_sinusoids_end() -> None:
    before = torch.zeros(1, 250, dtype=torch.long)
    with torch.no_grad():
        assert network("relative")(before).shape == (1, 250, EVENTS)
        with pytest.raises(ValueError, match="250"):
            network("transformer")(before)


def test_the_same_events_later_in_a_piece_look_the_same_to_relative_attention_alone() -> None:
    torch.manual_seed(2)
    moved = {}
    for distances in (24, 0):
        model = MusicTransformer(dataclasses.replace(SMALL, distances=distances, cycles=(), n_layers=1)).eval()
        with torch.no_grad():
            motif = torch.tensor([[1, 2, 3, 4, 5, 6]])
            moved[distances] = (model(motif)[0, -1] - model(motif, first=40)[0, -1]).abs().max()
    assert moved[24] == 0
    assert moved[0] > 1e-3


def test_the_trace_sees_each_layer_and_the_weights_sum_to_one() -> None:
    trace = Trace("*/self/weights", "*/self/keys", keep={"query": [39]})
    with torch.no_grad():
        network("relative")(batch_of(sequences(1), EVENTS).before, trace=trace)
    weights = trace.stack("*/self/weights")
    assert weights.shape == (2, 1, 3, 1, 80)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert not weights[..., 40:].any()
    assert trace.stack("*/self/keys").shape == (2, 1, 3, 80, 8)
