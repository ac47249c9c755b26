"""The input bar of the labs on long texts in a real browser: pages, own texts, limits, keys, files, phones, languages."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import gradio as gr
import pytest
from playwright.sync_api import Page, expect

from explorer import permalink
from explorer.lab import Lab
from explorer.labs import wiring
from explorer.widgets import writer
from explorer.widgets.newest import Newest
from models.adaptive_span.records import EVERY, MAX_SEED, MAX_TEXT, MAX_WRITTEN, Request, page, read_text
from models.errors import InputError
from tests.bench import Bench
from tests.browser import waiting
from tests.fitting import assert_fits

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
REFUSED, QUEUED, READS, WRITES = 13, 97, 98, 99  # seeds that the trial page refuses, and that it stays waiting, reading, writing with


def text(en: str, zh: str) -> dict[str, str]:
    """A text in both languages."""
    return {"en": en, "zh": zh}


TEXTS = {
    "region": text("A text and what is written after it", "文本与续写"),
    "label": text("A text to read", "要读的文本"),
    "placeholder": text("Type up to {characters} characters of English", "输入至多 {characters} 个字符的英文"),
    "run": text("Read and write on", "阅读并续写"),
}
LIMITS = writer.Limits(MAX_TEXT, (0, MAX_WRITTEN, 20), seed=MAX_SEED)
PAGES = tuple(
    writer.Page(
        key,
        text(title, zh),
        text(short, zh),
        page(key),
        text(f"Jane Austen, Persuasion (1818), chapter {chapter}", f"简·奥斯汀《劝导》（1818）第 {chapter} 章"),
    )
    for key, title, short, zh, chapter in (
        ("letter", "The letter", "The letter", "一封信", 23),
        ("lyme", "Lyme", "Lyme", "莱姆镇", 11),
        ("kellynch", "Kellynch Hall", "Kellynch", "凯林奇", 1),
    )
)
OPENING = "The captain laid down his pipe, and said to Mr. Tobias Finch: "
CUT = ((EVERY, EVERY, 16.0),)
EXAMPLES = (
    Request(),
    Request(page="lyme", spans=CUT),
    Request(text=OPENING, variant="dynamic", length=400, seed=11),
)
NAMES = (
    (text("A letter, spans as they were learned", "一封信，跨度照学到的用"), text("The letter", "一封信")),
    (text("Lyme, every span cut to 16", "莱姆镇，跨度都截到 16"), text("Lyme, short spans", "莱姆镇，短跨度")),
    (text("A captain of our own", "我们自己的船长"), text("A captain", "船长")),
)
CHOICES = (
    writer.Choice(
        "variant",
        text("model", "模型"),
        (
            ("adaptive", text("adaptive spans", "自适应跨度")),
            ("fixed", text("fixed spans", "固定跨度")),
            ("dynamic", text("dynamic spans", "动态跨度")),
        ),
    ),
)


def told(request: Request) -> dict[str, Any]:
    """A request as the browser holds it."""
    return {**asdict(request), "spans": [list(span) for span in request.spans]}


def finished(request: Request, state: str) -> dict[str, object]:
    """A result: one model writes capitals after the text, another only reads."""
    given = read_text(request)
    readers = (writer.Reader(text("Adaptive", "自适应"), 1.524, "A" * request.length), writer.Reader(text("Fixed", "固定"), 1.611))
    try:
        query = permalink.encode(request)
    except permalink.LinkTooLong:
        query = ""
    return writer.done(told(request), query, state=state, milliseconds=1214, device="cpu", given=given, readers=readers)


def page_of(lab: Lab, engine: object, choices: Sequence[writer.Choice] = CHOICES) -> None:
    """The bar, a box that shows what it has asked for, and a button that intervenes as another panel would."""
    examples: list[dict[str, object]] = [
        {**told(request), "query": permalink.encode(request), "title": title, "short": short}
        for request, (title, short) in zip(EXAMPLES, NAMES, strict=True)
    ]
    bar = writer.writer(finished(EXAMPLES[0], "stored"), texts=TEXTS, limits=LIMITS, pages=PAGES, examples=examples, choices=choices)
    box = gr.Textbox(label="asked", elem_id="asked")
    panel = gr.Button("intervene", elem_id="intervene")
    newest = Newest()

    async def answers(request: Request) -> AsyncGenerator[Any, None]:
        said = json.dumps(told(request))
        if request.seed == REFUSED:
            yield writer.refused(text("Thirteen is not read.", "不读十三。")), said
            return
        count, query = len(read_text(request)), permalink.encode(replace(request, text=""))
        stages = {
            QUEUED: writer.waiting(3, 12, 2.0),
            READS: writer.running(told(request), query, count // 2, 0, request.length, "cpu"),
            WRITES: writer.running(told(request), query, count, request.length // 2, request.length, "cpu"),
        }
        for seed, stage in stages.items():
            yield stage, said
            for _ in range(600 if request.seed == seed else 0):
                await asyncio.sleep(0.1)
                yield stage, gr.skip()
        yield finished(request, "live"), gr.skip()

    def run(detail: Any, session: str) -> AsyncGenerator[Any, None]:
        given = detail["request"]
        return answers(Request(**{**given, "spans": tuple(map(tuple, given["spans"]))}))

    def reopen(detail: Any, session: str) -> AsyncGenerator[Any, None]:
        return answers(permalink.decode(Request, detail["query"])[0])

    bar.run(wiring.following(newest, run), None, [bar, box], **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, [bar, box], **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    panel.click(lambda: finished(replace(EXAMPLES[0], spans=CUT), "live"), None, bar, **wiring.HOW)


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of, "plain": partial(page_of, choices=())}, year=2019)


def opened(page: Page, site: str, query: str = "lang=en", slug: str = "trial") -> Page:
    """The page once its bar stands."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-writer-go")
    return page


def box(page: Page) -> Any:
    """The box of the text."""
    return page.locator(".tfe-writer-box")


def chip(page: Page, name: str) -> Any:
    """An example, or a page of none."""
    return page.locator(".tfe-writer-offers").get_by_role("button", name=name, exact=True)


def knob(page: Page, name: str) -> Any:
    """A control beside the text."""
    return page.locator(f".tfe-writer-field.is-{name} :is(input, select)")


def badge(page: Page) -> Any:
    """Says where the result comes from."""
    return page.locator(".tfe-writer .tfe-badge")


def error(page: Page) -> Any:
    """Says why a text was refused."""
    return page.locator(".tfe-writer-error")


def origin(page: Page) -> Any:
    """Says where the text is from."""
    return page.locator(".tfe-writer-from")


def addressed(tab: Page, /, **said: str | None) -> None:
    """Waits until the address says this of each of these keys; None: nothing."""
    waiting.becomes(tab, lambda: {key: waiting.asked(tab).get(key, [None])[0] for key in said}, said)


def asked(page: Page) -> dict[str, Any]:
    """What the bar has asked for, once it has been answered."""
    expect(page.locator("#asked textarea")).not_to_have_value("")
    expect(badge(page)).to_have_text("live · 1.2 s · cpu")
    found: dict[str, Any] = json.loads(page.locator("#asked textarea").input_value())
    return found


def test_an_example_is_asked_for_whole_and_its_page_travels_by_name(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_pos=412")
    expect(badge(page)).to_have_text("stored")
    expect(chip(page, "The letter")).to_have_attribute("aria-pressed", "true")
    expect(origin(page)).to_have_text("held out: Jane Austen, Persuasion (1818), chapter 23")
    chip(page, "Lyme, short spans").click()
    assert asked(page) == json.loads(json.dumps(told(EXAMPLES[1])))
    expect(box(page)).to_have_value(read_text(EXAMPLES[1]))
    expect(origin(page)).to_have_text("held out: Jane Austen, Persuasion (1818), chapter 11")
    expect(chip(page, "Lyme, short spans")).to_have_attribute("aria-pressed", "true")
    expect(chip(page, "The letter")).to_have_attribute("aria-pressed", "false")
    addressed(page, page="lyme", text=None, _pos=None)
    chip(page, "A captain").click()
    expect(knob(page, "choice")).to_have_value("2")
    expect(page.locator(".is-length .tfe-writer-value")).to_have_text("400 characters")
    expect(origin(page)).to_have_text("an opening of ours, from no book")
    addressed(page, text=OPENING, page=None, variant="dynamic", seed="11")


def test_the_bar_leaves_room_for_the_mechanism(page_watch: Page, site: str) -> None:
    for slug in ("trial", "plain"):
        page = opened(page_watch, site, slug=slug)
        tall = page.locator(".tfe-writer-panel").bounding_box()
        assert tall is not None and tall["height"] <= 190


def test_a_page_of_no_example_keeps_every_knob_and_what_other_panels_changed(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator("#intervene").click()
    expect(badge(page)).to_have_text("live · 1.2 s · cpu")
    knob(page, "seed").fill("421")
    knob(page, "temperature").press("ArrowLeft")
    knob(page, "length").press("ArrowRight")
    knob(page, "choice").select_option(label="fixed spans")
    chip(page, "Kellynch").click()
    wanted = Request(page="kellynch", seed=421, temperature=0.7, length=320, variant="fixed", spans=CUT)
    assert asked(page) == json.loads(json.dumps(told(wanted)))
    expect(chip(page, "Kellynch")).to_have_attribute("aria-pressed", "true")


def test_a_text_of_ones_own_takes_enter_as_a_new_line_and_runs_with_control(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    box(page).fill("")
    box(page).press_sequentially("A whale 🐳.")
    box(page).press("Enter")
    expect(page.locator("#asked textarea")).to_have_value("")
    box(page).press_sequentially(HOSTILE)
    expect(page.locator(".tfe-writer-count")).to_have_text(f"{11 + len(HOSTILE)} of 3,000 characters")
    expect(origin(page)).to_have_text("your own text")
    box(page).press("Control+Enter")
    own = f"A whale 🐳.\n{HOSTILE}"
    assert asked(page) == told(Request(text=own))
    expect(box(page)).to_have_value(own)
    addressed(page, text=own, page=None)


def test_what_the_models_would_refuse_is_refused_here_in_their_words(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    for given in ("🐳" * (MAX_TEXT + 1), " \n\u3000\x1f "):
        with pytest.raises(InputError) as said:
            read_text(Request(text=given))
        box(page).fill(given)
        page.locator(".tfe-writer-go").click()
        expect(error(page)).to_have_text(said.value.text["en"])
        expect(badge(page)).to_have_text("refused")
        expect(box(page)).to_have_value(given)
        page.locator(".tfe-shell-lang").click()
        expect(error(page)).to_have_text(said.value.text["zh"])
        page.locator(".tfe-shell-lang").click()
    box(page).fill("")
    expect(error(page)).to_be_hidden()
    expect(badge(page)).to_have_text("stored")
    page.locator(".tfe-writer-go").click()
    expect(error(page)).to_have_text("The box is empty: type a text, or begin with one of ours.")
    expect(page.locator("#asked textarea")).to_have_value("")
    box(page).fill("🐳" * MAX_TEXT)
    page.locator(".tfe-writer-go").click()
    assert asked(page)["text"] == "🐳" * MAX_TEXT, "as many as the models read"
    box(page).fill("My own words.")
    knob(page, "seed").fill(str(REFUSED))
    knob(page, "seed").press("Enter")
    expect(error(page)).to_have_text("Thirteen is not read.")
    expect(box(page)).to_have_value("My own words.")
    page.locator("#intervene").click()
    expect(error(page)).to_be_hidden()
    expect(box(page)).to_have_value("My own words.")


def test_the_badge_tells_place_reading_and_writing_and_escape_stops(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    of = len(read_text(EXAMPLES[0]))
    reads = f"live · reading {of // 2:,} of {of:,} · cpu"
    stages = {QUEUED: "3rd of 12 · about 2 s", READS: reads, WRITES: "live · writing 150 of 300 · cpu"}
    for seed, said in stages.items():
        knob(page, "seed").fill(str(seed))
        page.locator(".tfe-writer-go").click()
        expect(badge(page)).to_have_text(said)
        expect(page.locator(".tfe-writer-go")).to_have_text("StopEsc")
        box(page).press("End")
        box(page).type("!")
        changed = box(page).input_value()
        box(page).press("Escape")
        expect(badge(page)).to_have_text("stopped")
        expect(box(page)).to_have_value(changed)
        chip(page, "The letter").click()
        expect(badge(page)).to_have_text("live · 1.2 s · cpu")
        expect(box(page)).to_have_value(read_text(EXAMPLES[0]))


def test_a_link_fills_every_control_and_the_file_holds_text_numbers_and_request(page_watch: Page, site: str) -> None:
    linked = Request(text="The sea.\n", variant="fixed", length=123, seed=5, temperature=1.2)
    page = opened(page_watch, site, f"{permalink.encode(linked)}&lang=en")
    assert asked(page) == told(linked)
    expect(box(page)).to_have_value("The sea.\n")
    expect(knob(page, "choice")).to_have_value("1")
    expect(page.locator(".is-length .tfe-writer-value")).to_have_text("123 characters")
    box(page).fill("Something else meanwhile")
    with page.expect_download() as download:
        page.get_by_role("button", name="TXT").click()
    saved = Path(download.value.path()).read_text("utf-8")
    assert saved.startswith("The sea.\n\n\n[Adaptive wrote]\n" + "A" * 123 + "\n\n")
    numbers, foot = saved.splitlines()[-2:]
    assert numbers == (
        "9 + 123 characters · temperature 1.2 · seed 5 · Adaptive 1.52 bits per character of the text given · "
        "Fixed 1.61 bits per character of the text given"
    )
    assert urlsplit(site).netloc not in foot, "not the address of this machine"
    assert parse_qs(foot.partition("?")[2]) == {key: value for key, value in parse_qs(urlsplit(page.url).query).items() if key != "lang"}
    page.locator(".tfe-writer-go").click()
    addressed(page, text="Something else meanwhile", length="123")
    assert asked(page) == told(replace(linked, text="Something else meanwhile"))


def test_every_text_is_chinese_in_chinese(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=zh")
    found = page.locator(".tfe-writer").inner_text() + " ".join(
        page.eval_on_selector_all(".tfe-writer [title]", "nodes => nodes.map((node) => node.title)")
    )
    assert set(re.findall("[A-Za-z]{2,}", found)) <= {"TXT", "Ctrl", "Enter"}
    expect(page.locator(".tfe-writer-go")).to_contain_text("阅读并续写")
    expect(origin(page)).to_have_text("留出的书页：简·奥斯汀《劝导》（1818）第 23 章")


def test_it_fits_a_phone_in_the_dark_and_axe_finds_nothing(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark")
    for slug in ("trial", "plain"):
        opened(page, site, slug=slug)
        box(page).fill("x" * (MAX_TEXT + 1))
        page.locator(".tfe-writer-go").click()
        expect(error(page)).to_be_visible()
        assert_fits(page, ".tfe-writer", press=44)
