"""The exercises of the training laboratory: a head that forms, a path that is needed, a run that
breaks."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.twins.records import Explanation, Request

CHANCE = 0.2  # share of right digits up to which a run knows nothing: one in ten is chance
LEARNED = 0.5  # share from which on it has learned something
SURE = 0.9


def _locks_mirror_head(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    if attempt.request.task != "reverse" or run.right[-1, 0].mean() < SURE:
        return False
    weights = run.weights[-1, 0].astype(float)  # (layer, head, query, key)
    mirrored = np.diagonal(weights[..., ::-1], 0, -2, -1).mean(-1)
    layer, head = np.unravel_index(int(mirrored.argmax()), mirrored.shape)
    return attempt.look.get("head") == f"{layer + 1}.{head + 1}"


def _needs_residual_paths(attempt: Attempt[Request, Explanation]) -> bool:
    run, request = attempt.explanation, attempt.request
    if request.change != "residual" or request.factor != 1 or request.task == "sort":
        return False
    own, twin = run.right[-1].mean(-1)
    return bool(own >= SURE and twin <= LEARNED)


def _saves_run_at_chance(attempt: Attempt[Request, Explanation]) -> bool:
    run, request = attempt.explanation, attempt.request
    if not request.is_twin or request.factor != 1:
        return False
    ends = np.nan_to_num(run.right[-1].mean(-1))
    return bool(ends.min() <= CHANCE and ends.max() >= LEARNED)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="mirror",
        question={
            "en": "Train a network to reverse. Which head looks at the mirrored place most at the"
            " end? Lock it.",
            "zh": "训练一个网络来倒序。训练结束时哪个头最多地看镜像位置？请锁定它。",
        },
        answer={
            "en": "The one whose map at the last step is brightest from the lower left to the upper"
            " right: in the second example head 1.3. At the start all heads look everywhere alike.",
            "zh": "最后一步的图中从左下到右上最亮的那个头：第二个例子中是头 1.3。"
            "训练开始时所有的头都均匀地看各处。",
        },
        solution="v=1&task=reverse&rate=0.01&steps=300&change=residual&_head=1.3",
        is_solved=_locks_mirror_head,
    ),
    Exercise(
        key="path",
        question={
            "en": "Take one technique from the twin so that it fails at a task which its sibling"
            " solves. Sorting does not count: it lives without.",
            "zh": "从孪生网络中去掉一项技巧，使它做不成另一个网络做得成的任务。"
            "排序不算：没有它也能学会。",
        },
        answer={
            "en": "The residual paths, with reversing or copying: positions reach the upper layers"
            " on these paths. Sorting needs no positions of its input.",
            "zh": "残差连接，任务为倒序或复制：位置信息经由它到达上层。排序不需要输入的位置。",
        },
        solution="v=1&task=reverse&rate=0.01&steps=300&change=residual",
        is_solved=_needs_residual_paths,
    ),
    Exercise(
        key="chance",
        question={
            "en": "Find a run that stays at chance while its twin, at the same rate, learns.",
            "zh": "找出一次停在随机水平的训练，而学习率相同的孪生训练却能学会。",
        },
        answer={
            "en": "Six layers with the norm behind the sum, at a constant rate of 0.01: with the"
            " norm in front the same network learns.",
            "zh": "六层、归一化在求和之后、恒定学习率 0.01：把归一化放到前面，同样的网络就能学会。",
        },
        solution="v=1&layers=6&rate=0.01&schedule=constant&steps=100&change=norm",
        is_solved=_saves_run_at_chance,
    ),
)
