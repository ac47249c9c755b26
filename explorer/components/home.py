"""The family map: columns are years, lines are descent, and the colour of a line shows the changed
part of the mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr
import numpy as np

from explorer.components.base import place_widget
from explorer.contract import labels
from explorer.contract.lab import MapPicture, OpenLab, Thumbnail
from explorer.figures import theme
from explorer.values.packing import pack_array


def place_home(labs: Sequence[OpenLab], *, lecture: str | None = None) -> gr.HTML:
    """Place the map of `labs`, given in teaching order. The picture of each lab is its stored first
    result.

    lecture: the address of the guided lecture, None while there is none.
    """
    shown = {lab.slug for lab in labs}
    return place_widget(
        "home",
        texts={name: dict(text) for name, text in labels.HOME.items()},
        changed={name: dict(text) for name, text in labels.CHANGED.items()},
        weight_scale=theme.colorscale(theme.WEIGHTS),
        lecture=lecture,
        labs=[
            {
                "slug": lab.slug,
                "path": lab.path,
                "title": dict(lab.title),
                "short": dict(lab.short),
                "line": dict(lab.line),
                "card": dict(lab.card),
                "year": lab.year,
                "authors": lab.authors,
                "changed": lab.changed,
                "ancestors": [slug for slug in lab.ancestors if slug in shown],
                "steps": [dict(step.title) for step in lab.steps],
                "picture": _describe_thumbnail(lab.thumbnail()),
            }
            for lab in labs
        ],
    )


def _describe_thumbnail(thumbnail: Thumbnail | MapPicture | None) -> dict[str, object] | None:
    if thumbnail is None:
        return None
    if isinstance(thumbnail, MapPicture):
        grey = np.where(thumbnail.made, thumbnail.levels.astype(np.int32), -1)  # −1: not made yet
        return {
            "levels": pack_array(grey),
            "outlines": [[role, list(box)] for role, box in thumbnail.outlines],
        }
    return {
        "weights": pack_array(
            np.nan_to_num(thumbnail.weights, nan=-1),
            unit=bool(np.isfinite(thumbnail.weights).all()),
        ),
        "queries": list(thumbnail.queries),
        "keys": list(thumbnail.keys),
        "pick": thumbnail.pick,
    }
