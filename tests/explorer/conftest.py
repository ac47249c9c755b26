"""What the tests of the server share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from explorer.server import Site
from tests.conftest import built


@pytest.fixture(scope="module")
def shell() -> Iterator[Site]:
    """The application without a lab: everything but a model."""
    site = built(lambda: Site(()))
    yield site
    site.engine.close(0)
