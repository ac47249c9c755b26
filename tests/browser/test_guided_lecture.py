"""The guided lecture in a real browser: from its page through every lab and back, by buttons, by
keys and on the projector."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from playwright.sync_api import Page, expect

from explorer.components.base import write_frontend_address
from explorer.components.lecture import place_lecture
from explorer.labs import LABS
from tests.browser.staged import NEW
from tests.browser.waiting import becomes, left, prepared
from tests.conftest import built
from tests.fitting import refused_by_axe, scrolls_sideways

FIRST, LAST = LABS[0], LABS[-1]
RECURRENT = next(lab for lab in LABS if lab.slug == "rnn_attention")


def at(page: Page, path: str, step: int) -> None:
    """Waits until the browser stands at a step of the lecture, its note open."""
    page.wait_for_url(re.compile(rf"{re.escape(path)}\?(?=.*\bstep={step}\b)(?=.*\blecture=1\b)"))
    expect(page.locator(".tfe-shell-note")).to_be_visible()


def test_keys_walk_through_the_lecture(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    page.goto(f"{site}/lecture")
    links = page.locator(".tfe-lecture-steps a")
    expect(links).to_have_count(sum(len(lab.steps) for lab in LABS))
    expect(page.locator(".tfe-shell-nav [aria-current=page]")).to_have_text("Guided lecture")
    page.locator(".tfe-lecture-begin").click()
    at(page, FIRST.path, 1)
    expect(page.locator(".tfe-shell-nav [aria-current]", has_text="Guided lecture")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    at(page, FIRST.path, 2)
    page.keyboard.press("PageUp")
    at(page, FIRST.path, 1)
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"{site}/lecture*")
    left(faults)


def test_a_step_is_projected_with_its_figure(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=1280, height=720)
    steps = {
        step.figure_name: (number, step.projected_question["en"])
        for number, step in enumerate(RECURRENT.steps, 1)
    }
    number, question = steps["sum"]
    page.goto(f"{site}{RECURRENT.path}?step={number - 1}&lecture=projector")
    expect(page.locator(".tfe-attention.tfe-projected")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(page.locator(".tfe-sum .tfe-projected")).to_be_visible()
    expect(page.locator(".tfe-projector-title")).to_have_text(question)
    expect(page.locator(".tfe-attention")).to_be_hidden()
    for _ in range(len(RECURRENT.steps) - number):
        page.keyboard.press("PageDown")
    expect(page.locator(".tfe-projector-title")).to_have_text(
        RECURRENT.steps[-1].projected_question["en"]
    )
    page.wait_for_selector(".tfe-overlap .tfe-projected [data-plot=stands]")
    covered = """() => { const code =
        document.querySelector(".tfe-projector-code").getBoundingClientRect();
        return [...document.querySelectorAll(".tfe-projected :is(.tfe-words, [data-plot])")]
            .map((one) => one.getBoundingClientRect())
            .filter((box) => box.bottom > innerHeight
                || (box.right > code.left && box.bottom > code.top)).length; }"""
    becomes(page, lambda: page.evaluate(covered), 0)


def test_the_page_of_the_lecture_fits_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, color_scheme="dark", locale="zh-CN")
    page.goto(f"{site}/lecture")
    expect(page.locator(".tfe-lecture-begin")).to_be_visible()
    for width, scheme in ((360, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert scrolls_sideways(page) == 0
        shown = ".tfe-lecture-hero, .tfe-lecture-lab:first-child"
        assert (
            refused_by_axe(page, shown, only=[] if scheme == "dark" else ["color-contrast"]) == []
        )


# Puts the page of a short lecture in place of the whole one, and prints it: which pictures stand
# there then.
PRINTED = """([script, props]) => new Promise((done) => tfeLoad(script).then(({ mount }) => {
  const root = document.querySelector(".tfe-lecture");
  root.replaceChildren();
  mount(root, props);
  window.print = () => done([...root.querySelectorAll(".tfe-lecture-steps img")]
      .map((one) => one.naturalWidth));
  root.querySelector(".tfe-lecture-hero button").click();
}))"""


def test_every_step_has_a_picture_of_its_slide_in_the_handout(new_page: NEW, site: str) -> None:
    prepared(site, FIRST.slug)
    lab: Any = SimpleNamespace(**{**vars(FIRST), "path": FIRST.path, "steps": FIRST.steps[:2]})
    short = built(lambda: place_lecture([lab]))
    page, faults = new_page()
    page.goto(f"{site}/lecture")
    # drawn because it is in view
    expect(page.locator(".tfe-lecture-picture[src]").first).to_be_visible()
    assert page.evaluate(
        PRINTED, [write_frontend_address("components/lecture.js"), short.props]
    ) == [640, 640]
    page.emulate_media(media="print")
    expect(
        page.locator(".tfe-shell-bar, .tfe-lecture-hero button").filter(visible=True)
    ).to_have_count(0)
    expect(page.locator(".tfe-lecture-say").last).to_be_visible()
    left(faults)


def test_without_scripts_the_lecture_can_still_be_read(new_page: NEW, site: str) -> None:
    page, _ = new_page(java_script_enabled=False)
    page.goto(f"{site}/lecture")
    expect(page.locator("h2").first).to_contain_text(FIRST.title["en"])
    expect(page.locator("article").first).to_contain_text(LAST.steps[-1].say["en"])
