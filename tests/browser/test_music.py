"""The music lab as a visitor meets it: a motif harmonised, continued, played, uploaded; heard,
looked into, changed and taken along."""

from __future__ import annotations

import io
import re

import pretty_midi
import pytest
from playwright.sync_api import Page, expect

from explorer.labs.music import views
from models.music.records import MODELS, styles
from tests.browser.staged import Picture
from tests.browser.visiting import badge, finished, go

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("music walk", 2)


def test_music_grows_before_the_visitors_eyes_and_can_be_stopped(page: Page) -> None:
    page.evaluate("""() => {
            window.seen = [];
            const badge = document.querySelector('.tfe-ask .tfe-badge');
            window.watcher = new MutationObserver(() => {
                window.seen.push(badge.textContent);
                if (/ 1?\\d\\d of/.test(badge.textContent))
                    document.querySelector('.tfe-ask-go').click();
            });
            watcher.observe(badge, {childList: true, subtree: true, characterData: true});
        }""")  # stopped by the page itself, so that the music cannot be finished before
    page.locator(".tfe-ask-seed").fill("1234")
    go(page).click()
    expect(badge(page)).to_have_text("stopped")
    assert any(re.search(r"cell \d+ of", text) for text in page.evaluate("window.seen"))
    page.evaluate("window.watcher.disconnect()")


def midi_file() -> bytes:
    """Two chords of four voices, half a second each, as a notation program would write them: 120
    quarters a minute."""
    made = pretty_midi.PrettyMIDI(initial_tempo=120)
    for pitches in ((72, 71), (67, 67), (64, 62), (48, 43)):
        voice = pretty_midi.Instrument(0)
        voice.notes = [
            pretty_midi.Note(80, pitch, 0.5 * at, 0.5 * at + 0.5)
            for at, pitch in enumerate(pitches)
        ]
        made.instruments.append(voice)
    file = io.BytesIO()
    made.write(file)
    return file.getvalue()


def test_every_model_continues_a_midi_file(page: Page) -> None:
    style, roll = styles()[-1], Picture(page, "roll")
    page.locator(".tfe-motif-source").get_by_role("radio", name="My MIDI").click()
    page.locator(f".tfe-ask-head [data-key={style}]").click()
    page.locator(".is-select:visible select").select_option(index=0)
    page.locator(".tfe-ask input[type=file]").set_input_files(
        {"name": "mine.mid", "mimeType": "audio/midi", "buffer": midi_file()}
    )
    expect(page.locator(".tfe-motif-file")).to_have_text("mine.mid")
    finished(page)
    for key in (key for key in MODELS[style] if key in views.list_models(style)):
        roll.find(f".tfe-segmented [data-key={key}]").click()
        roll.find(".is-play").click()
        page.wait_for_function("() => document.querySelector('.tfe-roll audio').currentTime > 0.2")
        roll.find(".is-play").click()
        back = pretty_midi.PrettyMIDI(io.BytesIO(roll.saved("MIDI")[1]))
        assert any("CC BY-NC-SA 4.0" in event.text for event in back.text_events) == (
            style == "piano"
        ), "its licence goes with it"
        struck = sorted(
            (round(8 * note.start), note.pitch)
            for voice in back.instruments
            for note in voice.notes
        )
        assert [one for one in struck if one[0] < 4] == [
            (0, 48),
            (0, 64),
            (0, 67),
            (0, 72),
        ], "the motif as it came"
        assert max(start for start, _ in struck) >= 8, "and what follows it"
