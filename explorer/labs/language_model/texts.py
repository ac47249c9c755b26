"""The texts of the lab of the language model, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Language model", "语言模型")
SHORT: Final = _("Language model", "语言模型")
LINE: Final = _(
    "A decoder reads a text from the left and guesses what comes next, so it can also write.",
    "只有解码器：从左往右读文本，猜下一个符号；所以它也能写。",
)
CARD: Final = _("Guesses what is next,\nand so it writes.", "猜下一个符号，\n于是会写。")
KICKER: Final = _(
    "Radford et al., 2018 · Al-Rfou et al., 2018 · arXiv 1808.04444",
    "Radford 等，2018 · Al-Rfou 等，2018 · arXiv 1808.04444",
)
EQUATION: Final = (
    "P({value:x_t} | {key:x}{sub:1}, …, {key:x}{sub:t−1}) = softmax({query:h}{sub:t−1} W)"
)
SPOKEN: Final = _(
    "the probability of x t, given x 1 to x t minus 1, is the softmax of h t minus 1, the last"
    " layer's vector, times W",
    "给定 x 1 到 x t 减 1 时，x t 的概率是最后一层的向量 h t 减 1 乘以 W 的 softmax",
)

REGION: Final = _("Beginning of a text", "文本的开头")
RUN: Final = shared.RUN
PROMPT: Final = _("Beginning", "开头")
PLACEHOLDER: Final = _(
    "Type the beginning of a text, or leave the box empty.", "输入文本的开头，或留空。"
)
MODEL: Final = shared.MODEL
LENGTH: Final = shared.WRITE
SYMBOLS: Final = _("{n} symbols", "{n} 个符号")
TOP_P: Final = _("top-p", "核采样 p")
TOP_P_HINT: Final = _(
    "Top-p {value}: it draws among the fewest likeliest symbols whose probabilities together reach"
    " this; 1 for all",
    "核采样 p = {value}：只在概率之和达到它的最少几个最可能的符号中抽取；1 为全部",
)
TOP_K: Final = shared.TOP_K
TOP_K_HINT: Final = _(
    "How many of the likeliest symbols it draws from", "在多少个最可能的符号中抽取"
)
ALL: Final = shared.ALL
LIKELIEST: Final = shared.COUNT
SEED: Final = shared.SEED
TYPED: Final = _("A continuation of yours: how likely is it?", "您自己的续写：有多可能？")

MODE: Final = _("mode", "模式")
MODES: Final[Mapping[str, Text]] = MappingProxyType(
    {"write": _("Write", "续写"), "learn": _("Fine-tune", "微调")}
)
BEGINS: Final = _("begins", "起点")

NAMES: Final[Mapping[str, Text]] = MappingProxyType(
    {
        "plain": _("Characters", "字符"),
        "last_only": _("Last position only", "只用最后位置"),
        "layers": _("Every layer predicts", "每层都预测"),
        "targets": _("Two ahead", "预测两步"),
        "all": _("Every layer, two ahead", "每层，两步"),
        "words": _("Pieces", "词片"),
        "induction": _("Copies, two layers", "会复制，两层"),
        "one_layer": _("Copies, one layer", "复制，一层"),
    }
)
BRIEF: Final[Mapping[str, Text]] = MappingProxyType(
    {
        "plain": _("characters", "字符模型"),
        "last_only": _("last position", "最后位置"),
        "layers": _("every layer", "每层预测"),
        "targets": _("two ahead", "两步预测"),
        "all": _("layers and two ahead", "每层两步"),
        "words": _("pieces", "词片模型"),
        "induction": _("two layers", "两层模型"),
        "one_layer": _("one layer", "一层模型"),
    }
)
KIND: Final[Mapping[str, Text]] = MappingProxyType(
    dict.fromkeys(("characters", "pieces", "copies"), shared.SELF_ATTENTION)
)
PER: Final[Mapping[str, Text]] = MappingProxyType(
    {"characters": _("character", "字符"), "pieces": shared.PIECE}
)
# Our examples: a description of each, and the word or two on its button.
EXAMPLES: Final[tuple[tuple[Text, Text], ...]] = (
    (
        _(
            "The beginning of a sentence of Persuasion, a novel unseen in training",
            "《劝导》里一句话的开头，训练时没见过这部小说",
        ),
        _("She had been …", "“She had been …”"),
    ),
    (
        _(
            "A herd of unicorns in the Andes, as in Radford et al. (2019)",
            "安第斯山中的一群独角兽，如 Radford 等（2019）",
        ),
        _("Unicorns", "独角兽"),
    ),
    (
        _(
            "The likeliest character every time: it goes round in circles",
            "每次取最可能的字符：开始兜圈子",
        ),
        _("Greedy", "贪心"),
    ),
    (
        _("Nothing: it begins after a line break", "什么也不给：从换行之后开始"),
        _("Nothing", "空白"),
    ),
    (_("The same beginning, written in pieces", "同样的开头，用词片来写"), _("Pieces", "词片")),
    (
        _("Repeated random letters: two layers copy them", "重复出现的随机字母：两层就能复制"),
        _("Copy", "复制"),
    ),
)

# ---- changes ----
TEMPERATURE: Final = shared.TEMPERATURE
HEATED: Final = _("at temperature {t}", "温度为 {t} 时")
HEAD: Final = _("head {name}", "头 {name}")
SKIPPED: Final = _("skipped layers", "跳过的层")
LAYER: Final = shared.LAYER_NUMBER
WITHOUT_LAYERS: Final = _("without {n|layer|layers} {at}", "跳过第 {at} 层")
POSITIONS: Final = shared.POSITIONS
ON_OFF: Final = {True: _("added before every layer", "每层之前都加"), False: shared.LEFT_OUT}
NO_POSITIONS: Final = _("without positions", "去掉位置")
SAYS: Final = _(
    "{change}, the same text costs ⟦o:{after}⟧ bits per {unit} instead of {before}.",
    "{change}，同一段文本每{unit}花费 ⟦o:{after}⟧ 比特，原来是 {before}。",
)
SAYS_SAME: Final = _(
    "{change}, the same text costs ⟦o:{before}⟧ bits per {unit}, as before; nowhere is the"
    " difference more than {most} bits.",
    "{change}，同一段文本每{unit}仍花费 ⟦o:{before}⟧ 比特；任何一处的差别都不超过 {most} 比特。",
)
GREEDY: Final = _(
    "At temperature 0 only the likeliest symbol has any probability, so bits have no meaning;"
    " the written text changes.",
    "温度为 0 时只有最可能的符号有概率，无法用比特来说；写出的内容会变。",
)

STRANGE: Final = _(
    "{n} of the characters {n|is|are} in no training book: {which}. The model reads {n|it|each"
    " of them} as “unknown”.",
    "有 {n} 个字符在训练的书中从未出现：{which}。模型把它们读作未知字符。",
)
LAST_ALONE: Final = _(
    "This model has only learned to predict from the last of 256 positions: it knows nothing"
    " about shorter texts.",
    "这个模型只学过从 256 个位置的最后一个来预测：更短的文本它一无所知。",
)

# ---- views ----
TOWER: Final = {
    "title": shared.WHAT_WOULD_EACH_LAYER_SAY,
    "empty": _("Nothing has been read yet.", "还没有读过文本。"),
}
SURPRISE: Final = {
    "title": _("Where is it surprised?", "它在哪里感到惊讶？"),
    "empty": _("Nothing has been read yet.", "还没有读过文本。"),
}
TREE: Final = {
    "title": _("What could come next?", "接下来可能是什么？"),
    "empty": _("Nothing has been read yet.", "还没有读过文本。"),
}
LENS: Final = _("logit lens, {name}", "logit 透镜，{name}")
EXITS: Final = _("trained exits, {name}", "训练过的出口，{name}")
READS: Final = _("reads", "读")
WRITES: Final = shared.READS_AND_WRITES_ON
START: Final = "⏎"  # stands before the first symbol: a line break
QUESTION: Final = _(
    "Where does each head look to predict the next symbol?", "预测下一个符号时，每个头看向哪里？"
)
ROLES: Final = (_("predicted symbol", "要预测的符号"), _("symbol that was read", "读过的符号"))

NOTES: Final[tuple[Text, ...]] = (
    _(
        "A symbol costs −log₂ p bits, where p is the model's probability at temperature 1,"
        " whatever temperature drew the symbol.",
        "一个符号的代价是其概率的 −log₂，按温度 1 计算，与抽取时用的温度无关。",
    ),
    _(
        "The logit lens reads each layer with the norm and the readout of the last one, for which"
        " the lower layers were never trained.",
        "logit 透镜用最后一层的归一化与输出矩阵来读每一层；低层从未为此训练过。",
    ),
    _(
        "The models of the books read 256 symbols at once. When these places are full, a model"
        " reads the last 128 again from its first position and goes on.",
        "读书的模型一次读 256 个符号。位置用完后，模型从第一个位置重读最后 128 个，再继续。",
    ),
    _(
        "A weight says where a head read from, not why a symbol was chosen.",
        "权重说明一个头从哪里读取，并不说明为什么选这个符号。",
    ),
)
BESIDE: Final = _(
    "The same beginning, read by Transformer-XL beside this model.",
    "同样的开头，由 Transformer-XL 并排来读。",
)

# ---- labels ----
FINE_TUNED: Final = _("Does it learn what a good review is?", "它能学会什么是好评吗？")
FINE_TUNED_UNITS: Final = _(
    "share of sentences classified correctly; half is chance", "判断正确的句子比例；一半即瞎猜"
)
READ_SO_FAR: Final = _("sentences read", "读过的句子")
HELD_OUT: Final = _("held-out sentences", "留出的句子")
FIT: Final = _("sentences it learns from", "用来学习的句子")
LEARNING: Final = _("live · {seen} sentences read", "实时 · 已读 {seen} 句")
LEARNED: Final = _(
    "{begins}, after {seen} sentences of {labels} labelled ones it classifies {right} of {n}"
    " held-out sentences correctly.",
    "{begins}，从 {labels} 个带标签的句子中读过 {seen} 句后，{n} 个留出的句子判断正确的占"
    " {right}。",
)
BY_HEART: Final = _("Of the sentences it has just learned from: {fit}.", "刚学过的句子：{fit}。")
COUNTED: Final = _("Counting words in the same labels: {counts}.", "同样标签的词频基线：{counts}。")
HALTED: Final = _("It was stopped.", "已被停止。")

# ---- the card ----
DATA: Final = _("17 books; 2 more held out", "17 本书，另留出 2 本")
BOOKS: Final = shared.PUBLIC_DOMAIN
METRIC: Final = shared.BITS_PER_CHARACTER_ON_SPLIT
BITS: Final = shared.BITS_PER_CHARACTER
SEEN: Final = shared.CHARACTERS_READ_MILLIONS
CURVE_AXES: Final = (SEEN, BITS)
STANDING: Final = _("What does each lesson buy?", "每一种学习换来什么？")
# The training data of each model of the books, in the order of the figure.
LESSONS: Final[Mapping[str, Text]] = {
    "last_only": _("Last position of 256 alone", "只有 256 个位置中的最后一个"),
    "plain": _("Every position", "每个位置"),
    "layers": _("Every position and layer", "每个位置和每一层"),
    "targets": _("Every position, two ahead", "每个位置，预测两步"),
    "all": _("Every position and layer, two ahead", "每个位置和每一层，预测两步"),
    "words": _("Every position, in pieces", "每个位置，用词片"),
}
OF_PIECES: Final = _(
    "All models count a line break as a space, because the model of pieces reads text without"
    " line breaks. It differs in other ways too: it is about 2.7 times as large and read the"
    " books three times.",
    "所有模型都把换行算作空格，因为词片模型读的文本不分行。它的差别不只在学法：参数约为字符模型"
    "的 2.7 倍，把书读了三遍。",
)
AT_THE_LAST: Final = _(
    "Even at the 256th character of a window, the only one it learned to predict, the"
    " last-position model costs {value}.",
    "即使只在它学过预测的地方（窗口的第 256 个字符）来读，只用最后位置的模型仍要 {value}。",
)
CURVE_UNITS: Final = shared.BITS_PER_CHARACTER_OF_A_HELD
CURVE_SAYS: Final = shared.AT_THE_END_OF_TRAINING_BITS

# The guided steps: title and text. Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "predict": _("Predict the next one", "预测下一个"),
    "positions": _("Every position learns", "每个位置都学"),
    "layers": _("Every layer guesses", "每一层都猜"),
    "temperature": _("Temperature", "温度"),
    "unicorn": _("It writes", "它会写"),
    "copy": _("A head that copies", "会复制的头"),
    "labels": _("Learning from labels", "从标签中学习"),
    "curve": _("The label curve", "标签曲线"),
}
STEPS: Final[Mapping[str, Text]] = {
    "predict": _(
        "The model reads characters from the left and gives each possible next one a"
        " probability. The bars show how surprised it is by each character: a new word costs"
        " many bits, the rest of the word few. The model's own text is on green.",
        "模型从左往右读字符，给每个可能的下一个字符一个概率。条形表示它有多惊讶：一个新词花很多"
        "比特，词的其余部分很少。绿底是它自己写的。",
    ),
    "positions": _(
        "No position may look ahead, so one pass over 256 characters is 256 lessons. From the"
        " last position alone it learns slowly. Al-Rfou et al. also let every layer predict, and"
        " predict two ahead: their 64 layers gained from the former (1.16 to 1.06 bits), hardly"
        " from the latter; these 8 gain little from either.",
        "每个位置都不能往后看，所以读一遍 256 个字符就是 256 课：每个位置预测下一个字符。只用最"
        "后一个位置就学得慢。Al-Rfou 等还让每一层都预测，并预测两步：他们的 64 层从前者获益（"
        "1.16 降到 1.06 比特），从后者几乎没有；这里的 8 层两样都获益很少。",
    ),
    "layers": _(
        "Read each layer as if it were the last: what would it say? The lower layers guess"
        " poorly; higher up the guess improves, and the true character costs less. This is the"
        " logit lens; the lower layers were never trained for it.",
        "把每一层当作最后一层来读：它会说什么？低层猜得差，往上越来越好，实际的字符越来越便宜。"
        "这就是 logit 透镜；低层没有为此训练过。",
    ),
    "temperature": _(
        "Before it draws, the model divides its scores by the temperature. Above 1 rare characters"
        " are drawn more often, and words fall apart; below 1 it plays safe; at 0 it takes the"
        " likeliest every time, and soon repeats itself.",
        "抽取之前，模型把分数除以温度。高于 1 时罕见的字符更常被抽到，单词开始散架；低于 1"
        " 时更保守；为 0 时每次取最可能的，很快就会重复。",
    ),
    "unicorn": _(
        "Such a beginning made GPT-2 famous: 1,500 M parameters wrote a news story about unicorns"
        " that speak English. This model has about 1 M and has read 17 old books, novels, plays and"
        " verse: it finds words and their order, but no story.",
        "这样的开头让 GPT-2 出了名：15 亿参数写出了独角兽说英语的新闻。本模型约 100 万参数，只读过"
        " 17 本旧书（小说、戏剧、诗）：会拼词，却"
        "写不出故事。",
    ),
    "copy": _(
        "A network of two layers learned to copy repeated random letters. The head of layer 2"
        " finds the earlier place of the current letter, looks at the letter after it, and"
        " predicts that letter. Here it is silenced, and the copying stops. A network of one"
        " layer did not learn it.",
        "一个两层网络学会了复制重复出现的随机字母。第 2 层的头看向同一字母上次出现处的后一个位"
        "置，并说出那里的字母。这里把它关掉，复制就没了。一层的网络没有学会。",
    ),
    "labels": _(
        "The model of pieces has read books, and film reviews without their labels. Now it gets"
        " a few labelled sentences and a small readout, and keeps learning: is the review"
        " positive? It soon knows these by heart; held-out ones are harder. Fine-tune it live,"
        " and stop when you like.",
        "词片模型读过书，也读过不带标签的影评。现在给它少量带标签的句子，加一个小输出层继续学："
        "这条影评是好评吗？它很快背下这些句子；留出的句子更难。可以实时微调，随时停止。",
    ),
    "curve": _(
        "Radford et al. pre-trained 117 M parameters on 7,000 books, and labels became worth far"
        " more. Here the network has 3 M; it has read 17 books and, without labels, the very"
        " reviews. The curve says what that is worth, against the same network from scratch,"
        " counting words, and a frozen MiniLM of 23 M.",
        "Radford 等用 7,000 本书预训练 1.17 亿参数，标签因此值钱得多。这里的网络只有 300 万参数，"
        "读过 17 本书，也读过随后要学的那些影评（不"
        "带标签）。曲线说明：在每种标签数下，与从零开始的同一网络、与词频基线、"
        "与冻结的 MiniLM（2,300 万参数，读得多得多）相比，它值多少。",
    ),
}

# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "predict": _("Which characters surprise the model?", "哪些字符让模型惊讶？"),
    "positions": _("What does each lesson buy?", "每一种学习换来什么？"),
    "layers": shared.WHAT_WOULD_EACH_LAYER_SAY,
    "temperature": _("What does the temperature change?", "温度改变了什么？"),
    "unicorn": _("What does it write about unicorns?", "它会怎么写独角兽？"),
    "copy": _("Which head copies?", "哪个头在复制？"),
    "labels": _("Does it learn what a good review is?", "它能学会什么是好评吗？"),
    "curve": shared.WHAT_IS_PRE_TRAINING_WORTH,
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "predict": _(
        "The model reads character by character. Where in a word is it most surprised: at the"
        " first letter, in the middle, or at the end?",
        "逐字符读书时，一个词的哪里最让人惊讶：第一个字母，中间，还是结尾？",
    ),
    "unicorn": _(
        "It has read 17 old books. How many words will pass until it loses the unicorns?",
        "它读过 17 本旧书。写到第几个词时，它会把独角兽忘掉？",
    ),
    "curve": _(
        "Which judges film reviews best with 500 labels: the pre-trained network, the same one"
        " from scratch, or counting words?",
        "只有 500 个标签时，谁判断影评最准：预训练过的网络，从零开始的同一网络，还是词频基线？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "predict": _(
        "Point at the first letter of a word, then at its last one; compare the bars.",
        "先指一个词的首字母，再指末字母；比较条形。",
    ),
    "positions": _(
        "Compare the first bar with the second, then the second with the rest.",
        "先比较第一条与第二条，再比较第二条与其余的。",
    ),
    "layers": _(
        "Follow the locked column from bottom to top; then step with the arrows.",
        "沿锁定的一列从下看到上；再用方向键移动。",
    ),
    "temperature": _(
        "Hold B for temperature 1; read both continuations aloud.",
        "按住 B 看温度 1 的结果；把两段续写都读出来。",
    ),
    "unicorn": _("Read the text on green aloud.", "把绿底上的文字读出来。"),
    "copy": _(
        "Press B: with the head the letters repeat, without it they are random.",
        "按 B：有这个头，字母会重现；没有它，写出的是随机字母。",
    ),
    "labels": _(
        "Press the button and let it learn; stop it after some seconds.",
        "按按钮让它学；几秒后停止。",
    ),
    "curve": _(
        "Follow the curves from left to right; then go back to 500 labels.",
        "沿曲线从左看到右；再回到 500 个标签处。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {"predict": 1, "layers": 2, "copy": 1}
