"""What hashing misses, in a real browser: sliders, curves, maps, heads, files, phones, languages."""

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

from explorer.lab import Lab
from explorer.widgets import missed
from explorer.widgets.folded import Question, refused, shown
from tests.bench import Bench
from tests.browser.waiting import addressed
from tests.explorer import missing

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
LONG = tuple("the quick brown fox jumps over the lazy dog " * 14)[:600]


def page_of(lab: Lab, engine: object) -> None:
    """The panel; it answers with the head and the number of buckets that are asked for; "long" and "full" are two further models."""
    panel = missed.missed()

    def answer(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        wish: Any = question.wish
        if wish["model"] == "gone":
            return refused(question, {"en": "The run has left the server.", "zh": "运行已不在。"})
        layer, head = (int(part) - 1 for part in (wish["head"] or "1.2").split("."))
        found = missing.head(layer, head, wish["buckets"] or 8, tokens=LONG if wish["model"] == "long" else missing.TOKENS)
        if wish["model"] == "full":
            found = {**found, "trained": 0, "ran": (0, 8), "tokens": (HOSTILE, *missing.TOKENS[1:])}
        return shown(question, **missed.boards({"en": "4 rounds", "zh": "4 轮"}, (layer, head), (2, 3), **found))

    panel.ask(answer, None, panel, show_progress="hidden", trigger_mode="multiple", api_visibility="private")


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2020)


def opened(page: Page, site: str, query: str = "lang=en&_missed=open") -> Page:
    """The page with the panel open and drawn."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-missed[data-drawn]")
    return page


def drawn(page: Page, starts: str) -> None:
    """Waits until the boards stand so: "1.2 4 8 20,1": head, rounds, buckets ("8?": their maps are on the way), the pair told of."""
    expect(page.locator(".tfe-missed")).to_have_attribute("data-drawn", re.compile(f"^{re.escape(starts)}"))


def percent(value: float) -> str:
    """A share as the page writes it."""
    return "<0.1" if 0 < value < 0.05 else f"{value:.1f}"


def saved(page: Page, kind: str) -> bytes:
    """What the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-missed .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def point(page: Page, name: str, query: int, key: int) -> tuple[float, float]:
    """The middle of a cell on the screen."""
    box = page.locator(f".tfe-missed-map[data-map={name}]").bounding_box()
    assert box
    size = len(missing.TOKENS)
    return box["x"] + box["width"] * (key + 0.5) / size, box["y"] + box["height"] * (query + 0.5) / size


def seen_weights(found: dict[str, Any], rounds: int) -> np.ndarray:
    """(query, key) weights of what so many rounds let meet; who meets nobody looks at itself."""
    met = (found["first"] > 0) & (found["first"] <= rounds)
    weights = np.where(met, np.exp(found["log_full"]), 0)
    alone = ~met.any(1)
    weights[alone, alone.nonzero()[0]] = 1
    return weights / weights.sum(1, keepdims=True)


def test_more_rounds_never_miss_more_and_every_number_is_the_tables(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    opened(page, site)
    drawn(page, "1.2 4 8 ")
    found = missing.head(0, 1)
    column = missing.KINDS.index(8)
    asked = sum("/queue/join" in address for address in faults.requests)
    number, said = page.locator(".tfe-missed-number"), []
    for rounds in range(1, 17):
        page.locator("#tfe-missed-rounds").fill(str(rounds))
        drawn(page, f"1.2 {rounds} 8 ")
        expect(number).to_have_text(f"{percent(found['table'][rounds - 1, column])} %")
        said.append(float(number.inner_text().removesuffix(" %").replace("<", "")))
    assert said == sorted(said, reverse=True) and said[0] > said[-1]
    assert sum("/queue/join" in address for address in faults.requests) == asked
    page.locator("#tfe-missed-rounds").fill("1")
    gone, pairs = percent(found["table"][0, column]), percent(found["pairs"][0, column])
    words = page.locator(".tfe-missed .tfe-words")
    expect(words).to_contain_text(f"1 round with 8 buckets sees {pairs} % of the pairs and keeps {100 - float(gone):.1f} % of the weight")
    expect(words).to_contain_text(f"; {gone} % is missed.")
    addressed(page, _missedrounds="1")


def test_another_number_of_buckets_stands_on_its_curve_and_its_maps_follow(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator("#tfe-missed-buckets").fill("4")
    drawn(page, "1.2 4 32")
    drawn(page, "1.2 4 32 ")
    addressed(page, _missedbuckets="32")
    found = missing.head(0, 1, 32)
    expect(page.locator(".tfe-missed-number")).to_have_text(f"{percent(found['table'][3, 4])} %")
    with np.load(io.BytesIO(saved(page, "NPZ"))) as files:
        np.testing.assert_array_equal(files["first_round"], found["first"])
        np.testing.assert_allclose(files["hashed"], seen_weights(found, 4), atol=1e-5)
        assert 100 * files["lost"][1:].mean() == pytest.approx(float(found["table"][3, 4]), abs=1e-3)
        assert files["rounds_buckets"].tolist() == [4, 32]
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV").decode("utf-8-sig"))))
    assert len(rows) == 16 * 6
    assert float(rows[10]["missed_percent"]) == pytest.approx(float(found["table"][1, 4]), rel=1e-5)
    assert "var(--" not in saved(page, "SVG").decode()
    line = page.locator(".tfe-missed-line[data-buckets='2']").bounding_box()
    assert line
    page.mouse.click(line["x"] + line["width"], line["y"] + line["height"])
    drawn(page, "1.2 16 2 ")
    page.locator(".tfe-missed-frame").focus()
    page.keyboard.press("Escape")
    drawn(page, "1.2 4 8 ")


def test_a_pair_is_told_of_and_keys_walk_rounds_queries_and_heads(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_missed=open&_missedrounds=2")
    found = missing.head(0, 1)
    words = page.locator(".tfe-missed .tfe-words")
    never = next((int(q), int(k)) for q, k in np.argwhere((found["first"] > 2) & (np.exp(found["log_full"]) > 0.05)) if q > 3)
    page.mouse.move(*point(page, "full", *never))
    drawn(page, f"1.2 2 8 {never[0]},{never[1]}")
    expect(words).to_contain_text(f"({never[0]}) misses")
    expect(words).to_contain_text(f"they first meet in round {found['first'][never]}.")
    soon = next((int(q), int(k)) for q, k in np.argwhere(found["first"] == 1) if q > 20)
    page.mouse.move(*point(page, "seen", *soon))
    expect(words).to_contain_text("in round 1, and gives it ")
    page.mouse.click(*point(page, "seen", *soon))
    addressed(page, _pos=str(soon[0]))
    page.mouse.move(2, 2)
    drawn(page, f"1.2 2 8 {soon[0]},")
    page.locator(".tfe-missed-frame").focus()
    for key, there in (
        ("ArrowRight", f"1.2 3 8 {soon[0]},"),
        ("PageUp", f"1.2 2 8 {soon[0]},"),
        ("Shift+ArrowLeft", f"1.2 2 8 {soon[0] - 1},"),
        ("ArrowDown", f"1.3 2 8 {soon[0] - 1},"),
    ):
        page.keyboard.press(key)
        drawn(page, there)
    page.locator("#tfe-missed-rounds").fill("14")
    page.locator(".tfe-missed-frame").focus()
    page.keyboard.press(" ")
    drawn(page, f"1.3 16 8 {soon[0] - 1},")
    expect(page.locator(".tfe-missed-knobs button")).to_have_text("Play")
    page.keyboard.press("Escape")
    addressed(page, _pos=None, _missedrounds=None)


def test_a_model_without_hashing_is_shown_saying_so_and_a_refusal_is_one_sentence(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_missed=open&_model=full&_pos=0")
    drawn(page, "1.2 4 8 0,0")
    expect(page.locator(".tfe-missed .tfe-note").nth(1)).to_contain_text("trained on full attention, without hashing")
    expect(page.locator(".tfe-missed .tfe-words")).to_contain_text("has no earlier key, and nothing to miss")
    expect(page.locator(".tfe-missed-ran")).to_have_count(0)
    assert page.locator(".tfe-missed img").count() == 0
    page.goto(f"{site}/trial?lang=en&_missed=open&_model=gone")
    expect(page.locator(".tfe-missed .tfe-error")).to_have_text("The run has left the server.")
    opened(page, site, "lang=en&_missed=open&_model=long")
    expect(page.locator(".tfe-missed .tfe-note").nth(1)).to_contain_text("Maps pooled 3×")


@pytest.mark.parametrize(("width", "height", "scheme", "lang"), [(1280, 900, "dark", "zh"), (360, 780, "light", "en")])
def test_nothing_is_cut_off_unnamed_or_hard_to_see(new_page: NEW, site: str, width: int, height: int, scheme: str, lang: str) -> None:
    page, _ = new_page(width=width, height=height, color_scheme=scheme)
    opened(page, site, f"lang={lang}&_missed=open&_pos=38&_missedrounds=2")
    drawn(page, "1.2 2 8 38,")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, context=".tfe-missed")
    assert found.violations_count == 0, found.generate_report()
    outside = """() => { const box = document.querySelector(".tfe-missed-board svg").getBoundingClientRect();
        return [...document.querySelectorAll(".tfe-missed-board text")].map((one) => [one.textContent, one.getBoundingClientRect()])
            .filter(([, one]) => one.left < box.left - 1 || one.right > box.right + 1 || one.bottom > box.bottom + 1 || one.height < 11)
            .map(([text]) => text); }"""
    assert page.evaluate(outside) == []
    if lang == "zh":
        latin = set(re.findall(r"[A-Za-z_]{2,}", re.sub(r"“.”", "", page.locator(".tfe-missed").inner_text())))
        assert latin <= {"PNG", "SVG", "HTML", "CSV", "NPZ", "Esc", "shift"}, latin
        page.locator(".tfe-missed-frame").focus()
        page.keyboard.press("p")
        expect(page.locator(".tfe-missed-knobs")).to_be_hidden()
        page.wait_for_function(
            """() => [...document.querySelectorAll(".tfe-missed-board text")]
                .every((one) => parseFloat(getComputedStyle(one).fontSize) >= 20)"""
        )
        assert page.evaluate(outside) == []
        assert page.evaluate("document.querySelector('.tfe-missed .tfe-words').getBoundingClientRect().bottom") <= 900
