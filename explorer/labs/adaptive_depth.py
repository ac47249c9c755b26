"""What the labs of networks that decide how long they think declare alike: knobs of the halting unit, the answer, what a change does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.controls import Control, Kind, Value, query
from explorer.figures import ponder
from explorer.labels import Text, change_sentence, filled
from explorer.labels import text as _
from explorer.program import Change
from explorer.widgets import ask, change
from models.thinking import Measured, Thinking

# The knobs, and what they change in words.
HALTS: Final = _("ε, halts at 1 − ε", "ε，累计到 1 − ε 即停")
BIAS: Final = _("halting bias", "停止偏置")
OFF, ON = _("off", "关"), _("on", "开")
IDLE: Final = _("no effect while the number is forced", "次数被强制时不起作用")
FORCED_TO: Final = _("exactly {count} for every {place}", "每个{place}恰好 {count}")
AT_EPSILON: Final = _("ε = {epsilon}", "ε = {epsilon}")
AT_MOST: Final = _("at most {count}", "最多 {count}")
BIASED: Final = _("{bias} on the halting unit", "停止单元的输入加 {bias}")

# The answer.
PONDER: Final = _("ponder cost {n}", "思考代价 {n}")
PONDER_MEANS: Final = _("Updates and remainder, N + R, the mean over the input", "更新次数加余量 N + R，在整个输入上取平均")
SURE: Final = _("least sure part {p}", "最不确定的部分 {p}")
SURE_MEANS: Final = _("The smallest probability that the network gave to a part of its answer", "网络给答案各部分的概率中最小的一个")

# What a change does.
POINTS: Final = _("points of accuracy, held out", "个百分点：留出数据的准确率")
OWN: Final = _("this input", "这个输入")
HELD_OUT: Final = _("{sample} held-out inputs", "{sample} 个留出的输入")
ANSWER: Final = _("answer", "回答")
COST: Final = _("ponder cost N + R", "思考代价 N + R")
ACCURACY: Final = _("accuracy, %", "准确率，%")
TIME: Final = _("time, ms", "用时，毫秒")
VERDICTS: Final[Mapping[str, Text]] = {
    "same": _("the same", "相同"),
    "other": _("another", "不同"),
    "lost": _("now wrong", "变错了"),
    "won": _("now right", "变对了"),
}
WITH: Final = _("With {changes}", "{changes}")
OTHER: Final = _("“{before}” becomes “⟦o:{after}⟧”", "“{before}”变成“⟦o:{after}⟧”")
SAME: Final = _("the answer stays “⟦o:{before}⟧”", "答案仍是“⟦o:{before}⟧”")
MEASURED: Final = _("on {sample} held-out inputs {right}, and {ponder}", "在 {sample} 个留出输入上，{right}，{ponder}")
RIGHT: Final = _("{after} of answers are right instead of {before}", "答对的比例由 {before} 变为 {after}")
RIGHT_SAME: Final = _("{before} of answers are right, as before", "答对的比例仍为 {before}")
COSTS: Final = _("on average each {place} costs {after} instead of {before}", "每个{place}的平均代价由 {before} 变为 {after}")
COSTS_SAME: Final = _("on average each {place} costs {before}, as before", "每个{place}的平均代价仍为 {before}")


@dataclass(frozen=True)
class Words:
    """What a lab calls things. place: what thinks, "input"; step, steps: one and several of its steps, "{n} update"; signal: a request
    without the step signal; say: an answer to a task, as a visitor reads it."""

    place: Text
    step: Text
    steps: Text
    signal: Text
    say: Callable[[str, str], str | Text]


def knobs(words: Words, labels: Mapping[str, Text], trained: Mapping[str, float]) -> tuple[Control, ...]:
    """The controls that change the halting unit. labels: of forced, limit and told. trained: task -> its limit as trained."""
    idle = ("forced", IDLE)

    def counted(n: int) -> Text:
        return filled(words.step if n == 1 else words.steps, n=n)

    knob = partial(Control, kind="number", change=True)
    return (
        knob("forced", labels["forced"], says=lambda n: filled(FORCED_TO, count=counted(n), place=words.place), names={0: OFF}),
        knob("limit", labels["limit"], says=lambda n: filled(AT_MOST, count=counted(n)), stands=("task", trained), idle=idle),
        knob("epsilon", HALTS, says=lambda e: filled(AT_EPSILON, epsilon=f"{e:g}"), step=0.01, idle=idle),
        knob("bias", BIAS, says=lambda b: filled(BIASED, bias=f"{b:+g}".replace("-", "−")), step=0.5, idle=idle),
        Control("told", labels["told"], "switch", names={True: ON, False: OFF}, change=True, says=lambda _told: words.signal),
    )


def typed(task: str, kind: Kind, label: Text, hint: Text, placeholder: str, **more: Any) -> Control:
    """How the text of a task is asked for. more: as of `Control`."""
    return Control("text", label, kind, hint=hint, placeholder=placeholder, when={"task": (task,)}, **more)


def mechanism(seen: Thinking, request: Any, state: str, words: Words, positions: Sequence[str], **more: Any) -> Value:
    """What the ponder widget draws of a run. positions, more: as of `explorer.figures.ponder.value`."""
    told = {"positions": positions, "axis": words.place, "say": partial(words.say, request.task), "forced": request.forced, **more}
    return ponder.value(seen, state=state, query=query(request), **told)


def answer(seen: Thinking, request: Any, words: Words, beside: Sequence[ask.Beside] = ()) -> Value:
    """What stands as the answer in the input bar. beside: what other networks answer."""
    sure = float(seen.probability.min())
    return ask.answer(
        getattr(request, "question", "") or request.text,
        words.say(request.task, seen.answer),
        right=seen.right,
        expected=words.say(request.task, seen.expected),
        facts=(
            (filled(PONDER, n=f"{seen.ponder:.2f}"), PONDER_MEANS),
            # What is not quite 1 does not read as 1.
            (filled(SURE, p="> 0.99" if 0.995 < sure < 1 else f"{sure:.2f}"), SURE_MEANS),
        ),
        beside=beside,
    )


def difference(
    seen: tuple[Thinking, Thinking], measured: tuple[Measured, Measured], request: Any, words: Words, changes: Text
) -> change.Difference:
    """What a change does, each pair before and after. changes: what is changed, in words."""
    (was, now), (held_was, held_now) = seen, measured
    before, after = (words.say(request.task, one.answer) for one in seen)
    held = filled(HELD_OUT, sample=held_was.sample)
    verdict = "same" if before == after else "lost" if was.right and not now.right else "won" if now.right and not was.right else "other"
    right_was, right_now = held_was.accuracy, held_now.accuracy
    took = (held_was.milliseconds, held_now.milliseconds)
    right = change_sentence(RIGHT, RIGHT_SAME, right_was, right_now, show=lambda share: f"{100 * share:.1f} %")
    ponder = change_sentence(COSTS, COSTS_SAME, held_was.ponder, held_now.ponder, place=words.place)
    answered = filled(SAME if verdict == "same" else OTHER, before=before, after=after)
    on_held_out = filled(MEASURED, sample=held_was.sample, right=right, ponder=ponder)
    with_ = filled(WITH, changes=changes)
    return change.Difference(
        change.Number(right_was, right_now, scale=100, digits=1, suffix=" %"),
        POINTS,
        (
            change.Row(OWN, ANSWER, "answer", before, after, right=(was.right, now.right), verdict=VERDICTS[verdict], kind=verdict),
            change.Row(OWN, COST, "ponder", was.ponder, now.ponder),
            change.Row(held, ACCURACY, "heldout_accuracy", right_was, right_now, scale=100, digits=1),
            change.Row(held, COST, "heldout_ponder", held_was.ponder, held_now.ponder),
            change.Row(held, TIME, "heldout_milliseconds", *took, digits=1 if took[0] < 10 else 0),
            change.Row(held, None, "heldout_inputs", held_was.sample, held_now.sample),
        ),
        {
            "en": f"{with_['en']}, {answered['en']}; {on_held_out['en']}.",
            "zh": f"{with_['zh']}：{answered['zh']}；{on_held_out['zh']}。",
        },
    )


def changes(measure: str, words: Words, **blank: str) -> Change[Any, Any]:
    """What a page declares of its changes. measure: the engine function of held-out inputs; blank: fields that it does not read."""
    return Change(
        lambda seen, measured, request, what: difference(seen, measured, request, words, what),
        measure,
        lambda request, _before: replace(request, **blank),
    )


def interventions(start: Any) -> dict[str, Any]:
    """Each knob of the halting unit where it tells, by its name."""
    told = {"forced": 1, "epsilon": 0.9, "limit": 1, "bias": 5.0, "told": False}
    return {name: replace(start, **{name: value}) for name, value in told.items()}


def towers(counts: NDArray[np.integer]) -> NDArray[np.float32]:
    """How long each is thought about, as a picture: a column for each of `counts`, a row for each step, the first below; NaN: none."""
    most = int(counts.max())
    step = np.arange(most, 0, -1)[:, None]
    return np.where(step <= counts, 0.15 + 0.85 * step / most, np.nan).astype(np.float32)
