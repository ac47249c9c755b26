"""What a page asks of the models of long texts, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.arrays import frozen
from models.characters import UNKNOWN
from models.pretrained import shipped
from models.sampling import FREE, Writer, costs, wanted
from models.trace import Trace
from models.transformer_xl.decode import Reader, Swap, foreign
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import SLUG, Network, load
from models.transformer_xl.records import (
    FOREIGN,
    MEMORIES,
    MODELS,
    PAGES,
    SEGMENTS,
    Again,
    Array,
    Explanation,
    Losses,
    Memories,
    Reading,
    Request,
    Step,
    check,
    page,
)
from models.turns import News, abreast, grouped, in_turns, paced, served


@dataclass(frozen=True)
class _Read:
    """A request that can be answered. text: what is given."""

    request: Request
    text: str

    @property
    def length(self) -> int:
        """Characters in the end."""
        return len(self.text) + self.request.length


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is, or the text cannot be read."""
    return _Read(request, check(request))


def _there() -> dict[str, Network]:
    """The models that are shipped. CheckpointError where none is."""
    return {variant: one.model for variant, one in shipped(load, MODELS, SLUG).items()}


def _sizes(model: Network, request: Request) -> tuple[int, int]:
    """Memory and segment that a model runs with."""
    memory = request.memory if isinstance(model, TransformerXL) else 0
    return memory, min(request.segment, model.config.segment)


def _swap(model: Network, request: Request) -> Swap:
    """What a request puts into a model's memory."""
    memory, _ = _sizes(model, request)
    if request.intervention != "foreign" or not memory:
        return Swap(request.intervention if memory else "none")
    return foreign(model, model.alphabet.encode(page(FOREIGN)), memory)


def _spelled(model: Network, one: _Read, characters: NDArray[Any], first: int) -> str:
    """Characters from `first` on as a text: the visitor's own where they were given."""
    written = model.alphabet.decode(characters)
    given = one.text[first : first + len(characters)]
    return given + written[len(given) :]


def _work_on(read: Sequence[_Read]) -> Iterator[News]:
    """All models side by side on a batch of requests: steps after each turn, at the end the explanations."""
    models, requests = _there(), [one.request for one in read]
    swaps = {variant: _swap(model, requests[0]) for variant, model in models.items()}
    writers = {}
    for variant, model in models.items():
        rows = [np.append(model.alphabet.encode(x.text).astype(np.int64), [FREE] * x.request.length) for x in read]
        reader = Reader(model, len(read), *_sizes(model, requests[0]), swaps[variant])
        writers[variant] = Writer(reader, wanted(requests, rows, UNKNOWN), precision=torch.float32)

    def step(variant: str, row: int, here: slice) -> list[Step]:
        made, nats = frozen(writers[variant].symbols[row, here], np.int16), frozen(writers[variant].nats[row, here])
        return [Step(variant, here.start, _spelled(models[variant], read[row], made, here.start), made, nats)]

    yield from abreast(writers, [one.length for one in read], step)
    for row, one in enumerate(read):
        yield from paced(row, _made(one, row, models, writers, swaps))


def _made(
    one: _Read, row: int, models: Mapping[str, Network], writers: Mapping[str, Writer], swaps: Mapping[str, Swap]
) -> Generator[None, None, Explanation]:
    """What all models made of a request, with a pause after each segment that is read again."""
    readings: list[Reading] = []
    for variant, model in models.items():
        readings += [(yield from _watched(one, row, variant, model, writers[variant], swaps[variant]))]
    strange = [letter for letter, number in zip(one.text, readings[0].characters[: len(one.text)], strict=True) if number == UNKNOWN]
    return Explanation(tuple(readings), len(one.text), tuple(dict.fromkeys(strange)), len(strange))


def _watched(one: _Read, row: int, variant: str, model: Network, writer: Writer, swap: Swap) -> Generator[None, None, Reading]:
    """Reads a finished text again, segment by segment, and keeps queries, keys and what went across the borders."""
    characters, nats = (x[row, : one.length].cpu().numpy() for x in (writer.symbols, writer.nats))
    memory, segment = _sizes(model, one.request)
    reader, length = Reader(model, 1, memory, segment, swap), len(characters)
    before = torch.from_numpy(np.concatenate(([model.start], characters[:-1])))[None].to(model.readout.weight.device)
    parts: list[tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]] = []
    orders: list[NDArray[np.int64]] = []
    for number, begin in enumerate(range(0, length, segment)):
        held = min(begin, memory)
        order = swap.order(number, held) if number else np.zeros(0, np.int64)
        orders.append(np.where(order < held, begin - held + order, length + order - held))
        trace = Trace("*/self/queries", "*/self/keys", "*/self/weights", budget=256 << 20)
        reader.read(before[:, begin : begin + segment], trace)
        queries, keys, weights = (trace.stack(f"*/self/{name}")[:, 0] for name in ("queries", "keys", "weights"))
        parts.append((queries, keys[:, :, len(order) :], weights[..., : len(order)].sum(3)))
        yield
    queries, keys, across = (np.concatenate(some, 2) for some in zip(*parts, strict=True))
    table = u = v = np.zeros((0, 0, 0), np.float32)
    if isinstance(model, TransformerXL):
        attentions: list[Any] = [layer.attention for layer in model.layers]
        u, v = (torch.stack([getattr(each, name)[:, 0] for each in attentions]).detach().cpu().numpy() for name in ("u", "v"))
        queries = queries - u[:, :, None]
        table = torch.stack(model.tables(memory + segment)).detach().cpu().numpy()
    if swap.keys is not None:
        keys = np.concatenate((keys, swap.keys[:, 0].cpu().numpy()), 2)
    remembered = np.full((len(orders), max(map(len, orders))), -1)
    for places, order in zip(remembered, orders, strict=True):
        places[: len(order)] = order
    return Reading(
        variant=variant,
        text=_spelled(model, one, characters, 0),
        characters=frozen(characters, np.int16),
        nats=frozen(nats, np.float32),
        segment=segment,
        memory=memory,
        queries=frozen(queries, np.float16),
        keys=frozen(keys, np.float16),
        table=frozen(table, np.float16),
        u=frozen(u, np.float32),
        v=frozen(v, np.float32),
        remembered=frozen(remembered, np.int16),
        across=frozen(across, np.float16),
    )


explain, generate = served(_read, lambda read: grouped(read, lambda one: one.request.group(), _work_on), Explanation)


def _costs(model: Network, characters: NDArray[Any], request: Request) -> Generator[None, None, Array]:
    """−log p in nats of each character, read under a request."""
    return costs(Reader(model, 1, *_sizes(model, request), _swap(model, request)), characters)


def _again(one: Again) -> Generator[None, None, Losses]:
    found: list[Array] = []
    for model, text in zip(_there().values(), one.made, strict=True):
        found += [(yield from _costs(model, model.alphabet.encode(text), one.request))]
    return Losses(tuple(found))


def _may_again(one: Again) -> Again:
    check(dataclasses.replace(one.request, text="", page=next(iter(PAGES)), length=0))
    return one


# What texts cost under what a request changes: the mean's difference to what they cost when they were made is what it costs.
measure = in_turns(_may_again, _again)


def _memories(one: _Read) -> Generator[None, None, Memories]:
    """CheckpointError where the model with a memory is not shipped."""
    plain = dataclasses.replace(one.request, intervention="none", segment=SEGMENTS[-1])
    models = {"xl": load("xl").model, **_there()}
    characters = {variant: model.alphabet.encode(one.text) for variant, model in models.items()}
    rows: list[Array] = []
    for memory in MEMORIES:
        rows += [(yield from _costs(models["xl"], characters["xl"], dataclasses.replace(plain, memory=memory)))]
    without = np.zeros(0, np.float32)
    if "absolute" in models:
        without = yield from _costs(models["absolute"], characters["absolute"], plain)
    return Memories(MEMORIES, frozen(np.stack(rows), np.float32), without)


# What memory buys on each request's text, which is read anew with every length of MEMORIES; nothing is written.
memories = in_turns(_read, _memories)
