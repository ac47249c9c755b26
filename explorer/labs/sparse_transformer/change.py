"""The change panel of the lab: another pattern for the models, and the comparison as the panel
draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.change_panel import Pictures, Readings
from explorer.contract import labels
from explorer.contract.control_kinds import ChoiceControl, Control, KnobControl
from explorer.contract.knobs import Range
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.figures.pairs import Measure, PicturePair
from explorer.figures.sides import TextSide
from explorer.labs.sparse_transformer import about, texts
from explorer.panels.heads import make_heads_control
from models.sparse_transformer.records import SIDE, Explanation, Losses, Made, Request, Rereading

INK = 255  # the level of a pixel that is ink
LEAST = 0.05  # a difference in nats below this is not worth a sentence
# offered by the panel
STRIDES = {"digit": range(1, 2 * SIDE + 1), "text": (8, 16, 31, 32, 33, 48, 64, 128)}
SUMMARIES = {"digit": range(1, SIDE + 1), "text": (1, 2, 4, 8, 16, 32)}
MEASURE = Measure(texts.NUMBER, "nats", texts.NATS, raster=True)


def list_controls() -> tuple[Control, ...]:
    """Return the controls of what may be changed in the models."""

    def number(
        field: str,
        label: Text,
        unit: Text,
        offered: Mapping[str, Sequence[int]],
        said: Text,
        within: str | None = None,
    ) -> list[Control]:
        found: list[Control] = []
        for task in about.list_tasks():
            usual = about.find_trained_pattern(task)[field]
            knob = Range(
                field,
                label,
                sorted({*offered[task], usual}),
                usual,
                unit,
                unchanged=0,
                within=within,
            )
            found.append(
                KnobControl(
                    field,
                    label,
                    knob=knob,
                    change=True,
                    says=lambda n: fill_text(said, n=n),
                    when={"task": (task,)},
                )
            )
        return found

    heads = about.list_head_sizes()
    names = {variant: texts.MODELS[variant] for variant in heads}
    return (
        ChoiceControl(
            "pattern",
            texts.PATTERN,
            names=texts.KINDS,
            change=True,
            says=describe_pattern,
        ),
        *number("stride", texts.STRIDE, texts.POSITIONS, STRIDES, texts.UNDER_STRIDE),
        *number("summary", texts.SUMMARY, texts.COLUMNS, SUMMARIES, texts.UNDER_SUMMARY, "stride"),
        *make_heads_control(names, heads),
    )


def describe_pattern(kind: str) -> Text:
    """Return another pattern in words."""
    return fill_text(texts.UNDER_PATTERN, kind=texts.KINDS[kind])


def list_changed_models(request: Request) -> tuple[str, ...]:
    """Return the models that a change reaches; none where nothing is changed."""
    known = about.facts(request.task)
    return tuple(
        variant
        for variant, one in known.items()
        if _is_changed(request, variant, str(one["config"]["kind"]))
    )


def _is_changed(request: Request, variant: str, kind: str) -> bool:
    used = request.pattern or kind
    sizes = {
        "full": False,
        "strided": request.stride > 0,
        "fixed": request.stride > 0 or request.summary > 0,
    }
    return used != kind or sizes[used] or any(other == variant for other, _, _ in request.silenced)


def ask_to_reread(request: Request, explanation: Explanation) -> Rereading | None:
    """Return the text or digit of the run, to be read again under the request's change; None where
    the request changes nothing."""
    changed = Request(
        request.task,
        pattern=request.pattern,
        stride=request.stride,
        summary=request.summary,
        silenced=request.silenced,
    )
    return (
        None
        if changed == Request(request.task)
        else Rereading(changed, tuple(made.symbols.tobytes() for made in explanation.made))
    )


def difference(
    explanations: tuple[Explanation, Explanation],
    losses: tuple[Losses | None, Losses],
    request: Request,
    what: Text,
) -> Pictures | Readings:
    """Draw a comparison for the change panel. losses: of the digit or text generated before, read
    under the change. what: the change in words."""
    before, after = (one.made for one in explanations)
    return (
        compare_texts(before, after, losses[1], request, what)
        if request.task == "text"
        else compare_digits(before, after, losses[1], request, what)
    )


# ---- a digit


@dataclass(frozen=True)
class Changed:
    """One model that a change reaches. forced: (position,) nats of the digit in `before`, read
    under the change."""

    before: Made
    after: Made
    forced: NDArray[np.float32]

    @property
    def added_nats(self) -> NDArray[np.float64]:
        """The nats that each pixel of the same digit costs more, (row, column)."""
        found: NDArray[np.float64] = (self.forced.astype(np.float64) - self.before.nats).reshape(
            SIDE, SIDE
        )
        return found

    @property
    def costs(self) -> tuple[float, float]:
        """The nats of the digit, as trained and under the change."""
        return float(self.before.nats.sum(dtype=np.float64)), float(
            self.forced.sum(dtype=np.float64)
        )

    @property
    def as_pair(self) -> PicturePair:
        """Return both digits, and the cost of the first."""
        return PicturePair(
            self.before.variant,
            _list_levels(self.before),
            _list_levels(self.after),
            self.costs,
            self.added_nats,
        )


def _list_levels(made: Made) -> NDArray[np.uint8]:
    return (made.symbols.reshape(SIDE, SIDE) * INK).astype(np.uint8)


def compare_digits(
    before: Sequence[Made], after: Sequence[Made], losses: Losses, request: Request, what: Text
) -> Pictures:
    """Compare each model's digit before and after, and the cost of the same digit without and with
    the change."""
    reached = list_changed_models(request)
    found = [
        Changed(*one)
        for one in zip(before, after, losses.nats, strict=True)
        if one[0].variant in reached
    ]
    return Pictures(
        [one.as_pair for one in found], MEASURE, texts.MODELS, describe_change(found, what)
    )


def describe_change(found: list[Changed], what: Text) -> Text:
    """Describe the comparison in words, for the model with the largest added cost: how much, in
    which row, and how many pixels come out differently."""
    if not found:
        return labels.build_sentence([what, texts.UNTOUCHED])
    dearest = max(found, key=lambda one: one.costs[1] - one.costs[0])
    delta = dearest.costs[1] - dearest.costs[0]
    equal = abs(delta) < LEAST
    cost = fill_text(
        texts.EQUAL if equal else texts.DEARER if delta > 0 else texts.CHEAPER,
        model=texts.MODELS_THE[dearest.before.variant],
        nats=f"{abs(delta):.1f}",
    )
    rows = dearest.added_nats.sum(1)
    where = (
        []
        if equal
        else [fill_text(texts.ROW, row=int(rows.argmax() if delta > 0 else rows.argmin()))]
    )
    other = int((dearest.before.symbols != dearest.after.symbols).sum())
    anew = fill_text(texts.OTHER, n=other, of=SIDE * SIDE) if other else texts.SAME
    return labels.build_sentence([what, cost, *where], anew)


# ---- a text


def compare_texts(
    before: Sequence[Made], after: Sequence[Made], losses: Losses, request: Request, what: Text
) -> Readings:
    """Compare the cost of every character without and with the change for each model, and what each
    writes."""
    reached, given = list_changed_models(request), len(request.plain_text)
    sides = [
        TextSide(
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
    return Readings(sides, describe_reading(sides, what))


def describe_reading(sides: Sequence[TextSide], what: Text) -> Text:
    """Describe the comparison in words, for the model with the largest added cost."""
    side = max(
        (one for one in sides if one.is_changed()),
        key=lambda one: one.measure_bits[1] - one.measure_bits[0],
        default=None,
    )
    if side is None:
        return labels.build_sentence([what, texts.UNTOUCHED])
    named: dict[str, Any] = {"model": texts.MODELS_THE[side.key], "most": side.find_most_bits}
    return labels.build_sentence(
        [
            what,
            write_change_sentence(
                texts.AGAIN, texts.AGAIN_SAME, *side.measure_bits, show="{:.3f}".format, **named
            ),
        ]
    )
