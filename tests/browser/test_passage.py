"""A long text in the input bar, in a real browser: pages, own texts, limits, keys, files, how an
answer grows, phones, languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from explorer.contract import permalink
from models.explaining.errors import InputError
from tests.browser.staged import listen
from tests.browser.visiting import LIVE, badge, error, go, opened
from tests.browser.waiting import addressed
from tests.explorer import small_reader
from tests.explorer.small_reader import EXAMPLES, MOST, PROGRAM, READS, REFUSED, WRITES, Ask, given

HOSTILE = "<img src=x onerror=alert(1)>"


PAGES = {"trial": PROGRAM.place_page}


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    """The model ends all of its work once a test is over."""
    small_reader.go.clear()
    yield
    small_reader.go.set()


def box(page: Page) -> Any:
    """The box of the text."""
    return page.locator(".tfe-ask-box")


def chip(page: Page, name: str) -> Any:
    """An example, or a page of none."""
    return page.locator(".tfe-ask-offers").get_by_role("button", name=name, exact=True)


def setting(page: Page, name: str) -> Any:
    """A control beside the text."""
    return page.locator(".tfe-ask-setting").filter(has_text=name).locator("input, select")


def seed(page: Page) -> Any:
    """The box of the seed."""
    return page.locator(".tfe-ask-seed")


def origin(page: Page) -> Any:
    """Says where the text is from."""
    return page.locator(".tfe-ask-from")


def test_an_example_travels_by_name(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_pos=4")
    expect(badge(page)).to_have_text("stored")
    expect(chip(page, "The sea")).to_have_attribute("aria-pressed", "true")
    expect(origin(page)).to_have_text("held out: A. Author, Waves")
    chip(page, "Little memory").click()
    expect(badge(page)).to_have_text(LIVE)
    expect(box(page)).to_have_value(given(EXAMPLES[1]))
    expect(origin(page)).to_have_text("held out: B. Author, Stones")
    expect(chip(page, "Little memory")).to_have_attribute("aria-pressed", "true")
    expect(chip(page, "The sea")).to_have_attribute("aria-pressed", "false")
    addressed(page, page="hill", memory="16", text=None)
    chip(page, "An opening").click()
    expect(setting(page, "model")).to_have_value("wild one")
    expect(page.locator(".tfe-ask-setting-value").first).to_have_text("400 characters")
    expect(origin(page)).to_have_text("an opening of ours, from no book")
    addressed(page, text=EXAMPLES[2].text, page=None, variant="wild", seed="11", memory=None)


def test_a_page_of_no_example_keeps_settings(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_pos=7")
    listen(page, "nothing")
    seed(page).fill("421")
    setting(page, "temperature").press("ArrowLeft")
    setting(page, "write").press("ArrowRight")
    setting(page, "model").select_option(label="bold one")
    expect(badge(page)).to_have_text("not run yet")
    chip(page, "The moor").click()
    expect(badge(page)).to_have_text(LIVE)
    addressed(
        page,
        page="moor",
        seed="421",
        temperature="0.7",
        length="320",
        variant="bold",
        text=None,
        _pos=None,
    )
    expect(chip(page, "The moor")).to_have_attribute("aria-pressed", "true")
    page.evaluate("window.view.set({ pos: '4' })")
    seed(page).fill("8")
    seed(page).press("Enter")
    addressed(page, seed="8", _pos="4")  # a place in the same text stays


def test_own_texts_take_enter_as_a_new_line(page: Page) -> None:
    box(page).fill("")
    box(page).press_sequentially("A whale 🐳.")
    box(page).press("Enter")
    expect(badge(page)).to_have_text("not run yet")
    box(page).press_sequentially(HOSTILE)
    expect(page.locator(".tfe-ask-count")).to_have_text(f"{11 + len(HOSTILE)} of 3,000 characters")
    expect(origin(page)).to_have_text("your own text")
    box(page).press("Control+Enter")
    expect(badge(page)).to_have_text(LIVE)
    own = f"A whale 🐳.\n{HOSTILE}"
    expect(box(page)).to_have_value(own)
    addressed(page, text=own, page=None)


def test_refusals_use_the_models_words(page: Page) -> None:
    for wrong, said in (
        (" \n\u3000\x1f ", None),
        ("🐳" * (MOST + 1), "The text has 3,001 characters; at most 3,000 can be read."),
    ):
        with pytest.raises(InputError) as refused:
            given(Ask(text=wrong))
        box(page).fill(wrong)
        go(page).click()
        expect(error(page)).to_have_text(said or refused.value.text["en"])
        expect(badge(page)).to_have_text("refused")
        expect(box(page)).to_have_value(wrong)
    box(page).fill("".join(chr(0x4E00 + 7919 * at % 20_000) for at in range(MOST)))
    go(page).click()
    expect(badge(page)).to_have_text(LIVE)
    expect(page.locator(".tfe-ask-note")).to_contain_text("too long for a link")
    box(page).fill("My own words.")
    seed(page).fill(str(REFUSED))
    seed(page).press("Enter")
    expect(error(page)).to_have_text("Thirteen is not read.")
    expect(box(page)).to_have_value("My own words.")


def test_the_badge_tells_reading_and_writing(page: Page) -> None:
    count = len(given(EXAMPLES[0]))
    view = page.locator(".tfe-difficulty .tfe-words")
    stages = {
        READS: (f"live · reading {count // 2} of {count}", count // 2),
        WRITES: ("live · writing 150 of 300", count + 150),
    }
    for wanted, (said, far) in stages.items():
        small_reader.go.clear()
        seed(page).fill(str(wanted))
        go(page).click()
        expect(badge(page)).to_have_text(said)
        expect(view).to_have_text(f"So far {far}.")
        expect(go(page)).to_have_text("StopEsc")
        box(page).press("End")
        box(page).type("!")
        changed = box(page).input_value()
        box(page).press("Escape")
        expect(badge(page)).to_have_text("stopped")
        expect(page.locator(".tfe-ask-note")).to_contain_text("This run was cancelled")
        expect(page.locator(".tfe-ask-ended")).to_have_text("cancelled")
        expect(page.locator(".tfe-ask-take")).to_be_hidden()
        expect(box(page)).to_have_value(changed)
        small_reader.go.set()
        chip(page, "The sea").click()
        expect(badge(page)).to_have_text(re.compile("^stored$|^live · [0-9.]+ m?s|^remembered$"))
        expect(box(page)).to_have_value(given(EXAMPLES[0]))


def test_a_link_fills_every_control(page_watch: Page, site: str) -> None:
    linked = Ask(text="The sea.\n", variant="bold", length=123, seed=5, temperature=1.2)
    page = opened(page_watch, site, f"{permalink.encode(linked)}&lang=en")
    expect(badge(page)).to_have_text(LIVE)
    expect(box(page)).to_have_value("The sea.\n")
    expect(setting(page, "model")).to_have_value("bold one")
    expect(page.locator(".tfe-ask-setting-value").first).to_have_text("123 characters")
    box(page).fill("Something else meanwhile")
    with page.expect_download() as download:
        page.get_by_role("button", name="TXT").click()
    saved = Path(download.value.path()).read_text("utf-8")
    assert saved.startswith("The sea.\n\n\n[Calm wrote]\n" + "A" * 123 + "\n\n")
    numbers, foot = saved.splitlines()[-2:]
    assert (
        numbers
        == "9 + 123 characters · temperature 1.2 · seed 5 · Calm 1.52 bits per character of the"
        " text given · Bold 1.61 bits per character of the text given"
    )
    assert urlsplit(site).netloc not in foot, "not the address of this machine"
    assert parse_qs(foot.partition("?")[2]) == {
        key: value for key, value in parse_qs(urlsplit(page.url).query).items() if key != "lang"
    }
    go(page).click()
    addressed(page, text="Something else meanwhile", length="123")
