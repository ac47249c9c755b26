"""What changes if …, for the Reformer: rounds, buckets, chunks, rotations, heads; and what becomes of the letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from explorer.controls import Control
from explorer.figures.sides import ROUNDING, Side, most_bits
from explorer.labels import Text, change_sentence, filled, raised, strung
from explorer.labs import heads
from explorer.labs.reformer import texts
from explorer.widgets.change import Readings
from models.reformer.records import FULL, MAX_BUCKETS, MAX_CHUNK, MAX_ROUNDS, Explanation, Read, Request
from models.reformer.weights import compared

TRAINED = Request()
SEEDS = 16  # that the panel offers


def knobs(models: Mapping[str, tuple[int, int]]) -> tuple[Control, ...]:
    """What may be changed. models: (layers, heads) of each that is there, by name."""
    named = texts.KNOBS

    def stops(field: str, names: Mapping[int, Text], says: Callable[[int], Text]) -> Control:
        return Control(field, named[field], "stops", names=names, change=True, says=says)

    def numbers(*values: int) -> dict[int, Text]:
        return {n: {"en": str(n), "zh": str(n)} for n in values}

    powers = [1 << power for power in range(1, MAX_BUCKETS.bit_length())]
    trained, full = named["trained"], named["full"]
    return (
        stops("rounds", {TRAINED.rounds: trained, **numbers(*range(1, MAX_ROUNDS + 1)), FULL: full}, rounds),
        stops("buckets", {0: trained, **numbers(*powers)}, lambda n: filled(texts.BUCKETS, n=n)),
        stops("chunk", {0: trained, **numbers(1, *(n for n in powers if n <= MAX_CHUNK))}, lambda n: filled(texts.CHUNK, n=n)),
        stops("seed", numbers(*range(1, SEEDS + 1)), lambda _n: texts.SEED),
        *heads.silenced({variant: texts.NAMES[variant] for variant in models}, models),
    )


def rounds(n: int) -> Text:
    """A changed number of rounds in words."""
    return texts.FULL if n == FULL else texts.ROUND if n == 1 else filled(texts.ROUNDS, n=n)


def difference(seen: tuple[Explanation, Explanation], _measured: object, request: Request, what: Text) -> Readings:
    """What a change does to each model. seen: the runs without and with it. what: the change in words."""
    before, after = seen
    pairs = list(zip(before.read, after.read, strict=True))
    sides = [side(request, one, other, int(before.wanted[0])) for one, other in pairs]
    return Readings(sides, sentence(request, pairs, what))


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


def sentence(request: Request, pairs: Sequence[tuple[Read, Read]], change: Text) -> Text:
    """The comparison in words: what was changed, and what each model that it reaches makes of it."""
    reached = [(a, b) for a, b in pairs if float(np.abs(a.nats - b.nats).max()) > ROUNDING]
    if not reached:
        return raised(filled(texts.SAME, change=change))
    if request.mode == "text":
        before, after = (float(one.nats.mean() / np.log(2)) for one in reached[0])
        name = texts.NAMES[reached[0][0].variant]
        most = most_bits(reached[0][0].nats, reached[0][1].nats)
        cost = change_sentence(texts.SAYS_TEXT, texts.SAYS_TEXT_SAME, before, after, change=change, model=name, most=most)
        shares = (100 * compared(one) for one in reached[0])
        pairs_ = change_sentence(texts.PAIRS, texts.PAIRS_SAME, *shares, show="{:.0f} %".format)
        return raised(strung([cost, pairs_], " ", ""))
    each = [
        change_sentence(texts.ANSWERED, texts.ANSWERED_SAME, a.correct, b.correct, show="{:.3f}".format, model=texts.NAMES[a.variant])
        for a, b in reached
    ]
    return raised(filled(texts.SAYS, change=change, each=strung(each)))
