"""Explanations of the models of long texts: they answer a page's requests with arrays and strings
and return no tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.checkpoints.pretrained import load_shipped
from models.data.characters import UNKNOWN
from models.decoding.sampling import FREE, Writer, describe_draws, measure_costs
from models.explaining.arrays import freeze
from models.explaining.batching import (
    News,
    pace_one,
    run_groups,
    serve_in_turns,
    serve_requests,
    write_side_by_side,
)
from models.explaining.trace import Trace
from models.transformer_xl.decode import Reader, Swap, foreign
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import SLUG, Network, load
from models.transformer_xl.records import (
    FOREIGN,
    MEMORIES,
    MODELS,
    PAGES,
    SEGMENTS,
    Array,
    Explanation,
    Losses,
    Memories,
    Reading,
    Request,
    Rereading,
    Step,
    check,
    page,
)


@dataclass(frozen=True)
class _Read:
    """A request that can be answered.

    text: the given text.
    """

    request: Request
    text: str

    @property
    def length(self) -> int:
        """The number of characters at the end of the run."""
        return len(self.text) + self.request.length


def _read(request: Request) -> _Read:
    """Read a request.

    Raise InputError if an option is out of range or the text cannot be read.
    """
    return _Read(request, check(request))


def _list_shipped() -> dict[str, Network]:
    """Return the shipped models.

    Raise CheckpointError if there is none.
    """
    return {variant: one.model for variant, one in load_shipped(load, MODELS, SLUG).items()}


def _sizes(model: Network, request: Request) -> tuple[int, int]:
    """Return the memory and segment with which a model runs."""
    memory = request.memory if isinstance(model, TransformerXL) else 0
    return memory, min(request.segment, model.config.segment)


def _swap(model: Network, request: Request) -> Swap:
    """Return the replacement of a model's memory under a request."""
    memory, _ = _sizes(model, request)
    if request.intervention != "foreign" or not memory:
        return Swap(request.intervention if memory else "none")
    return foreign(model, model.alphabet.encode(page(FOREIGN)), memory)


def _spell_characters(model: Network, one: _Read, characters: NDArray[Any], first: int) -> str:
    """Return the text of characters from `first` on, with the user's own characters for the given
    part."""
    written = model.alphabet.decode(characters)
    given = one.text[first : first + len(characters)]
    return given + written[len(given) :]


def _work_on(read: Sequence[_Read]) -> Iterator[News]:
    """Run all models side by side on a batch of requests; yield steps after each turn and the
    explanations at the end."""
    models, requests = _list_shipped(), [one.request for one in read]
    swaps = {variant: _swap(model, requests[0]) for variant, model in models.items()}
    writers = {}
    for variant, model in models.items():
        rows = [
            np.append(model.alphabet.encode(x.text).astype(np.int64), [FREE] * x.request.length)
            for x in read
        ]
        reader = Reader(model, len(read), *_sizes(model, requests[0]), swaps[variant])
        writers[variant] = Writer(
            reader, describe_draws(requests, rows, UNKNOWN), precision=torch.float32
        )

    def step(variant: str, row: int, here: slice) -> list[Step]:
        made, nats = (
            freeze(writers[variant].symbols[row, here], np.int16),
            freeze(writers[variant].nats[row, here]),
        )
        return [
            Step(
                variant,
                here.start,
                _spell_characters(models[variant], read[row], made, here.start),
                made,
                nats,
            )
        ]

    yield from write_side_by_side(writers, [one.length for one in read], step)
    for row, one in enumerate(read):
        yield from pace_one(row, _explain_models(one, row, models, writers, swaps))


def _explain_models(
    one: _Read,
    row: int,
    models: Mapping[str, Network],
    writers: Mapping[str, Writer],
    swaps: Mapping[str, Swap],
) -> Generator[None, None, Explanation]:
    """Explain the runs of all models on a request; yield after each segment that is read again."""
    readings: list[Reading] = []
    for variant, model in models.items():
        readings += [
            (yield from _read_and_watch(one, row, variant, model, writers[variant], swaps[variant]))
        ]
    strange = [
        letter
        for letter, number in zip(one.text, readings[0].characters[: len(one.text)], strict=True)
        if number == UNKNOWN
    ]
    return Explanation(tuple(readings), len(one.text), tuple(dict.fromkeys(strange)), len(strange))


def _read_and_watch(
    one: _Read, row: int, variant: str, model: Network, writer: Writer, swap: Swap
) -> Generator[None, None, Reading]:
    """Read a finished text again, segment by segment; keep queries, keys and the attention across
    borders."""
    characters, nats = (x[row, : one.length].cpu().numpy() for x in (writer.symbols, writer.nats))
    memory, segment = _sizes(model, one.request)
    reader, length = Reader(model, 1, memory, segment, swap), len(characters)
    before = torch.from_numpy(np.concatenate(([model.start], characters[:-1])))[None].to(
        model.readout.weight.device
    )
    parts: list[tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]] = []
    orders: list[NDArray[np.int64]] = []
    for number, begin in enumerate(range(0, length, segment)):
        held = min(begin, memory)
        order = swap.order(number, held) if number else np.zeros(0, np.int64)
        orders.append(np.where(order < held, begin - held + order, length + order - held))
        trace = Trace("*/self/queries", "*/self/keys", "*/self/weights", budget=256 << 20)
        reader.read(before[:, begin : begin + segment], trace)
        queries, keys, weights = (
            trace.stack(f"*/self/{name}")[:, 0] for name in ("queries", "keys", "weights")
        )
        parts.append((queries, keys[:, :, len(order) :], weights[..., : len(order)].sum(3)))
        yield
    queries, keys, across = (np.concatenate(some, 2) for some in zip(*parts, strict=True))
    table = u = v = np.zeros((0, 0, 0), np.float32)
    if isinstance(model, TransformerXL):
        attentions: list[Any] = [layer.attention for layer in model.layers]
        u, v = (
            torch.stack([getattr(each, name)[:, 0] for each in attentions]).detach().cpu().numpy()
            for name in ("u", "v")
        )
        queries = queries - u[:, :, None]
        table = torch.stack(model.tables(memory + segment)).detach().cpu().numpy()
    if swap.keys is not None:
        keys = np.concatenate((keys, swap.keys[:, 0].cpu().numpy()), 2)
    remembered = np.full((len(orders), max(map(len, orders))), -1)
    for places, order in zip(remembered, orders, strict=True):
        places[: len(order)] = order
    return Reading(
        variant=variant,
        text=_spell_characters(model, one, characters, 0),
        characters=freeze(characters, np.int16),
        nats=freeze(nats, np.float32),
        segment=segment,
        memory=memory,
        queries=freeze(queries, np.float16),
        keys=freeze(keys, np.float16),
        table=freeze(table, np.float16),
        u=freeze(u, np.float32),
        v=freeze(v, np.float32),
        remembered=freeze(remembered, np.int16),
        across=freeze(across, np.float16),
    )


explain, generate = serve_requests(
    _read, lambda read: run_groups(read, lambda one: one.request.group(), _work_on), Explanation
)


def _costs(
    model: Network, characters: NDArray[Any], request: Request
) -> Generator[None, None, Array]:
    """Return −log p in nats of each character, read under a request."""
    return measure_costs(
        Reader(model, 1, *_sizes(model, request), _swap(model, request)), characters
    )


def _read_again(one: Rereading) -> Generator[None, None, Losses]:
    found: list[Array] = []
    for model, text in zip(_list_shipped().values(), one.made, strict=True):
        found += [(yield from _costs(model, model.alphabet.encode(text), one.request))]
    return Losses(tuple(found))


def _may_again(one: Rereading) -> Rereading:
    check(dataclasses.replace(one.request, text="", page=next(iter(PAGES)), length=0))
    return one


# The cost of texts under the changes of a request is measured here. The difference of its mean from
# the cost while writing is the price of these changes.
measure = serve_in_turns(_may_again, _read_again)


def _memories(one: _Read) -> Generator[None, None, Memories]:
    """Measure the benefit of memory on a request's text.

    Raise CheckpointError if the model with a memory is not shipped.
    """
    plain = dataclasses.replace(one.request, intervention="none", segment=SEGMENTS[-1])
    models = {"xl": load("xl").model, **_list_shipped()}
    characters = {variant: model.alphabet.encode(one.text) for variant, model in models.items()}
    rows: list[Array] = []
    for memory in MEMORIES:
        rows += [
            (
                yield from _costs(
                    models["xl"], characters["xl"], dataclasses.replace(plain, memory=memory)
                )
            )
        ]
    without = np.zeros(0, np.float32)
    if "absolute" in models:
        without = yield from _costs(models["absolute"], characters["absolute"], plain)
    return Memories(MEMORIES, freeze(np.stack(rows), np.float32), without)


# The benefit of memory: each request's text is read again with every length of MEMORIES, and
# nothing is written.
memories = serve_in_turns(_read, _memories)
