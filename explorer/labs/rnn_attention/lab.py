"""The page of recurrent translation: its input, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, READ_AGAIN, name_part, name_shared_part
from explorer.labs.rnn_attention import about, panels, texts, views
from explorer.labs.rnn_attention.exercises import EXERCISES
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_in_figure, view_notes, view_on_stage
from explorer.panels.translation import LICENCE
from models.rnn_attention.records import EXAMPLES, NETWORKS, UNSCALED, Explanation, Request

EXPLAIN = "models.rnn_attention.explain:explain"


LAB: Lab[Request, Explanation] = Lab(
    slug="rnn_attention",
    paper=Paper(
        2015,
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "Bahdanau et al.",
        "1409.0473",
    ),
    licence=LICENCE,
    ancestors=(),
    changed="input",
    texts=texts,
    network=(
        (
            name_shared_part(shared.THE_SENTENCE, "ask"),
            name_part("encoder states", "编码器状态", "remains"),
        ),
        (
            name_part("scores, softmax", "得分与 softmax", "attention"),
            name_part("weighted sum", "加权和", "sum", sum="open"),
            name_shared_part(shared.DECODER, "change"),
        ),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.CONTROLS,
    views=(
        view_on_stage("attention", views.draw_attention, at="above", task="attention"),
        view_in_figure("remains", views.draw_remains),
        view_in_figure(
            "quality",
            lambda seen, _request, _state: about.draw_quality(len(seen.source)),
            first=about.draw_quality,
        ),
        view_notes(texts),
        *panels.PANELS,
    ),
    bar=AnswerBar(
        texts.REGION,
        run=texts.RUN,
        answer=views.answer,
        describe_warning=views.describe_warning,
        describe_endings=views.describe_endings,
        pick=views.pick,
        items=views.items,
    ),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=Change(
        views.difference, "models.rnn_attention.explain:measure", views.ask_to_translate_again
    ),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "weight": replace(EXAMPLES[0], words=(0,), rows=(2,)),
        "context": replace(EXAMPLES[0], context="uniform"),
        "donor": replace(EXAMPLES[4], donor="dogs"),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(
            ("attention", "remains", "quality", "sum", "scale", "overlap", "distance"), FIGURE
        ),
        "change": READ_AGAIN,
    },
    probes=tuple(
        Request("A dog runs.", one.removesuffix(UNSCALED), divided=not one.endswith(UNSCALED))
        for one in NETWORKS
    ),
)
