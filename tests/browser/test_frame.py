"""The family map and the frame around every lab, in a real browser: quiet, bilingual, light and dark, on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs import LABS
from tests.browser.waiting import addressed, quiet
from tests.fitting import refused_by_axe

NEW = Callable[..., tuple[Page, Any]]


def settled(page: Page, address: str) -> Page:
    """The page once its first picture stands."""
    page.goto(address)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".tfe-block").last).to_be_visible()
    page.wait_for_load_state("networkidle")
    return page


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_the_map_opens_without_an_error_or_a_request_to_another_host_and_can_be_read_aloud(new_page: NEW, site: str, locale: str) -> None:
    page, faults = new_page(locale=locale)
    settled(page, site + "/")
    assert len(page.locator("h1").all()) == 1
    assert page.locator("html").get_attribute("lang") == ("zh-CN" if locale == "zh-CN" else "en")
    assert page.title()
    assert all(address.startswith((site, "data:", "blob:")) for address in faults.requests)
    if locale == "zh-CN":  # one of them is dark
        page.evaluate("document.body.classList.add('dark')")
    assert refused_by_axe(page) == []


def test_a_dark_system_gets_a_dark_page_from_the_first_paint(new_page: NEW, site: str) -> None:
    page, _ = new_page(color_scheme="dark")
    page.add_init_script("addEventListener('DOMContentLoaded', () => { window.first = getComputedStyle(document.body).backgroundColor; })")
    settled(page, site + "/")
    now = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page.evaluate("window.first") == now == "rgb(11, 17, 29)"


def test_a_choice_made_by_hand_beats_the_system_and_survives_a_reload(new_page: NEW, site: str) -> None:
    page, _ = new_page(color_scheme="dark")
    settled(page, site + LABS[0].path)
    page.get_by_role("button", name="Light", exact=True).first.click()
    assert not page.evaluate("document.body.classList.contains('dark')")
    page.reload()
    settled(page, site + "/")
    assert not page.evaluate("document.body.classList.contains('dark')")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 249)"


def test_the_language_is_switched_in_place_and_travels_in_the_address(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    settled(page, site + LABS[0].path)
    quiet(page, faults)
    asked = len(faults.requests)
    page.locator(".tfe-shell-lang").click()
    expect(page.locator("h1")).to_contain_text(LABS[0].title["zh"])
    addressed(page, lang="zh")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    assert len(faults.requests) == asked, "a switch of language asks the server for nothing"
    other, _ = new_page()
    settled(other, page.url)
    expect(other.locator("h1")).to_contain_text(LABS[0].title["zh"])


def test_the_map_opens_every_lab(page_watch: Page, site: str) -> None:
    page = settled(page_watch, site)
    cards = page.locator(".tfe-home-card")
    expect(cards).to_have_count(len(LABS))
    assert {cards.nth(at).get_attribute("href") for at in range(len(LABS))} == {site + lab.path for lab in LABS}
    page.locator(f".tfe-home-card[href$='{LABS[0].path}']").click()
    page.wait_for_url(f"{site}{LABS[0].path}*")
