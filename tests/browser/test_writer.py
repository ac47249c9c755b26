"""The input bar of the labs on long texts in a real browser: pages, own texts, limits, keys, files, phones, languages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer import permalink
from explorer.lab import Lab
from explorer.labs import wiring
from explorer.widgets import writer
from explorer.widgets.newest import Newest
from models.adaptive_span.records import EVERY, MAX_SEED, MAX_TEXT, MAX_WRITTEN, Request, page, read_text
from models.errors import InputError
from tests.browser import trial
from tests.browser.waiting import addressed

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
REFUSED, SLOW = 13, 99  # seeds that the trial page refuses, and that it takes its time over


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
    writer.Page(key, text(title, zh), text(short, zh), page(key), text(f"Jane Austen, Persuasion (1818), chapter {chapter}", f"简·奥斯汀《劝导》（1818）第 {chapter} 章"))
    for key, title, short, zh, chapter in (
        ("letter", "The letter", "The letter", "一封信", 23),
        ("lyme", "Lyme", "Lyme", "莱姆镇", 11),
        ("kellynch", "Kellynch Hall", "Kellynch", "凯林奇", 1),
    )
)
OPENING = "The captain laid down his pipe, and said to Mr. Tobias Finch: "
EXAMPLES = (
    Request(),
    Request(page="lyme", spans=((EVERY, EVERY, 16.0),)),
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
        (("adaptive", text("adaptive spans", "自适应跨度")), ("fixed", text("fixed spans", "固定跨度")), ("dynamic", text("dynamic spans", "动态跨度"))),
    ),
)


def told(request: Request) -> dict[str, Any]:
    """A request as the browser holds it."""
    return {**asdict(request), "spans": [list(span) for span in request.spans]}


def finished(request: Request, state: str) -> dict[str, object]:
    """A result: capitals written after the text."""
    given = read_text(request)
    readers = [
        writer.Reader(text("Adaptive", "自适应"), 1.524, "A" * request.length),
        writer.Reader(text("Fixed", "固定"), 1.611),
    ]
    try:
        query = permalink.encode(request)
    except permalink.LinkTooLong:
        query = ""
    return writer.done(told(request), query, state=state, milliseconds=1214, device="cpu", given=given, readers=readers)


def page_of(lab: Lab, engine: object) -> None:
    """The bar, and a box that shows what it has asked for."""
    examples = [
        {**told(request), "query": permalink.encode(request), "title": title, "short": short}
        for request, (title, short) in zip(EXAMPLES, NAMES, strict=True)
    ]
    bar = writer.writer(finished(EXAMPLES[0], "stored"), texts=TEXTS, limits=LIMITS, pages=PAGES, examples=examples, choices=CHOICES)
    box = gr.Textbox(label="asked", elem_id="asked")
    newest = Newest()

    async def answers(request: Request) -> AsyncGenerator[Any, None]:
        written, query = json.dumps(told(request)), "v=1"
        if request.seed == REFUSED:
            yield writer.refused(text("Thirteen is not read.", "不读十三。")), written
            return
        yield writer.waiting(3, 12, 2.0), written
        await asyncio.sleep(0.2)
        count = len(read_text(request))
        for read, made in ((count // 2, 0), (count, request.length // 2)):
            yield writer.running(told(request), query, read, made, request.length, "cpu"), gr.skip()
            await asyncio.sleep(5 if request.seed == SLOW and made else 0.2)
        yield finished(request, "live"), gr.skip()

    def run(detail: Any, session: str) -> AsyncGenerator[Any, None]:
        given = detail["request"]
        return answers(Request(**{**given, "spans": tuple(map(tuple, given["spans"]))}))

    def reopen(detail: Any, session: str) -> AsyncGenerator[Any, None]:
        return answers(permalink.decode(Request, detail["query"])[0])

    bar.run(wiring.following(newest, run), None, [bar, box], **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, [bar, box], **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)


def serve(port: int) -> None:
    """The site with the trial page."""
    trial.serve(port, {"trial": page_of}, year=2019)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of that server."""
    yield from trial.served(__file__)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
