"""What stands beside the mechanism: figures from each model.json, the table of rounds, the training curves. Nothing is typed here."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from explorer import labels
from explorer.figures import spelling
from explorer.labels import Text, filled, strung
from explorer.labs import about
from explorer.labs.reformer import texts
from explorer.widgets.card import Pair
from explorer.widgets.figure import Mark, shown
from models.reformer.letters import LETTERS, WORD
from models.reformer.records import MODELS

Facts = Mapping[str, Any]

SLUG = "reformer"
COLUMNS = ("full", "8", "4", "2", "1")  # rounds of evaluation, as they are printed
MANY, FEWEST = "8", "1"  # those at which the order of the models is told
SURPRISING = 0.5  # a share that is so much larger than in print asks for a word
NEARLY = 5e-4  # shares that print alike do not make an order
COLOURS = {"lsh_4": "var(--cat-1)", "full": "var(--cat-2)", "lsh_2": "var(--cat-3)", "lsh_1": "var(--cat-4)", "text": "var(--cat-6)"}


def facts() -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says of its first seed, by variant; those that are not shipped are missing."""
    return {variant: known for mode in MODELS for variant in MODELS[mode] if (known := about.facts(SLUG, variant))}


def runs(variant: str) -> list[dict[str, Any]]:
    """As `about.runs`."""
    return about.runs(SLUG, variant)


def sizes(mode: str) -> dict[str, tuple[int, int]]:
    """(layers, heads) of each model of a mode that is shipped."""
    return about.sizes(about.models(SLUG, MODELS[mode]))


def rounds(variant: str) -> int:
    """Rounds of hashing in a model's training, 0 where there was none."""
    return int(facts()[variant]["config"]["rounds"]) if variant in facts() else 0


# ---- the card ----------------------------------------------------------------------------------------------------------------------


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, the held-out figure beside the other models' and the published one, training time."""
    known = facts()
    if not known:
        return ()
    each = {variant: f"{one['parameters'] / 1e6:.2f} M" for variant, one in known.items()}
    first, *others = each
    notes = [texts.EACH] if any(one in MODELS["word"] for one in others) else []
    notes += [filled(texts.NAMED, name=texts.NAMES[one], value=each[one]) for one in others if one in MODELS["text"]]
    trained = [one for variant in known for one in runs(variant)]
    return (
        Pair(labels.CARD["parameters"], each[first], strung(notes, " · ", " · ") if notes else ""),
        Pair(labels.CARD["data"], texts.DATA),
        *_held_out(known),
        about.trained(*trained),
    )


def _held_out(known: Mapping[str, Facts]) -> tuple[Pair, ...]:
    measured = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    if not measured:
        return ()
    ours, *others = measured
    head = measured[ours]
    notes: list[Text] = []
    why = None
    published = known[ours].get("published")
    if published:
        notes.append(filled(labels.CARD["published"], value=f"{published['value']:.3f}"))
        why = {language: f"{published['source']}. {published['why'][language]}" for language in ("en", "zh")}
    notes += [_with_own_rounds(one, known[one]) for one in others if one != "text"]
    note = strung(notes, " · ", " · ") if notes else ""
    label = filled(texts.METRIC, rounds=head.get("rounds", "–"), split=labels.split(head["split"]))
    return (Pair(label, f"{head['value']:.4f}", note, why),)


def _with_own_rounds(variant: str, known: Facts) -> Text:
    """A model's figure, and beside it the one with as many rounds as in its training, where it hashed."""
    name, figure, own = texts.NAMES[variant], known["figure"], int(known["config"]["rounds"])
    if not own:
        return filled(texts.NAMED, name=name, value=f"{figure['value']:.3f}")
    return filled(texts.OWN_ROUNDS, name=name, value=f"{figure['value']:.3f}", n=own, own=f"{figure['by_rounds'][str(own)]:.3f}")


def prose() -> dict[str, str]:
    """The model card in each language; empty where none is shipped. Entries are named by variant: {lsh_4.figure.value}."""
    known = facts()
    everything = [one for variant in known for one in runs(variant)]
    minutes = round(sum(one["training_seconds"] for one in everything) / 60)
    return about.prose(SLUG, known, minutes=minutes, networks=len(everything), seeds=len(runs("lsh_4")))


# ---- rounds of training and of evaluation ------------------------------------------------------------------------------------------


def table(ran: Mapping[str, str] = MappingProxyType({})) -> dict[str, object] | None:
    """Accuracy by rounds of training and of evaluation, measured and in print, with every seed of the first model; None before anything
    was measured. ran: the rounds of each model's run in view, as COLUMNS names them."""
    known = {variant: one for variant, one in facts().items() if variant in MODELS["word"]}
    rows = [spelling.Row(variant, texts.NAMES[variant], _measured(one), _printed(one)) for variant, one in known.items()]
    if not any(value is not None for row in rows for value in row.ours):
        return None
    first = next(iter(known.values()))
    why = filled(
        texts.TABLE_WHY,
        letters=WORD,
        kinds=len(LETTERS),
        steps=f"{first.get('steps', 0):,}",
        why=(first.get("published") or {}).get("why", {"en": "", "zh": ""}),
    )
    columns = [texts.WHOLE, *(texts.ONE_ROUND if name == "1" else filled(texts.N_ROUNDS, n=name) for name in COLUMNS[1:])]
    heads = [{"en": f"{kind['en']}, {name['en']}", "zh": f"{kind['zh']}，{name['zh']}"} for kind in texts.SOURCES for name in columns]
    seeds = [
        (f"{rows[0].name['en']}, seed {one['seed']}{'' if one['finished'] else ', stopped early'}", *_measured(one), *[None] * len(columns))
        for one in runs(rows[0].key)
    ]
    drawn = {
        language: spelling.rounds(
            [name[language] for name in columns],
            rows,
            axes,
            language,
            {key: columns[COLUMNS.index(name)][language] for key, name in ran.items() if name in COLUMNS},
        )
        for language, axes in texts.TABLE_AXES.items()
    }
    words, note = (texts.TABLE, texts.TABLE_UNITS, strung(order(rows), " ", "")), strung([*whole(rows), *_unbroken(known), why], " ", "")
    cells = [*((row.name, *row.ours, *row.printed) for row in rows), *seeds]
    marks = (Mark(texts.IN_VIEW, "var(--query)"),) if ran else ()
    return shown("rounds", drawn, words, (texts.MODEL, *heads), cells, marks, 66 + 44 * len(rows), note)


def _unbroken(known: Mapping[str, Facts]) -> list[Text]:
    """Why attention to everything does not break the first model that learned by hashing; nothing before that was measured."""
    for variant, one in known.items():
        if found := (one.get("figure") or {}).get("unhashed"):
            shares = {name: f"{100 * found[name]:.0f}" for name in ("met", "elsewhere")}
            return [filled(texts.UNBROKEN, name=texts.NAMES[variant], right=f"{found['right_key']:.2f}", **shares)]
    return []


def _measured(one: Facts) -> list[float | None]:
    found = (one.get("figure") or {}).get("by_rounds", {})
    return [found.get(column) for column in COLUMNS]


def _printed(one: Facts) -> list[float | None]:
    found = (one.get("published") or {}).get("by_rounds", {})
    return [found.get(column) for column in COLUMNS]


def order(rows: Sequence[spelling.Row]) -> list[Text]:
    """How the models come out with one round, here and in print; and whether more rounds ever did harm."""
    doubt = about.order_of(SLUG, (row.key for row in rows))
    said = _compared(rows, FEWEST, doubt)
    worse = [row.name for row in rows if row.key != "full" and _falls(row)]
    harm = filled(texts.LESS, names=strung(worse, ", ", "、")) if worse else texts.MORE
    return [*said, *([doubt] if doubt and said else []), harm]


def _compared(rows: Sequence[spelling.Row], column: str, doubt: Text | None) -> list[Text]:
    """How they come out with so many rounds; with a doubt, their order is not told."""
    at = COLUMNS.index(column)
    told = [(row, ours, printed) for row in rows if (ours := row.ours[at]) is not None and (printed := row.printed[at]) is not None]
    if len(told) < 2:
        return []
    with_ = texts.WITH_ONE if column == FEWEST else filled(texts.WITH, n=column)
    measured = {row.key: value for row, value, _ in told}
    published = {row.key: value for row, _, value in told}
    name = {row.key: row.name for row, _, _ in told}
    said = filled(texts.ORDER, rounds=with_, ours=_ranked(measured, name), printed=_ranked(published, name))
    return [said, *([] if doubt else [texts.SAME_ORDER if _agree(measured, published) else texts.OTHER_ORDER])]


def whole(rows: Sequence[spelling.Row]) -> list[Text]:
    """How the models come out with many rounds; and without hashing, where that is far from what is in print."""
    said = _compared(rows, MANY, about.order_of(SLUG, (row.key for row in rows)))
    full = [
        (ours, printed)
        for row in rows
        if row.key != "full" and (ours := row.ours[0]) is not None and (printed := row.printed[0]) is not None
    ]
    if full and min(ours for ours, _ in full) - max(printed for _, printed in full) > SURPRISING:
        low, high = min(ours for ours, _ in full), max(printed for _, printed in full)
        said.append(filled(texts.UNHASHED, ours=f"{low:.3f}", printed=f"{high:.3f}"))
    return said


def _ranked(values: Mapping[str, float], name: Mapping[str, Text]) -> Text:
    """The best first; those that print alike are equal."""
    ranked = sorted(values, key=lambda key: -values[key])
    made = {"en": "", "zh": ""}
    for i, key in enumerate(ranked):
        sign = "" if not i else " = " if values[ranked[i - 1]] - values[key] < NEARLY else " > "
        made = {language: f"{made[language]}{sign}{name[key][language]} {values[key]:.3f}" for language in made}
    return made


def _agree(ours: Mapping[str, float], printed: Mapping[str, float]) -> bool:
    """Does no pair stand the other way round? What is alike on one side contradicts nothing."""
    return all(
        not (
            (ours[a] - ours[b] > NEARLY and printed[b] - printed[a] > NEARLY)
            or (ours[b] - ours[a] > NEARLY and printed[a] - printed[b] > NEARLY)
        )
        for a, b in itertools.combinations(ours, 2)
    )


def _falls(row: spelling.Row) -> bool:
    """Is a model anywhere worse with more rounds of evaluation?"""
    hashed = [value for column, value in zip(COLUMNS, row.ours, strict=True) if column != "full" and value is not None]
    return any(more < fewer - NEARLY for more, fewer in itertools.pairwise(hashed))


# ---- training ----------------------------------------------------------------------------------------------------------------------


def curves() -> dict[str, object] | None:
    """Held-out errors over training of the models of words, or None where no log is shipped. Slow at first."""
    how: Any = {"per_step": lambda _known: 1, "show": lambda share: f"{100 * share:.2f} %"}
    return about.curves(SLUG, facts(), texts.NAMES, {variant: COLOURS[variant] for variant in MODELS["word"]}, texts, **how)
