"""bertviz's views in a real browser, in the real frame of the real server: numbers, hostile tokens,
keys, theme, language, limits.

Run as a program, this file is that server: a process of its own, with one lab whose page is the
    widget alone.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache

import gradio as gr
import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Frame, Page, expect

from explorer.components import bertviz as widget
from explorer.contract.lab import OpenLab
from explorer.figures.bertviz import Attention, list_encoder_decoder
from tests.browser import attending
from tests.browser.staged import NEW
from tests.browser.waiting import addressed, becomes, focus, quiet
from tests.fitting import refused_by_axe

Array = NDArray[np.float32]
HOSTILE = [
    *attending.HOSTILE[:1],
    "<script>alert(2)</script>",
    "<svg/onload=alert(3)>",
    "PYTHON_PARAMS;",
    "javascript:alert(9)",
]
HOSTILE += [
    '"><iframe srcdoc="<script>parent.alert(4)</script>">',
    "<!--<script>",
    "-->",
    "]]>",
    "';alert(5);'",
    '"});alert(6);({"',
    "${alert(7)}",
]
HOSTILE += [
    "{{constructor.constructor('alert(8)')()}}",
    "url(https://example.org/x.png)",
    "&lt;img src=x onerror=alert(10)&gt;",
]
HOSTILE += [
    "<link rel=stylesheet href=https://example.org/x.css>",
    "<base href=//example.org/>",
    "\\u003cscript\\u003ealert(11)",
]
HOSTILE += [
    "\u202ealert\u2028(12)",
    "</title></style></main><meta http-equiv=refresh content=0;url=//example.org>",
]
TARGET = ["<s>", "Ein", "Mann", "am", "Strand", *HOSTILE[:2]]
OTHER, LONG = "v=1&sentence=other", "v=1&sentence=long"


def run(
    source: list[str], target: list[str], layers: int = 2, heads: int = 3, d_head: int = 4
) -> tuple[Attention, ...]:
    """A run from a fixed seed."""
    random = np.random.default_rng(3)
    weights: dict[str, Array] = {}
    vectors: dict[str, tuple[Array, Array]] = {}
    for key, left, right in (
        ("encoder", source, source),
        ("decoder", target, target),
        ("cross", target, source),
    ):
        query, keys = (
            2 * random.standard_normal((layers, heads, len(side), d_head)).astype(np.float32)
            for side in (left, right)
        )
        scores = query @ keys.swapaxes(-1, -2) / np.sqrt(d_head)
        if key == "decoder":
            scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        weights[key], vectors[key] = (
            (raised / raised.sum(-1, keepdims=True)).astype(np.float32),
            (query, keys),
        )
    found = list_encoder_decoder(
        weights["encoder"], weights["decoder"], weights["cross"], source, target
    )
    return tuple(
        replace(one, queries=vectors[one.key][0], keys=vectors[one.key][1]) for one in found
    )


@cache
def runs() -> dict[str, tuple[Attention, ...]]:
    """What visitors of the trial page see, by the request part of its address."""
    return {
        "": run(HOSTILE, TARGET),
        OTHER: run(["other"] * 3, ["<s>", "anders"]),
        LONG: run(["x"] * 90, ["<s>"], 4, 8),
    }


def page(lab: OpenLab, engine: object) -> None:
    """Places the widget and answers it."""
    views = widget.place_bertviz(note=widget.ENCODER_DECODER)

    async def show(event: gr.EventData) -> dict[str, object]:
        look = widget.BertvizSelection.from_event(event._data)
        return await asyncio.to_thread(widget.render_frame, look, runs()[look.run])

    views.ask(show, None, views, show_progress="hidden")


PAGES = {"trial": page}


def opened(page: Page, site: str, query: str) -> Frame:
    """The frame of bertviz once it has drawn."""
    page.goto(f"{site}/trial?{query}")
    return drawn(page)


def drawn(page: Page, title: str = "bertviz") -> Frame:
    """The frame that stands in the page now, once it has drawn."""
    handle = page.wait_for_selector(f".tfe-bertviz iframe[title*='{title}']")
    assert handle is not None
    frame = handle.content_frame()
    assert frame is not None
    frame.wait_for_selector("#vis [tabindex]", state="attached")
    return frame


def bound(frame: Frame, selector: str) -> Array:
    """The numbers that bertviz's d3 holds behind these elements."""
    return np.array(
        frame.evaluate(
            "(selector) => [...document.querySelectorAll(selector)].map((node) => node.__data__)",
            selector,
        ),
        np.float32,
    )


def texts(frame: Frame, selector: str) -> list[str]:
    """What these elements say."""
    return list(
        frame.evaluate(
            "(selector) => [...document.querySelectorAll(selector)].map((node) =>"
            " node.textContent)",
            selector,
        )
    )


def elements(frame: Frame) -> int:
    """How many elements stand in the frame that a token could have become."""
    return frame.locator("img, iframe, link, base, object, embed, svg svg, main main").count()


def test_the_head_view_draws_the_run(page_watch: Page, site: str) -> None:
    frame = opened(page_watch, site, "_bertviz=head&_kind=cross&_head=2.1")
    _, decoder, cross = runs()[""]
    np.testing.assert_allclose(bound(frame, "#attention line"), cross.weights[1].ravel(), atol=1e-4)
    assert texts(frame, "#left text") == TARGET
    assert texts(frame, "#right text") == HOSTILE
    frame.select_option("#layer", label="1")
    np.testing.assert_allclose(bound(frame, "#attention line"), cross.weights[0].ravel(), atol=1e-4)
    frame.select_option("#filter", label="Decoder self-attention")
    np.testing.assert_allclose(
        bound(frame, "#attention line"), decoder.weights[0].ravel(), atol=1e-4
    )
    assert frame.locator("#layer").evaluate("(node) => [node.value, node.options.length]") == [
        "1",
        2,
    ]
    assert elements(frame) == 0
    # The frame reaches neither the page around it nor anything else.
    box = page_watch.locator(".tfe-bertviz iframe")
    assert box.get_attribute("sandbox") == "allow-scripts"
    answer = page_watch.request.get(
        page_watch.evaluate("location.origin") + str(box.get_attribute("src")).split("#")[0]
    )
    assert (
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline';"
        in answer.headers["content-security-policy"]
    )
    assert (
        frame.evaluate(
            "() => { try { return parent.document.title } catch (error) { return error.name } }"
        )
        == "SecurityError"
    )
    assert frame.evaluate("origin") == "null"


def test_the_model_view_draws_the_run(page_watch: Page, site: str) -> None:
    frame = opened(page_watch, site, "_bertviz=model&_kind=cross")
    cross = runs()[""][2]
    np.testing.assert_allclose(bound(frame, "#vis svg > g line"), cross.weights.ravel(), atol=1e-4)
    frame.locator("[aria-label='2·3']").dispatch_event("click")
    assert texts(frame, "text.detail") == ["Layer 2, Head 3"]
    np.testing.assert_allclose(
        bound(frame, "g.detail line"), cross.weights[1, 2].ravel(), atol=1e-4
    )
    assert texts(frame, "g.detail text.token") == [*TARGET, *HOSTILE]
    assert elements(frame) == 0


def test_the_neuron_view_draws_the_run(page_watch: Page, site: str) -> None:
    frame = opened(page_watch, site, "_bertviz=neuron&_kind=cross&_head=2.3")
    cross = runs()[""][2]
    assert cross.queries is not None
    assert cross.keys is not None
    np.testing.assert_allclose(
        bound(frame, "#collapsed .attn-line-group line"), cross.weights[1, 2].ravel(), atol=1e-4
    )
    np.testing.assert_allclose(
        bound(frame, "#queries .element").ravel(), cross.queries[1, 2].ravel(), atol=1e-4
    )
    np.testing.assert_allclose(
        bound(frame, "#expanded #keys .element").ravel(), cross.keys[1, 2].ravel(), atol=1e-4
    )
    assert texts(frame, "#collapsed text.token") == [*TARGET, *HOSTILE]
    focus(page_watch, frame, "#collapsed #leftText g >> nth=4")
    page_watch.keyboard.press("Enter")
    expect(frame.locator("#product .element")).to_have_count(len(HOSTILE) * cross.keys.shape[-1])
    products = bound(frame, "#product .element").reshape(len(HOSTILE), -1)
    np.testing.assert_allclose(products, cross.queries[1, 2, 4] * cross.keys[1, 2], atol=2e-3)
    # √d_head is 2
    np.testing.assert_allclose(bound(frame, "#dotproducts rect"), products.sum(1) / 2, atol=2e-3)
    assert elements(frame) == 0

    # Products with the future are hidden where the mask hides it, and only there.
    def hidden() -> int:
        frame.locator("#expanded #leftText text").nth(1).dispatch_event("mouseover")
        return int(
            frame.evaluate(
                "() => [...document.querySelectorAll('#product .vector')].filter((node) =>"
                " node.style.opacity === '0').length"
            )
        )

    assert hidden() == 0
    frame.select_option("#filter", label="Decoder self-attention")
    assert hidden() == len(TARGET) - 2
    frame.select_option("#filter", label="Encoder self-attention")
    assert hidden() == 0


def test_it_opens_and_works_by_keyboard(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    page.goto(f"{site}/trial")
    page.wait_for_selector(".tfe-bertviz summary")
    quiet(page, faults)
    assert not any("/queue/join" in asked or "/frames/" in asked for asked in faults.requests)
    page.locator(".tfe-bertviz summary").focus()
    page.keyboard.press("Enter")
    frame = drawn(page)
    assert sum("/queue/join" in asked for asked in faults.requests) == 1
    addressed(page, _bertviz="head")
    here = (
        "document.hasFocus() && (document.activeElement.id ||"
        " document.activeElement.getAttribute('aria-label'))"
    )
    # The frame hears of its focus in a process of its own: each key is pressed when the one before
    # it has arrived.
    page.keyboard.press("Tab")
    expect(page.locator(".tfe-bertviz [role=radio][aria-checked=true]")).to_be_focused()
    for stop in ("layer", "filter", HOSTILE[0]):
        page.keyboard.press("Tab")
        becomes(page, lambda: frame.evaluate(here), stop)
    focus(page, frame, "#left [tabindex='0']")
    page.keyboard.press("ArrowDown")
    becomes(page, lambda: frame.evaluate(here), HOSTILE[1])
    lit = (
        "() => [...document.querySelectorAll('#attention line[visibility=visible]')].map((line) =>"
        " line.getAttribute('left-token-index'))"
    )
    becomes(page, lambda: set(frame.evaluate(lit)), {"1"})
    page.locator(".tfe-bertviz [role=radio][aria-checked=true]").focus()
    frame.wait_for_function("() => !document.hasFocus()")
    page.keyboard.press("ArrowRight")
    frame = drawn(page, "model view")
    focus(page, frame, "#vis [tabindex='0']")
    page.keyboard.press("ArrowRight")
    becomes(page, lambda: frame.evaluate(here), "1·2")
    page.keyboard.press("Enter")
    becomes(page, lambda: texts(frame, "text.detail"), ["Layer 1, Head 2"])
    addressed(page, _bertviz="model")


def test_the_frame_follows_theme_and_text(new_page: NEW, site: str) -> None:
    page, faults = new_page(width=360, height=780, color_scheme="dark", locale="zh-CN")
    frame = opened(page, site, "_bertviz=model")
    assert frame.evaluate(
        "[document.documentElement.lang, document.documentElement.className]"
    ) == ["zh-CN", "dark"]
    assert texts(frame, "#filter option") == ["编码器自注意力", "解码器自注意力", "交叉注意力"]
    assert texts(frame, "#vis svg > text")[0] == "头"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert frame.evaluate("document.documentElement.scrollWidth > innerWidth")
    ground = "getComputedStyle(document.querySelector('.attn_background')).fill"
    night, before = frame.evaluate(ground), len(faults.requests)
    page.evaluate("document.body.classList.remove('dark')")
    frame.wait_for_function("() => !document.documentElement.classList.contains('dark')")
    assert frame.evaluate(ground) != night
    assert len(faults.requests) == before


def test_the_run_in_the_address_is_shown(page_watch: Page, site: str) -> None:
    page = page_watch
    assert texts(opened(page, site, f"{OTHER}&_bertviz=head"), "#left text") == ["other"] * 3
    page.goto(f"{site}/trial?{LONG}&_bertviz=model")
    expect(page.locator(".tfe-bertviz .tfe-error")).to_contain_text("259,200 in its model view")
    assert page.locator(".tfe-bertviz iframe").count() == 0


def test_axe_finds_nothing_in_its_frame(page_watch: Page, site: str) -> None:
    for view in ("head", "model", "neuron"):
        frame = opened(page_watch, site, f"{OTHER}&_bertviz={view}")
        if view == "neuron":  # light was seen in the views before
            page_watch.evaluate("document.body.classList.add('dark')")
            frame.wait_for_function("() => document.documentElement.classList.contains('dark')")
        assert refused_by_axe(frame, "body") == []
