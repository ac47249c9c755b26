"""The network: causal under every pattern, and the same whether it is read at once or symbol by symbol."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from models.layers.patterns import KINDS, USES, Pattern
from models.sampling import Cache
from tests.models.networks import sparse

everywhere = pytest.mark.parametrize(("kind", "use"), [(kind, use) for kind in KINDS for use in USES])


def symbols(rows: int, length: int = 23) -> Tensor:
    return torch.randint(0, 5, (rows, length), generator=torch.Generator().manual_seed(7))


@everywhere
def test_each_prediction_rests_on_what_paths_of_the_pattern_bring(kind: str, use: str) -> None:
    model, length = sparse(kind, use), 23
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


def test_a_new_symbol_reads_only_the_keys_of_its_pattern() -> None:
    model, cache = sparse("strided", "split"), None
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
    models = {kind: sparse(kind) for kind in KINDS}
    before = models["fixed"].after(given)
    for kind, other in models.items():
        torch.testing.assert_close(models["fixed"](before, pattern=Pattern(kind, 5, 2)), other(before))
    assert not torch.allclose(models["strided"](before, pattern=Pattern("strided", 6)), models["strided"](before))
    # A fixed pattern whose every column is a summary is full attention.
    torch.testing.assert_close(models["fixed"](before, pattern=Pattern("fixed", 4, 4)), models["full"](before))


def test_positions_that_have_no_place_are_refused() -> None:
    model = sparse("fixed")
    with pytest.raises(ValueError, match="position 24: the network has places for 23"):
        model(torch.zeros(1, 24, dtype=torch.long))
