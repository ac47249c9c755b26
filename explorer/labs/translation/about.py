"""What stands on the lab's card: figures from model.json, the prose of card.md, and the training curve. Nothing is typed here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.labs.translation import texts
from explorer.labs.translation.texts import filled
from explorer.widgets import figure
from explorer.widgets.card import Pair

Text = Mapping[str, str]

ASSETS = Path(__file__).parents[3] / "assets" / "translation"


def facts() -> dict[str, Any]:
    """What model.json says about the shipped model; empty where none is shipped."""
    path = ASSETS / "base" / "model.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def pairs() -> tuple[Pair, ...]:
    """The four figures of the title row, read from model.json."""
    known = facts()
    if not known:
        return ()
    return (
        Pair(texts.PARAMETERS, f"{known['parameters'] / 1e6:.1f} M"),
        Pair(texts.DATA, "Multi30k", "en→de", hint=texts.RESEARCH),
        *_measured(known),
        Pair(texts.TRAINED, duration(known["training_seconds"]), "" if known["finished"] else texts.UNFINISHED),
    )


def _measured(known: Mapping[str, Any]) -> tuple[Pair, ...]:
    """The held-out figure beside the published one; nothing before it was measured."""
    figure, published = known.get("figure"), known.get("published")
    if not figure or not published:
        return ()
    label = f"{figure['metric']}, {figure['split'].removesuffix('_flickr').replace('_', ' ')}"
    beside = filled(texts.PUBLISHED, value=f"{published['value']:.1f}")
    why = {
        language: f"{published['source']}: {published['metric']} {published['value']}. {published['why'][language]} {figure['signature']}"
        for language in ("en", "zh")
    }
    return (Pair({"en": label, "zh": label}, f"{figure['value']:.1f}", beside, why),)


def duration(seconds: float) -> Text:
    """A time of training as one reads it: minutes below two hours, else hours."""
    minutes = round(seconds / 60)
    if minutes < 120:
        return {"en": f"{minutes} min", "zh": f"{minutes} 分钟"}
    return {"en": f"{seconds / 3600:.1f} h", "zh": f"{seconds / 3600:.1f} 小时"}


def prose() -> dict[str, str]:
    """The model card in each language, its figures filled in from model.json; empty where none is shipped.

    card.md holds one part for each language, under a heading "English" and a heading "中文"; "{figure.value}" in it is that entry
    of model.json, or the remark that it is not measured yet.
    """
    path = ASSETS / "card.md"
    if not path.exists():
        return {}
    parts = re.split(r"^# +(English|中文) *$", path.read_text("utf-8"), flags=re.MULTILINE)
    known = facts()
    return {
        language: re.sub(r"\{([\w.]+)\}", lambda match, language=language: entry(known, match[1]) or texts.MISSING[language], text)
        for language, text in zip(["zh" if heading == "中文" else "en" for heading in parts[1::2]], parts[2::2], strict=True)
    }


def entry(known: Mapping[str, Any], path: str) -> str | None:
    """One entry of model.json as a reader writes it ("figure.value", "config.d_model"), or None where there is none."""
    found: Any = known
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    if found is None:
        return None
    if isinstance(found, int | float) and not isinstance(found, bool):
        return f"{found:,}".replace("-", "−")
    return str(found)


def curve() -> dict[str, object] | None:
    """The training curve as the figure widget draws it, or None where no log is shipped. Slow at first: it imports Plotly."""
    path = ASSETS / "base" / "training.json"
    log: list[dict[str, float]] = json.loads(path.read_text("utf-8")) if path.exists() else []
    if not log:
        return None
    from explorer.figures import curve as drawing

    best = min(log, key=lambda line: line["validation"])
    axes = {"en": ("epoch", "loss, nats per piece"), "zh": ("轮次", "损失，每词元纳特")}
    return figure.value(
        {language: drawing.training(log, axes=names) for language, names in axes.items()},
        title=texts.CURVE,
        units=texts.CURVE_UNITS,
        sentence=filled(
            texts.CURVE_SAYS,
            epochs=len(log),
            loss=f"{best['validation']:.2f}",
            best=int(best["epoch"]),
            first=f"{log[0]['validation']:.2f}",
        ),
        legend=(figure.Mark(texts.LEARNED, drawing.TRAINING), figure.Mark(texts.HELD_OUT, drawing.HELD_OUT)),
        table=figure.Table(
            (texts.EPOCH, texts.LEARNED, texts.HELD_OUT),
            [(int(line["epoch"]), round(line["loss"], 3), round(line["validation"], 3)) for line in log],
        ),
        name="translation-training",
    )
