"""The texts of the lab of adaptive attention span, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Adaptive attention span", "自适应注意力跨度")
SHORT: Final = _("Adaptive span", "自适应跨度")
LINE: Final = _(
    "Each head learns how far back it needs to look, and pays for every step of it.",
    "每个头学习自己需要往回看多远，并为每一步付出代价。",
)
CARD: Final = _("Each head learns\nhow far to look.", "每个头学习\n看多远。")
KICKER: Final = _(
    "Sukhbaatar et al., 2019 · arXiv 1905.07799", "Sukhbaatar 等，2019 · arXiv 1905.07799"
)
EQUATION: Final = "softmax({query:Q}({key:K} + {key:P}){sup:⊤}/{root:d_k} + log m{sub:z}) {value:V}"
SPOKEN: Final = _(
    "softmax of Q times K plus P transposed, divided by the square root of d k, plus the logarithm"
    " of the soft mask m z, times V; P has an embedding for each distance, m z is 1 up to the span"
    " z, falls to 0 over a ramp of R positions, and z is learned for each head",
    "softmax（Q 乘以 K 加 P 的转置，除以 d k 的平方根，再加软掩码 m z 的对数）再乘 V；P"
    " 为每个距离各有一个嵌入，"
    "m z 在跨度 z 以内为 1，在长为 R 的斜坡上降到 0，每个头的 z 都是学出来的",
)

MASKS: Final = {
    "title": _("Who looks far", "谁看得远"),
    "empty": _("Nothing has been read yet.", "还没有读入文本。"),
}
REGION: Final = _("What the model reads", "模型读什么")
MODEL_CHOICE: Final = shared.SPANS
SPANS: Final = _("attention span of", "注意力跨度：")
# Our examples: a description of each, and the word or two on its button.
EXAMPLES: Final[tuple[tuple[Text, Text], ...]] = (
    (
        _(
            "Captain Wentworth’s letter, from a novel unseen in training",
            "温特沃斯上校的信，选自训练时没见过的小说",
        ),
        shared.THE_LETTER,
    ),
    (
        _(
            "The fall at Lyme, from the same novel, all heads cut to z = 0: the ramp alone",
            "莱姆的意外，选自同一部小说，所有头 z = 0，只剩斜坡",
        ),
        _("Short sight", "短视"),
    ),
    (
        _(
            "The novel’s first page, read with spans that follow the token",
            "小说的第一页，用随词元变化的跨度来读",
        ),
        _("Span by token", "跨度随词元"),
    ),
    (
        shared.ONE_SENTENCE_AND_400_CHARACTERS_WRITTEN,
        shared.ONE_SENTENCE,
    ),
)
SOURCES: Final[Mapping[str, Text]] = {
    "letter": shared.JANE_AUSTEN_PERSUASION_1818_CHAPTER_23,
    "lyme": _("Jane Austen, Persuasion (1818), chapter 12", "简·奥斯汀《劝导》（1818），第 12 章"),
    "kellynch": shared.JANE_AUSTEN_PERSUASION_1818_CHAPTER_1,
}

NAMES: Final[Mapping[str, Text]] = {
    "adaptive": _("Adaptive span", "自适应跨度"),
    "fixed": _("Full span", "全跨度"),
    "dynamic": _("Span by token", "跨度随词元"),
}
ABOUT: Final[Mapping[str, Text]] = {
    "adaptive": _("one z learned for each head", "每个头学一个 z"),
    "fixed": _("every head looks back all the way", "每个头都看到最远"),
    "dynamic": _("z computed from the character read", "z 由读到的字符算出"),
}
WRITES: Final = shared.READS_AND_WRITES_ON
READS: Final = _("reads the same text", "读同样的文字")
READS_ALONG: Final = _("reads what “{name}” wrote", "读“{name}”写下的文字")
BRIEF: Final[Mapping[str, Text]] = {
    "adaptive": _("adaptive", "自适应"),
    "fixed": shared.FULL_SPAN,
    "dynamic": _("by token", "随词元"),
}
# The changes of a request in words. Layers and heads are counted from 1.
ALL: Final = _("with every head at z = {z}", "所有头的 z = {z}")
LAYER: Final = _("with the heads of layer {layer} at z = {z}", "第 {layer} 层各头的 z = {z}")
HEAD: Final = _("with head {head} at z = {z}", "头 {head} 的 z = {z}")
SEVERAL: Final = _("with {n} spans forced", "强制了 {n} 处跨度")
SAYS: Final = _(
    "{change}, the model pays ⟦o:{after}⟧ bits per character instead of {before} for the same"
    " text; ",
    "{change}时，对同一段文本，模型每字符付出 ⟦o:{after}⟧ 比特，原来是 {before}；",
)
SAYS_SAME: Final = _(
    "{change}, the model pays ⟦o:{before}⟧ bits per character for the same text, as before, and no"
    " character changes by more than {most} bits; ",
    "{change}时，对同一段文本，模型每字符仍付出 ⟦o:{before}⟧ 比特，没有一个字符的变化超过"
    " {most} 比特；",
)
LOOKS: Final = _(
    "its heads look {after} back on average, instead of {before}.",
    "各头平均往回看 {after}，原来是 {before}。",
)
LOOKS_SAME: Final = _(
    "its heads look {before} back on average, as before.", "各头平均往回看 {before}，与原来相同。"
)

KIND: Final[Mapping[str, Text]] = {
    "after": _("under the mask", "掩码之后"),
    "before": _("before the mask", "掩码之前"),
}
ROLES: Final = (
    shared.PREDICTED_CHARACTER,
    shared.CHARACTER_THAT_WAS_READ,
)
QUESTIONS: Final[Mapping[str, Text]] = {
    "after": _("Where does each head look, within its span?", "每个头在自己的跨度内看向哪里？"),
    "before": _("Where would it look if its span had no end?", "如果跨度没有尽头，它会看向哪里？"),
}
JOBS: Final[Mapping[str, Text]] = {
    "written": shared.LAST_CHARACTER,
    "before": shared.THE_CHARACTER_BEFORE_IT,
    "far": _("looks far", "看得远"),
}
START: Final = "⏎"  # stands before the first character: a new line
NO_ATTENTION: Final = shared.READ_A_TEXT_TO_SEE_WHERE

NOTES: Final[tuple[Text, ...]] = (
    _(
        "A span includes its ramp, z + R, as in the paper; S is the longest span that a head may"
        " have.",
        "跨度按论文的说法连同斜坡一起计算，即 z + R；S 是任何一个头最多能有的。",
    ),
    _(
        "A character costs −log₂ of the probability that the model gave it. 2 bits are a choice"
        " among four equally likely ones.",
        "一个字符的代价是其概率的 −log₂。2 比特相当于在四个同样可能的字符中选一个。",
    ),
    _(
        "All models have the same width, depth and positions, and learned from as many"
        " characters; they differ only in what limits their heads: always S, a span learned from"
        " S down, or one computed from the character, short at first.",
        "各模型的宽度、深度与位置编码都相同，学习用的字符一样多；不同的只是限制各头的方式：始终"
        "为 S，从 S 开始学习，或由字符算出、起初很短。",
    ),
    _(
        "While the model writes, each head keeps keys and values only for its span and ramp; it"
        " forgets everything farther back at once.",
        "写作时，每个头只保留其跨度与斜坡之内的键与值；更远的立即忘掉。",
    ),
)

# The card and the measurements.
DATA: Final = shared.OF_17_BOOKS_2_HELD_OUT
BOOKS: Final = shared.PUBLIC_DOMAIN
METRIC: Final = shared.BITS_PER_CHARACTER_ON_SPLIT
RUNG_VALUE: Final = shared.NAME_AND_VALUE
STANDING: Final = _("What does a short span cost?", "短跨度的代价是多少？")
STANDING_UNITS: Final = _(
    "bits per character of the held-out book, lower is better", "留出的书每字符比特数，越低越好"
)
RUNG: Final = _("{name}, mean span {span}", "{name}，平均跨度 {span}")
STANDS: Final = _(
    "{name}: {value} bits with a mean span of {span} ({share} of S)",
    "{name}：{value} 比特，平均跨度 {span}（S 的 {share}）",
)
BEHIND: Final = _(
    "The learned spans cost {gap} bits against the full one.", "学出的跨度比全跨度多付 {gap} 比特。"
)
AHEAD: Final = _(
    "In this one training of each, the learned spans need {gap} bits less than the full one.",
    "各训练一次，学出的跨度比全跨度少付 {gap} 比特。",
)
IN_PRINT: Final = _(
    "In print, models with learned spans are as good as or better than those with a fixed one, at a"
    " mean span of 314 where S = 8,192.",
    "论文中，学习跨度的模型与固定跨度的一样好或更好，S = 8,192 时平均跨度为 314。",
)
MODEL: Final = shared.MODEL
BITS: Final = shared.BITS_PER_CHARACTER
SPAN: Final = _("mean span, characters", "平均跨度（字符）")
SHARE: Final = _("share of S, %", "占 S 的比例，%")
CURVE_UNITS: Final = shared.BITS_PER_CHARACTER_OF_A_HELD
CURVE_SAYS: Final = shared.AT_THE_END_OF_TRAINING_BITS
SEEN: Final = shared.CHARACTERS_READ_MILLIONS
CURVE_AXES: Final = (SEEN, BITS)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "differ": _("Heads want different distances", "各头要的距离不同"),
    "mask": _("A soft mask with a ramp", "带斜坡的软掩码"),
    "price": _("A price on every step", "每一步都有代价"),
    "short": _("Force all spans short", "强行缩短所有跨度"),
    "long": _("Force all spans long", "强行放长所有跨度"),
    "token": _("A span for each token", "每个词元一个跨度"),
    "saving": shared.WHAT_IT_SAVES,
}
STEPS: Final[Mapping[str, Text]] = {
    "differ": _(
        "Giving all heads the same long span wastes most of it. The bars show how far each head"
        " of this trained model looks back, including its ramp of R characters; S is the full"
        " width. Half of all heads look at most {middle} characters back; head {head}"
        " looks {most} back. Most heads need only what is close by; a few look far.",
        "给所有头同样长的跨度，大半都浪费了。这些条显示训练好的模型里每个头往回看多远，连同长为"
        " R 的斜坡：S 是全宽。一半的头最多看约 {middle} 个字符；头 {head} 往回看 {most} 个。多数"
        "头在近处就找到所需要的，少数头仍看得很远。",
    ),
    "mask": _(
        "The mask is 1 up to z, then falls to 0 over a ramp of R positions. A hard border would"
        " have no gradient. On the ramp, the gradient shows whether looking a little farther"
        " would help, so z can be learned like any weight.",
        "掩码在 z 以内为 1，再沿长为 R 的斜坡降到 0。硬边界没有梯度；有了斜坡，梯度就能说明再看"
        "远一点是否有用，z 就能像权重一样学出来。",
    ),
    "price": _(
        "All spans begin at S and are free until the network can read. Then training adds λ"
        " times their mean to the loss: a head keeps a distance only if it saves more than it"
        " costs. Before the mask the head would look everywhere; after it, the rest is"
        " renormalised to sum to 1.",
        "所有跨度都从 S 开始，网络会读之前没有代价；之后训练在损失里加上 λ 乘以平均跨度，只有划"
        "算的距离才保留。掩码之前头会到处看；掩码之后，剩下的部分重新归一。",
    ),
    "short": _(
        "Now every head is held at z = 0: only the ramp is left. Watch the loss under the text:"
        " which characters become harder to predict? The number says what the learned spans are"
        " worth on this page.",
        "现在每个头都限制在 z = 0，只剩斜坡。看文字下面的损失：哪些字符变得更难预测？那个数字说"
        "明学出的跨度在这一页上值多少。",
    ),
    "long": _(
        "Now every head can look all the way back, as it could while spans were free. Is the"
        " loss lower? Training gave up the farther characters because they saved too little, and"
        " the network learned to do without them: more context is not more knowledge.",
        "现在每个头又能看到最远，就像跨度还没有代价时那样。损失更低吗？学到的跨度之外，因为省得"
        "太少而被放弃，网络此后也学会了没有它：更多上文不等于更多知识。",
    ),
    "token": _(
        "The span can follow the character that was read: z is computed from it. The line along"
        " the text shows where the model decides to look far, and where the last few characters"
        " are enough.",
        "跨度可以随读到的字符变化：z 由它算出。沿着文本的曲线显示模型在哪里决定看远，在哪里只看"
        "最近几个字符就够了。",
    ),
    "saving": _(
        "A head computes only what lies within its span and ramp, and needs to remember only"
        " that to keep writing. Positions, operations and bytes are counted from these spans and"
        " measured next to the full-span model.",
        "只计算跨度与斜坡之内的部分，继续写作也只需记住这些。位置、运算与字节都由这些跨度数出，"
        "并与全跨度模型对照实测。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "differ": _("How far does each head need to look?", "每个头需要看多远？"),
    "mask": _("How can a distance be learned?", "距离怎样才能学会？"),
    "price": _("What keeps spans short?", "什么让跨度保持短？"),
    "short": _("What is lost when all spans are short?", "所有跨度都缩短会失去什么？"),
    "long": _("Does looking farther help?", "看得更远有帮助吗？"),
    "token": _("Where does it decide to look far?", "它在哪里决定看远？"),
    "saving": _("What do short spans save?", "短跨度省下什么？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "differ": _(
        "Every head may choose how far it looks back. How many look far, and how many only at a few"
        " characters?",
        "每个头都可以选择往回看多远。有几个看得远，有几个只看几个字符？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "differ": _(
        "Find the longest bar; then ask what all the short ones have in common.",
        "找出最长的条；再问所有短条有什么共同点。",
    ),
    "mask": _(
        "Drag the handle of the mask and watch the weights change.",
        "拖动掩码的手柄，看权重怎样变。",
    ),
    "price": _(
        "This is the map before the mask: ask how much of it may stay.",
        "这是掩码之前的图：问一问其中有多少能留下。",
    ),
    "short": _(
        "Hold B; the bars under the text say which characters became harder to predict.",
        "按住 B；文字下的条形表示哪些字符变得更难预测。",
    ),
    "long": _(
        "Hold B: looking farther than the learned span gains nothing.",
        "按住 B：比学到的看得更远并没有好处。",
    ),
    "token": _(
        "Point at a peak of the line: what was read there?", "指向曲线的一个峰：那里读到了什么？"
    ),
    "saving": _(
        "Read out what share of positions, operations and bytes is left.",
        "读出位置、运算与字节各剩下多少。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {"differ": 1, "mask": 1, "price": 3, "short": 3, "saving": 3}
