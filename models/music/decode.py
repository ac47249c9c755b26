"""Reading and writing music event by event, with stored keys and values or a state."""

from __future__ import annotations

import torch
from torch import Tensor

from models.decoding import sampling
from models.music import lstm
from models.music.lstm import PerformanceRNN
from models.music.model import MusicTransformer
from models.music.pretrained import Network


class Recurrent(sampling.Reader):
    """A reader with the state of a recurrent network, of any length."""

    def __init__(self, model: PerformanceRNN) -> None:
        self.model, self._room = model, 1 << 30
        self._state: lstm.State | None = None

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """Read events as `models.decoding.sampling.Reader.read` does."""
        logits: Tensor
        logits, self._state = self.model.go_on(before, self._state)
        return logits


def reader(
    model: Network, rows: int, room: int, gains: Tensor | None = None, farthest: int | None = None
) -> sampling.Reader:
    """Return a reader of up to `room` events.

    gains, farthest: as in `MusicTransformer.forward`; a recurrent network takes neither.
    """
    return (
        sampling.Reader(model, rows, room, gains, farthest)
        if isinstance(model, MusicTransformer)
        else Recurrent(model)
    )
