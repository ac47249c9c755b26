"""The rolls of music and their heads on the stage, with music and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pretty_midi
import pytest
from playwright.sync_api import Page, expect

from explorer.components.stage import place_picture
from explorer.contract.lab import OpenLab
from explorer.labs.music import rolls, texts
from explorer.labs.music.figures import roll as figure
from models.music.records import Made, Step
from models.music.weights import look
from tests.browser.staged import AT_ONCE, NEW, Picture, heard, listen, opening
from tests.browser.waiting import addressed, becomes
from tests.explorer.rolls import NAMES, chorale, made, piano

ABOUT = {
    "jsb_relative": {"en": "relative positions", "zh": "相对位置"},
    "relative": {"en": "relative positions", "zh": "相对位置"},
}
LICENCE = {"en": "CC BY-NC-SA 4.0.", "zh": "CC BY-NC-SA 4.0。"}
PICK = {"model": "jsb_relative", "head": "2.2", "note": 20}
ON = "model=jsb_relative head=2.2 note=20"


def value(style: str) -> dict[str, object]:
    """A finished run."""
    seen, request = chorale() if style == "chorale" else piano()
    more: dict[str, Any] = {"pick": PICK} if style == "chorale" else {"licence": LICENCE}
    return rolls.draw_finished_roll(
        seen, request, f"v={style}", names=NAMES, about=ABOUT, state="stored", **more
    )


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Both models of a chorale side by side, then the finished run."""
    seen, request = chorale()
    steps: list[Step] = []
    for first in range(0, 224, 8):
        steps += [
            Step(made.variant, first, made.events[first : first + 8], made.nats[first : first + 8])
            for made in seen.made
        ]
        yield rolls.draw_growing_roll(request, steps, "v=new", names=NAMES, about=ABOUT)
        await asyncio.sleep(0.05)
    yield rolls.draw_finished_roll(
        seen, request, "v=new", names=NAMES, about=ABOUT, state="live", pick={**PICK, "note": 16}
    )


def change() -> dict[str, object]:
    """The same motif under a change of the model: from the middle on the first model makes other
    notes."""
    seen, request = chorale()
    first, other = seen.made
    values = first.events.astype(np.int64)
    later = (np.arange(len(values)) >= len(values) // 2) & ~first.given & (values > 0)
    changed = made(first.variant, "chorale", np.where(later, values + 1, values), first.given, 0)
    asked = replace(request, silenced=(("jsb_relative", 0, 0),))
    return rolls.draw_finished_roll(
        replace(seen, made=(changed, other)),
        asked,
        "v=changed",
        names=NAMES,
        about=ABOUT,
        state="live",
        pick=PICK,
    )


def page_of(slug: str) -> Callable[[OpenLab, object], None]:
    """What stands on one trial page."""

    def page(lab: OpenLab, engine: object) -> None:
        place = place_picture(
            "roll",
            value("piano" if slug == "piano" else "chorale"),
            texts=texts.ROLLS,
            picture="music/roll",
        )
        small = rolls.draw_heads(*chorale(), "v=chorale", names=NAMES, state="stored", pick=PICK)
        place_picture("heads", small, texts=texts.HEADS, picture="music/heads")
        gr.Button("Grow", elem_id="grow").click(grow, None, place, **AT_ONCE)
        gr.Button("Change", elem_id="change").click(
            change, None, place, show_progress="hidden", api_visibility="private"
        )

    return page


PAGES = {slug: page_of(slug) for slug in ("chorale", "piano")}


opened = opening("roll", "chorale")


def arcs(picture: Picture) -> int:
    """How many arcs lead away from notes that are locked."""
    return sum(
        "C" in mark["d"] and not mark.get("dash") for mark in picture.marks("path", line="key")
    )


def given_to(made: Made, note: int, layer: int, head: int) -> tuple[int, float]:
    """The note that one looked at most, and its weight."""
    weights = figure.sum_by_note(
        look(made, layer - 1, head - 1, [int(made.at[note])]),
        figure.find_owners(made, "chorale"),
        len(made.notes),
    )[0]
    return int(weights.argmax()), float(weights.max())


def test_a_note_is_in_view_on_arrival(picture: Picture, site: str) -> None:
    picture.drawn(ON)
    made = chorale()[0].made[0]
    best, weight = given_to(made, 20, 2, 2)
    assert made.notes[20, 0] - made.notes[best, 0] == 16
    says = (
        rf"Note \S+ \(bar 2, beat \d\) gives \S+ \(bar 1, beat \d\) {weight:.2f}: head 2·2 looks 4"
        r" beats back"
    )
    expect(picture.words).to_have_text(re.compile(says))
    assert arcs(picture) >= 1 and f"{weight:.2f}" in picture.texts(halo="panel")
    picture.walks(
        "model=jsb_relative head={} note={}",
        "ArrowRight 2.2 21, ArrowLeft 2.2 20, ArrowDown 2.3 20, ArrowDown 1.1 20, ArrowUp 2.3 20",
    )
    picture.says(f"{given_to(made, 20, 2, 3)[1]:.2f}")
    picture = opened(picture.page, site, "lang=zh")
    says = (
        rf"音 \S+（第 2 小节第 \d 拍） 给 \S+（第 1 小节第 \d 拍） {weight:.2f}：头 2·2 往回看 4 拍"
    )
    expect(picture.words).to_have_text(re.compile(says))


def test_clicks_lock_notes_and_enlarge_rolls(page_watch: Page, site: str) -> None:
    picture, (_, other) = opened(page_watch, site), chorale()[0].made
    picture.click(picture.point(model="jsb_relative", note=24))
    picture.drawn("model=jsb_relative head=2.2 note=24")
    picture.click(picture.point(model="jsb_relative", note=17), shift=True)
    picture.drawn("model=jsb_relative head=2.2 note=24,17")
    picture.click(picture.point(model="jsb_transformer", note=9))
    picture.drawn("model=jsb_transformer head=2.2 note=9")
    picture.says(f"{given_to(other, 9, 2, 2)[1]:.2f}")


def test_a_head_is_chosen_and_silenced(page: Page, picture: Picture) -> None:
    heads = Picture(page, "heads")
    heads.says("Head 2·2 looks most 4 beats back")
    listen(page, "silence")
    tile = heads.spot({"left": 40, "top": 40})
    heads.click(tile)
    picture.drawn("model=jsb_relative head=1.1 note=20")
    addressed(page, _note="20")
    heads.click(tile, shift=True)
    assert heard(page) == [{"model": "jsb_relative", "layer": 0, "head": 0}]
    heads.press("ArrowRight")
    picture.drawn("model=jsb_relative head=1.2 note=20")


def test_one_cursor_runs_through_all_rolls(page: Page, picture: Picture) -> None:
    assert not picture.marks("path", line="ink"), "no cursor before it is played"
    picture.press(" ")
    page.wait_for_function("document.querySelector('.tfe-roll audio').currentTime > 0.6")
    grounds = [mark["box"] for mark in picture.marks("rect", fill="panel", line="line")]
    (cursor,) = picture.marks("path", line="ink", width=2)
    assert [float(end) for end in re.findall(r",([\d.]+)", cursor["d"])] == [
        grounds[0]["y0"],
        grounds[-1]["y1"],
    ]
    picture.find(".tfe-segmented [data-key=jsb_transformer]").click()
    drawn = "Number(document.querySelector('.tfe-roll').dataset.drawn.split('at=')[1])"
    page.wait_for_function(
        f"document.querySelector('.tfe-roll[data-drawn*=jsb_transformer]') && {drawn} > 70"
    )
    assert page.evaluate(f"{drawn} < 300"), "another source goes on where the last one was"
    picture.find(".is-play").click()
    picture.find(".tfe-stage-transport .tfe-range").fill("250")
    expect(picture.find(".tfe-stage-count")).to_have_text("0:02.5 / 0:07.0 · bar 2, beat 2")
    addressed(page, _at="250")
    picture.find(".tfe-stage-step").nth(3).click()
    expect(picture.find(".tfe-stage-count")).to_contain_text("bar 3, beat 1")
    picture.find(".tfe-stage-step").first.click()
    expect(picture.find(".tfe-stage-count")).to_contain_text("0:00.0 / 0:07.0")


def test_sound_that_cannot_be_had_is_one_sentence(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    page.route("**/sound/**", lambda route: route.fulfill(status=404, body=""))
    picture = opened(page, site)
    picture.find(".is-play").click()
    expect(picture.find(".tfe-error")).to_contain_text("The sound could not be fetched")
    expect(picture.find(".is-play")).to_have_attribute("aria-label", "Play")
    faults.console.clear()


def test_a_lock_stays_while_the_music_does(page_watch: Page, site: str) -> None:
    for at, stays in ((2, True), (40, False)):
        picture = opened(page_watch, site, f"lang=en&_note={at}&_head=1.3")
        picture.drawn(f"model=jsb_relative head=1.3 note={at}")
        page_watch.locator("#change").click()
        picture.drawn(f"model=jsb_relative head=1.3 note={at if stays else PICK['note']}")
        addressed(page_watch, _head="1.3", _note=str(at) if stays else None)


def test_a_model_without_attention_says_so_and_can_be_heard(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, slug="piano")
    picture.find(".tfe-segmented [data-key=lstm]").click()
    picture.says("Performance RNN has no attention")
    assert picture.find(".is-play").is_enabled() and arcs(picture) == 0
    expect(picture.find(".tfe-stage-below")).to_contain_text("CC BY-NC-SA")


def test_repeated_motifs_are_bracketed(picture: Picture, tmp_path: Path) -> None:
    made = chorale()[0].made[0]
    name, content = picture.saved("MIDI")
    assert name == "chorale-jsb_relative-2.2-note_20-jsb_relative.mid"
    (tmp_path / "a.mid").write_bytes(content)
    assert sum(
        len(each.notes) for each in pretty_midi.PrettyMIDI(str(tmp_path / "a.mid")).instruments
    ) == len(made.notes)
    _, content = picture.saved("WAV")
    assert (
        content[:4] == b"RIFF"
        and np.abs(np.frombuffer(content[44:], "<i2").astype(np.float32)).max() > 500
    )
    lines = picture.lines()
    assert lines[0] == "model,note,onset_s,end_s,pitch,name,voice,given,nats,weight"
    assert len(lines) == 1 + sum(len(one.notes) for one in chorale()[0].made)
    files = picture.arrays()
    np.testing.assert_array_equal(files["jsb_relative_notes"], made.notes)
    np.testing.assert_array_equal(files["jsb_transformer_events"], chorale()[0].made[1].events)
    best, weight = given_to(made, 20, 2, 2)
    assert int(files["weight_by_note"].argmax()) == best
    assert float(files["weight_by_note"].max()) == pytest.approx(weight, abs=1e-3)
    _, content = picture.saved("events")
    assert "# jsb_relative" in content.decode() and "S C5" in content.decode()
    files = Picture(picture.page, "heads").arrays()
    np.testing.assert_allclose(
        files["jsb_relative_mean_weight_by_distance"],
        figure.collect_profiles(made, look)[1].reshape(2, 3, -1),
        atol=1e-4,
    )
    pairs = rolls.draw_finished_roll(*chorale(), "", names=NAMES, about=ABOUT, state="stored")[
        "repeats"
    ]["jsb_relative"]  # type: ignore[index]
    assert pairs
    picture.find("[data-key=motifs]").click()
    picture.shows("a′ +2")
    assert len(picture.texts(colour="ink", halo="panel")) == 2 * len(pairs)
    picture.find("[data-key=motifs]").click()
    becomes(picture.page, lambda: len(picture.texts(colour="ink", halo="panel")), 0)
