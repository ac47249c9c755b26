"""The picture of soft masks in a real browser, with spans and weights from a fixed seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.base import write_script_address
from explorer.components.stage import place_picture
from explorer.contract.control_kinds import KnobControl, MenuControl
from explorer.contract.controls import spell_query
from explorer.contract.knobs import Spans
from explorer.contract.lab import OpenLab
from explorer.labs.adaptive_span import texts
from explorer.labs.adaptive_span.figures.masks import find_telling_head
from explorer.page.program import About, AnswerBar, Program
from explorer.page.runs import StoredRun
from explorer.page.views import View
from explorer.values.exact_rows import RowSource, exact_row_store
from models.adaptive_span.records import Explanation
from models.adaptive_span.saving import reaches
from models.adaptive_span.weights import look
from models.explaining.request_fields import any_field, choice_field
from tests.browser.staged import Picture, bare
from tests.browser.waiting import addressed, becomes, measure_box
from tests.explorer import spanned
from tests.explorer.spanned import RAMP, SPAN


def _soft_mask(z: float) -> np.ndarray:
    """m_z(x) = clamp((R + z − x) / R, 0, 1) of the distances 0 … S − 1."""
    return np.clip((RAMP + z - np.arange(SPAN)) / RAMP, 0, 1)


def kept(seen: Explanation, forced: object) -> tuple[str, str]:
    """The addresses of exact weights before and after the mask."""
    found = []
    for which in ("before", "after"):

        def rows(layer: int, head: int, chosen: range, which: str = which) -> Any:
            return getattr(look(seen, layer, head, chosen), which)

        made_of = f"{seen.variant} {forced} {which}".encode()
        found.append(exact_row_store().put(RowSource(rows, 4, 4, len(seen.text), 0), made_of))
    return found[0], found[1]


@dataclass(frozen=True)
class Ask:
    """What is asked of the masks' model."""

    variant: str = choice_field("adaptive", ("adaptive", "dynamic"), en="variant", zh="变体")
    spans: tuple[tuple[int, int, float], ...] = any_field(())


def explain(requests: Sequence[Ask]) -> list[Explanation]:
    """Runs under these spans."""
    return [spanned.run(one.variant, one.spans) for one in requests]


def drawn_of(seen: Explanation, request: Ask, state: str) -> dict[str, object]:
    """What the masks draw of a run."""
    return spanned.value(seen, kept(seen, request.spans), state, query=spell_query(request))


def page_of(start: Ask) -> Callable[[OpenLab, Any], None]:
    """What stands on one trial page: the widget, run again as it asks."""
    seen = spanned.run(start.variant, start.spans)
    nothing = {"en": "spans", "zh": "跨度"}
    program: Program[Ask, Explanation] = Program(
        explain=explain,
        kind=Ask,
        controls=(
            MenuControl("variant", nothing),
            KnobControl(
                "spans",
                nothing,
                knob=Spans(layers=4, heads=4, span=SPAN, ramp=RAMP),
                change=True,
                says=lambda spans: nothing,
            ),
        ),
        views=(
            View(
                "masks",
                lambda value: place_picture(
                    "masks", value, texts=texts.MASKS, picture="adaptive_span/masks"
                ),
                drawn_of,
            ),
        ),
        change=None,
        examples=((start, nothing),),
        first=lambda: StoredRun(start, seen, 12.0, "cpu"),
        about=About(nothing, nothing, lambda: (), dict, lambda: None),
        bar=AnswerBar(nothing),
    )
    return program.place_page


STARTS = {
    "adaptive": Ask(),
    "dynamic": Ask("dynamic"),
    "forced": Ask(spans=((3, 1, 96.0), (1, 1, 200.0))),
}


PAGES = {slug: page_of(start) for slug, start in STARTS.items()}


def opened(page: Page, site: str, slug: str = "adaptive", query: str = "lang=en") -> Picture:
    """The picture once the weights of its locked character are there."""
    picture = Picture(page, "masks").open(f"{site}/{slug}?{query}")
    opens = ("keeps", "保留")
    becomes(page, lambda: any(text.startswith(opens) for text in picture.texts()), True)
    return picture


def there(
    picture: Picture, head: str, pos: int | str, axis: str = "linear", scope: str = "head"
) -> None:
    """Waits until this head and this character are in view."""
    picture.drawn(f"head={head} pos={pos} masksaxis={axis} masksscope={scope}")


def numbers(picture: Picture) -> list[int]:
    """How far each head looks, as it is printed at its bar."""
    return [int(text) for text in picture.texts(trace="looks back")]


def far(z: Any) -> list[int]:
    """The same as the models count it."""
    return [int(n) for n in reaches(np.asarray(z, np.float32), spanned.SHAPE).ravel()]


def test_the_numbers_agree_with_those_of_the_models(page_watch: Page, site: str) -> None:
    page = bare(page_watch, site)
    seen = spanned.run()
    before = spanned.whole(seen).distances_before[3, 2]
    spans = [0, 0.5, 15, 480, 500.25, 512]
    found = page.evaluate(
        """async ([address, spans, ramp, span, before]) => {
            const { soft, reach, spelled, masked } = await import(address);
            const none = Number.NaN;
            return {
                masks: spans.map((z) => Array.from({ length: span }, (_, x) => soft(z, ramp, x))),
                reaches: spans.map((z) => reach(z, ramp, span)),
                masked: masked(Float32Array.from(before), 15, ramp).after
                    .reduce((sum, w) => sum + w, 0),
                kept: masked(Float32Array.from(before), 15, ramp).kept,
                spelled: [[none, none, none, none], [none, 16.5, none, none], [16, 16, none, 5],
                    [16, 16, 16, 16]]
                    .map((one) => spelled(Float32Array.from(one), 2, 2)),
            };
        }""",
        [write_script_address("labs/adaptive_span/masks.js"), spans, RAMP, SPAN, before.tolist()],
    )
    np.testing.assert_allclose(found["masks"], [_soft_mask(z) for z in spans], atol=1e-6)
    assert found["reaches"] == far(spans)
    assert found["kept"] == pytest.approx((before * _soft_mask(15)).sum() / before.sum(), rel=1e-5)
    assert found["masked"] == pytest.approx(before.sum(), rel=1e-5)
    assert found["spelled"] == ["", "0.1.16%2E5", "0.-1.16,1.1.5", "-1.-1.16"]


def test_bars_mask_and_sentence_agree(picture: Picture, site: str) -> None:
    seen = spanned.run()
    picked = find_telling_head(seen.z, SPAN, RAMP, seen.given, len(seen.text))
    there(picture, str(picked["head"]), str(picked["pos"]))
    means = np.minimum(SPAN, seen.z.mean(2) + RAMP).mean(1)
    assert numbers(picture) == far(seen.z)
    assert {f"mean {mean:.0f}" for mean in means} <= set(picture.texts())
    picture.click(picture.spot("2·2"))
    there(picture, "2.2", 572)
    addressed(picture.page, _head="2.2")
    one = look(seen, 1, 1, [572])
    every = look(seen, 1, 1, range(len(seen.text)))
    here, left = (float((each.before * each.mask).sum(1).mean()) for each in (one, every))
    best = int(one.after[0, :573][::-1].argmax())
    pair = f"{one.before[0, 572 - best]:.2f} → {one.after[0, 572 - best]:.2f}."
    picture.says(
        "Head 2·2 looks 47 back (z = 15, ramp 32): 9 % of 512; on this text the mask keeps"
        f" {left:.2f} of its weight.",
        f"At “{seen.text[572]}”·572 it keeps {here:.2f}",
        f"“{seen.text[571 - best]}”·{571 - best}, {best} back: {pair}",
    )
    assert "z = 15 · looks 47 back" in picture.texts()
    picture.walks(
        "head={} pos={}", "ArrowRight 2.2 573, ArrowDown 2.3 573, Home 2.3 0, ArrowUp 2.2 0"
    )
    picture.find("[data-key=log]").click()
    addressed(picture.page, _masksaxis="log")
    assert (
        "No character is locked."
        in Picture(picture.page, "masks").open(f"{site}/adaptive?lang=en&_pos=none").texts()
    )


def test_a_dragged_span_is_drawn_at_once(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, query="lang=en&_head=3.2")
    page = picture.page
    handle = page.get_by_role("slider", name="Span z of head 3·2")
    handle.scroll_into_view_if_needed()
    box = measure_box(handle)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(x, y)  # who only touches it changes nothing
    page.mouse.down()
    page.mouse.move(x + 120, y, steps=3)
    picture.says("Head 3·2 would look")
    z = int(handle.get_attribute("aria-valuenow") or 0)
    assert z > 100
    picture.says(f"would look {z + RAMP} back")
    becomes(page, lambda: len(picture.traces("forced")[0]["x"]), 1)
    page.mouse.up()
    picture.says(f"Head 3·2 looks {z + RAMP} back (z = {z}, ramp 32)")
    forced = spanned.LEARNED.copy()
    forced[2, 1] = z
    assert numbers(picture) == far(forced)
    assert len(picture.marks("shape", dash="4px,3px")) == 1
    assert len(picture.traces("as trained")) == 1
    page.get_by_role("button", name="Restore the trained spans").click()
    becomes(page, lambda: numbers(picture), far(spanned.LEARNED))


def test_the_handle_goes_with_the_zoom(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, query="lang=en&_head=3.2")
    handle = page_watch.get_by_role("slider", name="Span z of head 3·2")
    _, y = picture.spot("0.5")  # halfway up the mask
    width = "(node) => node._fullLayout.xaxis2.range[1]"
    places = """(node) => { const box = node.getBoundingClientRect(), x = node._fullLayout.xaxis2;
        return [0, 128].map((d) => box.left + x._offset + x.d2p(d)); }"""
    board = picture.find(".js-plotly-plot").nth(1)
    left, right = (int(handle.get_attribute("aria-valuenow") or 0), measure_box(handle)["x"])
    start, end = board.evaluate(places)
    page_watch.mouse.move(start + 1, y)
    page_watch.mouse.down()
    page_watch.mouse.move(end, y, steps=5)
    page_watch.mouse.up()
    becomes(page_watch, lambda: measure_box(handle)["x"] > right + 40, True)
    strip = "(node) => node._fullLayout.xaxis3.range[1]"
    assert board.evaluate(strip) == board.evaluate(width), "what a character looks at goes along"
    box = measure_box(handle)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page_watch.mouse.move(x, y)
    page_watch.mouse.down()
    page_watch.mouse.move(x + 40, y, steps=2)
    picture.says("would look")
    moved = int(handle.get_attribute("aria-valuenow") or 0) - left
    page_watch.mouse.up()
    assert 0 < moved < 24, "a step of the pointer is a quarter as far"
    assert 120 < board.evaluate(width) < 136, "zoom stays while one drags"


def test_keys_move_the_span_of_a_layer_and_of_all_heads(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, query="lang=en&_head=2.1")
    picture.find("[data-key=layer]").click()
    handle = page_watch.get_by_role("slider", name="Span z of all heads of layer 2", exact=True)
    handle.focus()
    for key in ("Home", "Shift+ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        page_watch.keyboard.press(key)
    expect(handle).to_have_attribute("aria-valuetext", "z = 19, looks 51 of 512 characters back")
    forced = spanned.LEARNED.copy()
    forced[1] = 19
    picture.says("Head 2·1 looks 51 back (z = 19")
    assert numbers(picture) == far(forced)
    picture.find("[data-key=all]").click()
    page_watch.get_by_role("slider", name="Span z of all heads", exact=True).focus()
    page_watch.keyboard.press("End")
    picture.says("Head 2·1 looks 512 back (z = 512")
    assert numbers(picture) == [SPAN] * 16


def test_a_span_that_follows_the_token_is_drawn_along_the_text(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "dynamic", "lang=en&_head=3.4&_pos=600")
    own = spanned.run("dynamic").z[2, 3]
    here, low, high = (f"{round(float(one), 1):g}" for one in (own[600], own.min(), own.max()))
    picture.says(f"z is {here}, between {low} and {high} in this text")
    picture.shows("span z at each character")
    picture.click(picture.point(pos=603))
    addressed(page_watch, _pos="603")


def test_figure_table_and_numbers_are_taken_along(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "forced", "lang=en&_head=2.2")
    seen = spanned.run("adaptive", ((3, 1, 96.0), (1, 1, 200.0)))
    rows, arrays, one = picture.rows(), picture.arrays(), look(seen, 1, 1, [572])
    assert [int(row["looks back, characters"]) for row in rows] == far(seen.z)
    assert [row["z as trained"] for row in rows if row["forced"] == "yes"] == ["15", "96"]
    np.testing.assert_allclose(
        arrays["weight_by_distance_before"], one.before[0, 572:60:-1], atol=2e-5
    )
    np.testing.assert_allclose(
        arrays["weight_by_distance_after"], one.after[0, 572:60:-1], atol=2e-5
    )
    np.testing.assert_array_equal(arrays["z"], seen.z)
