"""The texts of the lab of detection, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Detection: object queries", "目标检测：物体查询")
SHORT: Final = _("DETR", "DETR 检测")
LINE: Final = _(
    "A Transformer finds all objects of a scene in one pass: twelve queries agree who answers for"
    " which.",
    "一个 Transformer 一次就找出场景里的所有物体：十二个查询商定由谁负责哪一个。",
)
CARD: Final = _("Twelve queries\nfind the objects.", "十二个查询\n分管各个物体。")
KICKER: Final = _("Carion et al., 2020 · arXiv 2005.12872", "Carion 等，2020 · arXiv 2005.12872")
EQUATION: Final = (
    "σ̂ = argmin Σ −{query:p}({key:c}) + 5 ‖{key:b} − {value:b̂}‖ − 2 GIoU({key:b}, {value:b̂})"
)
SPOKEN: Final = _(
    "sigma hat is the assignment of queries to objects with the least sum of minus the query's"
    " probability p of the object's class c, plus five times the L1 distance between the object's"
    " box b and the query's box, minus two times their generalised overlap",
    "σ 帽是使代价之和最小的查询与物体的分配；代价为负的查询对物体类别 c 的概率 p，加 5 倍的物体框"
    " b 与查询框之间的 L1 距离，减 2 倍的二者的广义重叠",
)
REGION: Final = _("The scene that the network sees", "网络看到的场景")
COMPOSE: Final = _("Scene", "场景")
NAMES: Final[tuple[Text, ...]] = (
    *(_(f"digit {digit}", f"数字 {digit}") for digit in (0, 2, 3, 4, 7)),
    shared.TROUSERS,
    _("pullover", "套衫"),
    _("dress", "连衣裙"),
    _("bag", "包"),
    _("boot", "短靴"),
)
EXAMPLES: Final[tuple[Text, ...]] = (
    _("A pullover, a bag, a 3 and a 0", "套衫、包、3 和 0"),
    _("Four objects close together", "四个挨得很近的物体"),
    _("Six times the digit 2", "六个数字 2"),
    _("An empty ground", "空背景"),
)

# The change panel.
ON_OFF: Final = {True: shared.SWITCHED_ON, False: shared.SWITCHED_OFF}
AGREE: Final = _("queries see each other", "查询互相看见")
ALONE: Final = _("queries that do not see each other", "查询互相看不见")
DEPTH: Final = _("decoder layers", "解码器层数")
LAYERS: Final = _("layers", "层")
SHALLOW: Final = _("{n} decoder layers", "解码器只用 {n} 层")
QUERIES: Final = _("object queries", "物体查询")
QUERIES_UNIT: Final = _("queries", "个查询")
FEWER: Final = _("{n} queries", "只用 {n} 个查询")
PARTS: Final[Mapping[str, Text]] = {
    "cross": _("queries to scene", "查询看场景"),
    "encoder": _("token to token", "词元之间"),
    "queries": _("query to query", "查询之间"),
}
SURE: Final = _("points of probability for the true classes", "个百分点：真实类别的概率")
SUREST: Final = _("points of probability for the surest class", "个百分点：最确定类别的概率")
MOVES: Final = _(
    "with {what}, the mean probability goes from {before} % to {after} %",
    "{what}时，平均概率由 {before} % 变为 {after} %",
)
STAYS: Final = _(
    "with {what}, the mean probability stays {before} %", "{what}时，平均概率仍为 {before} %"
)
COUNTS: Final = _(
    "{after} queries answer instead of {before}, and {twice} of them repeat an object",
    "作答的查询由 {before} 个变为 {after} 个，其中 {twice} 个重复了同一物体",
)
COUNTS_ONCE: Final = _(
    "{after} queries answer, {before} before, and none repeats an object",
    "作答的查询有 {after} 个，此前 {before} 个，没有重复",
)
THIS_SCENE: Final = _("this scene", "这个场景")
JUDGED: Final[Mapping[str, Text]] = {
    "answers": _("answers", "回答"),
    "duplicates": _("repeated objects", "重复的物体"),
    "overlap": _("mean IoU, true boxes", "与真实框的 IoU"),
}

# Warnings.
UNSEEN: Final = _(
    "The network has seen nothing but composed scenes of digits and clothes: what it says of"
    " another"
    " picture is a guess, however sure it is.",
    "网络只见过由数字和衣物拼成的场景：对别的图片，无论它多么确定，都只是猜测。",
)
CROWDED: Final = _(
    "This scene has {n} objects; the network has learned from scenes of up to {most}.",
    "这个场景有 {n} 个物体；网络只学过至多 {most} 个物体的场景。",
)
ODD_SIZE: Final = _(
    "One object is {n} px long; the network has learned from objects of {least} to {most} px.",
    "有一个物体长 {n} 像素；网络只学过 {least} 到 {most} 像素的物体。",
)

# Titles of the views.
SCENE: Final[Mapping[str, Text]] = {
    "title": _("The scene, its boxes, and who looks where", "场景、框，以及谁在看哪里"),
}
AGREEMENT: Final[Mapping[str, Text]] = {
    "title": _("How the queries agree", "查询怎样商定"),
}
MATCHING: Final[Mapping[str, Text]] = {
    "title": _("The matching board: who owns which object", "匹配板：谁负责哪个物体"),
}
TERRITORIES: Final[Mapping[str, Text]] = {
    "title": _("Territories of the queries, stored", "各查询的地盘（已存结果）"),
}

NOTES: Final[tuple[Text, ...]] = (
    _(
        "Boxes and probabilities are those of the network; nothing removes repeats unless you"
        " switch NMS on.",
        "框和概率都出自网络本身；除非打开 NMS，否则不会去掉重复。",
    ),
    _(
        "The matching is what training does with the boxes you placed; when it answers, the network"
        " does not know them.",
        "匹配是训练时对所放置的框所做的计算；作答时网络并不知道这些框。",
    ),
    _(
        "A silenced head keeps the bias of its output matrix. “Queries that do not see each other”"
        " silences all heads among queries.",
        "关掉的头保留输出矩阵的偏置。“查询互相看不见”是关掉查询之间的所有头。",
    ),
    _(
        "Each small map is scaled to its own largest weight; the card gives the weight itself.",
        "每张小图按自身的最大权重着色；权重数值见卡片。",
    ),
)

# The card.
GENERATED: Final = _("composed", "拼成")
PRECISION: Final = _("AP50, {split}", "平均精度 AP50，{split}")
STRICT: Final = _("AP {ap}", "AP 为 {ap}")
LICENCE: Final = _(
    "Apache-2.0; MIT: Fashion-MNIST and the copy of MNIST; paintings and textures are in the public"
    " domain",
    "Apache-2.0；MIT：Fashion-MNIST 与 MNIST 副本；画作与纹理属公有领域",
)
UNPUBLISHED: Final = _(
    "The published AP of .42 is on COCO photos: another task, not to be compared.",
    "发表的 AP 0.42 是在 COCO 照片上的：任务不同，不能比较。",
)
CURVE_UNITS: Final = _(
    "1 − AP50 on 200 validation scenes, lower is better", "200 个验证场景上的 1 − AP50，越低越好"
)
CURVE_SAYS: Final = _("1 − AP50 at the end: {figures}.", "训练结束时 1 − AP50：{figures}。")
CURVE_AXES: Final = (
    shared.TRAINING_STEPS,
    _("1 − AP50, validation", "1 − AP50，验证集"),
)

# The guided steps. Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "guesses": _("Twelve guesses, no anchors", "十二个猜测，没有锚框"),
    "owner": _("Who owns which object?", "谁负责哪个物体？"),
    "territory": _("Territories", "地盘"),
    "tokens": _("Tokens find their object", "词元找到自己的物体"),
    "inside": _("A query looks inside", "查询往里看"),
    "alone": _("Without neighbours", "没有邻居"),
    "layers": _("Layer after layer", "逐层改进"),
    "empty": _("Nothing there", "什么也没有"),
}
STEPS: Final[Mapping[str, Text]] = {
    "guesses": _(
        "The network always gives twelve answers, one per object query. Most say ∅, “none”. The"
        " others name a class and a box. There is no grid of candidate boxes, and no clean-up"
        " afterwards.",
        "网络总是给出十二个回答，每个物体查询一个。大多数回答 ∅，即“没有”；其余的给出类别和框。"
        "没有候选"
        "框网格，也没有事后清理。",
    ),
    "owner": _(
        "Training has to say which query is wrong about which object. It prices every pair and"
        " takes"
        " the assignment with the least sum. Move an object: the prices change, and at some"
        " point it"
        " goes to another query.",
        "训练必须说明哪个查询对哪个物体答错了。它给每一对定价，取总和最小的分配。移动一个物体："
        "价格随之"
        "改变，到某一处它就归了另一个查询。",
    ),
    "territory": _(
        "Each query answers in its own part of the canvas. Nobody told it so: the matching rewards"
        " the query whose guess is nearest, and the queries share the canvas out.",
        "每个查询都在画布的一块区域里作答。没有人这样要求：匹配奖励猜得最近的查询，于是各查询分"
        "管画布。",
    ),
    "tokens": _(
        "Before any query asks, the tokens look at each other. From layer 2 on, a token on an"
        " object"
        " looks mostly at tokens of the same object: instances come apart here.",
        "在查询提问之前，词元先互相看。从第 2 层起，物体上的词元主要看同一物体的词元：实例在这"
        "里就分开了。",
    ),
    "inside": _(
        "A query collects its evidence with four heads per layer. Compare the twelve maps: some"
        " stay inside the box, some watch an edge. Silence one in the panel and see whether it"
        " mattered.",
        "查询在每一层用四个头收集证据。比较十二张图：有的留在框内，有的盯着边缘。在面板里关掉一"
        "个，看看它是否"
        "要紧。",
    ),
    "alone": _(
        "Now the queries do not see each other. Boxes survive, agreement does not: on held-out"
        " scenes {alone} repeats a scene instead of {duplicates}. Red frames mark repeats here.",
        "现在查询互相看不见。框还在，默契没有了：在留出的场景里，每个场景的重复由 {duplicates} "
        "个变为"
        " {alone} 个。红框标出这里的重复。",
    ),
    "layers": _(
        "The same readout is applied after every layer of the decoder. These are the boxes after"
        " layer 1. Go on to 2 and 3: boxes tighten, and doubtful answers fall to ∅.",
        "同一个读出层用在解码器的每一层之后。这是第 1 层之后的框。再看 2 和 3：框收紧，可疑的回"
        "答变成 ∅。",
    ),
    "empty": _(
        "An empty ground: twelve times ∅ is an answer too. Add an object in the bar, and a query"
        " wakes up.",
        "空背景：十二个 ∅ 也是回答。在输入栏里添一个物体，就有一个查询醒来。",
    ),
}
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "guesses": _("Twelve answers: which of them are objects?", "十二个回答：哪些是物体？"),
    "owner": _("Which query owns which object?", "哪个查询负责哪个物体？"),
    "territory": _("Where does each query answer?", "每个查询在哪里作答？"),
    "tokens": _("Where does a token look?", "一个词元看哪里？"),
    "inside": _("Where does a query look?", "一个查询看哪里？"),
    "alone": _("What if queries do not see each other?", "查询互相看不见会怎样？"),
    "layers": _("What does each layer improve?", "每一层改进了什么？"),
    "empty": _("What does it say of nothing?", "什么也没有时它怎么说？"),
}
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "alone": _(
        "The queries no longer see each other. What happens to the answers?",
        "查询不再互相看见。回答会怎样？",
    ),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "guesses": _("Click one box after the other.", "逐个点击各个框。"),
    "owner": _(
        "Move the object with the sliders until another outline takes it.",
        "用滑块移动物体，直到另一个框接手。",
    ),
    "territory": _("Choose one query after the other with →.", "用 → 逐个选择查询。"),
    "tokens": _("Click tokens on two neighbouring objects.", "点击两个相邻物体上的词元。"),
    "inside": _("Go through the heads with ↑ and ↓.", "用 ↑ 和 ↓ 逐个看头。"),
    "alone": _("Hold B for the run with neighbours.", "按住 B 看有邻居的运行。"),
    "layers": _("Choose layers 1, 2 and 3 in turn.", "依次选择第 1、2、3 层。"),
    "empty": _("Add a boot in the bar.", "在输入栏里添一只短靴。"),
}
STEP_RANKS: Final[Mapping[str, int]] = {"guesses": 1, "owner": 2, "alone": 1, "empty": 3}
