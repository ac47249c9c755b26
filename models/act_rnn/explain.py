"""What a page asks of the pondering networks, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from models.act_rnn.data import BITS, DIGITS, Inputs, drawn, sums, vectors
from models.act_rnn.model import PonderingNetwork, Thought
from models.act_rnn.pretrained import load
from models.act_rnn.records import WITHOUT, Explanation, Request, read_bits, read_sum
from models.arrays import frozen
from models.checkpoint import CheckpointError
from models.errors import InputError
from models.fields import check
from models.pondering import Asked, earlier, joined, measured, stop_of, thinking
from models.thinking import Measured
from models.trace import OFF, Trace
from models.turns import alone, each, together
from models.windows import moved

SAMPLE = 200  # held-out inputs that a network is measured on


@dataclass(frozen=True)
class _Read(Asked):
    """labels: what each input says."""

    labels: tuple[str, ...]


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is, or the text is neither bits nor a sum."""
    check(request)
    if request.task == "parity":
        entries = read_bits(request.text)
        label = "".join({1: "1", -1: "0", 0: "."}[entry] for entry in entries)
        return _Read(request, vectors(np.pad(entries, (0, BITS - len(entries)))[None]), (label,))
    numbers = read_sum(request.text)
    backwards = [number[::-1].ljust(DIGITS, "0") for number in numbers]  # from the units on
    width, (first, second) = max(map(len, numbers)), (np.array([[*map(int, number)]]) for number in backwards)
    labels = [digit for pair in zip(*backwards, strict=True) for digit in pair][: 2 * width]
    return _Read(request, sums(first, second, np.array([width])), (*labels, "="))


def _pass(read: Sequence[_Read], model: PonderingNetwork, trace: Trace = OFF) -> Thought:
    """The network on some requests as they are."""
    device = model.readout.weight.device
    requests = [one.request for one in read]
    batch = moved(joined([one.inputs for one in read]).batch(), device)
    told = torch.tensor([float(one.told) for one in requests], device=device)
    stop = None if model.halting is None else stop_of(requests, model.config.limit, device)
    return model(batch.inputs, batch.alive, stop, told, trace)  # type: ignore[no-any-return]


def _worded(task: str, given: Sequence[int]) -> str:
    """An answer, of what is given at the wanted inputs in their order."""
    if task == "parity":
        return ("even", "odd")[given[0]]
    return "".join(map(str, reversed(given))).lstrip("0") or "0"


def _said(one: _Read, logits: Tensor) -> str:
    """The answer, (input, output) logits read at the wanted inputs."""
    return _worded(one.request.task, logits.argmax(-1)[one.wanted].tolist())


@torch.no_grad()
def _watched(read: Sequence[_Read]) -> list[Explanation]:
    model = load(read[0].request.task).model
    trace = Trace("input/*/step/*/halting", "input/*/step/*/weight", "input/*/step/*/state", budget=(64 << 20) * len(read))
    thought, beside = _pass(read, model, trace), _without(read)
    return [_folded(row, one, model, thought, trace, beside[row]) for row, one in enumerate(read)]


def _without(read: Sequence[_Read]) -> list[str]:
    """What the network without adaptive computation time answers; "" where it is not shipped."""
    try:
        model = load(read[0].request.task + WITHOUT).model
    except CheckpointError:
        return ["" for _ in read]
    return [_said(one, logits) for one, logits in zip(read, _pass(read, model).logits, strict=True)]


def _folded(row: int, one: _Read, model: PonderingNetwork, thought: Thought, trace: Trace, without: str) -> Explanation:
    length = len(one.labels)
    steps = thought.steps[row, :length]
    most = int(steps.max())
    halting, weights, distance = (np.zeros((most, length), np.float32) for _ in range(3))
    for t, n in enumerate(steps.tolist()):
        taps = (trace.stack(f"input/{t}/step/*/{name}")[:n, row] for name in ("halting", "weight", "state"))
        halting[:n, t], weights[:n, t], state = taps
        distance[:n, t] = np.linalg.norm(state - state[-1], axis=-1) / math.sqrt(model.config.d_model)
    logits = thought.logits[row]
    return Explanation(
        **thinking(one, model.config.limit, steps, thought.remainder[row, :length], logits, halting, weights),
        inputs=one.labels,
        answer=_said(one, logits),
        expected=_worded(one.request.task, one.inputs.targets[0][one.wanted].tolist()),
        distance=frozen(distance),
        stopped=earlier(one, most, lambda rows: _pass(rows, model), lambda found: _said(one, found)),
        without=without,
    )


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Answer and watch: one result per request, in order; an InputError stands where a request could not be read."""
    return together(each(requests, _read), lambda one: one.request.task, _watched)


@lru_cache(maxsize=2)
def _sample(task: str) -> Inputs:
    """Held-out inputs, the same ones for every measure."""
    return drawn(task, np.random.default_rng(2), SAMPLE, "test")


@alone
def measure(request: Request) -> Measured:
    """What the network of a request does on held-out inputs, its own input apart; what has stopped is not computed."""
    check(request)
    model = load(request.task).model
    return measured(
        request,
        _sample(request.task),
        model,
        lambda batch, stop, told: model(batch.inputs, batch.alive, stop, told, gather=True),
        lambda right, wanted: right[wanted],
    )
