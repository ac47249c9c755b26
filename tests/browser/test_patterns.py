"""The patterns widget in a real browser: what it computes is held against models/layers/patterns.py."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.widgets.base import asset
from explorer.widgets.patterns import patterns
from models.layers.patterns import KINDS, USES, Pattern, connectivity, reach
from tests.bench import Bench
from tests.browser.waiting import addressed, becomes

NEW = Callable[..., tuple[Page, Any]]
TRAINED = {"side": 28, "stride": 28, "summary": 4}
# Strides that divide and that do not, every column a summary, one column, strides as long as everything and longer.
SIZES = ((36, 6, 2), (40, 7, 3), (25, 5, 5), (30, 1, 1), (24, 24, 4), (20, 33, 8), (49, 10, 1))


def page_of(lab: Lab, engine: object) -> None:
    """The widget alone."""
    patterns(trained=TRAINED)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2019)


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The page once all paths are searched."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-patterns[data-drawn$=proved]", state="attached")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until "strided 12 12 3 102 27 merged" stands there: pattern, side, l, c, position, start of the path, use."""
    expect(page.locator(".tfe-patterns")).to_have_attribute("data-drawn", f"{what} proved")


def point(page: Page, kind: str, board: str, row: float, column: float, count: int) -> tuple[float, float]:
    """Where the middle of a cell is on the screen; the board has `count` rows."""
    place = page.locator(f"[data-kind={kind}] [data-board={board}]")
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box is not None
    side = box["width"] - 33  # beside the labels
    return box["x"] + 30 + (column + 0.5) * side / count, box["y"] + 20 + (row + 0.5) * side / count


def click(page: Page, at: tuple[float, float], *, shift: bool = False) -> None:
    """Clicks there."""
    if shift:
        page.keyboard.down("Shift")
    page.mouse.click(*at)
    page.mouse.move(2, 2)
    if shift:
        page.keyboard.up("Shift")


def tally(pattern: Pattern, length: int) -> list[int]:
    """How many pairs j ≤ i are joined in 0, 1, 2 … steps."""
    return [int(n) for n in np.bincount(np.concatenate([reach(pattern, i)[0] for i in range(length)]))]


def known(pattern: Pattern, use: str, length: int) -> list[int]:
    """Of how many positions the last of them knows after 1, 2 and 3 layers of 4 heads, by products of matrices."""
    passed = np.eye(length, dtype=bool)
    counts = []
    for layer in range(3):
        sees = np.eye(length, dtype=bool)
        for _, factor in pattern.of_heads(use, layer, 4):
            sees |= factor.allowed(length)
        passed = sees @ passed
        counts.append(int(passed[-1].sum()))
    return counts


def saved(page: Page, kind: str) -> bytes:
    """What the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-patterns .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def test_the_browser_computes_the_patterns_of_the_models(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = page.evaluate(
        """async ([address, sizes, kinds, uses]) => {
            const math = await import(address);
            return sizes.map(([length, l, c]) => Object.fromEntries(kinds.map((kind) => {
                const pattern = { kind, l, c };
                const { found, turns } = math.search(pattern, length);
                for (const _ of turns);
                const reached = Array.from({ length }, (_, i) => math.reach(pattern, i));
                return [kind, {
                    matrix: Array.from(math.connectivity(pattern, length)),
                    counts: Array.from({ length }, (_, i) => math.count(pattern, i)),
                    keys: Array.from({ length }, (_, i) => math.keysOf(pattern, "union", i)),
                    counted: math.counted(pattern, length),
                    steps: reached.map(({ steps }) => Array.from(steps)),
                    via: reached.map(({ via }) => Array.from(via)),
                    tally: found.tally, missing: found.missing,
                    known: uses.map((use) => math.known(pattern, use, length - 1, 3, 4)),
                    heads: uses.flatMap((use) => [0, 1].map((layer) => math.ofHeads(pattern, use, layer, 5))),
                }];
            })));
        }""",
        [asset("lib/patternmath.js"), SIZES, KINDS, USES],
    )
    for (length, stride, summary), kinds in zip(SIZES, found, strict=True):
        for kind, said in kinds.items():
            pattern = Pattern(kind, stride, summary)
            counts = pattern.union.counts(length)
            assert said["matrix"] == connectivity(pattern, length).ravel().tolist(), (kind, length, stride, summary)
            assert said["counts"] == counts.tolist() and said["keys"] == [pattern.union.keys(i).tolist() for i in range(length)]
            assert said["counted"] == {"pairs": counts.sum(), "busiest": counts.max(), "at": counts.argmax()}
            for i in range(length):
                steps, via = reach(pattern, i)
                assert said["steps"][i] == steps.tolist() and said["via"][i] == via.tolist(), (kind, length, stride, summary, i)
            wanted = tally(pattern, length)
            assert said["tally"] == wanted + [0] * (3 - len(wanted)) and said["missing"] == 0
            names = (
                {pattern.union: "union", pattern.second: "second", pattern.first: "first"} if kind != "full" else {pattern.union: "union"}
            )
            heads = [[[n, names[factor]] for n, factor in pattern.of_heads(use, layer, 5)] for use in USES for layer in (0, 1)]
            assert said["heads"] == heads
            assert said["known"] == [known(pattern, use, length) for use in USES]


def test_the_matrix_on_the_canvas_is_the_connectivity_and_the_search_is_told(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_patternside=6&_patternstride=7&_patternsummary=2&_pattern=fixed")
    for kind in KINDS:
        colours = page.evaluate(
            """([kind, length]) => {
                const canvas = document.querySelector(`[data-kind=${kind}] canvas`);
                const cell = canvas.width / length;
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.width);
                const at = (i, j, y, x) => {
                    const n = 4 * (Math.floor((i + y) * cell) * canvas.width + Math.floor((j + x) * cell));
                    return "#" + [...data.subarray(n, n + 3)].map((v) => v.toString(16).padStart(2, "0")).join("");
                };
                const both = (i, j) => [0.7, 0.3].map((y) => at(i, j, y, 1 - y));
                return Array.from({ length: length * length }, (_, n) => both(Math.floor(n / length), n % length));
            }""",
            [kind, 36],
        )
        first, second, own, later = "#0a63a8", "#a170eb", "#b5400a", "#e9edf3"
        codes = connectivity(Pattern(kind, 7, 2), 36)
        for (i, j), found in zip(np.ndindex(36, 36), colours, strict=True):
            code = 1 if kind == "full" and codes[i, j] else codes[i, j]
            two = found if code == 0 and found[0] not in {first, second, own, later} else None
            wanted = (
                [later] * 2 if j > i else [own] * 2 if i == j else {0: two, 1: [first] * 2, 2: [second] * 2, 3: [first, second]}[int(code)]
            )
            assert found == wanted, (kind, i, j)
    own_, one, two_ = tally(Pattern("fixed", 7, 2), 36)
    proof = page.locator(".tfe-patterns-foot .tfe-words").first
    expect(proof).to_have_text(
        "Fixed: every one of the 666 pairs j ≤ i is joined in at most 2 steps; "
        f"{one} in one, {two_} in two, {own_} are the position itself."
    )
    pairs = int(Pattern("fixed", 7, 2).union.counts(36).sum())
    column = page.locator("[data-kind=fixed] .tfe-patterns-stats")
    expect(column).to_contain_text(f"{pairs} pairs")
    expect(column).to_contain_text(f"{100 * pairs / 1296:.2f} % of L² = 1,296")
    expect(column).to_contain_text(f"{100 * pairs / 666:.2f} % of L (L + 1) / 2 = 666")


def test_pointing_draws_a_path_and_clicks_lock_its_ends(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    words = page.locator(".tfe-patterns-figure > .tfe-words")
    drawn(page, "strided 12 12 3 102 27 merged")
    page.mouse.move(*point(page, "fixed", "grid", 4, 1, 12))
    drawn(page, "fixed 12 12 3 102 49 merged")
    via = int(reach(Pattern("fixed", 12, 3), 102)[1][49])
    expect(words).to_contain_text(f"What stands at 49 (row 4, column 1) comes to it over {via} (row 4, column 11), in 2 steps.")
    expect(page.locator(".tfe-patterns .tfe-hover")).to_have_text(f"49 → {via} → 102: 2 steps")
    expect(page.locator("[data-kind=fixed] .arrow")).to_have_count(2)
    expect(page.locator("[data-kind=fixed] .hop")).to_have_count(2)
    expect(page.locator("[data-kind=full] .arrow")).to_have_count(1)
    page.mouse.move(2, 2)
    drawn(page, "strided 12 12 3 102 27 merged")
    click(page, point(page, "strided", "grid", 4, 1, 12), shift=True)
    addressed(page, _patternpos="102", _patternto="49")
    click(page, point(page, "strided", "grid", 10, 5, 12))
    drawn(page, "strided 12 12 3 125 49 merged")
    steps = reach(Pattern("strided", 12, 3), 125)[0]
    expect(words).to_contain_text(
        f"attends to {int((connectivity(Pattern('strided', 12, 3), 126)[125] > 0).sum())} of the 126 positions up to itself"
    )
    expect(words).to_contain_text(f"{int((steps == 2).sum())} more are two steps away")
    click(page, point(page, "fixed", "matrix", 70, 33, 144))
    drawn(page, "fixed 12 12 3 70 33 merged")
    expect(words).to_contain_text("Position 33 (row 2, column 9) is joined to it directly.")
    addressed(page, _pattern="fixed", _patternpos="70", _patternto="33")


def test_keys_sliders_and_the_sizes_of_the_models(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.keyboard.press("ArrowRight")
    page.locator(".tfe-patterns-board").focus()
    drawn(page, "strided 12 12 3 102 27 merged")
    for key, stands in (("ArrowRight", "103 27"), ("Shift+ArrowLeft", "103 26"), ("ArrowLeft", "102 26")):
        page.keyboard.press(key)
        drawn(page, f"strided 12 12 3 {stands} merged")
    page.keyboard.press("ArrowDown")
    drawn(page, "fixed 12 12 3 102 26 merged")
    page.keyboard.press("Escape")
    drawn(page, "strided 12 12 3 102 27 merged")
    page.locator("#tfe-patterns-stride").focus()
    page.keyboard.press("ArrowRight")
    drawn(page, "strided 12 13 3 102 27 merged")
    addressed(page, _patternstride="13", _patternpos=None)
    knows = page.locator(".tfe-patterns-foot .tfe-words").nth(1)
    page.locator(".tfe-patterns-foot [data-key=interleaved]").click()
    drawn(page, "strided 12 13 3 102 27 interleaved")
    expect(page.locator(".tfe-patterns-foot .use.second")).to_have_count(8)
    expect(knows).to_have_text("One factor a layer, in turn: after 2 layers position 102 knows of all 103.")
    page.locator(".tfe-patterns [data-key=trained]").click()
    drawn(page, "strided 28 28 4 547 176 interleaved")
    own = 784
    one = int(Pattern("strided", 28, 4).union.counts(784).sum()) - own
    two = 784 * 785 // 2 - one - own  # all the others: of smaller pictures this was searched here too
    expect(page.locator(".tfe-patterns-foot .tfe-words").first).to_have_text(
        "Strided: every one of the 307,720 pairs j ≤ i is joined in at most 2 steps; "
        f"{one:,} in one, {two:,} in two, {own} are the position itself."
    )
    expect(page.locator("[data-kind=strided] .tfe-patterns-caption")).to_contain_text("784 × 784 · pooled")
    page.locator(".tfe-patterns [data-key=small]").click()
    drawn(page, "strided 12 12 3 102 27 interleaved")


def test_the_matrices_and_the_picture_are_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_patternside=9&_patternstride=10&_patternsummary=2")
    arrays = np.load(io.BytesIO(saved(page, "NPZ")))
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV").decode("utf-8-sig"))))
    assert len(rows) == 81 * 82 // 2 and arrays["side_stride_summary"].tolist() == [9, 10, 2]
    for kind in KINDS:
        pattern = Pattern(kind, 10, 2)
        np.testing.assert_array_equal(arrays[f"connectivity_{kind}"], connectivity(pattern, 81))
        for i in (0, 40, 80):
            np.testing.assert_array_equal(arrays[f"steps_{kind}"][i, : i + 1], reach(pattern, i)[0])
        assert sum(row[kind] != "0" for row in rows) == pattern.union.counts(81).sum()
    for kind in ("SVG", "HTML"):
        text = saved(page, kind).decode()
        assert text.count('class="hop"') >= 3 and "var(--" not in text.split("<body>")[-1] and "NaN" not in text
    assert saved(page, "PNG").startswith(b"\x89PNG")
    page.locator(".tfe-patterns .tfe-export[data-kind=table]").click()
    cells = page.locator(".tfe-patterns-table tbody tr").nth(1).locator("th, td").all_inner_texts()
    assert cells[:5] == ["Strided", "10", "–", "81", f"{Pattern('strided', 10, 2).union.counts(81).sum():,}"]


def test_phones_dark_chinese_and_the_projector(site: str, new_page: NEW) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site, "lang=zh")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    expect(page.locator(".tfe-patterns-column:visible .tfe-patterns-name")).to_have_text("跨步")
    page.locator(".tfe-patterns [data-key=fixed]").click()
    expect(page.locator(".tfe-patterns-column:visible .tfe-patterns-name")).to_have_text("固定")
    expect(page.locator(".tfe-patterns-foot .tfe-words").first).to_contain_text("10,440")
    found = Axe().run(page, context=".tfe-patterns").response["violations"]
    assert not found, [violation["id"] for violation in found]
    small = page.evaluate(
        """() => [...document.querySelectorAll(".tfe-patterns :is(button:not(.tfe-export), input)")]
            .map((one) => one.getBoundingClientRect().height).filter((height) => height && height < 44)"""
    )
    assert small == []
    wide, _ = new_page()
    opened(wide, site)
    found = Axe().run(wide, context=".tfe-patterns").response["violations"]
    assert not found, [violation["id"] for violation in found]
    wide.locator(".tfe-patterns-board").focus()
    wide.keyboard.press("p")
    expect(wide.locator(".tfe-projector-title")).to_have_text("Which earlier positions does one position attend to?")
    expect(wide.locator(".tfe-patterns-knobs")).to_be_hidden()
    letters = """(within) => [...document.querySelectorAll(within + " text, " + within + " p")].filter((one) => one.getClientRects().length)
        .map((one) => parseFloat(getComputedStyle(one).fontSize)).filter((size) => size < 20).length"""
    becomes(wide, lambda: wide.evaluate(letters, ".tfe-patterns-figure"), 0)
    fits = "() => document.querySelector('.tfe-patterns-figure > .tfe-words').getBoundingClientRect().bottom <= innerHeight"
    wide.wait_for_function(fits)
    before = wide.locator(".tfe-patterns").get_attribute("data-drawn")
    wide.keyboard.press("ArrowRight")
    assert before is not None
    expect(wide.locator(".tfe-patterns")).to_have_attribute("data-drawn", re.sub(" 102 ", " 103 ", before))
