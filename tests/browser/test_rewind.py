"""Reversible layers in a real browser: forward and back, positions, stored and live figures, files, phones, languages."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.figures.memory import power
from explorer.lab import Lab
from explorer.widgets import rewind
from explorer.widgets.folded import Question, shown
from tests.bench import Bench
from tests.browser.waiting import addressed, stands
from tests.explorer import rewound

NEW = Callable[..., tuple[Page, Any]]


def page_of(lab: Lab, engine: object) -> None:
    """The panel; the model "bare" stands before anything was measured, and has one layer."""
    panel = rewind.rewind()

    def answer(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        wish: Any = question.wish
        parts = {**rewound.parts(), "layer": wish["layer"] or 0}
        if wish["model"] == "bare":
            parts = {**parts, "hashed": False, **{name: parts[name][:1] for name in ("forward", "again", "single", "double")}}
        else:
            parts |= {"reversible": rewound.REVERSIBLE, "lsh": rewound.LSH}
        return shown(question, **rewind.boards({"en": "Reformer", "zh": "Reformer"}, **parts))

    panel.ask(answer, None, panel, show_progress="hidden", trigger_mode="multiple", api_visibility="private")


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2020)


def opened(page: Page, site: str, query: str = "lang=en&_rewind=open") -> Page:
    """The page with the panel open and drawn."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-rewind[data-drawn]")
    return page


def drawn(page: Page, said: str) -> None:
    """Waits until the board stands so: "4 8 –": layers, steps gone, position."""
    expect(page.locator(".tfe-rewind")).to_have_attribute("data-drawn", said)


def saved(page: Page, kind: str) -> bytes:
    """What the first export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-rewind-figure .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def test_layers_go_forward_and_come_back_and_the_largest_differences_are_told(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = rewound.parts()
    drawn(page, "4 8 –")
    words = page.locator(".tfe-rewind-figure > .tfe-words")
    expect(words).to_contain_text(f"inputs of 4 layers come back: they differ from what went in by {power(found['single'].max())} at most")
    expect(words).to_contain_text(f"by {power(found['double'].max())} in float64")
    expect(page.locator(".tfe-rewind-back")).to_have_count(4)
    page.locator(".tfe-rewind-frame").focus()
    page.keyboard.press("ArrowLeft")
    drawn(page, "4 7 –")
    addressed(page, _rewindstep="7")
    expect(page.locator(".tfe-rewind-back")).to_have_count(3)
    expect(words).to_contain_text("Back through layer 2 of 4: x₂ = y₂ − FF(y₁), then x₁ = y₁ − Attention(x₂)")
    expect(words).to_contain_text(f"differs from what went in by {power(found['single'][1])} at most in float32")
    page.locator("#tfe-rewind-step").fill("2")
    drawn(page, "4 2 –")
    expect(words).to_contain_text("Forward through layer 2 of 4")
    expect(page.locator(".tfe-rewind-back")).to_have_count(0)
    expect(page.locator(".tfe-rewind-in")).to_have_count(2)
    page.locator(".tfe-rewind-frame").focus()
    page.keyboard.press("Escape")
    drawn(page, "4 8 –")


def test_space_plays_forward_then_back_and_a_position_is_followed(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_rewind=open&_pos=2,7")
    drawn(page, "4 8 7")
    found = rewound.parts()
    words = page.locator(".tfe-rewind-figure > .tfe-words")
    expect(words).to_contain_text(
        f"At position “{rewound.TOKENS[7]}” (7) a vector of length {found['forward'][0, 7]:.4f} went into layer 1"
    )
    page.locator(".tfe-rewind-frame").focus()
    page.evaluate(
        """() => { const root = document.querySelector(".tfe-rewind"); window.stood = [];
            new MutationObserver(() => window.stood.push(root.dataset.drawn)).observe(root, { attributeFilter: ["data-drawn"] }); }"""
    )
    page.keyboard.press(" ")
    page.wait_for_function("() => window.stood.includes('4 8 7')")
    seen = page.evaluate("window.stood")
    assert list(dict.fromkeys(seen)) == [f"4 {number} 7" for number in range(9)]
    expect(page.locator(".tfe-rewind-knobs button")).to_have_text("Play")
    page.keyboard.press("Shift+ArrowRight")
    addressed(page, _pos="8")
    line = page.locator(".tfe-rewind-in").first.bounding_box()
    assert line
    page.mouse.move(line["x"] + line["width"] * 12.5 / 19, line["y"] + 5)
    drawn(page, "4 8 12")
    page.mouse.click(line["x"] + line["width"] * 12.5 / 19, line["y"] + 5)
    addressed(page, _pos="12")


def test_stored_and_live_figures_stand_below_and_say_which_they_are(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_rewind=open&_head=3.1")
    for name, said in (
        ("depth", "and 1.09 × for reversible ones (81 MB → 88 MB). Stored, measured by python -m benchmarks reversible on cpu, 2 threads."),
        ("parts", "In 16 parts the inner values take 4.1 kB instead of 38.9 kB, and the result differs by 2.4 × 10⁻⁷ at most."),
        ("peers", "needs 40.2 MB, less than any attention by hashing at this length (ours: 110 MB)"),
    ):
        stands(page, f".tfe-rewind-{name}[data-drawn]")
        expect(page.locator(f".tfe-rewind-{name} .tfe-words")).to_contain_text(said)
    expect(page.locator(".tfe-rewind-parts .tfe-units")).to_contain_text("layer 3")
    assert page.locator(".tfe-rewind-peers .barlayer .point").count() == 5
    page.goto(f"{site}/trial?lang=en&_rewind=open&_model=bare")
    stands(page, ".tfe-rewind-parts[data-drawn]")
    notes = page.locator(".tfe-rewind-notes .tfe-note")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text("once python -m benchmarks reversible --save has measured it")
    expect(page.locator(".tfe-rewind-depth")).to_be_hidden()
    drawn(page, "1 2 –")
    expect(page.locator(".tfe-rewind-figure > .tfe-words")).to_contain_text("inputs of 1 layer come back")


def test_norms_and_differences_are_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = rewound.parts()
    with np.load(io.BytesIO(saved(page, "NPZ"))) as files:
        np.testing.assert_allclose(files["forward"], found["forward"], rtol=1e-6)
        np.testing.assert_allclose(files["double"], found["double"])
        assert list(files["tokens"]) == list(rewound.TOKENS)
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV").decode("utf-8-sig"))))
    assert len(rows) == 4 * 19 and float(rows[20]["went_in"]) == pytest.approx(float(found["forward"][1, 1]), rel=1e-6)
    assert "var(--" not in saved(page, "SVG").decode()
    page.locator(".tfe-rewind-figure .tfe-export[data-kind=table]").click()
    cells = page.locator(".tfe-rewind-table tbody tr").nth(2).locator("td").all_text_contents()
    assert cells == [power(float(found["single"][2])), power(float(found["double"][2]))]


@pytest.mark.parametrize(("width", "height", "scheme", "lang"), [(1280, 900, "dark", "zh"), (360, 780, "light", "en")])
def test_nothing_is_cut_off_unnamed_or_hard_to_see(new_page: NEW, site: str, width: int, height: int, scheme: str, lang: str) -> None:
    page, _ = new_page(width=width, height=height, color_scheme=scheme)
    opened(page, site, f"lang={lang}&_rewind=open&_pos=18")
    for name in ("depth", "parts", "peers"):
        stands(page, f".tfe-rewind-{name}[data-drawn]")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, context=".tfe-rewind")
    assert found.violations_count == 0, found.generate_report()
    outside = page.evaluate(
        """() => { const box = document.querySelector(".tfe-rewind-board svg").getBoundingClientRect();
            return [...document.querySelectorAll(".tfe-rewind-board text")].map((one) => [one.textContent, one.getBoundingClientRect()])
                .filter(([, one]) => one.left < box.left - 1 || one.right > box.right + 1 || one.bottom > box.bottom + 1 || one.height < 11)
                .map(([text]) => text); }"""
    )
    assert outside == []
    if lang == "zh":
        latin = set(re.findall(r"[A-Za-z_]{3,}", re.sub(r"“.”", "", page.locator(".tfe-rewind").inner_text())))
        words = {"PNG", "SVG", "HTML", "CSV", "NPZ", "Reformer", "Attention", "float", "Esc", "shift", "python", "benchmarks", "cpu"}
        assert latin <= words | {"reversible", "lsh_attention", "reformer", "pytorch", "transformers"}, latin
