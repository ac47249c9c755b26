"""The texts of the cost lab, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Cost laboratory", "开销实验室")
SHORT: Final = _("Cost", "开销")
LINE: Final = _(
    "What a layer costs on paper, what it costs on this machine, and what attention is made of."
    " Nothing here is trained.",
    "一层网络在纸面上的开销、在这台机器上的开销，以及注意力由什么构成。这里没有训练任何模型。",
)
CARD: Final = _("The price of\nlooking at\neverything.", "看遍一切\n的代价。")
KICKER: Final = _(
    "Vaswani et al., 2017 · arXiv 1706.03762, table 1 · Cordonnier et al., 2020 · arXiv 1911.03584",
    "Vaswani 等，2017 · arXiv 1706.03762，表 1 · Cordonnier 等，2020 · arXiv 1911.03584",
)
EQUATION: Final = "O({query:L} {key:L} {value:d})   O(L d{sup:2})   O(k L d{sup:2})   O(r L d)"
SPOKEN: Final = _(
    "self-attention costs order L times L times d: L queries meet L keys, and d numbers of each"
    " value are summed; recurrence L times d squared, convolution k times L times d squared,"
    " attention restricted to r keys r times L times d",
    "自注意力的开销为 L 乘 L 乘 d 的量级：L 个查询遇到 L 个键，每个值有 d 个数要加权求和；循环为 L"
    " 乘 d 的平方，卷积为 k 乘 L 乘 d "
    "的平方，限制在 r 个键以内的注意力为 r 乘 L 乘 d",
)
LICENCE: Final = (
    "Apache-2.0; no weights are shipped. The pictures are of Fashion-MNIST (Xiao et al., 2017), MIT"
)

REGION: Final = _("What is measured", "测量什么")
RUN: Final = shared.RUN
TASK: Final = _("Experiment", "实验")
TASKS: Final[Mapping[str, Text]] = {
    "clock": _("Cost of a layer", "一层的开销"),
    "scale": _("Scores and softmax", "分数与 softmax"),
    "heads": _("A filter made of heads", "用头做成滤波器"),
}
LENGTH: Final = _("positions L", "位置数 L")
WIDTH: Final = _("width d", "宽度 d")
KERNEL: Final = _("kernel k", "卷积核 k")
FILTER_SIZE: Final = _("filter K × K", "滤波器 K × K")
D_K: Final = _("size of a key d_k", "键的维数 d_k")
SEED: Final = shared.SEED
SEED_HINT: Final = _("All that is random is drawn from this number.", "所有随机数都由它产生。")
PICTURE: Final = shared.PICTURE_TITLE
PICTURES: Final[tuple[Text, ...]] = (
    _("ankle boot", "短靴"),
    _("pullover", "套头衫"),
    _("sandal", "凉鞋"),
    shared.TROUSERS,
    _("trousers, wide", "宽松裤子"),
)
FILTER: Final = _("filter", "滤波器")
FILTERS: Final[Mapping[str, Text]] = {
    "edge": _("edge", "边缘"),
    "blur": _("blur", "模糊"),
    "sharpen": _("sharpen", "锐化"),
    "random": _("random", "随机"),
}
EXAMPLES: Final[tuple[Text, ...]] = (
    _("L = d = 1,000, as in the lecture", "L = d = 1,000，与讲义相同"),
    _("Keys of 256 numbers", "256 维的键"),
    _("Keys of 16 numbers", "16 维的键"),
    _("An edge filter of nine heads", "九个头构成的边缘滤波器"),
    _("A blur of 25 heads", "25 个头构成的模糊"),
)

# Knobs of the change panel, and their changes in words.
KNOBS: Final[Mapping[str, Text]] = {
    "window": _("restrict to r keys", "限制在 r 个键以内"),
    "fused": _("self-attention by the fused kernel", "自注意力用融合算子"),
    "power": _("divide scores by d_k to the power", "分数除以 d_k 的几次方"),
    "alpha": _("sharpness α of the heads", "头的锐度 α"),
    "without": _("silence the head", "关掉的头"),
}
YES: Final = _("yes", "是")
NO: Final = _("no: the L × L map is stored in memory", "否：L × L 的权重图放在内存里")
NONE: Final = shared.NONE
POWERS: Final[Mapping[float, Text]] = {
    0.0: _("0: not divided", "0：不除"),
    0.25: _("¼", "¼"),
    0.5: _("½: √d_k", "½：√d_k"),
    0.75: _("¾", "¾"),
    1.0: _("1: d_k", "1：d_k"),
}
SAYS: Final[Mapping[str, Text]] = {
    "window": _("attention restricted to {n} keys", "注意力限制在 {n} 个键以内"),
    "fused": _(
        "plain self-attention, which stores the L × L map", "普通自注意力，存下 L × L 的权重图"
    ),
    "power": _("scores divided by d_k to the power {n}", "分数除以 d_k 的 {n} 次方"),
    "alpha": _("heads of sharpness {n}", "锐度为 {n} 的头"),
    "without": _("head {n} silenced", "关掉第 {n} 个头"),
}

LAYERS: Final[Mapping[str, Text]] = {
    "attention": shared.SELF_ATTENTION,
    "recurrence": _("recurrence", "循环"),
    "convolution": _("convolution", "卷积"),
    "restricted": _("restricted", "受限注意力"),
}
FORMULAS: Final[Mapping[str, str]] = {
    "attention": "4 L² d",
    "recurrence": "16 L d²",
    "convolution": "2 k L d²",
    "restricted": "4 r L d",
}

# The clock.
CLOCK: Final = _("The time of a layer against its length", "一层的时间与长度的关系")
CLOCK_UNITS: Final = _(
    "ms for one layer, log–log; dashed: the formula", "一层的毫秒数，双对数；虚线：公式"
)
POSITIONS: Final = _("positions L, logarithmic", "位置数 L，对数")
MILLISECONDS: Final = _("ms, logarithmic", "毫秒，对数")
FITTED: Final = _(
    "{name}: exponent {fitted}, on paper {paper}", "{name}：指数 {fitted}，纸面 {paper}"
)
UNFITTED: Final = _("{name}: on paper exponent {paper}", "{name}：纸面指数 {paper}")
CLOCK_SAYS: Final = _(
    "At L = {length}, d = {width}: self-attention {attention} ms, recurrence {recurrence} ms."
    " Recurrence takes {share} × the operations of self-attention but {times} × the time,"
    " because its {length} steps wait for each other. On paper self-attention overtakes"
    " recurrence beyond L = 4 d = {cross}.",
    "L = {length}、d = {width} 时：自注意力 {attention} 毫秒，循环 {recurrence} 毫秒。循环的运算"
    "量是自注意力的 {share} 倍，用时却是 {times} 倍，因为它的 {length} 步必须一步接一步。按公"
    "式，L 超过 4 d = {cross} 后自注意力才超过循环。",
)
CLOCK_BEGINS: Final = _(
    "So far {n} of {of} points are timed; the longest is L = {length}.",
    "已计时 {n} 个点，共 {of} 个；最长为 L = {length}。",
)
STOPPED: Final = _(
    "Stopped after {n} of {of} points, at L = {length}.",
    "在 {of} 个点中的第 {n} 个之后停止，此时 L = {length}。",
)
NOTHING: Final = _("Stopped before the first point.", "在第一个点之前停止。")
LEFT: Final = _("Not reached in {seconds} s: {names}.", "{seconds} 秒内未能测到：{names}。")
LEFT_ONE: Final = _("{name} at L = {length}", "L = {length} 的{name}")
PROGRESS: Final = _("live · point {n} of {of}", "实时 · 第 {n} 个点，共 {of} 个")
LAYER: Final = shared.LAYER
LENGTH_COLUMN: Final = _("L, positions", "L，位置")
TIME_COLUMN: Final = _("ms", "毫秒")
RUNS_COLUMN: Final = _("runs", "运行次数")

PAPER: Final = _("What a layer costs on paper", "一层在纸面上的开销")
PAPER_UNITS: Final = _(
    "L = {length}, d = {width}, k = {kernel}, r = {window}",
    "L = {length}，d = {width}，k = {kernel}，r = {window}",
)
FAR: Final = _("How far apart are two words?", "两个词相隔多远？")
FAR_UNITS: Final = _(
    "layers or steps between them, k = {kernel}, r = {window}",
    "中间要经过的层数或步数，k = {kernel}，r = {window}",
)
APART: Final = _("positions between two words", "两个词相隔的位置数")
FAR_SAYS: Final = _(
    "Between two words {length} positions apart a signal goes through {recurrence} steps of"
    " recurrence, {convolution} layers of dilated convolution (about L/(k − 1) without dilation) or"
    " {restricted} of attention to a window; self-attention joins them in {attention}.",
    "两个词相隔 {length} 个位置时，信号要经过 {recurrence} 步循环、{convolution}"
    " 层空洞卷积（不用空洞则约 L/(k − 1) 层）或 {restricted} 层窗口注意力；自注意力只要"
    " {attention} 步。",
)
OPERATIONS: Final = _("operations", "运算次数")
PATH: Final = shared.PATH
STEPS_COLUMN: Final = _("waits", "先后")
FORMULA: Final = _("formula", "公式")
LONGEST: Final = _("longest path, layers or steps", "最长路径，层或步")
SEQUENTIAL: Final = _("steps one after the other", "必须先后进行的步数")
PAPER_SAYS: Final = _(
    "Self-attention joins any two positions in 1 step for {attention} operations; recurrence needs"
    " {recurrence} and a path of {length}; convolution {convolution} and {layers} dilated layers to"
    " see everything; attention to {window} keys {restricted}.",
    "自注意力用 {attention} 次运算一步连接任意两个位置；循环要 {recurrence} 次，路径长"
    " {length}；卷积要 {convolution} 次，用空洞卷积 "
    "{layers} 层才看遍全部；只看 {window} 个键的注意力要 {restricted} 次。",
)

# The family.
KINDS: Final[Mapping[str, Text]] = {
    "additive": shared.ADDITIVE,
    "direct": _("relative, direct", "相对，直接计算"),
    "explicit": _("plain, stores the map", "普通，存权重图"),
    "fused": _("fused", "融合"),
    "relative": _("relative, skewed", "相对，倾斜变换"),
    "local": _("local", "局部"),
    "span": _("adaptive span", "自适应跨度"),
    "strided": _("strided", "跨步稀疏"),
    "fixed": _("fixed", "固定稀疏"),
    "lsh": _("hashing", "哈希"),
}
FAMILY: Final[Mapping[str, Text]] = {
    "seconds": _("The whole family: time", "整个家族：时间"),
    "bytes": _("The whole family: memory", "整个家族：内存"),
}
FAMILY_UNITS: Final = _("4 heads of 64, stored: {machine}", "4 个头，每头 64 维，已存：{machine}")
MEGABYTES: Final = _("MB at the peak, logarithmic", "峰值 MB，对数")
FAMILY_SAYS: Final[Mapping[str, Text]] = {
    "seconds": _(
        "At L = {length}: {slow} {most}, {fast} {least}, {times} times apart. Of those that reach L"
        " = {end}, {winner} is the fastest.",
        "L = {length} 时：{slow} {most}，{fast} {least}，相差 {times} 倍。在能测到 L = {end}"
        " 的几种中，{winner}最快。",
    ),
    "bytes": _(
        "At L = {length}: {slow} {most}, {fast} {least}, {times} times apart. Of those that reach L"
        " = {end}, {winner} needs the least.",
        "L = {length} 时：{slow} {most}，{fast} {least}，相差 {times} 倍。在能测到 L = {end}"
        " 的几种中，{winner}所需最少。",
    ),
}
KIND: Final = shared.ATTENTION
MB_COLUMN: Final = _("MB", "MB")

# The softmax over scores.
HARDENS: Final = _("How sharp do the weights become?", "权重会变得多尖锐？")
HARDENS_UNITS: Final = _(
    "entropy of the weights over {n} keys, mean of {n} queries",
    "{n} 个键上权重的熵，{n} 个查询的平均",
)
SLOPES: Final = _("What reaches the scores in training?", "训练时有多少梯度传到分数？")
SLOPES_UNITS: Final = _("Σ ∂ weight / ∂ score", "Σ ∂ 权重 / ∂ 分数")
DIVIDED: Final[Mapping[float, Text]] = {
    0.0: _("not divided", "不除"),
    0.5: _("divided by √d_k", "除以 √d_k"),
}
AS_ASKED: Final = _("divided by d_k to the power {p}", "除以 d_k 的 {p} 次方")
BITS: Final = _("entropy, bits", "熵，比特")
GRADIENT: Final = _("gradient", "梯度")
WIDTHS: Final = _("d_k, logarithmic", "d_k，对数")
HARDENS_SAYS: Final = _(
    "At d_k = {d_k} the weights have {plain} bits of entropy where scores are not divided, {scaled}"
    " where they are divided by √d_k; equal weights on all {n} keys would give {most} bits, all"
    " weight on one key 0.",
    "d_k = {d_k} 时，分数不除，权重的熵为 {plain} 比特；除以 √d_k 则为 {scaled} 比特。{n}"
    " 个键权重相等时为 {most} 比特，"
    "权重全在一个键上时为 0。",
)
SLOPES_SAYS: Final = _(
    "At d_k = {d_k}, {plain} of the gradient gets through if scores are not divided, {scaled} if"
    " they are divided by √d_k: a sharp softmax blocks the gradient.",
    "d_k = {d_k} 时，分数不除，梯度有 {plain} 通过；除以 √d_k 则有 {scaled}：尖锐的 softmax 挡住"
    "梯度。",
)
ROWS: Final = _("What the softmax gives", "softmax 给出什么")
ROWS_UNITS: Final = _(
    "{rows} queries × {keys} keys, weights 0 … 1", "{rows} 个查询 × {keys} 个键，权重 0 … 1"
)
ROWS_SAYS: Final = _(
    "Not divided, the largest weight of a row is {plain} on average; {divided}, it is {asked}. Each"
    " row sums to 1.",
    "不除时，一行中最大的权重平均为 {plain}；{divided}时为 {asked}。每行之和为 1。",
)
QUERY: Final = shared.QUERY
KEY: Final = shared.KEY
LARGEST: Final = _("largest weight", "最大权重")
LARGEST_OF: Final = _("largest weight, {how}", "最大权重，{how}")
SCORES: Final = _("How far do the scores spread?", "分数分散多远？")
SCORES_UNITS: Final = _("scores of {n} pairs, none divided", "{n} 对的分数，均未除")
SCORE: Final = _("score", "分数")
SHARE: Final = _("share of the pairs", "所占比例")
DOT: Final = _("dot product q · k", "点积 q · k")
ADDITIVE: Final = _("additive vᵀ tanh(W q + U k)", "加性 vᵀ tanh(W q + U k)")
SPREAD: Final = shared.STANDARD_DEVIATION
SCORES_SAYS: Final = _(
    "At d_k = {d_k} dot products spread by {dot}, about √d_k = {root}, additive scores by"
    " {additive}; divided by √d_k by {dot_divided} and {additive_divided}. At L = {length} the"
    " additive layer takes {slow} ms, the plain dot product {fast} ms (stored).",
    "d_k = {d_k} 时，点积的标准差为 {dot}，约为 √d_k = {root}；加性分数为 {additive}；除以 √d_k "
    "后分别为 {dot_divided} 和 {additive_divided}。L = {length} 时，加性层用 {slow} 毫秒，普通的"
    "点积用 {fast} 毫秒（已存）。",
)

# A filter made of heads.
FILTERED: Final = _("Is a convolution made of heads?", "卷积能由头构成吗？")
FILTERED_UNITS: Final = _(
    "{k} × {k} filter “{name}”; results on one scale, −{most} … {most}",
    "{k} × {k} 滤波器“{name}”；结果用同一尺度，−{most} … {most}",
)
PICTURE_IN: Final = _("picture", "图片")
CONVOLVED: Final = _("the filter", "滤波器")
OF_HEADS: Final = _("{n} heads", "{n} 个头")
DIFFERENCE: Final = _("difference", "差")
FILTERED_SAYS: Final = _(
    "{n} heads of sharpness α = {alpha} differ from the {k} × {k} filter by {error} at most; the"
    " filter's own results reach {most}.",
    "锐度 α = {alpha} 的 {n} 个头与 {k} × {k} 滤波器最多相差 {error}；滤波器的结果最大为 {most}。",
)
HEAD: Final = shared.HEAD
PIXEL: Final = _("row, column", "行，列")
MAPS: Final = _("Where does each head look?", "每个头看哪里？")
MAPS_UNITS: Final = _("weights around one pixel; α = {alpha}", "一个像素周围的权重；α = {alpha}")
MAPS_SAYS: Final = _(
    "Each of {n} heads gives the pixel at its own shift {weight}. The score −α‖δ − Δ‖² depends"
    " on positions alone, not on content.",
    "{n} 个头各看自己的偏移，给那里的像素 {weight} 的权重。分数 −α‖δ − Δ‖² 只与位置有关，与内容"
    "无关。",
)
ERRORS: Final = _("How sharp do heads have to be?", "头要多锐利？")
ERRORS_UNITS: Final = _("largest error against α, log–log", "最大误差随 α 的变化，双对数")
SHARPNESS: Final = _("sharpness α", "锐度 α")
ERROR: Final = _("largest error", "最大误差")
ERRORS_SAYS: Final = _(
    "The largest error falls from {first} at α = {low} to {last} at α = {high}: in the limit the"
    " heads are the filter.",
    "最大误差从 α = {low} 时的 {first} 降到 α = {high} 时的 {last}：在极限下，"
    "这些头就是这个滤波器。",
)
REACH: Final = _("What leads from one position to another?", "从一个位置到另一个位置经过什么？")
REACH_UNITS: Final = _(
    "4 × 4 maps from x at distance δ to y, −{most} … {most}",
    "从距离 δ 处的 x 到 y 的 4 × 4 映射，−{most} … {most}",
)
REACH_SAYS: Final = _(
    "Convolution has a different map for each distance, whatever the content. Attention has one"
    " map ({alike} alike over distances), weighted by content. Relative attention of two heads"
    " has both: {other} alike over distances, and different for each content.",
    "卷积：每个距离有自己的映射，与内容无关。注意力：只有一个映射（各距离之间相似度 {alike}），"
    "权重由内容决定。两个头的相对注意力两者兼有：各距离之间相似度 {other}，并随内容而变。",
)
REACHES: Final[tuple[Text, ...]] = (
    _("convolution", "卷积"),
    shared.ATTENTION,
    shared.RELATIVE_ATTENTION,
)
CONTENT: Final = _("content {n}", "内容 {n}")
DISTANCE: Final = _("distance δ", "距离 δ")
CONTENT_COLUMN: Final = _("content", "内容")
KIND_OF: Final = _("kind", "种类")
SIZE: Final = _("size of the map", "映射的大小")

# The effect of a change.
CHANGED: Final[Mapping[str, Text]] = {
    "window": _("ms, restricted attention at L = {length}", "毫秒，L = {length} 的受限注意力"),
    "fused": _("ms, self-attention at L = {length}", "毫秒，L = {length} 的自注意力"),
    "scale": _("bits of entropy at d_k = {d_k}", "比特的熵，d_k = {d_k}"),
    "heads": _("largest error", "最大误差"),
}
MOVES: Final = _("With {what}: from {before} to {after}.", "{what}：从 {before} 变为 {after}。")
STAYS: Final = _("With {what}: {before}, as before.", "{what}：仍为 {before}。")
BEFORE_AND_AFTER: Final = _("measured", "测量")
ROW_NAMES: Final[Mapping[str, Text]] = {
    "restricted": _("restricted, ms", "受限注意力，毫秒"),
    "attention": _("self-attention, ms", "自注意力，毫秒"),
    "operations": _("operations, 10⁹", "运算，10⁹ 次"),
    "entropy": _("entropy, bits", "熵，比特"),
    "gradient": _("gradient", "梯度"),
    "error": _("largest error", "最大误差"),
    "weight": _("weight on its pixel", "给自己像素的权重"),
}
UNTIMED: Final = _(
    "The clock did not get that far: choose fewer positions.", "时钟没有测到那里：请减少位置数。"
)

NOTES: Final[tuple[Text, ...]] = (
    _(
        "A multiplication and an addition are two operations. Attention is counted, and timed,"
        " without its projections (they would be another 8 L d²); the LSTM and the convolution with"
        " all their matrices. Biases are left out. The path of a convolution is that of dilated"
        " layers, as in table 1; the layer that is timed is not dilated.",
        "一次乘法和一次加法算两次运算。注意力的计数与计时不含投影（投影另需 8 L d²）；LSTM"
        " 与卷积含全部权重矩阵。偏置略去不计。"
        "卷积的路径按空洞卷积计（如表 1）；计时的卷积没有空洞。",
    ),
    _(
        "Timed: an LSTM, a 1D convolution, attention of one head, and attention whose blocks of r/2"
        " queries see r keys; one sequence, float32, no gradients. A point is the processor's time,"
        " the fastest of up to five runs; a run of the clock computes for at most 5 s and is never"
        " remembered.",
        "计时的是：LSTM、一维卷积、单头注意力，以及每块 r/2 个查询看 r 个键的注意力；一个序列，"
        "float32，不求梯度。"
        "每个点是处理器时间，取最多五次中最快的一次；一次计时最多计算 5 秒，从不记住结果。",
    ),
    _(
        "This server times one run at a time: it refuses a second one until the first has ended."
        " The exponent is fitted from L = 128 on.",
        "同一时刻服务器只进行一次计时，在它结束前拒绝第二次。指数从 L = 128 起拟合。",
    ),
    _(
        "Queries, keys and additive attention's W, U and v are random, with independent numbers;"
        " those of a trained network are not.",
        "查询、键与加性注意力的矩阵都是随机的，各数相互独立；训练过的网络则不然。",
    ),
    _(
        "Each picture is padded with K // 2 rows and columns of zeros; heads may look at them"
        " too. The heads compute in float64.",
        "图片四周补 K // 2 行列的零，头也可以看它们。头用 float64 计算。",
    ),
)

# The card.
THREADS: Final = _("threads", "线程")
PRECISION: Final = _("precision", "精度")
REPEATS: Final = _("a point", "每个点")
FASTEST: Final = _("best of {n}", "{n} 次中最快")
AT_MOST: Final = _("a run", "每次运行")
SECONDS: Final = _("limit {n} s", "最多 {n} 秒")

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "paths": _("Far words, long paths", "远处的词，长长的路"),
    "paper": _("What does a layer cost?", "一层要多少开销？"),
    "clock": _("Set L and d, and time it", "设定 L 与 d，然后计时"),
    "scale": _("Why √d_k?", "为什么是 √d_k？"),
    "scores": _("Additive or dot product?", "加性还是点积？"),
    "heads": _("Nine heads make a filter", "九个头构成滤波器"),
    "family": _("The whole family on one chart", "整个家族在一张图上"),
}
STEPS: Final[Mapping[str, Text]] = {
    "paths": _(
        "A sequence may have any length. Recurrence carries a distant word through every step in"
        " between; a convolution needs several layers to reach it; self-attention joins any two"
        " words in one step. Read the column “path”.",
        "序列可以任意长。循环让远处的词经过中间的每一步；卷积要好几层才够得到；自注意力一步就连"
        "接任意两个。请看“路径”一栏。",
    ),
    "paper": _(
        "At L = d = 1,000 and k = 3: 4 × 10⁹ operations for self-attention, 16 × 10⁹ for an LSTM, 6"
        " × 10⁹ for a convolution. Restricted to r keys, each query pays for r pairs instead of L.",
        "L = d = 1,000、k = 3 时：自注意力 4 × 10⁹ 次运算，LSTM 16 × 10⁹ 次，卷积 6 × 10⁹ 次。"
        "限制在 r 个键以内时，每个查询只付 r "
        "对的代价，而不是 L 对。",
    ),
    "clock": _(
        "The same work on a real machine: does the clock follow the formula? Where does L² win,"
        " and where does it lose? Choose L and d and press Run; the points come one by one.",
        "在真实机器上做同样的工作：时钟与公式一致吗？平方项在哪里占优，在哪里吃亏？选择 L 与 d，"
        "按“运行”，各点逐个出现。",
    ),
    "scale": _(
        "A dot product of d_k numbers has variance d_k. Without the division, the softmax gets"
        " sharper as d_k grows: each row collapses to one cell and the gradient vanishes. Set"
        " the power to 0 and see.",
        "d_k 个数的点积方差为 d_k。若不除，d_k 越大 softmax 越尖锐，每行塌缩到一格，梯度随之消"
        "失。把指数设为 0 看看。",
    ),
    "scores": _(
        "The tanh bounds each number, not the sum of d_k numbers: if v has variance 1, additive"
        " scores grow like √d_k, as dot products do. Divided by √d_k, or with a smaller v, both"
        " stay small. But additive scores store L × L × d_k numbers on the way; the dot product"
        " is one matrix product.",
        "tanh 限制的是每一个数，不是 d_k 个数的和：v 的方差为 1 时，加性分数与点积一样按 √d_k 增"
        "长；除以 √d_k，或把 v 取小，两者都保持较小。但加性分数途中要存 L × L × d_k 个数，点积只"
        "是一次矩阵乘法。",
    ),
    "heads": _(
        "A convolution has a separate map for each distance, attention has one map weighted by"
        " content, and relative attention has both. Nine heads that look at nine shifts form a 3"
        " × 3 filter: make them less sharp, or silence one.",
        "卷积对每个距离有自己的映射，注意力只有一个由内容加权的映射，相对注意力两者兼有。看向九"
        "个偏移的九个头就是 3 × 3 滤波器：让它们变钝，或关掉一个。",
    ),
    "family": _(
        "The figure shows every attention of the family against length. Whatever computes all L²"
        " pairs rises twice as steeply; whatever stores the map runs out of memory first. Later"
        " members of the family find cheaper ways.",
        "家族中每种注意力随长度的变化。按 L² 计算的，曲线陡一倍；把整张图存在内存里的最先用尽内"
        "存。家族后来的成员找到了更省的办法。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "paths": _("How far apart are two words?", "两个词相隔多远？"),
    "paper": _("How many operations does a layer take?", "一层要多少次运算？"),
    "clock": _("Does the clock agree with the formula?", "实测时间与公式一致吗？"),
    "scale": _("Why are scores divided by √d_k?", "分数为什么要除以 √d_k？"),
    "scores": _("Additive scores or dot products?", "加性分数还是点积？"),
    "heads": _("Can nine heads be a convolution?", "九个头能构成卷积吗？"),
    "family": _("Who still pays for every pair?", "谁仍为每一对付出代价？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "clock": _(
        "A text becomes twice as long. Whose time doubles, and whose grows four times:"
        " self-attention, recurrence, convolution?",
        "文本变成两倍长。谁的用时变成两倍，谁的变成四倍：自注意力、循环，还是卷积？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "paths": _("Read the column “path” only: 1, 1,000, 7.", "只读“路径”一栏：1、1,000、7。"),
    "paper": _(
        "Read the operations, then multiply L by ten in your head: which one grows a hundredfold?",
        "读运算次数，再在心里把 L 乘以十：谁增加到一百倍？",
    ),
    "clock": _(
        "Compare the slope of each line with its dashed formula; the exponents are in the legend.",
        "把每条线的斜率与虚线公式比较；指数在图例中。",
    ),
    "scale": _(
        "Follow the line that is not divided: its entropy falls as d_k grows; the other stays"
        " level.",
        "看没有除的那条线：d_k 越大熵越低，另一条保持不变。",
    ),
    "scores": _("Compare how wide the two histograms are.", "比较两个直方图的宽度。"),
    "heads": _(
        "Compare the second picture with the third; the last one is their difference.",
        "比较第二张与第三张图；最后一张是它们的差。",
    ),
    "family": _(
        "Ask who is still in the picture at the right edge, and who ran out of memory.",
        "问：右端还剩下谁，谁用尽了内存？",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {"paths": 1, "paper": 3, "scale": 1, "scores": 3, "heads": 3}
