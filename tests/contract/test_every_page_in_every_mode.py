"""Every page with a change made in its model and all unfolded: on a phone in the dark, then in
Chinese on a tablet and on a dark desk."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.projected import FIRST
from explorer.components.base import list_frontend_files
from explorer.contract import labels
from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.browser.waiting import START, becomes, prepared, unfolded
from tests.contract.test_what_leaves_the_page import FIGURES, stays
from tests.fitting import figures_stand, misfits, refused_by_axe, scrolls_sideways
from tests.pages import Contexts, Faults, watch
from tests.visits import AT_WORK, asked, gone

MODES = {"phone": "en", "tablet": "zh"}
PHONE: dict[str, Any] = {"width": 360, "height": 780, "color_scheme": "dark", "has_touch": True}


class Shown(NamedTuple):
    """A page, what went wrong on it, its lab, its mode, and what its first screen held."""

    page: Page
    faults: Faults
    lab: OpenLab
    mode: str
    first: dict[str, bool]


# What a visitor can read of the page, each piece of text with what tells where it stands.
TEXTS = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), at = walk.currentNode.parentElement;
    if (!/\\p{L}{2}/u.test(text)) continue;
    // what stands along the axes of a figure is data, as on a canvas
    if (at.closest("script, style, textarea, option, [lang]:not(html), [dir=auto], bdi, "
        + ".tfe-stage-plot, "
        + "[style*=unicode-bidi], code, .katex")) continue;
    if (at.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        found.push([text, at.outerHTML.slice(0, 160)]);
  }
  return found;
}"""
# What widgets and labels say: (English, Chinese); a name in braces is whatever stands there.
SPELLED = re.compile(r'\ben: "((?:[^"\\]|\\.)+)",\s+zh: "((?:[^"\\]|\\.)+)"')
PAIRS = {
    pair
    for path in list_frontend_files().values()
    for pair in SPELLED.findall(path.read_text("utf-8"))
} | {
    (text["en"], text["zh"])
    for table in vars(labels).values()
    if isinstance(table, Mapping)
    for text in table.values()
    if isinstance(text, Mapping)
}
# Texts of blocks that say something of the page's own, not of data.
SAID = """() => [...document.querySelectorAll(".tfe *")]
  .filter((node) => node.children.length === 0 || [...node.childNodes]
      .some((one) => one.nodeType === 3 && one.textContent.trim()))
  .filter((node) => !node.closest("textarea, input, script, style, .tfe-shell-rail, "
      + ".tfe-card-sheet, svg, [dir=auto], bdi"))
  .flatMap((node) => [node.textContent, node.getAttribute("title"),
      node.getAttribute("aria-label")])
  .filter((text) => text && text.trim().length > 3 && text.length < 600)"""
PLURAL = re.compile(rf"(?<![\w.,·]){1} (?:{'|'.join(labels.NOUNS)})\b")  # "1 layers"
CHINESE = re.compile("[\u4e00-\u9fff]")
# English in Chinese
PARTS = re.compile(
    r"\b(valid|validation|test|events|top-k|threads|heads?|layers?|each|trained|published"
    r"|dropout)\b"
)
QUOTED = re.compile(r"“[^”]*”|†.*|\([^)]*\)|[^.]*\bet al\..*")
TERMS = {"softmax", "float", "log", "GIoU"}  # of mathematics, in both languages
# What a page must not say, by its language: what it says in the other one.
FOREIGN = {
    "zh": {english for english, chinese in PAIRS if english != chinese},
    "en": {chinese for english, chinese in PAIRS if english != chinese},
}


def _whole(page: Page, lab: OpenLab) -> None:
    """Its first intervention, all that is folded away unfolded and answered."""
    changed = next(iter(lab.interventions.values()))
    if asked(urlsplit(page.evaluate("location.href")).query) != asked(changed):
        gone(page, changed)
    page.evaluate(
        "document.querySelectorAll('.tfe-main details').forEach((one) => (one.open = true))"
    )
    if page.locator(".tfe-card-more[aria-expanded=false]").count():
        page.locator(".tfe-card-more").click()
    unfolded(page)
    expect(page.locator(AT_WORK)).to_have_count(0, timeout=START * 1000)
    figures_stand(page)


class Opened:
    """The page of a lab, which goes from one mode to the next: opening it is the dearest part of
    all that is asked of it."""

    def __init__(self, contexts: Contexts, site: str) -> None:
        self._contexts, self._site = contexts, site
        self._shown: Shown | None = None

    def __call__(self, lab: OpenLab, mode: str) -> Shown:
        """The lab in this mode, with what the first screen of a phone held."""
        shown = self._shown
        if shown is None or shown.lab is not lab or shown.mode not in ("phone", mode):
            shown = self._on_a_phone(lab)
        if shown.mode != mode:
            shown = shown._replace(mode=mode)
            shown.page.evaluate(
                "document.querySelectorAll('.tfe-main details').forEach((one) => (one.open ="
                " false))"
            )
            shown.page.emulate_media(color_scheme="light")
            shown.page.set_viewport_size({"width": 768, "height": 1024})
            shown.page.locator(".tfe-shell-lang").click()
            _whole(shown.page, lab)
        self._shown = shown
        return shown

    def _on_a_phone(self, lab: OpenLab) -> Shown:
        prepared(self._site, lab.slug)
        self._contexts.end(self._site)
        page = self._contexts.page(self._site, **PHONE)
        faults = watch(page, self._site)
        page.goto(self._site + lab.path)
        first = first_screen(page, "figure")
        _whole(page, lab)
        return Shown(page, faults, lab, "phone", first)


def first_screen(page: Page, holds: str) -> dict[str, bool]:
    """What stands on the first screen, once it holds this or nothing moves any more."""
    expect(page.locator("[data-drawn]").first).to_be_attached()
    with contextlib.suppress(AssertionError):
        becomes(page, lambda: page.evaluate(FIRST)[holds], True)
    found: dict[str, bool] = page.evaluate(FIRST)
    return found


PAGES = {(lab.slug, mode): (lab, mode) for lab in LABS for mode in MODES}


def pages(*modes: str) -> list[Any]:
    """Every lab in these modes, as parameters; the tests of a lab run one after the other, since
    they share its page."""
    return [
        pytest.param(
            PAGES[slug, mode],
            id=f"{slug}-{mode}",
            marks=pytest.mark.xdist_group(f"{slug} modes", list(MODES).index(mode)),
        )
        for slug, mode in PAGES
        if mode in modes
    ]


@pytest.fixture(scope="module")
def opened(contexts: Contexts, site: str) -> Iterator[Opened]:
    """One page for all that is promised of a lab."""
    yield Opened(contexts, site)
    contexts.end(site)


@pytest.fixture(scope="module", params=pages(*MODES))
def shown(request: pytest.FixtureRequest, opened: Opened) -> Shown:
    """A lab in a mode."""
    return opened(*request.param)


def only(*modes: str) -> pytest.MarkDecorator:
    """A promise that needs no more modes than these."""
    return pytest.mark.parametrize("shown", pages(*modes), indirect=True)


@only("phone")
def test_the_first_screen_of_a_phone_holds_the_figure(shown: Shown) -> None:
    assert shown.first["figure"]


def test_it_has_one_heading_a_title_and_a_language(shown: Shown) -> None:
    page, _, lab, mode, _ = shown
    expect(page.locator("h1")).to_have_text(lab.title[MODES[mode]])
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN" if MODES[mode] == "zh" else "en")
    assert page.title()


def test_no_page_scrolls_sideways(shown: Shown) -> None:
    assert scrolls_sideways(shown.page) == 0


def test_everything_fits_and_is_large_enough(shown: Shown) -> None:
    assert misfits(shown.page) == []


def test_axe_finds_nothing_wrong(shown: Shown) -> None:
    # What a page holds has its names whatever its theme; whether it can be seen is another question
    # in the light than in the dark.
    assert (
        refused_by_axe(shown.page, only=[] if shown.mode == "phone" else ["color-contrast"]) == []
    )


def foreign(shown: Shown) -> list[Any]:
    """What the page says of the other language, each text with the beginning of its element."""
    return [found for found in shown.page.evaluate(TEXTS) if found[0] in FOREIGN[MODES[shown.mode]]]


def test_nothing_that_the_page_says_is_of_the_other_language(shown: Shown) -> None:
    assert foreign(shown) == []


def test_its_texts_keep_to_the_rules_of_their_language(shown: Shown) -> None:
    page, mode = shown.page, shown.mode
    said = page.evaluate(SAID)
    if MODES[mode] == "en":
        assert [text for text in said if PLURAL.search(text)] == []
    else:
        assert [
            text for text in said if CHINESE.search(text) and PARTS.search(QUOTED.sub("", text))
        ] == []


def test_no_figure_has_a_button_that_leaves_the_machine(shown: Shown) -> None:
    page, lab = shown.page, shown.lab
    # One whose answer comes late, or anew, waits to be looked at again.
    becomes(page, lambda: (figures_stand(page), page.evaluate(FIGURES) != []), (None, True))
    for figure in page.evaluate(FIGURES):
        stays(figure, lab.slug)


@only("tablet")
def test_a_dark_desk_shows_it_as_well(shown: Shown) -> None:
    page = shown.page
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(page.locator("body")).to_have_class(re.compile(r"\bdark\b"))
    figures_stand(page)
    becomes(page, lambda: (scrolls_sideways(page), misfits(page), foreign(shown)), (0, [], []))


@only("tablet")
def test_its_first_step_is_told_in_chinese(shown: Shown) -> None:
    shown.page.locator(".tfe-shell-tour li:nth-child(1) button").click()
    expect(shown.page.get_by_text(shown.lab.steps[0].say["zh"]).first).to_be_visible()


@only("phone")
def test_every_example_fits_a_phone(shown: Shown) -> None:
    for query in shown.lab.examples:
        gone(shown.page, query)
        # its pictures are laid out a moment after its values have come
        becomes(shown.page, lambda: scrolls_sideways(shown.page), 0)


def test_nothing_goes_wrong_on_it(shown: Shown) -> None:
    assert shown.faults.all() == []


def test_every_label_of_a_widget_has_a_chinese_of_its_own() -> None:
    assert len(PAIRS) > 500
    for _, chinese in PAIRS:
        words = set(re.findall("[A-Za-z]{3,}", re.sub(r"\{[^}]*\}", "", chinese)))
        assert words <= TERMS or re.search("[\u4e00-\u9fff]", chinese), chinese
