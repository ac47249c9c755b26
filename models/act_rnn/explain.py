"""What a page asks of the pondering networks, and what it gets: arrays and strings, nothing of torch."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from models.act_rnn.data import BITS, DIGITS, NONE, Batch, Inputs, drawn, sums, vectors
from models.act_rnn.model import PonderingNetwork, Thought
from models.act_rnn.pretrained import load
from models.act_rnn.records import (
    Explanation,
    Measured,
    Request,
    read_bits,
    read_sum,
)
from models.arrays import frozen
from models.checkpoint import CheckpointError
from models.errors import InputError
from models.fields import check
from models.pondering import joined, shortened, stop_of
from models.trace import OFF, Trace
from models.turns import each, together

WITHOUT = "_without"
SAMPLE = 200  # held-out inputs that a network is measured on


@dataclass(frozen=True)
class _Read:
    """A request that can be answered. inputs: of one row."""

    request: Request
    inputs: Inputs
    labels: tuple[str, ...]


def _read(request: Request) -> _Read:
    """InputError where an option lies outside what there is, or the text is neither bits nor a sum."""
    check(request)
    if request.task == "parity":
        entries = read_bits(request.text)
        label = "".join({1: "1", -1: "0", 0: "."}[entry] for entry in entries)
        row = np.zeros((1, BITS), np.int64)
        row[0, : len(entries)] = entries
        return _Read(request, vectors(row), (label,))
    first, second = read_sum(request.text)
    width = max(len(first), len(second))
    digits = np.zeros((2, 1, DIGITS), np.int64)
    for row, number in zip(digits, (first, second), strict=True):
        row[0, : len(number)] = [int(digit) for digit in reversed(number)]
    inputs = sums(digits[0], digits[1], np.array([width]))
    pairs = zip(reversed(first.rjust(width, "0")), reversed(second.rjust(width, "0")), strict=True)
    return _Read(request, inputs, (*(digit for pair in pairs for digit in pair), "="))


def _pass(read: Sequence[_Read], model: PonderingNetwork, trace: Trace = OFF) -> tuple[Thought, Batch]:
    """The network on some requests as they are."""
    device = model.readout.weight.device
    requests = [one.request for one in read]
    batch = joined([one.inputs for one in read]).batch().to(device)
    told = torch.tensor([float(one.told) for one in requests], device=device)
    stop = None if model.halting is None else stop_of(requests, model.config.limit, device)
    thought: Thought = model(batch.inputs, batch.alive, stop, told, trace)
    return thought, batch


def _said(task: str, logits: Tensor, wanted: Sequence[int]) -> str:
    """The answer, (input, output) logits read at the wanted inputs."""
    chosen = logits.argmax(-1).tolist()
    if task == "parity":
        return ("even", "odd")[chosen[wanted[0]]]
    digits = "".join(str(chosen[i]) for i in reversed(wanted))
    return digits.lstrip("0") or "0"


def _right(one: _Read) -> str:
    """The right answer."""
    targets = one.inputs.targets[0]
    wanted = [i for i, target in enumerate(targets) if target != NONE]
    if one.request.task == "parity":
        return ("even", "odd")[int(targets[0])]
    return "".join(str(targets[i]) for i in reversed(wanted)).lstrip("0") or "0"


@torch.no_grad()
def _watched(task: str, read: Sequence[_Read]) -> list[Explanation]:
    model = load(task).model
    trace = Trace("input/*/step/*/halting", "input/*/step/*/weight", "input/*/step/*/state", budget=(64 << 20) * len(read))
    thought, _ = _pass(read, model, trace)
    beside = _without(task, read)
    return [_folded(task, row, one, model, thought, trace, beside[row]) for row, one in enumerate(read)]


def _without(task: str, read: Sequence[_Read]) -> list[str]:
    """What the network without adaptive computation time answers; "" where it is not shipped."""
    try:
        model = load(task + WITHOUT).model
    except CheckpointError:
        return ["" for _ in read]
    thought, _ = _pass(read, model)
    return [_said(task, thought.logits[row], _wanted(one)) for row, one in enumerate(read)]


def _wanted(one: _Read) -> tuple[int, ...]:
    return tuple(i for i, target in enumerate(one.inputs.targets[0]) if target != NONE)


def _folded(task: str, row: int, one: _Read, model: PonderingNetwork, thought: Thought, trace: Trace, without: str) -> Explanation:
    length = len(one.labels)
    updates = thought.steps[row, :length].cpu().numpy()
    most = int(updates.max())
    halting, weights, totals, distance = (np.zeros((length, most), np.float32) for _ in range(4))
    states = np.zeros((length, most, model.config.d_model), np.float32)
    for t in range(length):
        n = int(updates[t])
        name = f"input/{t}/step/*"
        halting[t, :n] = trace.stack(f"{name}/halting")[:n, row]
        weights[t, :n] = trace.stack(f"{name}/weight")[:n, row]
        states[t, :n] = trace.stack(f"{name}/state")[:n, row]
        states[t, n:] = states[t, n - 1]
        totals[t] = np.minimum(halting[t].cumsum(), 1)
        totals[t, n - 1 :] = 1
        distance[t] = np.linalg.norm(states[t] - states[t, n - 1], axis=-1) / math.sqrt(model.config.d_model)
    wanted = _wanted(one)
    logits = thought.logits[row]
    cost = thought.cost[row, :length]
    whole = np.array(updates, np.int64)
    whole.setflags(write=False)
    return Explanation(
        inputs=one.labels,
        wanted=wanted,
        answer=_said(task, logits, wanted),
        expected=_right(one),
        probability=frozen(logits.softmax(-1).amax(-1)[list(wanted)].cpu().numpy()),
        updates=whole,
        remainder=frozen(thought.remainder[row, :length].cpu().numpy()),
        halting=frozen(halting),
        weights=frozen(weights),
        totals=frozen(totals),
        distance=frozen(distance),
        states=frozen(states),
        stopped=_earlier(task, one, model, most),
        threshold=1 - float(one.request.epsilon),
        limit=one.request.limit or model.config.limit,
        ponder=float(cost.mean()),
        difficulty=int(one.inputs.difficulty[0]),
        without=without,
    )


def _earlier(task: str, one: _Read, model: PonderingNetwork, most: int) -> tuple[str, ...]:
    """For each n up to `most`, the answer if every input were done after n updates at the latest: all of them in one pass."""
    rows = [dataclasses.replace(one, request=request) for request in shortened(one.request, most)]
    thought, _ = _pass(rows, model)
    return tuple(_said(task, logits, _wanted(one)) for logits in thought.logits)


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Answer and watch: one result per request, in order; an InputError stands where a request could not be read."""
    return together(each(requests, _read), lambda one: one.request.task, lambda read: _watched(read[0].request.task, read))


@lru_cache(maxsize=2)
def _sample(task: str) -> Inputs:
    """Held-out inputs, the same ones for every measure."""
    return drawn(task, np.random.default_rng(2), SAMPLE, "test")


def measure(requests: Sequence[Request]) -> list[Measured | InputError]:
    """What the network of each request does on held-out inputs, its own input apart; what has stopped is not computed."""
    return each(requests, _measured)


@torch.no_grad()
def _measured(request: Request) -> Measured:
    check(request)
    model = load(request.task).model
    device = model.readout.weight.device
    inputs = _sample(request.task)
    batch = inputs.batch().to(device)
    told = torch.full((len(inputs),), float(request.told), device=device)
    stop = stop_of([request] * len(inputs), model.config.limit, device)
    begin = time.perf_counter()
    thought: Thought = model(batch.inputs, batch.alive, stop, told, gather=True)
    milliseconds = (time.perf_counter() - begin) * 1000
    wanted = batch.targets != NONE
    right = (thought.logits.argmax(-1) == batch.targets)[wanted]
    ponder = thought.cost.sum() / batch.alive.sum()
    return Measured(float(right.double().mean()), float(ponder), milliseconds, SAMPLE)
