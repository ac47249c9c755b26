"""The panel about layers that run backwards: forward and back on the run in view, and the
measurements of the memory it saves.

Kitaev et al., 2020, §3. It follows the model, the layer and the position in view; another model or
layer is requested from the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.components.figure import describe_drawn_figure
from explorer.components.folded import Value
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text
from explorer.contract.labels import text as _
from explorer.figures import memory, saving
from explorer.figures.curves import Curve
from explorer.figures.memory import format_bytes
from explorer.figures.saving import Bar, BarGroup
from explorer.figures.theme import format_number
from explorer.labs.reformer import texts, views
from explorer.labs.reformer.panels import asking
from explorer.page.card_facts import read_benchmark
from explorer.page.curves import draw_curve_figure
from explorer.values.packing import pack_array
from models.reformer.records import Backwards, Explanation, InChunks, Place

BACKWARDS = "models.reformer.asked:backwards"

Array = NDArray[np.floating]
Result = Mapping[str, Any] | None


TITLES: Final = {"title": _("What need not be kept? Reversible layers", "什么不必保留？可逆层")}
WAYS: Final = {
    "ordinary": _("ordinary residual layers", "普通残差层"),
    "checkpointed": _("inputs kept, inside recomputed", "保留各层输入，内部重算"),
    "reversible": shared.REVERSIBLE_LAYERS,
}
DEPTH: Final = _("What does a deeper network cost in training?", "更深的网络在训练中要多少内存？")
DEPTH_UNITS: Final = _(
    "peak of one pass forward and backward, MB; stored", "一次前向与反向的峰值，MB；已存储"
)
DEPTH_AXES: Final = {"en": ("layers", "MB"), "zh": ("层数", "MB")}
DEPTH_SAYS: Final = _(
    "From {few} to {many} layers, memory grows {ordinary} × for ordinary layers, {checkpointed} ×"
    " with recomputation, and {reversible} × for reversible ones ({a} → {b}). Stored, measured by"
    " python -m benchmarks reversible on {where}.",
    "从 {few} 层到 {many} 层，普通层的内存增至 {ordinary} 倍，重算时 {checkpointed} 倍，可逆层"
    " {reversible} 倍（{a} → {b}）。"
    "已存储，由 python -m benchmarks reversible 在 {where}上测得。",
)
PARTS: Final = _(
    "Does the feed-forward network need all positions at once?", "前馈网络需要同时处理所有位置吗？"
)
PARTS_UNITS: Final = _(
    "inner values stored at once, layer {n}; this run", "同时存在的内部数值，第 {n} 层；本次运行"
)
PARTS_GROUP: Final = _("In c parts, one after another", "分成 c 份，逐份计算")
PART: Final = _("c = {c}", "c = {c}")
PART_SAYS: Final = _("{ours} of {full}, off by {off}", "{ours} / {full}，相差 {off}")
PARTS_SAY: Final = _(
    "In {c} parts the inner values take {ours} instead of {full}, and the result differs by {off}"
    " at most.",
    "分成 {c} 份时，内部数值只占 {ours} 而不是 {full}，结果最多相差 {off}。",
)
CHUNKS: Final = _("parts", "份数")
BYTES: Final = _("inner values, bytes", "内部数值，字节")
OFF: Final = _("largest difference", "最大差")
SHARE: Final = _("share, %", "比例，%")
LAYERS: Final = shared.NUMBER_OF_LAYERS
MEGABYTES: Final = _("{name}, MB", "{name}，MB")
PEERS: Final = _("To be honest: what does hashing save?", "实话：哈希省下了什么？")
PEERS_UNITS: Final = _(
    "memory of one attention, forward, share of explicit; stored",
    "一次注意力前向的内存，占显式注意力的比例；已存储",
)
# the setting of benchmarks/lsh_attention.py
PEERS_GROUP: Final = _("8,192 positions, 8 heads, 4 rounds", "8,192 个位置，8 个头，4 轮")
MADE: Final = {
    "explicit": _("explicit, all scores at once", "显式，同时存放所有分数"),
    "reformer_pytorch": _("hashing, reformer-pytorch", "哈希，reformer-pytorch"),
    "transformers": _("hashing, transformers", "哈希，transformers"),
    "ours": _("hashing, ours", "哈希，本项目"),
    "dense": _("fused, no key missed", "融合，不漏任何键"),
}
PEERS_SAY: Final = _(
    "Fused attention over every key needs {dense}, less than any attention by hashing at this"
    " length (ours: {ours}); hashing saves memory only against explicit attention, {explicit}."
    " Stored, measured by python -m benchmarks lsh_attention on {where}.",
    "对所有键的融合注意力只需 {dense}，在此长度下少于任何哈希注意力（本项目：{ours}）；哈希节省"
    "的内存是相对显式注意力而言的，后者需要 {explicit}。已存储，由 python -m benchmarks"
    " lsh_attention 在 {where}上测得。",
)
PEERS_SAY_ELSE: Final = _(
    "Against explicit attention, {explicit}, hashing saves: ours needs {ours}. Fused attention over"
    " every key needs {dense}. Stored, measured by python -m benchmarks lsh_attention on {where}.",
    "与显式注意力的 {explicit} 相比，哈希省下了内存：本项目需要 {ours}。对所有键的融合注意力需要"
    " {dense}。已存储，"
    "由 python -m benchmarks lsh_attention 在 {where}上测得。",
)
WAY: Final = shared.ATTENTION
PEAK: Final = _("peak, bytes", "峰值，字节")
NO_DEPTH: Final = _(
    "Memory against depth appears here once python -m benchmarks reversible --save has measured"
    " it.",
    "运行 python -m benchmarks reversible --save 测量之后，这里会显示内存随深度的变化。",
)
NO_PEERS: Final = _(
    "What hashing saves against explicit and against fused attention appears here once python -m"
    " benchmarks lsh_attention --save has measured it.",
    "运行 python -m benchmarks lsh_attention --save 测量之后，这里会显示哈希相对显式注意力与融合"
    "注意力省下的内存。",
)


def draw_panel(explanation: Explanation, found: Backwards, place: Place) -> Value:
    """Draw the panel of a model."""
    read = asking.find_reading(explanation, place)
    told: dict[str, Any] = {
        "tokens": views.list_tokens(explanation),
        "hashed": bool(read.buckets.shape[2]),
        "layer": place.layer,
    }
    told |= {"reversible": read_benchmark("reversible"), "lsh": read_benchmark("lsh_attention")}
    return draw_boards(texts.NAMES[read.variant], parts=found.parts, **told, **vars(found.rewound))


def draw_boards(
    model: Text,
    *,
    parts: InChunks,
    layer: int,
    reversible: Result = None,
    lsh: Result = None,
    forward: Array,
    again: Array,
    **run: Any,
) -> Value:
    """Draw the panel of one model: the picture's own numbers, and below it figures, or notes in
    place of those not measured yet.

    forward, again: (layer, position) norm of the input of each layer, and of the input recovered
    from its output. parts: of the feed-forward network of `layer`, from 0. reversible, lsh: saved
    results of these two benchmarks; None before. run: single, double: (layer,) largest difference
    to the original input, in float32 and in float64; tokens: (position,) the text of each position;
    hashed: whether the model keeps buckets.
    """
    depth, peers = memory.read_depth(reversible), memory.read_attention(lsh)
    drawn = [
        _draw_parts(layer, parts),
        *([] if depth is None else [_draw_depth(depth)]),
        *([] if peers is None else [_draw_peers(peers)]),
    ]
    notes = [dict(note) for note, found in ((NO_DEPTH, depth), (NO_PEERS, peers)) if found is None]
    norms = {
        "forward": pack_array(np.asarray(forward, np.float32), unit=False),
        "again": pack_array(np.asarray(again, np.float32), unit=False),
    }
    lists = {name: list(map(float, run.pop(name))) for name in ("single", "double")}
    return {
        "model": dict(model),
        **run,
        **norms,
        **lists,
        "below": {"figures": [{"figure": one} for one in drawn], "notes": notes},
    }


def _draw_depth(found: memory.Depth) -> Value:
    growth = {way: f"{found.bytes_of(way)[-1] / found.bytes_of(way)[0]:.2f}" for way in memory.WAYS}
    a, b = (format_bytes(found.bytes_of("reversible")[i]) for i in (0, -1))
    says = fill_text(
        DEPTH_SAYS,
        where=found.machine,
        few=str(found.depths[0]),
        many=str(found.depths[-1]),
        a=a,
        b=b,
        **growth,
    )
    lines = []
    for way, symbol in zip(memory.WAYS, ("circle", "square", "diamond"), strict=True):
        end = format_bytes(found.bytes_of(way)[-1])
        mega = [size / 1e6 for size in found.bytes_of(way)]
        lines.append(
            Curve(
                WAYS[way],
                found.depths,
                mega,
                memory.COLOURS[way],
                end={"en": end, "zh": end},
                symbol=symbol,
            )
        )
    rows = [
        (count, *(round(line.y[at], 2) for line in lines)) for at, count in enumerate(found.depths)
    ]
    columns = (LAYERS, *(fill_text(MEGABYTES, name=name) for name in WAYS.values()))
    words = (DEPTH, DEPTH_UNITS, says)
    return draw_curve_figure(
        "memory-depth",
        lines,
        DEPTH_AXES,
        words,
        columns,
        rows,
        height=300,
        ticks=found.depths,
        up="zero",
        room=72,
    )


def _draw_parts(layer: int, parts: InChunks) -> Value:
    """Draw the feed-forward network in parts."""
    full, found = (
        max(parts.inner_bytes),
        list(zip(parts.chunks, parts.difference, parts.inner_bytes, strict=True)),
    )
    bars = [
        Bar(
            fill_text(PART, c=str(c)),
            fill_text(
                PART_SAYS, ours=format_bytes(size), full=format_bytes(full), off=format_number(off)
            ),
            size / full,
        )
        for c, off, size in found
    ]
    c, _, size = found[-1]
    says = fill_text(
        PARTS_SAY,
        c=str(c),
        ours=format_bytes(size),
        full=format_bytes(full),
        off=format_number(max(parts.difference)),
    )
    words = (PARTS, fill_text(PARTS_UNITS, n=str(layer + 1)), says)
    table = [(float(c), float(size), format_number(off)) for c, off, size in found]
    return _draw_bars(
        "feed-forward-parts", BarGroup(PARTS_GROUP, bars), words, (CHUNKS, BYTES, OFF), table
    )


def _draw_bars(
    name: str,
    group: BarGroup,
    words: tuple[Text, Text, Text],
    columns: Sequence[Text],
    rows: Sequence[Any],
) -> Value:
    """Draw bars with their title, units, columns and rows; see `describe_drawn_figure`."""
    return describe_drawn_figure(
        name,
        lambda language: saving.draw_bars([group])[language],
        words,
        columns,
        rows,
        height=saving.find_height([group]),
    )


def _draw_peers(found: memory.MeasuredMemory) -> Value:
    explicit = found.bytes["explicit"]
    rows = sorted(found.bytes.items(), key=lambda one: -one[1])
    bars = [
        Bar(MADE[way], _(format_bytes(size), format_bytes(size)), size / explicit, measured=True)
        for way, size in rows
    ]
    hashing = min(size for way, size in rows if way not in {"explicit", "dense"})
    text = PEERS_SAY if found.bytes["dense"] < hashing else PEERS_SAY_ELSE
    said = {way: format_bytes(found.bytes[way]) for way in ("explicit", "ours", "dense")}
    cells = [(way, size, round(100 * size / explicit, 2)) for way, size in rows]
    words = (PEERS, PEERS_UNITS, fill_text(text, where=found.machine, **said))
    return _draw_bars(
        "memory-attention", BarGroup(PEERS_GROUP, bars), words, (WAY, PEAK, SHARE), cells
    )


PANEL = asking.make_panel("rewind", TITLES, draw_panel, BACKWARDS)
