"""How long a network thinks against how hard its input is, for the pages of all networks that decide it themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from explorer.figures import depth
from explorer.labels import Text, filled
from explorer.labels import text as _
from explorer.widgets import figure

Value = dict[str, object]


DEPTH: Final = _("Hard things take longer", "难的想得更久")
COST: Final = _("mean ponder cost N + R", "平均思考代价 N + R")
ANSWERED: Final = _("right", "答对")
YOURS: Final = _("yours, {ponder}", "您的 {ponder}")
BY: Final = _("How long it thinks, by {what}", "想多久（按{what}）")  # where the means do not rise from level to level
MEANS: Final = _("{first}: {a} on average; {last}: {b}.", "{first}：平均 {a}；{last}：{b}。")
PEAK: Final = _("{first}: {a} on average; most with {most}: {c}; {last}: {b}.", "{first}：平均 {a}；{most}最多：{c}；{last}：{b}。")
OWN: Final = _("Yours, {level}: {mine}.", "您的输入（{level}）：{mine}。")
BAND: Final = _("mean ± one standard deviation", "均值 ± 一个标准差")
COLUMNS: Final = (
    _("mean N + R", "N + R 均值"),
    _("standard deviation", "标准差"),
    _("right", "答对的比例"),
    _("inputs", "输入数"),
)


def levels(ponder: Mapping[str, Mapping[str, Any]], accuracy: Mapping[str, float] | None = None) -> list[depth.Level]:
    """The levels of a measured figure, {"3": {"n", "mean", "deviation"[, "accuracy"]}, …}. accuracy: by level, if it stands elsewhere."""
    found = accuracy or {}
    return [
        depth.Level(
            float(name) if name.lstrip("-").replace(".", "", 1).isdigit() else name,
            float(one["mean"]),
            float(one["deviation"]),
            int(one["n"]),
            one.get("accuracy", found.get(name)),
        )
        for name, one in ponder.items()
    ]


def drawn(
    measured: Sequence[depth.Level],
    words: tuple[Text, Text, Text, Text],
    *,
    mine: tuple[float | str, float] | None = None,
    rivals: Sequence[depth.Rival] = (),
    ours: Text | None = None,
) -> Value | None:
    """How long a network thinks as the figure widget draws it; None where nothing was measured. Its title says that hard things take longer
    where each level takes longer than the one before, and else what is drawn.

    words: what makes it hard, "bits"; what was measured; a level in words, "{n} bit" and "{n} bits", though one that has a name is its own
    word. mine: level and N + R of the run in view. rivals: other networks' accuracy at the levels; ours: this one's name.
    """
    if not measured:
        return None

    axis, units, one, several = words

    def named(level: float | str) -> Text:
        if isinstance(level, str):
            return {"en": level, "zh": level}
        return filled(one if level == 1 else several, n=depth.named(level))

    first, last, most = measured[0], measured[-1], max(measured, key=lambda level: level.mean)
    ends = {"first": named(first.value), "a": f"{first.mean:.2f}", "last": named(last.value), "b": f"{last.mean:.2f}"}
    said = filled(MEANS if most in (first, last) else PEAK, **ends, most=named(most.value), c=f"{most.mean:.2f}")
    rises = all(easy.mean < hard.mean for easy, hard in pairwise(measured))
    if mine is not None:
        own = filled(OWN, level=named(mine[0]), mine=f"{mine[1]:.2f}")
        said = {"en": f"{said['en']} {own['en']}", "zh": f"{said['zh']}{own['zh']}"}
    both = any(level.accuracy is not None for level in measured)
    marks = [figure.Mark(ours if ours is not None and both else BAND, depth.OURS)]
    marks += [figure.Mark(rival.name, rival.colour) for rival in rivals if both]
    yours = None if mine is None else filled(YOURS, ponder=f"{mine[1]:.2f}")
    drawn_ = depth.difficulty(measured, mine=mine, axes=(axis, COST), yours=yours, answered=ANSWERED, rivals=rivals)
    rows = [
        (depth.named(level.value), level.mean, level.deviation, level.accuracy, level.n, *(rival.accuracy[i] for rival in rivals))
        for i, level in enumerate(measured)
    ]
    title, columns = DEPTH if rises else filled(BY, what=axis), (axis, *COLUMNS, *(rival.name for rival in rivals))
    words_ = (title, units, said)
    return figure.shown("ponder-by-difficulty", drawn_.__getitem__, words_, columns, rows, marks, height=270 if both else 210)
