"""A lab of a few lines that is all there: a request, a model of two lines, a program. Tests drive
it with and without a browser."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from explorer.components import change_panel, figure, input_bar
from explorer.components.figure import place_run_figure
from explorer.contract.control_kinds import (
    BitsControl,
    ChoiceControl,
    LettersControl,
    QuestionControl,
    SliderControl,
    StoryControl,
    StoryWords,
    SwitchControl,
)
from explorer.page.program import About, AnswerBar, Change, Program
from explorer.page.runs import StoredRun
from explorer.page.views import View
from models.explaining.errors import InputError
from models.explaining.request_fields import choice_field, number_field, switch_field, text_field

HOSTILE = "<img src=x onerror=alert(1)>"
SLOW = "slow"  # how a text begins that the model takes its time over, until `go` is set
go = threading.Event()


def text(en: str, zh: str) -> dict[str, str]:
    """A text in both languages."""
    return {"en": en, "zh": zh}


@dataclass(frozen=True)
class Seen:
    """What came of a request to a model that makes nothing."""

    seed: int


def nothing_made(
    refused: Callable[[Any], bool], **why: str
) -> Callable[[Sequence[Any]], list[Seen | InputError]]:
    """A model that makes nothing, and refuses a request that is `refused`: in English and Chinese,
    why."""
    return lambda requests: [
        InputError("refused", **why) if refused(one) else Seen(one.seed) for one in requests
    ]


def says(said: dict[str, str], number: int) -> Any:
    """A figure of one bar that says this."""
    plot: Any = {"data": [{"type": "bar", "x": ["said"], "y": [number]}], "layout": {}}
    letters = text("letters", "字母")
    table = figure.Table((letters,), [(number,)])
    return figure.describe_figure(
        {"en": plot, "zh": plot},
        title=text("Said", "所说"),
        units=letters,
        sentence=said,
        table=table,
    )


ABOUT = About(
    text("Trial", "试验"), text("no equation", "没有公式"), lambda: (), dict, lambda: None
)


@dataclass(frozen=True)
class Ask:
    """text is said `times` times, in capitals or not, at most `most` times where that is not 0.
    question: of a story; nobody reads it."""

    task: str = choice_field("word", ("word", "bits", "story"), en="task", zh="任务")
    text: str = text_field("ab", 40)
    times: int = number_field(2, 1, 9, en="number of times", zh="次数")
    cut: float = number_field(0.0, -1, 1, en="cut", zh="截短")
    loud: bool = switch_field(False)
    question: str = text_field("", 40)
    most: int = number_field(0, 0, 9, en="most", zh="上限")


@dataclass(frozen=True)
class Said:
    """What the model says, and what it should."""

    answer: str
    expected: str


def explain(requests: Sequence[Ask]) -> list[Said | InputError]:
    """The model."""
    for _ in (one for one in requests if one.text.startswith(SLOW)):
        go.wait(60)
    return [
        Said(
            (one.text.upper() if one.loud else one.text) * min(one.times, one.most or 9),
            one.text * 2,
        )
        if one.text
        else InputError("empty", en=f"There is no text, {HOSTILE}.", zh=f"没有文本，{HOSTILE}。")
        for one in requests
    ]


def measure(requests: Sequence[Ask]) -> list[float | InputError]:
    """How much of the expected is said."""
    return [
        InputError("much", en="Nine is too much.", zh="九次太多。")
        if one.times == 9
        else 1.0
        if one == replace(Ask(), text="")
        else 0.25
        for one in requests
    ]


def difference(
    seen: tuple[Said, Said], measured: tuple[float, float], request: Ask, what: Any
) -> change_panel.Difference:
    """What a change does."""
    before, after = (one.answer for one in seen)
    verdict = text("the same", "相同") if before == after else text("another", "不同")
    return change_panel.Difference(
        change_panel.ChangedNumber(*measured, scale=100, digits=1, suffix=" %"),
        text("points", "个百分点"),
        (
            change_panel.Row(
                text("own", "自己"),
                text("answer", "回答"),
                "answer",
                before,
                after,
                right=(True, before == after),
                verdict=verdict,
            ),
            change_panel.Row(
                text("held out", "留出"),
                text("share, %", "份额，%"),
                "share",
                *measured,
                scale=100,
                digits=1,
            ),
            change_panel.Row(text("held out", "留出"), None, "inputs", 200, 200),
        ),
        text(f"With {what['en']}, it says ⟦o:{after}⟧.", f"{what['zh']}：⟦o:{after}⟧。"),
    )


def drawn(seen: Said, request: Ask, state: str) -> Any:
    """A figure whose sentence is the answer."""
    return says(text(f"It says {seen.answer}.", f"回答 {seen.answer}。"), len(seen.answer))


TIMES = SliderControl(
    "times",
    text("times", "次数"),
    change=True,
    says=lambda n: text(f"said {n} times", f"说 {n} 次"),
    names={1: text("once", "一次")},
)
WORDS = (
    StoryWords(text("people", "人物"), ("mary", "john")),
    StoryWords(text("acts", "动作"), ("took", ".")),
    StoryWords(text("things", "物品"), ("key", "apple"), "the"),
)
EXAMPLES = (
    Ask(),
    Ask(text="xyz"),
    Ask("bits", "101"),
    Ask("story", "mary took the key.", question="where is mary"),
)
PROGRAM: Program[Ask, Said] = Program(
    explain=explain,
    kind=Ask,
    controls=(
        ChoiceControl(
            "task",
            text("Task", "任务"),
            names={
                "word": text("A word", "单词"),
                "bits": text("Bits", "比特"),
                "story": text("A story", "故事"),
            },
        ),
        LettersControl(
            "text",
            text("A word", "单词"),
            hint=text("letters", "字母"),
            placeholder="ab",
            when={"task": ("word",)},
        ),
        BitsControl("text", text("Some bits", "比特"), places=8, when={"task": ("bits",)}),
        StoryControl(
            "text",
            text("A story", "故事"),
            hint=text("sentences", "句子"),
            words=WORDS,
            when={"task": ("story",)},
        ),
        QuestionControl(
            "question",
            text("Question", "问题"),
            placeholder="where is john",
            when={"task": ("story",)},
        ),
        TIMES,
        SliderControl(
            "most",
            text("at most", "至多"),
            change=True,
            says=lambda n: text(f"at most {n}", f"至多 {n}"),
            stands=("task", {"word": 4, "bits": 8, "story": 4}),
        ),
        SliderControl(
            "cut",
            text("cut", "截短"),
            step=0.5,
            change=True,
            says=lambda cut: text(f"cut {cut:g}", f"截短 {cut:g}"),
            idle=("times", text("only as trained", "仅在原样时")),
        ),
        SwitchControl(
            "loud",
            text("loud", "大写"),
            names={True: text("yes", "是"), False: text("no", "否")},
            change=True,
            says=lambda _loud: text("said loud", "大声说"),
        ),
    ),
    views=(View("difficulty", partial(place_run_figure, "difficulty"), drawn, at="side"),),
    change=Change(difference, measure, lambda request, _before: replace(request, text="")),
    examples=tuple((one, text(f"example {one.text}", f"示例 {one.text}")) for one in EXAMPLES),
    first=lambda: StoredRun(EXAMPLES[0], Said("abab", "abab"), 12.0, "cpu"),
    about=ABOUT,
    bar=AnswerBar(
        text("What is asked", "提问"),
        answer=lambda seen, request: input_bar.describe_answer(
            request.question or request.text,
            seen.answer,
            right=seen.answer == seen.expected,
            expected=seen.expected,
            facts=[
                (
                    text(f"{len(seen.answer)} letters", f"{len(seen.answer)} 个字母"),
                    text("how many", "多少"),
                )
            ],
            beside=[input_bar.Beside(text("another", "另一个"), HOSTILE, False)],
        ),
    ),
)
