"""Memory of layers against their number, and of ways to attend, read from what `python -m benchmarks` has measured.

Nothing here knows where results are kept: whoever calls hands over the JSON object of one, as `benchmarks/__main__.py` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer import labels
from explorer.labels import Text

WAYS = ("ordinary", "checkpointed", "reversible")
COLOURS = {"ordinary": "var(--cat-2)", "checkpointed": "var(--cat-4)", "reversible": "var(--cat-3)"}
MADE = ("explicit", "reformer_pytorch", "transformers", "ours", "dense")  # ways to attend, the one that all are measured against first


@dataclass(frozen=True)
class Measured:
    """Bytes by what was measured, and on what machine."""

    bytes: Mapping[str, float]
    machine: Text


@dataclass(frozen=True)
class Depth(Measured):
    """Peaks against the number of layers. depths: rising; bytes: by "way_layers"."""

    depths: tuple[int, ...]

    def of(self, way: str) -> tuple[float, ...]:
        """Bytes of one way at each depth."""
        return tuple(self.bytes[f"{way}_{count}"] for count in self.depths)


def _megabytes(result: Mapping[str, Any] | None) -> dict[str, float]:
    """What ends in "_mb", in bytes, by what stands before."""
    figures = (result or {}).get("figures", {})
    return {name.removesuffix("_mb"): 1e6 * float(value) for name, value in figures.items() if name.endswith("_mb")}


def depth_of(result: Mapping[str, Any] | None) -> Depth | None:
    """What `python -m benchmarks reversible` measured; None before it was, or where fewer than two depths have all three ways."""
    found = _megabytes(result)
    counts = sorted({int(said[1]) for name in found if (said := re.fullmatch(r"reversible_(\d+)", name))})
    whole = tuple(count for count in counts if all(f"{way}_{count}" in found for way in WAYS))
    if result is None or len(whole) < 2:
        return None
    return Depth(found, labels.machine(result), whole)


def attention_of(result: Mapping[str, Any] | None) -> Measured | None:
    """What `python -m benchmarks lsh_attention` measured, by MADE; None before explicit, hashed and fused attention were."""
    found = _megabytes(result)
    if result is None or not {"explicit", "ours", "dense"} <= found.keys():
        return None
    return Measured({way: found[way] for way in MADE if way in found}, labels.machine(result))


def amount(size: float) -> str:
    """Bytes as they are read: "2.10 GB", "131 kB", "512 B"."""
    for unit, sign in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {sign}" if size / unit < 999.5 else f"{size / unit:,.0f} {sign}"
    return f"{size:.0f} B"
