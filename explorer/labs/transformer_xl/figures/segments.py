"""Segments and memory on one axis: what is computed, what is remembered, where no gradient flows.
The value of the segments widget, as JSON.

Position i is the model's prediction of character i, after all before it. Its segment is computed at
once; the states of `memory` positions before that segment are remembered, one set for each layer,
and no gradient flows into them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import convert_to_json, pack_array, record_fields

Text = Mapping[str, str]
Value = dict[str, object]

INTERVENTIONS = ("none", "cut", "shuffled", "foreign")


@dataclass(frozen=True)
class Model:
    """A model's reading of a text, and its attention across the borders.

    key: its name, as in the address. name, about: its display name; a few words about it. text: the
    characters it read and wrote. across: (layer, head, position) share of attention that goes to
    the memory, in [0, 1]. remembered: (segment, slot) the key in each slot of the memory that a
    segment sees, the farthest first: a position of the text, or len(text) and more for one of
    another text; −1 behind the last. look: address of exact weights (`explorer.values.exact_rows`),
    whose keys are numbered as in `remembered`; key j carries character j − 1. None where there is
    none. travelled: (layer + 1, position) the earliest character that a position can know of after
    so many layers, none of them in the first row. Where nothing of the text itself is remembered
    (cut, foreign), information travels as with a memory of 0. memory: states that each layer
    remembers; 0 for a model without a memory.
    """

    key: str
    name: Text
    about: Text
    text: str
    across: NDArray[np.floating[Any]]
    remembered: NDArray[np.integer[Any]]
    look: str | None
    travelled: NDArray[np.integer[Any]]
    memory: int

    def as_json(self) -> Value:
        """Return the model as the browser takes it."""
        return record_fields(self) | {
            "heads": int(self.across.shape[1]),
            "across": pack_array(np.asarray(self.across, np.float32)),
        }

    def check_shapes(self, segment: int, layers: int) -> None:
        """Raise ValueError, with the sizes, where the arrays do not belong to one text read in
        segments of this length by so many layers."""
        length = len(self.text)
        segments = -(-length // segment)
        shapes = (
            self.across.shape[0],
            self.across.shape[2:],
            self.travelled.shape,
            len(self.remembered),
        )
        if (
            self.across.ndim != 3
            or self.remembered.ndim != 2
            or shapes != (layers, (length,), (layers + 1, length), segments)
        ):
            raise ValueError(
                f"across {self.across.shape}, travelled {self.travelled.shape}, remembered"
                f" {self.remembered.shape} for {length} characters in segments of {segment},"
                f" {layers} layers"
            )


@dataclass(frozen=True)
class Growing:
    """The text that one model has read and written so far. key, name, about, memory: as in
    `Model`."""

    key: str
    name: Text
    about: Text
    text: str
    memory: int


def draw_segments(
    models: Sequence[Model],
    *,
    segment: int,
    layers: int,
    intervention: str,
    pick: Mapping[str, object] | None = None,
    **axis: Any,
) -> Value:
    """Draw a finished run.

    models: in the order of the page; the first that remembers is in view on arrival. given:
    characters that were given, before those written. segment: characters that are read at once.
    memory: states that each layer remembers, where a model has a memory. layers: of the networks.
    intervention: "none"; "cut": nothing is remembered; "shuffled": the memory in a random order;
    "foreign": another book's in its place. query: the permalink of the run. state: "stored", "live"
    or "stale". pick: {"model", "head" ("3.2", from 1), "pos"} locked on arrival, from
    `find_telling_place`; left out, one is found. book: the source of a foreign memory.

    Raise ValueError for arrays that do not fit each other, and for an unknown intervention.
    """
    if intervention not in INTERVENTIONS:
        raise ValueError(f'intervention "{intervention}"; it can be {", ".join(INTERVENTIONS)}')
    for model in models:
        model.check_shapes(segment, layers)
    found = find_telling_place(models, segment) if pick is None else pick
    axis |= {"segment": segment, "layers": layers, "intervention": intervention}
    return dict(convert_to_json({"book": None, **axis, "models": models, "pick": found}))


def draw_growing_segments(models: Sequence[Growing], **axis: Any) -> Value:
    """Draw a text that is being read and written: the axis, and how far each model is. axis: as for
    `draw_segments`, and of: characters in the end."""
    told = [{**record_fields(one), "heads": None, "look": None} for one in models]
    return dict(
        convert_to_json({"state": "running", "book": None, **axis, "models": told, "pick": None})
    )


def find_telling_place(models: Sequence[Model], segment: int) -> dict[str, object] | None:
    """Return the selection on arrival, {"model", "head" ("3.2", layer and head from 1), "pos"}:
    well inside a segment before the last, with a full memory where there is one, and the head that
    gives the memory most. None where no model remembers anything or there is one segment.
    """
    for model in models:
        held = (np.asarray(model.remembered) >= 0).sum(1)
        if not held.any():
            continue
        position = np.arange(len(model.text))
        place = position % segment
        remembers = held[position // segment]
        last = (len(position) - 1) // segment * segment
        inside = (
            (place >= segment // 8)
            & (place <= segment // 2)
            & (remembers == held.max())
            & (position < last)
        )
        if not inside.any():
            inside = remembers > 0
        chosen = np.flatnonzero(inside)
        share = np.asarray(model.across, np.float32)[:, :, chosen]
        layer, head, at = (int(i) for i in np.unravel_index(int(share.argmax()), share.shape))
        return {"model": model.key, "head": f"{layer + 1}.{head + 1}", "pos": int(chosen[at])}
    return None
