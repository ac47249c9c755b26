"""The label curve: the share of film reviews that are judged correctly against the number of labels
in training, for every lab that has one."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean, stdev
from typing import Any, Final

from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import Value
from explorer.contract.labels import CARD, Text, fill_text, join_parts, join_sentences
from explorer.contract.labels import text as _
from explorer.figures.curves import Curve
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from models.checkpoints import folders
from models.data.corpus import CURVE, FROZEN, WAYS

TITLE: Final = shared.WHAT_IS_PRE_TRAINING_WORTH
UNITS: Final = _(
    "stored: share of {n} test sentences classified correctly, mean; labels were drawn up to"
    " {subsets} times",
    "存储的结果：{n} 个测试句子中判断正确的平均比例；标签最多抽取 {subsets} 次",
)
SAYS: Final = _("With {labels} labels: {each}.", "用 {labels} 个标签：{each}。")
LABELS: Final = _("labels", "标签")
RIGHT: Final = _("classified correctly", "判断正确")
SPREAD: Final = shared.STANDARD_DEVIATION
SUBSETS: Final = _("subsets", "组数")
BEGINNINGS: Final[Mapping[str, Text]] = {
    "pretrained": _("pre-trained", "预训练过"),
    "scratch": _("from scratch", "从零开始"),
}
COUNTING: Final = _("counting words", "词频基线")
JUDGES: Final = {**BEGINNINGS, WAYS[2]: COUNTING}
MINILM: Final = _("MiniLM, frozen", "MiniLM，冻结")
ENCODER: Final = "bert"  # the lab that ships it
OF: Final = _("{network} {way}", "{network}（{way}）")
# of the lab's own network, by way
COLOURS: Final = ("var(--cat-1)", "var(--cat-2)", "var(--cat-3)")
OTHERS: Final = ("var(--cat-4)", "var(--cat-6)")  # of the network beside it
LARGEST: Final = "var(--cat-7)"  # of MiniLM
Found = dict[tuple[str, int], list[float]]


def read_shares(slug: str) -> tuple[Found, int]:
    """The shares on test for each way and number of labels, and of how many sentences; none before
    anything was trained."""
    known: dict[str, Any] = card_facts.read_json_file(
        folders.find_lab_folder(slug, card_facts.ASSETS) / CURVE, {"runs": [], "n": 0}
    )
    found: Found = {}
    for run in known["runs"]:
        found.setdefault((run["way"], run["labels"]), []).append(run["test"])
    return found, known["n"]


def draw_label_curve(
    slug: str, name: Text | None = None, beside: Mapping[str, Text] | None = None
) -> Value | None:
    """Draw a lab's figure of three ways, pre-trained, from scratch and counting words, with the
    networks of other labs in it; None before its own network was trained. A readout of a far larger
    encoder, left as it is, stands beside them.

    name: that of its network, where there are others.
    beside: the other labs and their names. Their points are diamonds. Counting is the same for all.
    """
    found, n = read_shares(slug)
    if not found:
        return None
    judges = [
        (
            found,
            way,
            (
                fill_text(OF, network=name, way=JUDGES[way])
                if name and way in BEGINNINGS
                else JUDGES[way]
            ),
        )
        for way in WAYS
    ]
    looks = [(colour, "circle") for colour in COLOURS]
    for other, called in (beside or {}).items():
        theirs = read_shares(other)[0]
        judges += [
            (theirs, way, fill_text(OF, network=called, way=JUDGES[way]))
            for way in BEGINNINGS
            if theirs
        ]
        looks += [(colour, "diamond") for colour in OTHERS if theirs]
    encoder = read_shares(ENCODER)[0]
    if any(way == FROZEN for way, _labels in encoder):
        judges, looks = [*judges, (encoder, FROZEN, MINILM)], [*looks, (LARGEST, "square")]
    counts = sorted({labels for _way, labels in found})
    told, lines = [], []
    rows: list[tuple[int, Text, float, float | None, int]] = []
    for (known, way, called), (colour, symbol) in zip(judges, looks, strict=True):
        at = [labels for labels in counts if (way, labels) in known]
        lines.append(
            Curve(called, at, [mean(known[way, labels]) for labels in at], colour, symbol=symbol)
        )
        for labels in at:
            values = known[way, labels]
            spread = round(stdev(values), 4) if len(values) > 1 else None
            rows.append((labels, called, round(mean(values), 4), spread, len(values)))
    for labels in counts if not beside else (counts[0], counts[-1]):
        each = [
            fill_text(card_facts.NAMED, name=called, value=f"{value:.2f}")
            for at, called, value, *_rest in rows
            if at == labels
        ]
        told.append(fill_text(SAYS, labels=f"{labels:,}", each=join_parts(each)))
    rows.sort(key=lambda row: row[0])
    units = fill_text(UNITS, n=f"{n:,}", subsets=max(map(len, found.values())))
    words, columns = (
        (TITLE, units, join_sentences(*told) or units),
        (LABELS, CARD["model"], RIGHT, SPREAD, SUBSETS),
    )
    name_ = f"{slug.replace('_', '-')}-labelled"
    return draw_curve_figure(
        name_, lines, (LABELS, RIGHT), words, columns, rows, ticks=counts, across="log", height=300
    )
