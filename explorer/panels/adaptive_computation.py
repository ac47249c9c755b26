"""The declarations that labs with adaptive computation share: knobs of the halting unit, the
answer, the effect of a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.components import change_panel, input_bar
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import Control, SliderControl, SwitchControl, Value
from explorer.contract.controls import spell_query
from explorer.contract.labels import Text, fill_text, write_change_sentence
from explorer.contract.labels import text as _
from explorer.figures import ponder
from explorer.page.program import Change
from models.adaptive_computation.records import MeasuredSample, Thinking

# The knobs, and their changes in words.
HALTS: Final = _("ε, halts at 1 − ε", "ε，累计到 1 − ε 即停")
BIAS: Final = _("halting bias", "停止偏置")
OFF, ON = shared.SWITCHED_OFF, shared.SWITCHED_ON
IDLE: Final = _("no effect while the number is forced", "次数被强制时不起作用")
FORCED_TO: Final = _("exactly {count} for every {place}", "每个{place}恰好 {count}")
AT_EPSILON: Final = _("ε = {epsilon}", "ε = {epsilon}")
AT_MOST: Final = _("at most {count}", "最多 {count}")
BIASED: Final = _("{bias} on the halting unit", "停止单元的输入加 {bias}")

# The answer.
PONDER: Final = _("ponder cost {n}", "思考代价 {n}")
PONDER_MEANS: Final = _(
    "Updates and remainder, N + R, the mean over the input",
    "更新次数加余量 N + R，在整个输入上取平均",
)
SURE: Final = _("least sure part {p}", "最不确定的部分 {p}")
SURE_MEANS: Final = _(
    "The smallest probability that the network gave to a part of its answer",
    "网络给答案各部分的概率中最小的一个",
)

# The effect of a change.
POINTS: Final = _("points of accuracy, held out", "个百分点：留出数据的准确率")
OWN: Final = _("this input", "这个输入")
HELD_OUT: Final = _("{sample} held-out inputs", "{sample} 个留出的输入")
ANSWER: Final = shared.ANSWER
COST: Final = _("ponder cost N + R", "思考代价 N + R")
ACCURACY: Final = _("accuracy, %", "准确率，%")
TIME: Final = _("time, ms", "用时，毫秒")
VERDICTS: Final[Mapping[str, Text]] = {
    "same": shared.THE_SAME,
    "other": shared.ANOTHER,
    "lost": shared.NOW_WRONG,
    "won": shared.NOW_RIGHT,
}
WITH: Final = _("With {changes}", "{changes}")
OTHER: Final = _("“{before}” becomes “⟦o:{after}⟧”", "“{before}”变成“⟦o:{after}⟧”")
SAME: Final = _("the answer stays “⟦o:{before}⟧”", "答案仍是“⟦o:{before}⟧”")
MEASURED: Final = _(
    "on {sample} held-out inputs {right}, and {ponder}",
    "在 {sample} 个留出输入上，{right}，{ponder}",
)
RIGHT: Final = _(
    "{after} of answers are right instead of {before}", "答对的比例由 {before} 变为 {after}"
)
RIGHT_SAME: Final = _("{before} of answers are right, as before", "答对的比例仍为 {before}")
COSTS: Final = _(
    "on average each {place} costs {after} instead of {before}",
    "每个{place}的平均代价由 {before} 变为 {after}",
)
COSTS_SAME: Final = _(
    "on average each {place} costs {before}, as before", "每个{place}的平均代价仍为 {before}"
)


@dataclass(frozen=True)
class LabWords:
    """The words of a lab.

    place: the thing that is computed on, "input".
    step, steps: one and several of its steps, "{n} update".
    signal: a request without the step signal.
    say: an answer to a task, for a visitor.
    """

    place: Text
    step: Text
    steps: Text
    signal: Text
    say: Callable[[str, str], str | Text]


def list_halting_controls(
    words: LabWords, labels: Mapping[str, Text], trained: Mapping[str, float]
) -> tuple[Control, ...]:
    """Return the controls that change the halting unit.

    labels: those of forced, limit and step_signal.
    trained: task -> its limit as trained.
    """
    idle = ("forced", IDLE)

    def count_steps(n: int) -> Text:
        return fill_text(words.step if n == 1 else words.steps, n=n)

    knob = partial(SliderControl, change=True)
    return (
        knob(
            "forced",
            labels["forced"],
            says=lambda n: fill_text(FORCED_TO, count=count_steps(n), place=words.place),
            names={0: OFF},
        ),
        knob(
            "limit",
            labels["limit"],
            says=lambda n: fill_text(AT_MOST, count=count_steps(n)),
            stands=("task", trained),
            idle=idle,
        ),
        knob(
            "epsilon",
            HALTS,
            says=lambda e: fill_text(AT_EPSILON, epsilon=f"{e:g}"),
            step=0.01,
            idle=idle,
        ),
        knob(
            "bias",
            BIAS,
            says=lambda b: fill_text(BIASED, bias=f"{b:+g}".replace("-", "−")),
            step=0.5,
            idle=idle,
        ),
        SwitchControl(
            "step_signal",
            labels["step_signal"],
            names={True: ON, False: OFF},
            change=True,
            says=lambda _added: words.signal,
        ),
    )


def draw_ponder(
    explanation: Thinking,
    request: Any,
    state: str,
    words: LabWords,
    positions: Sequence[str],
    **more: Any,
) -> Value:
    """Return the ponder widget's drawing of a run.

    positions, more: as in `explorer.figures.ponder.draw_ponder`.
    """
    told = {
        "positions": positions,
        "axis": words.place,
        "say": partial(words.say, request.task),
        "forced": request.forced,
        **more,
    }
    return ponder.draw_ponder(explanation, state=state, query=spell_query(request), **told)


def describe_answer(
    explanation: Thinking, request: Any, words: LabWords, beside: Sequence[input_bar.Beside] = ()
) -> Value:
    """Return the answer in the input bar.

    beside: the answers of other networks.
    """
    sure = float(explanation.probability.min())
    return input_bar.describe_answer(
        getattr(request, "question", "") or request.text,
        words.say(request.task, explanation.answer),
        right=explanation.is_right,
        expected=words.say(request.task, explanation.expected),
        facts=(
            (fill_text(PONDER, n=f"{explanation.ponder:.2f}"), PONDER_MEANS),
            # A value just below 1 must not be printed as 1.
            (fill_text(SURE, p="> 0.99" if 0.995 < sure < 1 else f"{sure:.2f}"), SURE_MEANS),
        ),
        beside=beside,
    )


def describe_difference(
    explanations: tuple[Thinking, Thinking],
    measured: tuple[MeasuredSample, MeasuredSample],
    request: Any,
    words: LabWords,
    changes: Text,
) -> change_panel.Difference:
    """Return the effect of a change, each pair before and after.

    changes: the changes, in words.
    """
    (was, now), (held_was, held_now) = explanations, measured
    before, after = (words.say(request.task, one.answer) for one in explanations)
    held = fill_text(HELD_OUT, sample=held_was.sample)
    verdict = (
        "same"
        if before == after
        else "lost"
        if was.is_right and not now.is_right
        else "won"
        if now.is_right and not was.is_right
        else "other"
    )
    right_was, right_now = held_was.accuracy, held_now.accuracy
    took = (held_was.milliseconds, held_now.milliseconds)
    right = write_change_sentence(
        RIGHT, RIGHT_SAME, right_was, right_now, show=lambda share: f"{100 * share:.1f} %"
    )
    ponder = write_change_sentence(
        COSTS, COSTS_SAME, held_was.ponder, held_now.ponder, place=words.place
    )
    answered = fill_text(SAME if verdict == "same" else OTHER, before=before, after=after)
    on_held_out = fill_text(MEASURED, sample=held_was.sample, right=right, ponder=ponder)
    with_ = fill_text(WITH, changes=changes)
    return change_panel.Difference(
        change_panel.ChangedNumber(right_was, right_now, scale=100, digits=1, suffix=" %"),
        POINTS,
        (
            change_panel.Row(
                OWN,
                ANSWER,
                "answer",
                before,
                after,
                right=(was.is_right, now.is_right),
                verdict=VERDICTS[verdict],
                kind=verdict,
            ),
            change_panel.Row(OWN, COST, "ponder", was.ponder, now.ponder),
            change_panel.Row(
                held, ACCURACY, "heldout_accuracy", right_was, right_now, scale=100, digits=1
            ),
            change_panel.Row(held, COST, "heldout_ponder", held_was.ponder, held_now.ponder),
            change_panel.Row(
                held, TIME, "heldout_milliseconds", *took, digits=1 if took[0] < 10 else 0
            ),
            change_panel.Row(held, None, "heldout_inputs", held_was.sample, held_now.sample),
        ),
        {
            "en": f"{with_['en']}, {answered['en']}; {on_held_out['en']}.",
            "zh": f"{with_['zh']}：{answered['zh']}；{on_held_out['zh']}。",
        },
    )


def declare_change(measure: str, words: LabWords, **blank: str) -> Change[Any, Any]:
    """Return a page's declaration of its changes.

    measure: the engine function of held-out inputs.
    blank: fields that it does not read.
    """
    return Change(
        lambda seen, measured, request, what: describe_difference(
            seen, measured, request, words, what
        ),
        measure,
        lambda request, _before: replace(request, **blank),
    )


def list_interventions(start: Any) -> dict[str, Any]:
    """Return each knob of the halting unit at a telling value, by its name."""
    told = {"forced": 1, "epsilon": 0.9, "limit": 1, "bias": 5.0, "step_signal": False}
    return {name: replace(start, **{name: value}) for name, value in told.items()}


def draw_towers(counts: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the number of steps at each position as a picture: a column for each of `counts`, a
    row for each step, the first below; NaN for an empty cell."""
    most = int(counts.max())
    step = np.arange(most, 0, -1)[:, None]
    return np.where(step <= counts, 0.15 + 0.85 * step / most, np.nan).astype(np.float32)
