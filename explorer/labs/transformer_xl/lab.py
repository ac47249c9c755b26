"""The page of Transformer-XL: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.labs.transformer_xl import about, change, panels, texts, views
from explorer.labs.transformer_xl.exercises import EXERCISES
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_in_bertviz, view_measured, view_notes, view_on_stage
from explorer.panels import passages
from models.transformer_xl.records import EXAMPLES, Explanation, Request, Step

GENERATE = "models.transformer_xl.explain:generate"
MEASURE = "models.transformer_xl.explain:measure"


# so few characters are written that a change shows at once
CHANGED = replace(EXAMPLES[0], length=16)

LAB: Lab[Request, Explanation, views.Run, Step] = Lab(
    slug="transformer_xl",
    paper=Paper(
        2019,
        "Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context",
        "Dai et al.",
        "1901.02860",
    ),
    licence="Apache-2.0: the books that the models learned from are in the public domain",
    ancestors=("translation", "music"),
    changed="memory",
    texts=texts,
    network=(
        name_part("the segment", "片段", "ask"),
        name_part("memory", "记忆", "segments"),
        name_part("four terms", "四项之和", "terms", terms="open"),
        name_shared_part(shared.ATTENTION, "attention"),
        name_shared_part(shared.NEXT_CHARACTER, "reading"),
    ),
    request=Request,
    explain=GENERATE,
    controls=lambda: (*views.list_controls(), *change.list_controls()),
    views=(
        view_on_stage(
            "segments",
            views.draw_border,
            texts.SEGMENTS,
            picture="transformer_xl/segments",
            grow=views.draw_growing_border,
        ),
        *passages.list_views(views.draw_text, views.draw_growing_text),
        view_measured("wave", about.draw_border_loss, anchor="wave"),
        view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
        *panels.PANELS,
        view_measured("speed", about.draw_speed, at="below"),
        view_in_bertviz(("head", "model"), views.list_for_bertviz),
        view_notes(texts),
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
    change=Change(change.compare_readings, MEASURE, change.ask_to_reread),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "memory": replace(CHANGED, memory=0),
        "cut": replace(CHANGED, intervention="cut"),
        "shuffled": replace(CHANGED, intervention="shuffled"),
        "foreign": replace(CHANGED, intervention="foreign"),
        "segment": replace(CHANGED, segment=64),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("segments", "reading", "reach", "attention", "terms", "memories"), FIGURE),
        "change": READ_AGAIN,
    },
    prepare=views.prepare,
    probes=(Request(text="It was late.", length=2),),
)
