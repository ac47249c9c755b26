"""The folded panel “Queries and keys in one plane”, for every lab whose models record `vectors`
(models/explaining/query_key_plane.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from explorer.components import figure
from explorer.components.folded import Question, parse_head
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import Value
from explorer.contract.labels import Text, capitalise, fill_text, format_two_digits
from explorer.contract.labels import text as _
from explorer.engine import Function
from explorer.figures import plane as drawing
from explorer.page.views import Found, View, view_in_folded_panel
from models.explaining.query_key_plane import Head, Plane

TITLE: Final = _("Queries and keys in one plane", "查询与键在同一平面上")
INTRO: Final = _(
    "Each point is a query or a key that this head makes, over {n} stored texts; choose another"
    " head in the attention view. The nearer r is to 1, the more surely a query looks at the keys"
    " that lie near it.",
    "每个点是这个头在 {n} 段存储文本上产生的一个查询或键；可在注意力视图中选另一个头。r 越接近 1，"
    "查询就越确定地看向离它近的键。",
)
UNITS: Final = _(
    "two principal components of queries and keys together", "查询与键合在一起的前两个主成分"
)
SAYS: Final = _(
    "{kind}, head {name}: {queries} queries and {keys} keys. Among the keys of one query, nearness"
    " goes with the score at r = {whole} in all dimensions and at r = {plane} in this plane, which"
    " keeps {kept} of the spread.",
    "{kind}，头 {name}：{queries} 个查询，{keys} 个键。在同一查询的各个键之间，"
    "相近程度与分数的相关系数在全部维度中为 {whole}，"
    "在这个平面上为 {plane}；平面保留了 "
    "{kept} 的离散度。",
)
NOTE: Final = _(
    "Keys are moved onto the middle of the queries, which changes no weight; queries are multiplied"
    " by {scale} and keys divided by it, which changes no score. r is taken over the pairs of a"
    " text that see each other, each number less its mean over a query's keys. After AttentionViz"
    " (Yeh et al., 2023).",
    "键整体移到查询的中心，这不改变任何权重；查询乘以 {scale}、键除以它，这不改变任何分数。"
    "r 只计算同一文本中彼此可见的查询与键，每个数先减去该查询各键的平均。方法来自 "
    "AttentionViz（Yeh 等，2023）。",
)
NAMES: Final = {"en": ("query", "key"), "zh": ("查询", "键")}
AXES: Final = {"en": ("first component", "second component"), "zh": ("第一主成分", "第二主成分")}
MARKS: Final = (
    figure.Mark(_("query, ●", "查询，●"), drawing.QUERY),
    figure.Mark(_("key, ◆", "键，◆"), drawing.KEY),
)
COLOUR: Final = _("coloured by", "着色依据")
BY: Final = {
    "kind": _("query or key", "查询或键"),
    "position": shared.POSITION,
    "class": _("word class", "词类"),
}
PLACED: Final = _(
    "● query, ◆ key; dark: beginning of a text, light: its end",
    "● 查询，◆ 键；深色：文本开头，浅色：结尾",
)
CLASSED: Final = _(
    "● query, ◆ key; the class that the word has most often in UD English",
    "● 查询，◆ 键；该词在 UD 英语中最常见的词类",
)
# The classes that are told apart: the name of each, and its UD tags. A tag in none of them belongs
# to the last class.
CLASSES: Final = (
    (shared.NOUN, ("NOUN", "PROPN")),
    (shared.VERB, ("VERB", "AUX")),
    (_("adjective, adverb", "形容词、副词"), ("ADJ", "ADV")),
    (_("article, pronoun, number", "冠词、代词、数词"), ("DET", "PRON", "NUM")),
    (_("preposition, conjunction", "介词、连词"), ("ADP", "PART", "SCONJ", "CCONJ")),
    (_("other", "其他"), ()),
)
# kept apart by colour-blind eyes too; grey would not be
COLOURS: Final = (*(f"var(--cat-{n})" for n in (1, 2, 3, 6, 7)), "var(--ink)")
COLUMNS: Final = (
    _("what", "类别"),
    shared.PIECE,
    shared.POSITION,
    shared.TEXT,
    _("x", "x"),
    _("y", "y"),
)
SIDES: Final = (shared.KEY, shared.QUERY)


def find_chosen_head(
    question: Question,
    sizes: Mapping[str, tuple[int, int]],
    first: Sequence[Head],
    there: Mapping[str, str],
) -> Head:
    """Return the head that the address names, else the one of `first` that is of its kind.

    sizes: (layers, heads) of each kind of attention.
    there: those of the run in view, by the address' word for them.
    """
    begin = next(
        (one.kind for one in first if one.kind in there.values()), next(iter(there.values()))
    )
    kind = there.get(question.read_text("kind"), begin)
    place, (layers, heads) = parse_head(question.read_text("head")), sizes[kind]
    if place and place[0] < layers and place[1] < heads:
        return Head(kind, *place)
    return next((one for one in first if one.kind == kind), Head(kind, 0, 0))


def draw_plane(seen: Plane, head: Head, label: Text, name: str) -> Value:
    """Return the panel's drawing.

    label: that of the kind of attention.
    name: that of saved files.
    """
    whole = [seen.read[at] for at in seen.texts]
    count = int(seen.asks.sum())
    said = fill_text(
        SAYS,
        kind=capitalise(label),
        name=f"{head.layer + 1}·{head.head + 1}",
        queries=count,
        keys=len(seen.asks) - count,
        whole=format_two_digits(seen.before),
        plane=format_two_digits(seen.after),
        kept=f"{100 * seen.kept:.0f} %",
    )
    classes = [
        next(
            (at for at, (_name, belongs) in enumerate(CLASSES) if one in belongs), len(CLASSES) - 1
        )
        for one in seen.classes
    ]
    named: list[tuple[Text, ...]] = [(CLASSES[at][0],) for at in classes]
    rows = [
        (
            SIDES[int(asks)],
            piece,
            int(position),
            text,
            round(float(x), 4),
            round(float(y), 4),
            *more,
        )
        for asks, piece, position, text, (x, y), more in zip(
            seen.asks,
            seen.pieces,
            seen.positions,
            whole,
            seen.points,
            named or [()] * len(whole),
            strict=True,
        )
    ]
    looks: dict[str, tuple[Text, Sequence[figure.Mark], list[str] | None]] = {
        "kind": (UNITS, MARKS, None),
        "position": (PLACED, (), []),
        "class": (
            CLASSED,
            [figure.Mark(name, COLOURS[at]) for at, (name, _tags) in enumerate(CLASSES)],
            [COLOURS[at] for at in classes],
        ),
    }

    def draw_view(by: str) -> Value:
        units, marks, colours = looks[by]

        def draw(language: str) -> dict[str, Any]:
            texts = (
                [
                    f"{CLASSES[at][0][language]}: {text}"
                    for at, text in zip(classes, whole, strict=True)
                ]
                if by == "class"
                else whole
            )
            return drawing.draw_plane(
                seen.points,
                seen.asks,
                seen.pieces,
                seen.positions,
                texts,
                NAMES[language],
                AXES[language],
                colours,
            )

        columns = (*COLUMNS, BY["class"]) if classes else COLUMNS
        return figure.describe_drawn_figure(
            name,
            draw,
            (TITLE, units, said),
            columns,
            rows,
            marks,
            420,
            note=fill_text(NOTE, scale=f"{seen.scale:.2f}"),
        )

    there = [by for by in BY if by != "class" or classes]
    return {
        "notes": [dict(fill_text(INTRO, n=len(seen.read)))],
        "choices": [figure.describe_choice("planeby", COLOUR, {by: BY[by] for by in there})],
        "figures": [{"figure": draw_view(by), "when": {"planeby": by}} for by in there],
    }


def place_plane(
    function: Function,
    kinds: Mapping[str, Text],
    sizes: Mapping[str, tuple[int, int]] | Callable[[], Mapping[str, tuple[int, int]]],
    *first: Head,
    name: str,
    of: str = "",
) -> View[Any, Any]:
    """Return the panel of a lab.

    function: its `models.explaining.query_key_plane.make_plane_function`.
    kinds: names of its kinds of attention.
    sizes: (layers, heads) of each of these, or of each network, which has them all, "NETWORK.KIND";
        or a function that reads them when they are first needed.
    first: the heads that are shown while none is chosen. A KIND alone is that of every network.
    of: the field of a request that names the network whose kinds its run has; by default the run
        has all kinds.
    """

    @cache
    def list_heads() -> tuple[dict[str, tuple[int, int]], list[Head]]:
        known = sizes() if callable(sizes) else sizes
        every = dict(known)
        if not known.keys() <= kinds.keys():
            every = {f"{network}.{kind}": size for network, size in known.items() for kind in kinds}
        begins = [
            one if one.kind in every else replace(one, kind=f"{network}.{one.kind}")
            for one in first
            for network in known
        ]
        return every, begins

    def head(found: Found[Any, Any], question: Question) -> Head:
        every, begins = list_heads()
        there = {
            key.rpartition(".")[2]: key
            for key in every
            if not of or key.partition(".")[0] == getattr(found.request, of)
        }
        return find_chosen_head(question, every, begins, there)

    def draw_view(found: Found[Any, Any], question: Question) -> Value:
        one = head(found, question)
        return draw_plane(found.answer, one, kinds[one.kind.rpartition(".")[2]], f"{name}-plane")

    return view_in_folded_panel(
        "plane",
        TITLE,
        draw_view,
        asks=("kind", "head"),
        function=function,
        wish=head,
        needs="request",
    )
