"""The folded panels of the music page: each asks its own question of the run in view, and is placed and wired by its own module."""

from __future__ import annotations

from collections.abc import Callable

from explorer.engine import Engine
from explorer.labs.music.deeper import lengths, meter, skew

Place = Callable[[Engine], None]

PANELS: tuple[Place, ...] = (
    skew.place,
    meter.place,
    lengths.place,
)  # in the order of the page: each module's `place`, which builds the panel and wires its event
