"""The figure of who did what to whom: the encoder's clearest head for each question, side by side
over the words of the sentence in view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.components import figure
from explorer.contract.labels import build_sentence, fill_text, join_parts
from explorer.figures.attention import Kind, show_token
from explorer.figures.heatmaps import Figure, Map, draw_maps
from explorer.labs.translation import texts
from explorer.labs.translation.figures import roles

Value = dict[str, object]

ROW = 34  # px of a head's row


def draw_roles(encoder: Kind, cross: Kind) -> Value | None:
    """Draw the clearest head's row for each question, where that row looks at the answer most. None
    where no row does, or no verb was found."""
    best: list[Any] = [
        job for job in roles.find_jobs(encoder, cross, least=0.0) if job["kind"] == encoder.key
    ]
    asked = [(job, encoder.weights[job["layer"], job["head"], job["row"]]) for job in best]
    found = [(job, row.astype(float).tolist()) for job, row in asked if row.argmax() == job["col"]]
    if not found:
        return None
    names = [f"{show_token(key)}·{at}" for at, key in enumerate(encoder.keys)]
    rows = [row for _, row in found]
    each = [_draw_question(job, names, row) for job, row in found]
    labels = [fill_text(texts.ROLES_HEAD, **one) for one in each]
    said = [fill_text(texts.ROLES_SAY, **one) for one in each]
    words = (texts.ROLES_TITLE, texts.ROLES_UNITS, build_sentence([join_parts(said, "; ", "；")]))
    columns = (texts.ROLES_HEADING, *({"en": name, "zh": name} for name in names))
    table = [
        (label, *(round(weight, 4) for weight in row))
        for label, row in zip(labels, rows, strict=True)
    ]

    def draw(language: str) -> Figure:
        return draw_maps([Map("", np.array(rows))], [label[language] for label in labels], names)

    return figure.describe_drawn_figure(
        "who-what-whom", draw, words, columns, table, height=ROW * len(rows) + 76
    )


def _draw_question(job: Mapping[str, Any], names: list[str], row: list[float]) -> dict[str, object]:
    most = max(range(len(row)), key=row.__getitem__)
    head = f"{job['layer'] + 1}·{job['head'] + 1}"
    return {
        "question": roles.NAMES[job["job"]],
        "head": head,
        "word": names[job["row"]],
        "key": names[most],
        "weight": f"{row[most]:.2f}",
    }
