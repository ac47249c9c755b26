"""Reading and writing symbol by symbol, with stored keys and values.

A network has learned positions for its window and none beyond it. When the window is full, its
second half is therefore read again from position 0, in one pass, and the text continues after it.
Each symbol has at least half a window before it, as in reading a whole text
(`models.evaluation.bits_per_character.cut_windows`), and most steps remain steps of one position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data.characters import UNKNOWN
from models.decoding.sampling import Reader as Base
from models.evaluation import bits_per_character
from models.explaining.trace import OFF, Trace
from models.language_model.model import LanguageModel

How = tuple[Any, ...]  # changes of a pass: gains, skipped layers, whether positions are added


class Reader(Base):
    """A reader with a cache as long as the window."""

    never = (UNKNOWN,)  # the number of END, if symbols are pieces

    def __init__(self, model: LanguageModel, rows: int, how: How = (None,)) -> None:
        gains, *rest = how
        super().__init__(model, rows, model.config.window, gains, OFF, *rest)
        self._last = torch.zeros(rows, 0, dtype=torch.long, device=model.readout.weight.device)

    @property
    def positions_left(self) -> int:
        """The number of positions that can be read at once."""
        return self._room - self.cache.position or self._room - self._room // 2

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """Read symbols and return the logits of the next ones, (batch, position, symbol).

        before: the symbols that follow those read so far, (batch, position).
        """
        if self.cache.position == self._room:
            self.cache.position = 0
            super().read(self._last)
        self._last = torch.cat((self._last, before), 1)[:, -(self._room // 2) :]
        return super().read(before)


def windows(length: int, window: int) -> list[bits_per_character.Cut]:
    """Return the windows in which `Reader` reads a text of some length, (begin, end, first position
    that counts)."""
    return bits_per_character.cut_windows(length, window, window - window // 2)


@torch.no_grad()
def run_layer_by_layer(
    model: LanguageModel, symbols: NDArray[np.int64], how: How, watched: bool = False
) -> Iterator[tuple[bits_per_character.Cut, list[Tensor], NDArray[np.float32] | None]]:
    """Yield the layers' outputs for finished texts, window by window: (batch, position, d_model)
    after each layer, for the predictions of the positions that count.

    If watched, also yield the weights of the whole window, (layer, batch, head, query, key).
    symbols: (batch, position). how: gains, skipped layers, whether positions are added.
    """
    gains, *rest = how
    given = torch.from_numpy(symbols).to(model.readout.weight.device)
    text = torch.cat((given.new_full((len(given), 1), model.start), given), 1)
    for cut in windows(symbols.shape[1], model.config.window):
        begin, end, counted = cut
        trace = Trace("*/self/weights", budget=1 << 28) if watched else OFF
        states = list(model.climb(text[:, begin:end], 0, None, gains, trace, *rest))
        yield (
            cut,
            [x[:, counted - begin :] for x in states],
            _weights(trace, model, len(given), end - begin) if watched else None,
        )


def _weights(trace: Trace, model: LanguageModel, rows: int, length: int) -> NDArray[np.float32]:
    """Return the weights, (layer, batch, head, query, key); 0 in a skipped layer."""
    found = np.zeros(
        (model.config.n_layers, rows, model.config.n_heads, length, length), np.float32
    )
    for name in trace.names():
        found[int(name.split("/")[0])] = trace.stack(name)[0]
    return found
