"""The exercises of the encoders: heads with a pattern, both sides of a word, and vectors."""

from __future__ import annotations

import re

import numpy as np

from explorer.contract.exercises import Attempt, Exercise
from models.bert.records import PATTERNS, SIDES, Explanation, Request

CLOSE = 0.75  # cosine of two sentences that mean nearly the same
NEXT, BOTH, LEFT = PATTERNS.index("next"), SIDES.index("both"), SIDES.index("left")


def _finds_next_piece(attempt: Attempt[Request, Explanation]) -> bool:
    if attempt.explanation.variant != "minilm":
        return False
    scores = attempt.explanation.patterns[..., NEXT]
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return attempt.look.get("head") == f"{layer + 1}.{head + 1}"


def _needs_right_side(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return run is attempt.plain and any(
        bool(guess.right[BOTH, 0]) and not guess.right[LEFT, 0] for guess in run.guesses
    )


def _means_alike_in_other_words(attempt: Attempt[Request, Explanation]) -> bool:
    request, run = attempt.request, attempt.explanation
    words, others = (
        set(re.findall(r"\w+", text.casefold())) for text in (request.text, request.other)
    )
    return (
        run is attempt.plain
        and run.similarity is not None
        and run.similarity >= CLOSE
        and min(len(words), len(others)) >= 3
        and not words & others
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="next",
        question={
            "en": "Which head of MiniLM looks most at the next piece? Lock it.",
            "zh": "MiniLM 的哪个头最多地看后一个词片？请锁定它。",
        },
        answer={
            "en": "Head 2.9. An encoder has no causal mask, so a head may look ahead as well as"
            " back.",
            "zh": "头 2.9。编码器没有因果掩码，所以头既可以往前看，也可以往后看。",
        },
        solution="v=1&text=The+old+man+gave+his+dog+a+bone+after+dinner.&variant=minilm&_head=2.9",
        is_solved=_finds_next_piece,
    ),
    Exercise(
        key="right-side",
        question={
            "en": "Hide a word that the network guesses from both sides, but not from the left"
            " side alone.",
            "zh": "遮住一个词：网络看两侧时能猜对，只看左侧时猜不对。",
        },
        answer={
            "en": "Hide “dogs” in “Two dogs are running …”. From the left alone many words fit;"
            " the verb on the right narrows them down.",
            "zh": "遮住“Two dogs are running …”中的“dogs”。只看左侧时很多词都合适，"
            "右侧的动词缩小了范围。",
        },
        solution="v=1&text=Two+dogs+are+running+through+the+snow.&hidden=1",
        is_solved=_needs_right_side,
    ),
    Exercise(
        key="other-words",
        question={
            "en": "Write two sentences of at least three words that share no word and whose"
            " vectors have a cosine of 0.75 or more.",
            "zh": "写两句话，各至少三个词，没有一个词相同，而两个句子向量的余弦不低于 0.75。",
        },
        answer={
            "en": "“The child sleeps.” and “A kid is taking a nap.” The vector is the mean of"
            " states that have read the whole sentence; it holds the meaning, not the words.",
            "zh": "“The child sleeps.”和“A kid is taking a nap.”。"
            "向量是读过整句的各状态的平均，它保存的是意思，不是词。",
        },
        solution="v=1&text=The+child+sleeps.&variant=minilm&other=A+kid+is+taking+a+nap.",
        is_solved=_means_alike_in_other_words,
    ),
)
