"""The exercises of the agent: where it looks, which head it needs, how far it must remember."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.gtrxl.records import Explanation, Request

FAR = 20  # cells of a long corridor


def _finds_lower_head_on_lamp(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    lamp = next((cell for cell, wall in enumerate(run.above) if wall != "."), None)
    if not len(run.weights) or lamp is None or lamp not in run.place:
        return False
    step = int(np.flatnonzero(run.place == lamp)[0])
    weights = run.weights[0, :, step:, step].astype(np.float32).mean(-1)  # (head,)
    return attempt.look.get("head") == f"1.{int(weights.argmax()) + 1}"


def _silences_needed_head(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        len(set(request.silenced)) == 1
        and request.silenced[0][0] == request.network
        and not request.forced
        and not request.covered
        and request.memory == Request.memory
        and attempt.plain.right
        and not attempt.explanation.right
    )


def _remembers_just_enough(attempt: Attempt[Request, Explanation]) -> bool:
    request, run = attempt.request, attempt.explanation
    return (
        request.length >= FAR
        and not request.covered
        and not request.silenced
        and not request.forced
        and run.cue != ""
        and run.right
        and len(run.weights) > 0
        and request.memory == len(run.place) - 1
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="lower-head",
        question={
            "en": "Which head of layer 1 looks most at the step at which the lamp hung above the"
            " agent, on average over the walk? Lock it.",
            "zh": "第 1 层中哪个头在整段路上平均最多地看灯挂在头顶的那一步？请锁定它。",
        },
        answer={
            "en": "Head 1.4, with more than half of its weight. The lamp is one step of the"
            " memory; attention reaches it directly, however long ago it was.",
            "zh": "头 1.4，超过一半的权重在那里。灯是记忆中的一步，"
            "不管隔了多久，注意力都能直接到达。",
        },
        solution="v=1&above=B&seed=3&_head=1.4",
        is_solved=_finds_lower_head_on_lamp,
    ),
    Exercise(
        key="needed",
        question={
            "en": "Silence a single head so that the agent takes the wrong turn.",
            "zh": "只静音一个头，使智能体转错弯。",
        },
        answer={
            "en": "Head 2.2. Head 2.3 puts all its weight on the lamp as well, but the agent turns"
            " rightly without it: what is looked at need not be used.",
            "zh": "头 2.2。头 2.3 也把全部权重放在灯上，但没有它智能体照样转对：看了不一定用到。",
        },
        solution="v=1&above=B&seed=3&silenced=gtrxl.1.1",
        is_solved=_silences_needed_head,
    ),
    Exercise(
        key="just-enough",
        question={
            "en": "In a corridor of at least 20 cells, set the memory k as low as possible: the"
            " last step can just still look at the first one, and the turn is right.",
            "zh": "在至少 20 格的走廊里，把记忆 k 设得尽可能低：最后一步恰好还能看到第一步，"
            "而且转弯正确。",
        },
        answer={
            "en": "With N = 20 it is k = 20: the turn comes 20 steps after the lamp. With one step"
            " less the lamp is out of reach, and the turn is a guess.",
            "zh": "N = 20 时 k = 20：转弯在看到灯之后 20 步。再少一步就够不到灯，只能靠猜。",
        },
        solution="v=1&length=20&above=B&seed=3&memory=20",
        is_solved=_remembers_just_enough,
    ),
)
