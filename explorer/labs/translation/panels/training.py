"""The panel about training: the cost of good translation in 2017, and the training of this model.
All numbers of ours are read from model.json."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from explorer.components import figure
from explorer.components.folded import Value
from explorer.contract import labels
from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text, fill_text
from explorer.contract.labels import text as _
from explorer.figures import theme
from explorer.labs.translation.about import SLUG
from explorer.labs.translation.figures import training as drawing
from explorer.page import card_facts
from explorer.page.views import View, view_in_folded_panel
from models.explaining.errors import InputError
from models.translation.records import Explanation, Request

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Published:
    """A row of Table 2 of Vaswani et al. (2017): newstest2014, BLEU of tokenised text; operations
    of the training as estimated there."""

    name: str
    german: float  # BLEU, English to German
    french: float  # BLEU, English to French
    german_cost: float  # floating-point operations
    french_cost: float


TABLE: Final = (
    Published("GNMT + RL, 2016", 24.6, 39.92, 2.3e19, 1.4e20),
    Published("ConvS2S, 2017", 25.16, 40.46, 9.6e18, 1.5e20),
    Published("Transformer, base", 27.3, 38.1, 3.3e18, 3.3e18),
    Published("Transformer, big", 28.4, 41.8, 2.3e19, 2.3e19),
)
OPERATIONS = 6  # per parameter and position: a product and a sum forwards, twice as many backwards
# pieces that are never a target: padding and the start token get no share of the smoothing
NEVER = 2

TITLE: Final = _(
    "How was it trained, and how good was that at the time?", "它是怎样训练的？在当时算多好？"
)
NONE: Final = _("No trained model is shipped with this copy.", "这份程序没有附带训练好的模型。")
OURS: Final = _("This model, Multi30k", "本模型，Multi30k")
COLUMNS: Final = (
    _("system", "系统"),
    _("BLEU en→de", "BLEU 英→德"),
    _("BLEU en→fr", "BLEU 英→法"),
    _("operations en→de", "训练运算量 英→德"),
    _("operations en→fr", "训练运算量 英→法"),
    _("measured on", "测试集"),
)
NEWS: Final = _("newstest2014, tokenised BLEU", "newstest2014，分词后 BLEU")
CAPTIONS: Final = _("{split}, sacreBLEU", "{split}，sacreBLEU")
APART: Final = _(
    "The last row cannot be compared with the others: it translates short captions, they"
    " translate the news, and the two kinds of BLEU are counted differently. What can be"
    " compared is the architecture and, roughly, the cost.",
    "最后一行与其他行不可直接比较：它翻译简短的图片说明，它们翻译新闻，两种 BLEU 的计算方法也不"
    "同。可以比较的是结构，以及大致的开销。",
)
SOURCE: Final = _(
    "Published: Vaswani et al., 2017, Table 2, with operations as estimated there from training"
    " time, number of processors and their speed. Ours: {operations} operations for each of"
    " {parameters} parameters at each of {positions} target positions ({steps} updates of at most"
    " {batch}).",
    "已发表的数据：Vaswani 等，2017，表 2，运算量由训练时间、处理器数量及其速度估算。"
    "本模型：{parameters} 个参数在 {positions} 个目标位置"
    "（{steps} 次更新，每次最多 {batch} 个）上各 {operations} 次运算。",
)

COST: Final = _("What did good translation cost at the time?", "在当时，译得好要花多大代价？")
COST_UNITS: Final = _("dashed: published; solid: this model", "虚线：已发表；实心：本模型")
ELSEWHERE: Final = _("{value}, on {split}", "{value}，{split}")
COST_SAYS: Final = _(
    "Into German, the big Transformer reached {big} BLEU, {more} more than GNMT with as many"
    " operations; the base model beat both older systems there with {times} times fewer than"
    " GNMT. This model took about {ours} operations, {less} times fewer than the base model.",
    "英译德：大号 Transformer 以与 GNMT 相同的运算量达到 {big} BLEU，高出"
    " {more}；基础模型超过两个旧系统，运算量只有 GNMT 的 1/{times}。"
    "本模型约用 {ours} 次运算，是基础模型的 1/{less}。",
)
COST_AXES: Final = {
    "en": ("BLEU on newstest2014, English → German", "operations of training, logarithmic"),
    "zh": ("newstest2014 上的 BLEU，英→德", "训练运算量，对数"),
}
RATE: Final = _("How did the learning rate change?", "学习率怎样变化？")
RATE_UNITS: Final = _("learning rate over steps", "学习率随步数")
RATE_SAYS: Final = _(
    "The rate rises evenly to {peak} over the first {warmup} of {steps} steps, then falls with"
    " 1/√step, and over the last {cooldown} steps down to a twentieth of that. The shipped weights"
    " are the mean of {average} checkpoints, {every} steps apart.",
    "在 {steps} 步中的前 {warmup} 步，学习率匀速升到 {peak}，之后按 1/√步数 下降，最后 {cooldown}"
    " 步再降到其二十分之一。"
    "发布的权重是间隔 {every} 步的 {average} 个检查点的平均。",
)
RATE_AXES: Final = {"en": ("step", "learning rate"), "zh": ("步", "学习率")}
BY_FORMULA, BY_LOG, MEAN = (
    _("by the formula", "按公式"),
    _("in the training log", "训练日志"),
    _("checkpoints averaged", "取平均的检查点"),
)
SMOOTH: Final = _("What was its target?", "训练目标是什么？")
SMOOTH_UNITS: Final = _(
    "label smoothing, ε = {epsilon}; logarithmic", "标签平滑，ε = {epsilon}；对数坐标"
)
SMOOTH_SAYS: Final = _(
    "The right piece has the target {right} instead of 1; each of the {others} others has"
    " {each}, together {rest}. So the training loss cannot fall below {floor} nats, however good"
    " the model is.",
    "要求正确的词片得到的不是全部概率，而是 {right}；其余 {others} 个各得 {each}，合计 {rest}。"
    "因此训练损失永远不会低于 {floor} 纳特，无论模型多有把握。",
)
SMOOTH_AXES: Final = {"en": ("", "probability asked for"), "zh": ("", "要求的概率")}
PIECES: Final = {
    "en": ("the right piece", "each other piece"),
    "zh": ("正确的词片", "其他每个词片"),
}
HARD, SOFT = _("without smoothing", "不平滑"), _("as this model was trained", "本模型训练时")

DATA: Final = _("Data", "数据")
UPDATES: Final = _("Updates", "更新")
UPDATES_ARE: Final = _(
    "{steps}, of at most {batch} target pieces each", "{steps} 次，每次最多 {batch} 个目标词片"
)
OPTIMISER: Final = _("Optimiser", "优化器")
OPTIMISER_IS: Final = _(
    "Muon for the layers’ matrices, Adam for the rest; gradients longer than {clip} are clipped"
    " to it",
    "各层的矩阵用 Muon，其余参数用 Adam；长度超过 {clip} 的梯度被缩短到该值",
)
DROPOUT: Final = _("Dropout", "随机失活")
DROPOUT_IS: Final = _(
    "each number is set to 0 with probability {rate}, otherwise × {grown}, at {places} places:"
    " both embeddings and before every residual sum",
    "每个数以概率 {rate} 置 0，否则 × {grown}，共 {places} 处：两侧嵌入，以及每次残差相加之前",
)
AVERAGING: Final = _("Averaging", "取平均")
AVERAGING_IS: Final = _(
    "mean of the weights after steps {first} to {last}, every {every}",
    "第 {first} 到 {last} 步每 {every} 步权重的平均",
)
TIME: Final = _("Time", "用时")
TIME_IS: Final = _("{time} on {device}, seed {seed}", "{time}，{device}，随机种子 {seed}")
RESULT: Final = _("Held out", "留出集")
RESULT_IS: Final = _(
    "{value} {metric} on {split}, {n} sentences, beam {beam}",
    "{split} 上 {n} 句，{metric} {value}，束宽 {beam}",
)


# ---- derived from model.json


def compute_rate(schedule: Facts, step: float) -> float:
    """Return the learning rate of a step, counted from 1, like
    `models.training.loop.Schedule.rate`: a rise, a fall with a power, a cool-down."""
    warmup, cooldown = float(schedule["warmup"]), float(schedule["cooldown"])
    found = float(schedule["peak"]) * min(step / warmup, math.pow(warmup / step, schedule["decay"]))
    left = float(schedule["steps"]) - step
    return found * (0.05 + 0.95 * left / cooldown) if left < cooldown else found


def list_averaged_steps(schedule: Facts) -> list[int]:
    """Return the steps whose weights were averaged: the last `average` of those that were kept,
    every `every` steps and at the end."""
    kept = sorted(
        {*range(schedule["every"], schedule["steps"] + 1, schedule["every"]), schedule["steps"]}
    )
    return kept[-schedule["average"] :]


def count_operations(known: Facts) -> float:
    """Return the rough number of floating-point operations of the training: 6 per parameter and
    position, padding counted as full."""
    recipe = known["recipe"]
    return float(OPERATIONS * known["parameters"] * recipe["batch"] * recipe["schedule"]["steps"])


def compute_smoothed_targets(known: Facts) -> tuple[float, float]:
    """Return the target probabilities of the right piece and of every other one (Szegedy et al.,
    2016)."""
    epsilon, pieces = known["recipe"]["smoothing"], known["config"]["vocabulary"] - NEVER
    return 1 - epsilon + epsilon / pieces, epsilon / pieces


def compute_loss_floor(known: Facts) -> float:
    """Return the least value of the smoothed loss in nats: the entropy of the targets."""
    right, each = compute_smoothed_targets(known)
    others = known["config"]["vocabulary"] - NEVER - 1
    return -right * math.log(right) - (others * each * math.log(each) if each else 0.0)


def count_dropouts(known: Facts) -> int:
    """Return the number of places with dropout: both embeddings, two sublayers of each encoder
    layer, three of each decoder layer."""
    return int(2 + 5 * known["config"]["n_layers"])


# ---- the panel


def draw_panel(known: Facts, log: list[dict[str, float]]) -> Value:
    """Draw the panel. known: model.json; log: one entry per epoch, possibly none."""
    recipe, schedule = known["recipe"], known["recipe"]["schedule"]
    source = fill_text(
        SOURCE,
        operations=OPERATIONS,
        parameters=f"{known['parameters']:,}",
        positions=f"{recipe['batch'] * schedule['steps']:,}",
        steps=f"{schedule['steps']:,}",
        batch=recipe["batch"],
    )
    return {
        "table": {
            "columns": [dict(column) for column in COLUMNS],
            "rows": [{"cells": cells, "ours": ours} for cells, ours in _list_rows(known)],
        },
        "notes": [dict(APART), dict(source)],
        "figures": [
            {"figure": one}
            for one in (_draw_cost(known), _draw_rates(schedule, log), _draw_smoothing(known))
        ],
        "facts": [[dict(name), dict(what)] for name, what in _list_facts(known)],
    }


def _list_rows(known: Facts) -> Iterator[tuple[list[str | Text], bool]]:
    for row in TABLE:
        costs = [theme.format_number(cost) for cost in (row.german_cost, row.french_cost)]
        yield [row.name, f"{row.german:g}", f"{row.french:g}", *costs, dict(NEWS)], False
    where = dict(fill_text(CAPTIONS, split=_name_split(known)))
    yield (
        [
            dict(OURS),
            f"{known['figure']['value']:.1f}",
            "–",
            theme.format_number(count_operations(known)),
            "–",
            where,
        ],
        True,
    )


def _name_split(known: Facts) -> Text:
    return {
        language: f"Multi30k {said}"
        for language, said in labels.name_split(
            str(known["figure"]["split"]).removesuffix("_flickr")
        ).items()
    }


def _draw_cost(known: Facts) -> Value:
    gnmt, _conv, base, big = TABLE
    ours = count_operations(known)

    rivals = [drawing.System(row.name, row.german, row.german_cost) for row in TABLE]
    elsewhere = fill_text(
        ELSEWHERE, value=f"{known['figure']['value']:.1f}", split=_name_split(known)
    )
    systems = {
        language: [*rivals, drawing.System(OURS[language], None, ours, True, elsewhere[language])]
        for language in COST_AXES
    }
    drawn = {
        language: drawing.draw_costs(systems[language], axes)
        for language, axes in COST_AXES.items()
    }
    says = fill_text(
        COST_SAYS,
        big=f"{big.german:g}",
        more=f"{big.german - gnmt.german:.1f}",
        times=f"{gnmt.german_cost / base.german_cost:.0f}",
        ours=theme.format_number(ours),
        less=f"{float(f'{base.german_cost / ours:.2g}'):,.0f}",
    )
    rows: list[tuple[str | float | Text | None, ...]] = [
        (one.name, one.score, one.cost) for one in rivals
    ]
    rows.append((OURS, elsewhere, ours))
    return figure.describe_drawn_figure(
        "cost",
        drawn,
        (COST, COST_UNITS, says),
        (COLUMNS[0], COLUMNS[1], COLUMNS[3]),
        rows,
        height=250,
    )


def _draw_rates(schedule: Facts, log: list[dict[str, float]]) -> Value:
    steps = sorted(
        {
            *range(1, schedule["steps"] + 1, max(1, schedule["steps"] // 200)),
            schedule["warmup"],
            schedule["steps"],
        }
    )
    line = [(step, compute_rate(schedule, step)) for step in steps]
    logged = [(entry["step"], entry["rate"]) for entry in log]
    ticks = list_averaged_steps(schedule)
    drawn = {
        language: drawing.draw_rates(line, logged, ticks, axes)
        for language, axes in RATE_AXES.items()
    }
    says = fill_text(
        RATE_SAYS,
        **{
            name: f"{schedule[name]:,}"
            for name in ("peak", "warmup", "steps", "cooldown", "average", "every")
        },
    )
    marks = [
        figure.Mark(*one)
        for one in ((BY_FORMULA, drawing.OURS), (BY_LOG, drawing.LOGGED), (MEAN, drawing.AVERAGED))
    ]
    rows = [(int(step), compute_rate(schedule, step), had) for step, had in logged]
    return figure.describe_drawn_figure(
        "rate", drawn, (RATE, RATE_UNITS, says), (shared.STEP, BY_FORMULA, BY_LOG), rows, marks
    )


def _draw_smoothing(known: Facts) -> Value:
    right, each = compute_smoothed_targets(known)
    others = known["config"]["vocabulary"] - NEVER - 1
    drawn = {
        language: drawing.draw_targets((right, each), PIECES[language], axes)
        for language, axes in SMOOTH_AXES.items()
    }
    shares = {
        "right": f"{right:.4f}",
        "each": f"{each:.6f}",
        "rest": f"{others * each:.4f}",
        "floor": f"{compute_loss_floor(known):.2f}",
    }
    words = (
        SMOOTH,
        fill_text(SMOOTH_UNITS, epsilon=known["recipe"]["smoothing"]),
        fill_text(SMOOTH_SAYS, others=f"{others:,}", **shares),
    )
    marks = (figure.Mark(HARD, drawing.PUBLISHED, dashed=True), figure.Mark(SOFT, drawing.OURS))
    rows = [
        (_(PIECES["en"][n], PIECES["zh"][n]), *row)
        for n, row in enumerate(((1.0, right), (0.0, each)))
    ]
    return figure.describe_drawn_figure(
        "smoothing", drawn, words, (shared.PIECE, HARD, SOFT), rows, marks
    )


def _list_facts(known: Facts) -> Iterator[tuple[Text, Text]]:
    recipe, schedule, measured = known["recipe"], known["recipe"]["schedule"], known["figure"]
    dropout, chosen = known["config"]["dropout"], list_averaged_steps(schedule)
    yield DATA, _(known["data"], known["data"])
    yield UPDATES, fill_text(UPDATES_ARE, steps=f"{schedule['steps']:,}", batch=recipe["batch"])
    yield OPTIMISER, fill_text(OPTIMISER_IS, clip=f"{schedule['clip']:g}")
    yield (
        DROPOUT,
        fill_text(
            DROPOUT_IS, rate=dropout, grown=f"{1 / (1 - dropout):.2f}", places=count_dropouts(known)
        ),
    )
    yield (
        AVERAGING,
        fill_text(
            AVERAGING_IS, first=f"{chosen[0]:,}", last=f"{chosen[-1]:,}", every=schedule["every"]
        ),
    )
    yield (
        TIME,
        fill_text(
            TIME_IS,
            time=card_facts.format_duration(known["training_seconds"]),
            device=labels.name_device(known["training_device"]),
            seed=known["seed"],
        ),
    )
    held_out = {
        "value": f"{measured['value']:.1f}",
        "split": _name_split(known),
        **{name: measured[name] for name in ("metric", "n", "beam")},
    }
    yield RESULT, fill_text(RESULT_IS, **held_out)


def draw_shipped() -> Value:
    """Draw the panel of the shipped model. Raise InputError where none is shipped."""
    known = card_facts.facts(SLUG)
    if not known:
        raise InputError("no_model", en=NONE["en"], zh=NONE["zh"])
    return draw_panel(known, card_facts.read_training_log(SLUG))


PANEL: View[Request, Explanation] = view_in_folded_panel(
    "training", TITLE, lambda _found, _question: draw_shipped(), needs="request"
)  # the panel runs no model
