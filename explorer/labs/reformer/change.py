"""The change panel of the Reformer: rounds, buckets, chunks, rotations, heads; and the letters that
come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from explorer.components.change_panel import Readings
from explorer.contract.control_kinds import Control, StopsControl
from explorer.contract.labels import Text, capitalise, fill_text, join_parts, write_change_sentence
from explorer.figures.sides import ROUNDING, TextSide, find_most_bits
from explorer.labs.reformer import texts
from explorer.panels import heads
from models.reformer.records import (
    FULL,
    MAX_BUCKETS,
    MAX_CHUNK,
    MAX_ROUNDS,
    Explanation,
    Read,
    Request,
)
from models.reformer.weights import measure_compared

TRAINED = Request()
SEEDS = 16  # offered by the panel


def list_controls(models: Mapping[str, tuple[int, int]]) -> tuple[Control, ...]:
    """Return the controls of what may be changed. models: (layers, heads) of each shipped model, by
    name."""
    named = texts.KNOBS

    def stops(field: str, names: Mapping[int, Text], says: Callable[[int], Text]) -> Control:
        return StopsControl(field, named[field], names=names, change=True, says=says)

    def numbers(*values: int) -> dict[int, Text]:
        return {n: {"en": str(n), "zh": str(n)} for n in values}

    powers = [1 << power for power in range(1, MAX_BUCKETS.bit_length())]
    trained, full = named["trained"], named["full"]
    return (
        stops(
            "rounds",
            {TRAINED.rounds: trained, **numbers(*range(1, MAX_ROUNDS + 1)), FULL: full},
            describe_rounds,
        ),
        stops("buckets", {0: trained, **numbers(*powers)}, lambda n: fill_text(texts.BUCKETS, n=n)),
        stops(
            "chunk",
            {0: trained, **numbers(1, *(n for n in powers if n <= MAX_CHUNK))},
            lambda n: fill_text(texts.CHUNK, n=n),
        ),
        stops("seed", numbers(*range(1, SEEDS + 1)), lambda _n: texts.SEED),
        *heads.make_heads_control({variant: texts.NAMES[variant] for variant in models}, models),
    )


def describe_rounds(n: int) -> Text:
    """Return a changed number of rounds in words."""
    return texts.FULL if n == FULL else texts.ROUND if n == 1 else fill_text(texts.ROUNDS, n=n)


def difference(
    explanations: tuple[Explanation, Explanation], _measured: object, request: Request, what: Text
) -> Readings:
    """Draw the effect of a change on each model. explanations: the runs without and with it. what:
    the change in words."""
    before, after = explanations
    pairs = list(zip(before.read, after.read, strict=True))
    sides = [draw_side(request, one, other, int(before.wanted[0])) for one, other in pairs]
    return Readings(sides, describe_change(request, pairs, what))


def draw_side(request: Request, before: Read, after: Read, first: int) -> TextSide:
    """Return one model before and after. first: the position that predicts its first letter."""
    word = request.mode == "word"
    return TextSide(
        before.variant,
        texts.NAMES[before.variant],
        before.nats,
        after.nats,
        given=len(before.nats),
        segment=0,
        text=request.plain_text,
        unreached=texts.UNREACHED,
        first=first,
        share=(before.correct, after.correct) if word else None,
        unit=texts.SHARE if word else None,
        answers=(before.said, after.said, request.plain_text) if word else None,
    )


def describe_change(request: Request, pairs: Sequence[tuple[Read, Read]], change: Text) -> Text:
    """Describe the comparison in words: the change, and its effect on each model that it
    reaches."""
    reached = [(a, b) for a, b in pairs if float(np.abs(a.nats - b.nats).max()) > ROUNDING]
    if not reached:
        return capitalise(fill_text(texts.SAME, change=change))
    if request.mode == "text":
        before, after = (float(one.nats.mean() / np.log(2)) for one in reached[0])
        name = texts.NAMES[reached[0][0].variant]
        most = find_most_bits(reached[0][0].nats, reached[0][1].nats)
        cost = write_change_sentence(
            texts.SAYS_TEXT,
            texts.SAYS_TEXT_SAME,
            before,
            after,
            change=change,
            model=name,
            most=most,
        )
        shares = (100 * measure_compared(one) for one in reached[0])
        pairs_ = write_change_sentence(
            texts.PAIRS, texts.PAIRS_SAME, *shares, show="{:.0f} %".format
        )
        return capitalise(join_parts([cost, pairs_], " ", ""))
    each = [
        write_change_sentence(
            texts.ANSWERED,
            texts.ANSWERED_SAME,
            a.correct,
            b.correct,
            show="{:.3f}".format,
            model=texts.NAMES[a.variant],
        )
        for a, b in reached
    ]
    return capitalise(fill_text(texts.SAYS, change=change, each=join_parts(each)))
