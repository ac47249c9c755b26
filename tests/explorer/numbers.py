"""What tests of values that a page is given share: the numbers in them, and calls that are
refused."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from explorer.values.exact_rows import exact_row_store
from explorer.values.packing import LEVELS, ArrayStore, array_store


def unpacked(packed: Mapping[str, Any], store: ArrayStore | None = None) -> Any:
    """An array as it travels, not multiplied with its scale. store: where what has an address is
    kept, that of this process if left out."""
    kept = (
        (store or array_store()).get(packed["url"].rpartition("/")[2]) if "url" in packed else None
    )
    raw = base64.b64decode(packed["data"]) if kept is None else gzip.decompress(kept)
    return np.frombuffer(raw, "<" + packed["dtype"]).reshape(packed["shape"])


def scaled(packed: Mapping[str, Any], store: ArrayStore | None = None) -> Any:
    """An array as the browser reads it."""
    return unpacked(packed, store) * packed["scale"]


def rows_at(address: str, layer: int, head: int, first: int, count: int) -> Any:
    """The exact rows that a page finds at an address."""
    kept: Any = exact_row_store().get(address.rpartition("/")[2])
    return (
        np.frombuffer(kept.encode_rows(layer, head, first, count), "<u2").reshape(count, -1)
        / LEVELS
    )


def halted(taken: Sequence[int], before: float = 0.3, last: float = 1.0) -> dict[str, Any]:
    """What positions that think for so many steps hand over: the halting unit says `before` at each
    of them, and at the last `last`."""
    steps, at = np.array(taken), np.arange(1, max(taken) + 1)[:, None]
    earlier = np.where(at < steps, before, 0).astype(np.float32)
    halting = np.where(at == steps, np.float32(last), earlier)
    remainder = 1 - earlier.sum(0)
    return {
        "steps": steps,
        "remainder": remainder,
        "halting": halting,
        "weights": np.where(at == steps, remainder, earlier),
        "totals": np.minimum(np.where(at <= steps, halting.cumsum(0), 1), 1),
        "distance": np.zeros_like(halting),
        "threshold": 0.99,
        "limit": 8,
    }


def refused(match: str, call: Callable[..., object], *given: Any, **named: Any) -> None:
    """That call is an error which says so."""
    with pytest.raises((ValueError, IndexError), match=match):
        call(*given, **named)
