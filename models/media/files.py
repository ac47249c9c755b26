"""Read files within bounds: pipes and other special files are never opened, and a file that is too
large is never read."""

from __future__ import annotations

import errno
import json
import math
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np

NESTED = 32  # lists and objects of JSON, one inside the other
# A text in JSON; a text without an end runs to the last byte.
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
OTHERS = bytes(set(range(256)) - set(b"[]{}"))
PARTS = 4_000_000  # lists, objects and values; the largest vocabularies have a quarter of that


def check_file(path: Path, most: float = math.inf) -> None:
    """Raise OSError, in words, unless `path` is, or links to, a regular file of at most `most`
    bytes."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    if found.st_size > most:
        given = f"it has {found.st_size:,} bytes; up to {most:,} are read"
        raise OSError(errno.EFBIG, given, str(path))


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file. Raise OSError as `check_file` does."""
    check_file(path, most)
    return path.read_bytes()


def read_json(path: Path, most: int) -> Any:
    """Return the value of a JSON file of at most `most` bytes.

    Raise OSError as `check_file` does, and ValueError for bytes that are no JSON, or have too many
    parts or levels.
    """
    return parse_json(read_bytes(path, most))


def parse_json(data: bytes) -> Any:
    """Return the value of JSON. Raise ValueError for bytes that are no JSON, or have too many parts
    or levels."""
    if sum(map(data.count, (b"[", b"{", b","))) > PARTS:
        raise ValueError(f"more than {PARTS:,} parts")
    if _measure_nesting(data) > NESTED:
        raise ValueError(f"more than {NESTED} levels")
    return json.loads(data)


def _measure_nesting(data: bytes) -> int:
    """Return how deep lists and objects lie inside each other."""
    marks = np.frombuffer(STRING.sub(b"", data).translate(None, OTHERS), np.uint8)
    steps = np.where((marks == ord("[")) | (marks == ord("{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))
