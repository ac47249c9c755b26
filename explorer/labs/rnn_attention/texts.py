"""The texts of the lab of recurrent translation, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _
from explorer.panels.translation import ENGLISH, GERMAN

TITLE: Final = _("RNN with attention", "带注意力的 RNN")
SHORT: Final = _("RNN", "RNN")
LINE: Final = _(
    "A recurrent network translates word by word; before each word it takes a weighted sum of all"
    " it has read.",
    "循环网络逐词翻译；写每个词之前，先对读过的全部状态取一个加权和。",
)
CARD: Final = _("Each output weighs\nall source words.", "每个输出都对\n所有源词加权。")
KICKER: Final = _("Bahdanau et al., 2015 · arXiv 1409.0473", "Bahdanau 等，2015 · arXiv 1409.0473")
EQUATION: Final = "c{sub:t} = Σ{sub:j} softmax{sub:j} g({query:s}{sub:t−1}, {key:h_j}) {value:h_j}"
SPOKEN: Final = _(
    "the context c t is the sum over all words j of h j times its weight; the weights are the"
    " softmax over j of the score g of the decoder's state before, s t minus one, and h j",
    "上下文 c t 是全部词 j 的 h j 乘以各自权重之和；权重是解码器前一个状态 s t 减 1 与 h j 的得分 g"
    " 在 j 上的 softmax",
)

REGION: Final = shared.SENTENCE_AND_TRANSLATION
SENTENCE: Final = shared.ENGLISH_UP_TO
RUN: Final = shared.TRANSLATE
VARIANT: Final = _("Score", "打分函数")
VARIANTS: Final = {
    "additive": shared.ADDITIVE,
    "dot": _("dot", "点积"),
    "general": _("general", "一般式"),
    "none": _("no attention", "无注意力"),
}
DIVIDED: Final = _("divide by √d", "除以 √d")
DIVIDED_NAMES: Final = {True: shared.SWITCHED_ON, False: shared.SWITCHED_OFF}
NETWORKS: Final = {
    **VARIANTS,
    "dot_unscaled": _("dot, not divided", "点积，不除"),
    "general_unscaled": _("general, not divided", "一般式，不除"),
}
SEARCH: Final = shared.SEARCH
GREEDY: Final = shared.GREEDY_THE_BEST_WORD_AT_EVERY
BEAM: Final = shared.BEAM
ALPHA: Final = shared.LENGTH_PENALTY
EXAMPLES: Final[tuple[Text, ...]] = (
    _(
        "Children are playing soccer on a green field.",
        "Children are playing soccer on a green field.",
    ),
    _("Two dogs are running through the snow.", "Two dogs are running through the snow."),
    _("A man on a ladder", "梯子上的人"),
    _("A long sentence", "一个长句"),
    _("The man on a ladder, without attention", "梯子上的人，无注意力"),
)

# ---- changes ----
WORDS: Final = _("give all weight to", "把全部权重给")
ROWS: Final = _("only when writing (none chosen: always)", "只在写这些词时（不选则始终）")
CONTEXT: Final = _("context c", "上下文 c")
CONTEXTS: Final = {
    "attended": _("as attended", "按注意力"),
    "uniform": _("uniform", "均匀"),
    "frozen": _("frozen at the first", "停在第一个"),
    "zero": _("zero", "置零"),
}
DONOR: Final = _("begin from the last state of", "起始状态取自")
DONORS: Final = {
    "own": _("this sentence", "本句"),
    "dogs": _("“Two dogs …”", "“Two dogs …”"),
    "book": _("“A woman …”", "“A woman …”"),
    "boat": _("“An old man …”", "“An old man …”"),
}
ALL_ON: Final = _("all weight on {n|word|words} {at}", "全部权重给第 {at} 号词")
CONTEXT_IS: Final = {
    "uniform": _("equal weight on every word", "每个词权重相同"),
    "frozen": _("the first output's weights throughout", "一直用第一个输出的权重"),
    "zero": _("no context", "没有上下文"),
}
DONOR_IS: Final = _("the last state of {sentence}", "换上 {sentence} 的最后状态")
NUMBER: Final = shared.LOG_PROBABILITY_OF_THE_WHOLE_TRANSLATION
PICTURE: Final = _("weights α", "权重 α")
BECOMES: Final = shared.WITH_IT_WRITES_O
KEEPS: Final = shared.WITH_IT_STILL_WRITES_O
MOVES: Final = _(
    "{first}; the log-probability of the first translation goes from {before} to {after}.",
    "{first}；原译文的对数概率由 {before} 变为 {after}。",
)
STAYS: Final = _(
    "{first}; the log-probability of the first translation stays {before}.",
    "{first}；原译文的对数概率仍为 {before}。",
)
EACH: Final = _("probability of each piece of the first translation", "原译文中每个词片的概率")

LONG: Final = _(
    "Your sentence has {n} pieces; the longest in training has {longest}. Expect mistakes.",
    "您的句子有 {n} 个词片；训练中最长的句子只有 {longest} 个，译文可能出错。",
)

# ---- views ----
ATTENTION: Final = _("Decoder to encoder", "解码器到编码器")
QUESTION: Final = _(
    "Which English word does the next German word need?", "下一个德文词需要哪个英文词？"
)

REMAINS: Final = _("What do the last states keep of each word?", "最后的状态还记得每个词多少？")
REMAINS_UNITS: Final = _(
    "share of ‖∂h/∂x‖, estimated from 16 random directions", "‖∂h/∂x‖ 的占比，由 16 个随机方向估计"
)
FORWARD, BACKWARD = (
    _("→h after the last word", "读完最后一个词的 →h"),
    _("←h before the first word", "读到第一个词的 ←h"),
)
REMAINS_AXES: Final = {"en": ("word of the sentence", "share"), "zh": ("句中的词", "占比")}
REMAINS_SAYS: Final = _(
    "Reading forwards, the last state depends most on {first} ({a} of the influence of all {n}"
    " words); reading backwards, on {second} ({b}). The first half of the words accounts for"
    " {early} of →h.",
    "向前读，最后的状态最依赖 {first}（在全部 {n} 个词中占 {a}）；向后读，最依赖 {second}（占"
    " {b}）。先读到的一半词在 →h 中只占 {early}。",
)
WORD: Final = _("word", "词")

QUALITY: Final = _("How good is it on long sentences?", "句子长了还译得好吗？")
QUALITY_UNITS: Final = _("sacreBLEU of {n} sentences of {split}", "{split} 的 {n} 句，sacreBLEU")
QUALITY_AXES: Final = {
    "en": ("word pieces of the English sentence", "BLEU"),
    "zh": ("英文句子的词片数", "BLEU"),
}
QUALITY_SAYS: Final = _(
    "From the shortest sentences to the longest, BLEU goes from {a} to {b} with {best} attention"
    " and from {c} to {d} without. {order} The Transformer of the translation lab, larger and"
    " trained for longer, reaches {transformer} on all of them.",
    "从最短的句子到最长的句子，有{best}注意力时 BLEU 由 {a} 变为 {b}，没有注意力时由 {c} 变为 {d}。"
    "{order}"
    "翻译实验的 Transformer 更大、训练更久，在全部句子上为 {transformer}。",
)
APART: Final = _(
    "All sentences together: {one} {x}, {other} {y}, p = {p} in a paired bootstrap over"
    " sentences; each model was trained once.",
    "全部句子：{one} {x}，{other} {y}，对句子做配对自助法，p = {p}；每个模型只训练了一次。",
)
TOO_NEAR: Final = _(
    "All sentences together: {one} {x}, {other} {y}; the difference may be chance (p = {p},"
    " paired bootstrap).",
    "全部句子：{one} {x}，{other} {y}；差别可能出于偶然（p = {p}，配对自助法）。",
)
ALL: Final = shared.ALL
LENGTH: Final = shared.PIECE_COUNT
SENTENCES: Final = _("sentences", "句数")

SUM: Final = _("From score to weighted sum: what are the numbers?", "从得分到加权和：数字是多少？")
SUM_UNITS: Final = _("rows: German, columns: English", "行：德文，列：英文")
SCORES: Final = {"en": "score g(s, h)", "zh": "得分 g(s, h)"}
SOFTMAX: Final = {"en": "softmax: weight α", "zh": "softmax：权重 α"}
SHARES: Final = {"en": "share of c = Σ α h", "zh": "在 c = Σ α h 中的份额"}
SUM_SAYS: Final = _(
    "Before “{query}” the score is highest for “{key}”, {score}; the softmax turns it into a"
    " weight of {weight} in a row that sums to 1; it contributes {share} of the context c.",
    "写 “{query}” 之前，“{key}” 的得分最高，为 {score}；softmax 把它变成 {weight}，一行之和为"
    " 1；它在上下文 c 中占 {share}。",
)
SUM_COLUMNS: Final = (
    GERMAN,
    ENGLISH,
    _("score g", "得分 g"),
    _("weight α", "权重 α"),
    _("share of c", "在 c 中的份额"),
)
NO_MAPS: Final = _(
    "This model has no scores: it reads the same vector before every word. Choose additive, dot or"
    " general.",
    "该模型没有得分：它在每个词之前读的都是同一个向量。请选择加性、点积或一般式。",
)

SCALE: Final = _("What does dividing by √d do?", "除以 √d 有什么用？")
SCALE_UNITS: Final = _(
    "largest minus smallest score of a row; both read the same German",
    "每行最大得分减最小得分，两者读同样的德文",
)
SCALE_AXES: Final = {
    "en": ("German word piece", "spread of scores"),
    "zh": ("德文词片", "得分的差距"),
}
SCALE_SAYS: Final = _(
    "Two networks with the score “{score}” were trained the same way; only one divides its"
    " scores by √320 ≈ 17.9. With the division the scores of a row spread over {a} on average,"
    " and the largest weight is {c}; without it they spread over {b}, and the largest weight is"
    " {d}. A softmax that puts almost all weight on one word passes hardly any"
    " gradient.{figures}",
    "两个打分函数为“{score}”的网络训练完全一样，只是其中一个把得分除以 √320 ≈ 17.9。"
    "它每行得分平均相差 {a}，最大权重平均为 {c}；"
    "不除的网络相差 {b}，最大权重为 {d}。softmax 把几乎全部权重给一个词时，几乎不传梯度。{figures}",
)
SCALE_FIGURES: Final = _(
    " On the {n} sentences of {split}: BLEU {x} with the division, {y} without.",
    "在 {split} 的 {n} 句上，除的 BLEU 为 {x}，不除的为 {y}。",
)
SCALE_COLUMNS: Final = (
    GERMAN,
    _("spread, divided", "差距，除"),
    _("largest α, divided", "最大 α，除"),
    _("spread, not divided", "差距，不除"),
    _("largest α, not divided", "最大 α，不除"),
)

OVERLAP: Final = _("Does the Transformer look at the same words?", "Transformer 看的是同样的词吗？")
OVERLAP_UNITS: Final = _(
    "the same English and the same German for both", "两个模型读同样的英文和同样的德文"
)
OVERLAP_MAPS: Final = {
    "en": ("Transformer, head {name}", "overlap Σ min(α, α′)", "RNN, {variant}"),
    "zh": ("Transformer，头 {name}", "重叠 Σ min(α, α′)", "RNN，{variant}"),
}
OVERLAP_SAYS: Final = _(
    "Of the Transformer's {n} cross-attention heads, {name} is most like this model: their rows"
    " share {mean} of their weight on average, most at “{most}” ({high}) and least at “{least}”"
    " ({low}).",
    "在 Transformer 的 {n} 个交叉注意力头中，{name} 与本模型最像：各行平均共有 {mean} 的权重，"
    "“{most}” 处最多（{high}），“{least}” 处最少（{low}）。",
)
OVERLAP_COLUMNS: Final = (
    GERMAN,
    ENGLISH,
    shared.TRANSFORMER,
    _("RNN", "RNN"),
    _("row's overlap", "该行的重叠"),
)

DISTANCE: Final = _("How far does a word reach?", "一个词能影响多远？")
DISTANCE_UNITS: Final = _("mean of ‖∂ log p / ∂x‖, logarithmic", "‖∂ log p / ∂x‖ 的平均，对数坐标")
DISTANCE_AXES: Final = {
    "en": (
        "steps from the word to the nearer end, plus the position of the output",
        "influence on the output",
    ),
    "zh": ("词到较近一端的步数，加上输出的序号", "对输出的影响"),
}
DISTANCE_SAYS: Final = _(
    "Both read the same German. From {near} steps apart (a word at one end, an early output) to"
    " {far} (a word in the middle, a late output), a word's influence goes from {a} to {b} with"
    " “{one}” and from {c} to {d} with “{other}”. Both have a shortcut past these steps:"
    " attention reads each state directly; without it, the decoder rereads the last states at"
    " every step.",
    "两者读同样的德文。从相隔 {near} 步（句端的词、靠前的输出）到相隔 {far} 步（句中的词、靠后的"
    "输出），一个词的影响在“{one}”中由 {a} 变为 {b}，在“{other}”中由 {c} 变为 {d}。两者都有捷径："
    "注意力直接读每个状态；没有注意力时，每一步都重读最后的状态。",
)
STEPS_FAR: Final = _("steps apart", "相隔步数")

NOTES: Final[tuple[Text, ...]] = (
    _(
        "The decoder's previous state is the query, as in Bahdanau et al.; only the scores come"
        " from Luong et al., not the order of steps.",
        "提问的是写这个词之前的状态，与 Bahdanau 等相同；Luong 等的工作只借用了打分函数，"
        "没有借用其步骤顺序。",
    ),
    _(
        "Without attention every step reads [→h; ←h], the last state of each direction (Cho et al.,"
        " 2014).",
        "没有注意力时，每一步读的都是两个方向的最后状态 [→h; ←h]（Cho 等，2014）。",
    ),
    _(
        "A weight says where the context comes from, not why a word was chosen.",
        "权重说明上下文取自哪里，并不说明为什么选这个词。",
    ),
)

# ---- the card ----
EACH_MODEL: Final = _("each of six models", "六个模型各约")
BEST: Final = _("{best}; without attention {none}", "{best}；无注意力 {none}")
UNPUBLISHED: Final = _(
    "Bahdanau et al. (2015) translate English news into French; their figures cannot be compared"
    " with these.",
    "Bahdanau 等（2015）把英文新闻译成法文，其数字无法与这里的相比。",
)
CURVE_UNITS: Final = _(
    "nats per piece on held-out pairs, lower is better", "留出句对上每词片纳特，越低越好"
)
CURVE_AXES: Final = (
    _("target positions seen in training", "训练中见过的目标位置"),
    shared.HELD_OUT_LOSS_NATS_PER_PIECE,
)
CURVE_SAYS: Final = _(
    "After {seen} target positions for each, held-out loss in nats per piece: {figures}.",
    "各学过 {seen} 个目标位置之后，验证损失（每词片纳特）：{figures}。",
)

# The guided steps: title and text. Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "vector": _("One vector for a sentence", "一个向量装一句话"),
    "diluted": _("The first words fade", "先读的词变淡"),
    "needs": _("Each word needs other words", "每个词需要不同的词"),
    "sum": _("Score, softmax, weighted sum", "得分、softmax、加权和"),
    "moves": _("The weights move", "权重在移动"),
    "drag": _("Move a weight", "移动权重"),
    "scores": _("Three scores, and √d", "三种打分与 √d"),
    "onward": _("Still one after the other", "仍然一个接一个"),
}
STEPS: Final[Mapping[str, Text]] = {
    "vector": _(
        "Without attention the decoder knows the sentence only through one vector of 320"
        " numbers, however long it is. Short captions come out better. See what happens to this"
        " long one, and to BLEU as sentences grow.",
        "没有注意力时，无论句子多长，解码器只通过一个 320 维的向量了解它。"
        "短句译得好些；看看这个长句变成了什么，以及句子变长时的 BLEU。",
    ),
    "diluted": _(
        "Each word changes the state a little and dilutes what was there before. The last state"
        " depends most on the words read last. So one network reads forwards, the other"
        " backwards.",
        "每读一个词，状态就改变一点，先前的内容被冲淡。最后的状态最依赖最后读到的词；所以一个网"
        "络向前读，另一个向后读。",
    ),
    "needs": _(
        "To write one German word, only a few English words matter, and different ones each"
        " time. So keep the states of all words, and let the decoder choose: each row says how"
        " much it takes of each.",
        "写一个德文词时，只有少数英文词重要，而且每次都不同。所以保留所有词的状态，让解码器去"
        "选：每一行说明从每个词取多少。",
    ),
    "sum": _(
        "Comparing the decoder's state with the state of each word gives a score. The softmax"
        " turns a row of scores into weights that sum to 1; the context is the sum of all"
        " states, each times its weight.",
        "解码器的状态与每个词的状态比较，得到得分。softmax 把一行得分变成和为 1 的权重，上下文就"
        "是各个状态乘以各自权重之和。",
    ),
    "moves": _(
        "t = 1, 2, 3, 4: the weights are computed anew before each word. Press Space and watch"
        " them move from word to word; they jump where the two languages order their words"
        " differently.",
        "t = 1、2、3、4：写每个词之前都重新计算权重。按空格键，"
        "看它们从一个词移到下一个；两种语言语序不同的地方，权重会跳跃。",
    ),
    "drag": _(
        "Are the weights really used? At one output, put all the weight on another word: the"
        " word written there changes, and so does what follows. What comes before is unchanged.",
        "权重真的起作用吗？在一个输出处把全部权重交给另一个词：写出的词变了，后面的也跟着变，前"
        "面的不变。",
    ),
    "scores": _(
        "Additive: a small network compares the two states. Dot: their product. General: the"
        " product with a matrix between. A product sums 320 terms and grows large; the softmax then"
        " picks one word, and little is learned. So both products are divided by √320, as every"
        " Transformer divides by √d_k. Switch it off above.",
        "加性：一个小网络比较两个状态。点积：直接相乘。一般式：中间隔一个矩阵相乘。乘积是 320"
        " 项之和，数值很大，softmax 便把全部权重给"
        "一个词，很难再学。所以两者都除以 √320，正如每个 Transformer 都除以 √d_k。可在上方关掉它。",
    ),
    "onward": _(
        "Attention reaches any English word in one step. But reading and writing still go step"
        " by step, and within one sentence two distant words meet only through many states. The"
        " Transformer keeps the attention and drops the recurrence: here it looks at the same"
        " words.",
        "注意力一步就能到达任何英文词。但读和写仍然一步接一步，同一句话里相距很远的两个词，要经过"
        "许多个状态才能相遇。Transformer 留下注意力、去掉循环：它看的是同样的词。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "vector": _("How much fits into one vector?", "一个向量装得下多少？"),
    "diluted": _("What is left of the first words?", "最先读的词还剩下什么？"),
    "needs": _("Which words does the next word need?", "下一个词需要哪些词？"),
    "sum": _("How does a score become a weighted sum?", "得分怎样变成加权和？"),
    "moves": _("Where do the weights go, word by word?", "权重逐词移向哪里？"),
    "drag": _("What if the weight lies on another word?", "权重放在另一个词上会怎样？"),
    "scores": _("Why are scores divided by √d?", "得分为什么要除以 √d？"),
    "onward": _("Does the Transformer look at the same words?", "Transformer 看的是同样的词吗？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "vector": _(
        "One vector for a whole sentence. Does the translation suffer from the tenth word on, from"
        " the twentieth, or never?",
        "整句话只有一个向量。译文从第十个词起变差，还是第二十个，还是从不变差？",
    ),
    "drag": _(
        "At one output, all weight goes to the first English word. Which German words change: this"
        " one, those before, those after it?",
        "在某一步输出，把全部权重移到第一个英文词。哪些德文词会变：这一个，它之前的，还是它之后的？",
    ),
    "scores": _(
        "The same network, trained without dividing its scores: does it lose nothing, one point of"
        " BLEU, or about five?",
        "同样的网络，训练时不除得分：BLEU 不变，降 1 点，还是降 5 点左右？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "vector": _(
        "All curves fall; the one without attention lies below the others at every length.",
        "每条曲线都下降；没有注意力的曲线在每个长度上都在其他曲线之下。",
    ),
    "diluted": _(
        "Follow both lines from the first word to the last: each network remembers its own end.",
        "沿两条线从第一个词看到最后一个词：每个网络记得的是自己的那一端。",
    ),
    "needs": _(
        "Click another row: other words light up. Read the sentence aloud.",
        "点另一行：亮起的是别的词。把下面的句子读出来。",
    ),
    "sum": _(
        "Go from left to right: score, softmax, weight. Check that a row sums to 1.",
        "从左到右看：得分、softmax、权重。核对一行之和为 1。",
    ),
    "moves": _(
        "Press Space and let it play; stop where the weights jump.",
        "按空格播放，在权重跳跃的地方停下。",
    ),
    "drag": _(
        "Hold B for the run before the change; compare the words from that row on.",
        "按住 B 看改动之前；比较这一行之后的词。",
    ),
    "scores": _(
        "Compare the two curves, then the largest weights in the sentence below.",
        "比较两条曲线，再看下面句子里的最大权重。",
    ),
    "onward": _(
        "Compare the two maps row by row; the bars between them say how much they share.",
        "逐行比较两张图；中间的条形表示两者共有多少。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {
    "vector": 1,
    "diluted": 3,
    "sum": 1,
    "moves": 3,
    "scores": 1,
}
