"""What a page asks of the sparse models, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models import pixels
from models.arrays import frozen
from models.characters import Alphabet
from models.errors import InputError, check_heads
from models.gains import gains
from models.layers.patterns import Pattern
from models.pretrained import Pretrained, shipped
from models.sampling import FREE, Writer, wanted
from models.sparse_transformer.decode import Reader
from models.sparse_transformer.model import SparseTransformer
from models.sparse_transformer.pretrained import load
from models.sparse_transformer.records import (
    MODELS,
    SIDE,
    Again,
    Array,
    Explanation,
    Losses,
    Made,
    Request,
    Step,
    check,
    pattern_of,
    read_drawing,
    read_text,
)
from models.trace import Trace
from models.turns import News, abreast, each, grouped, served
from models.windows import nats


@dataclass(frozen=True)
class _Read:
    """A request that can be answered. known: (position,) the whole of what will be there, FREE where it is to be made.

    kind, whole: as in `Explanation`.
    """

    request: Request
    known: NDArray[np.int64]
    kind: int = -1
    whole: pixels.Levels | None = None


def _there(task: str) -> dict[str, Pretrained[SparseTransformer]]:
    """The models of a task that are shipped. CheckpointError where none is."""
    return shipped(load, MODELS[task], task)


def _pattern(request: Request, model: SparseTransformer) -> Pattern:
    """What a model attends with under a request. InputError where the request's numbers make no pattern."""
    config = model.config
    return pattern_of(request.pattern or config.kind, request.stride or config.stride, request.summary or config.summary)


def _models(request: Request) -> dict[str, Pretrained[SparseTransformer]]:
    """The models of a request's task. InputError where an option lies outside what there is."""
    check(request)
    models = _there(request.task)
    for trained in models.values():
        _pattern(request, trained.model)
    sizes = {variant: (one.model.config.n_layers, one.model.config.n_heads) for variant, one in models.items()}
    check_heads([one for one in request.silenced if one[0] in models], sizes)
    return models


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is, or the drawing or text cannot be read."""
    models = _models(request)
    if request.task == "text":
        config = next(iter(models.values())).model.config
        read_text(request, config.letters, config.length)
        return _Read(request, np.concatenate((Alphabet(config.letters).encode(request.text), np.full(request.length, FREE))))
    ours = pixels.shipped("sparse_transformer")
    number = pixels.number_of(request.drawing, len(ours["kinds"]))
    whole = read_drawing(request.drawing) if number is None else ours["pixels"][number]
    known = whole.reshape(-1).astype(np.int64)
    known[request.keep * SIDE :] = FREE
    return _Read(request, known, -1 if number is None else int(ours["kinds"][number]), whole)


def _compose(read: Sequence[_Read]) -> Iterator[News]:
    """All models of a task side by side on a batch of requests: steps after each turn, at the end the explanations."""
    models, requests = _there(read[0].request.task), [one.request for one in read]
    asked = wanted(requests, [one.known for one in read])
    composers = {}
    for variant, one in models.items():
        how = gains(requests, variant, one.model), _pattern(requests[0], one.model)
        composers[variant] = Writer(Reader(one.model, *asked.known.shape, *how), asked)

    def step(variant: str, row: int, here: slice) -> list[Step]:
        symbols, nats = frozen(composers[variant].symbols[row, here], np.int16), frozen(composers[variant].nats[row, here])
        return [Step(variant, here.start, symbols, nats, _spelled(models[variant].model, symbols))]

    yield from abreast(composers, [len(one.known) for one in read], step)
    for row, asker in enumerate(read):
        made = tuple(_made(asker, row, variant, models[variant], composer) for variant, composer in composers.items())
        yield {row: Explanation(made, asker.kind, None if asker.whole is None else frozen(asker.whole, np.uint8))}


def _spelled(model: SparseTransformer, symbols: NDArray[Any]) -> str:
    """Symbols as text; "" where they are pixels."""
    return Alphabet(model.config.letters).decode(symbols) if model.config.letters else ""


@torch.no_grad()
def _made(one: _Read, row: int, variant: str, trained: Pretrained[SparseTransformer], composer: Writer) -> Made:
    model, pattern = trained.model, _pattern(one.request, trained.model)
    symbols = composer.symbols[row : row + 1]
    trace = Trace("*/self/queries", "*/self/keys")
    model(model.after(symbols), gains=gains([one.request], variant, model), pattern=pattern, trace=trace)
    given, nats = one.known != FREE, composer.nats[row].cpu().numpy()
    numbers = symbols[0].cpu().numpy()
    limit = trained.facts.get("surprising_above")
    return Made(
        variant=variant,
        pattern=pattern,
        use=model.config.use,
        symbols=frozen(numbers, np.int16),
        given=frozen(given, np.bool_),
        nats=frozen(nats, np.float32),
        drawn=_spelled(model, numbers),
        unusual=bool(limit is not None and given.any() and nats[given].mean() > limit),
        queries=frozen(trace.stack("*/self/queries")[:, 0], np.float16),
        keys=frozen(trace.stack("*/self/keys")[:, 0], np.float16),
    )


explain, generate = served(_read, lambda read: grouped(read, lambda one: one.request.group(), _compose), Explanation)


@torch.no_grad()
def measure(requests: Sequence[Again]) -> list[Losses | InputError]:
    """What was made, read under what a request changes: the nats of the same symbols. One answer per request, in order."""

    def losses(one: Again) -> Losses:
        pairs = zip(_models(one.request).items(), one.made, strict=True)
        return Losses(tuple(_again(one.request, variant, trained.model, raw) for (variant, trained), raw in pairs))

    return each(requests, losses)


def _again(request: Request, variant: str, model: SparseTransformer, raw: bytes) -> Array:
    symbols = torch.from_numpy(np.frombuffer(raw, np.int16).astype(np.int64))[None].to(model.readout.weight.device)
    logits = model(model.after(symbols), gains=gains([request], variant, model), pattern=_pattern(request, model))
    return frozen(nats(logits, symbols)[0])
