"""What the tests in a browser share beside tests/pages.py."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest) -> str:
    """The address of the bench pages that a file names in PAGES; of the running site where it names none."""
    if (pages := getattr(request.module, "PAGES", None)) is None:
        return str(request.getfixturevalue("running").url)
    return str(request.getfixturevalue("bench").put(request.module.__name__, pages))
