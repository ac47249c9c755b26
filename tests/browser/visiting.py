"""What a visitor sees and touches of any lab: the input bar, its badge and answer, the panel of
changes."""

from __future__ import annotations

import base64
import io
import re
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from explorer.contract import permalink
from tests.browser.staged import numbers
from tests.browser.waiting import becomes, measure_box, unfolded

T = TypeVar("T")

ROW = """async (choice, row) => {
    const image = choice.querySelector("img");
    await image.decode();
    const context = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext("2d");
    context.drawImage(image, 0, 0);
    return [...context.getImageData(0, row, image.naturalWidth, 1).data];
}"""
LIVE = re.compile(r"^live · [\d.,]+ m?s\b|^remembered$")


def badge(page: Page) -> Any:
    """Says where the result comes from."""
    return page.locator(".tfe-ask .tfe-badge")


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The bench page of a bar once it stands."""
    page.goto(f"{site}/trial?{query}")
    unfolded(page)
    return page


def change_opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The same once what the link asks for is there, its change too."""
    page.goto(f"{site}/trial?{query}")
    settled(page)
    expect(badge(page)).to_have_text(
        re.compile("^(stored|remembered|live · [0-9]|已|实时 · [0-9])")
    )
    return page


def requested(page: Page, kind: type[T]) -> T:
    """The request that stands in the address."""
    return permalink.decode(kind, urlsplit(page.evaluate("location.href")).query)[0]


def turn(
    page: Page, field: str, to: float | str, rest: bool = True, within: str = ".tfe-change"
) -> None:
    """Moves a slider to one of its places, from 0, and lets it rest, or holds it there."""
    page.locator(
        f"{within} :is([data-knob={field}] input, input[data-field={field}]) >> visible=true"
    ).first.evaluate(
        """(input, [to, rest]) => {
            input.value = to;
            for (const type of rest ? ["input", "change"] : ["input"])
                input.dispatchEvent(new Event(type, { bubbles: true })); }""",
        [str(to), rest],
    )


def brought(page: Page, way: str, where: str, name: str, kind: str, content: bytes) -> None:
    """A file is dropped somewhere, or pasted."""
    page.evaluate(
        """([way, where, name, type, data]) => {
            const files = new DataTransfer(), at = document.querySelector(where);
            files.items.add(new File([Uint8Array.from(atob(data), (each) => each.charCodeAt(0))],
                name, { type }));
            if (way === "paste") at.dispatchEvent(new ClipboardEvent("paste",
                { clipboardData: files, bubbles: true }));
            else for (const event of ["dragenter", "dragover", "drop"])
                at.dispatchEvent(new DragEvent(event,
                    { dataTransfer: files, bubbles: true, cancelable: true })); }""",
        [way, where, name, kind, base64.b64encode(content).decode()],
    )


def picture_file(columns: slice) -> bytes:
    """A dark bar on white, as a visitor might bring it."""
    levels = np.full((120, 160), 250, np.uint8)
    levels[20:100, columns] = 20
    out = io.BytesIO()
    Image.fromarray(levels).save(out, "PNG")
    return out.getvalue()


def row_of(choice: Locator, row: int) -> Any:
    """(column, 4) red, green, blue and alpha of a row of the picture that a choice shows."""
    return np.reshape(choice.evaluate(ROW, row), (-1, 4))


def finer(page: Page, canvas: str) -> None:
    """A screen of twice the resolution: the canvas, a selector, is painted anew with twice as many
    pixels on a side."""
    width = f"document.querySelector('{canvas}').width"
    before = page.evaluate(width)
    screen = {"width": 1280, "height": 901, "deviceScaleFactor": 2, "mobile": False}
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", screen)
    becomes(page, lambda: page.evaluate(width), 2 * before)


def stroke(page: Page, side: int, *points: tuple[float, float]) -> None:
    """Draws through points (row, column) on the sheet of a drawing with so many cells on a side."""
    box = measure_box(page.locator(".tfe-picture-sheet"))
    spots = [
        (box["x"] + column * box["width"] / side, box["y"] + row * box["width"] / side)
        for row, column in points
    ]
    page.mouse.move(*spots[0])
    page.mouse.down()
    for spot in spots[1:]:
        page.mouse.move(*spot, steps=5)
    page.mouse.up()


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(badge(page)).to_have_text(LIVE)


def error(page: Page) -> Any:
    """Says why something was refused."""
    return page.locator(".tfe-ask-error")


def answer(page: Page) -> Any:
    """What the model answers."""
    return page.locator(".tfe-ask-answer")


def go(page: Page) -> Any:
    """The button that runs, or stops."""
    return page.locator(".tfe-ask-go")


def chip(page: Page) -> Any:
    """Says what is changed."""
    return page.locator(".tfe-changed-chip")


def settled(page: Page) -> None:
    """Waits until no change is being computed."""
    expect(page.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false")


def number(page: Page, name: str | None = None) -> float:
    """The one number of a change once it stands; name: of which model, where there are several."""
    settled(page)
    becomes(page, lambda: name in numbers(page) if name else bool(numbers(page)), True)
    found = numbers(page)
    return float(found[name or next(iter(found))][0].replace("−", "-"))


def restored(page: Page) -> None:
    """Gives the model back what was changed."""
    page.locator(".tfe-change-restore").click()
    expect(
        page.locator(".tfe-change-picture, .tfe-change-result").filter(visible=True)
    ).to_have_count(0)
