"""The exercises of adaptive span: heads that stay near, layers and heads that need their span."""

from __future__ import annotations

import math

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.adaptive_span.records import Explanation, Request

LONG = 500  # given characters
FREE = 0.001  # bits per character that are as good as nothing
DEAR = 0.01  # bits per character that one head may cost


def _locks_shortest_span(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    spans = run.z.mean(-1)  # (layer, head)
    if run is not attempt.plain or spans.min() == spans.max():
        return False
    layer, head = np.unravel_index(int(spans.argmin()), spans.shape)
    return attempt.look.get("head") == f"{layer + 1}.{head + 1}"


def _closes_free_layer(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    layers = run.forced.all(1)
    return (
        int(layers.sum()) == 1
        and int(run.forced.sum()) == run.forced.shape[1]
        and float(run.z[layers].max()) == 0
        and run.given >= LONG
        and measure_rise(attempt) <= FREE
    )


def _closes_needed_head(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return (
        int(run.forced.sum()) == 1
        and float(run.z[run.forced].max()) == 0
        and run.given >= LONG
        and measure_rise(attempt) >= DEAR
    )


def measure_rise(attempt: Attempt[Request, Explanation]) -> float:
    """Return how many bits per given character the forced spans cost."""
    given = attempt.explanation.given
    rise = attempt.explanation.nats[:given] - attempt.plain.nats[:given]
    return float(rise.mean()) / math.log(2)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="shortest",
        question={
            "en": "Which head of the unchanged model has learned the shortest span? Lock it.",
            "zh": "未改动的模型中哪个头学到的跨度最短？请锁定它。",
        },
        answer={
            "en": "Head 4.3, with a span below one character: only the ramp is left. It pays"
            " nothing for distances that would save it nothing.",
            "zh": "头 4.3，跨度不到一个字符，只剩下斜坡。省不了什么的距离，它就不付代价。",
        },
        solution="v=1&length=0&_head=4.3",
        is_solved=_locks_shortest_span,
    ),
    Exercise(
        key="free-layer",
        question={
            "en": "Force all heads of one layer to z = 0 so that a text of at least 500 characters"
            " costs at most 0.001 bits per character more.",
            "zh": "把某一层的所有头都固定为 z = 0，"
            "使至少 500 个字符的文本每个字符至多多花 0.001 比特。",
        },
        answer={
            "en": "Layer 1. Its heads need only what the ramp still shows; layers 2 and 3 use"
            " their long spans, and layer 4 depends on its own most of all.",
            "zh": "第 1 层。它的头只需要斜坡内的内容；第 2、3 层会用到长跨度，第 4 层最离不开。",
        },
        solution="v=1&length=0&spans=0.-1.0%252E0",
        is_solved=_closes_free_layer,
    ),
    Exercise(
        key="needed-head",
        question={
            "en": "Force a single head to z = 0 so that a text of at least 500 characters costs at"
            " least 0.01 bits per character more.",
            "zh": "只把一个头固定为 z = 0，使至少 500 个字符的文本每个字符至少多花 0.01 比特。",
        },
        answer={
            "en": "Head 2.4, the one with the longest span: training let it keep the price of"
            " 300 characters because it saves more than that.",
            "zh": "头 2.4，跨度最长的那个：训练让它付出三百个字符的代价，因为它省下的更多。",
        },
        solution="v=1&length=0&spans=1.3.0%252E0",
        is_solved=_closes_needed_head,
    ),
)
