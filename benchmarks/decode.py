"""The speed of translation, beside transformers' `generate` on a network of the same shape.

Both translate random sentences greedily with random weights, the same number of new pieces each,
encoder included, in float32.
batch1_vs_generate_ratio: our pieces per second over theirs, one sentence at a time.
batch16_vs_generate_batch1_ratio: ours, sixteen sentences at a time, over theirs one at a time.
bleu_change: the difference in sacreBLEU of the shipped model's greedy translations of SENTENCES
    test captions between fused steps and plain ones (`models.layers.fused`), where the captions are
    available in $EXPLORER_DATA.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from benchmarks.measure import Bound, Figure, Report, as_shipped, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.data.captions import read_captions
from models.data.multi30k import PAD, START, STOP
from models.decoding.translation_search import Source, greedy_search, lay_out_by_column
from models.layers import fused
from models.networks.encoder import Config
from models.networks.encoder_decoder import Transformer
from models.training.translation import REPORTED, measure_bleu, translate
from models.translation.pretrained import load

SOURCE = 16  # pieces of each sentence
PIECES = size(24, 3)  # pieces of each translation
BATCH = 16
SENTENCES = size(1000, 4)  # captions


def peer(config: Config) -> Any:
    """Build transformers' encoder-decoder of the same shape: post-norm layers, relu, sinusoids, one
    embedding for all three uses."""
    shape = MarianConfig(
        vocab_size=config.vocabulary,
        d_model=config.d_model,
        encoder_layers=config.n_layers,
        decoder_layers=config.n_layers,
        encoder_attention_heads=config.n_heads,
        decoder_attention_heads=config.n_heads,
        encoder_ffn_dim=config.d_ff,
        decoder_ffn_dim=config.d_ff,
        max_position_embeddings=config.max_positions,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        pad_token_id=PAD,
        decoder_start_token_id=START,
        eos_token_id=STOP,
        forced_eos_token_id=None,
    )
    model: Any = MarianMTModel(shape)
    model.train(False)
    # nothing to search: exactly PIECES new pieces, with no processor that forces them
    model.generation_config.eos_token_id = None
    model.generation_config.forced_eos_token_id = None
    return model


def build_ours(config: Config) -> Transformer:
    """Build our network. Its stop piece is never the most probable one: its logit is 0, and the
    greatest of thousands is above that."""
    model: Transformer = as_shipped(Transformer(config))
    model.embedding.weight[STOP] = 0.0
    return lay_out_by_column(model)


def bleu_change() -> dict[str, Figure]:
    """Return {"bleu_change": points}, or nothing where there are no captions."""
    try:
        english, german = (
            side[:SENTENCES]
            for side in read_captions(Path(os.environ.get("EXPLORER_DATA", "data")), REPORTED)
        )
    except FileNotFoundError:
        return {}
    shipped = load()

    def points() -> float:
        found = translate(shipped, english, beam=1, rows=BATCH)
        return measure_bleu([shipped.tokenizer.decode(one.tokens) for one in found], german)[0]

    fast = points()
    with fused.without_fusion():
        return {"bleu_change": (abs(fast - points()), Bound(0.1))}


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    config = Config()
    model, other = build_ours(config).to(device), peer(config).to(device)
    sentences = torch.randint(STOP + 1, config.vocabulary, (BATCH, SOURCE), device=device)

    def translate(tokens: Tensor) -> Callable[[], object]:
        source = Source(tokens, torch.ones_like(tokens, dtype=torch.bool), (PIECES,) * len(tokens))

        def run() -> None:
            if any(len(found.tokens) != PIECES for found in greedy_search(model, source)):
                raise AssertionError(f"every translation must have {PIECES} pieces")

        return run

    def generate(tokens: Tensor) -> Callable[[], object]:
        mask = torch.ones_like(tokens)

        def run() -> None:
            found = other.generate(
                input_ids=tokens,
                attention_mask=mask,
                max_new_tokens=PIECES,
                num_beams=1,
                do_sample=False,
            )
            if found.shape != (len(tokens), 1 + PIECES):
                raise AssertionError(
                    f"every translation must have {PIECES} pieces, not {found.shape[1] - 1}"
                )

        return run

    one, many = sentences[:1], sentences
    sides = {
        "ours_1": translate(one),
        "generate_1": generate(one),
        "ours_16": translate(many),
        "generate_16": generate(many),
    }
    seconds = time_in_turns(sides, device, calls=5)
    pieces = {
        "ours_1": PIECES,
        "generate_1": PIECES,
        "ours_16": PIECES * BATCH,
        "generate_16": PIECES * BATCH,
    }
    figures: dict[str, Figure] = {
        f"{name}_pieces_per_s": pieces[name] / median(seconds[name]) for name in sides
    }
    figures["batch1_vs_generate_ratio"] = (
        ratio(seconds, "generate_1", "ours_1"),
        Bound(5.0, at_least=True),
    )
    figures["batch16_vs_generate_batch1_ratio"] = (
        BATCH * ratio(seconds, "generate_1", "ours_16"),
        Bound(6.0, at_least=True),
    )
    figures["batch16_vs_generate_batch16_ratio"] = ratio(seconds, "generate_16", "ours_16")
    figures |= bleu_change()
    return Report.of(figures)
