"""The page of the Reformer: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import gradio as gr

from explorer.components.folded import parse_head
from explorer.components.notes import place_notes
from explorer.components.stage import place_picture, place_row_sink
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import Value
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.figures import bertviz as drawing
from explorer.labs.reformer import about, change, panels, texts, views
from explorer.labs.reformer.exercises import EXERCISES
from explorer.labs.reformer.figures import hashing as hashes
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import (
    Found,
    OpeningEvent,
    View,
    view_in_bertviz,
    view_in_figure,
    view_on_stage,
    view_placed,
)
from models.reformer.records import Explanation, Place, Request

EXPLAIN = "models.reformer.explain:explain"
HASHINGS = "models.reformer.asked:hashings"
# bertviz's views of a run; queries and keys are one here
OPENED: Final[tuple[drawing.View, ...]] = ("head", "model")


def place_hashing(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the picture of hashing."""
    return place_picture(
        "hashing", value, texts=texts.HASHING, picture="reformer/hashing", events=("look",)
    )


@dataclass(frozen=True)
class Asked:
    """A selection in the picture of hashing: one round of a head of a run, from 0, or all together,
    −1.

    address: the detail of the event, with the number of the request on its page; the answer repeats
    it."""

    run: str
    model: str
    layer: int
    head: int
    turn: int
    address: Value

    @classmethod
    def from_event(cls, detail: object) -> Asked:
        """Return the selection of an event's detail; nonsense, which can only come from a forged
        request, becomes a head that no run has."""
        given = detail if isinstance(detail, Mapping) else {}
        address = {
            name: given[name]
            for name in ("query", "model", "head", "round", "wished")
            if name in given
        }
        run, model, head, turn = (given.get(name) for name in ("query", "model", "head", "round"))
        at = turn - 1 if isinstance(turn, int) and hashes.ALL <= turn < 99 else 99
        return cls(
            run if isinstance(run, str) else "",
            str(model),
            *(parse_head(head) or (99, 99)),
            at,
            address,
        )


def answer_look(found: Found[Request, Explanation], asked: Asked) -> Value:
    """Answer with one round of a head, or all of them together."""
    if asked.turn < 0:
        return hashes.answer_all_rounds(
            asked.address, views.join_rounds(found.run, asked.model, asked.layer, asked.head)
        )
    return hashes.answer_look(asked.address, found.answer)


# Rounds of heads that were not selected before are requested, and arrive through a companion of the
# picture.
LOOK: OpeningEvent[Request, Explanation] = OpeningEvent(
    "look",
    Asked.from_event,
    answer_look,
    lambda asked, text: hashes.refuse_look(asked.address, text),
    into="looked",
    function=lambda asked: None if asked.turn < 0 else HASHINGS,
    wish=lambda found, asked: Place(
        found.request, asked.model, asked.layer, asked.head, asked.turn
    ),
)


# The example is a text: a word is repeated without a mistake under most changes, so its share of
# right letters would stay.
CHANGED = Request(
    "text", "The captain of the ship was an old man, and nobody had ever heard him laugh. "
)

LAB: Lab[Request, Explanation] = Lab(
    slug="reformer",
    paper=Paper(2020, "Reformer: The Efficient Transformer", "Kitaev et al.", "2001.04451"),
    licence=(
        "Apache-2.0: words are made by this project's own seeded code, and so are the "
        "weights; the books are in the public domain"
    ),
    ancestors=("translation",),
    changed="cost",
    texts=texts,
    network=(
        name_part("letters", "字母", "ask"),
        name_part("hash, sort, chunk", "哈希、排序、分块", "hashing"),
        name_shared_part(shared.ATTENTION, "attention"),
        name_shared_part(shared.REVERSIBLE_LAYERS, "rewind", rewind="open"),
        name_part("next letter", "下一个字母", "spelling"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=lambda: (
        *views.list_controls(),
        *change.list_controls({**about.list_sizes("word"), **about.list_sizes("text")}),
    ),
    views=(
        View("hashing", place_hashing, views.draw_hashing, look=LOOK),
        view_placed("looked", place_row_sink),
        view_on_stage("spelling", views.draw_spelling, texts.SPELLING, picture="reformer/spelling"),
        view_in_figure("rounds", views.draw_rounds, first=about.draw_table),
        view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
        *panels.PANELS,
        view_in_bertviz(OPENED, views.list_for_bertviz),
        view_placed(
            "notes",
            lambda: place_notes(
                (*texts.NOTES, texts.TEXT_NOTE) if views.has_text_model() else texts.NOTES
            ),
            at="below",
        ),
    ),
    bar=AnswerBar(
        texts.REGION,
        answer=views.answer,
        describe_warning=views.describe_warning,
        pick=views.find_telling_letter,
    ),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=Change(change.difference),
    examples=tuple(views.list_inputs()),
    titles=(*texts.EXAMPLES, texts.TEXT_EXAMPLE)[: len(views.list_inputs())],
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "rounds": replace(CHANGED, rounds=1),
        "buckets": replace(CHANGED, buckets=2),
        "chunk": replace(CHANGED, chunk=2),
        "seed": replace(CHANGED, seed=2),
        "silence": replace(CHANGED, silenced=(("text", 0, 0),)),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("hashing", "spelling", "rounds", "attention"), FIGURE),
        "missed": FIGURE * 2,
        "rewind": FIGURE * 4,
        "change": READ_AGAIN,
    },
    probes=(Request(text="a"),),
)
