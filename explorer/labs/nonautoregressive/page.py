"""The page of non-autoregressive translation: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.declared import lab_of, program_of
from explorer.figures.bertviz import VIEWS
from explorer.lab import FIGURE, NUMBERS, part
from explorer.labs.about import sizes
from explorer.labs.nonautoregressive import about, texts, views
from explorer.labs.plane import in_one_plane
from explorer.labs.translated import LICENCE, reread
from explorer.program import Change, Program
from explorer.views import in_bertviz, in_figure, noted, on_stage, unfolded
from models.nonautoregressive.records import EXAMPLES, SPACE, VARIANTS, Explanation, Request
from models.plane import Head

EXPLAIN = "models.nonautoregressive.explain:explain"
PLANES = "models.nonautoregressive.explain:planes"


def program() -> Program[Request, Explanation]:
    """What the page declares."""
    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.CONTROLS,
        views=(
            on_stage("passes", views.passes, texts.PASSES, picture="nonautoregressive/passes"),
            in_figure("lengths", views.lengths, at="beside"),
            in_figure("quality", lambda seen, request, _: about.quality(request.variant, seen.ran), first=about.quality, at="side"),
            on_stage("attention", views.maps),
            unfolded(
                "neighbours",
                texts.NEIGHBOURS,
                lambda found, _question: {"figure": views.modes(found.answer, found.request)},
                function="models.nonautoregressive.explain:neighbours",
                wish=views.pair,
                asks=("pos",),
            ),
            in_one_plane(PLANES, texts.KINDS_LAST, sizes(about.facts()), Head("cross", 1, 7), name="nonautoregressive", of="variant"),
            in_bertviz(VIEWS, views.last, neuron="models.nonautoregressive.explain:vectors"),
            noted(texts),
        ),
        change=Change(views.difference, "models.nonautoregressive.explain:reread", reread),
        examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
    )


LAB = lab_of(
    "nonautoregressive",
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2019,
    paper="Mask-Predict: Parallel Decoding of Conditional Masked Language Models",
    authors="Ghazvininejad et al.",
    arxiv="1904.09324",
    licence=LICENCE,
    ancestors=("translation",),
    changed="cost",
    network=(
        (part("the sentence", "句子", "ask"), part("encoder", "编码器", "attention", kind="encoder"), part("length", "长度", "lengths")),
        (
            part("all positions", "所有位置", "attention", kind="decoder"),
            part("to the sentence", "看向句子", "attention", kind="cross"),
            part("pieces", "词片", "passes"),
        ),
    ),
    interventions={
        "offset": replace(EXAMPLES[0], offset=3),
        "pinned": replace(EXAMPLES[0], pinned=((0, f"{SPACE}Drei"),)),
        "again": replace(EXAMPLES[0], again=(0, 1, 2)),
    },
    exports={**dict.fromkeys(("passes", "lengths", "attention", "neighbours"), FIGURE), "change": NUMBERS},
    probes=lambda: tuple(Request("A dog runs.", variant) for variant in VARIANTS),
)
