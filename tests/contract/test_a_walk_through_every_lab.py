"""Every lab from its first look through all its guided steps to a link: one page per lab for all
these promises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.projected import FIRST
from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.browser.waiting import START, addressed, becomes, exact, prepared
from tests.contract.conftest import on_its_page
from tests.contract.test_back_and_forward_go_through_runs_and_steps import address, controls, goes
from tests.contract.test_the_badge_says_where_a_result_comes_from import RESULT
from tests.fitting import refused_by_axe, scrolls_sideways
from tests.known import known
from tests.pages import PATIENCE, Contexts, Faults, watch
from tests.visits import AT_WORK, Visit

FIGURE = ".tfe-projected .tfe-words"
HOSTILE = "<img src=x onerror=alert(1)>"
# What every view in sight says of itself.
SENTENCES = """() => [...document.querySelectorAll("[data-view] .tfe-words")]
    .filter((one) => one.checkVisibility())
    .map((one) => [one.closest("[data-view]").dataset.view, one.textContent])"""
PLACES = """(name) => {
    const [said, shown] = [".tfe-shell-note", name]
        .map((one) => document.querySelector(one).getBoundingClientRect());
    return [said.bottom, shown.top, shown.bottom, innerHeight];
}"""
# Presses one part of the network after the other, without waiting for what an earlier one has asked
# the model; those that are not lit, or whose panel does not come into view, and the panel of the
# last. Of two alike both are pressed; one of another task is not offered.
PARTS = """async ([parts, patience]) => {
  const buttons = [...document.querySelectorAll(".tfe-shell-network li:not([hidden]) button")],
      failed = [];
  let last = null;
  for (const [name, panel] of parts)
    for (const button of buttons.filter((one) => one.checkVisibility()
        && one.textContent.trim() === name)) {
      button.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
      button.click();
      last = panel;
      const leads = () => {
        const { top, bottom } = document.querySelector(panel).getBoundingClientRect();
        return button.getAttribute("aria-current") === "location" && bottom > 0
            && top < innerHeight;
      };
      const end = performance.now() + patience;
      while (!leads() && performance.now() < end) await new Promise(requestAnimationFrame);
      if (!leads()) failed.push(name);
    }
  return [failed, last];
}"""
# Which views show what the page was written with, while the link's own answer is on its way.
OTHERS = """const others = (window.others = []);
(function look() {
    const waits = /[?&]v=/.test(location.search)
        && (document.querySelector("[data-view=ask]")?.dataset.wish ?? "0") === "0";
    if (!waits) return;
    for (const one of document.querySelectorAll(
        ".tfe-projectable[data-wish='0'] :is(canvas, svg, .tfe-words)"))
        if (one.checkVisibility({ visibilityProperty: true }))
            others.push(one.closest("[data-view]").dataset.view);
    requestAnimationFrame(look);
})();"""
# What stands on the first screen, and where each part of it ends.
HEIGHTS = """() => [...document.querySelectorAll(
    ".tfe-main :is(section, header, form, .tfe-projectable, .tfe-words, [role=alert])")]
  .map((one) => [one.className.slice(0, 60), ...["top", "bottom"]
      .map((side) => Math.round(one.getBoundingClientRect()[side]))])
  .filter(([, top, bottom]) => bottom > top && top < innerHeight)"""
# A field of each lab's link that must be refused: what it says, and what the refusal must name.
NONSENSE = {
    "cost": ("task=sort", "sort"),
    "translation": ("sentence=A+dog.&beam=x", "beam"),
    "image_transformer": ("mode=dream", "dream"),
    "music": ("style=polka", "polka"),
    "transformer_xl": ("length=x", "length"),
    "adaptive_span": ("length=x", "length"),
    "sparse_transformer": ("keep=x", "keep"),
    "reformer": ("rounds=99", "99"),
    "act_rnn": ("task=sort", "sort"),
    "universal_transformer": ("task=sort", "sort"),
} | known("NONSENSE")


def settled(page: Page) -> None:
    """Waits until nothing on the page is being computed or drawn any more."""
    expect(page.locator(".tfe-badge").first).to_have_text(RESULT)
    expect(page.locator(AT_WORK)).to_have_count(0, timeout=START * 1000)


def step(page: Page, number: int) -> None:
    """Opens a guided step, as a visitor does."""
    page.locator(f".tfe-shell-tour li:nth-child({number}) button").click()
    expect(page.locator(".tfe-shell-tour [aria-current=step]")).to_have_attribute(
        "aria-label", re.compile(rf"^{number}, ")
    )


@pytest.fixture(scope="module", params=on_its_page(0))
def walk(
    request: pytest.FixtureRequest, visited: Visit, site: str
) -> Iterator[tuple[Page, Faults, OpenLab]]:
    """(page, its faults, lab), opened wide at the bare address once the server holds the lab's
    examples and steps; then it is visited."""
    prepared(site, request.param.slug)
    failed = request.session.testsfailed
    page = visited.anew(request.param.path, width=1440)
    settled(page)
    yield page, visited.faults, request.param
    if request.session.testsfailed > failed:
        page.close()


def test_it_opens_with_a_stored_result(
    walk: tuple[Page, Faults, OpenLab],
) -> None:
    page, faults, _ = walk
    expect(page.locator(".tfe-badge").first).to_have_text("stored")
    said = page.evaluate(SENTENCES)
    assert said and all(len(text) > 20 for _, text in said), said
    assert page.locator(".tfe-card-head .tfe-card-pairs dt").count() == 4
    assert [asked for asked in faults.requests if "/queue/" in asked] == [], (
        "before any model is asked"
    )


def test_its_first_screen_has_a_figure(
    walk: tuple[Page, Faults, OpenLab],
) -> None:
    page, _, _ = walk
    becomes(page, lambda: page.evaluate(FIRST)["sentence"] or page.evaluate(HEIGHTS), True)


def test_each_part_leads_to_its_panel(
    walk: tuple[Page, Faults, OpenLab],
) -> None:
    page, _, lab = walk
    expect(page.locator(".tfe-shell-network [aria-current]")).to_have_count(1)
    parts = [[part.name["en"], f".tfe-{part.panel}"] for column in lab.network for part in column]
    failed, last = page.evaluate(PARTS, [parts, PATIENCE])
    assert failed == []
    settled(page)
    expect(page.locator(last).first).to_be_in_viewport()  # nobody is called back by a late answer


def test_every_step_restores_its_view_without_the_queue(walk: tuple[Page, Faults, OpenLab]) -> None:
    page, faults, lab = walk
    page.set_viewport_size({"width": 1280, "height": 900})
    for number, one in enumerate(lab.steps, 1):
        step(page, number)
        expect(page.get_by_text(one.say["en"]).first).to_be_visible()
        kept = {key: values[0] for key, values in parse_qs(one.query).items()}
        addressed(
            page, step=str(number), **kept, **{f"_{key}": value for key, value in one.view.items()}
        )
        settled(page)
        # and not that the controls hold another wish
        expect(page.locator(".tfe-badge").first).to_have_text(RESULT)
        if one.figure_name:
            panel = page.locator(f".tfe-{one.figure_name}").first
            becomes(page, lambda panel=panel: len(panel.inner_text()) > 20, True)  # type: ignore[misc]
        assert all(len(text) > 20 for _, text in page.evaluate(SENTENCES)), one.title["en"]
    runs = [asked for asked in faults.requests if "/queue/join" in asked]
    assert len(runs) <= sum(len(one.view) for one in lab.steps), (
        "a step asks for what it unfolds, not for its run"
    )


def test_history_restores_input_and_view(
    walk: tuple[Page, Faults, OpenLab],
) -> None:
    page, _, lab = walk
    badge, last = page.locator(".tfe-badge").first, len(lab.steps)
    step(page, 1)
    settled(page)
    first, entries = (address(page), controls(page)), page.evaluate("history.length")
    step(page, last)
    settled(page)
    # where something is changed, Escape takes that off
    if not page.locator(".tfe-changed-chip").is_visible():
        page.keyboard.press("Escape")
    page.evaluate("tfeLoad('/ui/-/frontend/lib/state.js').then(({view}) => view.set({looked: 1}))")
    becomes(page, lambda: "_looked=1" in address(page), True)
    assert page.evaluate("history.length") == entries + 1, (
        "a step is an entry, what is looked at is none"
    )
    at_last = address(page), controls(page)
    for by, number, there in ((-1, 1, first), (1, last, at_last)):
        goes(page, by)
        becomes(page, lambda: (address(page), controls(page)), there)
        expect(page.locator(".tfe-shell-tour [aria-current=step]")).to_have_attribute(
            "aria-label", re.compile(rf"^{number}, ")
        )
        expect(badge).to_have_text(re.compile("^remembered$|^stored$"))


def test_its_link_shows_the_same_elsewhere(
    walk: tuple[Page, Faults, OpenLab], contexts: Contexts, site: str
) -> None:
    page, _, lab = walk
    step(page, max(number for number, one in enumerate(lab.steps, 1) if one.query))
    settled(page)
    other = contexts.page(site)
    faults = watch(other, site)
    other.add_init_script(OTHERS)
    other.goto(address(page))
    settled(other)
    assert other.evaluate("others") == []
    becomes(other, lambda: other.evaluate(SENTENCES) == page.evaluate(SENTENCES), True)
    assert (address(other), controls(other)) == (address(page), controls(page))
    assert faults.all() == []
    other.close()


def test_steps_show_what_they_speak_of(
    walk: tuple[Page, Faults, OpenLab],
) -> None:
    page, _, lab = walk
    speaking = [number for number, one in enumerate(lab.steps, 1) if one.panel]
    if not speaking:
        return
    number = speaking[-1]
    one = lab.steps[number - 1]
    step(page, 1 if number > 1 else 2)
    page.evaluate("scrollTo(0, 0)")
    step(page, number)
    addressed(page, step=str(number))

    def beheld() -> bool:
        """Is all of the panel in view, or its beginning in the upper half, and below what the step
        says?"""
        said, top, bottom, height = page.evaluate(PLACES, f".tfe-{one.panel}")
        return bool(said <= top and (top < height / 2 or bottom <= height))

    becomes(page, beheld, True)
    page.locator(".tfe-shell-bar .tfe-shell-project").click()
    if one.guess is not None:
        page.locator(".tfe-projector-cover button").click()
    name = f".tfe-{one.figure or one.panel}"
    expect(
        page.locator(
            f"{name}:is(.tfe-projected, :has(.tfe-projected)), .tfe-projected:has({name})"
        ).first
    ).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-projected")).to_have_count(0)


def test_a_guessed_figure_starts_covered(
    walk: tuple[Page, Faults, OpenLab], contexts: Contexts, site: str
) -> None:
    page, _, lab = walk
    number, guess = next(
        (number, step.guess) for number, step in enumerate(lab.steps, 1) if step.guess is not None
    )
    step(page, number)
    page.locator(".tfe-shell-bar .tfe-shell-project").click()
    expect(page.locator(".tfe-projector-title")).to_have_text(
        lab.steps[number - 1].projected_question["en"]
    )
    expect(page.locator(".tfe-projector-guess")).to_have_text(guess["en"])
    expect(page.locator(FIGURE).first).to_be_attached()
    assert page.locator(FIGURE).filter(visible=True).count() == 0
    if lab is LABS[0]:  # what is covered looks alike in every lab
        assert refused_by_axe(page) == []
    page.keyboard.press("Enter")
    expect(page.locator(FIGURE).filter(visible=True).first).to_be_visible()
    expect(page.locator(".tfe-projector-cover")).to_be_hidden()
    exact(page)
    said = page.locator(FIGURE).filter(visible=True).first.inner_text()
    code = str(page.locator(".tfe-projector-code").get_attribute("src"))
    page.keyboard.press("Escape")

    phone = contexts.page(site, width=360, height=780)
    faults = watch(phone, site)
    phone.goto(parse_qs(urlsplit(code).query)["text"][0])
    phone.locator(".tfe-projector-cover button").click()
    expect(phone.locator(".tfe-lone .tfe-words").filter(visible=True).first).to_have_text(said)
    expect(phone.locator(".tfe-projector-title")).to_have_text(
        lab.steps[number - 1].projected_question["en"]
    )
    for rest in (".tfe-shell-bar", ".tfe-ask", "h1", ".tfe-projector-code"):
        expect(phone.locator(rest).filter(visible=True)).to_have_count(0)
    assert scrolls_sideways(phone) == 0
    if lab is LABS[0]:  # the figure itself is judged on its page
        assert refused_by_axe(phone) == []
    assert faults.all() == []
    phone.close()


def test_a_link_with_nonsense_in_it_is_refused_in_one_sentence(
    walk: tuple[Page, Faults, OpenLab], visited: Visit
) -> None:
    _, _, lab = walk
    query, named = NONSENSE[lab.slug]
    page = visited(f"{lab.path}?v=1&{query}{HOSTILE}")
    if lab is LABS[0]:  # a link within the page is read as one that opens it
        page.reload()
    expect(page.locator(".tfe-badge").first).to_have_text("refused")
    refusal = page.locator("form [role=alert]:visible, form [class$=-error]:visible").first
    expect(refusal).to_contain_text(named)
    expect(page.locator("h1")).to_be_visible()


def test_nothing_went_wrong_on_the_way(walk: tuple[Page, Faults, OpenLab]) -> None:
    assert walk[1].all() == []
