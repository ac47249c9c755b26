"""The texts of the lab of the self-attention GAN, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Self-attention GAN", "自注意力 GAN")
SHORT: Final = _("SAGAN", "自注意力 GAN")
LINE: Final = _(
    "A generator draws clothes, a discriminator judges them, and in both every cell of the picture"
    " can look at every other.",
    "生成器画衣物，判别器评判它们；两者之中，图片的每个格子都能看到其他所有格子。",
)
CARD: Final = _("Pixels that look\nat each other.", "互相看见的\n像素。")
KICKER: Final = _("Zhang et al., 2018 · arXiv 1805.08318", "Zhang 等，2018 · arXiv 1805.08318")
EQUATION: Final = "x{sub:j} + γ Σ{sub:i} softmax{sub:i}({key:f_i}{sup:⊤}{query:g_j}) {value:h_i}"
SPOKEN: Final = _(
    "x j plus gamma times the sum over i of the softmax over i of key f i times query g j, times"
    " value h i; key, query and value are one by one convolutions of x",
    "x j 加上 γ 乘以对 i 的求和：键 f i 与查询 g j 之积对 i 的 softmax，乘以值 h i；键、查询和值都"
    "是 x 的 1 × 1 卷积",
)

# The input bar.
REGION: Final = _("A picture to make or to judge", "要生成或评判的图片")
TASK: Final = _("Do what", "做什么")
TASKS: Final[Mapping[str, Text]] = {
    "make": _("Make a picture", "生成图片"),
    "judge": _("Judge yours", "评判你的图片"),
}
PICTURE: Final = _("Your picture", "你的图片")
KIND: Final = _("Class", "类别")
KINDS: Final[tuple[Text, ...]] = (
    shared.T_SHIRT,
    shared.TROUSERS_TITLE,
    shared.PULLOVER,
    shared.DRESS,
    shared.COAT,
    shared.SANDAL,
    shared.SHIRT,
    shared.TRAINER,
    shared.BAG,
    shared.ANKLE_BOOT,
)
SEED: Final = shared.SEED_TITLE
OTHER: Final = _("Far seed", "远端种子")
WALK: Final = _("Walk to the far seed", "走向远端种子")
BOUND: Final = _("Cut the noise at ±", "噪声截断于 ±")
BOUND_HINT: Final = _(
    "4 cuts nothing. The lower the bound, the more alike the pictures.",
    "4 表示不截断。界限越低，图片越相似。",
)
ERASE: Final = _("Paint a cell black", "涂黑一个格子")
ERASE_HINT: Final = _("Or click the verdict map.", "也可以点击裁决图。")
NOTHING: Final = _("none", "不涂")
CELL: Final = _("row {row}, column {column}", "第 {row} 行第 {column} 列")
GAMMAS: Final[Mapping[str, tuple[Text, Text]]] = {
    "gamma_g": (
        _("generator: γ ×", "生成器：γ ×"),
        _("{n} γ in the generator", "生成器 γ 乘以 {n}"),
    ),
    "gamma_d": (
        _("discriminator: γ ×", "判别器：γ ×"),
        _("{n} γ in the discriminator", "判别器 γ 乘以 {n}"),
    ),
}
EXAMPLES: Final[tuple[Text, ...]] = (
    _("A pullover", "一件套衫"),
    shared.AN_ANKLE_BOOT,
    _("Half way between two dresses", "两条连衣裙的正中间"),
    _("An ankle boot with a hole", "破了一块的短靴"),
    _("A real T-shirt, judged", "评判一件真 T 恤"),
)

# The pictures.
GLANCE: Final[Mapping[str, Text]] = {
    "title": _("Where both networks look", "两个网络看向哪里"),
    "question": _("Where does this cell look?", "这个格子看向哪里？"),
}
VERDICT: Final[Mapping[str, Text]] = {
    "title": _("The verdict map", "裁决图"),
    "question": _("Where does it believe the picture?", "它在哪里相信这张图片？"),
}
STRIPS: Final[Mapping[str, Text]] = {
    "title": _("Other γ, a walk, every class", "别的 γ、行走、所有类别"),
    "question": _("What changes the picture?", "什么会改变图片？"),
}
REPLAY: Final[Mapping[str, Text]] = {
    "title": _("The training, replayed", "训练回放"),
    "question": _("How does it learn to draw?", "它怎样学会画画？"),
}

# The change panel.
ROWS: Final = _("500 pictures", "500 张图片")
ROW: Final[Mapping[str, Text]] = {
    "distance": _("Fréchet distance", "Fréchet 距离"),
    "logit": _("mean logit", "平均 logit"),
    "change": _("change of a pixel (levels)", "像素的变化（灰度级）"),
}
MOVES: Final[Mapping[str, Text]] = {
    "distance": _(
        "With {what}, the Fréchet distance of {n} pictures to real ones goes from {before} to"
        " {after}.",
        "{what}时，{n} 张图片到真图的 Fréchet 距离从 {before} 变为 {after}。",
    ),
    "logit": _(
        "With {what}, the mean logit of {n} generated pictures goes from {before} to {after}.",
        "{what}时，{n} 张生成图片的平均 logit 从 {before} 变为 {after}。",
    ),
}
STAYS: Final[Mapping[str, Text]] = {
    "distance": _(
        "With {what}, the Fréchet distance of {n} pictures to real ones stays at {before}.",
        "{what}时，{n} 张图片到真图的 Fréchet 距离保持 {before}。",
    ),
    "logit": _(
        "With {what}, the mean logit of {n} generated pictures stays at {before}.",
        "{what}时，{n} 张生成图片的平均 logit 保持 {before}。",
    ),
}

NOTES: Final[tuple[Text, ...]] = (
    _(
        "Attention stands at 8 × 8 cells of 4 × 4 pixels, in both networks; the scores are not"
        " divided by √d, as in the paper.",
        "注意力位于 8 × 8 个格子上，每格 4 × 4 像素，两个网络都是如此；与论文一样，分数不除以 √d。",
    ),
    _(
        "The Fréchet distance is measured on 64 features of our own classifier, not of Inception:"
        " it compares with no published figure.",
        "Fréchet 距离用我们自己的分类器的 64 个特征计算，而不是 Inception 的特征，因此不能与任何"
        "发表值比较。",
    ),
    _(
        "With few pictures the distance reads higher: the change panel compares 500 with 500.",
        "图片少时距离偏大：变化面板总是 500 张对 500 张。",
    ),
    _(
        "The generator is the average over training; power iterations and the statistics of"
        " normalisation are computed anew on the averaged weights. The discriminator is that of"
        " the last step.",
        "生成器是训练过程的平均；幂迭代与归一化统计量在平均后的权重上重新计算。判别器是最后一步的。",
    ),
    _(
        "A verdict sees 22 × 22 pixels without attention. The logit is the sum of the 16 verdicts"
        " and one bias.",
        "没有注意力时，一个裁决只看到 22 × 22 像素。logit 是 16 个裁决与一个偏置之和。",
    ),
    _(
        "Your picture becomes 28 × 28 grey levels, a bright thing on black, in a black edge of 2.",
        "你的图片会变成 28 × 28 的灰度图，黑底上的亮物，四周有 2 像素的黑边。",
    ),
)

# The card.
DATA: Final = _("Fashion-MNIST", "Fashion-MNIST")
DISTANCE: Final = _("Fréchet distance, {split}", "Fréchet 距离，{split}")
KEPT: Final = _("class kept {kept}", "类别保持 {kept}")
UNPUBLISHED: Final = _(
    "The paper reports an Inception distance of 18.65 on ImageNet at 128 × 128, where a network"
    " without attention has 27.62. Ours is measured on other pictures with the features of our own"
    " classifier: the two do not compare.",
    "论文在 128 × 128 的 ImageNet 上报告的 Inception 距离为 18.65，没有注意力的网络为 27.62。我们用"
    "自己的分类器在别的图片上测量：两者不可比较。",
)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "far": _("A cell looks far", "格子看得很远"),
    "hubs": _("A few cells are looked at by all", "少数格子被所有格子看"),
    "gamma": _("γ is a knob", "γ 是旋钮"),
    "replay": _("γ begins at zero", "γ 从零开始"),
    "verdict": _("A logit in 16 parts", "分成 16 份的 logit"),
    "erase": _("Erase a piece", "抹去一块"),
    "walk": _("Walk through the noise", "在噪声中行走"),
    "judge": _("A real picture", "一张真图"),
}
STEPS: Final[Mapping[str, Text]] = {
    "far": _(
        "A convolution sees its neighbours. Here each cell asks with a query, all cells answer"
        " with a key, and the softmax decides where it looks. Click a pixel: colour shows"
        " where its cell looks in the generator, and beside it in the discriminator.",
        "卷积只看邻居。这里每个格子用查询发问，所有格子用键回答，softmax 决定看向哪里。点击一个像"
        "素：颜色显示它的格子在生成器中看向哪里，以及判别器中同一格子看向哪里。",
    ),
    "hubs": _(
        "Nothing divides the scores by √d. In the generator most of the weight lies on one"
        " cell, and many cells choose the same one: add up what each cell receives, and a few hubs"
        " appear. The discriminator spreads its attention almost evenly.",
        "分数没有除以 √d，所以生成器的大部分权重落在一个格子上，而且许多格子选同一个：把每个格子得"
        "到的加起来，就出现少数几个枢纽。判别器的注意力几乎是均匀的。",
    ),
    "gamma": _(
        "γ multiplies what attention adds. At 0 this is a plain convolutional generator with the"
        " same weights. With the sign turned the picture falls apart. Click along the strip;"
        " the panel measures 500 pictures.",
        "γ 乘在注意力的输出上。为 0 时就是权重相同的普通卷积生成器；把符号反过来，图片就散了。沿着"
        "画条点击；面板测量 500 张图片。",
    ),
    "replay": _(
        "At first γ is 0 in both networks: they learn from neighbours before they look far. Press"
        " play: the same noise turns from grey into clothes while both γ move away from zero.",
        "起初两个网络的 γ 都是 0：先向邻居学习，再看远处。按播放：同样的噪声从灰色变成衣物，两个 γ "
        "离开零点。",
    ),
    "verdict": _(
        "The discriminator ends in a sum over 4 × 4 cells, so its logit can be taken apart"
        " exactly: here it believes, there it objects. The hinge loss asks for more than +1 on"
        " real pictures and less than −1 on generated ones.",
        "判别器最后对 4 × 4 个格子求和，所以 logit 可以精确拆开：这里它相信，那里它反对。hinge 损失"
        "要求真图高于 +1，生成图低于 −1。",
    ),
    "erase": _(
        "One cell is painted black. Dotted cells have it within their 22 pixels. All others cannot"
        " see it by convolution; what changes there comes through attention alone, and is exactly"
        " 0 when γ is 0.",
        "一个格子被涂黑。虚线格子的 22 像素内包含它；其余格子靠卷积看不到它，那里的变化只来自注意"
        "力，γ 为 0 时恰好是 0。",
    ),
    "walk": _(
        "Two seeds, and the arc between their noises. Every stop is a picture of its own, and"
        " neighbours are alike: the generator has learned a space, not a list.",
        "两个种子，以及它们的噪声之间的弧线。每一站都是一张图片，相邻的彼此相似：生成器学到的是空间，"
        "而不是清单。",
    ),
    "judge": _(
        "This picture is real: no network has learned from it. Does the discriminator believe it?"
        " Choose another class, draw, or bring a file of your own, and see which cells object.",
        "这张图片是真的，没有网络学过它。判别器相信吗？换一个类别、自己画，或上传文件，看哪些格子反对。",
    ),
}
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "far": _("How far does a cell look?", "一个格子看多远？"),
    "hubs": _("Which cells are looked at?", "哪些格子被看？"),
    "gamma": _("What if attention is turned down?", "把注意力调低会怎样？"),
    "replay": _("When does attention set in?", "注意力何时起作用？"),
    "verdict": _("Which part gives it away?", "哪个部分露了马脚？"),
    "erase": _("Who notices the missing piece?", "谁注意到缺了一块？"),
    "walk": _("What lies between two pictures?", "两张图片之间是什么？"),
    "judge": _("Does it believe a real picture?", "它相信真图吗？"),
}
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "gamma": _(
        "All weights stay, γ becomes 0. Is it still a pullover?",
        "权重全部保留，γ 变成 0。它还是套衫吗？",
    ),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "far": _(
        "Click a cell of the body, then one of a sleeve, then one of the black ground.",
        "先点衣身的格子，再点袖子，再点黑色背景。",
    ),
    "hubs": _("Switch the sum off and on.", "把求和关掉再打开。"),
    "gamma": _("Go along the strip from −2 to 2.", "沿画条从 −2 走到 2。"),
    "replay": _("Press play, then drag the step back.", "按播放，再把步数拖回。"),
    "verdict": _("Point at the strongest cell of each sign.", "指出正负最强的格子。"),
    "erase": _("Click other cells of the map.", "点击图上的其他格子。"),
    "walk": _("Walk stop by stop with →.", "用 → 一站一站地走。"),
    "judge": _("Ask the hall for a class it is not.", "请大家说一个它不属于的类别。"),
}
STEP_RANKS: Final = {"far": 1, "gamma": 2, "verdict": 2, "erase": 2, "walk": 3, "judge": 3}
