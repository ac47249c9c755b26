"""What a page asks of the models of music, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.arrays import frozen
from models.errors import InputError, check_heads
from models.gains import gains
from models.layers.relative import skewing
from models.music import chorales, events
from models.music.data import batch_of
from models.music.decode import reader
from models.music.model import Layer, MusicTransformer
from models.music.notes import notes_of_events
from models.music.pretrained import Network, load
from models.music.records import (
    GRID,
    MODELS,
    Again,
    Array,
    Explanation,
    Losses,
    Made,
    Request,
    SkewSteps,
    Step,
    check,
    read_motif,
)
from models.pretrained import shipped
from models.sampling import FREE, Writer, wanted
from models.trace import Trace
from models.turns import News, abreast, each, grouped, served
from models.windows import moved, nats

OCTAVE = 12  # semitones
SKEWED = 12  # queries that are shown being skewed


@dataclass(frozen=True)
class _Read:
    """A request that can be answered. known: (event,) the whole of what will be there, FREE where it is to be made."""

    request: Request
    known: NDArray[np.int64]


def _moved(request: Request, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The motif transposed and stretched. InputError where a chorale would leave its voices' range."""
    if request.style == "piano":
        if not request.semitones and request.stretch == 1:
            return values
        notes = events.notes_from(values).notes
        pitch = np.clip(notes["pitch"] + request.semitones, 0, events.PITCHES - 1)
        scale = events.STEP * request.stretch
        return events.events_of(events.notes_of(notes["onset"] * scale, notes["end"] * scale, pitch, notes["velocity"] * events.WIDTH))
    moved = np.where(values == chorales.SILENCE, values, values + request.semitones)
    sounding = moved[values != chorales.SILENCE]
    if len(sounding) and not 1 <= sounding.min() <= sounding.max() < chorales.CELLS:
        raise InputError(
            "range",
            en=f"Moved by {request.semitones} semitones, the music leaves the pitches {chorales.LOWEST} to {chorales.HIGHEST}.",
            zh=f"移动 {request.semitones} 个半音后，音乐超出了 {chorales.LOWEST} 到 {chorales.HIGHEST} 的音高范围。",
        )
    return moved


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is, or the motif is no music of its style."""
    check(request)
    there = {variant: one.config for variant, one in _there(request.style).items() if isinstance(one, MusicTransformer)}
    check_heads([one for one in request.silenced if one[0] in there], {name: (one.n_layers, one.n_heads) for name, one in there.items()})
    values = _moved(request, read_motif(request))
    if request.mode == "harmonise":
        known = np.full((len(values), len(chorales.VOICES)), FREE)
        known[:, 0] = values
        return _Read(request, known.reshape(-1))
    length = request.length
    if request.style == "chorale":
        length += -length % len(chorales.VOICES)  # whole sixteenths
    return _Read(request, np.concatenate((values, np.full(length, FREE))))


def _there(style: str) -> dict[str, Network]:
    """The models of a style that are shipped. CheckpointError where none is."""
    return {variant: one.model for variant, one in shipped(load, MODELS[style], style).items()}


def _changed(requests: Sequence[Request], variant: str, model: Network) -> dict[str, Any]:
    """What requests change in a model, as `MusicTransformer.forward` takes it; a recurrent network takes nothing."""
    if not isinstance(model, MusicTransformer):
        return {}
    return {"gains": gains(requests, variant, model), "farthest": None if requests[0].farthest < 0 else requests[0].farthest}


def _compose(read: Sequence[_Read]) -> Iterator[News]:
    """All models of a style side by side on a batch of requests: steps after each turn, at the end the explanations."""
    models, requests = _there(read[0].request.style), [one.request for one in read]
    asked = wanted(requests, [one.known for one in read])
    composers = {}
    for variant, model in models.items():
        begun = reader(model, *asked.known.shape, *_changed(requests, variant, model).values())
        composers[variant] = Writer(begun, asked, given=False)

    def step(variant: str, row: int, here: slice) -> list[Step]:
        made, nats = composers[variant].symbols[row, here], composers[variant].nats[row, here]
        return [Step(variant, here.start, frozen(made, np.int16), frozen(nats))]

    yield from abreast(composers, [len(one.known) for one in read], step)
    for row, one in enumerate(read):
        side_by_side = tuple(_made(one, row, variant, models[variant], composer) for variant, composer in composers.items())
        yield {row: Explanation(side_by_side, GRID[one.request.style])}


@torch.no_grad()
def _made(one: _Read, row: int, variant: str, model: Network, composer: Writer) -> Made:
    length = len(one.known)
    values = composer.symbols[row, :length].cpu().numpy()
    queries: NDArray[Any] = np.zeros((0, 0, 0, 0), np.float16)
    keys = table = queries
    if isinstance(model, MusicTransformer):
        trace = Trace("*/self/queries", "*/self/keys")
        change = _changed([one.request], variant, model)
        model(batch_of([values], model.start).before.to(model.readout.weight.device), **change, trace=trace)
        farthest = change["farthest"]
        queries, keys = (trace.stack(f"*/self/{name}")[:, 0] for name in ("queries", "keys"))
        if model.config.distances and farthest != 0:
            last = length if farthest is None else min(length, farthest + 1)
            tables = [layer.table for layer in model.layers if isinstance(layer, Layer)]
            table = torch.stack([x[:, :last] for x in tables if x is not None]).cpu().numpy()
    notes, at, steps = notes_of_events(one.request.style, values)
    return Made(
        variant=variant,
        events=frozen(values, np.int16),
        given=frozen(one.known != FREE, np.bool_),
        nats=frozen(composer.nats[row, :length], np.float32),
        notes=frozen(notes, np.int32),
        at=frozen(at, np.int32),
        steps=steps,
        queries=frozen(queries, np.float16),
        keys=frozen(keys, np.float16),
        table=frozen(table, np.float16),
    )


explain, generate = served(_read, lambda read: grouped(read, lambda one: one.request.group(), _compose), Explanation)


@torch.no_grad()
def measure(requests: Sequence[Again]) -> list[Losses | InputError]:
    """What was made, read under what a request changes: the nats of the same events. One answer per request, in order.

    Where the motif is moved or stretched, all of the music is, and it is read so.
    """

    def losses(one: Again) -> Losses:
        check(one.request)
        pairs = zip(_there(one.request.style).items(), one.made, strict=True)
        return Losses(tuple(_again(one.request, variant, model, raw) for (variant, model), raw in pairs))

    return each(requests, losses)


def _again(request: Request, variant: str, model: Network, raw: bytes) -> Array:
    """(event,) nats of each event that was made, under what the request changes."""
    made = np.frombuffer(raw, np.int16).astype(np.int64)
    values, source = _moved_along(request, made)
    batch = moved(batch_of([values], model.start), model.readout.weight.device)
    logits = model(batch.before, **_changed([request], variant, model))
    return frozen(np.bincount(source, nats(logits, batch.wanted)[0], len(made)), np.float32)


def _moved_along(request: Request, made: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(event,) all of the music moved and stretched as its motif is, and which event of it each one comes from: a time shift that grows
    longer than a second becomes several. What leaves the range of pitches comes back by an octave."""
    if request.style == "chorale":
        moved = made + request.semitones
        moved = np.where(moved < 1, moved + OCTAVE, np.where(moved >= chorales.CELLS, moved - OCTAVE, moved))
        return np.where(made == chorales.SILENCE, made, moved), np.arange(len(made))
    values: list[int] = []
    source: list[int] = []
    for at, event in enumerate(made.tolist()):
        here = [event]
        if event < events.SHIFT:
            base, pitch = divmod(event, events.PITCHES)
            pitch += request.semitones
            pitch -= OCTAVE if pitch >= events.PITCHES else -OCTAVE if pitch < 0 else 0
            here = [base * events.PITCHES + pitch]
        elif event < events.VELOCITY:
            steps = max(1, round((event - events.SHIFT + 1) * request.stretch))
            whole, rest = divmod(steps, events.SHIFTS)
            here = [events.SHIFT + events.SHIFTS - 1] * whole + [events.SHIFT + rest - 1] * (rest > 0)
        values += here
        source += [at] * len(here)
    return np.array(values, np.int64), np.array(source, np.int64)


def skew(made: Made, layer: int, head: int, first: int = 0, size: int = SKEWED) -> SkewSteps:
    """Skewing of one head's first queries from event `first` on, at a size that can be read.

    IndexError where the model has no relative term, or no such layer, head or event.
    """
    if not made.table.size:
        raise IndexError(f"{made.variant} has no relative term")
    if not 0 <= first < made.queries.shape[2]:
        raise IndexError(f"events 0 … {made.queries.shape[2] - 1}, not {first}")
    query = torch.from_numpy(made.queries[layer, head, first : first + size].astype(np.float32))
    steps = skewing(query, torch.from_numpy(made.table[layer, head].astype(np.float32)))
    return SkewSteps(**{name: tensor.numpy() for name, tensor in vars(steps).items()})
