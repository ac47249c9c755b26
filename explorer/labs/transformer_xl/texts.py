"""The texts of the Transformer-XL lab, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Transformer-XL", "Transformer-XL")
SHORT: Final = _("Transformer-XL", "Transformer-XL")
LINE: Final = _(
    "A long text is read in segments, and each segment remembers what the ones before it left"
    " behind.",
    "长文本分成片段来读，每个片段都记得前面的片段留下的东西。",
)
CARD: Final = _("Remembers the\nsegments before.", "记得前面的\n片段。")
KICKER: Final = _("Dai et al., 2019 · arXiv 1901.02860", "Dai 等，2019 · arXiv 1901.02860")
EQUATION: Final = (
    "softmax((({query:Q} + u){key:K}{sup:⊤} + ({query:Q} + v){key:R}{sup:⊤})/{root:d_k}) {value:V}"
)
SPOKEN: Final = _(
    "softmax of Q plus u, times K transposed, plus Q plus v, times R transposed, divided by the"
    " square root of d k, times V; keys and values come from the memory too, R says how far back a"
    " key lies, u and v are the same for every query",
    "softmax（Q 加 u 乘 K 的转置，加上 Q 加 v 乘 R 的转置，除以 d k 的平方根）再乘"
    " V；键与值也来自记忆，"
    "R 说明键在多远之前，u 和 v 对每个查询都相同",
)

REGION: Final = _("What the models read", "模型读什么")
# Our examples: a description of each, and the word or two on its button.
EXAMPLES: Final[tuple[tuple[Text, Text], ...]] = (
    (
        _(
            "The autumn walk to Lyme, from a novel that no training has seen",
            "秋日莱姆之行，选自训练时没见过的小说",
        ),
        _("Lyme", "莱姆"),
    ),
    (
        _("Captain Wentworth’s letter, from the same novel", "温特沃斯上校的信，选自同一部小说"),
        shared.THE_LETTER,
    ),
    (
        _(
            "The first page, with a whale hunt in the memory in place of its own",
            "小说的第一页，但记忆换成了捕鲸的故事",
        ),
        _("A whale in mind", "记着鲸鱼"),
    ),
    (
        shared.ONE_SENTENCE_AND_400_CHARACTERS_WRITTEN,
        shared.ONE_SENTENCE,
    ),
)

SOURCES: Final[Mapping[str, Text]] = {
    "lyme": _("Jane Austen, Persuasion (1818), chapter 11", "简·奥斯汀《劝导》（1818），第 11 章"),
    "baronetage": shared.JANE_AUSTEN_PERSUASION_1818_CHAPTER_1,
    "letter": shared.JANE_AUSTEN_PERSUASION_1818_CHAPTER_23,
}
BOOK: Final = _("Herman Melville, Moby Dick, chapter 132", "赫尔曼·梅尔维尔《白鲸》，第 132 章")

NAMES: Final[Mapping[str, Text]] = {
    "xl": _("Transformer-XL", "Transformer-XL"),
    "absolute": shared.TRANSFORMER,
}
ABOUT: Final[Mapping[str, Text]] = {
    "xl": _("memory, relative positions", "有记忆，相对位置"),
    "absolute": _("no memory, absolute positions", "无记忆，绝对位置"),
}
BRIEF: Final[Mapping[str, Text]] = {
    "xl": _("with memory", "有记忆"),
    "absolute": _("without", "无记忆"),
}

# The changes of a request in words.
CUT: Final = _("with nothing remembered", "什么都不记")
SHUFFLED: Final = _("with the memory in a random order", "把记忆随机打乱")
FOREIGN: Final = _("with a page of Moby Dick in the memory", "把记忆换成《白鲸》的一页")
MEMORY: Final = _("with a memory of {n} characters", "记忆长度为 {n} 个字符")
SEGMENT: Final = _("in segments of {n} characters", "以 {n} 个字符为一个片段")
SAYS: Final = _(
    "{change}, ⟦o:{model}⟧ pays {after} bits per character instead of {before} for the same"
    " text{where}.",
    "{change}时，对同一段文本，⟦o:{model}⟧ 每字符付出 {after} 比特，原来是 {before}{where}。",
)
SAYS_SAME: Final = _(
    "{change}, ⟦o:{model}⟧ pays {before} bits per character for the same text, as before; no"
    " character changes by more than {most} bits{where}.",
    "{change}时，对同一段文本，⟦o:{model}⟧ 每字符仍付出 {before} 比特；没有一个字符的变化超过"
    " {most} 比特{where}。",
)
MOST: Final = _(
    ", most where segment {n} begins: {more} bits more over its first 16",
    "，在第 {n} 个片段开头最多：前 16 个字符每字符多 {more} 比特",
)
SAME: Final = _(
    "{change}, nothing changes for this text: it is no longer than one segment, so there was"
    " nothing to remember.",
    "{change}时，这段文本没有变化：它不超过一个片段，本来就没有可记的。",
)
UNREACHED: Final = _(
    "{model} has no memory: nothing changes for it.", "{model}没有记忆：对它没有影响。"
)

KNOBS: Final[Mapping[str, Text]] = {
    "memory": _("memory", "记忆长度"),
    "unit": shared.CHARACTERS,
    "beyond": _("longer than in training", "比训练时更长"),
    "unused": _("not used: nothing is remembered", "未使用：什么都不记"),
    "intervention": _("what it remembers", "记住什么"),
    "none": _("its own past", "自己的过去"),
    "cut": _("nothing", "什么都不记"),
    "shuffled": _("shuffled", "打乱"),
    "foreign": _("another book", "另一本书"),
    "segment": _("segment", "片段"),
}

KIND: Final[Mapping[str, Text]] = {
    "xl": _("with memory", "有记忆"),
    "absolute": _("without memory", "无记忆"),
}
ROLES: Final = (
    shared.PREDICTED_CHARACTER,
    shared.CHARACTER_THAT_WAS_READ,
)
QUESTIONS: Final[Mapping[str, Text]] = {
    "xl": _("Where does it look across the border of its segment?", "它跨过片段的边界看向哪里？"),
    "absolute": _("Where can it look, without a memory?", "没有记忆，它能看向哪里？"),
}
JOBS: Final[Mapping[str, Text]] = {
    "written": shared.LAST_CHARACTER,
    "before": shared.THE_CHARACTER_BEFORE_IT,
    "far": _("the memory", "记忆"),
}
START: Final = "⏎"  # stands before the first character: a new line
ELSEWHERE: Final = "◦"  # stands for a character of another book
SEGMENTS: Final = {
    "title": _("Segments and memory", "片段与记忆"),
    "empty": _("No text has been read yet.", "还没有读取文本。"),
}
NO_ATTENTION: Final = shared.READ_A_TEXT_TO_SEE_WHERE

NOTES: Final[tuple[Text, ...]] = (
    _(
        "Both models read the same characters with the same seed; a character costs −log₂ of the"
        " probability that the model gave it. 2 bits are a choice among four equally likely"
        " ones.",
        "两个模型用同一个种子读同样的字符；一个字符的代价是其概率的 −log₂。2 比特相当于在四个同"
        "样可能的字符中选一个。",
    ),
    _(
        "The memory was computed when its own segment was read; none of it is computed again,"
        " and in training no gradient passes into it.",
        "记忆里的内容是在读它自己的片段时算出的，不再重算；训练时梯度也不会传进去。",
    ),
    _(
        "The model without a memory has the same width and depth; its feed-forward layers are a"
        " little wider, so that it has about as many parameters. It learned from as many"
        " characters.",
        "没有记忆的模型宽度和深度相同；前馈层略宽，使参数量大致相同；学习用的字符一样多。",
    ),
    _(
        "Row t of the attention is where the model looked to predict character t; it had read"
        " the characters before it.",
        "注意力的第 t 行是模型预测第 t 个字符时看向的地方；它读过的是前面的字符。",
    ),
)

# The card and the measurements.
DATA: Final = shared.OF_17_BOOKS_2_HELD_OUT
BOOKS: Final = shared.PUBLIC_DOMAIN
METRIC: Final = shared.BITS_PER_CHARACTER_ON_SPLIT
RUNG_VALUE: Final = shared.NAME_AND_VALUE
CURVE_UNITS: Final = shared.BITS_PER_CHARACTER_OF_A_HELD
CURVE_SAYS: Final = shared.AT_THE_END_OF_TRAINING_BITS
SEEN: Final = shared.CHARACTERS_READ_MILLIONS
BITS: Final = shared.BITS_PER_CHARACTER
CURVE_AXES: Final = (SEEN, BITS)

SPEED: Final = _(
    "What does a character of a long text cost to evaluate?", "评估长文本的一个字符要多久？"
)
SPEED_UNITS: Final = _(
    "time for each character, {machine}, logarithmic", "每个字符的时间，{machine}，对数轴"
)
SPEED_AXIS: Final = _("ms for each character", "每个字符的毫秒数")
WAY: Final = shared.WAY
REUSE: Final = _("states reused", "重用状态")
SLIDING: Final = _("sliding window", "滑动窗口")
SPEED_SAYS: Final = _(
    "Reusing the states of the memory takes {reuse} ms a character; rereading everything that a"
    " character can know of takes {sliding} ms: {ratio} times as long for the same losses, which"
    " differ by {difference} nats at most. The paper reports 363 to 1,874 times.",
    "重用记忆中的状态，每个字符 {reuse} 毫秒；把一个字符所能知道的一切重新读一遍要 {sliding} 毫"
    "秒：得到同样的损失要 {ratio} 倍时间，两者最多相差 {difference} 纳特。论文报告为 363 到"
    " 1,874 倍。",
)

# The benefit of memory.
MEMORIES: Final = _("What does memory buy?", "记忆换来什么？")
MEMORIES_UNITS: Final = _("bits per character, lower is better", "每字符比特数，越低越好")
MEMORIES_AXES: Final = {
    "en": ("characters remembered in each layer", "bits per character"),
    "zh": ("每层记住的字符数", "每字符比特数"),
}
AS_TRAINED: Final = _("as trained", "训练时的长度")
THIS_TEXT: Final = _("this text", "这段文本")
HELD_OUT: Final = _("held-out book", "留出的书")
WITHOUT: Final = _("this text, without a memory: the other model", "这段文本，没有记忆的另一个模型")
MEMORIES_SAYS: Final = _(
    "On this text {first} bits per character with nothing remembered, {trained} with the {memory}"
    " characters of training",
    "这段文本：什么都不记时每字符 {first} 比特，记住训练时的 {memory} 个字符时 {trained} 比特",
)
MEMORIES_BOOK: Final = _(
    "; on the whole held-out book {first} and {trained}", "；整本留出的书：{first} 与 {trained}"
)
SHORT_TEXT: Final = _(
    ". This text is no longer than one segment, so there is nothing to remember",
    "。这段文本不超过一个片段，没有什么可记",
)
MEMORY_COLUMN: Final = _("memory", "记忆长度")
PLACE: Final = _("The loss at a border", "边界处的损失")
PLACE_UNITS: Final = _(
    "bits per character of the held-out book, means over all borders",
    "留出的书每字符比特数，所有边界的平均",
)
PLACE_AXES: Final = {
    "en": ("characters after the border", "bits per character"),
    "zh": ("边界之后的字符数", "每字符比特数"),
}
BORDER: Final = _("a segment begins", "片段开始")
PLACES: Final[Mapping[str, Text]] = {
    "xl": _("with its memory", "有记忆"),
    "none": _("the same model, nothing remembered", "同一模型，什么都不记"),
    "absolute": _("the model without a memory", "没有记忆的模型"),
}
PLACE_SAYS: Final = _(
    "In the first characters of a segment the model pays {near} bits with its memory and {cut} with"
    " nothing remembered; in the last ones {far} and {far_cut}.",
    "在片段的开头，有记忆时每字符付出 {near} 比特，什么都不记时付出 {cut} 比特；在片段的末尾为"
    " {far} 与 {far_cut}。",
)
FROM_PLACE: Final = _("from character", "从第几个字符")
TO_PLACE: Final = shared.UNTIL
CONTEXT: Final = _("How far does more context help?", "更多上文到多远还有用？")
CONTEXT_UNITS: Final = _(
    "bits per character at {n} places of the held-out book, nothing before the context known",
    "留出的书中 {n} 处的每字符比特数，上文之前的内容一概不知",
)
CONTEXT_AXES: Final = {
    "en": ("characters of context", "bits per character"),
    "zh": ("上文的字符数", "每字符比特数"),
}
CONTEXT_SAYS: Final = _(
    "Relative effective context length, on the hardest {share} % of places: {lengths} characters. A"
    " longer context counts while it makes the better model’s perplexity at least {gain} % lower."
    " The paper gives 700 words against 128, at r = 0.1.",
    "相对有效上下文长度（取最难的 {share} % 处）：{lengths} 个字符。上文加长时，"
    "只要困惑度比两者中较好的再低 {gain} % 以上就算有用。"
    "论文在 r = 0.1 时为 700 词对 128 词。",
)
CONTEXT_COLUMN: Final = _("context", "上文长度")
LENGTH_OF: Final = shared.NAME_AND_VALUE
SLIDER: Final = _("memory", "记忆长度")
ALONG: Final = _("Where in this text does it help?", "在这段文本的哪里有帮助？")
ALONG_UNITS: Final = _("bits per character, means of {n}", "每字符比特数，每 {n} 个字符取平均")
ALONG_AXES: Final = {"en": ("character", "bits per character"), "zh": ("字符", "每字符比特数")}
FORGETFUL: Final = _("nothing remembered", "什么都不记")
REMEMBERING: Final = _("with this memory", "用这么长的记忆")
ALONG_SAYS: Final = _(
    "With {memory} characters remembered this text costs {bits} bits per character, {less} less"
    " than with nothing remembered.",
    "记住 {memory} 个字符时，这段文本每字符 {bits} 比特，比什么都不记少 {less}。",
)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "fixed": _("A fixed segment", "固定的片段"),
    "memory": _("Remember the last segments", "记住前面的片段"),
    "depth": _("The span grows with depth", "跨度随深度增长"),
    "terms": _("Four terms", "四项"),
    "cut": _("Cut the memory", "切断记忆"),
    "foreign": _("Another book in mind", "心里想着另一本书"),
    "memories": _("What memory buys", "记忆换来什么"),
}
STEPS: Final[Mapping[str, Text]] = {
    "fixed": _(
        "A Transformer without a memory reads 128 characters at a time. Nothing crosses the"
        " border: the first characters of a segment are predicted without context. Look at the"
        " bars in the right column, where a segment begins.",
        "没有记忆的 Transformer 一次读 128 个字符。什么都过不了边界：片段开头的字符没有任何上文"
        "可依。看右栏里片段开始处的损失条。",
    ),
    "memory": _(
        "Transformer-XL keeps the states of the last 512 characters. Each layer takes keys and"
        " values from them too; they are computed once, and no gradient flows into them. Below"
        " you see how much of each head's attention crosses the border of the segment.",
        "Transformer-XL 保留最近 512 个字符的状态：每层的键与值也来自那里，只算一次，梯度不会流"
        "入。下方：各头的注意力有多少越过片段边界。",
    ),
    "depth": _(
        "One layer looks back one memory. The states there have already looked back one memory"
        " farther: after n layers a character can know of n memories. Follow the cone from the"
        " locked character down to the inputs.",
        "一层能往回看一段记忆。它看到的状态自己又看过更早的一段：n 层之后，一个字符能知道往回 n "
        "段记忆的内容。沿着锥形从锁定的字符往下看到输入。",
    ),
    "terms": _(
        "Absolute positions would repeat in every segment, so only distances can count. The"
        " score is a sum of four terms: content (query times key), content-dependent position"
        " bias (query times distance), global content bias (u times key) and global position"
        " bias (v times distance).",
        "绝对位置会在每个片段里重复，所以只有距离能算数。分数是四项之和：内容（查询乘键）、依赖"
        "内容的位置偏置（查询乘距离）、全局内容偏置（u 乘键）、全局位置偏置（v 乘距离）。",
    ),
    "cut": _(
        "The same model reads the same text and remembers nothing. At each border the loss jumps"
        " up, and it falls again as the segment fills: the figure shows this wave over the whole"
        " held-out book. The number in the panel says what the memory is worth on this page.",
        "同一个模型读同一段文本，但什么都不记。每到边界，损失就跳上去，随着片段变长又降下来：图"
        "中是整本留出书上的这道波。面板里的数字就是记忆在这一页上的价值。",
    ),
    "foreign": _(
        "Now the memory holds a whale hunt instead of the novel’s own pages. The right names and"
        " subjects are gone, and wrong ones have taken their place. Is that worse than"
        " remembering nothing?",
        "现在记忆里是一场捕鲸，而不是小说自己的内容。记得的人名和话题没有了，换成了错误的。这比"
        "什么都不记更糟吗？",
    ),
    "memories": _(
        "Lengthen the memory and the loss falls: nine tenths of the gain come from the first 64"
        " characters, hardly any from beyond 256. The paper asks how far more context still"
        " helps: its relative effective context length, measured here on a held-out book.",
        "记忆加长，损失下降：前 64 个字符就占了收益的九成，256 之后几乎没有。论文问：更多的上文"
        "到多远还有用？这里在留出的书上测得它的相对有效上下文长度。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "fixed": _("What happens at the border of a segment?", "片段的边界处会发生什么？"),
    "memory": _("What does it remember?", "它记住了什么？"),
    "depth": _("How far back does each layer know?", "每一层能知道多远？"),
    "terms": _("Why does a query look there?", "查询为什么看那里？"),
    "cut": _("What was the memory worth?", "记忆值多少？"),
    "foreign": _("Is a wrong memory worse than none?", "错误的记忆比没有更糟吗？"),
    "memories": _("How much memory still helps?", "多少记忆仍有帮助？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "fixed": _(
        "The model reads 128 characters at a time and remembers nothing. Which characters surprise"
        " it most?",
        "模型每次读 128 个字符，什么也不记得。哪些字符最出乎它的意料？",
    ),
    "memories": _(
        "The memory gets longer and longer. Does the loss keep falling, level off, or rise again?",
        "记忆越来越长。损失会一直下降、趋于平稳，还是又上升？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "fixed": _(
        "Look at the bars right after a border: they are the highest.",
        "看紧跟边界之后的条形：它们最高。",
    ),
    "memory": _(
        "Follow the line from the locked character back across the border.",
        "从锁定的字符沿线越过边界往回看。",
    ),
    "depth": _(
        "Follow the cone from the top layer down to the inputs.", "沿锥形从最上层看到输入。"
    ),
    "terms": _(
        "Read the four terms and ask which one decides for this key.",
        "读四项，并问对这个键起决定作用的是哪一项。",
    ),
    "cut": _(
        "Point at the jump at each border and at how the loss falls after it.",
        "指向每个边界处的跳跃，以及之后损失怎样下降。",
    ),
    "foreign": _(
        "Look for names: they cost more with the wrong book in mind.",
        "找出人名：记着另一本书时，它们代价更高。",
    ),
    "memories": _(
        "Point at the length that training knew, then at the end of the line.",
        "指向训练时用过的长度，再指线的末端。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {
    "fixed": 1,
    "memory": 1,
    "depth": 3,
    "foreign": 3,
    "memories": 3,
}
