"""Adaptive computation time: worked out by hand, its gradients, who ponders, and the way that computes only what goes on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from models.layers.act import Halting, Pondered, Stop, ponder, ponder_gathered
from models.trace import Trace

QUARTER = 0.25  # an ε that binary numbers hold exactly


def logit(p: float) -> float:
    return math.log(p / (1 - p))


class Told(Halting):
    """A halting unit that reads its own input off the state's first number: h = σ(s_0)."""

    def __init__(self) -> None:
        super().__init__(2)
        with torch.no_grad():
            self.project.weight.copy_(torch.tensor([[1.0, 0.0]]))
            self.project.bias.zero_()


def played(script: Sequence[Sequence[float]], stop: Stop, alive: Tensor | None = None, trace: Trace | None = None) -> Pondered:
    """Positions whose halting probabilities are given, step by step; the second number of a state is the step's."""

    def advance(state: Tensor, running: Tensor, step: int) -> Tensor:
        return torch.tensor([[logit(steps[step - 1]), float(step)] for steps in script], dtype=torch.float64)

    first = torch.zeros(len(script), 2, dtype=torch.float64)
    return ponder(advance, first, Told().double(), stop, alive, *([] if trace is None else [trace]))


def test_a_position_that_is_sure_stops_at_once() -> None:
    done = played([[0.75, 0.5]], Stop(QUARTER, 8))
    assert done.steps.tolist() == [1]
    assert done.remainder.tolist() == [1.0]  # the last step uses the remainder, not h
    assert done.output[0, 1] == 1.0
    assert done.cost.tolist() == [2.0]


def test_the_sum_worked_out_by_hand() -> None:
    done = played([[0.25, 0.25, 0.5]], Stop(QUARTER, 8))
    # 0.25 + 0.25 = 0.5 < 0.75, then 1 ≥ 0.75: N = 3, R = 1 − 0.5, output 0.25 · 1 + 0.25 · 2 + 0.5 · 3
    assert done.steps.tolist() == [3]
    torch.testing.assert_close(done.remainder, torch.tensor([0.5], dtype=torch.float64))
    torch.testing.assert_close(done.output[0, 1], torch.tensor(2.25, dtype=torch.float64))
    assert done.last[0, 1] == 3.0


def test_a_sum_of_exactly_one_minus_epsilon_is_enough() -> None:
    done = played([[0.5, 0.25, 0.5], [0.5, 0.25 - 1e-9, 0.5]], Stop(QUARTER - 1e-12, 8))
    assert done.steps.tolist() == [3, 3]
    done = played([[0.5, 0.25, 0.5], [0.5, 0.25 - 1e-6, 0.5]], Stop(QUARTER + 1e-12, 8))
    assert done.steps.tolist() == [2, 3]


def test_nobody_goes_beyond_the_limit() -> None:
    done = played([[0.125] * 4, [0.75, 0.5, 0.5, 0.5]], Stop(QUARTER, 4))
    assert done.steps.tolist() == [4, 1]
    torch.testing.assert_close(done.remainder, torch.tensor([1 - 3 * 0.125, 1.0], dtype=torch.float64))


def test_a_limit_and_an_epsilon_may_differ_inside_a_batch() -> None:
    script = [[0.5, 0.375, 0.5, 0.5]] * 3
    done = played(script, Stop(torch.tensor([0.25, 0.05, 0.05]), torch.tensor([4, 4, 2])))
    assert done.steps.tolist() == [2, 3, 2]


def test_a_bias_makes_positions_stop_earlier() -> None:
    script = [[0.25] * 8]
    assert played(script, Stop(QUARTER, 8)).steps.tolist() == [3]
    assert played(script, Stop(QUARTER, 8, bias=3.0)).steps.tolist() == [1]
    assert played(script, Stop(QUARTER, 8, bias=-3.0)).steps.tolist() == [8]


def test_forced_steps_read_the_last_state_alone() -> None:
    done = played([[0.75] * 4, [0.25] * 4], Stop(QUARTER, 8, forced=torch.tensor([3, 0])))
    assert done.steps.tolist() == [3, 3]
    assert done.output[0, 1] == 3.0
    assert done.output[1, 1] != 3.0


def test_the_weights_of_the_steps_add_up_to_one() -> None:
    torch.manual_seed(2)
    trace = Trace("step/*/weight", "step/*/halting")
    cell, halting = torch.nn.Linear(5, 5), Halting(5)
    done = ponder(lambda s, running, n: torch.tanh(3 * cell(s)), torch.randn(3, 7, 5), halting, Stop(0.01, 6), trace=trace)
    weight = torch.from_numpy(trace.stack("step/*/weight"))
    torch.testing.assert_close(weight.sum(0), torch.ones(3, 7))
    torch.testing.assert_close((weight > 0).sum(0), done.steps)
    assert ((done.steps >= 1) & (done.steps <= 6)).all()


def test_n_has_no_gradient_and_r_has() -> None:
    script = torch.tensor([logit(0.25), logit(0.25), logit(0.5)], dtype=torch.float64, requires_grad=True)

    def advance(state: Tensor, running: Tensor, step: int) -> Tensor:
        return torch.stack((script[step - 1], torch.ones((), dtype=torch.float64)))[None]

    done = ponder(advance, torch.zeros(1, 2, dtype=torch.float64), Told().double(), Stop(QUARTER, 8))
    assert not done.steps.is_floating_point() and not done.steps.requires_grad
    (slope,) = torch.autograd.grad(done.cost.sum(), script)
    # R = 1 − σ(a) − σ(b): its slope is −σ'(a) and −σ'(b); what the last halting unit says no longer matters
    torch.testing.assert_close(slope, torch.tensor([-0.25 * 0.75, -0.25 * 0.75, 0.0], dtype=torch.float64))


def test_the_gradient_of_the_output_is_that_of_the_written_out_sum() -> None:
    torch.manual_seed(3)
    values = torch.tensor([0.3, -0.8, 0.4], dtype=torch.float64, requires_grad=True)

    def advance(state: Tensor, running: Tensor, step: int) -> Tensor:
        return torch.stack((values[step - 1], values[step - 1] ** 2))[None]

    done = ponder(advance, torch.zeros(1, 2, dtype=torch.float64), Told().double(), Stop(QUARTER, 2))
    h = torch.sigmoid(values)
    by_hand = h[0] * values[0] ** 2 + (1 - h[0]) * values[1] ** 2
    assert done.steps.tolist() == [2]
    for ours, theirs in zip(*(torch.autograd.grad(x, values) for x in (done.output[0, 1], by_hand)), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_padding_ponders_nothing() -> None:
    done = played([[0.25] * 8, [0.25] * 8], Stop(QUARTER, 8), torch.tensor([True, False]))
    assert done.steps.tolist() == [3, 0]
    assert done.cost[1] == 0
    assert done.output[1].abs().sum() == 0


def test_a_stopped_position_stays_where_it_stopped() -> None:
    trace = Trace("step/*/state", "step/*/weight")
    done = played([[0.75] * 4, [0.25] * 4], Stop(QUARTER, 8), trace=trace)
    states = trace.stack("step/*/state")[..., 1]  # (step, position)
    assert states[:, 0].tolist() == [1.0, 1.0, 1.0]
    assert states[:, 1].tolist() == [1.0, 2.0, 3.0]
    assert done.last[:, 1].tolist() == [1.0, 3.0]


def test_the_output_so_far_is_that_of_a_lower_limit() -> None:
    script = [[0.125, 0.25, 0.125, 0.75], [0.75] * 4]
    trace = Trace("step/*/sofar")
    played(script, Stop(QUARTER, 4), trace=trace)
    sofar = trace.stack("step/*/sofar")
    for limit in (1, 2, 3):
        torch.testing.assert_close(torch.from_numpy(sofar[limit - 1]), played(script, Stop(QUARTER, limit)).output.float())


@pytest.mark.parametrize("forced", [None, torch.tensor([[0], [5], [2]])])
def test_gathered_equals_masked(forced: Tensor | None) -> None:
    torch.manual_seed(4)
    cell, halting = torch.nn.Linear(6, 6), Halting(6)
    first = torch.randn(3, 9, 6)
    alive = torch.rand(3, 9) > 0.2
    stop = Stop(torch.tensor([[0.01], [0.3], [0.1]]), torch.tensor([[8], [3], [6]]), torch.tensor([[0.0], [-1.0], [-2.0]]), forced)

    def thought(state: Tensor) -> Tensor:
        return torch.tanh(3 * cell(state))

    with torch.no_grad():
        masked = ponder(lambda s, running, n: thought(s), first, halting, stop, alive)
    asked: list[int] = []

    def advance(state: Tensor, rows: Tensor, step: int) -> Tensor:
        asked.append(len(rows))
        return thought(state)

    gathered = ponder_gathered(advance, first, halting, stop, alive)
    for name in ("output", "steps", "remainder"):
        torch.testing.assert_close(getattr(gathered, name), getattr(masked, name), atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(gathered.last[alive], masked.last[alive], atol=1e-6, rtol=1e-6)
    assert sum(asked) == int(masked.steps.sum())  # nothing that had stopped was computed
