"""The exercises of attention by hashing: letters that never met, rounds, and pairs compared."""

from __future__ import annotations

import math

from explorer.contract.exercises import Attempt, Exercise
from models.reformer.records import Explanation, Read, Request
from models.reformer.weights import measure_compared

LONG = 200  # letters of a text that fills several chunks
FEW = 0.5  # share of the pairs that are compared as trained
CHEAP = 0.05  # bits per letter


def _locks_wrong_letter(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    model = attempt.look.get("model")  # None where the page has chosen it
    wrong = {
        str(place)
        for read in run.read
        if model in (None, read.variant)
        for place in run.wanted[~read.right]
    }
    return (
        attempt.request.mode == "word"
        and attempt.request.rounds == 1
        and attempt.look.get("pos", "").split(",")[-1] in wrong
    )


def _parts_models(attempt: Attempt[Request, Explanation]) -> bool:
    """The models of four rounds and of one read the same word."""
    many, single = (_find_read(attempt.explanation, name) for name in ("lsh_4", "lsh_1"))
    return (
        many is not None
        and single is not None
        and not attempt.request.silenced
        and many.correct == 1
        and single.correct < 0.5
    )


def _compares_few_pairs(attempt: Attempt[Request, Explanation]) -> bool:
    run, plain = (_find_read(each, "text") for each in (attempt.explanation, attempt.plain))
    if run is None or plain is None or len(run.nats) < LONG or attempt.request.silenced:
        return False
    dearer = float(run.nats.mean() - plain.nats.mean()) / math.log(2)
    return dearer <= CHEAP and measure_compared(run) <= FEW * measure_compared(plain)


def _find_read(run: Explanation, variant: str) -> Read | None:
    return next((read for read in run.read if read.variant == variant), None)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="never-met",
        question={
            "en": "Give every model a single round and a phrase in which one of them gets a letter"
            " wrong. Lock a letter that the model in view says wrongly.",
            "zh": "让每个模型只散列一轮，找一句使某个模型写错字母的话，"
            "并锁定所看模型写错的一个字母。",
        },
        answer={
            "en": "In “to be, or not to be …” the first letter. In a single round a query and the"
            " letter it needs may fall into different chunks, and then they never meet.",
            "zh": "在“to be, or not to be …”中是第一个字母。只有一轮时，"
            "查询与所需的字母可能落在不同的块中，那就永远不会相遇。",
        },
        solution="v=1&text=to+be,+or+not+to+be,+that+is+the+question&rounds=1&_pos=42",
        is_solved=_locks_wrong_letter,
    ),
    Exercise(
        key="rounds-help",
        question={
            "en": "Change the hashing so that the model of four rounds repeats the word without a"
            " mistake, while the model of one round gets more than half of it wrong.",
            "zh": "改变散列方式，使四轮的模型一字不错地重复这个词，而一轮的模型错了一半以上。",
        },
        answer={
            "en": "Chunks of 2 do it. A query then compares itself with three places at most in"
            " each round; four rounds bring it together with four times as many.",
            "zh": "把块长设为 2。这时每个查询每轮最多与三个位置比较；四轮就能遇到四倍之多。",
        },
        solution="v=1&chunk=2",
        is_solved=_parts_models,
    ),
    Exercise(
        key="few-pairs",
        question={
            "en": "Let the model of texts read at least 200 letters, compare at most half as many"
            " pairs as with its trained hashing, and pay at most 0.05 bits per letter more.",
            "zh": "让文本模型读至少 200 个字符，比较的对数至多是训练时散列方式的一半，"
            "而每个字符至多多花 0.05 比特。",
        },
        answer={
            "en": "For example four rounds with chunks of 8. Small chunks compare little, and more"
            " rounds find again what one round misses.",
            "zh": "例如四轮、块长 8。小块比较得少，更多的轮次把一轮错过的再找回来。",
        },
        solution="v=1&mode=text&rounds=4&chunk=8&text="
        "The+captain+of+the+ship+was+an+old+man,+and+nobody+had+ever+heard+him+laugh.+He+"
        "sat+by+the+window,+and+looked+at+the+sea%3B+the+sea+was+grey,+and+the+sky+was+gr"
        "ey,+and+nobody+spoke+to+him+for+a+long+time.+",
        is_solved=_compares_few_pairs,
    ),
)
