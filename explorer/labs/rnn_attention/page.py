"""The page of recurrent translation: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.lab import FIGURE, READ_AGAIN, part
from explorer.labs.rnn_attention import about, deeper, texts, views
from explorer.labs.translated import LICENCE
from explorer.program import Change, Program
from explorer.views import in_figure, noted, on_stage
from models.rnn_attention.records import EXAMPLES, VARIANTS, Explanation, Request

EXPLAIN = "models.rnn_attention.explain:explain"

PROGRAM: Program[Request, Explanation] = program_of(
    texts,
    views,
    about,
    explain=EXPLAIN,
    kind=Request,
    controls=views.CONTROLS,
    views=(
        on_stage("attention", views.maps, at="above", task="attention"),
        in_figure("remains", views.remains),
        in_figure("quality", lambda seen, _request, _state: about.quality(len(seen.source)), first=about.quality),
        noted(texts),
        *deeper.PANELS,
    ),
    change=Change(views.difference, "models.rnn_attention.explain:measure", views.again),
    examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
)


LAB = lab_of(
    "rnn_attention",
    EXPLAIN,
    lambda: PROGRAM,
    EXAMPLES,
    texts,
    views,
    year=2015,
    paper="Neural Machine Translation by Jointly Learning to Align and Translate",
    authors="Bahdanau et al.",
    arxiv="1409.0473",
    licence=LICENCE,
    ancestors=(),
    changed="input",
    network=(
        (
            part("the sentence", "句子", "ask"),
            part("encoder states", "编码器状态", "remains"),
        ),
        (
            part("scores, softmax", "得分与 softmax", "attention"),
            part("weighted sum", "加权和", "sum", sum="open"),
            part("decoder", "解码器", "change"),
        ),
    ),
    interventions={
        "weight": replace(EXAMPLES[0], words=(0,), rows=(2,)),
        "context": replace(EXAMPLES[0], context="uniform"),
        "donor": replace(EXAMPLES[4], donor="dogs"),
    },
    exports={
        **dict.fromkeys(("attention", "remains", "quality", "sum", "overlap", "distance"), FIGURE),
        "change": READ_AGAIN,
    },
    probes=lambda: tuple(Request("A dog runs.", variant) for variant in VARIANTS),
)
