"""The gain in speed from attention without recurrence: the recurrent translator beside the
Transformer of the translation lab.

Networks of the shipped sizes with random weights, in float32. Training: one update on the same
batch of 768 target positions. Decoding: sixteen random sentences of 16 pieces at a time, greedily,
24 pieces each, the encoder included. Above 1 the recurrent one is faster:
training_positions_vs_transformer_ratio: its target positions per second over the Transformer's.
decode_vs_transformer_ratio: its pieces over the Transformer's.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.decode import BATCH, PIECES, SOURCE, build_ours
from benchmarks.measure import Report, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.data.multi30k import STOP, SentenceBatch
from models.decoding.translation_search import Source, greedy_search
from models.networks.encoder import Config
from models.networks.encoder_decoder import Transformer
from models.rnn_attention import model as recurrent
from models.rnn_attention.decode import encode_sentences, search
from models.training.translation import Objective

POSITIONS = size(768, 32)  # target positions of a batch


def updates(model: nn.Module, batch: SentenceBatch) -> Callable[[], object]:
    """Return a function that makes one update of the parameters."""
    objective = Objective(model, 0.1).train()
    optimizer = torch.optim.Adam(objective.parameters(), lr=1e-4)

    def run() -> None:
        loss, count = objective(batch)
        (loss / count).backward()
        optimizer.step()
        optimizer.zero_grad()

    return run


def writer(model: recurrent.RecurrentTranslator, sentences: Tensor) -> Callable[[], object]:
    """Return a function that makes greedy translations of the recurrent model, of PIECES pieces
    each."""

    @torch.no_grad()
    def run() -> None:
        found = search(
            model,
            encode_sentences(model, sentences.tolist()),
            [PIECES] * len(sentences),
            1,
            [0.0] * len(sentences),
        )
        if any(len(one[0].tokens) != PIECES for one in found):
            raise AssertionError(f"every translation must have {PIECES} pieces")

    return run


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    size = recurrent.Config()
    rows = POSITIONS // SOURCE
    source, target, wanted = (
        torch.randint(STOP + 1, size.vocabulary, (rows, SOURCE), device=device) for _ in range(3)
    )
    batch = SentenceBatch(source, target, wanted)
    learned = {
        "rnn": recurrent.RecurrentTranslator(size).to(device),
        "transformer": Transformer(Config()).to(device),
    }
    trained = time_in_turns(
        {name: updates(model, batch) for name, model in learned.items()}, device, calls=3
    )
    model, other = (
        recurrent.RecurrentTranslator(size).eval().requires_grad_(False).to(device),
        build_ours(Config()).to(device),
    )
    model.embedding.weight[STOP] = 0.0  # never the most probable piece
    sentences = torch.randint(STOP + 1, size.vocabulary, (BATCH, SOURCE), device=device)
    read = Source(sentences, torch.ones_like(sentences, dtype=torch.bool), (PIECES,) * BATCH)

    @torch.no_grad()
    def translate() -> None:
        greedy_search(other, read)

    written = time_in_turns(
        {"rnn": writer(model, sentences), "transformer": translate}, device, calls=3
    )
    figures = {
        f"{name}_training_positions_per_s": rows * SOURCE / median(trained[name])
        for name in trained
    }
    figures["training_positions_vs_transformer_ratio"] = ratio(trained, "transformer", "rnn")
    figures |= {f"{name}_pieces_per_s": BATCH * PIECES / median(written[name]) for name in written}
    figures["decode_vs_transformer_ratio"] = ratio(written, "transformer", "rnn")
    return Report(figures)
