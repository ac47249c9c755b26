"""A recurrent network that updates its state several times for each input (Graves, 2016).

For each input x_t:  s_t^1 = S(s_{t−1}, (x_t, 1)),  s_t^n = S(s_t^{n−1}, (x_t, 0))  (eqs. 3 and 4):
the last input unit marks the first update. The halting unit decides how many updates follow; the
state and the answer are means over them, s_t = Σ p_n s_t^n and y_t = W s_t + b (eq. 9). S is a
gated recurrent unit (Cho et al., 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers.act import Halting, Pondered, Stop, ponder, ponder_gathered


@dataclass(frozen=True)
class Config:
    """The sizes and limits of a network."""

    inputs: int  # units of one input, without the unit that marks a first update
    outputs: int  # kinds of answer
    d_model: int = 32  # units of the state
    limit: int = 20  # the most updates for one input, M
    epsilon: float = 0.01  # ε: an input stops once its halting probabilities sum to 1 − ε
    steps: int = 0  # updates for every input; 0 if the network decides


@dataclass(frozen=True)
class Thought:
    """The result of a pass.

    logits: the scores of the answers, (batch, input, output). steps: the updates N, without a
    gradient, (batch, input). remainder: R, (batch, input). Both are 0 at padding.
    """

    logits: Tensor
    steps: Tensor
    remainder: Tensor

    @property
    def cost(self) -> Tensor:
        """The ponder cost N + R, (batch, input) (eq. 12)."""
        return self.steps + self.remainder


def never(state: Tensor, _bias: float | Tensor) -> Tensor:
    """Return the halting probability 0 of a network that does not decide.

    The network then runs up to its limit, and the last state is its whole output.
    """
    return torch.zeros_like(state[..., 0])


class PonderingNetwork(nn.Module):
    """A recurrent network with adaptive computation time: p(answer to input t) = softmax(W Σ_n p_n
    s_t^n + b)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.cell = nn.GRUCell(config.inputs + 1, config.d_model)
        nn.init.orthogonal_(self.cell.weight_hh)
        self.halting = None if config.steps else Halting(config.d_model)
        self.readout = nn.Linear(config.d_model, config.outputs)

    def stop(self) -> Stop:
        """Return the stopping rule as trained."""
        return Stop(self.config.epsilon, self.config.steps or self.config.limit)

    def forward(
        self,
        inputs: Tensor,
        alive: Tensor,
        stop: Stop | None = None,
        step_signal: Tensor | None = None,
        trace: Trace = OFF,
        gather: bool = False,
    ) -> Thought:
        """Return the logits, the updates and the remainders.

        inputs: (batch, input, unit). alive: False at padding, (batch, input). stop: the stopping
        rule, as trained if None; its tensors are (batch,). step_signal: 1, or 0 where the first
        update of an input is not marked, (batch,). gather: compute only inputs that have not
        stopped, without gradients and taps.

        The taps are those of `ponder`, within `input/<t>`.
        """
        batch, length, _ = inputs.shape
        halting, stop = self.halting or never, stop or self.stop()
        state = inputs.new_zeros(batch, self.config.d_model)
        mark = (
            inputs.new_ones(batch, 1)
            if step_signal is None
            else step_signal.to(inputs.dtype)[:, None]
        )
        seen: list[Pondered] = []
        for t in range(length):
            marked = (
                torch.cat((inputs[:, t], mark), 1),
                torch.cat((inputs[:, t], torch.zeros_like(mark)), 1),
            )

            def advance(
                state: Tensor, rows: Tensor, n: int, marked: tuple[Tensor, Tensor] = marked
            ) -> Tensor:
                units = marked[min(n - 1, 1)]
                return self.cell(units[rows] if gather else units, state)  # type: ignore[no-any-return]

            here, within = alive[:, t], () if gather else (trace.within("input", t),)
            seen.append(
                (ponder_gathered if gather else ponder)(
                    advance,
                    state,
                    halting,  # type: ignore[arg-type]
                    stop,
                    here,
                    *within,
                )
            )
            state = torch.where(here[:, None], seen[-1].output, state)
        outputs = torch.stack([one.output for one in seen], 1)
        remainder = torch.stack([one.remainder for one in seen], 1) * (self.halting is not None)
        return Thought(
            self.readout(outputs), torch.stack([one.steps for one in seen], 1), remainder
        )
