"""Make symbols one after another: the given ones are read, the rest is drawn by the inverse of the
cumulative distribution."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.explaining.arrays import freeze
from models.layers import fused

FREE = -1  # in place of a symbol: this one is to be drawn


def draw_uniforms(seed: int, count: int) -> Tensor:
    """Return the numbers in [0, 1) that a request draws with, (position,), the same first ones
    however many are asked for."""
    return torch.from_numpy(np.random.default_rng((seed, 0)).random(count, dtype=np.float64))


def cut_distribution(
    scaled: Tensor, top_k: Tensor | None = None, top_p: Tensor | None = None
) -> Tensor:
    """Cut the distribution of scaled logits, (batch, symbol): −∞ where a symbol is none of the
    `top_k` likeliest, then where it lies outside the nucleus, the fewest of the likeliest whose
    probabilities together reach `top_p` (Holtzman et al., 2020). Both are (batch,), None for all
    symbols."""
    if top_k is not None:
        threshold = scaled.sort(1, descending=True).values.gather(
            1, (top_k.clamp(max=scaled.shape[1]) - 1)[:, None]
        )
        scaled = scaled.masked_fill(scaled < threshold, -torch.inf)
    if top_p is not None:
        shares, order = scaled.softmax(-1).sort(dim=1, descending=True, stable=True)
        outside = shares.cumsum(1) - shares >= top_p.to(shares)[:, None]
        outside[:, 0] = False
        scaled = scaled.masked_fill(
            torch.zeros_like(outside).scatter(1, order, outside), -torch.inf
        )
    return scaled


class Draws:
    """Draws of symbol after symbol for some rows, by the inverse of the cumulative distribution of
    softmax(logits / temperature), float64.

    Everything that does not change from one position to the next is computed once, so that a draw
    takes as few calls as possible.
    """

    def __init__(
        self,
        temperature: Tensor,
        top_k: Tensor | None = None,
        never: Sequence[int] = (),
        top_p: Tensor | None = None,
    ) -> None:
        """Prepare the draws.

        temperature: (batch,), 0 takes the likeliest.
        top_k, top_p: as in `cut_distribution`, which comes after the temperature.
        never: symbols that are not drawn.
        """
        self._cold = temperature == 0
        self._all_hot = not bool(self._cold.any())
        self._heat = temperature.double().clamp(min=1e-6)[:, None]
        self._top_k, self._never, self._top_p = top_k, list(never), top_p
        self._fused = temperature.double().contiguous(), torch.tensor(self._never, dtype=torch.long)

    def __call__(self, logits: Tensor, uniform: Tensor) -> Tensor:
        """Draw one symbol for each row, (batch,). logits: (batch, symbol); uniform: (batch,) in [0,
        1)."""
        if self._top_k is None and self._top_p is None and fused.can_read(logits):
            heat, never = self._fused
            return fused.draw_kinds(logits, heat, uniform, never)
        if self._never:
            logits = logits.index_fill(
                1, torch.tensor(self._never, device=logits.device), -torch.inf
            )
        total = (
            cut_distribution(logits / self._heat, self._top_k, self._top_p).softmax(-1).cumsum(-1)
        )
        # Times the rounded total, a number below 1 stays below it: no symbol of probability 0 is
        # ever drawn.
        chosen = torch.searchsorted(total, uniform[:, None] * total[:, -1:], right=True)[
            :, 0
        ].clamp_(max=logits.shape[1] - 1)
        return chosen if self._all_hot else torch.where(self._cold, logits.argmax(-1), chosen)


class SamplingCache:
    """Keys and values of every layer for up to `room` positions of some rows, (layer, batch, head,
    position, d_head).

    A row is a sequence of its own: nothing passes from one to another, and every reading makes a
    new cache.
    """

    def __init__(self, model: Any, rows: int, room: int, like: Tensor | None = None) -> None:
        """Take memory for the cache. like: a tensor with the type of keys and values, where that is
        not the readout's weight."""
        config, like = model.config, (model.readout.weight if like is None else like).detach()
        shape = (config.n_layers, rows, config.n_heads, room, config.d_model // config.n_heads)
        self.position = 0  # the place of the next position
        self.fused = fused.can_fuse(like, rows, shape[4])  # a fused step needs slots side by side
        if self.fused:
            self.keys, self.values = (
                fused.reserve_slots(like, *shape[:3], shape[4], room).transpose(3, 4)
                for _ in range(2)
            )
        else:
            self.keys, self.values = like.new_zeros(shape), like.new_zeros(shape)

    def as_fused(self, gains: Any = None, **more: Sequence[Any]) -> list[fused.AddedArrays]:
        """Return the content of the cache as a fused step takes it. gains: (layer, batch, head);
        more: further fields of `fused.AddedArrays`, for each layer."""
        found = []
        for i, (keys, values) in enumerate(
            zip(self.keys.transpose(3, 4), self.values.transpose(3, 4), strict=True)
        ):
            rest: dict[str, Any] = {name: each[i] for name, each in more.items()}
            gain = None if gains is None else gains[i].to(keys).contiguous()
            found.append(fused.AddedArrays(keys.unbind(1), values.unbind(1), gain, **rest))
        return found

    @property
    def capacity(self) -> int:
        """The number of positions that there is room for."""
        return self.keys.shape[3]

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of the positions that are being read; return those of all
        positions so far. Raise ValueError past the room."""
        end = self.position + key.shape[2]
        if end > self.keys.shape[3]:
            raise ValueError(f"{end} positions for a cache of {self.keys.shape[3]}")
        self.keys[layer, :, :, self.position : end] = key
        self.values[layer, :, :, self.position : end] = value
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]


class Reader:
    """A network that reads symbols one after another, or some at a time, and keeps what it has
    read.

    never: symbols that are not drawn.
    apart: whether the first symbol that is drawn is read apart from the given ones before it.
    """

    never: Sequence[int] = ()
    apart = False

    def __init__(self, model: Any, rows: int, room: int, *how: Any) -> None:
        """Prepare to read.

        model: with `start`, the symbol that stands before the first.
        how: further arguments of the model, behind the symbols and the past.
        room: positions at most.
        """
        self.model, self._room, self._how = model, room, how
        self.cache: Any = SamplingCache(model, rows, room)

    @cached_property
    def _fused_step(self) -> fused.Step | None:
        """The step that reads a single position in one call, or None where it cannot be
        fused."""
        return self.model.step(self.cache, *self._how) if self.cache.fused else None

    @property
    def positions_left(self) -> int:
        """The number of positions that may be read at once."""
        return self._room

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """Read symbols and return the logits of the next one after each, (batch, position, symbol).
        before: the symbols after those that were read, (batch, position)."""
        first = self.cache.position
        if before.shape[1] == 1 and first < self.cache.capacity and self._fused_step is not None:
            logits: Tensor = self._fused_step(
                self.model.embed_symbols(before, first)[:, 0], first, place=first
            )[:, None]
        else:
            logits = self.model(before, first, self.cache, *self._how)
        self.cache.position += before.shape[1]
        return logits


@dataclass(frozen=True)
class Wanted:
    """The symbols that a batch of requests asks for, a row each.

    known: symbols, FREE where one is to be drawn, (batch, position); its length is that of the
        result.
    uniforms: (batch, position).
    temperatures: one per row.
    top_k, top_p: as in `cut_distribution`, one per row; none for all symbols.
    first: which symbols may be the first to be drawn in each row, (batch, symbol) bool; None for
        all.
    """

    known: Tensor
    uniforms: Tensor
    temperatures: Sequence[float]
    top_k: Sequence[int] = ()
    top_p: Sequence[float] = ()
    first: Tensor | None = None


def describe_draws(
    requests: Sequence[Any],
    rows: Sequence[NDArray[np.int64]],
    behind: int = FREE,
    given: Sequence[int] = (),
) -> Wanted:
    """Return what requests with a seed and a temperature ask for. rows: known symbols of each,
    (position,); `behind` stands behind shorter ones.

    given: how many symbols of each were given; the text after them is drawn alike, however many
        they are.
    """
    known = np.full((len(rows), max(map(len, rows))), behind, np.int64)
    for row, one in zip(known, rows, strict=True):
        row[: len(one)] = one
    draws = torch.zeros(known.shape, dtype=torch.float64)
    for draw, one, first in zip(draws, requests, given or (0,) * len(draws), strict=True):
        draw[first:] = draw_uniforms(one.seed, len(draw) - first)
    return Wanted(torch.from_numpy(known), draws, [float(one.temperature) for one in requests])


class Writer:
    """A writer that reads the given symbols and writes on, position by position; between two calls
    others may use the machine.

    symbols: (batch, position).
    nats: −log p of each at temperature 1, of the given ones too or, without `given`, 0 for them,
        (batch, position); both as far as `position`.
    precision: of −log p.
    """

    def __init__(
        self,
        reader: Reader,
        wanted: Wanted,
        *,
        given: bool = True,
        precision: torch.dtype = torch.float64,
    ) -> None:
        self._reader, self._given = reader, given
        device = reader.model.readout.weight.device
        self._known, self._uniforms = wanted.known.to(device), wanted.uniforms.to(device)
        heat = torch.tensor(
            [float(t) for t in wanted.temperatures], device=device, dtype=torch.float64
        )
        top_k, top_p = (
            torch.tensor(one, device=device) if one else None
            for one in (wanted.top_k, wanted.top_p)
        )
        self._draw = Draws(heat, top_k, reader.never, top_p)
        rows, self.length = self._known.shape
        self.symbols = self._known.clone()
        self.nats = torch.zeros(rows, self.length, device=device, dtype=precision)
        self.position = 0  # the next position
        self._first = self._known.new_full((rows, 1), reader.model.start)
        unknown = self._known == FREE
        free = unknown.any(0).cpu().numpy()
        self._first_drawn, self._may_be_first = unknown.int().argmax(1), wanted.first
        self._all_free: list[bool] = unknown.all(0).tolist()
        place = np.where(free, np.arange(self.length), self.length)
        # from each position on
        self._next_free: list[int] = np.minimum.accumulate(place[::-1])[::-1].tolist()

    @property
    def is_done(self) -> bool:
        """Whether everything is read and written."""
        return self.position == self.length

    def _mask_first(self, logits: Tensor, place: int) -> Tensor:
        """Return the logits, (batch, symbol), −∞ where a symbol may not be the first that a row
        draws."""
        if self._may_be_first is None:
            return logits
        forbidden = (self._first_drawn == place)[:, None] & ~self._may_be_first.to(logits.device)
        return logits.masked_fill(forbidden, -torch.inf)

    @torch.no_grad()
    def write_more(self) -> int:
        """Read what every row knows, and write the symbol of every row after it; returns how many
        positions that was."""
        if self.is_done:
            return 0
        begin, free = self.position, self._next_free[self.position]
        most = min(self._reader.positions_left, self.length - begin)
        end = begin + min(max(1, free - begin) if self._reader.apart else free - begin + 1, most)
        before = (
            self.symbols[:, begin - 1 : end - 1]
            if begin
            else torch.cat((self._first, self.symbols[:, : end - 1]), 1)
        )
        logits = self._reader.read(before)
        if free == end - 1:
            drawn = self._draw(self._mask_first(logits[:, -1], free), self._uniforms[:, free])
            known = self._known[:, free]
            self.symbols[:, free] = (
                drawn if self._all_free[free] else torch.where(known == FREE, drawn, known)
            )
        if end - begin == 1 and fused.can_read(logits):
            nats = fused.measure_surprise(logits[:, 0], self.symbols[:, begin])[:, None].to(
                self.nats.dtype
            )
        else:
            nats = (
                -logits.to(self.nats.dtype)
                .log_softmax(-1)
                .gather(2, self.symbols[:, begin:end, None])[..., 0]
            )
        self.nats[:, begin:end] = (
            nats if self._given else torch.where(self._known[:, begin:end] == FREE, nats, 0.0)
        )
        self.position = end
        return end - begin


def write_all(writer: Writer) -> tuple[Tensor, Tensor]:
    """Write everything at once: (batch, position) symbols, and −log p of each in nats."""
    while not writer.is_done:
        writer.write_more()
    return writer.symbols, writer.nats


def split_stretch(here: slice, given: int) -> list[tuple[int, int, bool]]:
    """Split a stretch of a text whose first `given` symbols are a visitor's. Return begin, end and
    whether it was given, for each part that is not empty."""
    border = min(max(given, here.start), here.stop)
    return [
        part
        for part in ((here.start, border, True), (border, here.stop, False))
        if part[0] < part[1]
    ]


def measure_costs(
    reader: Reader, symbols: NDArray[Any]
) -> Generator[None, None, NDArray[np.float32]]:
    """Measure −log p in nats of each of some symbols, (position,), with a pause after each stretch
    that the reader reads at once."""
    known = torch.from_numpy(symbols.astype(np.int64))[None]
    writer = Writer(
        reader, Wanted(known, torch.zeros(known.shape), (1.0,)), precision=torch.float32
    )
    while not writer.is_done:
        writer.write_more()
        yield
    return freeze(writer.nats[0])
