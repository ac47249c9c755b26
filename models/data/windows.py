"""Stretches of symbols as batches: the symbols that are read, and those that follow them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models.data.characters import UNKNOWN

NONE = -1  # in place of a symbol: no answer is wanted here


class SymbolBatch(NamedTuple):
    """Symbols that are read and those to be predicted. before, wanted: (batch, position). Position
    i reads before[i] and predicts wanted[i], or NONE behind a sequence's end."""

    before: Tensor
    wanted: Tensor


BatchT = TypeVar("BatchT")


def move_batch(batch: BatchT, device: torch.device) -> BatchT:
    """Return a batch, of any lab, on another device: the tensors of a named tuple, and of tuples in
    it."""
    if isinstance(batch, tuple):
        parts = [move_batch(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else tuple(parts)  # type: ignore[return-value]
    return batch.to(device) if isinstance(batch, Tensor) else batch  # type: ignore[return-value]


def make_batch(windows: Any) -> SymbolBatch:
    """Return a batch of windows of one length, each one symbol longer than what is read of it."""
    both = torch.from_numpy(np.stack(windows).astype(np.int64))
    return SymbolBatch(both[:, :-1].contiguous(), both[:, 1:].contiguous())


def draw_windows(
    texts: Sequence[NDArray[Any]], count: int, size: int, generator: np.random.Generator
) -> list[NDArray[Any]]:
    """Draw `count` windows of `size` symbols, any one of any text as likely as any other. Raise
    ValueError where no text is as long."""
    ends = np.cumsum([max(0, len(text) - size + 1) for text in texts])
    if ends[-1] == 0:
        raise ValueError(f"no book has more than {size - 1} characters")
    found = []
    for place in generator.integers(ends[-1], size=count).tolist():
        text = int(np.searchsorted(ends, place, "right"))
        begin = place - (int(ends[text - 1]) if text else 0)
        found.append(texts[text][begin : begin + size])
    return found


def draw_character_windows(
    texts: Sequence[NDArray[np.uint8]],
    count: int,
    window: int,
    hidden: float,
    generator: np.random.Generator,
) -> SymbolBatch:
    """Draw `count` windows of `window` + 1 characters, any one of any text as likely as any other.
    Raise ValueError where no text is as long.

    hidden: share of characters that are made UNKNOWN, so that unknown ones can be read.
    """
    drawn = np.stack(draw_windows(texts, count, window + 1, generator))
    drawn[generator.random(drawn.shape) < hidden] = UNKNOWN
    return make_batch(drawn)


def make_window_reader(
    text: NDArray[np.uint8], start: int, nats: Callable[[Tensor, Tensor], NDArray[np.float32]]
) -> Callable[[NDArray[np.int64], int], NDArray[np.float32]]:
    """Return a function that reads windows of a text, each from an empty beginning
    (`models.evaluation.bits_per_character`). start: the symbol before the text.

    nats(before, wanted): −log p in nats of the characters `wanted` after those before them, all
        (window, position).
    """
    before = np.concatenate(([start], text[:-1])).astype(np.int64)

    @torch.no_grad()
    def read(begins: NDArray[np.int64], length: int) -> NDArray[np.float32]:
        places = begins[:, None] + np.arange(length)
        return nats(
            torch.from_numpy(before[places]), torch.from_numpy(text[places].astype(np.int64))
        )

    return read


def measure_nats(logits: Tensor, wanted: Tensor) -> NDArray[np.float32]:
    """Return −log p in nats of what came, `wanted` (row, position), from logits (row, position,
    symbol); 0 where no answer is wanted."""
    wanted = wanted.to(logits.device)
    found: NDArray[np.float32] = (
        F.cross_entropy(logits.float().transpose(1, 2), wanted, ignore_index=NONE, reduction="none")
        .cpu()
        .numpy()
    )
    return found


def find_unusual_bound(nats: NDArray[np.floating], size: int) -> float:
    """Return the bits per character that 99 of 100 pages of about `size` characters stay below."""
    pages = [
        float(page.mean(dtype=np.float64))
        for page in np.array_split(nats, max(1, len(nats) // size))
    ]
    return round(float(np.percentile(pages, 99)) / math.log(2), 4)
