"""The folded panels of the translation page: each asks its own question of the run in view, and is placed and wired by its own module."""

from __future__ import annotations

from collections.abc import Callable

from explorer.engine import Engine
from explorer.labs.translation.deeper import beam, forced, positions, training, weight

Place = Callable[[Engine], None]

PANELS: tuple[Place, ...] = (
    weight.place,
    beam.place,
    forced.place,
    positions.place,
    training.place,
)  # in the order of the page: each module's `place`, which builds the panel and wires its event
