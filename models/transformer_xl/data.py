"""Stretches of books as batches, and whole books read by a network with the memory of training or
another one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data import windows
from models.data.characters import Alphabet, read_books
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network

# Share of training characters replaced by UNKNOWN, so that a network learns to read unknown
# characters.
STRANGE = 1 / 2000


def numbers(data: Path, split: str, alphabet: Alphabet) -> list[NDArray[np.uint8]]:
    """Return the books of a split as numbers, (character,) each."""
    return [alphabet.encode(book.text) for book in read_books(data, split)]


@torch.no_grad()
def costs(
    model: Network, text: NDArray[np.uint8], memory: int | None = None
) -> NDArray[np.float32]:
    """Return −log p in nats of each character of a text, read segment by segment, (character,).

    memory: states to remember, by default as in training. Raise ValueError if the network does not
    support it.
    """
    model.eval()
    read = make_window_reader(model, text, model.memory if memory is None else memory)
    return read(np.zeros(1, np.int64), len(text)).reshape(-1)


def make_window_reader(
    model: Network, text: NDArray[np.uint8], memory: int
) -> Callable[[NDArray[np.int64], int], NDArray[np.float32]]:
    """Return a reader of windows of a text, each segment by segment from an empty memory
    (`models.evaluation.bits_per_character`).

    Raise ValueError as `costs` does.
    """
    if memory and not isinstance(model, TransformerXL):
        raise ValueError(
            f"a memory of {memory} characters; this variant has no memory, so only 0 is accepted"
        )
    if memory < 0:
        raise ValueError(f"a memory of {memory} characters; expected 0 or more")
    return windows.make_window_reader(
        text, model.start, lambda before, wanted: _read(model, before, wanted, memory)
    )


def _read(model: Network, before: Tensor, wanted: Tensor, memory: int) -> NDArray[np.float32]:
    """Return −log p in nats of `wanted`, which follow `before`, (row, position) each."""
    device, segment = model.readout.weight.device, model.config.segment
    past = model.make_memory(memory) if isinstance(model, TransformerXL) else None
    tables = model.tables(memory + segment) if isinstance(model, TransformerXL) else None
    parts = []
    for here, aims in zip(
        torch.split(before.to(device), segment, 1), torch.split(wanted, segment, 1), strict=True
    ):
        parts.append(windows.measure_nats(model(here, past, tables), aims))
    return np.concatenate(parts, 1)
