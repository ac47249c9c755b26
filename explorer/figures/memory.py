"""Memory of layers against their number, and memory of several kinds of attention, from the results
of `python -m benchmarks`.

Nothing here knows where results are kept: the caller passes the JSON object of one, as
`benchmarks/__main__.py` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.contract import labels
from explorer.contract.labels import Text

WAYS = ("ordinary", "checkpointed", "reversible")
COLOURS = {"ordinary": "var(--cat-2)", "checkpointed": "var(--cat-4)", "reversible": "var(--cat-3)"}
# kinds of attention; all are measured against the first
MADE = ("explicit", "reformer_pytorch", "transformers", "ours", "dense")


@dataclass(frozen=True)
class MeasuredMemory:
    """Bytes by the name of the measurement, and the machine."""

    bytes: Mapping[str, float]
    machine: Text


@dataclass(frozen=True)
class Depth(MeasuredMemory):
    """Peaks against the number of layers.

    depths: rising.
    bytes: by "way_layers".
    """

    depths: tuple[int, ...]

    def bytes_of(self, way: str) -> tuple[float, ...]:
        """Return the bytes of one way at each depth."""
        return tuple(self.bytes[f"{way}_{count}"] for count in self.depths)


def _read_megabytes(result: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the figures whose names end in "_mb", in bytes, by the name before it."""
    figures = (result or {}).get("figures", {})
    return {
        name.removesuffix("_mb"): 1e6 * float(value)
        for name, value in figures.items()
        if name.endswith("_mb")
    }


def read_depth(result: Mapping[str, Any] | None) -> Depth | None:
    """Return the result of `python -m benchmarks reversible`; None before it was measured, or where
    fewer than two depths have all three ways."""
    found = _read_megabytes(result)
    counts = sorted(
        {int(said[1]) for name in found if (said := re.fullmatch(r"reversible_(\d+)", name))}
    )
    whole = tuple(count for count in counts if all(f"{way}_{count}" in found for way in WAYS))
    if result is None or len(whole) < 2:
        return None
    return Depth(found, labels.name_machine(result), whole)


def read_attention(result: Mapping[str, Any] | None) -> MeasuredMemory | None:
    """Return the result of `python -m benchmarks lsh_attention`, by MADE; None before explicit,
    hashed and fused attention were measured."""
    found = _read_megabytes(result)
    if result is None or not {"explicit", "ours", "dense"} <= found.keys():
        return None
    return MeasuredMemory(
        {way: found[way] for way in MADE if way in found}, labels.name_machine(result)
    )


def format_bytes(size: float) -> str:
    """Return bytes for readers: "2.10 GB", "131 kB", "512 B"."""
    for unit, sign in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return (
                f"{size / unit:.3g} {sign}" if size / unit < 999.5 else f"{size / unit:,.0f} {sign}"
            )
    return f"{size:.0f} B"
