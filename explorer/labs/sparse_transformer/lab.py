"""The page of the Sparse Transformer: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gradio as gr

from explorer.components import figure
from explorer.components.notes import place_notes
from explorer.components.stage import place_picture
from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.labs.sparse_transformer import about, change, texts, views
from explorer.labs.sparse_transformer.exercises import EXERCISES
from explorer.page.lab import Lab, Paper, Title
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_notes, view_on_stage, view_placed
from explorer.panels import passages
from models.sparse_transformer.records import EXAMPLES, SIDE, Explanation, Request, Step

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


def list_probes() -> Iterator[Request]:
    """Yield the requests that load the models: one digit and, where models of texts are shipped,
    one letter to read."""
    yield Request(keep=SIDE)
    if "text" in about.list_tasks():
        yield Request("text", text="a", length=0)


# so few pixels are generated that a change shows at once
CHANGED = replace(EXAMPLES[0], keep=SIDE - 2)
TITLES: tuple[Title, ...] = (*texts.EXAMPLES, *texts.TEXT_EXAMPLES)

LAB: Lab[Request, Explanation, views.Run, Step] = Lab(
    slug="sparse_transformer",
    paper=Paper(
        2019, "Generating Long Sequences with Sparse Transformers", "Child et al.", "1904.10509"
    ),
    licence="Apache-2.0; MIT: the copy of MNIST that the models learned from; the books are in the"
    " public domain",
    ancestors=("translation", "image_transformer"),
    changed="cost",
    texts=texts,
    network=(
        name_part("what is given", "给定的部分", "ask"),
        name_shared_part(shared.PATTERN, "patterns"),
        name_part("sparse attention", "稀疏注意力", "digits"),
        name_shared_part(shared.NEXT_CHARACTER, "reading"),
        name_part("surprise", "意外程度", "standing"),
    ),
    request=Request,
    explain=GENERATE,
    controls=lambda: (*views.list_controls(), *change.list_controls()),
    views=(
        view_placed("patterns", place_patterns, at="above"),
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
        view_placed(
            "text_notes",
            lambda: place_notes(texts.TEXT_NOTES),
            task="text",
        ),
        view_placed(
            "standing",
            lambda: figure.place_figure(about.draw_standing()),
            at="side",
            task="digit",
        ),
        view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
        view_placed("measured", place_measured, at="below"),
    ),
    bar=AnswerBar(
        texts.REGION,
        run=passages.RUN,
        describe_warning=views.describe_warning,
        notice=views.notice,
        lines=views.lines,
        describe_endings=views.describe_endings,
        pick=lambda run, _request: run.pick,
        progress=views.progress,
    ),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=Change(change.difference, MEASURE, change.ask_to_reread),
    examples=EXAMPLES,
    titles=TITLES[: len(EXAMPLES)],
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "pattern": replace(CHANGED, pattern="full"),
        "stride": replace(CHANGED, stride=7),
        "summary": replace(CHANGED, summary=1),
        "silence": replace(CHANGED, silenced=(("strided", 1, 2),)),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("patterns", "digits", "reading", "attention"), FIGURE),
        "change": READ_AGAIN,  # the intervention's example is a digit
    },
    prepare=views.prepare,
    probes=list_probes,
)
