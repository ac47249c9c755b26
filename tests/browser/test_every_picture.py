"""Every picture and every input bar on a phone: nothing runs out of it; projected, a picture stands
alone and large."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.bench import Place
from tests.browser.staged import NEW, Picture
from tests.browser.waiting import becomes, exact, looked, note, noted, unfolded
from tests.fitting import assert_fits, misfits

# Each page, by the file of tests that makes it, with its picture as it is found there, and what of
# its address unfolds it.
PICTURES = {
    "attention": ("attention", "longest", "attention", "_kind=cross"),
    "digits": ("digits", "three", "digits", ""),
    "hashing": ("hashing", "long", "hashing", "_hashingstep=4"),
    "masks": ("masks", "dynamic", "masks", ""),
    "missed": ("missed", "trial", "missed .tfe-asked", "_missed=open&_pos=38&_missedrounds=2"),
    "passes": ("nonautoregressive", "trial", "passes", ""),
    "patterns": ("patterns", "trial", "patterns", ""),
    "paths": ("patterns", "trial", "paths", ""),
    "ponder": ("ponder", "addition", "ponder", "_far=1"),
    "story": ("ponder", "story", "ponder", "_far=1"),
    "parity": ("ponder", "parity", "ponder", "_far=1"),
    "reach": ("reading", "beside", "reach", ""),
    "reading": ("reading", "beside", "reading", ""),
    "rewind": ("rewind", "trial", "rewind .tfe-asked", "_rewind=open&_pos=18"),
    "roll": ("roll", "chorale", "roll", ""),
    "heads": ("roll", "chorale", "heads", ""),
    "segments": ("segments", "none", "segments", ""),
    "skew": ("skew", "trial", "skew .tfe-asked", "_skew=open&_sstep=reshape"),
    "spans": ("spans", "four", "spans", ""),
    "spelling": ("spelling", "long", "spelling", ""),
    "surprise": ("spans", "grey", "surprise", ""),
    "terms": ("terms", "trial", "terms .tfe-asked", "_terms=open"),
}
CHINESE = re.compile("[一-鿿]")
# another run of a picture: it is laid out in its own way, and used as the other
MORE = {"story", "parity"}
ONE = {"heads": ("ArrowRight",)}  # of a few heads the others come back to the same
# to another place also where one stands at the last
KEYS = ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft")
# what the last key asks for is drawn
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
BOTTOM = """(name) =>
    Math.max(...[...document.querySelectorAll(`.tfe-${name} :is(canvas, .tfe-words)`)]
    .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().bottom))"""


# Each input bar of its own kind, and what chooses the ways to begin that it has.
BARS = {
    "drawing": ".tfe-ask [data-key=text], .tfe-ask [data-key=digit], .tfe-picture-start > button",
    "motif": ".tfe-motif-source [role=radio]",
    "passage": ".tfe-ask-offers button",
    "pictures": ".tfe-ask-head [role=radio]",
}


def page_of(file: str, page: str = "trial") -> Place:
    """A page of another file of tests."""
    found: Place = import_module(f"tests.browser.test_{file}").PAGES[page]
    return found


SEEN = """((it) => [it.dataset.state, it.querySelector(".tfe-words").textContent,
    it.querySelector(".tfe-stage-paper").offsetHeight,
    it.querySelector(".tfe-stage-board").scrollTop])(document.querySelector(".tfe-NAME"))"""
# Pictures of what is made step by step, and what is looked at when all is there: as before where
# the run is the same so far.
GROWING = {
    "digits": "model=strided head=2.3 pos=783",
    "still": "pattern=local_2d head=4.2 pos=529 whole",
    "reading": "model=xl head=2.3 pos=420 read=592",
    "segments": "model=xl head=2.1 pos=138",
    "roll": "model=jsb_relative head=2.2 note=20",
}

PAGES = {slug: page_of(*picture[:2]) for slug, picture in PICTURES.items()} | {
    bar: page_of(bar) for bar in BARS
}
PAGES["still"] = page_of("spans", "still")


@pytest.mark.parametrize("slug", PICTURES)
def test_it_fits_phone_and_projector(new_page: NEW, site: str, slug: str, tmp_path: Path) -> None:
    page, faults = new_page(width=360, height=780, color_scheme="dark", has_touch=True)
    (*_, name, query), keys = PICTURES[slug], ONE.get(slug, KEYS)
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
    expect(
        picture.find(".tfe-stage-take, .tfe-stage-transport, .tfe-stage-choices").filter(
            visible=True
        )
    ).to_have_count(0)
    becomes(page, lambda: [one["text"] for one in picture.marks("text") if one["size"] < 20], [])
    becomes(page, lambda: page.evaluate(BOTTOM, name) <= 900, True)
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-projected")).to_have_count(0)

    if slug in MORE:
        return

    # Keys are its own while it has the focus; what they lead to stands in the address, which
    # restores it, until Escape lets go of it.
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

    # Pointing previews and locks nothing; a click locks, and stands in the address.
    if slug != "paths":  # where nothing else can be pointed at
        other, before = picture.box(), looked(page)
        at = picture.point(**other["look"])
        if other["tells"]:
            expect(picture.find("> .tfe-hover")).to_be_visible()
        assert looked(page) == before
        page.mouse.click(*at)
        becomes(
            page, lambda: looked(page) != before and not picture.shown().endswith("waits"), True
        )
        picture.press("Escape")

    # What is saved is whole; a saved page says the same and is as alive.
    assert picture.saved("PNG")[1].startswith(b"\x89PNG")
    drawing = picture.saved("SVG")[1].decode()
    assert drawing.startswith("<svg") and not re.search('var\\(--|NaN|<img|href="http', drawing)
    assert len(picture.lines()) > 1
    assert picture.arrays()
    (tmp_path / "page.html").write_bytes(picture.saved("HTML")[1])
    said = picture.words.first.inner_text()
    faults.requests.clear()
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".tfe-words").first).to_have_text(said)
    before = page.locator("[data-drawn]").first.get_attribute("data-drawn")
    page.locator(".tfe-stage-board").focus()
    for key in keys:
        page.keyboard.press(key)
    expect(page.locator("[data-drawn]").first).not_to_have_attribute("data-drawn", str(before))
    assert [url for url in faults.requests if url.startswith("http")] == []


@pytest.mark.parametrize("slug", BARS)
def test_a_bar_is_used_with_a_finger_whichever_way_one_begins(
    new_page: NEW, site: str, slug: str
) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark", has_touch=True)
    page.goto(f"{site}/{slug}?lang=en")
    unfolded(page)
    ways = page.locator(BARS[slug])
    expect(ways.first).to_be_visible()
    for at in range(min(ways.count(), 4)):
        ways.nth(at).click()
        assert misfits(page, ".tfe-ask", 44) == []
    assert_fits(page, ".tfe-ask", 44)


@pytest.mark.parametrize("slug", GROWING)
def test_what_is_made_is_seen_to_grow_in_place(page_watch: Page, site: str, slug: str) -> None:
    page, name = page_watch, "spans" if slug == "still" else slug
    picture = Picture(page, name).open(f"{site}/{slug}?lang=en")
    note(page, SEEN.replace("NAME", name))
    page.click("#grow")
    page.wait_for_selector(f".tfe-{name}[data-state=live]", state="attached")
    picture.stands(*GROWING[slug].split())
    told = [
        (re.search(r"([\d,]+)(?:st|nd|rd|th)? of [\d,]+", words), *where)
        for state, words, *where in noted(page)
        if state == "running"
    ]
    far, heights, tops = zip(
        *[(int(found[1].replace(",", "")), *where) for found, *where in told if found], strict=True
    )
    assert list(far) == sorted(far) and len(set(far)) > 1, far  # a busy machine leaves some out
    assert len(set(heights)) == 1, "nothing jumps"
    assert list(tops) == sorted(tops) and (slug != "reading" or tops[-1] > 0), (
        "what is high follows what is made"
    )
