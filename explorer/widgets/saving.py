"""The folded panel (folded.py) of the figure that tells what attention spans save against heads that all have the full span.

Its value, when shown: figure, from `value`. In the address: saving (open).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.figures import saving as figures
from explorer.figures.saving import Bar, Group, percent
from explorer.labels import Text, filled
from explorer.labels import text as _
from explorer.widgets import figure
from explorer.widgets.folded import Value

Array = NDArray[np.float32]

STRETCHED = 4096  # S of the networks that were measured


TITLE: Final = _("What does it save?", "省下了什么？")
QUESTION: Final = _("What do the spans save?", "跨度省下了什么？")
UNITS: Final = _("share of what heads that all have S = {span} need; ramps are counted", "占所有头都用 S = {span} 时的比例；斜坡也计算在内")
ALL: Final = _("All layers together", "所有层合计")
LAYERS: Final = _("Positions attended, by layer", "各层关注的位置数")
TIMED: Final = _("Measured, spans stretched to S = {span}", "实测，跨度按比例放大到 S = {span}")
ROWS: Final = {
    "text": _("positions, this text", "位置，本文"),
    "long": _("positions, endless text", "位置，无限长文本"),
    "flops": _("operations of attention", "注意力运算"),
    "whole": _("operations in all", "全部运算"),
    "cache": _("cache", "缓存"),
    "time": _("time to read", "读取时间"),
    "write": _("time to write", "写出时间"),
    "measured": _("cache", "缓存"),
}
LAYER: Final = _("layer {n}", "第 {n} 层")
OF: Final = _("{ours} of {full}", "{ours} / {full}")
FASTER: Final = _("{ratio} × faster", "快 {ratio} 倍")
SLOWER: Final = _("{ratio} × slower", "慢 {ratio} 倍")
SMALLER: Final = _("of the full span’s bytes", "占全跨度字节数")
SPANS: Final = _("spans", "跨度")
BYTES: Final = _("cache, bytes", "缓存，字节")
KINDS: Final = ("z + R", "S", "%")  # rows of the table: as they are, full, and one over the other
SAYS: Final = _(
    "In an endless text a character of {name} attends to {long} of {span} positions, the mean of the heads ({share}); attention takes "
    "{flops} of the operations, the whole network {whole}; {ours} of {full} must be remembered ({cache}).",
    "在无限长文本中，{name} 的一个字符平均每头关注 {span} 个位置中的 {long} 个（{share}）；注意力的运算为 {flops}，"
    "整个网络为 {whole}；需记住 {full} 中的 {ours}（{cache}）。",
)
SAYS_MEASURED: Final = _(
    " Measured at S = {span}: reading is {ratio} × as fast, and the cache holds {cache} of the bytes.",
    "实测（S = {span}）：读取速度为 {ratio} 倍，缓存只占 {cache} 的字节。",
)
TIMES: Final = _("{name}, S = {span}", "{name}，S = {span}")
COUNTED: Final = _("counted", "计算所得")
MEASURED: Final = _("measured", "实测")
FULL: Final = _("full span", "全跨度")


def value(
    *,
    name: Text,
    positions: Array,
    full_positions: float,
    long_positions: Array,
    full_long_positions: int,
    flops: float,
    full_flops: float,
    other_flops: float,
    cache_bytes: int,
    full_cache_bytes: int,
    measured: Mapping[str, float] | None = None,
) -> Value:
    """The figure. name: of the model.

    positions: (layer, head) mean number of positions that a character of this text attends to, ramps included; full_positions: with the
    full span. long_positions: (layer, head) the same in a text without end; full_long_positions: S. flops, full_flops: of attention, for a
    character of a text without end, all layers; other_flops: of all else. cache_bytes, full_cache_bytes: keys and values that must be
    remembered. measured: figures of a benchmark, None before it was measured: vs_fixed_ratio (how many times as fast the whole network
    reads), cache_vs_fixed_ratio (bytes over those of the full span) and, where it is there, write_vs_fixed_ratio; their S is STRETCHED.
    ValueError where the shapes differ, or a full amount is 0.
    """
    if positions.shape != long_positions.shape or positions.ndim != 2 or not positions.size:
        raise ValueError(f"positions {positions.shape} and long_positions {long_positions.shape}; (layer, head) each")
    fulls = {"positions": full_positions, "flops": full_flops, "cache_bytes": full_cache_bytes, "long_positions": full_long_positions}
    if none := [what for what, amount in fulls.items() if not amount > 0]:
        raise ValueError(f"the full span has no {', '.join(none)}")
    mean, far = float(positions.mean()), float(long_positions.mean())
    whole, full_whole = flops + other_flops, full_flops + other_flops
    counted = [
        ("text", mean, full_positions, _amount),
        ("long", far, full_long_positions, _amount),
        ("flops", flops, full_flops, _amount),
        ("whole", whole, full_whole, _amount),
        ("cache", cache_bytes, full_cache_bytes, _bytes),
    ]
    layers = [float(row) for row in long_positions.mean(1)]
    groups = [
        Group(ALL, [Bar(ROWS[key], filled(OF, ours=said(a), full=said(b)), a / b) for key, a, b, said in counted]),
        Group(
            LAYERS,
            [
                Bar(filled(LAYER, n=n), filled(OF, ours=_amount(row), full=_amount(full_long_positions)), row / full_long_positions)
                for n, row in enumerate(layers, 1)
            ],
        ),
    ]
    timed = _timed(measured)
    if timed:
        groups.append(Group(filled(TIMED, span=f"{STRETCHED:,}"), timed))
    told: list[tuple[Text, float | None, float | None, float]] = [
        *((BYTES if key == "cache" else ROWS[key], a, b, a / b) for key, a, b, _said in counted),
        *((filled(LAYER, n=n), row, full_long_positions, row / full_long_positions) for n, row in enumerate(layers, 1)),
        *((filled(TIMES, name=bar.name, span=f"{STRETCHED:,}"), None, None, bar.share) for bar in timed),
    ]
    rows: list[tuple[str | float | None, ...]] = [
        (KINDS[0], *(None if ours is None else round(ours, 2) for _name, ours, _full, _share in told)),
        (KINDS[1], *(None if full is None else round(full, 2) for _name, _ours, full, _share in told)),
        (KINDS[2], *(round(100 * share, 2) for _name, _ours, _full, share in told)),
    ]
    return figure.value(
        figures.bars(groups),
        title=QUESTION,
        units=filled(UNITS, span=f"{full_long_positions:,}"),
        sentence=_sentence(name, far, full_long_positions, flops / full_flops, whole / full_whole, cache_bytes, full_cache_bytes, measured),
        legend=[
            figure.Mark(COUNTED, figures.COUNTED),
            *([figure.Mark(MEASURED, figures.MEASURED)] if timed else []),
            figure.Mark(FULL, "var(--ink2)", dashed=True),
        ],
        table=figure.Table((SPANS, *(name_ for name_, _ours, _full, _share in told)), rows),
        height=figures.height(groups),
        name="saving",
    )


def _timed(measured: Mapping[str, float] | None) -> list[Bar]:
    """What was measured, as shares of what the full span takes."""
    found = []
    given = measured or {}
    for key, row in (("vs_fixed_ratio", "time"), ("write_vs_fixed_ratio", "write")):
        if key in given:
            ratio = given[key]
            said = filled(FASTER, ratio=f"{ratio:.2f}") if ratio >= 1 else filled(SLOWER, ratio=f"{1 / ratio:.2f}")
            found.append(Bar(ROWS[row], said, 1 / ratio, measured=True))
    if "cache_vs_fixed_ratio" in given:
        found.append(Bar(ROWS["measured"], SMALLER, given["cache_vs_fixed_ratio"], measured=True))
    return found


def _sentence(
    name: Text,
    far: float,
    span: int,
    flops: float,
    whole: float,
    cache: int,
    full_cache: int,
    measured: Mapping[str, float] | None,
) -> Text:
    said = {
        language: SAYS[language].format(
            name=name[language],
            long=_amount(far),
            span=f"{span:,}",
            share=percent(far / span),
            flops=percent(flops),
            whole=percent(whole),
            ours=_bytes(cache),
            full=_bytes(full_cache),
            cache=percent(cache / full_cache),
        )
        for language in ("en", "zh")
    }
    if measured and {"vs_fixed_ratio", "cache_vs_fixed_ratio"} <= measured.keys():
        more = filled(
            SAYS_MEASURED,
            span=f"{STRETCHED:,}",
            ratio=f"{measured['vs_fixed_ratio']:.2f}",
            cache=percent(measured["cache_vs_fixed_ratio"]),
        )
        return {language: said[language] + more[language] for language in said}
    return said


def _amount(number: float) -> str:
    """A number as it is read: "143", "4.33 M"."""
    for ten, sign in ((1e9, " G"), (1e6, " M")):
        if number >= ten:
            return f"{number / ten:.3g}{sign}"
    return f"{number:,.0f}" if number >= 100 or float(number).is_integer() else f"{number:.3g}"


def _bytes(number: float) -> str:
    """Bytes as they are read: "2.1 MB"."""
    for ten, sign in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= ten:
            return f"{number / ten:.3g} {sign}"
    return f"{number:.0f} B"


def saving(*, title: Text = TITLE) -> gr.HTML:
    """Place the panel, folded. title: its question, en and zh."""
    return figure.opened("saving", title)
