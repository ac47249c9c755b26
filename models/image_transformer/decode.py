"""Making pictures position by position: a bounded cache of keys and values, and draws from the inverse cumulative distribution."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models.image_transformer.model import LEVELS, ImageTransformer, Layer, Layout
from models.layers.local import local_attention

FREE = -1  # in place of a level: this pixel is to be drawn


@dataclass(frozen=True)
class Wanted:
    """What a batch of requests asks for; every request is `counts` rows of the batch, its pictures, one after another.

    kinds: (request,). uniforms: (row, pixel) in [0, 1), one per pixel in raster order. counts, temperatures, top_k: one per request.
    known: (request, pixel) levels in raster order, FREE where a level is to be drawn; None where all are.
    gains: (layer, request, head), what a head's output is multiplied by. layout: another memory than the trained one.
    """

    kinds: Tensor
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

    @cached_property
    def first(self) -> Tensor:
        """(request,) the row of each request's first picture."""
        counts = torch.tensor(self.counts)
        return counts.cumsum(0) - counts


def uniforms(seed: int, count: int, positions: int) -> Tensor:
    """(picture, position) in [0, 1): the numbers that a request draws with. Picture i gets the same ones however many are asked for."""
    drawn = [np.random.default_rng((seed, i)).random(positions, dtype=np.float32) for i in range(count)]
    return torch.from_numpy(np.stack(drawn))


class _Turn(NamedTuple):
    """One block's turn in the cache: which slots of the turn before stay, and where the block begins to see and to write."""

    held: Tensor  # (held,) positions that stay: first those that only later blocks see, then the block's memory
    kept: tuple[slice, ...]  # the slots where they stood in the turn before, as runs
    first: int  # first slot that this block sees
    start: int  # position of its first query
    stop: int


def turns(layout: Layout) -> list[_Turn]:
    """What the cache holds while each block is made: its memory, itself, and what a later block will see; everything else is gone.

    So the cache is as large as a few rows of pixels, however tall the picture is.
    """
    blocks = layout.blocks
    last_use: dict[int, int] = {}
    for number, block in enumerate(blocks):
        last_use.update(dict.fromkeys(block.memory, number))
    found: list[_Turn] = []
    before: list[int] = []  # the positions in the slots of the turn before
    for number, block in enumerate(blocks):
        seen = set(block.memory)
        waiting = sorted(p for p in before if p not in seen and last_use.get(p, -1) > number)
        held = [*waiting, *block.memory]
        place = {position: slot for slot, position in enumerate(before)}
        kept = _runs([place[p] for p in held])
        found.append(_Turn(torch.tensor(held, dtype=torch.long), kept, len(waiting), block.start, block.stop))
        before = [*held, *range(block.start, block.stop)]
    return found


def _runs(slots: list[int]) -> tuple[slice, ...]:
    """The same slots as slices: whole tiles and rows move together."""
    starts = [i for i, slot in enumerate(slots) if i == 0 or slot != slots[i - 1] + 1]
    return tuple(slice(slots[a], slots[a] + b - a) for a, b in itertools.pairwise([*starts, len(slots)]))


class _Layer(NamedTuple):
    """A layer's parameters as one step multiplies by them: matrices (in, out), and biases."""

    norm: tuple[Tensor, Tensor]
    project: tuple[Tensor, Tensor]  # (d_model, head · (query, key, value) · d_head): what a head needs stands together
    out: tuple[Tensor, Tensor]
    feedforward_norm: tuple[Tensor, Tensor]
    inner: tuple[Tensor, Tensor]
    outer: tuple[Tensor, Tensor]

    @classmethod
    def of(cls, layer: Layer, rows: int, scale: float) -> _Layer:
        """A layer's parameters for so many rows: matrices are views, but for the input projection's; biases are there for every row.

        scale: 1 / √d_head, which queries carry from the start.
        """
        attention, feedforward = layer.attention, layer.feedforward
        d, heads = attention.d_model, attention.n_heads
        weight = attention.project_in.weight.view(3, heads, -1, d).transpose(0, 1).clone(memory_format=torch.contiguous_format)
        bias = attention.project_in.bias.view(3, heads, -1).transpose(0, 1).clone(memory_format=torch.contiguous_format)
        weight[:, 0] *= scale
        bias[:, 0] *= scale
        return cls(
            (layer.norm.weight, layer.norm.bias),
            (weight.view(3 * d, d).t(), bias.view(3 * d).repeat(rows, 1)),
            (attention.project_out.weight.t(), attention.project_out.bias.repeat(rows, 1)),
            (layer.feedforward_norm.weight, layer.feedforward_norm.bias),
            (feedforward.inner.weight.t(), feedforward.inner.bias.repeat(rows, 1)),
            (feedforward.outer.weight.t(), feedforward.outer.bias.repeat(rows, 1)),
        )


class Cache:
    """Keys and values of what may still be seen, for rows that all stand at the same position.

    A step has one query per row, so its matrices are small and much of its time goes into calling the library. `step` therefore
    spells the network's equations out in as few calls as they take, on views made beforehand; the tests hold it equal to the network.
    Keys lie (d_head, slot) and values (slot, d_head), the layouts in which each product runs through memory once.
    """

    def __init__(self, model: ImageTransformer, wanted: Wanted) -> None:
        config = model.config
        self.position = 0
        self.layout = wanted.layout or model.layout
        self._model = model
        self._wanted = wanted
        self._turns = turns(self.layout)
        self._turn = self._turns[0]
        self._number = 0
        weight = model.readout.weight
        device, like = weight.device, weight.detach()
        self._owner, self._first = wanted.owner.to(device), wanted.first.to(device)
        rows, heads, d_head = len(wanted.owner), config.n_heads, config.d_model // config.n_heads
        self._heads = (rows, heads, d_head)
        self._width = (config.d_model,)
        self._scale = d_head**-0.5
        self._layers = [_Layer.of(layer, rows, self._scale) for layer in model.layers if isinstance(layer, Layer)]
        self._ends = ((model.norm.weight, model.norm.bias), (weight.t(), model.readout.bias.repeat(rows, 1)))
        self._levels = model.embedding.level.weight
        self._pixels = self.layout.pixels.to(device)
        self._kind = model.embedding.kind(wanted.kinds.to(device)).index_select(0, self._owner)  # (row, d_model)

        slots = max(len(turn.held) + turn.stop - turn.start for turn in self._turns)
        largest = max(turn.stop - turn.start for turn in self._turns)
        layers, both = config.n_layers, rows * heads
        self._keys = like.new_zeros(layers, both, d_head, slots)
        self._values = like.new_zeros(layers, both, slots, d_head)
        self._key_slots = [list(k.transpose(1, 2)[:, :, None].unbind(1)) for k in self._keys.unbind(0)]
        self._value_slots = [list(v[:, :, None].unbind(1)) for v in self._values.unbind(0)]
        # What a block projects is kept until the block is done: queries, keys and values by head.
        self._projected = like.new_zeros(layers, largest, rows, 3 * config.d_model)
        by_head = self._projected.view(layers, largest, both, 3, 1, d_head)
        self._into = [list(p.unbind(0)) for p in self._projected.unbind(0)]
        self._parts = [[q.unbind(1) for q in p.unbind(0)] for p in by_head.unbind(0)]
        self._gains: list[Tensor | None] = [None] * layers
        if wanted.gains is not None:
            self._gains = list(wanted.gains.to(like).index_select(1, self._owner).reshape(layers, both, 1, 1).unbind(0))
        requests, length = len(wanted.counts), len(self.layout.order)
        self.queries = torch.zeros(layers, requests, heads, length, d_head, dtype=torch.float16)
        self.keys = torch.zeros_like(self.queries)
        self._enter(0)

    def _enter(self, number: int) -> None:
        """The next block's turn: what it or a later block will see moves to the front, the rest gives its slots away."""
        turn = self._turn = self._turns[number]
        self._number = number
        count = len(turn.held)
        if count and self.position == turn.start:
            self._keys[..., :count] = torch.cat([self._keys[..., run] for run in turn.kept], dim=3)
            self._values[:, :, :count] = torch.cat([self._values[:, :, run] for run in turn.kept], dim=2)
        place = self._model.embedding.place[self._pixels[turn.start : turn.stop]]
        self._here = (place[:, None] + self._kind).unbind(0)  # for each position of the block (row, d_model)
        self._at = count  # the slot that is filled next

    @torch.no_grad()
    def step(self, before: Tensor, out: Tensor) -> None:
        """Read the level made last, (row,), LEVELS at the start; write into `out` (row, level) the logits of the next."""
        turn, width, d = self._turn, self._width, self._width[0]
        inside, slot = self.position - turn.start, self._at
        size = slot + 1 - turn.first
        past_keys = self._keys.narrow(3, turn.first, size).unbind(0)
        past_values = self._values.narrow(2, turn.first, size).unbind(0)
        x = torch.index_select(self._levels, 0, before).add_(self._here[inside])  # (row, d_model)
        for i, layer in enumerate(self._layers):
            y = torch.layer_norm(x, width, *layer.norm)
            torch.addmm(layer.project[1], y, layer.project[0], out=self._into[i][inside])
            query, key, value = self._parts[i][inside]  # each (row · head, 1, d_head)
            self._key_slots[i][slot].copy_(key)
            self._value_slots[i][slot].copy_(value)
            seen = torch.bmm(torch.softmax(torch.bmm(query, past_keys[i]), -1), past_values[i])
            gain = self._gains[i]
            if gain is not None:
                seen = seen.mul_(gain)
            x.add_(layer.out[1]).addmm_(seen.view(-1, d), layer.out[0])
            y = torch.layer_norm(x, width, *layer.feedforward_norm)
            inner = torch.addmm(layer.inner[1], y, layer.inner[0]).relu_()
            x.add_(layer.outer[1]).addmm_(inner, layer.outer[0])
        norm, readout = self._ends
        torch.addmm(readout[1], torch.layer_norm(x, width, *norm), readout[0], out=out)
        self.position += 1
        self._at += 1
        if self.position == turn.stop:
            self._keep(turn)
            if self._number + 1 < len(self._turns):
                self._enter(self._number + 1)

    def _keep(self, turn: _Turn) -> None:
        """Note the queries and keys of the block that is done, of each request's first picture."""
        layers, (rows, heads, d_head) = len(self._layers), self._heads
        done = self._projected[:, : turn.stop - turn.start].view(layers, -1, rows, heads, 3, d_head).index_select(2, self._first)
        query, key = done[..., 0, :] / self._scale, done[..., 1, :]  # (layer, position, request, head, d_head)
        self.queries[:, :, :, turn.start : turn.stop] = query.permute(0, 2, 3, 1, 4).to("cpu", torch.float16)
        self.keys[:, :, :, turn.start : turn.stop] = key.permute(0, 2, 3, 1, 4).to("cpu", torch.float16)

    def blocks_within(self, positions: int) -> int:
        """How many blocks lie wholly within the first so many positions, the last block left out."""
        return sum(turn.stop <= positions for turn in self._turns[:-1])

    @torch.no_grad()
    def fill(self, request: int, made: Tensor, blocks: int) -> Tensor:
        """Read the first so many blocks of one request at once, as training does: made (position,) levels, in the order of generation.

        Its rows get their keys and values; returns the logits (position, level) of what was read. All requests are filled with as many
        blocks before the first step.
        """
        model, turn = self._model, self._turns[blocks]
        read = self.layout.blocks[:blocks]
        rows, heads, d_head = self._heads
        begin, count = int(self._first[request]), self._wanted.counts[request]
        made = made[: turn.start]
        before = torch.cat((made.new_full((1,), LEVELS), made[:-1]))
        x = model.embedding(before[None], self._wanted.kinds[request : request + 1].to(made.device), self._pixels[: turn.start])
        gains = None if self._wanted.gains is None else self._wanted.gains[:, request : request + 1].to(x)
        held = turn.held.to(made.device)
        keys = self._keys.view(-1, rows, heads, d_head, self._keys.shape[-1])[:, begin : begin + count, ..., : len(held)]
        values = self._values.view(-1, rows, heads, self._values.shape[2], d_head)[:, begin : begin + count, :, : len(held)]
        for i, layer in enumerate(model.layers):
            assert isinstance(layer, Layer)
            query, key, value = layer.attention.self_projections(layer.norm(x))
            keys[i], values[i] = key[0].index_select(1, held).transpose(1, 2), value[0].index_select(1, held)
            self.queries[i, request, :, : turn.start] = query[0].to("cpu", torch.float16)
            self.keys[i, request, :, : turn.start] = key[0].to("cpu", torch.float16)
            seen = local_attention(query, key, value, read, None if gains is None else gains[i])
            x = x + layer.attention.join(seen)
            x = x + layer.feedforward(layer.feedforward_norm(x))
        self.position = turn.start
        self._number, self._turn = -1, turn
        return model.readout(model.norm(x))[0]  # type: ignore[no-any-return]

    def filled(self, blocks: int) -> None:
        """All requests have been filled with so many blocks: steps go on behind them."""
        self.position = -1  # nothing moves: `fill` has put everything where this turn expects it
        self._enter(blocks)
        self.position = self._turn.start


class Generation:
    """Pictures of a batch of requests, some positions at a time. What is known already is read; the rest is drawn.

    A row's draws depend on its own uniforms alone, so company in the batch changes nothing beyond rounding.
    """

    def __init__(self, model: ImageTransformer, wanted: Wanted) -> None:
        device = model.readout.weight.device
        self._cache = Cache(model, wanted)
        self.layout = self._cache.layout
        self._wanted = wanted
        self.length = len(self.layout.order)
        self.done = False
        rows = len(wanted.owner)
        pixels = self.layout.pixels
        self._uniforms = wanted.uniforms.index_select(1, pixels).t()[:, :, None].contiguous().to(device).unbind(0)
        self._made = torch.zeros(self.length, rows, 1, dtype=torch.long, device=device)
        self._bits = torch.zeros(self.length, rows)
        self._logits = torch.empty(min(self.length, 64), rows, LEVELS, device=device)
        self._probabilities = torch.empty(rows, LEVELS, device=device)
        self._cumulative = torch.empty(rows, LEVELS, device=device)
        self._total = self._cumulative[:, -1:]
        owner = wanted.owner
        self._coldness: Tensor | None = None
        if any(temperature != 1 for temperature in wanted.temperatures):
            self._coldness = (1 / torch.tensor(wanted.temperatures)[owner, None]).to(device)
        self._rank: Tensor | None = None
        if any(k < LEVELS for k in wanted.top_k):
            self._rank = torch.tensor(wanted.top_k)[owner, None].to(device) - 1
        self._known: Tensor | None = None
        self._forced = [False] * self.length
        self._unread: list[int] = []
        self._blocks = 0
        if wanted.known is not None:
            known = wanted.known.index_select(1, pixels).to(device)  # (request, position)
            self._forced = (known != FREE).any(0).tolist()
            whole = (known != FREE).all(0).tolist()
            self._blocks = self._cache.blocks_within(whole.index(False) if False in whole else self.length)
            self._unread = list(range(len(wanted.counts))) if self._blocks else []
            self._known = known
            self._known_rows = known.index_select(0, owner.to(device)).t()[:, :, None].contiguous()  # (position, row, 1)
        self._before = torch.full((rows,), LEVELS, dtype=torch.long, device=device)

    @property
    def position(self) -> int:
        """How many positions are made or read, in all rows."""
        return 0 if self._unread else self._cache.position

    def part(self, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Levels (row, position) uint8 of positions start … stop − 1, in the order of generation, and their −log₂ p.

        −log₂ p is the model's own, temperature 1 and all levels, whatever was drawn from.
        """
        return self._made[start:stop, :, 0].t().to("cpu", torch.uint8), self._bits[start:stop].t()

    @property
    def queries(self) -> Tensor:
        """(layer, request, head, position, d_head) float16, of each request's first picture."""
        return self._cache.queries

    @property
    def keys(self) -> Tensor:
        """As `queries`."""
        return self._cache.keys

    def pictures(self) -> tuple[Tensor, Tensor]:
        """Pictures (row, row of pixels, column) uint8 with what is made so far, 0 elsewhere, and −log₂ p of each level."""
        levels, bits = (x.index_select(1, self.layout.places) for x in self.part(0, self.length))
        shape = (-1, self.layout.rows, self.layout.columns)
        return levels.view(shape), bits.view(shape)

    @torch.no_grad()
    def advance(self, positions: int) -> None:
        """Make so many positions more, at most 64 and at most to the end; or read what is known at the start of one request."""
        if self._unread:
            self._read(self._unread.pop(0))
            return
        cache = self._cache
        start = cache.position
        stop = min(start + min(positions, len(self._logits)), self.length)
        before = self._before
        for t in range(start, stop):
            logits = self._logits[t - start]
            cache.step(before, logits)
            made = self._made[t]
            self._draw(logits, self._uniforms[t], made)
            if self._forced[t]:
                known = self._known_rows[t]
                torch.where(known == FREE, made, known, out=made)
            before = made[:, 0]
        self._before = before
        if stop > start:
            self._bits[start:stop] = _bits(self._logits[: stop - start], self._made[start:stop, :, 0])
        self.done = stop == self.length

    def _draw(self, logits: Tensor, uniform: Tensor, out: Tensor) -> None:
        """The inverse cumulative distribution: out (row, 1), the first level whose cumulative probability exceeds uniform (row, 1)."""
        if self._coldness is not None:
            logits = logits * self._coldness
        if self._rank is not None:
            ranked = logits.sort(-1, descending=True).values
            logits = logits.masked_fill(logits < ranked.gather(1, self._rank), -torch.inf)
        torch.softmax(logits, -1, out=self._probabilities)
        torch.cumsum(self._probabilities, -1, out=self._cumulative)
        # A uniform below 1 times the rounded total stays below that total: no level of probability 0 is ever drawn.
        torch.searchsorted(self._cumulative, uniform * self._total, right=True, out=out)

    def _read(self, request: int) -> None:
        """What is known at the start of one request goes through the network at once."""
        assert self._known is not None
        made = self._known[request]
        logits = self._cache.fill(request, made, self._blocks)
        count = len(logits)
        begin = int(self._wanted.first[request])
        rows = slice(begin, begin + self._wanted.counts[request])
        self._made[:count, rows, 0] = made[:count, None]
        self._bits[:count, rows] = _bits(logits, made[:count])[:, None]
        if not self._unread:
            self._cache.filled(self._blocks)
            self._before = self._made[count - 1, :, 0]


def _bits(logits: Tensor, levels: Tensor) -> Tensor:
    """−log₂ p of each level: logits (…, level), levels (…)."""
    nats = F.cross_entropy(logits.flatten(0, -2), levels.flatten(), reduction="none")
    return (nats / math.log(2)).view(levels.shape).cpu()


def generate(model: ImageTransformer, wanted: Wanted) -> Generation:
    """All pictures of a batch, from the first position to the last."""
    generation = Generation(model, wanted)
    while not generation.done:
        generation.advance(64)
    return generation


def plain(kinds: Sequence[int], seeds: Sequence[int], positions: int) -> Wanted:
    """One picture of each kind, each from its own seed: temperature 1, all levels."""
    count = len(kinds)
    drawn = torch.cat([uniforms(seed, 1, positions) for seed in seeds])
    return Wanted(torch.tensor(kinds), drawn, (1,) * count, (1.0,) * count, (LEVELS,) * count)
