"""What changes if the models look with another pattern: what a request changes, and the comparison as the panel draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from explorer.labels import filled
from explorer.labs.sparse_transformer import about, texts
from explorer.widgets import remake
from models.sparse_transformer.records import PATTERNS, SIDE, Comparison, Made, Request

Text = Mapping[str, str]
Value = dict[str, object]

INK = 255  # the level of a pixel that is ink
WIDEST = 56  # the largest stride that the panel offers
LEAST = 0.05  # nats that a digit must cost more or less before it is said


def knobs(variants: tuple[str, ...]) -> list[remake.Knob | remake.Range | remake.Pick]:
    """What may be changed in the models of digits."""
    usual = about.trained()
    return [
        remake.Pick("pattern", texts.PATTERN, [("", texts.KINDS[""]), *((kind, texts.KINDS[kind]) for kind in PATTERNS)], "", variants),
        remake.Range("stride", texts.STRIDE, texts.POSITIONS, 1, WIDEST, usual["stride"], variants),
        remake.Range("summary", texts.SUMMARY, texts.COLUMNS, 1, SIDE, usual["summary"], variants, within="stride"),
    ]


def plain(request: Request) -> Request:
    """The same drawing or text for the models as trained."""
    return replace(request, pattern="", stride=0, summary=0, silenced=())


def touched(request: Request) -> tuple[str, ...]:
    """The models that an intervention reaches; none where nothing is changed."""
    if plain(request) == request:
        return ()
    known = about.facts(request.task)
    return tuple(variant for variant, one in known.items() if _reaches(request, variant, str(one["config"]["kind"])))


def _reaches(request: Request, variant: str, kind: str) -> bool:
    used = request.pattern or kind
    sizes = {"full": False, "strided": request.stride > 0, "fixed": request.stride > 0 or request.summary > 0}
    return used != kind or sizes[used] or any(other == variant for other, _, _ in request.silenced)


# ---- in words ----------------------------------------------------------------------------------------------------------------------


def said(request: Request) -> Text:
    """What a request changes in the models, in words; "" where it changes nothing."""
    heads = [filled(texts.HEAD, model=texts.MODELS[variant], name=f"{layer + 1}·{head + 1}") for variant, layer, head in request.silenced]
    shown = heads if len(heads) <= 3 else [filled(texts.HEADS, n=len(heads))]
    parts: list[Text] = []
    if shown:
        parts.append(
            filled(texts.WITHOUT, heads={"en": ", ".join(one["en"] for one in shown), "zh": "、".join(one["zh"] for one in shown)})
        )
    if request.pattern:
        parts.append(filled(texts.UNDER_PATTERN, kind=texts.KINDS[request.pattern]))
    if request.stride:
        parts.append(filled(texts.UNDER_STRIDE, n=request.stride))
    if request.summary:
        parts.append(filled(texts.UNDER_SUMMARY, n=request.summary))
    return {"en": " and ".join(part["en"] for part in parts), "zh": "，".join(part["zh"] for part in parts)}


@dataclass(frozen=True)
class Changed:
    """One model that an intervention reaches. forced: (position,) nats of what `before` holds, read under it."""

    before: Made
    after: Made
    forced: NDArray[np.float32]

    @property
    def more(self) -> NDArray[np.float64]:
        """(row, column) nats that each pixel of the same digit costs more."""
        found: NDArray[np.float64] = (self.forced.astype(np.float64) - self.before.nats).reshape(SIDE, SIDE)
        return found

    @property
    def costs(self) -> tuple[float, float]:
        """Nats of the digit as trained, and under the intervention."""
        return float(self.before.nats.sum(dtype=np.float64)), float(self.forced.sum(dtype=np.float64))


def changed(compared: Comparison, request: Request) -> list[Changed]:
    """What became of each model that the intervention reaches."""
    every = zip(compared.before.made, compared.after.made, compared.forced, strict=True)
    reached = touched(request)
    return [Changed(before, after, forced) for before, after, forced in every if before.variant in reached]


def picture(made: Made) -> NDArray[np.uint8]:
    """(row, column) levels of a digit, ink or nothing."""
    return (made.symbols.reshape(SIDE, SIDE) * INK).astype(np.uint8)


def done(compared: Comparison, request: Request, spelled: Value, pick: Value | None) -> Value:
    """What the panel draws of a comparison: each model's digit before and after, and what the same digit costs without and with it."""
    found = changed(compared, request)
    pairs = [remake.Pair(one.before.variant, picture(one.before), picture(one.after), one.costs, one.more) for one in found]
    return remake.done(spelled, [made.variant for made in compared.before.made], pairs, sentence(found, request), pick)


def sentence(found: list[Changed], request: Request) -> Text:
    """The comparison in words, for the model that it costs most: how much, in which row, and how many pixels come out differently."""
    change = said(request)
    if not found:
        parts: list[Text] = [change, texts.UNTOUCHED]
        return joined(parts, None)
    dearest = max(found, key=lambda one: one.costs[1] - one.costs[0])
    delta = dearest.costs[1] - dearest.costs[0]
    equal = abs(delta) < LEAST
    cost = filled(
        texts.EQUAL if equal else texts.DEARER if delta > 0 else texts.CHEAPER,
        model=texts.MODELS_THE[dearest.before.variant],
        nats=f"{abs(delta):.1f}",
    )
    rows = dearest.more.sum(1)
    where = [] if equal else [filled(texts.ROW, row=int(rows.argmax() if delta > 0 else rows.argmin()))]
    other = int((dearest.before.symbols != dearest.after.symbols).sum())
    anew = filled(texts.OTHER, n=other, of=SIDE * SIDE) if other else texts.SAME
    return joined([change, cost, *where], anew)


def joined(parts: list[Text], last: Text | None) -> Text:
    """Parts of a sentence as one, `last` behind a semicolon."""
    english = ", ".join(part["en"] for part in parts)
    chinese = "，".join(part["zh"] for part in parts)
    end = {"en": "", "zh": ""} if last is None else {"en": f"; {last['en']}", "zh": f"；{last['zh']}"}
    return {"en": f"{english[:1].upper()}{english[1:]}{end['en']}.", "zh": f"{chinese}{end['zh']}。"}
