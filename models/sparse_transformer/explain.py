"""What a page asks of the sparse models, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models.arrays import frozen
from models.characters import Alphabet
from models.decoder import gains
from models.errors import InputError, no_head
from models.layers.patterns import Pattern, connectivity, reach
from models.pretrained import Pretrained, shipped
from models.sampling import FREE, Wanted, Writer, uniforms
from models.sparse_transformer.decode import Reader
from models.sparse_transformer.model import SparseTransformer
from models.sparse_transformer.pretrained import held_out, load
from models.sparse_transformer.records import (
    EXAMPLES,
    MAX_SHOWN,
    MODELS,
    SIDE,
    Again,
    Array,
    Connections,
    Explanation,
    Losses,
    Made,
    Paths,
    Pixels,
    Request,
    Step,
    check,
    drawing,
    held_out_number,
    pattern_of,
    read_drawing,
    read_text,
)
from models.sparse_transformer.weights import by_offset, look
from models.trace import Trace
from models.turns import abreast, answered, each, grouped, turns

__all__ = [
    "EXAMPLES",
    "Again",
    "Explanation",
    "Losses",
    "Request",
    "by_offset",
    "connections",
    "drawing",
    "explain",
    "generate",
    "look",
    "measure",
    "paths",
]

TURN = 0.05  # seconds that `generate` works before it lets others

Turn: TypeAlias = list[list[Step] | Explanation | InputError | None]
News: TypeAlias = dict[int, list[Step] | Explanation]


@dataclass(frozen=True)
class _Read:
    """A request that can be answered. known: (position,) the whole of what will be there, FREE where it is to be made.

    kind, whole: as in `Explanation`.
    """

    request: Request
    known: NDArray[np.int64]
    kind: int = -1
    whole: Pixels | None = None


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
    for variant, trained in models.items():
        config = trained.model.config
        _pattern(request, trained.model)
        for other, layer, head in request.silenced:
            if other == variant and (layer >= config.n_layers or head >= config.n_heads):
                raise no_head(layer, head, variant, layers=config.n_layers, heads=config.n_heads)
    return models


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is, or the drawing or text cannot be read."""
    models = _models(request)
    if request.task == "text":
        config = next(iter(models.values())).model.config
        read_text(request, config.letters, config.length)
        return _Read(request, np.concatenate((Alphabet(config.letters).encode(request.text), np.full(request.length, FREE))))
    shown = held_out() if request.drawing.startswith("test:") else None
    number = None if shown is None else held_out_number(request, len(shown.kinds))
    whole = read_drawing(request.drawing) if shown is None or number is None else shown.pixels[number]
    known = whole.reshape(-1).astype(np.int64)
    known[request.keep * SIDE :] = FREE
    return _Read(request, known, -1 if shown is None or number is None else int(shown.kinds[number]), whole)


def _gains(requests: Sequence[Request], variant: str, model: SparseTransformer) -> Tensor | None:
    config = model.config
    return gains([one.silenced for one in requests], variant, config.n_layers, config.n_heads, model.readout.weight.device)


def _composer(read: Sequence[_Read], variant: str, model: SparseTransformer) -> Writer:
    known = torch.from_numpy(np.stack([one.known for one in read]))
    draws = torch.stack([uniforms(one.request.seed, known.shape[1]) for one in read])
    heats = [float(one.request.temperature) for one in read]
    silent = _gains([one.request for one in read], variant, model)
    return Writer(Reader(model, *known.shape, silent, _pattern(read[0].request, model)), Wanted(known, draws, heats))


def _compose(read: Sequence[_Read]) -> Iterator[News]:
    """All models of a task side by side on a batch of requests: steps after each turn, at the end the explanations."""
    models = _there(read[0].request.task)
    composers = {variant: _composer(read, variant, one.model) for variant, one in models.items()}
    for new in abreast(composers, TURN):
        news: News = {}
        for row in range(len(read)):
            steps = []
            for variant, composer in composers.items():
                here = new[variant]
                if here.start < here.stop:
                    symbols, nats = frozen(composer.symbols[row, here], np.int16), frozen(composer.nats[row, here])
                    steps.append(Step(variant, here.start, symbols, nats, _spelled(models[variant].model, symbols)))
            news[row] = steps
        yield news
    for row, one in enumerate(read):
        made = tuple(_made(one, row, variant, models[variant], composer) for variant, composer in composers.items())
        yield {row: Explanation(made, one.kind, None if one.whole is None else frozen(one.whole, np.uint8))}


def _spelled(model: SparseTransformer, symbols: NDArray[Any]) -> str:
    """Symbols as text; "" where they are pixels."""
    return Alphabet(model.config.letters).decode(symbols) if model.config.letters else ""


@torch.no_grad()
def _made(one: _Read, row: int, variant: str, trained: Pretrained[SparseTransformer], composer: Writer) -> Made:
    model, pattern = trained.model, _pattern(one.request, trained.model)
    symbols = composer.symbols[row : row + 1]
    trace = Trace("*/self/queries", "*/self/keys")
    model(model.after(symbols), gains=_gains([one.request], variant, model), pattern=pattern, trace=trace)
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


def _work(read: Sequence[_Read]) -> Iterator[News]:
    """All that a batch asks for, a group at a time, each turn about TURN."""
    return grouped(read, lambda one: one.request.group(), _compose)


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Read, go on and show how: one answer per request, in order; an InputError stands where a request could not be read."""
    return answered(each(requests, _read), _work, Explanation)


def generate(requests: Sequence[Request]) -> Iterator[Turn]:
    """Pixel by pixel or character by character, all models side by side. Each turn works for about 50 ms and yields one entry per request:
    the steps since the last turn; at its end the Explanation, or the InputError; None once it is over."""
    yield from turns(each(requests, _read), _work)


@torch.no_grad()
def measure(requests: Sequence[Again]) -> list[Losses | InputError]:
    """What was made, read under what a request changes: the nats of the same symbols. One answer per request, in order."""

    def losses(one: Again) -> Losses:
        pairs = zip(_models(one.request).items(), one.symbols, strict=True)
        return Losses(tuple(_again(one.request, variant, trained.model, raw) for (variant, trained), raw in pairs))

    return each(requests, losses)


def _again(request: Request, variant: str, model: SparseTransformer, raw: bytes) -> Array:
    symbols = torch.from_numpy(np.frombuffer(raw, np.int16).astype(np.int64))[None].to(model.readout.weight.device)
    logits = model(model.after(symbols), gains=_gains([request], variant, model), pattern=_pattern(request, model))
    return frozen(F.cross_entropy(logits[0].float(), symbols[0], reduction="none").cpu().numpy(), np.float32)


def _length(length: int) -> int:
    if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= MAX_SHOWN:
        raise InputError(
            "length",
            en=f"The pattern has {length} positions; 1 to {MAX_SHOWN:,} can be drawn.",
            zh=f"模式有 {length} 个位置；可绘制 1 到 {MAX_SHOWN:,} 个。",
        )
    return length


def connections(kind: str, stride: int, summary: int, length: int) -> Connections:
    """A pattern pair by pair, and how many pairs it saves. InputError where the numbers make no pattern, or too large a one to be drawn."""
    pattern, length = pattern_of(kind, stride, summary), _length(length)
    counts = [factor.counts(length) for factor in (pattern.union, pattern.first, pattern.second)]
    return Connections(
        pattern=pattern,
        matrix=frozen(connectivity(pattern, length), np.uint8),
        counts=frozen(counts[0], np.int32),
        pairs=int(counts[0].sum()),
        of_factors=(int(counts[1].sum()), int(counts[2].sum())),
        causal=length * (length + 1) // 2,
        square=length * length,
    )


def paths(kind: str, stride: int, summary: int, position: int) -> Paths:
    """How every earlier position reaches one, in one step or in two. InputError as for `connections`."""
    pattern = pattern_of(kind, stride, summary)
    if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < MAX_SHOWN:
        raise InputError(
            "position",
            en=f"There is no position {position}; there are 0 to {MAX_SHOWN - 1:,}.",
            zh=f"没有位置 {position}；可用 0 到 {MAX_SHOWN - 1:,}。",
        )
    steps, via = reach(pattern, position)
    within = [int(((steps >= 0) & (steps <= n)).sum()) for n in (1, 2)]
    return Paths(position, frozen(steps, np.int16), frozen(via, np.int16), (within[0], within[1]))
