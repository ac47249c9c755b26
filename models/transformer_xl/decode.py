"""Reading and writing character by character, with the keys and values of the memory and of the
current segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data.characters import UNKNOWN
from models.decoding import sampling
from models.explaining.trace import OFF, Trace
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network

# Seed of shuffled memories, together with the number of the segment.
SHUFFLE = 20_190_109


@dataclass(frozen=True)
class Swap:
    """A replacement of the memory.

    kind: "none"; "cut": an empty memory; "shuffled": the same states in a random order; "foreign":
    the states of another text. keys, values: of the other text, as many as a memory can hold,
    (layer, 1, head, position, d_head); None if not needed.
    """

    kind: str = "none"
    keys: Tensor | None = None
    values: Tensor | None = None

    def order(self, segment: int, held: int) -> NDArray[np.int64]:
        """Return the contents of a segment's memory of `held` states, (slot,): indices of its own
        states, or from `held` on of foreign ones."""
        own = np.arange(held)
        if self.kind == "cut":
            return own[:0]
        if self.kind == "shuffled":
            return np.random.default_rng((SHUFFLE, segment)).permutation(own)
        if self.kind == "foreign":
            assert self.keys is not None
            there = self.keys.shape[3]
            return held + np.arange(max(0, there - held), there)
        return own

    def apply_swap(self, keys: Tensor, values: Tensor, segment: int) -> tuple[Tensor, Tensor]:
        """Return the keys and values that the segment sees.

        keys, values: as remembered, (layer, batch, head, held, d_head).
        """
        if self.kind == "none":
            return keys, values
        order = torch.from_numpy(self.order(segment, keys.shape[3])).to(keys.device)
        if self.keys is not None and self.values is not None:
            keys, values = (
                torch.cat((own, other.expand(-1, own.shape[1], -1, -1, -1)), 3)
                for own, other in ((keys, self.keys), (values, self.values))
            )
        return keys.index_select(3, order), values.index_select(3, order)


AS_TRAINED = Swap()


class Cache(sampling.SamplingCache):
    """The memory, followed by the current segment."""

    def __init__(
        self, model: Network, rows: int, memory: int, segment: int, swap: Swap = AS_TRAINED
    ) -> None:
        super().__init__(model, rows, memory + segment)
        self.remembered_keys, self.remembered_values = (
            self.keys[..., :0, :],
            self.values[..., :0, :],
        )
        self.memory, self.segment, self.swap = memory, segment, swap
        self.held = 0  # states of the memory that this segment sees
        self.number = 0  # of this segment

    @property
    def place(self) -> int:
        """The number of positions read in this segment."""
        return self.position - self.held

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Extend as `models.decoding.sampling.SamplingCache` does.

        Raise ValueError beyond the end of a segment.
        """
        if self.place + key.shape[2] > self.segment:
            raise ValueError(
                f"{self.place + key.shape[2]} positions in a segment of {self.segment}"
            )
        return super().extend(layer, x, key, value)

    def advance(self, count: int) -> None:
        """Count positions that all layers have read; shift the memory after a segment."""
        self.position += count
        if self.place < self.segment:
            return
        own = slice(self.held, self.position)
        together = (
            torch.cat((past, now[..., own, :]), 3)
            for past, now in (
                (self.remembered_keys, self.keys),
                (self.remembered_values, self.values),
            )
        )
        self.remembered_keys, self.remembered_values = (
            x[..., x.shape[3] - min(x.shape[3], self.memory) :, :] for x in together
        )
        self.number += 1
        seen_keys, seen_values = self.swap.apply_swap(
            self.remembered_keys, self.remembered_values, self.number
        )
        self.held = self.position = seen_keys.shape[3]
        self.keys[..., : self.held, :], self.values[..., : self.held, :] = seen_keys, seen_values


class Reader(sampling.Reader):
    """A `models.decoding.sampling.Reader` that stays within one segment at a time.

    Reading the finished text segment by segment gives the same result as writing it. memory,
    segment: states to remember, characters read at once. swap: the replacement of the memory.
    """

    never = (UNKNOWN,)

    def __init__(
        self, model: Network, rows: int, memory: int, segment: int, swap: Swap = AS_TRAINED
    ) -> None:
        self.model = model
        self.cache = Cache(model, rows, memory, segment, swap)
        # The tables of distances do not depend on the text.
        self.tables = (
            [table.detach() for table in model.tables(memory + segment)]
            if isinstance(model, TransformerXL)
            else None
        )
        self._how = (self.tables,)

    @property
    def positions_left(self) -> int:
        """The number of positions until the end of this segment."""
        cache: Cache = self.cache
        return cache.segment - cache.place

    @torch.no_grad()
    def read(self, before: Tensor, trace: Trace = OFF) -> Tensor:
        """Read characters and return the logits of the next ones, (batch, position, letter).

        before: the characters that follow those read so far, within this segment, (batch,
        position).
        """
        cache: Cache = self.cache
        if before.shape[1] == 1 and trace is OFF and self._fused_step is not None:
            logits: Tensor = self._fused_step(
                self.model.embed_symbols(before, cache.place)[:, 0], cache.position
            )[:, None]
        else:
            logits = self.model(before, cache, self.tables, trace=trace)
        self.cache.advance(before.shape[1])
        return logits


def foreign(model: Network, text: NDArray[np.uint8], memory: int) -> Swap:
    """Return the memory that a text leaves, as a replacement of the own memory.

    Raise ValueError if the text is shorter than the memory.
    """
    segment = model.config.segment
    # Whole segments, because the memory changes at their ends.
    text = text[: len(text) - len(text) % segment]
    if len(text) < memory:
        raise ValueError(f"{len(text)} characters in whole segments: a memory holds {memory}")
    reader = Reader(model, 1, memory, segment)
    for part in torch.split(
        torch.from_numpy(text.astype(np.int64))[None].to(model.readout.weight.device), segment, 1
    ):
        reader.read(part)
    return Swap("foreign", reader.cache.remembered_keys, reader.cache.remembered_values)
