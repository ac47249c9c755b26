"""Decoding symbol by symbol; each new symbol reads only the keys of its pattern."""

from __future__ import annotations

from models.decoding import sampling


class Reader(sampling.Reader):
    """A reader of the first symbols at once, then one at a time.

    how: gains and pattern, as in `SparseTransformer.forward`.
    """

    @property
    def positions_left(self) -> int:
        """The number of positions that can be read at once."""
        return 1 if self.cache.position else self._room
