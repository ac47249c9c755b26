"""Reading and writing character by character, with keys and values kept: of the memory, and of the segment that is being read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models import sampling
from models.characters import UNKNOWN
from models.trace import OFF, Trace
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network

SHUFFLE = 20_190_109  # what shuffled memories are drawn with, together with the number of the segment


@dataclass(frozen=True)
class Swap:
    """What stands in the memory in place of what was remembered.

    kind: "none", "cut": nothing; "shuffled": the same states in a random order; "foreign": those that another text has left.
    keys, values: (layer, 1, head, position, d_head) of the other text, as many as a memory can hold; None where it is not needed.
    """

    kind: str = "none"
    keys: Tensor | None = None
    values: Tensor | None = None

    def order(self, segment: int, held: int) -> NDArray[np.int64]:
        """(slot,) what stands in the memory of a segment that would remember `held` states: which of them, or from `held` on a foreign
        one."""
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

    def applied(self, keys: Tensor, values: Tensor, segment: int) -> tuple[Tensor, Tensor]:
        """keys, values: (layer, batch, head, held, d_head) as remembered; those that the segment gets to see come back."""
        if self.kind == "none":
            return keys, values
        order = torch.from_numpy(self.order(segment, keys.shape[3])).to(keys.device)
        if self.keys is not None and self.values is not None:
            keys, values = (
                torch.cat((own, other.expand(-1, own.shape[1], -1, -1, -1)), 3) for own, other in ((keys, self.keys), (values, self.values))
            )
        return keys.index_select(3, order), values.index_select(3, order)


AS_TRAINED = Swap()


class Cache(sampling.Cache):
    """The memory, then the segment so far."""

    def __init__(self, model: Network, rows: int, memory: int, segment: int, swap: Swap = AS_TRAINED) -> None:
        super().__init__(model, rows, memory + segment)
        self.remembered_keys, self.remembered_values = self.keys[..., :0, :], self.values[..., :0, :]
        self.memory, self.segment, self.swap = memory, segment, swap
        self.held = 0  # states of the memory that this segment sees
        self.number = 0  # of this segment

    @property
    def place(self) -> int:
        """Positions of this segment that were read."""
        return self.position - self.held

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """As in `models.sampling.Cache`. ValueError past a segment's end."""
        if self.place + key.shape[2] > self.segment:
            raise ValueError(f"{self.place + key.shape[2]} positions in a segment of {self.segment}")
        return super().extend(layer, x, key, value)

    def advance(self, count: int) -> None:
        """So many positions have been read by all layers; where a segment ends with them, the memory moves on."""
        self.position += count
        if self.place < self.segment:
            return
        own = slice(self.held, self.position)
        together = (
            torch.cat((past, now[..., own, :]), 3)
            for past, now in ((self.remembered_keys, self.keys), (self.remembered_values, self.values))
        )
        self.remembered_keys, self.remembered_values = (x[..., x.shape[3] - min(x.shape[3], self.memory) :, :] for x in together)
        self.number += 1
        seen_keys, seen_values = self.swap.applied(self.remembered_keys, self.remembered_values, self.number)
        self.held = self.position = seen_keys.shape[3]
        self.keys[..., : self.held, :], self.values[..., : self.held, :] = seen_keys, seen_values


class Reader(sampling.Reader):
    """As `models.sampling.Reader`, within a segment at a time; the finished text, read segment by segment, is what was read to write it.

    memory, segment: states that are remembered, characters that are read at once. swap: what stands in the memory.
    """

    never = (UNKNOWN,)

    def __init__(self, model: Network, rows: int, memory: int, segment: int, swap: Swap = AS_TRAINED) -> None:
        self.model = model
        self.cache = Cache(model, rows, memory, segment, swap)
        # What distances mean depends on nothing that is read.
        self.tables = [table.detach() for table in model.tables(memory + segment)] if isinstance(model, TransformerXL) else None
        self._how = (self.tables,)

    @property
    def left(self) -> int:
        """Positions until the end of this segment."""
        cache: Cache = self.cache
        return cache.segment - cache.place

    @torch.no_grad()
    def read(self, before: Tensor, trace: Trace = OFF) -> Tensor:
        """before: (batch, position) characters after those that were read, within this segment; (batch, position, letter) logits."""
        cache: Cache = self.cache
        if before.shape[1] == 1 and trace is OFF and self._step is not None:
            logits: Tensor = self._step(self.model.embedded(before, cache.place)[:, 0], cache.position)[:, None]
        else:
            logits = self.model(before, cache, self.tables, trace=trace)
        self.cache.advance(before.shape[1])
        return logits


def foreign(model: Network, text: NDArray[np.uint8], memory: int) -> Swap:
    """The memory that a text leaves, to be seen in place of one's own. ValueError where the text is shorter than the memory."""
    segment = model.config.segment
    text = text[: len(text) - len(text) % segment]  # whole segments: what is remembered at their ends
    if len(text) < memory:
        raise ValueError(f"{len(text)} characters in whole segments for a memory of {memory}")
    reader = Reader(model, 1, memory, segment)
    for part in torch.split(torch.from_numpy(text.astype(np.int64))[None].to(model.readout.weight.device), segment, 1):
        reader.read(part)
    return Swap("foreign", reader.cache.remembered_keys, reader.cache.remembered_values)
