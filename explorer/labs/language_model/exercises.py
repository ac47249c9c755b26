"""The exercises of the language models: surprise, layers that can be spared, likely text."""

from __future__ import annotations

import math

from explorer.contract.exercises import Attempt, Exercise
from models.language_model.records import Explanation, Learned, Request

CHEAP = 0.5  # bits per symbol that the loss of a layer may cost
LONG = 20  # symbols of a continuation
LIKELY = 1.2  # bits per symbol of a likely one


def _locks_greatest_surprise(attempt: Attempt[Request, Explanation | Learned]) -> bool:
    run = attempt.explanation
    if isinstance(run, Learned) or not run.given:
        return False
    worst = int(run.nats[: run.given].argmax())
    return attempt.look.get("pos", "").split(",")[-1] == str(worst)


def _spares_layer(attempt: Attempt[Request, Explanation | Learned]) -> bool:
    request, run, plain = attempt.request, attempt.explanation, attempt.plain
    if isinstance(run, Learned) or isinstance(plain, Learned) or run.given < LONG:
        return False
    dearer = float((run.nats[: run.given] - plain.nats[: run.given]).mean())
    return (
        len(set(request.skipped)) == 1
        and not request.silenced
        and request.positions
        and dearer / math.log(2) <= CHEAP
    )


def _types_likely_text(attempt: Attempt[Request, Explanation | Learned]) -> bool:
    run = attempt.explanation
    return (
        not isinstance(run, Learned)
        and run is attempt.plain
        and len(run.typed) >= LONG
        and float(run.typed_nats.mean()) / math.log(2) < LIKELY
    )


EXERCISES: tuple[Exercise[Request, Explanation | Learned], ...] = (
    Exercise(
        key="surprise",
        question={
            "en": "Which character of the given text surprises the model most? Lock it.",
            "zh": "给定文本中哪个字符最出乎模型意料？请锁定它。",
        },
        answer={
            "en": "The highest bar of the given text. In the first example it is the “y” of"
            " “youth”: a new word begins, and many others could begin there.",
            "zh": "给定文本中最高的那根柱子。在第一个例子中是“youth”的“y”："
            "那里开始一个新词，还可能开始许多别的词。",
        },
        solution="v=1&text=She+had+been+forced+into+prudence+in+her+youth,+she+&length=1&_pos=41",
        is_solved=_locks_greatest_surprise,
    ),
    Exercise(
        key="spare",
        question={
            "en": "Skip one layer so that the given text costs at most half a bit more per"
            " character.",
            "zh": "跳过一层，使给定文本每个字符最多多花半比特。",
        },
        answer={
            "en": "Layer 6 or 7 of the eight. Each layer adds to the residual path, so the layers"
            " above still find most of what they need; without layer 1 nothing works.",
            "zh": "八层中的第 6 或第 7 层。每层只是往残差通路上加一点，"
            "所以上面的层仍能得到大部分所需；没有第 1 层则什么都不行。",
        },
        solution="v=1&text=She+had+been+forced+into+prudence+in+her+youth,+she+&length=1&skipped=7",
        is_solved=_spares_layer,
    ),
    Exercise(
        key="likely",
        question={
            "en": "Type a continuation of at least 20 characters on which the unchanged model"
            " spends less than 1.2 bits per character.",
            "zh": "输入一段至少 20 个字符的续文，使未改动的模型每个字符花费不到 1.2 比特。",
        },
        answer={
            "en": "Frequent words in a frequent order, for example “had been so much to be ”. The"
            " model gives them a high probability although they say nothing.",
            "zh": "常用的词、常见的次序，例如“had been so much to be ”。"
            "虽然没说出什么，模型却给它们很高的概率。",
        },
        solution="v=1&text=She+had+been+forced+into+prudence+in+her+youth,+she+"
        "&length=1&typed=had+been+so+much+to+be+",
        is_solved=_types_likely_text,
    ),
)
