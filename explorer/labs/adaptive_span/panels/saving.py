"""The panel about the saving of spans: positions, operations and bytes of the run in view against
the full span, and the benchmark's measurements.

Its value, when open: figure, from `draw_saving`. In the address: saving (open).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.components.figure import Mark, describe_drawn_figure
from explorer.components.folded import Value
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.contract.labels import text as _
from explorer.figures import saving as figures
from explorer.figures.memory import format_bytes
from explorer.figures.saving import Bar, BarGroup, format_percent
from explorer.labs.adaptive_span import texts
from explorer.page import card_facts
from explorer.page.views import View, view_in_folded_panel
from models.adaptive_span.records import Explanation, Request, Saved

STRETCHED = 4096  # S of the measured networks


TITLE: Final = _("What does it save?", "省下了什么？")
QUESTION: Final = _("What do the spans save?", "跨度省下了什么？")
UNITS: Final = _(
    "share of what heads that all have S = {span} need; ramps are counted",
    "占所有头都用 S = {span} 时的比例；斜坡也计算在内",
)
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
LAYER: Final = shared.LAYER_NUMBER
OF: Final = _("{ours} of {full}", "{ours} / {full}")
FASTER: Final = _("{ratio} × faster", "快 {ratio} 倍")
SLOWER: Final = _("{ratio} × slower", "慢 {ratio} 倍")
SMALLER: Final = _("of the full span’s bytes", "占全跨度字节数")
SPANS: Final = shared.SPANS
BYTES: Final = _("cache, bytes", "缓存，字节")
KINDS: Final = ("z + R", "S", "%")  # rows of the table: as they are, full, and one over the other
SAYS: Final = _(
    "In an endless text a character of {name} attends to {long} of {span} positions, the mean of"
    " the heads ({share}); attention takes {flops} of the operations, the whole network {whole};"
    " {ours} of {full} must be remembered ({cache}).",
    "在无限长文本中，{name} 的一个字符平均每头关注 {span} 个位置中的 {long}"
    " 个（{share}）；注意力的运算为 {flops}，"
    "整个网络为 {whole}；需记住 {full} 中的 {ours}（{cache}）。",
)
SAYS_MEASURED: Final = _(
    " Measured at S = {span}: reading is {ratio} × as fast, and the cache holds {cache} of the"
    " bytes.",
    "实测（S = {span}）：读取速度为 {ratio} 倍，缓存只占 {cache} 的字节。",
)
TIMES: Final = _("{name}, S = {span}", "{name}，S = {span}")
COUNTED: Final = _("counted", "计算所得")
MEASURED: Final = shared.MEASURED
FULL: Final = shared.FULL_SPAN


def draw_saving(name: Text, saved: Saved, measured: Mapping[str, float] | None = None) -> Value:
    """Draw the saving.

    name: of the model. measured: figures of a benchmark, None before it was measured:
    vs_fixed_ratio (how many times as fast the whole network reads), cache_vs_fixed_ratio (bytes
    over those of the full span) and, where it is there, write_vs_fixed_ratio; their S is STRETCHED.
    Raise ValueError where the shapes differ, or a full amount is 0.
    """
    positions, long_positions, full = (
        saved.positions,
        saved.long_positions,
        saved.full_long_positions,
    )
    if positions.shape != long_positions.shape or positions.ndim != 2 or not positions.size:
        raise ValueError(
            f"positions {positions.shape} and long_positions {long_positions.shape};"
            " expected (layer, head) each"
        )
    fulls = ("positions", "flops", "cache_bytes", "long_positions")
    if none := [what for what in fulls if not getattr(saved, f"full_{what}") > 0]:
        raise ValueError(f"the full span has no {', '.join(none)}")
    mean, far = float(positions.mean()), float(long_positions.mean())
    counted = [
        ("text", mean, saved.full_positions, _format_amount),
        ("long", far, full, _format_amount),
        ("flops", saved.flops, saved.full_flops, _format_amount),
        (
            "whole",
            saved.flops + saved.other_flops,
            saved.full_flops + saved.other_flops,
            _format_amount,
        ),
        ("cache", saved.cache_bytes, saved.full_cache_bytes, format_bytes),
    ]
    layers = [(n, float(row)) for n, row in enumerate(long_positions.mean(1), 1)]
    groups = [
        BarGroup(
            ALL,
            [
                Bar(ROWS[key], fill_text(OF, ours=said(a), full=said(b)), a / b)
                for key, a, b, said in counted
            ],
        ),
        BarGroup(
            LAYERS,
            [
                Bar(
                    fill_text(LAYER, n=n),
                    fill_text(OF, ours=_format_amount(row), full=_format_amount(full)),
                    row / full,
                )
                for n, row in layers
            ],
        ),
    ]
    timed = _read_shares(measured)
    if timed:
        groups.append(BarGroup(fill_text(TIMED, span=f"{STRETCHED:,}"), timed))
    told: list[tuple[Text, float | None, float | None, float]] = [
        *((BYTES if key == "cache" else ROWS[key], a, b, a / b) for key, a, b, _said in counted),
        *((fill_text(LAYER, n=n), row, full, row / full) for n, row in layers),
        *(
            (fill_text(TIMES, name=bar.name, span=f"{STRETCHED:,}"), None, None, bar.share)
            for bar in timed
        ),
    ]
    rows: list[tuple[str | float | None, ...]] = [
        (
            KINDS[0],
            *(None if ours is None else round(ours, 2) for _name, ours, _full, _share in told),
        ),
        (
            KINDS[1],
            *(None if full is None else round(full, 2) for _name, _ours, full, _share in told),
        ),
        (KINDS[2], *(round(100 * share, 2) for _name, _ours, _full, share in told)),
    ]
    words = (
        QUESTION,
        fill_text(UNITS, span=f"{full:,}"),
        _describe_saving(name, {key: (a, b) for key, a, b, _said in counted}, measured),
    )
    marks = [
        Mark(COUNTED, figures.COUNTED),
        *([Mark(MEASURED, figures.MEASURED)] if timed else []),
        Mark(FULL, "var(--ink2)", dashed=True),
    ]
    columns = (SPANS, *(name_ for name_, _ours, _full, _share in told))
    return describe_drawn_figure(
        "saving",
        figures.draw_bars(groups).__getitem__,
        words,
        columns,
        rows,
        marks,
        figures.find_height(groups),
    )


def _read_shares(measured: Mapping[str, float] | None) -> list[Bar]:
    """Return the measurements as shares of the cost of the full span."""
    found = []
    given = measured or {}
    for key, row in (("vs_fixed_ratio", "time"), ("write_vs_fixed_ratio", "write")):
        if key in given:
            ratio = given[key]
            said = (
                fill_text(FASTER, ratio=f"{ratio:.2f}")
                if ratio >= 1
                else fill_text(SLOWER, ratio=f"{1 / ratio:.2f}")
            )
            found.append(Bar(ROWS[row], said, 1 / ratio, measured=True))
    if "cache_vs_fixed_ratio" in given:
        found.append(Bar(ROWS["measured"], SMALLER, given["cache_vs_fixed_ratio"], measured=True))
    return found


def _describe_saving(
    name: Text, counted: Mapping[str, tuple[float, float]], measured: Mapping[str, float] | None
) -> Text:
    """Describe the saving in words. counted: the amount of the model and that of the full span, by
    row."""
    (far, span), (cache, full_cache) = counted["long"], counted["cache"]
    shares = {key: format_percent(ours / full) for key, (ours, full) in counted.items()}
    bytes_ = {
        "ours": format_bytes(cache),
        "full": format_bytes(full_cache),
        "cache": shares["cache"],
    }
    said = fill_text(
        SAYS,
        name=name,
        long=_format_amount(far),
        span=f"{span:,}",
        share=shares["long"],
        flops=shares["flops"],
        whole=shares["whole"],
        **bytes_,
    )
    if measured and {"vs_fixed_ratio", "cache_vs_fixed_ratio"} <= measured.keys():
        ratio, kept = (
            f"{measured['vs_fixed_ratio']:.2f}",
            format_percent(measured["cache_vs_fixed_ratio"]),
        )
        return join_parts(
            [said, fill_text(SAYS_MEASURED, span=f"{STRETCHED:,}", ratio=ratio, cache=kept)], "", ""
        )
    return said


def _format_amount(number: float) -> str:
    """Return a number as people read it: "143", "4.33 M"."""
    for ten, sign in ((1e9, " G"), (1e6, " M")):
        if number >= ten:
            return f"{number / ten:.3g}{sign}"
    return f"{number:,.0f}" if number >= 100 or float(number).is_integer() else f"{number:.3g}"


def draw_run(explanation: Explanation) -> Value:
    """Draw the panel for a run. The measurements belong to the spans that the adaptive model
    learned."""
    own = explanation.variant == "adaptive" and not explanation.forced.any()
    return draw_saving(
        texts.NAMES[explanation.variant],
        explanation.saved,
        card_facts.read_benchmark("adaptive_span").get("figures") if own else None,
    )


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "saving", TITLE, lambda found, _question: {"figure": draw_run(found.run)}
)
