"""The card of models that users trained for themselves, in the place of the shipped one's."""

from __future__ import annotations

import json
from typing import Any

from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import fill_text
from models.checkpoints import folders
from models.explaining.errors import reading_file

YOURS = {"en": "trained by you", "zh": "由您训练"}
EACH = {
    "en": (
        "**{variant}** was trained by you on {data}: {parameters} parameters, {steps} steps. On the"
        " part that it did not learn from: {value} {metric}."
    ),
    "zh": (
        "**{variant}** 由您训练，数据：{data}；参数 {parameters} 个，{steps} 步。"
        "在没有参与训练的部分上：{value} {metric}。"
    ),
}
OTHERS = {
    "en": (
        "Guided steps, the project's own models and what was measured on them are left out: they"
        " speak of other weights."
    ),
    "zh": "引导步骤、本项目自己的模型及其测得的数据不在此显示，因为它们说的是别的权重。",
}


def facts(slug: str) -> list[dict[str, Any]]:
    """Return the model.json of each user's model, by name; empty where there is none."""
    root = folders.find_user_folder(slug)
    found = []
    for path in sorted(root.glob("*/model.json")) if root else ():
        with reading_file(path):
            found.append(json.loads(path.read_text("utf-8")))
    return found


def pairs(known: list[dict[str, Any]]) -> tuple[TitleFigure, ...]:
    """Return the figures of the title row."""
    first = known[0]
    figure = first.get("figure")
    held_out = (
        (
            TitleFigure(
                {"en": figure["metric"], "zh": figure["metric"]}, f"{figure['value']:.2f}", YOURS
            ),
        )
        if figure
        else ()
    )
    return (
        TitleFigure(labels.CARD["parameters"], f"{first['parameters']:,}"),
        TitleFigure(labels.CARD["data"], first["data"]),
        *held_out,
    )


def prose(known: list[dict[str, Any]]) -> dict[str, str]:
    """Return the model card in each language."""
    parts = []
    for one in known:
        figure = one.get("figure") or {"value": "–", "metric": ""}
        names = {
            "variant": one["variant"],
            "data": one["data"],
            "parameters": f"{one['parameters']:,}",
            "steps": f"{one['steps']:,}",
        }
        parts.append(fill_text(EACH, **names, value=figure["value"], metric=figure["metric"]))
    return {
        language: "\n\n".join(part[language] for part in (*parts, OTHERS))
        for language in ("en", "zh")
    }
