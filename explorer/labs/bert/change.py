"""The effect of a change of the BERT lab."""

from __future__ import annotations

import numpy as np

from explorer.components import change_panel
from explorer.contract.labels import Text, fill_text
from explorer.labs.bert import texts
from models.bert.records import (
    SIDES,
    Explanation,
    Request,
)

TINY = 1e-9  # stands for a probability of 0, so that its logarithm is a number


def difference(
    explanations: tuple[Explanation, Explanation],
    _measured: tuple[None, None],
    request: Request,
    what: Text,
) -> change_panel.Difference:
    """Draw the effect of a change. explanations: the runs without and with it."""
    before, after = explanations
    if request.variant == "minilm":
        return _describe_turn(before, after, what)
    if not before.guesses:
        number = change_panel.ChangedNumber(
            -float(before.nats[1:-1].mean()), -float(after.nats[1:-1].mean())
        )
        return change_panel.show_number_change(
            number, texts.ALONE, [], texts.READS, texts.READS_SAME, what=what
        )
    side, rows = SIDES.index(request.side), list[change_panel.Row]()
    pairs = list(zip(before.guesses, after.guesses, strict=True))
    p = [(float(one.truth_p[0]), float(again.truth_p[side])) for one, again in pairs]
    best = [(one.best[0][0], again.best[side][0]) for one, again in pairs]
    alike = [one.numbers[0, 0] == again.numbers[side, 0] for one, again in pairs]
    for one, shares, words, same in zip(before.guesses, p, best, alike, strict=True):
        head = fill_text(texts.AT, at=one.position)
        rows.append(
            change_panel.Row(
                head, fill_text(texts.TRUTH, piece=one.truth), f"p_{one.position}", *shares
            )
        )
        verdict, kind = (texts.SAME, "same") if same else (texts.OTHER_ONE, "other")
        rows.append(
            change_panel.Row(
                head, texts.GUESS, f"guess_{one.position}", *words, verdict=verdict, kind=kind
            )
        )
    number = change_panel.ChangedNumber(*np.log(np.maximum(p, TINY)).mean(0).tolist())
    guess = ", ".join(f"“⟦o:{word}⟧”" for _, word in best)
    return change_panel.show_number_change(
        number, texts.NUMBER, rows, texts.MOVES, texts.STAYS, what=what, guess=guess
    )


def _describe_turn(before: Explanation, after: Explanation, what: Text) -> change_panel.Difference:
    """Describe how alike two sentences still are; for one sentence, how far its vector turns."""
    turned = [float(one @ other) for one, other in zip(before.vectors, after.vectors, strict=True)]
    rows = [
        change_panel.Row(texts.VECTOR, name, f"vector_{n}", 1.0, cosine)
        for n, (name, cosine) in enumerate(
            zip((texts.FIRST, texts.SECOND), turned, strict=False), 1
        )
    ]
    if before.similarity is not None and after.similarity is not None:
        number = change_panel.ChangedNumber(before.similarity, after.similarity)
        return change_panel.show_number_change(
            number, texts.ALIKE, rows, texts.ALIKE_MOVES, texts.ALIKE_STAYS, what=what
        )
    return change_panel.show_number_change(
        change_panel.ChangedNumber(1.0, turned[0]),
        texts.VECTOR,
        [],
        texts.TURNS,
        texts.TURNS_NOT,
        what=what,
    )
