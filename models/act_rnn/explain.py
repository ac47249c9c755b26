"""Explanations of the adaptive recurrent networks: they answer a page's requests with arrays and
strings and return no tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from models.act_rnn.data import BITS, DIGITS, Inputs, draw_inputs, sums, vectors
from models.act_rnn.model import PonderingNetwork, Thought
from models.act_rnn.pretrained import load
from models.act_rnn.records import WITHOUT, Explanation, Request, read_bits, read_sum
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
from models.explaining.request_fields import check_request
from models.explaining.trace import OFF, Trace

SAMPLE = 200  # held-out inputs on which a network is measured


@dataclass(frozen=True)
class _Read(ReadableRequest):
    """A request as the network reads it.

    labels: the text of each input.
    """

    labels: tuple[str, ...]


def _read(request: Request) -> _Read:
    """Read a request.

    Raise InputError if an option is out of range, or if the text is neither bits nor a sum.
    """
    check_request(request)
    if request.task == "parity":
        entries = read_bits(request.text)
        label = "".join({1: "1", -1: "0", 0: "."}[entry] for entry in entries)
        return _Read(request, vectors(np.pad(entries, (0, BITS - len(entries)))[None]), (label,))
    numbers = read_sum(request.text)
    backwards = [number[::-1].ljust(DIGITS, "0") for number in numbers]  # from the units on
    width, (first, second) = (
        max(map(len, numbers)),
        (np.array([[*map(int, number)]]) for number in backwards),
    )
    labels = [digit for pair in zip(*backwards, strict=True) for digit in pair][: 2 * width]
    return _Read(request, sums(first, second, np.array([width])), (*labels, "="))


def _pass(read: Sequence[_Read], model: PonderingNetwork, trace: Trace = OFF) -> Thought:
    """Run the network on a batch of requests."""
    device = model.readout.weight.device
    requests = [one.request for one in read]
    batch = move_batch(join_inputs([one.inputs for one in read]).batch(), device)
    step_signal = torch.tensor([float(one.step_signal) for one in requests], device=device)
    stop = None if model.halting is None else build_stop(requests, model.config.limit, device)
    return model(batch.inputs, batch.alive, stop, step_signal, trace)  # type: ignore[no-any-return]


def _word_answer(task: str, given: Sequence[int]) -> str:
    """Return the answer in words, given the answers at the inputs that call for one, in order."""
    if task == "parity":
        return ("even", "odd")[given[0]]
    return "".join(map(str, reversed(given))).lstrip("0") or "0"


def _read_answer(one: _Read, logits: Tensor) -> str:
    """Return the answer that the logits give at the inputs that call for one.

    logits: (input, output).
    """
    return _word_answer(one.request.task, logits.argmax(-1)[one.answer_positions].tolist())


@torch.no_grad()
def _watch_run(read: Sequence[_Read]) -> list[Explanation]:
    model = load(read[0].request.task).model
    trace = Trace(
        "input/*/step/*/halting",
        "input/*/step/*/weight",
        "input/*/step/*/state",
        budget=(64 << 20) * len(read),
    )
    thought, beside = _pass(read, model, trace), _without(read)
    return [
        _fold_explanation(row, one, model, thought, trace, beside[row])
        for row, one in enumerate(read)
    ]


def _without(read: Sequence[_Read]) -> list[str]:
    """Return the answers of the network without adaptive computation time; "" where none is
    shipped."""
    try:
        model = load(read[0].request.task + WITHOUT).model
    except CheckpointError:
        return ["" for _ in read]
    return [
        _read_answer(one, logits)
        for one, logits in zip(read, _pass(read, model).logits, strict=True)
    ]


def _fold_explanation(
    row: int, one: _Read, model: PonderingNetwork, thought: Thought, trace: Trace, without: str
) -> Explanation:
    length = len(one.labels)
    steps = thought.steps[row, :length]
    most = int(steps.max())
    halting, weights, distance = (np.zeros((most, length), np.float32) for _ in range(3))
    for t, n in enumerate(steps.tolist()):
        taps = (
            trace.stack(f"input/{t}/step/*/{name}")[:n, row]
            for name in ("halting", "weight", "state")
        )
        halting[:n, t], weights[:n, t], state = taps
        distance[:n, t] = np.linalg.norm(state - state[-1], axis=-1) / math.sqrt(
            model.config.d_model
        )
    logits = thought.logits[row]
    return Explanation(
        **describe_computation(
            one,
            model.config.limit,
            steps,
            thought.remainder[row, :length],
            logits,
            halting,
            weights,
        ),
        inputs=one.labels,
        answer=_read_answer(one, logits),
        expected=_word_answer(
            one.request.task, one.inputs.targets[0][one.answer_positions].tolist()
        ),
        distance=freeze(distance),
        stopped=list_earlier_answers(
            one, most, lambda rows: _pass(rows, model), lambda found: _read_answer(one, found)
        ),
        without=without,
    )


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Explain each request, in order.

    An InputError takes the place of a request that cannot be read.
    """
    return answer_together(read_each(requests, _read), lambda one: one.request.task, _watch_run)


@lru_cache(maxsize=2)
def _sample(task: str) -> Inputs:
    """Return held-out inputs, the same for every measurement."""
    return draw_inputs(task, np.random.default_rng(2), SAMPLE, "test")


@answer_one_by_one
def measure(request: Request) -> MeasuredSample:
    """Measure the network of a request on held-out inputs; the request's own input plays no part.

    Inputs that have stopped are not computed further.
    """
    check_request(request)
    model = load(request.task).model
    return measure_request(
        request,
        _sample(request.task),
        model,
        lambda batch, stop, step_signal: model(
            batch.inputs, batch.alive, stop, step_signal, gather=True
        ),
        lambda right, wanted: right[wanted],
    )
