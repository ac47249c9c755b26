"""The folded panel “Queries and keys in one plane”, for every lab whose models say `vectors` (models/plane.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from explorer.controls import Value
from explorer.engine import Function
from explorer.figures import plane as drawing
from explorer.labels import Text, filled, raised, two
from explorer.labels import text as _
from explorer.views import Found, View, unfolded
from explorer.widgets import figure
from explorer.widgets.folded import Question, place_of
from models.plane import Head, Plane

TITLE: Final = _("Queries and keys in one plane", "查询与键在同一平面上")
INTRO: Final = _(
    "Each point is a query or a key that this head makes, over {n} stored texts; choose another head in the attention view. The "
    "nearer r is to 1, the more surely a query looks at the keys that lie near it.",
    "每个点是这个头在 {n} 段存储文本上产生的一个查询或键；可在注意力视图中选另一个头。r 越接近 1，查询就越确定地看向离它近的键。",
)
UNITS: Final = _("two principal components of queries and keys together", "查询与键合在一起的前两个主成分")
SAYS: Final = _(
    "{kind}, head {name}: {queries} queries and {keys} keys. Among the keys of one query, nearness goes with the score "
    "at r = {whole} in all dimensions and at r = {plane} in this plane, which keeps {kept} of the spread.",
    "{kind}，头 {name}：{queries} 个查询，{keys} 个键。在同一查询的各个键之间，相近程度与分数的相关系数在全部维度中为 {whole}，"
    "在这个平面上为 {plane}；平面保留了 "
    "{kept} 的离散度。",
)
NOTE: Final = _(
    "Keys are moved onto the middle of the queries, which changes no weight; queries are multiplied by {scale} and keys divided by "
    "it, which changes no score. r is taken over the pairs of a text that see each other, each number less its mean over a "
    "query's keys. After AttentionViz (Yeh et al., 2023).",
    "键整体移到查询的中心，这不改变任何权重；查询乘以 {scale}、键除以它，这不改变任何分数。"
    "r 只计算同一文本中彼此可见的查询与键，每个数先减去该查询各键的平均。方法来自 "
    "AttentionViz（Yeh 等，2023）。",
)
NAMES: Final = {"en": ("query", "key"), "zh": ("查询", "键")}
AXES: Final = {"en": ("first component", "second component"), "zh": ("第一主成分", "第二主成分")}
MARKS: Final = (figure.Mark(_("query, ●", "查询，●"), drawing.QUERY), figure.Mark(_("key, ◆", "键，◆"), drawing.KEY))
COLOUR: Final = _("coloured by", "着色依据")
BY: Final = {"kind": _("query or key", "查询或键"), "position": _("position", "位置"), "class": _("word class", "词类")}
PLACED: Final = _("● query, ◆ key; dark: beginning of a text, light: its end", "● 查询，◆ 键；深色：文本开头，浅色：结尾")
CLASSED: Final = _("● query, ◆ key; the class that the word has most often in UD English", "● 查询，◆ 键；该词在 UD 英语中最常见的词类")
# Of each class that is told apart: its name, and what UD calls what belongs to it. What stands in none of them is the last one's.
CLASSES: Final = (
    (_("noun", "名词"), ("NOUN", "PROPN")),
    (_("verb", "动词"), ("VERB", "AUX")),
    (_("adjective, adverb", "形容词、副词"), ("ADJ", "ADV")),
    (_("article, pronoun, number", "冠词、代词、数词"), ("DET", "PRON", "NUM")),
    (_("preposition, conjunction", "介词、连词"), ("ADP", "PART", "SCONJ", "CCONJ")),
    (_("other", "其他"), ()),
)
COLOURS: Final = (*(f"var(--cat-{n})" for n in (1, 2, 3, 6, 7)), "var(--ink)")  # kept apart by colour-blind eyes too, grey would not be
COLUMNS: Final = (_("what", "类别"), _("piece", "词片"), _("position", "位置"), _("text", "文本"), _("x", "x"), _("y", "y"))
SIDES: Final = (_("key", "键"), _("query", "查询"))


def wished(question: Question, sizes: Mapping[str, tuple[int, int]], first: Sequence[Head], there: Mapping[str, str]) -> Head:
    """The head that the address names, else the one of `first` that is of its kind. sizes: (layers, heads) of each kind of attention;
    there: those of the run in view, by the address' word for them."""
    begin = next((one.kind for one in first if one.kind in there.values()), next(iter(there.values())))
    kind = there.get(question.said("kind"), begin)
    place, (layers, heads) = place_of(question.said("head")), sizes[kind]
    if place and place[0] < layers and place[1] < heads:
        return Head(kind, *place)
    return next((one for one in first if one.kind == kind), Head(kind, 0, 0))


def value(seen: Plane, head: Head, label: Text, name: str) -> Value:
    """What the panel draws. label: of the kind of attention; name: of saved files."""
    whole = [seen.read[at] for at in seen.texts]
    count = int(seen.asks.sum())
    said = filled(
        SAYS,
        kind=raised(label),
        name=f"{head.layer + 1}·{head.head + 1}",
        queries=count,
        keys=len(seen.asks) - count,
        whole=two(seen.before),
        plane=two(seen.after),
        kept=f"{100 * seen.kept:.0f} %",
    )
    classes = [next((at for at, (_name, belongs) in enumerate(CLASSES) if one in belongs), len(CLASSES) - 1) for one in seen.classes]
    named: list[tuple[Text, ...]] = [(CLASSES[at][0],) for at in classes]
    rows = [
        (SIDES[int(asks)], piece, int(position), text, round(float(x), 4), round(float(y), 4), *more)
        for asks, piece, position, text, (x, y), more in zip(
            seen.asks, seen.pieces, seen.positions, whole, seen.points, named or [()] * len(whole), strict=True
        )
    ]
    looks: dict[str, tuple[Text, Sequence[figure.Mark], list[str] | None]] = {
        "kind": (UNITS, MARKS, None),
        "position": (PLACED, (), []),
        "class": (CLASSED, [figure.Mark(name, COLOURS[at]) for at, (name, _tags) in enumerate(CLASSES)], [COLOURS[at] for at in classes]),
    }

    def drawn(by: str) -> Value:
        units, marks, colours = looks[by]

        def draw(language: str) -> dict[str, Any]:
            texts = [f"{CLASSES[at][0][language]}: {text}" for at, text in zip(classes, whole, strict=True)] if by == "class" else whole
            return drawing.scatter(seen.points, seen.asks, seen.pieces, seen.positions, texts, NAMES[language], AXES[language], colours)

        columns = (*COLUMNS, BY["class"]) if classes else COLUMNS
        return figure.shown(name, draw, (TITLE, units, said), columns, rows, marks, 420, note=filled(NOTE, scale=f"{seen.scale:.2f}"))

    there = [by for by in BY if by != "class" or classes]
    return {
        "notes": [dict(filled(INTRO, n=len(seen.read)))],
        "choices": [figure.choice("planeby", COLOUR, {by: BY[by] for by in there})],
        "figures": [{"figure": drawn(by), "when": {"planeby": by}} for by in there],
    }


def in_one_plane(
    function: Function,
    kinds: Mapping[str, Text],
    sizes: Mapping[str, tuple[int, int]],
    *first: Head,
    name: str,
    of: str = "",
) -> View[Any, Any]:
    """The panel of a lab. function: its `models.plane.drawn_by`. kinds: names of its kinds of attention. sizes: (layers, heads) of each of
    these, or of each network, which has them all, "NETWORK.KIND". first: the heads that are shown while none is chosen; a KIND alone is
    that of every network. of: the field of a request that says whose kinds its run has; of all, if left out."""
    every = dict(sizes)
    if not sizes.keys() <= kinds.keys():
        every = {f"{network}.{kind}": size for network, size in sizes.items() for kind in kinds}
    begins = [one if one.kind in every else replace(one, kind=f"{network}.{one.kind}") for one in first for network in sizes]

    def head(found: Found[Any, Any], question: Question) -> Head:
        there = {key.rpartition(".")[2]: key for key in every if not of or key.partition(".")[0] == getattr(found.request, of)}
        return wished(question, every, begins, there)

    def drawn(found: Found[Any, Any], question: Question) -> Value:
        one = head(found, question)
        return value(found.answer, one, kinds[one.kind.rpartition(".")[2]], f"{name}-plane")

    return unfolded("plane", TITLE, drawn, asks=("kind", "head"), function=function, wish=head, needs="request")
