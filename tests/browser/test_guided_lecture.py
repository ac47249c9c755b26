"""The guided lecture in a real browser: from its page through every lab and back, by buttons, by keys and on the projector."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from playwright.sync_api import Page, expect

from explorer.labs import LABS
from explorer.widgets.base import asset
from explorer.widgets.lecture import lecture
from tests.browser.waiting import addressed, left, prepared
from tests.conftest import built
from tests.fitting import refused_by_axe, scrolls_sideways

NewPage = Callable[..., tuple[Page, Any]]
FIRST, LAST = LABS[0], LABS[-1]
FOCUS_NOWHERE = "document.activeElement.blur()"


def at(page: Page, path: str, step: int) -> None:
    """Waits until the browser stands at a step of the lecture, its note open."""
    page.wait_for_url(re.compile(rf"{re.escape(path)}\?(?=.*\bstep={step}\b)(?=.*\blecture=1\b)"))
    expect(page.locator(".tfe-shell-note")).to_be_visible()


def last_step(page: Page, site: str, lab: Any) -> None:
    """Opens a lab at its last step as the lecture comes to it; looked at already, so nothing is run."""
    page.goto(f"{site}{lab.path}?step={len(lab.steps)}&lecture=1&_thr=0")
    expect(page.locator(".tfe-shell-note")).to_be_visible()


def test_begin_opens_the_first_step_and_keys_walk_through_the_labs(new_page: NewPage, site: str) -> None:
    page, faults = new_page()
    page.goto(site)
    page.locator(".tfe-home-actions a", has_text="Start the guided lecture").click()
    page.wait_for_url(f"{site}/lecture*")
    links = page.locator(".tfe-lecture-steps a")
    expect(links).to_have_count(sum(len(lab.steps) for lab in LABS))
    expect(page.locator(".tfe-shell-nav [aria-current=page]")).to_have_text("Guided lecture")
    page.locator(".tfe-lecture-begin").click()
    at(page, FIRST.path, 1)
    expect(page.locator(".tfe-shell-nav [aria-current]", has_text="Guided lecture")).to_be_visible()
    page.evaluate(FOCUS_NOWHERE)
    page.keyboard.press("ArrowRight")
    at(page, FIRST.path, 2)
    page.keyboard.press("PageUp")
    at(page, FIRST.path, 1)
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"{site}/lecture*")
    left(faults)


def test_the_last_step_leads_into_the_next_lab_and_back(new_page: NewPage, site: str) -> None:
    page, faults = new_page()
    last_step(page, site, FIRST)
    page.evaluate(FOCUS_NOWHERE)
    page.keyboard.press("PageDown")
    at(page, LABS[1].path, 1)
    page.locator(".tfe-shell-rail .tfe-shell-back").click()
    at(page, FIRST.path, len(FIRST.steps))
    left(faults)


def test_the_last_step_of_all_ends_at_the_page_of_the_lecture_in_its_language(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}{LAST.path}?step={len(LAST.steps)}&lecture=1&_thr=0&lang=zh")
    button = page.locator(".tfe-shell-rail .tfe-shell-next")
    expect(button).to_have_text("讲座结束")
    button.click()
    page.wait_for_url(f"{site}/lecture*")
    expect(page.locator(".tfe-lecture-title")).to_have_text("导览讲座")
    assert "lang=zh" in str(page.locator(".tfe-lecture-begin").get_attribute("href"))


def test_a_projected_figure_stays_projected_from_one_lab_to_the_next(page_watch: Page, site: str) -> None:
    page = page_watch
    last_step(page, site, FIRST)
    page.wait_for_selector(".tfe-projectable:visible")
    page.evaluate(FOCUS_NOWHERE)
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-where")).to_have_text(f"Step {len(FIRST.steps)} of {len(FIRST.steps)}")
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile(re.escape(LABS[1].path)))
    expect(page.locator(".tfe-projector-where")).to_have_text(f"Step 1 of {len(LABS[1].steps)}")
    addressed(page, lecture="1")
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-shell-bar")).to_be_visible()


def test_outside_the_lecture_arrows_and_pages_stay_the_browser_s(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}{FIRST.path}?step=1&_thr=0")
    expect(page.locator(".tfe-shell-note")).to_be_visible()
    page.evaluate(FOCUS_NOWHERE)
    for key in ("ArrowRight", "PageDown"):
        page.keyboard.press(key)
    expect(page.locator(".tfe-shell-tour [aria-current=step]")).to_contain_text(FIRST.steps[0].title["en"])
    assert page.locator(".tfe-shell-rail .tfe-shell-back").is_disabled()


def test_the_page_of_the_lecture_fits_and_axe_finds_nothing(new_page: NewPage, site: str) -> None:
    page, _ = new_page(width=360, color_scheme="dark", locale="zh-CN")
    page.goto(f"{site}/lecture")
    expect(page.locator(".tfe-lecture-begin")).to_be_visible()
    for width, scheme in ((360, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert scrolls_sideways(page) == 0
        shown = ".tfe-lecture-hero, .tfe-lecture-lab:first-child"
        assert refused_by_axe(page, shown, only=[] if scheme == "dark" else ["color-contrast"]) == []


# Puts the page of a short lecture in place of the whole one, and prints it: which pictures stand there then.
PRINTED = """([script, props]) => new Promise((done) => tfeLoad(script).then(({ mount }) => {
  const root = document.querySelector(".tfe-lecture");
  root.replaceChildren();
  mount(root, props);
  window.print = () => done([...root.querySelectorAll(".tfe-lecture-steps img")].map((one) => one.naturalWidth));
  root.querySelector(".tfe-lecture-hero button").click();
}))"""


def test_every_step_has_a_picture_of_its_slide_in_the_handout(new_page: NewPage, site: str) -> None:
    prepared(site, FIRST.slug)
    lab: Any = SimpleNamespace(**{**vars(FIRST), "path": FIRST.path, "steps": FIRST.steps[:2]})
    short = built(lambda: lecture([lab]))
    page, faults = new_page()
    page.goto(f"{site}/lecture")
    expect(page.locator(".tfe-lecture-picture[src]").first).to_be_visible()  # drawn because it is in view
    assert page.evaluate(PRINTED, [asset("lecture.js"), short.props]) == [640, 640]
    page.emulate_media(media="print")
    expect(page.locator(".tfe-shell-bar, .tfe-lecture-hero button").filter(visible=True)).to_have_count(0)
    expect(page.locator(".tfe-lecture-say").last).to_be_visible()
    left(faults)


def test_without_scripts_the_lecture_can_still_be_read(new_page: NewPage, site: str) -> None:
    page, _ = new_page(java_script_enabled=False)
    page.goto(f"{site}/lecture")
    expect(page.locator("h2").first).to_contain_text(FIRST.title["en"])
    expect(page.locator("article").first).to_contain_text(LAST.steps[-1].say["en"])
