"""The pictures of the patterns in a real browser: what they compute is held against
models/layers/patterns.py."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from explorer.components import base
from explorer.contract.lab import OpenLab
from explorer.labs.sparse_transformer.lab import place_patterns
from models.layers.patterns import KINDS, USES, Pattern
from tests.browser.staged import Picture, bare
from tests.browser.waiting import addressed, becomes

# Strides that divide and that do not, every column a summary, one column, strides as long as
# everything and longer.
SIZES = ((36, 6, 2), (40, 7, 3), (25, 5, 5), (30, 1, 1), (24, 24, 4), (20, 33, 8), (49, 10, 1))


def connectivity(pattern: Pattern, length: int) -> NDArray[np.uint8]:
    """(query, key): 0 where there is no pair, 1 in A1 alone, 2 in A2 alone, 3 in both."""
    found: NDArray[np.uint8] = pattern.first_factor.build_mask(length) + np.uint8(
        2
    ) * pattern.second_factor.build_mask(length)
    return found


def reach(pattern: Pattern, position: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """How the positions 0 … `position` reach it: (steps, via), both (key,).

    steps: 0 for itself, 1 for what A1 ∪ A2 holds, 2 over one position between, … −1 where nothing
    leads to it. via: the position through which a key comes, the latest there is; itself where one
    step suffices.
    """
    steps, via = np.full(position + 1, -1, np.int16), np.arange(position + 1, dtype=np.int16)
    steps[position] = 0
    edge = [position]
    while edge:
        further = []
        for middle in sorted(edge, reverse=True):
            new = [key for key in pattern.joint_factor.list_keys(middle).tolist() if steps[key] < 0]
            steps[new] = steps[middle] + 1
            via[new] = new if middle == position else middle
            further += new
        edge = further
    return steps, via


def page_of(lab: OpenLab, engine: object) -> None:
    """Both pictures alone."""
    place_patterns()


PAGES = {"trial": page_of}


def opened(page: Page, site: str, query: str = "lang=en") -> tuple[Picture, Picture]:
    """Both pictures, all paths searched."""
    patterns = Picture(page, "patterns").open(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-paths[data-drawn]:not([data-drawn$=waits])", state="attached")
    return patterns, Picture(page, "paths")


def drawn(picture: Picture, sizes: str, what: str) -> None:
    """Waits until it shows "12 12 3" (side, l, c) and "strided 102 27 merged" (pattern, position,
    start of the path, use)."""
    side, stride, summary = sizes.split()
    kind, position, to, use = what.split()
    picture.drawn(
        f"patternside={side} patternstride={stride} patternsummary={summary} pattern={kind}"
        f" patternpos={position} "
        + ("" if to == "none" else f"patternto={to} ")
        + f"patternuse={use}"
    )


def tally(pattern: Pattern, length: int) -> list[int]:
    """How many pairs j ≤ i are joined in 0, 1, 2 … steps."""
    return [
        int(n) for n in np.bincount(np.concatenate([reach(pattern, i)[0] for i in range(length)]))
    ]


def known(pattern: Pattern, use: str, length: int) -> list[int]:
    """Of how many positions the last of them knows after 1, 2 and 3 layers of 4 heads, by products
    of matrices."""
    passed = np.eye(length, dtype=bool)
    counts = []
    for layer in range(3):
        sees = np.eye(length, dtype=bool)
        for _, factor in pattern.assign_heads(use, layer, 4):
            sees |= factor.build_mask(length)
        passed = sees @ passed
        counts.append(int(passed[-1].sum()))
    return counts


def test_the_browser_computes_the_patterns_of_the_models(page_watch: Page, site: str) -> None:
    told = bare(page_watch, site).evaluate(
        """async ([address, sizes, kinds, uses]) => {
            const math = await import(address);
            return JSON.stringify(sizes.map(([length, l, c]) =>
                Object.fromEntries(kinds.map((kind) => {
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
                    heads: uses.flatMap((use) => [0, 1]
                        .map((layer) => math.ofHeads(pattern, use, layer, 5))),
                }];
            }))));
        }""",
        [base.write_script_address("frontend/pictures/patternmath.js"), SIZES, KINDS, USES],
    )
    for (length, stride, summary), kinds in zip(SIZES, json.loads(told), strict=True):
        for kind, said in kinds.items():
            pattern = Pattern(kind, stride, summary)
            counts = pattern.joint_factor.count_keys(length)
            assert said["matrix"] == connectivity(pattern, length).ravel().tolist(), (
                kind,
                length,
                stride,
                summary,
            )
            assert said["counts"] == counts.tolist() and said["keys"] == [
                pattern.joint_factor.list_keys(i).tolist() for i in range(length)
            ]
            assert said["counted"] == {
                "pairs": counts.sum(),
                "busiest": counts.max(),
                "at": counts.argmax(),
            }
            for i in range(length):
                steps, via = reach(pattern, i)
                assert said["steps"][i] == steps.tolist() and said["via"][i] == via.tolist(), (
                    kind,
                    length,
                    stride,
                    summary,
                    i,
                )
            wanted = tally(pattern, length)
            assert said["tally"] == wanted + [0] * (3 - len(wanted)) and said["missing"] == 0
            names = (
                {
                    pattern.joint_factor: "union",
                    pattern.second_factor: "second",
                    pattern.first_factor: "first",
                }
                if kind != "full"
                else {pattern.joint_factor: "union"}
            )
            heads = [
                [[n, names[factor]] for n, factor in pattern.assign_heads(use, layer, 5)]
                for use in USES
                for layer in (0, 1)
            ]
            assert said["heads"] == heads
            assert said["known"] == [known(pattern, use, length) for use in USES]


# The colours of each cell of the matrices, in its upper right and lower left corner.
COLOURS = """(length) => document.querySelector(".tfe-patterns canvas").marks.filter(({ kind }) =>
    kind === "pixels").map(({ image }) => {
    const cell = image.width / length;
    const colour = (row, column) => {
        const n = 4 * (Math.floor(row * cell) * image.width + Math.floor(column * cell));
        return "#" + [...image.data.subarray(n, n + 3)].map((v) => v.toString(16).padStart(2, "0"))
            .join(""); };
    return Array.from({ length: length ** 2 }, (_, n) => [Math.floor(n / length), n % length])
        .map(([i, j]) =>
        [colour(i + 0.7, j + 0.3), colour(i + 0.3, j + 0.7)]); })"""


def test_the_matrix_is_the_connectivity(page_watch: Page, site: str) -> None:
    patterns, paths = opened(
        page_watch, site, "lang=en&_patternside=6&_patternstride=7&_patternsummary=2&_pattern=fixed"
    )
    colours = page_watch.evaluate(COLOURS, 36)
    shades = {0: None, 1: "#0a63a8", 2: "#a170eb"}
    for kind, shown in zip(KINDS, colours, strict=True):
        codes = connectivity(Pattern(kind, 7, 2), 36)
        for (i, j), (upper, lower) in zip(np.ndindex(36, 36), shown, strict=True):
            if i <= j:
                assert upper == lower == ("#b5400a" if i == j else "#e9edf3"), (kind, i, j)
                continue
            code = min(1, int(codes[i, j])) if kind == "full" else int(codes[i, j])
            wanted = (shades[1], shades[2]) if code == 3 else (shades[code] or upper,) * 2
            assert (upper, lower) == wanted and (code > 0 or upper not in shades.values()), (
                kind,
                i,
                j,
            )
    own_, one, two_ = tally(Pattern("fixed", 7, 2), 36)
    paths.says(
        "Fixed: every one of the 666 pairs j ≤ i is joined in at most 2 steps; "
        f"{one} in one, {two_} in two, {own_} are the position itself."
    )
    pairs = int(Pattern("fixed", 7, 2).joint_factor.count_keys(36).sum())
    for said in (
        f"{pairs} pairs",
        f"{100 * pairs / 1296:.2f} % of L² = 1,296",
        f"{100 * pairs / 666:.2f} % of L (L + 1) / 2 = 666",
    ):
        assert said in patterns.texts()
    arrays, rows, numbers = patterns.arrays(), patterns.rows(), paths.arrays()
    assert len(rows) == 666
    for kind in KINDS:
        pattern = Pattern(kind, 7, 2)
        np.testing.assert_array_equal(arrays[f"connectivity_{kind}"], connectivity(pattern, 36))
        for i in (0, 17, 35):
            np.testing.assert_array_equal(arrays[f"steps_{kind}"][i, : i + 1], reach(pattern, i)[0])
        assert (
            sum(row[f"{kind}, 1 in A1, 2 in A2, 3 in both"] != "0" for row in rows)
            == pattern.joint_factor.count_keys(36).sum()
        )
    strided = numbers["patterns"].tolist().index("strided")
    assert numbers["pairs_by_steps"][strided].tolist() == [
        *tally(Pattern("strided", 7, 2), 36),
        0,
        0,
    ]


def test_pointing_draws_a_path_and_clicks_lock_its_ends(page_watch: Page, site: str) -> None:
    patterns, _ = opened(page_watch, site)
    drawn(patterns, "12 12 3", "strided 102 27 merged")
    patterns.point(pattern="fixed", patternpos=None, patternto=49)
    via = int(reach(Pattern("fixed", 12, 3), 102)[1][49])
    patterns.says(
        f"Position 49 (row 4, column 1) reaches it through {via} (row 4, column 11), in 2 steps."
    )
    expect(patterns.find(".tfe-hover")).to_contain_text(f"49 → {via} → 102: 2 steps")
    # One step in the full pattern, two in the others.
    assert (len(patterns.marks("path", name="arrow")), len(patterns.marks("rect", name="hop"))) == (
        5,
        5,
    )
    patterns.click(patterns.point(pattern="strided", patternpos=None, patternto=49), shift=True)
    addressed(page_watch, _patternto="49")
    patterns.click(patterns.point(pattern="strided", patternpos=125, patternto=49))
    drawn(patterns, "12 12 3", "strided 125 49 merged")
    steps = reach(Pattern("strided", 12, 3), 125)[0]
    patterns.says(
        f"attends to {int((connectivity(Pattern('strided', 12, 3), 126)[125] > 0).sum())} of the"
        " 126 positions up to itself",
        f"{int((steps == 2).sum())} more are two steps away",
    )
    patterns.click(patterns.point(pattern="fixed", patternpos=70, patternto=33))
    drawn(patterns, "12 12 3", "fixed 70 33 merged")
    patterns.says("Position 33 (row 2, column 9) is joined to it directly.")
    addressed(page_watch, _pattern="fixed", _patternpos="70", _patternto="33")


def test_keys_sliders_and_the_sizes_of_the_models(page_watch: Page, site: str) -> None:
    page = page_watch
    patterns, paths = opened(page, site)
    drawn(patterns, "12 12 3", "strided 102 27 merged")
    for key, stands in (
        ("ArrowRight", "103 27"),
        ("Shift+ArrowLeft", "103 26"),
        ("ArrowLeft", "102 26"),
    ):
        patterns.press(key)
        drawn(patterns, "12 12 3", f"strided {stands} merged")
    patterns.press("ArrowDown")
    for picture in (patterns, paths):
        drawn(picture, "12 12 3", "fixed 102 26 merged")
    patterns.press("Escape")
    drawn(patterns, "12 12 3", "strided 102 27 merged")
    patterns.find("[data-key=patternstride]").focus()
    page.keyboard.press("ArrowRight")
    drawn(patterns, "12 13 3", "strided 102 27 merged")
    addressed(page, _patternstride="13", _patternpos=None)
    paths.find("[data-key=interleaved]").click()
    drawn(paths, "12 13 3", "strided 102 27 interleaved")
    assert len(paths.marks("rect", name="use second")) == 8
    paths.says("One factor a layer, in turn: after 2 layers position 102 knows of all 103.")
    patterns.find(".tfe-chip >> text=28 × 28").click()
    becomes(page, lambda: any("784 × 784 · pooled" in text for text in patterns.texts()), True)
    side = patterns.find("[data-key=patternside]")
    side.focus()
    page.keyboard.press("ArrowLeft")
    addressed(page, _patternside="27", _patternstride=None, _patternpos=None)
    patterns.find(".tfe-chip >> text=12 × 12").click()
    drawn(patterns, "12 12 3", "strided 102 27 interleaved")
