"""The panel about memory: the size of the relative term of one layer by the direct formula, by
skewing, and here; computed and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from explorer.components import figure
from explorer.components.folded import Question, Value
from explorer.contract import labels
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.contract.labels import text as _
from explorer.figures import theme
from explorer.page import card_facts
from explorer.page.views import View, view_in_folded_panel
from models.music.records import Explanation, Request

# keys are the benchmark's names of the ways
PEAKS = {"direct": "direct_mb", "skew": "skew_mb", "ours": "extra_mb"}
WAYS = ("direct", "skew", "ours")
# the sizes of table 1 in Huang et al. (2018), at which the benchmark measured
PAPER = {"length": 2048, "width": 512, "heads": 8}
SIZES: Final = {
    "length": (128, 256, 512, 1024, 2048, 4096, 8192, 16384),  # positions
    "width": (64, 128, 256, 512, 1024, 2048),  # of a layer, all heads together
    "heads": (1, 2, 4, 8, 16),
}
BLOCK = 64  # `models.layers.relative.BLOCK`
# `models.layers.relative.CACHED`: scores of one block and some heads that stand in memory together
TOGETHER = 1 << 18
BYTES = 4  # bytes of a number
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


TITLE: Final = _("How much memory does the relative term take?", "相对位置项要占多少内存？")
QUESTION: Final = _(
    "What does one layer’s relative term take in memory?", "一层的相对位置项要占多少内存？"
)
SCALE: Final = _("bytes, each line ten times the one before", "字节，每条线是前一条的十倍")
LABELS: Final = {
    "length": _("length L", "长度 L"),
    "width": _("width D", "宽度 D"),
    "heads": _("heads", "头数"),
}
BACK: Final = _("Sizes of the paper", "论文中的大小")
NAMES: Final = {
    "direct": _("direct formula", "直接公式"),
    "skew": _("skewing", "倾斜变换"),
    "ours": _("here, in blocks", "本程序，分块"),
}
COUNTED: Final = _("the embeddings alone, as the paper counts", "只算嵌入，如论文所算")
WITH: Final = _("with Q Eᵣᵀ", "连同 Q Eᵣᵀ")
MEASURED: Final = _(
    "measured: peak of a whole pass at the paper’s sizes", "实测：论文大小下整个前向过程的峰值"
)
COLUMNS: Final = (
    _("way", "方法"),
    _("formula", "字节公式"),
    _("takes", "占用"),
    _("of it per head", "其中每个头"),
    _("bytes", "字节"),
    _("of it the embeddings, bytes", "其中嵌入，字节"),
)
PEAK: Final = (_("peak, measured", "实测峰值"), _("time, measured", "实测时间"))
TIME: Final = shared.MILLISECONDS
MORE: Final = (
    _("peak, measured, bytes", "实测峰值，字节"),
    _("time, measured, ms", "实测时间，毫秒"),
)
SAYS: Final = _(
    "At L = {length} and D = {width} the direct formula’s R takes {direct} in each layer. Skewing"
    " needs only Eᵣ, {table}: {length} times less, once for every position. Twice the length makes"
    " R four times as large and Eᵣ twice.",
    "当 L = {length}、D = {width} 时，直接公式的 R 在每层占 {direct}。倾斜变换只需要 Eᵣ，占"
    " {table}，只有 {length} 分之一，即 L 分之一。长度加倍，R 变成四倍，Eᵣ 变成两倍。",
)
STORED: Final = _(
    " Stored from a measurement ({machine}): attention’s whole forward pass peaks at {direct},"
    " {skew} and {ours}, its result included.",
    "实测记录（{machine}）：注意力整个前向过程的峰值分别为 {direct}、{skew} 和 {ours}，"
    "包括其结果。",
)
UNMEASURED: Final = _(" This copy holds no measurement.", "这份程序没有附带实测结果。")


@dataclass(frozen=True)
class Measured:
    """The measurements of a benchmark at the sizes of the paper. peaks: way -> most bytes during
    one forward pass of attention, its result included. milliseconds: way -> of that pass. machine:
    its description."""

    peaks: Mapping[str, float]
    milliseconds: Mapping[str, float]
    machine: Text


def read_peaks(result: Path = card_facts.RESULTS / "relative_attention.json") -> Measured | None:
    """Load the peaks that `python -m benchmarks relative_attention` has kept, in bytes; None where
    it has not run."""
    found = card_facts.read_json_file(result, None)
    if found is None:
        return None
    figures = found["figures"]
    return Measured(
        peaks={way: float(figures[PEAKS[way]]) * 1e6 for way in WAYS},
        milliseconds={way: float(figures[f"{way}_ms"]) for way in WAYS},
        machine=labels.name_machine(found),
    )


def count_bytes(length: int, width: int, heads: int) -> dict[str, dict[str, int]]:
    """Count the bytes that only the relative term needs, part by part, for each way.

    direct: R, the embedding of every pair's distance, (L, L, D). skew: E_r, (L, D), and Q E_rᵀ,
    (heads, L, L), which becomes S_rel. ours: E_r, and Q E_rᵀ of the block of queries and the heads
    in progress.
    """
    together = max(1, min(heads, TOGETHER // (min(BLOCK, length) * length)))
    return {
        "direct": {"embeddings": BYTES * length * length * width},
        "skew": {"embeddings": BYTES * length * width, "product": BYTES * heads * length * length},
        "ours": {
            "embeddings": BYTES * length * width,
            "product": BYTES * together * min(BLOCK, length) * length,
        },
    }


def read_question(question: Question) -> dict[str, int]:
    """Return the chosen sizes; the paper's sizes in place of values that are not offered."""
    return {
        name: next((n for n in sizes if question.read_text(f"m{name}") == str(n)), PAPER[name])
        for name, sizes in SIZES.items()
    }


def format_size(count: float) -> str:
    """Return a size in three figures with powers of a thousand: 8589934592 -> "8.59 GB"."""
    unit = 0
    while count >= 999.5 and unit + 1 < len(UNITS):
        count, unit = count / 1000, unit + 1
    return (
        f"{count:.{0 if unit == 0 or count >= 99.95 else 2 if count < 9.995 else 1}f} {UNITS[unit]}"
    )


def draw_panel(sizes: Mapping[str, int], known: Measured | None) -> Value:
    """Draw the panel at some sizes: choices, the figure with its numbers, and the way back to the
    paper's sizes."""
    parts = count_bytes(**sizes)
    block = min(BLOCK, sizes["length"])
    some = parts["ours"]["product"] // (BYTES * block * sizes["length"])
    heads = sizes["heads"]
    formulas = {
        "direct": "4 · L² · D",
        "skew": f"4 · L · D + 4 · {heads} · L²",
        "ours": f"4 · L · D + 4 · {some} · {block} · L",
    }
    rows: list[list[Any]] = []
    for way in WAYS:
        alone, whole = parts[way]["embeddings"], sum(parts[way].values())
        told = [] if known is None else [round(known.peaks[way]), known.milliseconds[way]]
        rows.append(
            [
                NAMES[way],
                formulas[way],
                format_size(whole),
                format_size(alone / heads),
                whole,
                alone,
                *told,
            ]
        )
    sized = {
        "direct": format_size(parts["direct"]["embeddings"]),
        "table": format_size(parts["skew"]["embeddings"]),
    }
    says = fill_text(SAYS, length=f"{sizes['length']:,}", width=f"{sizes['width']:,}", **sized)
    peaks = (
        UNMEASURED
        if known is None
        else fill_text(STORED, machine=known.machine, **_list_sizes(known.peaks))
    )
    marks = [figure.Mark(COUNTED, "var(--cat-1)"), figure.Mark(WITH, "var(--cat-2)")]
    marks += [] if known is None else [figure.Mark(MEASURED, "var(--ink)")]
    words, heads_ = (
        (QUESTION, SCALE, join_parts([says, peaks], "", "")),
        (*COLUMNS, *([] if known is None else MORE)),
    )
    drawn = figure.describe_drawn_figure(
        "memory",
        lambda language: _draw_lines(parts, known, language),
        words,
        heads_,
        rows,
        marks,
        250,
    )
    choices = [
        figure.describe_choice(
            f"m{name}",
            LABELS[name],
            {str(n): _make_plain(f"{n:,}") for n in offered},
            str(PAPER[name]),
        )
        for name, offered in SIZES.items()
    ]
    columns = [dict(column) for column in (*COLUMNS[:4], *([] if known is None else PEAK))]
    seen = [
        [_make_plain(cell) if isinstance(cell, str) else dict(cell) for cell in row[:4]]
        + (
            []
            if known is None
            else [
                _make_plain(format_size(known.peaks[way])),
                dict(fill_text(TIME, n=f"{known.milliseconds[way]:,.0f}")),
            ]
        )
        for way, row in zip(WAYS, rows, strict=True)
    ]
    table = {
        "columns": columns,
        "rows": [
            {"cells": cells, "ours": way == "ours"} for way, cells in zip(WAYS, seen, strict=True)
        ],
    }
    back = {"label": dict(BACK), "set": {f"m{name}": None for name in SIZES}}
    return {"choices": choices, "button": back, "figures": [{"figure": drawn}], "table": table}


def _make_plain(text: str) -> dict[str, str]:
    return {"en": text, "zh": text}


def _list_sizes(counts: Mapping[str, float]) -> dict[str, str]:
    return {way: format_size(count) for way, count in counts.items()}


def _draw_lines(
    parts: Mapping[str, Mapping[str, int]], known: Measured | None, language: str
) -> dict[str, Any]:
    """Draw one line for each way on one scale of bytes: from nothing to its total, with the counted
    parts marked and named above it."""
    frame = {
        **theme.make_layout(),
        "showlegend": False,
        "margin": {"l": 18, "r": 30, "t": 4, "b": 30},
    }
    ticks = [10**power for power in range(4, 14)]
    names = [
        format_size(tick).replace(".00", "").replace(".0", "") if at % 2 == 0 else ""
        for at, tick in enumerate(ticks)
    ]
    ticked = {"tickvals": ticks, "ticktext": names, "tickangle": 0, "fixedrange": True}
    frame["xaxis"] = {**frame["xaxis"], **ticked, "type": "log", "range": [4, 13.1]}
    frame["yaxis"] = {**frame["yaxis"], "range": [2.4, -0.75], "visible": False, "fixedrange": True}
    where = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "middle", "showarrow": False}
    where |= {"font": {"size": 13, "color": "var(--ink)"}}
    frame["annotations"] = [
        {**where, "y": at - 0.55, "text": f"<b>{NAMES[way][language]}</b>"}
        for at, way in enumerate(WAYS)
    ]
    alone = [parts[way]["embeddings"] for way in WAYS]
    whole = [sum(parts[way].values()) for way in WAYS]
    line = {
        "type": "scatter",
        "mode": "lines",
        "line": {"color": "var(--control)", "width": 2},
        "hoverinfo": "skip",
    }
    data: list[dict[str, Any]] = [
        {**line, "x": [1e4, max(count, 1e4)], "y": [at, at]} for at, count in enumerate(whole)
    ]
    dots = [
        (WITH, whole, "var(--cat-2)", "circle-open", 1.25),
        (COUNTED, alone, "var(--cat-1)", "circle-open", 0),
    ]
    if known is not None:
        dots.append(
            (MEASURED, [round(known.peaks[way]) for way in WAYS], "var(--ink)", "diamond", 99)
        )
    for name, counts, colour, symbol, apart in dots:
        # The name of a dot stands above it, unless it would touch that of the embeddings.
        said = [
            format_size(count) if apart == 0 or (apart < 99 and count > 25 * own) else ""
            for count, own in zip(counts, alone, strict=True)
        ]
        marker = {
            "color": colour,
            "symbol": symbol,
            "size": 11,
            "line": {"width": 2.5, "color": colour},
        }
        told = {
            "customdata": [format_size(count) for count in counts],
            "hovertemplate": f"{name[language]}: %{{customdata}}<extra></extra>",
        }
        place = {
            "x": counts,
            "y": [0, 1, 2],
            "text": said,
            "textposition": "top center",
            "cliponaxis": False,
        }
        data.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": name[language],
                **place,
                "marker": marker,
                **told,
            }
        )
    return {"data": data, "layout": frame}


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "meter",
    TITLE,
    lambda _found, question: draw_panel(read_question(question), read_peaks()),
    asks=[f"m{name}" for name in SIZES],
    needs="request",
)
