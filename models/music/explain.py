"""Explanations of the models of music: they answer a page's requests with arrays and strings and
return no tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.checkpoints.pretrained import load_shipped
from models.data.windows import measure_nats, move_batch
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
from models.layers.relative import list_skewing_steps
from models.music import chorales, events
from models.music.data import batch_of
from models.music.decode import reader
from models.music.model import Layer, MusicTransformer
from models.music.notes import notes_of_events
from models.music.pretrained import Network, load
from models.music.records import (
    GRID,
    MODELS,
    Array,
    Explanation,
    Losses,
    Made,
    Request,
    Rereading,
    SkewSteps,
    Step,
    check,
    read_motif,
)

OCTAVE = 12  # semitones
SKEWED = 12  # queries in the display of skewing


@dataclass(frozen=True)
class _Read:
    """A request that can be answered.

    known: all events of the result, FREE where one is generated, (event,).
    """

    request: Request
    known: NDArray[np.int64]


def _move_motif(request: Request, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the motif, transposed and stretched.

    Raise InputError if a chorale would leave the range of its voices.
    """
    if request.style == "piano":
        if not request.semitones and request.stretch == 1:
            return values
        notes = events.notes_from(values).notes
        pitch = np.clip(notes["pitch"] + request.semitones, 0, events.PITCHES - 1)
        scale = events.STEP * request.stretch
        return events.events_of(
            events.notes_of(
                notes["onset"] * scale,
                notes["end"] * scale,
                pitch,
                notes["velocity"] * events.WIDTH,
            )
        )
    moved = np.where(values == chorales.SILENCE, values, values + request.semitones)
    sounding = moved[values != chorales.SILENCE]
    if len(sounding) and not 1 <= sounding.min() <= sounding.max() < chorales.CELLS:
        raise InputError(
            "range",
            en=(
                f"Moved by {request.semitones} semitones, the music leaves the pitches"
                f" {chorales.LOWEST} to {chorales.HIGHEST}."
            ),
            zh=(
                f"移动 {request.semitones} 个半音后，音乐超出了 {chorales.LOWEST} 到"
                f" {chorales.HIGHEST} 的音高范围。"
            ),
        )
    return moved


def _read(request: Request) -> _Read:
    """Read a request.

    Raise InputError if an option is out of range, or if the motif is not valid music of its style.
    """
    check(request)
    there = {
        variant: one.config
        for variant, one in _list_shipped(request.style).items()
        if isinstance(one, MusicTransformer)
    }
    check_heads(
        [one for one in request.silenced if one[0] in there],
        {name: (one.n_layers, one.n_heads) for name, one in there.items()},
    )
    values = _move_motif(request, read_motif(request))
    if request.mode == "harmonise":
        known = np.full((len(values), len(chorales.VOICES)), FREE)
        known[:, 0] = values
        return _Read(request, known.reshape(-1))
    length = request.length
    if request.style == "chorale":
        length += -length % len(chorales.VOICES)  # whole sixteenths
    return _Read(request, np.concatenate((values, np.full(length, FREE))))


def _list_shipped(style: str) -> dict[str, Network]:
    """Return the shipped models of a style.

    Raise CheckpointError if there is none.
    """
    return {variant: one.model for variant, one in load_shipped(load, MODELS[style], style).items()}


def _build_changes(requests: Sequence[Request], variant: str, model: Network) -> dict[str, Any]:
    """Return the changes of requests to a model, as arguments of `MusicTransformer.forward`; a
    recurrent network takes none."""
    if not isinstance(model, MusicTransformer):
        return {}
    return {
        "gains": build_head_gains(requests, variant, model),
        "farthest": None if requests[0].farthest < 0 else requests[0].farthest,
    }


def _compose(read: Sequence[_Read]) -> Iterator[News]:
    """Run all models of a style side by side on a batch of requests; yield steps after each turn
    and the explanations at the end."""
    models, requests = _list_shipped(read[0].request.style), [one.request for one in read]
    asked = describe_draws(requests, [one.known for one in read])
    composers = {}
    for variant, model in models.items():
        begun = reader(
            model, *asked.known.shape, *_build_changes(requests, variant, model).values()
        )
        composers[variant] = Writer(begun, asked, given=False)

    def step(variant: str, row: int, here: slice) -> list[Step]:
        made, nats = composers[variant].symbols[row, here], composers[variant].nats[row, here]
        return [Step(variant, here.start, freeze(made, np.int16), freeze(nats))]

    yield from write_side_by_side(composers, [len(one.known) for one in read], step)
    for row, one in enumerate(read):
        side_by_side = tuple(
            _explain_model(one, row, variant, models[variant], composer)
            for variant, composer in composers.items()
        )
        yield {row: Explanation(side_by_side, GRID[one.request.style])}


@torch.no_grad()
def _explain_model(one: _Read, row: int, variant: str, model: Network, composer: Writer) -> Made:
    length = len(one.known)
    values = composer.symbols[row, :length].cpu().numpy()
    queries: NDArray[Any] = np.zeros((0, 0, 0, 0), np.float16)
    keys = table = queries
    if isinstance(model, MusicTransformer):
        trace = Trace("*/self/queries", "*/self/keys")
        change = _build_changes([one.request], variant, model)
        model(
            batch_of([values], model.start).before.to(model.readout.weight.device),
            **change,
            trace=trace,
        )
        farthest = change["farthest"]
        queries, keys = (trace.stack(f"*/self/{name}")[:, 0] for name in ("queries", "keys"))
        if model.config.distances and farthest != 0:
            last = length if farthest is None else min(length, farthest + 1)
            tables = [layer.table for layer in model.layers if isinstance(layer, Layer)]
            table = torch.stack([x[:, :last] for x in tables if x is not None]).cpu().numpy()
    notes, at, steps = notes_of_events(one.request.style, values)
    return Made(
        variant=variant,
        events=freeze(values, np.int16),
        given=freeze(one.known != FREE, np.bool_),
        nats=freeze(composer.nats[row, :length], np.float32),
        notes=freeze(notes, np.int32),
        at=freeze(at, np.int32),
        steps=steps,
        queries=freeze(queries, np.float16),
        keys=freeze(keys, np.float16),
        table=freeze(table, np.float16),
    )


explain, generate = serve_requests(
    _read, lambda read: run_groups(read, lambda one: one.request.group(), _compose), Explanation
)


@torch.no_grad()
def measure(requests: Sequence[Rereading]) -> list[Losses | InputError]:
    """Measure the nats of the same events under the changes of each request, in order.

    If the motif is transposed or stretched, so is the rest of the music.
    """

    def losses(one: Rereading) -> Losses:
        check(one.request)
        pairs = zip(_list_shipped(one.request.style).items(), one.made, strict=True)
        return Losses(
            tuple(_read_again(one.request, variant, model, raw) for (variant, model), raw in pairs)
        )

    return read_each(requests, losses)


def _read_again(request: Request, variant: str, model: Network, raw: bytes) -> Array:
    """Return the nats of each generated event under the changes of the request, (event,)."""
    made = np.frombuffer(raw, np.int16).astype(np.int64)
    values, source = _moved_along(request, made)
    batch = move_batch(batch_of([values], model.start), model.readout.weight.device)
    logits = model(batch.before, **_build_changes([request], variant, model))
    return freeze(np.bincount(source, measure_nats(logits, batch.wanted)[0], len(made)), np.float32)


def _moved_along(
    request: Request, made: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the music, transposed and stretched like its motif, and the index of the original
    event for each event, (event,) each.

    A time shift that grows beyond a second becomes several. A pitch outside the range moves by an
    octave.
    """
    if request.style == "chorale":
        moved = made + request.semitones
        moved = np.where(
            moved < 1, moved + OCTAVE, np.where(moved >= chorales.CELLS, moved - OCTAVE, moved)
        )
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
            here = [events.SHIFT + events.SHIFTS - 1] * whole + [events.SHIFT + rest - 1] * (
                rest > 0
            )
        values += here
        source += [at] * len(here)
    return np.array(values, np.int64), np.array(source, np.int64)


def skew(made: Made, layer: int, head: int, first: int = 0, size: int = SKEWED) -> SkewSteps:
    """Return the skewing of one head's first queries from event `first` on, at a readable size.

    Raise IndexError if the model has no relative term, or no such layer, head or event.
    """
    if not made.table.size:
        raise IndexError(f"{made.variant} has no relative term")
    if not 0 <= first < made.queries.shape[2]:
        raise IndexError(f"events 0 … {made.queries.shape[2] - 1}, not {first}")
    query = torch.from_numpy(made.queries[layer, head, first : first + size].astype(np.float32))
    steps = list_skewing_steps(query, torch.from_numpy(made.table[layer, head].astype(np.float32)))
    return SkewSteps(**{name: tensor.numpy() for name, tensor in vars(steps).items()})
