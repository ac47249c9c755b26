"""The input bar of the labs of adaptive depth in a real browser: tasks and their keyboards, the answer, keys, phones, languages."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from playwright.sync_api import Page, expect

from explorer import permalink
from explorer.lab import Lab
from explorer.widgets import asker
from explorer.widgets.newest import Newest
from models.universal_transformer import stories
from models.universal_transformer.records import Request
from tests.bench import TEXT, Bench
from tests.browser.waiting import addressed
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
REFUSED, SLOW = "13+13", "99+99"  # sums that the trial page refuses, and that it takes its time over


def text(en: str, zh: str) -> dict[str, str]:
    """A text in both languages."""
    return {"en": en, "zh": zh}


TASKS = (
    asker.Task(
        "parity", text("parity", "奇偶"), text("Bits", "比特"), "1011", "bits", text("0, 1, and . for empty", "0、1，空位写 ."), 200
    ),
    asker.Task("addition", text("addition", "加法"), text("A sum", "算式"), "478+256", "sum", text("two numbers", "两个数"), 200),
    asker.Task("reverse", text("reverse", "倒写"), text("A word", "单词"), "word", "letters", text("a to z", "a 到 z"), 200),
    asker.Task(
        "stories",
        text("stories", "故事"),
        text("Story", "故事"),
        "mary went to the garden.",
        "story",
        text("one fact a sentence", "一句一个事实"),
        2000,
        question="where is mary",
    ),
)
VOCABULARY = (
    asker.Group(text("people", "人物"), stories.PEOPLE),
    asker.Group(text("acts", "动作"), ("went to the", "took the", "put the", "in the", ".")),
    asker.Group(text("places", "地点"), stories.PLACES, "the"),
    asker.Group(text("things", "物品"), stories.THINGS, "the"),
    asker.Group(text("containers", "容器"), stories.CONTAINERS, "the"),
)
NEUTRAL = {"epsilon": 0.01, "limit": 0, "forced": 0, "bias": 0.0, "told": True}
EXAMPLES = (
    Request("parity", "1011001", ""),
    Request("addition", "478+256", ""),
    Request(),
    Request("reverse", "transformer", ""),
)
STORY = EXAMPLES[2]
OTHERS = (
    asker.Beside(text("ordinary Transformer", "普通 Transformer"), "7" + HOSTILE, False),
    asker.Beside(text("fixed steps", "固定步数"), text("nobody knows", "没人知道"), True),
)


def answered(request: Request, state: str = "live", milliseconds: float = 214) -> asker.Value:
    """What the trial page answers: always the same of one text."""
    right = request.text != STORY.text
    how: dict[str, Any] = {"state": state, "milliseconds": milliseconds, "device": "cpu", "beside": OTHERS}
    given: str | dict[str, str] = (
        request.text[::-1] if request.task == "reverse" else text("odd", "奇数") if request.task == "parity" else "734"
    )
    if request.task == "stories":
        given = "garden"
    return asker.done(
        asdict(request), permalink.encode(request), answer=given, right=right, expected="right" + HOSTILE, sure=0.983, ponder=4.31, **how
    )


def page_of(lab: Lab, engine: object) -> None:
    """The bar, and a box that shows what it has asked for."""
    examples = [{**asdict(request), "query": permalink.encode(request), "title": TEXT} for request in EXAMPLES]
    bar = asker.asker(
        answered(EXAMPLES[0], "stored"), texts={"region": TEXT}, tasks=TASKS, examples=examples, neutral=NEUTRAL, vocabulary=VOCABULARY
    )
    box = gr.Textbox(label="asked", elem_id="asked")
    newest, waits = Newest(), itertools.count(0, 0.001)

    async def answers(request: Request) -> AsyncGenerator[Any, None]:
        written = json.dumps(asdict(request))
        if request.text == REFUSED:
            yield asker.refused(text(f"{HOSTILE} is not read.", f"不读 {HOSTILE}。")), written
            return
        yield asker.waiting(3, 12, 2.0 + next(waits)), written  # no two wishes get the same value, as pages number theirs
        await asyncio.sleep(5 if request.text == SLOW else 0.05)
        yield asker.reading(), written
        yield answered(request), gr.skip()

    async def follow(request: Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(newest.follow("one", answers(request), lambda update: tuple(gr.skip() for _ in update))) as updates:
            async for update in updates:
                yield update

    async def run(event: gr.EventData) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(follow(Request(**event._data["request"]))) as updates:
            async for update in updates:
                yield update

    async def reopen(event: gr.EventData) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(follow(permalink.decode(Request, event._data["query"])[0])) as updates:
            async for update in updates:
                yield update

    async def halt() -> None:
        newest.stop("one")

    how: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private"}
    bar.run(run, None, [bar, box], **how)
    bar.open(reopen, None, [bar, box], **how)
    bar.stop(halt, None, None, **how)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2019)


def opened(page: Page, site: str, query: str = "lang=en") -> Page:
    """The page once its bar stands."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-asker-go")
    return page


def choose(page: Page, task: str) -> None:
    """Another task."""
    page.locator(f".tfe-asker-in [data-key={task}]").click()


def badge(page: Page) -> Any:
    """Says where the result comes from."""
    return page.locator(".tfe-asker .tfe-badge")


def asked(page: Page, press: bool = True) -> dict[str, Any]:
    """What the bar asks for, once it has been answered."""
    if press:
        page.locator(".tfe-asker-go").click()
    expect(page.locator("#asked textarea")).not_to_have_value("")
    expect(badge(page)).to_have_text("live · 214 ms · cpu")
    found: dict[str, Any] = json.loads(page.locator("#asked textarea").input_value())
    return found


def sent(page: Page) -> Any:
    """What the bar has asked for last, as text; empty before it has."""
    return page.locator("#asked textarea")


def test_each_task_is_typed_with_its_own_keyboard_and_asked_for_as_trained(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(badge(page)).to_have_text("stored")
    choose(page, "addition")
    expect(page.locator(".tfe-asker-bits")).to_be_hidden()
    page.locator(".tfe-asker-line").fill("12+34")
    page.locator(".tfe-asker-line").press("Enter")
    assert asked(page, press=False) == {**asdict(Request("addition", "12+34", "")), **NEUTRAL}
    addressed(page, text="12+34")  # the address is the link to it
    expect(page.locator(".tfe-asker-given")).to_have_text("12+34")
    expect(page.locator(".tfe-asker-answer")).to_have_text("734")
    expect(page.locator(".tfe-asker-facts")).to_have_text("ponder 4.31least sure part 0.98")
    choose(page, "parity")
    expect(page.locator(".tfe-asker-line")).to_have_value("1011001")
    choose(page, "addition")
    expect(page.locator(".tfe-asker-line")).to_have_value("12+34")


def test_bits_are_switched_by_click_and_by_key(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    bit, line = page.locator(".tfe-asker-bit"), page.locator(".tfe-asker-line")
    bit.nth(0).click()
    bit.nth(1).click()
    expect(line).to_have_value("0111001")
    bit.nth(8).click()
    expect(line).to_have_value("0111001.1")
    expect(bit.nth(7)).to_have_attribute("aria-pressed", "mixed")
    page.keyboard.press("Delete")
    expect(line).to_have_value("0111001")
    bit.nth(15).focus()
    page.keyboard.press("Home")
    for key in ("1", "0", "ArrowRight", "Space", "End", "1"):
        page.keyboard.press(key)
    expect(line).to_have_value("1010001........1")
    assert asked(page)["text"] == "1010001........1"
    line.fill("10 2")
    expect(bit.nth(0)).to_be_disabled()
    line.fill("1" * 17)
    expect(bit.nth(0)).to_be_disabled()


def test_words_of_a_story_are_put_where_the_caret_stands(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    choose(page, "stories")
    story, question = page.locator(".tfe-asker-story"), page.locator(".tfe-asker-question")
    story.fill("")

    def word(name: str) -> None:
        page.get_by_role("button", name=name, exact=True).click()

    for name in ("mary", "took the", "key", ".", "john", "went to the", "park", "."):
        word(name)
    expect(story).to_have_value("mary took the key. john went to the park. ")
    expect(story).to_be_focused()
    question.fill("where is ")
    word("key")
    expect(question).to_have_value("where is the key ")
    story.evaluate("(field) => (field.focus(), field.setSelectionRange(14, 17))")
    word("apple")
    expect(story).to_have_value("mary took the apple. john went to the park. ")
    page.locator(".tfe-asker-word").first.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(story).to_have_value("mary took the apple john. john went to the park. ")
    expect(page.get_by_role("button", name="john", exact=True)).to_be_focused()
    found = asked(page)
    assert (found["task"], found["question"]) == ("stories", "where is the key ")
    expect(page.locator(".tfe-asker-given")).to_have_text("where is the key")


def test_a_wrong_answer_stands_beside_the_right_one_and_those_of_others(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    mark = page.locator(".tfe-asker-mark")
    expect(mark).to_have_text("✓ right")
    page.get_by_role("button", name="Example 3").click()
    assert asked(page, press=False) == asdict(STORY)
    expect(mark).to_have_text(f"✗ wrong, right is right{HOSTILE}")
    expect(page.locator(".tfe-asker-beside")).to_have_text(
        re.compile(re.escape(f"ordinary Transformer7{HOSTILE} ✗ wrongfixed stepsnobody knows ✓ right"))
    )
    story = page.locator(".tfe-asker-story")
    expect(story).to_have_value(STORY.text)
    story.fill("mary went to the park.")
    page.get_by_role("button", name="Example 3").click()
    expect(story).to_have_value(STORY.text)
    asked(page, press=False)


def test_the_badge_tells_the_place_and_stop_or_escape_ends_the_wait(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    choose(page, "addition")
    line, button = page.locator(".tfe-asker-line"), page.locator(".tfe-asker-go")
    for stop in (lambda: line.press("Escape"), button.click):
        line.fill(SLOW)
        line.press("Enter")
        expect(badge(page)).to_have_text("3rd of 12 · about 2 s")
        expect(button).to_have_text("StopEsc")
        stop()
        expect(badge(page)).to_have_text("stopped")
        expect(button).to_have_text("Ask⏎")
    line.fill("1+1")
    assert asked(page)["text"] == "1+1"


def test_what_is_refused_is_said_and_what_was_typed_stays(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    choose(page, "addition")
    line, error = page.locator(".tfe-asker-line"), page.locator(".tfe-asker-error")
    line.fill(REFUSED)
    line.press("Enter")
    expect(error).to_have_text(f"{HOSTILE} is not read.")
    expect(badge(page)).to_have_text("refused")
    expect(line).to_have_value(REFUSED)
    expect(page.locator(".tfe-asker-answer")).to_have_text("odd")
    expect(page.locator(".tfe-asker-note")).to_have_text("The answer is still that of your last input.")
    line.fill("1" * 201)
    line.press("Enter")
    expect(error).to_have_text("Your text has 201 characters; at most 200 can be read.")
    assert REFUSED in sent(page).input_value(), "a text too long is not even sent"
    line.fill("2+2")
    asked(page)
    expect(error).to_be_hidden()
    expect(page.locator(".tfe-asker-note")).to_be_hidden()


def test_what_is_typed_while_an_answer_is_on_its_way_stays(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    choose(page, "addition")
    page.locator(".tfe-asker-line").fill("5+6")
    page.locator(".tfe-asker-line").press("Enter")
    page.locator(".tfe-asker-line").fill("7+8")
    expect(page.locator(".tfe-asker-given")).to_have_text("5+6")
    expect(page.locator(".tfe-asker-line")).to_have_value("7+8")


def test_a_link_brings_the_input_back_and_a_new_one_begins_with_nothing_changed(page_watch: Page, site: str) -> None:
    request = Request("stories", "mary took the key.", "where is mary", forced=3, told=False)
    page = opened(page_watch, site, f"lang=en&{permalink.encode(request)}")
    assert asked(page, press=False) == asdict(request)
    expect(page.locator(".tfe-asker-in [data-key=stories]")).to_have_attribute("aria-checked", "true")
    expect(page.locator(".tfe-asker-question")).to_have_value("where is mary")
    choose(page, "reverse")
    page.locator(".tfe-asker-line").fill("abc")
    page.locator(".tfe-asker-line").press("Enter")
    expect(sent(page)).to_have_value(re.compile('"reverse"'))
    assert asked(page, press=False) == {**asdict(Request("reverse", "abc", "")), **NEUTRAL}


@pytest.mark.parametrize("hostile", [HOSTILE, "</textarea><script>alert(1)</script>", "{n} ⟦q:x⟧ {expected}", "\u202eabc"])
def test_what_is_typed_is_never_markup(page_watch: Page, site: str, hostile: str) -> None:
    page = opened(page_watch, site)
    choose(page, "reverse")
    page.locator(".tfe-asker-line").fill(hostile)
    found = asked(page)
    assert found["text"] == hostile
    expect(page.locator(".tfe-asker-given")).to_have_text(hostile)
    expect(page.locator(".tfe-asker-answer")).to_have_text(hostile[::-1])
    assert page.locator(".tfe-asker :is(img, script)").count() == 0


def test_question_and_answers_are_taken_along_as_text(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    with page.expect_download() as caught:
        page.locator(".tfe-asker-take").click()
    written = Path(caught.value.path()).read_text().splitlines()
    assert written[0] == "1011001" and written[1] == "Answer: odd ✓ right" and written[-1].startswith("Trial")
    assert f"ordinary Transformer: 7{HOSTILE} ✗ wrong" in written


def test_every_text_is_chinese_in_chinese(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=zh")
    for task in ("parity", "stories"):
        choose(page, task)
        found = page.locator(".tfe-asker").inner_text().replace(HOSTILE, "").replace("right", "")
        known = {word for words in VOCABULARY for each in words.words for word in each.split()}
        latin = {word for word in found.split() if word.isascii() and word.isalpha()} - known
        assert latin <= {"TXT", "Transformer"}, latin
    expect(page.locator(".tfe-asker-go")).to_have_text("提问⏎")
    expect(page.locator(".tfe-asker-answer")).to_have_text("奇数")


def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    opened(page, site)
    for key in ("parity", "stories"):
        choose(page, key)
        if key == "stories":
            page.get_by_role("button", name="Example 3").click()
            asked(page, press=False)
            page.get_by_role("button", name="Words that it knows").click()
            expect(page.get_by_role("button", name="kitchen")).to_be_visible()
        assert_fits(page, ".tfe-asker", press=44)


def test_a_story_leaves_room_for_the_mechanism_at_1280_pixels(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    choose(page, "stories")
    panel = page.locator(".tfe-asker-panel").bounding_box()
    assert panel is not None and panel["height"] < 290, panel
