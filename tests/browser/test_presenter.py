"""The presenter's window in a real browser: it drives the window that projects, follows it, keeps
to its route, and knows the time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.components.presenter import ROUTES, plan_route
from explorer.labs import LABS
from tests.browser.staged import NEW
from tests.browser.waiting import becomes, left
from tests.fitting import refused_by_axe, scrolls_sideways
from tests.pages import watch

SHORT = [(LABS[of], number) for of, number, _ in plan_route(LABS, ROUTES[0])]
GUESSED = next(
    at for at, (lab, number) in enumerate(SHORT) if at and lab.steps[number - 1].guess is not None
)
LATER = "(minutes) => { const now = Date.now; Date.now = () => now() + 60000 * minutes; }"


def shows(hall: Page, at: int) -> None:
    """Waits until a window projects a step of the short route."""
    lab, number = SHORT[at]
    hall.wait_for_url(re.compile(rf"{re.escape(lab.path)}\?(?=.*\bstep={number}\b)"))
    expect(hall.locator(".tfe-projector-title")).to_have_text(
        lab.steps[number - 1].projected_question["en"]
    )


def opened(page: Page, site: str, at: int) -> Page:
    """The presenter's page at a step of the short route, and the window to project that its button
    opens."""
    page.goto(f"{site}/presenter")
    page.locator(
        ".tfe-presenter-go", has_text=SHORT[at][0].steps[SHORT[at][1] - 1].projected_question["en"]
    ).click()
    with page.context.expect_page() as arrival:
        page.get_by_role("button", name="Open the window to project").click()
    hall: Page = arrival.value
    shows(hall, at)
    expect(page.locator(".tfe-presenter-head .tfe-badge")).to_contain_text("projected")
    return hall


def test_it_drives_the_window_that_projects_and_follows_it(new_page: NEW, site: str) -> None:
    page, _ = new_page()
    # the first of these two leads into another lab, the second past a step that is not of the route
    begun = GUESSED - 2
    hall = opened(page, site, begun)
    faults = watch(hall, site)
    for at, window in enumerate((page, hall), begun + 1):  # both keep to the route
        window.keyboard.press("PageDown")
        shows(hall, at)
        expect(page.locator(".tfe-presenter-steps [aria-current=step]")).to_contain_text(
            SHORT[at][0].steps[SHORT[at][1] - 1].projected_question["en"]
        )
    guess = SHORT[GUESSED][0].steps[SHORT[GUESSED][1] - 1].guess
    assert guess is not None
    expect(hall.locator(".tfe-projector-guess")).to_be_visible()
    expect(page.locator(".tfe-presenter-notes")).to_contain_text(guess["en"])
    page.get_by_role("button", name="Show the figure").click()
    expect(hall.locator(".tfe-projector-cover")).to_be_hidden()
    said = hall.locator(".tfe-projected .tfe-words").filter(visible=True).first
    expect(said).not_to_be_empty()
    notes = page.locator(".tfe-presenter-notes")
    # as it stands once its exact weights have come
    becomes(page, lambda: said.inner_text() in notes.inner_text(), True)
    # to the first step of a lab, still projected
    page.locator(".tfe-presenter-bar button").nth(1).click()
    shows(hall, next(at for at, (other, _) in enumerate(SHORT) if other is LABS[1]))
    hall.close()
    expect(page.locator(".tfe-presenter-head .tfe-badge")).to_have_text("no window to project")
    left(faults)


def test_the_late_are_told_how_to_catch_up(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=900, color_scheme="dark")
    page.goto(f"{site}/presenter")
    late, here = (
        page.locator(".tfe-presenter-late"),
        page.locator(".tfe-presenter-steps [aria-current=step]"),
    )
    expect(late).to_contain_text("in time")
    expect(page.locator(".tfe-presenter-notes li").first).to_be_visible()
    expect(page.locator(".tfe-presenter-next img[src]")).to_be_visible()
    assert scrolls_sideways(page) == 0
    assert refused_by_axe(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    becomes(
        page, lambda: page.evaluate("document.documentElement.scrollHeight <= innerHeight"), True
    )
    page.keyboard.press("PageDown")
    page.evaluate(LATER, 4)
    expect(late).to_contain_text("behind")
    page.get_by_role("button", name="Skip them").click()
    expect(late).to_contain_text("in time")
    spared = (
        page.locator(".tfe-presenter-steps section")
        .filter(visible=True)
        .locator("li:has(.tfe-chip[aria-pressed=true])")
    )
    names = [name.splitlines()[1] for name in spared.all_inner_texts()]
    assert names
    visited = []
    for _ in range(4):
        page.keyboard.press("PageDown")
        visited.append(here.inner_text().splitlines()[1])
    assert not set(names) & set(visited)
    page.locator(".tfe-shell-lang").click()
    becomes(
        page, lambda: page.evaluate("document.documentElement.scrollHeight <= innerHeight"), True
    )


@pytest.mark.parametrize("minutes", ROUTES)
def test_a_route_leads_through_all_labs_and_takes_its_time(minutes: int) -> None:
    stops = plan_route(LABS, minutes)
    assert [of for of, _, _ in stops] == sorted(of for of, _, _ in stops)
    assert {of for of, _, _ in stops} == set(range(len(LABS)))
    assert sum(seconds for _, _, seconds in stops) == pytest.approx(60 * minutes)
    assert min(seconds for _, _, seconds in stops) >= 45
    assert all(LABS[of].steps[number - 1].show for of, number, _ in stops)
