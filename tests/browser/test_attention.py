"""Attention on the stage, on bench pages in a real browser, with runs from a fixed seed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from explorer.figures import attention
from tests.browser.attending import (
    HOSTILE,
    RUNS,
    SOURCE,
    TARGET,
    cell,
    click,
    cross,
    drawn,
    kinds,
    opened,
    page_of,
    pen,
    said,
    saved,
    tile,
)
from tests.browser.waiting import looked, quiet

NEW = Callable[..., tuple[Page, Any]]


PAGES = {slug: page_of(slug) for slug in RUNS}


def test_a_click_locks_the_cell_and_the_sentence_says_its_weight(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    strongest = int(cross()[2, 3, 5].argmax())
    click(page, 5, strongest)
    expect(page.locator(".tfe-words")).to_contain_text(f"“einem” (5) gives key “{SOURCE[strongest]}” ({strongest})")
    assert f"{cross()[2, 3, 5, strongest]:.2f}; the row sums to 1.00." in said(page)
    assert (looked(page)["_row"], looked(page)["_col"]) == ("5", str(strongest))
    weakest = int(cross()[2, 3, 5].argmin())
    click(page, 5, weakest)
    expect(page.locator(".tfe-words")).to_contain_text(f"{cross()[2, 3, 5, weakest]:.2f}, 11th of 11; it gives most")


def test_a_quick_click_locks_the_cell_under_it_and_not_the_one_before(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    here, there = cell(page, 2, 1), cell(page, 7, 8)
    for at in (here, there):
        page.mouse.move(*at)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".tfe-words")).to_contain_text(f"“{TARGET[7]}” (7) gives key “{SOURCE[8]}” (8)")


def test_the_name_of_a_row_locks_it_with_its_strongest_key(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    _, y = cell(page, 5, 0)
    x, _ = cell(page, 5, 0)
    page.mouse.click(x - 50, y)
    strongest = int(cross()[2, 3, 5].argmax())
    expect(page.locator(".tfe-words")).to_contain_text(f"“einem” (5) gives key “{SOURCE[strongest]}” ({strongest})")
    assert "_col" not in looked(page)


def test_arrows_step_rows_and_heads_and_escape_unlocks_only_where_the_focus_is(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    before = said(page)
    page.keyboard.press("ArrowRight")
    assert said(page) == before, "keys act only in a view that has the focus"
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tfe-words")).to_contain_text("In layer 3, head 4, query “chen” (10) gives key")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".tfe-words")).to_contain_text("In layer 3, head 5, query “chen” (10)")
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-words")).to_contain_text("the largest of 132 weights is")
    assert looked(page)["_row"] == "none"


def test_another_head_is_drawn_without_a_request(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    quiet(page, faults)
    asked = len(faults.requests)
    page.locator(".tfe-stage-board").focus()
    for head in ("3.5", "3.6", "3.7"):
        page.keyboard.press("ArrowDown")
        drawn(page, f"head={head}")
    page.mouse.click(*tile(page, 1, 2))
    drawn(page, "head=1.2", "row=9", "col=3")
    assert len(faults.requests) == asked, faults.requests[asked:]


def test_closer_shows_a_part_around_the_lock_with_its_numbers(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "longest", "_kind=cross&_head=1.1&_row=40&_col=50")
    assert pen(page, "[large.rows, large.columns]") == [58, 60]
    page.get_by_role("button", name="Closer").click()
    drawn(page, "near")
    rows, columns = pen(page, "[large.rows, large.columns]")
    assert rows == 14 and columns < 30
    weight = kinds(*RUNS["longest"])[2].weights[0, 0]
    column = 50 // columns * columns
    there = pen(page, "large.data[given]", (40 - 28) * columns + 50 - min(column, 60 - columns))
    assert abs(there - weight[40, 50]) < 1e-4


def test_the_address_alone_restores_the_view(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.get_by_role("radio", name="Decoder self").click()
    drawn(page, "kind=decoder", "head=3.4")
    page.locator("button[data-stat=mean]").click()
    drawn(page, "kind=decoder", "stat=mean")
    page.get_by_role("radio", name="attended by").click()
    sentence = page.locator(".tfe-words")
    expect(sentence).to_contain_text("together give it")
    before = said(page)
    page.goto(page.url)
    drawn(page, "kind=decoder", "stat=mean")
    assert said(page) == before


def test_on_arrival_a_telling_cell_is_locked(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="")
    found = attention.pick(kinds(*RUNS["trial"])[2])
    weight = cross()[found["layer"], found["head"], found["row"], found["col"]]
    assert f"In layer {found['layer'] + 1}, head {found['head'] + 1}, query “{TARGET[found['row']]}” ({found['row']})" in said(page)
    assert f"({found['col']}) {weight:.2f}" in said(page)


def test_another_run_drops_a_lock_that_was_clicked_and_keeps_the_head(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    click(page, 8, 9)
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("ArrowDown")
    drawn(page, "head=3.5")
    page.click("#again")
    expect(page.locator(".tfe-words")).not_to_contain_text("“Sand” (8)")
    expect(page.locator(".tfe-words")).to_contain_text("In layer 3, head 5")


def test_masked_cells_are_said_to_be_masked(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="_kind=decoder&_head=1.1&_row=2&_col=8")
    expect(page.locator(".tfe-words")).to_contain_text("may not look at")
    expect(page.locator(".tfe-attention-note")).to_contain_text("grey: not allowed")


def test_attended_by_adds_up_what_a_key_gets(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="_kind=cross&_head=3.4&_by=by&_row=9&_col=3")
    column = cross()[2, 3, :, 3]
    expect(page.locator(".tfe-words")).to_contain_text(f"key “hands” (3) gets {column[9]:.2f} from query “Händ” (9)")
    assert f"all 12 queries together give it {column.sum():.2f}." in said(page)


def test_numbers_stand_in_cells_from_a_tenth_on_in_the_ink_that_is_read_better(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    weights = cross()[2, 3]
    np.testing.assert_allclose(pen(page, "Array.from(large.data)"), weights.ravel(), atol=1 / 65_535)
    printed = pen(
        page,
        "marks.filter(({ text, weight }) => weight === 600 && /^(\\.\\d\\d|1\\.0)$/.test(text)).map(({ text, colour }) => [text, colour])",
    )
    texts = [(float(weight), f"{weight:.2f}"[1:] if weight < 0.995 else "1.0") for weight in weights.ravel() if weight >= 0.1]
    assert [text for text, _ in printed] == [text for _, text in texts]
    assert {colour for (weight, _), (_, colour) in zip(texts, printed, strict=True) if weight < 0.4} == {"#ffffff"}
    assert {colour for (weight, _), (_, colour) in zip(texts, printed, strict=True) if weight > 0.6} == {"#000000"}


def test_a_threshold_hides_weights_and_says_so(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="_kind=cross&_head=3.4&_row=9&_col=3&_thr=0.20")
    row = cross()[2, 3, 9]
    kept = row[row >= 0.2]
    expect(page.locator(".tfe-words")).to_contain_text(f"{len(kept)} of its 11 weights reach 0.20; together they hold {kept.sum():.2f}")
    least = pen(page, "Math.min(...large.data.filter(Boolean))")
    assert least >= 0.2 - 1e-4


def test_rollout_in_the_browser_is_the_rollout_of_the_paper(page_watch: Page, site: str) -> None:
    encoder, _, across = kinds(*RUNS["trial"])
    for kind, expected in (("encoder", attention.rollout(encoder)), ("cross", attention.rollout(across, encoder))):
        page = opened(page_watch, site, query=f"_kind={kind}&_stat=rollout")
        name, content = saved(page, "NPZ")
        shown = np.load(io.BytesIO(content))["shown"]
        np.testing.assert_allclose(shown, expected, atol=2e-4)
        assert name == f"trial-{kind}-rollout.npz"
        expect(page.locator(".tfe-attention-note")).to_contain_text("Abnar and Zuidema")


def test_the_numbers_taken_along_are_the_numbers_of_the_run(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    _, content = saved(page, "NPZ")
    arrays = np.load(io.BytesIO(content))
    for kind in kinds(*RUNS["trial"]):
        np.testing.assert_allclose(arrays[f"{kind.key}_weights"], kind.weights, atol=1 / 65_535)  # 16 bits
        assert arrays[f"{kind.key}_queries"].tolist() == list(kind.queries)
    assert str(arrays["shown_name"]) == "cross 3.4"
    name, content = saved(page, "CSV")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert name == "trial-cross-3.4.csv" and len(rows) == 132
    there = next(row for row in rows if row["query"] == "Händ" and row["key"] == "hands")
    assert abs(float(there["weight"]) - cross()[2, 3, 9, 3]) < 1e-4


def test_pictures_of_vectors_and_a_page_as_alive_as_the_view_are_taken_along(new_page: NEW, site: str, tmp_path: Path) -> None:
    page, _ = new_page()
    opened(page, site)
    name, content = saved(page, "PNG")
    assert name == "trial-cross-3.4.png" and content.startswith(b"\x89PNG") and len(content) > 10_000
    _, content = saved(page, "SVG")
    drawing = content.decode()
    assert drawing.startswith("<svg") and "the row sums to" in drawing and "var(--" not in drawing and "<image" not in drawing
    assert all(name in drawing for name in (*SOURCE[:2], "Händ", "queries ↓ German", "keys → English", ">weight 0<"))
    name, content = saved(page, "HTML")
    file = tmp_path / name
    file.write_bytes(content)
    away, faults = new_page()
    away.goto(file.as_uri())
    expect(away.locator(".tfe-words")).to_contain_text("“Händ” (9)")
    away.wait_for_selector("[data-drawn]", state="attached")
    strongest = int(cross()[2, 3, 5].argmax())
    click(away, 5, strongest)
    expect(away.locator(".tfe-words")).to_contain_text(f"“einem” (5) gives key “{SOURCE[strongest]}” ({strongest})")
    away.mouse.click(*tile(away, 1, 1))
    expect(away.locator(".tfe-words")).to_contain_text("In layer 1, head 1")
    assert abs(pen(away, "large.data[given]", 5 * 11 + strongest) - cross()[0, 0, 5, strongest]) < 1e-3
    assert not [url for url in faults.requests if url.startswith("http")]


def test_a_map_of_128_by_128_leaves_as_vectors(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "large", "_kind=encoder&_head=1.1&_row=9")
    _, content = saved(page, "SVG")
    assert b"<image" not in content and content.count(b"<path") > 50


def test_exact_rows_that_do_not_arrive_are_asked_for_again_by_the_next_click(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    page.route("**/looks/**", lambda route: route.abort())
    opened(page, site, "pooled", "_kind=encoder&_head=1.1&_row=9&_col=3")
    expect(page.locator(".tfe-attention [role=alert]")).to_contain_text("The exact rows did not arrive")
    page.unroute("**/looks/**")
    click(page, 9, 3)
    expect(page.locator(".tfe-attention-exact")).to_have_attribute("data-exact", "1.1 18 19 6 7")
    weights = kinds(*RUNS["pooled"])[0].weights[0, 0, 18:20, 6:8]
    shown = [float(text) for text in page.locator(".tfe-attention-exact tbody td").all_inner_texts()]
    np.testing.assert_allclose(shown, weights.ravel(), atol=1e-4)
    faults.console[:] = [told for told in faults.console if "ERR_FAILED" not in told and "Failed to fetch" not in told]


def test_hostile_tokens_are_text_everywhere(new_page: NEW, site: str, tmp_path: Path) -> None:
    kind = "decoder"
    page, _ = new_page()
    opened(page, site, "hostile", f"_kind={kind}&_head=1.1&_row=0&_col=0")
    drawn(page, f"kind={kind}", "head=1.1")
    page.locator(".tfe-stage-take summary").click()
    page.locator(".tfe-export[data-kind=table]").click()
    expect(page.locator(".tfe-stage-table thead th").nth(1)).to_have_text("<s>·−1")  # what stands before the text
    page.mouse.move(*cell(page, 2, 1))
    expect(page.locator(".tfe-hover")).to_contain_text('“<a␣href="javascript:alert(2)">x</a>” (2)')
    assert page.locator(".tfe-attention :is(img, iframe, script, a:not(.tfe-stage-take > a))").count() == 0
    _, content = saved(page, "HTML")
    (tmp_path / "away.html").write_bytes(content)
    away, _ = new_page()
    away.goto((tmp_path / "away.html").as_uri())
    away.wait_for_selector("[data-drawn]", state="attached")
    assert away.locator("img, svg a").count() == 0
    _, content = saved(page, "CSV")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert {row["query"] for row in rows} >= {HOSTILE[0], "\u202eevil", "\n", "a\x00b", "'=cmd()"}


def test_sixty_tokens_on_a_side_stay_legible(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "longest", "_kind=cross&_head=1.1")
    row, column = pen(page, "[(large.box.y1 - large.box.y0) / large.rows, (large.box.x1 - large.box.x0) / large.columns]")
    texts = pen(page, "marks.filter((mark) => mark.kind === 'text').map((mark) => [mark.text, mark.size])")
    assert row >= 13 and column >= 13 and min(size for _, size in texts) >= 11
    assert len([text for text, _ in texts if text in {"of", "Straßenbahn"}]) == 118
    assert not [text for text, _ in texts if text.startswith(".") and text[1:].isdigit()], "numbers wait for larger cells"


def test_a_phone_shows_all_heads_above_the_map_and_never_scrolls_sideways(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780)
    for slug in ("trial", "longest"):
        opened(page, site, slug, "_kind=cross&_head=3.4&_row=9")
        assert page.evaluate("document.documentElement.scrollWidth <= 360"), slug
        assert pen(page, "Math.max(...marks.filter((mark) => mark.kind === 'cells').map((mark) => mark.box.x1)) <= canvas.clientWidth")
    texts = pen(page, "marks.filter((mark) => mark.kind === 'text').map((mark) => mark.text)")
    assert [text for text in texts if text.startswith("pooled ")], "what is drawn together is said"
    opened(page, site, "trial", "_kind=cross&_head=3.4&_row=9")
    page.mouse.click(*tile(page, 2, 4))
    drawn(page, "head=2.4")
    expect(page.locator(".tfe-attention-note")).to_contain_text("2·4 is silenced")
    strong = min(4, int((cross()[1, 3, 9] >= 0.01).sum()))
    expect(page.locator(".tfe-attention-strengths li")).to_have_count(strong)


def test_a_head_is_asked_to_be_silenced_by_pointer_and_by_keys(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="_kind=cross&_head=2.6&_row=9&_col=3")
    page.evaluate(
        """async () => {
            const loaded = performance.getEntriesByType("resource").find((entry) => entry.name.endsWith("/lib/state.js"));
            const { bus } = await import(loaded.name);
            bus.on("silence", (detail) => { window.heard = detail; });
        }"""
    )
    page.keyboard.down("Shift")
    page.mouse.click(*tile(page, 2, 6))
    page.keyboard.up("Shift")
    head = {"kind": "cross", "layer": 1, "head": 5}
    assert page.evaluate("() => [window.heard, delete window.heard][0]") == head
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("Shift+Enter")
    assert page.evaluate("window.heard") == head
