"""The effect of residual paths: networks with and without them, as frozen records of arrays and
strings, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining import request_fields
from models.translation.records import MAX_CHARACTERS

Array = NDArray[np.float32]

NETWORKS = (  # those that a lesson compares come first
    "residual_with",
    "residual_without_encoder",
    "residual_timing_encoder",
    "residual_without",
    "residual_timing",
    "positions_learned",
)
SUBLAYERS = {"encoder": ("self", "feed_forward"), "decoder": ("self", "cross", "feed_forward")}
MAX_SHIFT = 60  # positions


@dataclass(frozen=True)
class PathsRequest:
    """A sentence that every network translates greedily, and the changes to all of them.

    stack, layer, sublayer: one sublayer, x ← LN(gain · x + f(x)); its path has the gain 1 in the
    paper and 0 if it is cut. A network trained without that path is not changed. shift: the
    position of the first piece, in both languages.
    """

    sentence: str = request_fields.text_field("", MAX_CHARACTERS)
    stack: str = request_fields.choice_field("encoder", tuple(SUBLAYERS), en="stack", zh="堆栈")
    layer: int = request_fields.number_field(0, 0, 3, en="layer", zh="层")
    sublayer: str = request_fields.choice_field(
        "self", SUBLAYERS["decoder"], en="sublayer", zh="子层"
    )
    gain: float = request_fields.number_field(1.0, 0.0, 1.0, en="gain", zh="增益")
    shift: int = request_fields.number_field(0, 0, MAX_SHIFT, en="shift", zh="平移")

    def plain(self) -> PathsRequest:
        """Return the same sentence without changes."""
        return PathsRequest(self.sentence)

    def group(self) -> Hashable:
        """Return the key of a batch: requests of one group may share one."""
        return ()


@dataclass(frozen=True)
class Tower:
    """The result of one network.

    network: its name in NETWORKS. maps: the encoder's attention, mean over heads, (layer, source,
    source). diagonality: of all heads, as in `models.translation.ablation`, (layer,). text: its
    translation. was, before: diagonality and text without changes. For the unchanged network on the
    reported split: bleu. position_r2: the R² of positions read from each layer's output, (layer,).
    joined: (captions in a row, mean −log p of the reference's pieces).
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
    """The results of every shipped and measured network, in the order of NETWORKS.

    source, source_space: the pieces, and whether a space precedes each.
    """

    source: tuple[str, ...]
    source_space: tuple[bool, ...]
    towers: tuple[Tower, ...]
