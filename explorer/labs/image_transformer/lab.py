"""The page of the Image Transformer: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from explorer.components import figure
from explorer.contract.lab import READ_AGAIN, name_part
from explorer.labs.image_transformer import about, change, texts, views
from explorer.labs.image_transformer.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper, select_titles
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_notes, view_on_stage, view_placed
from models.image_transformer.records import EXAMPLES, Explanation, Request, Step, list_examples

GENERATE = "models.image_transformer.explain:generate"
# the widgets of the ladders, and the pictures of each
LADDERS = (("ladder", "grey"), ("coloured", "colour"))
MEASURE = "models.image_transformer.explain:measure"


def place_ladder(pictures: str) -> object:
    """Place the ladder of "grey" or "colour" pictures, once it was measured."""
    ladder = about.draw_ladder(pictures)
    return figure.place_figure(ladder) if ladder else None


# so few pixels are generated that a change shows at once
CHANGED = replace(EXAMPLES[1], count=1, keep=21)

LAB: Lab[Request, Explanation, views.Run, Step] = Lab(
    slug="image_transformer",
    paper=Paper(2018, "Image Transformer", "Parmar et al.", "1802.05751"),
    licence=(
        "MIT for the grey models: Fashion-MNIST (Xiao et al., 2017) and their weights. "
        "CIFAR-10, which the coloured one learned from, names no licence: research and "
        "teaching only"
    ),
    ancestors=("translation",),
    changed="input",
    texts=texts,
    network=(
        name_part("pixels given", "给定的像素", "ask"),
        name_part("local attention", "局部注意力", "spans"),
        name_part("next pixel", "下一个像素", "surprise"),
    ),
    request=Request,
    explain=GENERATE,
    controls=lambda: (*views.list_controls(), *change.list_controls()),
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
            view_placed(name, partial(place_ladder, pictures), at="side")
            for name, pictures in LADDERS
        ),
    ),
    bar=AnswerBar(
        texts.REGION,
        run=texts.RUN,
        describe_warning=views.describe_warning,
        notice=views.notice,
        describe_endings=views.describe_endings,
        pick=views.pick,
        progress=views.progress,
    ),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(change.difference, MEASURE, change.ask_to_reread),
    examples=list_examples(),
    titles=select_titles(EXAMPLES, texts.EXAMPLES, list_examples()),
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "silence": replace(CHANGED, silenced=(("local_1d", 0, 0),)),
        "memory": replace(CHANGED, memory_rows=1),
        "flange": replace(CHANGED, flange=1),
    },
    exercises=EXERCISES,
    exports={
        "spans": ("PNG", "SVG", "HTML", "CSV", "PNG 8×", "NPZ"),
        "surprise": ("PNG", "SVG", "HTML", "CSV", "NPZ"),
        "change": READ_AGAIN,
    },
    prepare=views.prepare,
    probes=(replace(list_examples()[0], seed=1),),
)
