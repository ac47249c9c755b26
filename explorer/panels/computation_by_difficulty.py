"""The number of steps of a network against the difficulty of its input, for the pages of all
networks with adaptive computation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from explorer.components import figure
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text
from explorer.contract.labels import text as _
from explorer.figures import depth

Value = dict[str, object]


DEPTH: Final = _("Hard things take longer", "难的想得更久")
COST: Final = _("mean ponder cost N + R", "平均思考代价 N + R")
ANSWERED: Final = _("right", "答对")
YOURS: Final = _("yours, {ponder}", "您的 {ponder}")
# for means that do not rise from level to level
BY: Final = _("How long it thinks, by {what}", "想多久（按{what}）")
MEANS: Final = _("{first}: {a} on average; {last}: {b}.", "{first}：平均 {a}；{last}：{b}。")
PEAK: Final = _(
    "{first}: {a} on average; most with {most}: {c}; {last}: {b}.",
    "{first}：平均 {a}；{most}最多：{c}；{last}：{b}。",
)
OWN: Final = _("Yours, {level}: {mine}.", "您的输入（{level}）：{mine}。")
BAND: Final = _("mean ± one standard deviation", "均值 ± 一个标准差")
COLUMNS: Final = (
    shared.MEAN_N_R,
    shared.STANDARD_DEVIATION,
    _("right", "答对的比例"),
    _("inputs", "输入数"),
)


def read_levels(
    ponder: Mapping[str, Mapping[str, Any]], accuracy: Mapping[str, float] | None = None
) -> list[depth.Level]:
    """Return the levels of a measured figure, {"3": {"n", "mean", "deviation"[, "accuracy"]}, …}.

    accuracy: by level, if it stands elsewhere.
    """
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


def draw_figure(
    measured: Sequence[depth.Level],
    words: tuple[Text, Text, Text, Text],
    *,
    mine: tuple[float | str, float] | None = None,
    rivals: Sequence[depth.Rival] = (),
    ours: Text | None = None,
) -> Value | None:
    """Draw the number of steps by difficulty for the figure widget; None where nothing was
    measured. The title says that hard things take longer where each level takes longer than the one
    before, and otherwise it names the axes.

    words: the name of the difficulty, "bits"; the measured quantity; a level in words, "{n} bit"
        and "{n} bits". A level with a name is its own word.
    mine: level and N + R of the run in view.
    rivals: other networks' accuracy at the levels.
    ours: this network's name.
    """
    if not measured:
        return None

    axis, units, one, several = words

    def label_level(level: float | str) -> Text:
        if isinstance(level, str):
            return {"en": level, "zh": level}
        return fill_text(one if level == 1 else several, n=depth.name_level(level))

    first, last, most = measured[0], measured[-1], max(measured, key=lambda level: level.mean)
    ends = {
        "first": label_level(first.value),
        "a": f"{first.mean:.2f}",
        "last": label_level(last.value),
        "b": f"{last.mean:.2f}",
    }
    said = fill_text(
        MEANS if most in (first, last) else PEAK,
        **ends,
        most=label_level(most.value),
        c=f"{most.mean:.2f}",
    )
    rises = all(easy.mean < hard.mean for easy, hard in pairwise(measured))
    if mine is not None:
        own = fill_text(OWN, level=label_level(mine[0]), mine=f"{mine[1]:.2f}")
        said = {"en": f"{said['en']} {own['en']}", "zh": f"{said['zh']}{own['zh']}"}
    both = any(level.accuracy is not None for level in measured)
    marks = [figure.Mark(ours if ours is not None and both else BAND, depth.OURS)]
    marks += [figure.Mark(rival.name, rival.colour) for rival in rivals if both]
    yours = None if mine is None else fill_text(YOURS, ponder=f"{mine[1]:.2f}")
    drawn_ = depth.draw_difficulty(
        measured, mine=mine, axes=(axis, COST), yours=yours, answered=ANSWERED, rivals=rivals
    )
    rows = [
        (
            depth.name_level(level.value),
            level.mean,
            level.deviation,
            level.accuracy,
            level.n,
            *(rival.accuracy[i] for rival in rivals),
        )
        for i, level in enumerate(measured)
    ]
    title, columns = (
        DEPTH if rises else fill_text(BY, what=axis),
        (axis, *COLUMNS, *(rival.name for rival in rivals)),
    )
    words_ = (title, units, said)
    return figure.describe_drawn_figure(
        "ponder-by-difficulty",
        drawn_.__getitem__,
        words_,
        columns,
        rows,
        marks,
        height=270 if both else 210,
    )
