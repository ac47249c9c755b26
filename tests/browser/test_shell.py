"""The frame around a lab, on bench pages with the steps of real labs: steps, the lecture, keys,
links, phones, projector mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest
from playwright.sync_api import Page, expect

from explorer.components.base import write_frontend_address
from explorer.components.lecture import place_lecture
from explorer.components.presenter import place_presenter
from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.bench import Bench
from tests.browser import attending
from tests.browser.staged import NEW
from tests.browser.waiting import addressed, becomes


class Benched(OpenLab):
    """A lab at the address of its bench page."""

    @property
    def path(self) -> str:
        """Where it stands."""
        return f"/bench/{__name__}/{self.slug}"


# Of the panels that their steps speak of, the one about attention stands there.
FAMILY = [
    Benched(**vars(lab) | {"steps": [replace(step, figure="") for step in lab.steps]})
    for lab in (*(lab for lab in LABS if lab.slug in {"translation", "reformer"}), LABS[-1])
]
LAB, NEXT, LAST = FAMILY
# the first of the family
CLOSED = Benched(**vars(next(lab for lab in LABS if lab.slug == "bert")) | {"steps": ()})
STATE, SLIDES = write_frontend_address("lib/state.js"), write_frontend_address("lib/slides.js")
BACK, ON = ".tfe-shell-rail .tfe-shell-back", ".tfe-shell-rail .tfe-shell-next"


def page_of(lab: Any, engine: object) -> None:
    """A picture, and a field that wants letters."""
    gr.Textbox(label="field")
    attending.page_of("trial")(lab, engine)


def closed_page(lab: Any, engine: object) -> None:
    """Nothing to look at."""
    gr.Textbox(label="field")


def lecture_of(lab: Any, engine: object) -> None:
    """The page of the lecture."""
    place_lecture([CLOSED, *FAMILY])


def presenter_of(lab: Any, engine: object) -> None:
    """The page of the presenter."""
    place_presenter([CLOSED, *FAMILY])


@pytest.fixture(scope="module")
def site(bench: Bench) -> Iterator[str]:
    """The address of the bench pages."""
    bench.lecture = "/lecture"
    pages = {lab.slug: page_of for lab in FAMILY} | {
        CLOSED.slug: closed_page,
        "begins": lecture_of,
        "presents": presenter_of,
    }
    yield bench.put(__name__, pages, family=[CLOSED, *FAMILY])
    bench.lecture = None


def opened(page: Page, site: str, lab: OpenLab = LAB, query: str = "") -> Page:
    """The page of a lab once its frame and its picture are alive; what is no page of these is one
    with nothing on it."""
    page.route(
        re.compile(r"//[^/]+/(lecture)?(\?.*)?$"),
        lambda route: route.fulfill(content_type="text/html", body="<title>x</title>"),
    )
    page.goto(f"{site}/{lab.slug}?{query}")
    page.wait_for_selector(".tfe-shell-bar")
    page.wait_for_selector("[data-drawn]", state="attached")
    page.evaluate("document.activeElement.blur()")
    return page


def at(page: Page, lab: OpenLab, step: int, **more: str) -> None:
    """Waits until the browser stands at a step of a lab, its note open."""
    page.wait_for_url(re.compile(rf"{re.escape(lab.path)}\?(?=.*\bstep={step}\b)"))
    addressed(page, step=str(step), **more)
    expect(page.locator(".tfe-shell-note")).to_contain_text(lab.steps[step - 1].title["en"])


def test_next_and_back_lead_through_the_labs(page_watch: Page, site: str) -> None:
    page, note = opened(page_watch, site), page_watch.locator(".tfe-shell-note")
    expect(note).to_be_hidden()
    page.locator(ON).click()
    at(page, LAB, 1)
    expect(note).to_contain_text(LAB.steps[0].say["en"])
    page.locator(ON).click()
    at(page, LAB, 2, **{f"_{key}": value for key, value in LAB.steps[1].view.items()})
    expect(page.locator(".tfe-shell-tour [aria-current=step]")).to_contain_text(
        LAB.steps[1].title["en"]
    )
    page.locator(BACK).click()
    at(page, LAB, 1)
    page.evaluate("document.activeElement.blur()")
    for key in ("ArrowRight", "PageDown"):  # outside the lecture they are the browser's
        page.keyboard.press(key)
    at(page, LAB, 1)
    assert page.locator(BACK).is_disabled()
    opened(page, site, LAB, f"step={len(LAB.steps)}&_thr=0").locator(ON).click()
    at(page, NEXT, 1, lecture=None)
    opened(page, site, LAST, f"step={len(LAST.steps)}&_thr=0").locator(ON).click()
    page.wait_for_url(re.compile(r"//[^/]+/(\?.*)?$"))


def test_lecture_keys_lead_from_lab_to_lab(page_watch: Page, site: str) -> None:
    page, where = page_watch, page_watch.locator(".tfe-projector-where")
    opened(page, site, LAB, f"step={len(LAB.steps)}&lecture=1&_thr=0").keyboard.press("PageDown")
    at(page, NEXT, 1, lecture="1")
    page.locator(BACK).click()
    at(page, LAB, len(LAB.steps), lecture="1")
    page.wait_for_selector(".tfe-projectable:visible")
    page.keyboard.press("p")
    expect(where).to_have_text(f"Step {len(LAB.steps)} of {len(LAB.steps)}")
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile(re.escape(NEXT.path)))
    expect(where).to_have_text(f"Step 1 of {len(NEXT.steps)}")
    addressed(page, lecture="1")
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-shell-bar")).to_be_visible()
    opened(page, site, LAB, "step=1&lecture=1&_thr=0").keyboard.press("ArrowLeft")
    page.wait_for_url("**/lecture*")
    button = opened(page, site, LAST, f"step={len(LAST.steps)}&lecture=1&_thr=0&lang=zh").locator(
        ON
    )
    expect(button).to_have_text("讲座结束")
    button.click()
    page.wait_for_url("**/lecture?lang=zh")


# A presenter's window asks whoever projects for a step of another lab.
PRESENTS = """(path) => { const line = new BroadcastChannel("tfe-lecture");
    line.onmessage = ({ data }) => data.hall
        && line.postMessage({ presenter: "asks", to: data.hall, go: { path, step: 2 } });
    line.postMessage({ presenter: "here" }); }"""


def test_a_projected_window_stays_projected(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, LAB, "step=1&_thr=0")
    page.wait_for_selector(".tfe-projectable:visible")
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-where")).to_have_text(f"Step 1 of {len(LAB.steps)}")
    page.evaluate(PRESENTS, NEXT.path)
    page.wait_for_url(re.compile(re.escape(NEXT.path)))
    expect(page.locator(".tfe-projector-where")).to_have_text(f"Step 2 of {len(NEXT.steps)}")


def test_a_closed_lab_is_no_dead_end_of_the_lecture(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}/begins?lang=en")
    expect(page.locator(".tfe-lecture-begin")).to_have_attribute(
        "href", re.compile(rf"{LAB.path}\?")
    )
    page.goto(f"{site}/{CLOSED.slug}?lecture=1&lang=en")
    expect(page.locator(".tfe-shell-bar")).to_be_visible()
    page.keyboard.press("PageDown")
    at(page, LAB, 1, lecture="1")


def test_a_missing_step_is_forgotten(page_watch: Page, site: str) -> None:
    page_watch.add_init_script(
        "sessionStorage.setItem('tfe-presenter', JSON.stringify({ at: 99 }))"
    )
    page_watch.goto(f"{site}/presents?lang=en")
    expect(page_watch.locator(".tfe-presenter-steps [aria-current=step]")).to_contain_text(
        LAB.steps[0].projected_question["en"]
    )


# A slide of which the browser draws no picture at first, and the first letters of the addresses
# that are given for it.
ASKED_TWICE = """async ([address, path]) => { const drawing = (await import(address)).slides(),
    { decode } = Image.prototype;
    Image.prototype.decode = () => Promise.reject(new Error("not now"));
    const first = await drawing.want(path, 2);
    Image.prototype.decode = decode;
    return [first, (await drawing.want(path, 2))?.slice(0, 5)]; }"""


def test_a_failed_slide_is_drawn_on_request(page_watch: Page, site: str) -> None:
    page_watch.goto(f"{site}/begins?lang=en")
    expect(page_watch.locator(".tfe-lecture-begin")).to_be_visible()
    assert page_watch.evaluate(ASKED_TWICE, [SLIDES, LAB.path]) == [None, "blob:"]


def test_slides_are_light_for_paper(page_watch: Page, site: str) -> None:
    page_watch.add_init_script("sessionStorage.setItem('tfe-theme', 'dark')")
    page = page_watch  # its bar is hidden as soon as the figure is projected
    page.goto(f"{site}/{LAB.slug}?step=1&_thr=0&lecture=frame")
    expect(page.locator("body")).to_have_class(re.compile("tfe-projecting"))
    expect(page.locator("body")).not_to_have_class(re.compile("dark"))


def test_the_link_is_copied_or_taken_by_hand(new_page: NEW, site: str) -> None:
    page, _ = new_page(permissions=["clipboard-read", "clipboard-write"])
    copy, field = (
        opened(page, site, LAB, "step=1&_thr=0").locator(".tfe-shell-copy"),
        page.locator(".tfe-shell-refusal input"),
    )
    copy.click()
    expect(copy).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    copy.click()
    expect(field).to_be_focused()
    expect(field).to_have_value(page.url)
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(copy).to_be_focused()


def test_the_first_tab_leads_past_the_frame(page_watch: Page, site: str) -> None:
    page, sheet = opened(page_watch, site), page_watch.locator(".tfe-shell-sheet")
    page.keyboard.press("Tab")
    expect(page.locator(".tfe-shell-skip")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "tfe-main"
    page.keyboard.press("?")
    expect(sheet).to_contain_text("another head")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    field = page.locator("main textarea").first
    field.press_sequentially("p?p")
    expect(field).to_have_value("p?p")
    expect(page.locator("body")).not_to_have_class(re.compile("tfe-projecting"))
    expect(sheet).to_be_hidden()


SMALL = """() => [...document.querySelectorAll('body *')].filter((e) => {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = e.getBoundingClientRect();
    if (e.matches("button.on-bench")) return false; // none of ours
    return own && box.width > 1 && box.height > 1
        && e.checkVisibility({opacityProperty: true, visibilityProperty: true})
        && parseFloat(getComputedStyle(e).fontSize)
            * (e.ownerSVGElement?.getScreenCTM().a ?? 1) < 19.9;
}).map((e) => e.outerHTML.slice(0, 100))"""


def test_the_projector_shows_one_figure(new_page: NEW, site: str) -> None:
    page, _ = new_page(color_scheme="dark")
    where, ground = (
        page.locator(".tfe-projector-where"),
        "getComputedStyle(document.body).backgroundColor",
    )
    opened(page, site, LAB, "step=1&_thr=0").wait_for_selector(".tfe-projectable:visible")
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).not_to_be_empty()
    expect(where).to_have_text(f"Step 1 of {len(LAB.steps)}")
    expect(page.locator(".tfe-shell-bar")).to_be_hidden()
    assert page.locator(".tfe-projectable:visible").count() == 1
    assert page.evaluate(ground) == "rgb(244, 246, 249)", (
        "light, unless the visitor chose otherwise by hand"
    )
    page.wait_for_function("document.querySelector('.tfe-projector-code').naturalWidth > 0")
    # the figure is drawn anew, larger, a moment after it stands alone
    becomes(page, lambda: page.evaluate(SMALL), [])
    for key, step in (("PageDown", 2), ("PageUp", 1)):
        page.keyboard.press(key)
        expect(where).to_have_text(f"Step {step} of {len(LAB.steps)}")
    page.evaluate(
        "async (at) => { const { bus, refuseLink } = await import(at); refuseLink({ en: '' });"
        " bus.fire('asking'); }",
        STATE,
    )
    expect(page.locator(".tfe-projector-code")).to_be_hidden()  # a run that no link holds
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-shell-bar")).to_be_visible()
    assert page.evaluate(ground) == "rgb(11, 17, 29)"
    page.locator(".tfe-stage-take summary").click()
    expect(page.locator(".tfe-stage-take .tfe-export").first).to_be_visible()
    expect(page.locator(".tfe-stage-take a")).to_be_hidden()


def test_on_a_phone_the_rail_is_a_drawer(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, has_touch=True)
    rail, menu, foot = (
        opened(page, site).locator(".tfe-shell-rail"),
        page.locator(".tfe-shell-menu"),
        page.locator(".tfe-shell-foot"),
    )
    expect(rail).to_be_hidden()
    foot.locator(".tfe-shell-next").click()
    expect(foot).to_contain_text(f"Step 1 of {len(LAB.steps)}")
    menu.click()
    expect(rail).to_be_visible()
    expect(page.locator(".tfe-shell-close")).to_be_focused()
    assert page.evaluate("document.querySelector('gradio-app').inert")
    page.keyboard.press("Escape")
    expect(rail).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    page.locator(".tfe-shell-tour button").nth(1).click()
    expect(foot).to_contain_text(LAB.steps[1].title["en"])
    expect(rail).to_be_hidden()
    menu.click()
    page.set_viewport_size({"width": 780, "height": 360})
    expect(page.locator(".tfe-shell-veil")).to_be_hidden()
    assert not page.evaluate("document.querySelector('gradio-app').inert")
