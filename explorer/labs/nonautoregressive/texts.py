"""The texts of the lab of non-autoregressive translation, English and Chinese, and its guided
steps."""

from __future__ import annotations

from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import fill_text
from explorer.contract.labels import text as _

TITLE: Final = _("Non-autoregressive decoding", "非自回归解码")
SHORT: Final = _("Non-autoregressive", "非自回归")
LINE: Final = _(
    "The network writes all pieces of a translation at once, then rewrites the doubtful ones.",
    "译文的所有词片一次写出，再把没把握的重写。",
)
CARD: Final = _("All words at once.", "所有词一次写出。")
KICKER: Final = _(
    "Gu et al., 2018 · Ghazvininejad et al., 2019 · arXiv 1904.09324",
    "Gu 等，2018 · Ghazvininejad 等，2019 · arXiv 1904.09324",
)
EQUATION: Final = (
    "P({value:Y} | {key:X}) = P({query:N} | {key:X}) Π{sub:i} P({value:y}{sub:i} | {key:X},"
    " {query:N})"
)
SPOKEN: Final = _(
    "the probability of the translation Y given X is that of its length N given X, times the"
    " product over all positions i of the probability of y i, given X and N",
    "给定 X 时译文 Y 的概率，是给定 X 时长度 N 的概率，乘以每个位置 i 上给定 X 和 N 时 y i 的概率",
)

REGION: Final = shared.SENTENCE_AND_TRANSLATION
SENTENCE: Final = shared.ENGLISH_UP_TO
RUN: Final = shared.TRANSLATE
VARIANT: Final = shared.NETWORK_TITLE
NAMES: Final = {
    "cmlm_distilled": _("mask-predict, distilled", "遮住再猜，蒸馏数据"),
    "cmlm_raw": _("mask-predict, raw data", "遮住再猜，原始数据"),
    "nat_distilled": _("one pass only, distilled", "只学过一轮，蒸馏数据"),
}
BRIEF: Final = {
    "cmlm_distilled": _("distilled", "蒸馏"),
    "cmlm_raw": _("raw", "原始"),
    "nat_distilled": _("one pass", "一轮"),
    "ar_distilled": _("greedy", "贪心"),
}
PASSES_T: Final = _("Passes", "轮数")
TIMES: Final = _("{n} {n|pass|passes}", "{n} 轮")
EXAMPLES: Final = (
    _("Two men on a bridge", "桥上的两个男人"),
    _("Two dogs, all at once", "两只狗，一次写完"),
    _("A man on a ladder, ten passes", "梯子上的人，十轮"),
    _("A long sentence, all at once", "一个长句，一次写完"),
    _("A girl in a tree, raw data", "树上的女孩，原始数据"),
)

# ---- changes ----
OFFSET: Final = _("length of the translation", "译文长度")
OWN: Final = _("as predicted", "按预测")
OFFSET_IS: Final = shared.COUNT
LONGER: Final = _("the translation {n} pieces longer", "译文加长 {n} 个词片")
SHORTER: Final = _("the translation {n} pieces shorter", "译文缩短 {n} 个词片")
PINNED: Final = _("pinned pieces, never masked", "固定的词片，从不遮住")
PINNED_ARE: Final = _("{which} pinned", "固定 {which}")
AGAIN: Final = _("masked once more at the end", "最后再遮住一次")
AGAIN_ARE: Final = _("{n|position|positions} {at} masked once more", "再次遮住位置 {at}")
NUMBER: Final = _(
    "mean log-probability of the same pieces, read in one pass",
    "同样词片的平均对数概率（一轮读出）",
)
BECOMES: Final = shared.WITH_IT_WRITES_O
KEEPS: Final = shared.WITH_IT_STILL_WRITES_O
MOVES: Final = _(
    "{first}; when they are read again, the earlier pieces have log-probability {after} on average,"
    " not {before}.",
    "{first}；重读原译文，各词片的平均对数概率由 {before} 变为 {after}。",
)
STAYS: Final = _(
    "{first}; when they are read again, the earlier pieces keep their mean log-probability"
    " {before}.",
    "{first}；重读原译文，各词片的平均对数概率仍为 {before}。",
)
RUN_ITSELF: Final = _("the translation", "译文")
PIECES: Final = shared.PIECE_COUNT
REPEATS: Final = _("repeats", "重复")
P_LENGTH: Final = _("p of its length", "该长度的概率")
SAME: Final = shared.THE_SAME
OTHER: Final = shared.ANOTHER

FEWER: Final = _(
    "{asked} passes were asked for; {ran} {ran|is|are} enough, one for each piece.",
    "要求了 {asked} 轮；{ran} 轮就够了，每个词片一轮。",
)
ONE_ALONE: Final = _(
    "This network has only learned from fully masked sentences: it does not know how to use"
    " pieces that are already written.",
    "这个网络只学过全部遮住的句子：它不知道怎样利用已经写出的词片。",
)

# ---- views ----
PASSES: Final = {
    "title": _("One after the other, or all at once?", "一个接一个，还是一次全写？"),
    "empty": _("Nothing has been translated yet.", "还没有翻译。"),
}
KINDS: Final = {
    "encoder": shared.ENCODER,
    "decoder": shared.DECODER,
    "cross": shared.TO_THE_SENTENCE,
}
IN_PASS: Final = _("{kind}, pass {n}", "{kind}，第 {n} 轮")
IN_LAST: Final = _("{kind}, last pass", "{kind}，最后一轮")
ONCE_MORE: Final = _("{kind}, once more", "{kind}，再来一轮")
KINDS_LAST: Final = {
    name: kind if name == "encoder" else fill_text(IN_LAST, kind=kind)
    for name, kind in KINDS.items()
}
QUESTIONS: Final = {
    "encoder": shared.WHICH_ENGLISH_WORDS_DOES_AN_ENGLISH,
    "decoder": _(
        "Which positions does a position look at, on both sides?",
        "一个位置向左右两边看向哪些位置？",
    ),
    "cross": _("Which English word does each position need?", "每个位置需要哪个英文词？"),
}

LENGTH: Final = _("How long will it be?", "译文会有多长？")
LENGTH_UNITS: Final = _("p(N | X), before a word is written", "p(N | X)，在写出任何词之前")
LENGTH_AXES: Final = {
    "en": ("pieces of the translation, N", "probability"),
    "zh": ("译文的词片数 N", "概率"),
}
LENGTH_COLUMNS: Final = (_("pieces N", "词片数 N"), _("p(N | X)", "p(N | X)"))
LENGTH_USED: Final = _("used", "采用")
LENGTH_LIKELIEST: Final = _("likeliest", "最可能")
LENGTH_OWN: Final = _(
    "For {source} English pieces the likeliest length is {own}, with probability {p}; it is used.",
    "英文有 {source} 个词片，最可能的译文长度是 {own}，概率 {p}；就用它。",
)
LENGTH_OTHER: Final = _(
    "For {source} English pieces the likeliest length is {own}, with probability {p}; {used} is"
    " used, with probability {q}.",
    "英文有 {source} 个词片，最可能的译文长度是 {own}，概率 {p}；采用的是 {used}，概率 {q}。",
)

NEIGHBOURS: Final = _("Why does it mix two translations?", "为什么会混合两种译文？")
MODES_UNITS: Final = _(
    "five likeliest pieces of a position and of its right neighbour, after {before}",
    "某位置及其右邻各五个最可能的词片，前文为 {before}",
)
MODES: Final = {
    "en": ("all at once: p(first) · p(second)", "one after the other: p(first, second)"),
    "zh": ("一次全写：p(前) · p(后)", "一个接一个：p(前，后)"),
}
MODES_SAYS: Final = _(
    "With everything masked, the two positions choose by themselves: their likeliest pair is {one},"
    " {p}. One after the other it is {other}, {q}.",
    "全部遮住时，两个位置各自选择：最可能的一对是 {one}，{p}。一个接一个写时是 {other}，{q}。",
)
MODES_TWICE: Final = _(
    "The same piece twice has probability {a} at once and {b} one after the other.",
    "同一词片连写两次的概率：一次全写为 {a}，一个接一个为 {b}。",
)
MODES_COLUMNS: Final = (
    _("first", "前"),
    _("second", "后"),
    _("all at once", "一次全写"),
    _("one after the other", "一个接一个"),
)

QUALITY: Final = _("What does a pass buy?", "多一轮换来什么？")
QUALITY_UNITS: Final = _(
    "sacreBLEU of {n} sentences, each in its likeliest length alone",
    "{n} 句的 sacreBLEU，每句只用最可能的长度",
)
QUALITY_AXES: Final = {
    "en": ("ms a sentence, in batches, when evaluated", "BLEU"),
    "zh": ("每句毫秒（评测时，成批）", "BLEU"),
}
QUALITY_SAYS: Final = _(
    "{name}: {a} BLEU with {least} {least|pass|passes}, {b} with {most}.",
    "{name}：{least} 轮时 BLEU 为 {a}，{most} 轮时为 {b}。",
)
HERE: Final = _(
    "With {times} {times|pass|passes}, as in this run, BLEU is {value}.",
    "当前的运行用 {times} 轮，BLEU 为 {value}。",
)
GREEDY_HAS: Final = _(
    "A network of the same size, trained on the distilled data, writes greedily piece by piece"
    " and reaches {value}.",
    "同样大小、学蒸馏数据、一个接一个贪心地写的网络，达到 {value}。",
)
QUALITY_COLUMNS: Final = (
    shared.NETWORK,
    _("passes T", "轮数 T"),
    _("ms a sentence", "每句毫秒"),
    _("BLEU", "BLEU"),
    _("repeat rate", "重复率"),
    _("length right", "长度猜对"),
)

NOTES: Final = (
    _(
        "The milliseconds are those of this run on this machine. Parallel is not less work: each"
        " pass computes every position again, so in large batches the gain shrinks.",
        "毫秒数来自本机的这次运行。并行并不减少运算：每一轮都重新计算所有位置，所以大批量时优势变小。",
    ),
    _(
        "A piece that is kept keeps the probability of the pass that wrote it, even where the words"
        " around it have changed.",
        "被保留的词片沿用写出它那一轮的概率，即使周围的词已经变了。",
    ),
    _(
        "After each pass but the last, the least probable pieces are masked: of T passes, (T − t) /"
        " T of all after pass t.",
        "除最后一轮外，每轮之后都遮住最没把握的词片："
        "共 T 轮时，第 t 轮之后遮住全部的 (T − t) / T。",
    ),
    _(
        "In the decoder's maps a position that is masked reads the mask; its row is named by what"
        " it then writes.",
        "在解码器的图中，被遮住的位置读到的是掩码符号；该行以它随后写出的词片命名。",
    ),
)

# ---- the card ----
EACH_MODEL: Final = _("each network", "每个网络")
AT: Final = _("T = {times}, {lengths} {lengths|length|lengths}", "T = {times}，{lengths} 种长度")
BESIDE: Final = _(
    "T = {times}, {lengths} {lengths|length|lengths} · greedy {greedy}",
    "T = {times}，{lengths} 种长度 · 贪心 {greedy}",
)
CURVE_UNITS: Final = _(
    "nats per piece to predict, against human translations",
    "每个要预测的词片的纳特，对照人写的译文",
)
CURVE_AXES: Final = (
    _("target positions learned from", "学过的目标位置"),
    shared.HELD_OUT_LOSS_NATS_PER_PIECE,
)
CURVE_SAYS: Final = _(
    "After {seen} target positions for each, held-out loss in nats per piece: {figures}. Compare"
    " each curve only with itself: the networks have different tasks (some, all or none of the"
    " pieces masked), all but the greedy one also count the length, and three learned from a"
    " teacher's German, not from human German.",
    "各学过 {seen} 个目标位置之后，验证损失（每词片纳特）：{figures}。各曲线只宜与自身相比：各网"
    "络的任务不同（遮住一部分、全部或不遮），除贪心的之外还计入长度，其中三个网络学的是教师网络"
    "的德文，不是人写的。",
)

# The guided steps: title and text. Their inputs and views stand in views.py.
STEP_TITLES: Final = {
    "after": _("One after the other", "一个词接一个词"),
    "stop": _("When does it stop?", "什么时候停？"),
    "at_once": _("All at once", "一次全写"),
    "length": _("Who sets the length?", "长度由谁决定？"),
    "mixed": _("Two mixed into one", "两种译文混在一起"),
    "distil": _("Distil", "蒸馏"),
    "iterate": _("Iterate", "迭代"),
    "pays": _("When does it pay?", "什么时候划算？"),
}
STEPS: Final = {
    "after": _(
        "An autoregressive decoder needs each piece to write the next one: the picture is a"
        " staircase, and every stair waits. The decoder does not stop by itself: at this moment"
        " the sentence is complete, but nothing says so yet.",
        "自回归解码器要有前一个词片才能写下一个：像楼梯，每一级都要等。它自己不会停：此刻句子已"
        "写完，却还没有谁说“完了”。",
    ),
    "stop": _(
        "So the decoder learns one more word, the stop token </s>. It costs a step of its own,"
        " and only this last step decides how long the sentence is.",
        "所以把终止符 </s> 当作又一个词来学。它自己也占一步；写出它的那一刻才决定句子有多长，在"
        "最后。",
    ),
    "at_once": _(
        "Without the causal mask, the decoder fills all positions at the same time: one pass,"
        " however long the sentence. But no position knows what its neighbour writes; look for"
        " repeated pieces.",
        "去掉因果掩码，解码器的所有位置同时填写：无论句子多长都只要一轮。但没有一个位置知道邻居"
        "写什么；找找重复的词片。",
    ),
    "length": _(
        "No position can stop the others, so the length must be known before any word is"
        " written: the encoder guesses it. Here the length is three pieces too long, and the"
        " network must fill the extra places.",
        "没有哪个位置能让别的位置停下，所以写之前就得知道长度：由编码器来猜。这里多给了三个位"
        "置，网络只好把它们填满。",
    ),
    "mixed": _(
        "A sentence has several good translations. Each position mixes them on its own, so the"
        " product of two positions also gives weight to pairs that belong to no translation. One"
        " after the other, the second piece knows the first.",
        "一句话有好几种好译文。每个位置各自混合它们，两个位置相乘，就会给不属于任何译文的词对留"
        "下概率；一个接一个写时，后一个知道前一个。",
    ),
    "distil": _(
        "This network learned from human translations: there, the same meaning has many"
        " wordings. The other one learned from a teacher's translations: fewer wordings, less to"
        " mix up. Change the network above and compare.",
        "这个网络学的是人写的译文：同样的意思有许多种说法。另一个学的是教师网络的译文：说法更"
        "少，也就更少混淆。在上方换网络比较。",
    ),
    "iterate": _(
        "Mask the least probable pieces and write them again, now with the others visible."
        " Repeats disappear, and most positions settle early: see in which pass each one"
        " settles.",
        "把概率最低的词片遮住再写，这时能看到其余的词。重复消失了，多数位置很快定下：看每个位置"
        "定于哪一轮。",
    ),
    "pays": _(
        "Each pass costs time and buys quality, the first passes most. Compare them with the"
        " staircase on the same axis of milliseconds: beyond some number of passes, writing word"
        " by word is faster.",
        "每一轮都花时间，换来质量，头几轮换得最多。再看楼梯图，它与各轮共用一条毫秒轴：轮数多到"
        "一定程度，还不如逐词写。",
    ),
}
# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final = {
    "after": _("What does the next word wait for?", "下一个词在等什么？"),
    "stop": _("Who says that the sentence is over?", "谁来说句子结束了？"),
    "at_once": _("What if every position writes at once?", "如果所有位置同时写会怎样？"),
    "length": _("How long is a sentence nobody has written?", "还没写的句子有多长？"),
    "mixed": _(
        "Why do two good translations make a bad one?", "为什么两种好译文会变成一种坏译文？"
    ),
    "distil": _("Why learn from a machine's translations?", "为什么要学机器的译文？"),
    "iterate": _("When does each position settle?", "每个位置何时定下？"),
    "pays": _("How many passes are worth their time?", "多少轮值得花这些时间？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final = {
    "at_once": _(
        "A dozen positions are filled at the same moment, and none knows the others. What will"
        " be wrong with the sentence?",
        "十几个位置同时填写，互不知道。句子会出什么毛病？",
    ),
    "iterate": _(
        "With ten passes: how many does a position need before it stays as it is?",
        "一共十轮：一个位置要几轮才不再变？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final = {
    "after": _(
        "Press Space and let the staircase grow; each cell begins where the one before ends.",
        "按空格让楼梯长出来；每一格都从前一格结束处开始。",
    ),
    "stop": _(
        "Point at the last stair, </s>, and at the green line behind it.",
        "指向最后一级 </s> 和它后面的绿线。",
    ),
    "at_once": _(
        "Read the sentence aloud; point at the outlined repeats.",
        "把句子读出来；指向加框的重复词片。",
    ),
    "length": _(
        "Move the slider of the length and watch the sentence stretch and shrink.",
        "拖动长度滑块，看句子伸长、缩短。",
    ),
    "mixed": _(
        "Point at the pair that says the same piece twice: at the left it has weight, at the right"
        " hardly any.",
        "指向同一词片连写两次的那一格：左图有权重，右图几乎没有。",
    ),
    "distil": _(
        "Leave the projector, change the network above, and project again.",
        "退出投影，在上方换网络，再投影。",
    ),
    "iterate": _(
        "Go up and down through the positions; the sentence below describes each one.",
        "上下移动位置；下面的句子说明每个位置的经过。",
    ),
    "pays": _(
        "Follow the curve from one pass to ten: the first four bring most of it.",
        "沿曲线从一轮看到十轮：头四轮带来大部分提高。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final = {"after": 1, "stop": 3, "at_once": 1, "mixed": 2, "iterate": 1}
