"""The page of the detector: its scene, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components.stage import place_picture
from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.detection import about, texts, views
from explorer.page.declared import lab_of, program_of
from explorer.page.program import Change, Program
from explorer.page.views import View, view_notes, view_on_stage
from models.detection.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.detection.explain:explain"


def program() -> Program[Request, Explanation]:
    """Return what the page declares; the shipped samples are looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=views.list_controls(),
        views=(
            view_on_stage("scene", views.draw_scene, texts.SCENE, picture="detection/scene"),
            view_on_stage(
                "agreement", views.draw_agreement, texts.AGREEMENT, picture="detection/agreement"
            ),
            view_on_stage(
                "matching",
                views.draw_matching,
                texts.MATCHING,
                picture="detection/matching",
                at="below",
            ),
            View(
                "territories",
                lambda _value: place_picture(
                    "territories",
                    about.draw_territories(),
                    texts=texts.TERRITORIES,
                    picture="detection/territories",
                ),
                at="side",
            ),
            view_notes(texts),
        ),
        change=Change(views.difference),
        examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
    )


LAB = lab_of(
    "detection",
    EXPLAIN,
    program,
    EXAMPLES,
    texts,
    views,
    year=2020,
    paper="End-to-End Object Detection with Transformers",
    authors="Carion et al.",
    arxiv="2005.12872",
    licence=texts.LICENCE["en"],
    ancestors=("translation", "image_transformer"),
    changed="input",
    network=(
        name_part("the scene", "场景", "ask"),
        name_part("tokens see each other", "词元互看", "scene", cell="5,5"),
        name_part("queries see each other", "查询互看", "agreement"),
        name_part("queries see the scene", "查询看场景", "scene", query="0"),
        name_part("who owns which object", "谁负责哪个物体", "matching"),
    ),
    interventions={
        "agree": replace(EXAMPLES[0], agree=False),
        "depth": replace(EXAMPLES[0], depth=1),
        "queries": replace(EXAMPLES[0], queries=3),
        "silence": replace(EXAMPLES[0], silenced=(("cross", 2, 0),)),
    },
    exports={
        **dict.fromkeys(("scene", "agreement", "matching", "territories"), FIGURE),
        "change": NUMBERS,
    },
)
