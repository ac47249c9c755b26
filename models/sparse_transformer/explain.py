"""Explanations of the sparse models: they answer a page's requests with arrays and strings and
return no tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.checkpoints.pretrained import Pretrained, load_shipped
from models.data import pixels
from models.data.characters import Alphabet
from models.data.windows import measure_nats
from models.decoding.sampling import FREE, Writer, describe_draws
from models.explaining.arrays import freeze
from models.explaining.batching import (
    News,
    read_each,
    run_groups,
    serve_requests,
    write_side_by_side,
)
from models.explaining.errors import InputError, check_heads
from models.explaining.head_mask import build_head_gains
from models.explaining.trace import Trace
from models.layers.patterns import Pattern
from models.sparse_transformer.decode import Reader
from models.sparse_transformer.model import SparseTransformer
from models.sparse_transformer.pretrained import load
from models.sparse_transformer.records import (
    MODELS,
    SIDE,
    Array,
    Explanation,
    Losses,
    Made,
    Request,
    Rereading,
    Step,
    check,
    pattern_of,
    read_drawing,
    read_text,
)


@dataclass(frozen=True)
class _Read:
    """A request that can be answered.

    known: all symbols of the result, FREE where one is generated, (position,). kind, whole: as in
    `Explanation`.
    """

    request: Request
    known: NDArray[np.int64]
    kind: int = -1
    whole: pixels.Levels | None = None


def _list_shipped(task: str) -> dict[str, Pretrained[SparseTransformer]]:
    """Return the shipped models of a task.

    Raise CheckpointError if there is none.
    """
    return load_shipped(load, MODELS[task], task)


def _pattern(request: Request, model: SparseTransformer) -> Pattern:
    """Return the pattern of a model under a request.

    Raise InputError if the request's numbers form no pattern.
    """
    config = model.config
    return pattern_of(
        request.pattern or config.kind,
        request.stride or config.stride,
        request.summary or config.summary,
    )


def _models(request: Request) -> dict[str, Pretrained[SparseTransformer]]:
    """Return the models of a request's task.

    Raise InputError if an option is out of range.
    """
    check(request)
    models = _list_shipped(request.task)
    for trained in models.values():
        _pattern(request, trained.model)
    sizes = {
        variant: (one.model.config.n_layers, one.model.config.n_heads)
        for variant, one in models.items()
    }
    check_heads([one for one in request.silenced if one[0] in models], sizes)
    return models


def _read(request: Request) -> _Read:
    """Read a request.

    Raise InputError if an option is out of range, or the drawing or text cannot be read.
    """
    models = _models(request)
    if request.task == "text":
        config = next(iter(models.values())).model.config
        read_text(request, config.letters, config.length)
        given = Alphabet(config.letters).encode(request.plain_text)
        return _Read(request, np.concatenate((given, np.full(request.length, FREE))))
    ours = pixels.load_shipped_pictures("sparse_transformer")
    number = pixels.read_picture_number(request.drawing, len(ours["kinds"]))
    whole = read_drawing(request.drawing) if number is None else ours["pixels"][number]
    known = whole.reshape(-1).astype(np.int64)
    known[request.keep * SIDE :] = FREE
    return _Read(request, known, -1 if number is None else int(ours["kinds"][number]), whole)


def _compose(read: Sequence[_Read]) -> Iterator[News]:
    """Run all models of a task side by side on a batch of requests; yield steps after each turn and
    the explanations at the end."""
    models, requests = _list_shipped(read[0].request.task), [one.request for one in read]
    asked = describe_draws(requests, [one.known for one in read])
    composers = {}
    for variant, one in models.items():
        how = build_head_gains(requests, variant, one.model), _pattern(requests[0], one.model)
        composers[variant] = Writer(Reader(one.model, *asked.known.shape, *how), asked)

    def step(variant: str, row: int, here: slice) -> list[Step]:
        symbols, nats = (
            freeze(composers[variant].symbols[row, here], np.int16),
            freeze(composers[variant].nats[row, here]),
        )
        return [
            Step(variant, here.start, symbols, nats, _spell_symbols(models[variant].model, symbols))
        ]

    yield from write_side_by_side(composers, [len(one.known) for one in read], step)
    for row, asker in enumerate(read):
        made = tuple(
            _explain_model(asker, row, variant, models[variant], composer)
            for variant, composer in composers.items()
        )
        yield {
            row: Explanation(
                made, asker.kind, None if asker.whole is None else freeze(asker.whole, np.uint8)
            )
        }


def _spell_symbols(model: SparseTransformer, symbols: NDArray[Any]) -> str:
    """Return symbols as text; "" if they are pixels."""
    return Alphabet(model.config.letters).decode(symbols) if model.config.letters else ""


@torch.no_grad()
def _explain_model(
    one: _Read, row: int, variant: str, trained: Pretrained[SparseTransformer], composer: Writer
) -> Made:
    model, pattern = trained.model, _pattern(one.request, trained.model)
    symbols = composer.symbols[row : row + 1]
    trace = Trace("*/self/queries", "*/self/keys")
    model(
        model.after(symbols),
        gains=build_head_gains([one.request], variant, model),
        pattern=pattern,
        trace=trace,
    )
    given, nats = one.known != FREE, composer.nats[row].cpu().numpy()
    numbers = symbols[0].cpu().numpy()
    limit = trained.facts.get("surprising_above")
    return Made(
        variant=variant,
        pattern=pattern,
        use=model.config.use,
        symbols=freeze(numbers, np.int16),
        given=freeze(given, np.bool_),
        nats=freeze(nats, np.float32),
        drawn=_spell_symbols(model, numbers),
        unusual=bool(
            limit is not None
            and not one.request.changes_models
            and given.any()
            and nats[given].mean() > limit
        ),
        queries=freeze(trace.stack("*/self/queries")[:, 0], np.float16),
        keys=freeze(trace.stack("*/self/keys")[:, 0], np.float16),
    )


explain, generate = serve_requests(
    _read, lambda read: run_groups(read, lambda one: one.request.group(), _compose), Explanation
)


@torch.no_grad()
def measure(requests: Sequence[Rereading]) -> list[Losses | InputError]:
    """Measure the nats of the same symbols under the changes of each request, in order."""

    def losses(one: Rereading) -> Losses:
        pairs = zip(_models(one.request).items(), one.made, strict=True)
        return Losses(
            tuple(
                _read_again(one.request, variant, trained.model, raw)
                for (variant, trained), raw in pairs
            )
        )

    return read_each(requests, losses)


def _read_again(request: Request, variant: str, model: SparseTransformer, raw: bytes) -> Array:
    symbols = torch.from_numpy(np.frombuffer(raw, np.int16).astype(np.int64))[None].to(
        model.readout.weight.device
    )
    logits = model(
        model.after(symbols),
        gains=build_head_gains([request], variant, model),
        pattern=_pattern(request, model),
    )
    return freeze(measure_nats(logits, symbols)[0])
