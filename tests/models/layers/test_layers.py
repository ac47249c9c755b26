"""The equations that labs share, but for attention (test_attention_layers.py) and halting
(test_act.py)."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.loss import smoothed_cross_entropy
from models.layers.positional import sinusoids


def test_sinusoids_follow_their_equation() -> None:
    table, angle = (
        sinusoids(50, 8),
        torch.arange(50.0)[:, None] / 10000 ** (torch.arange(0, 8, 2) / 8),
    )
    torch.testing.assert_close(table, torch.stack((angle.sin(), angle.cos()), -1).flatten(1))
    with pytest.raises(ValueError, match="odd"):
        sinusoids(4, 7)


def test_feed_forward_equals_its_equation() -> None:
    torch.manual_seed(1)
    layer, x = FeedForward(6, 12), torch.randn(2, 3, 6)
    inner = torch.clamp(x @ layer.inner.weight.T + layer.inner.bias, min=0)
    torch.testing.assert_close(layer(x), inner @ layer.outer.weight.T + layer.outer.bias)


def test_dropout_keeps_the_mean_and_rests_outside_training() -> None:
    torch.manual_seed(1)
    layer, x = Dropout(0.25), torch.ones(1001, 33)
    out = layer(x)
    assert out.mean().item() == pytest.approx(1, abs=0.02) and (
        out == 0
    ).float().mean().item() == pytest.approx(0.25, abs=0.02)
    assert layer.eval()(x) is x
    with pytest.raises(ValueError, match="below 1"):
        Dropout(1.0)


@pytest.mark.parametrize(
    ("rows", "smoothing", "never"), [(550, 0.1, (0, 2)), (9, 0.0, ()), (5, 0.5, (0,))]
)
def test_the_loss_equals_the_equation_and_so_do_its_gradients(
    rows: int, smoothing: float, never: tuple[int, ...]
) -> None:
    torch.manual_seed(1)
    hidden, readout = (
        torch.randn(rows, 16, requires_grad=True),
        torch.randn(30, 16, requires_grad=True),
    )
    wanted, allowed = torch.randint(3, 30, (rows,)), [i for i in range(30) if i not in never]
    log_p = (hidden @ readout.T).log_softmax(-1)
    equation = (1 - smoothing) * F.nll_loss(log_p, wanted, reduction="sum") - smoothing * log_p[
        :, allowed
    ].mean(1).sum()
    ours = smoothed_cross_entropy(hidden, readout, wanted, smoothing, never)
    torch.testing.assert_close(ours, equation, atol=1e-4, rtol=1e-5)
    for one, other in zip(
        *(torch.autograd.grad(loss, (hidden, readout)) for loss in (ours, equation)), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
