"""The facts beside the mechanism: figures from each model.json, stored measurements, training
curves. Every number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components import figure
from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.figures.curves import Curve, Place
from explorer.labs.gtrxl import texts
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from models.checkpoints import folders
from models.gtrxl.records import NETWORKS, WITH_HEADS

SLUG = "gtrxl"
COLOURS = dict(zip(NETWORKS, (f"var(--cat-{n})" for n in (1, 2, 3, 7)), strict=True))
SYMBOLS = dict(zip(NETWORKS, ("circle", "square", "diamond", "cross"), strict=True))
SHIFT = dict(zip(NETWORKS, (0.86, 0.95, 1.05, 1.16), strict=True))  # of points of one rate
LEARNED = 0.95  # of a segment's episodes, or of corridors
BORN = 0.119  # σ(−b_g): z of a gate before training


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped agent, by variant; variants that are not shipped are
    missing."""
    return card_facts.read_models(SLUG, NETWORKS)


def read_stored(name: str) -> Any:
    """Return a stored measurement, None where there is none."""
    return card_facts.read_json_file(folders.find_lab_folder(SLUG, card_facts.ASSETS) / name, None)


def list_sizes() -> dict[str, tuple[int, int]]:
    """Return layers and heads of each shipped agent that has heads."""
    known = facts()
    return card_facts.list_sizes({name: known[name] for name in WITH_HEADS if name in known})


def find_deciding_head(network: str) -> tuple[int, int] | None:
    """Return the head without which the agent is right least often, (layer, head) from 0; None
    where that was not measured."""
    agents = (read_stored("switches.json") or {}).get("agents", {})
    heads = agents.get(network, {}).get("heads")
    if not heads:
        return None
    count = list_sizes()[network][1]
    worst = min(range(len(heads)), key=lambda at: heads[at]["right"])
    return worst // count, worst % count


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, success, training time."""
    known = facts()
    figures = card_facts.select_measured(known)
    results: list[TitleFigure] = []
    if "gtrxl" in figures:
        ours = figures["gtrxl"]
        far, covered = ours["by_length"]["60"]["greedy"], ours["covered"]["greedy"]
        note = fill_text(texts.FIGURE_NOTE, far=f"{far:.2f}", covered=f"{covered:.2f}")
        named = fill_text(texts.FIGURE, split=labels.name_split(ours["split"]))
        results.append(TitleFigure(named, f"{ours['value']:.2f}", note, texts.UNPUBLISHED))
    return card_facts.pairs(
        known, TitleFigure(labels.CARD["data"], texts.DATA), results, texts.SIZE
    )


def curves() -> dict[str, object] | None:
    """Draw the success of the shipped agents while they trained; None where no log is shipped."""
    known, lines = facts(), []
    for name, run in known.items():
        if log := card_facts.read_training_log(SLUG, name):
            rate = f"{run['recipe']['rate']:g}"
            lines.append(
                Curve(
                    fill_text(texts.LEARNED_AT, name=texts.BRIEF[name], rate=rate),
                    [line["steps"] / 1000 for line in log],
                    [100 * line["right"] for line in log],
                    COLOURS[name],
                    dots=False,
                )
            )
    if not lines:
        return None
    ends = [fill_text(card_facts.NAMED, name=run.name, value=f"{run.y[-1]:.0f} %") for run in lines]
    return draw_curve_figure(
        "gtrxl-training",
        lines,
        texts.CURVE_AXES,
        (
            labels.CARD["curve"],
            texts.CURVE_UNITS,
            fill_text(texts.CURVE_SAYS, figures=join_parts(ends)),
        ),
        texts.CURVE_AXES[:1],
        up=(0, 104),
    )


def draw_cliff(network: str = "gtrxl", memory: int | None = None) -> dict[str, object] | None:
    """Draw success against the length of memory, of every agent; None before it was measured.

    network: the agent that the sentence speaks of. memory: k of the run in view.
    """
    stored = read_stored("switches.json")
    if stored is None:
        return None
    k, agents = stored["memories"], stored["agents"]
    lines = [
        Curve(texts.BRIEF[name], k, [run["right"] for run in results["memory"]], COLOURS[name])
        for name, results in agents.items()
    ]
    right = [run["right"] for run in agents[network]["memory"]]
    above = max(range(1, len(right)), key=lambda at: right[at] - right[at - 1])
    marked = memory is not None and memory <= k[-1]
    return draw_curve_figure(
        "gtrxl-memory",
        lines,
        texts.CLIFF_AXES,
        (
            texts.CLIFF,
            fill_text(texts.CLIFF_UNITS, n=stored["n"], length=stored["length"]),
            fill_text(
                texts.CLIFF_SAYS,
                name=texts.BRIEF[network],
                below=k[above - 1],
                low=f"{right[above - 1]:.2f}",
                above=k[above],
                high=f"{right[above]:.2f}",
            ),
        ),
        texts.CLIFF_AXES[:1],
        up=(-0.02, 1.05),
        ticks=k[::2],
        mark=Place(memory or 0, text=texts.YOURS, yours=True) if marked else None,
    )


# ---- four networks at three rates


def read_runs() -> list[dict[str, Any]]:
    """Return the runs of the comparison, in the order in which they were made."""
    results: list[dict[str, Any]] = read_stored("rates.json") or []
    return results


def find_first_good(run: Mapping[str, Any]) -> int | None:
    """Return the steps after which 95 % of a segment's episodes end right for the first time; None
    where they never do."""
    right = run["right"]
    at = next((i for i, share in enumerate(right) if share >= LEARNED), None)
    return None if at is None else round((at + 1) * run["steps"] / len(right))


def draw_rates() -> dict[str, object] | None:
    """Draw the success of every run after training, by learning rate; None where there is none."""
    runs = read_runs()
    if not runs:
        return None
    points, said = [], []
    rates = sorted({run["rate"] for run in runs})
    for name in NETWORKS:
        runs_of_kind = [run for run in runs if run["variant"] == name]
        for rate in rates:
            these = [run["sampled"] for run in runs_of_kind if run["rate"] == rate]
            good = sum(value >= LEARNED for value in these)
            if these:
                words = {"rate": f"{rate:g}", "good": good, "n": len(these)}
                said.append(fill_text(texts.RATE_ONE, name=texts.BRIEF[name], **words))
            # each a line of one point, so that no line joins different runs
            points += [
                Curve(
                    texts.BRIEF[name],
                    [rate * SHIFT[name]],
                    [value],
                    COLOURS[name],
                    dots=True,
                    symbol=SYMBOLS[name],
                )
                for value in these
            ]
    there = [name for name in NETWORKS if any(run["variant"] == name for run in runs)]
    units = {"n": 300, "runs": len(runs), "steps": f"{runs[0]['steps']:,}"}
    return draw_curve_figure(
        "gtrxl-rates",
        points,
        texts.RATES_AXES,
        (
            texts.RATES,
            fill_text(texts.RATES_UNITS, **units),
            fill_text(texts.RATES_SAYS, each=join_parts(said, "; ", "；")),
        ),
        (texts.NETWORK, *texts.RATES_AXES),
        [
            (texts.BRIEF[run["variant"]], run["rate"], run["sampled"])
            for run in sorted(runs, key=lambda run: (run["variant"], run["rate"], run["seed"]))
        ],
        legend=[figure.Mark(texts.BRIEF[name], COLOURS[name]) for name in there],
        ticks=rates,
        across="log",
        up=(-0.04, 1.06),
        height=300,
    )


def draw_rate(rate: float) -> dict[str, object] | None:
    """Draw the success of every run at a rate while it trained; None where there is none."""
    runs = [run for run in read_runs() if run["rate"] == rate]
    if not runs:
        return None
    lines = [
        Curve(
            texts.BRIEF[run["variant"]],
            [(i + 1) * run["steps"] / len(run["right"]) / 1000 for i in range(len(run["right"]))],
            run["right"],
            COLOURS[run["variant"]],
            dots=False,
        )
        for run in runs
    ]
    there = [name for name in NETWORKS if any(run["variant"] == name for run in runs)]
    said = [
        fill_text(
            card_facts.NAMED,
            name=texts.BRIEF[name],
            value=_list_first_good([run for run in runs if run["variant"] == name]),
        )
        for name in there
    ]
    return draw_curve_figure(
        f"gtrxl-rate-{rate:g}",
        lines,
        (texts.CURVE_AXES[0], texts.RATES_AXES[1]),
        (
            fill_text(texts.CURVES, rate=f"{rate:g}"),
            texts.CURVES_UNITS,
            fill_text(texts.CURVES_SAYS, each=join_parts(said, "; ", "；")),
        ),
        (texts.NETWORK, texts.CURVE_AXES[0], texts.RATES_AXES[1]),
        [
            (line.name, round(x, 1), y)
            for line in lines
            for x, y in zip(line.x, line.y, strict=True)
        ],
        legend=[figure.Mark(texts.BRIEF[name], COLOURS[name]) for name in there],
        up=(-0.02, 1.04),
        height=240,
    )


def _list_first_good(runs: Sequence[Mapping[str, Any]]) -> Text:
    """Return the steps to 95 % of some runs, in thousands."""
    results = [find_first_good(run) for run in runs]
    return join_parts(
        [
            texts.NEVER if run is None else {"en": f"{run / 1000:.0f}", "zh": f"{run / 1000:.0f}"}
            for run in results
        ],
        ", ",
        "、",
    )
