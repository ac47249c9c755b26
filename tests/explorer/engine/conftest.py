"""The engine that most of its tests use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from explorer.engine import Engine, Limits


@pytest.fixture
def engine() -> Iterator[Engine]:
    """One yield a turn, and no time for loading a model."""
    made = Engine(limits=Limits(turn=0.0, loading=0.0))
    yield made
    made.close(0.0)
