"""What a page asks of the picture models, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models.arrays import frozen
from models.decoder import gains
from models.errors import InputError
from models.image_transformer.colour import ColourTransformer, enlarge
from models.image_transformer.data import reduced
from models.image_transformer.decode import FREE, Generation, Wanted, uniforms
from models.image_transformer.model import ImageTransformer, Layout
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.pretrained import Together, enlarger, together
from models.image_transformer.reading import Read, readable
from models.image_transformer.records import (
    COLOUR,
    EXAMPLES,
    LARGE,
    PATTERNS,
    SIDE,
    SMALL,
    Again,
    Array,
    Bits,
    Explanation,
    Levels,
    Made,
    Request,
    Step,
)
from models.image_transformer.weights import weights as weights_of_made
from models.trace import Trace
from models.turns import answered, each, grouped, turns, worked

__all__ = ["EXAMPLES", "Again", "Bits", "Explanation", "Made", "Request", "Step", "explain", "generate", "measure", "weights"]

TURN = 0.04  # seconds of work in one turn of `generate`
STRIDE = 8  # positions that one pattern makes before the other goes on
News = dict[int, list[Step] | Explanation]  # by request: its newest steps, or at its end the Explanation
Turn = list[list[Step] | Explanation | InputError | None]


# ---- what is asked, as tensors -----------------------------------------------------------------------------------------------------


def _layout(model: ImageTransformer, request: Request) -> Layout:
    """The blocks that a request lets the model see: those it was trained with, or less."""
    memory = (request.memory_rows, SIDE) if model.config.pattern == "local_1d" else (request.flange, request.flange)
    return model.layout if memory == tuple(model.config.memory) else model.config.layout(memory)


def _gains(requests: Sequence[Request], of: str, layers: int, heads: int, device: torch.device) -> Tensor | None:
    return gains([one.silenced for one in requests], of, layers, heads, device)


def _wanted(read: Sequence[Read], model: ImageTransformer) -> Wanted:
    """Requests of one group as a batch of one pattern. Both patterns draw each pixel with the same number."""
    config = model.config
    known: Tensor | None = None
    if read[0].request.mode == "complete":
        known = torch.full((len(read), SIDE, SIDE), FREE, dtype=torch.long)
        for i, one in enumerate(read):
            assert one.given is not None
            known[i, : one.request.keep] = torch.from_numpy(one.given[: one.request.keep].astype(np.int64))
        known = known.flatten(1)
    return Wanted(
        kinds=torch.tensor([one.request.kind for one in read]),
        uniforms=torch.cat([uniforms(one.request.seed, one.request.count, SIDE * SIDE) for one in read]),
        counts=tuple(one.request.count for one in read),
        temperatures=tuple(float(one.request.temperature) for one in read),
        top_k=tuple(one.request.top_k for one in read),
        known=known,
        gains=_gains([one.request for one in read], config.pattern, config.n_layers, config.n_heads, model.readout.weight.device),
        layout=_layout(model, read[0].request),
    )


@torch.no_grad()
def _bits(model: ImageTransformer | PixelCNN, picture: Levels, request: Request) -> Array:
    """−log₂ p of every pixel of one picture (row, column), with what a request changes in the model."""
    device = next(model.parameters()).device
    levels = torch.from_numpy(picture.astype(np.int64)).to(device)
    told = torch.tensor([request.kind], device=device)
    if isinstance(model, PixelCNN):
        return _in_bits(model(levels[None], told)[0], levels)
    config = model.config
    silent = _gains([request], config.pattern, config.n_layers, config.n_heads, device)
    return _in_bits(model(levels[None], told, _layout(model, request), silent)[0], levels)


def _in_bits(logits: Tensor, levels: Tensor) -> Array:
    """−log₂ p of each level: logits (…, level), levels (…)."""
    nats = F.cross_entropy(logits.float().flatten(0, -2), levels.flatten(), reduction="none").view(levels.shape)
    return frozen((nats / math.log(2)).cpu().numpy())


def _blocks_of(layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A layout's starts, memory and ends, as Made carries them."""
    starts = np.array([*(block.start for block in layout.blocks), layout.blocks[-1].stop], np.int16)
    memory = np.array([position for block in layout.blocks for position in block.memory], np.int16)
    return starts, memory, np.cumsum([len(block.memory) for block in layout.blocks]).astype(np.int32)


# ---- grey pictures -----------------------------------------------------------------------------------------------------------------


def _grow(read: Sequence[Read], models: Together) -> Iterator[News]:
    """Both patterns, position by position and in step with each other; then what each request's result shows. At most TURN a time."""
    running = [Generation(model, _wanted(read, model)) for model in models.patterns]
    counts = [one.request.count for one in read]
    begins = np.cumsum([0, *counts])
    told = 0

    def step() -> bool:
        due = [one for one in running if not one.done]
        if due:
            min(due, key=lambda one: one.position).advance(STRIDE)
        return bool(due)

    while told < running[0].length:
        worked(step, TURN)
        made = min(one.position for one in running)
        if made > told:
            parts = [one.part(told, made) for one in running]
            levels = np.stack([part[0].numpy() for part in parts])
            bits = np.stack([part[1].numpy() for part in parts])
            rows = [slice(begins[i], begins[i + 1]) for i in range(len(read))]
            yield {i: [Step(told, levels[:, here].copy(), bits[:, here].copy())] for i, here in enumerate(rows)}
            told = made
        else:
            yield {}
    pictures = [tuple(x.numpy() for x in one.pictures()) for one in running]
    for i, one in enumerate(read):
        here = slice(begins[i], begins[i + 1])
        made_by = tuple(
            _made(pattern, generation, i, levels[here], bits[here])
            for pattern, generation, (levels, bits) in zip(PATTERNS, running, pictures, strict=True)
        )
        own = made_by[PATTERNS.index("local_2d")]
        seen = own.pictures[0] if one.given is None else one.given
        surprise: list[Array] = []
        readers: tuple[ImageTransformer | PixelCNN, ...] = (*models.patterns, models.pixelcnn)
        for model in readers:
            if one.given is None and model is models.patterns[PATTERNS.index("local_2d")]:
                surprise.append(own.bits[0])  # it has just said so
                continue
            surprise.append(_bits(model, seen, one.request))
            yield {}
        above = models.surprising_above
        unusual = above is not None and not one.changed and float(surprise[PATTERNS.index("local_2d")].mean(dtype=np.float64)) > above
        yield {i: Explanation(made_by, one.given, None, seen, frozen(np.stack(surprise)), unusual)}


def _made(pattern: str, generation: Generation, request: int, pictures: Levels, bits: Array) -> Made:
    starts, memory, ends = _blocks_of(generation.layout)
    return Made(
        pattern=pattern,
        pictures=frozen(pictures, np.uint8),
        bits=frozen(bits),
        order=generation.layout.pixels.numpy().astype(np.int16),
        starts=starts,
        memory=memory,
        ends=ends,
        queries=generation.queries[:, request].numpy(),
        keys=generation.keys[:, request].numpy(),
    )


# ---- coloured pictures -------------------------------------------------------------------------------------------------------------


def _raise(read: Sequence[Read], model: ColourTransformer) -> Iterator[News]:
    """Each request's picture made small and raised again, level by level, its channels inside its pixels."""
    device = model.readout.weight.device
    counts = [one.request.count for one in read]
    begins = np.cumsum([0, *counts])
    owner = torch.repeat_interleave(torch.tensor(counts))
    small = np.concatenate([reduced(_of(one)[None], SMALL) for one in read])
    config, layout = model.config, model.config.layout(read[0].request.memory_rows)
    silent = _gains([one.request for one in read], COLOUR, config.n_decoder, config.n_heads, device)
    length = len(layout.order)
    per_row = [read[i].request for i in owner.tolist()]
    growing = enlarge(
        model,
        torch.from_numpy(small.astype(np.int64))[owner].to(device),
        np.concatenate([uniforms(one.request.seed, one.request.count, length).numpy() for one in read]).astype(np.float64),
        [float(request.temperature) for request in per_row],
        [request.top_k for request in per_row],
        layout=layout,
        gains=None if silent is None else silent[:, owner.to(device)],
    )
    made: list[tuple[Tensor, Tensor]] = []
    told = 0

    def step() -> bool:
        if len(made) < length:
            made.append(next(growing))
        return len(made) < length

    while told < length:
        worked(step, TURN)
        levels, bits = _stacked(made[told:])
        yield {i: [Step(told, levels[None, begins[i] : begins[i + 1]], bits[None, begins[i] : begins[i + 1]])] for i in range(len(read))}
        told = len(made)
    levels, bits = _stacked(made)
    starts, memory, ends = _blocks_of(layout)
    for i, one in enumerate(read):
        here, shape = slice(begins[i], begins[i + 1]), (-1, LARGE, LARGE, 3)
        queries, keys = _looks(model, levels[begins[i]], small[i], layout, None if silent is None else silent[:, i : i + 1])
        by = Made(
            pattern=COLOUR,
            pictures=frozen(levels[here].reshape(shape), np.uint8),
            bits=frozen(bits[here].reshape(shape)),
            order=(np.arange(length) // 3).astype(np.int16),
            starts=starts,
            memory=memory,
            ends=ends,
            queries=queries,
            keys=keys,
        )
        yield {i: Explanation((by,), one.given, frozen(small[i], np.uint8), None, None, False)}


def _of(one: Read) -> Levels:
    assert one.given is not None
    return one.given


def _stacked(made: Sequence[tuple[Tensor, Tensor]]) -> tuple[Levels, Array]:
    """Levels and bits of some positions, each (row, position)."""
    levels, bits = (torch.stack(x, 1).cpu().numpy() for x in zip(*made, strict=True))
    return levels.astype(np.uint8), bits.astype(np.float32)


@torch.no_grad()
def _looks(model: ColourTransformer, levels: Levels, small: Levels, layout: Layout, silent: Tensor | None) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys of one finished picture, each (layer, head, position, d_head) float16."""
    device = model.readout.weight.device
    trace = Trace("*/self/queries", "*/self/keys")
    side = model.config.side
    large, below = (torch.from_numpy(of.astype(np.int64)).to(device) for of in (levels.reshape(1, side, side, -1), small[None]))
    model(large, below, layout, silent, trace)
    queries, keys = (trace.stack(f"*/self/{name}")[:, 0].astype(np.float16) for name in ("queries", "keys"))
    return queries, keys


# ---- what pages call ---------------------------------------------------------------------------------------------------------------


def _work(read: Sequence[Read]) -> Iterator[News]:
    """All that a batch asks for, a group at a time, each turn at most TURN."""

    def work(part: list[Read]) -> Iterator[News]:
        return _raise(part, enlarger()) if part[0].request.mode == "enlarge" else _grow(part, together())

    return grouped(read, lambda one: one.request.group(), work)


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Make pictures and show how: one answer per request, in order; an InputError stands where a request could not be read."""
    return answered(each(requests, readable), _work, Explanation)


def generate(requests: Sequence[Request]) -> Iterator[Turn]:
    """Pictures position by position. Each turn works for at most 50 ms and yields one entry per request: the steps since the last turn;
    at its end the Explanation, or the InputError; None once it is over."""
    yield from turns(each(requests, readable), _work)


def measure(requests: Sequence[Again]) -> list[Bits | InputError]:
    """The same pictures under what a request changes: silenced heads, less memory. One answer per request, in order."""
    return each(requests, lambda one: Bits(_read_colour(one, enlarger()) if one.request.mode == "enlarge" else _read_grey(one)))


def _read_grey(one: Again) -> Array:
    """(pattern, row, column) bits."""
    pairs = zip(together().patterns, one.pictures, strict=True)
    return frozen(np.stack([_bits(model, _levels_of(raw, SIDE, SIDE), one.request) for model, raw in pairs]))


@torch.no_grad()
def _read_colour(one: Again, model: ColourTransformer) -> Array:
    """(1, row, column, channel) bits."""
    device, config = model.readout.weight.device, model.config
    silent = _gains([one.request], COLOUR, config.n_decoder, config.n_heads, device)
    shown = (_levels_of(one.pictures[0], LARGE, LARGE, 3), _levels_of(one.small, SMALL, SMALL, 3))
    levels, small = (torch.from_numpy(x.astype(np.int64)).to(device) for x in shown)
    logits = model(levels[None], small[None], config.layout(one.request.memory_rows), silent)
    return _in_bits(logits[0], levels)[None]


def _levels_of(raw: bytes, *shape: int) -> Levels:
    return np.frombuffer(raw, np.uint8).reshape(shape)


def weights(explanation: Explanation, pattern: str, layer: int) -> Array:
    """The weights of one layer over the first picture, (head, position, slot) float32, as `weights.weights` describes them.

    KeyError for a pattern that the run does not have, IndexError for a layer that there is not.
    """
    return weights_of_made({made.pattern: made for made in explanation.made}[pattern], layer)
