"""The folded panels of the music page: how the relative term of the run in view is computed, and what was measured."""

from __future__ import annotations

from collections.abc import Callable

from explorer.engine import Engine
from explorer.labs.music.deeper import lengths, meter, skew

__all__ = ["PANELS", "skew"]

Place = Callable[[Engine], None]

PANELS: tuple[Place, ...] = (meter.place, lengths.place)  # in the order of the page: each builds its panel and wires its event
