"""The folded panels: the numbers behind the weights, the Transformer's cross-attention beside them, and how far a word reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures.curves import Curve
from explorer.figures.heatmaps import Figure, Map, maps
from explorer.labels import filled, two
from explorer.labs.lined import lined
from explorer.labs.rnn_attention import about, texts
from explorer.labs.rnn_attention.views import numbered
from explorer.views import Found, View, unfolded
from explorer.widgets.figure import shown
from explorer.widgets.folded import Question, Value
from models.crossing import CROSS_ATTENTION, Pair
from models.errors import InputError
from models.rnn_attention.records import Again, Explanation, Gradients, Request

Array = NDArray[np.float32]
Asked = Found[Request, Explanation]

GRADIENTS = "models.rnn_attention.explain:gradients"
FEWEST = 4  # pairs of a word and an output that a distance needs to be drawn


def again(found: Asked, _question: Question) -> Again:
    """The German that this run has written, with nothing changed in the model."""
    return Again(found.request.plain(), found.run.target, found.run.target_space)


def _with_weights(seen: Explanation) -> None:
    if not len(seen.weights):
        raise InputError("no_weights", en=texts.NO_MAPS["en"], zh=texts.NO_MAPS["zh"])


# ---- the numbers behind the weights --------------------------------------------------------------------------------------------------


def cells(seen: Explanation, *parts: Array) -> list[tuple[str | float, ...]]:
    """The table of some maps of a run, a row for each cell."""
    pairs = [(t, j) for t in range(len(seen.target)) for j in range(len(seen.source))]
    queries, keys = numbered(seen.target), numbered(seen.source)
    return [(queries[t], keys[j], *(round(float(part[t, j]), 4) for part in parts)) for t, j in pairs]


def numbers(seen: Explanation) -> Value:
    """Scores, weights and shares of the context, row by row; InputError in the model that has none."""
    _with_weights(seen)
    row = int(seen.weights[:-1].max(1).argmax()) if len(seen.weights) > 1 else 0
    key = int(seen.scores[row].argmax())
    score, weight, share = (two(float(part[row, key])) for part in (seen.scores, seen.weights, seen.shares))
    says = filled(texts.SUM_SAYS, query=seen.target[row], key=seen.source[key], score=score, weight=weight, share=share)

    def draw(language: str) -> Figure:
        scores = Map(texts.SCORES[language], seen.scores, float(seen.scores.min()), float(seen.scores.max()))
        others = (Map(texts.SOFTMAX[language], seen.weights), Map(texts.SHARES[language], seen.shares))
        return maps((scores, *others), numbered(seen.target), numbered(seen.source))

    table = cells(seen, seen.scores, seen.weights, seen.shares)
    return shown("score-to-sum", draw, (texts.SUM, texts.SUM_UNITS, says), texts.SUM_COLUMNS, table)


# ---- the Transformer beside it -------------------------------------------------------------------------------------------------------


def shared(ours: Array, cross: Array) -> tuple[tuple[int, int], Array]:
    """((layer, head), overlap of each row) of the Transformer's head whose rows share most weight with ours, Σ_j min(α, α′) on the mean.

    ours: (target, source); cross: (layer, head, target, source).
    """
    overlap = np.minimum(cross, ours).sum(-1)
    place = np.unravel_index(int(overlap.mean(-1).argmax()), overlap.shape[:2])
    return (int(place[0]), int(place[1])), overlap[place]


def beside(seen: Explanation, cross: Array, variant: str) -> Value:
    """Both maps and the overlap of each row; InputError in the model that has no weights."""
    _with_weights(seen)
    (layer, head), overlap = shared(seen.weights, cross)
    name, theirs = f"{layer + 1}·{head + 1}", cross[layer, head]

    def draw(language: str) -> Figure:
        titles = [title.format(name=name, variant=texts.VARIANTS[variant][language]) for title in texts.OVERLAP_MAPS[language]]
        return maps(list(map(Map, titles, (theirs, overlap, seen.weights))), numbered(seen.target), numbered(seen.source))

    (most, high), (least, low) = ((seen.target[at], f"{overlap[at]:.2f}") for at in (int(overlap.argmax()), int(overlap.argmin())))
    mean, heads = f"{overlap.mean():.2f}", cross.shape[0] * cross.shape[1]
    says = filled(texts.OVERLAP_SAYS, n=heads, name=name, mean=mean, most=most, high=high, least=least, low=low)
    table = cells(seen, theirs, seen.weights, np.broadcast_to(overlap[:, None], theirs.shape))
    return shown("overlap", draw, (texts.OVERLAP, texts.OVERLAP_UNITS, says), texts.OVERLAP_COLUMNS, table)


# ---- how far a word reaches ----------------------------------------------------------------------------------------------------------


def by_distance(norms: Array) -> dict[int, tuple[float, int]]:
    """Steps from a word to an output, by the shorter way through the encoder -> (mean norm, pairs). norms (target, source)."""
    outputs, words = norms.shape
    j = np.arange(words)
    steps = np.minimum(j, words - 1 - j)[None, :] + 1 + np.arange(outputs)[:, None]
    found = {int(n): norms[steps == n] for n in np.unique(steps)}
    return {n: (float(part.mean()), len(part)) for n, part in found.items() if len(part) >= min(FEWEST, words)}


def reach(found: Gradients, variant: str) -> Value:
    """Both models' curves over the distance."""
    ours, others = by_distance(found.norms), by_distance(found.others)
    places = list(ours)
    both = [(name, [means[n][0] for n in places]) for name, means in ((variant, ours), (found.other, others))]
    at = range(len(places))
    drawn = [Curve(texts.VARIANTS[name], at, values, about.COLOURS[name]) for name, values in both]
    ends: dict[str, Any] = {
        letter: f"{both[i][1][at]:.2g}" for letter, (i, at) in zip("abcd", ((0, 0), (0, -1), (1, 0), (1, -1)), strict=True)
    }
    ends |= {"one": texts.VARIANTS[variant], "other": texts.VARIANTS[found.other]}
    says = filled(texts.DISTANCE_SAYS, near=places[0], far=places[-1], **ends)
    rows = [(n, float(f"{ours[n][0]:.4g}"), float(f"{others[n][0]:.4g}")) for n in places]
    words, columns = (texts.DISTANCE, texts.DISTANCE_UNITS, says), (texts.STEPS_FAR, *(one.name for one in drawn))
    return lined("distance", drawn, texts.DISTANCE_AXES, words, columns, rows, ticks=at, names=list(map(str, places)), up="log")


PANELS: tuple[View[Request, Explanation], ...] = (
    unfolded("sum", texts.SUM, lambda found, _question: {"figure": numbers(found.run)}),
    unfolded(
        "overlap",
        texts.OVERLAP,
        lambda found, _question: {"figure": beside(found.run, found.answer.cross, found.request.variant)},
        function=CROSS_ATTENTION,
        wish=lambda found, _question: Pair(found.request.sentence, found.run.target, found.run.target_space),
    ),
    unfolded(
        "distance",
        texts.DISTANCE,
        lambda found, _question: {"figure": reach(found.answer, found.request.variant)},
        function=GRADIENTS,
        wish=again,
    ),
)
