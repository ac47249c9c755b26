"""The exercises of parallel translation: words that do not know their neighbours, and lengths."""

from __future__ import annotations

from explorer.contract.exercises import Attempt, Exercise
from models.nonautoregressive.records import Explanation, Request


def _repeats_in_one_pass(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    return run is attempt.plain and attempt.request.passes == 1 and bool(run.repeats[-1].any())


def _repairs_length(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    return (
        request.offset != 0
        and not request.pinned
        and not request.again
        and bool(attempt.plain.repeats[-1].any())
        and not attempt.explanation.repeats[-1].any()
    )


def _moves_other_piece(attempt: Attempt[Request, Explanation]) -> bool:
    request, before, after = attempt.request, attempt.plain.target, attempt.explanation.target
    if len(request.pinned) != 1 or request.offset or request.again or len(before) != len(after):
        return False
    pinned = request.pinned[0][0]
    return any(a != b for i, (a, b) in enumerate(zip(before, after, strict=True)) if i != pinned)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="twice",
        question={
            "en": "Write a sentence in a single pass so that a German piece stands twice in a row.",
            "zh": "只用一轮写出一句译文，使某个德语词片连续出现两次。",
        },
        answer={
            "en": "A long sentence, or the network that learned from human translations, shows it"
            " soon: two neighbours choose the same word, since neither sees the other.",
            "zh": "长句子，或用人工译文训练的网络，很快就会出现："
            "相邻两处选了同一个词，因为谁也看不见谁。",
        },
        solution="v=1&sentence=A+little+girl+in+a+pink+dress+is+climbing+a+tree."
        "&variant=cmlm_raw&passes=1",
        is_solved=_repeats_in_one_pass,
    ),
    Exercise(
        key="length",
        question={
            "en": "In the first translation “und” stands twice. Mend a translation with such a"
            " repeat by changing its length alone.",
            "zh": "第一句译文中“und”出现了两次。请只改变长度，修好一句有这种重复的译文。",
        },
        answer={
            "en": "One piece fewer is enough for the first sentence. Where there are more places"
            " than words, the network fills them with repeats.",
            "zh": "对第一句，减少一个词片就够了。位置比词多时，网络就用重复来填。",
        },
        solution="v=1&sentence=Two+men+are+standing+on+a+bridge+and+talking+to+each+other."
        "&offset=-1",
        is_solved=_repairs_length,
    ),
    Exercise(
        key="pin",
        question={
            "en": "Fix one German piece so that a piece at another place changes too.",
            "zh": "固定一个德语词片，使另一个位置的词片也随之改变。",
        },
        answer={
            "en": "In the first sentence fix “unterhalten” at the eighth place. The decoder has no"
            " causal mask, so what is fixed is read by the places before and behind it.",
            "zh": "在第一句中，把“unterhalten”固定在第八个位置。解码器没有因果掩码，"
            "固定的词前后两边的位置都能读到。",
        },
        solution="v=1&sentence=Two+men+are+standing+on+a+bridge+and+talking+to+each+other."
        "&pinned=7.%E2%96%81unterhalten",
        is_solved=_moves_other_piece,
    ),
)
