"""The exercises of adaptive computation time: how long the network thinks, and what that buys."""

from __future__ import annotations

import dataclasses

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.act_rnn.records import LIMIT, Explanation, Request


def _locks_longest_input(attempt: Attempt[Request, Explanation]) -> bool:
    steps = attempt.explanation.steps
    longest = np.flatnonzero(steps == steps.max())
    return len(steps) > 1 and attempt.look.get("pos") in set(map(str, longest))


def _allows_fewest_updates(attempt: Attempt[Request, Explanation]) -> bool:
    """`stopped` holds the answers under each lower limit, so the limit one below is known."""
    limit, plain = attempt.request.limit, attempt.plain
    is_limit_alone = dataclasses.replace(attempt.request, limit=0) == Request(
        attempt.request.task, attempt.request.text
    )
    return (
        is_limit_alone
        and 2 <= limit <= len(plain.stopped)
        and attempt.explanation.is_right
        and plain.stopped[limit - 2] != plain.expected
    )


def _thinks_long_without_carry(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return (
        run is attempt.plain
        and attempt.request.task == "addition"
        and run.difficulty == 0
        and int(run.steps.max()) >= LIMIT["addition"]
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="longest",
        question={
            "en": "Which digit of the sum takes the most updates? Lock it.",
            "zh": "算式中哪一位数字用的更新次数最多？请锁定它。",
        },
        answer={
            "en": "The highest bar: in 478 + 256 the fifth input, a hundreds digit, takes six"
            " updates. Every input decides for itself when its halting probabilities reach 1 − ε.",
            "zh": "最高的那根柱子：在 478 + 256 中，第五个输入（百位数字）用了六次更新。"
            "每个输入自己决定停止概率之和何时达到 1 − ε。",
        },
        solution="v=1&_pos=4",
        is_solved=_locks_longest_input,
    ),
    Exercise(
        key="fewest",
        question={
            "en": "Set the limit M as low as possible: the answer is still right, and with one"
            " update fewer it would be wrong.",
            "zh": "把上限 M 设得尽可能低：答案仍然正确，而再少一次更新就会出错。",
        },
        answer={
            "en": "478 + 256 needs M = 4. The line “if it stopped now” shows it beforehand: after"
            " three updates the answer is still 844, after four it is 734.",
            "zh": "478 + 256 需要 M = 4。“若此刻停止”的一行事先就能看出：三次更新后还是 844，"
            "四次后是 734。",
        },
        solution="v=1&limit=4",
        is_solved=_allows_fewest_updates,
    ),
    Exercise(
        key="no-carry",
        question={
            "en": "Carries look hard. Find a sum without any carry in which the unchanged network"
            " still takes all eight updates for some input.",
            "zh": "进位看起来很难。请找一个完全没有进位的算式，"
            "未改动的网络却在某个输入上用满八次更新。",
        },
        answer={
            "en": "1 + 1 is enough. What takes long is what the network finds hard, and that is"
            " learned: it is not the number of carries.",
            "zh": "1 + 1 就够了。花时间的是网络觉得难的东西，这是学来的，与进位个数不是一回事。",
        },
        solution="v=1&text=1%2B1",
        is_solved=_thinks_long_without_carry,
    ),
)
