"""Explanations of the Universal Transformer: it answers a page's requests with arrays and strings
and returns no tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.adaptive_computation.batching import (
    ReadableRequest,
    build_stop,
    describe_computation,
    join_inputs,
    list_earlier_answers,
    measure_request,
)
from models.adaptive_computation.records import MeasuredSample
from models.checkpoints.checkpoint import CheckpointError
from models.data.windows import move_batch
from models.explaining.arrays import freeze
from models.explaining.batching import answer_one_by_one, answer_together, read_each
from models.explaining.errors import InputError
from models.explaining.query_key_plane import Vectors, make_plane_function
from models.explaining.trace import OFF, Trace
from models.universal_transformer import data as texts
from models.universal_transformer import stories
from models.universal_transformer.data import Batch, Inputs
from models.universal_transformer.model import Thought, UniversalTransformer
from models.universal_transformer.pretrained import FIXED, ORDINARY, load
from models.universal_transformer.reading import check, inputs_of
from models.universal_transformer.records import TASKS, Beside, Explanation, Request

SAMPLE = 120  # held-out inputs on which a network is measured
TEXTS = 12  # inputs for the plane of queries and keys
LETTERS, SUM = 12, 13  # characters of each of them, if they are not stories


@dataclass(frozen=True)
class _Read(ReadableRequest):
    """A request as the network reads it.

    positions: the text at each position. facts: those that the answer needs. right: the answer.
    """

    positions: tuple[str, ...]
    facts: tuple[int, ...]
    right: str


def _read(request: Request) -> _Read:
    return _Read(request, *inputs_of(request))


def _network(task: str) -> UniversalTransformer:
    model = load(task).model
    if not isinstance(model, UniversalTransformer):
        raise CheckpointError(f"{task} is not a Universal Transformer")
    return model


def _pass(
    read: Sequence[_Read], model: UniversalTransformer, trace: Trace = OFF
) -> tuple[Thought, Batch]:
    """Run the network on a batch of requests."""
    device = model.readout.weight.device
    requests = [one.request for one in read]
    batch = move_batch(join_inputs([one.inputs for one in read]).batch(), device)
    step_signal = (
        None
        if all(one.step_signal for one in requests)
        else torch.tensor([float(one.step_signal) for one in requests], device=device)
    )
    return model(
        batch.tokens,
        batch.places,
        batch.alive,
        build_stop(requests, model.config.limit, device, 1),
        step_signal,
        None,
        trace,
    ), batch


def _read_answer(task: str, logits: Tensor, wanted: Sequence[int]) -> str:
    """Return the answer that the logits give at the targets.

    logits: (position, vocabulary).
    """
    chosen = logits.argmax(-1).tolist()
    if task == "stories":
        return stories.WORDS[chosen[wanted[0]]] or "—"
    text = "".join(texts.CHARACTERS[chosen[i]] or "·" for i in wanted)
    return (text.lstrip("0") or "0") if task == "addition" else text


@torch.no_grad()
def _watch_run(task: str, read: Sequence[_Read]) -> list[Explanation]:
    model = _network(task)
    trace = Trace(
        *(f"step/*/{name}" for name in ("halting", "weight", "state", "weights")),
        budget=(64 << 20) * len(read),
    )
    thought, _ = _pass(read, model, trace)
    arrays = {
        name: trace.stack(f"step/*/{name}") for name in ("halting", "weight", "state", "weights")
    }
    beside = _beside(task, read)
    return [
        _fold_explanation(row, one, model, thought, arrays, beside[row])
        for row, one in enumerate(read)
    ]


def _beside(task: str, read: Sequence[_Read]) -> list[tuple[Beside, ...]]:
    """Return the results of the shipped networks for comparison on the same inputs."""
    found: list[list[Beside]] = [[] for _ in read]
    batch = join_inputs([one.inputs for one in read]).batch()
    for kind in (ORDINARY, FIXED):
        try:
            model = load(task + kind).model
        except CheckpointError:
            continue
        here = move_batch(batch, model.readout.weight.device)
        logits = model(here.tokens, here.places, here.alive).logits
        for row, one in enumerate(read):
            answer = _read_answer(task, logits[row], one.answer_positions)
            found[row].append(Beside(kind.removeprefix("_"), answer, answer == one.right))
    return [tuple(one) for one in found]


def _fold_explanation(
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
    halting, weights, state = (
        arrays[name][:most, row, :length] for name in ("halting", "weight", "state")
    )
    task, logits = one.request.task, thought.logits[row]
    return Explanation(
        **describe_computation(
            one,
            model.config.limit,
            steps,
            pondered.remainder[row, :length],
            logits,
            halting,
            weights,
        ),
        positions=one.positions,
        answer=_read_answer(task, logits, one.answer_positions),
        expected=one.right,
        facts=one.facts,
        distance=freeze(
            np.linalg.norm(state - pondered.last[row, :length].cpu().numpy(), axis=-1)
            / math.sqrt(model.config.d_model)
        ),
        attention=freeze(arrays["weights"][:most, row, :, :length, :length]),
        stopped=list_earlier_answers(
            one,
            most,
            lambda rows: _pass(rows, model)[0],
            lambda found: _read_answer(task, found, one.answer_positions),
        ),
        ponder_of_answer=float(pondered.ponder_cost[row, one.answer_positions].mean()),
        beside=beside,
    )


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Explain each request, in order.

    An InputError takes the place of a request that cannot be read.
    """
    return answer_together(
        read_each(requests, _read),
        lambda one: one.request.task,
        lambda read: _watch_run(read[0].request.task, read),
    )


@answer_one_by_one
@torch.no_grad()
def vectors(request: Request) -> Mapping[str, Vectors]:
    """Return the queries and keys of each step."""
    one, trace = _read(request), Trace("step/*/queries", "step/*/keys")
    pondered = _pass([one], _network(request.task), trace)[0].pondered
    assert pondered is not None
    queries, keys = (
        freeze(trace.stack(f"step/*/{side}")[: int(pondered.steps.max()), 0])
        for side in ("queries", "keys")
    )
    return {
        "self": Vectors(
            request.question or request.text, queries, keys, one.positions, one.positions
        )
    }


def _draw_for_plane(task: str) -> Iterator[Request]:
    """Yield inputs of a task whose queries and keys are displayed together."""
    generator = np.random.default_rng(3)
    for needed in range(TEXTS):
        if task == "stories":
            facts, about = stories.story(generator, needed % 4)
            yield Request(
                task,
                " ".join(f"{' '.join(fact.words())}." for fact in facts),
                " ".join(stories.question(about)),
            )
        elif task == "addition":
            yield Request(task, "+".join(map(str, generator.integers(10**5, 10**6, 2))), "")
        else:
            yield Request(
                task, "".join(map(chr, generator.integers(ord("a"), ord("z") + 1, LETTERS - 2))), ""
            )


planes = make_plane_function(
    vectors, {f"{task}.self": tuple(_draw_for_plane(task)) for task in TASKS}
)


@lru_cache(maxsize=4)
def _sample(task: str) -> Inputs:
    """Return held-out inputs, the same for every measurement."""
    generator = np.random.default_rng(2)
    if task == "stories":
        return stories.draw_stories(generator, SAMPLE, "test")
    return texts.characters(task, generator, SAMPLE, SUM if task == "addition" else LETTERS, "test")


@answer_one_by_one
def measure(request: Request) -> MeasuredSample:
    """Measure the network of a request on held-out inputs; the request's own input plays no part.

    Positions that have stopped are not computed further.
    """
    check(request)
    model = _network(request.task)
    return measure_request(
        request,
        _sample(request.task),
        model,
        lambda batch, stop, step_signal: model.run_gathered(
            batch.tokens, batch.places, batch.alive, stop, step_signal
        ),
        lambda right, wanted: (right | ~wanted).all(1),
        1,
    )
