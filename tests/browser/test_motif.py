"""A motif in the input bar, in a real browser: examples, the piano (keys, fingers, mouse), files,
phones, languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from explorer.components import base
from explorer.contract import permalink
from explorer.labs.music.views import Motifs
from models.music import chorales, events
from models.music.records import Request, motif, read_motif, spell_events
from tests.browser.staged import NEW, bare
from tests.browser.visiting import badge, brought, opened, requested
from tests.browser.waiting import measure_box
from tests.explorer.small_composer import EXAMPLES, FOUR, PROGRAM

HOSTILE = "<img src=x onerror=alert(1)>.mid"
APART = 150  # milliseconds between keys: more than a sixteenth
LIVE = re.compile(r"^live · [\d.]+ m?s|^remembered$|^stored$")


PAGES = {"trial": PROGRAM.place_page}


def source(page: Page, name: str) -> None:
    """Chooses a way to begin."""
    page.locator(".tfe-motif-source").get_by_role("radio", name=name).click()


def example(page: Page, name: str) -> None:
    """Chooses one of our motifs."""
    page.locator(".tfe-motif-source select").select_option(label=name)


def style(page: Page, key: str) -> None:
    """What the visitor's own motif is taken for."""
    page.locator(f".tfe-ask-head [data-key={key}]").click()


def seed(page: Page) -> Any:
    """The box of the seed."""
    return page.locator(".tfe-ask-seed")


def asked(page: Page, press: bool = True) -> Request:
    """What stands in the address once the bar has been answered."""
    if press:
        page.locator(".tfe-ask-go").click()
    expect(page.locator(".tfe-ask-panel")).to_have_attribute("aria-busy", "false")
    expect(badge(page)).to_have_text(LIVE)
    return requested(page, Request) if "v=1" in page.evaluate("location.href") else EXAMPLES[0]


def values(request: Request) -> list[int]:
    """The events or cells of a motif, which the models must be able to read."""
    found: list[int] = read_motif(request).tolist()
    return found


def tune_of(request: Request) -> list[int]:
    """The pitches of a melody, one for each note, without rests."""
    cells = values(request)
    return [
        cell + chorales.LOWEST - 1
        for cell, before in zip(cells, [0, *cells], strict=False)
        if cell not in (0, before)
    ]


def play(page: Page, keys: Sequence[str]) -> None:
    """Presses keys one after another, each for longer than a sixteenth."""
    for key in keys:
        page.keyboard.down(key)
        page.wait_for_timeout(APART)
        page.keyboard.up(key)


def test_an_example_fills_the_controls_and_is_asked_for(page: Page) -> None:
    expect(badge(page)).to_have_text("stored")
    expect(page.locator(".tfe-ask-go")).to_contain_text("Harmonise")
    example(page, "Broken chords")
    assert asked(page, press=False) == EXAMPLES[2]
    expect(page.locator(".tfe-ask-go")).to_contain_text("Continue three ways")
    expect(page.locator(".is-select:visible option:checked")).to_have_text("512 events")
    example(page, "Four voices")
    asked(page, press=False)
    page.locator(".tfe-ask-head [data-key=harmonise]").click()  # the soprano alone
    assert values(asked(page)) == chorales.cells_of(FOUR)[::4].tolist()


def test_letters_play_a_melody_that_is_heard_and_asked_for(page_watch: Page, site: str) -> None:
    page = page_watch
    page.add_init_script("""
        window.heard = [];
        const start = OscillatorNode.prototype.start;
        OscillatorNode.prototype.start = function (...when) {
            window.heard.push(Math.round(this.frequency.value));
            return start.apply(this, when);
        };
    """)
    opened(page, site)
    source(page, "Play it")
    expect(page.locator(".tfe-motif-keys")).to_be_focused()
    play(page, ["KeyZ", "KeyC", "KeyG", "KeyQ"])
    expect(page.locator(".tfe-motif-summary")).to_have_text(
        re.compile(r"^4 notes, C4 to C5, \d+\.\d s$")
    )
    assert page.evaluate("window.heard")[0::2] == [262, 330, 370, 523]
    page.keyboard.press("Backspace")
    expect(page.locator(".tfe-motif-summary")).to_contain_text("3 notes")
    request = asked(page)
    assert (request.style, request.mode) == ("chorale", "harmonise")
    assert tune_of(request) == [60, 64, 66]
    for name, left in (("Undo", "2 notes, C4 to E4"), ("Clear", "")):
        page.get_by_role("button", name=name).click()
        expect(page.locator(".tfe-motif-summary")).to_contain_text(left)
    page.locator(".tfe-ask-go").click()
    expect(page.locator(".tfe-ask-error")).to_have_text(
        "Nothing is played yet; a few notes are enough."
    )


def test_keys_move_and_play_the_motif(page: Page) -> None:
    source(page, "Play it")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator(".tfe-motif-piano [aria-live]")).to_have_text("C♯5")
    play(page, ["Space"])
    page.keyboard.press("End")
    play(page, ["Enter", "KeyP"])
    assert tune_of(asked(page)) == [73, 81]
    page.locator(".tfe-motif-keys").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("!document.activeElement.closest('.tfe-motif-piano')"), "one tab stop"


def test_several_fingers_play_a_chord(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, has_touch=True, is_mobile=True)
    opened(page, site)
    source(page, "Play it")
    style(page, "piano")
    page.evaluate("document.querySelector('.tfe-motif-keys').scrollIntoView({ block: 'center' })")
    fingers = []
    for pitch in (48, 52, 55):
        box = measure_box(page.locator(f".tfe-motif-key[data-pitch='{pitch}']"))
        assert box["width"] >= 43
        fingers.append(
            {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] - 8, "id": pitch}
        )
    hand = page.context.new_cdp_session(page)
    for count in (1, 2, 3):
        hand.send(
            "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers[:count]}
        )
    expect(page.locator(".tfe-motif-key.is-down")).to_have_count(3)
    page.wait_for_timeout(APART)
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.locator(".tfe-motif-key.is-down")).to_have_count(0)
    request = asked(page)
    notes = events.notes_from(np.array(values(request))).notes
    assert sorted(notes["pitch"].tolist()) == [48, 52, 55]
    assert notes["onset"].max() < notes["end"].min(), "they sound together"


def test_a_melody_says_what_of_a_chord_it_leaves_out(page: Page) -> None:
    source(page, "Play it")
    for key in ("KeyB", "KeyC", "KeyZ"):  # the highest first and last
        page.keyboard.down(key)
    page.wait_for_timeout(4 * APART)
    for key in ("KeyZ", "KeyC", "KeyB"):
        page.keyboard.up(key)
    expect(page.locator(".tfe-motif-summary")).to_contain_text("3 notes, C4 to G4")
    expect(page.locator(".tfe-motif-summary")).to_contain_text(
        "2 left out: a melody has one note at a time"
    )
    page.locator(".tfe-ask-head [data-key=continue]").click()
    expect(page.locator(".tfe-motif-summary")).not_to_contain_text("left out")
    page.evaluate("document.querySelector('.tfe-motif-keys').focus()")
    play(page, ["KeyQ"])
    request = asked(page)
    voices = chorales.steps_of(np.array(values(request)))
    assert {72, 67, 64, 60} <= set(voices.ravel().tolist())
    assert [67, 64, 60, -1] in voices.tolist()


def test_a_mouse_slides_over_the_keys(page: Page) -> None:
    source(page, "Play it")
    for pitch in (60, 62):
        box = measure_box(page.locator(f".tfe-motif-key[data-pitch='{pitch}']"))
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 10)
        if pitch == 60:
            page.mouse.down()
        page.wait_for_timeout(APART)
    page.mouse.move(20, 20)
    expect(page.locator(".tfe-motif-key.is-down")).to_have_count(0)
    page.mouse.up()
    expect(page.locator(".tfe-motif-summary")).to_contain_text("2 notes, C4 to D4")


def answer(page: Page, told_: dict[str, Any], status: int = 200) -> list[tuple[str, int]]:
    """Answers files in the server's place; returns the list of what has been sent: address and
    bytes."""
    sent: list[tuple[str, int]] = []

    def fulfil(route: Route) -> None:
        sent.append(
            (route.request.url.rpartition("/music/")[2], len(route.request.post_data_buffer or b""))
        )
        route.fulfill(status=status, json=told_)

    page.route("**/music/*", fulfil)
    return sent


def upload(page: Page, size: int = 40, name: str = HOSTILE) -> None:
    """Brings a file."""
    page.locator(".tfe-ask input[type=file]").set_input_files(
        {"name": name, "mimeType": "audio/midi", "buffer": b"M" * size}
    )


def test_a_file_is_sent_and_described(page: Page) -> None:
    said = {"en": "Its drums were left out.", "zh": "略去了打击乐。"}
    written = spell_events(chorales.cells_of(FOUR))
    sent = answer(page, {"motif": written, "notes": None, "steps": 4, "notice": said})
    source(page, "My MIDI")
    page.locator(".tfe-ask-head [data-key=continue]").click()
    upload(page)
    assert asked(page, press=False).motif == written
    assert sent == [("chorale", 40)]
    expect(page.locator(".tfe-ask-note")).to_have_text(said["en"])
    expect(page.locator(".tfe-motif-file")).to_have_text(HOSTILE)
    assert page.locator(".tfe-ask img").count() == 0
    expect(page.locator(".tfe-motif-roll")).to_have_attribute(
        "aria-label", re.compile(r"^The motif: \d+ notes, G2 to C5, 0.5 s$")
    )


def test_unreadable_and_too_large_files(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    sent = answer(
        page, {"error": {"en": "Your file is no MIDI file.", "zh": "您的文件不是 MIDI。"}}, 422
    )
    large = "Your file has 257 KB; MIDI files of up to 256 KB are read."
    for size, says in ((40, "Your file is no MIDI file."), (Motifs({}).file + 1, large)):
        upload(page, size)
        expect(page.locator(".tfe-ask-error")).to_have_text(says)
    expect(badge(page)).to_have_text("refused")
    assert "v=1" not in page.url and [size for _, size in sent] == [40]
    # the browser itself notes the status
    faults.console[:] = [line for line in faults.console if "422" not in line]


def test_a_dropped_file_is_read_as_chosen(page: Page) -> None:
    sent = answer(page, {"motif": motif((60, 62)), "notes": None, "steps": 40, "notice": None})
    brought(page, "drop", ".tfe-ask-panel", "tune.mid", "audio/midi", b"MThd")
    expect(page.locator(".tfe-motif-file")).to_have_text("tune.mid")
    asked(page, press=False)
    style(page, "piano")
    expect(page.locator(".tfe-ask-panel")).to_have_attribute("aria-busy", "false")
    page.locator(".tfe-ask-go").click()
    assert asked(page, press=False).motif == motif((60, 62))
    assert [where for where, _ in sent] == ["chorale", "piano"]


def test_a_link_brings_the_motif_and_the_knobs_back(page_watch: Page, site: str) -> None:
    request = Request(
        "piano",
        "continue",
        motif((50, 57, 62)),
        300,
        seed=8,
        temperature=0.7,
        silenced=(("relative", 1, 2),),
    )
    page = opened(page_watch, site, f"lang=en&{permalink.encode(request)}")
    assert asked(page, press=False) == request
    expect(page.locator(".tfe-motif-source [aria-checked=true]")).to_have_text("Play it")
    expect(page.locator(".tfe-motif-summary")).to_have_text("3 notes, D3 to D4, 0.6 s")
    expect(page.locator(".is-select:visible option:checked")).to_have_text("300 events")
    seed(page).fill("9")
    assert asked(page) == replace(request, seed=9, silenced=()), (
        "another run begins with the models as trained"
    )
    style(page, "chorale")
    page.locator(".tfe-ask-head [data-key=harmonise]").click()
    again = asked(page)
    assert (again.style, again.mode, again.length) == ("chorale", "harmonise", 256)
    assert tune_of(again) == [50, 57, 62]


def test_an_example_comes_back_from_the_piano_as_it_was(page: Page) -> None:
    source(page, "Play it")
    seed(page).fill("5")
    page.locator(".tfe-motif-source [aria-checked=true]").press("ArrowLeft")  # arrows only choose
    expect(seed(page)).to_have_value("7")
    assert asked(page) == EXAMPLES[0]


@pytest.mark.parametrize("number", range(2))
def test_notes_are_spelled_as_the_models_spell_them(
    page_watch: Page, site: str, number: int
) -> None:
    generator = np.random.default_rng(number)
    count = 80
    onset = generator.integers(0, 20_000, count) / 2  # halves of the grid too
    played = {
        "onset": onset,
        "end": onset + generator.integers(0, 3000, count),
        "pitch": generator.integers(0, 128, count) if number else generator.integers(60, 64, count),
        "velocity": generator.integers(1, 128, count),
    }
    notes = events.notes_of(played["onset"], played["end"], played["pitch"], played["velocity"])
    expected = events.events_of(notes).tolist()
    rows = [
        dict(zip(played, map(float, row), strict=True))
        for row in zip(*played.values(), strict=True)
    ]
    odd = generator.integers(0, events.EVENTS, 300)
    made = bare(page_watch, site).evaluate(
        """async ([address, played, odd]) => {
            const music = await import(new URL(address, location.origin));
            const events = music.eventsOf(music.notesOf(played));
            return { events, spelled: music.spelled(events),
                     read: music.unspelled(music.spelled(events)),
                     again: music.eventsOf(music.notesOf(music.playedFrom(events))),
                     odd: music.playedFrom(odd) };
        }""",
        [base.write_script_address("labs/music/noteevents.js"), rows, odd.tolist()],
    )
    assert made["events"] == expected == made["read"] == made["again"]
    assert made["spelled"] == spell_events(expected)
    found = events.notes_from(odd).notes
    assert [
        (note["onset"] // 10, note["end"] // 10, note["pitch"]) for note in made["odd"]
    ] == found[["onset", "end", "pitch"]].tolist()


def test_cells_of_chorales_come_back_as_they_were(page_watch: Page, site: str) -> None:
    steps = np.sort(np.random.default_rng(5).integers(36, 82, (40, 4)), axis=1)[:, ::-1]
    # four different pitches, the highest first
    steps = steps[(np.diff(steps, axis=1) < 0).all(axis=1)]
    cells = chorales.cells_of(steps)
    made = bare(page_watch, site).evaluate(
        """async ([address, cells]) => {
            const music = await import(new URL(address, location.origin));
            const how = { voices: 4, grid: 125, most: 512 };
            const far = [{ pitch: 100, onset: 0, end: 125 }, { pitch: 20, onset: 125, end: 250 },
                { pitch: 60, onset: 125, end: 20000 }];
            return { again: music.cellsOf(music.playedCells(cells, how), how),
                far: music.cellsOf(far, { ...how, voices: 1, most: 128 }) };
        }""",
        [base.write_script_address("labs/music/noteevents.js"), cells.tolist()],
    )
    assert made["again"] == {"cells": cells.tolist(), "left": 0}
    assert made["far"]["left"] == 1 and len(made["far"]["cells"]) == 128
    assert [cell + chorales.LOWEST - 1 for cell in made["far"]["cells"][:2]] == [
        76,
        60,
    ], "by octaves into the range"
