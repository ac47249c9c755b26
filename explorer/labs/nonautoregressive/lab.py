"""The page of non-autoregressive translation: its input, its pictures and its changes. Its texts
stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.contract import shared_texts as shared
from explorer.contract.lab import FIGURE, NUMBERS, name_part, name_shared_part
from explorer.figures.bertviz import VIEWS
from explorer.labs.nonautoregressive import about, texts, views
from explorer.labs.nonautoregressive.exercises import EXERCISES
from explorer.page.card_facts import list_sizes
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import (
    view_in_bertviz,
    view_in_figure,
    view_in_folded_panel,
    view_notes,
    view_on_stage,
)
from explorer.panels.query_key_plane import place_plane
from explorer.panels.translation import LICENCE, ask_to_reread
from models.explaining.query_key_plane import Head
from models.nonautoregressive.records import EXAMPLES, SPACE, VARIANTS, Explanation, Request

EXPLAIN = "models.nonautoregressive.explain:explain"
PLANES = "models.nonautoregressive.explain:planes"


LAB: Lab[Request, Explanation] = Lab(
    slug="nonautoregressive",
    paper=Paper(
        2019,
        "Mask-Predict: Parallel Decoding of Conditional Masked Language Models",
        "Ghazvininejad et al.",
        "1904.09324",
    ),
    licence=LICENCE,
    ancestors=("translation",),
    changed="cost",
    texts=texts,
    network=(
        (
            name_shared_part(shared.THE_SENTENCE, "ask"),
            name_shared_part(shared.ENCODER, "attention", kind="encoder"),
            name_shared_part(shared.LENGTH, "lengths"),
        ),
        (
            name_part("all positions", "所有位置", "attention", kind="decoder"),
            name_shared_part(shared.TO_THE_SENTENCE, "attention", kind="cross"),
            name_part("pieces", "词片", "passes"),
        ),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.CONTROLS,
    views=(
        view_on_stage(
            "passes", views.draw_passes, texts.PASSES, picture="nonautoregressive/passes"
        ),
        view_in_figure("lengths", views.draw_lengths, at="beside"),
        view_in_figure(
            "quality",
            lambda seen, request, _: about.draw_quality(request.variant, seen.ran),
            first=about.draw_quality,
            at="side",
        ),
        view_on_stage("attention", views.draw_attention),
        view_in_folded_panel(
            "neighbours",
            texts.NEIGHBOURS,
            lambda found, _question: {"figure": views.draw_modes(found.answer, found.request)},
            function="models.nonautoregressive.explain:neighbours",
            wish=views.find_pair,
            asks=("pos",),
        ),
        place_plane(
            PLANES,
            texts.KINDS_LAST,
            lambda: list_sizes(about.facts()),
            Head("cross", 1, 7),
            name="nonautoregressive",
            of="variant",
        ),
        view_in_bertviz(
            VIEWS, views.list_last_pass, neuron="models.nonautoregressive.explain:vectors"
        ),
        view_notes(texts),
    ),
    bar=AnswerBar(
        texts.REGION,
        run=texts.RUN,
        answer=views.answer,
        describe_warning=views.describe_warning,
        notice=views.notice,
        describe_endings=views.describe_endings,
        pick=views.pick,
        items=views.items,
    ),
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    change=Change(views.difference, "models.nonautoregressive.explain:reread", ask_to_reread),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "offset": replace(EXAMPLES[0], offset=3),
        "pinned": replace(EXAMPLES[0], pinned=((0, f"{SPACE}Drei"),)),
        "again": replace(EXAMPLES[0], again=(0, 1, 2)),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("passes", "lengths", "attention", "neighbours"), FIGURE),
        "change": NUMBERS,
    },
    probes=tuple(Request("A dog runs.", variant) for variant in VARIANTS),
)
