"""Music event by event, with what was read kept: keys and values, or a state."""

from __future__ import annotations

import torch
from torch import Tensor

from models import sampling
from models.music import lstm
from models.music.lstm import PerformanceRNN
from models.music.model import MusicTransformer
from models.music.pretrained import Network


class Recurrent(sampling.Reader):
    """A recurrent network keeps its state; there is no end to what it can read."""

    def __init__(self, model: PerformanceRNN) -> None:
        self.model, self._room = model, 1 << 30
        self._state: lstm.State | None = None

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """As `models.sampling.Reader.read`."""
        logits: Tensor
        logits, self._state = self.model.go_on(before, self._state)
        return logits


def reader(model: Network, rows: int, room: int, gains: Tensor | None = None, farthest: int | None = None) -> sampling.Reader:
    """What reads up to `room` events. gains and farthest: as in `MusicTransformer.forward`; a recurrent network takes neither."""
    return sampling.Reader(model, rows, room, gains, farthest) if isinstance(model, MusicTransformer) else Recurrent(model)
