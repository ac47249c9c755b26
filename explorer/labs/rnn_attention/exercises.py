"""The exercises of recurrent networks with attention: weights that are used, states that fade."""

from __future__ import annotations

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.rnn_attention.records import Explanation, Request

FADED = 0.01  # share of the last state that is left of the first word


def _locks_most_even_row(attempt: Attempt[Request, Explanation]) -> bool:
    weights = attempt.explanation.weights
    if not len(weights):
        return False
    entropy = -(weights * np.log(np.maximum(weights, 1e-9))).sum(1)
    return attempt.look.get("row", "").split(",")[-1] == str(int(entropy.argmax()))


def _changes_one_piece(attempt: Attempt[Request, Explanation]) -> bool:
    request, before, after = attempt.request, attempt.plain.target, attempt.explanation.target
    return (
        len(request.words) > 0
        and len(set(request.rows)) == 1
        and request.context == "attended"
        and len(before) == len(after)
        and [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
        == [request.rows[0]]
    )


def _lets_first_word_fade(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return (
        run is attempt.plain
        and attempt.request.variant == "none"
        and float(run.remains[0, 0]) < FADED
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="even",
        question={
            "en": "Which German piece spreads its weight most evenly over the English words? Lock"
            " its row.",
            "zh": "哪个德语词片把权重最均匀地分给各个英语词？请锁定它所在的行。",
        },
        answer={
            "en": "In the first sentence it is the stop token. No single English word says that"
            " the sentence is over, so it looks at several.",
            "zh": "在第一句中是终止符。没有哪一个英语词说明句子已经结束，所以它要看好几个词。",
        },
        solution="v=1&sentence=Children+are+playing+soccer+on+a+green+field.&_row=8",
        is_solved=_locks_most_even_row,
    ),
    Exercise(
        key="one-word",
        question={
            "en": "At one output, move all the weight to another English word so that this German"
            " piece changes and all other pieces stay the same.",
            "zh": "在某一个输出处把全部权重移到另一个英语词上，"
            "使这个德语词片改变，而其他词片都不变。",
        },
        answer={
            "en": "Put the weight of “grünen” on “Children”: the network writes “Kinder” there."
            " The context vector decides what is said, the state what comes next.",
            "zh": "把“grünen”的权重放到“Children”上：网络在那里写出“Kinder”。"
            "上下文向量决定说什么，状态决定接着说什么。",
        },
        solution="v=1&sentence=Children+are+playing+soccer+on+a+green+field.&words=0&rows=5",
        is_solved=_changes_one_piece,
    ),
    Exercise(
        key="fades",
        question={
            "en": "Without attention: find a sentence at whose end the forward reader has kept"
            " less than one per cent of its first word.",
            "zh": "在没有注意力的网络中，找一句话：读到句末时，"
            "正向读取的网络对第一个词的保留不到百分之一。",
        },
        answer={
            "en": "A caption of some fifteen words does it. Each word that is read changes the"
            " state and thins out what was there before.",
            "zh": "大约十五个词的句子就可以。每读一个词，状态都会改变，先前的内容被冲淡。",
        },
        solution="v=1&sentence=A+man+in+a+blue+shirt+is+standing+on+a+ladder+and+cleaning+a+window."
        "&variant=none",
        is_solved=_lets_first_word_fade,
    ),
)
