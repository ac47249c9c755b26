"""Attention on the stage, on bench pages in a real browser, with runs from a fixed seed."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect
from plotly.io import read_json

from explorer.components.stage import place_picture
from explorer.contract.lab import OpenLab
from explorer.figures import attention
from tests.browser.attending import HOSTILE, RUNS, SOURCE, TARGET, cross, kinds, page_of, words
from tests.browser.staged import NEW, Picture, heard, listen, opening
from tests.browser.visiting import finer
from tests.browser.waiting import looked, quiet
from tests.explorer.rolled_out import rollout


def flat(lab: OpenLab, engine: object) -> None:
    """A network of one layer, whose map is too wide to stand beside its small ones."""
    place_picture(
        "attention",
        attention.draw_attention(kinds(words(60), words(58), 1, 4), query="flat"),
        texts={},
    )


PAGES = {**{slug: page_of(slug) for slug in RUNS}, "flat": flat}
LOCKED = "lang=en&_kind=cross&_head=3.4&_row=9&_col=3"
opened = opening("attention", "trial", LOCKED)


def pen(picture: Picture, what: str) -> object:
    """What is drawn: an expression of `marks`, of all that the pen drew, and `large`, the cells of
    the map that Plotly drew."""
    large = """(marks) => {
        const { box, data: [{ z }], layout } = marks.findLast((mark) => mark.kind === "plot");
        const { margin, xaxis, yaxis } = layout;
        const [x0, y1] = [box.x0 + margin.l, box.y1 - margin.b];
        const wide = box.x1 - margin.r - x0, high = y1 - box.y0 - margin.t;
        return { rows: z.length, columns: z[0].length, data: z.flat(),
            box: { x0, y1, x1: x0 + wide * xaxis.domain[1], y0: y1 - high * yaxis.domain[1] } };
    }"""
    return picture.find("canvas").evaluate(
        f"({{ marks }}) => {{ const large = ({large})(marks); return {what}; }}"
    )


def test_a_click_locks_cell_or_row(page_watch: Page, site: str) -> None:
    picture, row = opened(page_watch, site), cross()[2, 3, 5]
    strongest, weakest = int(row.argmax()), int(row.argmin())
    picture.click(picture.point(row=5, col=strongest))
    picture.says(
        f"“einem” (5) gives key “{SOURCE[strongest]}” ({strongest})",
        f"{row[strongest]:.2f}; the row sums to 1.00.",
    )
    assert (looked(page_watch)["_row"], looked(page_watch)["_col"]) == ("5", str(strongest))
    x0, y0, rows, columns, x1, y1 = pen(
        picture,
        "[large.box.x0, large.box.y0, large.rows, large.columns, large.box.x1, large.box.y1]",
    )  # type: ignore[misc]
    # where it is drawn, then left of the map
    for key, at in ((weakest, (weakest + 0.5) / columns), (None, -0.05)):
        picture.click(
            picture.spot({"left": x0 + at * (x1 - x0), "top": y0 + 5.5 / rows * (y1 - y0)})
        )
        picture.says(
            f"{row[weakest]:.2f}, 11th of 11; it gives most"
            if key
            else f"gives key “{SOURCE[strongest]}” ({strongest})"
        )
    assert "_col" not in looked(page_watch)


def test_arrows_step_and_escape_unlocks(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    quiet(page, faults)
    asked = len(faults.requests)
    picture.press("ArrowRight")
    picture.says("In layer 3, head 4, query “chen” (10) gives key")
    picture.press("ArrowDown")
    picture.says("In layer 3, head 5, query “chen” (10)")
    picture.click(picture.point(head="1.2"))
    picture.stands("head=1.2", "row=10", "col=3")
    assert len(faults.requests) == asked, faults.requests[asked:]
    picture.press("Escape")
    picture.says("the largest of 132 weights is")
    assert looked(page)["_row"] == "none"


def test_sliders_keep_their_own_keys(page_watch: Page, site: str) -> None:
    page, picture = page_watch, opened(page_watch, site)
    slider, kind = (
        picture.find("[data-key=thr]"),
        picture.find("[role=radio][aria-checked=true]").first,
    )
    for key, value in (("End", "1"), ("PageDown", "0.9"), ("Home", "0"), ("ArrowRight", "0.01")):
        slider.press(key)
        picture.stands(f"thr={value}", "row=9", "col=3")
    page.keyboard.press("Escape")
    picture.stands("thr=0", "head=3.4")
    expect(slider).to_have_value("0")
    was = kind.inner_text()
    kind.press("Alt+ArrowLeft")  # the browser's Back
    expect(kind).to_have_text(was)
    finer(page, ".tfe-attention canvas")


def test_sixty_tokens_stay_legible(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_kind=cross&_head=1.1&_row=40&_col=50", "longest")
    assert pen(picture, "[large.rows, large.columns]") == [58, 60]
    assert (
        pen(picture, "Math.min(large.box.y1 - large.box.y0, large.box.x1 - large.box.x0) / 60")
        >= 12.5
    )  # type: ignore[operator]
    picture.find("button", has_text="Closer").click()
    picture.stands("near")
    rows, columns = pen(picture, "[large.rows, large.columns]")  # type: ignore[misc]
    assert rows == 14 and columns < 30
    there = pen(
        picture,
        f"large.data[{(40 - 28) * columns + 50 - min(50 // columns * columns, 60 - columns)}]",
    )
    np.testing.assert_allclose(there, kinds(*RUNS["longest"])[2].weights[0, 0][40, 50], atol=1e-4)


def test_a_new_run_drops_the_clicked_lock(page_watch: Page, site: str) -> None:
    picture, found = (
        opened(page_watch, site, "lang=en"),
        attention.find_telling_cell(kinds(*RUNS["trial"])[2]),
    )
    weight = cross()[found["layer"], found["head"], found["row"], found["col"]]
    picture.says(
        f"In layer {found['layer'] + 1}, head {found['head'] + 1}, query “{TARGET[found['row']]}”"
        f" ({found['row']})"
    )
    picture.says(f"({found['col']}) {weight:.2f}")
    picture = opened(page_watch, site)
    picture.click(picture.point(row=8, col=9))
    picture.press("ArrowDown")
    picture.stands("head=3.5")
    page_watch.click("#again")
    expect(picture.words).not_to_contain_text("“Sand” (8)")
    picture.says("In layer 3, head 5")


def test_masked_cells_sums_of_a_key_and_a_threshold_are_said(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_kind=decoder&_head=1.1&_row=2&_col=8")
    picture.says("may not look at")
    expect(picture.find(".tfe-attention-note")).to_contain_text("grey: not allowed")
    column, row = cross()[2, 3, :, 3], cross()[2, 3, 9]
    opened(page_watch, site, f"{LOCKED}&_by=by").says(
        f"key “hands” (3) gets {column[9]:.2f} from query “Händ” (9)",
        f"all 12 queries together give it {column.sum():.2f}.",
    )
    kept = row[row >= 0.2]
    opened(page_watch, site, f"{LOCKED}&_thr=0.20").says(
        f"{len(kept)} of its 11 weights reach 0.20; together they hold {kept.sum():.2f}"
    )
    assert pen(picture, "Math.min(...large.data.filter(Boolean))") >= 0.2 - 1e-4  # type: ignore[operator]


def test_numbers_stand_in_cells_from_a_tenth(page_watch: Page, site: str) -> None:
    picture, weights = opened(page_watch, site), cross()[2, 3].ravel()
    np.testing.assert_allclose(pen(picture, "Array.from(large.data)"), weights, atol=1 / 65_535)
    texts, colours = pen(  # type: ignore[misc]
        picture,
        "(({ text, textfont }) => [text, textfont.color])(marks.findLast((mark) => mark.kind ==="
        " 'plot').data[1])",
    )
    wanted = [
        (weight, f"{weight:.2f}"[1:] if weight < 0.995 else "1.0")
        for weight in weights
        if weight >= 0.1
    ]
    assert texts == [text for _, text in wanted]
    for (weight, _), colour in zip(wanted, colours, strict=True):
        assert colour in (
            ["#ffffff"] if weight < 0.4 else ["#000000"] if weight > 0.6 else ["#ffffff", "#000000"]
        )


def test_summaries_of_one_layer_keep_their_names_above_the_map(page_watch: Page, site: str) -> None:
    picture = opening("attention", "flat", "lang=en&_kind=encoder")(page_watch, site)
    picture.shows("rollout")
    (name,), (title,) = (
        [one for one in picture.marks("text") if one["whole"].startswith(said)]
        for said in ("rollout", "queries ↓")
    )
    assert title["y"] - name["y"] > name["size"], "one line under the other"


def test_rollout_in_the_browser_is_the_rollout_of_the_paper(page_watch: Page, site: str) -> None:
    encoder, _, across = kinds(*RUNS["trial"])
    for kind, expected in (("encoder", rollout(encoder)), ("cross", rollout(across, encoder))):
        picture = opened(page_watch, site, f"lang=en&_kind={kind}&_stat=rollout")
        np.testing.assert_allclose(picture.arrays()["shown"], expected, atol=2e-4)
        expect(picture.find(".tfe-attention-note")).to_contain_text("Abnar and Zuidema")


def test_exported_numbers_are_of_the_run(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site)
    arrays, (name, _), rows = picture.arrays(), picture.saved("CSV"), picture.rows()
    for kind in kinds(*RUNS["trial"]):
        # 16 bits
        np.testing.assert_allclose(arrays[f"{kind.key}_weights"], kind.weights, atol=1 / 65_535)
        assert arrays[f"{kind.key}_queries"].tolist() == list(kind.queries)
    assert name == "trial-cross-3.4.csv" and len(rows) == 132
    there = next(row for row in rows if row["query"] == "Händ" and row["key"] == "hands")
    assert abs(float(there["weight"]) - cross()[2, 3, 9, 3]) < 1e-4
    drawing = picture.saved("SVG")[1].decode()
    assert all(
        text in drawing
        for text in (*SOURCE[:2], "Händ", "queries ↓ German", "keys → English", "the row sums to")
    )
    content = opened(page_watch, site, "lang=en&_kind=encoder&_head=1.1&_row=9", "large").saved(
        "SVG"
    )[1]
    assert b"<image" not in content and content.count(b"<path") > 50


def test_a_figure_leaves_for_python(page_watch: Page, site: str, tmp_path: Path) -> None:
    picture = opened(page_watch, site)
    name, content = picture.saved("JSON")
    (tmp_path / name).write_bytes(content)
    figure = read_json(tmp_path / name)
    np.testing.assert_allclose(np.array(figure.data[0].z, float), cross()[2, 3], atol=1e-4)
    assert figure.layout.xaxis.ticktext[1].startswith("blond")
    assert figure.layout.meta["title"] == "Attention" and name == "trial-cross-3.4.json"
    assert figure.layout.paper_bgcolor == "#FFFFFF" and b"var(--" not in content


def test_a_pooled_map_is_no_plotly_figure(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_kind=encoder&_head=1.1&_row=9", "pooled")
    picture.saved("CSV")
    expect(picture.find("[data-kind=JSON]")).to_be_hidden()


def test_lost_exact_rows_are_asked_again(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    page.route("**/looks/**", lambda route: route.abort())
    picture = opened(page, site, "lang=en&_kind=encoder&_head=1.1&_row=9&_col=3", "pooled")
    expect(picture.find("[role=alert]")).to_contain_text("The exact rows did not arrive")
    page.unroute("**/looks/**")
    picture.click(picture.point(row=9, col=3))
    expect(picture.find(".tfe-attention-exact")).to_have_attribute("data-exact", "1.1 18 19 6 7")
    shown = [
        float(text) for text in picture.find(".tfe-attention-exact tbody td").all_inner_texts()
    ]
    np.testing.assert_allclose(
        shown, kinds(*RUNS["pooled"])[0].weights[0, 0, 18:20, 6:8].ravel(), atol=1e-4
    )
    faults.console[:] = [
        told
        for told in faults.console
        if "ERR_FAILED" not in told and "Failed to fetch" not in told
    ]


def test_hostile_tokens_are_text_everywhere(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_kind=decoder&_head=1.1&_row=0&_col=0", "hostile")
    files = {kind: picture.saved(kind)[1].decode("utf-8-sig") for kind in ("HTML", "CSV")}
    picture.find(".tfe-export[data-kind=table]").click()
    # what stands before the text
    expect(picture.find(".tfe-stage-table thead th").nth(1)).to_have_text("<s>·−1")
    picture.point(row=2, col=1)
    expect(picture.find("> .tfe-hover")).to_contain_text(
        '“<a␣href="javascript:alert(2)">x</a>” (2)'
    )
    assert picture.find(":is(img, iframe, script, a:not(.tfe-stage-take > a))").count() == 0
    rows = list(csv.DictReader(io.StringIO(files["CSV"])))
    assert {row["query"] for row in rows} >= {HOSTILE[0], "\u202eevil", "\n", "a\x00b", "'=cmd()"}
    page_watch.set_content(files["HTML"])
    page_watch.wait_for_selector("main[data-drawn], [data-drawn] canvas", state="attached")
    assert page_watch.locator("img, svg a").count() == 0


def test_a_phone_shows_all_heads_above_the_map(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True)
    picture = opened(page, site, "lang=en&_kind=cross&_head=3.4&_row=9", "longest")
    assert [text for text in picture.texts() if text.startswith("pooled ")], (
        "what is drawn together is said"
    )
    opened(page, site, "lang=en&_kind=cross&_head=3.4&_row=9")
    picture.click(picture.point(head="2.4"))
    picture.stands("head=2.4")
    expect(picture.find(".tfe-attention-note")).to_contain_text("2·4 is silenced")
    strong = min(4, int((cross()[1, 3, 9] >= 0.01).sum()))
    expect(picture.find(".tfe-attention-strengths li")).to_have_count(strong)
    card = picture.find("> .tfe-hover")
    for leaves in (
        lambda: page.evaluate("scrollBy(0, scrollY ? -40 : 40)"),
        lambda: page.touchscreen.tap(180, 24),
    ):
        page.touchscreen.tap(*picture.spot(picture.box(row=2, col=1)))
        expect(card).to_be_visible()
        leaves()
        expect(card).to_be_hidden()


def test_a_head_is_asked_to_be_silenced_by_pointer_and_by_keys(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_kind=cross&_head=2.6&_row=9&_col=3")
    listen(page_watch, "silence")
    picture.click(picture.point(head="2.6"), shift=True)
    picture.press("Shift+Enter")
    assert heard(page_watch) == [{"kind": "cross", "layer": 1, "head": 5}] * 2
