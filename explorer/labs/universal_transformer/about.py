"""What stands beside the mechanism: figures from each model.json, the comparisons, the training curves. Nothing is typed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer import labels
from explorer.figures import depth, lengths
from explorer.labels import Text, filled, strung
from explorer.labs import about, effort
from explorer.labs.universal_transformer import texts
from explorer.widgets.card import Pair
from explorer.widgets.figure import Mark, shown

Facts = dict[str, Any]

SLUG = "universal_transformer"
KINDS = ("", "_fixed", "_ordinary")  # what the name of a variant ends in: stops by itself, a fixed number of steps, a stack of layers
LETTERED = ("reverse", "addition", "copy")
TASKS = ("stories", *LETTERED)
COLOURS: Mapping[str, str] = {"": "var(--cat-1)", "_fixed": "var(--cat-3)", "_ordinary": "var(--cat-2)"}
NETWORKS_IN_PRINT = {"": "universal", "_ordinary": "transformer"}


def runs(task: str, kind: str) -> list[Facts]:
    """As `about.runs`."""
    return about.runs(SLUG, f"{task}{kind}")


def facts() -> dict[str, Facts]:
    """What each shipped variant's model.json says of its first seed, by variant."""
    return {f"{task}{kind}": known[0] for task in TASKS for kind in KINDS if (known := runs(task, kind))}


def every() -> list[Facts]:
    """What the model.json of every shipped network says."""
    return [one for task in TASKS for kind in KINDS for one in runs(task, kind)]


# ---- the card ----------------------------------------------------------------------------------------------------------------------


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, held-out figures beside what is in print, training time of all networks."""
    known = facts()
    ours = {task: known[task] for task in TASKS if task in known}
    if not ours:
        return ()
    return (
        Pair(labels.CARD["parameters"], f"{next(iter(ours.values()))['parameters'] / 1e6:.2f} M", texts.EACH),
        Pair(labels.CARD["data"], texts.DATA),
        *_measured(ours),
        about.trained(*every()),
    )


def _measured(ours: Mapping[str, Facts]) -> tuple[Pair, ...]:
    measured = {task: one["figure"] for task, one in ours.items() if one.get("figure")}
    if not measured:
        return ()
    task = next(iter(measured))
    head = measured[task]
    label = filled(texts.STORY_FIGURE, split=labels.split(head["split"])) if task == "stories" else texts.SHORT_NAMES[task]
    others = [(name, one) for name, one in measured.items() if name != task]
    note: str | Text = ""
    if others:
        listed = [filled(about.NAMED, name=texts.SHORT_NAMES[name], value=f"{one['value']:.2f}") for name, one in others]
        note = filled(texts.OTHERS, figures=strung(listed, " · ", " · "))
    return (Pair(label, f"{head['value']:.2f}", note, _why(ours)),)


def _why(ours: Mapping[str, Facts]) -> Text | None:
    """The remark on what is in print; None where no model knows of any."""
    found = {task: one["published"] for task, one in ours.items() if one.get("published")}
    tasks = [(texts.SHORT_NAMES[task], one["at_400"]) for task, one in found.items() if "at_400" in one]
    if not tasks:
        return None
    one = next(iter(found.values()))
    said = [filled(texts.WHY_TASK, task=task, **{name: f"{shares[0]:.2f}" for name, shares in table.items()}) for task, table in tasks]
    return filled(texts.WHY, source=one["source"], why=one["why"], tasks=strung(said, "; ", "；"))


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped. Entries are named by variant: {stories.figure.value}."""
    minutes = round(sum(one["training_seconds"] for one in every()) / 60)
    return about.prose(SLUG, facts(), minutes=minutes, networks=len(every()))


# ---- hard things take longer -------------------------------------------------------------------------------------------------------


def hardness(task: str, mine: tuple[float, float] | None = None) -> dict[str, object] | None:
    """Mean ponder against how hard an input of a task is, and who answers rightly; None before it was measured.

    mine: difficulty and N + R of the run in view.
    """
    ours = runs(task, "")
    measured = ours[0].get("figure") if ours else None
    if not measured:
        return None
    ponder = measured.get("ponder_by_facts") or measured.get("ponder_by_difficulty")
    if not ponder:
        return None
    found = effort.levels(ponder, _accuracy(measured, task))
    names = list(ponder)
    rivals = [
        depth.Rival(texts.BRIEF[kind], [share.get(name) for name in names], COLOURS[kind])
        for kind in KINDS[1:]
        if (others := runs(task, kind)) and (share := _accuracy(others[0].get("figure") or {}, task))
    ]
    drawn = effort.drawn(found, texts.HARD[task], mine=mine, rivals=rivals, ours=texts.BRIEF[""])
    printed = (ours[0].get("published") or {}).get("ponder")
    if drawn is None or not printed or task != "stories":
        return drawn
    everywhere = [one["mean"] for one in measured["ponder_of_all_positions_by_facts"].values()]
    figures, all_ = (" · ".join(f"{value:.3g}" for value in each) for each in (printed, everywhere))
    more = filled(texts.ON_BABI, figures=figures, all=all_)
    said = drawn["sentence"]
    assert isinstance(said, dict)
    return {**drawn, "sentence": {"en": f"{said['en']} {more['en']}", "zh": f"{said['zh']}{more['zh']}"}}


def _accuracy(measured: Mapping[str, Any], task: str) -> dict[str, float]:
    """The share of right answers by level of difficulty; empty where a task's levels were not counted."""
    if task == "stories":
        return dict(measured.get("accuracy_by_facts", {}))
    if task == "addition":  # measured by length, while the levels are carries
        return {}
    return {size: float(one["sequences"]) for size, one in measured.get("by_length", {}).items()}


# ---- what it is compared with ------------------------------------------------------------------------------------------------------


def longer() -> dict[str, object] | None:
    """Answers at the lengths of training and at 40 characters, every seed of every network; None before anything was measured."""
    found = {task: {kind: [one for one in runs(task, kind) if one.get("figure")] for kind in KINDS} for task in LETTERED}
    found = {task: kinds for task, kinds in found.items() if any(kinds.values())}
    if not found:
        return None
    drawn = lengths.lengths(
        [(texts.SHORT_NAMES[task], [*_runs(kinds), *_in_print(kinds)]) for task, kinds in found.items()],
        rows=(texts.CHARACTERS, texts.WHOLE),
        ticks=(texts.TRAINED_AT, {"en": "40", "zh": "40"}, {"en": "400", "zh": "400"}),
    )
    marks = [Mark(texts.NETWORKS[kind], COLOURS[kind]) for kind in KINDS if any(kinds[kind] for kinds in found.values())]
    marks.append(Mark(texts.PRINTED, "var(--ink3)", dashed=True))
    words = (texts.LENGTHS, texts.LENGTHS_UNITS, longer_sentence(found))
    return shown("longer-than-trained", drawn, words, texts.COLUMNS, _rows(found), marks, 330)


def _runs(kinds: Mapping[str, Sequence[Facts]]) -> list[lengths.Run]:
    made = []
    for kind in reversed(KINDS):  # ours last, so that it lies on top
        for one in kinds[kind]:
            near, far = one["figure"], one.get("longer") or {}
            name = {language: f"{texts.BRIEF[kind][language]}, {one['seed']}" for language in ("en", "zh")}
            made.append(lengths.Run(name, COLOURS[kind], (near["value"], far.get("value")), (near.get("sequences"), far.get("sequences"))))
    return made


def _in_print(kinds: Mapping[str, Sequence[Facts]]) -> list[lengths.Run]:
    table = next(((one.get("published") or {}).get("at_400") for ones in kinds.values() for one in ones), None) or {}
    return [
        lengths.Run(texts.BRIEF[kind], COLOURS[kind], (None, table[name][0]), (None, table[name][1]), printed=True)
        for kind, name in NETWORKS_IN_PRINT.items()
        if name in table
    ]


def _rows(found: Mapping[str, Mapping[str, Sequence[Facts]]]) -> list[tuple[str | float | None, ...]]:
    rows: list[tuple[str | float | None, ...]] = []
    for task, kinds in found.items():
        for kind in KINDS:
            for one in kinds[kind]:
                near, far = one["figure"], one.get("longer") or {}
                shares = (near["value"], near.get("sequences"), far.get("value"), far.get("sequences"))
                rows.append((task, texts.BRIEF[kind]["en"], str(one["seed"]), *shares, near.get("ponder")))
    return rows


def longer_sentence(found: Mapping[str, Mapping[str, Sequence[Facts]]]) -> Text:
    """Characters at length 40, the mean over seeds of each network, in words.

    And in which tasks ours leads, as it does in print: where its seeds lie clear of the others' and somebody can do the task at all.
    """
    said: list[Text] = []
    leads: list[Text] = []
    undone: list[Text] = []
    for task, kinds in found.items():
        shares = {kind: [float(one["longer"]["value"]) for one in kinds[kind] if one.get("longer")] for kind in KINDS}
        means = {kind: sum(each) / len(each) for kind, each in shares.items() if each}
        if not means:
            continue
        parts = [filled(texts.SHARE, network=texts.BRIEF[kind], share=f"{share:.2f}") for kind, share in means.items()]
        said.append(filled(texts.AT_TWICE, task=texts.SHORT_NAMES[task], shares=strung(parts)))
        if not any(one["longer"]["sequences"] for ones in kinds.values() for one in ones if one.get("longer")):
            undone.append(texts.SHORT_NAMES[task])
        elif not about.unproved(shares[""], shares["_ordinary"]) and means[""] > means["_ordinary"]:
            leads.append(texts.SHORT_NAMES[task])
    orders = [filled(text, tasks=strung(tasks)) for text, tasks in ((texts.LEADS, leads), (texts.UNDONE, undone)) if tasks]
    return strung([filled(texts.SAYS, tasks=strung(said, "; ", "；")), texts.IN_PRINT, *orders], " ", "")


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Held-out errors over training of the networks that are compared on stories, or None where no log is shipped. Slow at first."""
    names, colours = {f"stories{kind}": texts.BRIEF[kind] for kind in KINDS}, {f"stories{kind}": COLOURS[kind] for kind in KINDS}
    how: Any = {"one": texts.CURVE_EACH, "show": lambda share: f"{100 * share:.1f} %"}
    return about.curves(SLUG, facts(), names, colours, texts, **how)
