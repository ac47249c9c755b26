"""The panel about residual paths: small networks with and without them, trained alike, and one with
learned positions. It holds only networks that are shipped, and exists only where there are two to
compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from explorer.components import figure
from explorer.components.folded import Question, Value
from explorer.contract import labels
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text, format_two_digits, join_parts
from explorer.contract.labels import text as _
from explorer.figures import attention, theme
from explorer.figures.curves import Curve
from explorer.figures.heatmaps import Figure, Map, draw_maps
from explorer.labs.translation.about import SLUG
from explorer.page import card_facts
from explorer.page.curves import draw_curve_figure
from explorer.page.views import View, view_in_folded_panel
from models.translation.path_records import NETWORKS, PathsRequest, Tower, Towers
from models.translation.records import Explanation, Request

FUNCTION = "models.translation.paths:towers"
WITH, LEARNED = NETWORKS[0], NETWORKS[-1]
COMPARED = NETWORKS[:3]  # in the guided step
COLOURS: Final[Mapping[str, str]] = {name: f"var(--cat-{n})" for n, name in enumerate(NETWORKS, 1)}
OF: Final[Mapping[str, Text]] = {
    "encoder.self": _("encoder self-attention", "编码器自注意力"),
    "encoder.feed_forward": _("encoder feed-forward", "编码器前馈"),
    "decoder.self": _("decoder self-attention", "解码器自注意力"),
    "decoder.cross": shared.CROSS_ATTENTION,
    "decoder.feed_forward": _("decoder feed-forward", "解码器前馈"),
}
LAYERS, GAINS, SHIFTS = (
    ("1", "2", "3", "4"),
    ("1", "0.75", "0.5", "0.25", "0"),
    ("0", "10", "20", "40", "60"),
)
KNOBS: Final[Mapping[str, tuple[Text, Mapping[str, Text]]]] = {
    "pof": (_("Path around", "哪条路径"), OF),
    "player": (_("Layer", "层"), {n: _(n, n) for n in LAYERS}),
    "pgain": (_("Its gain", "增益"), {n: _(n, n) for n in GAINS}),
    "pshift": (_("Positions begin at", "位置从几开始"), {n: _(n, n) for n in SHIFTS}),
}

TITLE: Final = shared.WHAT_DO_RESIDUAL_PATHS_CARRY
INTRO: Final = _(
    "Around each sublayer runs a path that adds its input to its output. Below are networks of"
    " the same size, trained for less time, with and without these paths. Turn down one path in"
    " all of them, or shift the sentence to other positions.",
    "每个子层旁边都有一条路径，把输入加到输出上。下面是同样大小、训练较短的网络，有的带这些路径，"
    "有的不带。"
    "您可以在所有网络中调小一条路径，或让句子从别的位置开始。",
)
NAMES: Final[Mapping[str, Text]] = {
    NETWORKS[0]: _("with paths", "有路径"),
    NETWORKS[1]: _("without in the encoder", "编码器无路径"),
    NETWORKS[2]: _(
        "without in the encoder, positions before each of its layers",
        "编码器无路径，其每层之前加位置",
    ),
    NETWORKS[3]: _("without paths", "无路径"),
    NETWORKS[4]: _("without, positions before every layer", "无路径，每层之前加位置"),
    NETWORKS[5]: _("with paths, learned positions", "有路径，学习的位置"),
}
HEADS: Final = {  # the same above a tower, where there is little room
    "en": (
        "with",
        "encoder\nwithout",
        "encoder,\npositions",
        "without",
        "positions\neach layer",
        "learned\npositions",
    ),
    "zh": ("有路径", "编码器\n无路径", "编码器\n加位置", "无路径", "每层\n加位置", "学习的\n位置"),
}
MOST: Final = 4  # towers, side by side on a phone
LAYER: Final = shared.LAYER_NUMBER
MAPS: Final = _("Does the diagonal survive, layer by layer?", "对角线能一层层保留下来吗？")
MAPS_UNITS: Final = _(
    "encoder, mean over heads; above each map: weight beyond an even spread on a word and its two"
    " neighbours",
    "编码器，各头平均；每幅图上方：给自身和两个邻词的权重，减去均匀分布时的值",
)
CUT: Final = _("gain {gain} around the {of} of layer {n}", "第 {n} 层{of}路径的增益为 {gain}")
MOVED: Final = _("positions from {n}", "位置从 {n} 开始")
NEAR_SAYS: Final = _(
    "Weight beyond an even spread on a word and its two neighbours, layer 1 → {top}: {each}.",
    "给自身和两个邻词的、超出均匀分布的权重，第 1 → {top} 层：{each}。",
)
FROM_TO: Final = _("{name} {first} → {last}", "{name} {first} → {last}")
AS_TRAINED: Final = _(
    "{name} {first} → {last}, as trained {a} → {b}", "{name} {first} → {last}（原样 {a} → {b}）"
)
NEAR: Final = _("How near does a word look?", "一个词看得多近？")
NEAREST: Final = _(
    "In layer {top}, words look closest {best} ({high}) and least close {worst} ({low}); evenly"
    " spread rows would give 0.",
    "第 {top} 层看得最近的是{best}，{high}；最不近的是{worst}，{low}；均匀的行为 0。",
)
NEAR_UNITS: Final = _(
    "weight beyond even on a word and its neighbours, this sentence",
    "给自身和邻词的、超出均匀的权重，本句",
)
DASHED: Final = _("dashed: as trained", "虚线：原样")
READ: Final = _("Does a layer still know where a word stands?", "一层还知道词在哪里吗？")
READ_UNITS: Final = _(
    "R² of the position, read from a layer's output; {split}, as trained",
    "从一层的输出读出位置的 R²；{split}，原样",
)
READ_SAYS: Final = _(
    "R² of a position, read from the output of layer {top}: {each}. 1 is exact, 0 no better than"
    " guessing the mean.",
    "从第 {top} 层的输出读出位置，R²：{each}。1 为完全准确，0 不比总猜平均值好。",
)
JOINED: Final = _("What if several captions are joined?", "几句连在一起会怎样？")
JOINED_UNITS: Final = _(
    "−log p of a piece of the reference, in nats; {split}",
    "参考译文每个词片的 −log p，纳特；{split}",
)
JOINED_SAYS: Final = _(
    "Both were trained on single captions. With {counts} joined, a piece costs: {each}.",
    "两者都只学过单独的句子。{counts} 句连在一起时，每个词片的代价：{each}。",
)
KINDS: Final[Mapping[str, Text]] = {
    WITH: _("sinusoids", "正弦信号"),
    LEARNED: _("learned positions", "学习的位置"),
}
OF_ONE: Final = shared.NAME_AND_VALUE
AXES: Final = {
    "near": {"en": ("layer", "weight beyond even"), "zh": ("层", "超出均匀的权重")},
    "read": {"en": ("layer", "R²"), "zh": ("层", "R²")},
    "joined": {
        "en": ("captions joined", "nats per piece"),
        "zh": ("连在一起的句数", "每词片纳特"),
    },
}
COLUMNS: Final = {
    "network": shared.NETWORK,
    "layer": shared.LAYER,
    "query": shared.QUERY,
    "captions": _("captions joined", "连在一起的句数"),
    "bleu": _("BLEU, {split}", "BLEU，{split}"),
    "before": _("translation as trained", "原样的译文"),
    "text": _("translation", "译文"),
}
SMALL: Final = _(
    "Each network was trained once, for {steps} steps, at the best learning rate of a search; on"
    " a test set of this size BLEU is uncertain by about ±1.3. The network above was trained for"
    " {more} steps, with more dropout. A network below 1 BLEU has not learned to translate, and"
    " its maps show it. A network without a path has none to turn down.",
    "每个网络只训练一次，{steps} 步，学习率由搜索选出；这样大的测试集约有 ±1.3 BLEU 的误差。"
    "上面的网络训练了 {more} 步，随机失活也更大。"
    "BLEU 低于 1 的没有学会翻译：它们的图也反映了这一点。没有路径的网络，也就没有可调的路径。",
)
QUOTED: Final = _("“{name}”", "“{name}”")
BORROWED: Final = _(
    "No learning rate was searched for {each}; it uses that of “{like}”.",
    "{each}没有搜索学习率：沿用“{like}”的学习率。",
)


def list_networks() -> tuple[str, ...]:
    """Return the names of the shipped networks; none where there are not two. Their files are not
    read, so a damaged one closes the page at most."""
    found = tuple(
        name for name in NETWORKS if (card_facts.ASSETS / SLUG / name / "model.json").exists()
    )
    return found if len(found) > 1 else ()


def read_question(run: Request, question: Question) -> PathsRequest:
    """Return the sentence of the run and its changes; an unknown change is ignored."""
    asked = question.wish if isinstance(question.wish, Mapping) else {}
    of, layer, gain, shift = (
        text if isinstance(text := asked.get(key), str) and text in offered else next(iter(offered))
        for key, (_, offered) in KNOBS.items()
    )
    plain = PathsRequest(run.sentence, shift=int(shift))
    stack, _dot, sublayer = of.partition(".")
    return (
        plain
        if gain == GAINS[0]
        else PathsRequest(run.sentence, stack, int(layer) - 1, sublayer, float(gain), int(shift))
    )


def draw_panel(seen: Towers, asked: PathsRequest) -> Value:
    """Draw the panel."""
    known = card_facts.read_models(SLUG, ("base", *(one.network for one in seen.towers)))
    figures = next(
        one["figure"] for one in known.values() if "position_r2" in (one.get("figure") or {})
    )
    split = labels.name_split(figures["split"].removesuffix("_flickr"))
    changed = asked != asked.plain()
    steps, more = (
        known[name]["recipe"]["schedule"]["steps"] if name in known else 0
        for name in (seen.towers[0].network, "base")
    )
    columns = [
        COLUMNS["network"],
        fill_text(COLUMNS["bleu"], split=split),
        *([COLUMNS["before"]] if changed else []),
        COLUMNS["text"],
    ]
    joined = [one for one in seen.towers if one.network in {WITH, LEARNED}]
    more_figures = [
        _draw_positions(seen.towers, split),
        _draw_nearness(seen.towers, changed),
        *([_join_towers(joined, split)] if len(joined) > 1 else []),
    ]
    return {
        "notes": [dict(INTRO)],
        "choices": [
            figure.describe_choice(key, label, offered) for key, (label, offered) in KNOBS.items()
        ],
        "figures": [{"figure": _draw_towers(seen, asked)}],
        "table": {
            "columns": [dict(column) for column in columns],
            "langs": [None, None, *["de"] * (len(columns) - 2)],
            "rows": [
                {
                    "cells": [
                        dict(NAMES[one.network]),
                        f"{one.bleu:.1f}",
                        *([one.before] if changed else []),
                        one.text,
                    ],
                    "marks": [
                        None,
                        None,
                        *(["text"] if changed else []),
                        "text" if one.text == one.before else "text other",
                    ],
                }
                for one in seen.towers
            ],
        },
        "figures_more": [{"figure": one} for one in more_figures],
        "notes_after": [
            dict(fill_text(SMALL, steps=f"{steps:,}", more=f"{more:,}")),
            *map(dict, _name_borrowed_rate(known)),
        ],
    }


def _name_borrowed_rate(known: Mapping[str, Mapping[str, Any]]) -> list[Text]:
    """Name the network whose model.json holds no search for its learning rate, if there is one."""
    name = NETWORKS[2]
    searched = name not in known or known[name]["rates"]
    return (
        []
        if searched
        else [
            fill_text(BORROWED, each=fill_text(QUOTED, name=NAMES[name]), like=NAMES[NETWORKS[1]])
        ]
    )


def describe_changes(asked: PathsRequest) -> list[Text]:
    """Return the changes in words; none for a plain request."""
    of = OF[f"{asked.stack}.{asked.sublayer}"]
    cut = (
        [fill_text(CUT, gain=f"{asked.gain:g}", of=of, n=asked.layer + 1)]
        if asked.gain != 1
        else []
    )
    return cut + ([fill_text(MOVED, n=asked.shift)] if asked.shift else [])


def describe_nearness(towers: Sequence[Tower]) -> Text:
    """Describe how near the words lie in the lowest and the highest layer, by network, and how near
    they lay with nothing changed."""
    each = []
    for one in towers:
        first, last, a, b = map(
            format_two_digits, (one.diagonality[0], one.diagonality[-1], one.was[0], one.was[-1])
        )
        said = FROM_TO if (first, last) == (a, b) else AS_TRAINED
        each.append(fill_text(said, name=NAMES[one.network], first=first, last=last, a=a, b=b))
    return fill_text(NEAR_SAYS, top=len(towers[0].diagonality), each=_join_all(each))


def list_position_figures() -> Text | None:
    """Return how well a position is read from the highest layer, by network, from each model.json;
    None where there are not two to compare."""
    known = card_facts.read_models(SLUG, (name for name in list_networks() if name in COMPARED))
    each = {
        name: one["figure"]["position_r2"][-1]
        for name, one in known.items()
        if "position_r2" in (one.get("figure") or {})
    }
    return (
        _join_all(
            [
                fill_text(OF_ONE, name=_short(name), value=format_two_digits(value))
                for name, value in each.items()
            ]
        )
        if len(each) > 1
        else None
    )


def _short(network: str) -> Text:
    """Return the name that stands above its tower, in one line."""
    return {
        language: heads[NETWORKS.index(network)].replace("\n", " ")
        for language, heads in HEADS.items()
    }


def _join_all(each: Sequence[Text]) -> Text:
    return join_parts(each, "; ", "；")


def _draw_towers(seen: Towers, asked: PathsRequest) -> Value:
    """Draw a column of maps for each network, its lowest layer at the foot."""
    towers, layers = seen.towers[:MOST], len(seen.towers[0].maps)
    given = [
        Map(format_two_digits(one.diagonality[layer]), one.maps[layer])
        for layer in reversed(range(layers))
        for one in towers
    ]
    high = max(1e-3, *(float(one.values.max()) for one in given))

    def draw(language: str) -> Figure:
        drawn = draw_maps(
            [Map(one.title, one.values, most=high) for one in given], lines=layers, square=True
        )
        drawn["layout"]["margin"] |= {"l": 24, "t": 62}
        words = drawn["layout"]["annotations"]
        heads = [
            HEADS[language][NETWORKS.index(one.network)].replace("\n", "<br>") for one in towers
        ]
        named = [
            {**above, "text": f"<b>{head}</b>", "yshift": 20}
            for above, head in zip(words, heads, strict=False)
        ]
        for n in range(layers):
            ends = drawn["layout"][f"yaxis{n * len(towers) + 1 if n else ''}"]["domain"]
            side = {
                "x": 0,
                "xshift": -4,
                "y": sum(ends) / 2,
                "xanchor": "right",
                "yanchor": "middle",
                "textangle": -90,
            }
            text = fill_text(LAYER, n=layers - n)[language]
            named.append(
                {**theme.ABOVE, **side, "text": text, "font": {"size": 12, "color": "var(--ink2)"}}
            )
        drawn["layout"]["annotations"] = words + named
        return drawn

    pieces = [f"{at} {attention.show_token(piece)}" for at, piece in enumerate(seen.source)]
    columns = [
        COLUMNS["network"],
        COLUMNS["layer"],
        COLUMNS["query"],
        *(_(piece, piece) for piece in pieces),
    ]
    rows: list[list[str | float | Text | None]] = [
        [
            NAMES[one.network],
            layer + 1,
            piece,
            *(round(float(weight), 4) for weight in one.maps[layer, at]),
        ]
        for one in towers
        for layer in range(layers)
        for at, piece in enumerate(pieces)
    ]
    units = _join_all([MAPS_UNITS, *describe_changes(asked)])
    return figure.describe_drawn_figure(
        "towers",
        draw,
        (MAPS, units, describe_nearness(towers)),
        columns,
        rows,
        height=165 * layers + 60,
    )


def _draw_lines(
    name: str,
    lines: Mapping[str, Sequence[float]],
    words: tuple[Text, Text, Text],
    was: Sequence[Curve] = (),
) -> Value:
    """Draw a line for each network, over layers or captions. was: the curves drawn dashed beside
    them."""
    names = KINDS if name == "joined" else NAMES
    drawn = [
        Curve(names[network], range(1, len(y) + 1), [float(n) for n in y], COLOURS[network])
        for network, y in lines.items()
    ]
    ticks = range(1, max(len(one.y) for one in drawn) + 1)
    columns = (COLUMNS["captions" if name == "joined" else "layer"], *(one.name for one in drawn))
    rows, marks = (
        [(n, *(round(one.y[n - 1], 4) for one in drawn)) for n in ticks],
        [figure.Mark(one.name, one.colour) for one in drawn],
    )
    return draw_curve_figure(
        f"paths-{name}", [*was, *drawn], AXES[name], words, columns, rows, legend=marks, ticks=ticks
    )


def _draw_nearness(towers: Sequence[Tower], changed: bool) -> Value:
    ends = sorted(towers, key=lambda one: float(one.diagonality[-1]))
    (worst, low), (best, high) = (
        (NAMES[one.network], format_two_digits(one.diagonality[-1])) for one in (ends[0], ends[-1])
    )
    says = fill_text(
        NEAREST, top=len(towers[0].diagonality), best=best, high=high, worst=worst, low=low
    )
    was = [
        Curve(
            NAMES[one.network],
            range(1, len(one.was) + 1),
            one.was.tolist(),
            COLOURS[one.network],
            dashed=True,
        )
        for one in towers
    ]
    units = _join_all([NEAR_UNITS, *([DASHED] if changed else [])])
    return _draw_lines(
        "near",
        {one.network: one.diagonality.tolist() for one in towers},
        (NEAR, units, says),
        was if changed else (),
    )


def _draw_positions(towers: Sequence[Tower], split: Text) -> Value:
    says = fill_text(
        READ_SAYS,
        top=len(towers[0].position_r2),
        each=_join_all(
            [
                fill_text(
                    OF_ONE, name=NAMES[one.network], value=format_two_digits(one.position_r2[-1])
                )
                for one in towers
            ]
        ),
    )
    words = (READ, fill_text(READ_UNITS, split=split), says)
    return _draw_lines("read", {one.network: one.position_r2.tolist() for one in towers}, words)


def _join_towers(towers: Sequence[Tower], split: Text) -> Value:
    each = [
        fill_text(
            OF_ONE,
            name=KINDS[one.network],
            value=", ".join(format_two_digits(loss) for _, loss in one.joined),
        )
        for one in towers
    ]
    says = fill_text(
        JOINED_SAYS,
        counts=", ".join(str(count) for count, _ in towers[0].joined),
        each=_join_all(each),
    )
    words = (JOINED, fill_text(JOINED_UNITS, split=split), says)
    return _draw_lines(
        "joined", {one.network: [loss for _, loss in one.joined] for one in towers}, words
    )


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "paths",
    TITLE,
    lambda found, question: draw_panel(found.answer, read_question(found.request, question)),
    function=FUNCTION,
    wish=lambda found, question: read_question(found.request, question),
    asks=tuple(KNOBS),
    needs="request",
)
