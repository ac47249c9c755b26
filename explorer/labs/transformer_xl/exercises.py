"""The exercises of Transformer-XL: who looks across the border, and what the memory is worth."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.transformer_xl.records import Explanation, Reading, Request

LONG = 500  # given characters, several segments
SHORT = 64  # states of a short memory
CHEAP = 0.01  # bits per character
DEAR = 0.1


def _locks_farthest_head(attempt: Attempt[Request, Explanation]) -> bool:
    reading = _find_reading(attempt.explanation, "xl")
    if reading is None or attempt.look.get("model", "xl") != "xl" or reading.memory == 0:
        return False
    shares = reading.across.astype(np.float32).mean(-1)  # (layer, head)
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return attempt.look.get("head") == f"{layer + 1}.{head + 1}"


def _shortens_memory(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        dataclasses.replace(request, memory=Request.memory) == restore_models(request)
        and request.memory <= SHORT
        and attempt.explanation.given >= LONG
        and measure_rise(attempt, "xl") <= CHEAP
    )


def _shortens_segment(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        dataclasses.replace(request, segment=Request.segment) == restore_models(request)
        and attempt.explanation.given >= LONG
        and measure_rise(attempt, "xl") <= CHEAP
        and DEAR <= measure_rise(attempt, "absolute") < math.inf
    )


def restore_models(request: Request) -> Request:
    """Return the same text for the models as they were trained."""
    return dataclasses.replace(
        request,
        memory=Request.memory,
        segment=Request.segment,
        intervention=Request.intervention,
    )


def measure_rise(attempt: Attempt[Request, Explanation], variant: str) -> float:
    """Return how many bits per given character the change costs one model, inf without it."""
    run, plain = (_find_reading(each, variant) for each in (attempt.explanation, attempt.plain))
    if run is None or plain is None:
        return math.inf
    given = attempt.explanation.given
    return float((run.nats[:given] - plain.nats[:given]).mean()) / math.log(2)


def _find_reading(run: Explanation, variant: str) -> Reading | None:
    return next((reading for reading in run.readings if reading.variant == variant), None)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="across",
        question={
            "en": "Which head of Transformer-XL gives the largest share of its attention to the"
            " memory, across the border of the segment? Lock it.",
            "zh": "Transformer-XL 的哪个头把最大份额的注意力给了片段边界之外的记忆？请锁定它。",
        },
        answer={
            "en": "Head 1.4, with more than half of it. Most heads stay near and cross the border"
            " only where a segment begins.",
            "zh": "头 1.4，超过一半。大多数头看得很近，只在片段开头才越过边界。",
        },
        solution="v=1&length=0&_model=xl&_head=1.4",
        is_solved=_locks_farthest_head,
    ),
    Exercise(
        key="short",
        question={
            "en": "Shorten the memory to at most 64 states without paying more than 0.01 bits per"
            " character, on a text of at least 500 characters.",
            "zh": "把记忆缩短到至多 64 个状态，"
            "而每个字符多花不超过 0.01 比特，文本至少 500 个字符。",
        },
        answer={
            "en": "64 states cost about 0.004 bits on the first page; 32 cost 0.06. The nearest"
            " characters are worth most, so the first of the memory buys nearly all.",
            "zh": "在第一页上，64 个状态只多花约 0.004 比特，32 个则多花 0.06。"
            "最近的字符最有价值，所以最近的一段记忆几乎就够了。",
        },
        solution="v=1&memory=64&length=0",
        is_solved=_shortens_memory,
    ),
    Exercise(
        key="segments",
        question={
            "en": "Choose a segment with which the model without a memory pays at least 0.1 bits"
            " per character more, and Transformer-XL at most 0.01, on at least 500 characters.",
            "zh": "选一个片段长度：没有记忆的模型每个字符至少多花 0.1 比特，"
            "而 Transformer-XL 至多多花 0.01，文本至少 500 个字符。",
        },
        answer={
            "en": "32 or 16 characters at once. Without a memory every segment begins without"
            " context; with one, it makes no difference where the border lies.",
            "zh": "一次读 32 或 16 个字符。没有记忆时，每个片段都从零开始；"
            "有了记忆，边界在哪里都一样。",
        },
        solution="v=1&segment=32&length=0",
        is_solved=_shortens_segment,
    ),
)
