"""The panel about residual paths: small networks with and without them, trained alike, and one with learned positions. Of those that are
shipped alone, and only where there are two to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from explorer import labels
from explorer.figures import attention, theme
from explorer.figures.curves import Curve
from explorer.figures.heatmaps import Figure, Map, maps
from explorer.labels import Text, filled, strung, two
from explorer.labels import text as _
from explorer.labs import about
from explorer.labs.lined import lined
from explorer.labs.translation.about import SLUG
from explorer.views import View, unfolded
from explorer.widgets import figure
from explorer.widgets.folded import Question, Value
from models.translation.path_records import NETWORKS, PathsRequest, Tower, Towers
from models.translation.records import Explanation, Request

FUNCTION = "models.translation.paths:towers"
WITH, LEARNED = NETWORKS[0], NETWORKS[-1]
COLOURS: Final[Mapping[str, str]] = {name: f"var(--cat-{n})" for n, name in enumerate(NETWORKS, 1)}
OF: Final[Mapping[str, Text]] = {
    "encoder.self": _("encoder self-attention", "编码器自注意力"),
    "encoder.feed_forward": _("encoder feed-forward", "编码器前馈"),
    "decoder.self": _("decoder self-attention", "解码器自注意力"),
    "decoder.cross": _("cross-attention", "交叉注意力"),
    "decoder.feed_forward": _("decoder feed-forward", "解码器前馈"),
}
LAYERS, GAINS, SHIFTS = ("1", "2", "3", "4"), ("1", "0.75", "0.5", "0.25", "0"), ("0", "10", "20", "40", "60")
KNOBS: Final[Mapping[str, tuple[Text, Mapping[str, Text]]]] = {
    "pof": (_("Path around", "哪条路径"), OF),
    "player": (_("Layer", "层"), {n: _(n, n) for n in LAYERS}),
    "pgain": (_("Its gain", "增益"), {n: _(n, n) for n in GAINS}),
    "pshift": (_("Positions begin at", "位置从几开始"), {n: _(n, n) for n in SHIFTS}),
}

TITLE: Final = _("What do residual paths carry?", "残差路径传递什么？")
INTRO: Final = _(
    "Around each sublayer runs a path that adds what went in to what comes out. Below are networks of the same size, trained for a shorter "
    "time, with these paths and without. Turn one path down in all of them, or let the sentence stand elsewhere.",
    "每个子层旁边都有一条路径，把输入加到输出上。下面是同样大小、训练较短的网络，有的带这些路径，有的不带。"
    "您可以在所有网络中调小一条路径，或让句子从别的位置开始。",
)
NAMES: Final[Mapping[str, Text]] = {
    NETWORKS[0]: _("with paths", "有路径"),
    NETWORKS[1]: _("without paths", "无路径"),
    NETWORKS[2]: _("without, positions before every layer", "无路径，每层之前加位置"),
    NETWORKS[3]: _("without in the encoder", "编码器无路径"),
    NETWORKS[4]: _("with paths, learned positions", "有路径，学习的位置"),
}
HEADS: Final = {  # the same above a tower, where there is little room
    "en": ("with", "without", "positions\neach layer", "encoder\nwithout", "learned\npositions"),
    "zh": ("有路径", "无路径", "每层\n加位置", "编码器\n无路径", "学习的\n位置"),
}
MOST: Final = 4  # towers, side by side on a phone
LAYER: Final = _("layer {n}", "第 {n} 层")
MAPS: Final = _("Does the diagonal survive, layer by layer?", "对角线能一层层保留下来吗？")
MAPS_UNITS: Final = _(
    "encoder, mean over heads; above each map: weight beyond an even spread on a word and its two neighbours",
    "编码器，各头平均；每幅图上方：给自身和两个邻词的权重，减去均匀分布时的值",
)
CUT: Final = _("gain {gain} around the {of} of layer {n}", "第 {n} 层{of}路径的增益为 {gain}")
MOVED: Final = _("positions from {n}", "位置从 {n} 开始")
NEAR_SAYS: Final = _(
    "Weight beyond an even spread on a word and its two neighbours, layer 1 → {top}: {each}.",
    "给自身和两个邻词的、超出均匀分布的权重，第 1 → {top} 层：{each}。",
)
FROM_TO: Final = _("{name} {first} → {last}", "{name} {first} → {last}")
AS_TRAINED: Final = _("{name} {first} → {last}, as trained {a} → {b}", "{name} {first} → {last}（原样 {a} → {b}）")
NEAR: Final = _("How near does a word look?", "一个词看得多近？")
NEAREST: Final = _(
    "In layer {top} words look nearest {best}, {high}, and least near {worst}, {low}; with even rows it would be 0.",
    "第 {top} 层看得最近的是{best}，{high}；最不近的是{worst}，{low}；均匀的行为 0。",
)
NEAR_UNITS: Final = _("weight beyond even on a word and its neighbours, this sentence", "给自身和邻词的、超出均匀的权重，本句")
DASHED: Final = _("dashed: as trained", "虚线：原样")
READ: Final = _("Does a layer still know where a word stands?", "一层还知道词在哪里吗？")
READ_UNITS: Final = _("R² of the position, read from a layer's output; {split}, as trained", "从一层的输出读出位置的 R²；{split}，原样")
READ_SAYS: Final = _(
    "R² of a position, read from the output of layer {top}: {each}. 1 is exact, 0 no better than guessing the mean.",
    "从第 {top} 层的输出读出位置，R²：{each}。1 为完全准确，0 不比总猜平均值好。",
)
JOINED: Final = _("What if captions stand in a row?", "几句连在一起会怎样？")
JOINED_UNITS: Final = _("−log p of a piece of the reference, in nats; {split}", "参考译文每个词片的 −log p，纳特；{split}")
JOINED_SAYS: Final = _(
    "Both learned from single captions. With {counts} in a row a piece costs: {each}.",
    "两者都只学过单独的句子。{counts} 句连在一起时，每个词片的代价：{each}。",
)
KINDS: Final[Mapping[str, Text]] = {WITH: _("sinusoids", "正弦信号"), LEARNED: _("learned positions", "学习的位置")}
OF_ONE: Final = _("{name} {value}", "{name} {value}")
AXES: Final = {
    "near": {"en": ("layer", "weight beyond even"), "zh": ("层", "超出均匀的权重")},
    "read": {"en": ("layer", "R²"), "zh": ("层", "R²")},
    "joined": {"en": ("captions in a row", "nats per piece"), "zh": ("连在一起的句数", "每词片纳特")},
}
COLUMNS: Final = {
    "network": _("network", "网络"),
    "layer": _("layer", "层"),
    "query": _("query", "查询"),
    "captions": _("captions in a row", "连在一起的句数"),
    "bleu": _("BLEU, {split}", "BLEU，{split}"),
    "before": _("translation as trained", "原样的译文"),
    "text": _("translation", "译文"),
}
SMALL: Final = _(
    "Each is one training of {steps} steps, its learning rate the best of a search; a test set of this size leaves about ±1.3 BLEU. The "
    "network above learned for {more} steps, with more dropout. One below 1 BLEU did not learn to translate: its maps show that too. "
    "A network without a path has none to turn down.",
    "每个网络只训练一次，{steps} 步，学习率由搜索选出；这样大的测试集约有 ±1.3 BLEU 的误差。上面的网络训练了 {more} 步，随机失活也更大。"
    "BLEU 低于 1 的没有学会翻译：它们的图也反映了这一点。没有路径的网络，也就没有可调的路径。",
)


def there() -> tuple[str, ...]:
    """The networks that are shipped; none where there are not two. Their files are not read: a damaged one closes the page, no more."""
    found = tuple(name for name in NETWORKS if (about.ASSETS / SLUG / name / "model.json").exists())
    return found if len(found) > 1 else ()


def wished(run: Request, question: Question) -> PathsRequest:
    """The sentence of the run and what is changed; a wish that is none of ours changes nothing."""
    asked = question.wish if isinstance(question.wish, Mapping) else {}
    of, layer, gain, shift = (
        text if isinstance(text := asked.get(key), str) and text in offered else next(iter(offered)) for key, (_, offered) in KNOBS.items()
    )
    plain = PathsRequest(run.sentence, shift=int(shift))
    stack, _dot, sublayer = of.partition(".")
    return plain if gain == GAINS[0] else PathsRequest(run.sentence, stack, int(layer) - 1, sublayer, float(gain), int(shift))


def value(seen: Towers, asked: PathsRequest) -> Value:
    """What the panel draws."""
    known = about.models(SLUG, ("base", *(one.network for one in seen.towers)))
    figures = next(one["figure"] for one in known.values() if "position_r2" in (one.get("figure") or {}))
    split = labels.split(figures["split"].removesuffix("_flickr"))
    changed = asked != asked.plain()
    steps, more = (known[name]["recipe"]["schedule"]["steps"] if name in known else 0 for name in (seen.towers[0].network, "base"))
    columns = [COLUMNS["network"], filled(COLUMNS["bleu"], split=split), *([COLUMNS["before"]] if changed else []), COLUMNS["text"]]
    joined = [one for one in seen.towers if one.network in {WITH, LEARNED}]
    more_figures = [_read(seen.towers, split), _near(seen.towers, changed), *([_joined(joined, split)] if len(joined) > 1 else [])]
    return {
        "notes": [dict(INTRO)],
        "choices": [figure.choice(key, label, offered) for key, (label, offered) in KNOBS.items()],
        "figures": [{"figure": _towers(seen, asked)}],
        "table": {
            "columns": [dict(column) for column in columns],
            "langs": [None, None, *["de"] * (len(columns) - 2)],
            "rows": [
                {
                    "cells": [dict(NAMES[one.network]), f"{one.bleu:.1f}", *([one.before] if changed else []), one.text],
                    "marks": [None, None, *(["text"] if changed else []), "text" if one.text == one.before else "text other"],
                }
                for one in seen.towers
            ],
        },
        "figures_more": [{"figure": one} for one in more_figures],
        "notes_after": [dict(filled(SMALL, steps=f"{steps:,}", more=f"{more:,}"))],
    }


def changes(asked: PathsRequest) -> list[Text]:
    """What is changed, in words; none for a plain request."""
    of = OF[f"{asked.stack}.{asked.sublayer}"]
    cut = [filled(CUT, gain=f"{asked.gain:g}", of=of, n=asked.layer + 1)] if asked.gain != 1 else []
    return cut + ([filled(MOVED, n=asked.shift)] if asked.shift else [])


def near_says(towers: Sequence[Tower]) -> Text:
    """How near the words look in the lowest and the highest layer, by network, and how near they did with nothing changed."""
    each = []
    for one in towers:
        first, last, a, b = map(two, (one.diagonality[0], one.diagonality[-1], one.was[0], one.was[-1]))
        said = FROM_TO if (first, last) == (a, b) else AS_TRAINED
        each.append(filled(said, name=NAMES[one.network], first=first, last=last, a=a, b=b))
    return filled(NEAR_SAYS, top=len(towers[0].diagonality), each=_all(each))


def told() -> Text | None:
    """How well a position is read from the highest layer, by network, as model.json says it; None where there are not two to compare."""
    known = about.models(SLUG, there())
    each = {name: one["figure"]["position_r2"][-1] for name, one in known.items() if "position_r2" in (one.get("figure") or {})}
    return _all([filled(OF_ONE, name=NAMES[name], value=two(value)) for name, value in list(each.items())[:2]]) if len(each) > 1 else None


def _all(each: Sequence[Text]) -> Text:
    return strung(each, "; ", "；")


def _towers(seen: Towers, asked: PathsRequest) -> Value:
    """A column of maps for each network, its lowest layer at the foot."""
    towers, layers = seen.towers[:MOST], len(seen.towers[0].maps)
    given = [Map(two(one.diagonality[layer]), one.maps[layer]) for layer in reversed(range(layers)) for one in towers]
    high = max(1e-3, *(float(one.values.max()) for one in given))

    def draw(language: str) -> Figure:
        drawn = maps([Map(one.title, one.values, most=high) for one in given], lines=layers, square=True)
        drawn["layout"]["margin"] |= {"l": 24, "t": 62}
        words = drawn["layout"]["annotations"]
        heads = [HEADS[language][NETWORKS.index(one.network)].replace("\n", "<br>") for one in towers]
        named = [{**above, "text": f"<b>{head}</b>", "yshift": 20} for above, head in zip(words, heads, strict=False)]
        for n in range(layers):
            ends = drawn["layout"][f"yaxis{n * len(towers) + 1 if n else ''}"]["domain"]
            side = {"x": 0, "xshift": -4, "y": sum(ends) / 2, "xanchor": "right", "yanchor": "middle", "textangle": -90}
            text = filled(LAYER, n=layers - n)[language]
            named.append({**theme.ABOVE, **side, "text": text, "font": {"size": 12, "color": "var(--ink2)"}})
        drawn["layout"]["annotations"] = words + named
        return drawn

    pieces = [f"{at} {attention.shown(piece)}" for at, piece in enumerate(seen.source)]
    columns = [COLUMNS["network"], COLUMNS["layer"], COLUMNS["query"], *(_(piece, piece) for piece in pieces)]
    rows: list[list[str | float | Text | None]] = [
        [NAMES[one.network], layer + 1, piece, *(round(float(weight), 4) for weight in one.maps[layer, at])]
        for one in towers
        for layer in range(layers)
        for at, piece in enumerate(pieces)
    ]
    units = _all([MAPS_UNITS, *changes(asked)])
    return figure.shown("towers", draw, (MAPS, units, near_says(towers)), columns, rows, height=165 * layers + 60)


def _lines(name: str, lines: Mapping[str, Sequence[float]], words: tuple[Text, Text, Text], was: Sequence[Curve] = ()) -> Value:
    """A line for each network, over layers or captions; was: what is drawn dashed beside them."""
    names = KINDS if name == "joined" else NAMES
    drawn = [Curve(names[network], range(1, len(y) + 1), [float(n) for n in y], COLOURS[network]) for network, y in lines.items()]
    ticks = range(1, max(len(one.y) for one in drawn) + 1)
    columns = (COLUMNS["captions" if name == "joined" else "layer"], *(one.name for one in drawn))
    rows, marks = [(n, *(round(one.y[n - 1], 4) for one in drawn)) for n in ticks], [figure.Mark(one.name, one.colour) for one in drawn]
    return lined(f"paths-{name}", [*was, *drawn], AXES[name], words, columns, rows, legend=marks, ticks=ticks)


def _near(towers: Sequence[Tower], changed: bool) -> Value:
    ends = sorted(towers, key=lambda one: float(one.diagonality[-1]))
    (worst, low), (best, high) = ((NAMES[one.network], two(one.diagonality[-1])) for one in (ends[0], ends[-1]))
    says = filled(NEAREST, top=len(towers[0].diagonality), best=best, high=high, worst=worst, low=low)
    was = [Curve(NAMES[one.network], range(1, len(one.was) + 1), one.was.tolist(), COLOURS[one.network], dashed=True) for one in towers]
    units = _all([NEAR_UNITS, *([DASHED] if changed else [])])
    return _lines("near", {one.network: one.diagonality.tolist() for one in towers}, (NEAR, units, says), was if changed else ())


def _read(towers: Sequence[Tower], split: Text) -> Value:
    says = filled(
        READ_SAYS,
        top=len(towers[0].position_r2),
        each=_all([filled(OF_ONE, name=NAMES[one.network], value=two(one.position_r2[-1])) for one in towers]),
    )
    words = (READ, filled(READ_UNITS, split=split), says)
    return _lines("read", {one.network: one.position_r2.tolist() for one in towers}, words)


def _joined(towers: Sequence[Tower], split: Text) -> Value:
    each = [filled(OF_ONE, name=KINDS[one.network], value=", ".join(two(loss) for _, loss in one.joined)) for one in towers]
    says = filled(JOINED_SAYS, counts=", ".join(str(count) for count, _ in towers[0].joined), each=_all(each))
    words = (JOINED, filled(JOINED_UNITS, split=split), says)
    return _lines("joined", {one.network: [loss for _, loss in one.joined] for one in towers}, words)


PANEL: View[Request, Explanation] = unfolded(
    "paths",
    TITLE,
    lambda found, question: value(found.answer, wished(found.request, question)),
    function=FUNCTION,
    wish=lambda found, question: wished(found.request, question),
    asks=tuple(KNOBS),
    needs="request",
)
