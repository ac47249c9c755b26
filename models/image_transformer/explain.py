"""Explanations of the picture models: they answer a page's requests with arrays and strings and
return no tensors."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from models.decoding.sampling import FREE
from models.explaining.arrays import freeze
from models.explaining.batching import (
    TURN,
    News,
    pace_one,
    read_each,
    run_groups,
    serve_requests,
    work_for,
)
from models.explaining.errors import InputError
from models.explaining.head_mask import build_head_gains
from models.explaining.request_fields import check_request
from models.explaining.trace import Trace
from models.image_transformer.colour import CHANNELS, ColourTransformer
from models.image_transformer.data import reduce_pictures
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
    Array,
    Bits,
    Explanation,
    Levels,
    Made,
    Request,
    Rereading,
    Step,
)

STRIDE = 8  # positions that one pattern generates before the other continues


# ---- requests as tensors


def _layout(model: ImageTransformer | ColourTransformer, request: Request) -> Layout:
    """Return the blocks that a request lets the model see: those of training, or fewer."""
    if isinstance(model, ColourTransformer):
        return model.config.layout(request.memory_rows)
    memory = (
        (request.memory_rows, SIDE)
        if model.config.pattern == "local_1d"
        else (request.flange, request.flange)
    )
    return model.layout if memory == tuple(model.config.memory) else model.config.layout(memory)


def _describe_batch(read: Sequence[Read], model: ImageTransformer | ColourTransformer) -> Wanted:
    """Return requests of one group as a batch of one model.

    Both patterns draw each pixel with the same random number.
    """
    requests, length = [one.request for one in read], len(model.layout.order)
    known: Tensor | None = None
    if isinstance(model, ColourTransformer):
        told = torch.from_numpy(
            np.concatenate([reduce_pictures(_of(one)[None], SMALL) for one in read]).astype(
                np.int64
            )
        )
    else:
        told = torch.tensor([one.kind for one in requests])
        if requests[0].mode == "complete":
            known = torch.full((len(read), SIDE, SIDE), FREE, dtype=torch.long)
            for i, one in enumerate(read):
                known[i, : one.request.keep] = torch.from_numpy(
                    _of(one)[: one.request.keep].astype(np.int64)
                )
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


def _gains(
    requests: Sequence[Request], model: ImageTransformer | ColourTransformer
) -> Tensor | None:
    return build_head_gains(
        requests, COLOUR if isinstance(model, ColourTransformer) else model.config.pattern, model
    )


@torch.no_grad()
def _bits(
    model: ImageTransformer | ColourTransformer | PixelCNN,
    picture: Levels,
    told: int | Levels,
    request: Request,
) -> Array:
    """Return −log₂ p of each level of a picture under the changes of a request; a PixelCNN has no
    changes.

    told: the picture's kind or the small picture.
    """
    device = next(model.parameters()).device
    levels, known = (torch.from_numpy(np.asarray(x, np.int64)).to(device) for x in (picture, told))
    how = () if isinstance(model, PixelCNN) else (_layout(model, request), _gains([request], model))
    return freeze(bits(model(levels[None], known[None], *how)[0], levels))


def _of(one: Read) -> Levels:
    assert one.given is not None
    return one.given


# ---- pictures during generation


def _grow(
    read: Sequence[Read], models: Sequence[ImageTransformer | ColourTransformer]
) -> Iterator[News]:
    """Run all models in step with each other, position by position, then explain each request;
    yield about every TURN."""
    asked = [_describe_batch(read, model) for model in models]
    running = [Generation(model, one) for model, one in zip(models, asked, strict=True)]
    rows = [asked[0].rows(i) for i in range(len(read))]
    told = 0

    def step() -> bool:
        due = [one for one in running if not one.is_done]
        if due:
            first = min(due, key=lambda one: one.position)
            for _ in range(STRIDE):
                first.write_more()
        return bool(due)

    while told < running[0].length:
        work_for(step, TURN)
        made = min(one.position for one in running)
        levels, bits = (
            np.stack(part)
            for part in zip(
                *([x.numpy() for x in one.part(told, made)] for one in running), strict=True
            )
        )
        yield (
            {
                i: [Step(told, levels[:, here].copy(), bits[:, here].copy())]
                for i, here in enumerate(rows)
            }
            if made > told
            else {}
        )
        told = made
    pictures = [tuple(x.numpy() for x in one.pictures()) for one in running]
    for i, one in enumerate(read):
        mine = [(levels[rows[i]], bits[rows[i]]) for levels, bits in pictures]
        yield from pace_one(
            i, _explain_request(one, i, list(zip(models, asked, mine, strict=True)))
        )


def _explain_request(
    one: Read,
    request: int,
    made: Sequence[tuple[ImageTransformer | ColourTransformer, Wanted, tuple[Levels, Array]]],
) -> Generator[None, None, Explanation]:
    """Explain a request; yield after each model's part."""
    found: list[Made] = []
    for model, wanted, levels_and_bits in made:
        found.append(_explain_model(model, wanted, request, one.request, *levels_and_bits))
        yield
    if one.request.mode == "enlarge":
        return Explanation(
            tuple(found),
            freeze(_of(one), np.uint8),
            freeze(made[0][1].told[request], np.uint8),
            None,
            None,
            False,
        )
    return (yield from _surprise(one, tuple(found)))


@torch.no_grad()
def _explain_model(
    model: ImageTransformer | ColourTransformer,
    wanted: Wanted,
    request: int,
    asked: Request,
    levels: Levels,
    bits: Array,
) -> Made:
    """Return the result of one model.

    levels, bits: (count, row, column), channels side by side.
    """
    layout, colour = wanted.layout or model.layout, isinstance(model, ColourTransformer)
    shape = (len(levels), LARGE, LARGE, CHANNELS) if colour else levels.shape
    pictures, trace = levels.reshape(shape), Trace("*/self/queries", "*/self/keys")
    first = torch.from_numpy(pictures[:1].astype(np.int64)).to(model.readout.weight.device)
    model(
        first,
        wanted.told[request : request + 1].to(first.device),
        layout,
        _gains([asked], model),
        trace,
    )
    return Made(
        pattern=model.config.pattern if isinstance(model, ImageTransformer) else COLOUR,
        pictures=freeze(pictures, np.uint8),
        bits=freeze(bits.reshape(shape)),
        order=freeze(layout.pixels // (CHANNELS if colour else 1), np.int16),
        starts=freeze(
            [*(block.start for block in layout.blocks), layout.blocks[-1].stop], np.int16
        ),
        memory=freeze([position for block in layout.blocks for position in block.memory], np.int16),
        ends=freeze(np.cumsum([len(block.memory) for block in layout.blocks]), np.int32),
        queries=freeze(trace.stack("*/self/queries")[:, 0], np.float16),
        keys=freeze(trace.stack("*/self/keys")[:, 0], np.float16),
    )


def _surprise(one: Read, made: tuple[Made, ...]) -> Generator[None, None, Explanation]:
    """Measure the surprise of the grey models at the given picture, or at the one from local_2d;
    yield after each."""
    models, local_2d = together(), PATTERNS.index("local_2d")
    own = made[local_2d]
    seen = own.pictures[0] if one.given is None else freeze(one.given, np.uint8)
    surprise: list[Array] = []
    readers: tuple[ImageTransformer | PixelCNN, ...] = (*models.patterns, models.pixelcnn)
    for model in readers:
        # its bits are known already
        said = one.given is None and model is models.patterns[local_2d]
        surprise.append(own.bits[0] if said else _bits(model, seen, one.request.kind, one.request))
        yield
    above = models.surprising_above
    unusual = (
        above is not None
        and not one.is_changed
        and float(surprise[local_2d].mean(dtype=np.float64)) > above
    )
    return Explanation(
        made, None if one.given is None else seen, None, seen, freeze(np.stack(surprise)), unusual
    )


# ---- the functions that pages call


def _work(read: Sequence[Read]) -> Iterator[News]:
    """Answer a batch of requests, one group at a time; each turn takes at most TURN."""

    def work(part: list[Read]) -> Iterator[News]:
        return _grow(
            part, (enlarger(),) if part[0].request.mode == "enlarge" else together().patterns
        )

    return run_groups(read, lambda one: one.request.group(), work)


explain, generate = serve_requests(readable, _work, Explanation)


def measure(requests: Sequence[Rereading]) -> list[Bits | InputError]:
    """Measure the same pictures under the changes of each request, silenced heads or less memory,
    in order."""
    return read_each(requests, _read_again)


def _read_again(one: Rereading) -> Bits:
    check_request(one.request)
    if one.request.mode == "enlarge":
        large, small = (
            _levels_of(one.pictures[0], LARGE, LARGE, 3),
            _levels_of(one.small, SMALL, SMALL, 3),
        )
        return Bits(_bits(enlarger(), large, small, one.request)[None])
    pairs = zip(together().patterns, one.pictures, strict=True)
    return Bits(
        freeze(
            np.stack(
                [
                    _bits(model, _levels_of(raw, SIDE, SIDE), one.request.kind, one.request)
                    for model, raw in pairs
                ]
            )
        )
    )


def _levels_of(raw: bytes, *shape: int) -> Levels:
    return np.frombuffer(raw, np.uint8).reshape(shape)
