"""The exercises of sparse attention: a head that looks up, the stride, a head that matters."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.sparse_transformer.records import SIDE, Explanation, Made, Request
from models.sparse_transformer.weights import overview

FROM = 100  # given symbols
MISFIT = 1.3  # times the bits of the digit
MISSED = 1.1


def _locks_head_above(attempt: Attempt[Request, Explanation]) -> bool:
    """A key carries the pixel before its place: the pixel above is SIDE − 1 places back."""
    drawing = _find_drawing(attempt.explanation, "strided")
    if drawing is None or attempt.look.get("model", "strided") != "strided":
        return False
    above = overview(drawing).distances[..., SIDE - 1]  # (layer, head)
    layer, head = np.unravel_index(int(above.argmax()), above.shape)
    return attempt.look.get("head") == f"{layer + 1}.{head + 1}"


def _misses_column(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        request.stride > 0
        and not request.pattern
        and not request.summary
        and not request.silenced
        and measure_rise(attempt, "strided") >= MISFIT
    )


def _silences_needed_head(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        len(set(request.silenced)) == 1
        and request.silenced[0][0] == "strided"
        and not request.pattern
        and not request.stride
        and not request.summary
        and measure_rise(attempt, "strided") >= MISSED
    )


def measure_rise(attempt: Attempt[Request, Explanation], variant: str) -> float:
    """Return the cost of the given symbols over that of the model as trained, 0 without it."""
    run, plain = (_find_drawing(each, variant) for each in (attempt.explanation, attempt.plain))
    if run is None or plain is None or int(run.given.sum()) < FROM:
        return 0
    return float(run.nats[run.given].sum() / plain.nats[plain.given].sum())


def _find_drawing(run: Explanation, variant: str) -> Made | None:
    return next((drawing for drawing in run.made if drawing.variant == variant), None)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="above",
        question={
            "en": "Which head of the strided model gives most weight to the pixel straight above?"
            " Lock it.",
            "zh": "跨步模型的哪个头把最多的权重给了正上方的像素？请锁定它。",
        },
        answer={
            "en": "Head 3.3, with half of its weight. With a stride of one row, the second part of"
            " the pattern holds exactly the column above the pixel.",
            "zh": "头 3.3，占一半权重。跨步等于一行时，模式的第二部分正好是像素上方的一列。",
        },
        solution="v=1&keep=28&_model=strided&_head=3.3",
        is_solved=_locks_head_above,
    ),
    Exercise(
        key="stride",
        question={
            "en": "Change nothing but the stride, so that the given part of the digit costs the"
            " strided model at least 30 per cent more.",
            "zh": "只改变跨步，使跨步模型在数字的给定部分上至少多花百分之三十。",
        },
        answer={
            "en": "27 instead of 28: every step up slips one pixel to the side. The pattern must"
            " fit the structure of the data.",
            "zh": "用 27 代替 28：每往上一步就偏一个像素。模式必须符合数据的结构。",
        },
        solution="v=1&keep=28&stride=27",
        is_solved=_misses_column,
    ),
    Exercise(
        key="one-head",
        question={
            "en": "Silence a single head of the strided model so that the given part of the digit"
            " costs it at least 10 per cent more.",
            "zh": "只静音跨步模型的一个头，使它在数字的给定部分上至少多花百分之十。",
        },
        answer={
            "en": "Head 2.4 of sixteen, when the whole first digit is given. Most heads cost only"
            " a few per cent: others see the same pixels.",
            "zh": "给出第一个数字的全部时，是十六个头中的头 2.4。"
            "大多数头只影响百分之几：别的头也看到同样的像素。",
        },
        solution="v=1&keep=28&silenced=strided.1.3",
        is_solved=_silences_needed_head,
    ),
)
