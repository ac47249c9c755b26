"""What changes if …, for networks that decide how long they think, in a real browser: knobs, the number, the table, keys, languages."""

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
import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.widgets import rethink
from models.act_rnn.records import LIMIT, MAX_BIAS, MAX_EPSILON, MAX_LIMIT, Request
from tests.bench import Bench
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
LIMITS = rethink.Limits(max_epsilon=MAX_EPSILON, max_limit=MAX_LIMIT, max_bias=MAX_BIAS, most_forced=MAX_LIMIT, trained=LIMIT)
KNOBS = {
    "limit": {"en": "limit M", "zh": "上限 M"},
    "forced": {"en": "force every input to", "zh": "强制每个输入为"},
    "told": {"en": "mark of the first update", "zh": "首次更新标记"},
}
SENTENCE = {"en": "Forced: ⟦o:734⟧ becomes {sample} " + HOSTILE, "zh": "强制之后，⟦o:734⟧变了 {sample}"}


def told(request: Request) -> dict[str, Any]:
    """A request as the browser holds it."""
    return asdict(request)


def changed(request: Request) -> rethink.Value:
    """What the trial page answers."""
    long = "x" if request.forced == 7 else ""
    return rethink.done(
        told(request),
        answers=("734" + 38 * long, "634" + 38 * long + HOSTILE * bool(long)),
        right=(True, False),
        own_ponder=(4.309, 2.0),
        accuracy=(0.961, 0.961 if request.forced == 8 else 0.5864),
        ponder=(4.2, 2.0),
        milliseconds=(214.4, 96.0),
        sample=1024,
        sentence=SENTENCE,
    )


def page_of(lab: Lab, engine: object) -> None:
    """The panel, narrow as it stands on a page, a box that shows what it has asked for, and a way to another input."""
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            box = gr.Textbox(label="asked", elem_id="asked")
            other = gr.Button("other", elem_id="other")
        with gr.Column(elem_classes=["tfe-bench-side"]):
            panel = rethink.rethink(rethink.idle(told(Request("addition", "478+256"))), limits=LIMITS, texts=KNOBS)

    async def ask(event: gr.EventData) -> AsyncGenerator[Any, None]:
        request = Request(**{key: value for key, value in event._data.items() if key != "wished"})
        yield rethink.running(), json.dumps(told(request))
        if request.bias == 5:
            yield rethink.refused({"en": f"Five is refused. {HOSTILE}", "zh": "五被拒绝。"}), gr.skip()
            return
        await asyncio.sleep(1 if request.forced == 8 else 0.05)
        plain = request == Request(request.task, request.text)
        yield rethink.idle(told(request)) if plain else changed(request), gr.skip()

    how: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private", "concurrency_limit": None}
    panel.ask(ask, None, [panel, box], **how)
    other.click(lambda: rethink.idle(told(Request("parity", "101", forced=2))), None, panel, **how)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2016)


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The page once its panel stands."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-rethink-panel")
    return page


def knob(page: Page, field: str) -> Any:
    """One of the sliders."""
    return page.locator(f".tfe-rethink [data-field={field}]")


def turn(page: Page, field: str, to: float) -> None:
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
    expect(page.locator(".tfe-rethink-panel")).to_have_attribute("aria-busy", "false")
    found: dict[str, Any] = json.loads(page.locator("#asked textarea").input_value())
    return found


def number(page: Page) -> Any:
    """The one big number."""
    return page.locator(".tfe-rethink-number")


def table(page: Page) -> list[list[str]]:
    """The table, row by row."""
    return [
        [cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in page.locator(".tfe-rethink-table tbody tr").all()
    ]


def test_a_knob_asks_and_the_answer_is_one_number_and_one_table(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(page.locator(".tfe-rethink-result")).to_be_hidden()
    turn(page, "forced", 2)
    assert asked(page) == told(Request("addition", "478+256", forced=2))
    expect(number(page)).to_have_text("−37.5")
    expect(page.locator(".tfe-rethink-from")).to_have_text("96.1 % → 58.6 %")
    assert table(page) == [
        ["this input"],
        ["answer", "734 ✓", "634 ✗", "now wrong"],
        ["ponder N + R", "4.31", "2.00", "−2.31"],
        ["1,024 held-out inputs"],
        ["accuracy, %", "96.1", "58.6", "−37.5"],
        ["ponder N + R", "4.20", "2.00", "−2.20"],
        ["time, ms", "214", "96", "−118"],
    ]
    expect(page.locator(".tfe-rethink-table .is-changed")).to_have_text("6")
    expect(page.locator(".tfe-rethink-sentence .tfe-out")).to_have_text("734")


@pytest.mark.parametrize(
    ("field", "to", "sent"), [("limit", 3, 3), ("limit", 8, 0), ("epsilon", 0.5, 0.5), ("bias", -2.5, -2.5), ("forced", 20, 20)]
)
def test_every_knob_changes_its_own_field(page_watch: Page, site: str, field: str, to: float, sent: float) -> None:
    page = opened(page_watch, site)
    turn(page, field, to)
    assert asked(page) == {**told(Request("addition", "478+256")), field: sent}


def test_the_mark_is_left_out_and_given_back(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    off, on = (page.locator(f".tfe-rethink-told [data-key={key}]") for key in ("off", "on"))
    off.click()
    assert asked(page)["told"] is False
    expect(number(page)).to_be_visible()
    on.click()
    expect(number(page)).to_be_hidden()
    expect(page.locator(".tfe-rethink-restore")).to_be_hidden()


def test_escape_and_restore_give_everything_back(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    for back in (lambda: knob(page, "forced").press("Escape"), page.locator(".tfe-rethink-restore").click):
        turn(page, "epsilon", 0.4)
        turn(page, "forced", 2)
        expect(number(page)).to_be_visible()
        back()
        expect(page.locator(".tfe-rethink-result")).to_be_hidden()
        assert asked(page) == told(Request("addition", "478+256"))
        expect(knob(page, "forced")).to_have_value("0")
        expect(knob(page, "epsilon")).to_have_value("0.01")


def test_who_is_forced_needs_no_threshold(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    turn(page, "forced", 1)
    for field in ("limit", "epsilon", "bias"):
        expect(knob(page, field)).to_be_disabled()
        expect(knob(page, field)).to_have_attribute("title", "no effect while the number is forced")
    turn(page, "forced", 0)
    expect(knob(page, "limit")).to_be_enabled()


def test_an_answer_that_was_overtaken_is_not_shown(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => {
            const number = document.querySelector(".tfe-rethink-number");
            window.shown = [];
            new MutationObserver(() => window.shown.push(number.textContent)).observe(number, { childList: true });
            const slider = document.querySelector("[data-field=forced]");
            for (const to of [9, 8]) {
                slider.value = to;
                slider.dispatchEvent(new Event("change", { bubbles: true }));
            }
        }"""
    )
    expect(number(page)).to_have_text("0.0")
    expect(knob(page, "forced")).to_have_value("8")
    assert page.evaluate("window.shown") == ["0.0"], "the answer to nine came first, and too late"


def test_a_refusal_is_said_and_the_knobs_go_back(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    turn(page, "bias", 5)
    expect(page.locator(".tfe-rethink-error")).to_have_text(f"Five is refused. {HOSTILE}")
    expect(knob(page, "bias")).to_have_value("0")
    turn(page, "bias", 4.5)
    expect(number(page)).to_be_visible()
    expect(page.locator(".tfe-rethink-error")).to_be_hidden()


def test_another_input_brings_its_own_limit_and_what_is_changed_in_it(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(knob(page, "limit")).to_have_value("8")
    page.locator("#other").click()
    expect(knob(page, "limit")).to_have_value("20")
    expect(knob(page, "forced")).to_have_value("2")
    expect(page.locator(".tfe-rethink-restore")).to_be_visible()


def test_long_answers_have_lines_of_their_own_and_no_text_is_markup(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    turn(page, "forced", 7)
    expect(number(page)).to_be_visible()
    rows = table(page)
    assert rows[1:4] == [["answer before", f"734{38 * 'x'} ✓"], ["answer after", f"634{38 * 'x'}{HOSTILE} ✗"], ["difference", "now wrong"]]
    expect(page.locator(".tfe-rethink-sentence")).to_have_text("Forced: 734 becomes {sample} " + HOSTILE)
    assert page.locator(".tfe-rethink img").count() == 0


def test_the_comparison_is_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    turn(page, "forced", 2)
    expect(number(page)).to_be_visible()
    saved = {}
    for kind in ("TXT", "CSV"):
        with page.expect_download() as caught:
            page.locator(f".tfe-rethink [data-kind={kind}]").click()
        saved[kind] = Path(caught.value.path()).read_text(encoding="utf-8-sig")
    lines = saved["TXT"].splitlines()
    assert lines[0] == "−37.5 points of accuracy, held out, 96.1 % → 58.6 %" and lines[-1].startswith("Trial")
    assert "this input, answer: 734 → 634 (now wrong)" in lines
    rows = {name: rest for name, *rest in csv.reader(io.StringIO(saved["CSV"]))}
    assert rows["answer"] == ["734", "634", ""] and rows["heldout_accuracy"][:2] == ["0.961", "0.5864"]
    assert rows["heldout_inputs"] == ["1024", "1024", "0"]


def test_every_text_is_chinese_in_chinese(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=zh")
    turn(page, "forced", 2)
    expect(number(page)).to_be_visible()
    found = page.locator(".tfe-rethink").inner_text()
    latin = set(re.findall(r"[A-Za-z]+", found))
    assert latin <= {"Esc", "M", "N", "R", "TXT", "CSV", "sample"}, latin


def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site)
    for forced in (2, 7):
        turn(page, "forced", forced)
        assert asked(page)["forced"] == forced
        expect(number(page)).to_be_visible()
        assert_fits(page, ".tfe-rethink", press=44)
