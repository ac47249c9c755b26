"""Explanations of the models of adaptive span: they answer a page's requests with arrays and
strings and return no tensors."""

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
    Explanation,
    Losses,
    Reading,
    Request,
    Rereading,
    Step,
    check,
    forced_spans,
)
from models.adaptive_span.saving import Shape, measure_saving
from models.checkpoints.checkpoint import CheckpointError
from models.data.characters import UNKNOWN
from models.decoding.sampling import FREE, Writer, describe_draws, measure_costs, split_stretch
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

ROWS = 16  # requests that share a batch


@dataclass(frozen=True)
class _Read:
    """A request that the model can answer.

    text: the text to read. known: its character numbers, then FREE, (position,). forced: the forced
    spans, (layer, head), NaN where there is none.
    """

    request: Request
    text: str
    known: NDArray[np.int64]
    forced: NDArray[np.float32]


def _read(request: Request) -> _Read:
    """Read a request.

    Raise InputError if an option is out of range or the text cannot be read, and CheckpointError if
    the model is missing.
    """
    text = check(request)
    model = load(request.variant).model
    config = model.config
    forced = forced_spans(request, config.n_layers, config.n_heads, config.span)
    given = model.alphabet.encode(text).astype(np.int64)
    return _Read(request, text, np.concatenate((given, np.full(request.length, FREE))), forced)


def _build_forced_spans(one: _Read, model: SpanTransformer) -> Tensor | None:
    """Return the forced spans for the network, (layer, head); None if there are none."""
    return (
        None
        if np.isnan(one.forced).all()
        else torch.from_numpy(one.forced).to(model.readout.weight.device)
    )


def _write(read: Sequence[_Read]) -> Iterator[News]:
    """Run one model on a batch of requests; yield steps after each turn and the explanations at the
    end."""
    model = load(read[0].request.variant).model
    asked = describe_draws(
        [one.request for one in read],
        [one.known for one in read],
        given=[len(one.text) for one in read],
    )
    writer = Writer(Reader(model, len(read), _build_forced_spans(read[0], model)), asked)

    def steps(_name: str, row: int, here: slice) -> list[Step]:
        found, text = [], read[row].text
        for begin, end, given in split_stretch(here, len(text)):
            said = (
                text[begin:end]
                if given
                else model.alphabet.decode(writer.symbols[row, begin:end].tolist())
            )
            found.append(Step(begin, said, freeze(writer.nats[row, begin:end]), given))
        return found

    lengths = [len(one.known) for one in read]
    yield from write_side_by_side({"": writer}, lengths, steps)
    for row, one in enumerate(read):
        yield from pace_one(
            row, _explain_text(one, model, writer.symbols[row, : lengths[row]].cpu().numpy())
        )


def _run_pass(
    model: SpanTransformer, letters: NDArray[np.int64], forced: Tensor | None, trace: Trace | None
) -> tuple[NDArray[np.float64], list[Tensor]]:
    """Run a finished text through the model once; return −log p of each character and the spans of
    each layer."""
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
        nats, _ = _run_pass(model, model.alphabet.encode(text).astype(np.int64), None, None)
        found.append(Reading(variant, freeze(nats, np.float32)))
    return tuple(found)


@torch.no_grad()
def _explain_text(
    one: _Read, model: SpanTransformer, letters: NDArray[np.int64]
) -> Generator[None, None, Explanation]:
    """Explain a finished text; yield between the passes of two models."""
    config, forced, length = model.config, _build_forced_spans(one, model), len(letters)
    trace = Trace("*/self/queries", "*/self/keys")
    nats, spans = _run_pass(model, letters, forced, trace)
    per_token = any(z.shape[1] > 1 for z in spans)
    z = np.stack([one.expand(-1, length if per_token else 1).numpy() for one in spans])
    tables = torch.stack(
        [layer.table[0, :length] for layer in model.layers if isinstance(layer, Layer)]
    )
    shape = Shape(
        config.span,
        config.ramp,
        config.d_model,
        config.d_ff,
        config.n_heads,
        config.n_layers,
        len(model.alphabet),
    )
    remembered = np.array(model.longest(forced), np.float32)[..., None]
    text = one.text + model.alphabet.decode(letters[len(one.text) :])
    beside_it = yield from _beside(one, text)
    return Explanation(
        variant=one.request.variant,
        text=text,
        given=len(one.text),
        nats=freeze(nats, np.float32),
        unknown=freeze(letters == UNKNOWN, np.bool_),
        z=freeze(z, np.float32),
        forced=freeze(~np.isnan(one.forced), np.bool_),
        learned=freeze(
            np.full_like(one.forced, np.nan) if per_token else np.array(model.longest()), np.float32
        ),
        span=config.span,
        ramp=config.ramp,
        beside=beside_it,
        saved=measure_saving(z, remembered, shape, length),
        queries=freeze(trace.stack("*/self/queries")[:, 0], np.float16),
        keys=freeze(trace.stack("*/self/keys")[:, 0], np.float16),
        table=freeze(tables.cpu().numpy(), np.float16),
    )


explain, generate = serve_requests(
    _read, lambda read: run_groups(read, lambda one: one.request.group(), _write, ROWS), Explanation
)


def _read_again(one: Rereading) -> Generator[None, None, Losses]:
    model = load(one.request.variant).model
    config = model.config
    forced = torch.from_numpy(
        forced_spans(one.request, config.n_layers, config.n_heads, config.span)
    ).to(model.readout.weight.device)
    reader = Reader(model, 1, None if forced.isnan().all() else forced)
    return Losses((yield from measure_costs(reader, model.alphabet.encode(one.text))))


def _may_again(one: Rereading) -> Rereading:
    _read(dataclasses.replace(one.request, text="", page=PAGES[0], length=0))
    return one


# The cost of a text under the forced spans is measured here. The difference of its mean from the
# cost while writing is the price of these spans.
measure = serve_in_turns(_may_again, _read_again)
