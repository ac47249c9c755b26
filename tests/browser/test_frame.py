"""The family map and the frame around every lab, in a real browser: quiet, bilingual, light and
dark, on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.labs import LABS
from tests.browser.staged import NEW
from tests.browser.waiting import addressed, quiet
from tests.fitting import refused_by_axe

LIGHT, DARK = "rgb(244, 246, 249)", "rgb(11, 17, 29)"


def settled(page: Page, address: str) -> Page:
    """The page once its first picture stands."""
    page.goto(address)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".tfe-block").last).to_be_visible()
    page.wait_for_load_state("networkidle")
    return page


def ground(page: Page) -> str:
    """The colour that the page stands on."""
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize(("locale", "scheme"), [("en-US", "light"), ("zh-CN", "dark")])
def test_the_map_opens_every_lab(new_page: NEW, site: str, locale: str, scheme: str) -> None:
    page, faults = new_page(locale=locale, color_scheme=scheme)
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { window.first ="
        " getComputedStyle(document.body).backgroundColor; })"
    )
    settled(page, site + "/")
    assert len(page.locator("h1").all()) == 1
    assert page.locator("html").get_attribute("lang") == ("zh-CN" if locale == "zh-CN" else "en")
    assert page.title()
    assert all(address.startswith((site, "data:", "blob:")) for address in faults.requests)
    assert page.evaluate("window.first") == ground(page) == (DARK if scheme == "dark" else LIGHT), (
        "from the first paint"
    )
    assert refused_by_axe(page) == []
    cards = page.locator(".tfe-home-card").evaluate_all(
        "(all) => all.map((one) => one.href.split('?')[0])"
    )
    assert sorted(cards) == sorted(site + lab.path for lab in LABS)
    lecture = page.locator(".tfe-home-actions a").filter(
        has_text=re.compile("Start the guided lecture|开始")
    )
    expect(lecture).to_have_attribute("href", re.compile("/lecture"))


def test_theme_and_language_are_switched_in_place_and_last(new_page: NEW, site: str) -> None:
    page, faults = new_page(color_scheme="dark")
    settled(page, site + LABS[0].path)
    quiet(page, faults)
    asked = len(faults.requests)
    page.get_by_role("button", name="Light", exact=True).first.click()
    page.locator(".tfe-shell-lang").click()
    expect(page.locator("h1")).to_contain_text(LABS[0].title["zh"])
    addressed(page, lang="zh")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    assert ground(page) == LIGHT
    assert len(faults.requests) == asked, "a switch of language asks the server for nothing"
    settled(page, page.url)
    assert ground(page) == LIGHT, "what was chosen by hand beats the system"
    expect(page.locator("h1")).to_contain_text(LABS[0].title["zh"])
