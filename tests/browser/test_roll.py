"""The roll widget in a real browser, on the real server, with music and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pretty_midi
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.figures import roll as figure
from explorer.lab import Lab
from explorer.labs.music import rolls
from explorer.widgets.roll import roll, rollside
from models.music.records import Made, Step
from models.music.weights import look
from tests.bench import Bench
from tests.explorer.rolls import NAMES, chorale, made, piano

NEW = Callable[..., tuple[Page, Any]]
ABOUT = {"jsb_relative": {"en": "relative positions", "zh": "相对位置"}, "relative": {"en": "relative positions", "zh": "相对位置"}}
LICENCE = {"en": "CC BY-NC-SA 4.0.", "zh": "CC BY-NC-SA 4.0。"}
PICK = {"model": "jsb_relative", "head": "2.2", "note": 20}


def value(style: str) -> dict[str, object]:
    """A finished run."""
    seen, request = chorale() if style == "chorale" else piano()
    more: dict[str, Any] = {"pick": PICK} if style == "chorale" else {"licence": LICENCE}
    return rolls.done(seen, request, f"v={style}", names=NAMES, about=ABOUT, state="stored", **more)


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Both models of a chorale side by side, then the finished run."""
    seen, request = chorale()
    steps: list[Step] = []
    for first in range(0, 224, 8):
        steps += [Step(made.variant, first, made.events[first : first + 8], made.nats[first : first + 8]) for made in seen.made]
        yield rolls.growing(request, steps, "v=new", names=NAMES, about=ABOUT)
        await asyncio.sleep(0.05)
    yield rolls.done(seen, request, "v=new", names=NAMES, about=ABOUT, state="live", pick={**PICK, "note": 16})


def change() -> dict[str, object]:
    """The same motif under a change of the model: from the middle on the first model makes other notes."""
    seen, request = chorale()
    first, other = seen.made
    values = first.events.astype(np.int64)
    later = (np.arange(len(values)) >= len(values) // 2) & ~first.given & (values > 0)
    changed = made(first.variant, "chorale", np.where(later, values + 1, values), first.given, 0)
    asked = replace(request, silenced=(("jsb_relative", 0, 0),))
    return rolls.done(replace(seen, made=(changed, other)), asked, "v=changed", names=NAMES, about=ABOUT, state="live", pick=PICK)


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        place = roll(value("piano" if slug == "piano" else "chorale"))
        if slug == "beside":
            rollside()
        gr.Button("Grow", elem_id="grow").click(
            grow, None, place, show_progress="hidden", trigger_mode="multiple", api_visibility="private"
        )
        gr.Button("Change", elem_id="change").click(change, None, place, show_progress="hidden", api_visibility="private")

    return page


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {slug: page_of(slug) for slug in ("chorale", "piano", "beside")}, year=2018)


def opened(page: Page, site: str, slug: str = "chorale", query: str = "lang=en") -> Page:
    """The page once its rolls stand and the weights of the first view are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-roll[data-drawn$=looked]", state="attached")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the rolls show "jsb_relative 2.2 20 looked"."""
    page.wait_for_selector(f".tfe-roll[data-drawn='{what}']", state="attached")


def said(page: Page) -> str:
    """The sentence under the rolls."""
    return page.locator(".tfe-roll .tfe-words").inner_text()


def viewed(page: Page) -> dict[str, str]:
    """What the address says is looked at."""
    found: dict[str, str] = page.evaluate("Object.fromEntries([...new URL(location.href).searchParams].filter(([key]) => key[0] === '_'))")
    return found


def spot(page: Page, made: Made, note: int, index: int = 0) -> tuple[float, float]:
    """Where a note stands on the screen: its roll's ground is the index-th large rectangle, pitches are spread evenly over it."""
    box = page.evaluate(
        """(index) => { const grounds = [...document.querySelectorAll(".tfe-roll-picture rect[stroke]")];
            const box = grounds[index].getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; }""",
        index,
    )
    seen, _ = chorale()
    pitches = np.concatenate([one.notes[:, 2] for one in seen.made])
    bottom, top = int(pitches.min()) - 2, int(pitches.max()) + 2
    onset, end, pitch, _ = (int(n) for n in made.notes[note])
    steps = max(one.steps for one in seen.made)
    return (
        box[0] + box[2] * (onset + end) / 2 / steps,
        box[1] + box[3] * (1 - (pitch - bottom + 0.5) / (top - bottom + 1)),
    )


def given_to(made: Made, note: int, layer: int, head: int) -> tuple[int, float]:
    """The note that one looked at most, and its weight."""
    weights = figure.by_note(look(made, layer - 1, head - 1, [int(made.at[note])]), figure.owners(made, "chorale"), len(made.notes))[0]
    return int(weights.argmax()), float(weights.max())


def saved(page: Page, kind: str) -> tuple[str, bytes]:
    """Name and content of what the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-roll .tfe-export[data-kind='{kind}']").click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_telling_note_is_locked_on_arrival_and_the_sentence_says_what_it_looks_back_to(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    drawn(page, "jsb_relative 2.2 20 looked")
    made = chorale()[0].made[0]
    best, weight = given_to(made, 20, 2, 2)
    assert made.notes[20, 0] - made.notes[best, 0] == 16
    assert re.search(rf"Note \S+ \(bar 2, beat \d\) gives \S+ \(bar 1, beat \d\) {weight:.2f}: head 2·2 looks 4 beats back", said(page))
    assert page.locator(".tfe-roll-picture .arc").count() >= 1
    assert page.locator(".tfe-roll-picture .weight").first.text_content() == f"{weight:.2f}"
    assert viewed(page) == {}


def test_a_click_locks_a_note_shift_adds_one_and_another_roll_becomes_the_large_one(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    made, other = chorale()[0].made
    page.mouse.click(*spot(page, made, 24))
    drawn(page, "jsb_relative 2.2 24 looked")
    page.keyboard.down("Shift")
    page.mouse.click(*spot(page, made, 17))
    page.keyboard.up("Shift")
    drawn(page, "jsb_relative 2.2 24,17 looked")
    assert viewed(page) == {"_model": "jsb_relative", "_note": "24,17"}
    assert page.locator(".tfe-roll-picture .chosen").count() == 2
    page.mouse.click(*spot(page, other, 9, 1))
    drawn(page, "jsb_transformer 2.2 9 looked")
    _, weight = given_to(other, 9, 2, 2)
    assert f"{weight:.2f}" in said(page)
    page.goto(page.url)
    drawn(page, "jsb_transformer 2.2 9 looked")


def test_keys_step_notes_and_heads_and_reset(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.keyboard.press("ArrowRight")
    drawn(page, "jsb_relative 2.2 20 looked")
    page.locator(".tfe-roll-board").focus()
    for key, there in (
        ("ArrowRight", "2.2 21"),
        ("ArrowLeft", "2.2 20"),
        ("ArrowDown", "2.3 20"),
        ("ArrowDown", "1.1 20"),
        ("ArrowUp", "2.3 20"),
    ):
        page.keyboard.press(key)
        drawn(page, f"jsb_relative {there} looked")
    _, weight = given_to(chorale()[0].made[0], 20, 2, 3)
    assert f"{weight:.2f}" in said(page)
    page.keyboard.press("Escape")
    drawn(page, "jsb_relative 2.2 20 looked")
    assert viewed(page) == {}


def test_a_head_is_chosen_among_the_small_pictures_and_silenced_with_shift(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "beside")
    assert page.locator(".tfe-rollside .tfe-roll-tiles").count() == 1, "the heads stand in their own column"
    expect(page.locator(".tfe-roll-far .tfe-note")).to_contain_text("Head 2·2 listens hardest 4 beats back")
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js"));
            (await import(address)).bus.on("silence", (detail) => { window.silenced = detail; }); }"""
    )
    tiles = page.locator(".tfe-roll-tiles")
    tiles.click(position={"x": 30, "y": 26})
    drawn(page, "jsb_relative 1.1 20 looked")
    tiles.click(position={"x": 30, "y": 26}, modifiers=["Shift"])
    assert page.evaluate("window.silenced") == {"model": "jsb_relative", "layer": 0, "head": 0}
    tiles.focus()
    page.keyboard.press("ArrowRight")
    drawn(page, "jsb_relative 1.2 20 looked")


def test_music_is_heard_and_one_cursor_runs_through_all_rolls(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    cursor = page.locator(".tfe-roll-cursor")
    assert cursor.get_attribute("visibility") == "hidden"
    page.locator(".tfe-roll-board").focus()
    page.keyboard.press(" ")
    page.wait_for_selector(".tfe-roll[data-playing=true]", state="attached")
    page.wait_for_function("Number(document.querySelector('.tfe-roll').dataset.place) > 0.6")
    assert page.evaluate("document.querySelector('.tfe-roll audio').currentTime") > 0.5
    assert cursor.get_attribute("visibility") == "visible"
    boxes = page.evaluate(
        "[...document.querySelectorAll('.tfe-roll-picture rect[stroke]')].map((it) => it.getBBox()).map((it) => [it.y, it.y + it.height])"
    )
    assert [float(cursor.get_attribute(name) or 0) for name in ("y1", "y2")] == [boxes[0][0], boxes[-1][1]]
    page.locator(".tfe-roll .tfe-segmented [data-key=jsb_transformer]").click()
    page.wait_for_function(
        "document.querySelector('.tfe-roll audio').src && document.querySelector('.tfe-roll').dataset.playing === 'true'"
    )
    place = float(page.locator(".tfe-roll").get_attribute("data-place") or 0)
    assert place > 0.5, "another source goes on where the last one was"
    page.locator(".tfe-roll-press.is-play").click()
    page.wait_for_selector(".tfe-roll[data-playing=false]", state="attached")
    page.locator(".tfe-roll-transport .tfe-range").fill("2.5")
    expect(page.locator(".tfe-roll-time")).to_have_text("0:02.5 / 0:07.0")
    expect(page.locator(".tfe-roll-where")).to_have_text("bar 2, beat 2")
    page.locator(".tfe-roll-press").first.click()
    expect(page.locator(".tfe-roll-time")).to_have_text("0:00.0 / 0:07.0")


def test_sound_that_cannot_be_had_is_one_sentence(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    page.route("**/sound/**", lambda route: route.fulfill(status=404, body=""))
    opened(page, site)
    page.locator(".tfe-roll-press.is-play").click()
    expect(page.locator(".tfe-roll-error")).to_contain_text("The sound could not be fetched")
    page.wait_for_selector(".tfe-roll[data-playing=false]", state="attached")
    faults.console.clear()


def test_notes_appear_as_they_are_made_and_the_telling_one_is_locked_at_the_end(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => { window.seen = []; const node = document.querySelector(".tfe-roll");
            const words = node.querySelector(".tfe-words");
            const length = () => document.querySelector(".tfe-roll-picture .made")?.getAttribute("d").length ?? 0;
            const told = () => node.dataset.drawn.endsWith("growing") && window.seen.push([length(), words.textContent]);
            new MutationObserver(told).observe(node, { attributes: true }); }"""
    )
    page.click("#grow")
    page.wait_for_function("window.seen.length > 3")
    drawn(page, "jsb_relative 2.2 16 looked")
    lengths, words = zip(*page.evaluate("window.seen"), strict=True)
    assert list(lengths) == sorted(lengths) and len(set(lengths)) >= 3, lengths
    assert any("of 224 cells are made" in each for each in words), words


def test_under_a_change_a_lock_stays_as_long_as_the_music_is_the_same(page_watch: Page, site: str) -> None:
    for note, stays in ((2, True), (40, False)):
        page = opened(page_watch, site, query=f"lang=en&_note={note}&_head=1.3")
        drawn(page, f"jsb_relative 1.3 {note} looked")
        page.locator("#change").click()
        drawn(page, f"jsb_relative 1.3 {note if stays else PICK['note']} looked")
        page.wait_for_selector(".tfe-roll[data-state=live]", state="attached")
        assert viewed(page) == {"_head": "1.3", **({"_note": str(note)} if stays else {})}


def test_a_model_without_attention_says_so_and_can_be_heard(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "piano")
    page.locator(".tfe-roll .tfe-segmented [data-key=lstm]").click()
    drawn(page, "lstm 1.1 none bare")
    expect(page.locator(".tfe-roll .tfe-words")).to_contain_text("Performance RNN has no attention")
    assert page.locator(".tfe-roll-press.is-play").is_enabled()
    expect(page.locator(".tfe-roll-note")).to_contain_text("CC BY-NC-SA")


def test_motifs_that_come_back_are_bracketed_in_pairs(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    pairs = rolls.done(*chorale(), "", names=NAMES, about=ABOUT, state="stored")["repeats"]["jsb_relative"]  # type: ignore[index]
    assert pairs
    page.locator(".tfe-roll-motifs").click()
    expect(page.locator(".tfe-roll-picture .motif")).to_have_count(2 * len(pairs))
    expect(page.locator(".tfe-roll-picture text", has_text=re.compile("^a′ \\+2$"))).to_have_count(1)
    assert viewed(page)["_motifs"] == "1"
    page.locator(".tfe-roll-motifs").click()
    expect(page.locator(".tfe-roll-picture .motif")).to_have_count(0)


def test_what_is_taken_along_opens_elsewhere_and_holds_the_numbers(page_watch: Page, site: str, tmp_path: Path) -> None:
    page = opened(page_watch, site)
    made = chorale()[0].made[0]
    name, content = saved(page, "MIDI")
    assert name == "chorale-jsb_relative.mid"
    (tmp_path / "a.mid").write_bytes(content)
    notes = sum(len(each.notes) for each in pretty_midi.PrettyMIDI(str(tmp_path / "a.mid")).instruments)
    assert notes == len(made.notes)
    name, content = saved(page, "WAV")
    assert name.endswith(".wav") and content[:4] == b"RIFF" and np.abs(np.frombuffer(content[44:], "<i2").astype(np.float32)).max() > 500
    _, content = saved(page, "PNG")
    assert min(Image.open(io.BytesIO(content)).size) > 600
    _, content = saved(page, "SVG")
    assert b"<svg" in content and b"var(--" not in content and b'href="http' not in content
    _, content = saved(page, "CSV")
    lines = content.decode("utf-8-sig").splitlines()
    assert lines[0] == "model,note,onset_s,end_s,pitch,name,voice,given,nats,weight" and len(lines) == 1 + sum(
        len(one.notes) for one in chorale()[0].made
    )
    _, content = saved(page, "NPZ")
    with np.load(io.BytesIO(content)) as files:
        np.testing.assert_array_equal(files["jsb_relative_notes"], made.notes)
        np.testing.assert_array_equal(files["jsb_transformer_events"], chorale()[0].made[1].events)
        best, weight = given_to(made, 20, 2, 2)
        assert int(files["weight_by_note"].argmax()) == best
        assert float(files["weight_by_note"].max()) == pytest.approx(weight, abs=1e-3)
    name, content = saved(page, "events")
    assert name.endswith("events.txt") and "# jsb_relative" in content.decode() and "S C5" in content.decode()
    _, content = saved(page, "HTML")
    assert said(page).split(":")[0] in content.decode() and not re.search(rb"(?:src|href)=\"?https?:", content)


def test_a_phone_stacks_the_rolls_and_a_tap_previews_before_it_locks(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True)
    opened(page, site)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    made = chorale()[0].made[0]
    at = spot(page, made, 24)
    page.touchscreen.tap(*at)
    expect(page.locator(".tfe-hover")).to_contain_text("tap again to lock")
    drawn(page, "jsb_relative 2.2 20 looked")
    page.touchscreen.tap(*at)
    drawn(page, "jsb_relative 2.2 24 looked")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(new_page: NEW, site: str, scheme: str) -> None:
    page, _ = new_page(color_scheme=scheme)
    opened(page, site, "beside")
    page.locator(".tfe-roll .tfe-export[data-kind=table]").click()
    for context in (".tfe-roll", ".tfe-rollside"):
        found = Axe().run(page, context=context)
        assert found.violations_count == 0, found.generate_report()


def test_chinese_speaks_of_the_same_note(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="lang=zh")
    _, weight = given_to(chorale()[0].made[0], 20, 2, 2)
    assert re.search(rf"音 \S+（第 2 小节第 \d 拍） 给 \S+（第 1 小节第 \d 拍） {weight:.2f}：头 2·2 往回看 4 拍", said(page))
    expect(page.locator(".tfe-roll .tfe-title").first).to_have_text("由动机作成的音乐")


def test_the_projector_shows_the_rolls_and_the_sentence_alone(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-roll-board").focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).to_have_text("Which earlier notes does a note look back to?")
    expect(page.locator(".tfe-roll-transport")).to_be_hidden()
    expect(page.locator(".tfe-roll-tiles")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    drawn(page, "jsb_relative 2.2 21 looked")
    bottoms = page.evaluate(
        "[...document.querySelectorAll('.tfe-roll-picture, .tfe-roll .tfe-words')].map((it) => it.getBoundingClientRect().bottom)"
    )
    assert max(bottoms) <= 900
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-roll-transport")).to_be_visible()
