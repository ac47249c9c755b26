"""The texts of the lab of BERT, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("BERT", "BERT")
SHORT: Final = _("BERT", "BERT")
LINE: Final = _(
    "An encoder learns a language by finding hidden words from both sides.",
    "编码器靠找出遮住的词来学语言，两边都看。",
)
CARD: Final = _("Hidden words, from both sides.", "遮住的词，从两边来猜。")
KICKER: Final = _("Devlin et al., 2018 · arXiv 1810.04805", "Devlin 等，2018 · arXiv 1810.04805")
EQUATION: Final = (
    "−log P({query:x_t} | {key:x}{sub:1…t−1}, {key:x}{sub:t+1…L}) = −log softmax(W Σ{sub:i}"
    " α{sub:ti} {value:v_i})"
)
SPOKEN: Final = _(
    "the loss is minus the logarithm of the probability of the hidden piece x t, given all pieces"
    " before it and all after it; the network finds it through weighted sums of values from both"
    " sides",
    "损失是遮住的词片 x t 的概率的负对数，"
    "条件是它前面和后面的所有词片；网络通过对两边的值加权求和来找到它",
)

REGION: Final = _("Sentence with hidden words", "带有遮住词的句子")
SENTENCE: Final = shared.ENGLISH
LIMIT: Final = _("up to {n} pieces", "最多 {n} 个词片")
RUN: Final = _("Guess", "猜")
OTHER: Final = _("a second sentence, to compare meanings", "第二个句子，用来比较意思")
VARIANT: Final = shared.NETWORK_TITLE
NAMES: Final[Mapping[str, Text]] = {
    "mlm": _("our network", "本实验的网络"),
    "minilm": _("MiniLM", "MiniLM"),
}
OFFERS: Final[Mapping[str, Text]] = {
    "mlm": shared.HIDDEN_WORDS,
    "minilm": _("MiniLM, a real encoder", "真正的编码器 MiniLM"),
}
WAY: Final = _("Hiding", "怎样遮")
WAYS: Final[Mapping[str, Text]] = {
    "hide": _("the words I choose", "我选的词"),
    "draw": _("drawn as in training", "像训练时那样抽"),
}
SEED: Final = _("draw", "抽取")
SEED_HINT: Final = _("which pieces one pass of training hides", "训练的一遍遮住哪些词片")
HEAD: Final = shared.HEAD_OF_MODEL

# ---- changes ----
HIDDEN: Final = _("hidden words, counted from 0", "遮住的词，从 0 数起")
SIDES: Final = _("what may be read", "可以读哪边")
SIDE: Final[Mapping[str, Text]] = {
    "both": _("both sides", "两边"),
    "left": _("left only", "只读左边"),
    "right": _("right only", "只读右边"),
}
SIDE_SAYS: Final[Mapping[str, Text]] = {
    "left": _("the right side blanked", "遮挡右边"),
    "right": _("the left side blanked", "遮挡左边"),
}
POSITIONS: Final = shared.POSITIONS
ON_OFF: Final = {True: _("added to the words", "加到词上"), False: shared.LEFT_OUT}
NO_POSITIONS: Final = _("the positions left out", "去掉位置")
NUMBER: Final = _("mean log-probability of the hidden pieces", "遮住词片的平均对数概率")
MOVES: Final = _(
    "With {what}, the best guess is {guess}; the hidden piece has log-probability {after} on"
    " average, before {before}.",
    "{what}：最可能的猜测是{guess}；遮住的词片的平均对数概率由 {before} 变为 {after}。",
)
STAYS: Final = _(
    "With {what}, the hidden piece keeps its log-probability {before}.",
    "{what}：遮住的词片的平均对数概率仍为 {before}。",
)
ALONE: Final = _(
    "mean log-probability of a piece, each hidden alone", "每个词片单独遮住时的平均对数概率"
)
READS: Final = _(
    "With {what}, a piece that is hidden alone has log-probability {after} on average, before"
    " {before}.",
    "{what}：单独遮住的词片的平均对数概率由 {before} 变为 {after}。",
)
READS_SAME: Final = _(
    "With {what}, a piece that is hidden alone keeps its log-probability {before}.",
    "{what}：单独遮住的词片的平均对数概率仍为 {before}。",
)
ALIKE: Final = _("cosine of the two sentences", "两句的余弦")
ALIKE_MOVES: Final = _(
    "With {what}, the cosine of the two sentences is {after}, before {before}.",
    "{what}：两句的余弦由 {before} 变为 {after}。",
)
ALIKE_STAYS: Final = _(
    "With {what}, the cosine of the two sentences stays at {before}.",
    "{what}：两句的余弦仍为 {before}。",
)
VECTOR: Final = _("cosine with the sentence's vector before", "与改动前句子向量的余弦")
TURNS: Final = _(
    "With {what}, MiniLM's vector of the sentence turns: its cosine with the earlier vector is"
    " {after}.",
    "{what}：MiniLM 的句子向量转向，与之前的余弦为 {after}。",
)
TURNS_NOT: Final = _(
    "With {what}, MiniLM's vector of the sentence stays as it is.",
    "{what}：MiniLM 的句子向量不变。",
)
AT: Final = _("position {at}", "位置 {at}")
TRUTH: Final = _("p of “{piece}”", "“{piece}”的概率")
GUESS: Final = _("best guess", "最可能的猜测")
SAME: Final = shared.THE_SAME
OTHER_ONE: Final = shared.ANOTHER

RARE: Final = _(
    "The networks have never seen {unknown} of the pieces in your sentence. They read them as"
    " unknown, so expect bad guesses.",
    "您的句子里有 {unknown} 个词片是网络从未见过的，只能当作未知词来读，猜测可能不准。",
)
NO_HEAD: Final = _(
    "MiniLM does not predict words: look at its heads, or type a second sentence.",
    "MiniLM 不预测词：看它的注意力头，或输入第二个句子。",
)
COSINE: Final = _("cosine {value}", "余弦 {value}")
LIKELIHOOD: Final = _("pseudo-log-likelihood {value}", "伪对数似然 {value}")
LIKELIHOOD_IS: Final = _(
    "The sum of the log-probabilities of all pieces, each hidden alone. This is not the true"
    " likelihood of the sentence: a model that reads both ways cannot give one, so this takes"
    " its place.",
    "所有词片逐个单独遮住时的对数概率之和。它不是句子真正的似然；双向阅读的模型给不出似然，就用"
    "它代替。",
)
NOTHING: Final = _("Nothing is hidden yet: click a word below.", "还没有遮住词：点击下面的一个词。")
FOLDED: Final = _("Both networks read lower-case letters only.", "两个网络都只读小写字母。")

# ---- views ----
ARROWS: Final = {
    "title": _("What does the hidden word look at?", "遮住的词看向什么？"),
    "empty": _("Nothing has been read yet.", "还没有读过句子。"),
}
FINDER: Final = {
    "title": _("Find a head", "找一个头"),
    "empty": _("Nothing has been read yet.", "还没有读过句子。"),
}
QUESTION: Final = _(
    "Which pieces does each piece look at, on both sides?", "每个词片向左右两边看向哪些词片？"
)
ROLES: Final = (_("piece that looks", "看的词片"), _("piece looked at", "被看的词片"))
NORM: Final = _("{name}, times the norm of the value", "{name}，乘以值的范数")

PATTERN: Final[Mapping[str, Text]] = {
    "previous": _("previous piece", "前一个词片"),
    "next": _("next piece", "后一个词片"),
    "first": _("[CLS], the sink", "[CLS]（注意力汇）"),
    "last": _("[SEP]", "[SEP]"),
    "same": _("the same piece", "同一个词片"),
}
# For each relation: the dependent word, and the word it depends on.
RELATION: Final[Mapping[str, tuple[Text, Text]]] = {
    "det": (_("determiner", "限定词"), shared.NOUN),
    "amod": (_("adjective", "形容词"), shared.NOUN),
    "nsubj": (_("subject", "主语"), shared.VERB),
    "obj": (_("object", "宾语"), shared.VERB),
    "case": (_("preposition", "介词"), shared.NOUN),
    "nmod:poss": (_("possessive", "所有格"), shared.NOUN),
    "aux": (_("auxiliary", "助动词"), shared.VERB),
    "mark": (_("conjunction", "连词"), _("clause", "从句")),
    "cop": (_("copula", "系词"), _("predicate", "谓词")),
    "advmod": (_("adverb", "副词"), _("what it modifies", "所修饰的词")),
    "compound": (_("part", "成分"), _("compound", "复合词")),
}
TO: Final = _("{a} → {b}", "{a} → {b}")

SINK: Final = _("The sink", "注意力汇")
SINK_UNITS: Final = _(
    "mean weight that goes to [CLS], by layer of MiniLM", "MiniLM 各层落在 [CLS] 上的平均权重"
)
SINK_AXES: Final = {"en": ("layer", "weight on [CLS]"), "zh": ("层", "[CLS] 上的权重")}
SINK_WEIGHT: Final = shared.ATTENTION
SINK_NORM: Final = _("attention × value norm", "注意力 × 值的范数")
SINK_SAYS: Final = _(
    "{mean} of all weight rests on [CLS], most in head {head}: {most}. Times the norm of its value"
    " {norm} is left: there is little to take from it.",
    "全部权重的 {mean} 落在 [CLS] 上，最多的是头 {head}：{most}。乘以值的范数后剩"
    " {norm}：从它那里取不到多少东西。",
)
SINK_SAYS_ALSO: Final = _(
    "{mean} of all weight rests on [CLS], most in head {head}: {most}. Times the norm of its value"
    " it is {norm}.",
    "全部权重的 {mean} 落在 [CLS] 上，最多的是头 {head}：{most}。乘以值的范数后为 {norm}。",
)
SINK_COLUMNS: Final = (shared.LAYER, SINK_WEIGHT, SINK_NORM)

SIMILAR: Final = _("How alike are two sentences?", "两个句子有多像？")
SIMILAR_UNITS: Final = _(
    "what each word adds to the cosine of MiniLM's vectors", "每个词对 MiniLM 向量余弦的贡献"
)
SIMILAR_NONE: Final = _(
    "There is only one sentence, so there is nothing to compare: type a second one above.",
    "只有一个句子，无从比较：请在上方输入第二个句子。",
)
SIMILAR_SAYS: Final = _(
    "The cosine is {cosine}. Most of it comes from {one} in the first sentence and {other} in the"
    " second.",
    "余弦为 {cosine}。贡献最大的是第一句的{one}和第二句的{other}。",
)
SIMILAR_AXES: Final = {"en": ("first sentence", "second sentence"), "zh": ("第一句", "第二句")}
FIRST: Final = _("first", "第一句")
SECOND: Final = _("second", "第二句")
SIMILAR_COLUMNS: Final = (
    _("sentence", "句子"),
    shared.POSITION,
    shared.PIECE,
    _("contribution", "贡献"),
)

NOTES: Final[tuple[Text, ...]] = (
    _(
        "This lab has two networks: a small one, trained here to find hidden words, and MiniLM,"
        " a real pretrained encoder of six layers without a head that guesses words.",
        "这里有两个网络：一个由本实验训练来找遮住的词的小网络，和 MiniLM，一个真正的六层预训练编"
        "码器，它没有猜词的输出层。",
    ),
    _(
        "A blanked side is hidden from every position and layer. The network learned mostly with"
        " both sides and sometimes with one of them blanked, so it also knows how to guess from"
        " one side.",
        "被遮挡的一边对所有位置和层都不可见。网络主要是两边一起学的，偶尔也遮挡一边，所以只看一"
        "边来猜对它并不陌生。",
    ),
    _(
        "A weight says where a head reads from, not how much it takes: if the value is short,"
        " little arrives.",
        "权重说明一个头从哪里读，不说明取走多少：值很短时，到达的就很少。",
    ),
    _(
        "For each relation, a head is chosen on the dev part of UD English and reported on the"
        " test part, beside the best fixed distance.",
        "每种关系的头在 UD 英语的开发集上选出，在测试集上报告，旁边是最好的固定距离。",
    ),
)

BOTH: Final = _("BERT", "BERT")
LEFT: Final = _("language model", "语言模型")

# ---- the card ----
DATA: Final = _("17 books, captions", "17 本书、图片说明")
METRIC: Final = _("hidden words found, {split}", "找到的遮住词，{split}")
OF_MINILM: Final = _("MiniLM {size} M", "MiniLM {size} M")
CAPTIONS: Final = _(
    "novels · captions {masked_accuracy_captions}", "小说 · 图片说明 {masked_accuracy_captions}"
)
COUNTING: Final = _(
    "Trigram counts on both sides find {trigrams_novels} of the hidden words in the novel and"
    " {trigrams_captions} in the captions. From the left side alone the network finds"
    " {left_only_novels} in the novel.",
    "两边的三元组计数在小说中找到 {trigrams_novels}，在图片说明中找到 {trigrams_captions}。只看"
    "左边时，网络在小说中找到 {left_only_novels}。",
)
CURVE_UNITS: Final = _(
    "nats per hidden piece on held-out text, lower is better",
    "留出文本上每个遮住词片的纳特，越低越好",
)
CURVE_AXES: Final = (
    _("pieces read, millions", "读过的词片（百万）"),
    _("held-out loss, nats per hidden piece", "验证损失，每个遮住词片的纳特"),
)
CURVE_SAYS: Final = _(
    "At the end of training: {figures} nats per hidden piece.",
    "训练结束时：每个遮住词片 {figures} 纳特。",
)

# The guided steps: title and text. Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "left": _("From the left only", "只看左边"),
    "both": _("From both sides", "从两边看"),
    "draw": _("80, 10, 10 per cent", "80%、10%、10%"),
    "patterns": _("Heads with a pattern", "有模式的头"),
    "sink": _("The sink", "注意力汇"),
    "grammar": _("A head for grammar", "懂语法的头"),
    "vectors": _("Sentences as vectors", "句子变成向量"),
    "labels": _("Pre-train, fine-tune", "先预训练，再微调"),
}
STEPS: Final[Mapping[str, Text]] = {
    "left": _(
        "A language model reads from the left and never sees what comes later. Here the right"
        " side is blanked: like GPT, the network must guess the hidden word from what comes"
        " before it.",
        "语言模型从左往右读：后面的内容对它不存在。这里遮挡了右边，遮住的词只能凭前面的内容来"
        "猜，和 GPT 一样。",
    ),
    "both": _(
        "An encoder has no causal mask: every position sees all others. So it cannot learn by"
        " predicting the next word, which it already sees; it learns to predict hidden words."
        " The right side helps: compare the two lists.",
        "编码器没有因果掩码：每个位置都看得到所有其他位置。它看得见下一个词，所以学不了预测下一"
        "个；它学的是预测被遮住的词。右边有帮助：比较两列猜测。",
    ),
    "draw": _(
        "Training draws 15 % of the pieces and hides most of them. But nobody hides words when"
        " the network is used. So a tenth is replaced by another piece and a tenth stays, and"
        " the network must judge every word that it reads.",
        "抽中 15% 的词片。多数被遮住，但以后使用时没有人遮词：所以十分之一换成别的词片，十分之一"
        "不变，网络就必须对读到的每个词都有判断。",
    ),
    "patterns": _(
        "Nobody told MiniLM what its heads are for. Some have learned a fixed step: one looks at"
        " the previous piece, one at the next. The table lists the scores of your sentence"
        " beside those of the corpus.",
        "没有人告诉 MiniLM 每个头的用途。有些学会了固定的一步：一个看前一个词片，一个看后一个。"
        "您的句子的得分列在语料得分旁边。",
    ),
    "sink": _(
        "The weights of a row must sum to 1, even where a head finds nothing. They go to [CLS],"
        " which carries no word. Its value is short, so the head takes little from it: look at"
        " the line “attention × value norm”.",
        "一行权重之和必须为 1，即使这个头什么也没找到。于是权重落到不代表任何词的 [CLS] 上。它的"
        "值很短，取来的东西很少：看“注意力 × 值的范数”那条线。",
    ),
    "grammar": _(
        "Nobody taught MiniLM grammar, yet some heads point from a word to the one it belongs"
        " to. Is that knowledge, or only “one to the left”? Compare with the best fixed"
        " distance: the points are the head's lead over that baseline.",
        "没有人教 MiniLM 语法，但有些头会从一个词指向它所属的词。这是知识，还是只是“左边一个”？"
        "和最好的固定距离比较：领先的分数才是它真正知道的。",
    ),
    "vectors": _(
        "The mean of all positions is one vector for the sentence. Two sentences with the same"
        " meaning lie close together, even if they share hardly a word. You can read off each"
        " word's share of the cosine.",
        "所有位置的平均就是一个句子的向量。意思相同的两句话，即使几乎没有相同的词，也靠得很近；"
        "每个词对余弦的贡献都能读出来。",
    ),
    "labels": _(
        "A verdict on film reviews is read off the means of all layers, and all weights learn on;"
        " beside it a language model twice as large, and counting words. MiniLM, fifteen times as"
        " large, read far more and stays frozen: its readout is ahead up to 2,000 labels, counting"
        " with 8,530. Reading pays where labels are few.",
        "从各层的均值读出对影评的判断，所有权重继续学；旁边是大一倍的语言模型，还有词频基线。MiniLM"
        " 的参数是它的十五倍，读过的文字多得多，"
        "保持冻结：它的读出层到 2,000 个标签都领先，8,530 个时词频基线领先。标签少时，读得多才值。",
    ),
}

# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "left": _("What is hidden, seen from the left?", "只看左边，遮住的是什么词？"),
    "both": _("What is the right side worth?", "右边值多少？"),
    "draw": _("Why not hide every drawn word?", "为什么不把抽中的词全遮住？"),
    "patterns": _("Which heads follow a fixed pattern?", "哪些头遵循固定的模式？"),
    "sink": _("Where does a head look when it finds nothing?", "一个头什么也没找到时看向哪里？"),
    "grammar": _(
        "Does a head know grammar, or only where to look?", "头懂语法，还是只知道看哪里？"
    ),
    "vectors": _("When do two sentences mean the same?", "什么时候两句话意思相同？"),
    "labels": _("What is pre-training worth to judge a review?", "判断影评时，预训练值多少？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "left": _(
        "Read the sentence up to the hidden word: which word would you write?",
        "把句子读到遮住的词为止：您会写什么词？",
    ),
    "sink": _(
        "A head finds nothing in a sentence, yet its weights must sum to 1. Where will they go?",
        "一个头在句子里什么也没找到，但权重之和必须为 1。它们会去哪里？",
    ),
    "labels": _(
        "500 labelled film reviews: who judges new ones best, BERT, the language model, counting"
        " words or a frozen MiniLM?",
        "500 条带标签的影评：谁判断新影评最准，BERT、语言模型、词频基线，还是冻结的 MiniLM？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "left": _(
        "Point at the arrows: they come from one side alone. Then hold B for both sides.",
        "指向箭头：只来自一边。再按住 B 看两边。",
    ),
    "both": _("Read both lists aloud; point at the one number.", "把两列猜测读出来；指向那个数。"),
    "draw": _(
        "Draw again a few times; point at a piece that was replaced.",
        "多抽几次；指向被换掉的词片。",
    ),
    "patterns": _(
        "Go through the first rows of the table; each lights its head.",
        "依次点表的前几行；每行点亮一个头。",
    ),
    "sink": _("Compare the two lines layer by layer.", "逐层比较两条线。"),
    "grammar": _("Read the column of points from top to bottom.", "从上到下读“领先”一列。"),
    "vectors": _(
        "Change one word of the second sentence and run again.", "改动第二句中的一个词，再运行。"
    ),
    "labels": _(
        "Follow the curves from left to right: from how many labels on do they separate?",
        "沿曲线从左看到右：从多少标签起它们才分得开？",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {"left": 1, "both": 1, "patterns": 2, "grammar": 1}
