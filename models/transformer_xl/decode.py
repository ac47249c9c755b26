"""Reading and writing character by character, with keys and values kept: of the memory, and of the segment that is being read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.characters import UNKNOWN, Alphabet
from models.trace import OFF, Trace
from models.transformer_xl.data import first_of
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import Network

FREE = -1  # in place of a character: this one is to be drawn
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


class Cache:
    """Keys and values of every layer for some rows: the memory, then the segment so far, (layer, batch, head, position, d_head).

    A row is a text of its own: nothing passes from one to another, and a cache is made anew for every reading.
    """

    def __init__(self, model: Network, rows: int, memory: int, segment: int, swap: Swap = AS_TRAINED) -> None:
        config = model.config
        like = model.readout.weight.detach()
        shape = (config.n_layers, rows, config.n_heads, memory + segment, config.d_model // config.n_heads)
        self.keys, self.values = like.new_zeros(shape), like.new_zeros(shape)
        self.remembered_keys, self.remembered_values = self.keys[..., :0, :], self.values[..., :0, :]
        self.memory, self.segment, self.swap = memory, segment, swap
        self.held = 0  # states of the memory that this segment sees
        self.place = 0  # positions of this segment that were read
        self.number = 0  # of this segment

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of the positions being read; those of all positions come back. ValueError past a segment's end."""
        if self.place + key.shape[2] > self.segment:
            raise ValueError(f"{self.place + key.shape[2]} positions in a segment of {self.segment}")
        begin, end = self.held + self.place, self.held + self.place + key.shape[2]
        self.keys[layer, :, :, begin:end] = key
        self.values[layer, :, :, begin:end] = value
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def advance(self, count: int) -> None:
        """So many positions have been read by all layers; where a segment ends with them, the memory moves on."""
        self.place += count
        if self.place < self.segment:
            return
        own = slice(self.held, self.held + self.place)
        together = (
            torch.cat((past, now[..., own, :]), 3)
            for past, now in ((self.remembered_keys, self.keys), (self.remembered_values, self.values))
        )
        self.remembered_keys, self.remembered_values = (x[..., x.shape[3] - min(x.shape[3], self.memory) :, :] for x in together)
        self.place, self.number = 0, self.number + 1
        seen_keys, seen_values = self.swap.applied(self.remembered_keys, self.remembered_values, self.number)
        self.held = seen_keys.shape[3]
        self.keys[..., : self.held, :], self.values[..., : self.held, :] = seen_keys, seen_values


class Reader:
    """A network that reads on from where it stopped, within a segment at a time."""

    def __init__(self, model: Network, rows: int, memory: int, segment: int, swap: Swap = AS_TRAINED) -> None:
        self.model = model
        self.cache = Cache(model, rows, memory, segment, swap)
        # What distances mean depends on nothing that is read.
        self.tables = [table.detach() for table in model.tables(memory + segment)] if isinstance(model, TransformerXL) else None

    @property
    def left(self) -> int:
        """Positions until the end of this segment."""
        return self.cache.segment - self.cache.place

    @torch.no_grad()
    def read(self, before: Tensor, trace: Trace = OFF) -> Tensor:
        """before: (batch, position) characters after those that were read, within this segment; (batch, position, letter) logits."""
        logits: Tensor = self.model(before, self.cache, self.tables, trace=trace)
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


def uniforms(seed: int, count: int) -> Tensor:
    """(position,) in [0, 1): the numbers that a request draws with, the same first ones however many are asked for."""
    return torch.from_numpy(np.random.default_rng((seed, 0)).random(count, dtype=np.float64))


def draw(logits: Tensor, uniform: Tensor, temperature: Tensor) -> Tensor:
    """One character for each row, never UNKNOWN, by the inverse of the cumulative distribution of softmax(logits / temperature).

    logits: (batch, letter); uniform: (batch,) in [0, 1); temperature: (batch,), 0 takes the likeliest. (batch,) characters.
    """
    logits = logits.double().clone()
    logits[:, UNKNOWN] = -torch.inf
    total = (logits / temperature.to(logits).clamp(min=1e-6)[:, None]).softmax(-1).cumsum(-1)
    chosen = (total <= (uniform.to(logits) * total[:, -1])[:, None]).sum(-1).clamp_(max=logits.shape[1] - 1)
    return torch.where(temperature.to(logits.device) == 0, logits.argmax(-1), chosen)


@dataclass(frozen=True)
class Wanted:
    """What a batch of requests asks for, a row each.

    known: (batch, position) characters, FREE where one is to be drawn. uniforms: (batch, position). temperatures: one per row.
    memory, segment: states that are remembered, characters that are read at once. swap: what stands in the memory.
    """

    known: Tensor
    uniforms: Tensor
    temperatures: Sequence[float]
    memory: int
    segment: int
    swap: Swap = AS_TRAINED


class Writer:
    """Reads what is given segment by segment and writes on; between two calls of `step` others may use the machine.

    Segments go on while it writes: the finished text, read segment by segment, is what was read to write it.
    """

    def __init__(self, model: Network, wanted: Wanted) -> None:
        device = model.readout.weight.device
        self.known, self._uniforms = wanted.known.to(device), wanted.uniforms.to(device)
        self._temperatures = torch.tensor([float(t) for t in wanted.temperatures], device=device, dtype=torch.float64)
        rows, self.length = self.known.shape
        self.characters = self.known.clone()
        self.nats = torch.zeros(rows, self.length, device=device)
        self.position = 0  # what is read or written next
        self._reader = Reader(model, rows, wanted.memory, wanted.segment, wanted.swap)
        self._free = (self.known == FREE).any(0).cpu()
        self._first = torch.full((rows, 1), first_of(Alphabet(model.config.letters)), device=device)

    @property
    def done(self) -> bool:
        """Is everything read and written?"""
        return self.position == self.length

    @torch.no_grad()
    def step(self) -> int:
        """Read what every row knows up to the end of the segment, or write one character of every row; returns how many positions."""
        begin = self.position
        if self.done:
            return 0
        rest = self._free[begin : begin + self._reader.left]
        count = int(rest.int().argmax()) + 1 if bool(rest.any()) else len(rest)
        end = begin + count
        before = self.characters[:, begin - 1 : end - 1] if begin else torch.cat((self._first, self.characters[:, : end - 1]), 1)
        logits = self._reader.read(before)
        given = self.known[:, end - 1]
        if bool(self._free[end - 1]):
            drawn = draw(logits[:, -1], self._uniforms[:, end - 1], self._temperatures)
            self.characters[:, end - 1] = torch.where(given == FREE, drawn, given)
        chosen = self.characters[:, begin:end, None]
        self.nats[:, begin:end] = -logits.float().log_softmax(-1).gather(2, chosen)[..., 0]
        self.position = end
        return count


def write(model: Network, wanted: Wanted) -> tuple[Tensor, Tensor]:
    """Everything at once: (batch, position) characters, and −log p of each in nats, of those given too."""
    writer = Writer(model, wanted)
    while not writer.done:
        writer.step()
    return writer.characters, writer.nats
