"""Stretches of books as a batch, and a whole book read by a network, as it was trained or with another memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models import windows
from models.characters import Alphabet, books
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network

LANES = 16  # parts of a book that are read side by side
STRANGE = 1 / 2000  # share of the characters of training that are made UNKNOWN, so that a network knows what it is not to know


def numbers(data: Path, split: str, alphabet: Alphabet) -> list[NDArray[np.uint8]]:
    """The books of a split, each (character,)."""
    return [alphabet.encode(book.text) for book in books(data, split)]


@torch.no_grad()
def costs(model: Network, text: NDArray[np.uint8], memory: int | None = None, segment: int | None = None) -> NDArray[np.float32]:
    """−log p in nats of each character of a text, (character,), read segment by segment with a memory of so many states.

    memory, segment: by default as in training. The text is read in LANES parts side by side; each part begins so far before its first
    character that the result is that of one reading from the beginning. ValueError for a memory that the network does not have.
    """
    model.eval()
    memory = model.memory if memory is None else memory
    segment = model.config.segment if segment is None else segment
    _refuse(model, memory, segment)
    device = model.readout.weight.device
    warm = model.config.n_layers * -(-memory // segment)  # segments of which something can be known, through all layers
    before = np.concatenate(([model.start], text[:-1])).astype(np.int64)
    count = -(-len(text) // segment)
    share = -(-count // LANES)  # segments of a lane
    room = np.zeros((LANES, (warm + share) * segment), np.int64)
    for lane in range(LANES):
        begin = (lane * share - warm) * segment
        part = before[max(0, begin) : max(0, (lane + 1) * share * segment)]
        room[lane, max(0, -begin) : max(0, -begin) + len(part)] = part
    values = torch.from_numpy(room)
    found = np.zeros(LANES * share * segment, np.float32)
    wanted = np.zeros(len(found), np.int64)
    wanted[: len(text)] = text
    aims = torch.from_numpy(wanted).view(LANES, share * segment)
    for rows, skipped in _alike(warm, share):
        found.reshape(LANES, -1)[rows] = _read(model, values[rows, skipped * segment :], aims[rows], memory, segment, device)
    return found[: len(text)]


def windowed(model: Network, text: NDArray[np.uint8], memory: int) -> Callable[[NDArray[np.int64], int], NDArray[np.float32]]:
    """What reads windows of a text, each segment by segment from an empty memory (`models.bits`). ValueError as in `costs`."""
    _refuse(model, memory, model.config.segment)
    device, segment = model.readout.weight.device, model.config.segment
    return windows.windowed(text, model.start, lambda before, wanted: _read(model, before, wanted, memory, segment, device))


def _refuse(model: Network, memory: int, segment: int) -> None:
    if memory and not isinstance(model, TransformerXL):
        raise ValueError(f"a memory of {memory} characters: this variant has none")
    if memory < 0 or not 1 <= segment <= model.config.segment:
        raise ValueError(f"a memory of {memory} and segments of {segment}: at least 0, and 1 to {model.config.segment}")


def _alike(warm: int, share: int) -> list[tuple[slice, int]]:
    """Lanes that may be read together, and how many of their segments do not exist: the first lanes have less before them."""
    missing = [max(0, warm - lane * share) for lane in range(LANES)]
    groups = sorted({missing[lane]: missing.index(missing[lane]) for lane in range(LANES)}.items(), key=lambda one: one[1])
    ends = [first for _, first in groups[1:]] + [LANES]
    return [(slice(first, end), skipped) for (skipped, first), end in zip(groups, ends, strict=True)]


def _read(model: Network, before: Tensor, wanted: Tensor, memory: int, segment: int, device: torch.device) -> NDArray[np.float32]:
    """Nats of the last positions of some lanes, as many as are wanted."""
    past = model.remembering(memory) if isinstance(model, TransformerXL) else None
    tables = model.tables(memory + segment) if isinstance(model, TransformerXL) else None
    known = before.shape[1] - wanted.shape[1]  # positions that only warm the memory
    parts = []
    for begin in range(0, before.shape[1], segment):
        logits = model(before[:, begin : begin + segment].to(device), past, tables)
        if begin >= known:
            aims = wanted[:, begin - known : begin - known + segment].to(device)
            parts.append(F.cross_entropy(logits.float().transpose(1, 2), aims, reduction="none").cpu().numpy())
    return np.concatenate(parts, 1)
