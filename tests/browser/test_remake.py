"""What changes if …, for pictures, in a real browser: a pattern picked, a stride and what stays within it, heads, maps, files, phones."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.labs import wiring
from explorer.widgets import remake
from explorer.widgets.base import asset
from tests.bench import Bench

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
MODELS = {
    "strided": {"en": "strided", "zh": "跨步"},
    "dense": {"en": "dense", "zh": "稠密"},
    "fixed": {"en": f"fixed {HOSTILE}", "zh": "固定"},
}
REQUEST: dict[str, Any] = {"task": "digit", "keep": 14, "pattern": "", "stride": 0, "summary": 0, "silenced": []}
PICK = {"model": "strided", "head": "2.3", "pos": 412}
REFUSED = 56  # a stride that the trial page refuses
KNOBS: list[remake.Knob | remake.Range | remake.Pick] = [
    remake.Pick(
        "pattern",
        {"en": "pattern", "zh": "模式"},
        (
            ("", {"en": "as trained", "zh": "同训练时"}),
            ("full", {"en": "full", "zh": "完整"}),
            ("strided", {"en": "strided", "zh": "跨步"}),
            ("fixed", {"en": "fixed", "zh": "固定"}),
        ),
        "",
        tuple(MODELS),
    ),
    remake.Range("stride", {"en": "stride", "zh": "步长"}, {"en": "{n} positions", "zh": "{n} 个位置"}, 1, 56, 28, tuple(MODELS)),
    remake.Range(
        "summary",
        {"en": "summary columns", "zh": "摘要列"},
        {"en": "{n} of each block", "zh": "每块 {n} 列"},
        1,
        28,
        4,
        ("fixed", "dense"),
        within="stride",
    ),
]


def pair(key: str, worse: float, more: bool) -> remake.Pair:
    """A slanted stroke, which falls apart below its middle; each pixel there costs more, one less."""
    row, column = np.mgrid[:28, :28]
    before = ((np.abs(column - 20 + row // 2) < 2) & (row > 3) & (row < 24)).astype(np.uint8) * 255
    after = before.copy()
    after[14:] = np.roll(after[14:], 5, axis=1)
    dearer = np.where(row >= 14, worse * np.exp(-np.abs(column - 12) / 4), 0).astype(np.float32)
    dearer[20, 20] = -worse
    return remake.Pair(key, before, after, (80.25, 80.25 + float(dearer.sum())), dearer if more else None)


def changed(request: dict[str, Any]) -> remake.Value:
    """What the trial page answers: two models are touched; with a picked pattern they bring no map."""
    pairs = [pair("strided", 0.6, not request["pattern"]), pair("fixed", 1.25, not request["pattern"])]
    said = {"en": f"With a stride of ⟦k:{request['stride']}⟧ the digit costs more {HOSTILE}.", "zh": "步长改变后，这个数字代价更高。"}
    return remake.done(request, tuple(MODELS), pairs, said, PICK)


def page_of(lab: Lab, engine: object) -> None:
    """The panel, narrow as it stands on a page, a box that shows what it has asked for, and a link to another request."""
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            box = gr.Textbox(label="asked", elem_id="asked")
            linked = gr.Button("a link", elem_id="linked")
        with gr.Column(elem_classes=["tfe-bench-side"]):
            panel = remake.remake(
                remake.idle(REQUEST, tuple(MODELS), PICK),
                knobs=KNOBS,
                patterns=MODELS,
                heads=dict.fromkeys(MODELS, (4, 4)),
                number_label={"en": "nats of the digit", "zh": "该数字的纳特数"},
                number_key="nats",
                view="model",
                raster=True,
            )

    async def ask(event: gr.EventData) -> AsyncGenerator[Any, None]:
        asked = {key: value for key, value in event._data.items() if key != "wished"}
        yield remake.running(), json.dumps(asked)
        await asyncio.sleep(0.02)
        if asked["stride"] == REFUSED:
            yield remake.refused({"en": f"So long a stride is refused. {HOSTILE}", "zh": "太长，被拒绝。"}), gr.skip()
        else:
            yield remake.idle(asked, tuple(MODELS), PICK) if asked == REQUEST else changed(asked), gr.skip()

    panel.ask(ask, None, [panel, box], **wiring.HOW)
    linked.click(lambda: changed({**REQUEST, "stride": 3, "summary": 2}), None, panel, **wiring.HOW)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2019)


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The page once its panel stands."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-remake-panel")
    return page


def knob(page: Page, field: str) -> Any:
    """A slider or a choice, with its name and what it says."""
    return page.locator(f".tfe-remake [data-knob={field}]")


def says(page: Page, field: str, text: str) -> None:
    """Waits until a slider says this."""
    expect(knob(page, field).locator("output")).to_have_text(text)


def turn(page: Page, field: str, to: int, rest: bool = True) -> None:
    """Moves a slider to a number (they begin with 1) and lets it rest, or holds it there."""
    knob(page, field).locator("input").evaluate(
        """(input, [to, rest]) => {
            input.value = to;
            for (const type of rest ? ["input", "change"] : ["input"]) input.dispatchEvent(new Event(type, { bubbles: true }));
        }""",
        [str(to - 1), rest],
    )


def asked(page: Page, **said: object) -> None:
    """Waits until the panel has asked for the usual request but for this, and was answered."""
    expect(page.locator("#asked textarea")).to_have_value(json.dumps({**REQUEST, **said}))
    expect(page.locator(".tfe-remake-panel")).to_have_attribute("aria-busy", "false")


def test_a_number_as_trained_lies_inside_and_is_written_as_the_request_has_it(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(page.locator(".tfe-remake-result")).to_be_hidden()
    says(page, "stride", "28 positions · as trained")
    expect(knob(page, "stride").locator(".is-here")).to_have_text("28")
    turn(page, "stride", 7)
    asked(page, stride=7)
    says(page, "stride", "7 positions")
    fixed = page.locator(".tfe-remake [data-pattern=fixed]")
    expect(fixed.locator(".tfe-remake-name")).to_have_text(f"fixed {HOSTILE}")
    costs = pair("fixed", 1.25, True).numbers
    expect(fixed.locator(".tfe-remake-number")).to_have_text(f"+{costs[1] - costs[0]:.2f}")
    expect(fixed.locator(".tfe-remake-from")).to_have_text(f"80.25 → {costs[1]:.2f}")
    expect(page.locator(".tfe-remake-names")).to_have_text(re.compile(r"beforeafterdiff. ±255nats ±1.25nats of the digit"))
    expect(page.locator(".tfe-remake-sentence .tfe-key")).to_have_text("7")
    sizes = page.locator(".tfe-remake canvas").evaluate_all(
        "(all) => all.map((one) => [one.width, one.clientWidth, one.clientHeight].join())"
    )
    assert len(sizes) == 8 and len(set(sizes)) == 1, "four equal pictures of each"
    # On one symmetric scale: the dearest pixel of one model and the cheapest of the same are the two ends, the other model's lie between.
    ends = page.locator(".tfe-remake canvas[data-which=dearer]").evaluate_all(
        """(all) => all.map((one) => {
            const { data } = one.getContext("2d").getImageData(0, 0, 28, 28);
            return [[12, 20], [20, 20], [5, 3]].map(([x, y]) => data.slice(4 * (28 * y + x), 4 * (28 * y + x) + 3).join());
        })"""
    )
    assert ends[1][:2] == ["18,105,58", "91,42,134"] and ends[0][0] != ends[1][0] and ends[0][2] == ends[1][2]
    page.evaluate(
        """async (address) => {
            const { bus } = await import(address);
            bus.on("hover-pos", ({ pos }) => { document.body.dataset.at = String(pos); });
        }""",
        asset("lib/state.js"),
    )
    canvas = page.locator("[data-pattern=fixed] canvas[data-which=dearer]")
    wide = canvas.evaluate("(one) => one.clientWidth") / 28
    canvas.hover(position={"x": 20.5 * wide, "y": 20.5 * wide})
    expect(page.locator(".tfe-remake-readout")).to_have_text(re.compile(r"^\(20, 20\): \d+ → \d+ · −1\.25 nats$"))
    expect(page.locator("body")).to_have_attribute("data-at", str(20 * 28 + 20))
    page.mouse.move(2, 2)
    expect(page.locator("body")).to_have_attribute("data-at", "null")
    assert page.locator(".tfe-remake img").count() == 0
    turn(page, "stride", REFUSED)
    expect(page.locator(".tfe-remake .tfe-error")).to_have_text(f"So long a stride is refused. {HOSTILE}")
    says(page, "stride", "7 positions")
    turn(page, "stride", 28)
    asked(page)
    expect(page.locator(".tfe-remake-result")).to_be_hidden()


def test_summary_columns_never_exceed_the_stride_and_come_back_with_it(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    turn(page, "stride", 3, rest=False)
    says(page, "summary", "3 of each block · all that “stride” allows")
    expect(knob(page, "summary").locator(".tfe-reread-barred")).to_be_visible()
    turn(page, "stride", 3)
    asked(page, stride=3, summary=3)
    turn(page, "summary", 20)
    asked(page, stride=3, summary=3)
    turn(page, "stride", 12)
    asked(page, stride=12, summary=3)
    turn(page, "summary", 9)
    asked(page, stride=12, summary=9)
    turn(page, "stride", 6)
    asked(page, stride=6, summary=6)
    turn(page, "stride", 28)
    asked(page, summary=9)
    page.locator(".tfe-remake-restore").click()
    asked(page)
    says(page, "summary", "4 of each block · as trained")
    turn(page, "stride", 2)
    asked(page, stride=2, summary=2)
    turn(page, "stride", 40)
    asked(page, stride=40)
    page.locator("#linked").click()
    says(page, "summary", "2 of each block")
    says(page, "stride", "3 positions")


def test_a_pattern_is_picked_a_head_silenced_and_all_of_it_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_model=dense&_head=1.4")
    expect(knob(page, "pattern").locator("[aria-checked=true]")).to_have_text("as trained")
    page.locator(".tfe-remake-do").click()
    asked(page, silenced=[["dense", 0, 3]])
    expect(page.locator(".tfe-remake-chip")).to_have_text("head dense 1·4 ×")
    with page.expect_download() as saved:
        page.locator(".tfe-remake .tfe-export", has_text="NPZ").click()
    with np.load(io.BytesIO(Path(saved.value.path()).read_bytes())) as arrays:
        assert arrays["fixed.more"].shape == (28, 28) and arrays["fixed.more"][20, 20] == np.float32(-1.25)
        assert arrays["strided.nats"][0] == 80.25 and np.array_equal(arrays["strided.before"], pair("strided", 0.6, True).before)
    knob(page, "pattern").locator("[data-key='']").press("ArrowRight")
    asked(page, silenced=[["dense", 0, 3]], pattern="full")
    expect(knob(page, "pattern").locator("[data-key=full]")).to_be_focused()
    expect(page.locator(".tfe-remake canvas")).to_have_count(6)  # without maps
    page.keyboard.press("Escape")
    asked(page)
    expect(page.locator(".tfe-remake-chip")).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme", "language"), [(1280, "dark", "zh"), (360, "light", "en")])
def test_nothing_is_cut_off_unnamed_or_hard_to_see(new_page: NEW, site: str, width: int, scheme: str, language: str) -> None:
    page, _ = new_page(width=width, height=900, color_scheme=scheme)
    opened(page, site, f"lang={language}")
    turn(page, "stride", 3)
    expect(page.locator(".tfe-remake-panel")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".tfe-remake canvas")).to_have_count(8)
    wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1], f"scrolls sideways at {width} px: {wide}"
    found = Axe().run(page, context=".tfe-remake").response["violations"]
    assert not found, [(one["id"], [node["html"][:150] for node in one["nodes"][:3]]) for one in found]
    small = page.evaluate(
        """(least) => [...document.querySelectorAll(".tfe-remake :is(input, .tfe-segmented, .tfe-remake-restore, .tfe-remake-do)")]
            .map((node) => [node.getBoundingClientRect().height, node.outerHTML.slice(0, 90)]).filter(([high]) => high < least)""",
        44 if width < 720 else 27.9,
    )
    assert not small, small
    if language == "zh":
        said = page.locator(".tfe-remake").inner_text()
        assert set(re.findall("[A-Za-z]{2,}", said)) <= {"Esc", "PNG", "NPZ", "TXT"}, said
