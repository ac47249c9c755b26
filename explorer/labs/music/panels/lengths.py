"""The panel about length: the cost of an event at each place of a window twice as long as any in
training, relative against absolute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from explorer.components.figure import Mark, describe_drawn_figure
from explorer.components.folded import Value
from explorer.contract import shared_texts as shared
from explorer.contract.labels import fill_text, join_parts
from explorer.contract.labels import text as _
from explorer.figures.curves import Curve, Place, draw_curves
from explorer.labs.music import texts
from explorer.page import card_facts
from explorer.page.views import View, view_in_folded_panel
from models.music.records import MODELS, Explanation, Request

Facts = Mapping[str, Any]

SLUG = "music"
TIMES = 2  # length of the windows as a multiple of that in training
FIGURE = f"figure_times_{TIMES}"
COLOURS: Final = ("var(--cat-1)", "var(--cat-2)", "var(--cat-3)")


TITLE: Final = _("What happens beyond the trained length?", "超过训练长度会怎样？")
QUESTION: Final = _(
    "What does an event cost, far into a piece?", "在乐曲深处，一个事件的代价是多少？"
)
UNITS: Final = _(
    "nats per event, held-out performances, windows of {n} events",
    "纳特/事件，留出的演奏，窗口 {n} 个事件",
)
AXES: Final = {
    "en": ("place in the window, events", "nats per event"),
    "zh": ("窗口中的位置（事件）", "纳特/事件"),
}
TRAINED: Final = _("trained so far", "训练到此为止")
COLUMNS: Final = (_("from event", "从第几个事件"), shared.UNTIL)
SAYS: Final = _(
    "Trained on windows of {trained} events, read over {whole}. An event of the second half costs,"
    " against one of the first: {each}.",
    "用 {trained} 个事件的窗口训练，读 {whole} 个事件。"
    "后半段的事件与前半段相比，代价变化：{each}。",
)
EACH: Final = _("{name} {change} %", "{name} {change} %")


def read_measured() -> dict[str, Facts]:
    """Load the model.json of each model of piano that was measured at that length, by variant."""
    found = {variant: card_facts.facts(SLUG, variant) for variant in MODELS["piano"]}
    return {variant: facts for variant, facts in found.items() if FIGURE in facts}


def draw_panel(measured: Mapping[str, Facts]) -> Value:
    """Draw the figure. measured: model.json by variant."""
    trained = {int(facts["recipe"]["window"]) for facts in measured.values()}
    if len(trained) != 1:
        raise ValueError(
            f"the models were trained on windows of {sorted(trained)} events; expected one length"
        )
    (window,) = trained
    whole = window * TIMES
    costs = {variant: facts[FIGURE]["by_position"] for variant, facts in measured.items()}
    (parts,) = {len(one) for one in costs.values()}
    places = [round((i + 0.5) * whole / parts) for i in range(parts)]
    lines = [
        Curve(texts.NAMES[variant], places, one, colour, dots=False)
        for colour, (variant, one) in zip(COLOURS, costs.items(), strict=False)
    ]
    each = [
        fill_text(
            EACH,
            name=texts.NAMES[variant],
            change=f"{100 * (facts[FIGURE]['ratio'] - 1):+.1f}".replace("-", "−"),
        )
        for variant, facts in measured.items()
    ]
    edges = [round(i * whole / parts) for i in range(parts + 1)]
    rows = [(edges[i], edges[i + 1], *(line.y[i] for line in lines)) for i in range(parts)]
    says = fill_text(
        SAYS, trained=f"{window:,}", whole=f"{whole:,}", each=join_parts(each, "; ", "；")
    )
    words, columns = (
        (QUESTION, fill_text(UNITS, n=f"{whole:,}"), says),
        (*COLUMNS, *(line.name for line in lines)),
    )
    return describe_drawn_figure(
        "lengths",
        lambda language: draw_curves(
            lines, AXES[language], language, mark=Place(window, whole, TRAINED)
        ),
        words,
        columns,
        rows,
        [Mark(line.name, line.colour) for line in lines],
        height=300,
    )


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "lengths",
    TITLE,
    lambda _found, _question: {"figure": draw_panel(read_measured())},
    needs="request",
    is_offered=lambda: bool(read_measured()),
)
