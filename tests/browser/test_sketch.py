"""The input bar of the lab of sparse attention in a real browser: digits of ours, by hand, from files; texts, keys, phones."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from explorer import permalink, uploads
from explorer.lab import Lab
from explorer.labs import wiring
from explorer.widgets import sketch
from explorer.widgets.newest import Newest
from models.sparse_transformer.records import DIGITS, SIDE, TASKS, TEXTS, Request, read_drawing, spelled
from tests.bench import TEXT, Bench
from tests.browser.waiting import addressed
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
REFUSED, SLOW = 13, 99  # seeds that the trial page refuses, and that it takes its time over
NEUTRAL: dict[str, object] = {"pattern": "", "stride": 0, "summary": 0, "silenced": []}
BAR = {
    "region": {"en": "What is read and made", "zh": "读什么、生成什么"},
    "label": {"en": "A text to read", "zh": "要读的文本"},
    "placeholder": {"en": "Type English", "zh": "输入英文"},
}


def ours() -> NDArray[np.uint8]:
    """Rings, broader and flatter from one to the next, as held-out digits."""
    row, column = np.mgrid[:SIDE, :SIDE] - 13.5
    around = np.stack([np.hypot(row / (9.5 - n % 5), column / (4 + n // 4)) for n in range(20)])
    return ((around > 0.72) & (around < 1.1)).astype(np.uint8)


def told(request: Request) -> dict[str, Any]:
    """A request as the browser holds it."""
    return {**asdict(request), "silenced": [list(head) for head in request.silenced]}


def finished(request: Request, state: str = "live") -> dict[str, object]:
    """A result."""
    return sketch.done(told(request), permalink.encode(request), state=state, milliseconds=1214, device="cpu")


def page_of(lab: Lab, engine: object, tasks: tuple[str, ...] = TASKS) -> None:
    """The bar, a box that shows what it has asked for, and a button that changes the models as the panel would."""
    examples = [{**told(request), "query": permalink.encode(request), "title": TEXT} for request in (*DIGITS, *TEXTS)]
    names = [{"en": HOSTILE, "zh": HOSTILE} if n == 9 else {"en": f"a ring, {n}", "zh": f"圆环 {n}"} for n in range(20)]
    bar = sketch.sketch(
        finished(DIGITS[0], "stored"),
        texts=BAR,
        tasks=tasks,
        pictures=ours(),
        names=names,
        limits=sketch.Limits(),
        examples=examples,
        neutral=NEUTRAL,
    )
    box = gr.Textbox(label="asked", elem_id="asked")
    panel = gr.Button("change", elem_id="change")
    newest = Newest()

    async def answers(request: Request) -> AsyncGenerator[Any, None]:
        said = json.dumps(told(request))
        if request.seed == REFUSED:
            yield sketch.refused({"en": "Thirteen is not read.", "zh": "不读十三。"}), said
            return
        yield sketch.waiting(3, 12, 2.0), said
        for at in range(0, 785, 196):
            yield sketch.running(told(request), permalink.encode(request), at, 784, "cpu"), gr.skip()
            await asyncio.sleep(5 if request.seed == SLOW else 0.01)
        yield finished(request), gr.skip()

    def run(detail: Any, session: str) -> AsyncGenerator[Any, None]:
        given = detail["request"]
        return answers(Request(**{**given, "silenced": tuple(map(tuple, given["silenced"]))}))

    def reopen(detail: Any, session: str) -> AsyncGenerator[Any, None]:
        return answers(permalink.decode(Request, detail["query"])[0])

    bar.run(wiring.following(newest, run), None, [bar, box], **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, [bar, box], **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    panel.click(lambda: finished(replace(DIGITS[0], stride=7, silenced=(("strided", 1, 2),))), None, bar, **wiring.HOW)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of, "digits": partial(page_of, tasks=("digit",))}, year=2019)


def opened(page: Page, site: str, query: str = "lang=en", which: str = "trial") -> Page:
    """The page once its bar stands."""
    page.goto(f"{site}/{which}?{query}")
    page.wait_for_selector(".tfe-sketch .tfe-maker-go")
    return page


def badge(page: Page) -> Any:
    """Says where the result comes from."""
    return page.locator(".tfe-sketch .tfe-badge")


def turn(page: Page, field: str, to: float) -> None:
    """Moves a slider."""
    page.locator(f".tfe-sketch [data-field={field}]").fill(str(to))


def asked(page: Page, press: bool = True) -> dict[str, Any]:
    """What the bar asks for, once it has been answered."""
    if press:
        page.locator(".tfe-maker-go").click()
    expect(page.locator("#asked textarea")).not_to_have_value("")
    expect(page.locator(".tfe-maker-panel")).to_have_attribute("aria-busy", "false")
    found: dict[str, Any] = json.loads(page.locator("#asked textarea").input_value())
    return found


def photo() -> bytes:
    """A dark stroke on white, as a visitor might bring it."""
    levels = np.full((120, 160), 250, np.uint8)
    levels[20:100, 60:90] = 20
    out = io.BytesIO()
    Image.fromarray(levels).save(out, "PNG")
    return out.getvalue()


def test_a_digit_of_ours_is_cut_asked_for_and_keeps_what_was_changed_in_the_models(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, which="digits")
    expect(badge(page)).to_have_text("stored")
    expect(page.locator(".is-make")).to_be_hidden()  # one task has no tabs
    go = page.locator(".tfe-maker-go")
    for rows, says in ((28, "Read"), (0, "Make a digit"), (10, "Make the rest")):
        turn(page, "keep", rows)
        expect(go).to_have_text(says)
    page.locator("#change").click()
    expect(badge(page)).to_have_text("not run yet")  # the rows that stay are others now
    turn(page, "temperature", 0.5)
    page.locator(".tfe-maker-seed").fill("421")
    changed = {"stride": 7, "silenced": [["strided", 1, 2]]}
    request = asked(page)
    assert request == {**told(Request(seed=421, temperature=0.5, keep=10)), **changed}, "the same digit, the models as they are in view"
    addressed(page, seed="421", stride="7")
    strip = page.locator(".tfe-maker-picture")
    strip.first.focus()
    for key in ("ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
    expect(strip.nth(18)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#asked textarea")).to_have_value(re.compile("test:18"))
    assert asked(page, press=False) == told(Request(drawing="test:18", seed=421, temperature=0.5, keep=10)), (
        "another digit, the models as trained"
    )
    shown = page.evaluate("[...document.querySelectorAll('.tfe-maker-picture canvas')[18].getContext('2d').getImageData(0, 9, 28, 1).data]")
    assert shown[::4] == (ours()[18, 9] * 255).tolist()
    expect(page.get_by_role("radio", name=f"Digit 10: {HOSTILE}")).to_be_visible()
    assert page.locator(".tfe-sketch img").count() == 0


def test_a_digit_drawn_by_hand_becomes_the_same_pixels_each_time(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.get_by_role("button", name="Draw", exact=True).click()
    sheet = page.locator(".tfe-maker-sheet")
    error = page.locator(".tfe-maker-error")
    box = sheet.bounding_box()
    assert box is not None
    cell = box["width"] / SIDE

    def stroke(*points: tuple[float, float]) -> None:
        page.mouse.move(box["x"] + points[0][1] * cell, box["y"] + points[0][0] * cell)
        page.mouse.down()
        for row, column in points[1:]:
            page.mouse.move(box["x"] + column * cell, box["y"] + row * cell, steps=5)
        page.mouse.up()

    found = []
    for _ in range(2):
        stroke((5.2, 4), (5.2, 24))
        found.append(asked(page))
        page.get_by_role("button", name="Clear").click()
        page.locator(".tfe-maker-go").click()
        expect(error).to_have_text(re.compile("^Nothing is drawn yet: "))
        expect(badge(page)).to_have_text("refused")
    assert found[0] == found[1], "the same strokes give the same pixels"
    pixels = read_drawing(found[0]["drawing"])
    assert pixels[5, 5:23].all() and not pixels[8:].any() and not pixels[:3].any()
    edge = pixels[[3, 6], 5:23]
    assert 0 < edge.sum() < edge.size, "grey edges are drawn pixel by pixel"
    stroke((20.5, 8), (20.5, 18))
    page.locator(".tfe-maker-go").click()
    expect(error).to_have_text(re.compile("in the 14 rows that stay"))
    turn(page, "keep", 0)
    request = asked(page)
    assert request["keep"] == 0 and read_drawing(request["drawing"])[20].any(), "from nothing a digit may be made"
    page.get_by_role("button", name="Close").click()
    expect(sheet).to_be_hidden()
    # Keys alone do the same.
    page.get_by_role("button", name="Draw", exact=True).press("Enter")
    expect(sheet).to_be_focused()
    page.get_by_role("button", name="Clear").press("Enter")
    sheet.press("Space")
    turn(page, "keep", 28)
    page.locator(".tfe-maker-go").press("Enter")
    expect(page.locator("#asked textarea")).to_have_value(re.compile('"keep": 28'))
    assert 1 <= read_drawing(asked(page, press=False)["drawing"]).sum() <= 12


def test_a_file_comes_to_the_size_of_digits_and_what_was_done_to_it_is_said(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    chooser = page.locator(".tfe-sketch input[type=file]")
    chooser.set_input_files({"name": "one.png", "mimeType": "image/png", "buffer": photo()})
    request = asked(page, press=False)
    pixels = read_drawing(request["drawing"])
    rows, columns = (np.flatnonzero(pixels.any(axis)) for axis in (1, 0))
    assert (rows[0], rows[-1]) == (4, 23), "20 pixels long, in the middle"
    assert 6 <= columns[-1] - columns[0] + 1 <= 9 and columns[0] + columns[-1] == pytest.approx(27, abs=1)
    notice = uploads.picture(photo(), SIDE, 1).notice
    assert notice is not None and "inverted" in notice["en"]
    expect(page.locator(".tfe-maker-note")).to_contain_text(notice["en"])
    expect(page.locator(".tfe-maker-note")).to_contain_text("It was made as large as the digits")
    expect(page.get_by_role("radio", name="Your digit")).to_have_attribute("aria-checked", "true")
    chooser.set_input_files({"name": "notes.png", "mimeType": "image/png", "buffer": b"Dear reader,\n"})
    expect(page.locator(".tfe-maker-error")).to_have_text("Your file is text; PNG, JPEG and WebP pictures are read.")
    assert len(faults.console) == 1 and "422" in faults.console.pop(), "the browser itself notes the status"
    chooser.set_input_files({"name": "large.png", "mimeType": "image/png", "buffer": bytes((5 << 20) + 1)})
    expect(page.locator(".tfe-maker-error")).to_have_text("Your file has 5.1 MB; pictures of up to 5 MB are read.")
    expect(badge(page)).to_have_text("refused")
    assert asked(page) == request, "the digit that was there is there still"


def test_a_link_an_example_a_refusal_and_stop(page_watch: Page, site: str) -> None:
    pixels = np.random.default_rng(2).integers(0, 2, (SIDE, SIDE)).astype(np.uint8)
    request = Request(drawing=spelled(pixels), keep=21, seed=8, temperature=0.7, pattern="fixed", summary=2)
    page = opened(page_watch, site, f"lang=en&{permalink.encode(request)}")
    assert asked(page, press=False) == told(request)
    expect(page.get_by_role("radio", name="Your digit")).to_have_attribute("aria-checked", "true")
    expect(page.locator(".tfe-sketch [data-field=keep]")).to_have_value("21")
    page.locator(".tfe-maker-seed").fill("9")
    assert asked(page) == told(replace(request, seed=9))
    page.locator(".tfe-maker-seed").fill(str(REFUSED))
    page.locator(".tfe-maker-seed").press("Enter")
    expect(page.locator(".tfe-maker-error")).to_have_text("Thirteen is not read.")
    expect(badge(page)).to_have_text("refused")
    expect(page.locator(".tfe-sketch [data-field=keep]")).to_have_value("21")
    page.locator(".tfe-maker-seed").fill(str(SLOW))
    page.locator(".tfe-maker-seed").press("Enter")
    expect(badge(page)).to_have_text("live · pixel 0 of 784 · cpu")
    expect(page.locator(".tfe-maker-go")).to_have_text("StopEsc")
    page.locator(".tfe-maker-seed").press("Escape")
    expect(badge(page)).to_have_text("stopped")
    page.get_by_role("button", name="Example 3").click()
    expect(page.locator("#asked textarea")).to_have_value(re.compile("test:8"))
    assert asked(page, press=False) == told(DIGITS[2])


def test_a_text_shares_its_places_with_what_is_written(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_pos=412&_model=strided")
    page.locator(".is-make [data-key=text]").click()
    expect(page.locator(".tfe-maker-start")).to_be_hidden()
    box = page.locator(".tfe-sketch-box")
    expect(box).to_have_value(TEXTS[0].text)
    box.fill(f"A gull 😀 {HOSTILE}")
    turn(page, "length", 1000)
    expect(page.locator(".tfe-sketch-count")).to_have_text("37 given + 1,000 to write, of 1,024")
    page.locator(".tfe-maker-go").click()
    expect(page.locator(".tfe-maker-error")).to_have_text(
        "The text has 37 characters and 1,000 are to be written; 1,024 together are the most."
    )
    turn(page, "length", 0)
    expect(page.locator(".tfe-maker-go")).to_have_text("Read")
    box.press("Control+Enter")
    request = asked(page, press=False)
    assert request == told(Request("text", text=f"A gull 😀 {HOSTILE}", length=0))
    addressed(page, task="text", _pos=None, _model=None)
    box.fill("")
    page.locator(".tfe-maker-go").click()
    expect(page.locator(".tfe-maker-error")).to_contain_text("The box is empty")
    page.get_by_role("button", name="Example 2").click()
    expect(box).to_have_value(TEXTS[1].text)
    assert asked(page, press=False) == told(TEXTS[1])
    page.locator(".is-make [data-key=digit]").click()
    assert asked(page) == told(replace(DIGITS[0], seed=TEXTS[1].seed)), "of the text nothing is left in it"


def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site, "lang=en")
    page.get_by_role("button", name="Draw", exact=True).click()
    for task in TASKS:
        page.locator(f".is-make [data-key={task}]").click()
        assert_fits(page, ".tfe-sketch", press=44)
