"""Making pictures position by position: a bounded cache of keys and values, and draws from the inverse cumulative distribution."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models import fused, sampling
from models.image_transformer.colour import CHANNELS, NEAR, ColourTransformer, levels_from
from models.image_transformer.model import LEVELS, ImageTransformer, Layout
from models.layers.local import Block
from models.sampling import FREE, Writer, written


@dataclass(frozen=True)
class Wanted:
    """What a batch of requests asks for; every request is `counts` rows of the batch, its pictures, one after another.

    told: (request,) kinds, or (request, row, column, channel) levels of small pictures. uniforms: (row, pixel) in [0, 1), one per level in
    raster order. counts, temperatures, top_k: one per request. known: (request, pixel) levels in raster order, FREE where a level is to be
    drawn; None where all are. gains: (layer, request, head), what a head's output is multiplied by. layout: another memory than trained.
    """

    told: Tensor
    uniforms: Tensor
    counts: tuple[int, ...]
    temperatures: tuple[float, ...]
    top_k: tuple[int, ...]
    known: Tensor | None = None
    gains: Tensor | None = None
    layout: Layout | None = None

    @cached_property
    def owner(self) -> Tensor:
        """(row,) the request that each row belongs to."""
        return torch.repeat_interleave(torch.tensor(self.counts))

    def rows(self, request: int) -> slice:
        """The rows of a request."""
        begin = sum(self.counts[:request])
        return slice(begin, begin + self.counts[request])

    def by_row(self, layout: Layout) -> sampling.Wanted:
        """The same by row and in the order of generation."""
        known = torch.full((len(self.counts), len(layout.order)), FREE) if self.known is None else self.known.index_select(1, layout.pixels)
        heat, top_k = (torch.tensor(one)[self.owner].tolist() for one in (self.temperatures, self.top_k))
        drawn = self.uniforms.double().index_select(1, layout.pixels)
        return sampling.Wanted(known[self.owner], drawn, heat, top_k if min(top_k) < LEVELS else ())


def uniforms(seed: int, count: int, positions: int) -> Tensor:
    """(picture, position) in [0, 1): the numbers that a request draws with. Picture i gets the same ones however many are asked for."""
    drawn = [np.random.default_rng((seed, i)).random(positions, dtype=np.float32) for i in range(count)]
    return torch.from_numpy(np.stack(drawn))


class Turn(NamedTuple):
    """One block's turn in the cache."""

    held: list[int]  # positions that stay: first those that only later blocks see, then the block's memory
    first: int  # first slot that this block sees
    start: int  # position of its first query
    stop: int


def turns(blocks: Sequence[Block]) -> list[Turn]:
    """What stands in the cache while each block is made.

    No slot outlives the last block that sees it, so a cache needs no more of them however many blocks there are.
    """
    last_use = {position: number for number, block in enumerate(blocks) for position in block.memory}
    found: list[Turn] = []
    before: list[int] = []  # the positions in the slots of the turn before
    for number, block in enumerate(blocks):
        waiting = sorted(p for p in set(before) - set(block.memory) if last_use.get(p, -1) > number)
        found.append(Turn([*waiting, *block.memory], len(waiting), block.start, block.stop))
        before = [*found[-1].held, *range(block.start, block.stop)]
    return found


class Cache(sampling.Cache):
    """Keys and values of what may still be seen, for rows that all stand at the same position."""

    def __init__(self, model: Any, rows: int, layout: Layout) -> None:
        self.turns = turns(layout.blocks)
        self.number = 0  # of the block that is made
        super().__init__(model, rows, max(len(turn.held) + turn.stop - turn.start for turn in self.turns))

    @property
    def turn(self) -> Turn:
        """Of the block that is made."""
        return self.turns[self.number]

    @property
    def slot(self) -> int:
        """Where the next position goes."""
        return len(self.turn.held) + self.position - self.turn.start

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """As `models.sampling.Cache.extend`, within a block: what it sees comes back."""
        first, slot, end = self.turn.first, self.slot, self.slot + key.shape[2]
        self.keys[layer, :, :, slot:end], self.values[layer, :, :, slot:end] = key, value
        return self.keys[layer, :, :, first:end], self.values[layer, :, :, first:end]

    def advance(self, count: int) -> None:
        """So many positions of the block are there; behind its last one, what the next block will see moves to the front."""
        self.position, turn = self.position + count, self.turn
        if self.position == turn.stop and self.number + 1 < len(self.turns):
            place = {position: slot for slot, position in enumerate([*turn.held, *range(turn.start, turn.stop)])}
            self.number += 1
            kept = torch.tensor([place[position] for position in self.turn.held], dtype=torch.long, device=self.keys.device)
            for one in (self.keys, self.values):
                one[..., : len(kept), :] = one.index_select(3, kept)


class Reader(sampling.Reader, ABC):
    """Reads levels block by block."""

    def __init__(self, model: Any, wanted: Wanted, layout: Layout, **seen: Any) -> None:
        """seen: what else the layers look at."""
        owner = wanted.owner
        self.model, self._seen = model, seen
        self._gains = None if wanted.gains is None else wanted.gains[:, owner].to(model.readout.weight.device)
        self.cache = Cache(model, len(owner), layout)

    @cached_property
    def _step(self) -> fused.Step | None:
        cache: Cache = self.cache
        return fused.of_decoder(self.model, cache.own(self._gains), **self._seen) if cache.fused else None

    @property
    def left(self) -> int:
        """As `models.sampling.Reader.left`: to the end of the block."""
        cache: Cache = self.cache
        return cache.turn.stop - cache.position

    @abstractmethod
    def embedded(self, before: Tensor) -> Tensor:
        """What goes into the first layer after the levels `before`."""

    def levels(self, said: Tensor) -> Tensor:
        """Logits (row, position, level) from what the readout says."""
        return said

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """As `models.sampling.Reader.read`, at most `left` positions."""
        cache: Cache = self.cache
        x = self.embedded(before)
        if before.shape[1] == 1 and self._step is not None:
            said = self._step(x[:, 0], cache.slot, cache.turn.first)[:, None]
        else:
            said = self.model.readout(self.model.through(x, cache, self._gains, **self._seen))
        cache.advance(before.shape[1])
        return self.levels(said)


class Grey(Reader):
    """Levels of grey pictures: what is known before each, of a kind that is told."""

    def __init__(self, model: ImageTransformer, wanted: Wanted, layout: Layout) -> None:
        super().__init__(model, wanted, layout)
        device = model.readout.weight.device
        kinds, pixels = wanted.told[wanted.owner].to(device), layout.pixels.to(device)
        self._told = (model.embedding.kind(kinds)[:, None] + model.embedding.place[pixels]).detach()  # made once: a step adds its level

    def embedded(self, before: Tensor) -> Tensor:
        """The level before, the kind and the place: (row, position, d_model)."""
        first = self.cache.position
        x: Tensor = F.embedding(before, self.model.embedding.level.weight) + self._told[:, first : first + before.shape[1]]
        return x


class Colour(Reader):
    """Levels of coloured pictures, channels inside pixels, one at a time: what is known before each, of a small picture that is told."""

    def __init__(self, model: ColourTransformer, wanted: Wanted, layout: Layout) -> None:
        small = wanted.told[wanted.owner].to(model.readout.weight.device)
        self._source = model.encode(small)
        super().__init__(model, wanted, layout, source=[layer.cross.key_value(self._source) for layer in model.decoder])
        self._small = small.flatten(1)
        self._told = model.embedding.told(model.embedding.large)
        self._below: list[int] = model.embedding.below.tolist()
        self._so_far = torch.zeros_like(self._small)  # of the large values that each small one covers
        self._misses = self._source.new_zeros(len(small), len(layout.order))
        self._means = self._zero = self._source.new_zeros(len(small))

    @property
    def left(self) -> int:
        """As `models.sampling.Reader.left`: what is known before a level is made of the one before it."""
        return 1

    def embedded(self, before: Tensor) -> Tensor:
        """As `models.image_transformer.colour.Embedding`, of one position: (row, 1, d_model)."""
        at, known, level = self.cache.position, self.model.embedding, before[:, 0]
        if at:
            self._misses[:, at - 1] = (level - self._means) / NEAR
            self._so_far[:, self._below[at - 1]] += level
            level = level + LEVELS * ((at - 1) % CHANNELS)
        below, turn = self._below[at], known.turn[at]
        x: Tensor = known.level.weight.index_select(0, level).add_(self._told[at]).add_(self._source.select(1, below))
        self._means = known.mean(self._small[:, below], self._so_far[:, below], turn)
        missed = torch.stack([self._misses[:, at - by] if at >= by else self._zero for by in known.earlier], dim=1)
        return x.add_(known.remaining(self._means.round().long()) + known.sharing(turn) + known.missed(missed))[:, None]

    def levels(self, said: Tensor) -> Tensor:
        """From distances to what remains on average."""
        return levels_from(said, self._means[:, None])


class Generation(Writer):
    """Pictures of a batch of requests, position by position. What is known already is read; the rest is drawn.

    A row's draws depend on its own uniforms alone, so company in the batch changes nothing beyond rounding.
    """

    @torch.no_grad()
    def __init__(self, model: ImageTransformer | ColourTransformer, wanted: Wanted) -> None:
        self.layout = wanted.layout or model.layout
        reader = Grey(model, wanted, self.layout) if isinstance(model, ImageTransformer) else Colour(model, wanted, self.layout)
        super().__init__(reader, wanted.by_row(self.layout), precision=torch.float32)

    def part(self, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Levels (row, position) uint8 of positions start … stop − 1, in the order of generation, and their −log₂ p.

        −log₂ p is the model's own, temperature 1 and all levels, whatever was drawn from.
        """
        return self.symbols[:, start:stop].to("cpu", torch.uint8), self.nats[:, start:stop].cpu() / math.log(2)

    def pictures(self) -> tuple[Tensor, Tensor]:
        """Pictures (row, row of pixels, column) uint8, and −log₂ p of each level."""
        levels, bits = (x.index_select(1, self.layout.places) for x in self.part(0, self.length))
        shape = (-1, self.layout.rows, self.layout.columns)
        return levels.view(shape), bits.view(shape)


def generate(model: ImageTransformer | ColourTransformer, wanted: Wanted) -> Generation:
    """All pictures of a batch, from the first position to the last."""
    generation = Generation(model, wanted)
    written(generation)
    return generation
