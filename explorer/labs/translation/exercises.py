"""The exercises of the translation Transformer: heads with a pattern, heads that matter, search."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.translation.records import Explanation, Request


def _finds_previous_word(attempt: Attempt[Request, Explanation]) -> bool:
    weights = attempt.explanation.encoder
    if attempt.look.get("kind") != "encoder" or weights.shape[-1] < 3:
        return False
    back = np.diagonal(weights, -1, -2, -1).mean(-1)  # (layer, head)
    layer, head = np.unravel_index(int(back.argmax()), back.shape)
    return attempt.look.get("head") == f"{layer + 1}.{head + 1}"


def _silences_one_that_matters(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        len(set(request.silenced)) == 1
        and not request.hidden
        and not request.without
        and attempt.explanation.text != attempt.plain.text
    )


def _prefers_less_probable(attempt: Attempt[Request, Explanation]) -> bool:
    hypotheses = attempt.explanation.hypotheses
    return attempt.explanation is attempt.plain and any(
        log_probability > hypotheses[0][1] for _text, log_probability, _score, _why in hypotheses
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="one-back",
        question={
            "en": "Which head of the encoder looks most at the word just before? Lock it.",
            "zh": "编码器中哪个头最多地看前一个词？请锁定它。",
        },
        answer={
            "en": "Head 4.1: its weights lie on the diagonal one place to the left. Such a head"
            " uses the position signal; nobody told it to.",
            "zh": "头 4.1：它的权重落在左移一格的对角线上。"
            "这样的头利用了位置信号，没有人要求它这样做。",
        },
        solution="v=1&sentence=Children+are+playing+soccer+on+a+green+field."
        "&_kind=encoder&_head=4.1",
        is_solved=_finds_previous_word,
    ),
    Exercise(
        key="one-head",
        question={
            "en": "Silence a single head so that the German sentence becomes another one.",
            "zh": "只静音一个头，使德语句子变成另一句。",
        },
        answer={
            "en": "For the first sentence seven of the 96 heads do it, for example head 4.6 of"
            " cross-attention. Most heads can be spared: others do the same work.",
            "zh": "对第一句，96 个头中有七个能做到，例如交叉注意力的头 4.6。"
            "大多数头都可以省去：别的头做着同样的工作。",
        },
        solution="v=1&sentence=Children+are+playing+soccer+on+a+green+field.&silenced=cross.3.5",
        is_solved=_silences_one_that_matters,
    ),
    Exercise(
        key="longer",
        question={
            "en": "Let beam search prefer a translation that is less probable than another one it"
            " has found.",
            "zh": "让束搜索选出一个概率比它找到的另一个译文更低的译文。",
        },
        answer={
            "en": "Raise α and the beam, and give it a very short text such as “People.”: every"
            " word costs probability, so the score is divided by a power of the length.",
            "zh": "调高 α 和束宽，再给一段很短的文本，例如“People.”："
            "每多一个词概率就更低，所以得分要除以长度的某个幂。",
        },
        solution="v=1&sentence=People.&beam=8&alpha=2.0",
        is_solved=_prefers_less_probable,
    ),
)
