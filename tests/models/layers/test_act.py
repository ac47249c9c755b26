"""Adaptive computation time is its equations, one position at a time: in the way that masks, and in
the one that computes what goes on."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from models.explaining.trace import Trace
from models.layers.act import Halting, Stop, ponder, ponder_gathered

RULES = {
    "as it is": Stop(0.01, 6),
    "each row its own": Stop(
        torch.tensor([[0.01], [0.3], [0.1]]),
        torch.tensor([[8], [3], [6]]),
        torch.tensor([[0.0], [-1.0], [-2.0]]),
    ),
    "sooner": Stop(0.2, 8, bias=3.0),
    "never by itself": Stop(0.01, 5, bias=-30.0),
    "forced": Stop(0.01, 6, forced=torch.tensor([[0], [5], [2]])),
}


def one_by_one(
    states: Tensor, h: Tensor, epsilon: float, limit: int, forced: int
) -> tuple[int, Tensor, Tensor, Tensor]:
    """N, R, the weights p_n and the outputs if everything stopped after each step, of one position;
    states (step, d), h (step,)."""
    n, total, weights, sofar = 0, torch.zeros((), dtype=h.dtype), [], []
    while not weights or (n < (forced or limit) and (forced or total < 1 - epsilon)):
        left = torch.ones_like(total) if forced else 1 - total
        sofar.append(
            sum(
                ((0 if forced else p) * s for p, s in zip(weights, states, strict=False)),
                torch.zeros_like(states[0]),
            )
            + left * states[n]
        )
        weights, total, n = [*weights, h[n]], total + h[n], n + 1
    weights = [torch.zeros_like(left)] * (n - 1) + [left] if forced else [*weights[:-1], left]
    return n, left, torch.stack(weights), torch.stack(sofar)


@pytest.mark.parametrize("name", RULES)
def test_pondering_is_its_equations_whichever_way_it_is_computed(name: str) -> None:
    torch.manual_seed(4)
    stop, cell, halting = RULES[name], torch.nn.Linear(6, 6).double(), Halting(6).double()
    assert halting.project.bias.item() == 1, "positions stop early at first"
    with torch.no_grad():  # and here differ in how long they take
        halting.project.weight.mul_(6)
        halting.project.bias.fill_(-1)
    first, alive = (
        torch.randn(3, 9, 6, dtype=torch.float64, requires_grad=True),
        torch.rand(3, 9) > 0.2,
    )
    trace = Trace("step/*/halting", "step/*/weight", "step/*/state", "step/*/sofar")

    def thought(state: Tensor) -> Tensor:
        return torch.tanh(3 * cell(state))

    found = ponder(lambda s, running, n: thought(s), first, halting, stop, alive, trace)
    rows: list[Tensor] = []
    gathered = ponder_gathered(
        lambda s, here, n: (rows.append(here), thought(s))[1], first, halting, stop, alive
    )
    taps = {
        tap: torch.from_numpy(trace.stack(f"step/*/{tap}")).double()
        for tap in ("halting", "weight", "state", "sofar")
    }
    outputs, costs = [], []
    for row in range(3):
        epsilon, limit, bias, forced = (
            float(value.expand(3, 1)[row]) if isinstance(value, Tensor) else value or 0
            for value in (stop.epsilon, stop.limit, stop.bias, stop.forced)
        )
        for at in range(9):
            if not alive[row, at]:
                assert (
                    found.steps[row, at] == found.ponder_cost[row, at] == 0
                    and not found.output[row, at].any()
                )
                continue
            states = [thought(first[row, at])]
            for _ in range(8):
                states.append(thought(states[-1]))
            seen = torch.stack(states)
            h = torch.sigmoid(halting.project(seen)[:, 0] + bias)
            n, left, weights, sofar = one_by_one(seen, h, epsilon, int(limit), int(forced))
            assert found.steps[row, at] == n
            outputs.append((weights[:, None] * seen[:n]).sum(0) - found.output[row, at])
            costs.append((n + left) - found.ponder_cost[row, at])
            torch.testing.assert_close(found.last[row, at], seen[n - 1])
            for tap, expected in (
                ("halting", h[:n]),
                ("weight", weights),
                ("state", seen[:n]),
                ("sofar", sofar),
            ):
                torch.testing.assert_close(
                    taps[tap][:n, row, at], expected.detach(), atol=1e-6, rtol=1e-5
                )
            assert (
                not taps["weight"][n:, row, at].any()
                and (taps["state"][n:, row, at] == taps["state"][n - 1, row, at]).all()
            )
    assert not found.steps.is_floating_point() and found.steps.unique().numel() > (
        1 if name == "never by itself" else 2
    )
    outside = torch.randn(27, 7, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    for difference in (torch.stack(outputs), torch.stack(costs)[:, None]):
        torch.testing.assert_close(difference, torch.zeros_like(difference))
        weighed, inputs = (
            (difference * outside[: len(difference), : difference.shape[1]]).sum(),
            [first, *cell.parameters()],
        )
        for slope in torch.autograd.grad(
            weighed, [*inputs, *halting.parameters()], retain_graph=True, allow_unused=True
        ):
            assert slope is None or slope.abs().max() < 1e-9
    for part in ("output", "steps", "remainder"):
        torch.testing.assert_close(getattr(gathered, part), getattr(found, part))
    torch.testing.assert_close(gathered.last[alive], found.last[alive])
    assert sum(map(len, rows)) == int(found.steps.sum()), "nothing that had stopped was computed"


def test_a_sum_of_exactly_one_minus_epsilon_is_enough() -> None:
    def steps(script: list[float], epsilon: float) -> int:
        halting = Halting(1).double()
        torch.nn.init.ones_(halting.project.weight)
        torch.nn.init.zeros_(halting.project.bias)
        logits = [torch.tensor([[math.log(p / (1 - p))]], dtype=torch.float64) for p in script]
        return int(
            ponder(lambda s, running, n: logits[n - 1], logits[0], halting, Stop(epsilon, 8)).steps
        )

    assert steps([0.5, 0.25, 0.5], 0.25) == 2  # binary numbers hold these exactly
    assert steps([0.5, 0.25, 0.5], 0.25 - 1e-12) == 3
    assert steps([0.5, 0.25 - 1e-6, 0.5], 0.25 + 1e-12) == 3
