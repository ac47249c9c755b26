"""The panel about word order: the shape of the sinusoids, and the visitor's sentence without
them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from explorer.components import figure
from explorer.components.folded import Question, Value
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text, format_two_digits, join_parts
from explorer.contract.labels import text as _
from explorer.figures import attention, theme
from explorer.labs.translation.figures import positions as drawing
from explorer.page.views import View, view_in_folded_panel
from models.translation.position_records import MAX_SEED, Positions, Shuffle
from models.translation.records import Explanation, Request

FUNCTION = "models.translation.positions:positions"


TEXTS: Final[Mapping[str, Text]] = {
    "title": _("What tells the model where a word stands?", "模型怎么知道一个词在哪里？"),
    "intro": _(
        "Attention itself knows no order: the weights are the same in whatever order the words"
        " come. So a pattern of sines and cosines, different for each position, is added to the"
        " word vectors before the first layer.",
        "注意力本身没有顺序：词站在哪里，一行权重都一样。所以在第一层之前，"
        "给每个词的向量加上一个由正弦和余弦组成的图案，每个位置各不相同。",
    ),
    "shape": _("Which signal", "看哪个信号"),
    "own": _("This model's", "本模型的"),
    "textbook": _("As in the lecture, 32 × 128", "讲义里的 32 × 128"),
    "alike": _("How to look at it", "怎么看"),
    "curve": _("By distance", "按距离"),
    "map": _("All pairs", "所有位置对"),
    "shuffle": _("Does the encoder notice the order?", "编码器察觉得到顺序吗？"),
    "plain": _("Your sentence", "您的句子"),
    "shuffled": _("Shuffled", "打乱后"),
    "again": _("Shuffle again", "再打乱一次"),
    "read": _("The encoder reads", "编码器读取时"),
    "largest": _("largest difference of any number", "任一数值的最大差"),
    "before": _("translation of the sentence", "原句的译文"),
    "after": _("translation of the shuffled one", "打乱后的译文"),
    "with": _("with the signal", "有信号"),
    "without": _("without it", "没有信号"),
    "decoder": _(
        "Only the encoder loses its signal; the decoder keeps its own, so German words still come"
        " one after the other.",
        "只有编码器失去信号；解码器保留自己的，所以德文词仍然一个接一个地写出。",
    ),
}
AXES: Final = {
    "picture": {"en": ("dimension", "position"), "zh": ("维度", "位置")},
    "curve": {
        "en": ("distance, in positions", "product ÷ largest"),
        "zh": ("距离（位置数）", "内积 ÷ 最大值"),
    },
    "map": {"en": ("position", "position"), "zh": ("位置", "位置")},
    "distances": {"en": ("", "distance of the vectors"), "zh": ("", "向量的距离")},
}
SIGNED: Final = tuple(
    figure.Mark(_(text, text), f"var(--signed-{at})") for text, at in (("−1", 0), ("1", 6))
)
PICTURE: Final = _("What does the signal look like?", "信号是什么样子？")
ALIKE: Final = _("How alike are the signals of two positions?", "两个位置的信号有多相似？")
MOVED: Final = _("How far does each word's vector move?", "每个词的向量移动多远？")
UNITS: Final = _("{length} positions × {d} dimensions", "{length} 个位置 × {d} 个维度")
WAVES: Final = _(
    "Two neighbouring columns are the sine and the cosine of one wavelength: {shortest} positions"
    " on the left, {longest} on the right. No two rows are alike.",
    "相邻两列是同一波长的正弦和余弦：最左边 {shortest} 个位置，最右边 {longest} 个位置。"
    "没有两行相同。",
)
USED: Final = _(
    " Your sentence has the first {used} of these rows, above the line.",
    "您的句子用到线以上的前 {used} 行。",
)
FALLS: Final = _(
    "The product is largest for a position with itself; for a neighbour it is {near} of that, at"
    " distance {middle} it is {at}, at distance {far} {last}. It depends only on the distance,"
    " on either side and at every position.",
    "一个位置与自身的内积最大；与相邻位置的是它的 {near}，距离 {middle} 时 {at}，距离 {far} 时"
    " {last}。"
    "它只取决于距离，两侧相同，与所在位置无关。",
)
LOGARITHMIC: Final = _("logarithmic, length of a vector {size}", "对数坐标，向量长度 {size}")
SAYS: Final = _(
    "With the signal the vectors move by {least} to {most}, “{piece}” the most; without it no"
    " number of any vector differs by more than {rounding}, which is rounding: the same vectors in"
    " another order.",
    "有信号时，各向量移动 {least} 到 {most}，“{piece}”移动最多；没有信号时，"
    "任何向量的任何数值相差不超过 {rounding}，"
    "只是舍入误差：同样的向量，换了顺序。",
)
SAME: Final = _(
    " Without it both orders get the same translation.", "没有信号时，两种顺序得到同一译文。"
)
# columns of the table of distances between vectors
DISTANCES = ("piece", "stood", "stands", "with", "without")
COLUMNS: Final[Mapping[str, Text]] = {
    "position": shared.POSITION,
    "distance": _("distance, in positions", "距离（位置数）"),
    "product": _("product ÷ largest", "内积 ÷ 最大值"),
    "piece": shared.PIECE,
    "stood": _("old position", "原位置"),
    "stands": _("new position", "新位置"),
    "with": _("moved, with the signal", "移动（有信号）"),
    "without": _("moved, without it", "移动（无信号）"),
}


def read_question(run: Request, question: Question) -> Shuffle:
    """Return the sentence of the run, and the requested order; an invalid number becomes the first
    order."""
    given = question.wish.get("order") if isinstance(question.wish, Mapping) else None
    seed = int(given) if isinstance(given, str) and re.fullmatch(r"[1-9]\d{0,3}", given) else 1
    return Shuffle(run.sentence, seed)


def draw_panel(seen: Positions, seed: int = 1) -> Value:
    """Draw the panel. seed: of the order, from 1."""
    pieces = [seen.source[i] for i in seen.order]
    shapes = {
        "own": _draw_shape("own", seen.own, len(pieces)),
        "textbook": _draw_shape("textbook", seen.textbook, None),
    }
    return {
        "notes": [dict(TEXTS["intro"])],
        "choices": [
            figure.describe_choice(
                "signal", TEXTS["shape"], {name: TEXTS[name] for name in ("own", "textbook")}
            ),
            figure.describe_choice(
                "alike", TEXTS["alike"], {name: TEXTS[name] for name in ("curve", "map")}
            ),
        ],
        "figures": [
            {
                "figure": one,
                "when": {"signal": size} if name == "picture" else {"signal": size, "alike": name},
            }
            for size, figures in shapes.items()
            for name, one in figures.items()
        ],
        "heading": dict(TEXTS["shuffle"]),
        "lines": [
            {
                "label": dict(TEXTS["plain"]),
                "lang": "en",
                "pieces": _draw_order(seen, range(len(pieces))),
            },
            {
                "label": dict(TEXTS["shuffled"]),
                "lang": "en",
                "pieces": _draw_order(seen, seen.order),
            },
        ],
        "button": {"label": dict(TEXTS["again"]), "set": {"order": str(seed % MAX_SEED + 1)}},
        "table": {
            "columns": [dict(TEXTS[name]) for name in ("read", "largest", "before", "after")],
            "langs": [None, None, "de", "de"],
            "rows": [
                {
                    "cells": [
                        dict(TEXTS[name]),
                        format_difference(one.largest),
                        one.before,
                        one.after,
                    ],
                    "marks": [
                        None,
                        "bold",
                        "text",
                        "text" if one.before == one.after else "text other",
                    ],
                }
                for name, one in (("with", seen.signal), ("without", seen.silence))
            ],
        },
        "notes_after": [dict(TEXTS["decoder"])],
        "figures_moved": [{"figure": _draw_distances(seen, pieces)}],
    }


def _draw_order(seen: Positions, order: Sequence[int]) -> list[Value]:
    """Return the pieces of the sentence in an order; moved pieces are coloured."""
    return [
        {
            "text": seen.source[at],
            "index": at,
            "role": "key" if at != i else None,
            "joined": i > 0 and not seen.source_space[at],
        }
        for i, at in enumerate(order)
    ]


def _draw_shape(name: str, signal: drawing.Array, used: int | None) -> Value:
    """Draw one size of the signal in three ways. used: positions that the sentence takes."""
    length, d = signal.shape
    similar = drawing.measure_similarity(signal)
    middle, far = 10, length - 1
    units = fill_text(UNITS, length=length, d=d)
    waves = fill_text(
        WAVES,
        shortest=f"{drawing.find_wavelength(0, d):.1f}",
        longest=f"{drawing.find_wavelength(d - 1, d):,.0f}",
    )
    falls = fill_text(
        FALLS,
        near=format_two_digits(similar[1]),
        middle=middle,
        at=format_two_digits(similar[middle]),
        far=far,
        last=format_two_digits(similar[far]),
    )
    sine = [[round(float(one), 4) for one in row] for row in signal]
    pairs = [[round(float(similar[abs(p - q)]), 4) for q in range(length)] for p in range(length)]
    says = (
        waves
        if used is None or used >= length
        else join_parts([waves, fill_text(USED, used=used)], "", "")
    )
    by_distance = [(k, round(float(one), 5)) for k, one in enumerate(similar)]
    columns, alike = (COLUMNS["distance"], COLUMNS["product"]), (ALIKE, units, falls)
    curves = {
        language: drawing.draw_curve(similar, axes) for language, axes in AXES["curve"].items()
    }
    signal_, pairs_ = (
        drawing.draw_squares(sine, AXES["picture"], used),
        drawing.draw_squares(pairs, AXES["map"]),
    )
    return {
        "picture": figure.describe_drawn_figure(
            f"signal-{name}", signal_, (PICTURE, units, says), *_make_table(sine), SIGNED, 300
        ),
        "curve": figure.describe_drawn_figure(
            f"alike-{name}", curves, alike, columns, by_distance, height=300
        ),
        "map": figure.describe_drawn_figure(
            f"alike-map-{name}", pairs_, alike, *_make_table(pairs), SIGNED, 300
        ),
    }


def _make_table(
    numbers: Sequence[Sequence[float]],
) -> tuple[Sequence[Text], Sequence[Sequence[float]]]:
    """Return rows of numbers beside their position, with columns named by their number."""
    names = [_(str(i), str(i)) for i in range(len(numbers[0]))]
    return (COLUMNS["position"], *names), [(p, *row) for p, row in enumerate(numbers)]


def _draw_distances(seen: Positions, pieces: Sequence[str]) -> Value:
    signal, silence = seen.signal.distances, seen.silence.distances
    most = int(np.argmax(signal))
    sentence = fill_text(
        SAYS,
        least=f"{float(signal.min()):.1f}",
        most=f"{float(signal.max()):.1f}",
        rounding=format_difference(seen.silence.largest),
        # last: a visitor's word may hold a name in braces
        piece=attention.show_token(pieces[most]),
    )
    if seen.silence.before == seen.silence.after:
        sentence = join_parts([sentence, SAME], "", "")
    named = {
        language: (TEXTS["with"][language], TEXTS["without"][language]) for language in ("en", "zh")
    }
    drawn = {
        language: drawing.draw_distances(pieces, seen.order, signal, silence, axes, named[language])
        for language, axes in AXES["distances"].items()
    }
    both = enumerate(zip(pieces, seen.order, strict=True))
    rows = [
        (piece, place, i, round(float(signal[i]), 4), float(f"{float(silence[i]):.2g}"))
        for i, (piece, place) in both
    ]
    words, columns = (
        (MOVED, fill_text(LOGARITHMIC, size=f"{seen.size:.1f}"), sentence),
        [COLUMNS[name] for name in DISTANCES],
    )
    marks = (
        figure.Mark(TEXTS["with"], drawing.WITH),
        figure.Mark(TEXTS["without"], drawing.WITHOUT),
    )
    return figure.describe_drawn_figure("shuffled", drawn, words, columns, rows, marks)


def format_difference(number: float) -> str:
    """Return a difference as people read it: "1.2 × 10⁻⁶"; plainly from a thousandth on, "0.84"."""
    return f"{number:.2f}" if number >= 1e-3 or number <= 0 else theme.format_number(number)


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "positions",
    TEXTS["title"],
    lambda found, question: draw_panel(found.answer, read_question(found.request, question).seed),
    function=FUNCTION,
    wish=lambda found, question: read_question(found.request, question),
    asks=("order",),
    needs="request",
)
