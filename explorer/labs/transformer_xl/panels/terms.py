"""The panel about the four terms of the relative score: one head's maps for the run in view, and
their sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from explorer.components.folded import Question, Value, parse_head
from explorer.labs.transformer_xl import texts, views
from explorer.labs.transformer_xl.figures.terms import QUERIES, TERMS, draw_boards
from explorer.page.views import View, view_in_folded_panel
from models.explaining.errors import InputError
from models.transformer_xl import weights
from models.transformer_xl.records import Explanation, Request

NO_TERMS: Final = {
    "en": "None of these models scores distances.",
    "zh": "这里的模型都不对距离评分。",
}

TITLE: Final = {
    "en": "Why does a query look there? Four terms of one score",
    "zh": "查询为什么看那里？一个分数的四项",
}


@dataclass(frozen=True)
class Wish:
    """The question of the panel. model: in view; place: (layer, head) from 0; pos: a character. ""
    and None stand for those on arrival."""

    model: str = ""
    place: tuple[int, int] | None = None
    pos: int | None = None
    queries: int = QUERIES[1]


def read_question(question: Question) -> Wish:
    """Return the browser's question; where it makes no sense, the one on arrival."""
    last = question.read_text("pos").split(",")[-1]
    return Wish(
        model=question.read_text("model"),
        place=parse_head(question.read_text("head")),
        pos=int(last) if last.isascii() and last.isdigit() and len(last) < 8 else None,
        queries=next((n for n in QUERIES if question.read_text("tqueries") == str(n)), QUERIES[1]),
    )


def draw_panel(explanation: Explanation, wish: Wish) -> Value:
    """Draw the panel. Raise InputError where no model of the run scores distances."""
    able = {reading.variant: reading for reading in explanation.readings if reading.table.size}
    if not able:
        raise InputError("no_terms", **NO_TERMS)
    one = able.get(wish.model) or next(iter(able.values()))
    layers, heads, length = one.queries.shape[:3]
    pick = views.find_telling_place(explanation) or {"head": "1.1", "pos": length - 1}
    on_arrival = str(pick["head"]).split(".")
    layer, head = wish.place or (int(on_arrival[0]) - 1, int(on_arrival[1]) - 1)
    layer, head = min(layer, layers - 1), min(head, heads - 1)
    pos = min(length - 1, int(str(pick["pos"])) if wish.pos is None else wish.pos)
    segment = pos // one.segment
    maps = weights.terms(one, layer, head, segment)
    last = pos - segment * one.segment + 1  # rows of the segment up to the character
    rows = slice(max(0, last - wish.queries), last)
    # keys up to the last row's own
    columns = slice(0, maps.scores.shape[1] - maps.scores.shape[0] + last)
    first = segment * one.segment + rows.start
    count = rows.stop - rows.start
    keys = maps.places[columns]
    distance = np.arange(len(keys) - count, len(keys))[:, None] - np.arange(len(keys))
    return draw_boards(
        texts.NAMES[one.variant],
        (layer, head),
        (layers, heads),
        **{name: getattr(maps, name)[rows, columns] for name in (*TERMS, "weights")},
        allowed=distance >= 0,
        u=one.u[layer, head],
        v=one.v[layer, head],
        queries=[(i, one.text[i]) for i in range(first, first + count)],
        keys=[_name_key(one.text, int(key)) for key in keys],
        memory_until=len(maps.places) - len(maps.scores),
        other=texts.NAMES[wish.model]
        if wish.model in texts.NAMES and wish.model not in able
        else None,
    )


def _name_key(text: str, place: int) -> tuple[int, str]:
    """Return the position of the character that a key carries, and the character; −1 for the
    beginning, and for keys left by another text."""
    if 0 < place < len(text):
        return place - 1, text[place - 1]
    return -1, texts.START if place == 0 else texts.ELSEWHERE


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "terms",
    TITLE,
    lambda found, question: draw_panel(found.run, read_question(question)),
    picture="transformer_xl/terms",
)
