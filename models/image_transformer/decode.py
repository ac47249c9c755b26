"""Making pictures position by position: a bounded cache of keys and values, and draws from the inverse cumulative distribution."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from models import fused
from models.image_transformer.colour import CHANNELS, NEAR, ColourTransformer, levels_from
from models.image_transformer.model import LEVELS, ImageTransformer, Layout, bits
from models.layers.local import Block
from models.sampling import FREE, Draws


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


def turns(blocks: Sequence[Block]) -> list[_Turn]:
    """What the cache holds while each block is made: its memory, itself, and what a later block will see; everything else is gone.

    So the cache is as large as a few rows of pixels, however tall the picture is.
    """
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


def _matrix(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    return linear.weight.t(), linear.bias


class Cache:
    """Keys and values of what may still be seen, for rows that all stand at the same position.

    A step has one query per row, so its matrices are small and much of its time goes into calling the library. `step` therefore
    spells the network's equations out in as few calls as they take, on views made beforehand; the tests hold it equal to the network.
    """

    def __init__(self, model: Any, layers: Sequence[Any], layout: Layout, rows: int, gains: Tensor | None, source: Tensor | None) -> None:
        """layers: of the decoder. gains: (layer, row, head). source: (row, small position, d_model), for layers that attend to it too."""
        config, like = model.config, model.readout.weight.detach()
        d_model, self._d_head, self._heads = config.d_model, config.d_model // config.n_heads, rows * config.n_heads
        self.position, self._width = 0, (d_model,)
        self.turns = turns(layout.blocks)
        self._number, self._at = -1, 0
        slots = max(len(turn.held) + turn.stop - turn.start for turn in self.turns)
        self.own = like.new_zeros(len(layers), 2, slots, rows, d_model)  # of each layer keys and values
        self._fused: fused.Step | None = None
        if fused.serves(like, rows, self._d_head):
            self._fuse(model, layers, rows, gains, source)
        else:
            self._spell_out(model, layers, gains, source)

    def _fuse(self, model: Any, layers: Sequence[Any], rows: int, gains: Tensor | None, source: Tensor | None) -> None:
        """Steps in one call: slots of a channel side by side."""
        shape = (*self.own.shape[:2], *self.own.shape[3:], self.own.shape[2])
        room = fused.room_for(self.own, *shape)
        self.own = room.permute(0, 1, 4, 2, 3)
        parts = [
            fused.Parts(
                one.attention, one.norm, one.feedforward, one.feedforward_norm, *(() if source is None else (one.cross, one.cross_norm))
            )
            for one in layers
        ]
        weights = fused.Weights.of(model, parts, model.config.n_heads, model.norm, model.readout.weight, model.readout.bias)
        own = []
        for i, one in enumerate(layers):
            keys, values = (each.unflatten(1, (-1, self._d_head)).unbind(1) for each in room[i])
            gain = None if gains is None else gains[i].to(self.own).contiguous()
            cross_keys, cross_values = (None, None) if source is None else map(fused.by_slot, one.cross.key_value(source))
            own.append(fused.Own(keys, values, gain, cross_keys=cross_keys, cross_values=cross_values))
        self._fused = fused.Step(weights, own, self._d_head**-0.5, source=0 if source is None else source.shape[1])

    def _spell_out(self, model: Any, layers: Sequence[Any], gains: Tensor | None, source: Tensor | None) -> None:
        """Steps in as few calls as they take."""
        like, (n_layers, _, slots, _, d_model) = self.own, self.own.shape
        self._norms = [[(norm.weight, norm.bias) for norm in (one.norm, one.feedforward_norm)] for one in layers]
        self._matrices = [
            [_matrix(each) for each in (one.attention.project_in, one.attention.project_out, one.feedforward.inner, one.feedforward.outer)]
            for one in layers
        ]
        self._end = (model.norm.weight, model.norm.bias), _matrix(model.readout)
        by_head = self.own.view(n_layers, 2, slots, self._heads, self._d_head)
        self._keys, self._values = by_head[:, 0].permute(0, 2, 3, 1), by_head[:, 1].transpose(1, 2)
        self._slots = [one.unbind(1) for one in self.own.unbind(0)]  # of each layer, where a position's key and value go
        self._gains = [None] * len(layers) if gains is None else gains.to(like).reshape(-1, self._heads, 1, 1).unbind(0)
        self._nothing = like.new_empty(1)
        self._cross: list[Any] = [None] * len(layers)
        for i, one in enumerate(layers if source is not None else ()):
            key, value = one.cross.key_value(source)  # made once, so of the projection only queries are left
            query = one.cross.project_in.weight[:d_model].t(), one.cross.project_in.bias[:d_model]
            norm = one.cross_norm.weight, one.cross_norm.bias
            seen = key.flatten(0, 1).transpose(1, 2).contiguous(), value.flatten(0, 1).contiguous()
            self._cross[i] = norm, query, seen, _matrix(one.cross.project_out)

    def enter(self, number: int) -> None:
        """A block's turn: what it or a later block will see moves to the front, the rest gives its slots away."""
        turn, self._number = self.turns[number], number
        self._at = len(turn.held)
        if self._at and self.position == turn.start:
            axis = 2 if self._fused is None else 4  # that of slots in memory
            own = self.own.permute(0, 1, 3, 4, 2) if axis == 4 else self.own
            held = torch.cat([own.narrow(axis, run.start, run.stop - run.start) for run in turn.kept], dim=axis)
            own.narrow(axis, 0, self._at).copy_(held)
        self.position = turn.start

    @torch.no_grad()
    def step(self, x: Tensor) -> Tensor:
        """x: (row, d_model), the next position as embedded -> its readout, (row, kind)."""
        if self._number < 0 or self.position == self.turns[self._number].stop:
            self.enter(self._number + 1)
        first, slot, width = self.turns[self._number].first, self._at, self._width
        if self._fused is not None:
            self.position, self._at = self.position + 1, slot + 1
            return self._fused(x, slot, first)
        keys, values = self._keys.narrow(3, first, slot + 1 - first).unbind(0), self._values.narrow(2, first, slot + 1 - first).unbind(0)
        for i, (norm, feedforward_norm) in enumerate(self._norms):
            project_in, project_out, inner, outer = self._matrices[i]
            projected = torch.addmm(project_in[1], torch.layer_norm(x, width, *norm), project_in[0]).view(-1, 3, *width)
            self._slots[i][slot].copy_(projected[:, 1:].transpose(0, 1))
            x.add_(project_out[1]).addmm_(self._attend(projected[:, 0], keys[i], values[i], self._gains[i]), project_out[0])
            if self._cross[i] is not None:
                norm, query, (cross_keys, cross_values), out = self._cross[i]
                asked = torch.addmm(query[1], torch.layer_norm(x, width, *norm), query[0])
                x.add_(out[1]).addmm_(self._attend(asked, cross_keys, cross_values, None), out[0])
            hidden = torch.addmm(inner[1], torch.layer_norm(x, width, *feedforward_norm), inner[0]).relu_()
            x.add_(outer[1]).addmm_(hidden, outer[0])
        self.position, self._at = self.position + 1, slot + 1
        norm, readout = self._end
        return torch.addmm(readout[1], torch.layer_norm(x, width, *norm), readout[0])

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, gain: Tensor | None) -> Tensor:
        """softmax(q Kᵀ / √d_head) V for one query per row and head: query (row, d_model) -> (row, d_model)."""
        query = query.reshape(self._heads, 1, self._d_head)
        scores = torch.baddbmm(self._nothing, query, keys, beta=0, alpha=self._d_head**-0.5)
        seen = torch.bmm(torch.softmax(scores, -1), values)
        return (seen if gain is None else seen * gain).view(-1, *self._width)


class _Filled:
    """A past that keeps what a pass over the first blocks of one request makes: what the next block's turn holds of it, for its rows."""

    def __init__(self, own: Tensor, held: Tensor) -> None:
        """own: (layer, key or value, slot, row, d_model)."""
        self._own, self._held = own, held

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """As `models.decoder.Past`: the blocks see themselves alone."""
        for place, one in zip(self._own[layer], (key, value), strict=True):
            place[: len(self._held)] = one[0].index_select(1, self._held).transpose(0, 1).flatten(1)[:, None]
        return key, value


class Grey:
    """Levels of grey pictures: what is known before each, of a kind that is told."""

    def __init__(self, model: ImageTransformer, wanted: Wanted, layout: Layout) -> None:
        self._model, self._wanted = model, wanted
        device = model.readout.weight.device
        owner = wanted.owner.to(device)
        self._kinds = wanted.told.to(device)
        self._pixels, self._levels = layout.pixels.to(device), model.embedding.level.weight
        kind = model.embedding.kind(self._kinds).index_select(0, owner)  # (row, d_model)
        self._told = (model.embedding.place[self._pixels][:, None] + kind).unbind(0)  # of each position
        self._last = owner.new_full((len(owner),), LEVELS)
        self._gains = wanted.gains
        self.cache = Cache(model, list(model.layers), layout, len(owner), None if self._gains is None else self._gains[:, owner], None)
        self._blocks = layout.blocks

    def step(self) -> Tensor:
        """Logits (row, level) of the next level; tell it with `tell` before the next step."""
        return self.cache.step(torch.index_select(self._levels, 0, self._last).add_(self._told[self.cache.position]))

    def tell(self, levels: Tensor) -> None:
        """What came: (row,) levels."""
        self._last = levels

    @torch.no_grad()
    def fill(self, request: int, made: Tensor, blocks: int) -> Tensor:
        """Read the first so many blocks of one request at once, as training does: made (position,) levels, in the order of generation.

        Its rows get their keys and values; returns the logits (position, level) of what was read. All requests are filled with as many
        blocks before the first step.
        """
        model, turn = self._model, self.cache.turns[blocks]
        made = made[: turn.start]
        before = torch.cat((made.new_full((1,), LEVELS), made[:-1]))
        x = model.embedding(before[None], self._kinds[request : request + 1], self._pixels[: turn.start])
        past = _Filled(self.cache.own[:, :, :, self._wanted.rows(request)], turn.held.to(made.device))
        gains = None if self._gains is None else self._gains[:, request : request + 1].to(x)
        return model.readout(model.through(x, past, gains, blocks=self._blocks[:blocks]))[0]  # type: ignore[no-any-return]


class Colour:
    """Levels of coloured pictures, channels inside pixels: what is known before each, of a small picture that is told."""

    def __init__(self, model: ColourTransformer, wanted: Wanted, layout: Layout) -> None:
        embedding = self._embedding = model.embedding
        owner = wanted.owner.to(model.readout.weight.device)
        small = wanted.told.to(owner.device).index_select(0, owner)
        self._small = small.flatten(1)
        self._source = model.encode(small)
        self._told = embedding.told(embedding.large)
        self._below: list[int] = embedding.below.tolist()
        self._so_far = torch.zeros_like(self._small)  # of the large values that each small one covers
        self._misses = self._source.new_zeros(len(small), len(layout.order))
        self._means = self._zero = self._source.new_zeros(len(small))
        self._last = owner.new_full((len(owner),), CHANNELS * LEVELS)
        gains = None if wanted.gains is None else wanted.gains[:, owner]
        self.cache = Cache(model, model.decoder, layout, len(owner), gains, self._source)

    def step(self) -> Tensor:
        """As `Grey.step`."""
        at, known = self.cache.position, self._embedding
        below, turn = self._below[at], known.turn[at]
        x = known.level.weight.index_select(0, self._last).add_(self._told[at]).add_(self._source.select(1, below))
        self._means = known.mean(self._small[:, below], self._so_far[:, below], turn)
        missed = torch.stack([self._misses[:, at - by] if at >= by else self._zero for by in known.earlier], dim=1)
        x.add_(known.remaining(self._means.round().long()) + known.sharing(turn) + known.missed(missed))
        return levels_from(self.cache.step(x), self._means)

    def tell(self, levels: Tensor) -> None:
        """As `Grey.tell`."""
        at = self.cache.position - 1
        self._last = levels + LEVELS * (at % CHANNELS)
        self._misses[:, at] = (levels - self._means) / NEAR
        self._so_far[:, self._below[at]] += levels


class Generation:
    """Pictures of a batch of requests, some positions at a time. What is known already is read; the rest is drawn.

    A row's draws depend on its own uniforms alone, so company in the batch changes nothing beyond rounding.
    """

    @torch.no_grad()
    def __init__(self, model: ImageTransformer | ColourTransformer, wanted: Wanted) -> None:
        device = model.readout.weight.device
        self.layout = layout = wanted.layout or model.layout
        self._reader = Grey(model, wanted, layout) if isinstance(model, ImageTransformer) else Colour(model, wanted, layout)
        self._wanted = wanted
        self.length = len(layout.order)
        owner = wanted.owner
        self._uniforms = wanted.uniforms.double().index_select(1, layout.pixels).t().contiguous().to(device).unbind(0)
        self._made = torch.zeros(self.length, len(owner), dtype=torch.long, device=device)
        self._bits = torch.zeros(self.length, len(owner))
        heat = torch.tensor(wanted.temperatures, dtype=torch.float64, device=device)[owner.to(device)]
        self._draw = Draws(heat, torch.tensor(wanted.top_k, device=device)[owner.to(device)] if min(wanted.top_k) < LEVELS else None)
        self._known = torch.full((len(wanted.counts), self.length), FREE) if wanted.known is None else wanted.known
        self._known = self._known.index_select(1, layout.pixels).to(device)  # (request, position)
        self._forced = (self._known != FREE).any(0).tolist()
        whole = [*(self._known != FREE).all(0).tolist(), False]
        self._blocks = sum(turn.stop <= whole.index(False) for turn in self._reader.cache.turns[:-1])  # that are known in every row
        self._unread = list(range(len(wanted.counts))) if self._blocks and isinstance(self._reader, Grey) else []

    @property
    def position(self) -> int:
        """How many positions are made or read, in all rows."""
        return self._reader.cache.position

    @property
    def done(self) -> bool:
        """Is everything made?"""
        return self.position == self.length

    def part(self, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Levels (row, position) uint8 of positions start … stop − 1, in the order of generation, and their −log₂ p.

        −log₂ p is the model's own, temperature 1 and all levels, whatever was drawn from.
        """
        return self._made[start:stop].t().to("cpu", torch.uint8), self._bits[start:stop].t()

    def pictures(self) -> tuple[Tensor, Tensor]:
        """Pictures (row, row of pixels, column) uint8 with what is made so far, 0 elsewhere, and −log₂ p of each level."""
        levels, bits = (x.index_select(1, self.layout.places) for x in self.part(0, self.length))
        shape = (-1, self.layout.rows, self.layout.columns)
        return levels.view(shape), bits.view(shape)

    @torch.no_grad()
    def advance(self, positions: int) -> None:
        """Make so many positions more, at most to the end; or read what is known at the start of one request."""
        if self._unread:
            self._read(self._unread.pop(0))
            return
        start = self.position
        stop = min(start + positions, self.length)
        kept = []
        for t in range(start, stop):
            kept.append(self._reader.step())
            levels = self._draw(kept[-1], self._uniforms[t])
            if self._forced[t]:
                known = self._known[:, t].index_select(0, self._wanted.owner.to(levels.device))
                levels = torch.where(known == FREE, levels, known)
            self._reader.tell(levels)
            self._made[t] = levels
        if kept:
            self._bits[start:stop] = bits(torch.stack(kept), self._made[start:stop])

    def _read(self, request: int) -> None:
        """What is known at the start of one request goes through the network at once."""
        assert isinstance(self._reader, Grey)
        logits = self._reader.fill(request, self._known[request], self._blocks)
        count, rows = len(logits), self._wanted.rows(request)
        self._made[:count, rows] = self._known[request, :count, None]
        self._bits[:count, rows] = bits(logits, self._known[request, :count])[:, None]
        if not self._unread:
            self._reader.cache.enter(self._blocks)  # nothing moves: `fill` has put everything where this turn expects it
            self._reader.tell(self._made[count - 1])


def generate(model: ImageTransformer | ColourTransformer, wanted: Wanted) -> Generation:
    """All pictures of a batch, from the first position to the last."""
    generation = Generation(model, wanted)
    while not generation.done:
        generation.advance(64)
    return generation
