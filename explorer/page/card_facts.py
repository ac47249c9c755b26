"""The content of every lab's card: facts from its model.json and the prose of its card.md. No
figure is written by hand here."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from explorer.components import figure
from explorer.components.card import TitleFigure
from explorer.contract import labels
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text, join_parts
from explorer.figures.curves import Curve
from explorer.page.curves import draw_curve_figure
from models.checkpoints import folders
from models.explaining.errors import reading_file

NAMED: Text = shared.NAME_AND_VALUE
READ: Text = {
    "en": (
        "Read in windows of {window} characters that overlap by half, the second half"
        " counting{others}."
    ),
    "zh": "以 {window} 个字符、重叠一半的窗口来读，只计后一半{others}。",
}
OTHERWISE: Mapping[str, Text] = {
    "cold": {"en": "; in windows one after another: {each}", "zh": "；窗口一个接一个时：{each}"},
    "memory": {
        "en": "; in one go, with all that is remembered: {each}",
        "zh": "；带着记忆一次读完时：{each}",
    },
}
ASSETS = folders.ASSETS
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
SEEDS = 3  # of each model, before an order of models is named
FEW: Text = {
    "en": "Fewer than three seeds of each here: differences may be chance.",
    "zh": "这里每个模型不足三个随机种子，差别可能出于偶然。",
}
NEAR: Text = {
    "en": "Seeds of different models overlap here: no order can be named.",
    "zh": "这里不同模型的种子结果有重叠，说不出先后。",
}


def read_json_file(path: Path, otherwise: Any) -> Any:
    """Return the content of a JSON file, or `otherwise` where there is no file. Raise DamagedFile
    where it cannot be read."""
    with reading_file(path):
        return json.loads(path.read_text("utf-8")) if path.exists() else otherwise


def read_benchmark(name: str) -> dict[str, Any]:
    """Return the measurements of `python -m benchmarks NAME --save`, {device, threads, figures};
    empty before they were saved."""
    found: dict[str, Any] = read_json_file(RESULTS / f"{name}.json", {})
    return found


def facts(slug: str, variant: str = "base") -> dict[str, Any]:
    """Return the model.json of a shipped model, empty where none is shipped."""
    found: dict[str, Any] = read_json_file(
        folders.find_lab_folder(slug, ASSETS) / variant / "model.json", {}
    )
    return found


def read_models(slug: str, variants: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the model.json of each shipped variant, by variant. Variants that are not shipped are
    missing."""
    return {variant: known for variant in variants if (known := facts(slug, variant))}


def select_measured(known: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the figures of the variants that were measured, by variant.

    known: as from `read_models`.
    """
    return {variant: one["figure"] for variant, one in known.items() if one.get("figure")}


def list_sizes(known: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """Return layers and heads of each network, by variant.

    known: as from `read_models`.
    """
    every = {variant: one["config"] for variant, one in known.items()}
    return {
        variant: (int(one.get("n_decoder") or one["n_layers"]), int(one["n_heads"]))
        for variant, one in every.items()
    }


def read_seed_runs(slug: str, variant: str) -> list[dict[str, Any]]:
    """Return the model.json of every shipped seed of a variant, first seed first, whatever its
    result."""
    found = [
        facts(slug, path.parent.name)
        for path in folders.find_lab_folder(slug, ASSETS).glob(f"{variant}*/model.json")
    ]
    return sorted(
        (one for one in found if one.get("variant") == variant), key=lambda one: int(one["seed"])
    )


def list_seed_figures(slug: str, variant: str) -> dict[int, float]:
    """Return the held-out figure of every shipped seed of a variant on the split of the first, by
    seed; empty before the first was measured."""
    found = {int(one["seed"]): one.get("figure") or {} for one in read_seed_runs(slug, variant)}
    split = found.get(1, {}).get("split")
    return {
        seed: float(one["value"])
        for seed, one in found.items()
        if split and one.get("split") == split
    }


def explain_missing_order(*models: Collection[float]) -> Text | None:
    """Return why no order of these models may be named, or None where it may.

    models: the figures of each one's seeds.
    """
    if any(len(one) < SEEDS for one in models):
        return FEW
    spans = sorted((min(one), max(one)) for one in models)
    return NEAR if any(below[1] >= above[0] for below, above in pairwise(spans)) else None


def explain_order_of(slug: str, variants: Iterable[str]) -> Text | None:
    """Return why the held-out figures of these variants name no order, or None where they do."""
    return explain_missing_order(
        *(list_seed_figures(slug, variant).values() for variant in variants)
    )


def read_training_log(slug: str, variant: str = "base") -> list[dict[str, float]]:
    """Return the training log of a shipped model, one entry per epoch; empty for none."""
    found: list[dict[str, float]] = read_json_file(
        folders.find_lab_folder(slug, ASSETS) / variant / "training.json", []
    )
    return found


def format_duration(seconds: float) -> Text:
    """Return a training time for readers: in minutes below two hours, else in hours."""
    minutes = round(seconds / 60)
    if minutes < 120:
        return {"en": f"{minutes} min", "zh": f"{minutes} 分钟"}
    return {"en": f"{seconds / 3600:.1f} h", "zh": f"{seconds / 3600:.1f} 小时"}


def describe_training_time(*known: Mapping[str, Any]) -> TitleFigure:
    """Return the training time of one model or several. The note says so where one of them was
    stopped early."""
    unfinished = not all(one["finished"] for one in known)
    seconds = sum(one["training_seconds"] for one in known)
    return TitleFigure(
        labels.CARD["trained"],
        format_duration(seconds),
        labels.CARD["unfinished"] if unfinished else "",
    )


def curves(
    slug: str,
    known: Mapping[str, Mapping[str, Any]],
    names: Mapping[str, Text],
    colours: Mapping[str, str],
    texts: Any,
    *,
    unequal: tuple[Text, Text] | None = None,
    one: Text = NAMED,
    per_step: Callable[[Mapping[str, Any]], float] = lambda known: float(known["recipe"]["batch"]),
    scale: float = 1,
    show: Callable[[float], str] = labels.format_two_digits,
    joint: tuple[str, str] = (", ", "，"),
) -> dict[str, object] | None:
    """Draw the held-out loss of models over training for the figure widget, or return None where no
    log is shipped. The first call is slow.

    known: the model.json of each shipped variant.
    names: the names of the variants.
    colours: the colours of the variants that are drawn, in their order.
    texts: those of the lab: CURVE_AXES, the titles of both axes; CURVE_UNITS; CURVE_SAYS, the
        sentence, with {figures} and {seen}.
    per_step(model.json): the amount on the first axis that one training step adds.
    scale: the factor of the loss in the log.
    show: prints the loss.
    one: the text of each figure, with {name} and {value}.
    unequal: both texts for models that have not seen equally much yet, each with {seen} too.
    joint: the text between figures.
    """
    logs = {
        variant: found
        for variant in colours
        if variant in known and (found := read_training_log(slug, variant))
    }
    if not logs:
        return None
    axes, says, drawn = texts.CURVE_AXES, texts.CURVE_SAYS, []
    for variant, found in logs.items():
        each = per_step(known[variant])
        x, y = [at["step"] * each for at in found], [at["validation"] * scale for at in found]
        drawn.append(Curve(names[variant], x, y, colours[variant], dots=len(found) < 3))
    # The values before the first evaluation on held-out data lie far above the rest and would
    # flatten it.
    span = (
        min(min(line.y) for line in drawn) - 0.05,
        max(line.y[len(line.y) // 5] for line in drawn) + 0.05,
    )
    seen = [f"{round(line.x[-1]):,}" for line in drawn]
    if unequal is not None and len(set(seen)) > 1:
        says, one = unequal
    last = [
        (line, line.y[-1], at)
        for line, at in zip(drawn, seen, strict=True)
        if math.isfinite(line.y[-1])
    ]
    ends = [fill_text(one, name=line.name, value=show(value), seen=at) for line, value, at in last]
    words = (
        labels.CARD["curve"],
        texts.CURVE_UNITS,
        fill_text(says, figures=join_parts(ends, *joint), seen=seen[0]),
    )
    rows = [
        (line.name, round(x, 2), round(y, 5))
        for line in drawn
        for x, y in zip(line.x, line.y, strict=True)
    ]
    return draw_curve_figure(
        f"{slug.replace('_', '-')}-training",
        drawn,
        axes,
        words,
        (labels.CARD["model"], *axes),
        rows,
        up=span,
    )


def draw_speed(
    name: str,
    result: str,
    ways: Mapping[str, tuple[Text, bool]],
    texts: Any,
    says: Callable[[Mapping[str, float]], Mapping[str, str]],
    height: int,
) -> dict[str, object] | None:
    """Draw how long several ways to the same result take, as a benchmark measured it; None before
    the measurement.

    result: its name.
    ways: by the benchmark's name, the name on the page and whether the way is ours.
    texts: those of the lab: WAY, SPEED, SPEED_AXIS, SPEED_UNITS and SPEED_SAYS, the sentence, which
        says(figures) fills in.
    name, height: as in `figure.describe_figure`.
    """
    found = read_benchmark(result)
    if not found:
        return None
    figures = found["figures"]
    from explorer.figures import speed as drawing

    drawn = [
        drawing.Way(name, float(figures[f"{key}_ms"]), ours) for key, (name, ours) in ways.items()
    ]
    units = fill_text(texts.SPEED_UNITS, machine=labels.name_machine(found))
    return figure.describe_drawn_figure(
        name,
        lambda language: drawing.draw_ways(
            drawn, axis=texts.SPEED_AXIS[language], language=language
        ),
        (texts.SPEED, units, fill_text(texts.SPEED_SAYS, **says(figures))),
        (texts.WAY, texts.SPEED_AXIS),
        [(way.name, round(way.milliseconds, 3)) for way in drawn],
        height=height,
    )


def describe_published(measured: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[Text, Text]:
    """Return the note beside a measured figure that names the published one, and the remark on its
    source and on how the two compare."""
    signature = measured.get("signature", "")
    why = {
        language: (
            f"{found['source']}: {found['metric']} {found['value']}. {found['why'][language]}"
            f" {signature}".rstrip()
        )
        for language in ("en", "zh")
    }
    value = found["value"]
    return (
        fill_text(
            labels.CARD["published"], value=f"{value:.1f}" if value >= 10 else f"{value:.2f}"
        ),
        why,
    )


def read(figures: Mapping[str, Mapping[str, Any]], names: Mapping[str, Text]) -> Text:
    """Return how books were read for figures of bits per character, by variant, and the figures of
    other ways of reading.

    names: the names of the variants.
    """
    others: Text = {"en": "", "zh": ""}
    for way, said in OTHERWISE.items():
        each = {
            variant: figure["by_reading"][way]
            for variant, figure in figures.items()
            if way in figure.get("by_reading", {})
        }
        listed = join_parts(
            [
                fill_text(NAMED, name=names[variant], value=f"{value:.2f}")
                for variant, value in each.items()
            ]
        )
        others = join_parts([others, fill_text(said, each=listed)], "", "") if each else others
    return fill_text(
        READ,
        window=f"{max((int(one.get('window', 0)) for one in figures.values()), default=0):,}",
        others=others,
    )


def pairs(
    known: Mapping[str, Mapping[str, Any]],
    data: TitleFigure,
    measured: Iterable[TitleFigure],
    each: str | Text = "",
) -> tuple[TitleFigure, ...]:
    """Return the four figures of the title row: size, data, measured figure, training time; none
    where no model is shipped.

    known: each model.json. The size is that of the first one.
    each: the note beside the size.
    """
    if not known:
        return ()
    size = TitleFigure(
        labels.CARD["parameters"], f"{next(iter(known.values()))['parameters'] / 1e6:.2f} M", each
    )
    return (size, data, *measured, describe_training_time(*known.values()))


def compare_with_published(
    known: Mapping[str, Mapping[str, Any]], metric: Text, value: Text, names: Mapping[str, Text]
) -> tuple[TitleFigure, ...]:
    """Return the held-out figure of the first model, with those of the others and the published one
    beside it; none before it was measured.

    known: each model.json.
    metric: the text with {split}.
    value: the text of one of the others, with {name} and {value}.
    names: the names of the models.
    """
    found = select_measured(known)
    if not found:
        return ()
    ours, *others = found
    notes = [
        fill_text(value, name=names[variant], value=f"{found[variant]['value']:.2f}")
        for variant in others
    ]
    printed, why = known[ours].get("published"), read(found, names)
    if printed:
        notes.append(fill_text(labels.CARD["published"], value=f"{printed['value']:.2f}"))
        why = {
            language: f"{why[language]} {printed['source']}. {printed['why'][language]}"
            for language in ("en", "zh")
        }
    note = join_parts(notes, " · ", " · ") if notes else ""
    return (
        TitleFigure(
            fill_text(metric, split=labels.name_split(found[ours]["split"])),
            f"{found[ours]['value']:.2f}",
            note,
            why,
        ),
    )


def prose(
    slug: str, known: Mapping[str, Any], name: str = "card.md", **more: Any
) -> dict[str, str]:
    """Return the model card in each language, its figures filled in from `known`, each shipped
    model.json by variant, and from `more`; empty where none is shipped. Minutes are those of all
    trainings, unless `more` gives others.

    card.md, or the file called `name`, holds one part for each language, under a heading "English"
    and a heading "中文". "{figure.value}" in it is that entry of `known`, or the remark that it is
    not measured yet.
    """
    path = folders.find_lab_folder(slug, ASSETS) / name
    if not path.exists():
        return {}
    seconds = sum(
        one.get("training_seconds", 0) for one in known.values() if isinstance(one, Mapping)
    )
    known = {"minutes": round(seconds / 60), **known, **more}
    with reading_file(path):
        parts = re.split(r"^# +(English|中文) *$", path.read_text("utf-8"), flags=re.MULTILINE)
    return {
        language: re.sub(
            r"\{([\w.]+)\}",
            lambda match, language=language: (
                _put_into_words(known, match[1], language) or labels.CARD["missing"][language]
            ),
            text,
        )
        for language, text in zip(
            ["zh" if heading == "中文" else "en" for heading in parts[1::2]],
            parts[2::2],
            strict=True,
        )
    }


def fill_card(
    slug: str, facts: Callable[[], Mapping[str, Mapping[str, object]]]
) -> Callable[[], dict[str, str]]:
    """Return a function that returns `prose` of card.md with these facts, each shipped model.json
    by variant."""
    return lambda: prose(slug, facts())


def _put_into_words(known: Mapping[str, Any], path: str, language: str) -> str | None:
    """Return an entry in a language, where it is a word of the project, not a name."""
    found = format_entry(known, path)
    words = {"split": labels.name_split, "training_device": labels.name_device}.get(
        path.rpartition(".")[2]
    )
    return words(found)[language] if words and found else found


def format_entry(known: Mapping[str, Any], path: str) -> str | None:
    """Return one entry of `known` for readers ("figure.value", "config.d_model"), or None where
    there is none."""
    found: Any = known
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    if found is None:
        return None
    if isinstance(found, int | float) and not isinstance(found, bool):
        return f"{found:,}".replace("-", "−")
    return str(found)
