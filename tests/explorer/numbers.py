"""What tests of values that a page is given share: the numbers in them, and calls that are refused."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from explorer.packing import ArrayStore, arrays


def unpacked(packed: Mapping[str, Any], store: ArrayStore | None = None) -> Any:
    """An array as it travels, not multiplied with its scale. store: where what has an address is kept, that of this process if left out."""
    kept = (store or arrays()).get(packed["url"].rpartition("/")[2]) if "url" in packed else None
    raw = base64.b64decode(packed["data"]) if kept is None else gzip.decompress(kept)
    return np.frombuffer(raw, "<" + packed["dtype"]).reshape(packed["shape"])


def scaled(packed: Mapping[str, Any], store: ArrayStore | None = None) -> Any:
    """An array as the browser reads it."""
    return unpacked(packed, store) * packed["scale"]


def refused(match: str, call: Callable[..., object], *given: Any, **named: Any) -> None:
    """That call is an error which says so."""
    with pytest.raises((ValueError, IndexError), match=match):
        call(*given, **named)
