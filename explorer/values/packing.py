"""Arrays on their way to the browser: small ones inside the figure's value, large ones by an
address of their own.

Weights lie in [0, 1] and are only displayed, so they travel as whole numbers: 16 bits (steps of
1.5e-5) while that is cheap, 8 bits beyond.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import math
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, Generic, TypedDict, TypeVar
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
INLINE = 64 << 10  # bytes of raw values; above, an address is sent instead
FINE = 131_072  # values; up to here weights travel as 16 bits
LEVELS = 65_535  # of 16 bits: value = raw / 65,535
CAPACITY = 256 << 20  # bytes of compressed arrays that the server keeps
LONGEST = 2048  # characters by which an address may name its origin

_of: ContextVar[str] = ContextVar("of", default="")


class Packed(TypedDict, total=False):
    """An array as the browser's lib/arrays.js reads it.

    value = raw × scale, little-endian, last axis fastest.
    """

    dtype: str  # "u1", "u2", "i4" or "f4"
    shape: list[int]
    scale: float
    data: str  # base64 of the raw values, or
    url: str  # the address of the raw values


class Kept(Generic[T]):
    """Items by digest, at most `capacity` bytes of them, or one alone.

    The least recently used one leaves first. It may be used from several threads.
    """

    def __init__(self, capacity: int, size: Callable[[T], int]) -> None:
        """Start empty.

        size: a function that returns the bytes of an item.
        """
        self.capacity = capacity
        self.size = 0  # bytes kept now
        self._of = size
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def hold(self, digest: str, one: T) -> None:
        """Keep an item, unless one of the same digest is here already."""
        with self._lock:
            if digest not in self._kept:
                self._kept[digest] = one
                self.size += self._of(one)
            self._kept.move_to_end(digest)
            while self.size > self.capacity and len(self._kept) > 1:
                self.size -= self._of(self._kept.popitem(last=False)[1])

    def get(self, digest: str) -> T | None:
        """Return the item of a digest, or None where it never was or has left."""
        with self._lock:
            if digest in self._kept:
                self._kept.move_to_end(digest)
            return self._kept.get(digest)


class ArrayStore(Kept[bytes]):
    """Bytes, compressed by gzip."""

    def __init__(self, capacity: int = CAPACITY, text: bool = False) -> None:
        """Start empty.

        text: whether the bytes are text, where repeated words are worth a search; in weights only
        runs of equal values are.
        """
        super().__init__(capacity, len)
        self._effort, self._strategy = (4, zlib.Z_DEFAULT_STRATEGY) if text else (1, zlib.Z_RLE)

    def put(self, raw: bytes) -> str:
        """Keep `raw` and return its digest, under which `get` returns it compressed by gzip.

        Raise ValueError where the compressed bytes alone exceed the capacity.
        """
        digest = hashlib.sha256(raw).hexdigest()[:32]
        if self.get(digest) is None:
            # 16 asks for the gzip format.
            packer = zlib.compressobj(
                self._effort, zlib.DEFLATED, 16 + zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, self._strategy
            )
            packed = packer.compress(raw) + packer.flush()
            if len(packed) > self.capacity:
                raise ValueError(
                    f"an array of {len(packed)} compressed bytes; the store keeps {self.capacity}"
                    " in all"
                )
            self.hold(digest, packed)
        return digest


@contextlib.contextmanager
def record_origin(**asked: str) -> Iterator[None]:
    """Add an origin to the addresses that are written inside this context.

    With it another web server can compute what it does not hold (explorer/web/recompute.py).
    """
    spelled = f"?{urlencode(asked)}"
    token = _of.set(spelled if len(spelled) <= LONGEST else "")
    try:
        yield
    finally:
        _of.reset(token)


def write_address(kind: str, name: str) -> str:
    """Return the address of a kept item: a path and its origin."""
    return f"/{kind}/{name}{_of.get()}"


@cache
def array_store() -> ArrayStore:
    """Return the store behind ``/arrays/<digest>`` of this process.

    Its content follows from the digests alone, so everybody may share it.
    """
    return ArrayStore()


@cache
def frame_store() -> ArrayStore:
    """Return the store behind ``/frames/<digest>``.

    It keeps whole documents (UTF-8) for sandboxed frames, for example bertviz's views.
    """
    return ArrayStore(64 << 20, text=True)


def round_to_levels(weights: NDArray[np.floating[Any]], levels: int) -> NDArray[np.uint16]:
    """Return weights in [0, 1] as whole numbers 0 … levels whose rows (the last axis) keep their
    sums.

    All are rounded down, then those that lost most are raised again, as many as the sum lacks. Each
    is off by less than one level, their order stays, and 0 stays 0.
    """
    exact = np.clip(weights, 0, 1).astype(np.float64) * levels
    lower = np.floor(exact)
    lost = exact - lower
    lacking = np.rint(lost.sum(-1, keepdims=True))
    raised = np.arange(exact.shape[-1]) < lacking
    np.put_along_axis(lost, np.argsort(-lost, axis=-1), raised, axis=-1)
    found: NDArray[np.uint16] = (lower + lost).astype("<u2", order="C")
    return found


def pack_array(
    array: NDArray[np.generic],
    unit: bool = True,
    store: ArrayStore | None = None,
    rows: bool = False,
) -> Packed:
    """Return an array as JSON for lib/arrays.js.

    Raise ValueError for a value that is not finite or, with `unit`, lies outside [0, 1] by more
    than rounding.

    array: booleans and whole numbers keep their values; floating-point numbers become weights
    (unit) or float32.
    unit: whether floating-point values lie in [0, 1]; they are rounded to 16 bits up to 131,072
    values and to 8 bits above.
    rows: whether the sums of the last axis matter: then 16 bits at any size, rounded so that every
    row keeps its sum.
    store: the store for an array of more than 64 KB (the process's own by default); the result then
    holds its address.
    """
    return pack_raw(*_quantise_values(np.asarray(array), unit, rows), store)


def pack_raw(array: NDArray[Any], scale: float = 1.0, store: ArrayStore | None = None) -> Packed:
    """Return numbers as they are, in as many bits as they have.

    scale: the value of 1.
    store: see `pack_array`.
    """
    packed = Packed(dtype=array.dtype.str[1:], shape=list(array.shape), scale=scale)
    data = np.ascontiguousarray(array).tobytes()
    if len(data) <= INLINE:
        packed["data"] = base64.b64encode(data).decode("ascii")
    else:
        packed["url"] = write_address(
            "arrays", (array_store() if store is None else store).put(data)
        )
    return packed


AS_THEY_ARE = frozenset({str, int, float, bool, type(None)})  # kinds that JSON knows


def convert_to_json(value: Any) -> Any:
    """Return a widget's value as JSON.

    A record becomes its own `as_json` or its fields, a mapping an object, a sequence a list, and an
    array the result of `pack_array` without rounding. Everything that JSON knows stays.
    """
    if type(value) in AS_THEY_ARE:
        return value
    if hasattr(value, "as_json"):
        return value.as_json()
    if dataclasses.is_dataclass(value):
        return record_fields(value)
    if isinstance(value, Mapping):
        return {key: convert_to_json(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return pack_array(value, unit=False)
    if isinstance(value, np.generic):
        return value.item()
    return (
        [convert_to_json(one) for one in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
    )


def record_fields(value: Any, *left_out: str) -> dict[str, Any]:
    """Return the fields of a record as JSON, without some of them."""
    return {
        one.name: convert_to_json(getattr(value, one.name))
        for one in dataclasses.fields(value)
        if one.name not in left_out
    }


def pack_inline(levels: NDArray[np.uint8]) -> Packed:
    """Return levels of 8 bits packed inside the page itself, at any size."""
    raw = np.ascontiguousarray(levels, np.uint8).tobytes()
    return Packed(
        dtype="u1", shape=list(levels.shape), scale=1.0, data=base64.b64encode(raw).decode()
    )


def _quantise_values(
    array: NDArray[np.generic], unit: bool, rows: bool
) -> tuple[NDArray[np.generic], float]:
    if array.dtype.kind == "b":
        return array.astype("<u1", order="C"), 1.0
    if array.dtype.kind in "iu":
        if array.size and (int(array.min()) < -(2**31) or int(array.max()) >= 2**31):
            raise ValueError(
                f"whole numbers from {array.min()} to {array.max()}; 32 bits hold -2147483648 to"
                " 2147483647"
            )
        return array.astype("<i4", order="C"), 1.0
    if array.dtype.kind != "f":
        raise ValueError(f"an array of {array.dtype}; numbers or booleans are packed")
    lowest, highest = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
    # A single value that is no number makes both of them so.
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        raise ValueError("an array with values that are not finite")
    if not unit:
        return array.astype("<f4", order="C"), 1.0
    if lowest < -1e-3 or highest > 1 + 1e-3:
        raise ValueError(
            f"weights from {lowest:.4g} to {highest:.4g}; they lie in [0, 1], or unit=False is"
            " meant"
        )
    if rows:
        return round_to_levels(array.astype(np.float32, copy=False), LEVELS), 1 / LEVELS
    levels, dtype = (LEVELS, "<u2") if array.size <= FINE else (255, "<u1")
    scaled = np.empty(array.shape, np.float32)
    np.multiply(array, np.float32(levels), out=scaled, casting="same_kind")
    np.clip(np.rint(scaled, out=scaled), 0, levels, out=scaled)
    return scaled.astype(dtype, order="C"), 1 / levels
