"""A link and an open page over a restart of the server, which remembers nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_frame import answered, settled
from tests.browser.waiting import addressed, becomes
from tests.conftest import Running

NEW = Callable[..., tuple[Page, Any]]


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    """A server of the first lab alone, which may be stopped: the one of the whole site is everybody's."""
    server = Running(command=["-m", "tests.slow_site", "PORT", "4"], PAUSE="0")
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture(scope="module")
def site(small: Running) -> str:
    """Its address."""
    return small.url


def test_a_link_restores_its_view_after_the_server_was_restarted(new_page: NEW, small: Running) -> None:
    address = small.url + "/translation?v=1&sentence=Two+dogs+run+through+the+snow.&_kind=encoder&_head=2.3&_row=3"
    first, _ = new_page()
    settled(first, address)
    before = answered(first)
    locked = "“through” (3)"  # a word of that sentence: the map is drawn once its numbers are here, after the words stand
    expect(first.locator(".tfe-attention .tfe-words")).to_contain_text(locked)
    sentence = first.locator(".tfe-attention").inner_text()
    open_page, faults = new_page()
    settled(open_page, small.url + "/translation")

    small.restart()

    second, _ = new_page()
    settled(second, address)
    assert answered(second) == before
    expect(second.locator(".tfe-attention .tfe-words")).to_contain_text(locked)
    becomes(second, lambda: second.locator(".tfe-attention").inner_text(), sentence)
    assert second.locator(".tfe-ask-story").input_value() == "Two dogs run through the snow."
    addressed(second, _head="2.3", _row="3")

    # A page that was open over the restart goes on working.
    open_page.locator(".tfe-ask-story").fill("A man is sitting on a bench.")
    open_page.locator(".tfe-ask-go").click()
    assert answered(open_page)
    faults.console[:] = [told for told in faults.console if "ERR_CONNECTION" not in told and "Failed to fetch" not in told]
