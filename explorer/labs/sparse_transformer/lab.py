"""The page of the Sparse Transformer: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gradio as gr

from explorer.components import figure
from explorer.components.notes import place_notes
from explorer.components.stage import place_picture
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part
from explorer.labs.sparse_transformer import about, change, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_notes, view_on_stage
from explorer.panels import passages
from models.sparse_transformer.records import EXAMPLES, SIDE, Explanation, Request

GENERATE = "models.sparse_transformer.explain:generate"
MEASURE = "models.sparse_transformer.explain:measure"


def place_patterns() -> None:
    """Place the patterns themselves, which need no model: everything is computed in the browser."""
    trained = {
        "side": SIDE,
        **about.find_trained_pattern(),
        "layers": 4,
        "heads": 4,
        "use": "merged",
    }
    with gr.Column(elem_classes=["tfe-bench"]):
        for name, title in texts.PATTERNS.items():
            value = {"query": "", "state": "stored", "trained": trained}
            place_picture(name, value, texts={"title": title}, picture=f"sparse_transformer/{name}")


def place_measured() -> None:
    """Place the measurements of speed, and of the same patterns on text."""
    for found in (about.draw_speed(), about.draw_on_text()):
        figure.place_measured_figure(found)


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the shipped models are looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=(*views.list_controls(), *change.list_controls()),
        views=(
            View("patterns", lambda _value: place_patterns(), at="above"),
            view_on_stage(
                "digits",
                views.draw_digits,
                texts.DRAWN,
                picture="sparse_transformer/digits",
                grow=views.draw_growing_digits,
                task="digit",
            ),
            view_notes(texts, task="digit", at="wide"),
            *passages.list_views(views.draw_text, views.draw_growing_text, task="text"),
            View(
                "text_notes",
                lambda _value: place_notes(texts.TEXT_NOTES, label=texts.NOTES_LABEL),
                task="text",
            ),
            View(
                "standing",
                lambda _value: figure.place_figure(about.draw_standing()),
                at="side",
                task="digit",
            ),
            view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
            View("measured", lambda _value: place_measured(), at="below"),
        ),
        change=Change(change.difference, MEASURE, change.ask_to_reread),
        examples=tuple(
            zip(
                EXAMPLES,
                (*texts.EXAMPLES, *(title for title, _ in texts.TEXT_EXAMPLES)),
                strict=False,
            )
        ),
        shorts=(*texts.EXAMPLES, *(short for _, short in texts.TEXT_EXAMPLES))[: len(EXAMPLES)],
        run=passages.RUN,
    )


def list_probes() -> Iterator[Request]:
    """Yield the requests that load the models: one digit and, where models of texts are shipped,
    one letter to read."""
    yield Request(keep=SIDE)
    if "text" in about.list_tasks():
        yield Request("text", text="a", length=0)


# so few pixels are generated that a change shows at once
CHANGED = replace(EXAMPLES[0], keep=SIDE - 2)

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
    licence=(
        "Apache-2.0; MIT: the copy of MNIST that the models learned from; the books are in the"
        " public domain"
    ),
    ancestors=("translation", "image_transformer"),
    changed="cost",
    network=(
        name_part("what is given", "给定的部分", "ask"),
        name_part("pattern", "模式", "patterns"),
        name_part("sparse attention", "稀疏注意力", "digits"),
        name_part("next character", "下一个字符", "reading"),
        name_part("surprise", "意外程度", "standing"),
    ),
    interventions={
        "pattern": replace(CHANGED, pattern="full"),
        "stride": replace(CHANGED, stride=7),
        "summary": replace(CHANGED, summary=1),
        "silence": replace(CHANGED, silenced=(("strided", 1, 2),)),
    },
    exports={
        **dict.fromkeys(("patterns", "digits", "reading", "attention"), FIGURE),
        "change": READ_AGAIN,  # the intervention's example is a digit
    },
    probes=list_probes,
)
