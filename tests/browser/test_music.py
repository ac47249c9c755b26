"""The music lab as a visitor meets it: a motif harmonised, continued, played, uploaded; heard, looked into, changed and taken along."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pretty_midi
import pytest
from playwright.sync_api import Page, expect

from explorer.lab import FIGURE
from explorer.labs.music import views
from explorer.labs.music.page import LAB
from models.music.records import CHORALES, MODELS, styles
from tests.browser.waiting import asked, prepared

PATH = LAB.path
LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
SLOW = 240_000  # milliseconds that a run may take while the machine does other things
ENERGY = """async (address) => {
    const bytes = await (await fetch(address)).arrayBuffer();
    const sound = await new OfflineAudioContext(1, 22050, 22050).decodeAudioData(bytes);
    const samples = sound.getChannelData(0);
    const power = (from, to) => {
        const part = samples.slice(Math.floor(from * sound.sampleRate), Math.floor(to * sound.sampleRate));
        return Math.sqrt(part.reduce((sum, one) => sum + one * one, 0) / part.length);
    };
    return [sound.duration, power(0, 0.5), power(1.1, sound.duration)];
}"""  # seconds, loudness of the motif, loudness of what follows it
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run


def opened(page: Page, site: str, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{PATH}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-tune-go")).to_be_visible()
    expect(page.locator(".tfe-roll-board")).to_be_visible(timeout=SLOW)
    expect(page.locator(".tfe-remix-do")).to_be_visible()
    return page


def badge(page: Page) -> Any:
    return page.locator(".tfe-tune .tfe-badge")


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(badge(page)).to_have_text(LIVE, timeout=SLOW)


def words(page: Page) -> Any:
    return page.locator(".tfe-roll .tfe-words")


def number(page: Page, model: str = "jsb_relative") -> float:
    """The one number of a model, once the answer stands."""
    expect(page.locator(".tfe-remix-panel")).to_have_attribute("aria-busy", "false", timeout=SLOW)
    shown = page.locator(f".tfe-remix [data-model={model}] .tfe-remix-number")
    expect(shown).to_be_visible(timeout=SLOW)
    return float(shown.inner_text().replace("−", "-"))


def test_the_page_is_alive_before_any_model_is_loaded(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    expect(badge(page_watch)).to_have_text("stored")
    expect(words(page_watch)).to_contain_text("gives")
    expect(page_watch.locator(".tfe-bench-wide .tfe-figure .tfe-words").first).to_contain_text("From best to worst")
    assert page_watch.locator(".tfe-card-pairs dt").count() == 4


def test_music_grows_before_the_visitors_eyes_and_can_be_stopped(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => {
            window.seen = [];
            const badge = document.querySelector('.tfe-tune .tfe-badge');
            const watcher = new MutationObserver(() => {
                window.seen.push(badge.textContent);
                if (/ 1?\\d\\d of/.test(badge.textContent)) document.querySelector('.tfe-tune-go').click();
            });
            watcher.observe(badge, {childList: true, subtree: true, characterData: true});
        }"""
    )  # stopped by the page itself, so that the music cannot be finished before
    page.locator(".tfe-tune-seed").fill("1234")
    page.locator(".tfe-tune-go").click()
    expect(badge(page)).to_have_text("stopped", timeout=SLOW)
    assert any(re.search(r"cell \d+ of", text) for text in page.evaluate("window.seen"))
    page.evaluate("window.seen = null")


def midi_file() -> bytes:
    """Two chords of four voices, half a second each, as a notation program would write them: 120 quarters a minute."""
    made = pretty_midi.PrettyMIDI(initial_tempo=120)
    for pitches in ((72, 71), (67, 67), (64, 62), (48, 43)):
        voice = pretty_midi.Instrument(0)
        voice.notes = [pretty_midi.Note(80, pitch, 0.5 * at, 0.5 * at + 0.5) for at, pitch in enumerate(pitches)]
        made.instruments.append(voice)
    file = io.BytesIO()
    made.write(file)
    return file.getvalue()


@pytest.mark.parametrize("style", styles())
def test_a_midi_file_is_continued_by_every_model_heard_and_taken_along(site: str, page_watch: Page, style: str) -> None:
    page = opened(page_watch, site)
    page.locator(".is-motif").get_by_role("radio", name="My MIDI").click()
    page.locator(f".tfe-tune-style [data-key={style}]").click()
    if style == "chorale":
        page.locator(".is-mode [data-key=continue]").click()
    page.locator(".is-length select").select_option(index=0)
    page.locator(".tfe-tune input[type=file]").set_input_files({"name": "mine.mid", "mimeType": "audio/midi", "buffer": midi_file()})
    expect(page.locator(".tfe-tune-file")).to_have_text("mine.mid")
    finished(page)
    models = [key for key in MODELS[style] if key in views.models(style)]
    for key in models:
        page.locator(f".tfe-roll-transport [data-key={key}]").click()
        page.locator(".tfe-roll-press.is-play").click()
        page.wait_for_function("() => document.querySelector('.tfe-roll audio').currentTime > 0.2", timeout=SLOW)
        page.locator(".tfe-roll-press.is-play").click()
        seconds, motif, beyond = page.evaluate(ENERGY, page.locator(".tfe-roll audio").get_attribute("src"))
        assert seconds > 2 and motif > 0.01 and beyond > 0.01, "the motif and what follows it are heard"
        with page.expect_download(timeout=SLOW) as saved:
            page.locator(".tfe-roll .tfe-export[data-kind=MIDI]").click()
        back = pretty_midi.PrettyMIDI(str(saved.value.path()))
        assert any("CC BY-NC-SA 4.0" in event.text for event in back.text_events) == (style == "piano"), "its licence goes with it"
        struck = sorted((round(8 * note.start), note.pitch) for voice in back.instruments for note in voice.notes)
        assert [one for one in struck if one[0] < 4] == [(0, 48), (0, 64), (0, 67), (0, 72)], "the motif as it came"
        assert max(start for start, _ in struck) >= 8, "and what follows it"


def test_a_file_that_is_no_music_is_refused_in_one_sentence(site: str, new_page: Callable[..., tuple[Page, Any]]) -> None:
    page, faults = new_page()
    opened(page, site)
    with page.expect_response(lambda answer: "/music/" in answer.url and answer.request.method == "POST") as answer:
        page.locator(".tfe-tune input[type=file]").set_input_files(
            {"name": "a.mid", "mimeType": "audio/midi", "buffer": b"these are words, not notes"}
        )
    assert answer.value.status == 422
    expect(page.locator(".tfe-tune-error")).to_be_visible()
    expect(badge(page)).to_have_text("refused")
    expect(words(page)).to_contain_text("gives")
    faults.console[:] = [line for line in faults.console if "422" not in line]  # Chromium notes every refusal


def test_leaving_the_relative_term_out_costs_nats_and_restoring_gives_them_back(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site)
    page.locator("input[data-field=relative]").check()
    assert number(page) > 0, "a model without its distances reads its own music worse"
    assert asked(page)["farthest"] == ["0"]
    expect(page.locator(".tfe-remix-sentence")).to_contain_text("Without the relative term")
    roll, before = page.locator(".tfe-roll[data-playing]"), page.locator(".tfe-remix-hear").first
    page.locator(".tfe-roll-press.is-play").click()
    expect(roll).to_have_attribute("data-playing", "true")
    before.click()
    expect(before).to_have_attribute("aria-pressed", "true")
    expect(roll).to_have_attribute("data-playing", "false")
    page.locator(".tfe-roll-press.is-play").click()
    expect(before).to_have_attribute("aria-pressed", "false")
    page.locator(".tfe-remix-restore").click()
    expect(page.locator(".tfe-remix-board")).to_be_hidden(timeout=SLOW)
    assert "farthest" not in asked(page)


def test_a_permalink_restores_request_interventions_and_view(site: str, page_watch: Page) -> None:
    query = views.query(CHORALES[0]) + "&seed=4&temperature=0.9&silenced=jsb_relative.1.2&_model=jsb_relative&_head=2.3&_note=40"
    page = opened(page_watch, site, query)
    number(page)
    expect(page.locator(".tfe-tune-seed")).to_have_value("4")
    expect(page.locator(".tfe-remix-chip")).to_have_count(1)
    kept = parse_qs(query)
    assert {key: asked(page)[key] for key in kept} == kept


def test_examples_are_one_click_away_and_leave_the_queue_alone(site: str, new_page: Callable[..., tuple[Page, Any]]) -> None:
    prepared(site, LAB.slug)
    page, faults = new_page()
    opened(page, site)
    page.locator(".tfe-tune-motif select").select_option(index=1)
    page.wait_for_function("(query) => location.search.includes(query)", arg="motif.z", timeout=SLOW)
    expect(badge(page)).to_have_text("stored", timeout=SLOW)
    assert [address for address in faults.requests if "/queue/join" in address] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_guided_step_restores_its_view(site: str, new_page: Callable[..., tuple[Page, object]], language: str) -> None:
    page, _ = new_page(locale="zh-CN" if language == "zh" else "en-US")
    opened(page, site)
    for count, step in enumerate(LAB.steps, 1):
        page.get_by_role("button", name=re.compile(re.escape(step.title[language]))).first.click()
        expect(page.get_by_text(step.say[language]).first).to_be_visible()
        assert asked(page)["step"] == [str(count)]
        for key, value in parse_qs(step.query).items():
            page.wait_for_function("([key, value]) => new URL(location).searchParams.get(key) === value", arg=[key, value[0]], timeout=SLOW)
        for key, value in step.view.items():
            assert asked(page)[f"_{key}"] == [value], step.title
        if "farthest" in step.query:
            number(page)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("v=1&motif=%25%25%25", "motif"),
        ("v=1&mode=continue&motif=AQ", "motif"),
        ("v=1&style=polka", "polka"),
        ("v=1&temperature=90", "90"),
        ("v=1&seed=x", "seed"),
        *([] if "piano" in styles() else [("v=1&style=piano&mode=continue", "Piano")]),
    ],
)
def test_a_made_up_link_gets_one_sentence_and_the_page_stays(site: str, page_watch: Page, query: str, says: str) -> None:
    opened(page_watch, site, query)
    refusal = page_watch.locator(".tfe-tune-error")
    expect(refusal).to_be_visible(timeout=SLOW)
    expect(refusal).to_contain_text(says)
    expect(badge(page_watch)).to_have_text("refused")


def test_every_export_opens_as_a_file(site: str, page_watch: Page) -> None:
    opened(page_watch, site, views.query(CHORALES[0]) + "&farthest=0")
    number(page_watch)
    endings: set[str] = set()
    for bar in (".tfe-roll", ".tfe-bench-wide .tfe-figure", ".tfe-remix"):
        buttons = page_watch.locator(f"{bar} .tfe-exports .tfe-export:not([aria-expanded])")
        kinds = buttons.evaluate_all("(all) => all.map((one) => one.dataset.kind)")
        assert kinds == list(LAB.exports.get(bar.removeprefix(".tfe-"), FIGURE * 2))  # two figures stand there
        for at in range(buttons.count()):
            with page_watch.expect_download(timeout=SLOW) as saved:
                buttons.nth(at).click()
            endings.add(saved.value.suggested_filename.rpartition(".")[2])
            assert saved.value.path().stat().st_size > 50
    assert endings >= {"mid", "wav", "png", "svg", "html", "csv", "npz"}
