"""The mechanism: the four terms, the memory and its border, and that segments of any length are one long pass."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers.models.xlnet.configuration_xlnet import XLNetConfig
from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

from models.layers.positional import sinusoids
from models.layers.relative import weights_of
from models.trace import Trace
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.attention import XLAttention
from models.transformer_xl.data import costs
from models.transformer_xl.decode import Cache
from models.transformer_xl.model import TransformerXL

D_MODEL, HEADS = 24, 3


def attention() -> XLAttention:
    torch.manual_seed(1)
    found = XLAttention(D_MODEL, HEADS).double().requires_grad_(False)
    torch.nn.init.normal_(found.u)
    torch.nn.init.normal_(found.v)
    return found


def heads(ours: XLAttention, memory: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    query, _, _ = ours.self_projections(h)
    key, value = ours.key_value(torch.cat((memory, h), 1))
    return query, key, value


@pytest.mark.parametrize(("memory", "segment"), [(0, 6), (9, 12), (20, 1), (5, 70)])
def test_the_blocks_are_the_formula_of_the_paper(memory: int, segment: int) -> None:
    ours = attention()
    past, h = torch.randn(2, memory, D_MODEL).double(), torch.randn(2, segment, D_MODEL).double()
    r = sinusoids(memory + segment, D_MODEL).double()
    query, key, value = heads(ours, past, h)
    w_q, w_k, w_v = ours.project_in.weight.chunk(3)
    w_r, d = ours.project_distance.weight, D_MODEL // HEADS
    both = torch.cat((past, h), 1)
    expected = torch.zeros(2, segment, D_MODEL).double()
    rows_seen = [0, segment - 1]
    for b in range(2):
        for n in range(HEADS):
            rows = slice(n * d, (n + 1) * d)
            for i in rows_seen:
                q, scores = w_q[rows] @ h[b, i], []
                for j in range(memory + i + 1):
                    k, distance = w_k[rows] @ both[b, j], w_r[rows] @ r[memory + i - j]
                    parts = (q @ k, q @ distance, ours.u[n, 0] @ k, ours.v[n, 0] @ distance)
                    scores.append(sum(parts))
                weights = torch.stack(scores).div(math.sqrt(d)).softmax(0)
                expected[b, i, rows] = weights @ (both[b, : memory + i + 1] @ w_v[rows].T)
    output = ours.join(ours.heads(query, key, value, ours.table(r)))
    torch.testing.assert_close(output[:, rows_seen], ours.project_out(expected)[:, rows_seen])


@pytest.mark.parametrize("memory", [0, 30])
def test_it_is_xlnets_relative_attention_with_copied_weights(memory: int) -> None:
    ours, length, d = attention(), 20, D_MODEL // HEADS
    theirs = XLNetRelativeAttention(XLNetConfig(d_model=D_MODEL, n_head=HEADS, d_inner=8, dropout=0.0)).double().requires_grad_(False)
    for name, weight in zip("qkv", ours.project_in.weight.chunk(3), strict=True):
        getattr(theirs, name).copy_(weight.T.view(D_MODEL, HEADS, d))
    theirs.r.copy_(ours.project_distance.weight.T.view(D_MODEL, HEADS, d))
    theirs.o.copy_(ours.project_out.weight.view(D_MODEL, HEADS, d))
    theirs.r_w_bias.copy_(ours.u[:, 0])
    theirs.r_r_bias.copy_(ours.v[:, 0])
    ours.project_out.bias.zero_()
    past, h = torch.randn(2, memory, D_MODEL).double(), torch.randn(2, length, D_MODEL).double()
    r = sinusoids(memory + length + 1, D_MODEL).double()
    reach = torch.cat((r.flip(0), torch.zeros(length - 1, D_MODEL).double()))  # from the farthest on; behind 0 lies what no query may see
    later = torch.ones(length, memory + length).triu(memory + 1).double()[:, :, None, None].expand(-1, -1, 2, HEADS)
    output, _, weights = theirs(
        h.transpose(0, 1),
        None,
        later,
        None,
        reach[:, None].expand(-1, 2, -1),
        None,
        mems=past.transpose(0, 1) if memory else None,
        output_attentions=True,
    )
    query, key, value = heads(ours, past, h)
    mine = ours.join(ours.heads(query, key, value, ours.table(r)))
    torch.testing.assert_close(theirs.layer_norm(mine + h), output.transpose(0, 1))
    own = weights_of(query + ours.u, key, ours.table(r), range(memory, memory + length), query + ours.v)
    torch.testing.assert_close(own, weights.permute(2, 3, 0, 1))


def by_segments(model: TransformerXL, before: Tensor, segment: int, memory: int, window: int | None = None) -> Tensor:
    past = model.remembering(memory)
    with torch.no_grad():
        return torch.cat([model(part, past, window=window) for part in before.split(segment, 1)], 1)


@pytest.mark.parametrize("segment", [1, 3, 16, 50, 111])
@pytest.mark.parametrize("window", [1, 5, 33, 200])
def test_segments_of_any_length_are_one_long_pass_with_the_same_window(xl: TransformerXL, segment: int, window: int) -> None:
    before = torch.randint(0, 20, (2, 111))
    with torch.no_grad():
        whole = xl(before, window=window)
    torch.testing.assert_close(by_segments(xl, before, segment, window - 1, window), whole, atol=1e-5, rtol=1e-5)


def test_a_memory_that_loses_nothing_makes_segments_one_pass(xl: TransformerXL) -> None:
    before = torch.randint(0, 20, (2, 60))
    with torch.no_grad():
        whole = xl(before)
    torch.testing.assert_close(by_segments(xl, before, 16, 60), whole, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(by_segments(xl, before, 16, 20)[:, 50:], whole[:, 50:], atol=1e-3)
    torch.testing.assert_close(by_segments(xl, before, 16, 0)[:, 16:32], by_segments(xl, before[:, 16:32], 16, 0))


def test_training_reads_as_measuring_does(xl: TransformerXL) -> None:
    before = torch.randint(0, 20, (2, 64))
    torch.testing.assert_close(xl.stretch(before), by_segments(xl, before, 16, 32), atol=1e-5, rtol=1e-5)


def test_no_gradient_reaches_the_memory_but_the_projections_learn_from_it(xl: TransformerXL) -> None:
    before = torch.cat((torch.full((1, 16), 3), torch.full((1, 16), 7)), 1)  # one letter in the memory, another in the segment
    logits = xl.stretch(before)
    logits[:, 16:].square().sum().backward()
    assert xl.letter.weight.grad is not None
    assert not xl.letter.weight.grad[3].any()
    assert xl.letter.weight.grad[7].any()
    # The same loss where the first segment is forgotten: what W_k and W_v learn from the memory is the difference.
    learned = xl.layers[1].attention.project_in.weight.grad.clone()
    xl.zero_grad()
    xl(before[:, 16:]).square().sum().backward()
    assert not torch.allclose(learned[D_MODEL:], xl.layers[1].attention.project_in.weight.grad[D_MODEL:], rtol=1e-2)


def test_gradients_are_those_of_states_remembered_and_projected_anew(xl: TransformerXL) -> None:
    before = torch.randint(0, 20, (2, 48))
    xl.stretch(before).square().mean().backward()
    ours = {name: p.grad.clone() for name, p in xl.named_parameters()}
    xl.zero_grad()
    mems: list[Tensor | None] = [None, None]
    parts = []
    for part in before.split(16, 1):
        x, after = xl.letter(part), []
        for layer, m in zip(xl.layers, mems, strict=True):
            both = x if m is None else torch.cat((m, x), 1)  # h̃ = [SG(m) ∘ h]
            after.append(both[:, -32:].detach())
            query, _, _ = layer.attention.self_projections(layer.norm(x))
            key, value = layer.key_value(both)
            x = x + layer.attention.join(layer.attention.heads(query, key, value, layer.attention.table(xl.distance)))
            x = x + layer.feedforward(layer.feedforward_norm(x))
        parts.append(xl.readout(xl.norm(x)))
        mems = list(after)
    torch.cat(parts, 1).square().mean().backward()
    for name, p in xl.named_parameters():
        torch.testing.assert_close(ours[name], p.grad, atol=1e-6, rtol=1e-4)


def test_without_a_memory_a_segment_knows_nothing_of_the_one_before(plain: AbsoluteTransformer) -> None:
    before = torch.randint(0, 20, (2, 40))
    with torch.no_grad():
        torch.testing.assert_close(plain.stretch(before)[:, 16:32], plain(before[:, 16:32]))
        with pytest.raises(ValueError, match="17"):
            plain(torch.zeros(1, 17, dtype=torch.long))
        cache = Cache(plain, 2, 0, 16)
        first = plain(before[:, :5], cache)
        cache.advance(5)
        torch.testing.assert_close(torch.cat((first, plain(before[:, 5:16], cache)), 1), plain(before[:, :16]), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("length", [7, 200, 1000])
@pytest.mark.parametrize("memory", [0, 8, 32, 100])
def test_a_book_costs_what_one_long_reading_does(xl: TransformerXL, text: np.ndarray, length: int, memory: int) -> None:
    text = text[:length]
    before = torch.from_numpy(np.concatenate(([14], text[:-1])).astype(np.int64))[None]
    logits = by_segments(xl, before, 16, memory)
    expected = torch.nn.functional.cross_entropy(logits[0], torch.from_numpy(text.astype(np.int64)), reduction="none")
    found = costs(xl, text, memory)
    assert found.shape == (length,)
    np.testing.assert_allclose(found, expected.numpy(), atol=2e-5)


def test_a_memory_where_there_is_none_is_refused(plain: AbsoluteTransformer, xl: TransformerXL, text: np.ndarray) -> None:
    with pytest.raises(ValueError, match="has none"):
        costs(plain, text, 5)
    with pytest.raises(ValueError, match="at least 0"):
        costs(xl, text, -1)
    assert len(costs(plain, text)) == len(text)


def test_the_trace_sees_keys_of_the_memory_too(xl: TransformerXL) -> None:
    before = torch.randint(0, 20, (1, 32))
    memory, trace = xl.remembering(), Trace("*/self/keys", "*/self/weights")
    with torch.no_grad():
        xl(before[:, :16], memory)
        xl(before[:, 16:], memory, trace=trace)
    assert trace.stack("*/self/keys").shape == (2, 1, 3, 32, 8)
    np.testing.assert_allclose(trace.stack("*/self/weights").sum(-1), 1, atol=1e-5)
