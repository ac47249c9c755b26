"""A recurrent network that updates itself as often as an input asks for (Graves, 2016).

For each input x_t:  s_t^1 = S(s_{t−1}, (x_t, 1)),  s_t^n = S(s_t^{n−1}, (x_t, 0))  (eqs. 3 and 4): a last input unit says which update is
the first. The halting unit decides how many there are; state and answer are means over them, s_t = Σ p_n s_t^n and y_t = W s_t + b (eq. 9).
S is a gated recurrent unit (Cho et al., 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.layers.act import Halting, Pondered, Stop, ponder, ponder_gathered
from models.trace import OFF, Trace


@dataclass(frozen=True)
class Config:
    """What the network is."""

    inputs: int  # units of one input, the one that marks a first update not counted
    outputs: int  # kinds of answer
    d_model: int = 32  # units of the state
    limit: int = 20  # updates at most for one input, M
    epsilon: float = 0.01  # ε: an input is done once 1 − ε is used up
    steps: int = 0  # a number of updates that every input takes; 0 where the network decides


@dataclass(frozen=True)
class Thought:
    """What a pass gives. logits: (batch, input, output); steps, remainder: (batch, input) N and R, N without a gradient; 0 at padding."""

    logits: Tensor
    steps: Tensor
    remainder: Tensor

    @property
    def cost(self) -> Tensor:
        """(batch, input) N + R, the ponder cost (eq. 12)."""
        return self.steps + self.remainder


def never(state: Tensor, _bias: float | Tensor) -> Tensor:
    """The halting probability of a network that does not decide: it goes on up to its limit, whose state is then all of its output."""
    return torch.zeros_like(state[..., 0])


class PonderingNetwork(nn.Module):
    """p(answer to input t) = softmax(W Σ_n p_n s_t^n + b)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.cell = nn.GRUCell(config.inputs + 1, config.d_model)
        nn.init.orthogonal_(self.cell.weight_hh)
        self.halting = None if config.steps else Halting(config.d_model)
        self.readout = nn.Linear(config.d_model, config.outputs)

    def stop(self) -> Stop:
        """When an input is done, as trained."""
        return Stop(self.config.epsilon, self.config.steps or self.config.limit)

    def forward(
        self, inputs: Tensor, alive: Tensor, stop: Stop | None = None, told: Tensor | None = None, trace: Trace = OFF, gather: bool = False
    ) -> Thought:
        """inputs: (batch, input, unit); alive: (batch, input), False at padding. stop: as trained where None; tensors in it are (batch,).

        told: (batch,), 0 where the first update of an input is not marked, else 1. gather: compute only what has not stopped; then without
        gradients and taps. Taps, within `input/<t>`, those of `ponder`.
        """
        batch, length, _ = inputs.shape
        halting, stop = self.halting or never, stop or self.stop()
        state = inputs.new_zeros(batch, self.config.d_model)
        mark = inputs.new_ones(batch, 1) if told is None else told.to(inputs.dtype)[:, None]
        seen: list[Pondered] = []
        for t in range(length):
            marked = torch.cat((inputs[:, t], mark), 1), torch.cat((inputs[:, t], torch.zeros_like(mark)), 1)

            def advance(state: Tensor, rows: Tensor, n: int, marked: tuple[Tensor, Tensor] = marked) -> Tensor:
                units = marked[min(n - 1, 1)]
                return self.cell(units[rows] if gather else units, state)  # type: ignore[no-any-return]

            here, within = alive[:, t], () if gather else (trace.within("input", t),)
            seen.append((ponder_gathered if gather else ponder)(advance, state, halting, stop, here, *within))  # type: ignore[arg-type]
            state = torch.where(here[:, None], seen[-1].output, state)
        outputs = torch.stack([one.output for one in seen], 1)
        remainder = torch.stack([one.remainder for one in seen], 1) * (self.halting is not None)
        return Thought(self.readout(outputs), torch.stack([one.steps for one in seen], 1), remainder)
