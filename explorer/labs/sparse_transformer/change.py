"""What changes if the models look with another pattern: what may be changed, and the comparison as the panel draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import labels
from explorer.controls import Control
from explorer.figures.pairs import Measure, Pair
from explorer.figures.sides import Side
from explorer.knobs import Range
from explorer.labels import Text, change_sentence, filled
from explorer.labs.heads import silenced
from explorer.labs.sparse_transformer import about, texts
from explorer.widgets.change import Pictures, Readings
from models.sparse_transformer.records import SIDE, Again, Explanation, Losses, Made, Request

INK = 255  # the level of a pixel that is ink
LEAST = 0.05  # nats that a digit must cost more or less before it is said
STRIDES = {"digit": range(1, 2 * SIDE + 1), "text": (8, 16, 31, 32, 33, 48, 64, 128)}  # that the panel offers
SUMMARIES = {"digit": range(1, SIDE + 1), "text": (1, 2, 4, 8, 16, 32)}
MEASURE = Measure(texts.NUMBER, "nats", texts.NATS, raster=True)


def knobs() -> tuple[Control, ...]:
    """What may be changed in the models."""

    def number(
        field: str, label: Text, unit: Text, offered: Mapping[str, Sequence[int]], said: Text, within: str | None = None
    ) -> list[Control]:
        found = []
        for task in about.tasks():
            usual = about.trained(task)[field]
            knob = Range(field, label, sorted({*offered[task], usual}), usual, unit, unchanged=0, within=within)
            found.append(Control(field, label, "knob", knob=knob, change=True, says=lambda n: filled(said, n=n), when={"task": (task,)}))
        return found

    heads = about.heads()
    names = {variant: texts.MODELS[variant] for variant in heads}
    return (
        Control("pattern", texts.PATTERN, "choice", names=texts.KINDS, change=True, says=pattern),
        *number("stride", texts.STRIDE, texts.POSITIONS, STRIDES, texts.UNDER_STRIDE),
        *number("summary", texts.SUMMARY, texts.COLUMNS, SUMMARIES, texts.UNDER_SUMMARY, "stride"),
        *silenced(names, heads),
    )


def pattern(kind: str) -> Text:
    """Another pattern in words."""
    return filled(texts.UNDER_PATTERN, kind=texts.KINDS[kind])


def touched(request: Request) -> tuple[str, ...]:
    """The models that a change reaches; none where nothing is changed."""
    known = about.facts(request.task)
    return tuple(variant for variant, one in known.items() if _reaches(request, variant, str(one["config"]["kind"])))


def _reaches(request: Request, variant: str, kind: str) -> bool:
    used = request.pattern or kind
    sizes = {"full": False, "strided": request.stride > 0, "fixed": request.stride > 0 or request.summary > 0}
    return used != kind or sizes[used] or any(other == variant for other, _, _ in request.silenced)


def again(request: Request, seen: Explanation) -> Again | None:
    """What was read and made, to be read under what a request changes; None where it changes nothing."""
    changed = Request(request.task, pattern=request.pattern, stride=request.stride, summary=request.summary, silenced=request.silenced)
    return None if changed == Request(request.task) else Again(changed, tuple(made.symbols.tobytes() for made in seen.made))


def difference(
    seen: tuple[Explanation, Explanation], losses: tuple[Losses | None, Losses], request: Request, what: Text
) -> Pictures | Readings:
    """What the panel draws of a comparison. losses: of what was made before, read under the change. what: the change in words."""
    before, after = (one.made for one in seen)
    return (
        texts_read(before, after, losses[1], request, what)
        if request.task == "text"
        else digits_made(before, after, losses[1], request, what)
    )


# ---- a digit -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """One model that a change reaches. forced: (position,) nats of what `before` holds, read under it."""

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
        """Nats of the digit as trained, and under the change."""
        return float(self.before.nats.sum(dtype=np.float64)), float(self.forced.sum(dtype=np.float64))

    @property
    def pair(self) -> Pair:
        """Both digits, and what the first of them costs."""
        return Pair(self.before.variant, _levels(self.before), _levels(self.after), self.costs, self.more)


def _levels(made: Made) -> NDArray[np.uint8]:
    return (made.symbols.reshape(SIDE, SIDE) * INK).astype(np.uint8)


def digits_made(before: Sequence[Made], after: Sequence[Made], losses: Losses, request: Request, what: Text) -> Pictures:
    """Each model's digit before and after, and what the same digit costs without and with the change."""
    reached = touched(request)
    found = [Changed(*one) for one in zip(before, after, losses.nats, strict=True) if one[0].variant in reached]
    return Pictures([one.pair for one in found], MEASURE, texts.MODELS, sentence(found, what))


def sentence(found: list[Changed], what: Text) -> Text:
    """The comparison in words, for the model that it costs most: how much, in which row, and how many pixels come out differently."""
    if not found:
        return labels.sentence([what, texts.UNTOUCHED])
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
    return labels.sentence([what, cost, *where], anew)


# ---- a text ------------------------------------------------------------------------------------------------------------------------


def texts_read(before: Sequence[Made], after: Sequence[Made], losses: Losses, request: Request, what: Text) -> Readings:
    """What every character costs each model without and with the change, and what each writes."""
    reached, given = touched(request), len(request.text)
    sides = [
        Side(
            one.variant,
            texts.MODELS[one.variant],
            one.nats,
            forced if one.variant in reached else one.nats,
            given or len(one.nats),
            written=(one.drawn[given:], other.drawn[given:]) if request.length else None,
            text=one.drawn,
        )
        for one, other, forced in zip(before, after, losses.nats, strict=True)
    ]
    return Readings(sides, reading(sides, what))


def reading(sides: Sequence[Side], what: Text) -> Text:
    """The comparison in words, for the model that it costs most."""
    side = max((one for one in sides if one.reached()), key=lambda one: one.bits[1] - one.bits[0], default=None)
    if side is None:
        return labels.sentence([what, texts.UNTOUCHED])
    named: dict[str, Any] = {"model": texts.MODELS_THE[side.key], "most": side.most}
    return labels.sentence([what, change_sentence(texts.AGAIN, texts.AGAIN_SAME, *side.bits, show="{:.3f}".format, **named)])
