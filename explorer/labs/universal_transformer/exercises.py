"""The exercises of the Universal Transformer: facts that a question needs, and steps it takes."""

from __future__ import annotations

import dataclasses

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.universal_transformer.records import Explanation, Request

FOCUSED = 0.9  # weight on one sentence that is nearly all of it
LONG = 4  # carries of a sum whose carry runs


def _asks_for_one_fact(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return (
        run is attempt.plain
        and attempt.request.task == "stories"
        and len(run.positions) > 3
        and len(run.facts) == 1
        and run.is_right
    )


def _finds_head_on_fact(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    if not run.facts:
        return False
    question = run.wanted[0]
    last = int(run.steps[question])
    weights = run.attention[last - 1, :, question, list(run.facts)].max(0)  # (head,)
    heads = np.flatnonzero(weights > FOCUSED)
    return attempt.look.get("head") in {f"{last}.{head + 1}" for head in heads}


def _carries_in_fewest_steps(attempt: Attempt[Request, Explanation]) -> bool:
    """`stopped` holds the answers under each lower limit, so the limit one below is known."""
    request, plain = attempt.request, attempt.plain
    is_limit_alone = dataclasses.replace(request, limit=0) == Request(
        request.task, request.text, request.question
    )
    return (
        is_limit_alone
        and request.task == "addition"
        and plain.difficulty >= LONG
        and 2 <= request.limit <= len(plain.stopped)
        and attempt.explanation.is_right
        and plain.stopped[request.limit - 2] != plain.expected
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="one-fact",
        question={
            "en": "The first question needs three sentences of its story. Tell a story of at least"
            " three sentences whose question needs one of them alone, and is answered rightly.",
            "zh": "第一个问题需要故事中的三句话。请写一个至少三句话的故事，"
            "它的问题只需要其中一句，并且回答正确。",
        },
        answer={
            "en": "Ask where a person is: the last sentence that moves her is enough. A question"
            " about a thing needs more, because somebody may have carried it.",
            "zh": "问一个人在哪里：只要最后一句移动她的话就够了。问一件东西则需要更多，"
            "因为它可能被人带走。",
        },
        solution="v=1&text=sandra+went+to+the+park.+john+went+to+the+office.+sandra+went+to+the"
        "+cellar.&question=where+is+sandra",
        is_solved=_asks_for_one_fact,
    ),
    Exercise(
        key="look-up",
        question={
            "en": "At the last step that the question takes, which head gives more than nine"
            " tenths of its weight to one sentence that the answer needs? Lock it.",
            "zh": "在问题所用的最后一步，哪个头把九成以上的权重给了答案所需的某一句话？请锁定它。",
        },
        answer={
            "en": "In the first story heads 3 and 4 of step 3 look almost only at one ringed"
            " sentence each: the question looks up one fact after the other, step by step.",
            "zh": "在第一个故事中，第 3 步的头 3 和头 4 各自几乎只看一句带圈的话："
            "问题一步一步地查找一个又一个事实。",
        },
        solution="v=1&_head=3.3",
        is_solved=_finds_head_on_fact,
    ),
    Exercise(
        key="carry",
        question={
            "en": "Take a sum with at least four carries. Set the limit M as low as possible: the"
            " answer is still right, and with one step fewer it would be wrong.",
            "zh": "取一个至少有四次进位的算式。把上限 M 设得尽可能低：答案仍然正确，"
            "而再少一步就会出错。",
        },
        answer={
            "en": "95678 + 4322 needs M = 3. All digits are written at once, so the carry needs a"
            " few steps of attention to pass through all columns.",
            "zh": "95678 + 4322 需要 M = 3。所有数字同时写出，"
            "因此进位要经过几步注意力才能传遍各列。",
        },
        solution="v=1&task=addition&text=95678%2B4322&question=&limit=3",
        is_solved=_carries_in_fewest_steps,
    ),
)
