"""The effect of a change: decibels of every method, or the coherence of a texture, before and
after."""

from __future__ import annotations

from typing import Any

from explorer.components.change_panel import ChangedNumber, Difference, Row, show_number_change
from explorer.contract.labels import Text, fill_text
from explorer.labs.self_similarity import texts
from models.self_similarity.records import METHODS, Explanation, Growth, Request


def describe_change(
    explanations: tuple[Explanation, Explanation],
    _measured: tuple[Any, Any],
    _request: Request,
    what: Text,
) -> Difference:
    """Return the number that moves most, and a row for each. what: the change in words."""
    before, after = explanations
    if before.growth is not None and after.growth is not None:
        return _compare_growths(before.growth, after.growth, what)
    assert before.denoised is not None and after.denoised is not None
    both = zip(before.denoised.psnr[1:], after.denoised.psnr[1:], strict=True)
    pairs = dict(zip(METHODS, both, strict=True))
    most = max(pairs, key=lambda method: abs(pairs[method][0] - pairs[method][1]))
    name = texts.METHODS[most]
    return show_number_change(
        ChangedNumber(*pairs[most], suffix=" dB"),
        fill_text(texts.DECIBELS, name=name),
        [
            Row(texts.PSNR, texts.METHODS[method], method, *values)
            for method, values in pairs.items()
        ],
        texts.MOVES,
        texts.STAYS,
        show=lambda value: f"{value:.2f} dB",
        what=what,
        name=name,
    )


def _compare_growths(before: Growth, after: Growth, what: Text) -> Difference:
    return show_number_change(
        ChangedNumber(before.coherence, after.coherence, scale=100, digits=1, suffix=" %"),
        texts.POINTS,
        [
            Row(
                texts.TEXTURE,
                texts.COHERENT,
                "coherence",
                before.coherence,
                after.coherence,
                scale=100,
                digits=1,
            ),
            Row(
                texts.TEXTURE,
                texts.DISTINCT,
                "distinct",
                before.distinct,
                after.distinct,
                digits=0,
            ),
        ],
        texts.COHERES,
        texts.COHERES_STILL,
        show=lambda share: f"{100 * share:.1f} %",
        what=what,
    )
