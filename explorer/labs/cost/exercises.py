"""The exercises of the cost laboratory. They count operations on paper, never the seconds of a
machine."""

from __future__ import annotations

from explorer.contract.exercises import Attempt, Exercise
from models.cost.records import Explanation, Request, operations

SHORT = 64  # numbers of a key that is called short
EXACT = 1e-9  # the largest difference of a picture that has not changed


def _makes_attention_dear(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return request.task == "clock" and operations(
        "attention", request.length, request
    ) > operations("recurrence", request.length, request)


def _collapses_rows(attempt: Attempt[Request, Explanation]) -> bool:
    """The last row of `at` belongs to the power that was asked for."""
    scale = attempt.explanation.scale
    return scale is not None and attempt.request.d_k <= SHORT and float(scale.at[-1, 0]) < 1


def _silences_idle_head(attempt: Attempt[Request, Explanation]) -> bool:
    heads = attempt.explanation.heads
    return heads is not None and attempt.request.without > 0 and heads.error < EXACT


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="dear",
        question={
            "en": "Choose a length L and a width d at which, on paper, self-attention needs more"
            " operations than the recurrent layer.",
            "zh": "选择长度 L 和宽度 d，使自注意力在纸面上所需的运算多于循环层。",
        },
        answer={
            "en": "Any L above 4 d: self-attention needs 4 L² d operations, an LSTM 16 L d²."
            " The square loses where sequences are long and vectors short.",
            "zh": "L 大于 4d 即可：自注意力需要 4L²·d 次运算，LSTM 需要 16L·d² 次。"
            "序列长而向量短时，平方项就吃亏。",
        },
        solution="v=1&length=256&width=32",
        is_solved=_makes_attention_dear,
    ),
    Exercise(
        key="collapse",
        question={
            "en": "With keys of at most 64 numbers, let the rows of the softmax keep less than one"
            " bit of entropy.",
            "zh": "键的维数不超过 64，使 softmax 各行的熵不到一比特。",
        },
        answer={
            "en": "Take d_k = 64 and the power 0. Undivided scores have the standard deviation"
            " √d_k = 8, so one key takes nearly all of a row.",
            "zh": "取 d_k = 64，指数 0。不除的分数标准差为 √d_k = 8，于是一个键几乎占去整行。",
        },
        solution="v=1&task=scale&d_k=64&power=0.0",
        is_solved=_collapses_rows,
    ),
    Exercise(
        key="idle",
        question={
            "en": "Nine heads make a filter. Silence one of them so that the picture stays exactly"
            " the same.",
            "zh": "九个头组成一个滤波器。静音其中一个，使图片完全不变。",
        },
        answer={
            "en": "In the edge filter the whole middle column is 0: heads 2, 5 and 8 add nothing."
            " Each head looks at one shift, and its value map is one weight of the filter.",
            "zh": "边缘滤波器的中间一列全是 0：头 2、5、8 不起作用。"
            "每个头看一个位移，它的值映射就是滤波器的一个权重。",
        },
        solution="v=1&task=heads&without=5",
        is_solved=_silences_idle_head,
    ),
)
