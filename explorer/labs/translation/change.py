"""The effect of a change of the translation lab: the numbers, maps and sentences that compare both
runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.change_panel import ChangedNumber, Maps
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.figures import attention
from explorer.figures.maps import MapPair
from explorer.labs.translation import texts
from explorer.labs.translation.views import describe_removed_parts, list_attentions
from explorer.panels.heads import (
    describe_silenced_heads,
)
from explorer.panels.translation import ask_to_translate_again as ask_to_translate_again
from explorer.panels.translation import describe_endings as describe_endings
from explorer.panels.translation import describe_warning as describe_warning
from models.translation.records import Explanation, Request

# the attention on which a missing part shows most; else cross-attention
SHOWN_FIRST = {"mask": "decoder", "position": "encoder"}


def difference(
    explanations: tuple[Explanation, Explanation],
    read: tuple[None, Explanation],
    request: Request,
    _what: Text,
) -> Maps:
    """Draw the effect of a change. explanations: the runs without and with it; read: the
    translation before, read under it."""
    (before, after), forced = explanations, read[1]
    return Maps(
        maps=draw_maps(before, forced, request),
        texts=(before.text, after.text),
        language="de",
        number=ChangedNumber(before.log_probability, forced.log_probability),
        unit=texts.NUMBER,
        sentence=describe_change(before, forced, request),
        words=list_words(before, forced),
        words_title=texts.WORDS_TITLE,
    )


def list_words(before: Explanation, forced: Explanation) -> list[tuple[str, float, float]]:
    """Return each word of the translation, its pieces put together, with its probability before and
    under the change."""
    made: list[tuple[str, float, float]] = []
    chances = (np.exp(one.log_probabilities.astype(np.float64)) for one in (before, forced))
    for piece, space, was, now in zip(before.target, before.target_space, *chances, strict=True):
        if made and not space and piece.isalnum() and made[-1][0][-1:].isalnum():
            word, p, q = made.pop()
            made.append((word + piece, p * float(was), q * float(now)))
        else:
            made.append((piece, float(was), float(now)))
    return made


def draw_maps(before: Explanation, forced: Explanation, request: Request) -> tuple[MapPair, ...]:
    """Draw every layer of every kind, averaged over heads, before and under the change; the last
    layer of the kind that shows the change most comes first.

    A silenced head passes nothing on. Its own map, with nothing beside it, comes first where no
    mean in that place changes visibly. The translation is held fixed, so both maps have one shape
    and cell stands beside cell.
    """
    first = SHOWN_FIRST.get(request.without[0], "cross") if request.without else "cross"
    pairs = list(zip(list_attentions(before), list_attentions(forced, request), strict=True))[::-1]
    means = tuple(
        MapPair(
            key=f"{one.key}.{layer + 1}",
            label=fill_text(texts.PICTURE, kind=one.label, layer=layer + 1),
            unit=fill_text(texts.PICTURE_UNIT, layer=layer + 1),
            queries=one.queries,
            keys=one.keys,
            before=one.weights[layer].mean(0),
            after=other.weights[layer].mean(0),
        )
        for one, other in sorted(pairs, key=lambda pair: pair[0].key != first)
        for layer in reversed(range(one.weights.shape[0]))
    )
    named = {one.key: one for one, _ in pairs}
    heads = tuple(
        MapPair(
            key=f"{kind}.{layer + 1}.{head + 1}",
            label=fill_text(
                texts.HEAD_PICTURE, kind=named[kind].label, name=f"{layer + 1}·{head + 1}"
            ),
            unit=texts.HEAD_PICTURE_UNIT,
            queries=named[kind].queries,
            keys=named[kind].keys,
            before=(weights := named[kind].weights[layer, head]),
            after=np.zeros_like(weights),
        )
        for kind, layer, head in request.silenced
    )
    return (
        means + heads if np.abs(means[0].after - means[0].before).max() >= 0.005 else heads + means
    )


def describe_change(before: Explanation, forced: Explanation, request: Request) -> Text:
    """Describe the change in words: its effect on the weights, and on the translation.

    The sentence about the weights names the effect of a removed part, else the row of the last
    layer's cross-attention that changes most.
    """
    delta = forced.log_probability - before.log_probability
    likely = texts.EQUAL if abs(delta) < 0.01 else texts.LESS if delta < 0 else texts.MORE
    second_part = fill_text(likely, times=format_times(abs(delta)))
    told = [
        text
        for part in request.without
        if (text := describe_removed_part(part, before, forced)) is not None
    ]
    if told:
        what: Text = {
            "en": "; ".join(text["en"] for text in told),
            "zh": "；".join(text["zh"] for text in told),
        }
        first_part = fill_text(texts.TOLD, who=_name_sides(before, request), what=what)
    else:
        first_part = _describe_row(before, forced, request)
    word, was, now = max(list_words(before, forced), key=lambda one: abs(one[2] - one[1]))
    if f"{was:.2f}" != f"{now:.2f}":
        falls = fill_text(texts.WORD_FALLS, word=word, was=f"{was:.2f}", now=f"{now:.2f}")
        first_part = {
            "en": f"{first_part['en']}; {falls['en']}",
            "zh": f"{first_part['zh']}；{falls['zh']}",
        }
    return {
        "en": f"{first_part['en']}; {second_part['en']}",
        "zh": f"{first_part['zh']}；{second_part['zh']}",
    }


def _describe_row(before: Explanation, forced: Explanation, request: Request) -> Text:
    who = _name_sides(before, request)
    was, now = before.cross[-1].mean(0), forced.cross[-1].mean(0)
    row, old, new = find_strongest_change(was, now)
    query = _name_piece("q", before.target, row)
    if not now[row].any():
        return fill_text(texts.NOTHING_LEFT, who=who, query=query)
    if old != new:
        return fill_text(
            texts.TURNS,
            who=who,
            query=query,
            old=_name_piece("k", before.source, old),
            new=_name_piece("k", before.source, new),
        )
    key = int(np.abs(now[row] - was[row]).argmax())
    shifts: dict[str, Any] = {
        "who": who,
        "query": query,
        "key": _name_piece("k", before.source, key),
    }
    return write_change_sentence(
        texts.SHIFTS,
        _describe_single_weight(who, before, forced),
        float(was[row, key]),
        float(now[row, key]),
        **shifts,
    )


def _describe_single_weight(who: Text, before: Explanation, forced: Explanation) -> Text:
    """Describe the single weight, of all heads of the last layer, that changes most, where the mean
    over the heads prints alike."""
    pairs = list(zip(list_attentions(before), list_attentions(forced), strict=True))
    one, other = max(
        pairs, key=lambda pair: float(np.nanmax(np.abs(pair[1].weights - pair[0].weights)))
    )
    place = np.unravel_index(
        int(np.nanargmax(np.abs(other.weights - one.weights))), one.weights.shape
    )
    layer, head, row, key = (int(n) for n in place)
    cell: dict[str, Any] = {
        "query": _name_piece("q", one.queries, row),
        "key": _name_piece("k", one.keys, key),
        "name": f"{layer + 1}·{head + 1}",
    }
    weights = float(one.weights[place]), float(other.weights[place])
    return write_change_sentence(
        texts.WITHIN, texts.NOWHERE, *weights, who=who, kind=texts.KIND_NAMES[one.key], **cell
    )


def describe_removed_part(part: str, before: Explanation, forced: Explanation) -> Text | None:
    """Describe the purpose of a part by the effect of its absence on the weights of the same
    translation. None where a single piece leaves no choice."""
    if part == "scale" and len(before.source) > 1:
        return write_change_sentence(
            texts.HARDER, texts.AS_HARD, measure_hardness(before), measure_hardness(forced)
        )
    if part == "mask" and len(before.target) > 1:
        # the last row has no key after it
        ahead = np.triu(forced.decoder, 1).sum(-1)[..., :-1].mean()
        return fill_text(texts.AHEAD, share=f"{float(ahead):.2f}")
    if part == "position" and len(before.source) > 1:
        beside = {
            job: np.diagonal(before.encoder, offset, 2, 3).mean(2)
            for job, offset in (("previous", -1), ("next", 1))
        }
        job = max(beside, key=lambda name: beside[name].max())
        layer, head = (
            int(place) for place in np.unravel_index(beside[job].argmax(), beside[job].shape)
        )
        now = np.diagonal(forced.encoder[layer, head], -1 if job == "previous" else 1).mean()
        name = f"{layer + 1}·{head + 1}"
        return write_change_sentence(
            texts.ADRIFT[job],
            texts.NOT_ADRIFT[job],
            float(beside[job].max()),
            float(now),
            name=name,
        )
    return None


def measure_hardness(explanation: Explanation) -> float:
    """Measure the largest weight of a row: its mean over all rows, heads and layers of the three
    attentions, rows with a single key left out."""
    largest = [
        explanation.encoder.max(-1),
        explanation.decoder[..., 1:, :].max(-1),
        explanation.cross.max(-1),
    ]
    return float(np.concatenate([rows.reshape(-1) for rows in largest]).mean())


def find_strongest_change(
    before: NDArray[np.float32], after: NDArray[np.float32]
) -> tuple[int, int, int]:
    """Return the row of two maps (query, key) that changes most (sum of absolute differences) and
    its strongest key before and after."""
    if before.shape != after.shape:
        raise ValueError(
            f"before {before.shape} and after {after.shape}; expected maps of the same pieces"
        )
    row = int(np.abs(after - before).sum(1).argmax())
    return row, int(before[row].argmax()), int(after[row].argmax())


def format_times(nats: float) -> str | Text:
    """Return how many times as likely a difference of `nats` ≥ 0 makes it, rounded for a
    sentence."""
    factor = math.exp(min(nats, 50.0))
    if factor > 1e6:
        return texts.MILLION
    return f"{factor:.2f}" if factor < 1.1 else f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}"


def _name_sides(explanation: Explanation, request: Request) -> Text:
    words = ", ".join(
        _name_piece("k", explanation.source, position) for position in request.hidden[:3]
    ) + (" …" if len(request.hidden) > 3 else "")
    changes = [
        *([describe_removed_parts(request.without)] if request.without else []),
        *(
            [describe_silenced_heads(request.silenced, texts.KIND_NAMES, texts.ONE_HEAD)]
            if request.silenced
            else []
        ),
        *([fill_text(texts.WITHOUT_WORDS, words=words)] if request.hidden else []),
    ]
    listed = " and ".join(text["en"] for text in changes)
    return fill_text(
        texts.AFTER,
        changes={
            "en": listed[0].upper() + listed[1:],
            "zh": "并".join(text["zh"] for text in changes),
        },
    )


def _name_piece(role: str, pieces: Sequence[str], position: int) -> str:
    piece = attention.show_token(pieces[position]).replace("⟦", "[").replace("⟧", "]")
    return f"⟦{role}:“{piece}” ({position})⟧"
