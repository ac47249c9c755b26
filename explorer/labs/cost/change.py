"""What a change does: the same layer, softmax or filter, before and after, in one number."""

from __future__ import annotations

from typing import Any

from explorer.labels import Text, filled
from explorer.labs.cost import texts
from explorer.labs.cost.clock import ms
from explorer.labs.cost.heads import small
from explorer.widgets.change import Difference, Number, Row, moved
from models.cost.records import WINDOW, Explanation, Request
from models.errors import InputError


def _row(key: str, before: float, after: float, digits: int) -> Row:
    return Row(texts.BEFORE_AND_AFTER, texts.ROW_NAMES[key], key, before, after, digits=digits)


def changed(seen: tuple[Explanation, Explanation], _measured: tuple[Any, Any], request: Request, what: Text) -> Difference:
    """One number before and after. Of the clock both were timed in one run, and both results of `seen` are that run."""
    before, after = seen
    if after.clock is not None:
        return _timed(after, request, what)
    if before.scale is not None and after.scale is not None:
        was, now = before.scale.at[2].tolist(), after.scale.at[2].tolist()
        number, unit = Number(was[0], now[0], digits=2), filled(texts.CHANGED["scale"], d_k=request.d_k)
        rows = [_row("entropy", was[0], now[0], 2), _row("gradient", was[1], now[1], 3)]
        return moved(number, unit, rows, texts.MOVES, texts.STAYS, what=what)
    assert before.heads is not None and after.heads is not None
    errors = before.heads.error, after.heads.error
    weights = [float(one.maps.max()) for one in (before.heads, after.heads)]
    rows = [_row("error", *errors, 4), _row("weight", weights[0], weights[1], 3)]
    return moved(Number(*errors, digits=3), texts.CHANGED["heads"], rows, texts.MOVES, texts.STAYS, show=small, what=what)


def _timed(seen: Explanation, request: Request, what: Text) -> Difference:
    assert seen.clock is not None
    here = {(p.layer, p.variant): p.seconds * 1e3 for p in seen.clock.points if p.length == request.length}
    sides = {
        "restricted": (here.get(("restricted", "window")), here.get(("restricted", ""))),
        "attention": (here.get(("attention", "fused")), here.get(("attention", ""))),
    }
    timed = {layer: (was, now) for layer, (was, now) in sides.items() if was is not None and now is not None}
    if not timed:
        raise InputError("untimed", en=texts.UNTIMED["en"], zh=texts.UNTIMED["zh"])
    layer = next(iter(timed))
    was, now = timed[layer]
    rows = [_row(name, *both, 2) for name, both in timed.items()]
    if layer == "restricted":
        fewer, more = (4.0 * min(r, request.length) * request.length * request.width / 1e9 for r in (WINDOW, request.window))
        rows.append(_row("operations", fewer, more, 3))
    unit = filled(texts.CHANGED["window" if layer == "restricted" else "fused"], length=f"{request.length:,}")
    number = Number(was, now, digits=2)
    return moved(number, unit, rows, texts.MOVES, texts.STAYS, show=lambda value: f"{ms(value / 1e3)} ms", what=what)
