"""Adaptive computation time: every position computes step by step until its own halting unit stops
it (Graves, 2016).

h_n = σ(W_h s_n + b_h) (eq. 5);
N = min {n : h_1 + … + h_n ≥ 1 − ε}, at most M (eq. 7);
R = 1 − (h_1 + … + h_{N−1}) (eq. 8);
p_n = h_n for n < N and p_N = R (eq. 6);
output = Σ p_n s_n (eq. 9);
ponder cost N + R (eqs. 11 and 12), where N has no gradient and R has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace

OPEN = 1.0  # b_h at the start of training: positions stop early at first, and learn to go on


def take_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Return the rows of x that `rows` names, ascending and each once; x itself where these are all
    of them."""
    return x if len(rows) == len(x) else x.index_select(0, rows)


@dataclass(frozen=True)
class Stop:
    """The rule by which positions stop. Tensors broadcast to the positions, so that one batch may
    hold requests that differ in them.

    epsilon: ε. limit: M, steps.
    bias: added to the input of the halting unit, beside b_h.
    forced: steps after which a position stops regardless of its halting unit; its output is then
        that last state alone. 0 where it stops by itself.
    """

    epsilon: float | Tensor = 0.01
    limit: int | Tensor = 8
    bias: float | Tensor = 0.0
    forced: Tensor | None = None

    def select_rows(self, rows: Tensor, shape: torch.Size) -> Stop:
        """Return the rule for some positions of a batch: rows (n,) index the positions of `shape`,
        counted flat."""

        def take_rows_of(value: float | Tensor) -> float | Tensor:
            return (
                take_rows(value.expand(shape).reshape(-1), rows)
                if isinstance(value, Tensor) and value.dim()
                else value
            )

        forced = (
            None if self.forced is None else take_rows(self.forced.expand(shape).reshape(-1), rows)
        )
        epsilon, limit, bias = map(take_rows_of, (self.epsilon, self.limit, self.bias))
        return Stop(epsilon, limit, bias, forced)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Pondered:
    """The outcome of pondering; `…` are the axes of the positions.

    output: Σ p_n s_n, (…, d), 0 where nothing was alive.
    last: s_N, (…, d).
    steps: N, (…), whole numbers without a gradient.
    remainder: R, (…).
    """

    output: Tensor
    last: Tensor
    steps: Tensor
    remainder: Tensor

    @property
    def ponder_cost(self) -> Tensor:
        """The ponder cost N + R, (…) (Graves, 2016, eq. 12); 0 where nothing was alive. Its
        gradient is that of R."""
        return self.steps + self.remainder


class Halting(nn.Module):
    """The halting unit h = σ(W_h s + b_h) (Graves, 2016, eq. 5), with b_h = 1 at the start."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.project = nn.Linear(d_model, 1)
        nn.init.constant_(self.project.bias, OPEN)

    def forward(self, state: Tensor, bias: float | Tensor = 0.0) -> Tensor:
        """Return the halting probabilities, (…), of `state`, (…, d_model). bias: added inside σ; it
        broadcasts to the result."""
        return torch.sigmoid(self.project(state)[..., 0] + bias)


def decide_halting(halting: Tensor, total: Tensor, step: int, stop: Stop) -> tuple[Tensor, Tensor]:
    """Return one step's weight p and whether a position stops at it, both (…), from h_n and total =
    h_1 + … + h_{n−1}. step: n, from 1."""
    stops = (total + halting >= 1 - stop.epsilon) | (
        torch.as_tensor(stop.limit, device=halting.device) <= step
    )
    weight = torch.where(stops, 1 - total, halting)
    if stop.forced is not None:
        over = stop.forced <= step
        stops = torch.where(stop.forced > 0, over, stops)
        weight = torch.where(stop.forced > 0, over.to(weight.dtype), weight)
    return weight, stops


def ponder(
    advance: Callable[[Tensor, Tensor, int], Tensor],
    first: Tensor,
    halting: Halting,
    stop: Stop,
    alive: Tensor | None = None,
    trace: Trace = OFF,
) -> Pondered:
    """Compute step by step at every position until all have stopped. Everything is computed at
    every step, and stopped positions are masked.

    advance(state, running, n): the states after step n, (…, d); running: which positions have not
        stopped, (…) bool; n counts from 1.
    first: states before the first step, (…, d).
    alive: False at padding, which ponders nothing, (…) bool.

    Taps, within `step/<n>`: `halting` h_n, `weight` p_n (0 where a position had stopped), both (…);
    `state` (…, d), stopped ones as they stopped; `sofar` (…, d), the output if everything stopped
    now.
    """
    state, output = first, torch.zeros_like(first)
    running = (
        torch.ones(first.shape[:-1], dtype=torch.bool, device=first.device)
        if alive is None
        else alive
    )
    total, remainder = torch.zeros_like(first[..., 0]), torch.zeros_like(first[..., 0])
    steps = torch.zeros(first.shape[:-1], dtype=torch.long, device=first.device)
    axes = " ".join(("batch", "position")[: first.dim() - 1])
    step = 0
    while bool(running.any()):
        step += 1
        state = torch.where(running[..., None], advance(state, running, step), state)
        h = halting(state, stop.bias)
        weight, stops = decide_halting(h, total, step, stop)
        weight = weight * running
        if trace is not OFF:
            here = trace.within("step", step)
            here.tap("halting", axes, h * running)
            here.tap("weight", axes, weight)
            here.tap("state", f"{axes} d_model", state)
            left = _find_remainder(total, stop) * running
            here.tap("sofar", f"{axes} d_model", output + left[..., None] * state)
        output = output + weight[..., None] * state
        remainder = torch.where(running & stops, weight, remainder)
        steps = steps + running
        total = total + h * (running & ~stops)
        running = running & ~stops
    return Pondered(output, state, steps, remainder)


def _find_remainder(total: Tensor, stop: Stop) -> Tensor:
    """Return the weight that a position gives its present state if it stops now: 1 − (h_1 + … +
    h_{n−1}), or 1 where the number of steps is forced."""
    left = 1 - total
    return (
        left if stop.forced is None else torch.where(stop.forced > 0, torch.ones_like(left), left)
    )


@torch.no_grad()
def ponder_gathered(
    advance: Callable[[Tensor, Tensor, int], Tensor],
    first: Tensor,
    halting: Halting,
    stop: Stop,
    alive: Tensor | None = None,
) -> Pondered:
    """Return the result of `ponder`, without gradients and without computing stopped positions: the
    running ones are gathered before every step.

    advance(state, rows, n): states after step n of the running positions, (n_running, d); rows:
        their places among all positions, counted flat and ascending, (n_running,).
    """
    shape = first.shape[:-1]
    flat = first.reshape(-1, first.shape[-1])
    output, last = torch.zeros_like(flat), flat.clone()
    remainder = torch.zeros_like(flat[:, 0])
    steps = torch.zeros(len(flat), dtype=torch.long, device=flat.device)
    rows = (
        torch.arange(len(flat), device=flat.device)
        if alive is None
        else alive.reshape(-1).nonzero()[:, 0]
    )
    state, chosen = take_rows(flat, rows), stop.select_rows(rows, shape)
    total, part = torch.zeros_like(state[:, 0]), torch.zeros_like(state)
    step = 0
    while len(rows):
        step += 1
        state = advance(state, rows, step)
        h = halting(state, chosen.bias)
        weight, stops = decide_halting(h, total, step, chosen)
        part = torch.addcmul(part, weight[:, None], state)
        ended = stops.nonzero()[:, 0]
        if len(ended):
            done = take_rows(rows, ended)
            for whole, here in ((output, part), (last, state), (remainder, weight)):
                whole.index_copy_(0, done, take_rows(here, ended))
            steps.index_fill_(0, done, step)
            going = (~stops).nonzero()[:, 0]
            rows, state, part, total, h = (
                take_rows(x, going) for x in (rows, state, part, total, h)
            )
            chosen = stop.select_rows(rows, shape)
        total = total + h
    return Pondered(
        output.view(first.shape), last.view(first.shape), steps.view(shape), remainder.view(shape)
    )
