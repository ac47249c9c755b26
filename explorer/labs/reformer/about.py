"""The facts beside the mechanism: figures from each model.json, the table of rounds, the training
curves. Every number is read from a file."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from explorer.components.card import TitleFigure
from explorer.components.figure import Mark, describe_drawn_figure
from explorer.contract import labels
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.labs.reformer import texts
from explorer.labs.reformer.figures import spelling
from explorer.page import card_facts
from models.reformer.letters import LETTERS, WORD
from models.reformer.records import MODELS

Facts = Mapping[str, Any]

SLUG = "reformer"
COLUMNS = ("full", "8", "4", "2", "1")  # rounds of evaluation, as they are published
MANY, FEWEST = "8", "1"  # rounds at which the page compares the order of the models
SURPRISING = 0.5  # a share that exceeds the published one by so much needs an explanation
NEARLY = 5e-4  # shares that print alike do not make an order
COLOURS = {
    "lsh_4": "var(--cat-1)",
    "full": "var(--cat-2)",
    "lsh_2": "var(--cat-3)",
    "lsh_1": "var(--cat-4)",
    "text": "var(--cat-6)",
}


def facts() -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant's first seed, by variant; variants that are not
    shipped are missing."""
    return {
        variant: known
        for mode in MODELS
        for variant in MODELS[mode]
        if (known := card_facts.facts(SLUG, variant))
    }


def list_runs(variant: str) -> list[dict[str, Any]]:
    """Return the model.json of each seed's run of a variant."""
    return card_facts.read_seed_runs(SLUG, variant)


def list_sizes(mode: str) -> dict[str, tuple[int, int]]:
    """Return (layers, heads) of each shipped model of a mode."""
    return card_facts.list_sizes(card_facts.read_models(SLUG, MODELS[mode]))


def find_rounds(variant: str) -> int:
    """Return the rounds of hashing in a model's training, 0 where there was none."""
    return int(facts()[variant]["config"]["rounds"]) if variant in facts() else 0


# ---- the card


def pairs() -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, the held-out figure beside those of the
    other models and the published one, training time."""
    known = facts()
    if not known:
        return ()
    each = {variant: f"{one['parameters'] / 1e6:.2f} M" for variant, one in known.items()}
    first, *others = each
    notes = [texts.EACH] if any(one in MODELS["word"] for one in others) else []
    notes += [
        fill_text(texts.NAMED, name=texts.NAMES[one], value=each[one])
        for one in others
        if one in MODELS["text"]
    ]
    trained = [one for variant in known for one in list_runs(variant)]
    return (
        TitleFigure(
            labels.CARD["parameters"], each[first], join_parts(notes, " · ", " · ") if notes else ""
        ),
        TitleFigure(labels.CARD["data"], texts.DATA),
        *_describe_figure(known),
        card_facts.describe_training_time(*trained),
    )


def _describe_figure(known: Mapping[str, Facts]) -> tuple[TitleFigure, ...]:
    measured = {variant: one["figure"] for variant, one in known.items() if one.get("figure")}
    if not measured:
        return ()
    ours, *others = measured
    head = measured[ours]
    notes: list[Text] = []
    why = None
    published = known[ours].get("published")
    if published:
        notes.append(fill_text(labels.CARD["published"], value=f"{published['value']:.3f}"))
        why = {
            language: f"{published['source']}. {published['why'][language]}"
            for language in ("en", "zh")
        }
    notes += [_describe_own_rounds(one, known[one]) for one in others if one != "text"]
    note = join_parts(notes, " · ", " · ") if notes else ""
    label = fill_text(
        texts.METRIC, rounds=head.get("rounds", "–"), split=labels.name_split(head["split"])
    )
    return (TitleFigure(label, f"{head['value']:.4f}", note, why),)


def _describe_own_rounds(variant: str, known: Facts) -> Text:
    """Return a model's figure, and beside it the one with as many rounds as in its training, where
    it hashed."""
    name, figure, own = texts.NAMES[variant], known["figure"], int(known["config"]["rounds"])
    if not own:
        return fill_text(texts.NAMED, name=name, value=f"{figure['value']:.3f}")
    return fill_text(
        texts.OWN_ROUNDS,
        name=name,
        value=f"{figure['value']:.3f}",
        n=own,
        own=f"{figure['by_rounds'][str(own)]:.3f}",
    )


def prose() -> dict[str, str]:
    """Return the model card in each language; empty where no model is shipped. Entries are named by
    variant: {lsh_4.figure.value}."""
    known = facts()
    everything = [one for variant in known for one in list_runs(variant)]
    minutes = round(sum(one["training_seconds"] for one in everything) / 60)
    return card_facts.prose(
        SLUG, known, minutes=minutes, networks=len(everything), seeds=len(list_runs("lsh_4"))
    )


# ---- rounds of training and of evaluation


def draw_table(ran: Mapping[str, str] = MappingProxyType({})) -> dict[str, object] | None:
    """Draw accuracy by rounds of training and of evaluation, measured and published, with every
    seed of the first model; None before anything was measured. ran: the rounds of each model's run
    in view, as COLUMNS names them."""
    known = {variant: one for variant, one in facts().items() if variant in MODELS["word"]}
    rows = [
        spelling.Row(variant, texts.NAMES[variant], _format_measured(one), _format_published(one))
        for variant, one in known.items()
    ]
    if not any(value is not None for row in rows for value in row.ours):
        return None
    first = next(iter(known.values()))
    why = fill_text(
        texts.TABLE_WHY,
        letters=WORD,
        kinds=len(LETTERS),
        steps=f"{first.get('steps', 0):,}",
        why=(first.get("published") or {}).get("why", {"en": "", "zh": ""}),
    )
    columns = [
        texts.WHOLE,
        *(
            texts.ONE_ROUND if name == "1" else fill_text(texts.N_ROUNDS, n=name)
            for name in COLUMNS[1:]
        ),
    ]
    heads = [
        {"en": f"{kind['en']}, {name['en']}", "zh": f"{kind['zh']}，{name['zh']}"}
        for kind in texts.SOURCES
        for name in columns
    ]
    seeds = [
        (
            (
                f"{rows[0].name['en']}, seed"
                f" {one['seed']}{'' if one['finished'] else ', stopped early'}"
            ),
            *_format_measured(one),
            *[None] * len(columns),
        )
        for one in list_runs(rows[0].key)
    ]
    drawn = {
        language: spelling.draw_rounds(
            [name[language] for name in columns],
            rows,
            axes,
            language,
            {
                key: columns[COLUMNS.index(name)][language]
                for key, name in ran.items()
                if name in COLUMNS
            },
        )
        for language, axes in texts.TABLE_AXES.items()
    }
    words, note = (
        (texts.TABLE, texts.TABLE_UNITS, join_parts(describe_order(rows), " ", "")),
        join_parts([*describe_many_rounds(rows), *_explain_full_attention(known), why], " ", ""),
    )
    cells = [*((row.name, *row.ours, *row.printed) for row in rows), *seeds]
    marks = (Mark(texts.IN_VIEW, "var(--query)"),) if ran else ()
    return describe_drawn_figure(
        "rounds", drawn, words, (texts.MODEL, *heads), cells, marks, 66 + 44 * len(rows), note
    )


def _explain_full_attention(known: Mapping[str, Facts]) -> list[Text]:
    """Explain why full attention does not break the first model that learned by hashing; nothing
    before that was measured."""
    for variant, one in known.items():
        if found := (one.get("figure") or {}).get("unhashed"):
            shares = {name: f"{100 * found[name]:.0f}" for name in ("met", "elsewhere")}
            return [
                fill_text(
                    texts.UNBROKEN,
                    name=texts.NAMES[variant],
                    right=f"{found['right_key']:.2f}",
                    **shares,
                )
            ]
    return []


def _format_measured(one: Facts) -> list[float | None]:
    found = (one.get("figure") or {}).get("by_rounds", {})
    return [found.get(column) for column in COLUMNS]


def _format_published(one: Facts) -> list[float | None]:
    found = (one.get("published") or {}).get("by_rounds", {})
    return [found.get(column) for column in COLUMNS]


def describe_order(rows: Sequence[spelling.Row]) -> list[Text]:
    """Describe the order of the models with one round, here and as published; and whether more
    rounds ever did harm."""
    doubt = card_facts.explain_order_of(SLUG, (row.key for row in rows))
    said = _describe_comparison(rows, FEWEST, doubt)
    worse = [row.name for row in rows if row.key != "full" and _is_ever_worse(row)]
    harm = fill_text(texts.LESS, names=join_parts(worse, ", ", "、")) if worse else texts.MORE
    return [*said, *([doubt] if doubt and said else []), harm]


def _describe_comparison(
    rows: Sequence[spelling.Row], column: str, doubt: Text | None
) -> list[Text]:
    """Describe how they compare with the rounds of `column` and, without a doubt, whether the order
    is the published one."""
    at = COLUMNS.index(column)
    told = [
        (row, ours, printed)
        for row in rows
        if (ours := row.ours[at]) is not None and (printed := row.printed[at]) is not None
    ]
    if len(told) < 2:
        return []
    with_ = texts.WITH_ONE if column == FEWEST else fill_text(texts.WITH, n=column)
    measured = {row.key: value for row, value, _ in told}
    published = {row.key: value for row, _, value in told}
    name = {row.key: row.name for row, _, _ in told}
    said = fill_text(
        texts.ORDER,
        rounds=with_,
        ours=_rank_models(measured, name),
        printed=_rank_models(published, name),
    )
    return [
        said,
        *(
            []
            if doubt
            else [texts.SAME_ORDER if _orders_agree(measured, published) else texts.OTHER_ORDER]
        ),
    ]


def describe_many_rounds(rows: Sequence[spelling.Row]) -> list[Text]:
    """Describe the order of the models with many rounds; and without hashing, where that is far
    from the published one."""
    said = _describe_comparison(
        rows, MANY, card_facts.explain_order_of(SLUG, (row.key for row in rows))
    )
    full = [
        (ours, printed)
        for row in rows
        if row.key != "full"
        and (ours := row.ours[0]) is not None
        and (printed := row.printed[0]) is not None
    ]
    if full and min(ours for ours, _ in full) - max(printed for _, printed in full) > SURPRISING:
        low, high = min(ours for ours, _ in full), max(printed for _, printed in full)
        said.append(fill_text(texts.UNHASHED, ours=f"{low:.3f}", printed=f"{high:.3f}"))
    return said


def _rank_models(values: Mapping[str, float], name: Mapping[str, Text]) -> Text:
    """Return the names, the best first; models that print alike are equal."""
    ranked = sorted(values, key=lambda key: -values[key])
    made = {"en": "", "zh": ""}
    for i, key in enumerate(ranked):
        sign = "" if not i else " = " if values[ranked[i - 1]] - values[key] < NEARLY else " > "
        made = {
            language: f"{made[language]}{sign}{name[key][language]} {values[key]:.3f}"
            for language in made
        }
    return made


def _orders_agree(ours: Mapping[str, float], printed: Mapping[str, float]) -> bool:
    """Return whether no pair stands in opposite order. A tie on one side contradicts nothing."""
    return all(
        not (
            (ours[a] - ours[b] > NEARLY and printed[b] - printed[a] > NEARLY)
            or (ours[b] - ours[a] > NEARLY and printed[a] - printed[b] > NEARLY)
        )
        for a, b in itertools.combinations(ours, 2)
    )


def _is_ever_worse(row: spelling.Row) -> bool:
    """Return whether a model is anywhere worse with more rounds of evaluation."""
    hashed = [
        value
        for column, value in zip(COLUMNS, row.ours, strict=True)
        if column != "full" and value is not None
    ]
    return any(more < fewer - NEARLY for more, fewer in itertools.pairwise(hashed))


# ---- training


def curves() -> dict[str, object] | None:
    """Draw the held-out errors over training of the models of words, or None where no log is
    shipped. The first call is slow."""
    how: Any = {"per_step": lambda _known: 1, "show": lambda share: f"{100 * share:.2f} %"}
    return card_facts.curves(
        SLUG,
        facts(),
        texts.NAMES,
        {variant: COLOURS[variant] for variant in MODELS["word"]},
        texts,
        **how,
    )
