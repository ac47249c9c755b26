"""A lab of a few lines that goes on with a digit or a text: tests drive its input bar and its panel
of changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.components import change_panel
from explorer.contract.control_kinds import (
    ChoiceControl,
    DrawingControl,
    HeadsControl,
    KnobControl,
    PassageControl,
    SamplePictures,
    SeedControl,
    SliderControl,
)
from explorer.contract.knobs import Range, Spans
from explorer.figures.pairs import Measure, PicturePair
from explorer.figures.sides import TextSide
from explorer.page.program import AnswerBar, Change, Program
from explorer.page.runs import StoredRun
from explorer.panels import passages
from models.explaining.request_fields import (
    any_field,
    choice_field,
    heads_field,
    number_field,
    text_field,
)
from tests.explorer.small_lab import ABOUT, HOSTILE, Seen, nothing_made, text

SIDE = 28
TOO_FAR, TOO_MUCH = 56, 1024  # a stride and a memory that the model refuses
GIVEN, COUNT = 800, 1056
READ = ("The sea 😀 was all before them,\n" * 40)[:COUNT]  # what is read again, whatever the text
MODELS = {
    "strided": text("strided", "跨步"),
    "dense": text("dense", "稠密"),
    "fixed": text(f"fixed {HOSTILE}", "固定"),
}
READERS = {
    "xl": text("Transformer-XL", "有记忆的模型"),
    "absolute": text("Absolute positions", "绝对位置模型"),
}


@dataclass(frozen=True)
class Ask:
    """A digit of which some rows stay, or a text; and what is changed."""

    task: str = choice_field("digit", ("digit", "text"), en="task", zh="任务")
    drawing: str = any_field("test:0")
    keep: int = number_field(14, 0, SIDE, en="number of rows", zh="行数")
    text: str = text_field("", 1024)
    length: int = number_field(256, 0, 1024, en="length", zh="长度")
    seed: int = number_field(7, 0, 999_999, en="seed", zh="随机种子")
    temperature: float = number_field(1.0, 0, 2, en="temperature", zh="温度")
    pattern: str = choice_field("", ("", "full", "strided", "fixed"), en="pattern", zh="模式")
    stride: int = number_field(0, 0, 1024, en="stride", zh="步长")
    summary: int = number_field(0, 0, 1024, en="summary", zh="摘要")
    silenced: tuple[tuple[str, int, int], ...] = heads_field([*MODELS])
    memory: int = number_field(512, 0, 1024, en="memory", zh="记忆")
    segment: int = choice_field(128, (32, 64, 128), en="segment", zh="片段")
    spans: tuple[tuple[int, int, float], ...] = any_field(())


def rings() -> NDArray[np.uint8]:
    """Rings, broader and flatter from one to the next, as held-out digits."""
    row, column = np.mgrid[:SIDE, :SIDE] - 13.5
    around = np.stack([np.hypot(row / (9.5 - n % 5), column / (4 + n // 4)) for n in range(20)])
    return ((around > 0.72) & (around < 1.1)).astype(np.uint8)


def pair(key: str, worse: float, more: bool) -> PicturePair:
    """A slanted stroke, which falls apart below its middle; each pixel there costs more, one
    less."""
    row, column = np.mgrid[:SIDE, :SIDE]
    before = ((np.abs(column - 20 + row // 2) < 2) & (row > 3) & (row < 24)).astype(np.uint8) * 255
    after = before.copy()
    after[14:] = np.roll(after[14:], 5, axis=1)
    dearer = np.where(row >= 14, worse * np.exp(-np.abs(column - 12) / 4), 0).astype(np.float32)
    dearer[20, 20] = -worse
    return PicturePair(
        key, before, after, (80.25, 80.25 + float(dearer.sum())), dearer if more else None
    )


def side(key: str, worse: float, seed: int) -> TextSide:
    """Made-up costs of a text: dear where a segment begins, dearer still where the change is
    felt."""
    draw = np.random.default_rng(seed)
    at = np.arange(COUNT)
    before = (draw.gamma(1.4, 0.9, COUNT) * (1 + 0.8 * np.exp(-(at % 128) / 24))).astype(np.float32)
    felt = np.exp(-(((at - 500) / 180) ** 2)) + 0.4 * (at % 128 < 40)
    after = (
        np.maximum(
            before + (worse * felt + draw.normal(0, 0.3, COUNT) * worse).astype(np.float32), 0
        )
        if worse
        else before
    )
    first = READ[GIVEN:]
    wrote = (
        first,
        first[:90]
        + "and "
        + HOSTILE
        + " nobody could say why they had come at all. "
        + first[:120],
    )
    unreached = text("It has no memory.", "它没有记忆。") if key == "absolute" else None
    return TextSide(key, READERS[key], before, after, GIVEN, 128, wrote, READ, unreached)


def difference(
    _seen: object, _measured: object, request: Ask, _what: object
) -> change_panel.Pictures | change_panel.Readings:
    """Two models of digits are touched, a picked pattern brings no map; a segment reaches both
    readers, a longer memory none."""
    if request.task == "digit":
        pairs = [
            pair("strided", 0.6, not request.pattern),
            pair("fixed", 1.25, not request.pattern),
        ]
        said = text(
            f"With a stride of ⟦k:{request.stride}⟧ the digit costs more {HOSTILE}.",
            "步长改变后，这个数字代价更高。",
        )
        measure = Measure(
            text("nats of the digit", "该数字的纳特数"), "nats", text("nats", "纳特"), raster=True
        )
        return change_panel.Pictures(pairs, measure, MODELS, said)
    sides = [
        side("xl", 0.0 if request.memory > 512 else 0.4, 1),
        side("absolute", 0.15 if request.segment != 128 else 0.0, 2),
    ]
    said = text(
        f"With ⟦k:64 states⟧ of memory, segment 3 costs most {HOSTILE}",
        "记忆为⟦k:64 个状态⟧时，第 3 个片段变化最大",
    )
    return change_panel.Readings(sides, said)


DIGIT, TEXT = {"task": ("digit",)}, {"task": ("text",)}
STRIDE = Range(
    "stride",
    text("stride", "步长"),
    range(1, 57),
    28,
    text("{n} positions", "{n} 个位置"),
    unchanged=0,
)
SUMMARY = Range(
    "summary",
    text("summary columns", "摘要列"),
    range(1, 29),
    4,
    text("{n} of each block", "每块 {n} 列"),
    unchanged=0,
    within="stride",
)
MEMORY = Range(
    *(
        "memory",
        text("memory", "记忆"),
        (0, 32, 64, 128, 256, 384, 512, 768, 1024),
        512,
        text("characters", "个字符"),
    ),
    text("beyond training", "超出训练"),
)
PATTERNS = {
    "": text("as trained", "同训练时"),
    "full": text("full", "完整"),
    "strided": text("strided", "跨步"),
    "fixed": text("fixed", "固定"),
}
NAMES = [text(HOSTILE, HOSTILE) if n == 9 else text(f"a ring, {n}", f"圆环 {n}") for n in range(20)]
CHANGED = text("a part of it", "其中一部分")
EXAMPLES = (
    Ask(),
    Ask(drawing="test:8", keep=10, seed=3),
    Ask("text", text="Sir Walter Elliot, of Kellynch Hall"),
    Ask("text", text="It was the best of ", length=200, seed=3),
)
TITLES = (
    text("half a ring", "半个圆环"),
    text("ten rows", "十行"),
    text("a novel", "一部小说"),
    text("a beginning", "开头"),
)
PROGRAM: Program[Ask, Seen] = Program(
    explain=nothing_made(
        lambda request: request.stride == TOO_FAR or request.memory == TOO_MUCH,
        en=f"So much is refused. {HOSTILE}",
        zh="太多，被拒绝。",
    ),
    kind=Ask,
    controls=(
        ChoiceControl(
            "task",
            text("input", "输入"),
            names={"digit": text("a digit", "数字"), "text": text("a text", "文本")},
        ),
        DrawingControl(
            "drawing",
            text("Digit", "数字"),
            drawings=SamplePictures(rings(), NAMES, "keep"),
            when=DIGIT,
        ),
        PassageControl(
            "text",
            text("A text to read", "要读的文本"),
            hint=text("Type English", "输入英文"),
            shares="length",
            when=TEXT,
        ),
        SliderControl(
            "keep",
            text("rows that stay", "保留行数"),
            unit=text("{n} of 28", "{n} / 28"),
            when=DIGIT,
        ),
        SliderControl("length", passages.LENGTH, unit=passages.CHARACTERS, when=TEXT),
        SliderControl("temperature", passages.TEMPERATURE, step=0.1),
        SeedControl("seed", passages.SEED),
        ChoiceControl(
            "pattern",
            text("pattern", "模式"),
            names=PATTERNS,
            change=True,
            says=lambda _: CHANGED,
            when=DIGIT,
        ),
        KnobControl(
            "stride",
            STRIDE.label,
            knob=STRIDE,
            change=True,
            says=lambda n: text(f"stride {n}", f"步长 {n}"),
            when=DIGIT,
        ),
        KnobControl(
            "summary",
            SUMMARY.label,
            knob=SUMMARY,
            change=True,
            says=lambda _: CHANGED,
            when=DIGIT,
        ),
        HeadsControl(
            "silenced",
            text("silenced heads", "关掉的头"),
            names=MODELS,
            sizes=dict.fromkeys(MODELS, (4, 4)),
            change=True,
            says=lambda _: CHANGED,
            when=DIGIT,
        ),
        KnobControl(
            "memory",
            MEMORY.label,
            knob=MEMORY,
            change=True,
            says=lambda _: CHANGED,
            when=TEXT,
        ),
        ChoiceControl(
            "segment",
            text("read at once", "一次读入"),
            change=True,
            says=lambda _: CHANGED,
            when=TEXT,
        ),
        KnobControl(
            "spans",
            text("spans", "跨度"),
            knob=Spans(layers=4, heads=4, span=512, ramp=32),
            change=True,
            says=lambda _: CHANGED,
            when=TEXT,
        ),
    ),
    views=(),
    change=Change(difference),
    examples=tuple(zip(EXAMPLES, TITLES, strict=True)),
    shorts=TITLES,
    first=lambda: StoredRun(EXAMPLES[0], Seen(7), 12.0, "cpu"),
    about=ABOUT,
    bar=AnswerBar(
        text("What is read and made", "读什么、生成什么"),
        run=passages.RUN,
        pick=lambda _seen, request: (
            {"model": "strided", "head": "2.3", "pos": 412}
            if request.task == "digit"
            else {"model": "xl", "head": "2.3", "pos": 640}
        ),
    ),
)
