"""The facts beside the mechanism: figures from each model.json, the comparisons, the training
curves. Every number is read from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract import labels
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.figures import depth
from explorer.labs.universal_transformer import texts
from explorer.labs.universal_transformer.figures import lengths
from explorer.page import card_facts
from explorer.panels import computation_by_difficulty

Facts = dict[str, Any]

SLUG = "universal_transformer"
# endings of variant names: halts by itself, a fixed number of steps, a stack of layers
KINDS = ("", "_fixed", "_ordinary")
LETTERED = ("reverse", "addition", "copy")
TASKS = ("stories", *LETTERED)
COLOURS: Mapping[str, str] = {
    "": "var(--cat-1)",
    "_fixed": "var(--cat-3)",
    "_ordinary": "var(--cat-2)",
}
NETWORKS_IN_PRINT = {"": "universal", "_ordinary": "transformer"}


def list_runs(task: str, kind: str) -> list[Facts]:
    """Return the model.json of each seed's run of a task and kind."""
    return card_facts.read_seed_runs(SLUG, f"{task}{kind}")


def facts() -> dict[str, Facts]:
    """Return the model.json of each shipped variant's first seed, by variant."""
    return {
        f"{task}{kind}": known[0]
        for task in TASKS
        for kind in KINDS
        if (known := list_runs(task, kind))
    }


def read_every_network() -> list[Facts]:
    """Return the model.json of every shipped network."""
    return [one for task in TASKS for kind in KINDS for one in list_runs(task, kind)]


# ---- the card


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, held-out figures beside the published
    ones, training time of all networks."""
    known = facts()
    ours = {task: known[task] for task in TASKS if task in known}
    if not ours:
        return ()
    return (
        TitleFigure(
            labels.CARD["parameters"],
            f"{next(iter(ours.values()))['parameters'] / 1e6:.2f} M",
            texts.EACH,
        ),
        TitleFigure(labels.CARD["data"], texts.DATA),
        *_describe_figures(ours),
        card_facts.describe_training_time(*read_every_network()),
    )


def _describe_figures(ours: Mapping[str, Facts]) -> tuple[TitleFigure, ...]:
    measured = {task: one["figure"] for task, one in ours.items() if one.get("figure")}
    if not measured:
        return ()
    task = next(iter(measured))
    head = measured[task]
    label = (
        fill_text(texts.STORY_FIGURE, split=labels.name_split(head["split"]))
        if task == "stories"
        else texts.SHORT_NAMES[task]
    )
    others = [(name, one) for name, one in measured.items() if name != task]
    note: str | Text = ""
    if others:
        listed = [
            fill_text(card_facts.NAMED, name=texts.SHORT_NAMES[name], value=f"{one['value']:.2f}")
            for name, one in others
        ]
        note = fill_text(texts.OTHERS, figures=join_parts(listed, " · ", " · "))
    return (TitleFigure(label, f"{head['value']:.2f}", note, _explain_published(ours)),)


def _explain_published(ours: Mapping[str, Facts]) -> Text | None:
    """Return the remark on the published figures; None where no model names one."""
    found = {task: one["published"] for task, one in ours.items() if one.get("published")}
    tasks = [
        (texts.SHORT_NAMES[task], one["at_400"]) for task, one in found.items() if "at_400" in one
    ]
    if not tasks:
        return None
    one = next(iter(found.values()))
    said = [
        fill_text(
            texts.WHY_TASK,
            task=task,
            **{name: f"{shares[0]:.2f}" for name, shares in table.items()},
        )
        for task, table in tasks
    ]
    return fill_text(
        texts.WHY, source=one["source"], why=one["why"], tasks=join_parts(said, "; ", "；")
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where none is shipped. Entries are named by
    variant: {stories.figure.value}."""
    minutes = round(sum(one["training_seconds"] for one in read_every_network()) / 60)
    return card_facts.prose(SLUG, facts(), minutes=minutes, networks=len(read_every_network()))


# ---- hard inputs take longer


def draw_hardness(task: str, mine: tuple[float, float] | None = None) -> dict[str, object] | None:
    """Draw the mean ponder against the difficulty of a task's inputs, and the share of right
    answers; None before it was measured.

    mine: difficulty and N + R of the run in view.
    """
    ours = list_runs(task, "")
    measured = ours[0].get("figure") if ours else None
    if not measured:
        return None
    ponder = measured.get("ponder_by_facts") or measured.get("ponder_by_difficulty")
    if not ponder:
        return None
    found = computation_by_difficulty.read_levels(ponder, _read_accuracy(measured, task))
    names = list(ponder)
    rivals = [
        depth.Rival(texts.BRIEF[kind], [share.get(name) for name in names], COLOURS[kind])
        for kind in KINDS[1:]
        if (others := list_runs(task, kind))
        and (share := _read_accuracy(others[0].get("figure") or {}, task))
    ]
    drawn = computation_by_difficulty.draw_figure(
        found, texts.HARD[task], mine=mine, rivals=rivals, ours=texts.BRIEF[""]
    )
    printed = (ours[0].get("published") or {}).get("ponder")
    if drawn is None or not printed or task != "stories":
        return drawn
    everywhere = [one["mean"] for one in measured["ponder_of_all_positions_by_facts"].values()]
    figures, all_ = (" · ".join(f"{value:.3g}" for value in each) for each in (printed, everywhere))
    more = fill_text(texts.ON_BABI, figures=figures, all=all_)
    said = drawn["sentence"]
    assert isinstance(said, dict)
    return {
        **drawn,
        "sentence": {"en": f"{said['en']} {more['en']}", "zh": f"{said['zh']}{more['zh']}"},
    }


def _read_accuracy(measured: Mapping[str, Any], task: str) -> dict[str, float]:
    """Return the share of right answers by level of difficulty; empty where a task's levels were
    not counted."""
    if task == "stories":
        return dict(measured.get("accuracy_by_facts", {}))
    if task == "addition":  # accuracy is measured by length, while the levels are carries
        return {}
    return {size: float(one["sequences"]) for size, one in measured.get("by_length", {}).items()}


# ---- the comparisons


def draw_longer() -> dict[str, object] | None:
    """Draw answers at the lengths of training and at 40 characters, every seed of every network;
    None before anything was measured."""
    found = {
        task: {kind: [one for one in list_runs(task, kind) if one.get("figure")] for kind in KINDS}
        for task in LETTERED
    }
    found = {task: kinds for task, kinds in found.items() if any(kinds.values())}
    if not found:
        return None
    drawn = lengths.draw_lengths(
        [
            (texts.SHORT_NAMES[task], [*_list_runs(kinds), *_list_published(kinds)])
            for task, kinds in found.items()
        ],
        rows=(texts.CHARACTERS, texts.WHOLE),
        ticks=(texts.TRAINED_AT, {"en": "40", "zh": "40"}, {"en": "400", "zh": "400"}),
    )
    marks = [
        Mark(texts.NETWORKS[kind], COLOURS[kind])
        for kind in KINDS
        if any(kinds[kind] for kinds in found.values())
    ]
    marks.append(Mark(texts.PRINTED, "var(--ink3)", dashed=True))
    words = (texts.LENGTHS, texts.LENGTHS_UNITS, describe_longer(found))
    return describe_drawn_figure(
        "longer-than-trained", drawn, words, texts.COLUMNS, _list_rows(found), marks, 330
    )


def _list_runs(kinds: Mapping[str, Sequence[Facts]]) -> list[lengths.Run]:
    made = []
    for kind in reversed(KINDS):  # ours last, so that it lies on top
        for one in kinds[kind]:
            near, far = one["figure"], one.get("longer") or {}
            name = {
                language: f"{texts.BRIEF[kind][language]}, {one['seed']}"
                for language in ("en", "zh")
            }
            made.append(
                lengths.Run(
                    name,
                    COLOURS[kind],
                    (near["value"], far.get("value")),
                    (near.get("sequences"), far.get("sequences")),
                )
            )
    return made


def _list_published(kinds: Mapping[str, Sequence[Facts]]) -> list[lengths.Run]:
    table = (
        next(
            ((one.get("published") or {}).get("at_400") for ones in kinds.values() for one in ones),
            None,
        )
        or {}
    )
    return [
        lengths.Run(
            texts.BRIEF[kind],
            COLOURS[kind],
            (None, table[name][0]),
            (None, table[name][1]),
            printed=True,
        )
        for kind, name in NETWORKS_IN_PRINT.items()
        if name in table
    ]


def _list_rows(
    found: Mapping[str, Mapping[str, Sequence[Facts]]],
) -> list[tuple[str | float | None, ...]]:
    rows: list[tuple[str | float | None, ...]] = []
    for task, kinds in found.items():
        for kind in KINDS:
            for one in kinds[kind]:
                near, far = one["figure"], one.get("longer") or {}
                shares = (
                    near["value"],
                    near.get("sequences"),
                    far.get("value"),
                    far.get("sequences"),
                )
                rows.append(
                    (task, texts.BRIEF[kind]["en"], str(one["seed"]), *shares, near.get("ponder"))
                )
    return rows


def describe_longer(found: Mapping[str, Mapping[str, Sequence[Facts]]]) -> Text:
    """Describe the characters at length 40 in words, the mean over seeds of each network.

    The last sentence names the tasks in which ours leads, as in the publication: where its seeds
    lie clear of the others' and some network can do the task at all.
    """
    said: list[Text] = []
    leads: list[Text] = []
    undone: list[Text] = []
    for task, kinds in found.items():
        shares = {
            kind: [float(one["longer"]["value"]) for one in kinds[kind] if one.get("longer")]
            for kind in KINDS
        }
        means = {kind: sum(each) / len(each) for kind, each in shares.items() if each}
        if not means:
            continue
        parts = [
            fill_text(texts.SHARE, network=texts.BRIEF[kind], share=f"{share:.2f}")
            for kind, share in means.items()
        ]
        said.append(
            fill_text(texts.AT_TWICE, task=texts.SHORT_NAMES[task], shares=join_parts(parts))
        )
        if not any(
            one["longer"]["sequences"]
            for ones in kinds.values()
            for one in ones
            if one.get("longer")
        ):
            undone.append(texts.SHORT_NAMES[task])
        elif (
            not card_facts.explain_missing_order(shares[""], shares["_ordinary"])
            and means[""] > means["_ordinary"]
        ):
            leads.append(texts.SHORT_NAMES[task])
    orders = [
        fill_text(text, tasks=join_parts(tasks))
        for text, tasks in ((texts.LEADS, leads), (texts.UNDONE, undone))
        if tasks
    ]
    return join_parts(
        [fill_text(texts.SAYS, tasks=join_parts(said, "; ", "；")), texts.IN_PRINT, *orders],
        " ",
        "",
    )


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out errors over training of the networks that are compared on stories, or None
    where no log is shipped. The first call is slow."""
    names, colours = (
        {f"stories{kind}": texts.BRIEF[kind] for kind in KINDS},
        {f"stories{kind}": COLOURS[kind] for kind in KINDS},
    )
    how: Any = {"one": texts.CURVE_EACH, "show": lambda share: f"{100 * share:.1f} %"}
    return card_facts.curves(SLUG, facts(), names, colours, texts, **how)
