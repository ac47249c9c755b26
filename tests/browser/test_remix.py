"""What changes if …, for music, in a real browser: knobs, rolls before and after, the number, sound, files, phones, languages."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from explorer.lab import Lab
from explorer.widgets import remix
from models.music.records import MAX_SHIFT, STRETCH, Request
from tests.bench import Bench
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = {
    "jsb_relative": {"en": "Music Transformer", "zh": "音乐模型"},
    "jsb_transformer": {"en": "Absolute", "zh": "绝对位置"},
    "relative": {"en": "Music Transformer", "zh": "音乐模型"},
    "lstm": {"en": "Recurrent", "zh": "循环网络"},
}
HEADS = {"jsb_relative": (5, 4), "jsb_transformer": (5, 4), "relative": (6, 6)}
DISTANCES = {"jsb_relative": 512, "relative": 1024}
CHORALE = Request(seed=3)
PIANO = Request("piano", "continue", seed=4)
SENTENCE = {"en": "Without it, ⟦o:3 notes⟧ stay " + HOSTILE, "zh": "去掉之后，⟦o:3 个音⟧保留"}
REFUSED, SLOW = 7, 1  # semitones that the trial page refuses, and the farthest distance that it takes its time over


def told(request: Request) -> dict[str, Any]:
    """A request as the browser holds it."""
    return {**asdict(request), "silenced": [list(head) for head in request.silenced]}


def side(request: Request, pitches: tuple[int, ...], name: str) -> remix.Side:
    """A melody of whole bars of which the first is given, with the address of its sound."""
    notes = np.array([(16 * i, 16 * i + 16, pitch, 0) for i, pitch in enumerate(pitches)], np.int32)
    sound = {"wav": f"/sound/{name}.wav", "midi": f"/sound/{name}.mid", "source": "sine", "seconds": 8.0}
    return remix.Side(notes, np.arange(len(notes)) == 0, 16 * len(notes), sound)


def changed(request: Request) -> remix.Value:
    """What the trial page answers: the third of four notes comes out differently, moved with the motif."""
    chorale = request.style == "chorale"
    moved = request.semitones
    keys = ["jsb_relative", "jsb_transformer"] if chorale else ["relative", "lstm"]
    pairs = [
        remix.Pair(
            key,
            side(request, (60, 62, 64, 65), f"{key}-before"),
            side(request, tuple(pitch + moved for pitch in (60, 62, 67, 65)), f"{key}-after"),
            (1.86, 2.13),
            own=bool(moved),
            moved=moved,
            compared=request.stretch == 1,
            voices=chorale,
            grid=125 if chorale else 10,
        )
        for key in (keys if moved else keys[:1])
    ]
    return remix.done(told(request), keys, pairs, SENTENCE, {"model": keys[0], "head": "2.3"})


def page_of(lab: Lab, engine: object) -> None:
    """The panel, narrow as it stands on a page, a box that shows what it has asked for, and a way to piano."""
    pick = {"model": "jsb_relative", "head": "2.3"}
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            box = gr.Textbox(label="asked", elem_id="asked")
            piano = gr.Button("piano", elem_id="piano")
        with gr.Column(elem_classes=["tfe-bench-side"]):
            panel = remix.remix(
                remix.idle(told(CHORALE), ["jsb_relative", "jsb_transformer"], pick),
                names=NAMES,
                heads=HEADS,
                distances=DISTANCES,
                limits=remix.Limits(MAX_SHIFT, STRETCH),
            )

    async def ask(event: gr.EventData) -> AsyncGenerator[Any, None]:
        given = {key: value for key, value in event._data.items() if key != "wished"}
        request = Request(**{**given, "silenced": tuple(map(tuple, given["silenced"]))})
        yield remix.running(), json.dumps(told(request))
        if request.semitones == REFUSED:
            yield remix.refused({"en": f"Seven is refused. {HOSTILE}", "zh": "七被拒绝。"}), gr.skip()
            return
        await asyncio.sleep(1 if request.farthest == SLOW else 0.05)
        plain = {**told(request), "silenced": [], "farthest": -1, "semitones": 0, "stretch": 1.0} == told(request)
        models = ["jsb_relative", "jsb_transformer"] if request.style == "chorale" else ["relative", "lstm"]
        yield remix.idle(told(request), models, pick) if plain else changed(request), gr.skip()

    how: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private", "concurrency_limit": None}
    panel.ask(ask, None, [panel, box], **how)
    piano.click(lambda: remix.idle(told(PIANO), ["relative", "lstm"], {"model": "relative", "head": "1.1"}), None, panel, **how)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2018)


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The page once its panel stands."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-remix-panel")
    return page


def knob(page: Page, field: str) -> Any:
    """One of the knobs."""
    return page.locator(f".tfe-remix [data-field={field}]")


def turn(page: Page, field: str, to: int) -> None:
    """Moves a slider."""
    knob(page, field).evaluate(
        """(input, to) => {
            input.value = to;
            for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
        }""",
        str(to),
    )


def asked(page: Page) -> dict[str, Any]:
    """What the panel asks for, once it has been answered."""
    expect(page.locator("#asked textarea")).not_to_have_value("")
    expect(page.locator(".tfe-remix-panel")).to_have_attribute("aria-busy", "false")
    found: dict[str, Any] = json.loads(page.locator("#asked textarea").input_value())
    return found


def painted(page: Page, *keys: str) -> None:
    """Waits until the rolls of these models stand there."""
    expect(page.locator(".tfe-remix")).to_have_attribute("data-painted", " ".join(keys))


def colours(page: Page, which: str) -> set[str]:
    """The colours of the canvas of the first model."""
    found: list[str] = page.locator(f".tfe-remix-model canvas[data-which={which}]").first.evaluate(
        """(canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Map();
            for (let i = 0; i < data.length; i += 4) {
                const name = "#" + [0, 1, 2].map((c) => data[i + c].toString(16).padStart(2, "0")).join("").toUpperCase();
                seen.set(name, (seen.get(name) ?? 0) + 1);
            }
            return [...seen].filter(([, count]) => count > 20).map(([name]) => name);
        }"""
    )
    return set(found)


def test_without_relative_positions_there_are_three_rolls_and_one_number(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(page.locator(".tfe-remix-result")).to_be_hidden()
    knob(page, "relative").check()
    assert asked(page) == {**told(CHORALE), "farthest": 0}
    painted(page, "jsb_relative")
    expect(page.locator(".tfe-remix-number")).to_have_text("+0.27")
    expect(page.locator(".tfe-remix-from")).to_have_text("1.86 → 2.13 nats per cellwhat was made before, read as changed")
    expect(page.locator(".tfe-remix-model canvas")).to_have_count(3)
    gone, came = "#5B2A86", "#12693A"
    assert {gone, came} <= colours(page, "difference") and not {gone, came} & (colours(page, "before") | colours(page, "after"))
    expect(page.locator(".tfe-remix-sentence .tfe-out")).to_have_text("3 notes")
    expect(page.locator(".tfe-remix-sentence")).to_contain_text(HOSTILE)
    assert page.locator(".tfe-remix img").count() == 0
    expect(knob(page, "farthest")).to_be_disabled()


@pytest.mark.parametrize(
    ("field", "to", "sent"),
    [("farthest", 0, {"farthest": 1}), ("farthest", 6, {"farthest": 12}), ("semitones", -5, {"semitones": -5})],
)
def test_every_knob_changes_its_own_field(page_watch: Page, site: str, field: str, to: int, sent: dict[str, Any]) -> None:
    page = opened(page_watch, site)
    turn(page, field, to)
    assert asked(page) == {**told(CHORALE), **sent}


def test_times_are_stretched_for_piano_alone_and_have_no_difference(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(knob(page, "stretch")).to_be_hidden()
    page.locator("#piano").click()
    expect(knob(page, "stretch")).to_be_visible()
    turn(page, "stretch", 6)
    assert asked(page)["stretch"] == 1.25
    painted(page, "relative")
    expect(page.locator(".tfe-remix-model canvas")).to_have_count(2)
    expect(page.locator(".tfe-remix-model .tfe-note")).to_have_text("Times were stretched, so there is no difference note by note.")
    expect(page.locator(".tfe-remix-from")).to_contain_text("nats per event")


def test_a_moved_motif_reaches_every_model_and_is_moved_back_to_be_compared(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    turn(page, "semitones", 5)
    painted(page, "jsb_relative", "jsb_transformer")
    expect(page.locator(".tfe-remix-which", has_text="moved back")).to_have_count(2)
    expect(page.locator("#tfe-remix-semitones + output")).to_have_text("+5")
    canvas = page.locator(".tfe-remix-model canvas[data-which=difference]").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    readouts = set()
    for y in range(2, int(box["height"]), 3):
        page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + y)
        readouts.add(page.locator(".tfe-remix-readout").inner_text())
    assert {"E4 S · bar 3, beat 1 · gone", "G4 S · bar 3, beat 1 · new"} <= readouts


def test_the_head_in_view_is_silenced_and_given_back(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_model=jsb_transformer&_head=4.2")
    button = page.locator(".tfe-remix-do")
    expect(button).to_have_text("Silence head 4·2, Absolute")
    button.click()
    assert asked(page)["silenced"] == [["jsb_transformer", 3, 1]]
    expect(button).to_have_text("Give head 4·2, Absolute back")
    page.locator(".tfe-remix-chip").click()
    expect(page.locator(".tfe-remix-restore")).to_be_hidden()
    assert asked(page) == told(CHORALE)


def test_escape_and_restore_give_everything_back(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    for back in (lambda: knob(page, "semitones").press("Escape"), page.locator(".tfe-remix-restore").click):
        turn(page, "semitones", 2)
        expect(page.locator(".tfe-remix-number").first).to_be_visible()
        back()
        expect(page.locator(".tfe-remix-result")).to_be_hidden()
        assert asked(page) == told(CHORALE)
        expect(knob(page, "semitones")).to_have_value("0")


def test_an_answer_that_was_overtaken_is_not_shown(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => {
            window.shown = [];
            const panel = document.querySelector(".tfe-remix-board");
            new MutationObserver(() => window.shown.push(panel.childElementCount)).observe(panel, { childList: true });
            for (const [field, to] of [["semitones", 5], ["semitones", 0], ["farthest", 0]]) {
                const slider = document.querySelector(`.tfe-remix [data-field=${field}]`);
                slider.value = to;
                slider.dispatchEvent(new Event("change", { bubbles: true }));
            }
        }"""
    )
    painted(page, "jsb_relative")
    assert set(page.evaluate("window.shown")) == {1}, "the answer of two models came first, and too late"


def test_a_refusal_is_said_and_the_knobs_go_back(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    turn(page, "semitones", REFUSED)
    expect(page.locator(".tfe-remix .tfe-error")).to_have_text(f"Seven is refused. {HOSTILE}")
    expect(knob(page, "semitones")).to_have_value("0")
    turn(page, "semitones", 1)
    painted(page, "jsb_relative", "jsb_transformer")
    expect(page.locator(".tfe-remix .tfe-error")).to_be_hidden()


def test_before_and_after_are_heard_one_at_a_time(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    wanted: list[str] = []

    def answer(route: Route) -> None:
        wanted.append(route.request.url.rsplit("/", 1)[-1])
        silence = bytes(22050 * 2 * 4)
        head = b"RIFF" + (36 + len(silence)).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
        form = b"\1\0\1\0" + (22050).to_bytes(4, "little") + (44100).to_bytes(4, "little") + b"\2\0\x10\0"
        body = head + form + b"data" + len(silence).to_bytes(4, "little") + silence
        route.fulfill(body=body, content_type="audio/wav")

    page.route("**/sound/*", answer)
    knob(page, "relative").check()
    painted(page, "jsb_relative")
    before, after = (page.locator(f".tfe-remix-hear[data-which={which}]") for which in ("before", "after"))
    before.click()
    expect(before).to_have_attribute("aria-label", "Stop Music Transformer, before")
    page.wait_for_function("document.querySelector('.tfe-remix audio').currentTime > 0")
    after.click()
    expect(before).to_have_attribute("aria-pressed", "false")
    expect(after).to_have_attribute("aria-pressed", "true")
    after.click()
    assert page.evaluate("document.querySelector('.tfe-remix audio').paused")
    assert {"jsb_relative-before.wav", "jsb_relative-after.wav"} <= set(wanted)


def test_the_comparison_is_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    knob(page, "relative").check()
    painted(page, "jsb_relative")
    saved = {}
    for kind in ("TXT", "CSV", "NPZ", "PNG"):
        with page.expect_download() as caught:
            page.locator(f".tfe-remix [data-kind={kind}]").click()
        saved[kind] = Path(caught.value.path()).read_bytes()
    lines = saved["TXT"].decode().splitlines()
    assert lines[0] == "Music Transformer, what was made before, read as changed, nats per cell: +0.27 (1.86 → 2.13)"
    assert lines[-1].startswith("Trial")
    rows = list(csv.DictReader(io.StringIO(saved["CSV"].decode("utf-8-sig"))))
    assert [row["pitch"] for row in rows if row["which"] == "after"] == ["60", "62", "67", "65"]
    assert [row["in_both"] for row in rows if row["which"] == "before"] == ["1", "1", "0", "1"]
    arrays = np.load(io.BytesIO(saved["NPZ"]))
    assert arrays["jsb_relative.before.notes"].shape == (4, 4) and arrays["jsb_relative.nats"].tolist() == [1.86, 2.13]
    assert saved["PNG"].startswith(b"\x89PNG")


def test_every_text_is_chinese_in_chinese(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=zh")
    turn(page, "semitones", 2)
    painted(page, "jsb_relative", "jsb_transformer")
    found = page.locator(".tfe-remix").inner_text()
    latin = set(re.findall(r"[A-Za-z]+", found))
    assert latin <= {"Esc", "PNG", "CSV", "NPZ", "TXT"}, latin


def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site)
    turn(page, "semitones", 2)
    painted(page, "jsb_relative", "jsb_transformer")
    assert_fits(page, ".tfe-remix")
