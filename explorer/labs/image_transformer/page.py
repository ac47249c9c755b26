"""The page of Image Transformer: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.lab import READ_AGAIN, part
from explorer.labs.image_transformer import about, change, texts, views
from explorer.program import Change, Program
from explorer.views import View, noted, on_stage
from explorer.widgets import figure
from models.image_transformer.records import EXAMPLES, Explanation, Request, offered

GENERATE = "models.image_transformer.explain:generate"
LADDERS = (("ladder", "grey"), ("coloured", "colour"))  # widgets, and the pictures that they are about
MEASURE = "models.image_transformer.explain:measure"


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
            on_stage("spans", views.spans, texts.SPANS, picture="image_transformer/spans", grow=views.spans_growing),
            noted(texts, at="wide"),
            on_stage("surprise", views.surprise, texts.SURPRISE, picture="image_transformer/surprise", at="beside"),
            *(View(name, lambda _value, of=of: figure.figure(about.ladder(of)), at="side") for name, of in LADDERS if about.ladder(of)),  # type: ignore[misc]
        ),
        change=Change(change.difference, MEASURE, change.again),
        examples=tuple((one, title) for one, title in zip(EXAMPLES, texts.EXAMPLES, strict=True) if one in offered()),
    )


CHANGED = replace(EXAMPLES[1], count=1, keep=21)  # so little of it is made that a change is seen at once

LAB = lab_of(
    "image_transformer",
    GENERATE,
    program,
    offered(),
    texts,
    views,
    year=2018,
    paper="Image Transformer",
    authors="Parmar et al.",
    arxiv="1802.05751",
    licence="MIT for the grey models: Fashion-MNIST (Xiao et al., 2017) and their weights. CIFAR-10, which the coloured one learned from, "
    "names no licence: research and teaching only",
    ancestors=("translation",),
    changed="input",
    network=(
        part("pixels given", "给定的像素", "ask"),
        part("local attention", "局部注意力", "spans"),
        part("next pixel", "下一个像素", "surprise"),
    ),
    interventions={
        "silence": replace(CHANGED, silenced=(("local_1d", 0, 0),)),
        "memory": replace(CHANGED, memory_rows=1),
        "flange": replace(CHANGED, flange=1),
    },
    exports={
        "spans": ("PNG", "SVG", "HTML", "CSV", "PNG 8×", "NPZ"),
        "surprise": ("PNG", "SVG", "HTML", "CSV", "NPZ"),
        "change": READ_AGAIN,
    },
    probes=lambda: (replace(offered()[0], seed=1),),
)
