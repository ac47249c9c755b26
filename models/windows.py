"""Stretches of symbols as batches: what is read, and what is to be said after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models.characters import UNKNOWN

NONE = -1  # in place of a symbol: no answer is wanted here


class Batch(NamedTuple):
    """before, wanted: (batch, position). Position i reads before[i] and is to say wanted[i], or NONE behind a sequence's end."""

    before: Tensor
    wanted: Tensor


BatchT = TypeVar("BatchT")


def moved(batch: BatchT, device: torch.device) -> BatchT:
    """A batch, of whatever lab, on another device: the tensors of a named tuple, and of tuples in it."""
    if isinstance(batch, tuple):
        parts = [moved(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else tuple(parts)  # type: ignore[return-value]
    return batch.to(device) if isinstance(batch, Tensor) else batch  # type: ignore[return-value]


def batch_of(windows: Any) -> Batch:
    """Windows of one length, each one symbol longer than what is read of it."""
    both = torch.from_numpy(np.stack(windows).astype(np.int64))
    return Batch(both[:, :-1].contiguous(), both[:, 1:].contiguous())


def any_windows(texts: Sequence[NDArray[Any]], count: int, size: int, generator: np.random.Generator) -> list[NDArray[Any]]:
    """`count` windows of `size` symbols, any one of any text as likely as any other. ValueError where no text is as long."""
    ends = np.cumsum([max(0, len(text) - size + 1) for text in texts])
    if ends[-1] == 0:
        raise ValueError(f"no book has more than {size - 1} characters")
    found = []
    for place in generator.integers(ends[-1], size=count).tolist():
        text = int(np.searchsorted(ends, place, "right"))
        begin = place - (int(ends[text - 1]) if text else 0)
        found.append(texts[text][begin : begin + size])
    return found


def drawn_windows(texts: Sequence[NDArray[np.uint8]], count: int, window: int, hidden: float, generator: np.random.Generator) -> Batch:
    """`count` windows of `window` + 1 characters, any one of any text as likely as any other.

    hidden: share of characters that are made UNKNOWN, so that unknown ones can be read. ValueError where no text is as long.
    """
    drawn = np.stack(any_windows(texts, count, window + 1, generator))
    drawn[generator.random(drawn.shape) < hidden] = UNKNOWN
    return batch_of(drawn)


def windowed(
    text: NDArray[np.uint8], start: int, nats: Callable[[Tensor, Tensor], NDArray[np.float32]]
) -> Callable[[NDArray[np.int64], int], NDArray[np.float32]]:
    """What reads windows of a text, each from an empty beginning (`models.bits`). start: what stands before the text.

    nats(before, wanted): −log p in nats of the characters `wanted` after those before them, all (window, position).
    """
    before = np.concatenate(([start], text[:-1])).astype(np.int64)

    @torch.no_grad()
    def read(begins: NDArray[np.int64], length: int) -> NDArray[np.float32]:
        places = begins[:, None] + np.arange(length)
        return nats(torch.from_numpy(before[places]), torch.from_numpy(text[places].astype(np.int64)))

    return read


def nats(logits: Tensor, wanted: Tensor) -> NDArray[np.float32]:
    """−log p in nats of what came, `wanted` (row, position), from logits (row, position, symbol); 0 where no answer is wanted."""
    wanted = wanted.to(logits.device)
    found: NDArray[np.float32] = F.cross_entropy(logits.float().transpose(1, 2), wanted, ignore_index=NONE, reduction="none").cpu().numpy()
    return found


def unusual(nats: NDArray[np.floating], size: int) -> float:
    """Bits per character that 99 of 100 pages of about `size` characters stay below."""
    pages = [float(page.mean(dtype=np.float64)) for page in np.array_split(nats, max(1, len(nats) // size))]
    return round(float(np.percentile(pages, 99)) / math.log(2), 4)
