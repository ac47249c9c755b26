"""What residual paths carry: networks with and without them, beside each other. Frozen records of arrays and strings. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields
from models.translation.records import MAX_CHARACTERS

Array = NDArray[np.float32]

NETWORKS = ("residual_with", "residual_without", "residual_timing", "residual_without_encoder", "positions_learned")
SUBLAYERS = {"encoder": ("self", "feed_forward"), "decoder": ("self", "cross", "feed_forward")}
MAX_SHIFT = 60  # positions


@dataclass(frozen=True)
class PathsRequest:
    """A sentence that every network translates greedily, and what is changed in all of them meanwhile.

    stack, layer, sublayer: one sublayer, x ← LN(gain · x + f(x)); its path has the gain 1 in the paper and 0 where it is cut. A network
    that was trained without that path is left as it is. shift: the position that the first piece stands at, in both languages.
    """

    sentence: str = fields.characters("", MAX_CHARACTERS)
    stack: str = fields.choice("encoder", tuple(SUBLAYERS), en="stack", zh="堆栈")
    layer: int = fields.number(0, 0, 3, en="layer", zh="层")
    sublayer: str = fields.choice("self", SUBLAYERS["decoder"], en="sublayer", zh="子层")
    gain: float = fields.number(1.0, 0.0, 1.0, en="gain", zh="增益")
    shift: int = fields.number(0, 0, MAX_SHIFT, en="shift", zh="平移")

    def plain(self) -> PathsRequest:
        """The same sentence with nothing changed."""
        return PathsRequest(self.sentence)

    def group(self) -> Hashable:
        """Requests of one group may share a batch."""
        return ()


@dataclass(frozen=True)
class Tower:
    """One network.

    network: its name in NETWORKS. maps: (layer, source, source), the encoder's attention, mean over heads. diagonality: (layer,), of all
    heads, as of `models.translation.ablation`. text: its translation. was, before: diagonality and text with nothing changed. On the
    reported split, of the network as it is: bleu; position_r2 (layer,), how well a position is read from each layer's output; joined:
    (captions in a row, mean −log p of the reference's pieces).
    """

    network: str
    maps: Array
    diagonality: Array
    text: str
    was: Array
    before: str
    bleu: float
    position_r2: Array
    joined: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Towers:
    """Every network that is shipped and measured, in the order of NETWORKS. source, source_space: the pieces, True where a space stood
    before one."""

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    towers: tuple[Tower, ...]
