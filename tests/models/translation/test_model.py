"""The Transformer is the one of the paper."""

from __future__ import annotations

import math

import torch
from torch import nn

from models.encoder import Config
from models.encoder_decoder import Changes, MultiHeadAttention, Transformer, no_gains, parameters
from models.multi30k import PAD
from models.trace import Trace

SOURCE = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, PAD, PAD]])
TARGET = torch.tensor([[2, 12, 13, 14], [2, 15, PAD, PAD]])


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.data.copy_(ours.project_in.weight)
    theirs.in_proj_bias.data.copy_(ours.project_in.bias)
    theirs.out_proj.load_state_dict(ours.project_out.state_dict())


def test_it_equals_the_transformer_of_torch_with_copied_weights(tiny: Transformer) -> None:
    config = tiny.config
    theirs = nn.Transformer(
        config.d_model, config.n_heads, config.n_layers, config.n_layers, config.d_ff, dropout=0.0, batch_first=True, norm_first=False
    ).eval()
    theirs.encoder.norm = theirs.decoder.norm = None  # the paper has no norm behind the last layer's own
    for ours, layer in zip(tiny.encoder, theirs.encoder.layers, strict=True):
        copy_attention(ours.self_attention, layer.self_attn)
        layer.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        layer.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
        for i, norm in enumerate((layer.norm1, layer.norm2)):
            norm.load_state_dict(ours.norms[i].state_dict())
    for ours, layer in zip(tiny.decoder, theirs.decoder.layers, strict=True):
        copy_attention(ours.self_attention, layer.self_attn)
        copy_attention(ours.cross_attention, layer.multihead_attn)
        layer.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        layer.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
        for i, norm in enumerate((layer.norm1, layer.norm2, layer.norm3)):
            norm.load_state_dict(ours.norms[i].state_dict())
    allowed = SOURCE != PAD
    hidden = torch.zeros_like(allowed, dtype=torch.float32).masked_fill(~allowed, -math.inf)
    expected = theirs(  # with gradients on: without, torch would take a shortcut that warns
        tiny.embed(SOURCE),
        tiny.embed(TARGET),
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(TARGET.shape[1]),
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
    )
    torch.testing.assert_close(tiny(SOURCE, TARGET, allowed), expected.detach(), atol=1e-5, rtol=1e-5)


def test_embeddings_are_scaled_and_placed(tiny: Transformer) -> None:
    expected = tiny.embedding.weight[7] * math.sqrt(tiny.config.d_model) + tiny.positions[3]
    torch.testing.assert_close(tiny.embed(SOURCE)[0, 3], expected)


def test_output_with_a_trace_equals_output_without(tiny: Transformer) -> None:
    trace = Trace("encoder/*/self/weights", "decoder/*/self/weights", "decoder/*/cross/weights")
    allowed = SOURCE != PAD
    torch.testing.assert_close(tiny(SOURCE, TARGET, allowed, trace=trace), tiny(SOURCE, TARGET, allowed), atol=0, rtol=0)
    assert trace.stack("decoder/*/cross/weights").shape == (2, 2, 4, 4, 5)


def test_watched_rows_sum_to_one_and_give_padding_and_the_future_nothing(tiny: Transformer) -> None:
    trace = Trace("encoder/*/self/weights", "decoder/*/self/weights", "decoder/*/cross/weights")
    tiny(SOURCE, TARGET, SOURCE != PAD, trace=trace)
    cross, decoder = torch.from_numpy(trace.stack("decoder/*/cross/weights")), torch.from_numpy(trace.stack("decoder/*/self/weights"))
    torch.testing.assert_close(cross.sum(-1), torch.ones(cross.shape[:-1]))
    assert cross[:, 1, :, :, 3:].abs().sum() == 0
    assert decoder.triu(1).abs().sum() == 0


def test_what_comes_later_in_the_target_changes_nothing_before(tiny: Transformer) -> None:
    changed = TARGET.clone()
    changed[:, 2:] = 16
    one, other = tiny(SOURCE, TARGET, SOURCE != PAD), tiny(SOURCE, changed, SOURCE != PAD)
    torch.testing.assert_close(one[:, :2], other[:, :2])
    assert not torch.allclose(one[:, 2:], other[:, 2:])


def test_gains_of_one_change_nothing_and_a_silenced_head_changes_only_its_sentence(tiny: Transformer) -> None:
    allowed, gains = SOURCE != PAD, no_gains(tiny.config, 2)
    plain = tiny(SOURCE, TARGET, allowed)
    torch.testing.assert_close(tiny(SOURCE, TARGET, allowed, gains), plain)
    gains.cross[1, 0, 2] = 0
    silenced = tiny(SOURCE, TARGET, allowed, gains)
    torch.testing.assert_close(silenced[1], plain[1])
    assert not torch.allclose(silenced[0], plain[0])


def test_silencing_a_head_is_zeroing_its_columns_of_the_output_projection(tiny: Transformer) -> None:
    allowed, gains = SOURCE != PAD, no_gains(tiny.config, 2)
    gains.encoder[0, :, 1] = 0
    copy = Transformer(tiny.config).eval().requires_grad_(False)
    copy.load_state_dict(tiny.state_dict())
    d_head = tiny.config.d_model // tiny.config.n_heads
    copy.encoder[0].self_attention.project_out.weight[:, d_head : 2 * d_head] = 0
    torch.testing.assert_close(tiny(SOURCE, TARGET, allowed, gains), copy(SOURCE, TARGET, allowed), atol=1e-5, rtol=1e-5)


def test_hiding_a_word_is_not_reading_it(tiny: Transformer) -> None:
    """Whatever stands in a hidden place, everything else is computed alike."""
    allowed = SOURCE != PAD
    allowed[0, 2] = False
    changed = SOURCE.clone()
    changed[0, 2] = 20
    torch.testing.assert_close(tiny(SOURCE, TARGET, allowed), tiny(changed, TARGET, allowed))


def test_with_every_word_hidden_all_numbers_stay_finite(tiny: Transformer) -> None:
    assert torch.isfinite(tiny(SOURCE, TARGET, torch.zeros_like(SOURCE, dtype=torch.bool))).all()


def test_embeddings_are_tied_and_the_count_is_within_its_limit() -> None:
    model = Transformer(Config())
    assert parameters(model) <= 4_700_000
    assert not any("readout" in name for name in model.state_dict())
    assert parameters(model) == sum(t.numel() for t in model.state_dict().values())


def test_without_the_scale_a_query_is_as_good_as_multiplied_by_the_root_of_its_width(tiny: Transformer) -> None:
    allowed, root = SOURCE != PAD, math.sqrt(tiny.config.d_model // tiny.config.n_heads)
    copy = Transformer(tiny.config).eval().requires_grad_(False)
    copy.load_state_dict(tiny.state_dict())
    for module in copy.modules():
        if isinstance(module, MultiHeadAttention):
            module.project_in.weight[: tiny.config.d_model] *= root
            module.project_in.bias[: tiny.config.d_model] *= root
    changed = tiny(SOURCE, TARGET, allowed, changes=Changes(scale=1.0))
    torch.testing.assert_close(changed, copy(SOURCE, TARGET, allowed), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(changed, tiny(SOURCE, TARGET, allowed), atol=1e-3)


def test_without_sinusoids_the_encoder_gives_a_shuffled_sentence_shuffled_vectors(tiny: Transformer) -> None:
    order = torch.tensor([3, 0, 4, 1, 2])
    allowed = torch.ones_like(SOURCE[:1], dtype=torch.bool)
    one, other = (tiny.encode(tokens, allowed, changes=Changes(positional=False)) for tokens in (SOURCE[:1], SOURCE[:1, order]))
    torch.testing.assert_close(one[:, order], other, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(tiny.encode(SOURCE[:1], allowed)[:, order], tiny.encode(SOURCE[:1, order], allowed), atol=1e-3)


def test_without_the_causal_mask_what_comes_later_changes_what_stands_before(tiny: Transformer) -> None:
    changed = TARGET.clone()
    changed[:, 3:] = 16
    reads = torch.ones_like(TARGET, dtype=torch.bool)
    reads[1, 2:] = False  # and what must not be read changes nothing
    one, other = (tiny(SOURCE, target, SOURCE != PAD, changes=Changes(reads=reads)) for target in (TARGET, changed))
    assert not torch.allclose(one[0, 0], other[0, 0], atol=1e-4)
    torch.testing.assert_close(one[1, :2], other[1, :2])
