"""The facts beside the runs: stored comparisons at their own best rates, and the prices of mixed
precision and recomputation. Every number is read from a stored result."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract import labels
from explorer.contract.labels import Text, fill_text
from explorer.figures import theme
from explorer.labs.twins import texts
from explorer.page import card_facts
from models.twins import study_plan
from models.twins.data import HELD_OUT, draw_held_out
from models.twins.records import Shape

SLUG = "twins"
PRICES = card_facts.RESULTS / "training.json"
WAYS = ("plain", "bf16", "again", "both")
SIDES = {"before": "var(--cat-1)", "after": "var(--cat-2)"}


@cache
def load_studies() -> dict[str, Any]:
    """Load the stored studies. Raise DamagedFile where they cannot be read."""
    return study_plan.load_stored()


@cache
def find_shown_sequence(task: str, length: int) -> tuple[list[int], list[int]]:
    """Return the held-out sequence whose maps are drawn, and its answer."""
    given, answers = draw_held_out(Shape(length=length, task=task), HELD_OUT)
    return given[0].tolist(), answers[0].tolist()


def format_percent(value: float) -> str:
    """Return a share as percent, with one digit."""
    return f"{100 * value:.1f} %"


def facts() -> dict[str, Any]:
    """Return the stored results that the card names."""
    return {"studies": {"claimed": sum(bool(knob["sign"]) for knob in _knobs().values())}}


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row, none where no study is stored."""
    if not (card_facts.ASSETS / SLUG).exists():
        return ()
    claimed = sum(bool(knob["sign"]) for knob in _knobs().values())
    return (
        TitleFigure(labels.CARD["parameters"], "26 k", texts.SIZE_NOTE),
        TitleFigure(labels.CARD["data"], texts.DATA),
        TitleFigure(texts.CLAIMS, f"{claimed} / {len(_knobs())}", texts.CLAIMS_NOTE),
        TitleFigure(texts.LIVE, texts.LIVE_VALUE),
    )


def _knobs() -> Mapping[str, Any]:
    knobs: Mapping[str, Any] = load_studies()["knobs"]
    return knobs


def draw_knobs(*_run: Any) -> dict[str, object]:
    """Draw every comparison: five seeds before and after, each at its own best rate."""
    knobs = _knobs()
    names = list(knobs)

    def draw(language: str) -> dict[str, Any]:
        frame = theme.make_titled_layout((texts.KNOB_AXIS[language], ""))
        frame["margin"] = {"l": 8, "r": 108, "t": 8, "b": 44}
        rows = [
            f"{texts.KNOBS[name][language]}<br>{texts.METRICS[knobs[name]['metric']][language]}"
            for name in names
        ]
        frame["xaxis"] |= {**theme.STILL, "showgrid": True, "rangemode": "tozero"}
        frame["yaxis"] |= {
            **theme.STILL,
            "range": [len(names) - 0.5, -0.5],
            "tickvals": list(range(len(names))),
            "ticktext": rows,
        }
        data = [
            {
                "type": "scatter",
                "mode": "markers",
                "name": texts.KNOB_SIDES[side][language],
                "x": [value for name in names for value in knobs[name][side]["ends"]],
                "y": [
                    at + (-0.14 if side == "before" else 0.14)
                    for at, name in enumerate(names)
                    for _ in knobs[name][side]["ends"]
                ],
                "marker": {
                    "size": 9,
                    "opacity": 0.75,
                    "color": colour,
                    "symbol": "circle" if side == "before" else "diamond",
                },
                "hovertemplate": "%{x:.3f}<extra></extra>",
            }
            for side, colour in SIDES.items()
        ]
        frame["annotations"] = [
            {
                "xref": "paper",
                "x": 1,
                "y": at,
                "xanchor": "left",
                "xshift": 10,
                "showarrow": False,
                "text": _say_count(knobs[name])[language],
                "font": {"size": 12, "color": "var(--ink2)"},
            }
            for at, name in enumerate(names)
        ]
        return {"data": data, "layout": frame}

    claimed = [texts.KNOBS[name] for name in names if knobs[name]["sign"]]
    said = fill_text(
        texts.KNOBS_SAY,
        n=len(claimed),
        of=len(names),
        names=labels.join_parts(claimed, ", ", "、"),
    )
    rows = [
        (
            texts.KNOBS[name],
            texts.METRICS[knob["metric"]],
            round(sum(knob["before"]["ends"]) / 5, 4),
            round(sum(knob["after"]["ends"]) / 5, 4),
            float(f"{knob['before']['rate']:.2g}"),
            float(f"{knob['after']['rate']:.2g}"),
            max(knob["up"], knob["down"]),
            f"{knob['steps']} × {knob['layers']}, {knob['length']}",
        )
        for name, knob in knobs.items()
    ]
    return describe_drawn_figure(
        "twins-knobs",
        draw,
        (texts.KNOBS_TITLE, texts.KNOBS_UNITS, said),
        texts.KNOB_COLUMNS,
        rows,
        [Mark(texts.KNOB_SIDES[side], colour) for side, colour in SIDES.items()],
        height=46 * len(names) + 60,
    )


def _say_count(knob: Mapping[str, Any]) -> Text:
    count = max(knob["up"], knob["down"])
    return fill_text(texts.HOLDS if knob["sign"] else texts.OPEN, n=count)


def _round(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def draw_prices(*_run: Any) -> dict[str, object] | None:
    """Draw time and memory of a step with half precision and with recomputation."""
    stored = card_facts.read_json_file(PRICES, {})
    if not stored:
        return None
    figures = stored["figures"]
    units = {"ms": texts.TIME, "mb": texts.MEMORY}

    def draw(language: str) -> dict[str, Any]:
        frame = theme.make_titled_layout((units["ms"][language], ""))
        frame["margin"] = {"l": 8, "r": 40, "t": 8, "b": 44}
        names = [texts.WAYS[way][language] for way in WAYS]
        data = []
        for at, (unit, name) in enumerate(units.items()):
            values = [figures[f"large_{way}_{unit}"] for way in WAYS]
            nth = "" if at == 0 else "2"
            frame[f"xaxis{nth}"] = {
                **frame["xaxis"],
                **theme.STILL,
                "domain": [0, 0.44] if at == 0 else [0.56, 1],
                "anchor": f"y{nth}",
                "range": [0, 1.25 * max(values)],
                "title": {"text": name[language]},
                "nticks": 4,
            }
            frame[f"yaxis{nth}"] = {
                **frame["yaxis"],
                **theme.STILL,
                "anchor": f"x{nth}",
                "autorange": "reversed",
                "showticklabels": at == 0,
            }
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "x": values,
                    "y": names,
                    "text": [_round(value) for value in values],
                    "textposition": "outside",
                    "cliponaxis": False,
                    "width": 0.6,
                    "marker": {"color": f"var(--cat-{at + 1})"},
                    "xaxis": f"x{nth}",
                    "yaxis": f"y{nth}",
                    "hovertemplate": "%{x:.4~g}<extra></extra>",
                }
            )
        return {"data": data, "layout": frame}

    large = {f"{way}_{unit}": figures[f"large_{way}_{unit}"] for way in WAYS for unit in units}
    said = {name: _round(value) for name, value in large.items()}
    rows = [
        (
            texts.SIZES[size],
            texts.WAYS[way],
            *(round(figures[f"{size}_{way}_{unit}"], 3) for unit in units),
        )
        for size in texts.SIZES
        for way in WAYS
    ]
    return describe_drawn_figure(
        "twins-prices",
        draw,
        (texts.PRICES_TITLE, texts.PRICES_UNITS, fill_text(texts.PRICES_SAY, **said)),
        (texts.NETWORK, texts.WAY, units["ms"], units["mb"]),
        rows,
        height=210,
    )
