"""The exercises of the picture models: surprising pixels, a memory, and a head that matters."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.image_transformer.records import FLANGE, MEMORY_ROWS, Explanation, Request

FORGOTTEN = 1.1  # times the bits of a picture
MISSED = 1.03
ONE_D, TWO_D = 0, 1  # places of the models in `surprise`


def _locks_surprising_pixel(attempt: Attempt[Request, Explanation]) -> bool:
    surprise = attempt.explanation.surprise
    if surprise is None:
        return False
    worst = (np.unravel_index(int(bits.argmax()), bits.shape) for bits in surprise)
    return attempt.look.get("bit") in {f"{row},{column}" for row, column in worst}


def _cuts_memory(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        request.memory_rows < MEMORY_ROWS
        and request.flange == FLANGE
        and not request.silenced
        and measure_rise(attempt, ONE_D) >= FORGOTTEN
    )


def _silences_needed_head(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        len(set(request.silenced)) == 1
        and request.memory_rows == MEMORY_ROWS
        and request.flange == FLANGE
        and measure_rise(attempt, TWO_D) >= MISSED
    )


def measure_rise(attempt: Attempt[Request, Explanation], model: int) -> float:
    """Return the bits of a given picture over those of the model as trained, 0 where no picture is
    given."""
    run, plain = attempt.explanation, attempt.plain
    if run.given is None or run.surprise is None or plain.surprise is None:
        return 0
    return float(run.surprise[model].sum() / plain.surprise[model].sum())


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="surprise",
        question={
            "en": "Which pixel of the picture surprises a model most? Lock it.",
            "zh": "图片中哪个像素最出乎模型意料？请锁定它。",
        },
        answer={
            "en": "The brightest place on a map of bits, usually where an edge or a texture begins"
            " that nothing before it announces.",
            "zh": "比特图上最亮的地方，通常是边缘或纹理开始的地方，前面没有任何预兆。",
        },
        solution="v=1&mode=complete&kind=10&picture=test%3A0&keep=21&_bit=20,20",
        is_solved=_locks_surprising_pixel,
    ),
    Exercise(
        key="memory",
        question={
            "en": "Give a picture and take memory away from the 1D model until that picture costs"
            " it at least 10 per cent more.",
            "zh": "给出一张图片，减少 1D 模型的记忆，直到它在这张图片上至少多花百分之十。",
        },
        answer={
            "en": "For the first test picture no row may be left. One row above the block already"
            " shows nearly all that the model uses.",
            "zh": "对第一张测试图片，必须一行也不留。"
            "块上方只要有一行，模型所用的信息就几乎都有了。",
        },
        solution="v=1&mode=complete&kind=10&picture=test%3A0&keep=21&memory_rows=0",
        is_solved=_cuts_memory,
    ),
    Exercise(
        key="one-head",
        question={
            "en": "Silence a single head of the 2D model so that a given picture costs it at least"
            " 3 per cent more.",
            "zh": "只静音 2D 模型的一个头，使它在一张给定的图片上至少多花百分之三。",
        },
        answer={
            "en": "For the first test picture head 2.2 does it. Most heads cost about one per"
            " cent: several of them look at the same neighbours.",
            "zh": "对第一张测试图片，头 2.2 就可以。大多数头只影响百分之一左右："
            "好几个头看的是相同的邻居。",
        },
        solution="v=1&mode=complete&kind=10&picture=test%3A0&keep=21&silenced=local_2d.1.1",
        is_solved=_silences_needed_head,
    ),
)
