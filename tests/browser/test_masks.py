"""The masks widget in a real browser, on the real server, with spans and weights from a fixed seed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.controls import Control, query
from explorer.figures.masks import telling
from explorer.knobs import Spans
from explorer.lab import Lab
from explorer.looks import Look, looks
from explorer.program import About, Program
from explorer.runs import Stored
from explorer.views import View
from explorer.widgets.base import asset
from explorer.widgets.masks import masks
from models.adaptive_span.records import Explanation
from models.adaptive_span.saving import reaches
from models.adaptive_span.weights import look, soft_mask
from models.fields import anything, choice
from tests.bench import Bench
from tests.browser.waiting import addressed, becomes
from tests.explorer import spanned
from tests.explorer.spanned import RAMP, SPAN

NEW = Callable[..., tuple[Page, Any]]


def kept(seen: Explanation, forced: object) -> tuple[str, str]:
    """The addresses of exact weights before and after the mask."""
    found = []
    for which in ("before", "after"):

        def rows(layer: int, head: int, chosen: range, which: str = which) -> Any:
            return getattr(look(seen, layer, head, chosen), which)

        made_of = f"{seen.variant} {forced} {which}".encode()
        found.append(looks().put(Look(rows, 4, 4, len(seen.text), 0), made_of))
    return found[0], found[1]


@dataclass(frozen=True)
class Ask:
    """What is asked of the masks' model."""

    variant: str = choice("adaptive", ("adaptive", "dynamic"), en="variant", zh="变体")
    spans: tuple[tuple[int, int, float], ...] = anything(())


def explain(requests: Sequence[Ask]) -> list[Explanation]:
    """Runs under these spans."""
    return [spanned.run(one.variant, one.spans) for one in requests]


def drawn_of(seen: Explanation, request: Ask, state: str) -> dict[str, object]:
    """What the masks draw of a run."""
    return spanned.value(seen, kept(seen, request.spans), state, query=query(request))


def page_of(start: Ask) -> Callable[[Lab, Any], None]:
    """What stands on one trial page: the widget, run again as it asks."""
    seen = spanned.run(start.variant, start.spans)
    nothing = {"en": "spans", "zh": "跨度"}
    program: Program[Ask, Explanation] = Program(
        explain=explain,
        kind=Ask,
        controls=(
            Control("variant", nothing, "select"),
            Control("spans", nothing, "knob", knob=Spans(layers=4, heads=4, span=SPAN, ramp=RAMP), change=True, says=lambda spans: nothing),
        ),
        views=(View("masks", masks, drawn_of),),
        change=None,
        examples=((start, nothing),),
        first=lambda: Stored(start, seen, 12.0, "cpu"),
        answer=lambda _seen, _request: None,
        about=About(nothing, nothing, lambda: (), dict, lambda: None),
        region=nothing,
    )
    return program.place


STARTS = {"adaptive": Ask(), "dynamic": Ask("dynamic"), "forced": Ask(spans=((3, 1, 96.0), (1, 1, 200.0)))}


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {slug: page_of(start) for slug, start in STARTS.items()}, year=2019)


def opened(page: Page, site: str, slug: str = "adaptive", query: str = "lang=en") -> Page:
    """The page once the weights of its locked character are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-masks[data-drawn$=looked]", state="attached")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the figure shows "adaptive 4.3 572 looked"."""
    expect(page.locator(".tfe-masks")).to_have_attribute("data-drawn", what)


def numbers(page: Page) -> list[int]:
    """How far each head looks, as it is printed at its bar."""
    return [int(text) for text in page.locator(".tfe-masks-bars .reach").all_text_contents()]


def far(z: Any) -> list[int]:
    """The same as the models count it."""
    return [int(n) for n in reaches(np.asarray(z, np.float32), spanned.SHAPE).ravel()]


def saved(page: Page, kind: str) -> bytes:
    """What the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-masks .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def test_the_numbers_agree_with_those_of_the_models(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    seen = spanned.run()
    before = spanned.profiles(seen).before[3, 2]
    counts = (len(seen.text) - np.arange(SPAN)).astype(np.float32)
    spans = [0, 0.5, 15, 480, 500.25, 512]
    found = page.evaluate(
        """async ([address, spans, ramp, span, before, counts]) => {
            const { soft, reach, kept, spelled, masked, axis, ticks } = await import(address);
            const none = Number.NaN;
            return {
                masks: spans.map((z) => Array.from({ length: span }, (_, x) => soft(z, ramp, x))),
                reaches: spans.map((z) => reach(z, ramp, span)),
                kept: kept(before, counts, 15, ramp),
                masked: masked(before, 15, ramp).after.reduce((sum, w) => sum + w, 0),
                spelled: [[none, none, none, none], [none, 16, none, none], [16, 16, none, 5], [16, 16, 16, 16]]
                    .map((one) => spelled(one, 2, 2)),
                there: [0, 1, 40, 511].every((x) => ["linear", "log"].map((kind) => axis(kind, span))
                    .every(({ at, of }) => Math.abs(of(at(x)) - x) < 1e-6)),
                ticks: ["linear", "log"].map((kind) => ticks(kind, span, 400)),
            };
        }""",
        [asset("lib/masknumbers.js"), spans, RAMP, SPAN, before.tolist(), counts.tolist()],
    )
    np.testing.assert_allclose(found["masks"], [soft_mask(z, RAMP, SPAN) for z in spans], atol=1e-6)
    assert found["reaches"] == far(spans)
    by_hand = (before * counts * soft_mask(15, RAMP, SPAN)).sum() / (before * counts).sum()
    assert found["kept"] == pytest.approx(by_hand, rel=1e-5)
    assert found["masked"] == pytest.approx(before.sum(), rel=1e-5)
    assert found["spelled"] == [[], [[0, 1, 16]], [[0, -1, 16], [1, 1, 5]], [[-1, -1, 16]]]
    assert found["there"] and found["ticks"][0] == [0, 64, 128, 192, 256, 320, 384, 448, 512]
    assert found["ticks"][1][0] == 0 and found["ticks"][1][-1] == SPAN


def test_bars_mask_and_sentence_say_the_same_of_a_head(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    seen = spanned.run()
    picked = telling(seen.z, SPAN, RAMP, seen.given, len(seen.text))
    drawn(page, f"adaptive {picked['head']} {picked['pos']} looked")
    assert numbers(page) == far(seen.z)
    assert page.locator(".tfe-masks-bars text", has_text="mean 241").count() == 1
    page.locator(".tfe-masks-bars .head[data-head='2.2'] .reach, .tfe-masks-bars .head[data-head='2.2'] text").first.click()
    drawn(page, "adaptive 2.2 572 looked")
    addressed(page, _head="2.2")
    one = look(seen, 1, 1, [572])
    here = float((one.before * one.mask).sum())
    left = float(spanned.profiles(seen).kept[1, 1])
    words = page.locator(".tfe-masks .tfe-words")
    expect(words).to_contain_text(
        f"Head 2·2 looks 47 back (z = 15, ramp 32): 9 % of 512; on this text the mask keeps {left:.2f} of its weight."
    )
    expect(words).to_contain_text(f"At “{seen.text[572]}”·572 it keeps {here:.2f}")
    best = int(one.after[0, :573][::-1].argmax())
    expect(words).to_contain_text(
        f"“{seen.text[571 - best]}”·{571 - best}, {best} back: {one.before[0, 572 - best]:.2f} → {one.after[0, 572 - best]:.2f}."
    )
    expect(page.locator(".tfe-masks-board .told")).to_have_text("z = 15 · looks 47 back")


def test_keys_step_characters_and_heads_and_reset(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-masks-board").focus()
    for key, there in (
        ("ArrowRight", "4.3 573"),
        ("ArrowDown", "4.4 573"),
        ("ArrowDown", "1.1 573"),
        ("ArrowUp", "4.4 573"),
        ("ArrowLeft", "4.4 572"),
    ):
        page.keyboard.press(key)
        drawn(page, f"adaptive {there} looked")
    page.keyboard.press("Escape")
    drawn(page, "adaptive 4.3 572 looked")
    addressed(page, _head=None, _pos=None)
    page.locator(".tfe-masks [data-key=log]").click()
    addressed(page, _masksaxis="log")
    expect(page.locator(".tfe-masks-board .tfe-mono").first).to_have_text(spanned.text()[571])
    page.goto(f"{site}/adaptive?lang=en&_pos=none")
    drawn(page, "adaptive 4.3 none bare")


def test_a_dragged_span_is_seen_at_once_and_run_when_the_hand_rests(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="lang=en&_head=3.2")
    handle = page.get_by_role("slider", name="Span z of head 3·2")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    assert box is not None
    x = box["x"] + box["width"] / 2
    page.mouse.move(x, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(x + 120, box["y"] + 40, steps=3)
    drawn(page, "adaptive 3.2 572 dragged")
    z = int(handle.get_attribute("aria-valuenow") or 0)
    assert z > 100
    expect(page.locator(".tfe-masks .tfe-words")).to_contain_text(f"Head 3·2 would look {z + RAMP} back")
    expect(page.locator(".tfe-masks-bars .forced")).to_have_count(1)
    page.mouse.up()
    drawn(page, "adaptive 3.2 572 looked")
    expect(page.locator(".tfe-masks .tfe-words")).to_contain_text(f"Head 3·2 looks {z + RAMP} back (z = {z}, ramp 32)")
    forced = spanned.LEARNED.copy()
    forced[2, 1] = z
    assert numbers(page) == far(forced)
    expect(page.locator(".tfe-masks-bars .trained")).to_have_count(1)
    expect(page.locator(".tfe-masks-board .trained")).to_have_count(1)
    page.get_by_role("button", name="Restore the trained spans").click()
    becomes(page, lambda: numbers(page), far(spanned.LEARNED))
    drawn(page, "adaptive 3.2 572 looked")
    expect(page.locator(".tfe-masks-bars .forced")).to_have_count(0)


def test_keys_move_the_span_of_a_layer_and_of_all_heads(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="lang=en&_head=2.1")
    page.locator(".tfe-masks [data-key=layer]").click()
    handle = page.get_by_role("slider", name="Span z of all heads of layer 2")
    handle.focus()
    for key in ("Home", "Shift+ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(handle).to_have_attribute("aria-valuenow", "63")
    expect(handle).to_have_attribute("aria-valuetext", "z = 63, looks 95 of 512 characters back")
    drawn(page, "adaptive 2.1 572 looked")
    forced = spanned.LEARNED.copy()
    forced[1] = 63
    assert numbers(page) == far(forced)
    page.locator(".tfe-masks [data-key=all]").click()
    page.get_by_role("slider", name="Span z of all heads").focus()
    page.keyboard.press("End")
    becomes(page, lambda: numbers(page), [SPAN] * 16)
    drawn(page, "adaptive 2.1 572 looked")


def test_a_span_that_follows_the_token_is_drawn_along_the_text(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "dynamic", "lang=en&_head=3.4&_pos=600")
    seen = spanned.run("dynamic")
    own = seen.z[2, 3]
    words = page.locator(".tfe-masks .tfe-words")
    told = f"z is {round(float(own[600]), 1):g}, between {round(float(own.min()), 1):g} and {round(float(own.max()), 1):g} in this text"
    expect(words).to_contain_text(told)
    letters = page.locator(".tfe-masks-board .tfe-mono")
    before = letters.count()
    assert before > 30 and page.locator(".tfe-masks-bars .range").count() == 2 * 16
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js"));
            (await import(address)).bus.on("hover-pos", ({ pos }) => { window.hovered = pos; }); }"""
    )
    letters.nth(5).hover()
    page.wait_for_function("Number.isInteger(window.hovered)")
    position = page.evaluate("window.hovered")
    assert seen.text[position].strip() in letters.nth(5).text_content() and abs(position - 600) < before, "the window stays where it is"
    drawn(page, f"dynamic 3.4 {position} looked")
    letters.nth(5).click()
    addressed(page, _pos=str(position))
    page.mouse.move(2, 2)
    page.wait_for_function("window.hovered === null")
    drawn(page, f"dynamic 3.4 {position} looked")
    assert page.locator(".tfe-masks img").count() == 0


def test_figure_table_and_numbers_are_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "forced", "lang=en&_head=2.2")
    seen = spanned.run("adaptive", ((3, 1, 96.0), (1, 1, 200.0)))
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV").decode("utf-8-sig"))))
    assert [int(row["reach"]) for row in rows] == far(seen.z)
    assert [row["z_trained"] for row in rows if row["forced"] == "1"] == ["15", "96"]
    arrays = np.load(io.BytesIO(saved(page, "NPZ")))
    one = look(seen, 1, 1, [572])
    np.testing.assert_allclose(arrays["weight_by_distance_before"], one.before[0, 572:60:-1], atol=2e-5)
    np.testing.assert_allclose(arrays["weight_by_distance_after"], one.after[0, 572:60:-1], atol=2e-5)
    np.testing.assert_array_equal(arrays["z"], seen.z)
    for kind in ("SVG", "HTML"):
        text = saved(page, kind).decode()
        assert "var(--" not in text.split("<body>")[-1] and "z = 200 · looks 232 back" in text
    assert saved(page, "PNG").startswith(b"\x89PNG")
    page.locator(".tfe-masks .tfe-export[data-kind=table]").click()
    cells = page.locator(".tfe-masks-table tbody tr").nth(5).locator("th, td").all_inner_texts()
    assert cells[:7] == ["2", "2", "200", "232", "45 %", "yes", "15"]


@pytest.mark.parametrize(("width", "height", "scheme", "lang"), [(1280, 900, "dark", "zh-CN"), (360, 780, "light", "en-US")])
def test_nothing_is_cut_off_unnamed_or_hard_to_see(new_page: NEW, site: str, width: int, height: int, scheme: str, lang: str) -> None:
    page, _ = new_page(width=width, height=height, color_scheme=scheme, locale=lang)
    opened(page, site, "dynamic", "")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("document.documentElement.clientWidth")
    found = Axe().run(page, context=".tfe-masks").response["violations"]
    assert not found, [(one["id"], [node["html"][:150] for node in one["nodes"][:3]]) for one in found]
    outside = page.evaluate(
        """() => [...document.querySelectorAll(".tfe-masks-picture")].flatMap((picture) => { const box = picture.getBoundingClientRect();
            return [...picture.querySelectorAll("text")].filter((one) => { const own = one.getBoundingClientRect();
                return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1 || own.top < box.top - 1; })
                .map((one) => one.textContent); })"""
    )
    assert outside == []
    if lang == "zh-CN":
        latin = set(
            re.findall(r"[A-Za-z_]{2,}", page.locator(".tfe-masks-head, .tfe-masks-knobs, .tfe-masks-note").all_inner_texts().__str__())
        )
        assert latin <= {"clamp", "Esc"}, latin
        page.locator(".tfe-masks-board").focus()
        page.keyboard.press("p")
        expect(page.locator(".tfe-projector-title")).to_have_text("每个头往回看多远？")
        page.wait_for_function(
            """() => [...document.querySelectorAll(".tfe-masks-picture text")]
                .every((one) => parseFloat(getComputedStyle(one).fontSize) >= 20)"""
        )
