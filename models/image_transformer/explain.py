"""What a page asks of the picture models, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from models.arrays import frozen
from models.errors import InputError
from models.gains import gains
from models.image_transformer.colour import CHANNELS, ColourTransformer
from models.image_transformer.data import reduced
from models.image_transformer.decode import Generation, Wanted, uniforms
from models.image_transformer.model import ImageTransformer, Layout, bits
from models.image_transformer.pixelcnn import PixelCNN
from models.image_transformer.pretrained import enlarger, together
from models.image_transformer.reading import Read, readable
from models.image_transformer.records import (
    COLOUR,
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
from models.sampling import FREE
from models.trace import Trace
from models.turns import TURN, News, each, grouped, served, worked

STRIDE = 8  # positions that one pattern makes before the other goes on


# ---- what is asked, as tensors -----------------------------------------------------------------------------------------------------


def _layout(model: ImageTransformer | ColourTransformer, request: Request) -> Layout:
    """The blocks that a request lets the model see: those it was trained with, or less."""
    if isinstance(model, ColourTransformer):
        return model.config.layout(request.memory_rows)
    memory = (request.memory_rows, SIDE) if model.config.pattern == "local_1d" else (request.flange, request.flange)
    return model.layout if memory == tuple(model.config.memory) else model.config.layout(memory)


def _wanted(read: Sequence[Read], model: ImageTransformer | ColourTransformer) -> Wanted:
    """Requests of one group as a batch of one model. Both patterns draw each pixel with the same number."""
    requests, length = [one.request for one in read], len(model.layout.order)
    known: Tensor | None = None
    if isinstance(model, ColourTransformer):
        told = torch.from_numpy(np.concatenate([reduced(_of(one)[None], SMALL) for one in read]).astype(np.int64))
    else:
        told = torch.tensor([one.kind for one in requests])
        if requests[0].mode == "complete":
            known = torch.full((len(read), SIDE, SIDE), FREE, dtype=torch.long)
            for i, one in enumerate(read):
                known[i, : one.request.keep] = torch.from_numpy(_of(one)[: one.request.keep].astype(np.int64))
            known = known.flatten(1)
    return Wanted(
        told=told,
        uniforms=torch.cat([uniforms(one.seed, one.count, length) for one in requests]),
        counts=tuple(one.count for one in requests),
        temperatures=tuple(float(one.temperature) for one in requests),
        top_k=tuple(one.top_k for one in requests),
        known=known,
        gains=_gains(requests, model),
        layout=_layout(model, requests[0]),
    )


def _gains(requests: Sequence[Request], model: ImageTransformer | ColourTransformer) -> Tensor | None:
    return gains(requests, COLOUR if isinstance(model, ColourTransformer) else model.config.pattern, model)


@torch.no_grad()
def _bits(model: ImageTransformer | PixelCNN, picture: Levels, request: Request) -> Array:
    """−log₂ p of every pixel of one picture (row, column), with what a request changes in the model."""
    device = next(model.parameters()).device
    levels = torch.from_numpy(picture.astype(np.int64)).to(device)
    told = torch.tensor([request.kind], device=device)
    if isinstance(model, PixelCNN):
        return frozen(bits(model(levels[None], told)[0], levels))
    return frozen(bits(model(levels[None], told, _layout(model, request), _gains([request], model))[0], levels))


def _of(one: Read) -> Levels:
    assert one.given is not None
    return one.given


# ---- pictures as they come -----------------------------------------------------------------------------------------------------------


def _grow(read: Sequence[Read], models: Sequence[ImageTransformer | ColourTransformer]) -> Iterator[News]:
    """All models, position by position and in step with each other; then what each request's result shows. About TURN a time."""
    asked = [_wanted(read, model) for model in models]
    running = [Generation(model, one) for model, one in zip(models, asked, strict=True)]
    rows = [asked[0].rows(i) for i in range(len(read))]
    told = 0

    def step() -> bool:
        due = [one for one in running if not one.done]
        if due:
            first = min(due, key=lambda one: one.position)
            for _ in range(STRIDE):
                first.step()
        return bool(due)

    while told < running[0].length:
        worked(step, TURN)
        made = min(one.position for one in running)
        levels, bits = (np.stack(part) for part in zip(*([x.numpy() for x in one.part(told, made)] for one in running), strict=True))
        yield {i: [Step(told, levels[:, here].copy(), bits[:, here].copy())] for i, here in enumerate(rows)} if made > told else {}
        told = made
    pictures = [tuple(x.numpy() for x in one.pictures()) for one in running]
    for i, one in enumerate(read):
        made_by = []
        for model, wanted, (levels, bits) in zip(models, asked, pictures, strict=True):
            made_by.append(_made(model, wanted, i, one.request, levels[rows[i]], bits[rows[i]]))
            yield {}
        if one.request.mode == "enlarge":
            yield {i: Explanation(tuple(made_by), frozen(_of(one), np.uint8), frozen(asked[0].told[i], np.uint8), None, None, False)}
        else:
            yield from ({i: news} if isinstance(news, Explanation) else {} for news in _surprise(one, tuple(made_by)))


@torch.no_grad()
def _made(model: ImageTransformer | ColourTransformer, wanted: Wanted, request: int, asked: Request, levels: Levels, bits: Array) -> Made:
    """What a model has made of a request; levels, bits: (count, row, column), channels side by side."""
    layout, colour = wanted.layout or model.layout, isinstance(model, ColourTransformer)
    shape = (len(levels), LARGE, LARGE, CHANNELS) if colour else levels.shape
    pictures, trace = levels.reshape(shape), Trace("*/self/queries", "*/self/keys")
    first = torch.from_numpy(pictures[:1].astype(np.int64)).to(model.readout.weight.device)
    model(first, wanted.told[request : request + 1].to(first.device), layout, _gains([asked], model), trace)
    return Made(
        pattern=model.config.pattern if isinstance(model, ImageTransformer) else COLOUR,
        pictures=frozen(pictures, np.uint8),
        bits=frozen(bits.reshape(shape)),
        order=frozen(layout.pixels // (CHANNELS if colour else 1), np.int16),
        starts=frozen([*(block.start for block in layout.blocks), layout.blocks[-1].stop], np.int16),
        memory=frozen([position for block in layout.blocks for position in block.memory], np.int16),
        ends=frozen(np.cumsum([len(block.memory) for block in layout.blocks]), np.int32),
        queries=frozen(trace.stack("*/self/queries")[:, 0], np.float16),
        keys=frozen(trace.stack("*/self/keys")[:, 0], np.float16),
    )


def _surprise(one: Read, made: tuple[Made, ...]) -> Iterator[Explanation | None]:
    """What the models of grey pictures say of the given picture, else of the one that local_2d made: a pause after each, then all of it."""
    models, local_2d = together(), PATTERNS.index("local_2d")
    own = made[local_2d]
    seen = own.pictures[0] if one.given is None else frozen(one.given, np.uint8)
    surprise: list[Array] = []
    readers: tuple[ImageTransformer | PixelCNN, ...] = (*models.patterns, models.pixelcnn)
    for model in readers:
        said = one.given is None and model is models.patterns[local_2d]  # it has just said so
        surprise.append(own.bits[0] if said else _bits(model, seen, one.request))
        yield None
    above = models.surprising_above
    unusual = above is not None and not one.changed and float(surprise[local_2d].mean(dtype=np.float64)) > above
    yield Explanation(made, None if one.given is None else seen, None, seen, frozen(np.stack(surprise)), unusual)


# ---- what pages call ---------------------------------------------------------------------------------------------------------------


def _work(read: Sequence[Read]) -> Iterator[News]:
    """All that a batch asks for, a group at a time, each turn at most TURN."""

    def work(part: list[Read]) -> Iterator[News]:
        return _grow(part, (enlarger(),) if part[0].request.mode == "enlarge" else together().patterns)

    return grouped(read, lambda one: one.request.group(), work)


explain, generate = served(readable, _work, Explanation)


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
    device = model.readout.weight.device
    shown = (_levels_of(one.pictures[0], LARGE, LARGE, 3), _levels_of(one.small, SMALL, SMALL, 3))
    levels, small = (torch.from_numpy(x.astype(np.int64)).to(device) for x in shown)
    logits = model(levels[None], small[None], _layout(model, one.request), _gains([one.request], model))
    return frozen(bits(logits[0], levels))[None]


def _levels_of(raw: bytes, *shape: int) -> Levels:
    return np.frombuffer(raw, np.uint8).reshape(shape)
