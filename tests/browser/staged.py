"""A picture on the stage as a visitor uses it: what its pen drew, where it is pressed, what is
taken along of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import gradio as gr
import numpy as np
from playwright.sync_api import Page, expect

from explorer.components.base import write_frontend_address
from explorer.components.folded import Question
from explorer.components.stage import place_picture
from explorer.contract.lab import OpenLab
from tests.bench import Place
from tests.browser.waiting import becomes

NEW = Callable[..., tuple[Page, Any]]
# how our pages wire events
AT_ONCE: dict[str, Any] = {
    "show_progress": "hidden",
    "trigger_mode": "multiple",
    "api_visibility": "private",
}

# Every mark of a kind and style, those of groups too, where they stand in the picture, and texts
# and shapes of its figures; as text, which Playwright hands over at once.
MARKS = """([name, kind, style]) => {
    const read = (text) => new DOMParser().parseFromString(
        String(text).replaceAll("<br>", " "), "text/html").body.textContent;
    const plotted = (node) => {
        const full = node._fullLayout ?? {};
        const px = (one, letter, id) => {
            const axis = full[`${letter}axis${(id ?? letter).slice(1)}`];
            return axis._offset + axis.d2p(one);
        };
        const nth = (list, n) => (Array.isArray(list) ? list[n] : list);
        const face = (family) => ["title", "mono"].find((name) => family === getComputedStyle(node)
            .getPropertyValue(`--font-${name}`).trim()) ?? "ui";
        // a trace named "words" says what a visitor wrote, and so does a tick with a number behind
        const text = (text, x, y, { xref, yref, font, ...more }, n) => ({ ...more, kind: "text",
            text: read(text), whole: read(text).trim(), left: node.offsetLeft + px(x, "x", xref),
            top: node.offsetTop + px(y, "y", yref), size: nth(font.size, n),
            face: more.trace === "words" ? null : face(nth(font.family, n)) });
        const middle = (trace, axis, n) =>
            trace.type !== "bar" || (trace.orientation === "h") === (axis === "y")
                ? trace[axis][n] : nth(trace.base, n) + trace[axis][n] / 2;
        return [
            ...(node._fullData ?? [])
                .filter(({ mode, type }) => mode?.includes("text") || type === "bar")
                .flatMap((trace) => [trace.text ?? []].flat().flatMap((one, n) => one
                    ? [text(one, middle(trace, "x", n), middle(trace, "y", n), {
                        xref: trace.xaxis, yref: trace.yaxis, font: trace.textfont,
                        trace: trace.name }, n)] : [])),
            ...(full.annotations ?? []).filter(({ xref }) => xref !== "paper")
                .map(({ text: one, x, y, xref, yref, font }) =>
                    text(one, x, y, { xref, yref, font, trace: "note" })),
            ...Object.entries(full).filter(([key, axis]) => /^[xy]axis/.test(key)
                && axis.ticktext && axis.showticklabels).flatMap(([, axis]) =>
                axis.ticktext.map((one) => ({ kind: "text", text: read(one), whole: read(one),
                    size: axis.tickfont.size, face: /<span/.test(one) ? null : "ui" }))),
            ...(full.shapes ?? []).map(({ line: { color, width, dash }, fillcolor, type }) =>
                ({ kind: "shape", type, line: color, width, dash, fill: fillcolor })),
        ];
    };
    const flat = (marks, x, y) => marks.flatMap((one) => (one.kind === "group"
        ? flat(one.marks, x + one.x, y + one.y)
        : one.kind === "plot"
        ? [one]
        : [{ ...one, data: undefined, image: undefined, left: (one.x ?? one.box?.x0 ?? 0) + x,
            top: (one.y ?? one.box?.y0 ?? 0) + y }]));
    const wanted = Object.entries(style).map(([key, value]) => [key, JSON.stringify(value)]);
    const root = document.querySelector(`.tfe-${name}`);
    return JSON.stringify([...flat(root?.querySelector("canvas")?.marks ?? [], 0, 0),
        ...[...(root?.querySelectorAll(".js-plotly-plot") ?? [])].flatMap(plotted)]
        .filter((one) => (!kind || one.kind === kind) && wanted.every(([key, value]) =>
            JSON.stringify(one[key] ?? null) === value))); }"""

# What can be pointed at, the topmost first, and looks at this, or at nothing that is in view: the
# middle of it, and what it is.
BOXES = """([name, wanted]) => {
    const root = document.querySelector(`.tfe-${name}`), spots = [],
        say = (one) => `${one ?? null}`;
    const shown = Object.fromEntries(root.dataset.drawn.split(" ").map((one) => one.split("=")));
    const other = ([key, it]) => it && ![shown[key], ...(shown[key] ?? "").split(",")]
        .includes(say(it));
    const fits = ({ look }) => look && Object.entries(wanted ?? look)
        .every(wanted ? ([key, it]) => say(look[key]) === say(it) : other);
    let found = null;
    for (const box of root.querySelector("canvas").boxes.toReversed().filter(({ x0 }) => x0 >= 0)) {
        const { x0, y0, x1, y1 } = box, [x, y, step] = box.at ? [x0 + 1, y0 + 1, 1]
            : [(x0 + x1) / 2, (y0 + y1) / 2, Infinity];
        for (let top = y; top < y1; top += step)
            for (let left = x; left < x1; left += step) {
                const here = box.at ? box.at(left, top) : box;
                if (!here || !fits(here)
                    || (spots.length && say(here.look.pos) !== say(found.look.pos))) continue;
                spots.push([left, top]);
                found = here;
            }
        if (found) break;
    }
    const middle = (at) => spots.reduce((sum, spot) => sum + spot[at], 0) / spots.length;
    return found && { left: middle(0), top: middle(1), look: found.look,
        tells: Boolean(found.card?.()) }; }"""

# The texts of Plotly's figures that run out of their picture.
BEYOND = """(name) => [...document.querySelectorAll(`.tfe-${name} .tfe-stage-plot`)]
    .flatMap((node) => {
        const edge = node.getBoundingClientRect();
        return [...node.querySelectorAll("svg text")].filter((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            return left < edge.left - 3 || right > edge.right + 3
                || top < edge.top - 3 || bottom > edge.bottom + 3;
        }).map((one) => one.textContent);
    })"""


@dataclass(frozen=True)
class Picture:
    """A picture of a page, by the name of its view."""

    page: Page
    name: str

    def find(self, selector: str = "", **how: Any) -> Any:
        """The picture, or what of it is found so."""
        return self.page.locator(f".tfe-{self.name} {selector}".strip(), **how)

    def open(self, address: str) -> Picture:
        """Opens its page, and waits until it is drawn."""
        self.page.goto(address)
        self.page.wait_for_selector(
            f".tfe-{self.name}[data-drawn]:not([data-drawn$=waits])", state="attached"
        )
        self.page.wait_for_selector(".tfe-shell-bar")  # whose keys act on the view too
        return self

    def drawn(self, what: str) -> None:
        """Waits until it shows "head=4.3 pos=5", perhaps with more after it, and nothing of that is
        on its way."""
        shown = (
            f".tfe-{self.name}:is([data-drawn='{what}'], [data-drawn^='{what}"
            " ']):not([data-drawn$=waits])"
        )
        self.page.wait_for_selector(shown, state="attached")

    def stands(self, *what: str) -> Picture:
        """Waits until these keys and values are in view, "head=3.4"."""
        shown = f".tfe-{self.name}" + "".join(f"[data-drawn~='{one}']" for one in what)
        self.page.wait_for_selector(
            f"{shown}[data-drawn]:not([data-drawn$=waits])", state="attached"
        )
        return self

    def shown(self) -> str:
        """What it shows now, as for `drawn`."""
        return str(self.find().get_attribute("data-drawn"))

    @property
    def words(self) -> Any:
        """The sentence under it."""
        return self.find(".tfe-words")

    def says(self, *parts: str) -> None:
        """Waits until its sentence holds these parts."""
        for part in parts:
            expect(self.words).to_contain_text(part)

    def press(self, *keys: str) -> None:
        """Presses keys while it has the focus."""
        self.find(".tfe-stage-board").focus()
        for key in keys:
            self.page.keyboard.press(key)

    def walks(self, shows: str, keys: str) -> None:
        """Presses keys one after the other, "ArrowRight 2.1 170, End 2.1 202": after each it shows
        what follows it, in the places of {}."""
        for one in keys.split(", "):
            key, *there = one.split()
            self.press(key)
            self.drawn(shows.format(*there))

    def click(self, at: tuple[float, float], *, shift: bool = False) -> None:
        """Clicks somewhere; with Shift where asked."""
        if shift:
            self.page.keyboard.down("Shift")
        self.page.mouse.click(*at)
        if shift:
            self.page.keyboard.up("Shift")

    def marks(self, kind: str = "", **style: Any) -> list[dict[str, Any]]:
        """What the pen drew of a kind, in this style."""
        found: list[dict[str, Any]] = json.loads(
            self.page.evaluate(MARKS, [self.name, kind, style])
        )
        return found

    def traces(self, name: str) -> list[dict[str, Any]]:
        """The traces of this name in its Plotly figures."""
        found: list[dict[str, Any]] = json.loads(
            self.page.evaluate(
                """([picture, name]) => JSON.stringify([
                    ...document.querySelectorAll(`.tfe-${picture} .js-plotly-plot`)]
                    .flatMap((node) => node.data ?? []).filter((one) => one.name === name))""",
                [self.name, name],
            )
        )
        return found

    def texts(self, **style: Any) -> list[str]:
        """Every text in the picture."""
        return [one["whole"] for one in self.marks("text", **style)]

    def shows(self, text: str) -> None:
        """Waits until the picture holds this text."""
        becomes(self.page, lambda: text in self.texts(), True)

    def spot(self, text: str | dict[str, Any]) -> tuple[float, float]:
        """Where a text, or another mark, stands on the screen; what is out of it is scrolled to."""
        mark = (
            text
            if isinstance(text, dict)
            else next(one for one in self.marks("text") if one["whole"] == text)
        )
        found = self.find("canvas").evaluate(
            """(canvas, [x, y]) => { const there = () => canvas.getBoundingClientRect();
                if (there().top + y < 80 || there().top + y > innerHeight - 80)
                    scrollBy(0, there().top + y - innerHeight / 2);
                return [there().left + x, there().top + y]; }""",
            [mark["left"], mark["top"]],
        )
        return found[0], found[1]

    def box(self, **look: object) -> dict[str, Any]:
        """Something that can be pointed at and looks at this; of no given look, the first that is
        not in view."""
        found: dict[str, Any] | None = self.page.evaluate(BOXES, [self.name, look or None])
        assert found, f"nothing there looks at {look or 'anything else'}"
        return found

    def point(self, **look: object) -> tuple[float, float]:
        """Points at what looks at this, and says where that is on the screen."""
        at = self.spot(self.box(**look))
        self.page.mouse.move(*at)
        return at

    def saved(self, kind: str) -> tuple[str, bytes]:
        """Name and content of what its menu saves."""
        if (menu := self.find(".tfe-stage-take:not([open]) > summary")).count():
            menu.click()
        with self.page.expect_download() as download:
            self.find(f".tfe-export[data-kind='{kind}']").first.click()
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()

    def rows(self) -> list[dict[str, str]]:
        """The table that its menu saves."""
        return list(
            csv.DictReader(io.StringIO(self.saved("CSV")[1].decode("utf-8-sig"), newline=""))
        )

    def arrays(self) -> dict[str, Any]:
        """The numbers that its menu saves."""
        with np.load(io.BytesIO(self.saved("NPZ")[1])) as files:
            return dict(files)

    def lines(self) -> list[str]:
        """The same table, line by line."""
        return self.saved("CSV")[1].decode("utf-8-sig").splitlines()

    def fits(self) -> None:
        """Nothing runs out of the page or of the picture."""
        page = self.page
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate(
            "document.documentElement.clientWidth"
        )
        width, height = page.evaluate(
            "(name) => { const it = document.querySelector(`.tfe-${name} canvas`); return"
            " [it.clientWidth, it.clientHeight]; }",
            self.name,
        )
        outside = [
            one["text"]
            for one in self.marks("text")
            if "left" in one and not (-1 <= one["left"] <= width + 1 and 0 <= one["top"] <= height)
        ]
        assert outside + page.evaluate(BEYOND, self.name) == []


def numbers(page: Page) -> dict[str, tuple[str, str]]:
    """Of each model in the picture of a change its signed number, and from what to what it goes."""
    texts = Picture(page, "change").marks("text")
    return {
        texts[at - 1]["whole"]: (one["whole"], texts[at + 1]["whole"])
        for at, one in enumerate(texts)
        if one.get("face") == "title"
    }


def opening(name: str, slug: str = "trial", query: str = "lang=en") -> Callable[..., Picture]:
    """What opens a picture of a bench page: opened(page, site, query, slug)."""

    def opened(page: Page, site: str, query: str = query, slug: str = slug) -> Picture:
        return Picture(page, name).open(f"{site}/{slug}?{query}")

    return opened


def alone(name: str, value: Any, texts: Any = None, picture: str = "", **others: Any) -> Place:
    """A page of one picture, of a value or of what makes it; a button of each other name asks for
    another one."""

    def page(lab: OpenLab, engine: object) -> None:
        place = place_picture(
            name,
            value() if callable(value) else value,
            texts=texts or {},
            **({"picture": picture} if picture else {}),
        )
        for id_, answer in others.items():
            gr.Button(id_, elem_id=id_).click(answer, None, place, **AT_ONCE)

    return page


def answering(*panels: tuple[Callable[[], Any], Callable[[Question], Any]]) -> Place:
    """A page of panels that are folded: how each is placed, and how it is answered."""

    def page(lab: OpenLab, engine: object) -> None:
        for place, answer in panels:

            def told(event: gr.EventData, answer: Callable[[Question], Any] = answer) -> Any:
                return answer(Question.from_event(event._data))

            panel = place()
            panel.ask(told, None, panel, **AT_ONCE)

    return page


def bare(page: Page, site: str) -> Page:
    """A page with nothing on it that may load our scripts, for what one of them works out without a
    picture."""
    page.goto(urljoin(site, "/bench/bench.js"))
    return page


def listen(page: Page, event: str) -> None:
    """From now on the page writes down what its views tell each other by this name; window.bus and
    window.view are theirs."""
    page.evaluate(
        """async ([address, event]) => { const { bus, view } = await import(address);
            Object.assign(window, { bus, view, heard: [] });
            bus.on(event, (detail) => window.heard.push(detail)); }""",
        [write_frontend_address("lib/state.js"), event],
    )


def heard(page: Page) -> list[dict[str, Any]]:
    """What they have told since."""
    return list(page.evaluate("window.heard.splice(0)"))


def joined(faults: Any) -> int:
    """How often a page has asked the program something."""
    return sum("/queue/join" in address for address in faults.requests)
