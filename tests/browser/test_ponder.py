"""The stage with the picture of pondering, in a real browser, with runs made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from explorer.figures import ponder as figures
from explorer.values.packing import pack_array
from tests.browser.staged import NEW, Picture, alone, opening
from tests.browser.waiting import looked, measure_box, note, noted, quiet
from tests.fitting import refused_by_axe

TEXTS = {
    "title": {"en": "How long each position is thought about", "zh": "每个位置思考多久"},
    "step": {"en": "step", "zh": "步"},
}
POSITION = {"en": "position", "zh": "位置"}
INPUT = {"en": "input", "zh": "输入"}
HOSTILE = '<img src=x onerror="alert(1)">&amp;'


def run(
    halting: Sequence[Sequence[float]], threshold: float = 0.99, limit: int = 8, **more: Any
) -> dict[str, object]:
    """The value of a run. halting: per position what its halting unit gives after each step, as
    many as it takes."""
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
    seen: dict[str, Any] = {
        "remainder": rest,
        "halting": h,
        "weights": p,
        "totals": totals,
        "distance": distance,
        "limit": limit,
    }
    seen |= {
        "steps": np.array([len(each) for each in halting]),
        "threshold": threshold,
        "wanted": (),
    }
    seen |= {
        name: more.pop(name) for name in ("wanted", "stopped", "answer", "expected") if name in more
    }
    return figures.draw_ponder(
        SimpleNamespace(**seen),
        **{
            "state": "stored",
            "query": "v=1",
            "axis": POSITION,
            "say": lambda answer: answer,
            **more,
        },
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
    return run(
        SUM,
        limit=6,
        positions=[*"274+589=", "_", "_", "_"],
        wanted=(8, 9, 10),
        stopped=said,
        answer="863",
        expected="863",
        **more,
    )


def story(**more: Any) -> dict[str, object]:
    """A story of which three facts are needed."""
    halting = [
        [0.2, 0.3, 0.6],
        [0.4, 0.8],
        [0.1, 0.3, 0.3, 0.5],
        [0.7, 0.5],
        [0.2, 0.25, 0.3, 0.4],
        [0.05, 0.1, 0.3, 0.3, 0.4],
    ]
    said = ("office", "garden", "garden", "garden", "garden")
    told: dict[str, Any] = {"answer": "garden", "expected": "garden", **more}
    return run(halting, positions=STORY, wanted=(5,), marks=(0, 2, 4), stopped=said, **told)


def parity(steps: int = 9, **more: Any) -> dict[str, object]:
    """One input alone."""
    odd, even = {"en": "odd", "zh": "奇数"}, {"en": "even", "zh": "偶数"}
    each = [0.03 + 0.02 * n for n in range(steps - 1)] + [0.9]
    said = [odd if n % 3 == 0 or n == steps - 1 else even for n in range(steps)]
    return run(
        [each],
        limit=20,
        positions=["1011001"],
        wanted=(0,),
        stopped=said,
        answer=odd,
        expected=odd,
        **{"axis": INPUT, **more},
    )


def forced() -> dict[str, object]:
    """Every position takes three steps."""
    made = run(
        [[0.1, 0.2, 0.3]] * 4,
        positions=[*"1+1="],
        forced=3,
        stopped=["9"] * 3,
        answer="9",
        expected="2",
    )
    weights = np.array([[0.0] * 4, [0.0] * 4, [1.0] * 4], np.float32)
    return {
        **made,
        "remainder": pack_array(np.ones(4, np.float32), unit=False),
        "weights": pack_array(weights, unit=False),
    }


VALUES: dict[str, Callable[[], dict[str, object]]] = {
    "addition": addition,
    "story": story,
    "parity": parity,
    "forced": forced,
    "hasty": lambda: run(
        [[0.14], [0.05, 0.3]],
        threshold=0.1,
        positions=[*"ab"],
        stopped=["a", "b"],
        answer="b",
        expected="b",
    ),
    "hostile": lambda: run(
        [[0.4, 0.7], [0.995]],
        positions=[HOSTILE, "b"],
        stopped=[HOSTILE, "b"],
        answer="b",
        expected="b",
    ),
}
OTHERS: dict[str, Any] = {
    "other": lambda: story(query="v=2", state="live"),
    "nothing": lambda: None,
}
PAGES = {slug: alone("ponder", made, TEXTS, **OTHERS) for slug, made in VALUES.items()}
opened = opening("ponder", "addition")


def lines(picture: Picture) -> list[str]:
    """The sum that halts, line by line."""
    return list(picture.find(".tfe-ponder-lines p").all_inner_texts())


def test_the_sum_follows_the_equations(site: str, page_watch: Page) -> None:
    page, picture = page_watch, opened(page_watch, site)
    picture.drawn("pos=8 step=6")  # the position of the answer that thinks longest
    picture.says("Position “8” (8) took 6 steps, up to the limit M = 6")
    picture.says(
        "reached only 0.60, and the last step takes the remainder 0.50. The answer is 863, which is"
        " right."
    )
    assert lines(picture)[0] == "N = M = 6, Σ h = 0.60 < 0.99: the limit M stops it"
    rows = picture.find(".tfe-ponder-sums tbody tr")
    picture.click(picture.point(pos=1))
    picture.drawn("pos=1 step=6")
    assert rows.nth(3).inner_text().split() == ["4", "0.17", "0.75", "0.17"]
    assert rows.nth(4).inner_text().split() == ["5", "0.58", "1.33", "R", "=", "0.25"]
    assert lines(picture) == [
        "N = min { n : Σ h ≥ 0.99 } = 5",
        "R = 1 − (0.15 + 0.19 + 0.24 + 0.17) = 0.25",
        "output = 0.15 s1 + 0.19 s2 + 0.24 s3 + 0.17 s4 + 0.25 s5",
        "N + R = 5.25 ponder cost",
    ]
    picture.walks("pos=1 step={}", "Home 1, ArrowRight 2")
    assert rows.nth(1).inner_text().split() == ["2", "0.19", "0.34", "0.19"]
    assert rows.nth(2).inner_text().split() == ["3", "·", "·", "·"]
    assert lines(picture) == ["Σ h = 0.34 < 0.99: it goes on"]
    picture.says("added up 0.34 after step 2, less than 0.99, and goes on; 2 of 11 have stopped.")
    picture.press("Escape")
    low = measure_box(picture.find("canvas"))
    picture.find(".tfe-stage-choices .tfe-chip").click()
    picture.drawn("pos=8 step=6 far")
    high = measure_box(picture.find("canvas"))
    assert high["height"] > low["height"] + 60
    assert looked(page) == {"_far": "1"}
    assert any("distance to the last state, 0 … 1.80" in text for text in picture.texts())


def test_scrubbing_marks_wrong_signs(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    quiet(page, faults)
    before = len(faults.requests)
    picture.walks(
        "pos={} step={}",
        "ArrowUp 7 6, ArrowDown 8 6, Home 8 1, ArrowRight 8 2, End 8 6, ArrowRight 8 6, ArrowLeft 8"
        " 5, PageUp 8 4",
    )
    here = picture.find(".tfe-ponder-chip[aria-current]")
    expect(here).to_contain_text("after 4")
    expect(here).to_contain_text("✗ 1 of 3 wrong")
    assert here.locator(".off").all_inner_texts() == ["5"]
    expect(picture.find(".tfe-stage-count")).to_have_text("step 4 of 6")
    picture.says("If all stopped now, the answer would be 853; right is 863.")
    assert looked(page) == {"_pos": "8", "_step": "4"}
    picture.find(".tfe-ponder-chip").first.click()
    picture.drawn("pos=8 step=1")
    picture.find(".tfe-stage-transport .tfe-range").fill("3")
    picture.drawn("pos=8 step=3")
    assert len(faults.requests) == before, "scrubbing asks for nothing"


def test_another_run_unlocks_a_position(site: str, page_watch: Page) -> None:
    page, picture = page_watch, opened(page_watch, site)
    head, card = picture.find(".tfe-ponder-sumhead"), picture.find("> .tfe-hover")
    at = picture.point(pos=9)
    expect(head).to_contain_text("“_” (9)")
    for says in ("3 steps, at most 6 · Σh ≥ 1 − ε", "R = 0.20, ponder cost 3.20"):
        expect(card).to_contain_text(says)
    picture.says("“8” (8)")
    picture.click(at)
    picture.drawn("pos=9 step=6")
    page.click("#other")
    picture.drawn("pos=5 step=5")
    assert looked(page) == {}
    page.click("#nothing")
    expect(picture.find(".tfe-empty")).to_have_text("Nothing has been run yet.")
    expect(picture.find(".tfe-stage-board")).to_be_hidden()


def test_space_plays_to_the_end_and_restarts(site: str, page_watch: Page) -> None:
    page, picture = page_watch, opened(page_watch, site, "lang=en&_step=5")
    play = picture.find(".is-play")
    # What passes by while it plays is written down by the page itself: a test may look too late.
    root, button = (
        f"document.querySelector('.tfe-ponder{within}')" for within in ("", " .is-play")
    )
    note(page, f"{root}.dataset.drawn + ', ' + {button}.getAttribute('aria-label')")
    picture.press(" ")
    picture.drawn("pos=8 step=6")
    expect(play).to_have_attribute("aria-label", "Play")
    assert "pos=8 step=5, Pause" in noted(page)
    page.keyboard.press(" ")
    page.wait_for_function(
        "window.said.includes('pos=8 step=1, Pause') && window.said.includes('pos=8 step=2, Pause')"
    )
    page.keyboard.press(" ")
    expect(play).to_have_attribute("aria-label", "Play")


def test_special_runs_say_what_they_are(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site, slug="story")
    picture.drawn("pos=5 step=5")
    assert any(text.startswith("sandra put the letter in the suitcase") for text in picture.texts())
    expect(picture.find(".tfe-stage-legend")).to_contain_text("the answer needs it")
    (plot,) = picture.marks("plot")
    marked = [one for one in plot["layout"]["shapes"] if one["line"].get("color") == "var(--key)"]
    assert len(marked) == 3
    page_watch.mouse.move(*picture.spot({"left": 40, "top": 66}))
    expect(picture.find("> .tfe-hover")).to_contain_text("the answer needs it")

    opened(page_watch, site, slug="parity").drawn("pos=0 step=9")
    picture.says("Input “1011001” took 9 steps")
    assert picture.find(".tfe-ponder-chip").count() == 9
    assert lines(picture)[1] == "R = 1 − (0.03 + 0.05 + 0.07 + … + 0.17) = 0.20"

    opened(page_watch, site, slug="forced").says("was stopped by force after 3 steps")
    expect(picture.find(".tfe-units").first).to_have_text(
        "every position takes 3 steps, whatever its halting unit says"
    )
    assert lines(picture) == [
        "N = 3, forced to take 3: its halting unit is ignored",
        "output = s3",
        "N + R = 4.00 ponder cost",
    ]

    opened(page_watch, site, "lang=en&_pos=1", "hasty")
    assert lines(picture)[:2] == ["N = min { n : Σ h ≥ 0.1 } = 2", "R = 1 − 0.05 = 0.95"]
    expect(picture.find(".tfe-ponder-sumhead")).to_contain_text("ε = 0.9")
    assert {"1 − ε", "R 0.95"} <= set(picture.texts())

    picture = opened(page_watch, site, "lang=en&_pos=0&_step=1", "hostile")
    expect(picture.find(".tfe-ponder-chip .answer").first).to_have_text(HOSTILE)
    assert picture.find("img").count() == 0


def test_what_is_taken_along_holds_the_numbers(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site, "lang=en&_pos=1&_step=4")
    assert picture.saved("PNG")[0] == "addition-ponder-pos_1-step_4.png"
    table, files = picture.lines(), picture.arrays()
    assert table[0].startswith("position,index,n,hₙ,Σh,pₙ") and len(table) == 1 + sum(map(len, SUM))
    assert "7,1,5,0.58,1.33,0.25,0,5,0.25,Σh ≥ 1 − ε" in table
    np.testing.assert_allclose(files["halting"][:5, 1], SUM[1], atol=1e-6)
    np.testing.assert_allclose(files["weights"].sum(0), 1, atol=1e-5)


def test_a_tap_previews_before_it_locks(site: str, new_page: NEW) -> None:
    page, _ = new_page(360, 780, has_touch=True)
    picture = opened(page, site)
    at = picture.spot(picture.box(pos=9))
    page.touchscreen.tap(*at)
    expect(picture.find("> .tfe-hover")).to_contain_text("tap again: lock it")
    picture.drawn("pos=8 step=6")
    page.touchscreen.tap(*at)
    picture.drawn("pos=9 step=6")


def test_a_table_that_is_opened_can_be_read_by_everybody(new_page: NEW, site: str) -> None:
    """The stage makes the tables of all pictures."""
    page, _ = new_page(color_scheme="dark")
    picture = opened(page, site, "lang=en&_step=3", "parity")
    picture.find("summary").click()
    picture.find(".tfe-export[data-kind=table]").click()
    assert refused_by_axe(page, ".tfe-ponder") == []
