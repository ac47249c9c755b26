"""The jobs that heads do, found in their weights: looking at themselves, one back, one ahead, at
the first position, at aligned words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from explorer.figures.attention import Kind


JOBS: Mapping[str, Mapping[str, str]] = {
    "alignment": {"en": "cross-alignment", "zh": "词对齐"},
    "previous": {"en": "previous word", "zh": "前一个词"},
    "next": {"en": "next word", "zh": "后一个词"},
    "itself": {"en": "the word itself", "zh": "自身"},
    "written": {"en": "last word written", "zh": "刚写出的词"},
    "before": {"en": "the word before it", "zh": "再前一个词"},
    "first": {"en": "first token", "zh": "第一个词元"},
    "last": {"en": "last token", "zh": "最后一个词元"},
}


def find_jobs(kind: Kind, least: float = 0.4, most: int = 5) -> list[dict[str, object]]:
    """Return heads that do one recognisable thing on this input, best first: {"kind", "layer",
    "head", "job", "name", "score"}.

    The score of a head, between 0 and 1, is the mean over queries of the weight that goes
    - previous, next, itself: to the key just before, just after, or at the query's own position
      (self-attention);
    - written, before: to the same two places in a causal map, whose key i is the token written
      *before* query i: offset 0 is the last word written, offset 1 the one before it;
    - first, last: to the first or the last key (in a causal map only the first), by queries that
      have another choice;
    - alignment (cross-attention): to its strongest key, times the share of different keys among
      those strongest keys, so a head that always attends to the full stop scores low.
    Only scores of at least `least` count. Each head appears once with its best job, at most `most`
    heads in all, and at most two for one job, so that the list shows different things.
    """
    if min(kind.weights.shape[2:]) < 3:
        return []
    scores = _score_jobs(kind)
    names, table = list(scores), np.stack(list(scores.values()))  # (job, layer, head)
    winners, greatest = table.argmax(0), table.max(0)
    found = [
        (float(greatest[layer, head]), names[winners[layer, head]], int(layer), int(head))
        for layer, head in np.argwhere(greatest >= least)
    ]
    found.sort(key=lambda each: (-each[0], each[2], each[3]))
    kept: list[dict[str, object]] = []
    for score, job, layer, head in found:
        if sum(one["job"] == job for one in kept) < 2 and len(kept) < most:
            kept.append(
                {
                    "kind": kind.key,
                    "layer": layer,
                    "head": head,
                    "job": job,
                    "name": dict(JOBS[job]),
                    "score": round(score, 4),
                }
            )
    return kept


def find_jobs_by_score(
    kind: str,
    scores: Mapping[str, NDArray[np.float32]],
    names: Mapping[str, Mapping[str, str]],
    least: float,
    most: int = 2,
) -> list[dict[str, Any]]:
    """Return heads that do one recognisable thing, by scores of the lab's own, best first.

    scores: of each job (layer, head) from 0 to 1.
    names: those of the jobs.
    least: the least score that counts.
    most: the number of heads of a job.
    """
    found: list[dict[str, Any]] = []
    for job, table in scores.items():
        for place in np.argsort(-table, axis=None)[:most]:
            layer, head = (int(n) for n in np.unravel_index(int(place), table.shape))
            if (score := round(float(min(1, table[layer, head])), 4)) >= least:
                found.append(
                    {
                        "kind": kind,
                        "layer": layer,
                        "head": head,
                        "job": job,
                        "name": dict(names[job]),
                        "score": score,
                    }
                )
    return sorted(found, key=lambda one: -one["score"])


def _score_jobs(kind: Kind) -> dict[str, NDArray[np.floating[Any]]]:
    """Return the scores of every job, each (layer, head)."""
    weights = kind.weights

    def along(offset: int) -> NDArray[np.float32]:
        return np.diagonal(weights, offset, 2, 3)

    if not kind.is_self_attention:
        return {
            "alignment": score_alignments(kind),
            "first": weights[..., 0].mean(2),
            "last": weights[..., -1].mean(2),
        }
    if kind.mask == "causal":
        # Query 0 has one key only, so it says nothing. The first key is itself "written" or
        # "before" for the queries next to it.
        return {
            "written": along(0)[..., 1:].mean(2),
            "before": along(-1).mean(2),
            "first": weights[:, :, 2:, 0].mean(2),
        }
    return {
        "previous": along(-1).mean(2),
        "next": along(1).mean(2),
        "itself": along(0).mean(2),
        "first": weights[:, :, 1:, 0].mean(2),
        "last": weights[:, :, :-1, -1].mean(2),
    }


def score_alignments(kind: Kind) -> NDArray[np.float64]:
    """Return the mean of the queries' greatest weights, times the share of different keys among
    those that get them, (layer, head)."""
    strongest = np.sort(kind.weights.argmax(3), 2)
    different = 1 + (np.diff(strongest) != 0).sum(2)
    found: NDArray[np.float64] = (
        kind.weights.max(3).mean(2) * different / min(kind.weights.shape[2:])
    )
    return found
