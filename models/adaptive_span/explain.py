"""What a page asks of the models of adaptive span, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from models.adaptive_span.decode import Reader
from models.adaptive_span.model import Layer, SpanTransformer
from models.adaptive_span.pretrained import load
from models.adaptive_span.records import (
    PAGES,
    VARIANTS,
    Again,
    Explanation,
    Losses,
    Reading,
    Request,
    Step,
    check,
    forced_spans,
)
from models.adaptive_span.saving import Shape, saved
from models.arrays import frozen
from models.characters import UNKNOWN
from models.checkpoint import CheckpointError
from models.sampling import FREE, Writer, costs, parted, wanted
from models.trace import Trace
from models.turns import News, abreast, grouped, in_turns, paced, served

ROWS = 16  # requests that share a batch


@dataclass(frozen=True)
class _Read:
    """A request that can be answered. text: what is read; known: (position,) its numbers, then FREE. forced: (layer, head), NaN: none."""

    request: Request
    text: str
    known: NDArray[np.int64]
    forced: NDArray[np.float32]


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is, or the text cannot be read. CheckpointError where no model is there."""
    text = check(request)
    model = load(request.variant).model
    config = model.config
    forced = forced_spans(request, config.n_layers, config.n_heads, config.span)
    given = model.alphabet.encode(text).astype(np.int64)
    return _Read(request, text, np.concatenate((given, np.full(request.length, FREE))), forced)


def _forced(one: _Read, model: SpanTransformer) -> Tensor | None:
    """(layer, head) for the network; None where nothing is forced."""
    return None if np.isnan(one.forced).all() else torch.from_numpy(one.forced).to(model.readout.weight.device)


def _write(read: Sequence[_Read]) -> Iterator[News]:
    """One model on a batch of requests: steps after each turn, at the end the explanations."""
    model = load(read[0].request.variant).model
    asked = wanted([one.request for one in read], [one.known for one in read], given=[len(one.text) for one in read])
    writer = Writer(Reader(model, len(read), _forced(read[0], model)), asked)

    def steps(_name: str, row: int, here: slice) -> list[Step]:
        found, text = [], read[row].text
        for begin, end, given in parted(here, len(text)):
            said = text[begin:end] if given else model.alphabet.decode(writer.symbols[row, begin:end].tolist())
            found.append(Step(begin, said, frozen(writer.nats[row, begin:end]), given))
        return found

    lengths = [len(one.known) for one in read]
    yield from abreast({"": writer}, lengths, steps)
    for row, one in enumerate(read):
        yield from paced(row, _made(one, model, writer.symbols[row, : lengths[row]].cpu().numpy()))


def _passed(
    model: SpanTransformer, letters: NDArray[np.int64], forced: Tensor | None, trace: Trace | None
) -> tuple[NDArray[np.float64], list[Tensor]]:
    """One pass over finished characters: −log p of each, and the spans of each layer."""
    wanted = torch.from_numpy(letters).to(model.readout.weight.device)
    before = torch.cat((wanted.new_tensor([model.start]), wanted[:-1]))
    said = model(before[None], forced=forced, **({} if trace is None else {"trace": trace}))
    nats = F.cross_entropy(said.logits[0].double(), wanted, reduction="none").cpu().numpy()
    return nats, [z[0].cpu() for z in said.spans]


def _beside(one: _Read, text: str) -> Generator[None, None, tuple[Reading, ...]]:
    found = []
    for variant in VARIANTS:
        if variant == one.request.variant:
            continue
        try:
            model = load(variant).model
        except CheckpointError:
            continue
        yield
        nats, _ = _passed(model, model.alphabet.encode(text).astype(np.int64), None, None)
        found.append(Reading(variant, frozen(nats, np.float32)))
    return tuple(found)


@torch.no_grad()
def _made(one: _Read, model: SpanTransformer, letters: NDArray[np.int64]) -> Generator[None, None, Explanation]:
    """What there is to see of a finished text; a pause between one model's pass and the next one's."""
    config, forced, length = model.config, _forced(one, model), len(letters)
    trace = Trace("*/self/queries", "*/self/keys")
    nats, spans = _passed(model, letters, forced, trace)
    per_token = any(z.shape[1] > 1 for z in spans)
    z = np.stack([one.expand(-1, length if per_token else 1).numpy() for one in spans])
    tables = torch.stack([layer.table[0, :length] for layer in model.layers if isinstance(layer, Layer)])
    shape = Shape(config.span, config.ramp, config.d_model, config.d_ff, config.n_heads, config.n_layers, len(model.alphabet))
    remembered = np.array(model.longest(forced), np.float32)[..., None]
    text = one.text + model.alphabet.decode(letters[len(one.text) :])
    beside_it = yield from _beside(one, text)
    return Explanation(
        variant=one.request.variant,
        text=text,
        given=len(one.text),
        nats=frozen(nats, np.float32),
        unknown=frozen(letters == UNKNOWN, np.bool_),
        z=frozen(z, np.float32),
        forced=frozen(~np.isnan(one.forced), np.bool_),
        learned=frozen(np.full_like(one.forced, np.nan) if per_token else np.array(model.longest()), np.float32),
        span=config.span,
        ramp=config.ramp,
        beside=beside_it,
        saved=saved(z, remembered, shape, length),
        queries=frozen(trace.stack("*/self/queries")[:, 0], np.float16),
        keys=frozen(trace.stack("*/self/keys")[:, 0], np.float16),
        table=frozen(tables.cpu().numpy(), np.float16),
    )


explain, generate = served(_read, lambda read: grouped(read, lambda one: one.request.group(), _write, ROWS), Explanation)


def _again(one: Again) -> Generator[None, None, Losses]:
    model = load(one.request.variant).model
    config = model.config
    forced = torch.from_numpy(forced_spans(one.request, config.n_layers, config.n_heads, config.span)).to(model.readout.weight.device)
    reader = Reader(model, 1, None if forced.isnan().all() else forced)
    return Losses((yield from costs(reader, model.alphabet.encode(one.text))))


def _may_again(one: Again) -> Again:
    _read(dataclasses.replace(one.request, text="", page=PAGES[0], length=0))
    return one


# What a text costs under the spans that a request forces: the mean's difference to what it cost when it was made is what they cost.
measure = in_turns(_may_again, _again)
