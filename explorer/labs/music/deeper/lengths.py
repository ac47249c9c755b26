"""The panel about length: what an event costs at each place of a window twice as long as any in training, relative against absolute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from explorer.figures.curves import Curve, Place, curves
from explorer.labels import filled, strung
from explorer.labels import text as _
from explorer.labs import about
from explorer.labs.music import texts
from explorer.views import View, unfolded
from explorer.widgets.figure import Mark, shown
from explorer.widgets.folded import Value
from models.music.records import MODELS, Explanation, Request

Facts = Mapping[str, Any]

SLUG = "music"
TIMES = 2  # windows so many times as long as those of training
FIGURE = f"figure_times_{TIMES}"
COLOURS: Final = ("var(--cat-1)", "var(--cat-2)", "var(--cat-3)")


TITLE: Final = _("What happens beyond the trained length?", "超过训练长度会怎样？")
QUESTION: Final = _("What does an event cost, far into a piece?", "在乐曲深处，一个事件的代价是多少？")
UNITS: Final = _("nats per event, held-out performances, windows of {n} events", "纳特/事件，留出的演奏，窗口 {n} 个事件")
AXES: Final = {"en": ("place in the window, events", "nats per event"), "zh": ("窗口中的位置（事件）", "纳特/事件")}
TRAINED: Final = _("trained so far", "训练到此为止")
COLUMNS: Final = (_("from event", "从第几个事件"), _("to", "到"))
SAYS: Final = _(
    "Trained on windows of {trained} events, read over {whole}. An event of the second half costs, against one of the first: {each}.",
    "用 {trained} 个事件的窗口训练，读 {whole} 个事件。后半段的事件与前半段相比，代价变化：{each}。",
)
EACH: Final = _("{name} {change} %", "{name} {change} %")


def known() -> dict[str, Facts]:
    """model.json of each model of piano that was measured at that length, by variant."""
    found = {variant: about.facts(SLUG, variant) for variant in MODELS["piano"]}
    return {variant: facts for variant, facts in found.items() if FIGURE in facts}


def value(measured: Mapping[str, Facts]) -> Value:
    """The figure. measured: model.json by variant."""
    trained = {int(facts["recipe"]["window"]) for facts in measured.values()}
    if len(trained) != 1:
        raise ValueError(f"models trained on windows of {sorted(trained)} events stand in no one figure")
    (window,) = trained
    whole = window * TIMES
    costs = {variant: facts[FIGURE]["by_position"] for variant, facts in measured.items()}
    (parts,) = {len(one) for one in costs.values()}
    places = [round((i + 0.5) * whole / parts) for i in range(parts)]
    lines = [
        Curve(texts.NAMES[variant], places, one, colour, dots=False) for colour, (variant, one) in zip(COLOURS, costs.items(), strict=False)
    ]
    each = [
        filled(EACH, name=texts.NAMES[variant], change=f"{100 * (facts[FIGURE]['ratio'] - 1):+.1f}".replace("-", "−"))
        for variant, facts in measured.items()
    ]
    edges = [round(i * whole / parts) for i in range(parts + 1)]
    rows = [(edges[i], edges[i + 1], *(line.y[i] for line in lines)) for i in range(parts)]
    says = filled(SAYS, trained=f"{window:,}", whole=f"{whole:,}", each=strung(each, "; ", "；"))
    words, columns = (QUESTION, filled(UNITS, n=f"{whole:,}"), says), (*COLUMNS, *(line.name for line in lines))
    return shown(
        "lengths",
        lambda language: curves(lines, AXES[language], language, mark=Place(window, whole, TRAINED)),
        words,
        columns,
        rows,
        [Mark(line.name, line.colour) for line in lines],
        height=300,
    )


PANEL: View[Request, Explanation] = unfolded("lengths", TITLE, lambda _found, _question: {"figure": value(known())}, needs="request")
