"""What a page asks of the picture models, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from models.arrays import frozen
from models.errors import InputError
from models.fields import check
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
from models.turns import TURN, News, each, grouped, paced, served, worked

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
def _bits(model: ImageTransformer | ColourTransformer | PixelCNN, picture: Levels, told: int | Levels, request: Request) -> Array:
    """−log₂ p of each level of a picture, its kind or the small one told, under a request's changes; a PixelCNN knows none."""
    device = next(model.parameters()).device
    levels, known = (torch.from_numpy(np.asarray(x, np.int64)).to(device) for x in (picture, told))
    how = () if isinstance(model, PixelCNN) else (_layout(model, request), _gains([request], model))
    return frozen(bits(model(levels[None], known[None], *how)[0], levels))


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
        mine = [(levels[rows[i]], bits[rows[i]]) for levels, bits in pictures]
        yield from paced(i, _shown(one, i, list(zip(models, asked, mine, strict=True))))


def _shown(
    one: Read, request: int, made: Sequence[tuple[ImageTransformer | ColourTransformer, Wanted, tuple[Levels, Array]]]
) -> Generator[None, None, Explanation]:
    """What a request's result shows, with a pause after each model's part."""
    found: list[Made] = []
    for model, wanted, levels_and_bits in made:
        found.append(_made(model, wanted, request, one.request, *levels_and_bits))
        yield
    if one.request.mode == "enlarge":
        return Explanation(tuple(found), frozen(_of(one), np.uint8), frozen(made[0][1].told[request], np.uint8), None, None, False)
    return (yield from _surprise(one, tuple(found)))


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


def _surprise(one: Read, made: tuple[Made, ...]) -> Generator[None, None, Explanation]:
    """What the models of grey pictures say of the given picture, else of the one that local_2d made, with a pause after each."""
    models, local_2d = together(), PATTERNS.index("local_2d")
    own = made[local_2d]
    seen = own.pictures[0] if one.given is None else frozen(one.given, np.uint8)
    surprise: list[Array] = []
    readers: tuple[ImageTransformer | PixelCNN, ...] = (*models.patterns, models.pixelcnn)
    for model in readers:
        said = one.given is None and model is models.patterns[local_2d]  # it has just said so
        surprise.append(own.bits[0] if said else _bits(model, seen, one.request.kind, one.request))
        yield
    above = models.surprising_above
    unusual = above is not None and not one.changed and float(surprise[local_2d].mean(dtype=np.float64)) > above
    return Explanation(made, None if one.given is None else seen, None, seen, frozen(np.stack(surprise)), unusual)


# ---- what pages call ---------------------------------------------------------------------------------------------------------------


def _work(read: Sequence[Read]) -> Iterator[News]:
    """All that a batch asks for, a group at a time, each turn at most TURN."""

    def work(part: list[Read]) -> Iterator[News]:
        return _grow(part, (enlarger(),) if part[0].request.mode == "enlarge" else together().patterns)

    return grouped(read, lambda one: one.request.group(), work)


explain, generate = served(readable, _work, Explanation)


def measure(requests: Sequence[Again]) -> list[Bits | InputError]:
    """The same pictures under what a request changes: silenced heads, less memory. One answer per request, in order."""
    return each(requests, _again)


def _again(one: Again) -> Bits:
    check(one.request)
    if one.request.mode == "enlarge":
        large, small = _levels_of(one.pictures[0], LARGE, LARGE, 3), _levels_of(one.small, SMALL, SMALL, 3)
        return Bits(_bits(enlarger(), large, small, one.request)[None])
    pairs = zip(together().patterns, one.pictures, strict=True)
    return Bits(frozen(np.stack([_bits(model, _levels_of(raw, SIDE, SIDE), one.request.kind, one.request) for model, raw in pairs])))


def _levels_of(raw: bytes, *shape: int) -> Levels:
    return np.frombuffer(raw, np.uint8).reshape(shape)
