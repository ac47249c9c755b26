"""The folded panels of the Reformer's page: each asks its own question of the run in view, placed and wired by its own module."""

from __future__ import annotations

from collections.abc import Callable

from explorer.engine import Engine
from explorer.labs.reformer.deeper import missed, rewind

Place = Callable[[Engine], None]

PANELS: tuple[Place, ...] = (
    missed.place,
    rewind.place,
)  # in the order of the page: each module's `place`, which builds the panel and wires its event
