"""The page of the Image Transformer: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components import figure
from explorer.contract.lab import READ_AGAIN, name_part
from explorer.labs.image_transformer import about, change, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_notes, view_on_stage
from models.image_transformer.records import EXAMPLES, Explanation, Request, list_examples

GENERATE = "models.image_transformer.explain:generate"
# the widgets of the ladders, and the pictures of each
LADDERS = (("ladder", "grey"), ("coloured", "colour"))
MEASURE = "models.image_transformer.explain:measure"


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
            view_on_stage(
                "spans",
                views.draw_spans,
                texts.SPANS,
                picture="image_transformer/spans",
                grow=views.draw_growing_spans,
            ),
            view_notes(texts, at="wide"),
            view_on_stage(
                "surprise",
                views.draw_surprise,
                texts.SURPRISE,
                picture="image_transformer/surprise",
                at="beside",
            ),
            *(
                _view_ladder(name, pictures)
                for name, pictures in LADDERS
                if about.draw_ladder(pictures)
            ),
        ),
        change=Change(change.difference, MEASURE, change.ask_to_reread),
        examples=tuple(
            (one, title)
            for one, title in zip(EXAMPLES, texts.EXAMPLES, strict=True)
            if one in list_examples()
        ),
    )


def _view_ladder(name: str, pictures: str) -> View[Request, Explanation]:
    return View(name, lambda _value: figure.place_figure(about.draw_ladder(pictures)), at="side")


# so few pixels are generated that a change shows at once
CHANGED = replace(EXAMPLES[1], count=1, keep=21)

LAB = lab_of(
    "image_transformer",
    GENERATE,
    program,
    list_examples(),
    texts,
    views,
    year=2018,
    paper="Image Transformer",
    authors="Parmar et al.",
    arxiv="1802.05751",
    licence=(
        "MIT for the grey models: Fashion-MNIST (Xiao et al., 2017) and their weights. CIFAR-10,"
        " which the coloured one learned from, names no licence: research and teaching only"
    ),
    ancestors=("translation",),
    changed="input",
    network=(
        name_part("pixels given", "给定的像素", "ask"),
        name_part("local attention", "局部注意力", "spans"),
        name_part("next pixel", "下一个像素", "surprise"),
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
    probes=lambda: (replace(list_examples()[0], seed=1),),
)
