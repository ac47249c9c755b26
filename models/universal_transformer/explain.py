"""What a page asks of the Universal Transformer, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.arrays import frozen
from models.checkpoint import CheckpointError
from models.errors import InputError
from models.plane import Vectors, drawn_by
from models.pondering import Asked, earlier, joined, measured, stop_of, thinking
from models.thinking import Measured
from models.trace import OFF, Trace
from models.turns import alone, each, together
from models.universal_transformer import data as texts
from models.universal_transformer import stories
from models.universal_transformer.data import Batch, Inputs
from models.universal_transformer.model import Thought, UniversalTransformer
from models.universal_transformer.pretrained import FIXED, ORDINARY, load
from models.universal_transformer.reading import check, inputs_of
from models.universal_transformer.records import TASKS, Beside, Explanation, Request
from models.windows import moved

SAMPLE = 120  # held-out inputs that a network is measured on
TEXTS = 12  # that are read for the plane of queries and keys
LETTERS, SUM = 12, 13  # characters of each of them, where they are no stories


@dataclass(frozen=True)
class _Read(Asked):
    """positions: what stands at each; facts: those that the answer needs; right: the answer."""

    positions: tuple[str, ...]
    facts: tuple[int, ...]
    right: str


def _read(request: Request) -> _Read:
    return _Read(request, *inputs_of(request))


def _network(task: str) -> UniversalTransformer:
    model = load(task).model
    if not isinstance(model, UniversalTransformer):
        raise CheckpointError(f"{task} is no Universal Transformer")
    return model


def _pass(read: Sequence[_Read], model: UniversalTransformer, trace: Trace = OFF) -> tuple[Thought, Batch]:
    """The network on some requests as they are."""
    device = model.readout.weight.device
    requests = [one.request for one in read]
    batch = moved(joined([one.inputs for one in read]).batch(), device)
    told = None if all(one.told for one in requests) else torch.tensor([float(one.told) for one in requests], device=device)
    return model(batch.tokens, batch.places, batch.alive, stop_of(requests, model.config.limit, device, 1), told, None, trace), batch


def _said(task: str, logits: Tensor, wanted: Sequence[int]) -> str:
    """The answer, (position, vocabulary) logits read at the wanted positions."""
    chosen = logits.argmax(-1).tolist()
    if task == "stories":
        return stories.WORDS[chosen[wanted[0]]] or "—"
    text = "".join(texts.CHARACTERS[chosen[i]] or "·" for i in wanted)
    return (text.lstrip("0") or "0") if task == "addition" else text


@torch.no_grad()
def _watched(task: str, read: Sequence[_Read]) -> list[Explanation]:
    model = _network(task)
    trace = Trace(*(f"step/*/{name}" for name in ("halting", "weight", "state", "weights")), budget=(64 << 20) * len(read))
    thought, _ = _pass(read, model, trace)
    arrays = {name: trace.stack(f"step/*/{name}") for name in ("halting", "weight", "state", "weights")}
    beside = _beside(task, read)
    return [_folded(row, one, model, thought, arrays, beside[row]) for row, one in enumerate(read)]


def _beside(task: str, read: Sequence[_Read]) -> list[tuple[Beside, ...]]:
    """What the networks that are shipped for comparison make of the same inputs."""
    found: list[list[Beside]] = [[] for _ in read]
    batch = joined([one.inputs for one in read]).batch()
    for kind in (ORDINARY, FIXED):
        try:
            model = load(task + kind).model
        except CheckpointError:
            continue
        here = moved(batch, model.readout.weight.device)
        logits = model(here.tokens, here.places, here.alive).logits
        for row, one in enumerate(read):
            answer = _said(task, logits[row], one.wanted)
            found[row].append(Beside(kind.removeprefix("_"), answer, answer == one.right))
    return [tuple(one) for one in found]


def _folded(
    row: int,
    one: _Read,
    model: UniversalTransformer,
    thought: Thought,
    arrays: dict[str, NDArray[np.float32]],
    beside: tuple[Beside, ...],
) -> Explanation:
    assert thought.pondered is not None
    length, pondered = len(one.positions), thought.pondered
    steps = pondered.steps[row, :length]
    most = int(steps.max())
    halting, weights, state = (arrays[name][:most, row, :length] for name in ("halting", "weight", "state"))
    task, logits = one.request.task, thought.logits[row]
    return Explanation(
        **thinking(one, model.config.limit, steps, pondered.remainder[row, :length], logits, halting, weights),
        positions=one.positions,
        answer=_said(task, logits, one.wanted),
        expected=one.right,
        facts=one.facts,
        distance=frozen(np.linalg.norm(state - pondered.last[row, :length].cpu().numpy(), axis=-1) / math.sqrt(model.config.d_model)),
        attention=frozen(arrays["weights"][:most, row, :, :length, :length]),
        stopped=earlier(one, most, lambda rows: _pass(rows, model)[0], lambda found: _said(task, found, one.wanted)),
        ponder_of_answer=float(pondered.cost[row, one.wanted].mean()),
        beside=beside,
    )


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Answer and watch: one result per request, in order; an InputError stands where a request could not be read."""
    return together(each(requests, _read), lambda one: one.request.task, lambda read: _watched(read[0].request.task, read))


@alone
@torch.no_grad()
def vectors(request: Request) -> Mapping[str, Vectors]:
    """Queries and keys, step by step."""
    one, trace = _read(request), Trace("step/*/queries", "step/*/keys")
    pondered = _pass([one], _network(request.task), trace)[0].pondered
    assert pondered is not None
    queries, keys = (frozen(trace.stack(f"step/*/{side}")[: int(pondered.steps.max()), 0]) for side in ("queries", "keys"))
    return {"self": Vectors(request.question or request.text, queries, keys, one.positions, one.positions)}


def _drawn(task: str) -> Iterator[Request]:
    """Inputs of a task, of which queries and keys are looked at together."""
    generator = np.random.default_rng(3)
    for needed in range(TEXTS):
        if task == "stories":
            facts, about = stories.story(generator, needed % 4)
            yield Request(task, " ".join(f"{' '.join(fact.words())}." for fact in facts), " ".join(stories.question(about)))
        elif task == "addition":
            yield Request(task, "+".join(map(str, generator.integers(10**5, 10**6, 2))), "")
        else:
            yield Request(task, "".join(map(chr, generator.integers(ord("a"), ord("z") + 1, LETTERS - 2))), "")


planes = drawn_by(vectors, {f"{task}.self": tuple(_drawn(task)) for task in TASKS})


@lru_cache(maxsize=4)
def _sample(task: str) -> Inputs:
    """Held-out inputs, the same ones for every measure."""
    generator = np.random.default_rng(2)
    if task == "stories":
        return stories.drawn(generator, SAMPLE, "test")
    return texts.characters(task, generator, SAMPLE, SUM if task == "addition" else LETTERS, "test")


@alone
def measure(request: Request) -> Measured:
    """What the network of a request does on held-out inputs, its own input apart; what has stopped is not computed."""
    check(request)
    model = _network(request.task)
    return measured(
        request,
        _sample(request.task),
        model,
        lambda batch, stop, told: model.gathered(batch.tokens, batch.places, batch.alive, stop, told),
        lambda right, wanted: (right | ~wanted).all(1),
        1,
    )
