"""The input bar of the picture labs in a real browser: knobs, pictures of ours, files, drawing by hand, keys, phones, languages."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict
from typing import Any

import gradio as gr
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from explorer import permalink, uploads
from explorer.lab import Lab
from explorer.widgets import maker
from explorer.widgets.newest import Newest
from models.image_transformer.records import EXAMPLES, LARGE, MAX_COUNT, ROWS_KEPT, SIDE, SMALL, Request, read_picture, spelled
from tests.bench import TEXT, Bench
from tests.browser.waiting import addressed, note, noted
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
KINDS = [{"en": f"kind {number}", "zh": f"第 {number} 类"} for number in range(9)] + [{"en": HOSTILE, "zh": HOSTILE}]
REFUSED, SLOW = 13, 99  # seeds that the trial page refuses, and that it takes its time over


def ours() -> dict[str, maker.Pictures]:
    """Pictures to begin with: bars that stand further right from one to the next."""
    grey = np.zeros((24, SIDE, SIDE), np.uint8)
    for number in range(24):
        grey[number, 4:24, number : number + 4] = 240
    colour = np.random.default_rng(1).integers(0, 256, (8, LARGE, LARGE, 3)).astype(np.uint8)
    return {"grey": maker.Pictures(grey, tuple(KINDS[number % 10] for number in range(24))), "colour": maker.Pictures(colour, (TEXT,) * 8)}


def told(request: Request) -> dict[str, Any]:
    """A request as the browser holds it."""
    return {**asdict(request), "silenced": [list(head) for head in request.silenced]}


def page_of(lab: Lab, engine: object) -> None:
    """The bar, and a box that shows what it has asked for."""
    examples = [{**told(request), "query": permalink.encode(request), "title": TEXT} for request in EXAMPLES]
    limits = maker.Limits(side=SIDE, large=LARGE, small=SMALL, rows_kept=ROWS_KEPT, count=MAX_COUNT)
    first = maker.done(told(EXAMPLES[0]), permalink.encode(EXAMPLES[0]), state="stored", milliseconds=812, device="cpu")
    bar = maker.maker(first, texts={"region": TEXT}, kinds=KINDS, examples=examples, pictures=ours(), limits=limits)
    box = gr.Textbox(label="asked", elem_id="asked")
    newest = Newest()

    async def answers(request: Request) -> AsyncGenerator[Any, None]:
        written, query = json.dumps(told(request)), permalink.encode(request)
        if request.seed == REFUSED:
            yield maker.refused({"en": "Thirteen is not read.", "zh": "不读十三。"}), written
            return
        yield maker.waiting(3, 12, 2.0), written
        for at in range(0, 785, 196):
            yield maker.running(told(request), query, at, 784, "cpu"), gr.skip()
            await asyncio.sleep(5 if request.seed == SLOW else 0.05)
        yield maker.done(told(request), query, state="live", milliseconds=1214, device="cpu"), gr.skip()

    async def run(event: gr.EventData) -> AsyncGenerator[Any, None]:
        given = event._data["request"]
        request = Request(**{**given, "silenced": tuple(map(tuple, given["silenced"]))})
        async with contextlib.aclosing(newest.follow("one", answers(request), lambda update: tuple(gr.skip() for _ in update))) as updates:
            async for update in updates:
                yield update

    async def reopen(event: gr.EventData) -> AsyncGenerator[Any, None]:
        request, _ = permalink.decode(Request, event._data["query"])
        async with contextlib.aclosing(newest.follow("one", answers(request), lambda update: tuple(gr.skip() for _ in update))) as updates:
            async for update in updates:
                yield update

    async def halt() -> None:
        newest.stop("one")

    how: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private"}
    bar.run(run, None, [bar, box], **how)
    bar.open(reopen, None, [bar, box], **how)
    bar.stop(halt, None, None, **how)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2018)


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The page once its bar stands."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-maker-go")
    return page


def mode(page: Page, key: str) -> None:
    """Chooses one of the three ways to begin."""
    page.locator(f".is-make [data-key={key}]").click()


def knob(page: Page, key: str) -> Any:
    """One of the controls of the bar."""
    return page.locator(f".tfe-maker-bar .is-{key} :is(select, input)")


def badge(page: Page) -> Any:
    """Says where the result comes from."""
    return page.locator(".tfe-maker .tfe-badge")


def asked(page: Page, press: bool = True) -> dict[str, Any]:
    """What the bar asks for, once it has been answered."""
    if press:
        page.locator(".tfe-maker-go").click()
    expect(page.locator("#asked textarea")).not_to_have_value("")
    expect(page.locator(".tfe-maker-panel")).to_have_attribute("aria-busy", "false")
    found: dict[str, Any] = json.loads(page.locator("#asked textarea").input_value())
    return found


def drawing(request: dict[str, Any]) -> NDArray[np.uint8]:
    """The picture that a request carries."""
    return read_picture(request["picture"], (SIDE, SIDE))


def png(levels: NDArray[np.uint8]) -> bytes:
    """A file."""
    out = io.BytesIO()
    Image.fromarray(levels).save(out, "PNG")
    return out.getvalue()


def photo() -> bytes:
    """A dark bar on white, as a visitor might bring it."""
    levels = np.full((120, 160), 250, np.uint8)
    levels[20:100, 50:80] = 20
    return png(levels)


def test_the_knobs_say_what_is_made(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(badge(page)).to_have_text("stored")
    knob(page, "kind").select_option("3")
    knob(page, "temperature").press("ArrowLeft")
    knob(page, "topk").select_option("16")
    knob(page, "seed").fill("421")
    knob(page, "count").select_option("4")
    assert asked(page) == told(Request(kind=3, temperature=0.9, top_k=16, seed=421, count=4))
    expect(badge(page)).to_have_text("live · 1.2 s · cpu")
    addressed(page, seed="421")  # the address is the link to it


def test_the_badge_tells_place_and_pixel_and_escape_stops(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    knob(page, "seed").fill(str(SLOW))
    knob(page, "seed").press("Enter")
    expect(badge(page)).to_have_text("live · pixel 0 of 784 · cpu")
    button = page.locator(".tfe-maker-go")
    expect(button).to_have_text("StopEsc")
    knob(page, "seed").press("Escape")
    expect(badge(page)).to_have_text("stopped")
    expect(button).to_have_text("Generate")
    note(page)
    knob(page, "seed").fill("5")
    assert asked(page)["seed"] == 5
    expect(badge(page)).to_have_text("live · 1.2 s · cpu")
    said = [text for text in noted(page) if text != "stopped"]
    assert said[0] == "live · running", "how far the stopped run had come is not said of the new one"


def test_what_is_changed_while_a_picture_grows_stays_changed(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-maker-go").click()
    knob(page, "kind").select_option("2")
    expect(badge(page)).to_have_text("not run yet")
    expect(knob(page, "kind")).to_have_value("2")


def test_what_the_model_refuses_is_said_and_the_controls_stay(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    knob(page, "seed").fill(str(REFUSED))
    page.locator(".tfe-maker-go").click()
    expect(page.locator(".tfe-maker-error")).to_have_text("Thirteen is not read.")
    expect(badge(page)).to_have_text("refused")
    expect(knob(page, "seed")).to_have_value(str(REFUSED))
    knob(page, "seed").fill("7")
    asked(page)
    expect(badge(page)).to_have_text("live · 1.2 s · cpu")
    expect(page.locator(".tfe-maker-error")).to_be_hidden()


def test_an_example_fills_the_controls_and_is_asked_for(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.get_by_role("button", name="Example 2").click()
    assert asked(page, press=False) == told(EXAMPLES[1])
    expect(page.locator(".is-make [aria-checked=true]")).to_have_text("the rest of mine")
    expect(knob(page, "count")).to_have_value(str(EXAMPLES[1].count))


def test_arrows_move_among_our_pictures_and_enter_asks(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    mode(page, "complete")
    strip = page.locator(".tfe-maker-picture")
    strip.first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "End"):
        page.keyboard.press(key)
    expect(strip.nth(23)).to_be_focused()
    expect(page.locator("#asked textarea")).to_have_value("")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.locator(".is-kept [data-key='7']").click()
    strip.nth(1).focus()
    page.keyboard.press("Enter")
    request = asked(page, press=False)
    assert (request["mode"], request["picture"], request["keep"], request["kind"]) == ("complete", "test:1", 7, 10)
    shown = page.evaluate("[...document.querySelector('.tfe-maker-picture canvas').getContext('2d').getImageData(0, 10, 28, 1).data]")
    assert shown[::4] == ours()["grey"].levels[0, 10].tolist()


def test_a_file_is_read_shown_and_asked_for_and_what_was_done_to_it_is_said(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    mode(page, "complete")
    page.locator(".tfe-maker input[type=file]").set_input_files({"name": "bar.png", "mimeType": "image/png", "buffer": photo()})
    request = asked(page, press=False)
    expected = uploads.picture(photo(), SIDE, 1)
    assert np.array_equal(drawing(request), expected.levels)
    assert expected.notice is not None
    expect(page.locator(".tfe-maker-note")).to_have_text(expected.notice["en"])
    expect(page.get_by_role("radio", name="Your picture")).to_have_attribute("aria-checked", "true")
    mode(page, "enlarge")
    page.locator(".tfe-maker input[type=file]").set_input_files({"name": "bar.png", "mimeType": "image/png", "buffer": photo()})
    expect(page.locator("#asked textarea")).to_have_value(re.compile("enlarge"))
    request = asked(page, press=False)
    assert np.array_equal(read_picture(request["picture"], (LARGE, LARGE, 3)), uploads.picture(photo(), LARGE, 3).levels)


@pytest.mark.parametrize("way", ["drop", "paste"])
def test_a_picture_may_be_dropped_or_pasted_anywhere(page_watch: Page, site: str, way: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """([way, data]) => {
            const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
            const brought = new DataTransfer();
            brought.items.add(new File([bytes], "bar.png", { type: "image/png" }));
            if (way === "paste") document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: brought, bubbles: true }));
            else for (const type of ["dragenter", "dragover", "drop"]) {
                const event = new DragEvent(type, { dataTransfer: brought, bubbles: true, cancelable: true });
                document.querySelector(".tfe-maker-bar").dispatchEvent(event);
            }
        }""",
        [way, base64.b64encode(photo()).decode()],
    )
    request = asked(page, press=False)
    assert request["mode"] == "complete" and np.array_equal(drawing(request), uploads.picture(photo(), SIDE, 1).levels)
    assert page.locator(".tfe-maker-panel.is-over").count() == 0


def test_a_file_that_is_no_picture_gets_one_sentence_and_a_large_one_is_not_even_sent(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    mode(page, "complete")
    chooser = page.locator(".tfe-maker input[type=file]")
    chooser.set_input_files({"name": "notes.png", "mimeType": "image/png", "buffer": b"Dear reader,\n"})
    error = page.locator(".tfe-maker-error")
    expect(error).to_have_text("Your file is text; PNG, JPEG and WebP pictures are read.")
    expect(badge(page)).to_have_text("refused")
    assert len(faults.console) == 1 and "422" in faults.console.pop(), "the browser itself notes the status"
    sent = sum("/picture/" in address for address in faults.requests)
    chooser.set_input_files({"name": "large.png", "mimeType": "image/png", "buffer": bytes((5 << 20) + 1)})
    expect(error).to_have_text("Your file has 5.1 MB; pictures of up to 5 MB are read.")
    assert sum("/picture/" in address for address in faults.requests) == sent
    expect(page.locator("#asked textarea")).to_have_value("")
    assert asked(page)["picture"] == "test:0", "the bar works on as before"


def test_a_picture_is_drawn_with_the_pointer(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    mode(page, "complete")
    page.get_by_role("button", name="Draw", exact=True).click()
    sheet = page.locator(".tfe-maker-sheet")
    box = sheet.bounding_box()
    assert box is not None
    cell = box["width"] / SIDE

    def stroke(*points: tuple[float, float]) -> None:
        page.mouse.move(box["x"] + points[0][1] * cell, box["y"] + points[0][0] * cell)
        page.mouse.down()
        for row, column in points[1:]:
            page.mouse.move(box["x"] + column * cell, box["y"] + row * cell, steps=5)
        page.mouse.up()

    stroke((5, 4), (5, 24))
    stroke((10, 4), (10, 24))
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("radio", name="eraser").click()
    page.get_by_role("radio", name="fine").click()
    stroke((2, 20.5), (8, 20.5))
    levels = drawing(asked(page))
    assert levels[4:6, 5:19].min() > 200 and levels[9:12].max() == 0 and levels[3:7, 20].max() == 0
    page.get_by_role("button", name="Clear").click()
    page.locator(".tfe-maker-go").click()
    expect(page.locator(".tfe-maker-error")).to_contain_text("Your drawing is empty")
    page.get_by_role("button", name="Close").click()
    expect(sheet).to_be_hidden()


def test_a_picture_is_drawn_with_keys_alone(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".is-make [aria-checked=true]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tfe-maker-start")).to_be_visible()
    page.get_by_role("button", name="Draw", exact=True).focus()
    page.keyboard.press("Enter")
    sheet = page.locator(".tfe-maker-sheet")
    expect(sheet).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.down("Shift")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.keyboard.up("Shift")
    expect(page.locator(".tfe-maker-pad [aria-live]")).to_have_text("row 8, column 20, level 220")
    page.keyboard.press("Delete")
    expect(page.locator(".tfe-maker-pad [aria-live]")).to_contain_text("level 0")
    page.keyboard.press("Control+z")
    page.locator(".tfe-maker-go").focus()
    page.keyboard.press("Enter")
    levels = drawing(asked(page, press=False))
    assert levels[7, 14:20].min() == 220 and levels[20:].max() == 0


def test_a_drawing_may_begin_with_one_of_ours(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    mode(page, "complete")
    page.locator(".tfe-maker-picture").nth(2).press("Enter")
    asked(page, press=False)
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_role("button", name="Copy the picture").click()
    assert np.array_equal(drawing(asked(page)), ours()["grey"].levels[2])


def test_a_link_brings_the_picture_and_the_knobs_back(page_watch: Page, site: str) -> None:
    levels = np.random.default_rng(2).integers(0, 256, (SIDE, SIDE)).astype(np.uint8)
    request = Request(mode="complete", picture=spelled(levels), keep=21, kind=4, count=2, seed=8, temperature=0.7, top_k=100)
    page = opened(page_watch, site, f"lang=en&{permalink.encode(request)}")
    assert asked(page, press=False) == told(request)
    expect(knob(page, "topk")).to_have_value("100")
    expect(knob(page, "kind")).to_have_value("4")
    expect(page.locator(".is-kept [aria-checked=true]")).to_have_text("21")
    expect(page.get_by_role("radio", name="Your picture")).to_have_attribute("aria-checked", "true")
    knob(page, "seed").fill("9")
    assert asked(page) == {**told(request), "seed": 9}


def test_names_are_never_markup(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(knob(page, "kind").locator("option").nth(9)).to_have_text(HOSTILE)
    mode(page, "complete")
    expect(page.get_by_role("radio", name=f"Picture 10: {HOSTILE}")).to_be_visible()
    assert page.locator(".tfe-maker img").count() == 0


def test_every_text_is_chinese_in_chinese(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=zh")
    mode(page, "complete")
    page.get_by_role("button", name="手绘").click()
    found = page.locator(".tfe-maker").inner_text().replace(HOSTILE, "")
    latin = [word for word in found.split() if word.isascii() and word.isalpha()]
    assert set(latin) <= {"k", "PNG、JPEG、WebP", "Delete", "Shift"}, latin
    expect(page.locator(".tfe-maker-go")).to_have_text("补完")


def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site)
    for key in ("generate", "complete", "enlarge"):
        mode(page, key)
        if key == "complete":
            page.get_by_role("button", name="Draw", exact=True).click()
        assert_fits(page, ".tfe-maker", press=44)


def test_the_bar_is_one_row_at_1280_pixels_in_both_languages(new_page: NEW, site: str) -> None:
    for language in ("en", "zh"):
        page, _ = new_page()
        opened(page, site, f"lang={language}")
        knob(page, "seed").fill(str(SLOW))
        knob(page, "seed").press("Enter")
        expect(badge(page)).to_contain_text("784")
        bar = page.locator(".tfe-maker-bar").bounding_box()
        assert bar is not None and bar["height"] < 56, language
        page.keyboard.press("Escape")
