"""The page of Sparse Transformer: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gradio as gr

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs import passages
from explorer.labs.sparse_transformer import about, change, texts, views
from explorer.program import Change, Program
from explorer.views import View, noted, on_stage
from explorer.widgets import figure
from explorer.widgets.notes import notes
from explorer.widgets.stage import stage
from models.sparse_transformer.records import EXAMPLES, SIDE, Explanation, Request

GENERATE = "models.sparse_transformer.explain:generate"
MEASURE = "models.sparse_transformer.explain:measure"


def mechanism() -> None:
    """The patterns themselves, which need no model: everything is computed in the browser."""
    trained = {"side": SIDE, **about.trained(), "layers": 4, "heads": 4, "use": "merged"}
    with gr.Column(elem_classes=["tfe-bench"]):
        for name, title in texts.PATTERNS.items():
            value = {"query": "", "state": "stored", "trained": trained}
            stage(name, value, texts={"title": title}, picture=f"sparse_transformer/{name}")


def measured() -> None:
    """What was measured of the speed, and of the same patterns on text."""
    for found in (about.speed(), about.on_text()):
        figure.measured(found)


def program() -> Program[Request, Explanation]:
    """What the page declares; which models are there is looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.asked(), *change.knobs()),
        views=(
            View("patterns", lambda _value: mechanism(), at="above"),
            on_stage("digits", views.digits_of, texts.DRAWN, picture="sparse_transformer/digits", grow=views.digits_growing, task="digit"),
            noted(texts, task="digit", at="wide"),
            *passages.views(views.text_of, views.text_growing, task="text"),
            View("text_notes", lambda _value: notes(texts.TEXT_NOTES, label=texts.NOTES_LABEL), task="text"),
            View("standing", lambda _value: figure.figure(about.standing()), at="side", task="digit"),
            on_stage("attention", views.heads, {"empty": texts.NO_ATTENTION}, at="below"),
            View("measured", lambda _value: measured(), at="below"),
        ),
        change=Change(change.difference, MEASURE, change.again),
        examples=tuple(zip(EXAMPLES, (*texts.EXAMPLES, *(title for title, _ in texts.TEXT_EXAMPLES)), strict=False)),
        shorts=(*texts.EXAMPLES, *(short for _, short in texts.TEXT_EXAMPLES))[: len(EXAMPLES)],
        run=passages.RUN,
    )


def probes() -> Iterator[Request]:
    """One digit and, where models of texts are there, one letter to read, which loads the models."""
    yield Request(keep=SIDE)
    if "text" in about.tasks():
        yield Request("text", text="a", length=0)


CHANGED = replace(EXAMPLES[0], keep=SIDE - 2)  # so little of it is made that a change is seen at once

LAB = lab_of(
    "sparse_transformer",
    GENERATE,
    program,
    EXAMPLES,
    texts,
    views,
    year=2019,
    paper="Generating Long Sequences with Sparse Transformers",
    authors="Child et al.",
    arxiv="1904.10509",
    licence="Apache-2.0; MIT: the copy of MNIST that the models learned from; the books are in the public domain",
    ancestors=("translation", "image_transformer"),
    changed="cost",
    network=(
        part("what is given", "给定的部分", "ask"),
        part("pattern", "模式", "patterns"),
        part("sparse attention", "稀疏注意力", "digits"),
        part("next character", "下一个字符", "reading"),
        part("surprise", "意外程度", "standing"),
    ),
    interventions={
        "pattern": replace(CHANGED, pattern="full"),
        "stride": replace(CHANGED, stride=7),
        "summary": replace(CHANGED, summary=1),
        "silence": replace(CHANGED, silenced=(("strided", 1, 2),)),
    },
    exports={
        **dict.fromkeys(("patterns", "digits", "reading", "attention"), FIGURE),
        "change": READ_AGAIN,
    },  # of a digit
    probes=probes,
)
