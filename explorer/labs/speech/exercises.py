"""The exercises of the speech recogniser: the blank, the wait, and the past that it needs."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

from explorer.contract.exercises import Attempt, Exercise
from models.speech.records import RATE, Explanation, Request

EARLIER = 0.3  # seconds


def _locks_parting_blank(attempt: Attempt[Request, Explanation]) -> bool:
    run = attempt.explanation
    path, blank = run.probabilities.argmax(1), run.probabilities.shape[1] - 1
    written = list(zip(run.written[0].digits, run.written[0].frames, strict=True))
    parting = {
        str(frame)
        for (digit, begin), (after, end) in pairwise(written)
        if digit == after
        for frame in range(int(begin) + 1, int(end))
        if path[frame] == blank
    }
    return attempt.look.get("frame") in parting


def _writes_earlier(attempt: Attempt[Request, Explanation]) -> bool:
    run, plain = attempt.explanation, attempt.plain
    is_window_alone = dataclasses.replace(
        attempt.request, left=Request.left, right=Request.right
    ) == restore_network(attempt.request)
    return (
        is_window_alone
        and run.edits == plain.edits == 0
        and len(run.streaming.arrives) > 0
        and int(plain.streaming.arrives[-1] - run.streaming.arrives[-1]) >= EARLIER * RATE
    )


def _misses_past(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    is_past_alone = dataclasses.replace(request, left=Request.left) == restore_network(request)
    return (
        is_past_alone
        and request.left < Request.left
        and attempt.plain.edits == 0
        and attempt.explanation.edits > 0
    )


def restore_network(request: Request) -> Request:
    """Return the same sound for the network as it was trained."""
    return dataclasses.replace(
        request,
        left=Request.left,
        right=Request.right,
        noise=Request.noise,
        speed=Request.speed,
        unheard=Request.unheard,
        silenced=Request.silenced,
    )


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="blank",
        question={
            "en": "The number has two equal digits in a row. Lock a frame without which they"
            " would merge into one.",
            "zh": "这个数有两个相同的相邻数字。请锁定一个帧：没有它，这两个数字就会合成一个。",
        },
        answer={
            "en": "Any frame between the two threes: there the network names the blank. Repeats"
            " merge, so only a blank keeps two equal digits apart.",
            "zh": "两个 3 之间的任何一帧：网络在那里给出空白。重复会合并，"
            "所以只有空白才能把两个相同的数字隔开。",
        },
        solution="v=1&_frame=20",
        is_solved=_locks_parting_blank,
    ),
    Exercise(
        key="earlier",
        question={
            "en": "Let the last digit be final at least 0.3 seconds earlier than as trained, still"
            " without a wrong digit, by changing the windows alone.",
            "zh": "只改变窗口，使最后一个数字比训练时至少早 0.3 秒确定，而且仍然没有错。",
        },
        answer={
            "en": "Set the right window to 0. Each of the four layers waits for its R frames of 40"
            " milliseconds, so R = 2 costs 4 × 2 × 0.04 = 0.32 seconds.",
            "zh": "把右窗口设为 0。四层中的每一层都要等 R 帧，每帧 40 毫秒，"
            "所以 R = 2 要多花 4 × 2 × 0.04 = 0.32 秒。",
        },
        solution="v=1&right=0",
        is_solved=_writes_earlier,
    ),
    Exercise(
        key="past",
        question={
            "en": "Find a number that the network hears rightly as it was trained, and wrongly"
            " when nothing but its left window is shorter.",
            "zh": "找一个数：网络按训练时的设置能听对，只把左窗口缩短就会听错。",
        },
        answer={
            "en": "“789” in the voice of nicolas with a left window of 2. Four layers then hear a"
            " third of a second, and a digit may last longer.",
            "zh": "用“nicolas”的嗓音说“789”，左窗口取 2。四层合起来只听到三分之一秒，"
            "而一个数字可能更长。",
        },
        solution="v=1&digits=789&voice=nicolas&seed=2&left=2",
        is_solved=_misses_past,
    ),
)
