"""What a change of music does, in a real browser: knobs, rolls before and after, the number, sound,
files, phones, languages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playwright.sync_api import Page, Route, expect

from explorer.contract import permalink
from models.music.records import Request
from tests.browser.staged import Picture, numbers
from tests.browser.visiting import change_opened as opened
from tests.browser.visiting import requested, turn
from tests.browser.waiting import becomes
from tests.explorer.small_composer import EXAMPLES, HOSTILE, PROGRAM, SEVEN

PIANO = f"lang=en&{permalink.encode(EXAMPLES[2])}"


PAGES = {"trial": PROGRAM.place_page}
# What is said of the notes that can be pointed at in the third roll, the difference.
CARDS = """() => {
    const box = document.querySelector(".tfe-change canvas").boxes[2], found = [];
    for (let y = box.y0; y < box.y1; y += 2)
        found.push(box.at(box.x0 + (box.x1 - box.x0) * 0.6, y)?.card());
    return found.filter(Boolean); }"""


def knob(page: Page, field: str) -> Any:
    """A slider of what is in view."""
    return page.locator(f".tfe-change [data-field={field}]:visible")


def asked(page: Page) -> Request:
    """What stands in the address once a change has been answered."""
    for part in (".tfe-ask-panel", ".tfe-change-panel"):
        expect(page.locator(part)).to_have_attribute("aria-busy", "false")
    return requested(page, Request) if "v=1" in page.evaluate("location.href") else EXAMPLES[0]


def painted(page: Page, *names: str) -> None:
    """Waits until the rolls of these models stand there."""
    becomes(page, lambda: list(numbers(page)), list(names))


def test_without_relative_positions(
    page: Page,
) -> None:
    expect(page.locator(".tfe-change-picture")).to_be_hidden()
    for place, distance in ((1, 1), (7, 12), (0, 0)):
        turn(page, "farthest", place)
        assert asked(page) == replace(EXAMPLES[0], farthest=distance)
    painted(page, "Music Transformer")
    assert numbers(page) == {"Music Transformer": ("+0.27", "1.86 → 2.13")}
    picture = Picture(page, "change")
    assert len(picture.marks("rect", fill="paper")) == 3
    notes = [
        (mark["line"], mark["d"].count("M")) for mark in picture.marks("path") if "h" in mark["d"]
    ]
    both = [("control", 1), ("accent", 3)]
    assert notes == [
        *both,
        *both,
        ("control", 3),
        ("#5b2a86", 1),
        ("#12693a", 1),
    ], "before, after, and what is gone and new"
    expect(page.locator(".tfe-change .tfe-words .tfe-out")).to_have_text("3 notes")
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text(HOSTILE)
    assert page.locator(".tfe-change img").count() == 0
    expect(page.locator(".tfe-changed-chip")).to_contain_text("changed: without the relative term")
    lines = Picture(page, "change").saved("TXT")[1].decode().splitlines()
    assert (
        lines[0]
        == "Music Transformer, nats per cell of the earlier music, read with the change: +0.27"
        " (1.86 → 2.13)"
    )
    assert lines[-1].startswith("Trial")
    rows = Picture(page, "change").rows()
    assert [row["pitch"] for row in rows if row["which"] == "after"] == ["60", "62", "67", "65"]
    assert [row["in_both"] for row in rows if row["which"] == "before"] == ["1", "1", "0", "1"]
    arrays = Picture(page, "change").arrays()
    assert arrays["jsb_relative.before.notes"].shape == (4, 4) and arrays[
        "jsb_relative.nats"
    ].tolist() == [1.86, 2.13]


def test_only_piano_stretches_times(page: Page, site: str) -> None:
    expect(knob(page, "stretch")).to_have_count(0)
    opened(page, site, PIANO)
    turn(page, "stretch", 6)
    assert asked(page) == replace(EXAMPLES[2], stretch=1.25)
    painted(page, "Music Transformer", "Transformer", "LSTM")
    picture = Picture(page, "change")
    assert len(picture.marks("rect", fill="paper")) == 6
    assert "Times were stretched, so there is no" in " ".join(picture.texts())


def test_a_moved_motif_reaches_every_model(page: Page) -> None:
    turn(page, "semitones", 5)
    painted(page, "Music Transformer", "Transformer")
    picture = Picture(page, "change")
    assert picture.texts().count("difference, moved back") == 2
    expect(page.locator("#tfe-change-semitones + output")).to_have_text("+5")
    assert {("E4 S", "bar 3, beat 1", "gone"), ("G4 S", "bar 3, beat 1", "new")} <= set(
        map(tuple, page.evaluate(CARDS))
    )


def test_the_head_in_view_is_silenced(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_model=jsb_transformer&_head=4.2")
    page.get_by_role("button", name="Silence head 4·2 of Transformer").click()
    silenced = replace(EXAMPLES[0], silenced=(("jsb_transformer", 3, 1),))
    assert asked(page) == silenced
    turn(page, "semitones", SEVEN)
    expect(page.locator(".tfe-ask-error")).to_have_text(f"Seven is refused. {HOSTILE}")
    expect(knob(page, "semitones")).to_have_value("0")
    assert asked(page) == silenced
    page.locator(".tfe-change-restore").click()
    expect(page.locator(".tfe-change-picture")).to_be_hidden()
    assert asked(page) == EXAMPLES[0]


def test_before_and_after_are_heard_one_at_a_time(page: Page) -> None:
    wanted: list[str] = []

    def answer(route: Route) -> None:
        wanted.append(route.request.url.rsplit("/", 1)[-1])
        silence = bytes(22050 * 2 * 4)
        head = (
            b"RIFF"
            + (36 + len(silence)).to_bytes(4, "little")
            + b"WAVEfmt "
            + (16).to_bytes(4, "little")
        )
        form = (
            b"\1\0\1\0"
            + (22050).to_bytes(4, "little")
            + (44100).to_bytes(4, "little")
            + b"\2\0\x10\0"
        )
        body = head + form + b"data" + len(silence).to_bytes(4, "little") + silence
        route.fulfill(body=body, content_type="audio/wav")

    page.route("**/sound/*", answer)
    turn(page, "farthest", 0)
    painted(page, "Music Transformer")
    play = page.locator(".tfe-change .is-play")
    play.click()
    page.wait_for_function("document.querySelector('.tfe-change audio').currentTime > 0")
    page.locator(".tfe-change [data-key='jsb_relative.after']").click()
    becomes(
        page, lambda: {"jsb_relative-before.wav", "jsb_relative-after.wav"} <= set(wanted), True
    )
    expect(play).to_have_attribute("aria-label", "Pause")
    play.click()
    assert page.evaluate("document.querySelector('.tfe-change audio').paused")
