"""Every picture and every input bar on a phone: nothing runs out of it; projected, a picture stands alone and large."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.bench import Place
from tests.browser import (
    attending,
    test_digits,
    test_drawing,
    test_hashing,
    test_masks,
    test_missed,
    test_motif,
    test_nonautoregressive,
    test_passage,
    test_patterns,
    test_pictures,
    test_ponder,
    test_reading,
    test_rewind,
    test_roll,
    test_segments,
    test_skew,
    test_spans,
    test_spelling,
    test_surprise,
    test_terms,
)
from tests.browser.staged import NEW, Picture
from tests.browser.waiting import becomes, exact, looked, unfolded
from tests.fitting import assert_fits, misfits

# Each page with its picture as it is found there, and what of its address unfolds it.
PICTURES: dict[str, tuple[Place, str, str]] = {
    "attention": (attending.page_of("longest"), "attention", "_kind=cross"),
    "digits": (test_digits.PAGES["three"], "digits", ""),
    "hashing": (test_hashing.page_of("long"), "hashing", "_hashingstep=4"),
    "masks": (test_masks.page_of(test_masks.STARTS["dynamic"]), "masks", ""),
    "missed": (test_missed.page_of, "missed .tfe-asked", "_missed=open&_pos=38&_missedrounds=2"),
    "passes": (test_nonautoregressive.page().place, "passes", ""),
    "patterns": (test_patterns.page_of, "patterns", ""),
    "paths": (test_patterns.page_of, "paths", ""),
    "ponder": (test_ponder.PAGES["addition"], "ponder", "_far=1"),
    "story": (test_ponder.PAGES["story"], "ponder", "_far=1"),
    "parity": (test_ponder.PAGES["parity"], "ponder", "_far=1"),
    "reach": (test_reading.page_of("beside"), "reach", ""),
    "reading": (test_reading.page_of("beside"), "reading", ""),
    "rewind": (test_rewind.page_of, "rewind .tfe-asked", "_rewind=open&_pos=18"),
    "roll": (test_roll.page_of("chorale"), "roll", ""),
    "heads": (test_roll.page_of("chorale"), "heads", ""),
    "segments": (test_segments.PAGES["none"], "segments", ""),
    "skew": (test_skew.page_of, "skew .tfe-asked", "_skew=open&_sstep=reshape"),
    "spans": (test_spans.PAGES["four"], "spans", ""),
    "spelling": (test_spelling.PAGES["long"], "spelling", ""),
    "surprise": (test_surprise.PAGES["grey"], "surprise", ""),
    "terms": (test_terms.page_of, "terms .tfe-asked", "_terms=open"),
}
CHINESE = re.compile("[一-鿿]")
ONE = {"heads": ("ArrowRight",)}  # of a few heads the others come back to the same
KEYS = ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft")  # to another place also where one stands at the last
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"  # what the last key asks for is drawn
BOTTOM = """(name) => Math.max(...[...document.querySelectorAll(`.tfe-${name} :is(canvas, .tfe-words)`)]
    .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().bottom))"""


# Each input bar of its own kind, and what chooses the ways to begin that it has.
BARS: dict[str, tuple[Place, str]] = {
    "drawing": (test_drawing.PROGRAM.place, ".tfe-ask [data-key=text], .tfe-ask [data-key=digit], .tfe-picture-start > button"),
    "motif": (test_motif.PROGRAM.place, ".tfe-motif-source [role=radio]"),
    "passage": (test_passage.PROGRAM.place, ".tfe-ask-offers button"),
    "pictures": (test_pictures.program().place, ".tfe-ask-head [role=radio]"),
}


PAGES = {slug: place for slug, (place, *_) in (PICTURES | BARS).items()}  # type: ignore[operator]


@pytest.mark.parametrize("slug", PICTURES)
def test_it_fits_a_phone_and_the_projector_has_its_keys_its_address_and_what_one_takes_along(
    new_page: NEW, site: str, slug: str, tmp_path: Path
) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark", has_touch=True)
    (_, name, query), keys = PICTURES[slug], ONE.get(slug, KEYS)
    picture = Picture(page, name).open(f"{site}/{slug}?lang=zh&{query}")
    expect(picture.words.first).to_have_text(CHINESE)
    becomes(page, lambda: bool(picture.marks("text")), True)
    if slug != "reading":  # a long text scrolls within its board
        picture.fits()
    assert min(one["size"] for one in picture.marks("text")) >= 11
    assert [text for text in picture.texts(face="ui") if re.search("[A-Za-z]{4}", text)] == []

    page.set_viewport_size({"width": 1280, "height": 900})
    picture.press("p")
    expect(page.locator(".tfe-projector-title")).to_have_text(CHINESE)
    expect(picture.find(".tfe-stage-take, .tfe-stage-transport, .tfe-stage-choices").filter(visible=True)).to_have_count(0)
    becomes(page, lambda: [one["text"] for one in picture.marks("text") if one["size"] < 20], [])
    becomes(page, lambda: page.evaluate(BOTTOM, name) <= 900, True)
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-projected")).to_have_count(0)

    # Keys are its own while it has the focus; what they lead to stands in the address, which restores it, until Escape lets go of it.
    page.evaluate("document.activeElement.blur()")
    before = picture.shown()
    for key in keys:
        page.keyboard.press(key)
    assert picture.shown() == before
    picture.press(*keys)
    page.evaluate(FRAMES)
    becomes(page, lambda: picture.shown() != before and not picture.shown().endswith("waits"), True)
    exact(page)
    there, said = picture.shown(), picture.words.first.inner_text()
    picture.open(page.evaluate("location.href")).drawn(there)
    expect(picture.words.first).to_have_text(said)
    locked = looked(page)
    picture.press("Escape")
    if slug != "skew":  # whose keys choose, and lock nothing
        becomes(page, lambda: (picture.shown() != there, looked(page) != locked), (True, True))

    # What is saved is whole; a saved page says the same and is as alive.
    assert picture.saved("PNG")[1].startswith(b"\x89PNG")
    drawing = picture.saved("SVG")[1].decode()
    assert drawing.startswith("<svg") and not re.search('var\\(--|NaN|<img|href="http', drawing)
    assert len(picture.lines()) > 1
    assert picture.arrays()
    (tmp_path / "page.html").write_bytes(picture.saved("HTML")[1])
    said = picture.words.first.inner_text()
    page, faults = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".tfe-words").first).to_have_text(said)
    before = page.locator("[data-drawn]").first.get_attribute("data-drawn")
    page.locator(".tfe-stage-board").focus()
    for key in keys:
        page.keyboard.press(key)
    expect(page.locator("[data-drawn]").first).not_to_have_attribute("data-drawn", str(before))
    assert [url for url in faults.requests if url.startswith("http")] == []


@pytest.mark.parametrize("slug", BARS)
def test_a_bar_is_used_with_a_finger_whichever_way_one_begins(new_page: NEW, site: str, slug: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark", has_touch=True)
    page.goto(f"{site}/{slug}?lang=en")
    unfolded(page)
    ways = page.locator(BARS[slug][1])
    expect(ways.first).to_be_visible()
    for at in range(min(ways.count(), 4)):
        ways.nth(at).click()
        assert misfits(page, ".tfe-ask", 44) == []
    assert_fits(page, ".tfe-ask", 44)
