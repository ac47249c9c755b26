"""The texts of the new lab, English and Chinese, and its guided steps. Sentences that begin with
“[to write]” are still to be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("[to write] Digits backwards", "【待写】倒写数字")
SHORT: Final = _("New lab", "新实验")
LINE: Final = _(
    "[to write] A small Transformer writes digits backwards.",
    "【待写】一个小型 Transformer 把数字倒着写。",
)
CARD: Final = _("[to write]\nWrites digits\nbackwards.", "【待写】\n把数字\n倒着写。")
KICKER: Final = _("Vaswani et al., 2017 · arXiv 1706.03762", "Vaswani 等，2017 · arXiv 1706.03762")
EQUATION: Final = (
    "Attention({query:Q}, {key:K}, {value:V}) = softmax({query:Q}{key:K}{sup:T} / {root:d})"
    " {value:V}"
)
SPOKEN: Final = _(
    "attention of Q, K and V is the softmax of Q times K transposed over the square root of d,"
    " times V",
    "Q、K、V 的注意力等于 Q 乘 K 的转置除以 d 的平方根，经 softmax 后乘 V",
)

# ---- the input

REGION: Final = _("What the network is asked", "问网络什么")
PROMPT: Final = _("Digits to write backwards", "要倒写的数字")
HINT: Final = _("Up to {most} digits.", "最多 {most} 位数字。")
EXAMPLES: Final[tuple[Text, ...]] = (
    _("[to write] Eight digits", "【待写】八位数字"),
    _("[to write] Seven digits", "【待写】七位数字"),
    _("[to write] Five digits", "【待写】五位数字"),
)
SURE: Final = _("least sure digit {p}", "最不确定的一位 {p}")
SURE_MEANS: Final = _(
    "The smallest probability that the network gave to a digit of its answer",
    "网络给答案各位数字的概率中最小的一个",
)

# ---- the mechanism

KIND: Final = _("self-attention", "自注意力")
QUESTION: Final = _("Which digit does each place copy?", "每个位置抄写哪一位数字？")
LENGTHS: Final = _("[to write] Longer is harder?", "【待写】越长越难吗？")
LENGTHS_UNITS: Final = _(
    "share of right digits on held-out inputs, higher is better",
    "留出输入上答对的数字比例，越高越好",
)
LENGTHS_SAYS: Final = _(
    "At {length} digits the share of right digits is lowest: {share}.",
    "{length} 位数字时答对的比例最低：{share}。",
)
LENGTH: Final = _("digits of the input", "输入的位数")
SHARE: Final = _("share of right digits", "答对的数字比例")
NOTES: Final[tuple[Text, ...]] = (
    _(
        "[to write] The network is told where a digit stands from both ends.",
        "【待写】网络知道每位数字从两端数起的位置。",
    ),
)

# ---- the changes

HEAD: Final = _("head {name}", "头 {name}")
LAYERS: Final = _("layers used", "使用的层数")
ALL: Final = _("all", "全部")
ONLY: Final = _("with {n} layers", "只用 {n} 层")
OWN: Final = _("this input", "这个输入")
HELD_OUT: Final = _("{sample} held-out inputs", "{sample} 个留出的输入")
ANSWER: Final = _("answer", "回答")
POINTS: Final = _("points of accuracy, held out", "个百分点：留出数据的准确率")
VERDICTS: Final[Mapping[str, Text]] = {"same": _("the same", "相同"), "other": _("another", "不同")}
SAME: Final = _("the answer stays “⟦o:{before}⟧”", "答案仍是“⟦o:{before}⟧”")
OTHER: Final = _("“{before}” becomes “⟦o:{after}⟧”", "“{before}”变成“⟦o:{after}⟧”")
RIGHT_NOW: Final = _(
    "on held-out inputs {after} of digits are right instead of {before}",
    "在留出输入上，答对的数字由 {before} 变为 {after}",
)
RIGHT_STILL: Final = _(
    "on held-out inputs {before} of digits are right, as before",
    "在留出输入上，答对的数字仍为 {before}",
)

# ---- the card

GENERATED: Final = _("generated", "生成")
RIGHT: Final = _("digits right, {split}", "答对的数字，{split}")
CURVE_UNITS: Final = _(
    "share of wrong digits on held-out inputs, lower is better",
    "留出输入上答错的数字比例，越低越好",
)
CURVE_SAYS: Final = _(
    "At the end of training, of held-out digits are wrong: {figures}.",
    "训练结束时留出数字的错误率：{figures}。",
)
SEEN: Final = _("inputs seen", "看过的输入")
WRONG: Final = _("share wrong", "错误率")
CURVE_AXES: Final = (SEEN, WRONG)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "answer": _("[to write] The answer", "【待写】答案"),
    "head": _("[to write] One head", "【待写】一个头"),
    "row": _("[to write] One row", "【待写】一行"),
    "shorter": _("[to write] A shorter input", "【待写】更短的输入"),
    "silence": _("[to write] Silence heads", "【待写】关掉注意力头"),
}
STEPS: Final[Mapping[str, Text]] = {
    "answer": _(
        "All places of the answer are written at once, one for each digit.",
        "答案的各个位置同时写出，每位数字一个。",
    ),
    "head": _(
        "This head looks from each place to the digit that belongs there.",
        "这个头从每个位置看向应写在那里的数字。",
    ),
    "row": _(
        "The first place asks: its row of weights adds up to 1.",
        "第一个位置在提问：它这一行的权重之和为 1。",
    ),
    "shorter": _(
        "With fewer digits the same head still finds the other end.",
        "数字更少时，同一个头仍能找到另一端。",
    ),
    "silence": _(
        "Without the heads of the first layer it answers again; the number says how many held-out"
        " digits are still right.",
        "关掉第一层的头再答一遍；数字说明留出的数字还有多少是对的。",
    ),
}

# Facts for a lecture on each step: its question, what the lecturer does, 1: always, 2: may be
# skipped, 3: for a long lecture.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "answer": _("[to write] What is the answer?", "【待写】答案是什么？"),
    "head": _("[to write] Where does one head look?", "【待写】一个头看向哪里？"),
    "row": _("[to write] What does a row add up to?", "【待写】一行加起来是多少？"),
    "shorter": _("[to write] What if the input is shorter?", "【待写】输入更短会怎样？"),
    "silence": _("[to write] What were these heads for?", "【待写】这些头有什么用？"),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "answer": _("[to write] Read the answer.", "【待写】读出答案。"),
    "head": _("[to write] Click another row.", "【待写】点另一行。"),
    "row": _("[to write] Add the row up.", "【待写】把这一行加起来。"),
    "shorter": _("[to write] Compare with the longer input.", "【待写】与更长的输入比较。"),
    "silence": _("[to write] Hold B for the run before.", "【待写】按住 B 看之前的运行。"),
}
STEP_RANKS: Final[Mapping[str, int]] = {"answer": 1, "head": 1, "shorter": 3}
# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "head": _(
        "[to write] Which digit does the first place look at?", "【待写】第一个位置看向哪一位数字？"
    ),
}
