"""The exercises of the Music Transformer: near heads, relative distances, a motif moved."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from explorer.contract.controls import spell_query
from explorer.contract.exercises import Attempt, Exercise
from models.music import chorales
from models.music.records import CHORALES, Explanation, Made, Request
from models.music.weights import look

MOST = 512  # rows of a map of which a mean is taken
LONG = 32  # generated cells, two quarters of four voices
DEAR = 1.0  # bits per event
CONTINUED = dataclasses.replace(CHORALES[-1], length=LONG)  # four voices, continued


def _locks_nearest_head(attempt: Attempt[Request, Explanation]) -> bool:
    music = attempt.explanation.made[0]
    if not music.table.size or attempt.look.get("model", music.variant) != music.variant:
        return False
    layers, heads, length, _ = music.queries.shape
    rows = range(0, length, max(1, length // MOST))
    back = np.array(rows)[:, None] - np.arange(length)
    away = np.array(
        [
            [(look(music, layer, head, rows) * back).sum(1).mean() for head in range(heads)]
            for layer in range(layers)
        ]
    )
    layer, head = np.unravel_index(int(away.argmin()), away.shape)
    return attempt.look.get("head") == f"{layer + 1}.{head + 1}"


def _misses_distances(attempt: Attempt[Request, Explanation]) -> bool:
    request = attempt.request
    is_distance_alone = dataclasses.replace(request, farthest=Request.farthest) == restore_models(
        request
    )
    run, plain = attempt.explanation.made[0], attempt.plain.made[0]
    return (
        is_distance_alone
        and _count_generated(run) >= LONG
        and _measure_bits(run) - _measure_bits(plain) >= DEAR
    )


def _moves_music(attempt: Attempt[Request, Explanation]) -> bool:
    """Cells of a chorale hold pitches, or silence."""
    request = attempt.request
    is_move_alone = dataclasses.replace(request, semitones=Request.semitones) == restore_models(
        request
    )
    run, plain = attempt.explanation.made[0], attempt.plain.made[0]
    if (
        not is_move_alone
        or request.style != "chorale"
        or request.mode != "continue"
        or request.semitones == 0
        or _count_generated(run) < LONG
        or len(run.events) != len(plain.events)
    ):
        return False
    before, after = (music.events[~music.given].astype(int) for music in (plain, run))
    moved = np.where(before == chorales.SILENCE, before, before + request.semitones)
    return bool((before != chorales.SILENCE).any() and (after == moved).all())


def restore_models(request: Request) -> Request:
    """Return the same motif for the models as they were trained."""
    return dataclasses.replace(
        request,
        farthest=Request.farthest,
        semitones=Request.semitones,
        stretch=Request.stretch,
        silenced=Request.silenced,
    )


def _count_generated(music: Made) -> int:
    return int((~music.given).sum())


def _measure_bits(music: Made) -> float:
    """Return the bits per generated event."""
    return float(music.nats[~music.given].mean()) / math.log(2)


EXERCISES: tuple[Exercise[Request, Explanation], ...] = (
    Exercise(
        key="near",
        question={
            "en": "Which head of the Music Transformer looks back least far on average? Lock it.",
            "zh": "音乐 Transformer 的哪个头平均看得最近？请锁定它。",
        },
        answer={
            "en": "Head 5.2 in the first example, seven events back on average: the last sixteenths"
            " of four voices. A relative distance can be learned like any weight.",
            "zh": "在第一个例子中是头 5.2，平均往回七个事件，也就是四个声部最近的几个十六分音符。"
            "相对距离可以像任何权重一样学到。",
        },
        solution=spell_query(CHORALES[0]) + "&_head=5.2",
        is_solved=_locks_nearest_head,
    ),
    Exercise(
        key="distances",
        question={
            "en": "Change nothing but the distances, so that the Music Transformer spends at least"
            " one bit more on each event of at least 32 that it writes.",
            "zh": "只改变距离，使 音乐 Transformer 写出的至少 32 个事件平均每个多花一比特以上。",
        },
        answer={
            "en": "Remove the relative term. Without it a head knows what an event is but not how"
            " far back it lies, and order is lost.",
            "zh": "去掉相对项。没有它，头知道一个事件是什么，却不知道它有多远，次序就丢失了。",
        },
        solution=spell_query(dataclasses.replace(CONTINUED, farthest=0)),
        is_solved=_misses_distances,
    ),
    Exercise(
        key="moved",
        question={
            "en": "Transpose a chorale so that the Music Transformer continues it with the very"
            " same 32 cells or more, transposed as well.",
            "zh": "把一首众赞歌移调，使 音乐 Transformer 续写的 32 个以上的格子也恰好整体移调。",
        },
        answer={
            "en": "Bach's chorale two semitones down. The model has no rule for it: it learned from"
            " pieces in many keys, so the same turn is likely in each.",
            "zh": "把巴赫的众赞歌降两个半音。模型里没有这条规则："
            "它学过许多调的乐曲，所以同样的进行在各调中都很可能。",
        },
        solution=spell_query(dataclasses.replace(CONTINUED, semitones=-2)),
        is_solved=_moves_music,
    ),
)
