"""Symbols one by one: each new one reads only the keys of its pattern."""

from __future__ import annotations

from models import sampling


class Reader(sampling.Reader):
    """The first symbols at once, then one at a time. how: gains and pattern, as in `SparseTransformer.forward`."""

    @property
    def left(self) -> int:
        """How many positions may be read at once."""
        return 1 if self.cache.position else self._room
