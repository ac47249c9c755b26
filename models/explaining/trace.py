"""Trace: the named activations of one forward pass, which the caller asks for and owns.

A layer never stores what it computed. It offers an activation with `tap`. A caller that wants it
passes a `Trace` that names it; all others pass `OFF`, which wants nothing and costs next to
nothing.
"""

from __future__ import annotations

import copy
from fnmatch import fnmatchcase

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class TraceTooLarge(Exception):
    """The taps do not fit into the budget of the trace."""


def _matches(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Return whether each part of the path matches its part of the pattern. A `*` stands for
    anything within one part."""
    return len(pattern) == len(path) and all(
        fnmatchcase(part, want) for part, want in zip(path, pattern, strict=True)
    )


class Trace:
    """The named activations of one forward pass.

    wanted: patterns such as "decoder/*/cross/weights".
    budget: bytes that all taps together may hold; `tap` raises TraceTooLarge beyond.
    """

    def __init__(self, *wanted: str, budget: int = 64 << 20) -> None:
        self._wanted = tuple(tuple(pattern.split("/")) for pattern in wanted)
        self._budget = budget
        self._taps: dict[str, NDArray[np.float32]] = {}  # of all levels
        self._path: tuple[str, ...] = ()

    def within(self, *names: object) -> Trace:
        """Return the same trace, one or more levels deeper: `within("decoder", 0, "cross")`."""
        deeper = copy.copy(self)
        deeper._path = self._path + tuple(str(name) for name in names)
        return deeper

    def wants(self, name: str) -> bool:
        """Return whether the caller wants the tap of this name at this level."""
        path = (*self._path, name)
        return any(_matches(pattern, path) for pattern in self._wanted)

    def tap(self, name: str, axes: str, values: Tensor, fresh: bool = False) -> None:
        """Keep a copy of `values`, whose axes are named in words, as float32 on the CPU. Raise
        TraceTooLarge past the budget.

        fresh: whether nobody else holds these values, so that they need no copy.
        """
        if not self.wants(name):
            return
        if len(axes.split()) != values.dim():
            raise ValueError(f"{values.dim()} axes for the names {axes!r}")
        name = "/".join((*self._path, name))
        size = sum(one.nbytes for one in self._taps.values()) + values.numel() * 4
        if size > self._budget:
            raise TraceTooLarge(
                f"{name} would bring this trace to {size:,} bytes of {self._budget:,}"
            )
        self._taps[name] = values.detach().to("cpu", torch.float32, copy=not fresh).numpy()

    def names(self) -> tuple[str, ...]:
        """Return the names of all taps, in the order of the pass."""
        return tuple(self._taps)

    def stack(self, pattern: str) -> NDArray[np.float32]:
        """Return the taps that match the pattern, stacked along a new first axis, in the order of
        the pass. Raise KeyError where none does."""
        parts = tuple(pattern.split("/"))
        found = [
            values for name, values in self._taps.items() if _matches(parts, tuple(name.split("/")))
        ]
        if not found:
            raise KeyError(
                f"no tap matches {pattern!r}; there are {', '.join(self._taps) or 'none'}"
            )
        return np.stack(found)


class _Off(Trace):
    """The trace that wants nothing."""

    def within(self, *names: object) -> Trace:
        return self

    def wants(self, name: str) -> bool:
        return False

    def tap(self, name: str, axes: str, values: Tensor, fresh: bool = False) -> None:
        return None


OFF: Trace = _Off()
