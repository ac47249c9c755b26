"""The exercises of the self-attention GAN: hubs, a picture that is believed, a piece far away."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.sagan.records import Explanation, Request

FAR = 0.007  # change of a verdict that convolution cannot explain
BELIEVED = 0.5  # logit of a picture that is taken for real


def _locks_hub(attempt: Attempt[Request, Explanation]) -> bool:
    generator = attempt.explanation.made
    return generator is not None and attempt.look.get("pos") == str(
        int(generator.weights.sum(0).argmax())
    )


def _makes_believed_picture(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return run is attempt.plain and run.made is not None and run.judged.logit > BELIEVED


def _reaches_far(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    if run.erased is None or run is not attempt.plain:
        return False
    change = np.abs(run.erased.judged.verdicts - run.judged.verdicts)
    return bool((change[~run.erased.inside] > FAR).any())


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="hub",
        question={
            "en": "Which cell of the generator receives the most attention from all cells"
            " together? Lock it.",
            "zh": "生成器中哪个格子从所有格子得到的注意力总和最多？请锁定它。",
        },
        answer={
            "en": "Add up what each cell receives: one hub takes more than half of all attention."
            " The scores are not divided by √d, so the softmax is hard.",
            "zh": "把每个格子得到的加起来：有一个枢纽得到全部注意力的一半以上。"
            "分数没有除以 √d，所以 softmax 很尖锐。",
        },
        solution="v=1&_pos=46",
        is_solved=_locks_hub,
    ),
    Exercise(
        key="believed",
        question={
            "en": "Let the unchanged generator make a picture whose logit is above 0.5.",
            "zh": "让未改动的生成器做出一张对数几率高于 0.5 的图片。",
        },
        answer={
            "en": "A boot (class 9) with seed 2 does it. The sign of the logit is the verdict, and"
            " few generated pictures get above 0.",
            "zh": "种子为 2 的短靴（类别 9）就可以。对数几率的正负就是判决，生成的图片很少高于 0。",
        },
        solution="v=1&kind=9&seed=2",
        is_solved=_makes_believed_picture,
    ),
    Exercise(
        key="far",
        question={
            "en": "Erase a cell so that the verdict of a cell which cannot see it by convolution"
            " changes by more than 0.007.",
            "zh": "擦去一个格子，使一个靠卷积看不到它的格子的判决改变超过 0.007。",
        },
        answer={
            "en": "In the boot of seed 3, erase cell 7. The 22 pixels of the far cells end before"
            " it, so their change comes through attention alone.",
            "zh": "在种子为 3 的短靴中擦去第 7 格。远处格子的 22 像素够不到它，"
            "所以它们的变化只能来自注意力。",
        },
        solution="v=1&kind=9&seed=3&erase=7",
        is_solved=_reaches_far,
    ),
)
