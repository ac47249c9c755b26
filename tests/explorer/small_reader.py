"""A lab of a few lines that reads a long text and writes on, character by character: tests drive it
with and without a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from explorer.components.figure import place_run_figure
from explorer.contract.control_kinds import KnobControl, MenuControl, ShippedText
from explorer.contract.knobs import Range
from explorer.page.program import AnswerBar, Program
from explorer.page.runs import StoredRun
from explorer.page.views import View
from explorer.panels import passages
from models.explaining.errors import InputError
from models.explaining.request_fields import (
    check_request,
    choice_field,
    number_field,
    read_passage,
    text_field,
)
from tests.explorer.small_lab import ABOUT, says, text

MOST = 3000
# seeds that the model refuses, and that it stays reading, or writing, with until `go` is set
REFUSED, READS, WRITES = 13, 98, 99
go = threading.Event()


PAGES = (
    ShippedText(
        "sea",
        text("The sea at night", "夜里的海"),
        text("The sea", "海"),
        "The sea was calm.\nNo wind.\n",
        text("A. Author, Waves", "甲《浪》"),
    ),
    ShippedText(
        "hill",
        text("Up the hill", "上山"),
        text("The hill", "山"),
        "The hill was steep.\n",
        text("B. Author, Stones", "乙《石》"),
    ),
    ShippedText(
        "moor",
        text("Over the moor", "荒原"),
        text("The moor", "荒原"),
        "The moor was wide.\n",
        text("C. Author, Heather", "丙《石楠》"),
    ),
)


@dataclass(frozen=True)
class Ask:
    """A text, or the page called `page`, after which `length` capitals are written; of at most
    `memory` characters it knows."""

    text: str = text_field("", MOST)
    page: str = choice_field("sea", [page.key for page in PAGES], en="page", zh="页面")
    length: int = number_field(300, 0, 600, en="length", zh="长度")
    seed: int = number_field(7, 0, 999_999, en="seed", zh="随机种子")
    temperature: float = number_field(0.8, 0, 2, en="temperature", zh="温度")
    variant: str = choice_field("calm", ("calm", "bold", "wild"), en="variant", zh="变体")
    memory: int = number_field(64, 0, 128, en="memory", zh="记忆")


@dataclass(frozen=True)
class Read:
    """What was read, and what was written."""

    given: str
    written: str


def given(request: Ask) -> str:
    """The text that a request wants to be read; InputError as `check` and `passage`."""
    check_request(request)
    return (
        read_passage(request.text)
        if request.text
        else next(page.text for page in PAGES if page.key == request.page)
    )


def generate(requests: Sequence[Ask]) -> Iterator[list[Any]]:
    """The model: each request is read in two steps and written in two."""
    whole = [given(one) for one in requests]
    yield [["a" * (len(one) // 2)] for one in whole]
    yield from stay(requests, READS)
    yield [
        ["b" * (len(one) - len(one) // 2 + request.length // 2)]
        for one, request in zip(whole, requests, strict=True)
    ]
    yield from stay(requests, WRITES)
    refused = InputError("thirteen", en="Thirteen is not read.", zh="不读十三。")
    yield [
        refused if one.seed == REFUSED else Read(text_, "A" * one.length)
        for one, text_ in zip(requests, whole, strict=True)
    ]


def stay(requests: Sequence[Ask], seed: int) -> Iterator[list[Any]]:
    """Waits where a request wants that, in turns."""
    while any(one.seed == seed for one in requests) and not go.wait(0.05):
        yield [[] for _ in requests]


def told(said: str) -> Any:
    """A figure that says this."""
    return says(text(said, said), 1)


EXAMPLES = (
    Ask(),
    Ask(page="hill", memory=16),
    Ask(text="An opening of no book: ", variant="wild", length=400, seed=11),
)
TITLES = (
    text("The sea, as it is", "海"),
    text("The hill, with little memory", "山，记忆很少"),
    text("An opening of our own", "我们写的开头"),
)
SHORTS = (text("The sea", "海"), text("Little memory", "记忆少"), text("An opening", "开头"))
NAMES = {
    "calm": text("calm one", "平静"),
    "bold": text("bold one", "大胆"),
    "wild": text("wild one", "狂野"),
}
PROGRAM: Program[Ask, Read] = Program(
    explain=generate,
    kind=Ask,
    controls=(
        *passages.list_controls(PAGES, step=20),
        MenuControl("variant", text("model", "模型"), names=NAMES),
        KnobControl(
            "memory",
            text("memory", "记忆"),
            knob=Range(
                "memory", text("memory", "记忆"), (0, 16, 64, 128), 64, text("characters", "字符")
            ),
            change=True,
            says=lambda n: text(f"a memory of {n}", f"记忆 {n}"),
        ),
    ),
    views=(
        View(
            *("difficulty", partial(place_run_figure, "difficulty")),
            lambda seen, _request, _state: told(f"It wrote {len(seen.written)}."),
            lambda steps, _request: told(f"So far {sum(map(len, steps))}."),
            at="side",
        ),
    ),
    change=None,
    examples=tuple(zip(EXAMPLES, TITLES, strict=True)),
    shorts=SHORTS,
    first=lambda: StoredRun(EXAMPLES[0], Read(given(EXAMPLES[0]), "A" * 300), 12.0, "cpu"),
    about=ABOUT,
    bar=AnswerBar(
        text("A text and what is written after it", "文本与续写"),
        lines=lambda seen, request: passages.write_lines(
            request,
            seen.given,
            None if request.text else PAGES[0].source,
            [(text("Calm", "平静"), 1.524, seen.written), (text("Bold", "大胆"), 1.611, None)],
        ),
        run=passages.RUN,
        progress=lambda steps, request: passages.describe_progress(
            len(given(request)), sum(map(len, steps)), request.length
        ),
    ),
)
