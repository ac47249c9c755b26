"""The four terms of the relative score in a real browser: one cell told of in six maps, heads, queries, files, phones, languages."""

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
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.widgets import terms
from explorer.widgets.folded import Question, refused, shown
from tests.bench import Bench
from tests.browser.waiting import addressed
from tests.explorer import segmented
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
SIZES: dict[str, Any] = {"length": 200, "segment": 64, "memory": 160, "layers": 2, "heads": 3}
NAMES = ("content", "position", "global_content", "global_position", "scores", "weights")


def page_of(lab: Lab, engine: object) -> None:
    """The panel; it answers with the head, the character and the number of queries that are asked for."""
    panel = terms.terms()

    def answer(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        wish: Any = question.wish
        layer, head = (int(part) - 1 for part in (wish["head"] or "1.2").split("."))
        if wish["pos"] == 199:
            return refused(question, {"en": "The run has left the server.", "zh": "运行已不在。"})
        drawn = terms.boards(
            {"en": "Transformer-XL", "zh": "Transformer-XL"},
            (layer, head),
            (2, 3),
            **segmented.cut(segmented.reading(**SIZES), layer, head, wish["pos"] or 180, wish["queries"]),
            other={"en": "Transformer", "zh": "Transformer"} if wish["model"] == "absolute" else None,
        )
        return shown(question, **drawn)

    panel.ask(answer, None, panel, show_progress="hidden", trigger_mode="multiple", api_visibility="private")


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2019)


def opened(page: Page, site: str, query: str = "lang=en&_terms=open") -> Page:
    """The page with the panel open and drawn."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-terms[data-drawn]")
    return page


def drawn(page: Page, starts: str) -> None:
    """Waits until the maps stand so: "1.2 32 180 31,140": head, queries, last character, the cell told of."""
    expect(page.locator(".tfe-terms")).to_have_attribute("data-drawn", re.compile(f"^{re.escape(starts)}"))


def expected(last: int = 180, queries: int = 32, layer: int = 0, head: int = 1) -> dict[str, Any]:
    """The numbers of the page, at most the last 160 keys."""
    found = segmented.cut(segmented.reading(**SIZES), layer, head, last, queries)
    return {**found, **{name: found[name][:, -terms.KEYS :] for name in NAMES}}


def point(page: Page, name: str, query: int, key: int, shape: tuple[int, int]) -> tuple[float, float]:
    """The middle of a cell on the screen."""
    box = page.locator(f".tfe-terms-map[data-map={name}]").bounding_box()
    assert box
    return box["x"] + box["width"] * (key + 0.5) / shape[1], box["y"] + box["height"] * (query + 0.5) / shape[0]


def saved(page: Page, kind: str) -> bytes:
    """What the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-terms .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def said(value: float) -> str:
    """A number as the page writes it."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def test_six_maps_tell_of_one_cell_and_the_terms_add_up(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = expected()
    best = int(found["weights"][-1][:-1].argmax())
    drawn(page, f"1.2 32 180 31,{best}")
    page.mouse.move(*point(page, "scores", 20, 100, (32, 160)))
    drawn(page, "1.2 32 180 20,100")
    numbers = [said(float(found[name][20, 100])) for name in NAMES]
    texts = page.locator(".tfe-terms-board text").all_text_contents()
    assert all(number in texts for number in numbers), numbers
    expect(page.locator(".tfe-terms-board .ring")).to_have_count(6)
    expect(page.locator(".tfe-terms-map")).to_have_count(6)
    words = page.locator(".tfe-terms .tfe-words")
    distance = found["weights"].shape[1] - 32 + 20 - 100
    expect(words).to_contain_text(f"Query “{found['queries'][20][1].replace(' ', '␠')}” (169), key")
    expect(words).to_contain_text(f", {distance} back: {numbers[0]} ")
    expect(words).to_contain_text(f"= {numbers[4]}, weight ")
    left = len(found["keys"]) - 160
    expect(words).to_contain_text(f"The {left} keys farther back get ")
    page.mouse.click(*point(page, "content", 20, 100, (32, 160)))
    addressed(page, _tcell=f"11.{distance}")
    page.mouse.move(2, 2)
    drawn(page, "1.2 32 180 20,100")
    page.mouse.move(*point(page, "weights", 2, 158, (32, 160)))
    expect(words).to_contain_text("it comes later")


def test_keys_walk_queries_keys_and_heads_and_what_was_fetched_is_not_asked_again(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    opened(page, site, "lang=en&_terms=open&_tcell=2.5")
    drawn(page, "1.2 32 180 29,152")
    page.locator(".tfe-terms-frame").focus()
    for key, there in (
        ("ArrowLeft", "1.2 32 180 28,151"),
        ("ArrowRight", "1.2 32 180 29,152"),
        ("Shift+ArrowLeft", "1.2 32 180 29,151"),
        ("ArrowDown", "1.3 32 180 29,151"),
        ("ArrowUp", "1.2 32 180 29,151"),
    ):
        page.keyboard.press(key)
        drawn(page, there)
    asked = sum("/queue/join" in address for address in faults.requests)
    page.keyboard.press("ArrowDown")
    drawn(page, "1.3 32 180 29,151")
    assert sum("/queue/join" in address for address in faults.requests) == asked
    page.keyboard.press("Escape")
    addressed(page, _tcell=None)


def test_another_character_and_fewer_queries_are_fetched_and_a_refusal_is_one_sentence(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_terms=open&_pos=9,140&_model=absolute")
    drawn(page, "1.2 13 140")
    note = page.locator(".tfe-terms .tfe-note").nth(1)
    expect(note).to_contain_text("13 queries up to character 140, 141 keys")
    expect(note).to_contain_text("Transformer in view has no such terms.")
    assert "farther back" not in page.locator(".tfe-terms .tfe-words").inner_text()
    page.goto(f"{site}/trial?lang=en&_terms=open&_pos=190")
    drawn(page, "1.2 32 190")
    page.locator(".tfe-terms [role=radio]", has_text=re.compile("^16$")).click()
    drawn(page, "1.2 16 190")
    addressed(page, _tqueries="16")
    page.goto(f"{site}/trial?lang=en&_terms=open&_pos=199")
    expect(page.locator(".tfe-terms .tfe-error")).to_have_text("The run has left the server.")


def test_the_terms_are_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = expected()
    with np.load(io.BytesIO(saved(page, "NPZ"))) as files:
        for name in NAMES:
            np.testing.assert_allclose(files[name], found[name], atol=1e-5)
        np.testing.assert_array_equal(files["u"], found["u"])
        np.testing.assert_allclose(files["weights"].sum(1) + files["elsewhere"], 1, atol=2e-3)
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV").decode("utf-8-sig"))))
    assert len(rows) == int(found["allowed"][:, -160:].sum())
    for one in rows[::500]:
        assert sum(float(one[name]) for name in NAMES[:4]) == pytest.approx(float(one["scores"]), abs=1e-4)
    for kind in ("SVG", "HTML"):
        text = saved(page, kind).decode()
        assert text.count("data:image/png") == 8 and "var(--" not in text.split("<body>")[-1]
    assert saved(page, "PNG").startswith(b"\x89PNG")
    page.locator(".tfe-terms .tfe-export[data-kind=table]").click()
    first = page.locator(".tfe-terms-table tbody tr").first.locator("td").all_text_contents()
    assert float(first[-1]) == pytest.approx(float(found["weights"][-1].max()), abs=1e-3)


def test_projected_every_text_is_large_and_the_controls_leave(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-terms-frame").focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).to_contain_text("Which of the four terms decides")
    expect(page.locator(".tfe-terms .tfe-segmented")).to_be_hidden()
    page.wait_for_function(
        """() => [...document.querySelectorAll(".tfe-terms-board text")].every((one) => parseFloat(getComputedStyle(one).fontSize) >= 20)"""
    )
    bottom = page.evaluate("document.querySelector('.tfe-terms .tfe-words').getBoundingClientRect().bottom")
    assert bottom <= 900, bottom


def test_every_text_is_chinese_in_chinese(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=zh&_terms=open")
    found = page.locator(".tfe-terms").inner_text()
    text = re.sub(r"“.”", "", found)
    latin = set(re.findall(r"[A-Za-z_]{2,}", text))
    assert latin <= {"PNG", "SVG", "HTML", "CSV", "NPZ", "Transformer", "XL", "softmax", "Esc", "shift", "Aij", "qi", "kj", "WRi"}, latin


def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site)
    assert_fits(page, ".tfe-terms")
