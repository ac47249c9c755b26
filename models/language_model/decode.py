"""Reading on and writing symbol by symbol, with the keys and values of what was read.

A network has a learned position for each place of its window and none behind it. So a full window is left: its second half is read
anew from position 0, in one pass, and the text goes on behind it. Each symbol then has half a window before it at least, just as where a
whole text is read (`models.bits.windows`), and most steps stay steps of one position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models import bits
from models.characters import UNKNOWN
from models.language_model.model import LanguageModel
from models.sampling import Reader as Base
from models.trace import OFF, Trace

How = tuple[Any, ...]  # what is changed in a pass: gains, skipped layers, are positions added?


class Reader(Base):
    """Reads with a cache as long as the window."""

    never = (UNKNOWN,)  # of pieces, END has this number

    def __init__(self, model: LanguageModel, rows: int, how: How = (None,)) -> None:
        gains, *rest = how
        super().__init__(model, rows, model.config.window, gains, OFF, *rest)
        self._last = torch.zeros(rows, 0, dtype=torch.long, device=model.readout.weight.device)

    @property
    def left(self) -> int:
        """How many positions may be read at once."""
        return self._room - self.cache.position or self._room - self._room // 2

    @torch.no_grad()
    def read(self, before: Tensor) -> Tensor:
        """before: (batch, position) symbols after those that were read; (batch, position, symbol) logits of the one after each."""
        if self.cache.position == self._room:
            self.cache.position = 0
            super().read(self._last)
        self._last = torch.cat((self._last, before), 1)[:, -(self._room // 2) :]
        return super().read(before)


def windows(length: int, window: int) -> list[bits.Cut]:
    """The windows in which a text of so many symbols is read, (begin, end, from where it counts), as `Reader` goes through them."""
    return bits.windows(length, window, window - window // 2)


@torch.no_grad()
def climbed(
    model: LanguageModel, symbols: NDArray[np.int64], how: How, watched: bool = False
) -> Iterator[tuple[bits.Cut, list[Tensor], NDArray[np.float32] | None]]:
    """Finished texts, (batch, position) symbols, window by window: after each layer, (batch, position, d_model) of the positions that
    count in the window, to say what stands there; and where it is watched (layer, batch, head, query, key) weights of the whole window.

    how: gains, skipped layers, are positions added?
    """
    gains, *rest = how
    given = torch.from_numpy(symbols).to(model.readout.weight.device)
    text = torch.cat((given.new_full((len(given), 1), model.start), given), 1)
    for cut in windows(symbols.shape[1], model.config.window):
        begin, end, counted = cut
        trace = Trace("*/self/weights", budget=1 << 28) if watched else OFF
        states = list(model.climb(text[:, begin:end], 0, None, gains, trace, *rest))
        yield cut, [x[:, counted - begin :] for x in states], _weights(trace, model, len(given), end - begin) if watched else None


def _weights(trace: Trace, model: LanguageModel, rows: int, length: int) -> NDArray[np.float32]:
    """(layer, batch, head, query, key); 0 in a layer that was skipped."""
    found = np.zeros((model.config.n_layers, rows, model.config.n_heads, length, length), np.float32)
    for name in trace.names():
        found[int(name.split("/")[0])] = trace.stack(name)[0]
    return found
