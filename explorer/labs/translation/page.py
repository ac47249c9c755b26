"""The page of the translation Transformer: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import gradio as gr

from explorer.declared import lab_of, program_of
from explorer.figures.bertviz import VIEWS
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs.plane import in_one_plane
from explorer.labs.translated import LICENCE
from explorer.labs.translation import about, deeper, texts, views
from explorer.program import Change, Program
from explorer.views import View, in_bertviz, on_stage
from explorer.widgets.bertviz import ENCODER_DECODER
from explorer.widgets.figure import own
from models.plane import Head
from models.translation.records import EXAMPLES, Explanation, Request

GENERATE = "models.translation.explain:generate"
MEASURE = "models.translation.explain:measure"
VECTORS = "models.translation.vectors:vectors"
PLANES = "models.translation.vectors:planes"
FIRST = Head("encoder", 1, 0)  # of whose queries the plane tells most


def asked(value: Mapping[str, object] | None) -> gr.HTML:
    """Place the figure of who did what to whom, as wide as the page."""
    with gr.Column(elem_classes=["tfe-bench"]):
        return own("roles", value or None)


def program() -> Program[Request, Explanation]:
    """What the page declares; which model is there is looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=GENERATE,
        kind=Request,
        controls=views.controls(),
        views=(
            on_stage("attention", views.maps, at="above"),
            View("roles", asked, views.roles_of, at="below"),
            *deeper.PANELS,
            in_one_plane(PLANES, texts.KINDS, about.heads(), FIRST, name="translation"),
            in_bertviz(VIEWS, views.bertviz, note=ENCODER_DECODER, neuron=VECTORS),
        ),
        change=Change(views.difference, MEASURE, views.again),
        examples=tuple((example, dict.fromkeys(("en", "zh"), example.sentence)) for example in EXAMPLES),
    )


LAB = lab_of(
    "translation",
    GENERATE,
    program,
    EXAMPLES,
    texts,
    views,
    year=2017,
    paper="Attention Is All You Need",
    authors="Vaswani et al.",
    arxiv="1706.03762",
    licence=LICENCE,
    ancestors=("rnn_attention",),
    changed="input",
    network=(
        (
            part("English, positions", "英文与位置", "positions", positions="open"),
            part("self-attention", "自注意力", "attention", kind="encoder"),
        ),
        (
            part("German so far", "已写的德文", "forced", forced="open"),
            part("self-attention", "自注意力", "attention", kind="decoder"),
            part("cross-attention", "交叉注意力", "attention", kind="cross"),
            part("next word", "下一个词", "beam", beam="open"),
        ),
    ),
    interventions={
        "silence": replace(EXAMPLES[0], silenced=(("cross", 0, 1),)),
        "hide": replace(EXAMPLES[0], hidden=(1,)),
        "parts": replace(EXAMPLES[0], without=("position",)),
    },
    exports={
        **dict.fromkeys(("attention", "weight", "beam", "forced"), FIGURE),
        "change": READ_AGAIN,
        "positions": FIGURE * 3,
    },
    probes=lambda: (Request("A dog runs."),),
)
