"""The page of the detector: its scene, its pictures and its changes. Its texts stand in
texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer.components.stage import place_picture
from explorer.contract.lab import FIGURE, NUMBERS, name_part
from explorer.labs.detection import about, texts, views
from explorer.labs.detection.exercises import EXERCISES
from explorer.page.card_facts import fill_card
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar, Change
from explorer.page.views import view_notes, view_on_stage, view_placed
from models.detection.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.detection.explain:explain"


LAB: Lab[Request, Explanation] = Lab(
    slug="detection",
    paper=Paper(
        2020, "End-to-End Object Detection with Transformers", "Carion et al.", "2005.12872"
    ),
    licence=texts.LICENCE["en"],
    ancestors=("translation", "image_transformer"),
    changed="input",
    texts=texts,
    network=(
        name_part("the scene", "场景", "ask"),
        name_part("tokens see each other", "词元互看", "scene", cell="5,5"),
        name_part("queries see each other", "查询互看", "agreement"),
        name_part("queries see the scene", "查询看场景", "scene", query="0"),
        name_part("who owns which object", "谁负责哪个物体", "matching"),
    ),
    request=Request,
    explain=EXPLAIN,
    controls=views.list_controls,
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
        view_placed(
            "territories",
            lambda: place_picture(
                "territories",
                about.draw_territories(),
                texts=texts.TERRITORIES,
                picture="detection/territories",
            ),
            at="side",
        ),
        view_notes(texts),
    ),
    bar=AnswerBar(
        texts.REGION, describe_warning=views.describe_warning, notice=views.notice, pick=views.pick
    ),
    about=About(
        texts.KICKER, texts.SPOKEN, about.pairs, fill_card(about.SLUG, about.facts), about.curves
    ),
    change=Change(views.difference),
    examples=EXAMPLES,
    titles=texts.EXAMPLES,
    first=views.first,
    thumbnail=views.thumbnail,
    steps=views.steps,
    interventions={
        "agree": replace(EXAMPLES[0], agree=False),
        "depth": replace(EXAMPLES[0], depth=1),
        "queries": replace(EXAMPLES[0], queries=3),
        "silence": replace(EXAMPLES[0], silenced=(("cross", 2, 0),)),
    },
    exercises=EXERCISES,
    exports={
        **dict.fromkeys(("scene", "agreement", "matching", "territories"), FIGURE),
        "change": NUMBERS,
    },
)
