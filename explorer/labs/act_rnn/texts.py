"""The texts of the lab of adaptive computation time, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Adaptive computation time", "自适应计算时间")
SHORT: Final = _("ACT", "ACT")
LINE: Final = _(
    "A recurrent network that thinks about each input for as long as it needs, and then stops by"
    " itself.",
    "一个循环网络：对每个输入想多久由它自己决定，想够了就自己停下。",
)
CARD: Final = _("Thinks longer\nabout hard inputs.", "难的输入，\n多想几步。")
KICKER: Final = _("Graves, 2016 · arXiv 1603.08983", "Graves，2016 · arXiv 1603.08983")
EQUATION: Final = "N = min n : Σ {query:h_n} ≥ 1 − ε,   s = Σ {key:p_n} {value:s_n}"
SPOKEN: Final = _(
    "N is the smallest n for which the halting probabilities h 1 to h n add up to at least one"
    " minus epsilon; the state s is the sum of p n times s n, where p n is h n before N and the"
    " remainder at N",
    "N 是使停止概率 h 1 到 h n 之和不小于 1 减 ε 的最小的 n；状态 s 是 p n 乘 s n 之和，其中 p n 在"
    " N 之前等于 h n，在 N 处等于余量",
)

REGION: Final = _("What the network is asked", "问网络什么")
TASK: Final = shared.TASK
SUM: Final = _("A sum", "加法")
SUM_PROMPT: Final = _("Two numbers to add", "两个相加的数")
SUM_HINT: Final = _(
    "At most {digits} digits each; read one by one, the units first.",
    "每个数最多 {digits} 位；从个位起逐位读入。",
)
BITS: Final = _("Parity", "奇偶")
BITS_PROMPT: Final = _("Bits: is the number of ones odd?", "比特：1 的个数是奇数吗？")
BITS_HINT: Final = _(
    "Up to {bits} bits of 0 and 1, a dot for an empty place. All arrive at once, as one input.",
    "最多 {bits} 个 0 或 1，空位写作点。全部作为一个输入同时到达。",
)
EXAMPLES: Final[tuple[Text, ...]] = (
    _("A sum with two carries", "有两次进位的加法"),
    _("A carry that runs through all digits", "一路进位"),
    _("Twelve bits", "十二个比特"),
    _("One bit, seen at once", "一个比特，一看便知"),
    _("Sixteen bits", "十六个比特"),
)

INPUT: Final = shared.INPUT
ONE_UPDATE: Final = _("{n} update", "{n} 次更新")
UPDATES: Final = _("{n} updates", "{n} 次更新")
NO_SIGNAL: Final = _("no mark on the first update", "不标明第一次更新")
PONDER: Final[Mapping[str, Text]] = {
    "title": _("How long each input is thought about", "每个输入想了多久"),
    "step": _("update", "步"),
    "question": _("How long does it think about each input?", "它对每个输入想多久？"),
}
KNOBS: Final[Mapping[str, Text]] = {
    "limit": _("at most M updates", "最多更新 M 次"),
    "forced": _("force every input to", "强制每个输入更新"),
    "step_signal": _("mark the first update", "标明第一次更新"),
}
EVEN: Final = _("even", "偶数")
ODD: Final = _("odd", "奇数")
WITHOUT: Final = _("without ACT", "没有 ACT")
WITH: Final = _("with ACT", "有 ACT")

# Hard inputs take longer.
DIFFICULTY: Final[Mapping[str, tuple[Text, Text, Text]]] = {
    "parity": (_("bits", "比特数"), _("{n} bit", "{n} 个比特"), _("{n} bits", "{n} 个比特")),
    "addition": (
        _("carries", "进位次数"),
        shared.ONE_CARRY,
        shared.CARRIES,
    ),
}
MEASURED: Final[Mapping[str, Text]] = {
    "parity": _("{n} held-out vectors", "{n} 个留出的比特串"),
    "addition": _("{n} held-out sums", "{n} 道留出的加法"),
}

NOTES: Final[tuple[Text, ...]] = (
    _(
        "Bars count updates; the ponder cost of an input is N + R, updates and remainder.",
        "条形是更新次数；一个输入的思考代价是 N + R，即更新次数加余量。",
    ),
    _(
        "“If all stopped now” runs the network again with M set to that update: later inputs"
        " then read what earlier ones left unfinished.",
        "“如果此刻全部停止”是把 M 设为该次更新再运行一遍网络：后面的输入读到的是前面没有想完的状"
        "态。",
    ),
    _(
        "With forced updates the output is the last state; nothing is averaged.",
        "强制更新次数时，只取最后一个状态作为输出，不做平均。",
    ),
    _(
        "In a sum, every digit counts as an answer; a string of bits has one answer.",
        "加法的每一位数字各算一个答案；比特串只有一个答案。",
    ),
    _(
        "“Without ACT” is a network of the same width that updates its state once for every input,"
        " trained on as many inputs.",
        "“没有 ACT”是同样宽度的网络，每个输入只更新一次状态，训练所用的输入一样多。",
    ),
)

# The card.
GENERATED: Final = shared.GENERATED
EACH_TASK: Final = _("parity · addition", "奇偶 · 加法")
RIGHT: Final = shared.RIGHT_ON_SPLIT
RIGHT_ONE: Final[Mapping[str, Text]] = {
    "parity": _("parity {value}", "奇偶 {value}"),
    "addition": _("digits {value}", "数位 {value}"),
}
WITHOUT_IT: Final = _("without ACT {values}", "没有 ACT：{values}")
LICENCE: Final = shared.APACHE_2_0_THE_GENERATOR_AND
UNPUBLISHED: Final = _(
    "Graves (2016) shows error curves for parity and addition, and no table: there is no"
    " published figure to compare with.",
    "Graves（2016）给出了奇偶与加法的误差曲线，没有列表，所以这里没有可以并列的发表值。",
)

VARIANTS: Final[Mapping[str, Text]] = {
    "parity": _("parity", "奇偶"),
    "parity_without": _("parity, without ACT", "奇偶，没有 ACT"),
    "addition": shared.ADDITION,
    "addition_without": _("addition, without ACT", "加法，没有 ACT"),
}
CURVE_UNITS: Final = _(
    "wrong answers on held-out inputs, lower is better", "留出输入上答错的比例，越低越好"
)
CURVE_SAYS: Final = _("Wrong at the end: {figures}.", "训练结束时答错：{figures}。")
TRAINED: Final = shared.PERCENT_OF_TRAINING
WRONG: Final = _("% wrong, held out", "留出输入答错（%）")
CURVE_AXES: Final = (TRAINED, WRONG)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "effort": _("Not every input takes as long", "每个输入花的时间不同"),
    "halts": _("The sum that halts", "让它停下的和"),
    "remainder": _("The remainder", "余量"),
    "now": _("If it stopped now", "如果现在停下"),
    "force": _("Force one update", "强制只更新一次"),
    "hard": _("More bits, more updates", "比特越多，更新越多"),
    "price": _("What thinking costs", "思考的代价"),
}
STEPS: Final[Mapping[str, Text]] = {
    "effort": _(
        "The digits of a sum arrive one by one, the units first. A network of fixed depth spends"
        " the same on each. This one decides how often to update its state: each bar is one"
        " input. The last input only writes the carry, so its bar is the shortest.",
        "加法的数字从个位起逐个到达。深度固定的网络对每个都花同样的力气；这个网络自己决定更新状"
        "态多少次：每个条形是一个输入，最后一个只需写下进位，所以最短。",
    ),
    "halts": _(
        "After every update the halting unit gives a probability h. The sum of all h grows step"
        " by step to 1 − ε = 0.99: then this input is done and the next one comes. Go forward"
        " with → and watch the stack grow.",
        "每次更新之后，停止单元给出一个概率 h。它们一步步相加，到 1 − ε = 0.99 时，这个输入就想"
        "完了，下一个输入进来。按 → 前进，看它越堆越高。",
    ),
    "remainder": _(
        "The last update gets what is left, R = 1 − Σh, so the weights p sum to 1. State and answer"
        " are the mean of all updates, weighted by p: no update is thrown away, and the gradient"
        " learns through R when to stop.",
        "最后一次更新得到剩下的部分 R = 1 − Σh，于是权重 p 之和为 1。状态和答案是所有更新按 p"
        " 的加权平均：没有一次更新被丢掉，"
        "梯度通过 R 学会何时停下。",
    ),
    "now": _(
        "What would the answer be if every input stopped here? After one update it is a guess."
        " Step forward: the digits become correct one by one, the carries last.",
        "如果每个输入都在此停下，答案会是什么？只更新一次时还是猜测；一步步往前，看数字逐个变"
        "对，进位最后。",
    ),
    "force": _(
        "Now every input gets a single update. The answer is wrong, and so are most digits of"
        " held-out sums: the number shows the loss in percentage points. Add updates one by one"
        " and see what each brings in accuracy, ponder cost and time.",
        "现在网络对每个输入只更新一次。答案错了，留出的加法里大多数数位也错了：那个数字是下降的"
        "百分点。把更新一次次还回去，看每次换来多少正确率、思考代价与时间。",
    ),
    "hard": _(
        "Is the number of ones odd? All bits arrive at once, and each update may change the"
        " answer. One or two bits take about one update (N + R = 2), more bits take more. With"
        " sixteen bits, a network with one update is wrong over a third of the time. The diamond"
        " is your input. In sums, updates do not simply grow with carries.",
        "1 的个数是奇数吗？所有比特同时到达，每次更新都可能改变答案。一两个比特大约更新一次（N +"
        " R = 2）；比特越多更新越多。只更新一次的网络在十六个比特时答错三分之一以上。菱形是您自"
        "己的输入。加法则不同：更新次数并不随进位一路增加。",
    ),
    "price": _(
        "The equations alone let a network think for ever. So training puts a small price on N +"
        " R, and M is a hard limit. Here ε is 0.8: an input is done once its sum reaches 0.2."
        " The network thinks less and gets digits wrong: the panel says how many.",
        "公式本身并不阻止网络一直想下去，所以训练时给 N + R 加上小小的代价，M 则无论如何都会让它"
        "结束。这里 ε 为 0.8：和达到 0.2 就算想完。思考便宜了，数字也错了：面板显示错了多少。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "effort": _("Which input takes the most thought?", "哪个输入想得最久？"),
    "halts": _("When does it stop?", "它何时停下？"),
    "remainder": _("What happens to the rest?", "余下的怎么办？"),
    "now": _("What if it stopped now?", "如果现在停下会怎样？"),
    "force": _("What can one update do?", "一次更新能做到什么？"),
    "hard": _("Do more bits take more updates?", "比特越多，更新越多吗？"),
    "price": _("What does thinking less cost?", "少想一些要付出什么？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "effort": _(
        "The digits of a sum arrive one by one, the units first. Which of them takes the most"
        " thought?",
        "加法的各位数字逐个输入，个位在先。哪一位需要最多的思考？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "effort": _(
        "Read the bars from left to right with the digits below them.",
        "从左到右读条形和下面的数字。",
    ),
    "halts": _(
        "Go forward with →; stop when the sum passes 0.99.", "按 → 前进；和超过 0.99 时停下。"
    ),
    "remainder": _(
        "Point at the last part of the bar: it is what was left of 1.",
        "指向条形的最后一段：它是 1 剩下的部分。",
    ),
    "now": _(
        "Go forward with →; read the answer aloud after each step.",
        "按 → 前进；每一步后把答案读出来。",
    ),
    "force": _(
        "Hold B for the free run; compare the two answers.", "按住 B 看自由的运行；比较两个答案。"
    ),
    "hard": _(
        "Point at the first and the last bars; then ask for another string of bits.",
        "指向第一个和最后一个条形；再让大家出一串比特。",
    ),
    "price": _(
        "Hold B: fewer updates, and which digit is wrong now?",
        "按住 B：更新变少了，现在哪一位错了？",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {
    "effort": 1,
    "halts": 1,
    "remainder": 3,
    "force": 3,
    "hard": 3,
}
