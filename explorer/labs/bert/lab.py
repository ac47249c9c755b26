"""The page of BERT: its input, its pictures and its changes. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, NUMBERS, name_part, name_shared_part
from explorer.contract.labels import quote_text
from explorer.figures.bertviz import VIEWS
from explorer.labs.bert import about, change, texts, views
from explorer.labs.bert.exercises import EXERCISES
from explorer.page.card_facts import fill_card, list_sizes
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import (
    view_in_bertviz,
    view_in_figure,
    view_measured,
    view_notes,
    view_on_stage,
)
from explorer.panels.query_key_plane import place_plane
from models.bert.records import EXAMPLES, OFFERED, Explanation, Request
from models.explaining.query_key_plane import Head

EXPLAIN = "models.bert.explain:explain"
PLANES = "models.bert.explain:planes"
FIRST = (Head("mlm", 1, 1), Head("minilm", 1, 1))  # heads whose query–key plane shows most


LAB: Lab[Request, Explanation] = Lab(
    slug="bert",
    paper=Paper(
        2018,
        "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
        "Devlin et al.",
        "1810.04805",
    ),
    licence=(
        "Apache-2.0 for the weights; research and teaching only: the images behind the captions"
    ),
    ancestors=("translation",),
    changed="reading",
    texts=texts,
    network=(
        name_shared_part(shared.THE_SENTENCE, "ask"),
        name_shared_part(shared.ATTENTION, "attention"),
        name_part("heads", "注意力头", "finder"),
        name_shared_part(shared.HIDDEN_WORDS, "arrows"),
        name_part("the sentence's vector", "句子向量", "similarity"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.controls,
    views=(
        view_on_stage(
            "arrows",
            views.draw_arrows,
            texts.ARROWS,
            picture="bert/arrows",
            at="above",
            task="mlm",
        ),
        view_on_stage(
            "finder",
            views.draw_finder,
            texts.FINDER,
            picture="bert/finder",
            at="above",
            task="minilm",
        ),
        view_on_stage("attention", views.draw_attention),
        view_in_figure("sink", views.draw_sink, at="beside", task="minilm"),
        view_measured("labelled", about.draw_judging, anchor="labelled", task="mlm"),
        view_in_figure("similarity", views.draw_similarity, task="minilm"),
        place_plane(
            PLANES,
            texts.NAMES,
            lambda: list_sizes(about.facts()),
            *FIRST,
            name="bert",
            of="variant",
        ),
        view_in_bertviz(
            VIEWS,
            lambda seen: views.list_attentions(seen)[:1],
            neuron="models.bert.explain:vectors",
        ),
        view_notes(texts),
    ),
    bar=AnswerBar(
        texts.REGION,
        run=texts.RUN,
        answer=views.answer,
        describe_warning=views.describe_warning,
        notice=views.notice,
        lines=views.lines,
        pick=views.pick,
    ),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(change.difference),
    examples=EXAMPLES,
    titles=[quote_text(one.text) for one in EXAMPLES],
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "side": replace(OFFERED[0], side="left"),
        "positions": replace(OFFERED[0], positions=False),
        "silenced": replace(OFFERED[0], silenced=tuple(("mlm", 3, head) for head in range(4))),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("arrows", "finder", "sink", "similarity", "attention"), FIGURE),
        "change": NUMBERS,
    },
)
