"""No sentence and no file takes a block of a pooled map for one weight, and no row's sum is told
that is not its sum."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Response, expect

from explorer.values.packing import LEVELS, pack_array, round_to_levels
from tests.contract.conftest import on_its_page
from tests.visits import Visit

SAYS = re.compile(
    r"query “.*?” \((\d+)\) gives key “(.*?)” \((−?\d+)\) (<?[\d.]+).*; the row sums to ([\d.]+)\.",
    re.S,
)
MOST_PIXELS, MOST_BYTES = 4096, 4_000_000  # a saved page holds every head
SIGNS = {"␣": " ", "⏎": "\n"}


def opened(page: Page, site: str, path: str) -> None:
    """Opens a page and waits until it is there with its first result."""
    page.goto(site + path)
    expect(page.locator(".tfe-badge").first).to_have_text("stored")
    page.wait_for_selector(".tfe-panel", state="attached")


@pytest.fixture(scope="module", params=on_its_page())
def arrived(request: pytest.FixtureRequest, visited: Visit) -> tuple[Page, list[Response]]:
    """A lab's page as its bare address shows it, and the answers with exact rows that it got."""
    page = visited(request.param.path)
    expect(page.locator(".tfe-badge").first).to_have_text("stored")
    return page, visited.rows


def saved(page: Page, kind: str) -> tuple[str, bytes]:
    if page.locator(".tfe-attention .tfe-stage-take:not([open])").count():
        page.locator(".tfe-attention .tfe-stage-take summary").click()
    with page.expect_download() as coming:
        page.locator(f'.tfe-attention .tfe-export[data-kind="{kind}"]').click()
    return coming.value.suggested_filename, Path(coming.value.path()).read_bytes()


def test_rounded_rows_keep_their_sums() -> None:
    rows = np.random.default_rng(0).dirichlet(np.full(3000, 0.05), 40).astype(np.float32)
    levels = round_to_levels(rows, LEVELS)
    assert set(levels.astype(np.int64).sum(1)) == {LEVELS}
    assert np.abs(levels / LEVELS - rows).max() < 1 / LEVELS
    assert not levels[rows == 0].any()
    assert (
        np.diff(np.take_along_axis(levels.astype(np.int64), rows.argsort(1), 1), axis=1) >= 0
    ).all(), "a larger weight stays the larger"


def test_maps_with_rows_keep_16_bits() -> None:
    assert pack_array(np.full((4, 200, 200), 1 / 200, np.float32), rows=True)["dtype"] == "u2"


def test_a_page_tells_the_sum_of_a_row_only_where_it_is_one(
    arrived: tuple[Page, list[Response]],
) -> None:
    page, rows = arrived
    view = page.locator(".tfe-attention")
    if not view.count():
        return  # some labs show what their heads look at in views of their own
    words = view.locator(".tfe-words")
    expect(words).not_to_be_empty()
    note = view.locator(".tfe-attention-note")
    if "pooled" not in note.inner_text():
        expect(words).to_contain_text("the row sums to 1.00")
        return
    expect(words).to_have_text(SAYS)
    said = SAYS.search(words.inner_text())
    assert said is not None
    query, key, number = int(said[1]), said[2], int(said[3].replace("−", "-"))

    # What the server answered, against what is said. Other views of the page ask for rows of their
    # own.
    _, content = saved(page, "NPZ")
    with np.load(io.BytesIO(content)) as files:
        taken = {name: files[name] for name in files.files}
    first, count = int(taken["exact_rows_query_index"][0]), len(taken["exact_rows_query_index"])
    head = re.search(r"layer (\d+), head (\d+)", words.inner_text())
    assert head is not None
    answer = next(
        one
        for one in rows
        if urlsplit(one.url).path.endswith(
            f"/{int(head[1]) - 1}/{int(head[2]) - 1}/{first}/{count}"
        )
    )
    levels = np.frombuffer(answer.body(), "<u2").reshape(count, -1).astype(np.int64)
    column = int(np.flatnonzero(taken["key_index"] == number)[0])
    exact = levels[query - first, column] / LEVELS
    assert taken["keys"][column] == SIGNS.get(key, key)
    assert number < 0 or taken["queries"][number] == taken["keys"][column], (
        "a token has one number, as a query and as a key"
    )
    assert said[4] == (f"{exact:.2f}" if exact >= 0.0095 else f"{exact:.4f}")
    assert said[5] == f"{levels[query - first].sum() / LEVELS:.2f}" == "1.00"

    # Every file says that it is pooled, names blocks by their positions, and is of a size that can
    # be handled.
    by = re.search(r"pooled (\d+)×", note.inner_text())
    assert by is not None
    pooled = f"pooled {by[1]}×"
    np.testing.assert_allclose(taken["exact_rows"] * LEVELS, levels, atol=0.01)
    assert {
        f"{name}_pooled_{by[1]}x" for name in ("shown", "all_heads_255", "queries", "keys")
    } <= taken.keys()
    assert str(taken[f"queries_pooled_{by[1]}x"][1]) == f"{by[1]}–{2 * int(by[1]) - 1}"
    for kind in ("CSV", "SVG", "HTML", "PNG", "CSV 1×"):
        name, content = saved(page, kind)
        assert len(content) < MOST_BYTES, (kind, len(content))
        if kind == "PNG":
            assert max(Image.open(io.BytesIO(content)).size) <= MOST_PIXELS
        elif kind == "CSV 1×":
            lines = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
            assert float(lines[1 + column][2 + query - first]) == pytest.approx(exact, abs=1e-5)
            assert lines[1 + column][0] == str(number) and lines[0][2 + query - first].startswith(
                f"weight from query {query} "
            )
            continue
        else:
            text = content.decode()
            assert pooled in text
            assert re.search(r"\d+–\d+", text), kind
        assert "pooled" in name
    assert len(saved(page, "NPZ")[1]) < MOST_BYTES


@pytest.mark.parametrize("stat", ["mean", "max", "rollout"])
def test_what_no_exact_row_can_tell_is_told_of_blocks(
    stat: str, page_watch: Page, site: str
) -> None:
    page = page_watch
    opened(page, site, f"/transformer_xl?_stat={stat}")
    words = page.locator(".tfe-attention .tfe-words")
    expect(words).to_contain_text(
        re.compile(
            r"the block of \d+ × \d+ around query .* holds .*the mean over its queries of the sum"
            r" over its keys"
        )
    )
    assert "sums to" not in words.inner_text()


def test_the_card_of_a_head_names_blocks_by_their_positions(page_watch: Page, site: str) -> None:
    page = page_watch
    opened(page, site, "/transformer_xl")
    page.locator(".tfe-attention canvas").hover(position={"x": 36, "y": 30})
    expect(page.locator(".tfe-hover:visible")).to_contain_text(
        re.compile(r"largest block, a mean of sums: [\d.]+ \d+–\d+ → −?\d+–\d+")
    )


def test_exports_keep_each_characters_weight(
    arrived: tuple[Page, list[Response]],
) -> None:
    page, _ = arrived
    for name in ("reading", "segments"):
        view = page.locator(f".tfe-{name}:visible")
        if not view.count():
            continue
        words = view.locator(".tfe-words")
        expect(words).to_have_text(re.compile(r"“.” \(\d+\).*“.” \(\d+\)", re.S))
        root = view.locator("xpath=ancestor-or-self::*[@data-drawn][1]").first
        expect(root).not_to_have_attribute("data-drawn", re.compile("waits$"))
        said = words.inner_text()
        found = re.search(
            r"gives “(.)” \((\d+)\) (\d\.\d+)|its largest weight, (\d\.\d+), goes to “(.)”"
            r" \((\d+)\)",
            said,
        )
        assert found is not None, said
        letter, at, weight = (
            (found[1], found[2], found[3]) if found[1] else (found[5], found[6], found[4])
        )
        view.locator(".tfe-stage-take").evaluate_all(
            "(menus) => menus.forEach((menu) => (menu.open = true))"
        )
        with page.expect_download() as coming:
            view.locator('.tfe-export[data-kind="NPZ"]').click()
        with np.load(coming.value.path()) as files:
            taken: dict[str, Any] = {one: files[one] for one in files.files}
        letters = taken.get(
            "characters",
            taken.get(f"{np.atleast_1d(taken['looked_at'])[0].split(',')[0]}_characters"),
        )
        character = letters[int(at)]
        assert (character if isinstance(character, str) else chr(int(character))) == SIGNS.get(
            letter, letter
        )
        assert f"{taken['weights'][int(at)]:.2f}" == weight
