"""Reversible layers in a real browser: forward and back, positions, stored and live figures, files, phones, languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.figures.memory import power
from explorer.lab import Lab
from explorer.labs.reformer.deeper import rewind
from explorer.widgets.folded import Question, shown
from explorer.widgets.stage import asked
from tests.browser.staged import AT_ONCE, NEW, Picture
from tests.browser.waiting import addressed, stands
from tests.explorer import rewound


def page_of(lab: Lab, engine: object) -> None:
    """The panel; the model "bare" stands before anything was measured, and has one layer."""
    panel = asked("rewind", texts=rewind.TITLES, picture="reformer/rewind")

    def answer(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        wish: Any = question.wish
        parts = {**rewound.parts(), "layer": wish["layer"] or 0}
        if wish["model"] == "bare":
            parts = {**parts, "hashed": False, **{name: parts[name][:1] for name in ("forward", "again", "single", "double")}}
        else:
            parts |= {"reversible": rewound.REVERSIBLE, "lsh": rewound.LSH}
        return shown(question, **rewind.boards({"en": "Reformer", "zh": "Reformer"}, **parts))

    panel.ask(answer, None, panel, **AT_ONCE)


PAGES = {"trial": page_of}


def opened(page: Page, site: str, query: str = "lang=en&_rewind=open") -> Page:
    """The page with the panel open and drawn."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-rewind .tfe-asked[data-drawn]")
    return page


def back(page: Page) -> int:
    """Of how many layers the inputs have come back."""
    return len(Picture(page, "rewind .tfe-asked").marks(kind="path", line="out"))


def said(page: Page) -> Any:
    """The sentence under the picture."""
    return page.locator(".tfe-rewind .tfe-stage-main .tfe-words")


def test_layers_go_forward_and_come_back_and_the_largest_differences_are_told(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = rewound.parts()
    Picture(page, "rewind .tfe-asked").drawn("rewindstep=8")
    expect(said(page)).to_contain_text(
        f"inputs of 4 layers come back: they differ from what went in by {power(found['single'].max())} at most"
    )
    expect(said(page)).to_contain_text(f"by {power(found['double'].max())} in float64")
    assert back(page) == 4
    board = page.locator(".tfe-rewind .tfe-stage-board")
    board.focus()
    page.keyboard.press("ArrowLeft")
    Picture(page, "rewind .tfe-asked").drawn("rewindstep=7")
    addressed(page, _rewindstep="7")
    assert back(page) == 3
    expect(said(page)).to_contain_text("Back through layer 2 of 4: x₂ = y₂ − FF(y₁), then x₁ = y₁ − Attention(x₂)")
    expect(said(page)).to_contain_text(f"differs from what went in by {power(found['single'][1])} at most in float32")
    page.locator(".tfe-rewind .tfe-stage-transport input").fill("2")
    Picture(page, "rewind .tfe-asked").drawn("rewindstep=2")
    expect(said(page)).to_contain_text("Forward through layer 2 of 4")
    assert (
        back(page) == 0
        and len(Picture(page, "rewind .tfe-asked").marks(kind="path", line="ink"))
        + len(Picture(page, "rewind .tfe-asked").marks(kind="path", line="ink2"))
        == 2
    )
    board.focus()
    page.keyboard.press("Home")
    expect(said(page)).to_have_text("Nothing has gone in yet.")
    addressed(page, _rewindstep="0")
    page.keyboard.press("Escape")
    Picture(page, "rewind .tfe-asked").drawn("rewindstep=8")


def test_space_plays_forward_then_back_and_a_position_is_followed(new_page: NEW, site: str) -> None:
    page, _ = new_page(permissions=[])  # in a context of its own: its clock is that of all its pages
    page.clock.install()
    opened(page, site, "lang=en&_rewind=open&_pos=2,7")
    Picture(page, "rewind .tfe-asked").drawn("rewindstep=8 pos=2,7")
    found = rewound.parts()
    expect(said(page)).to_contain_text(
        f"At position “{rewound.TOKENS[7]}” (7) a vector of length {found['forward'][0, 7]:.4f} went into layer 1"
    )
    page.locator(".tfe-rewind .tfe-stage-board").focus()
    page.evaluate(
        """() => { const root = document.querySelector(".tfe-rewind .tfe-asked"); window.stood = [];
            new MutationObserver(() => window.stood.push(root.dataset.drawn)).observe(root, { attributeFilter: ["data-drawn"] }); }"""
    )
    page.keyboard.press(" ")
    for _ in range(18):
        page.clock.fast_forward(400)
    page.wait_for_function("() => window.stood.includes('rewindstep=0 pos=2,7') && window.stood.at(-1) === 'rewindstep=8 pos=2,7'")
    seen = [one for one in dict.fromkeys(page.evaluate("window.stood")) if one != "rewindstep=8 pos=2,7"]
    assert seen == sorted(seen) and len(seen) > 2, "in the order of the layers; a busy machine leaves some out"
    expect(page.locator(".tfe-rewind .is-play")).to_have_attribute("aria-label", "Play")
    page.keyboard.press("Shift+ArrowRight")
    addressed(page, _pos="8")
    row, paper = (
        Picture(page, "rewind .tfe-asked").marks(kind="rect", fill="accent-soft")[0]["box"],
        page.locator(".tfe-rewind .tfe-stage-paper").bounding_box(),
    )
    assert paper
    spot = (paper["x"] + row["x0"] + (row["x1"] - row["x0"]) * 12.5 / 19, paper["y"] + row["y0"] + 5)
    page.mouse.move(*spot)
    card = page.locator(".tfe-rewind .tfe-hover")
    expect(card).to_contain_text(f"“{rewound.TOKENS[12].replace(' ', '␣')}” (12)")
    expect(card).to_contain_text(f"layer 1: {found['forward'][0, 12]:.4f} in, {found['again'][0, 12]:.4f} back")
    page.mouse.click(*spot)
    addressed(page, _pos="12")


def test_stored_and_live_figures_stand_below_and_say_which_they_are(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_rewind=open&_head=3.1")
    for name, told in (
        (
            "memory-depth",
            "and 1.09 × for reversible ones (81 MB → 88 MB). Stored, measured by python -m benchmarks reversible on cpu, 2 threads.",
        ),
        (
            "feed-forward-parts",
            "In 16 parts the inner values take 4.1 kB instead of 38.9 kB, and the result differs by 2.4 × 10⁻⁷ at most.",
        ),
        ("memory-attention", "needs 40.2 MB, less than any attention by hashing at this length (ours: 110 MB)"),
    ):
        stands(page, f".tfe-rewind [data-drawn={name}]")
        expect(page.locator(f".tfe-rewind [data-drawn={name}] .tfe-words")).to_contain_text(told)
    expect(page.locator(".tfe-rewind [data-drawn=feed-forward-parts] .tfe-units")).to_contain_text("layer 3")
    assert page.locator(".tfe-rewind [data-drawn=memory-attention] .barlayer .point").count() == 5
    page.goto(f"{site}/trial?lang=en&_rewind=open&_model=bare")
    stands(page, ".tfe-rewind [data-drawn=feed-forward-parts]")
    notes = page.locator(".tfe-rewind .tfe-opened-notes .tfe-note")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text("once python -m benchmarks reversible --save has measured it")
    expect(page.locator(".tfe-rewind [data-drawn=memory-depth]")).to_have_count(0)
    Picture(page, "rewind .tfe-asked").drawn("rewindstep=2")
    expect(said(page)).to_contain_text("inputs of 1 layer come back")


def test_norms_and_differences_are_taken_along(page_watch: Page, site: str, tmp_path: Path) -> None:
    page = opened(page_watch, site)
    found = rewound.parts()
    files = Picture(page, "rewind .tfe-asked").arrays()
    np.testing.assert_allclose(files["forward"], found["forward"], rtol=1e-6)
    np.testing.assert_allclose(files["double"], found["double"])
    assert list(files["tokens"]) == list(rewound.TOKENS) and list(files["again_axes"]) == ["layer", "position"]
    rows = Picture(page, "rewind .tfe-asked").rows()
    assert len(rows) == 4 * 19 and float(rows[20]["went in, length"]) == pytest.approx(float(found["forward"][1, 1]), rel=1e-6)
    assert "float64" in Picture(page, "rewind .tfe-asked").saved("SVG")[1].decode()
    page.locator(".tfe-rewind .tfe-stage-take .tfe-export[data-kind=table]").click()
    cells = page.locator(".tfe-rewind .tfe-stage-table tbody tr").nth(2).locator("td").all_text_contents()
    assert cells == [power(float(found["single"][2])), power(float(found["double"][2]))]
    (tmp_path / "rewind.html").write_bytes(Picture(page, "rewind .tfe-asked").saved("HTML")[1])
    page.goto(f"file://{tmp_path}/rewind.html")
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".tfe-words")).to_contain_text("Back through layer 2 of 4")
