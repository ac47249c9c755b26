"""The translation lab in words, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Text = Mapping[str, str]


def _(en: str, zh: str) -> Text:
    return MappingProxyType({"en": en, "zh": zh})


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
    "softmax of Q times K transposed, divided by the square root of d k, times V; Q asks, K is looked at, V is taken",
    "softmax（Q 乘 K 的转置，除以 d k 的平方根）再乘 V；Q 是查询，K 是键，V 是值",
)

PROMPT: Final[Mapping[str, Text]] = MappingProxyType(
    {
        "region": _("Sentence and translation", "句子与译文"),
        "label": _("English, up to {tokens} tokens", "英文，最多 {tokens} 个词元"),
        "placeholder": _("Type an English sentence", "输入一个英文句子"),
        "run": _("Translate", "翻译"),
        "output": _("German,", "德文，"),
    }
)

KINDS: Final[Mapping[str, Text]] = MappingProxyType(
    {"encoder": _("Encoder self", "编码器自注意力"), "decoder": _("Decoder self", "解码器自注意力"), "cross": _("Cross", "交叉")}
)
KIND_NAMES: Final[Mapping[str, Text]] = MappingProxyType(
    {"encoder": _("encoder", "编码器"), "decoder": _("decoder", "解码器"), "cross": _("cross", "交叉")}
)
QUESTIONS: Final[Mapping[str, Text]] = MappingProxyType(
    {
        "encoder": _("Which English words does an English word look at?", "一个英文词看向哪些英文词？"),
        "decoder": _("Which words already written does the next one look at?", "下一个词看向哪些已写出的词？"),
        "cross": _("Which English word does each German word come from?", "每个德文词来自哪个英文词？"),
    }
)
ENGLISH: Final = _("English", "英文")
GERMAN: Final = _("German", "德文")
WRITTEN: Final = _("German so far", "已写出的德文")

SILENCE: Final = _("Silence heads", "关掉头")
SILENCE_TITLE: Final = _("What changes if … a head is silenced", "如果……关掉一个头，会怎样")
HIDE: Final = _("Hide a word", "遮住一个词")
HIDE_TITLE: Final = _("What changes if … nothing may look at a word", "如果……谁也不能看某个词，会怎样")
NUMBER: Final = _("log-probability of the whole translation", "整句译文的对数概率")

PICTURE: Final = _("{kind}, layer {layer}, mean over heads", "{kind}，第 {layer} 层，各头平均")
PICTURE_UNIT: Final = _("L{layer} mean", "L{layer} 平均")

PARAMETERS: Final = _("parameters", "参数")
DATA: Final = _("data", "数据")
TRAINED: Final = _("trained in", "训练用时")
MISSING: Final = _("not yet measured", "尚未测量")
PUBLISHED: Final = _("published {value}", "发表值 {value}")
RESEARCH: Final = _("research and teaching only", "仅限研究与教学")
UNFINISHED: Final = _("training unfinished", "训练未完成")

CURVE: Final = _("How it was trained", "训练过程")
CURVE_UNITS: Final = _("nats per piece, lower is better", "每词元纳特，越低越好")
LEARNED: Final = _("training loss, smoothed", "训练损失（含标签平滑）")
HELD_OUT: Final = _("held-out loss", "验证损失")
EPOCH: Final = _("epoch", "轮次")
CURVE_SAYS: Final = _(
    "Over {epochs} epochs the held-out loss falls from {first} to {loss} nats per piece, lowest after epoch {best}.",
    "经过 {epochs} 轮，验证损失从每词元 {first} 纳特降到 {loss} 纳特，第 {best} 轮最低。",
)

RARE: Final = _(
    "Pieces of your sentence that this model never saw: {unknown}. It reads them as unknown, so expect mistakes.",
    "您的句子里有 {unknown} 个模型从未见过的词元，只能当作未知词来读，译文可能出错。",
)
SURPRISING: Final = _(
    "The model finds its own translation unlikely: your sentence is unlike the photo captions it was trained on.",
    "模型认为自己的译文可能性很低：您的句子不像它训练时见过的图片说明。",
)
LONG_LINK: Final = _(
    "This sentence is too long for a link; copy the text instead.",
    "这个句子太长，放不进链接；请直接复制文本。",
)
DEFECT: Final = _(
    "Something in the program went wrong with this input; it is in the server's log. Other inputs still work.",
    "程序在处理这个输入时出错，已记入服务器日志。其他输入不受影响。",
)
MALFORMED: Final = _(
    "The request does not have the form in which this page sends it: a sentence, a beam, α, heads and positions.",
    "请求的格式与本页发送的不同：应含一个句子、束宽、α、头与位置。",
)

# In words: what an intervention did. {who} is what was changed, {query} a row, {old} and {new} its strongest keys.
WITHOUT_HEADS: Final = _("Without {heads}", "关掉{heads}后")
WITHOUT_WORDS: Final = _("With {words} hidden", "遮住 {words} 后")
WITHOUT_BOTH: Final = _("Without {heads} and with {words} hidden", "关掉{heads}并遮住 {words} 后")
ONE_HEAD: Final = _("{kind} head {name}", "{kind}头 {name}")
MANY_HEADS: Final = _("{n} heads", " {n} 个头")
TURNS: Final = _("{who}, row {query} turns from {old} to {new}", "{who}，{query} 这一行从 {old} 转向 {new}")
SHIFTS: Final = _(
    "{who}, row {query} changes most: {old} goes from {before} to {after}", "{who}，{query} 这一行变化最大：{old} 从 {before} 变为 {after}"
)
LESS: Final = _("the same translation becomes {times} times less likely.", "同一句译文的可能性降为原来的 1/{times}。")
MORE: Final = _("the same translation becomes {times} times more likely.", "同一句译文的可能性升为原来的 {times} 倍。")
EQUAL: Final = _("the same translation stays as likely.", "同一句译文的可能性不变。")
MILLION: Final = _("more than a million", "一百多万")

# The guided steps: (key, title, what to say). Their inputs and views stand in views.py, which finds telling heads in the stored run.
STEPS: Final[tuple[tuple[str, Text, Text], ...]] = (
    (
        "asks",
        _("One word asks", "一个词在问"),
        _(
            "Each German piece asks a question, its query. Every English word offers a key. The weights of one row say how much "
            "of each word's value is taken, and they sum to 1.",
            "每个德文词元提出一个问题，即查询；每个英文词给出一个键。一行权重说明从每个词的值里各取多少，总和为 1。",
        ),
    ),
    (
        "row",
        _("One row, worked out", "一行怎么算"),
        _(
            "Query times key gives one number per word. Divided by √d_k, so that the softmax stays soft, then turned into "
            "weights. What is taken is the weighted sum of the values: the bars above the map.",
            "查询乘键，每个词得到一个数；除以 √d_k，让 softmax 不至于太硬，再变成权重。取走的是值的加权和：就是图上方的柱子。",
        ),
    ),
    (
        "heads",
        _("Several heads, several questions", "几个头，几种问题"),
        _(
            "One head can only average. Eight heads in each layer ask at once: this one looks at a neighbour, others at the verb "
            "or the end of the sentence. Open the heads with a job and compare.",
            "一个头只能取平均。每层八个头同时提问：这个头看相邻的词，别的头看动词或句末。打开“各司其职的头”比一比。",
        ),
    ),
    (
        "align",
        _("Two languages meet", "两种语言相遇"),
        _(
            "Cross-attention: queries come from the German so far, keys and values from the English. Nobody told the model which "
            "word belongs to which; the bright steps are the alignment it found.",
            "交叉注意力：查询来自已写出的德文，键和值来自英文。没有人告诉模型词与词的对应；亮的台阶就是它自己找到的对齐。",
        ),
    ),
    (
        "mask",
        _("No look ahead", "不许看未来"),
        _(
            "The decoder writes one word at a time, so a row may only look at what is already written. The mask shuts the upper "
            "right: those cells are not zero, they do not exist.",
            "解码器一次写一个词，所以一行只能看已经写出的部分。掩码封住了右上角：那些格子不是零，而是不存在。",
        ),
    ),
    (
        "silence",
        _("Silence a head", "关掉一个头"),
        _(
            "What was this head for? Multiply its output by 0 and read the same translation again. The number is how much less "
            "likely it becomes; try other heads, one or several.",
            "这个头有什么用？把它的输出乘以 0，再读一遍同一句译文。那个数字说明可能性降了多少；也试试别的头，一个或几个。",
        ),
    ),
    (
        "hide",
        _("Hide a word", "遮住一个词"),
        _(
            "Now nothing may look at one English word. Its column goes dark, the others share its weight, and the German has to guess.",
            "现在谁也不能看某个英文词。它那一列变暗，权重分给其他词，德文只好去猜。",
        ),
    ),
    (
        "beam",
        _("Four guesses at once", "四个候选同时走"),
        _(
            "Greedy takes the best word at every step and never looks back. A beam keeps four guesses until each writes the stop "
            "token; as every word costs probability, short ones win unless the length penalty α evens it out.",
            "贪心每一步只取最好的词，从不回头。束搜索同时保留四个候选，直到各自写出终止符；"
            "每个词都要付出概率，所以短句占便宜，长度惩罚 α 把它拉平。",
        ),
    ),
)


def filled(text: Text, **values: object) -> Text:
    """A text with its names in braces replaced; a value may itself be a text in two languages."""
    made: dict[str, str] = {}
    for language in ("en", "zh"):
        made[language] = text[language]
        for name, value in values.items():
            made[language] = made[language].replace("{" + name + "}", value[language] if isinstance(value, Mapping) else str(value))
    return made
