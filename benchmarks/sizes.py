"""The size of a benchmark: the full size that its claims are about, or the smallest that shows that
it still runs.

With BENCHMARKS_SMALLEST=1 in the environment every benchmark runs at its smallest size, in seconds:
`BENCHMARKS_SMALLEST=1 python -m benchmarks NAME`. Its figures then mean nothing, and --save is
refused. Processes that a benchmark starts inherit the size.
"""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")
VARIABLE = "BENCHMARKS_SMALLEST"


def is_smallest() -> bool:
    """Return whether this process runs benchmarks at their smallest size."""
    return os.environ.get(VARIABLE, "") not in {"", "0"}


def size(full: T, smallest: T) -> T:
    """Return the size of a measurement: `full`, or `smallest` where a benchmark only has to run."""
    return smallest if is_smallest() else full
