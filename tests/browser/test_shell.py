"""The frame in a real browser: steps, keys, languages, themes, links, phones, projector mode, and the family map."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from explorer.labs import LABS
from tests.browser.waiting import addressed, becomes

LAB, RECURRENT = (next(lab for lab in LABS if lab.slug == slug) for slug in ("translation", "rnn_attention"))
NewPage = Callable[..., tuple[Page, Any]]


def visit(page: Page, address: str) -> Page:
    """Opens an address and waits until frame and page are alive."""
    page.goto(address)
    page.wait_for_selector(".tfe-shell-bar")
    page.wait_for_selector("h1")
    return page


# --- guided steps ---------------------------------------------------------------------------------------------------


def test_next_and_back_walk_through_the_steps_in_the_address(page_watch: Page, site: str) -> None:
    page = visit(page_watch, site + LAB.path)
    note = page.locator(".tfe-shell-note")
    expect(note).to_be_hidden()
    page.locator(".tfe-shell-rail .tfe-shell-next").click()
    expect(note).to_contain_text(LAB.steps[0].say["en"])
    addressed(page, step="1")
    page.locator(".tfe-shell-rail .tfe-shell-next").click()
    expect(note).to_contain_text(LAB.steps[1].title["en"])
    addressed(page, **{f"_{key}": value for key, value in LAB.steps[1].view.items()})
    expect(page.locator(".tfe-shell-tour [aria-current=step]")).to_contain_text(LAB.steps[1].title["en"])
    page.locator(".tfe-shell-rail .tfe-shell-back").click()
    expect(note).to_contain_text(LAB.steps[0].title["en"])


def test_after_the_last_step_comes_the_first_of_the_next_lab(page_watch: Page, site: str) -> None:
    page = visit(page_watch, f"{site}{LAB.path}?step={len(LAB.steps)}&_kind=cross")  # looked at already: nothing is run
    page.locator(".tfe-shell-rail .tfe-shell-next").click()
    page.wait_for_url(re.compile(re.escape(site + LABS[LABS.index(LAB) + 1].path) + r"\?.*\bstep=1\b"))


def test_after_the_last_step_of_all_comes_the_family_map(page_watch: Page, site: str) -> None:
    page = visit(page_watch, f"{site}{LABS[-1].path}?step={len(LABS[-1].steps)}&_pos=1")
    page.locator(".tfe-shell-rail .tfe-shell-next").click()
    page.wait_for_url(re.compile(re.escape(site) + r"/(\?.*)?$"))


# --- language, light and dark ---------------------------------------------------------------------------------------


# --- links ----------------------------------------------------------------------------------------------------------


def test_copy_link_copies_the_address_and_says_so(new_page: NewPage, site: str) -> None:
    page, _ = new_page(permissions=["clipboard-read", "clipboard-write"])
    visit(page, f"{site}{LAB.path}?step=1")
    page.wait_for_load_state("networkidle")  # the result of the step may still write to the address
    page.locator(".tfe-shell-copy").click()
    expect(page.locator(".tfe-shell-copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_where_copying_is_refused_the_link_can_be_taken_by_hand(page_watch: Page, site: str) -> None:
    page_watch.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page = visit(page_watch, site + LAB.path)
    page.locator(".tfe-shell-copy").click()
    field = page.locator(".tfe-shell-refusal input")
    expect(field).to_be_focused()
    expect(field).to_have_value(page.url)
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(page.locator(".tfe-shell-copy")).to_be_focused()


# --- keys -----------------------------------------------------------------------------------------------------------


def test_the_question_mark_shows_every_key_and_escape_puts_it_away(page_watch: Page, site: str) -> None:
    page = visit(page_watch, site + LAB.path)
    page.keyboard.press("?")
    expect(page.locator(".tfe-shell-sheet")).to_contain_text("another head")
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-shell-sheet")).to_be_hidden()


def test_letters_typed_into_a_field_stay_letters(page_watch: Page, site: str) -> None:
    page = visit(page_watch, site + LAB.path)
    field = page.locator("main textarea").first
    field.fill("")
    field.press_sequentially("p?p")
    expect(field).to_have_value("p?p")
    assert "tfe-projecting" not in (page.locator("body").get_attribute("class") or "")
    expect(page.locator(".tfe-shell-sheet")).to_be_hidden()


def test_the_first_tab_leads_past_the_frame(page_watch: Page, site: str) -> None:
    page = visit(page_watch, site + LAB.path)
    page.keyboard.press("Tab")
    expect(page.locator(".tfe-shell-skip")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "tfe-main"
    assert page.locator("main h1").count() == 1


# --- projector mode -------------------------------------------------------------------------------------------------


def test_projector_mode_shows_one_figure_large_with_a_code_for_the_audience(new_page: NewPage, site: str) -> None:
    page, _ = new_page(color_scheme="dark")
    visit(page, f"{site}{LAB.path}?step=1")
    page.wait_for_selector(".tfe-projectable:visible")
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).not_to_be_empty()
    expect(page.locator(".tfe-projector-where")).to_have_text(f"Step 1 of {len(LAB.steps)}")
    expect(page.locator(".tfe-shell-bar")).to_be_hidden()
    assert page.locator(".tfe-projectable:visible").count() == 1
    # Light, unless the visitor chose otherwise by hand.
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 249)"
    page.wait_for_function("document.querySelector('.tfe-projector-code').naturalWidth > 0")
    small = """() => [...document.querySelectorAll('body *')].filter((e) => {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        const box = e.getBoundingClientRect();
        return own && box.width > 1 && box.height > 1 && e.checkVisibility({opacityProperty: true, visibilityProperty: true})
            && parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement?.getScreenCTM().a ?? 1) < 19.9;
    }).map((e) => e.outerHTML.slice(0, 100))"""
    becomes(page, lambda: page.evaluate(small), [])  # the figure is drawn anew, larger, a moment after it stands alone
    page.keyboard.press("PageDown")
    expect(page.locator(".tfe-projector-where")).to_have_text(f"Step 2 of {len(LAB.steps)}")
    page.keyboard.press("PageUp")
    expect(page.locator(".tfe-projector-where")).to_have_text(f"Step 1 of {len(LAB.steps)}")
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-shell-bar")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(11, 17, 29)"


def test_a_step_is_projected_with_its_own_question_and_figure_and_nothing_lies_under_the_code(new_page: NewPage, site: str) -> None:
    page, _ = new_page(width=1280, height=720)
    steps = {step.shows: (number, step.asks["en"]) for number, step in enumerate(RECURRENT.steps, 1)}
    number, question = steps["sum"]
    page.goto(f"{site}{RECURRENT.path}?step={number - 1}&lecture=projector")
    expect(page.locator(".tfe-attention.tfe-projected")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(page.locator(".tfe-sum .tfe-projected")).to_be_visible()
    expect(page.locator(".tfe-projector-title")).to_have_text(question)
    expect(page.locator(".tfe-attention")).to_be_hidden()
    for _ in range(len(RECURRENT.steps) - number):
        page.keyboard.press("PageDown")
    expect(page.locator(".tfe-projector-title")).to_have_text(RECURRENT.steps[-1].asks["en"])
    page.wait_for_selector(".tfe-overlap .tfe-projected [data-plot=stands]")
    covered = """() => { const code = document.querySelector(".tfe-projector-code").getBoundingClientRect();
        return [...document.querySelectorAll(".tfe-projected :is(.tfe-words, [data-plot])")].map((one) => one.getBoundingClientRect())
            .filter((box) => box.bottom > innerHeight || (box.right > code.left && box.bottom > code.top)).length; }"""
    becomes(page, lambda: page.evaluate(covered), 0)


# --- phones ---------------------------------------------------------------------------------------------------------


def test_on_a_phone_the_rail_is_a_drawer_and_the_steps_stand_at_the_foot(new_page: NewPage, site: str) -> None:
    page, _ = new_page(width=360, height=780, has_touch=True)
    visit(page, site + LAB.path)
    rail = page.locator(".tfe-shell-rail")
    expect(rail).to_be_hidden()
    page.locator(".tfe-shell-foot .tfe-shell-next").click()
    expect(page.locator(".tfe-shell-foot")).to_contain_text(f"Step 1 of {len(LAB.steps)}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".tfe-shell-menu").click()
    expect(rail).to_be_visible()
    expect(page.locator(".tfe-shell-close")).to_be_focused()
    assert page.evaluate("document.querySelector('gradio-app').inert")
    page.keyboard.press("Escape")
    expect(rail).to_be_hidden()
    expect(page.locator(".tfe-shell-menu")).to_be_focused()
    page.locator(".tfe-shell-menu").click()
    page.locator(".tfe-shell-tour button").nth(1).click()
    expect(page.locator(".tfe-shell-foot")).to_contain_text(LAB.steps[1].title["en"])
    expect(rail).to_be_hidden()


# --- the family map -------------------------------------------------------------------------------------------------


def test_the_map_opens_every_lab(page_watch: Page, site: str) -> None:
    page = visit(page_watch, site)
    cards = page.locator(".tfe-home-card")
    expect(cards).to_have_count(len(LABS))
    assert {cards.nth(at).get_attribute("href") for at in range(len(LABS))} == {site + lab.path for lab in LABS}
    page.locator(f".tfe-home-card[href$='{LAB.path}']").click()
    page.wait_for_url(f"{site}{LAB.path}*")
