"""What is drawn of a text: its characters and their losses under both patterns, the heads that said them, and what a change costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.figures import reading
from explorer.figures.sides import Side, most_bits
from explorer.labels import change_sentence, filled
from explorer.labs.runs import Run
from explorer.labs.sparse_transformer import about, change, texts, views
from explorer.labs.sparse_transformer.views import Array, Text, Value
from explorer.widgets import remake, reread
from models.sparse_transformer.records import PATTERNS, Comparison, Explanation, Made, Request, Step
from models.sparse_transformer.weights import look, overview

STRIDES = (8, 16, 31, 33, 48, 64, 128)  # that the panel offers beside the one as trained
SUMMARIES = (1, 2, 4, 16, 32)


@dataclass(frozen=True)
class Read:
    """What one model has read and written, as `reading.telling` asks for it."""

    made: Made

    @property
    def variant(self) -> str:
        """Its name."""
        return self.made.variant

    @property
    def text(self) -> str:
        """What was given, and what was written after it."""
        return self.made.drawn

    @property
    def nats(self) -> Array:
        """(position,) −log p of each character."""
        return self.made.nats

    @property
    def queries(self) -> NDArray[np.float16]:
        """(layer, head, position, d_head)."""
        return self.made.queries


def knobs() -> list[reread.Knob]:
    """What may be changed in the models of texts."""
    usual = about.trained("text")
    heads = about.heads()
    kinds = [("", texts.KINDS[""]), *((kind, texts.KINDS[kind]) for kind in PATTERNS)]
    return [
        reread.Pick("pattern", texts.PATTERN, kinds, ""),
        reread.Stops("stride", texts.STRIDE, _stops(STRIDES, usual["stride"]), 0, texts.OTHER_NUMBER),
        reread.Stops("summary", texts.SUMMARY, _stops(SUMMARIES, usual["summary"]), 0, texts.OTHER_NUMBER),
        reread.Heads({variant: (texts.MODELS[variant], heads[variant]) for variant in about.facts("text")}),
    ]


def _stops(offered: Sequence[int], usual: int) -> list[tuple[int, Text]]:
    """Numbers in order, with 0 for the one as trained."""
    return [(0, filled(texts.TRAINED, n=n)) if n == usual else (n, {"en": str(n), "zh": str(n)}) for n in sorted({*offered, usual})]


def growing(request: Request, steps: Sequence[Step]) -> dict[str, Value]:
    """What the input bar and the text draw while models read and write, by widget. steps: all so far."""
    variants = list(about.facts("text"))
    given, of = len(request.text), len(request.text) + request.length
    told = {variant: [step for step in steps if step.variant == variant] for variant in variants}
    grown = [
        reading.Growing(
            variant,
            texts.MODELS[variant],
            texts.ABOUT[variant],
            "".join(step.drawn for step in said),
            np.concatenate([step.nats for step in said]) if said else np.zeros(0, np.float32),
        )
        for variant, said in told.items()
    ]
    return {
        "sketch": views.running(request, variants, steps, of),
        "reading": reading.growing(grown, given=given, of=of, segment=0, query=views.query(request)),
    }


def draw(seen: Explanation, request: Request, run: Run) -> dict[str, Value]:
    """What the input bar, the text, the attention view and the panels of knobs draw of a finished run, by widget.

    It takes some tenths of a second, for every weight is made once: not in the thread that serves pages.
    """
    pick = telling(seen, request)
    addresses = {made.variant: views.keep(made) for made in seen.made}
    models = [_model(made, addresses[made.variant]) for made in seen.made]
    return {
        "sketch": views.result(seen, request, run),
        "reading": reading.value(
            models,
            given=len(request.text),
            segment=0,
            memory=0,
            unknown=(),
            query=views.query(request),
            state=run.state,
            pick=pick,
        ),
        "attention": views.heads(seen, addresses, pick, run.state),
        "remake": remake.idle(),
        "reread": reread.idle(views.spelled(request), pick),
    }


def _model(made: Made, address: str) -> reading.Model:
    layers, heads = made.queries.shape[:2]
    return reading.Model(
        made.variant,
        texts.MODELS[made.variant],
        texts.ABOUT[made.variant],
        made.drawn,
        made.nats,
        look=address,
        layers=layers,
        heads=heads,
        profiles=overview(made).distances,
        pattern={"kind": made.pattern.kind, "l": made.pattern.stride, "c": made.pattern.summary},
    )


def telling(seen: Explanation, request: Request) -> Value | None:
    """What is locked on arrival: a character, and a head that looks far to say it."""

    def rows(read: Read, layer: int, head: int, which: Sequence[int]) -> Array:
        return look(read.made, layer, head, which)

    return reading.telling([Read(made) for made in seen.made], rows, given=len(request.text))


# ---- what a change costs -----------------------------------------------------------------------------------------------------------


def compared(request: Request, comparison: Comparison) -> Value:
    """What the panel draws of a comparison of texts."""
    reached = change.touched(request)
    given = len(request.text)
    sides = [
        Side(
            before.variant,
            texts.MODELS[before.variant],
            before.nats,
            forced if before.variant in reached else before.nats,
            given or len(before.nats),
            0,
            (before.drawn[given:], after.drawn[given:]) if request.length else None,
            text=before.drawn,
        )
        for before, after, forced in zip(comparison.before.made, comparison.after.made, comparison.forced, strict=True)
    ]
    pick = telling(comparison.before, request)
    return reread.done(views.spelled(request), sides, sentence(request, sides), pick)


def sentence(request: Request, sides: Sequence[Side]) -> Text:
    """The comparison in words, for the model that it costs most."""
    said = [change.said(request)]
    reached = [side for side in sides if side.reached()]
    bits = {side.key: [float(nats[: side.given].mean() / np.log(2)) for nats in (side.before, side.after)] for side in reached}
    if not bits:
        said.append(texts.UNTOUCHED)
    else:
        dearest = max(bits, key=lambda key: bits[key][1] - bits[key][0])
        side = next(one for one in reached if one.key == dearest)
        most = most_bits(side.before, side.after)
        said.append(
            change_sentence(texts.AGAIN, texts.AGAIN_SAME, *bits[dearest], show="{:.3f}".format, model=texts.MODELS_THE[dearest], most=most)
        )
    return change.joined(said, None)
