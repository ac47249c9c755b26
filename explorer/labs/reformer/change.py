"""What changes if …, for the Reformer: rounds, buckets, chunks, rotations, heads; and what becomes of the letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.figures.sides import ROUNDING, Side, most_bits
from explorer.labels import change_sentence, filled
from explorer.labs.reformer import texts
from explorer.widgets import reread
from models.reformer.records import FULL, MAX_BUCKETS, MAX_CHUNK, MAX_ROUNDS, Comparison, Read, Request

Text = Mapping[str, str]
Value = dict[str, object]

TRAINED = Request()
SEEDS = 16  # that the panel offers


def plain(request: Request) -> Request:
    """The same input for the models as they were trained."""
    return Request(request.mode, request.text)


def knobs(models: Mapping[str, tuple[int, int]]) -> list[reread.Knob]:
    """What may be changed. models: (layers, heads) of each that is there, by name."""
    named = texts.KNOBS
    number = named["n"]

    def stops(*values: int) -> list[tuple[int, Text]]:
        return [(n, {"en": str(n), "zh": str(n)}) for n in values]

    powers = [1 << power for power in range(1, MAX_BUCKETS.bit_length())]
    rounds = [(TRAINED.rounds, named["trained"]), *stops(*range(1, MAX_ROUNDS + 1)), (FULL, named["full"])]
    found: list[reread.Knob] = [
        reread.Stops("rounds", named["rounds"], rounds, TRAINED.rounds, number),
        reread.Stops("buckets", named["buckets"], [(0, named["trained"]), *stops(*powers)], 0, number),
        reread.Stops("chunk", named["chunk"], [(0, named["trained"]), *stops(1, *(n for n in powers if n <= MAX_CHUNK))], 0, number),
        reread.Stops("seed", named["seed"], stops(*range(1, SEEDS + 1)), TRAINED.seed, number),
    ]
    if models:
        found.append(reread.Heads({variant: (texts.NAMES[variant], size) for variant, size in models.items()}))
    return found


def said(request: Request) -> Text:
    """What a request changes in the models, in words; "" where it changes nothing."""
    parts: list[Text] = []
    if request.rounds == FULL:
        parts.append(texts.FULL)
    elif request.rounds != TRAINED.rounds:
        parts.append(texts.ROUND if request.rounds == 1 else filled(texts.ROUNDS, n=request.rounds))
    if request.buckets:
        parts.append(filled(texts.BUCKETS, n=request.buckets))
    if request.chunk:
        parts.append(filled(texts.CHUNK, n=request.chunk))
    if request.seed != TRAINED.seed:
        parts.append(texts.SEED)
    for variant in dict.fromkeys(variant for variant, _, _ in request.silenced):
        heads = ", ".join(f"{layer + 1}·{head + 1}" for one, layer, head in request.silenced if one == variant)
        parts.append(filled(texts.SILENCED, heads=heads, model=texts.NAMES[variant]))
    return {"en": " and ".join(part["en"] for part in parts), "zh": "，".join(part["zh"] for part in parts)}


def done(request: Request, compared: Comparison, shown: Value, pick: Value | None) -> Value:
    """What the panel draws of a comparison. shown: the request as the browser holds it. pick: {model, head, pos} in view on arrival."""
    first = int(compared.before.wanted[0])
    pairs = list(zip(compared.before.read, compared.after.read, strict=True))
    sides = [side(request, before, after, first) for before, after in pairs]
    return reread.done(shown, sides, sentence(request, pairs), pick)


def side(request: Request, before: Read, after: Read, first: int) -> Side:
    """One model before and after. first: the position that says its first letter."""
    word = request.mode == "word"
    return Side(
        before.variant,
        texts.NAMES[before.variant],
        before.nats,
        after.nats,
        given=len(before.nats),
        segment=0,
        text=request.text,
        unreached=texts.UNREACHED,
        first=first,
        share=(before.correct, after.correct) if word else None,
        unit=texts.SHARE if word else None,
        answers=(before.said, after.said, request.text) if word else None,
    )


def sentence(request: Request, pairs: Sequence[tuple[Read, Read]]) -> Text:
    """The comparison in words: what was changed, and what each model that it reaches makes of it."""
    change = said(request)
    reached = [(a, b) for a, b in pairs if float(np.abs(a.nats - b.nats).max()) > ROUNDING]
    if not reached:
        return _capital(filled(texts.SAME, change=change))
    if request.mode == "text":
        before, after = (float(one.nats.mean() / np.log(2)) for one in reached[0])
        name = texts.NAMES[reached[0][0].variant]
        most = most_bits(reached[0][0].nats, reached[0][1].nats)
        return _capital(change_sentence(texts.SAYS_TEXT, texts.SAYS_TEXT_SAME, before, after, change=change, model=name, most=most))
    each = [
        change_sentence(texts.ANSWERED, texts.ANSWERED_SAME, a.correct, b.correct, show="{:.3f}".format, model=texts.NAMES[a.variant])
        for a, b in reached
    ]
    listed = {"en": ", ".join(one["en"] for one in each), "zh": "，".join(one["zh"] for one in each)}
    return _capital(filled(texts.SAYS, change=change, each=listed))


def _capital(text: Text) -> Text:
    english = text["en"]
    return {"en": english[:1].upper() + english[1:], "zh": text["zh"]}
