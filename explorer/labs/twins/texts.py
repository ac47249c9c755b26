"""The texts of the training laboratory, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Training laboratory", "训练实验室")
SHORT: Final = _("Training", "训练")
LINE: Final = _(
    "Two small Transformers start from the same weights and see the same batches; one technique of"
    " training differs. Watch what it does.",
    "两个小 Transformer 从同样的权重出发，看同样的批次；只有一种训练技巧不同。看看它带来什么。",
)
CARD: Final = _("Twins in\ntraining.", "训练中的\n孪生网络。")
KICKER: Final = _(
    "Vaswani et al., 2017 · arXiv 1706.03762, section 5",
    "Vaswani 等，2017 · arXiv 1706.03762，第 5 节",
)
EQUATION: Final = "θ ← θ − {query:η_t} {key:m} / (√{value:v} + ε)"
SPOKEN: Final = _(
    "theta becomes theta minus the rate eta at step t, times the mean of gradients m over the"
    " square root of the mean of squared gradients v plus epsilon",
    "θ 减去第 t 步的学习率 η 乘以梯度均值 m 除以（梯度平方均值 v 的平方根加 ε）",
)

# The input bar.
REGION: Final = _("What is trained", "训练什么")
RUN: Final = _("Train", "训练")
TASK: Final = shared.TASK
TASKS: Final[Mapping[str, Text]] = {
    "sort": _("Sort", "排序"),
    "reverse": _("Reverse", "倒写"),
    "copy": _("Copy", "抄写"),
}
LENGTH: Final = _("digits", "位数")
LAYERS: Final = shared.NUMBER_OF_LAYERS
WIDTH: Final = _("width", "宽度")
RATE: Final = shared.RATE
SCHEDULE: Final = _("schedule", "安排")
SCHEDULES: Final[Mapping[str, Text]] = {
    "linear": _("linear", "线性"),
    "constant": _("constant", "恒定"),
    "noam": _("1 / √t", "1 / √t"),
}
WARMUP: Final = _("warm-up", "预热步数")
NORM: Final = _("norm", "归一化")
NORMS: Final[Mapping[str, Text]] = {
    "post": _("post-LN", "post-LN"),
    "pre": _("pre-LN", "pre-LN"),
}
BATCH: Final = _("batch", "批大小")
FEW: Final = _("training data", "训练数据")
FEWS: Final[Mapping[int, Text]] = {0: _("fresh", "全新"), 1: _("100", "100 条")}
STEPS_LABEL: Final = _("steps", "步数")
SEEDS: Final = _("seeds", "种子数")
SEED: Final = _("seed", "随机种子")
CHANGE: Final = _("the twin's technique", "孪生的技巧")
CHANGES: Final[Mapping[str, Text]] = {
    "none": shared.THE_SAME,
    "constant": _("constant rate", "恒定学习率"),
    "noam": _("rate 1 / √step, warm-up", "学习率 1 / √步数，加预热"),
    "warmup": _("warm-up", "预热"),
    "norm": _("the norm's other place", "归一化换位置"),
    "residual": _("no residual paths", "无残差连接"),
    "dropout": _("dropout .1", "随机失活 .1"),
    "smoothing": _("label smoothing .1", "标签平滑 .1"),
    "average": _("averaged weights", "平均权重"),
    "batch": _("a quarter of the batch", "四分之一的批"),
    "sgd": _("SGD in place of Adam", "用 SGD 代替 Adam"),
}
FACTOR: Final = _("its rate ×", "其学习率 ×")
FACTOR_SAYS: Final = _("{n} × the rate", "学习率 × {n}")
EXAMPLES: Final[tuple[Text, ...]] = (
    _("Sort, one run", "排序，一次训练"),
    _("Sort, rate kept constant", "排序，学习率恒定"),
    _("Reverse without residual paths", "倒写，无残差连接"),
    _("Six layers, the norm moved", "六层，移动归一化"),
    _("A hundred sequences, dropout", "一百条序列，随机失活"),
)

# The pictures.
ALONE: Final = _("the run", "训练")
OWN: Final = _("run 1", "训练 1")
TWIN: Final = _("run 2, {name}", "训练 2，{name}")
CURVES: Final[Mapping[str, Text]] = {
    "title": _("Twins in training", "训练中的孪生网络"),
    "question": _("What does one technique do?", "一种技巧能做什么？"),
}
INSIDE: Final[Mapping[str, Text]] = {
    "title": _("Inside: gradients, and a head that forms", "内部：梯度，以及正在形成的头"),
    "question": _("Where does the gradient reach?", "梯度到达哪里？"),
}
FIELD: Final[Mapping[str, Text]] = {
    "title": _("Where does it break?", "在哪里失败？"),
    "question": _("Where does it break?", "在哪里失败？"),
}
EMBEDDING: Final = _("embedding", "嵌入")
LAYER: Final = shared.LAYER_NUMBER
OUTPUT: Final = _("output", "输出")
PROGRESS: Final = _("step {n} of {of}", "第 {n} 步，共 {of} 步")
BROKE: Final = _(
    "Run {run} broke at step {n}: its loss is no number.",
    "训练 {run} 在第 {n} 步损坏：其损失不是数。",
)

# The change panel.
ROWS: Final = _("held-out sequences", "留出序列")
ROW: Final[Mapping[str, Text]] = {
    "right": _("digits right (%)", "正确的数字（%）"),
    "whole": _("sequences right (%)", "正确的序列（%）"),
    "calibration": _("calibration error", "校准误差"),
}
POINTS: Final = _("held-out digits right", "正确的留出数字")
MOVES: Final = _(
    "With {what}, the share of digits right goes from {before} to {after}.",
    "{what}时，正确数字的比例从 {before} 变为 {after}。",
)
STAYS: Final = _(
    "With {what}, the share of digits right stays at {before}.",
    "{what}时，正确数字的比例保持 {before}。",
)

# The comparisons.
KNOBS_TITLE: Final = _("Which techniques help here?", "哪些技巧在这里有用？")
KNOBS_UNITS: Final = _(
    "five seeds without and with each, both at their own best rate",
    "不用与使用时各五个种子，两边都用自己的最佳学习率",
)
KNOB_AXIS: Final = _("the row's own figure", "该行自己的指标")
KNOB_SIDES: Final[Mapping[str, Text]] = {"before": _("without", "不用"), "after": _("with", "使用")}
KNOBS: Final[Mapping[str, Text]] = {
    "constant": _("constant rate, not falling", "学习率恒定，不下降"),
    "average": _("weights averaged, constant rate", "平均权重，恒定学习率"),
    "residual": _("no residual paths, reversing", "无残差连接，倒写"),
    "batch": _("batches of 4, not 16", "批大小 4，而非 16"),
    "dropout_few": _("dropout, 100 sequences", "随机失活，100 条序列"),
    "dropout": _("dropout, fresh sequences", "随机失活，全新序列"),
    "smoothing_few": _("label smoothing, 100 sequences", "标签平滑，100 条序列"),
    "sgd": _("SGD, not Adam", "SGD，而非 Adam"),
    "norm": _("pre-LN, six layers", "pre-LN，六层"),
    "warmup": _("warm-up, six post-LN layers", "预热，六层 post-LN"),
}
METRICS: Final[Mapping[str, Text]] = {
    "whole": _("share of sequences right", "正确序列的比例"),
    "right": _("share of digits right", "正确数字的比例"),
    "loss": _("held-out loss, nats", "留出损失，奈特"),
    "calibration": _("calibration error", "校准误差"),
}
HOLDS: Final = _("{n} of 5 agree", "5 个中 {n} 个一致")
OPEN: Final = _("open, {n} of 5", "未定，5 个中 {n} 个")
KNOBS_SAY: Final = _(
    "{n} of {of} comparisons repeat their sign in at least 4 of 5 seeds: {names}.",
    "{of} 项比较中有 {n} 项在 5 个种子里至少 4 个符号一致：{names}。",
)
KNOB_COLUMNS: Final = (
    _("technique", "技巧"),
    _("figure", "指标"),
    _("mean without", "不用时的均值"),
    _("mean with", "使用时的均值"),
    _("best rate without", "不用时的最佳学习率"),
    _("best rate with", "使用时的最佳学习率"),
    _("seeds that agree", "一致的种子数"),
    _("steps × layers, digits", "步数 × 层数，位数"),
)

# The prices.
PRICES_TITLE: Final = _("Half precision, recomputation", "半精度与重计算")
PRICES_UNITS: Final = _(
    "a step of 6 layers of 128 on 4 × 256 digits, on the machine that measured it",
    "6 层、宽 128、4 × 256 位数字的一步，在测量它的机器上",
)
TIME: Final = _("time (ms)", "时间（毫秒）")
MEMORY: Final = _("peak memory (MB)", "峰值内存（MB）")
WAYS: Final[Mapping[str, Text]] = {
    "plain": _("float32", "float32"),
    "bf16": _("bfloat16", "bfloat16"),
    "again": _("recomputed", "重计算"),
    "both": _("both", "两者"),
}
SIZES: Final[Mapping[str, Text]] = {
    "small": _("2 layers of 32", "2 层，宽 32"),
    "large": _("6 layers of 128", "6 层，宽 128"),
}
NETWORK: Final = shared.NETWORK
WAY: Final = shared.WAY
PRICES_SAY: Final = _(
    "A step takes {plain_ms} ms and {plain_mb} MB; with bfloat16 products {bf16_ms} ms and"
    " {bf16_mb} MB; with layers recomputed {again_ms} ms and {again_mb} MB.",
    "一步需 {plain_ms} 毫秒、{plain_mb} MB；用 bfloat16 乘法需 {bf16_ms} 毫秒、{bf16_mb} MB；逐层重"
    "计算需 {again_ms} 毫秒、{again_mb} MB。",
)

NOTES: Final[tuple[Text, ...]] = (
    _(
        "Both runs share weights, batches and the seed of dropout. The loss is the plain one, in"
        " nats a digit, on 64 held-out sequences, without dropout and without smoothing.",
        "两次训练共享权重、批次和随机失活的种子。损失是 64 条留出序列上的普通损失，单位为奈特/位，"
        "不含随机失活与平滑。",
    ),
    _(
        "One seed proves nothing: choose 5 seeds, or look at the stored bands, the lowest and the"
        " highest of five.",
        "一个种子说明不了什么：选 5 个种子，或看存储的范围，即五次中的最低与最高。",
    ),
    _(
        "What holds for networks of this size need not hold for large ones.",
        "在这个规模成立的，对大网络未必成立。",
    ),
    _(
        "PY holds a script of PyTorch alone that makes the same run, where its layers can; NPZ"
        " holds the weights, named as in that script.",
        "PY 是只用 PyTorch 重现同一训练的脚本（若其层能做到）；NPZ 含权重，命名与脚本一致。",
    ),
    _(
        "Momentum of SGD is the mean of gradients, so its rates are larger than usual.",
        "SGD 的动量取梯度的均值，因此学习率比通常的大。",
    ),
)

# The card.
DATA: Final = _("random digits", "随机数字")
SIZE_NOTE: Final = _("2 layers of 32", "2 层，宽 32")
CLAIMS: Final = _("signs that repeat", "重复出现的符号")
CLAIMS_NOTE: Final = _("in 4 of 5 seeds", "5 个种子中的 4 个")
LIVE: Final = _("training", "训练")
LIVE_VALUE: Final = _("live", "现场")

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "falls": _("A loss falls, twice", "损失下降，两次"),
    "rate": _("Which rate?", "多大的学习率？"),
    "deep": _("Six layers", "六层"),
    "pre": _("Move the norm", "移动归一化"),
    "inside": _("Where the gradient dies", "梯度在哪里消失"),
    "residual": _("Positions travel on residual paths", "位置沿残差连接传递"),
    "few": _("A hundred sequences", "一百条序列"),
    "knobs": _("What holds five times", "五次都成立的"),
}
STEPS: Final[Mapping[str, Text]] = {
    "falls": _(
        "Two Transformers learn to sort digits, from the same weights and the same batches. One"
        " lowers its rate step by step to zero, the other keeps it. They fall side by side, and"
        " part at the end: the constant rate keeps jumping around the bottom.",
        "两个 Transformer 从同样的权重、同样的批次学习给数字排序。一个把学习率逐步降到零，另一个保"
        "持不变。它们一起下降，最后分开：恒定的学习率在谷底附近跳个不停。",
    ),
    "rate": _(
        "Each cell is a training of its own: depth downwards, rate to the right, three seeds. Too"
        " low a rate learns too little in the time, too high a rate breaks. Click a cell: it is"
        " trained live.",
        "每一格都是一次训练：向下更深，向右学习率更大，三个种子。学习率太低，时间内学得太少；太高"
        "则失败。点击一格：当场训练。",
    ),
    "deep": _(
        "Six layers with the norm after each residual sum: at this rate they guess. Warm-up lets"
        " them begin slowly and rescues a part.",
        "六层、归一化在残差和之后：这个学习率下只能乱猜。预热让它慢慢起步，挽回一部分。",
    ),
    "pre": _(
        "The same six layers, with the norm before each sublayer: the path from the loss to the"
        " first layer is free, and the twin learns at once. Later designs put the norm there.",
        "同样的六层，把归一化放到每个子层之前：从损失到第一层的路畅通无阻，孪生立刻开始学习。后来的"
        "设计都把归一化放在那里。",
    ),
    "inside": _(
        "Look at the gradient of every layer over time. With the norm after the sum it fades on"
        " its way down, until the first layers hear nothing. With the norm before, all layers hear"
        " the loss.",
        "看每一层的梯度随时间的变化。归一化在和之后，梯度向下逐渐减弱，直到最前面的层什么也听不到。"
        "归一化在前，所有层都听得到损失。",
    ),
    "residual": _(
        "To reverse, each place must look at its mirror place: an anti-diagonal forms. Without"
        " residual paths the positions are lost on the way up, and no such map appears.",
        "要倒写，每个位置必须看它的镜像位置：反对角线由此形成。没有残差连接，位置在向上的途中丢失，"
        "这样的图不会出现。",
    ),
    "few": _(
        "Both see the same hundred sequences again and again. Dropout takes away a part of each"
        " sublayer's output, so the twin cannot learn them by heart as fast. Compare the held-out"
        " losses.",
        "两者反复看同样的一百条序列。随机失活每次拿走子层输出的一部分，孪生就不能那么快地死记。比较"
        "留出损失。",
    ),
    "knobs": _(
        "A fair comparison gives each side its own best rate and more than one seed. Only what"
        " repeats is claimed; the rest is open. Our Translation lab was trained with the same"
        " techniques.",
        "公平的比较让每一边用自己的最佳学习率，并且不止一个种子。只有重复出现的才算数，其余未定。"
        "翻译实验室就是用这些技巧训练的。",
    ),
}
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "falls": _("Does the rate have to fall?", "学习率必须下降吗？"),
    "rate": _("How fast may it learn?", "可以学多快？"),
    "deep": _("What does depth cost?", "深度的代价是什么？"),
    "pre": _("Where does the norm belong?", "归一化该放在哪里？"),
    "inside": _("Where does the gradient die?", "梯度在哪里消失？"),
    "residual": _("What are residual paths for?", "残差连接有什么用？"),
    "few": _("What does dropout do?", "随机失活做了什么？"),
    "knobs": _("What can be claimed?", "什么可以断言？"),
}
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "pre": _(
        "Six layers at the same rate; only the norm moves. Do they learn now?",
        "六层，学习率不变，只移动归一化。现在学得会吗？",
    ),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "falls": _("Press Train, then drag the moment back.", "按“训练”，再把时刻拖回。"),
    "rate": _("Click a cell of the right column.", "点击右列的一格。"),
    "deep": _("Compare the same cell in all four fields.", "比较四个图中的同一格。"),
    "pre": _("Press Train; let the hall watch both curves.", "按“训练”；让大家看两条曲线。"),
    "inside": _("Point at the first layer in both fields.", "指出两个图中的第一层。"),
    "residual": _("Go through the heads with ↑ and ↓.", "用 ↑ 和 ↓ 换头。"),
    "few": _("Choose label smoothing for the twin.", "给孪生选标签平滑。"),
    "knobs": _("Ask which sign the hall would have bet on.", "问大家会押哪个符号。"),
}
STEP_RANKS: Final = {"falls": 1, "rate": 1, "deep": 3, "inside": 2, "residual": 2, "few": 3}
