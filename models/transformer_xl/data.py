"""Stretches of books as a batch, and a whole book read by a network, as it was trained or with another memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models import windows
from models.characters import Alphabet, books
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network

STRANGE = 1 / 2000  # share of the characters of training that are made UNKNOWN, so that a network knows what it is not to know


def numbers(data: Path, split: str, alphabet: Alphabet) -> list[NDArray[np.uint8]]:
    """The books of a split, each (character,)."""
    return [alphabet.encode(book.text) for book in books(data, split)]


@torch.no_grad()
def costs(model: Network, text: NDArray[np.uint8], memory: int | None = None) -> NDArray[np.float32]:
    """−log p in nats of each character of a text, (character,), read segment by segment with a memory of so many states.

    memory: by default as in training. ValueError for one that the network does not have.
    """
    model.eval()
    read = windowed(model, text, model.memory if memory is None else memory)
    return read(np.zeros(1, np.int64), len(text)).reshape(-1)


def windowed(model: Network, text: NDArray[np.uint8], memory: int) -> Callable[[NDArray[np.int64], int], NDArray[np.float32]]:
    """What reads windows of a text, each segment by segment from an empty memory (`models.bits`). ValueError as in `costs`."""
    if memory and not isinstance(model, TransformerXL):
        raise ValueError(f"a memory of {memory} characters: this variant has none")
    if memory < 0:
        raise ValueError(f"a memory of {memory}: at least 0")
    return windows.windowed(text, model.start, lambda before, wanted: _read(model, before, wanted, memory))


def _read(model: Network, before: Tensor, wanted: Tensor, memory: int) -> NDArray[np.float32]:
    """−log p in nats of `wanted`, which come after `before`, both (row, position)."""
    device, segment = model.readout.weight.device, model.config.segment
    past = model.remembering(memory) if isinstance(model, TransformerXL) else None
    tables = model.tables(memory + segment) if isinstance(model, TransformerXL) else None
    parts = []
    for here, aims in zip(torch.split(before.to(device), segment, 1), torch.split(wanted, segment, 1), strict=True):
        parts.append(windows.nats(model(here, past, tables), aims))
    return np.concatenate(parts, 1)
