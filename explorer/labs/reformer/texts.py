"""The texts of the Reformer's lab, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Reformer", "Reformer")
SHORT: Final = _("Reformer", "Reformer")
LINE: Final = _(
    "Softmax listens to the nearest neighbours: hashing puts vectors that point the same way"
    " together, and only those are compared.",
    "softmax 只听最近的邻居：方向相同的向量经哈希聚到一起，只在它们之间比较。",
)
CARD: Final = _("Only look-alikes\nshare a bucket.", "方向相近的\n才进同一个桶。")
KICKER: Final = _("Kitaev et al., 2020 · arXiv 2001.04451", "Kitaev 等，2020 · arXiv 2001.04451")
EQUATION: Final = (
    "Σ{sub:j ∈ P(i)} exp({query:q_i} · {key:k_j} − z{sub:i}) {value:v_j},  h(x) = argmax[xR; −xR]"
)
SPOKEN: Final = _(
    "the sum over j in P of i of the exponential of q i times k j minus z i, times v j; the key k j"
    " is the query q j divided by its length; P of i is found by hashing: h of x is the argmax of x"
    " R and minus x R",
    "对 P(i) 中的 j 求和：exp（q i 乘 k j 减 z i）乘 v j；键 k j 等于查询 q j 除以自身长度；P(i)"
    " 由哈希得到：h(x) 等于 x R 与负 x R 的 argmax",
)

# ---- the input

REGION: Final = _("A word to say twice, or a text", "要说两遍的词，或一段文本")
TASK: Final = _("what to give", "输入什么")
TASKS: Final[Mapping[str, Text]] = {
    "word": _("Say a word twice", "把词说两遍"),
    "text": _("Read a text", "读一段文本"),
}
PROMPTS: Final[Mapping[str, Text]] = {
    "word": _("A word of letters", "一串字母"),
    "text": _("A text, read character by character", "一段文本，逐字符读"),
}
HINTS: Final[Mapping[str, Text]] = {
    "word": _(
        "a to z, space and .,-! — up to {most}; training saw {least} to {most}.",
        "a 到 z、空格和 .,-!，最多 {most} 个；训练时 {least} 到 {most} 个。",
    ),
    "text": _(
        "Up to {most} characters; training saw books in English, most of them of the 19th century.",
        "最多 {most} 个字符；训练用的是英文书，多半是 19 世纪的。",
    ),
}
EXAMPLES: Final[tuple[Text, ...]] = (
    _("A word of 26 letters, every model as it was trained", "26 个字母的词，每个模型同训练时"),
    _("A sentence, with a single round of hashing", "一句话，只用一轮哈希"),
    _("A sentence of every letter, with two rounds", "用到每个字母的一句话，用两轮"),
    _(
        "Tweedledum and Tweedledee, with only four buckets",
        "孪生兄弟 Tweedledum 与 Tweedledee，只用四个桶",
    ),
)
TEXT_EXAMPLE: Final = _(
    "The beginning of a novel unseen in training, read by a Reformer of four layers",
    "训练时没见过的小说的开头，由四层的 Reformer 来读",
)

NAMES: Final[Mapping[str, Text]] = {
    "lsh_4": _("LSH-4", "LSH-4"),
    "full": _("Full attention", "完整注意力"),
    "lsh_2": _("LSH-2", "LSH-2"),
    "lsh_1": _("LSH-1", "LSH-1"),
    "text": _("Reformer on books", "读书的 Reformer"),
}
VERDICT: Final = _("{right} of {n} letters right", "{n} 个字母对了 {right} 个")
COST: Final = _("{bits} bits per character", "每字符 {bits} 比特")
SHORTER: Final = _(
    "Shorter than any word in training ({least} letters at least): expect mistakes.",
    "比训练时的词都短（至少 {least} 个字母），可能出错。",
)

# ---- attention

EVERY_KEY: Final = _("{model}: every key", "{model}：所有的键")
SAW: Final = _("{model}: what hashing saw", "{model}：哈希看到的")
QUESTIONS: Final[Mapping[str, Text]] = {
    "every": _(
        "Where would it look, if it compared everything?", "如果与所有位置比较，它会看向哪里？"
    ),
    "saw": _(
        "Where does it look, among the keys that hashing let it see?",
        "在哈希让它看到的键中，它看向哪里？",
    ),
}
ROLES: Final = (shared.POSITION, _("position before it", "之前的位置"))
JOBS: Final[Mapping[str, Text]] = {
    "twin": _("its own letter, said before", "同一个字母的上一次出现"),
    "after": _("the letter that comes next", "接下来的字母"),
    "previous": shared.THE_POSITION_BEFORE,
}
HASHING: Final = {
    "title": _("Hash, sort, chunk, attend", "哈希、排序、分块、做注意力"),
    "empty": _(
        "Give a word to see how its positions are hashed.", "输入一个词，看它的各个位置怎样被哈希。"
    ),
}
GONE: Final = _("This run has no such model or head.", "这次运行没有这样的模型或注意力头。")
NO_ATTENTION: Final = _(
    "Give a word to see where each head looks.", "输入一个词，看每个头看向哪里。"
)
BERTVIZ_LONG: Final = _(
    "bertviz shows up to {most} positions, and this run has {n}. Give a shorter word.",
    "bertviz 最多显示 {most} 个位置，这次运行有 {n} 个。请输入更短的词。",
)
START: Final = "⏎"  # stands before the first character of a text

# ---- changes

KNOBS: Final[Mapping[str, Text]] = {
    "rounds": _("rounds of hashing", "哈希轮数"),
    "buckets": _("buckets", "桶数"),
    "chunk": _("places of a chunk", "每块的位置数"),
    "seed": _("rotations, drawn with seed", "旋转矩阵的随机种子"),
    "trained": shared.AS_TRAINED,
    "full": shared.FULL,
}
ROUND: Final = _("with 1 round of hashing", "1 轮哈希")
ROUNDS: Final = _("with {n} rounds of hashing", "{n} 轮哈希")
FULL: Final = _("with full attention in place of hashing", "用完整注意力代替哈希")
BUCKETS: Final = _("with {n} buckets", "{n} 个桶")
CHUNK: Final = _("in chunks of {n}", "每块 {n} 个位置")
SEED: Final = _("with other rotations", "换一组旋转矩阵")
SHARE: Final = _("share of right letters", "答对字母的比例")
ANSWERED: Final = _(
    "⟦o:{model}⟧ {after} instead of {before}", "⟦o:{model}⟧ 由 {before} 变为 {after}"
)
ANSWERED_SAME: Final = _("⟦o:{model}⟧ {before} as before", "⟦o:{model}⟧ 仍为 {before}")
SAYS: Final = _("{change}, share of right letters: {each}.", "{change}：答对字母的比例，{each}。")
SAYS_TEXT: Final = _(
    "{change}, ⟦o:{model}⟧ pays {after} bits per character instead of {before} for the same text.",
    "{change}：对同一段文本，⟦o:{model}⟧ 每字符由 {before} 变为 {after} 比特。",
)
SAYS_TEXT_SAME: Final = _(
    "{change}, ⟦o:{model}⟧ pays {before} bits per character for the same text, as before; no"
    " character changes by more than {most} bits.",
    "{change}：对同一段文本，⟦o:{model}⟧ 每字符仍付出 {before} 比特；没有一个字符的变化超过"
    " {most} 比特。",
)
PAIRS: Final = _(
    "It compares {after} of all pairs of positions instead of {before}.",
    "它比较了全部位置对的 {after}，原来是 {before}。",
)
PAIRS_SAME: Final = _(
    "It compares {before} of all pairs of positions, as before.",
    "它比较了全部位置对的 {before}，与原来相同。",
)
SAME: Final = _("{change}, nothing changes for any model.", "{change}：对哪个模型都没有影响。")
UNREACHED: Final = _("The change makes no difference to it.", "这个改变影响不到它。")

# ---- the card

EACH: Final = shared.EACH
DATA: Final = _("random words, said twice", "随机的词，说两遍")
METRIC: Final = _("right letters, {rounds} rounds, {split}", "答对字母，{rounds} 轮，{split}")
NAMED: Final = shared.NAME_AND_VALUE
OWN_ROUNDS: Final = _(
    "{name} {value} ({own} with its own {n} rounds)", "{name} {value}（用自己的 {n} 轮：{own}）"
)
CURVE_UNITS: Final = _(
    "share of held-out letters that is wrong, each model with its own rounds",
    "留出的词中答错字母的比例，各模型用自己的轮数",
)
CURVE_SAYS: Final = _(
    "Share of held-out letters that are wrong at the end of training: {figures}. Words grow from 16"
    " to 128 letters over the first half.",
    "训练结束时，留出字母的错误率：{figures}。前一半训练中词长由 16 增至 128。",
)
STEPS_SEEN: Final = _("steps", "训练步数")
WRONG: Final = _("share wrong", "错误率")
CURVE_AXES: Final = (STEPS_SEEN, WRONG)

# ---- rounds of training and of evaluation

WITH_ONE: Final = _("1 round", "1 轮")
WITH: Final = _("{n} rounds", "{n} 轮")
ORDER: Final = _(
    "Evaluated with {rounds}: here {ours}; in print {printed}.",
    "用 {rounds}评估：这里 {ours}；论文 {printed}。",
)
SAME_ORDER: Final = _("No pair of them is in the opposite order.", "没有哪两个的先后与论文相反。")
OTHER_ORDER: Final = _("This differs from the order in print.", "与论文的顺序不同。")
UNHASHED: Final = _(
    "Without hashing, models trained with it get {ours} right here; in print {printed}.",
    "训练时用哈希的模型，改用完整注意力，这里答对 {ours}；论文为 {printed}。",
)
UNBROKEN: Final = _(
    "Full attention does not break our {name}: in training it compared {met} % of all pairs,"
    " {elsewhere} % of a round's pairs came from two buckets, and with all keys visible the"
    " right one still gets {right} of the weight. The model card says more.",
    "完整注意力没有使这里的 {name} 失灵：训练中它比较过全部位置对的 {met}%，一轮的位置对中有"
    " {elsewhere}% 来自不同的桶；看到全部的键时，正确的键仍得到 {right} 的权重。详见模型卡。",
)
MORE: Final = _(
    "More rounds of evaluation never made a hashing model worse here.",
    "在这里，增加评估轮数从未使用哈希的模型变差。",
)
LESS: Final = _(
    "More rounds of evaluation made {names} worse in places.",
    "增加评估轮数，在某些情况下使 {names} 变差。",
)
MISSED: Final = {
    "title": _("What was missed?", "漏掉了什么？"),
    "question": _("How much of full attention does hashing miss?", "哈希漏掉了完整注意力的多少？"),
}
BY_ROUNDS: Final = _("How much do more rounds see?", "更多轮数能多看到多少？")
BY_ROUNDS_UNITS: Final = _(
    "missed weight, mean over queries, of this head; the vertical line: the rounds of this run",
    "漏掉的权重，各查询的平均，此注意力头；竖线：本次运行的轮数",
)
BY_ROUNDS_AXES: Final = {
    "en": ("rounds of hashing", "missed weight, %"),
    "zh": ("哈希轮数", "漏掉的权重，%"),
}
BY_ROUNDS_SAYS: Final = _(
    "With {n} buckets, one round misses {first} % of the weight, {most} rounds {last} %.",
    "{n} 个桶时，一轮漏掉 {first} % 的权重，{most} 轮漏掉 {last} %。",
)
N_BUCKETS: Final = _("{n} buckets", "{n} 个桶")
ROUNDS_COLUMN: Final = _("rounds", "轮数")
SPELLING: Final = {"title": _("Said twice", "说两遍")}
TABLE: Final = _("Rounds of training, rounds of evaluation", "训练轮数与评估轮数")
TABLE_UNITS: Final = _(
    "share of right letters: measured here, and under it as published",
    "答对字母的比例：本项目实测，其下为论文发表",
)
TABLE_AXES: Final = {"en": ("evaluated with", "trained with"), "zh": ("评估时", "训练时")}
IN_VIEW: Final = _("the run in view", "所示的运行")
WHOLE: Final = shared.FULL
ONE_ROUND: Final = _("1 round", "1 轮")
N_ROUNDS: Final = _("{n} rounds", "{n} 轮")
SOURCES: Final = (shared.MEASURED, _("published", "发表"))
MODEL: Final = _("trained with", "训练时")
TABLE_WHY: Final = _(
    "The two are not figures of one test. Ours: words of {letters} letters of {kinds} kinds,"
    " {steps} steps on a CPU. {why}",
    "两组数字不是同一个测试。这里：{letters} 个字母的词，{kinds} 种字母，在 CPU 上训练 {steps} 步。"
    "{why}",
)

# ---- notes

NOTES: Final[tuple[Text, ...]] = (
    _(
        "The models learned only 0 w 0 w with random letters: w of 16 to 128 letters. They have"
        " never seen anything that is not said twice, and a meaningful word is no easier for"
        " them.",
        "模型只学过由随机字母构成的 0 w 0 w，w 长 16 到 128 个字母。没有说两遍的东西它们从未见"
        "过，有意义的词对它们也不更容易。",
    ),
    _(
        "Each letter of the second word is predicted with everything before it given, including"
        " the right letters of the second word.",
        "问第二遍的每个字母时，它之前的一切都已给出，包括第二遍中正确的前几个字母。",
    ),
    _(
        "Hashing saves memory compared with attention that writes its whole matrix of weights to"
        " memory. Fused attention writes none, and at these lengths needs less memory than any"
        " hashing; hashing saves comparisons: L log L instead of L².",
        "哈希节省的内存，是相对于把整个权重矩阵写入内存的注意力而言。融合的注意力不写矩阵，在这"
        "样的长度上比任何哈希都更省内存；哈希节省的是比较次数：L log L 而不是 L²。",
    ),
    _(
        "“Every key” shows the weights of a head without hashing: computed from the same"
        " vectors, with queries as their own keys. The model used only what hashing saw.",
        "“所有的键”是不用哈希时一个头会给出的权重：由同样的向量算出，查询就是自己的键。模型实际"
        "用的是哈希看到的那些。",
    ),
    _(
        "Training draws new rotations in every step; here the seed sets them, so that a run can"
        " be repeated.",
        "训练的每一步都重新抽取旋转矩阵；这里由种子决定，因此每次运行都可以重现。",
    ),
)
TEXT_NOTE: Final = _(
    "The text is read by a model of four layers that learned from 17 books in English, most of them"
    " of the 19th century; other texts cost it more.",
    "读文本的是四层的模型，学过 17 本英文书，多半是 19 世纪的；别的文本对它来说代价更高。",
)  # shown where the model of texts is shipped

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "neighbours": _("Few keys count", "只有少数键重要"),
    "hash": _("Hash", "哈希"),
    "sort": _("Sort, chunk, attend", "排序、分块、做注意力"),
    "round": _("One round only", "只有一轮"),
    "missed": _("What was missed", "漏掉了什么"),
    "table": _("Rounds of training, rounds of evaluation", "训练轮数与评估轮数"),
    "saving": shared.WHAT_IT_SAVES,
    "rewind": _("Layers that run backwards", "可以倒着走的层"),
}
STEPS: Final[Mapping[str, Text]] = {
    "neighbours": _(
        "The largest products dominate the softmax: a position listens to only a handful of all"
        " the keys before it. Look along the locked row. Comparing with all keys costs L²"
        " products; can we find the few without that?",
        "softmax 由最大的几个乘积决定：在它之前的所有键中，一个位置只听从少数几个。看锁定的那一"
        "行。与所有键比较要 L² 次乘积；能否不比较就找到那几个？",
    ),
    "hash": _(
        "Rotate a vector at random and ask which direction it points along most: h(x) ="
        " argmax[xR; −xR]. Vectors that point the same way fall into the same bucket. Here a"
        " query is its own key: {asks}, which asks, and {wanted}, the letter to predict, both"
        " have the number {bucket}.",
        "随机旋转一个向量，看它最靠近哪个方向：h(x) = argmax[xR; −xR]。方向相同的向量落入同一个"
        "桶。这里查询就是自己的键：提问的 {asks} 和要预测的字母 {wanted} 都得到号码 {bucket}。",
    ),
    "sort": _(
        "Buckets are uneven, so positions are sorted by bucket and cut into chunks of one size."
        " Each chunk attends to itself and to the one before, never to the future. The sort"
        " costs L log L, and every chunk a fixed amount.",
        "桶有大有小，所以按桶给位置排序，再切成等长的块。每块只看自己和前一块，绝不看将来。排序"
        " L log L，每块的代价固定。",
    ),
    "round": _(
        "Two neighbours may fall on opposite sides of a border, and then they never meet. Here"
        " every model gets a single round: the red letters are wrong. Add rounds one by one in"
        " the panel: how many does the word need?",
        "两个邻居可能落在边界两侧，于是从不相遇。这里每个模型只有一轮：红色的字母是答错的。在面"
        "板里一轮一轮加：这个词需要几轮？",
    ),
    "missed": _(
        "Missed weight is what full attention would give to pairs that no round brings together."
        " It falls with every round, because each round draws its own rotation. More buckets"
        " mean smaller neighbourhoods, and more is missed.",
        "完整注意力会给予、却没有任何一轮碰到的那些位置对的权重。每轮的旋转各不相同，所以轮数越"
        "多漏得越少；桶越多，邻域越小，漏得越多。",
    ),
    "table": _(
        "You can change the number of rounds after training. Read the table along the rows: what"
        " does a model gain from more rounds than in training, and lose with fewer? And what"
        " happens to a model that never hashed, when it has to?",
        "训练之后可以重新选择轮数。沿着行看表：比训练时更多的轮数能得到什么，更少又会失去什么？"
        "从没用过哈希的模型，突然要用时又会怎样？",
    ),
    "saving": _(
        "The model reads a page of a novel that it has never seen, in chunks of 8 with 4 rounds."
        " The panel says what share of all pairs it compares, and what the page costs in bits."
        " Set the rounds to full attention: how much better does it read when it compares"
        " everything?",
        "模型读训练时没见过的小说的一页，每块 8 个位置、4 轮哈希。面板显示比较了全部位置对的多大"
        "比例，以及这一页的代价（比特）。把轮数设为完整注意力：全部比较时，又能好多少？",
    ),
    "rewind": _(
        "The other half of the paper: y₁ = x₁ + attention(x₂), y₂ = x₂ + FF(y₁). The inputs"
        " follow from the outputs, so training need not store them. The first picture runs this"
        " model's layers backwards; the third shows training memory against depth: it grows with"
        " every ordinary layer, but not with reversible ones.",
        "论文的另一半：y₁ = x₁ + attention(x₂)，y₂ = x₂ + FF(y₁)。由输出可算回输入，所以不必为反"
        "向传播保存什么。第一幅图把这个模型的层倒着走一遍；第三幅是训练内存随深度的变化：普通的"
        "层每加一层就多一份，可逆的层则不变。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "neighbours": _("How many keys really count?", "真正重要的键有多少？"),
    "hash": _(
        "How are near vectors found without comparing all?", "不逐一比较，怎样找到相近的向量？"
    ),
    "sort": _("Who attends to whom after sorting?", "排序之后谁注意谁？"),
    "round": _("What does a single round lose?", "只有一轮会失去什么？"),
    "missed": _("How much weight is missed?", "漏掉了多少权重？"),
    "table": _("May rounds be chosen after training?", "训练后还能改变轮数吗？"),
    "saving": _("How many pairs are compared?", "比较了多少对？"),
    "rewind": _("Can a layer run backwards?", "一层能倒着走吗？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "neighbours": _(
        "A position may listen to every key before it. Over how many of them does its weight really"
        " spread?",
        "一个位置可以听它之前的每一个键。它的权重实际分布在几个键上？",
    ),
    "round": _(
        "Every model hashes once. How many letters of “to be, or not to be, that is the question”"
        " does it lose?",
        "每个模型只做一轮哈希。“to be, or not to be, that is the question”的字母，它会丢掉几个？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "neighbours": _("Count the bright cells of the locked row.", "数一数锁定行中的亮格。"),
    "hash": _(
        "Find two letters with one number; their vectors point the same way.",
        "找出编号相同的两个字母；它们的向量指向相同。",
    ),
    "sort": _(
        "Go on with → and watch the letters travel into their chunks.",
        "按 → 继续，看字母移动到各自的块中。",
    ),
    "round": _(
        "Count the red letters with the hall; hold B for all rounds.",
        "和大家一起数红色字母；按住 B 看全部轮次。",
    ),
    "missed": _(
        "Follow a line from one round to eight: does every round halve what is missed?",
        "沿一条线从一轮看到八轮：每一轮都把遗漏减半吗？",
    ),
    "table": _(
        "Read one row at a time; the ringed cells are the run in view.",
        "一次读一行；圈出的格子是所示的运行。",
    ),
    "saving": _(
        "Point at the buckets and chunks of the page; the sentence says what they hold.",
        "指出这一页的桶与块；下面的句子说明其中有什么。",
    ),
    "rewind": _(
        "Show how small the error of the way back is, then the memory over depth.",
        "先看往回算的误差有多小，再看内存随深度的变化。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {
    "neighbours": 1,
    "hash": 1,
    "round": 3,
    "table": 3,
    "saving": 3,
}
