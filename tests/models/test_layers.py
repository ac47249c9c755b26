"""The equations that labs share."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from models.layers.attention import MultiHeadAttention, attend, attention_weights
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.loss import smoothed_loss
from models.layers.masks import causal, keys_allowed
from models.layers.positional import sinusoids
from models.trace import Trace


def test_attention_equals_a_result_worked_out_by_hand() -> None:
    query = torch.tensor([[[[2.0, 0.0, 0.0, 0.0]]]])
    key = torch.tensor([[[[math.log(3), 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]]]])  # scores 2 · log 3 / √4 = log 3 and 0
    value = torch.tensor([[[[4.0], [8.0]]]])
    torch.testing.assert_close(attention_weights(query, key), torch.tensor([[[[0.75, 0.25]]]]))
    torch.testing.assert_close((attention_weights(query, key) @ value), torch.tensor([[[[5.0]]]]))


def test_watched_weights_times_values_are_the_fused_output_masked_rows_included() -> None:
    torch.manual_seed(1)
    query, key, value = torch.randn(3, 2, 2, 5, 4).unbind(0)
    mask = torch.rand(2, 1, 5, 5) > 0.4
    mask[0, 0, 2] = False  # may attend to nothing
    weights = attention_weights(query, key, mask)
    torch.testing.assert_close(attend(query, key, value, mask), weights @ value, atol=1e-5, rtol=1e-5)
    assert weights[0, :, 2].abs().sum() == 0
    sums = weights.sum(-1)
    torch.testing.assert_close(sums, mask.any(-1).expand_as(sums).float())


def test_a_causal_pass_refuses_a_second_mask() -> None:
    x = torch.randn(1, 1, 2, 4)
    with pytest.raises(ValueError, match="no mask"):
        attend(x, x, x, causal=True, mask=causal(2, 2))


def test_multi_head_attention_equals_that_of_torch_with_the_same_parameters() -> None:
    torch.manual_seed(1)
    ours, theirs = MultiHeadAttention(24, 4), nn.MultiheadAttention(24, 4, batch_first=True)
    theirs.in_proj_weight.data.copy_(ours.project_in.weight)
    theirs.in_proj_bias.data.normal_()
    ours.project_in.bias.data.copy_(theirs.in_proj_bias)
    theirs.out_proj.load_state_dict(ours.project_out.state_dict())
    x, source = torch.randn(2, 5, 24), torch.randn(2, 7, 24)
    allowed = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])
    trace = Trace("weights")
    expected, weights = theirs(x, source, source, key_padding_mask=~allowed, average_attn_weights=False)
    torch.testing.assert_close(ours(x, source, keys_allowed(allowed), trace=trace), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(torch.from_numpy(trace.stack("weights")[0]), weights.detach(), atol=1e-5, rtol=1e-5)
    expected, _ = theirs(x, x, x, attn_mask=~causal(5, 5))
    torch.testing.assert_close(ours(x, causal=True), expected, atol=1e-5, rtol=1e-5)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="10 is no multiple of 4"):
        MultiHeadAttention(10, 4)


def test_sinusoids_follow_their_equation() -> None:
    table = sinusoids(50, 8)
    assert table.shape == (50, 8)
    assert table[7, 4].item() == pytest.approx(math.sin(7 / 10000 ** (4 / 8)), abs=1e-6)
    assert table[7, 5].item() == pytest.approx(math.cos(7 / 10000 ** (4 / 8)), abs=1e-6)
    with pytest.raises(ValueError, match="odd"):
        sinusoids(4, 7)


def test_feed_forward_equals_its_equation() -> None:
    torch.manual_seed(1)
    layer, x = FeedForward(6, 12), torch.randn(2, 3, 6)
    torch.testing.assert_close(
        layer(x), torch.clamp(x @ layer.inner.weight.T + layer.inner.bias, min=0) @ layer.outer.weight.T + layer.outer.bias
    )


def test_dropout_keeps_the_mean_and_rests_outside_training() -> None:
    torch.manual_seed(1)
    layer, x = Dropout(0.25), torch.ones(1001, 33)
    out = layer(x)
    assert out.mean().item() == pytest.approx(1, abs=0.02)
    assert (out == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
    assert layer.eval()(x) is x
    with pytest.raises(ValueError, match="below 1"):
        Dropout(1.0)


def test_the_loss_equals_the_equation_and_so_do_its_gradients() -> None:
    torch.manual_seed(1)
    rows, never = 550, (0, 2)
    hidden = torch.randn(rows, 16, requires_grad=True)
    readout = torch.randn(30, 16, requires_grad=True)
    wanted = torch.randint(3, 30, (rows,))
    allowed = [i for i in range(30) if i not in never]
    logits = hidden @ readout.T
    log_p = logits.log_softmax(-1)
    equation = -(0.9 * log_p.gather(1, wanted[:, None])[:, 0] + 0.1 * log_p[:, allowed].mean(1)).sum()
    ours = smoothed_loss(hidden, readout, wanted, 0.1, never)
    torch.testing.assert_close(ours, equation)
    for one, other in zip(torch.autograd.grad(ours, (hidden, readout)), torch.autograd.grad(equation, (hidden, readout)), strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_without_smoothing_the_loss_is_the_cross_entropy_of_torch() -> None:
    torch.manual_seed(1)
    hidden, readout, wanted = torch.randn(9, 16), torch.randn(30, 16), torch.randint(0, 30, (9,))
    torch.testing.assert_close(
        smoothed_loss(hidden, readout, wanted, 0.0), F.cross_entropy(hidden @ readout.T, wanted, reduction="sum"), atol=1e-4, rtol=1e-5
    )


def test_label_smoothing_gives_no_share_to_padding() -> None:
    """Raising the score of a piece that may never be must only cost."""
    torch.manual_seed(1)
    hidden, wanted = torch.randn(5, 16), torch.tensor([3, 4, 5, 6, 7])
    readout = torch.randn(30, 16, requires_grad=True)
    logits = (hidden @ readout.T).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(smoothed_loss(torch.eye(30)[:5] * 0 + logits, torch.eye(30), wanted, 0.5, (0,)), logits)
    torch.testing.assert_close(gradient[:, 0], logits.softmax(-1)[:, 0])
