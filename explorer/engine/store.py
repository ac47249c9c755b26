"""Remembered results, within a bound of bytes."""

from __future__ import annotations

import dataclasses
import sys
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any

from explorer.engine.records import Answer


class Store:
    """Answers by request, bounded in bytes: the least recently used ones are forgotten first."""

    def __init__(self, limit: int) -> None:
        self.limit, self.bytes = limit, 0
        self._held: OrderedDict[Hashable, tuple[Answer[Any], int]] = OrderedDict()

    def get(self, key: Hashable) -> Answer[Any] | None:
        """Return the answer of a key, or None, and mark it as the most recently used."""
        found = self._held.get(key)
        if found is None:
            return None
        self._held.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, answer: Answer[Any]) -> None:
        """Remember an answer at the cost of the oldest ones.

        An answer larger than the store is not remembered.
        """
        _, before = self._held.pop(key, (None, 0))
        self.bytes -= before
        size = count_bytes(answer.value) + count_bytes(key)
        if size > self.limit:
            return
        self._held[key] = (answer, size)
        self.bytes += size
        while self.bytes > self.limit:
            self.bytes -= self._held.popitem(last=False)[1][1]


def count_bytes(value: object) -> int:
    """Return about how many bytes a result holds.

    A view of a larger array counts as the array that it keeps alive.
    """
    if hasattr(value, "nbytes"):
        return 128 + max(int(value.nbytes), int(getattr(getattr(value, "base", None), "nbytes", 0)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return 64 + sum(
            count_bytes(getattr(value, field.name)) for field in dataclasses.fields(value)
        )
    if isinstance(value, Mapping):
        return 64 + sum(count_bytes(k) + count_bytes(v) for k, v in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return 64 + sum(8 + count_bytes(v) for v in value)
    return sys.getsizeof(value)
