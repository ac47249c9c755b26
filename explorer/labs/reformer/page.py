"""The page of the Reformer: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import gradio as gr

from explorer.controls import Value
from explorer.declared import lab_of, program_of
from explorer.figures import bertviz as drawing
from explorer.figures import hashing as hashes
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs.reformer import about, change, deeper, texts, views
from explorer.program import Change, Program
from explorer.views import Found, Look, View, in_bertviz, in_figure, on_stage
from explorer.widgets.folded import place_of
from explorer.widgets.notes import notes
from explorer.widgets.stage import looked, stage
from models.reformer.records import Explanation, Place, Request

EXPLAIN = "models.reformer.explain:explain"
HASHINGS = "models.reformer.asked:hashings"
OPENED: Final[tuple[drawing.View, ...]] = ("head", "model")  # bertviz's views of a run; queries and keys are one here


def hashing(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the picture of hashing."""
    return stage("hashing", value, texts=texts.HASHING, picture="reformer/hashing", events=("look",))


@dataclass(frozen=True)
class Asked:
    """What is looked at: one round of a head of a run, from 0, or all together, −1. address: the same as it was asked for, and which wish
    of its page it is: the answer says it again."""

    run: str
    model: str
    layer: int
    head: int
    turn: int
    address: Value

    @classmethod
    def of(cls, detail: object) -> Asked:
        """Reads the event's detail; nonsense, which can only come from a made-up request, becomes a head that no run has."""
        given = detail if isinstance(detail, Mapping) else {}
        address = {name: given[name] for name in ("query", "model", "head", "round", "wished") if name in given}
        run, model, head, turn = (given.get(name) for name in ("query", "model", "head", "round"))
        at = turn - 1 if isinstance(turn, int) and hashes.ALL <= turn < 99 else 99
        return cls(run if isinstance(run, str) else "", str(model), *(place_of(head) or (99, 99)), at, address)


def looked_at(found: Found[Request, Explanation], asked: Asked) -> Value:
    """One round of a head, or all of them together."""
    if asked.turn < 0:
        return hashes.together(asked.address, views.together(found.run, asked.model, asked.layer, asked.head))
    return hashes.looked(asked.address, found.answer)


# Rounds of heads that were not looked at yet are asked for, and arrive through a companion of the picture.
LOOK: Look[Request, Explanation] = Look(
    "look",
    Asked.of,
    looked_at,
    lambda asked, text: hashes.unseen(asked.address, text),
    into="looked",
    function=lambda asked: None if asked.turn < 0 else HASHINGS,
    wish=lambda found, asked: Place(found.request, asked.model, asked.layer, asked.head, asked.turn),
)


def program() -> Program[Request, Explanation]:
    """What the page declares; which models are there is looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=(*views.asked(), *change.knobs({**about.sizes("word"), **about.sizes("text")})),
        views=(
            View("hashing", hashing, views.hashed, look=LOOK),
            View("looked", lambda _value: looked()),
            on_stage("spelling", views.spelling_of, texts.SPELLING, picture="reformer/spelling"),
            in_figure("rounds", views.rounds_of, first=about.table),
            on_stage("attention", views.heads, {"empty": texts.NO_ATTENTION}, at="below"),
            *deeper.PANELS,
            in_bertviz(OPENED, views.bertviz),
            View(
                "notes",
                lambda _value: notes((*texts.NOTES, texts.TEXT_NOTE) if views.reads() else texts.NOTES, label=texts.NOTES_LABEL),
                at="below",
            ),
        ),
        change=Change(change.difference),
        examples=tuple(zip(views.given(), (*texts.EXAMPLES, texts.TEXT_EXAMPLE), strict=False)),
        pick=views.telling,
    )


# A text: a word is said without a mistake under most changes, so that the share of right letters stays.
CHANGED = Request("text", "The captain of the ship was an old man, and nobody had ever heard him laugh. ")

LAB = lab_of(
    "reformer",
    EXPLAIN,
    program,
    views.given(),
    texts,
    views,
    year=2020,
    paper="Reformer: The Efficient Transformer",
    authors="Kitaev et al.",
    arxiv="2001.04451",
    licence="Apache-2.0: words are made by this project's own seeded code, and so are the weights; the books are in the public domain",
    ancestors=("translation",),
    changed="cost",
    network=(
        part("letters", "字母", "ask"),
        part("hash, sort, chunk", "哈希、排序、分块", "hashing"),
        part("attention", "注意力", "attention"),
        part("reversible layers", "可逆层", "rewind", rewind="open"),
        part("next letter", "下一个字母", "spelling"),
    ),
    interventions={
        "rounds": replace(CHANGED, rounds=1),
        "buckets": replace(CHANGED, buckets=2),
        "chunk": replace(CHANGED, chunk=2),
        "seed": replace(CHANGED, seed=2),
        "silence": replace(CHANGED, silenced=(("text", 0, 0),)),
    },
    exports={
        **dict.fromkeys(("hashing", "spelling", "rounds", "attention"), FIGURE),
        "missed": FIGURE * 2,
        "rewind": FIGURE * 4,
        "change": READ_AGAIN,
    },
    probes=lambda: (Request(text="a"),),
)
