"""What the tests of the server and of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from explorer.engine import Engine
from explorer.server import Site
from tests.conftest import built


@pytest.fixture(scope="module")
def shell() -> Iterator[Site]:
    """The application without a lab: everything but a model."""
    site = built(lambda: Site(()))
    yield site
    site.engine.close(0)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """One engine for all tests of a file: what it has computed it remembers."""
    one = Engine()
    yield one
    one.close(0)
