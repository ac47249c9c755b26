"""A recurrent network over musical events: Performance RNN (Simon and Oore, 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.layers.dropout import Dropout


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    events: int  # kinds of event; the additional number `events` precedes the first
    d_model: int = 448  # units of a layer
    n_layers: int = 2
    dropout: float = 0.1  # of the input of each layer and of the readout


State = list[tuple[Tensor, Tensor]]  # h and c of each layer, both (1, batch, d_model)


class PerformanceRNN(nn.Module):
    """Layers of long short-term memory (Hochreiter and Schmidhuber, 1997): p(x_i | x_<i) =
    softmax(W h_i + b)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.event = nn.Embedding(config.events + 1, config.d_model)
        self.layers = nn.ModuleList(
            nn.LSTM(config.d_model, config.d_model, batch_first=True)
            for _ in range(config.n_layers)
        )
        self.readout = nn.Linear(config.d_model, config.events)
        self.dropout = Dropout(config.dropout)
        nn.init.normal_(self.event.weight, std=0.5)
        for layer in self.layers:
            assert isinstance(layer, nn.LSTM)
            parameters = dict(layer.named_parameters())
            nn.init.orthogonal_(parameters["weight_hh_l0"])
            with torch.no_grad():
                # Forget gates start open.
                parameters["bias_ih_l0"][config.d_model : 2 * config.d_model] = 1.0

    @property
    def start(self) -> int:
        """The event before the first."""
        return self.config.events

    def forward(self, before: Tensor) -> Tensor:
        """Return the logits of the event after each position, (batch, position, event).

        before: events, `start` at the beginning, (batch, position).
        """
        return self.go_on(before, None)[0]

    def go_on(self, before: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Return the logits that follow from a state, and the state after the last event."""
        x = self.event(before)
        after: State = []
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, nn.LSTM)
            if state is not None and x.shape[1] == 1 and not (self.training or x.requires_grad):
                x, held = _one_step(layer, x, state[i])
            else:
                x, held = layer(self.dropout(x), None if state is None else state[i])
            after.append(held)
        return self.readout(self.dropout(x)), after


def _one_step(
    layer: nn.LSTM, x: Tensor, state: tuple[Tensor, Tensor]
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Run one position, as decoding needs it: the library's layer would reorder its weights at
    every call."""
    parameters = [
        getattr(layer, f"{kind}_l0") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    h, c = torch.lstm_cell(x[:, 0], (state[0][0], state[1][0]), *parameters)
    return h[:, None], (h[None], c[None])
