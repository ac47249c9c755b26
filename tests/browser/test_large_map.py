"""The family map of few years, where there is room for a large map of the first lab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from explorer.labs import LABS
from tests.conftest import Running

LAB = next(lab for lab in LABS if lab.slug == "translation")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """A site of the first lab alone."""
    server = Running(command=["-m", "tests.slow_site", "PORT", "4"])
    try:
        yield server.start().url
    finally:
        server.close()


def test_the_large_map_says_what_the_word_under_the_pointer_looks_at(page_watch: Page, site: str) -> None:
    thumbnail = LAB.thumbnail()
    assert thumbnail is not None
    page = page_watch
    page.goto(site)
    words = page.locator(".tfe-home-large .tfe-words")
    expect(words).not_to_be_empty()
    assert thumbnail.pick is not None
    assert f"{thumbnail.weights[thumbnail.pick]:.2f}" in words.inner_text()
    page.locator(".tfe-home-row").nth(2).locator(".word").hover()
    best = int(thumbnail.weights[2].argmax())
    expect(words).to_contain_text(f"({best}) {thumbnail.weights[2, best]:.2f}")
    page.mouse.move(2, 400)
    expect(words).to_contain_text(f"{thumbnail.weights[thumbnail.pick]:.2f}")
