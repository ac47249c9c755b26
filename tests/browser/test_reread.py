"""What changes if …, for long texts, in a real browser: knobs, strips, the number, the marked character, files, phones, languages."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncGenerator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.figures.sides import Side
from explorer.lab import Lab
from explorer.widgets import reread
from tests.bench import Bench
from tests.browser.waiting import addressed, becomes
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
XL = {"en": "Transformer-XL", "zh": "有记忆的模型"}
ABSOLUTE = {"en": "Absolute positions", "zh": "绝对位置模型"}
GIVEN, COUNT = 800, 1056
TEXT = ("The sea 😀 was all before them,\n" * 40)[:COUNT]
MEMORY = {"text": HOSTILE, "memory": 512, "segment": 128, "intervention": "none", "temperature": 0.7}
SPANS = {"text": "", "variant": "adaptive", "spans": []}
PICK = {"model": "xl", "head": "2.3", "pos": 640}
SENTENCE = {"en": "With ⟦k:64 states⟧ of memory, segment 3 costs most " + HOSTILE, "zh": "记忆为⟦k:64 个状态⟧时，第 3 个片段变化最大"}
REFUSED, SLOW = 1024, 32  # lengths of memory that the trial page refuses, and that it takes its time over
HELD, HELD_REFUSED = 256, 384  # likewise, of which it says nothing before their button is pressed

REMEMBERING = [
    reread.Range(
        "memory",
        {"en": "memory", "zh": "记忆"},
        (0, 32, 64, 128, 256, 384, 512, 768, 1024),
        512,
        {"en": "characters", "zh": "个字符"},
        {"en": "beyond training", "zh": "超出训练"},
    ),
    reread.Pick(
        "intervention",
        {"en": "what the memory holds", "zh": "记忆里是什么"},
        (
            ("none", {"en": "the text", "zh": "本文"}),
            ("cut", {"en": "nothing", "zh": "空"}),
            ("shuffled", {"en": "shuffled", "zh": "打乱"}),
            ("foreign", {"en": "another book", "zh": "另一本书"}),
        ),
        "none",
    ),
    reread.Pick(
        "segment",
        {"en": "read at once, characters", "zh": "一次读入的字符"},
        [(n, {"en": str(n), "zh": str(n)}) for n in (16, 32, 64, 128)],
        128,
    ),
]
SPANNING = [reread.Spans(layers=4, heads=4, span=512, ramp=32)]


def side(key: str, name: reread.Text, worse: float, seed: int) -> Side:
    """Made-up costs of a text: dear where a segment begins, dearer still where the change is felt."""
    draw = np.random.default_rng(seed)
    at = np.arange(COUNT)
    before = (draw.gamma(1.4, 0.9, COUNT) * (1 + 0.8 * np.exp(-(at % 128) / 24))).astype(np.float32)
    felt = np.exp(-(((at - 500) / 180) ** 2)) + 0.4 * (at % 128 < 40)
    after = np.maximum(before + (worse * felt + draw.normal(0, 0.3, COUNT) * worse).astype(np.float32), 0) if worse else before
    first = TEXT[GIVEN:]
    wrote = (first, first[:90] + "and " + HOSTILE + " nobody could say why they had come at all. " + first[:120])
    return Side(
        key,
        name,
        before,
        after,
        GIVEN,
        128,
        wrote,
        TEXT,
        {"en": "It has no memory.", "zh": "它没有记忆。"} if key == "absolute" else None,
    )


def changed(request: dict[str, Any]) -> reread.Value:
    """What the trial page answers: a change of the segment reaches both models, others the one that remembers."""
    both = request.get("segment", 128) != 128
    known = request.get("memory", 512) > 512  # no text is so long
    sides = [side("xl", XL, 0.0 if known else 0.4, 1), side("absolute", ABSOLUTE, 0.15 if both else 0.0, 2)]
    return reread.done(request, sides if "memory" in request else sides[:1], SENTENCE, PICK)


def page_of(knobs: list[reread.Knob], request: dict[str, Any]) -> Callable[[Lab, object], None]:
    """The panel, narrow as it stands on a page, a box that shows what it has asked for, and a link to another request."""

    def build(lab: Lab, engine: object) -> None:
        held = {memory: asyncio.Event() for memory in (HELD, HELD_REFUSED)}
        with gr.Row(elem_classes=["tfe-bench"]):
            with gr.Column(elem_classes=["tfe-bench-wide"]):
                box = gr.Textbox(label="asked", elem_id="asked")
                linked = gr.Button("a link", elem_id="linked")
                answered = gr.Textbox(label="answered", elem_id="answered")
                free = {memory: gr.Button(str(memory), elem_id=f"free-{memory}") for memory in held}
            with gr.Column(elem_classes=["tfe-bench-side"]):
                panel = reread.reread(reread.idle(request, PICK), knobs=knobs)

        async def ask(event: gr.EventData) -> AsyncGenerator[Any, None]:
            asked = {key: value for key, value in event._data.items() if key != "wished"}
            wish, memory = event._data["wished"], asked.get("memory")  # answers say which wish they answer, as those of the labs do
            if memory in held and asked["intervention"] == "none":
                await held[memory].wait()
                held[memory].clear()
            yield reread.running() | {"wished": wish, "said": 1}, json.dumps(asked), gr.skip()
            if memory in {REFUSED, HELD_REFUSED}:
                refused = reread.refused({"en": f"So much is refused. {HOSTILE}", "zh": "太多，被拒绝。"})
                yield refused | {"wished": wish, "said": 2}, gr.skip(), str(memory)
                return
            await asyncio.sleep(1 if memory == SLOW else 0.05)
            value = reread.idle(asked, PICK) if asked == request else changed(asked)
            yield value | {"wished": wish, "said": 2}, gr.skip(), str(memory)

        async def let_go(memory: int) -> None:
            held[memory].set()

        def other() -> reread.Value:
            return changed({**request, **({"memory": 200} if "memory" in request else {"spans": [[-1, -1, 16], [1, 2, 12.5]]})})

        how: dict[str, Any] = {
            "show_progress": "hidden",
            "trigger_mode": "multiple",
            "api_visibility": "private",
            "concurrency_limit": None,
        }
        panel.ask(ask, None, [panel, box, answered], **how)
        for memory, button in free.items():
            button.click(partial(let_go, memory), None, None, **how)
        linked.click(other, None, panel, **how)

    return build


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"memory": page_of([*REMEMBERING], MEMORY), "spans": page_of([*SPANNING], SPANS)}, year=2019)


def opened(page: Page, site: str, which: str = "memory", query: str = "lang=en") -> Page:
    """The page once its panel stands."""
    page.goto(f"{site}/{which}?{query}")
    page.wait_for_selector(".tfe-reread-panel")
    return page


def knob(page: Page, field: str) -> Any:
    """A slider, or the choice of a field."""
    return page.locator(f".tfe-reread [data-knob={field}]")


def turn(page: Page, field: str, to: int) -> None:
    """Moves a slider to one of its places and lets it rest."""
    knob(page, field).locator("input").evaluate(
        """(input, to) => {
            input.value = to;
            for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
        }""",
        str(to),
    )


def asked(page: Page) -> dict[str, Any]:
    """What the panel asks for, once it has been answered."""
    expect(page.locator("#asked textarea")).not_to_have_value("")
    expect(page.locator(".tfe-reread-panel")).to_have_attribute("aria-busy", "false")
    found: dict[str, Any] = json.loads(page.locator("#asked textarea").input_value())
    return found


def painted(page: Page, said: str) -> None:
    """Waits until the pictures of this model with this number stand there."""
    expect(page.locator(".tfe-reread")).to_have_attribute("data-painted", said)


def test_a_shorter_memory_gives_three_strips_on_one_scale_and_one_number(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(page.locator(".tfe-reread-result")).to_be_hidden()
    slider = knob(page, "memory").locator("input")
    expect(slider).to_have_attribute("aria-valuetext", "512 characters · as trained")
    slider.evaluate("(input) => { input.value = 2; input.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(knob(page, "memory").locator("output")).to_have_text("64 characters")
    expect(page.locator(".tfe-reread-panel")).to_have_attribute("aria-busy", "false")  # it asks when it comes to rest
    assert page.locator("#asked textarea").input_value() == ""
    turn(page, "memory", 2)
    assert asked(page) == {**MEMORY, "memory": 64}
    costs = side("xl", XL, 0.4, 1)
    was, became = (float(nats[:GIVEN].mean() / np.log(2)) for nats in (costs.before, costs.after))
    painted(page, f"xl +{became - was:.2f}")
    expect(page.locator(".tfe-reread-what")).to_have_text(f"{was:.2f} → {became:.2f}bits per character")
    expect(page.locator(".tfe-reread-strips [data-strip]")).to_have_count(3)
    heights = page.locator(".tfe-reread-strips [data-strip] > rect:first-child").evaluate_all(
        "(all) => all.map((one) => one.outerHTML.replace(/ y=[^ ]*/, ''))"
    )
    assert len(set(heights)) == 1, "three equal pictures"
    assert int(page.locator("[data-strip=before]").get_attribute("data-bars") or 0) in range(90, 112)
    expect(page.locator(".tfe-reread-rest")).to_have_text("Absolute positions · It has no memory.")
    expect(page.locator(".tfe-reread-sentence .tfe-key")).to_have_text("64 states")
    expect(page.locator(".tfe-reread-sentence")).to_contain_text(HOSTILE)
    expect(page.locator(".tfe-reread-writing ins")).to_contain_text(HOSTILE)
    assert page.locator(".tfe-reread img").count() == 0
    # Beyond training nothing changes: that is said, and there is nothing to draw.
    turn(page, "memory", 7)
    expect(page.locator(".tfe-reread-number")).to_have_text("0.00")
    expect(knob(page, "memory").locator("output")).to_have_text("768 characters · beyond training")
    expect(page.locator(".tfe-reread-board")).to_be_hidden()
    expect(page.locator(".tfe-reread-rest p").first).to_have_text(
        f"Transformer-XL · The change does not reach it: {was:.2f} bits per character, as before."
    )


def test_a_choice_asks_at_once_and_two_models_share_a_switch(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    knob(page, "segment").locator("[data-key='128']").focus()
    page.keyboard.press("ArrowLeft")
    assert asked(page) == {**MEMORY, "segment": 64}
    expect(knob(page, "segment").locator("[data-key='64']")).to_be_focused()
    switch = page.locator(".tfe-reread-models [role=radio]")
    expect(switch).to_have_count(2)
    expect(page.locator(".tfe-reread")).to_have_attribute("data-painted", re.compile("^xl "))
    top = page.locator("[data-strip=before] text").first.text_content()
    switch.nth(1).click()
    expect(page.locator(".tfe-reread")).to_have_attribute("data-painted", re.compile("^absolute "))
    addressed(page, _model="absolute")
    assert page.locator("[data-strip=before] text").first.text_content() == top, "both models stand on one scale"
    knob(page, "intervention").locator("[data-key=cut]").click()
    assert asked(page) == {**MEMORY, "segment": 64, "intervention": "cut"}


def test_the_knobs_stand_where_the_request_in_view_says(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator("#linked").click()
    expect(knob(page, "memory").locator("output")).to_have_text("200 characters")
    expect(knob(page, "memory").locator("input")).to_have_value("4")  # the nearest place
    turn(page, "memory", 8)  # more than the page takes
    expect(page.locator(".tfe-reread .tfe-error")).to_have_text(f"So much is refused. {HOSTILE}")
    expect(knob(page, "memory").locator("output")).to_have_text("200 characters")
    for back in (lambda: knob(page, "memory").locator("input").press("Escape"), page.locator(".tfe-reread-restore").click):
        turn(page, "memory", 1)  # answered slowly
        turn(page, "memory", 3)
        assert asked(page)["memory"] == 128
        expect(page.locator(".tfe-reread-result")).to_be_visible()
        back()
        expect(page.locator(".tfe-reread-result")).to_be_hidden()
        assert asked(page) == MEMORY
        expect(knob(page, "memory").locator("input")).to_have_value("6")
    expect(page.locator(".tfe-reread .tfe-error")).to_be_hidden()


@pytest.mark.parametrize("memory", [HELD, HELD_REFUSED])
@pytest.mark.parametrize("newer_is_answered", [True, False])
def test_an_answer_that_comes_late_puts_no_knob_back(new_page: NEW, site: str, memory: int, newer_is_answered: bool) -> None:
    """The older of two wishes is answered last, or while the newer one is under way: a result, or a refusal."""
    page, _ = new_page()
    opened(page, site)
    newer, place = (128, 3) if newer_is_answered else (HELD + HELD_REFUSED - memory, 4 if memory == HELD_REFUSED else 5)
    turn(page, "memory", 4 if memory == HELD else 5)
    turn(page, "memory", place)
    if newer_is_answered:
        expect(page.locator("#answered textarea")).to_have_value(str(newer))
    page.locator(f"#free-{memory}").click()
    expect(page.locator("#answered textarea")).to_have_value(str(memory))  # the late answer has arrived
    expect(knob(page, "memory").locator("output")).to_have_text(f"{newer} characters")
    expect(page.locator(".tfe-reread .tfe-error")).to_be_hidden()
    knob(page, "intervention").locator("[data-key=cut]").click()
    expect(page.locator("#asked textarea")).to_have_value(re.compile('"cut"'))
    assert json.loads(page.locator("#asked textarea").input_value())["memory"] == newer  # the next wish builds on the newer one


def test_spans_are_forced_for_all_heads_a_layer_or_the_head_in_view(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "spans", "lang=en&_head=2.3")
    slider, chips = knob(page, "spans").locator("input"), page.locator(".tfe-reread-chip")
    expect(slider).to_have_attribute("aria-valuetext", "as trained")
    turn(page, "spans", 8)
    assert asked(page)["spans"] == [[-1, -1, 16]]
    knob(page, "spans").locator("[data-key=head]").click()
    addressed(page, _reread_of="head")
    expect(slider).to_have_value("8")  # what is said of all heads holds for this one
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(chips).to_have_text(["all heads: 16×", "2·3: 24×"])
    assert asked(page)["spans"] == [[-1, -1, 16], [1, 2, 24]]
    knob(page, "spans").locator("[data-key=layer]").click()
    turn(page, "spans", 3)  # takes the place of what was said of its heads
    expect(chips).to_have_text(["all heads: 16×", "layer 2: 3×"])
    chips.first.click()
    expect(chips).to_have_text(["layer 2: 3×"])
    assert asked(page) == {**SPANS, "spans": [[1, -1, 3]]}
    page.locator(".tfe-reread-restore").click()
    expect(chips).to_have_count(0)
    assert asked(page) == SPANS
    page.locator("#linked").click()
    expect(chips).to_have_text(["all heads: 16×", "2·3: 12.5×"])


def test_the_marked_character_is_shared_with_the_page(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    knob(page, "intervention").locator("[data-key=cut]").click()
    marked = page.locator(".tfe-reread-strips [data-locked]")
    expect(marked).to_have_count(3)  # the telling one, in every strip
    readout = page.locator(".tfe-reread-readout")
    letters = list(TEXT)
    expect(readout).to_contain_text(f"{letters[640]}·640")
    strips = page.locator(".tfe-reread-strips")
    strips.scroll_into_view_if_needed()
    box = strips.bounding_box()
    assert box is not None
    middle = (box["x"] + 40 + (box["width"] - 42) * 0.5, box["y"] + 40)
    page.mouse.move(*middle)
    expect(page.locator(".tfe-reread-strips [data-hovered]")).to_have_count(3)
    at = int(page.locator(".tfe-reread-strips [data-hovered]").first.get_attribute("data-hovered") or "")
    assert abs(at - COUNT // 2) <= 4
    page.mouse.click(*middle)
    addressed(page, _pos=str(at))
    page.keyboard.down("Shift")
    page.mouse.click(middle[0] + 60, middle[1])
    page.keyboard.up("Shift")
    expect(marked).to_have_count(6)
    page.mouse.move(0, 0)
    expect(page.locator(".tfe-reread-strips [data-hovered]")).to_have_count(0)
    page.locator(".tfe-reread-board").focus()
    page.keyboard.press("End")
    addressed(page, _pos=str(COUNT - 1))
    page.keyboard.press("ArrowLeft")
    addressed(page, _pos=str(COUNT - 2))
    expect(readout).to_contain_text(f"·{COUNT - 2}")
    page.keyboard.press("Escape")  # lets the character go, not the change
    addressed(page, _pos=None)
    expect(page.locator(".tfe-reread-result")).to_be_visible()


def test_the_comparison_is_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="lang=en&_reread_table=open")
    knob(page, "intervention").locator("[data-key=cut]").click()
    rows = page.locator(".tfe-reread-sheet tbody tr")
    expect(rows).to_have_count(9 + 2)  # segments, then all that was given and all that was written
    expect(rows.nth(9).locator("td").last).to_have_text(page.locator(".tfe-reread-number").inner_text())
    saved = {}
    for kind in ("PNG", "SVG", "HTML", "CSV", "NPZ", "TXT"):
        with page.expect_download() as caught:
            page.locator(f".tfe-reread [data-kind={kind}]").click()
        saved[kind] = Path(caught.value.path()).read_bytes()
    assert saved["PNG"].startswith(b"\x89PNG") and b"var(--" not in saved["SVG"]
    assert b"<table>" in saved["HTML"] and HOSTILE.encode() not in saved["HTML"]
    lines = list(csv.DictReader(io.StringIO(saved["CSV"].decode("utf-8-sig"), newline="")))
    assert len(lines) == COUNT and [line["character"] for line in lines] == list(TEXT)
    arrays = np.load(io.BytesIO(saved["NPZ"]))
    expected = side("xl", XL, 0.4, 1)
    np.testing.assert_allclose(arrays["xl.after_bits"], expected.after / np.log(2), rtol=1e-5)
    assert int(arrays["xl.given"]) == GIVEN
    told = saved["TXT"].decode().splitlines()
    assert told[0].startswith("Transformer-XL, bits per character: +0.31 (") and told[-1].startswith("Trial")
    page.locator(".tfe-reread-table summary").click()
    addressed(page, _reread_table=None)


def test_the_figure_is_projected_and_every_text_is_chinese_in_chinese(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, query="lang=zh")
    knob(page, "segment").locator("[data-key='32']").click()
    expect(page.locator(".tfe-reread")).to_have_attribute("data-painted", re.compile("^xl "))
    said = page.locator(".tfe-reread").evaluate(
        """(node) => {
            const copy = node.cloneNode(true);
            for (const own of copy.querySelectorAll(".tfe-reread-text, .tfe-exports")) own.remove();
            return copy.textContent;
        }"""
    )
    latin = set(re.findall(r"[A-Za-z]{2,}", said))
    assert latin <= {"Esc"}, latin
    page.locator(".tfe-reread-board").focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-reread-knobs")).to_be_hidden()
    becomes(page, lambda: page.locator(".tfe-reread-strips text").first.get_attribute("font-size"), "20")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-reread-knobs")).to_be_visible()
    becomes(page, lambda: page.locator(".tfe-reread-strips text").first.get_attribute("font-size"), "12")


@pytest.mark.parametrize("which", ["memory", "spans"])
def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str, which: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site, which, "lang=en&_reread_table=open")
    page.locator("#linked").click()
    expect(page.locator(".tfe-reread")).to_have_attribute("data-painted", re.compile("^xl "))
    assert_fits(page, ".tfe-reread")
