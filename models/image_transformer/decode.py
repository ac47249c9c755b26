"""Generation of pictures position by position, with a bounded cache of keys and values and draws
from the inverse cumulative distribution."""

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

from models.decoding import sampling
from models.decoding.sampling import FREE, Writer, write_all
from models.image_transformer.colour import CHANNELS, NEAR, ColourTransformer, levels_from
from models.image_transformer.model import LEVELS, ImageTransformer, Layout
from models.layers import fused
from models.layers.local import Block


@dataclass(frozen=True)
class Wanted:
    """The pictures that a batch of requests calls for; each request takes `counts` consecutive rows
    of the batch.

    told: kinds, (request,), or levels of small pictures, (request, row, column, channel). uniforms:
    one number in [0, 1) per level in raster order, (row, pixel). counts, temperatures, top_k: one
    per request. known: levels in raster order, FREE where a level is drawn, (request, pixel); None
    if all are drawn. gains: factors of the heads' outputs, (layer, request, head). layout: with
    another memory than the trained one.
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
        """The request of each row, (row,)."""
        return torch.repeat_interleave(torch.tensor(self.counts))

    def rows(self, request: int) -> slice:
        """Return the rows of a request."""
        begin = sum(self.counts[:request])
        return slice(begin, begin + self.counts[request])

    def by_row(self, layout: Layout) -> sampling.Wanted:
        """Return the same by row and in the order of generation."""
        known = (
            torch.full((len(self.counts), len(layout.order)), FREE)
            if self.known is None
            else self.known.index_select(1, layout.pixels)
        )
        heat, top_k = (
            torch.tensor(one)[self.owner].tolist() for one in (self.temperatures, self.top_k)
        )
        drawn = self.uniforms.double().index_select(1, layout.pixels)
        return sampling.Wanted(known[self.owner], drawn, heat, top_k if min(top_k) < LEVELS else ())


def uniforms(seed: int, count: int, positions: int) -> Tensor:
    """Return the random numbers of a request in [0, 1), (picture, position).

    Picture i has the same numbers for every `count`.
    """
    drawn = [
        np.random.default_rng((seed, i)).random(positions, dtype=np.float32) for i in range(count)
    ]
    return torch.from_numpy(np.stack(drawn))


class Turn(NamedTuple):
    """The cache during one block."""

    # Positions that stay: first those for later blocks only, then the block's memory.
    held: list[int]
    first: int  # the first slot that this block sees
    start: int  # the position of its first query
    stop: int


def turns(blocks: Sequence[Block]) -> list[Turn]:
    """Return the cache contents for each block.

    A slot is freed after the last block that sees it, so the size of the cache does not grow with
    the number of blocks.
    """
    last_use = {
        position: number for number, block in enumerate(blocks) for position in block.memory
    }
    found: list[Turn] = []
    before: list[int] = []  # the positions in the slots of the previous turn
    for number, block in enumerate(blocks):
        waiting = sorted(p for p in set(before) - set(block.memory) if last_use.get(p, -1) > number)
        found.append(Turn([*waiting, *block.memory], len(waiting), block.start, block.stop))
        before = [*found[-1].held, *range(block.start, block.stop)]
    return found


class Cache(sampling.SamplingCache):
    """The keys and values that later positions may see; all rows are at the same position."""

    def __init__(self, model: Any, rows: int, layout: Layout) -> None:
        self.turns = turns(layout.blocks)
        self.number = 0  # of the current block
        super().__init__(
            model, rows, max(len(turn.held) + turn.stop - turn.start for turn in self.turns)
        )

    @property
    def turn(self) -> Turn:
        """The turn of the current block."""
        return self.turns[self.number]

    @property
    def slot(self) -> int:
        """The slot of the next position."""
        return len(self.turn.held) + self.position - self.turn.start

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Store keys and values as `models.decoding.sampling.SamplingCache.extend` does, and return
        those that the block sees."""
        first, slot, end = self.turn.first, self.slot, self.slot + key.shape[2]
        self.keys[layer, :, :, slot:end], self.values[layer, :, :, slot:end] = key, value
        return self.keys[layer, :, :, first:end], self.values[layer, :, :, first:end]

    def advance(self, count: int) -> None:
        """Count new positions of the block; after its last one, move what the next block sees to
        the front."""
        self.position, turn = self.position + count, self.turn
        if self.position == turn.stop and self.number + 1 < len(self.turns):
            place = {
                position: slot
                for slot, position in enumerate([*turn.held, *range(turn.start, turn.stop)])
            }
            self.number += 1
            kept = torch.tensor(
                [place[position] for position in self.turn.held],
                dtype=torch.long,
                device=self.keys.device,
            )
            for one in (self.keys, self.values):
                one[..., : len(kept), :] = one.index_select(3, kept)


class Reader(sampling.Reader, ABC):
    """A reader of levels, block by block."""

    def __init__(self, model: Any, wanted: Wanted, layout: Layout, **seen: Any) -> None:
        """Prepare the cache.

        seen: further inputs of the layers.
        """
        owner = wanted.owner
        self.model, self._seen = model, seen
        self._gains = (
            None if wanted.gains is None else wanted.gains[:, owner].to(model.readout.weight.device)
        )
        self.cache = Cache(model, len(owner), layout)

    @cached_property
    def _fused_step(self) -> fused.Step | None:
        cache: Cache = self.cache
        return (
            fused.fuse_decoder(self.model, cache.as_fused(self._gains), **self._seen)
            if cache.fused
            else None
        )

    @property
    def positions_left(self) -> int:
        """The number of positions left in the block, as in `models.decoding.sampling.Reader`."""
        cache: Cache = self.cache
        return cache.turn.stop - cache.position

    @abstractmethod
    def embed_before(self, before: Tensor) -> Tensor:
        """Return the input of the first layer after the levels `before`."""

    def levels(self, said: Tensor) -> Tensor:
        """Return logits from the readout, (row, position, level)."""
        return said

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """Read levels as `models.decoding.sampling.Reader.read` does, at most `positions_left`
        positions."""
        cache: Cache = self.cache
        x = self.embed_before(before)
        if before.shape[1] == 1 and self._fused_step is not None:
            said = self._fused_step(x[:, 0], cache.slot, cache.turn.first)[:, None]
        else:
            said = self.model.readout(self.model.run_layers(x, cache, self._gains, **self._seen))
        cache.advance(before.shape[1])
        return self.levels(said)


class Grey(Reader):
    """A reader of grey levels under a given kind."""

    def __init__(self, model: ImageTransformer, wanted: Wanted, layout: Layout) -> None:
        super().__init__(model, wanted, layout)
        device = model.readout.weight.device
        kinds, pixels = wanted.told[wanted.owner].to(device), layout.pixels.to(device)
        # Computed once; a step adds its level.
        self._told = (model.embedding.kind(kinds)[:, None] + model.embedding.place[pixels]).detach()

    def embed_before(self, before: Tensor) -> Tensor:
        """Return the sum of the last level, the kind and the place, (row, position, d_model)."""
        first = self.cache.position
        x: Tensor = (
            F.embedding(before, self.model.embedding.level.weight)
            + self._told[:, first : first + before.shape[1]]
        )
        return x


class Colour(Reader):
    """A reader of colour levels, one at a time, channels inside pixels, under a given small
    picture."""

    def __init__(self, model: ColourTransformer, wanted: Wanted, layout: Layout) -> None:
        small = wanted.told[wanted.owner].to(model.readout.weight.device)
        self._source = model.encode(small)
        super().__init__(
            model,
            wanted,
            layout,
            source=[layer.cross.project_key_value(self._source) for layer in model.decoder],
        )
        self._small = small.flatten(1)
        self._told = model.embedding.embed_places(model.embedding.large)
        self._below: list[int] = model.embedding.below.tolist()
        # Sums of the large values that each small value covers.
        self._so_far = torch.zeros_like(self._small)
        self._misses = self._source.new_zeros(len(small), len(layout.order))
        self._means = self._zero = self._source.new_zeros(len(small))

    @property
    def positions_left(self) -> int:
        """The number of positions left, 1: the input of a level depends on the level before it."""
        return 1

    def embed_before(self, before: Tensor) -> Tensor:
        """Return one position of `models.image_transformer.colour.Embedding`, (row, 1, d_model)."""
        at, known, level = self.cache.position, self.model.embedding, before[:, 0]
        if at:
            self._misses[:, at - 1] = (level - self._means) / NEAR
            self._so_far[:, self._below[at - 1]] += level
            level = level + LEVELS * ((at - 1) % CHANNELS)
        below, turn = self._below[at], known.turn[at]
        x: Tensor = (
            known.level.weight.index_select(0, level)
            .add_(self._told[at])
            .add_(self._source.select(1, below))
        )
        self._means = known.mean(self._small[:, below], self._so_far[:, below], turn)
        missed = torch.stack(
            [self._misses[:, at - by] if at >= by else self._zero for by in known.earlier], dim=1
        )
        return x.add_(
            known.remaining(self._means.round().long()) + known.sharing(turn) + known.missed(missed)
        )[:, None]

    def levels(self, said: Tensor) -> Tensor:
        """Return logits of levels from those of distances to the mean of what remains."""
        return levels_from(said, self._means[:, None])


class Generation(Writer):
    """The pictures of a batch of requests, position by position: known levels are read, the others
    drawn.

    A row's draws depend on its own uniforms alone, so the rest of the batch changes nothing beyond
    rounding.
    """

    @torch.no_grad()
    def __init__(self, model: ImageTransformer | ColourTransformer, wanted: Wanted) -> None:
        self.layout = wanted.layout or model.layout
        reader = (
            Grey(model, wanted, self.layout)
            if isinstance(model, ImageTransformer)
            else Colour(model, wanted, self.layout)
        )
        super().__init__(reader, wanted.by_row(self.layout), precision=torch.float32)

    def part(self, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Return the levels of positions start … stop − 1 in the order of generation, (row,
        position) uint8, and their −log₂ p.

        −log₂ p is the model's own, at temperature 1 and over all levels, whatever the draw.
        """
        return self.symbols[:, start:stop].to("cpu", torch.uint8), self.nats[
            :, start:stop
        ].cpu() / math.log(2)

    def pictures(self) -> tuple[Tensor, Tensor]:
        """Return the pictures, (row, row of pixels, column) uint8, and −log₂ p of each level."""
        levels, bits = (x.index_select(1, self.layout.places) for x in self.part(0, self.length))
        shape = (-1, self.layout.rows, self.layout.columns)
        return levels.view(shape), bits.view(shape)


def generate(model: ImageTransformer | ColourTransformer, wanted: Wanted) -> Generation:
    """Generate all pictures of a batch, from the first position to the last."""
    generation = Generation(model, wanted)
    write_all(generation)
    return generation
