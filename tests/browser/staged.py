"""A picture on the stage as a visitor uses it: what its pen drew, where it is pressed, what is taken along of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page

from tests.browser.waiting import becomes

NEW = Callable[..., tuple[Page, Any]]
AT_ONCE: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private"}  # how our pages wire events

# Every mark of a kind and style, those of groups too, where they stand in the picture; as text, which Playwright hands over at once.
MARKS = """([name, kind, style]) => {
    const flat = (marks, x, y) => marks.flatMap((one) => (one.kind === "group" ? flat(one.marks, x + one.x, y + one.y)
        : [{ ...one, data: undefined, image: undefined, left: (one.x ?? one.box?.x0 ?? 0) + x, top: (one.y ?? one.box?.y0 ?? 0) + y }]));
    const wanted = Object.entries(style).map(([key, value]) => [key, JSON.stringify(value)]);
    return JSON.stringify(flat(document.querySelector(`.tfe-${name} canvas`)?.marks ?? [], 0, 0).filter((one) =>
        (!kind || one.kind === kind) && wanted.every(([key, value]) => JSON.stringify(one[key] ?? null) === value))); }"""


@dataclass(frozen=True)
class Picture:
    """A picture of a page, by the name of its view."""

    page: Page
    name: str

    def find(self, selector: str = "") -> Any:
        """The picture, or what of it is found so."""
        return self.page.locator(f".tfe-{self.name} {selector}".strip())

    def open(self, address: str) -> Picture:
        """Opens its page, and waits until it is drawn."""
        self.page.goto(address)
        self.page.wait_for_selector(f".tfe-{self.name}[data-drawn]", state="attached")
        self.page.wait_for_selector(".tfe-shell-bar")  # whose keys act on the view too
        return self

    def drawn(self, what: str) -> None:
        """Waits until it shows "head=4.3 pos=5"."""
        self.page.wait_for_selector(f".tfe-{self.name}[data-drawn='{what}']", state="attached")

    def marks(self, kind: str = "", **style: Any) -> list[dict[str, Any]]:
        """What the pen drew of a kind, in this style."""
        found: list[dict[str, Any]] = json.loads(self.page.evaluate(MARKS, [self.name, kind, style]))
        return found

    def texts(self, **style: Any) -> list[str]:
        """Every text in the picture."""
        return [one["whole"] for one in self.marks("text", **style)]

    def shows(self, text: str) -> None:
        """Waits until the picture holds this text."""
        becomes(self.page, lambda: text in self.texts(), True)

    def spot(self, text: str | dict[str, Any]) -> tuple[float, float]:
        """Where a text, or another mark, stands on the screen; what is out of it is scrolled to."""
        mark = text if isinstance(text, dict) else next(one for one in self.marks("text") if one["whole"] == text)
        found = self.find("canvas").evaluate(
            """(canvas, [x, y]) => { const there = () => canvas.getBoundingClientRect();
                if (there().top + y < 80 || there().top + y > innerHeight - 80) scrollBy(0, there().top + y - innerHeight / 2);
                return [there().left + x, there().top + y]; }""",
            [mark["left"], mark["top"]],
        )
        return found[0], found[1]

    def saved(self, kind: str) -> tuple[str, bytes]:
        """Name and content of what its menu saves."""
        menu = self.find(".tfe-stage-take")
        if not menu.evaluate("(menu) => menu.open"):
            menu.locator("summary").click()
        with self.page.expect_download() as download:
            menu.locator(f".tfe-export[data-kind='{kind}']").click()
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()

    def rows(self) -> list[dict[str, str]]:
        """The table that its menu saves."""
        return list(csv.DictReader(io.StringIO(self.saved("CSV")[1].decode("utf-8-sig"), newline="")))

    def arrays(self) -> dict[str, Any]:
        """The numbers that its menu saves."""
        with np.load(io.BytesIO(self.saved("NPZ")[1])) as files:
            return dict(files)

    def fits(self) -> None:
        """Nothing runs out of the page or of the picture."""
        page = self.page
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("document.documentElement.clientWidth")
        width, height = page.evaluate(
            "(name) => { const it = document.querySelector(`.tfe-${name} canvas`); return [it.clientWidth, it.clientHeight]; }", self.name
        )
        outside = [one["text"] for one in self.marks("text") if not (-1 <= one["left"] <= width + 1 and 0 <= one["top"] <= height)]
        assert outside == []


def numbers(page: Page) -> dict[str, tuple[str, str]]:
    """Of each model in the picture of a change its signed number, and from what to what it goes."""
    texts = Picture(page, "change").marks("text")
    return {texts[at - 1]["whole"]: (one["whole"], texts[at + 1]["whole"]) for at, one in enumerate(texts) if one.get("face") == "title"}
