"""The effect of a change: the same layer, softmax or filter before and after, in one number."""

from __future__ import annotations

from typing import Any

from explorer.components.change_panel import ChangedNumber, Difference, Row, show_number_change
from explorer.contract.labels import Text, fill_text
from explorer.labs.cost import texts
from explorer.labs.cost.clock import format_milliseconds
from explorer.labs.cost.heads import format_error
from models.cost.records import WINDOW, Explanation, Request
from models.explaining.errors import InputError


def _compare_values(key: str, before: float, after: float, digits: int) -> Row:
    return Row(texts.BEFORE_AND_AFTER, texts.ROW_NAMES[key], key, before, after, digits=digits)


def describe_change(
    explanations: tuple[Explanation, Explanation],
    _measured: tuple[Any, Any],
    request: Request,
    what: Text,
) -> Difference:
    """Return one number before and after. The clock times both in one run, so both results of
    `explanations` are that run."""
    before, after = explanations
    if after.clock is not None:
        return _compare_times(after, request, what)
    if before.scale is not None and after.scale is not None:
        was, now = before.scale.at[2].tolist(), after.scale.at[2].tolist()
        number, unit = (
            ChangedNumber(was[0], now[0], digits=2),
            fill_text(texts.CHANGED["scale"], d_k=request.d_k),
        )
        rows = [
            _compare_values("entropy", was[0], now[0], 2),
            _compare_values("gradient", was[1], now[1], 3),
        ]
        return show_number_change(number, unit, rows, texts.MOVES, texts.STAYS, what=what)
    assert before.heads is not None and after.heads is not None
    errors = before.heads.error, after.heads.error
    weights = [float(one.maps.max()) for one in (before.heads, after.heads)]
    rows = [
        _compare_values("error", *errors, 4),
        _compare_values("weight", weights[0], weights[1], 3),
    ]
    return show_number_change(
        ChangedNumber(*errors, digits=3),
        texts.CHANGED["heads"],
        rows,
        texts.MOVES,
        texts.STAYS,
        show=format_error,
        what=what,
    )


def _compare_times(explanation: Explanation, request: Request, what: Text) -> Difference:
    assert explanation.clock is not None
    here = {
        (p.layer, p.variant): p.seconds * 1e3
        for p in explanation.clock.points
        if p.length == request.length
    }
    sides = {
        "restricted": (here.get(("restricted", "window")), here.get(("restricted", ""))),
        "attention": (here.get(("attention", "fused")), here.get(("attention", ""))),
    }
    timed = {
        layer: (was, now)
        for layer, (was, now) in sides.items()
        if was is not None and now is not None
    }
    if not timed:
        raise InputError("untimed", en=texts.UNTIMED["en"], zh=texts.UNTIMED["zh"])
    layer = next(iter(timed))
    was, now = timed[layer]
    rows = [_compare_values(name, *both, 2) for name, both in timed.items()]
    if layer == "restricted":
        fewer, more = (
            4.0 * min(r, request.length) * request.length * request.width / 1e9
            for r in (WINDOW, request.window)
        )
        rows.append(_compare_values("operations", fewer, more, 3))
    unit = fill_text(
        texts.CHANGED["window" if layer == "restricted" else "fused"], length=f"{request.length:,}"
    )
    number = ChangedNumber(was, now, digits=2)
    return show_number_change(
        number,
        unit,
        rows,
        texts.MOVES,
        texts.STAYS,
        show=lambda value: f"{format_milliseconds(value / 1e3)} ms",
        what=what,
    )
