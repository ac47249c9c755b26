"""The exercises of self-similarity: bars that return, a temperature, a window that is too small."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.self_similarity.records import Explanation, Request

ALIKE = 0.999  # likeness of two bars that are the same
GAIN = 2.5  # decibels: a gain that is small beside the ten or more of the brick wall
LOOSE = 0.2  # coherence of a texture in which hardly any neighbours stay together


def _locks_equal_bars(attempt: Attempt[Request, Explanation]) -> bool:
    bars = attempt.explanation.bars
    equal = np.argwhere((bars >= ALIKE) & ~np.eye(len(bars), dtype=bool))
    return attempt.look.get("bar") in {f"{row}.{column}" for row, column in equal}


def _gains_little(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    if run is not attempt.plain or run.denoised is None or attempt.request.sigma < Request.sigma:
        return False
    noisy, means, *_others = run.denoised.psnr
    return means - noisy < GAIN


def _tears_texture(attempt: Attempt[Request, Explanation]) -> bool:
    growth = attempt.explanation.growth
    return growth is not None and growth.coherence < LOOSE


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="bars",
        question={
            "en": "Two different bars of the chorale are exactly the same. Find such a pair and"
            " lock it.",
            "zh": "众赞歌中有两个不同的小节完全相同。找出这样一对并锁定它。",
        },
        answer={
            "en": "Bars 1 and 5, for example: the first four bars return whole. They show as a"
            " stripe beside the diagonal.",
            "zh": "例如第 1 小节和第 5 小节：前四小节完整地重现，在图中是对角线旁的一条斜纹。",
        },
        solution="v=1&_bar=4.0",
        is_solved=_locks_equal_bars,
    ),
    Exercise(
        key="no-likes",
        question={
            "en": "Find a picture on which the mean of the likes gains less than 2.5 decibels,"
            " with noise of at least σ = 20 and nothing else changed.",
            "zh": "找一张图片：噪声 σ 至少为 20，其他都不改动，相似处的平均只提高不到 2.5 分贝。",
        },
        answer={
            "en": "The grass. Its blades are never quite alike, so there is little to average. The"
            " brick wall repeats itself and gains more than eleven decibels.",
            "zh": "草地。草叶从不完全相同，能平均的很少。砖墙不断重复，提高超过十一分贝。",
        },
        solution="v=1&picture=test%3A4",
        is_solved=_gains_little,
    ),
    Exercise(
        key="torn",
        question={
            "en": "Grow a texture so badly that fewer than one pixel in five is copied from right"
            " beside the source of its left neighbour.",
            "zh": "让纹理生长得很差：只有不到五分之一的像素，其来源紧挨着左邻像素的来源。",
        },
        answer={
            "en": "Take a window of 3 pixels. A window smaller than the brick finds likes"
            " everywhere, so the copies no longer fit together.",
            "zh": "取 3 像素的窗口。比砖块小的窗口到处都能找到相似处，于是复制来的像素拼不到一起。",
        },
        solution="v=1&task=grow&window=3",
        is_solved=_tears_texture,
    ),
)
