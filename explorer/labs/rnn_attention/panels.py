"""The folded panels: the numbers behind the weights, the Transformer's cross-attention beside them,
and how far a word reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.figure import describe_drawn_figure
from explorer.components.folded import Question, Value
from explorer.contract.labels import fill_text, format_two_digits
from explorer.figures.curves import Curve
from explorer.figures.heatmaps import Figure, Map, draw_maps
from explorer.labs.rnn_attention import about, texts
from explorer.labs.rnn_attention.views import number_pieces
from explorer.page.curves import draw_curve_figure
from explorer.page.views import Found, View, view_in_folded_panel
from models.explaining.errors import InputError
from models.explaining.translation_request import CROSS_ATTENTION, SentencePair
from models.rnn_attention.records import (
    UNSCALED,
    Explanation,
    Gradients,
    Request,
    Rereading,
    Scales,
)

Array = NDArray[np.float32]
Asked = Found[Request, Explanation]

SCALES = "models.rnn_attention.explain:compare_scales"
GRADIENTS = "models.rnn_attention.explain:gradients"
FEWEST = 4  # pairs of a word and an output, at the least, for a distance to be drawn


def ask_to_reread(found: Asked, _question: Question) -> Rereading:
    """Return the German that this run has written, to be read with nothing changed in the model."""
    return Rereading(found.request.plain(), found.run.target, found.run.target_space)


def _check_has_weights(explanation: Explanation) -> None:
    if not len(explanation.weights):
        raise InputError("no_weights", en=texts.NO_MAPS["en"], zh=texts.NO_MAPS["zh"])


# ---- the numbers behind the weights


def list_cells(explanation: Explanation, *parts: Array) -> list[tuple[str | float, ...]]:
    """Return the table of some maps of a run, a row for each cell."""
    pairs = [(t, j) for t in range(len(explanation.target)) for j in range(len(explanation.source))]
    queries, keys = number_pieces(explanation.target), number_pieces(explanation.source)
    return [
        (queries[t], keys[j], *(round(float(part[t, j]), 4) for part in parts)) for t, j in pairs
    ]


def draw_numbers(explanation: Explanation) -> Value:
    """Draw scores, weights and shares of the context, row by row. Raise InputError in the model
    without attention."""
    _check_has_weights(explanation)
    row = int(explanation.weights[:-1].max(1).argmax()) if len(explanation.weights) > 1 else 0
    key = int(explanation.scores[row].argmax())
    score, weight, share = (
        format_two_digits(float(part[row, key]))
        for part in (explanation.scores, explanation.weights, explanation.shares)
    )
    says = fill_text(
        texts.SUM_SAYS,
        query=explanation.target[row],
        key=explanation.source[key],
        score=score,
        weight=weight,
        share=share,
    )

    def draw(language: str) -> Figure:
        scores = Map(
            texts.SCORES[language],
            explanation.scores,
            float(explanation.scores.min()),
            float(explanation.scores.max()),
        )
        others = (
            Map(texts.SOFTMAX[language], explanation.weights),
            Map(texts.SHARES[language], explanation.shares),
        )
        return draw_maps(
            (scores, *others), number_pieces(explanation.target), number_pieces(explanation.source)
        )

    table = list_cells(explanation, explanation.scores, explanation.weights, explanation.shares)
    return describe_drawn_figure(
        "score-to-sum", draw, (texts.SUM, texts.SUM_UNITS, says), texts.SUM_COLUMNS, table
    )


# ---- divided by √d or not


def draw_scale(found: Scales, target: Sequence[str]) -> Value:
    """Draw how far apart the scores of each row lie in both networks, and name the largest weights.
    target: the German."""
    networks, pieces = (found.product, f"{found.product}{UNSCALED}"), number_pieces(target)
    ticks = list(range(len(pieces)))
    drawn = [
        Curve(texts.NETWORKS[name], ticks, row.tolist(), about.COLOURS[name])
        for name, row in zip(networks, found.spreads, strict=True)
    ]
    (a, b), (c, d) = (
        [f"{row.mean():.2g}" for row in part] for part in (found.spreads, found.largest)
    )
    said = {"score": texts.VARIANTS[found.product], "figures": about.describe_bleu(networks)}
    says = fill_text(texts.SCALE_SAYS, a=a, b=b, c=c, d=d, **said)
    parts = [found.spreads[0], found.largest[0], found.spreads[1], found.largest[1]]
    rows: list[tuple[str | float, ...]] = [
        (piece, *(round(float(part[at]), 4) for part in parts)) for at, piece in enumerate(pieces)
    ]
    words, columns = (texts.SCALE, texts.SCALE_UNITS, says), texts.SCALE_COLUMNS
    return draw_curve_figure(
        "scale", drawn, texts.SCALE_AXES, words, columns, rows, ticks=ticks, names=pieces, up="zero"
    )


# ---- the Transformer beside it


def measure_overlap(ours: Array, cross: Array) -> tuple[tuple[int, int], Array]:
    """Return ((layer, head), overlap of each row) of the Transformer's head whose rows share most
    weight with ours, Σ_j min(α, α′) on the mean.

    ours: (target, source); cross: (layer, head, target, source).
    """
    overlap = np.minimum(cross, ours).sum(-1)
    place = np.unravel_index(int(overlap.mean(-1).argmax()), overlap.shape[:2])
    return (int(place[0]), int(place[1])), overlap[place]


def draw_beside_transformer(explanation: Explanation, cross: Array, network: str) -> Value:
    """Draw both maps and the overlap of each row. Raise InputError in the model that has no
    weights."""
    _check_has_weights(explanation)
    (layer, head), overlap = measure_overlap(explanation.weights, cross)
    name, theirs = f"{layer + 1}·{head + 1}", cross[layer, head]

    def draw(language: str) -> Figure:
        titles = [
            title.format(name=name, variant=texts.NETWORKS[network][language])
            for title in texts.OVERLAP_MAPS[language]
        ]
        return draw_maps(
            list(map(Map, titles, (theirs, overlap, explanation.weights))),
            number_pieces(explanation.target),
            number_pieces(explanation.source),
        )

    (most, high), (least, low) = (
        (explanation.target[at], f"{overlap[at]:.2f}")
        for at in (int(overlap.argmax()), int(overlap.argmin()))
    )
    mean, heads = f"{overlap.mean():.2f}", cross.shape[0] * cross.shape[1]
    says = fill_text(
        texts.OVERLAP_SAYS,
        n=heads,
        name=name,
        mean=mean,
        most=most,
        high=high,
        least=least,
        low=low,
    )
    table = list_cells(
        explanation, theirs, explanation.weights, np.broadcast_to(overlap[:, None], theirs.shape)
    )
    return describe_drawn_figure(
        "overlap", draw, (texts.OVERLAP, texts.OVERLAP_UNITS, says), texts.OVERLAP_COLUMNS, table
    )


# ---- how far a word reaches


def average_by_distance(norms: Array) -> dict[int, tuple[float, int]]:
    """Return a map from the steps between a word and an output, by the shorter way through the
    encoder, to (mean norm, pairs). norms: (target, source)."""
    outputs, words = norms.shape
    j = np.arange(words)
    steps = np.minimum(j, words - 1 - j)[None, :] + 1 + np.arange(outputs)[:, None]
    found = {int(n): norms[steps == n] for n in np.unique(steps)}
    return {
        n: (float(part.mean()), len(part))
        for n, part in found.items()
        if len(part) >= min(FEWEST, words)
    }


def draw_reach(found: Gradients, network: str) -> Value:
    """Draw both models' curves over the distance."""
    ours, others = average_by_distance(found.norms), average_by_distance(found.others)
    places = list(ours)
    both = [
        (name, [means[n][0] for n in places])
        for name, means in ((network, ours), (found.other, others))
    ]
    at = range(len(places))
    drawn = [Curve(texts.NETWORKS[name], at, values, about.COLOURS[name]) for name, values in both]
    ends: dict[str, Any] = {
        letter: f"{both[i][1][at]:.2g}"
        for letter, (i, at) in zip("abcd", ((0, 0), (0, -1), (1, 0), (1, -1)), strict=True)
    }
    ends |= {"one": texts.NETWORKS[network], "other": texts.NETWORKS[found.other]}
    says = fill_text(texts.DISTANCE_SAYS, near=places[0], far=places[-1], **ends)
    rows = [(n, float(f"{ours[n][0]:.4g}"), float(f"{others[n][0]:.4g}")) for n in places]
    words, columns = (
        (texts.DISTANCE, texts.DISTANCE_UNITS, says),
        (texts.STEPS_FAR, *(one.name for one in drawn)),
    )
    return draw_curve_figure(
        "distance",
        drawn,
        texts.DISTANCE_AXES,
        words,
        columns,
        rows,
        ticks=at,
        names=list(map(str, places)),
        up="log",
    )


PANELS: tuple[View[Request, Explanation], ...] = (
    view_in_folded_panel(
        "sum", texts.SUM, lambda found, _question: {"figure": draw_numbers(found.run)}
    ),
    view_in_folded_panel(
        "scale",
        texts.SCALE,
        lambda found, _question: {"figure": draw_scale(found.answer, found.run.target)},
        function=SCALES,
        wish=ask_to_reread,
    ),
    view_in_folded_panel(
        "overlap",
        texts.OVERLAP,
        lambda found, _question: {
            "figure": draw_beside_transformer(found.run, found.answer.cross, found.request.network)
        },
        function=CROSS_ATTENTION,
        wish=lambda found, _question: SentencePair(
            found.request.sentence, found.run.target, found.run.target_space
        ),
    ),
    view_in_folded_panel(
        "distance",
        texts.DISTANCE,
        lambda found, _question: {"figure": draw_reach(found.answer, found.request.network)},
        function=GRADIENTS,
        wish=ask_to_reread,
    ),
)
