"""The network: causal under every pattern, and the same whether it is read at once or symbol by symbol."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from models.layers.patterns import KINDS, USES, Pattern
from models.sampling import FREE, Cache, Wanted, Writer, uniforms, written
from models.sparse_transformer.decode import Reader
from models.sparse_transformer.model import Config, SparseTransformer
from models.trace import Trace

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 2}
everywhere = pytest.mark.parametrize(("kind", "use"), [(kind, use) for kind in KINDS for use in USES])


def network(kind: str, use: str = "merged", length: int = 23) -> SparseTransformer:
    torch.manual_seed(3)
    config = Config(symbols=5, kind=kind, stride=5, summary=2, use=use, length=length, width=5, **SMALL)
    return SparseTransformer(config).double().eval().requires_grad_(False)


def symbols(rows: int, length: int = 23) -> Tensor:
    return torch.randint(0, 5, (rows, length), generator=torch.Generator().manual_seed(7))


@everywhere
def test_each_prediction_rests_on_what_paths_of_the_pattern_bring(kind: str, use: str) -> None:
    model, length = network(kind, use), 23
    before = model.after(symbols(1))
    embedded = model.embedded(before)

    def predicted(moved: Tensor) -> Tensor:
        x = embedded + moved
        for i, layer in enumerate(model.layers):
            x = layer(x, i, pattern=model.config.pattern)
        return model.readout(model.norm(x))[0, :, 0]  # type: ignore[no-any-return]

    jacobian = torch.autograd.functional.jacobian(predicted, torch.zeros(1, length, 16, dtype=torch.float64)).abs().sum((1, 3))
    assert not jacobian.triu(1).any()  # nothing from what comes later
    for i in range(length):
        reached = (jacobian[i, : i + 1] > 0).numpy()
        assert reached[i]
        assert reached.all() or use != "merged"  # two layers of the union: what two steps reach, which is everything


@everywhere
def test_symbol_by_symbol_is_all_at_once(kind: str, use: str) -> None:
    model, given = network(kind, use), symbols(2)
    before, cache = model.after(given), Cache(model, 2, 23)
    whole = model(before)
    first = model(before[:, :9], 0, cache)
    cache.position = 9
    parts = [first]
    for i in range(9, 23):
        parts.append(model(before[:, i : i + 1], i, cache))
        cache.position = i + 1
    torch.testing.assert_close(torch.cat(parts, 1), whole)


def test_a_new_symbol_reads_only_the_keys_of_its_pattern() -> None:
    model, cache = network("strided", "split"), None
    before = model.after(symbols(1))
    answers = []
    for spoil in (False, True):
        cache = Cache(model, 1, 23)
        model(before[:, :22], 0, cache)
        cache.position = 22
        if spoil:
            kept = np.union1d(model.config.pattern.union.keys(22), [22])
            hidden = np.setdiff1d(np.arange(22), kept)
            assert len(hidden)
            cache.keys[..., hidden, :], cache.values[..., hidden, :] = 1e6, torch.nan
        answers.append(model(before[:, 22:], 22, cache))
    torch.testing.assert_close(answers[1], answers[0])


def test_a_pattern_of_the_hour_takes_the_place_of_the_trained_one() -> None:
    given = symbols(1)
    models = {kind: network(kind) for kind in KINDS}
    before = models["fixed"].after(given)
    for kind, other in models.items():
        torch.testing.assert_close(models["fixed"](before, pattern=Pattern(kind, 5, 2)), other(before))
    assert not torch.allclose(models["strided"](before, pattern=Pattern("strided", 6)), models["strided"](before))
    # A fixed pattern whose every column is a summary is full attention.
    torch.testing.assert_close(models["fixed"](before, pattern=Pattern("fixed", 4, 4)), models["full"](before))


def test_watching_and_silencing_are_tensors_beside_the_pass() -> None:
    model, trace = network("fixed", "interleaved"), Trace("*/self/queries", "*/self/keys")
    before = model.after(symbols(2))
    plain = model(before)
    torch.testing.assert_close(model(before, trace=trace), plain)
    assert trace.stack("*/self/keys").shape == (2, 2, 2, 23, 8)
    gains = torch.ones(2, 2, 2, dtype=torch.float64)
    gains[1, 1, 0] = 0
    silenced = model(before, gains=gains)
    torch.testing.assert_close(silenced[0], plain[0])
    assert not torch.allclose(silenced[1], plain[1])


def test_company_in_a_batch_changes_nothing_and_what_is_given_stays() -> None:
    model = network("strided")
    known = torch.full((2, 23), FREE)
    known[:, :6], known[1, 6:9] = symbols(2)[:, :6], 3
    draws = torch.stack([uniforms(seed, 23) for seed in (1, 2)])
    both, nats = written(Writer(Reader(model, 2, 23), Wanted(known, draws, (1.0, 0.5))))
    for row, heat in enumerate((1.0, 0.5)):
        alone, cost = written(Writer(Reader(model, 1, 23), Wanted(known[row : row + 1], draws[row : row + 1], (heat,))))
        assert torch.equal(alone[0], both[row])
        torch.testing.assert_close(cost[0], nats[row])
    assert torch.equal(both[known != FREE], known[known != FREE])
    expected = -model(model.after(both)).log_softmax(-1).gather(2, both[..., None])[..., 0]
    torch.testing.assert_close(nats, expected)


def test_what_is_wholly_given_is_read_in_one_step() -> None:
    model = network("fixed")
    writer = Writer(Reader(model, 1, 23), Wanted(symbols(1), torch.zeros(1, 23), (1.0,)))
    writer.step()
    assert writer.done
    assert (writer.nats > 0).all()


def test_positions_that_have_no_place_are_refused() -> None:
    model = network("fixed")
    with pytest.raises(ValueError, match="position 24: the network has places for 23"):
        model(torch.zeros(1, 24, dtype=torch.long))
    cache = Cache(model, 1, 4)
    with pytest.raises(ValueError, match="5 positions in a cache for 4"):
        model(torch.zeros(1, 5, dtype=torch.long), 0, cache)
