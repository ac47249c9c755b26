"""The texts of the lab of sparse attention, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Sparse Transformer", "稀疏 Transformer")
SHORT: Final = _("Sparse", "稀疏")
LINE: Final = _(
    "Each position looks at only about 2√L of the L positions before it, and still reaches all of"
    " them in two steps.",
    "每个位置只看之前 L 个位置中的约 2√L 个，却仍能在两步之内到达全部。",
)
CARD: Final = _("Few pairs,\nall in two steps.", "少量位置对，\n两步皆可达。")
KICKER: Final = _("Child et al., 2019 · arXiv 1904.10509", "Child 等，2019 · arXiv 1904.10509")
EQUATION: Final = (
    "softmax({query:q_i} {key:K_S}{sup:⊤}/{root:d_k}) {value:V_S},  {key:S = A₁(i) ∪ A₂(i)}"
)
SPOKEN: Final = _(
    "softmax of q i times K S transposed, divided by the square root of d k, times V S, where S"
    " is the union of A 1 of i and A 2 of i: the near positions and a few of the far ones",
    "softmax（q i 乘 K S 的转置，除以 d k 的平方根）再乘 V S，其中 S 是 A 1 与 A 2 的并集：近处"
    "的一切，和远处的少数几个",
)

REGION: Final = _("What the models read and continue", "读什么，接着生成什么")
TASK: Final = shared.INPUT
TASKS: Final[Mapping[str, Text]] = {
    "digit": _("a digit", "一个数字"),
    "text": _("a text", "一段文本"),
}
DIGIT: Final = _("Digit", "数字")
TEXT: Final = _("English text in the manner of the nineteenth century", "十九世纪风格的英文")
PLACEHOLDER: Final = _(
    "Write or paste a text; the models continue it", "写入或粘贴一段文本；模型会接着写"
)
KEPT: Final = _("rows that stay", "保留行数")
KEPT_SOME: Final = _("{n} of 28", "{n} / 28")
KEPT_ALL: Final[Mapping[int, Text]] = {
    0: _("0 of 28: all is made", "0 / 28：全部生成"),
    28: _("28 of 28: only read", "28 / 28：只读"),
}
KEPT_HINT: Final = _(
    "The rows above the line stay; the models make those below it",
    "线以上的行保留；线以下由模型生成",
)
TEMPERATURE_HINT: Final = _(
    "Temperature {value}: 1 is the model's own distribution, less plays safe, more dares, 0 takes"
    " the likeliest every time",
    "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆，0 每次取最可能的",
)
SEED_HINT: Final = _(
    "Seed of all draws: the same seed makes the same", "所有抽样的种子：同一种子得到同样的结果"
)
AT_PIXEL: Final = shared.LIVE_PIXEL_OF
DIGITS: Final[tuple[Text, ...]] = tuple(
    _(f"A {kind}, held out", f"数字 {kind}，留出的图") for kind in range(10)
)
EXAMPLES: Final[tuple[Text, ...]] = (
    _("Finish a digit from its top half", "上半部分已给出，把数字画完"),
    _("Another one, with another seed", "换一个数字，换一个种子"),
    _("Only ten rows are given", "只给出十行"),
    _("Read a whole digit", "读一个完整的数字"),
)
# Examples: what each shows, and its name on a chip.
TEXT_EXAMPLES: Final[tuple[tuple[Text, Text], ...]] = (
    (_("Go on with a novel that was held out", "续写一部留出的小说"), _("a novel", "一部小说")),
    (
        _("Go on with a famous beginning", "续写一个著名的开头"),
        _("a famous beginning", "著名的开头"),
    ),
)

MODELS: Final[Mapping[str, Text]] = {
    "strided": _("strided", "跨步"),
    "dense": _("dense", "稠密"),
    "fixed": _("fixed", "固定"),
    "text_fixed": _("fixed", "固定"),
    "text_strided": _("strided", "跨步"),
}
NAMES: Final[Mapping[str, Text]] = {
    "strided": _("Strided pattern", "跨步模式"),
    "dense": _("Dense attention", "稠密注意力"),
    "fixed": _("Fixed pattern", "固定模式"),
    "text_fixed": _("Text, fixed pattern", "文本，固定模式"),
    "text_strided": _("Text, strided pattern", "文本，跨步模式"),
}
ABOUT: Final[Mapping[str, Text]] = {
    "text_fixed": _("its own block, and the ends of earlier blocks", "自己的块，与之前各块的末尾"),
    "text_strided": _(
        "the last l characters, and every l-th before", "最近 l 个字符，与再往前每隔 l 个"
    ),
    "strided": _("the last row, and the column above", "最近一行，与正上方的一列"),
    "dense": _("everything before", "之前的一切"),
    "fixed": _("its own row, and the last columns of earlier rows", "自己的一行，与各行最后几列"),
}
MODELS_THE: Final[Mapping[str, Text]] = {
    "strided": _("the strided model", "跨步模型"),
    "dense": _("the dense model", "稠密模型"),
    "fixed": _("the fixed model", "固定模型"),
    "text_fixed": _("the fixed model", "固定模型"),
    "text_strided": _("the strided model", "跨步模型"),
}
KINDS: Final[Mapping[str, Text]] = {
    "": _("as trained", "训练时的"),
    "full": shared.FULL,
    "strided": _("strided", "跨步"),
    "fixed": _("fixed", "固定"),
}
QUESTIONS: Final[Mapping[str, Text]] = {
    variant: _(f"where each pixel of the {en} model looks", f"{zh}模型的每个像素看哪里")
    for variant, en, zh in (
        ("strided", "strided", "跨步"),
        ("dense", "dense", "稠密"),
        ("fixed", "fixed", "固定"),
    )
} | {
    "text_fixed": _("where each character of the fixed model looks", "固定模型的每个字符看哪里"),
    "text_strided": _(
        "where each character of the strided model looks", "跨步模型的每个字符看哪里"
    ),
}
ROLES: Final[Mapping[str, tuple[Text, Text]]] = {
    "digit": (_("pixel made", "正在画的像素"), _("pixel before", "之前的像素")),
    "text": (shared.PREDICTED_CHARACTER, _("character before", "之前的字符")),
}
JOBS: Final[Mapping[str, Text]] = {
    "before": _("the pixel before it", "前一个像素"),
    "above": _("the pixel above it", "正上方的像素"),
    "last": _("the character before it", "前一个字符"),
    "but_one": _("the last but one", "前面第二个字符"),
}
START: Final = "▷"  # stands at the first position, which has no predecessor

NUMBER: Final = _("nats for the digit", "整个数字的纳特数")
NATS: Final = shared.NATS
PATTERN: Final = shared.PATTERN
STRIDE: Final = _("stride l", "步长 l")
SUMMARY: Final = _("summary columns c", "摘要列 c")
POSITIONS: Final = _("{n} positions", "{n} 个位置")
COLUMNS: Final = _("{n} columns", "{n} 列")
PATTERNS: Final = {
    "patterns": _("Which earlier positions a position attends to", "一个位置关注哪些更早的位置"),
    "paths": _("How far a pattern reaches, and what it costs", "一种模式能到多远，代价几何"),
}
DRAWN: Final = {
    "title": _("The same digit, made pixel by pixel", "同一个数字，逐个像素生成"),
    "empty": _("No digit has been made yet.", "还没有生成数字。"),
}
NO_ATTENTION: Final = _("No model has read anything yet.", "还没有模型读过任何东西。")

# Interventions in words.
UNDER_PATTERN: Final = _("with the {kind} pattern", "改用{kind}模式")
UNDER_STRIDE: Final = _("with stride {n}", "步长为 {n}")
UNDER_SUMMARY: Final = _("with {n} summary {n|column|columns}", "摘要列为 {n}")
DEARER: Final = _(
    "the same digit costs {model} {nats} nats more", "同一个数字对{model}多花 {nats} 纳特"
)
CHEAPER: Final = _(
    "the same digit costs {model} {nats} nats less", "同一个数字对{model}少花 {nats} 纳特"
)
EQUAL: Final = _("the same digit costs {model} as much as before", "同一个数字对{model}的代价不变")
ROW: Final = shared.MOST_OF_IT_IN_K_ROW
OTHER: Final = shared.DRAWN_AGAIN_OF_PIXELS_DIFFER
SAME: Final = _("drawn again, the digit is the same", "重新画时，数字不变")
AGAIN: Final = _(
    "{model} then needs {after} bits per character, not {before}",
    "{model}于是每字符需要 {after} 比特，原来是 {before}",
)
AGAIN_SAME: Final = _(
    "{model} still needs {before} bits per character, and no character changes by more than {most}"
    " bits",
    "{model}每字符仍需要 {before} 比特，没有一个字符的变化超过 {most} 比特",
)
UNTOUCHED: Final = _("it affects no model", "没有模型受影响")

UNUSUAL: Final[Mapping[str, Text]] = {
    "digit": _(
        "What is given is unlike the digits the models learned from: 99 of 100 held-out digits cost"
        " less for each pixel.",
        "给出的部分不像模型学过的数字：100 个留出数字中有 99 个，每像素的代价更低。",
    ),
    "text": _(
        "What is given is unlike the books the models learned from: 99 of 100 held-out passages"
        " cost less for each character.",
        "给出的文本不像模型学过的书：100 段留出文本中有 99 段，每字符的代价更低。",
    ),
}
HOT: Final[Mapping[str, Text]] = {
    "digit": _(
        "Temperature 1 is the models' own distribution; this digit is drawn from a {changed} one,"
        " at {temperature}.",
        "温度 1 是模型自己的分布；这个数字取自更{changed}的分布，温度 {temperature}。",
    ),
    "text": _(
        "Temperature 1 is the models' own distribution; this text is written with a {changed} one,"
        " at {temperature}.",
        "温度 1 是模型自己的分布；这段文本取自更{changed}的分布，温度 {temperature}。",
    ),
}

NOTES: Final[tuple[Text, ...]] = (
    _(
        "The data were binarised once: each pixel of MNIST became ink with the probability of its"
        " grey; a digit therefore looks frayed.",
        "数据只二值化一次：MNIST 的每个像素按其灰度的概率成为墨点，所以数字的边缘是毛的。",
    ),
    _(
        "Your drawing becomes pixels in the same way, with a fixed seed: the same strokes give"
        " the same pixels.",
        "手画的图以同样的方式变成像素，种子固定：同样的笔画得到同样的像素。",
    ),
    _(
        "Nats always refer to the models' own distribution, whatever settings drew the digit;"
        " all models use the same random draws.",
        "纳特数始终按模型自己的分布计算，与作画时的设置无关；所有模型用同一组随机数。",
    ),
    _(
        "A key belongs to the pixel being made and carries the pixel made just before it.",
        "键位于正在画的像素处，带着刚刚画好的那个像素。",
    ),
    _(
        "Every head merges both factors into one pattern; the paper also alternates them by layer,"
        " or splits the heads between them.",
        "每个头都把两个因子合并成一个模式；论文中也有按层交替，或把头分给两者的做法。",
    ),
    _(
        "A wrong stride is an intervention on a model that was trained with 28: training with 27"
        " would adapt to it.",
        "错误的步长是对以 28 训练的模型的干预；若以 27 训练，模型会适应它。",
    ),
)
TEXT_NOTES: Final[tuple[Text, ...]] = (
    _(
        "Both models read 1,024 characters of books at a time, with blocks of 32; what is given and"
        " what is written share that room.",
        "两个模型每次读书的 1,024 个字符，块长 32；给出的与写出的共用这些位置。",
    ),
    _(
        "Both write with the same random draws; each text costs what its own model thinks of it,"
        " in bits.",
        "两个模型写作时用同一组随机数；写出的字符的代价是模型自己的看法，单位为比特。",
    ),
    _(
        "A block begins wherever the text happens to be, not where a line or a word begins.",
        "块从文本恰好所在的位置开始，与行首或词首无关。",
    ),
)

# The card.
EACH: Final = shared.EACH
DATA: Final = "MNIST"
METRIC: Final = _("nats per digit, {split}", "每个数字的纳特数，{split}")
RUNG_VALUE: Final = shared.NAME_AND_VALUE

PRINTED: Final = _(
    "{name}, {source}: {value} nats on binarised MNIST. A binarisation of the same kind, but not"
    " the same draws.",
    "{name}，{source}：二值化 MNIST 上 {value} 纳特。二值化方式相同，但随机抽取不同。",
)

STANDING: Final = _("What a pattern costs", "模式的代价")
STANDING_UNITS: Final = _("nats per digit, lower is better", "每个数字的纳特数，越低越好")
AS_PUBLISHED: Final = _("{name}, as published", "{name}（发表值）")
HERE: Final = _("measured here on test digits", "在测试数字上测得")
BEHIND: Final = _(
    "Strided attention looks at {share} % of the pairs, and needs {gap} nats more than dense"
    " attention.",
    "跨步注意力只看 {share}% 的位置对，比稠密注意力多 {gap} 纳特。",
)
AHEAD: Final = _(
    "Strided attention looks at {share} % of the pairs, and needs {gap} nats less than dense"
    " attention.",
    "跨步注意力只看 {share}% 的位置对，比稠密注意力少 {gap} 纳特。",
)
FIXED_MORE: Final = _(
    "The fixed pattern, which the paper means for text, needs {gap} nats more than the strided"
    " one.",
    "论文为文本设计的固定模式比跨步模式多 {gap} 纳特。",
)
FIXED_LESS: Final = _(
    "The fixed pattern, which the paper means for text, needs {gap} nats less than the strided one:"
    " on so small a picture either will do.",
    "论文为文本设计的固定模式比跨步模式还少 {gap} 纳特：这样小的图上，两者都够用。",
)
IN_PRINT: Final = _(
    "In the paper the pattern that suits the data is slightly better than dense attention"
    " (photographs: strided 2.80 against 2.82; text: fixed 0.99 against 1.00), the other one is"
    " worse (fixed 2.85, strided 1.13).",
    "论文中，适合数据的模式略好于稠密注意力（照片：跨步 2.80 对 2.82；文本：固定 0.99 对 1.00），"
    "不适合的则更差（固定 2.85，跨步 1.13）。",
)
WAY: Final = shared.MODEL
COST: Final = _("nats per digit", "每个数字的纳特数")
SOURCE: Final = shared.WHERE_FROM

TEXT_STANDING: Final = _("The same patterns on text", "同样的模式用于文本")
TEXT_UNITS: Final = _(
    "bits per character of a held-out novel, lower is better", "留出小说的每字符比特数，越低越好"
)
TEXT_SAYS: Final = _(
    "On characters of books the {best} pattern takes {gap} bits less. In the paper, on bytes of"
    " Wikipedia: fixed 0.99, strided 1.13.",
    "在书的字符上，{best}模式少用 {gap} 比特。论文在维基百科的字节上：固定 0.99，跨步 1.13。",
)
TEXT_OTHER: Final = _(
    "In these two trainings, on characters of books, the {best} pattern takes {gap} bits less. In"
    " the paper, on bytes of Wikipedia and with far larger networks, it is the other way round:"
    " fixed 0.99, strided 1.13. The strided pattern always sees the last 32 characters; the fixed"
    " one, at the start of a block, only the last 9 of them.",
    "在这两次训练中，在书的字符上{best}模式少用 {gap} 比特。论文在维基百科的字节上、"
    "用大得多的网络，则相反：固定 0.99，跨步 1.13。"
    "跨步模式总能看到最近 32 个字符；固定模式在块首只能看到最近 9 个。",
)
BITS: Final = shared.BITS_PER_CHARACTER

SPEED: Final = _("What is saved, measured", "实测节省了多少")
SPEED_UNITS: Final = _(
    "one layer on 4,096 positions, stride 64, {machine}, logarithmic",
    "一层，4,096 个位置，步长 64，{machine}，对数轴",
)
SPEED_AXIS: Final = _("ms for one layer", "一层的毫秒数")
WAYS: Final[Mapping[str, Text]] = {
    "strided": _("strided, gathered", "跨步，按块收集"),
    "fixed": _("fixed, gathered", "固定，按块收集"),
    "dense": _("dense, fused", "稠密，融合核"),
    "strided_masked": _("strided, as a mask", "跨步，用掩码"),
    "fixed_masked": _("fixed, as a mask", "固定，用掩码"),
}
SPEED_SAYS: Final = _(
    "Gathering only the allowed pairs, strided attention is {strided} times, fixed {fixed} times as"
    " fast as fused dense attention. A mask saves nothing: every pair is computed, which takes"
    " {masked} times as long as gathering (strided). Time grows with the length to the power"
    " {growth}; dense has 2.",
    "只收集允许的位置对时，跨步注意力的耗时是融合稠密注意力的 1/{strided}，固定注意力是 1/{fixed}。"
    "用掩码则毫无节省：每一对都要算，"
    "耗时是按块收集的 {masked} 倍（跨步）。耗时随长度的 {growth} 次方增长；稠密为 2 次方。",
)

HELD_OUT: Final = _("nats per digit, held out", "每个留出数字的纳特数")
CURVE_UNITS: Final = _("nats per held-out digit, lower is better", "每个留出数字的纳特数，越低越好")
CURVE_SAYS: Final = _(
    "After {seen} digits seen, each the same ones: {figures} nats.",
    "各看过同样的 {seen} 个数字之后：{figures} 纳特。",
)
CURVE_UNEQUAL: Final = _(
    "Not yet trained equally: {figures}; compare the curves where they have seen equally many.",
    "尚未训练到同样程度：{figures}；请在看过同样多数字的位置比较曲线。",
)
AFTER: Final = _("{name} {value} after {seen}", "{name} 看过 {seen} 个后 {value}")
SEEN: Final = _("digits seen", "看过的数字")
CURVE_AXES: Final = (SEEN, HELD_OUT)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "split": _("Split the keys in two", "把键分成两组"),
    "strided": _("Strided: made for images", "跨步：为图像而设"),
    "fixed": _("Fixed: made for text", "固定：为文本而设"),
    "paths": _("Two steps reach everything", "两步到达一切"),
    "digit": _("One digit, every model", "同一个数字，每个模型"),
    "wrong": _("A stride that misses the column", "错开一列的步长"),
    "swap": _("The other pattern", "换一种模式"),
    "text": _("The same patterns on text, one seed each", "同样的模式用于文本（各一个种子）"),
}
STEPS: Final[Mapping[str, Text]] = {
    "split": _(
        "If every position looks at everything before it, the number of pairs grows with the"
        " square. Use two small sets of keys instead, one near and one far, each about √L. Most"
        " of the matrix stays empty.",
        "每个位置都看之前的一切，位置对的数目按平方增长。改为两个小集合，一近一远，各约 √L 个。"
        "矩阵的大部分是空的。",
    ),
    "strided": _(
        "The last l positions are the row so far and the end of the row above; every l-th"
        " position before is straight above. With l as long as a row, this is what a pixel"
        " needs.",
        "最近 l 个位置是这一行已画的部分和上一行的末尾；再往前每隔 l 个，正好在正上方。l 等于一"
        "行的长度时，这正是像素所需要的。",
    ),
    "fixed": _(
        "Here each position sees its own block and the last c cells of every earlier block."
        " Those cells pass summaries on, wherever the block is: text has no column to look up.",
        "这里每个位置看自己的块，以及之前每块的最后 c 个位置。这些位置把摘要传下去，不管块在哪"
        "里：文本没有“正上方”可看。",
    ),
    "paths": _(
        "Click any cell to see what it sees directly and what it reaches through one cell in"
        " between. Nothing is lost, it only takes one more layer: with p factors, a path has at"
        " most p + 1 steps.",
        "点任一格：它直接看到什么，隔一格又能到达什么。什么都没有丢，只是多走一层：p 个因子，路"
        "径最长 p + 1 步。",
    ),
    "digit": _(
        "The top half is given, and each model continues with the same random numbers. Lock a"
        " pixel and see how a trained head uses what its pattern allows.",
        "上半部分已给出，每个模型用同样的随机数接着画。锁定一个像素，看训练好的头怎样使用模式所"
        "允许的位置。",
    ),
    "wrong": _(
        "The picture has 28 columns, but the stride is 27: every step up slips one pixel to the"
        " right. The number says how much more the same digit costs. The pattern must fit the"
        " structure of the data.",
        "在 28 列的图上用步长 27：每往上一行就向右错一个像素。那个数字说明同一个数字多花多少。数"
        "据的结构与模式要相配。",
    ),
    "swap": _(
        "Now every model uses the fixed pattern, whether it learned it or not. The dense model"
        " suffers too: in training it saw all of these positions, but it learned to use others"
        " that are now missing.",
        "现在每个模型都用固定模式去看，无论学没学过。稠密模型也受损：这些位置它在训练时都看得"
        "到，但它学会了使用另一些现在没有了的位置。",
    ),
    "text": _(
        "In print the fixed pattern is better for text; here, with one training each, the"
        " strided one is. In a block of {block} the fixed model pays {first} bits per character"
        " more in the first quarter, {middle} in the middle, {last} in the last. The first see 9"
        " to 16 characters; the last see all 32 but also carry the summary.",
        "论文中固定模式更适合文本；这里各训练一次，跨步模式更省。在每个 {block} 字符的块里，固定"
        "模型每字符在前四分之一多付 {first} 比特，中间 {middle}，后四分之一 {last}。块首只看到最"
        "近 9 到 16 个字符；块尾能看到全部 32 个，但还要携带摘要。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "split": _("How many pairs are there?", "一共有多少对？"),
    "strided": _("What does a pixel need to see?", "一个像素需要看到什么？"),
    "fixed": _("What does a character need to see?", "一个字符需要看到什么？"),
    "paths": _("Is anything out of reach?", "有什么是到不了的吗？"),
    "digit": _("Does it matter for a digit?", "对一个数字有影响吗？"),
    "wrong": _("What if the stride misses the column?", "步长错开一列会怎样？"),
    "swap": _("What if the pattern is not the learned one?", "换成没学过的模式会怎样？"),
    "text": _("Which pattern suits text?", "哪种模式适合文本？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "wrong": _(
        "The picture has 28 columns, the stride is now 27. What happens to the digit?",
        "图片有 28 列，而现在步长是 27。数字会变成什么样？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "split": _(
        "Count with the hall: a row of the full matrix, then a row of each pattern.",
        "和大家一起数：完整矩阵的一行，再数每种模式的一行。",
    ),
    "strided": _(
        "Show the picture above the matrix: one row back and one column up.",
        "看矩阵上方的图：往回一行，往上一列。",
    ),
    "fixed": _("Point at the cells that pass summaries on.", "指出把摘要往后传的那些格子。"),
    "paths": _(
        "Click any far cell: the line shows the step through which it is reached.",
        "点任意远处的格子：连线显示经过哪一步到达。",
    ),
    "digit": _(
        "Compare the three digits; the costs are below each.", "比较三个数字；代价写在各自下方。"
    ),
    "wrong": _(
        "Hold B: with stride 28 the column is straight, with 27 it slips.",
        "按住 B：步长 28 时列是直的，27 时就滑开。",
    ),
    "swap": _(
        "Ask which of the models was trained with this pattern.", "问哪个模型是用这种模式训练的。"
    ),
    "text": _("Compare the figure above each column of text.", "比较每栏文字上方的数字。"),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {"split": 1, "paths": 3, "digit": 1, "swap": 3, "text": 3}
