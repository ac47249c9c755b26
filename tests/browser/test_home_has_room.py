"""The family map and the rail have room for more labs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from explorer.components.home import place_home
from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.bench import Bench
from tests.browser.staged import NEW
from tests.browser.waiting import measure_box

TO_COME = (2020, 2020, 2020, 2020)


def heir(at: int, year: int) -> OpenLab:
    """A lab as there may be more: another one's words and picture, and from 2017 on it descends
    from one before it."""
    lab = LABS[3:][at % (len(LABS) - 3)]
    older = [one.slug for one in LABS if 2017 <= one.year < year]
    return replace(
        lab,
        slug=f"{lab.slug}_{at}",
        year=year,
        ancestors=(older[at % len(older)],) if older else (),
    )


MANY = (*LABS, *(heir(at, year) for at, year in enumerate(TO_COME)))
FULLEST = max((lab for lab in LABS if lab.year == 2018), key=lambda lab: len(lab.steps))
CARDS = """() => [...document.querySelectorAll(".tfe-home-card, .tfe-home-hero")].map((card) => {
  const { left, top, right, bottom } = card.getBoundingClientRect();
  return [left, top + scrollY, right, bottom + scrollY];
})"""


def apart(cards: list[list[float]]) -> bool:
    """Does no card lie over another?"""
    return all(
        a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        for at, a in enumerate(cards)
        for b in cards[at + 1 :]
    )


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    pages = {
        "family": lambda _lab, _engine: place_home(MANY, lecture="/lecture"),
        FULLEST.slug: lambda _lab, _engine: None,
    }
    return bench.put(__name__, pages, family=MANY)


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_24_cards_fit_the_screen(width: int, height: int, site: str, new_page: NEW) -> None:
    page, _ = new_page(width=width, height=height)
    page.goto(site + "/family")
    page.wait_for_selector(".tfe-home-lines path", state="attached")
    shown = page.evaluate(CARDS)
    assert len(shown) == 1 + len(MANY)
    assert apart(shown) and all(a[0] >= 0 and a[2] <= width for a in shown)
    legend = measure_box(page.locator(".tfe-home-legend"))
    assert legend["y"] + legend["height"] <= height
    for x in (0, width / 2):
        for y in (0, height / 2):
            inside = [
                one
                for one in shown
                if one[0] < x + width / 2 and one[2] > x and one[1] < y + height / 2 and one[3] > y
            ]
            assert inside, f"nothing stands in the quarter at {x}, {y}"


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_the_rail_unfolds_its_labs_year(site: str, new_page: NEW, locale: str) -> None:
    page, _ = new_page(width=1440, height=900, locale=locale)
    page.goto(f"{site}/{FULLEST.slug}")
    rail = page.locator(".tfe-shell-rail")
    rail.locator("[aria-current=page]").wait_for()
    shown = rail.locator(".tfe-shell-family a > span:visible").all_text_contents()
    assert sorted(shown) == sorted(lab.short[locale[:2]] for lab in MANY if lab.year == 2018)
    assert rail.evaluate("(rail) => rail.scrollHeight <= rail.clientHeight")
    high = rail.locator(".tfe-shell-family :is(a, summary)").evaluate_all(
        "(all) => all.map((one) => one.offsetHeight)"
    )
    assert set(high) <= {0, 24}  # every name on one line


def test_on_a_phone_every_lab_of_24_is_two_touches_away(site: str, new_page: NEW) -> None:
    page, _ = new_page(width=360, height=780, has_touch=True)
    page.goto(site + "/family")
    expect(page.locator(".tfe-home-card")).to_have_count(len(MANY))
    assert apart(page.evaluate(CARDS))
    page.locator(".tfe-shell-menu").tap()
    for year in page.locator(".tfe-shell-family summary").all():
        year.tap()
    links = page.locator(".tfe-shell-family a:visible")
    expect(links).to_have_count(len(MANY))
    assert min(links.evaluate_all("(all) => all.map((one) => one.offsetHeight)")) >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
