"""Attention maps and texts before and after a change, for the maps of a panel
(pictures/changedmaps.js)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from explorer.values.packing import pack_array, record_fields

Text = Mapping[str, str]
Value = dict[str, object]
Marked = list[list[str]]


@dataclass(frozen=True)
class MapPair:
    """One map before and after: both (query, key) with weights in [0, 1].

    label: its entry in the list of maps.
    unit: two or three words beside the title.
    queries, keys: one text for each row and column.
    Raise ValueError where these do not fit.
    """

    key: str
    label: Text
    unit: Text
    queries: Sequence[str]
    keys: Sequence[str]
    before: NDArray[np.float32]
    after: NDArray[np.float32]

    def __post_init__(self) -> None:
        shape = (len(self.queries), len(self.keys))
        if self.before.shape != shape or self.after.shape != shape:
            raise ValueError(
                f"before {self.before.shape} and after {self.after.shape} for {shape[0]} queries"
                f" and {shape[1]} keys"
            )

    def as_json(self) -> Value:
        """Return the pair as JSON for the browser."""
        return record_fields(self) | {
            "before": pack_array(self.before),
            "after": pack_array(self.after),
        }


def mark_changes(before: str, after: str) -> tuple[Marked, Marked]:
    """Return both texts in runs of words, the removed runs marked "gone" and the added ones "new".

    A punctuation mark counts as a word. Runs are joined by a space, except before punctuation.
    """
    first, second = _split_words(before), _split_words(after)
    gone: Marked = []
    new: Marked = []
    for tag, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if b > a:
            gone.append([_join_words(first[a:b]), "" if tag == "equal" else "gone"])
        if d > c:
            new.append([_join_words(second[c:d]), "" if tag == "equal" else "new"])
    return gone, new


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+(?:[-'’]\w+)*|[^\w\s]", text)


def _join_words(words: Sequence[str]) -> str:
    return re.sub(r" ([.,;:!?%)\]])", r"\1", " ".join(words))
