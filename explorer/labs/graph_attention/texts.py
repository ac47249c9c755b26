"""The texts of the lab of attention on graphs, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Attention on graphs", "图上的注意力")
SHORT: Final = _("Graphs", "图")
LINE: Final = _(
    "Each node attends to its neighbours; with a bias by distance, a Transformer reads any graph.",
    "每个节点关注它的邻居；有了按距离的偏置，Transformer 能读任何图。",
)
CARD: Final = _("Attends along\nthe edges.", "沿着边\n分配注意力。")
KICKER: Final = _(
    "Veličković et al., 2018 · arXiv 1710.10903", "Veličković 等，2018 · arXiv 1710.10903"
)
EQUATION: Final = (
    "α{sub:ij} = softmax{sub:j} LeakyReLU({query:aᵀWh_i} + {key:bᵀWh_j}),"
    "   h′{sub:i} = Σ{sub:j} α{sub:ij} {value:Wh_j}"
)
SPOKEN: Final = _(
    "alpha i j is the softmax over the neighbours j of the leaky ReLU of a transposed times W h i"
    " plus b transposed times W h j; the new h i is the sum over j of alpha i j times W h j",
    "α i j 是在邻居 j 上的 softmax，其输入为 a 转置乘 W h i 与 b 转置乘 W h j 之和的 LeakyReLU；"
    "新的 h i 是 α i j 乘 W h j 对 j 求和",
)

# The input bar.
REGION: Final = _("Which graph the network reads", "网络读哪张图")
TASK: Final = shared.TASK
TASKS: Final[Mapping[str, Text]] = {
    "cora": _("Cora: papers", "Cora：论文"),
    "dictionary": _("A dictionary", "字典"),
    "distance": _("Distances", "距离"),
    "own": _("Your graph", "您的图"),
}
MODEL: Final = _("Scores", "打分方式")
MODELS: Final[Mapping[str, Text]] = {
    "gat": _("GAT", "GAT"),
    "gatv2": _("GATv2", "GATv2"),
    "dot": _("dot product", "点积"),
}
NETWORK: Final = shared.TRANSFORMER
NETWORKS: Final[Mapping[str, Text]] = {
    "bias": _("bias by distance", "有距离偏置"),
    "blind": _("no bias", "无偏置"),
}
PAPER: Final = _("Paper", "论文")
NODE: Final = _("Node", "节点")
SHAPE: Final = _("Graph", "图")
SHAPES: Final[Mapping[str, Text]] = {
    "tree": _("tree and 3 edges", "树加 3 条边"),
    "path": shared.PATH,
    "ring": _("ring", "环"),
    "own": _("your own", "您自己的"),
}
NODES: Final = _("Number of nodes", "节点数")
SEED: Final = shared.SEED_TITLE
GRAPH: Final = _("Edges, a matrix of 0 and 1, or GraphML", "边列表、0/1 矩阵或 GraphML")
GRAPH_HINT: Final = _(
    "One edge a line, “a, b”; “a: words” describes a node. Up to {nodes} nodes, {edges} edges.",
    "每行一条边“a, b”；“a: 文字”说明节点。最多 {nodes} 个节点、{edges} 条边。",
)
EXAMPLES: Final[tuple[Text, ...]] = (
    _("A paper of Cora and its neighbours", "Cora 的一篇论文及其邻居"),
    _("A dictionary, looked up by GAT", "用 GAT 查字典"),
    _("The same dictionary, by GATv2", "用 GATv2 查同一本字典"),
    _("Commonest colour at distance two", "距离为二的最常见颜色"),
    _("The same question on a path", "路径图上的同一问题"),
    _("Seven people and who knows whom", "七个人，谁认识谁"),
)
UNIFORM: Final = _("make α uniform in", "把 α 改为均匀")
PLACES: Final[Mapping[str, Text]] = {
    "none": _("no layer", "不改"),
    "first": _("the first layer", "第一层"),
    "last": _("the last layer", "最后一层"),
    "all": _("all layers", "所有层"),
}
UNIFORM_IN: Final = _("uniform α in {place}", "{place}的 α 均匀")
CUT: Final = _("cut the edge to", "切断通往以下节点的边")
CUT_TO: Final = _("the edge to {nodes} cut", "切断通往 {nodes} 的边")
JOIN: Final = _("join node number", "连接节点编号")
JOINED: Final = _("node {node} joined", "连接节点 {node}")
NOTHING: Final = shared.NONE
BIAS: Final = _("bias by distance, times", "距离偏置乘以")
BIASED: Final = _("the bias times {factor}", "偏置乘以 {factor}")
HEAD: Final = shared.HEAD_NAME

# The answer.
SURE: Final = _("probability {p}", "概率 {p}")
SURE_MEANS: Final = _(
    "The probability that the network gives to its answer", "网络给自己答案的概率"
)
EVEN: Final = _("entropy {h}", "熵 {h}")
EVEN_MEANS: Final = _(
    "The entropy of α here, mean over heads; 1 is uniform α",
    "此处 α 的熵，对各头取平均；1 表示 α 均匀",
)
UNTRAINED: Final = _(
    "No label, no training: this layer shows how α arises, and its weights are random.",
    "没有标签，没有训练：这一层展示 α 怎样产生，权重是随机的。",
)
READ: Final = _("Your graph", "您的图")

# The effect of a change.
POINTS: Final = _("points: probability of the right answer, here", "个百分点：此处正确答案的概率")
ENTROPY: Final = _("entropy of α", "α 的熵")
HERE: Final = _("this node", "这个节点")
HELD_OUT: Final = _("{n} held-out nodes", "{n} 个留出的节点")
ANSWER: Final = shared.ANSWER
CHANCE: Final = _("right answer, %", "正确答案，%")
RIGHT: Final = _("right, %", "答对，%")
FLIPS: Final = _("changed, %", "改变的，%")
MOVES: Final = _(
    "With {what}, the right answer gets {after} instead of {before}; {flips} of {n} held-out"
    " answers change.",
    "{what}之后，正确答案的概率由 {before} 变为 {after}；{n} 个留出节点中 {flips} 的答案改变。",
)
STAYS: Final = _(
    "With {what}, the right answer keeps {before}; {flips} of {n} held-out answers change.",
    "{what}之后，正确答案的概率仍为 {before}；{n} 个留出节点中 {flips} 的答案改变。",
)
OWN_MOVES: Final = _(
    "With {what}, the entropy of α becomes {after} instead of {before}.",
    "{what}之后，α 的熵由 {before} 变为 {after}。",
)
OWN_STAYS: Final = _(
    "With {what}, the entropy of α stays {before}.", "{what}之后，α 的熵仍为 {before}。"
)
VERDICTS: Final[Mapping[str, Text]] = {
    "same": shared.THE_SAME,
    "other": shared.ANOTHER,
    "lost": shared.NOW_WRONG,
    "won": shared.NOW_RIGHT,
}

# The views.
NEIGHBOURS: Final[Mapping[str, Text]] = {
    "title": _("A node and its attention", "一个节点与它的注意力"),
    "question": _("Which neighbours does this node attend to?", "这个节点关注哪些邻居？"),
}
RANKING: Final[Mapping[str, Text]] = {
    "title": _("One ranking, or one for each query", "一个排序，还是每个查询一个"),
    "question": _("Do all queries rank the keys alike?", "所有查询对键的排序都一样吗？"),
}
LEARNED: Final = _("The learned bias by distance", "学到的距离偏置")
LEARNED_UNITS: Final = _(
    "added to the score of every pair at this distance", "加到该距离上每一对的得分"
)
LEARNED_AXES: Final = (_("distance, edges", "距离（边数）"), _("bias", "偏置"))
LEARNED_SAYS: Final = _(
    "Head {head} has the largest bias, {value}, at distance {at}; its mean elsewhere is {mean}.",
    "头 {head} 的偏置最大：距离 {at} 处为 {value}，其他距离平均为 {mean}。",
)
DISTANCE: Final = _("distance", "距离")
FAR: Final = _("> 6", "> 6")

NOTES: Final[tuple[Text, ...]] = (
    _(
        "α says how much of a neighbour is read, not how important it is. On Cora its entropy is"
        " almost that of uniform α: the network averages.",
        "α 表示读取邻居多少，不表示邻居多重要。在 Cora 上它的熵几乎等于均匀 α 的熵：网络在取平均。",
    ),
    _(
        "Every node also attends to itself, by one edge that the layer adds.",
        "每个节点还通过层自动加上的一条边关注自己。",
    ),
    _(
        "LeakyReLU keeps order, so a GAT head ranks all keys alike for every query. GATv2 applies"
        " it before the last product, and ranks differ.",
        "LeakyReLU 保持顺序，所以 GAT 的一个头对每个查询给键的排序都相同。GATv2 在最后一次乘积之前"
        "用它，排序就会不同。",
    ),
    _(
        "Distances above 6, and nodes that no path joins, share one bias. On a path the distance is"
        " |i − j|: the relative position of the Music Transformer, whose lab follows this idea.",
        "大于 6 的距离与不连通的节点共用一个偏置。在路径图上，距离就是 |i − j|：即音乐"
        " Transformer 的相对位置，音乐实验讲的正是它。",
    ),
)

# The card.
DATA: Final = _("and generated graphs", "以及生成的图")
RIGHT_ON: Final = shared.RIGHT_ON_SPLIT
WITHOUT: Final = _(
    "uniform α {value} · published {published}", "均匀 α：{value} · 发表值 {published}"
)
LICENCE: Final = _(
    "MIT: the graph of Cora; Apache-2.0: the generators and these weights",
    "MIT：Cora 的图；Apache-2.0：生成程序与这些权重",
)
VARIANTS: Final[Mapping[str, Text]] = {
    "cora": _("Cora, GAT", "Cora，GAT"),
    "cora_gatv2": _("Cora, GATv2", "Cora，GATv2"),
    "dictionary_gat": _("dictionary, GAT", "字典，GAT"),
    "dictionary": _("dictionary, GATv2", "字典，GATv2"),
    "distance": _("distance, bias", "距离，有偏置"),
    "distance_blind": _("distance, no bias", "距离，无偏置"),
}
CURVE_UNITS: Final = _(
    "held-out loss in nats, lower is better", "留出输入上的损失（奈特），越低越好"
)
CURVE_SAYS: Final = _("Loss at the end: {figures}.", "训练结束时的损失：{figures}。")
CURVE_AXES: Final = (shared.PERCENT_OF_TRAINING, _("loss, nats", "损失（奈特）"))

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "paper": _("A paper and its neighbours", "一篇论文与它的邻居"),
    "sum": _("Score, softmax, sum", "打分、softmax、求和"),
    "uniform": _("Make α uniform", "让 α 均匀"),
    "stare": _("GAT stares at one key", "GAT 只盯着一个键"),
    "lookup": _("GATv2 looks it up", "GATv2 查得到"),
    "distance": _("Give a Transformer the distance", "把距离交给 Transformer"),
    "path": _("On a path: relative position", "路径图上：相对位置"),
    "own": _("Your own graph", "您自己的图"),
}
STEPS: Final[Mapping[str, Text]] = {
    "paper": _(
        "A node is a paper of Cora, an edge a citation, a colour a class. The paper in the middle"
        " reads its neighbours and itself: the width of an edge is α, the share that it gets."
        " Click a neighbour to move there.",
        "节点是 Cora 的一篇论文，边是引用，颜色是类别。中间的论文读它的邻居和它自己：边的粗细是 α，"
        "即该邻居所得的份额。点击邻居就走到那里。",
    ),
    "sum": _(
        "In the last layer each neighbour gets a score e. The softmax over the neighbours turns"
        " scores into α, which sums to 1. Then every neighbour adds α times its value; the sum is"
        " the logit of the answer.",
        "最后一层里，每个邻居得到一个得分 e。softmax 在邻居之间把得分变成 α，总和为 1。随后每个邻居"
        "加上 α 乘它的值；总和就是答案的 logit。",
    ),
    "uniform": _(
        "Now every neighbour gets the same share, in both layers. Of the test papers {flips} change"
        " their class: on Cora, attention averages, and α explains nothing.",
        "现在两层里每个邻居都得到同样的份额。测试论文中只有 {flips} 改变类别：在 Cora 上，注意力"
        "只是取平均，α 解释不了什么。",
    ),
    "stare": _(
        "Sixteen keys hold values, sixteen queries ask for one each. Lines show the rank of each"
        " key for each query. In GAT they are parallel: a query shifts all scores alike, and"
        " LeakyReLU keeps their order. All queries prefer the same key.",
        "十六个键各有一个值，十六个查询各要一个。线条是每个键在每个查询下的名次。GAT 的线条互相"
        "平行：查询只把所有得分一起平移，LeakyReLU 又保持顺序。所有查询都偏爱同一个键。",
    ),
    "lookup": _(
        "GATv2 moves the nonlinearity inside, between the sum and the last product. Now the lines"
        " cross: each query has a ranking of its own, and the right key comes first.",
        "GATv2 把非线性移到里面，放在求和与最后的乘积之间。现在线条交叉：每个查询有自己的排序，"
        "正确的键排在第一。",
    ),
    "distance": _(
        "Which colour is commonest at distance two? A Transformer over all nodes sees colours and"
        " no edges. A learned number for each distance, added to the scores, is enough: one"
        " value stands out.",
        "距离为二的节点中，哪种颜色最常见？面向所有节点的 Transformer 只看到颜色，看不到边。给每个"
        "距离学一个数，加到得分上就够了：有一处明显突出。",
    ),
    "path": _(
        "The same network, on a path that it never saw. Distance is now |i − j|, so the bias is a"
        " relative position, as in the Music Transformer. A sequence is a graph too.",
        "同一个网络，读一条从未见过的路径。此时距离就是 |i − j|，偏置就是相对位置，与音乐"
        " Transformer 相同。序列也是图。",
    ),
    "own": _(
        "Write your own edges, a matrix, or GraphML. The layer is untrained and says so: it shows"
        " how scores, α and entropy arise, and exports α edge by edge with names. Next comes BERT,"
        " whose graph joins all words.",
        "写下您自己的边、矩阵或 GraphML。这一层没有训练过，页面会说明：它展示得分、α 与熵怎样产生，"
        "并按边导出带名字的 α。接下来是 BERT，它的图把所有词两两相连。",
    ),
}
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "paper": _("What does a paper read?", "一篇论文读什么？"),
    "sum": _("How do neighbours become an answer?", "邻居怎样变成答案？"),
    "uniform": _("Does it matter who gets more?", "谁得的多，要紧吗？"),
    "stare": _("Can GAT look up a word?", "GAT 会查字典吗？"),
    "lookup": _("What did GATv2 change?", "GATv2 改了什么？"),
    "distance": _("How does it learn where nodes are?", "它怎样知道节点在哪里？"),
    "path": _("What is a sequence?", "序列是什么？"),
    "own": _("What does your graph look like?", "您的图是什么样子？"),
}
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "uniform": _(
        "Every neighbour now gets the same share. How many of 100 papers change their class?",
        "现在每个邻居得到同样的份额。100 篇论文里有多少篇改变类别？",
    ),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "paper": _("Point at the thickest edge, then click it.", "指向最粗的边，再点击它。"),
    "sum": _("Read the bars from top to bottom for one neighbour.", "对一个邻居从上到下读条形。"),
    "uniform": _("Hold B: the bars hardly move.", "按住 B：条形几乎不动。"),
    "stare": _("Go through the heads with ↓.", "用 ↓ 逐个看头。"),
    "lookup": _("Follow one line from left to right.", "从左到右跟随一条线。"),
    "distance": _("Point at the peak of the bias.", "指向偏置的峰。"),
    "path": _("Point at the two nodes at distance two.", "指向距离为二的两个节点。"),
    "own": _("Take a graph from the hall.", "请听众给一张图。"),
}
STEP_RANKS: Final[Mapping[str, int]] = {"paper": 1, "uniform": 2, "lookup": 1, "path": 3, "own": 3}
