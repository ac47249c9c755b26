"""What the tests in a browser share beside tests/pages.py."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.staged import Picture


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest) -> str:
    """The address of the bench pages that a file names in PAGES; of the running site where it names
    none."""
    if (pages := getattr(request.module, "PAGES", None)) is None:
        return str(request.getfixturevalue("running").url)
    return str(request.getfixturevalue("bench").put(request.module.__name__, pages))


@pytest.fixture
def picture(request: pytest.FixtureRequest, page_watch: Page, site: str) -> Any:
    """What a file opens where a test says nothing else: a picture, or the page of a bar."""
    return request.module.opened(page_watch, site)


@pytest.fixture
def page(request: pytest.FixtureRequest, site: str) -> Any:
    """The page of what a file opens; where it opens nothing, of the lab that it is named after."""
    if not hasattr(request.module, "opened"):
        return request.getfixturevalue("visit")(f"/{request.path.stem.removeprefix('test_')}")
    opened = request.getfixturevalue("picture")
    return opened.page if isinstance(opened, Picture) else opened
