"""What stands on a lab's card, for every lab: facts from its model.json, the prose of its card.md. Nothing is typed here."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from explorer import labels
from explorer.figures.curves import Curve
from explorer.labels import Text, filled, strung
from explorer.labs.lined import lined
from explorer.widgets import figure
from explorer.widgets.card import Pair
from models import folders
from models.errors import reading

NAMED: Text = {"en": "{name} {value}", "zh": "{name} {value}"}
READ: Text = {
    "en": "Read in windows of {window} characters that overlap by half, the second half counting{others}.",
    "zh": "以 {window} 个字符、重叠一半的窗口来读，只计后一半{others}。",
}
OTHERWISE: Mapping[str, Text] = {
    "cold": {"en": "; in windows one after another: {each}", "zh": "；窗口一个接一个时：{each}"},
    "memory": {"en": "; in one go, with all that is remembered: {each}", "zh": "；带着记忆一次读完时：{each}"},
}
ASSETS = folders.ASSETS
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
SEEDS = 3  # of each model, before an order of models is named
FEW: Text = {
    "en": "Fewer than three seeds of each here: too few to name an order.",
    "zh": "这里每个模型不足三个随机种子，尚无先后可言。",
}
NEAR: Text = {
    "en": "Seeds of different models overlap here: no order can be named.",
    "zh": "这里不同模型的种子结果有重叠，说不出先后。",
}


def kept(path: Path, otherwise: Any) -> Any:
    """What a file of JSON holds; something else where there is none. DamagedFile where it cannot be read."""
    with reading(path):
        return json.loads(path.read_text("utf-8")) if path.exists() else otherwise


def benchmark(name: str) -> dict[str, Any]:
    """What `python -m benchmarks NAME --save` has measured, {device, threads, figures}; empty before it did."""
    found: dict[str, Any] = kept(RESULTS / f"{name}.json", {})
    return found


def facts(slug: str, variant: str = "base") -> dict[str, Any]:
    """What model.json says about a shipped model; empty where none is shipped."""
    found: dict[str, Any] = kept(folders.lab(slug, ASSETS) / variant / "model.json", {})
    return found


def models(slug: str, variants: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What each shipped variant's model.json says, by variant; those that are not shipped are missing."""
    return {variant: known for variant in variants if (known := facts(slug, variant))}


def measured(known: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The figures of those that were measured, by variant. known: as `models`."""
    return {variant: one["figure"] for variant, one in known.items() if one.get("figure")}


def sizes(known: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """Layers and heads of each network, by variant. known: as `models`."""
    every = {variant: one["config"] for variant, one in known.items()}
    return {variant: (int(one.get("n_decoder") or one["n_layers"]), int(one["n_heads"])) for variant, one in every.items()}


def runs(slug: str, variant: str) -> list[dict[str, Any]]:
    """What the model.json of every shipped seed of a variant says, first seed first, whatever it came to."""
    found = [facts(slug, path.parent.name) for path in folders.lab(slug, ASSETS).glob(f"{variant}*/model.json")]
    return sorted((one for one in found if one.get("variant") == variant), key=lambda one: int(one["seed"]))


def seeds(slug: str, variant: str) -> dict[int, float]:
    """The held-out figure of every shipped seed of a variant on the split of the first, by seed; empty before the first was measured."""
    found = {int(one["seed"]): one.get("figure") or {} for one in runs(slug, variant)}
    split = found.get(1, {}).get("split")
    return {seed: float(one["value"]) for seed, one in found.items() if split and one.get("split") == split}


def unproved(*models: Collection[float]) -> Text | None:
    """Why no order of these models may be named, or None where it may. models: the figures of each one's seeds."""
    if any(len(one) < SEEDS for one in models):
        return FEW
    spans = sorted((min(one), max(one)) for one in models)
    return NEAR if any(below[1] >= above[0] for below, above in pairwise(spans)) else None


def order_of(slug: str, variants: Iterable[str]) -> Text | None:
    """Why the held-out figures of these variants name no order; None where they do."""
    return unproved(*(seeds(slug, variant).values() for variant in variants))


def log(slug: str, variant: str = "base") -> list[dict[str, float]]:
    """The training log of a shipped model, one entry per epoch; empty where none is shipped."""
    found: list[dict[str, float]] = kept(folders.lab(slug, ASSETS) / variant / "training.json", [])
    return found


def duration(seconds: float) -> Text:
    """A time of training as one reads it: minutes below two hours, else hours."""
    minutes = round(seconds / 60)
    if minutes < 120:
        return {"en": f"{minutes} min", "zh": f"{minutes} 分钟"}
    return {"en": f"{seconds / 3600:.1f} h", "zh": f"{seconds / 3600:.1f} 小时"}


def trained(*known: Mapping[str, Any]) -> Pair:
    """How long the training of one model or several took; it says so where one of them was stopped early."""
    unfinished = not all(one["finished"] for one in known)
    seconds = sum(one["training_seconds"] for one in known)
    return Pair(labels.CARD["trained"], duration(seconds), labels.CARD["unfinished"] if unfinished else "")


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
    show: Callable[[float], str] = labels.two,
    joint: tuple[str, str] = (", ", "，"),
) -> dict[str, object] | None:
    """Held-out loss of models over training, as the figure widget draws it, or None where no log is shipped. Slow at first.

    known: what each shipped variant's model.json says. names: of the variants; colours: of those that are drawn, in their order. texts: of
    the lab: CURVE_AXES, what was seen and what is drawn; CURVE_UNITS; CURVE_SAYS, the sentence, with {figures} and {seen}. per_step(what
    model.json says): how much of the first axis a step of training sees. scale: what the loss in the log is multiplied by; show: how it
    is printed. one: each of its figures, with {name} and {value}; unequal: both, where the models have not seen as much yet, each with
    {seen} too. joint: what stands between figures.
    """
    logs = {variant: found for variant in colours if variant in known and (found := log(slug, variant))}
    if not logs:
        return None
    axes, says, drawn = texts.CURVE_AXES, texts.CURVE_SAYS, []
    for variant, found in logs.items():
        each = per_step(known[variant])
        x, y = [at["step"] * each for at in found], [at["validation"] * scale for at in found]
        drawn.append(Curve(names[variant], x, y, colours[variant], dots=len(found) < 3))
    # What comes before the first look at held-out data is far above the rest and would flatten it.
    span = min(min(line.y) for line in drawn) - 0.05, max(line.y[len(line.y) // 5] for line in drawn) + 0.05
    seen = [f"{round(line.x[-1]):,}" for line in drawn]
    if unequal is not None and len(set(seen)) > 1:
        says, one = unequal
    last = [(line, line.y[-1], at) for line, at in zip(drawn, seen, strict=True) if math.isfinite(line.y[-1])]
    ends = [filled(one, name=line.name, value=show(value), seen=at) for line, value, at in last]
    words = (labels.CARD["curve"], texts.CURVE_UNITS, filled(says, figures=strung(ends, *joint), seen=seen[0]))
    rows = [(line.name, round(x, 2), round(y, 5)) for line in drawn for x, y in zip(line.x, line.y, strict=True)]
    return lined(f"{slug.replace('_', '-')}-training", drawn, axes, words, (labels.CARD["model"], *axes), rows, up=span)


def speed(
    name: str,
    result: str,
    ways: Mapping[str, tuple[Text, bool]],
    texts: Any,
    says: Callable[[Mapping[str, float]], Mapping[str, str]],
    height: int,
) -> dict[str, object] | None:
    """How long ways to the same result take, as a benchmark measured it; None before.

    result: its name. ways: by the name that it gives each, what it is called here, and whether it is ours. texts: of the lab: WAY,
    SPEED, SPEED_AXIS, SPEED_UNITS and SPEED_SAYS, the sentence, with what says(figures) fills in. name, height: as of `figure.shown`.
    """
    found = benchmark(result)
    if not found:
        return None
    figures = found["figures"]
    from explorer.figures import speed as drawing

    drawn = [drawing.Way(name, float(figures[f"{key}_ms"]), ours) for key, (name, ours) in ways.items()]
    units = filled(texts.SPEED_UNITS, machine=labels.machine(found))
    return figure.shown(
        name,
        lambda language: drawing.ways(drawn, axis=texts.SPEED_AXIS[language], language=language),
        (texts.SPEED, units, filled(texts.SPEED_SAYS, **says(figures))),
        (texts.WAY, texts.SPEED_AXIS),
        [(way.name, round(way.milliseconds, 3)) for way in drawn],
        height=height,
    )


def published(measured: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[Text, Text]:
    """The note beside a measured figure that names the published one, and the remark of where it comes from and how they compare."""
    signature = measured.get("signature", "")
    why = {
        language: f"{found['source']}: {found['metric']} {found['value']}. {found['why'][language]} {signature}".rstrip()
        for language in ("en", "zh")
    }
    value = found["value"]
    return filled(labels.CARD["published"], value=f"{value:.1f}" if value >= 10 else f"{value:.2f}"), why


def read(figures: Mapping[str, Mapping[str, Any]], names: Mapping[str, Text]) -> Text:
    """How books were read for figures of bits per character, by variant, and what other ways of reading give. names: of the variants."""
    others: Text = {"en": "", "zh": ""}
    for way, said in OTHERWISE.items():
        each = {variant: figure["by_reading"][way] for variant, figure in figures.items() if way in figure.get("by_reading", {})}
        listed = strung([filled(NAMED, name=names[variant], value=f"{value:.2f}") for variant, value in each.items()])
        others = strung([others, filled(said, each=listed)], "", "") if each else others
    return filled(READ, window=f"{max((int(one.get('window', 0)) for one in figures.values()), default=0):,}", others=others)


def pairs(known: Mapping[str, Mapping[str, Any]], data: Pair, measured: Iterable[Pair], each: str | Text = "") -> tuple[Pair, ...]:
    """The four figures of the title row: size, data, what was measured, training time; none where no model is shipped. known: what each
    model.json says, the first one's size counting; each: the note beside it."""
    if not known:
        return ()
    size = Pair(labels.CARD["parameters"], f"{next(iter(known.values()))['parameters'] / 1e6:.2f} M", each)
    return (size, data, *measured, trained(*known.values()))


def beside(known: Mapping[str, Mapping[str, Any]], metric: Text, value: Text, names: Mapping[str, Text]) -> tuple[Pair, ...]:
    """The held-out figure of the first model with those of the others and the published one beside it; none before it was measured.

    known: what each model.json says. metric: with {split}; value: one of the others, with {name} and {value}; names: of the models.
    """
    found = measured(known)
    if not found:
        return ()
    ours, *others = found
    notes = [filled(value, name=names[variant], value=f"{found[variant]['value']:.2f}") for variant in others]
    printed, why = known[ours].get("published"), read(found, names)
    if printed:
        notes.append(filled(labels.CARD["published"], value=f"{printed['value']:.2f}"))
        why = {language: f"{why[language]} {printed['source']}. {printed['why'][language]}" for language in ("en", "zh")}
    note = strung(notes, " · ", " · ") if notes else ""
    return (Pair(filled(metric, split=labels.split(found[ours]["split"])), f"{found[ours]['value']:.2f}", note, why),)


def prose(slug: str, known: Mapping[str, Any], name: str = "card.md", **more: Any) -> dict[str, str]:
    """The model card in each language, its figures filled in from `known`, what each shipped model.json says, by variant, and from `more`;
    empty where none is shipped. Minutes are those of all trainings, where `more` tells no others.

    card.md, or the file called `name`, holds one part for each language, under a heading "English" and a heading "中文"; "{figure.value}"
    in it is that entry of `known`, or the remark that it is not measured yet.
    """
    path = folders.lab(slug, ASSETS) / name
    if not path.exists():
        return {}
    seconds = sum(one.get("training_seconds", 0) for one in known.values() if isinstance(one, Mapping))
    known = {"minutes": round(seconds / 60), **known, **more}
    with reading(path):
        parts = re.split(r"^# +(English|中文) *$", path.read_text("utf-8"), flags=re.MULTILINE)
    return {
        language: re.sub(
            r"\{([\w.]+)\}", lambda match, language=language: _worded(known, match[1], language) or labels.CARD["missing"][language], text
        )
        for language, text in zip(["zh" if heading == "中文" else "en" for heading in parts[1::2]], parts[2::2], strict=True)
    }


def _worded(known: Mapping[str, Any], path: str, language: str) -> str | None:
    """`entry` in a language, where it is a word of the project's own and no name or number."""
    found = entry(known, path)
    words = {"split": labels.split, "training_device": labels.device}.get(path.rpartition(".")[2])
    return words(found)[language] if words and found else found


def entry(known: Mapping[str, Any], path: str) -> str | None:
    """One entry of `known` as a reader writes it ("figure.value", "config.d_model"), or None where there is none."""
    found: Any = known
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    if found is None:
        return None
    if isinstance(found, int | float) and not isinstance(found, bool):
        return f"{found:,}".replace("-", "−")
    return str(found)
