"""The queries and keys of a head over the stored sentences: the examples, and captions like those that the model learned from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from models.plane import Watched, drawn_by
from models.translation.explain import explain
from models.translation.head_records import Look
from models.translation.records import SENTENCES, Explanation, Request
from models.translation.vectors import seen_by


@cache
def _translated() -> tuple[tuple[Request, Explanation], ...]:
    asked = [Request(sentence, beam=1) for sentence in SENTENCES]
    return tuple((one, seen) for one, seen in zip(asked, explain(asked), strict=True) if isinstance(seen, Explanation))


def q_k(kind: str, layer: int, head: int) -> Sequence[Watched]:
    """What a head asked and was asked in each sentence. InputError for a head that there is not."""
    found = [seen_by(Look(request, kind, layer, head), seen) for request, seen in _translated()]
    return [Watched(one.queries, one.keys, one.query_pieces, one.key_pieces, one.causal) for one in found]


planes = drawn_by(q_k)
