"""What the relative term of one layer takes in memory, by three ways: a folded panel (folded.py) with knobs for its sizes.

Bytes follow from the sizes in the browser; beside them stands what was measured at one size. View keys: ``meter`` (open), ``mlength``,
``mwidth``, ``mheads``. The value it draws when shown, beside what folded.py says:

    at: {length, width, heads}, the sizes of the paper, on arrival and where it was measured; block: queries that stand in memory together
    measured: {peaks: {way: bytes}, milliseconds: {way}, device, threads} or None, ways being "direct", "skew", "ours"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import gradio as gr

from explorer.widgets.base import widget
from explorer.widgets.folded import ready

Value = dict[str, object]

WAYS = ("direct", "skew", "ours")
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)  # positions
WIDTHS = (64, 128, 256, 512, 1024, 2048)  # of a layer, all heads together
HEADS = (1, 2, 4, 8, 16)
PAPER = {"length": 2048, "width": 512, "heads": 8}  # Huang et al. (2018), table 1
BLOCK = 64  # `models.layers.relative.BLOCK`
TOGETHER = 1 << 17  # `models.layers.relative.CACHED`: scores of one block and some heads that stand in memory together
BYTES = 4  # of a number


@dataclass(frozen=True)
class Measured:
    """What a benchmark measured at the sizes of the paper. peaks: way -> bytes at the most during one forward pass of attention, its result
    included. milliseconds: way -> of that pass. device, threads: on what."""

    peaks: Mapping[str, float]
    milliseconds: Mapping[str, float]
    device: str
    threads: int

    def __post_init__(self) -> None:
        if set(self.peaks) != set(WAYS) or set(self.milliseconds) != set(WAYS):
            raise ValueError(f"peaks of {sorted(self.peaks)} and times of {sorted(self.milliseconds)}; both of {', '.join(WAYS)} are meant")


def meter() -> gr.HTML:
    """Place the panel, folded. Its event `ask` wants what was measured; `explorer.widgets.folded.shown` with `memory` answers it."""
    sizes = {"length": list(LENGTHS), "width": list(WIDTHS), "heads": list(HEADS)}
    return widget("meter", ready(), events=("ask",), sizes=sizes)


def memory(measured: Measured | None) -> Value:
    """What the panel draws."""
    told = None if measured is None else {**asdict(measured), "peaks": dict(measured.peaks), "milliseconds": dict(measured.milliseconds)}
    return {"at": dict(PAPER), "block": BLOCK, "together": TOGETHER, "number": BYTES, "measured": told}


def needed(length: int, width: int, heads: int) -> dict[str, dict[str, int]]:
    """Bytes of what only the relative term makes, part by part, for each way; the browser computes the same (lib/memorysizes.js).

    direct: R, the embedding of every pair's distance, (L, L, D). skew: E_r, (L, D), and Q E_rᵀ, (heads, L, L), which becomes S_rel.
    ours: E_r, and Q E_rᵀ of the block of queries and the heads that are worked on.
    """
    together = max(1, min(heads, TOGETHER // (min(BLOCK, length) * length)))
    return {
        "direct": {"pairs": BYTES * length * length * width},
        "skew": {"table": BYTES * length * width, "product": BYTES * heads * length * length},
        "ours": {"table": BYTES * length * width, "product": BYTES * together * min(BLOCK, length) * length},
    }
