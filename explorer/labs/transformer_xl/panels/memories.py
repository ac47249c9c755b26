"""The panel about the benefit of memory: loss against its length, on this text and the held-out
book, and how far more context still helps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.components import figure
from explorer.components.folded import Value
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.figures.curves import Curve, Place
from explorer.labs.transformer_xl import texts
from explorer.page.curves import draw_curve_figure
from explorer.page.views import View, view_in_folded_panel
from models.transformer_xl.records import EXAMPLES, Explanation, Memories, Request, ladder

MEASURE = "models.transformer_xl.explain:memories"
TRAINED = Request().memory
BINS = 64  # points of the curve along a text, at most


def ask_to_read(request: Request) -> Request:
    """Return the request that reads the text of a run with the models as trained; what is written
    after it does not matter."""
    return replace(
        EXAMPLES[0], text=request.text, page=request.page, length=0, seed=0, temperature=0.0
    )


def draw_panel(found: Memories) -> Value:
    """Draw the panel for a text that was read with every length of memory."""
    measured = ladder()
    felt = draw_along_text(found)
    offered = {str(memory): {"en": f"{memory:,}", "zh": f"{memory:,}"} for memory in found.memories}
    return {
        "choices": [figure.describe_choice("bmemory", texts.SLIDER, offered, str(TRAINED))]
        if felt
        else [],
        "figures": [
            {"figure": draw_by_memory(found, measured)},
            *(
                {"when": {"bmemory": str(memory)}, "figure": one}
                for memory, one in zip(found.memories, felt, strict=False)
            ),
            *([] if measured is None else [{"figure": draw_by_context(measured)}]),
        ],
    }


def _average_bits(found: Memories) -> list[float]:
    return [float(bits) for bits in found.nats.mean(1, dtype=np.float64) / math.log(2)]


def draw_by_memory(found: Memories, measured: Mapping[str, Any] | None) -> Value:
    """Draw the loss against the length of the memory. measured: the ladder's values for the
    held-out book, or None."""
    mine = _average_bits(found)
    drawn = [Curve(texts.THIS_TEXT, found.memories, mine, "var(--cat-1)")]
    columns: list[Text] = [texts.MEMORY_COLUMN, texts.THIS_TEXT]
    rows: list[list[str | float | None]] = [
        [memory, round(bits, 4)] for memory, bits in zip(found.memories, mine, strict=True)
    ]
    trained = found.memories.index(TRAINED)
    said = [
        fill_text(
            texts.MEMORIES_SAYS,
            first=f"{mine[0]:.2f}",
            trained=f"{mine[trained]:.2f}",
            memory=TRAINED,
        )
    ]
    if measured is not None:
        book = {int(one["memory"]): float(one["value"]) for one in measured["by_memory"]}
        drawn.append(Curve(texts.HELD_OUT, list(book), list(book.values()), "var(--cat-3)"))
        columns.append(texts.HELD_OUT)
        rows = [[*row, book.get(memory)] for row, memory in zip(rows, found.memories, strict=True)]
        said.append(
            fill_text(texts.MEMORIES_BOOK, first=f"{book[0]:.2f}", trained=f"{book[TRAINED]:.2f}")
        )
    if len(found.without):
        bits = float(found.without.mean(dtype=np.float64) / math.log(2))
        drawn.append(Curve(texts.WITHOUT, (), [bits], "var(--cat-2)", level=True))
        columns.append(texts.WITHOUT)
        rows = [[*row, round(bits, 4)] for row in rows]
    if max(mine) - min(mine) < 1e-4:
        said.append(texts.SHORT_TEXT)
    says = join_parts([*said, shared.FULL_STOP], "", "")
    marks = [figure.Mark(line.name, line.colour, dashed=line.level) for line in drawn]
    how: dict[str, Any] = {
        "mark": Place(TRAINED, text=texts.AS_TRAINED),
        "ticks": (0, 128, 256, 512, 768, 1024),
        "height": 280,
    }
    words = (texts.MEMORIES, texts.MEMORIES_UNITS, says)
    return draw_curve_figure(
        "what-memory-buys", drawn, texts.MEMORIES_AXES, words, columns, rows, legend=marks, **how
    )


def draw_by_context(measured: Mapping[str, Any]) -> Value:
    """Draw the loss against the length of the known context, and the relative effective context
    length. measured: the ladder's values."""
    found = measured["contexts"]
    contexts, bits = found["lengths"], found["bits"]
    colours = {"xl": "var(--cat-1)", "absolute": "var(--cat-2)"}
    drawn = [
        Curve(texts.NAMES[name], contexts, bits[name], colours[name])
        for name in colours
        if name in bits
    ]
    said = []
    for one in measured["effective_lengths"]:
        each = [
            fill_text(texts.LENGTH_OF, name=texts.NAMES[name], value=f"{one[name]:,}")
            for name in colours
            if name in one
        ]
        said.append((one["r"], one["gain"], join_parts(each)))
    share, gain, lengths = said[-1]
    says = fill_text(
        texts.CONTEXT_SAYS, share=f"{100 * share:g}", gain=f"{100 * gain:g}", lengths=lengths
    )
    words, columns = (
        (texts.CONTEXT, fill_text(texts.CONTEXT_UNITS, n=f"{found['n']:,}"), says),
        [texts.CONTEXT_COLUMN],
    )
    return draw_curve_figure(
        "effective-context",
        drawn,
        texts.CONTEXT_AXES,
        words,
        columns,
        ticks=contexts[::2],
        across="log",
        height=280,
    )


def draw_along_text(found: Memories) -> list[Value]:
    """Draw the loss along the text with nothing remembered and with a memory, a figure for each;
    none for a text of one segment."""
    bits = found.nats / math.log(2)
    length = bits.shape[1]
    if np.abs(bits - bits[0]).max() < 1e-3:
        return []
    wide = max(8, -(-length // BINS))
    starts = np.arange(0, length, wide)
    sizes = np.diff(np.append(starts, length))
    rows = np.add.reduceat(bits, starts, axis=1) / sizes
    middle = [float(start + size / 2) for start, size in zip(starts, sizes, strict=True)]
    mean = bits.mean(1)

    def at_length(i: int, memory: int) -> Value:
        lines = [
            Curve(texts.FORGETFUL, middle, [float(y) for y in rows[0]], "var(--cat-3)", steps=True),
            Curve(
                texts.REMEMBERING, middle, [float(y) for y in rows[i]], "var(--cat-1)", steps=True
            ),
        ]
        less = f"{mean[0] - mean[i]:.3f}".replace("-", "−")
        says = fill_text(texts.ALONG_SAYS, memory=f"{memory:,}", bits=f"{mean[i]:.3f}", less=less)
        columns = (texts.FROM_PLACE, texts.TO_PLACE, *(line.name for line in lines))
        told = [
            (
                int(start) + 1,
                int(start + size),
                round(float(rows[0, at]), 3),
                round(float(rows[i, at]), 3),
            )
            for at, (start, size) in enumerate(zip(starts, sizes, strict=True))
        ]
        return draw_curve_figure(
            "memory-along-the-text",
            lines,
            texts.ALONG_AXES,
            (texts.ALONG, fill_text(texts.ALONG_UNITS, n=wide), says),
            columns,
            told,
        )

    return [at_length(i, memory) for i, memory in enumerate(found.memories)]


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "memories",
    texts.MEMORIES,
    lambda found, _question: draw_panel(found.answer),
    function=MEASURE,
    wish=lambda found, _question: ask_to_read(found.request),
    needs="request",
)
