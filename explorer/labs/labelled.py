"""The label curve: how many film reviews are judged rightly against how many labels were learned from, for every lab that has one."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean, stdev
from typing import Any, Final

from explorer.controls import Value
from explorer.figures.curves import Curve
from explorer.labels import CARD, Text, filled, joined, strung
from explorer.labels import text as _
from explorer.labs import about
from explorer.labs.lined import lined
from models import folders
from models.corpus import CURVE, WAYS

TITLE: Final = _("What is pre-training worth?", "预训练值多少？")
UNITS: Final = _(
    "stored: share of {n} test sentences judged rightly, mean; labels were drawn up to {subsets} times",
    "存储的结果：{n} 个测试句子中判断正确的平均比例；标签最多抽取 {subsets} 次",
)
SAYS: Final = _("With {labels} labels: {each}.", "用 {labels} 个标签：{each}。")
LABELS: Final = _("labels", "标签")
RIGHT: Final = _("judged rightly", "判断正确")
SPREAD: Final = _("standard deviation", "标准差")
SUBSETS: Final = _("subsets", "组数")
BEGINNINGS: Final[Mapping[str, Text]] = {"pretrained": _("pre-trained", "预训练过"), "scratch": _("from scratch", "从零开始")}
COUNTING: Final = _("counting words", "数词")
JUDGES: Final = {**BEGINNINGS, WAYS[2]: COUNTING}
OF: Final = _("{network} {way}", "{network}（{way}）")
COLOURS: Final = ("var(--cat-1)", "var(--cat-2)", "var(--cat-3)")  # of the ways, of the lab's own network
OTHERS: Final = ("var(--cat-4)", "var(--cat-6)")  # of the network beside it
Found = dict[tuple[str, int], list[float]]


def _known(slug: str) -> tuple[Found, int]:
    """The shares on test for each way and number of labels, and of how many sentences; none before anything was trained."""
    known: dict[str, Any] = about.kept(folders.lab(slug, about.ASSETS) / CURVE, {"runs": [], "n": 0})
    found: Found = {}
    for run in known["runs"]:
        found.setdefault((run["way"], run["labels"]), []).append(run["test"])
    return found, known["n"]


def labelled(slug: str, name: Text | None = None, beside: Mapping[str, Text] | None = None) -> Value | None:
    """Pre-trained, from scratch, counting words: the figure of a lab, with the networks of others in it; None before its own was trained.

    name: of its network, where there are others; beside: their labs, and what they are called; their points are diamonds. Counting is the
    same for all.
    """
    found, n = _known(slug)
    if not found:
        return None
    judges = [(found, way, filled(OF, network=name, way=JUDGES[way]) if name and way in BEGINNINGS else JUDGES[way]) for way in WAYS]
    looks = [(colour, "circle") for colour in COLOURS]
    for other, called in (beside or {}).items():
        theirs = _known(other)[0]
        judges += [(theirs, way, filled(OF, network=called, way=JUDGES[way])) for way in BEGINNINGS if theirs]
        looks += [(colour, "diamond") for colour in OTHERS if theirs]
    counts = sorted({labels for _way, labels in found})
    told, lines = [], []
    rows: list[tuple[int, Text, float, float | None, int]] = []
    for (known, way, called), (colour, symbol) in zip(judges, looks, strict=True):
        at = [labels for labels in counts if (way, labels) in known]
        lines.append(Curve(called, at, [mean(known[way, labels]) for labels in at], colour, symbol=symbol))
        for labels in at:
            values = known[way, labels]
            spread = round(stdev(values), 4) if len(values) > 1 else None
            rows.append((labels, called, round(mean(values), 4), spread, len(values)))
    for labels in counts if not beside else (counts[0], counts[-1]):
        each = [filled(about.NAMED, name=called, value=f"{value:.2f}") for at, called, value, *_rest in rows if at == labels]
        told.append(filled(SAYS, labels=f"{labels:,}", each=strung(each)))
    rows.sort(key=lambda row: row[0])
    units = filled(UNITS, n=f"{n:,}", subsets=max(map(len, found.values())))
    words, columns = (TITLE, units, joined(*told) or units), (LABELS, CARD["model"], RIGHT, SPREAD, SUBSETS)
    name_ = f"{slug.replace('_', '-')}-labelled"
    return lined(name_, lines, (LABELS, RIGHT), words, columns, rows, ticks=counts, across="log", height=300)
