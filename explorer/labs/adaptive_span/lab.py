"""The page of adaptive attention span: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.labs.adaptive_span import about, change, panels, texts, views
from explorer.labs.adaptive_span.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper, select_titles
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_in_bertviz, view_measured, view_notes, view_on_stage
from explorer.panels import passages
from models.adaptive_span.records import EVERY, EXAMPLES, OFFERED, Explanation, Request, Step

GENERATE = "models.adaptive_span.explain:generate"
MEASURE = "models.adaptive_span.explain:measure"


LAB: Lab[Request, Explanation, views.Run, Step] = Lab(
    slug="adaptive_span",
    paper=Paper(2019, "Adaptive Attention Span in Transformers", "Sukhbaatar et al.", "1905.07799"),
    licence="Apache-2.0: the books that the models learned from are in the public domain",
    ancestors=("transformer_xl",),
    changed="cost",
    texts=texts,
    network=(
        name_shared_part(shared.THE_TEXT, "ask"),
        name_part("soft mask", "软掩码", "masks"),
        name_shared_part(shared.ATTENTION, "attention"),
        name_shared_part(shared.NEXT_CHARACTER, "reading"),
    ),
    request=Request,
    explain=GENERATE,
    controls=lambda: (*views.list_controls(), *change.list_controls(*about.read_size())),
    views=(
        view_on_stage("masks", views.draw_spans, texts.MASKS, picture="adaptive_span/masks"),
        *passages.list_views(views.draw_text, views.draw_growing_text),
        view_on_stage("attention", views.draw_heads, {"empty": texts.NO_ATTENTION}, at="below"),
        *panels.PANELS,
        view_measured("standing", about.draw_standing, at="below"),
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
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(change.compare_readings, MEASURE, change.ask_to_reread),
    examples=EXAMPLES,
    titles=select_titles(OFFERED, texts.EXAMPLES, EXAMPLES),
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "spans": replace(EXAMPLES[0], length=16, spans=((EVERY, EVERY, 16.0),)),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("masks", "reading", "reach", "attention", "saving"), FIGURE),
        "change": READ_AGAIN,
    },
    prepare=views.prepare,
    probes=(Request(text="It was late.", length=2),),
)
