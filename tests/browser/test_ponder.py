"""The stage with the picture of pondering, in a real browser, with runs made by hand."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.figures import ponder as figures
from explorer.lab import Lab
from explorer.packing import pack
from explorer.widgets.stage import stage
from tests.browser.staged import NEW, Picture
from tests.browser.waiting import looked, quiet
from tests.fitting import refused_by_axe

TEXTS = {"title": {"en": "How long each position is thought about", "zh": "每个位置思考多久"}, "step": {"en": "step", "zh": "步"}}
POSITION = {"en": "position", "zh": "位置"}
INPUT = {"en": "input", "zh": "输入"}
HOSTILE = '<img src=x onerror="alert(1)">&amp;'


def run(halting: Sequence[Sequence[float]], threshold: float = 0.99, limit: int = 8, **more: Any) -> dict[str, object]:
    """The value of a run. halting: per position what its halting unit gives after each step, as many as it takes."""
    count, most = len(halting), max(map(len, halting))
    h, p, totals, distance = (np.zeros((most, count), np.float32) for _ in range(4))
    rest = np.zeros(count, np.float32)
    for i, each in enumerate(halting):
        rest[i] = 1 - sum(each[:-1])
        h[: len(each), i] = each
        p[: len(each), i] = [*each[:-1], rest[i]]
        totals[:, i] = np.minimum(1, np.cumsum(h[:, i]))
        totals[len(each) - 1 :, i] = 1
        distance[: len(each) - 1, i] = [1.8 * 0.6**n for n in range(len(each) - 1)]
    seen: dict[str, Any] = {"remainder": rest, "halting": h, "weights": p, "totals": totals, "distance": distance, "limit": limit}
    seen |= {"steps": np.array([len(each) for each in halting]), "threshold": threshold, "wanted": ()}
    seen |= {name: more.pop(name) for name in ("wanted", "stopped", "answer", "expected") if name in more}
    return figures.value(
        SimpleNamespace(**seen), **{"state": "stored", "query": "v=1", "axis": POSITION, "say": lambda answer: answer, **more}
    )


SUM = [
    [0.14, 0.21, 0.9],
    [0.15, 0.19, 0.24, 0.17, 0.58],
    [0.06, 0.12, 0.18, 0.09, 0.23, 0.55],
    [0.18, 0.93],
    [0.14, 0.65, 0.6],
    [0.19, 0.07, 0.2, 0.33, 0.41],
    [0.05, 0.06, 0.27, 0.19, 0.15, 0.47],
    [0.995],
    [0.1, 0.1, 0.1, 0.1, 0.1, 0.1],
    [0.3, 0.5, 0.6],
    [0.2, 0.4, 0.5],
]
STORY = [
    "john put the key in the box",
    "sandra put the letter in the suitcase",
    "mary took the box",
    "daniel went to the school",
    "mary went to the garden",
    "where is the key",
]


def addition(**more: Any) -> dict[str, object]:
    """A sum of which the ninth position comes to the limit."""
    said = ("7?1", "753", "853", "853", "863", "863")
    return run(SUM, limit=6, positions=[*"274+589=", "_", "_", "_"], wanted=(8, 9, 10), stopped=said, answer="863", expected="863", **more)


def story(**more: Any) -> dict[str, object]:
    """A story of which three facts are needed."""
    halting = [[0.2, 0.3, 0.6], [0.4, 0.8], [0.1, 0.3, 0.3, 0.5], [0.7, 0.5], [0.2, 0.25, 0.3, 0.4], [0.05, 0.1, 0.3, 0.3, 0.4]]
    said = ("office", "garden", "garden", "garden", "garden")
    told: dict[str, Any] = {"answer": "garden", "expected": "garden", **more}
    return run(halting, positions=STORY, wanted=(5,), marks=(0, 2, 4), stopped=said, **told)


def parity(steps: int = 9, **more: Any) -> dict[str, object]:
    """One input alone."""
    odd, even = {"en": "odd", "zh": "奇数"}, {"en": "even", "zh": "偶数"}
    each = [0.03 + 0.02 * n for n in range(steps - 1)] + [0.9]
    said = [odd if n % 3 == 0 or n == steps - 1 else even for n in range(steps)]
    return run([each], limit=20, positions=["1011001"], wanted=(0,), stopped=said, answer=odd, expected=odd, **{"axis": INPUT, **more})


def word(letters: int = 40) -> dict[str, object]:
    """A long word to reverse: a column for each of many letters."""
    random = np.random.default_rng(5)
    text = "".join(chr(97 + int(c)) for c in random.integers(0, 26, letters))
    halting = [[*random.uniform(0.05, 0.2, int(n)), 0.9] for n in random.integers(1, 6, 2 * letters + 1)]
    most = max(map(len, halting))
    said = [text[::-1][:n] + "x" * (letters - n) for n in np.linspace(letters // 3, letters, most).astype(int)]
    places = range(letters + 1, 2 * letters + 1)
    return run(halting, positions=[*text, "=", *"_" * letters], wanted=tuple(places), stopped=said, answer=said[-1], expected=text[::-1])


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        values: dict[str, Callable[[], dict[str, object]]] = {
            "addition": addition,
            "story": story,
            "parity": parity,
            "word": word,
            "forced": lambda: run([[0.1, 0.2, 0.3]] * 4, positions=[*"1+1="], forced=3, stopped=["9"] * 3, answer="9", expected="2"),
            "hasty": lambda: run([[0.14], [0.05, 0.3]], threshold=0.1, positions=[*"ab"], stopped=["a", "b"], answer="b", expected="b"),
            "hostile": lambda: run([[0.4, 0.7], [0.995]], positions=[HOSTILE, "b"], stopped=[HOSTILE, "b"], answer="b", expected="b"),
        }
        made = values[slug]()
        if slug == "forced":
            made["remainder"] = pack(np.ones(4, np.float32), unit=False)
            made["weights"] = pack(np.array([[0.0] * 4, [0.0] * 4, [1.0] * 4], np.float32), unit=False)
        place = stage("ponder", made, texts=TEXTS)
        gr.Button("Other", elem_id="other").click(lambda: story(query="v=2", state="live"), None, place, api_visibility="private")
        gr.Button("Nothing", elem_id="nothing").click(lambda: None, None, place, api_visibility="private")

    return page


PAGES = {slug: page_of(slug) for slug in ("addition", "story", "parity", "word", "forced", "hasty", "hostile")}


def opened(page: Page, site: str, slug: str = "addition", query: str = "lang=en") -> Page:
    """The page once its figure stands."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-ponder[data-drawn]", state="attached")
    page.wait_for_selector(".tfe-shell-bar")  # whose keys act on the view too
    return page


def column(page: Page, p: int) -> tuple[float, float]:
    """Where a position's label stands on the screen."""
    box = page.locator(".tfe-ponder canvas").bounding_box()
    assert box
    return box["x"] + max(one["x"] for one in Picture(page, "ponder").marks("text") if one["whole"] == str(p)), box["y"] + 100


def lines(page: Page) -> list[str]:
    """The sum that halts, line by line."""
    return page.locator(".tfe-ponder-lines p").all_inner_texts()


def test_the_position_of_the_answer_that_thinks_longest_is_locked_on_arrival(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site)
    Picture(page, "ponder").drawn("pos=8 step=6")
    words = page.locator(".tfe-ponder .tfe-words")
    expect(words).to_contain_text("Position “8” (8) was updated 6 times, up to the limit M = 6")
    expect(words).to_contain_text("reached only 0.60, and the last step takes the remainder 0.50. The answer is 863, which is right.")
    assert looked(page) == {}


def test_the_sum_is_worked_out_as_in_the_equations_as_its_steps_are_scrubbed(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site)
    assert lines(page)[0] == "N = M = 6, Σ h = 0.60 < 0.99: the limit M stops it"
    rows, board = page.locator(".tfe-ponder-sums tbody tr"), page.locator(".tfe-stage-board")
    page.mouse.click(*column(page, 1))
    Picture(page, "ponder").drawn("pos=1 step=6")
    assert rows.nth(3).inner_text().split() == ["4", "0.17", "0.75", "0.17"]
    assert rows.nth(4).inner_text().split() == ["5", "0.58", "1.33", "R", "=", "0.25"]
    assert lines(page) == [
        "N = min { n : Σ h ≥ 0.99 } = 5",
        "R = 1 − (0.15 + 0.19 + 0.24 + 0.17) = 0.25",
        "output = 0.15 s1 + 0.19 s2 + 0.24 s3 + 0.17 s4 + 0.25 s5",
        "N + R = 5.25 ponder cost",
    ]
    board.press("Home")
    board.press("ArrowRight")
    Picture(page, "ponder").drawn("pos=1 step=2")
    assert rows.nth(1).inner_text().split() == ["2", "0.19", "0.34", "0.19"]
    assert rows.nth(2).inner_text().split() == ["3", "·", "·", "·"]
    assert lines(page) == ["Σ h = 0.34 < 0.99: it goes on"]
    words = page.locator(".tfe-ponder .tfe-words")
    expect(words).to_contain_text("added up 0.34 after step 2, less than 0.99, and goes on; 2 of 11 have stopped.")
    board.press("Escape")
    low = page.locator(".tfe-ponder canvas").bounding_box()
    page.locator(".tfe-stage-choices .tfe-chip").click()
    Picture(page, "ponder").drawn("pos=8 step=6 far")
    high = page.locator(".tfe-ponder canvas").bounding_box()
    assert low and high and high["height"] > low["height"] + 60
    assert looked(page) == {"_far": "1"}
    assert any("distance to the last state, 0 … 1.80" in text for text in Picture(page, "ponder").texts())


def test_scrubbing_tells_what_the_answer_would_be_and_which_signs_are_wrong(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    opened(page, site)
    quiet(page, faults)
    before = len(faults.requests)
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("PageUp")
    Picture(page, "ponder").drawn("pos=8 step=4")
    here = page.locator(".tfe-ponder-chip[aria-current]")
    expect(here).to_contain_text("after 4")
    expect(here).to_contain_text("✗ 1 of 3 wrong")
    assert here.locator(".off").all_inner_texts() == ["5"]
    expect(page.locator(".tfe-stage-count")).to_have_text("step 4 of 6")
    expect(page.locator(".tfe-ponder .tfe-words")).to_contain_text("If all stopped now, the answer would be 853; right is 863.")
    assert looked(page) == {"_step": "4"}
    page.keyboard.press("PageDown")
    Picture(page, "ponder").drawn("pos=8 step=5")
    page.locator(".tfe-ponder-chip").first.click()
    Picture(page, "ponder").drawn("pos=8 step=1")
    page.locator(".tfe-stage-transport .tfe-range").fill("3")
    Picture(page, "ponder").drawn("pos=8 step=3")
    assert len(faults.requests) == before, "scrubbing asks for nothing"


def test_a_click_locks_a_position_and_pointing_only_previews(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site)
    x, y = column(page, 9)
    page.mouse.move(x, y)
    expect(page.locator(".tfe-ponder-sumhead")).to_contain_text("“_” (9)")
    card = page.locator(".tfe-ponder > .tfe-hover")
    expect(card).to_contain_text("3 steps, at most 6 · Σh ≥ 1 − ε")
    expect(card).to_contain_text("R = 0.20, ponder cost 3.20")
    expect(page.locator(".tfe-ponder .tfe-words")).to_contain_text("“8” (8)")
    page.mouse.move(2, 2)
    expect(page.locator(".tfe-ponder-sumhead")).to_contain_text("“_” (8)")
    expect(card).to_be_hidden()
    page.mouse.click(x, y)
    Picture(page, "ponder").drawn("pos=9 step=6")
    assert looked(page) == {"_pos": "9"}


def test_keys_change_position_and_step_and_reset_only_where_the_focus_is(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site)
    page.keyboard.press("ArrowLeft")
    Picture(page, "ponder").drawn("pos=8 step=6")
    page.locator(".tfe-stage-board").focus()
    for key, there in (
        ("ArrowUp", "7 6"),
        ("ArrowDown", "8 6"),
        ("Home", "8 1"),
        ("ArrowRight", "8 2"),
        ("End", "8 6"),
        ("ArrowRight", "8 6"),
    ):
        page.keyboard.press(key)
        Picture(page, "ponder").drawn("pos={} step={}".format(*there.split()))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    Picture(page, "ponder").drawn("pos=7 step=5")
    page.keyboard.press("Escape")
    Picture(page, "ponder").drawn("pos=8 step=6")
    assert looked(page) == {}


def test_space_plays_step_by_step_to_the_end_and_begins_anew_there(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, query="lang=en&_step=5")
    page.locator(".tfe-stage-board").focus()
    play = page.locator(".tfe-stage-step.is-play")
    # What passes by while it plays is written down by the page itself: a test may look too late.
    page.evaluate(
        """() => {
            window.passed = [];
            const root = document.querySelector(".tfe-ponder"), play = root.querySelector(".is-play");
            const note = () => window.passed.push([root.dataset.drawn, play.getAttribute("aria-label")].join(", "));
            for (const node of [root, play]) new MutationObserver(note).observe(node, { attributes: true });
        }"""
    )
    page.keyboard.press(" ")
    Picture(page, "ponder").drawn("pos=8 step=6")
    expect(play).to_have_attribute("aria-label", "Play")
    assert "pos=8 step=5, Pause" in page.evaluate("window.passed")
    page.keyboard.press(" ")
    page.wait_for_function("window.passed.includes('pos=8 step=1, Pause') && window.passed.includes('pos=8 step=2, Pause')")
    page.keyboard.press(" ")
    expect(play).to_have_attribute("aria-label", "Play")


def test_sentences_stand_in_rows_with_the_facts_that_the_answer_needs(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, "story")
    Picture(page, "ponder").drawn("pos=5 step=5")
    assert any(text.startswith("sandra put the letter in the suitcase") for text in Picture(page, "ponder").texts())
    expect(page.locator(".tfe-stage-legend")).to_contain_text("the answer needs it")
    rings = len([one for one in Picture(page, "ponder").marks("rect") if one.get("line") == "key"])
    assert rings == 3
    box = page.locator(".tfe-ponder canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 40, box["y"] + 66)
    expect(page.locator(".tfe-ponder > .tfe-hover")).to_contain_text("the answer needs it")


def test_a_single_input_lies_on_its_side_and_says_what_it_is_called(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, "parity")
    Picture(page, "ponder").drawn("pos=0 step=9")
    expect(page.locator(".tfe-ponder .tfe-words")).to_contain_text("Input “1011001” was updated 9 times")
    assert page.locator(".tfe-ponder-chip").count() == 9
    terms = lines(page)[1]
    assert terms == "R = 1 − (0.03 + 0.05 + 0.07 + … + 0.17) = 0.20"


def test_a_forced_run_says_that_the_halting_unit_was_not_asked(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, "forced")
    expect(page.locator(".tfe-ponder .tfe-units").first).to_have_text("every position takes 3 steps, whatever its halting unit says")
    assert lines(page) == ["N = 3, told to take 3: its halting unit is not asked", "output = s3", "N + R = 4.00 ponder cost"]
    expect(page.locator(".tfe-ponder .tfe-words")).to_contain_text("was updated 3 times because it was told to")


def test_a_low_threshold_stops_early_and_leaves_the_rest_to_the_remainder(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, "hasty", "lang=en&_pos=1")
    assert lines(page)[:2] == ["N = min { n : Σ h ≥ 0.1 } = 2", "R = 1 − 0.05 = 0.95"]
    expect(page.locator(".tfe-ponder-sumhead")).to_contain_text("ε = 0.9")
    assert {"1 − ε", "R 0.95"} <= set(Picture(page, "ponder").texts())


def test_another_run_lets_go_of_the_lock_and_none_says_so(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, query="lang=en&_pos=1&_step=3")
    Picture(page, "ponder").drawn("pos=1 step=3")
    page.click("#other")
    Picture(page, "ponder").drawn("pos=5 step=5")
    assert looked(page) == {}
    page.click("#nothing")
    expect(page.locator(".tfe-ponder .tfe-empty")).to_have_text("Nothing has been run yet.")
    expect(page.locator(".tfe-stage-board")).to_be_hidden()


def test_hostile_positions_and_answers_stay_text(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, "hostile", "lang=en&_pos=0&_step=1")
    page.locator(".tfe-ponder summary").click()
    page.locator(".tfe-ponder .tfe-export[data-kind=table]").click()
    assert page.locator(".tfe-ponder img").count() == 0
    expect(page.locator(".tfe-ponder .tfe-words")).to_contain_text(HOSTILE)
    assert any(text.startswith(HOSTILE) for text in Picture(page, "ponder").texts())
    expect(page.locator(".tfe-ponder-chip .answer").first).to_have_text(HOSTILE)
    name, content = Picture(page, "ponder").saved("HTML")
    assert name.endswith(".html") and b"<img" not in content


def test_what_is_taken_along_opens_elsewhere_and_holds_the_numbers(site: str, page_watch: Page, tmp_path: Path) -> None:
    page = opened(page_watch, site, query="lang=en&_pos=1&_step=4")
    name, content = Picture(page, "ponder").saved("PNG")
    assert name == "addition-ponder-pos_1-step_4.png" and min(Image.open(io.BytesIO(content)).size) > 800
    _, content = Picture(page, "ponder").saved("SVG")
    assert b"<svg" in content and b"has added up 0.75" in content
    _, content = Picture(page, "ponder").saved("CSV")
    table = content.decode("utf-8-sig").splitlines()
    assert table[0].startswith("position,index,n,hₙ,Σh,pₙ") and len(table) == 1 + sum(map(len, SUM))
    assert "7,1,5,0.58,1.33,0.25,0,5,0.25,Σh ≥ 1 − ε" in table
    _, content = Picture(page, "ponder").saved("NPZ")
    with np.load(io.BytesIO(content)) as files:
        assert files["steps"].tolist() == [len(each) for each in SUM]
        np.testing.assert_allclose(files["halting"][:5, 1], SUM[1], atol=1e-6)
        np.testing.assert_allclose(files["weights"].sum(0), 1, atol=1e-5)
    _, content = Picture(page, "ponder").saved("HTML")
    (tmp_path / "page.html").write_bytes(content)
    page.unroute_all()
    other = page.context.new_page()
    broken: list[str] = []
    other.on("pageerror", lambda error: broken.append(str(error)))
    other.goto((tmp_path / "page.html").as_uri())
    other.wait_for_selector(".tfe-ponder[data-drawn='pos=1 step=4']")
    expect(other.locator(".tfe-words")).to_contain_text("has added up 0.75 after step 4")
    other.locator(".tfe-stage-board").focus()
    other.keyboard.press("ArrowLeft")
    other.keyboard.press("ArrowLeft")
    expect(other.locator(".tfe-words")).to_contain_text("has added up 0.34 after step 2")
    other.mouse.move(*column(other, 9))
    expect(other.locator(".tfe-hover")).to_contain_text("R = 0.20, ponder cost 3.20")
    other.mouse.click(*column(other, 9))
    other.wait_for_selector(".tfe-ponder[data-drawn='pos=9 step=2']")
    assert not broken, broken


def test_a_tap_previews_before_it_locks(site: str, new_page: NEW) -> None:
    page, _ = new_page(360, 780, has_touch=True)
    opened(page, site)
    at = column(page, 9)
    page.touchscreen.tap(*at)
    expect(page.locator(".tfe-ponder > .tfe-hover")).to_contain_text("tap again: lock it")
    Picture(page, "ponder").drawn("pos=8 step=6")
    page.touchscreen.tap(*at)
    Picture(page, "ponder").drawn("pos=9 step=6")


def test_a_table_that_is_opened_can_be_read_by_everybody(new_page: NEW, site: str) -> None:
    """The stage makes the tables of all pictures."""
    page, _ = new_page(color_scheme="dark")
    opened(page, site, "parity", "lang=en&_step=3")
    page.locator(".tfe-ponder summary").click()
    page.locator(".tfe-ponder .tfe-export[data-kind=table]").click()
    assert refused_by_axe(page, ".tfe-ponder") == []
