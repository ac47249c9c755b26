"""The texts of the translation lab, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Translation Transformer", "翻译 Transformer")
SHORT: Final = _("Translation", "机器翻译")
LINE: Final = _(
    "Every word looks at every other word at once; here an English caption becomes German.",
    "每个词同时看向所有其他词；这里把一句英文图注译成德文。",
)
CARD: Final = _(
    "No recurrence: every word looks\nat every other at once.\nEnglish captions become German.",
    "不用循环：每个词\n同时看向所有其他词。\n英文图注译成德文。",
)
KICKER: Final = _("Vaswani et al., 2017 · arXiv 1706.03762", "Vaswani 等，2017 · arXiv 1706.03762")
EQUATION: Final = "softmax({query:Q}{key:K}{sup:⊤}/{root:d_k}) {value:V}"
SPOKEN: Final = _(
    "softmax of Q times K transposed, divided by the square root of d k, times V; Q is the"
    " query, K the key, V the value",
    "softmax（Q 乘 K 的转置，除以 d k 的平方根）再乘 V；Q 是查询，K 是键，V 是值",
)

REGION: Final = shared.SENTENCE_AND_TRANSLATION
SENTENCE: Final = shared.ENGLISH_UP_TO
RUN: Final = shared.TRANSLATE
SEARCH: Final = shared.SEARCH
GREEDY: Final = shared.GREEDY_THE_BEST_WORD_AT_EVERY
BEAM: Final = shared.BEAM
ALPHA: Final = shared.LENGTH_PENALTY
WORD: Final = _("live · word {n}", "实时 · 第 {n} 个词片")

KINDS: Final[Mapping[str, Text]] = {
    "encoder": shared.ENCODER_SELF,
    "decoder": shared.DECODER_SELF,
    "cross": shared.CROSS,
}
KIND_NAMES: Final[Mapping[str, Text]] = {
    "encoder": shared.ENCODER,
    "decoder": shared.DECODER,
    "cross": _("cross", "交叉"),
}
QUESTIONS: Final[Mapping[str, Text]] = {
    "encoder": shared.WHICH_ENGLISH_WORDS_DOES_AN_ENGLISH,
    "decoder": _(
        "Which words already written does the next one look at?", "下一个词看向哪些已写出的词？"
    ),
    "cross": _("Which English word does each German word come from?", "每个德文词来自哪个英文词？"),
}
WRITTEN: Final = _("German so far", "已写出的德文")

HIDDEN: Final = shared.HIDDEN_WORDS
HEADS_OF: Final[Mapping[str, Text]] = {
    "encoder": _("the encoder", "编码器"),
    "decoder": _("the decoder", "解码器"),
    "cross": shared.CROSS_ATTENTION,
}
NUMBER: Final = shared.LOG_PROBABILITY_OF_THE_WHOLE_TRANSLATION

PARTS: Final = _("parts left out", "去掉的部件")
PART_NAMES: Final[Mapping[str, Text]] = {
    "scale": _("÷ √d_k", "÷ √d_k"),
    "mask": _("causal mask", "因果掩码"),
    "position": _("position signal", "位置信号"),
}
PART_NOTES: Final[Mapping[str, Text]] = {
    "scale": _(
        "Scores enter the softmax undivided, so a row tends to settle on one cell.",
        "分数不再相除就进入 softmax，一行容易只剩一格。",
    ),
    "mask": _(
        "While it writes, later words do not exist yet, so the translation stays the same. The"
        " number is for the finished translation above, read with every row free to look ahead.",
        "翻译时后面的词还不存在，所以译文照旧；那个数字来自上面写完的译文：整句给出，每一行都可以往后看。",
    ),
    "position": _(
        "Embeddings go in without their sinusoids: to the encoder the sentence has no order.",
        "词嵌入不再加上正弦信号：对编码器来说，句子没有先后。",
    ),
}

PICTURE: Final = _("{kind}, layer {layer}, mean over heads", "{kind}，第 {layer} 层，各头平均")
PICTURE_UNIT: Final = _("L{layer} mean", "L{layer} 平均")
HEAD_PICTURE: Final = _("{kind}, what head {name} passes on", "{kind}，头 {name} 传递的内容")
HEAD_PICTURE_UNIT: Final = _("passed on", "传递")


CURVE_UNITS: Final = _("nats per piece, lower is better", "每词片纳特，越低越好")
LEARNED: Final = _("training loss, smoothed", "训练损失（含标签平滑）")
HELD_OUT: Final = _("held-out loss", "验证损失")
EPOCH: Final = _("epoch", "轮次")
CURVE_SAYS: Final = _(
    "Over {epochs} epochs the held-out loss falls from {first} to {loss} nats per piece, lowest"
    " after epoch {best}.",
    "经过 {epochs} 轮，验证损失从每词片 {first} 纳特降到 {loss} 纳特，第 {best} 轮最低。",
)


# Interventions in words. {who} is the changed part, {query} a row, {old} and {new} its strongest
# keys.
AFTER: Final = _("{changes}", "{changes}后")
WITHOUT_PARTS: Final = _("without {parts}", "去掉{parts}")
HIDDEN_AT: Final = _("with {n|the word|the words} {at} hidden", "遮住第 {at} 号词")
WITHOUT_WORDS: Final = _("with {words} hidden", "遮住 {words} ")
LEFT_OUT: Final[Mapping[str, Text]] = {
    "scale": _("÷ √d_k", " ÷ √d_k "),
    "mask": _("the causal mask", "因果掩码"),
    "position": _("the position signal", "位置信号"),
}
ONE_HEAD: Final = _("{model} head {name}", "{model}头 {name}")
TURNS: Final = _(
    "{who}, row {query} turns from {old} to {new}", "{who}，{query} 这一行从 {old} 转向 {new}"
)
NOTHING_LEFT: Final = _(
    "{who}, row {query} has nothing left to look at: its weights sum to 0",
    "{who}，{query} 这一行没有可看的词了：权重之和为 0",
)
SHIFTS: Final = _(
    "{who}, row {query} changes most: {key} goes from {before} to {after}",
    "{who}，{query} 这一行变化最大：{key} 从 {before} 变为 {after}",
)
# Said where the mean of the heads prints alike: the single weight that changes most, among all
# heads.
WITHIN: Final = _(
    "{who}, no row of the last cross-attention changes visibly in the mean over heads; {kind} head"
    " {name} changes most: row {query} gives {key} {after} instead of {before}",
    "{who}，最后一层交叉注意力的平均没有可见的变化；变化最大的是{kind}头 {name}：{query} 这一行给"
    " {key} 的权重由 {before} 变为 {after}",
)
NOWHERE: Final = _(
    "{who}, no weight of any head changes visibly", "{who}，没有一个头的权重有可见的变化"
)
TOLD: Final = _("{who}, {what}", "{who}，{what}")
HARDER: Final = _(
    "the largest weight of a row goes from {before} to {after} on average over all heads",
    "每行最大的权重平均从 {before} 变为 {after}",
)
AS_HARD: Final = _(
    "the largest weight of a row stays {before} on average over all heads",
    "每行最大的权重平均仍为 {before}",
)
AHEAD: Final = _(
    "a row of the decoder gives {share} of its weight to what comes later, on average over all"
    " heads",
    "解码器的一行平均把 {share} 的权重给了后面的词",
)
ADRIFT: Final[Mapping[str, Text]] = {
    "previous": _(
        "encoder head {name} gives the previous word {after} of its weight instead of {before}",
        "编码器头 {name} 原来把 {before} 的权重给前一个词，现在给 {after}",
    ),
    "next": _(
        "encoder head {name} gives the next word {after} of its weight instead of {before}",
        "编码器头 {name} 原来把 {before} 的权重给后一个词，现在给 {after}",
    ),
}
NOT_ADRIFT: Final[Mapping[str, Text]] = {
    "previous": _(
        "encoder head {name} still gives the previous word {before} of its weight",
        "编码器头 {name} 仍把 {before} 的权重给前一个词",
    ),
    "next": _(
        "encoder head {name} still gives the next word {before} of its weight",
        "编码器头 {name} 仍把 {before} 的权重给后一个词",
    ),
}
LESS: Final = _(
    "the same translation becomes {times} times less likely.",
    "同一句译文的可能性降为原来的 1/{times}。",
)
MORE: Final = _(
    "the same translation becomes {times} times more likely.",
    "同一句译文的可能性升为原来的 {times} 倍。",
)
EQUAL: Final = _("the same translation stays as likely.", "同一句译文的可能性不变。")
MILLION: Final = _("more than a million", "一百多万")

# Who did what to whom, three heads over the same words.
ROLES_TITLE: Final = _("Who · did what · to whom", "谁 · 做什么 · 对谁")
ROLES_UNITS: Final = _("weights of one row of each head, encoder", "编码器，每个头取一行的权重")
ROLES_HEAD: Final = _("{question}? {word}, head {head}", "{question}？{word}，头 {head}")
ROLES_SAY: Final = _(
    "{question}: from {word} head {head} looks most at {key}, {weight}",
    "{question}：从 {word} 出发，头 {head} 最多看向 {key}，{weight}",
)
ROLES_HEADING: Final = _("question, word that asks, head", "问题、提问的词、头")
# The cost of a change for each word of the same translation.
WORD_FALLS: Final = _(
    "“{word}” goes from a probability of {was} to {now}", "“{word}”的概率由 {was} 变为 {now}"
)
WORDS_TITLE: Final = _(
    "probability of each word of the same translation", "同一句译文中每个词的概率"
)

# The guided steps: (key, title, text). Their inputs and views stand in views.py, which finds
# telling heads in the stored run.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "asks": _("One word asks", "一个词在问"),
    "scale": _("Why scores are divided", "分数为什么要除"),
    "heads": _("Several heads, several questions", "几个头，几种问题"),
    "order": _("Attention knows no order", "注意力不知道顺序"),
    "mask": _("No look ahead", "不许看未来"),
    "beam": _("One word at a time", "一次一个词"),
    "silence": _("Silence a head", "关掉一个头"),
    "residual": _("Residual paths", "残差路径"),
    "training": _("How it learned", "它怎样学会的"),
}
STEPS: Final[Mapping[str, Text]] = {
    "asks": _(
        "Each German piece asks a question, its query. Every English word offers a key; query"
        " times key, scaled and put through the softmax, says how much of each word's value is"
        " taken. The panel works out one weight of this row.",
        "每个德文词片提出一个问题，即查询；每个英文词给出一个键。查询乘键，缩放之后经过 softmax，"
        "就是从每个词的值里各取多少。"
        "面板把这一行的一个权重逐步算了出来。",
    ),
    "scale": _(
        "A product of long vectors is large, and a softmax over large numbers takes one cell and"
        " forgets the rest. Here scores are no longer divided by the square root of the vectors'"
        " length: the weights become sharp, and the same translation costs more.",
        "长向量的乘积很大，而对很大的数做 softmax 只会选中一格、忘掉其余。这里分数不再除以向量长"
        "度的平方根：权重变得尖锐，同一句译文的代价也更高。",
    ),
    "heads": _(
        "One head can only average. Several ask at once: who? did what? to whom? Each row shows"
        " the head that answers one question most clearly on this sentence: from the verb to who"
        " acts, from the actor to the verb, from the verb to its object. On another sentence"
        " other heads may answer.",
        "一个头只能取平均。几个头可以同时问：谁？做什么？对谁？每一行是在这句话上回答一个问题最清楚的头：从动词到做的人，从做的人到动词，从动词到它的对象。换一个句子，答话的可能是别"
        "的头。",
    ),
    "order": _(
        "Shuffle the words: without the position signal the encoder gives the very same vectors, in"
        " another order. So sines and cosines are added to the words, and the similarity of two"
        " positions depends on their distance.",
        "把词打乱：没有位置信号时，编码器给出的还是同样的向量，只是换了次序。"
        "所以给词加上正弦和余弦，两个位置有多相似，只看它们的距离。",
    ),
    "mask": _(
        "The decoder writes one word at a time, so a row may only look at what is already"
        " written; here the mask is off, and rows look at words yet to come. Attention to"
        " English needs no mask, in the encoder or across: the whole sentence is there from the"
        " start.",
        "解码器一次写一个词，所以一行只能看已经写出的部分；这里去掉了掩码，各行便看向还没有写出的词。"
        "编码器自注意力和交叉注意力看的都是英文，整句一开始就在，所以不需要掩码。",
    ),
    "beam": _(
        "Greedy takes the best word at every step and never looks back. A beam keeps four"
        " guesses until each writes the stop token; without it none would end. Each word lowers"
        " the probability, so short translations win unless α evens it out.",
        "贪心每一步只取最好的词，从不回头。束搜索同时保留四个候选，直到各自写出终止符；没有终止"
        "符，谁也不会结束。每个词都降低概率，所以短译文占便宜，长度惩罚 α 把它拉平。",
    ),
    "silence": _(
        "What was this head for? Its output is multiplied by 0, and the translation changes."
        " Below, the network reads the earlier one again: each word with its probability before"
        " and after. Most heads can be spared on this sentence: try others, several at once, or"
        " hide a word.",
        "这个头有什么用？把它的输出乘以 0，译文就变了。"
        "下方再读一遍原来的译文：每个词之前和之后的概率。"
        "这句话上大多数头都可以省掉：也试试别的头，几个一起，或者遮住一个词。",
    ),
    "residual": _(
        "A path adds a sublayer's input to its output, so a word and its position have a direct"
        " route to the top. Two of these networks have none in the encoder; one gets the positions"
        " again before each layer, yet the diagonal stays away. R² of a"
        " position at the top: {each}.",
        "路径把子层的输入加到输出上，所以词和它的位置都有路传到顶层。"
        "其中两个网络的编码器没有路径；有一个在每层之前重新加上位置，"
        "对角线还是没有回来。从顶层读出位置的 R²：{each}。",
    ),
    "training": _(
        "Muon and Adam with a warm-up, dropout before each sum, smoothed labels, the mean of the"
        " last checkpoints. In training the true word goes in, whatever was predicted. The chart"
        " compares what training cost at the time.",
        "带预热的 Muon 与 Adam、每次相加之前的随机失活、平滑的标签、最后几个检查点的平均。无论预"
        "测了什么，送进去的总是真正的词。旁边的图比较当年各系统的训练代价。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "asks": _("How does one word ask another?", "一个词怎样询问另一个词？"),
    "scale": _("What if scores are not divided?", "分数不除会怎样？"),
    "heads": _("Who did what to whom?", "谁对谁做了什么？"),
    "order": _("How does it know the order of words?", "它怎样知道词的顺序？"),
    "mask": _("What if the decoder sees the future?", "解码器看到未来会怎样？"),
    "beam": _("Is the best next word always best?", "眼前最好的词总是最好的吗？"),
    "silence": _("What was this head for?", "这个头有什么用？"),
    "residual": shared.WHAT_DO_RESIDUAL_PATHS_CARRY,
    "training": _("How did it learn?", "它是怎样学会的？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "mask": _(
        "The mask is off. Where will a row of the decoder look: at words already written, at"
        " itself, or at words yet to come?",
        "掩码去掉了。解码器的一行会看向哪里：已写出的词、它自己，还是还没写出的词？",
    ),
    "silence": _(
        "One head of the cross-attention is multiplied by 0. Does the translation change, and by"
        " how many words?",
        "把交叉注意力的一个头乘以 0。译文会变吗？会变几个词？",
    ),
    "residual": _(
        "An encoder without residual paths loses the diagonal. If the positions are added again"
        " before each layer, does it come back?",
        "没有残差路径的编码器失去对角线。在每层之前重新加上位置：它会回来吗？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "asks": _(
        "Read query, key and product element by element; then go on to the softmax with →.",
        "逐个元素读查询、键与乘积；再按 → 看到 softmax。",
    ),
    "scale": _(
        "Hold B: rows that were spread become one bright cell.",
        "按住 B 对比：原来分散的行变成一个亮格。",
    ),
    "heads": _(
        "Read the three rows as three questions to the same words.",
        "把三行当作对同一些词提的三个问题来读。",
    ),
    "order": _(
        "Show the pattern of sines first, then how alike two positions are.",
        "先看正弦的图案，再看两个位置有多相似。",
    ),
    "mask": _(
        "Point above the diagonal: that weight lies on words yet to come. Hold B for the mask.",
        "指向对角线上方：那里的权重落在还没写出的词上。按住 B 看有掩码时的样子。",
    ),
    "beam": _(
        "Follow the winning path from left to right; point at a branch that was cut off.",
        "从左到右沿胜出的路径走；指出一条被剪掉的分支。",
    ),
    "silence": _(
        "Hold B: the words at the left are the translation before.",
        "按住 B：左侧的词就是之前的译文。",
    ),
    "residual": _(
        "Go up each tower from its foot; then, out of the projector, set the gain of a path to 0.",
        "沿每座塔从下往上看；再退出投影，把一条路径的增益设为 0。",
    ),
    "training": _(
        "Point at the held-out loss: at the end it hardly falls any more.",
        "指向验证损失：到最后几乎不再下降。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {"asks": 1, "scale": 3, "heads": 1, "beam": 3, "training": 3}
