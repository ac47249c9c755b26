"""Attention on the stage, on bench pages in a real browser, with runs from a fixed seed."""

from __future__ import annotations

import csv
import io

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
from tests.browser.staged import NEW, Picture, heard, listen
from tests.browser.waiting import becomes, looked, quiet
from tests.explorer.rolled_out import rollout

PAGES = {slug: page_of(slug) for slug in RUNS}


def test_a_click_locks_the_cell_under_it_and_the_name_of_a_row_its_strongest_key(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    words, row = page.locator(".tfe-words"), cross()[2, 3, 5]
    strongest, weakest = int(row.argmax()), int(row.argmin())
    click(page, 5, strongest)
    expect(words).to_contain_text(f"“einem” (5) gives key “{SOURCE[strongest]}” ({strongest})")
    assert f"{row[strongest]:.2f}; the row sums to 1.00." in said(page)
    assert (looked(page)["_row"], looked(page)["_col"]) == ("5", str(strongest))
    click(page, 5, weakest)
    expect(words).to_contain_text(f"{row[weakest]:.2f}, 11th of 11; it gives most")
    for at in (cell(page, 2, 1), cell(page, 7, 8)):  # a quick one
        page.mouse.move(*at)
    page.mouse.down()
    page.mouse.up()
    expect(words).to_contain_text(f"“{TARGET[7]}” (7) gives key “{SOURCE[8]}” (8)")
    x, y = cell(page, 5, 0)
    page.mouse.click(x - 50, y)
    expect(words).to_contain_text(f"“einem” (5) gives key “{SOURCE[strongest]}” ({strongest})")
    assert "_col" not in looked(page)


def test_arrows_step_rows_and_heads_without_a_request_and_escape_unlocks(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    words = opened(page, site).locator(".tfe-words")
    quiet(page, faults)
    asked = len(faults.requests)
    page.locator(".tfe-stage-board").press("ArrowRight")
    expect(words).to_contain_text("In layer 3, head 4, query “chen” (10) gives key")
    page.keyboard.press("ArrowDown")
    expect(words).to_contain_text("In layer 3, head 5, query “chen” (10)")
    page.mouse.click(*tile(page, 1, 2))
    drawn(page, "head=1.2", "row=10", "col=3")
    assert len(faults.requests) == asked, faults.requests[asked:]
    page.locator(".tfe-stage-board").press("Escape")
    expect(words).to_contain_text("the largest of 132 weights is")
    assert looked(page)["_row"] == "none"


def test_a_slider_has_its_own_keys_and_follows_the_picture_and_the_screen_s_resolution_counts(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    slider, kind = page.locator(".tfe-attention [data-key=thr]"), page.locator(".tfe-attention [role=radio][aria-checked=true]").first
    for key, value in (("End", "1"), ("PageDown", "0.9"), ("Home", "0"), ("ArrowRight", "0.01")):
        slider.press(key)
        drawn(page, f"thr={value}", "row=9", "col=3")
    page.keyboard.press("Escape")
    drawn(page, "thr=0", "head=3.4")
    expect(slider).to_have_value("0")
    was = kind.inner_text()
    kind.press("Alt+ArrowLeft")  # the browser's Back
    expect(kind).to_have_text(was)
    width = "document.querySelector('.tfe-attention canvas').width"
    before = page.evaluate(width)
    screen = {"width": 1280, "height": 901, "deviceScaleFactor": 2, "mobile": False}
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", screen)
    becomes(page, lambda: page.evaluate(width), 2 * before)


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


def test_masked_cells_sums_of_a_key_and_a_threshold_are_said(page_watch: Page, site: str) -> None:
    words = opened(page_watch, site, query="_kind=decoder&_head=1.1&_row=2&_col=8").locator(".tfe-words")
    expect(words).to_contain_text("may not look at")
    expect(page_watch.locator(".tfe-attention-note")).to_contain_text("grey: not allowed")
    column, row = cross()[2, 3, :, 3], cross()[2, 3, 9]
    opened(page_watch, site, query="_kind=cross&_head=3.4&_by=by&_row=9&_col=3")
    expect(words).to_contain_text(f"key “hands” (3) gets {column[9]:.2f} from query “Händ” (9)")
    assert f"all 12 queries together give it {column.sum():.2f}." in said(page_watch)
    opened(page_watch, site, query="_kind=cross&_head=3.4&_row=9&_col=3&_thr=0.20")
    kept = row[row >= 0.2]
    expect(words).to_contain_text(f"{len(kept)} of its 11 weights reach 0.20; together they hold {kept.sum():.2f}")
    assert pen(page_watch, "Math.min(...large.data.filter(Boolean))") >= 0.2 - 1e-4


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


def test_rollout_in_the_browser_is_the_rollout_of_the_paper(page_watch: Page, site: str) -> None:
    encoder, _, across = kinds(*RUNS["trial"])
    for kind, expected in (("encoder", rollout(encoder)), ("cross", rollout(across, encoder))):
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


def test_maps_leave_as_vectors_however_large(page_watch: Page, site: str) -> None:
    drawing = saved(opened(page_watch, site), "SVG")[1].decode()
    assert "the row sums to" in drawing and "<image" not in drawing
    assert all(name in drawing for name in (*SOURCE[:2], "Händ", "queries ↓ German", "keys → English", ">weight 0<"))
    content = saved(opened(page_watch, site, "large", "_kind=encoder&_head=1.1&_row=9"), "SVG")[1]
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


def test_hostile_tokens_are_text_everywhere(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "hostile", "_kind=decoder&_head=1.1&_row=0&_col=0")
    drawn(page, "kind=decoder", "head=1.1")
    page.locator(".tfe-stage-take summary").click()
    page.locator(".tfe-export[data-kind=table]").click()
    expect(page.locator(".tfe-stage-table thead th").nth(1)).to_have_text("<s>·−1")  # what stands before the text
    page.mouse.move(*cell(page, 2, 1))
    expect(page.locator(".tfe-hover")).to_contain_text('“<a␣href="javascript:alert(2)">x</a>” (2)')
    assert page.locator(".tfe-attention :is(img, iframe, script, a:not(.tfe-stage-take > a))").count() == 0
    files = {kind: saved(page, kind)[1] for kind in ("HTML", "CSV")}
    rows = list(csv.DictReader(io.StringIO(files["CSV"].decode("utf-8-sig"))))
    assert {row["query"] for row in rows} >= {HOSTILE[0], "\u202eevil", "\n", "a\x00b", "'=cmd()"}
    page.set_content(files["HTML"].decode())
    page.wait_for_selector("main[data-drawn], [data-drawn] canvas", state="attached")
    assert page.locator("img, svg a").count() == 0


def test_sixty_tokens_on_a_side_stay_legible(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "longest", "_kind=cross&_head=1.1")
    row, column = pen(page, "[(large.box.y1 - large.box.y0) / large.rows, (large.box.x1 - large.box.x0) / large.columns]")
    texts = pen(page, "marks.filter((mark) => mark.kind === 'text').map((mark) => [mark.text, mark.size])")
    assert row >= 13 and column >= 13 and min(size for _, size in texts) >= 11
    assert len([text for text, _ in texts if text in {"of", "Straßenbahn"}]) == 118
    assert not [text for text, _ in texts if text.startswith(".") and text[1:].isdigit()], "numbers wait for larger cells"


def test_a_phone_shows_all_heads_above_the_map(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True)
    opened(page, site, "longest", "_kind=cross&_head=3.4&_row=9")
    texts = pen(page, "marks.filter((mark) => mark.kind === 'text').map((mark) => mark.text)")
    assert [text for text in texts if text.startswith("pooled ")], "what is drawn together is said"
    opened(page, site, "trial", "_kind=cross&_head=3.4&_row=9")
    page.mouse.click(*tile(page, 2, 4))
    drawn(page, "head=2.4")
    expect(page.locator(".tfe-attention-note")).to_contain_text("2·4 is silenced")
    strong = min(4, int((cross()[1, 3, 9] >= 0.01).sum()))
    expect(page.locator(".tfe-attention-strengths li")).to_have_count(strong)
    card = page.locator(".tfe-attention .tfe-hover")
    for leaves in (lambda: page.evaluate("scrollBy(0, scrollY ? -40 : 40)"), lambda: page.touchscreen.tap(180, 24)):
        page.touchscreen.tap(*cell(page, 2, 1))
        expect(card).to_be_visible()
        leaves()
        expect(card).to_be_hidden()


def test_a_head_is_asked_to_be_silenced_by_pointer_and_by_keys(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="_kind=cross&_head=2.6&_row=9&_col=3")
    listen(page, "silence")
    Picture(page, "attention").click(tile(page, 2, 6), shift=True)
    page.locator(".tfe-stage-board").press("Shift+Enter")
    assert heard(page) == [{"kind": "cross", "layer": 1, "head": 5}] * 2
