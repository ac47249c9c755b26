"""The texts of the lab of self-similarity, English and Chinese, and its guided steps. Those inside
its pictures stand in their scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Self-similarity", "自相似")
SHORT: Final = _("Self-similarity", "自相似")
LINE: Final = _(
    "A picture looks for its own likeness and averages or copies it: attention before anything was"
    " learned.",
    "图片在自身中寻找相似之处，再平均或复制：这是还没有学习之前的注意力。",
)
CARD: Final = _("Pixels look for\ntheir likes.", "像素寻找\n自己的同类。")
KICKER: Final = _(
    "Efros & Leung, 1999 · Buades et al., 2005 · Wang et al., 2018 · arXiv 1711.07971",
    "Efros 与 Leung，1999 · Buades 等，2005 · Wang 等，2018 · arXiv 1711.07971",
)
EQUATION: Final = (
    "x{sub:i} = softmax{sub:j}((2 {query:P_i}·{key:P_j} − ‖{key:P_j}‖{sup:2}) / h{sup:2})"
    " {value:y_j}"
)
SPOKEN: Final = _(
    "The new pixel i is the softmax over all neighbours j of two times the patch of i times the"
    " patch of j, minus the squared length of the patch of j, all over h squared, times the pixel"
    " y j",
    "新的像素 i 等于：对所有邻居 j，取 2 乘以 i 的图块与 j 的图块之积，减去 j 的图块长度的平方，"
    "除以 h"
    " 的平方，经 softmax 后乘像素 y j",
)

# ---- the input

REGION: Final = _("Which picture, and what to do with it", "选哪张图，做什么")
RUN: Final = shared.RUN
TASK: Final = shared.TASK
TASKS: Final[Mapping[str, Text]] = {
    "denoise": _("Remove noise", "去噪"),
    "grow": _("Grow a texture", "生长纹理"),
}
PICTURE: Final = shared.PICTURE_TITLE
PICTURES: Final[tuple[Text, ...]] = (
    _("The Starry Night", "星夜"),
    _("The Scream", "呐喊"),
    _("Shipwreck", "海难"),
    _("Brick", "砖墙"),
    _("Grass", "草地"),
    _("Gravel", "砾石"),
)
SIGMA: Final = _("Noise σ, of 255 levels", "噪声 σ（共 255 级）")
SEED: Final = shared.SEED_TITLE
SEED_HINT: Final = _(
    "The same seed gives the same noise and the same growth.",
    "种子相同，噪声和生长过程就相同。",
)
SAMPLE: Final = _("Sample, pixels", "样本边长")
EXAMPLES: Final[tuple[Text, ...]] = (
    _("A brick wall repeats itself", "自我重复的砖墙"),
    _("Grass repeats nothing", "毫无重复的草地"),
    _("Brush strokes of a starry night", "星夜的笔触"),
    _("Grow a wall", "长出一面墙"),
    _("Grow brush strokes", "长出笔触"),
    _("Grow gravel", "长出砾石"),
)

# ---- the views

LIKES: Final[Mapping[str, Text]] = {
    "title": _("Who looks like this pixel?", "谁与这个像素相像？"),
    "question": _("Which pixels look like this one?", "哪些像素与它相像？"),
}
DENOISED: Final[Mapping[str, Text]] = {
    "title": _("Average the likes", "把相像的平均起来"),
    "question": _("How much noise goes?", "去掉了多少噪声？"),
}
GROWN: Final[Mapping[str, Text]] = {
    "title": _("A texture and where each pixel comes from", "纹理，以及每个像素来自哪里"),
    "question": _("Where does each pixel come from?", "每个像素从哪里来？"),
}
MATRIX: Final[Mapping[str, Text]] = {
    "title": _("A picture beside a chorale", "图片与众赞歌并排"),
    "question": _("What comes again, in a picture and in music?", "图片和音乐里，什么会再次出现？"),
}
PIXEL_RANGE: Final = _("{rows} × {columns} pixels", "{rows} × {columns} 像素")
UNTRAINED: Final = _(
    "The noise is σ = {sigma}. The networks learned σ = {trained} alone, so they are out of their"
    " depth here; non-local means is told σ and is not.",
    "噪声为 σ = {sigma}。两个网络只学过 σ = {trained}，在这里超出了所学；非局部均值知道 σ，"
    "不受影响。",
)
NOTES: Final[tuple[Text, ...]] = (
    _(
        "Patches have 7 × 7 pixels and a Gaussian over them; the search window has 21 × 21."
        " Noise is"
        " not clipped, and pictures are averaged in grey.",
        "图块为 7 × 7 像素，带高斯权重；搜索窗口为 21 × 21。噪声不截断，平均在灰度上进行。",
    ),
    _(
        "A pixel's own weight is the largest of the others, as in the paper. Non-local means takes"
        " off 2σ², the share of noise in a distance, and the softmax does not.",
        "像素自身的权重等于其余权重中最大的一个，与论文相同。非局部均值从距离中减去噪声所占的 2σ²，"
        "softmax 不减。",
    ),
    _(
        "The block's weights are fixed, those of non-local means; only its readout W_o is learned."
        " A block with learned embeddings gained nothing within the budget that was tried.",
        "块的权重固定不变，取自非局部均值；学到的只有读出 W_o。连嵌入也学习的块，"
        "在试过的预算内没有任何收益。",
    ),
    _(
        "PSNR compares with the clean picture, in decibels: 10 dB more is a tenth of the squared"
        " error.",
        "PSNR 与干净图片相比，单位分贝：多 10 dB，平方误差就是原来的十分之一。",
    ),
    _(
        "A sample is the middle of the picture at half its size. Your own picture is read at 96"
        " × 96"
        " pixels; a link cannot carry it, a saved view can.",
        "样本取自图片中部，尺寸减半。您自己的图片按 96 × 96 像素读取；链接装不下它，"
        "保存的视图可以。",
    ),
)
LINKS: Final[Mapping[str, Text]] = {
    "/image_transformer": _(
        "The Image Transformer attends to pixels that are made already: the same idea, learned.",
        "图像 Transformer 关注已经生成的像素：同样的想法，不过是学来的。",
    ),
    "/music": _(
        "The Music Transformer attends to bars that come again.",
        "音乐 Transformer 关注再次出现的小节。",
    ),
}

# ---- the changes

KNOBS: Final[Mapping[str, Text]] = {
    "heat": _("temperature h, per cent", "温度 h（百分比）"),
    "bias": _("key bias −‖k‖²", "键偏置 −‖k‖²"),
    "block": _("non-local block", "非局部块"),
    "window": _("window, pixels a side", "窗口边长（像素）"),
}
ON, OFF = shared.SWITCHED_ON, shared.SWITCHED_OFF
SAYS: Final[Mapping[str, Text]] = {
    "heat": _("h at {n} %", "h 取 {n}%"),
    "bias": _("no key bias", "没有键偏置"),
    "block": _("the block silenced", "块被静音"),
    "window": _("a window of {n} pixels", "窗口 {n} 像素"),
}
METHODS: Final[Mapping[str, Text]] = {
    "noisy": _("noisy", "含噪"),
    "means": _("non-local means", "非局部均值"),
    "dot": _("softmax of dot products", "点积 softmax"),
    "block": _("network with block", "有块的网络"),
    "without": _("network without block", "没有块的网络"),
}
PSNR: Final = _("PSNR, dB", "峰值信噪比，dB")
DECIBELS: Final = _("dB, {name}", "分贝：{name}")
MOVES: Final = _(
    "With {what}: PSNR of {name} goes from {before} to {after}.",
    "{what}：{name}的 PSNR 由 {before} 变为 {after}。",
)
STAYS: Final = _(
    "With {what}: PSNR of {name} stays {before}.", "{what}：{name}的 PSNR 仍为 {before}。"
)
COHERENT: Final = _("coherence, %", "连贯度，%")
DISTINCT: Final = _("pixels of the sample in use", "用到的样本像素")
TEXTURE: Final = _("texture", "纹理")
POINTS: Final = _("points of coherence", "个百分点：连贯度")
COHERES: Final = _(
    "With {what}: {after} of pixels continue the copy to their left instead of {before}.",
    "{what}：延续左边拷贝的像素由 {before} 变为 {after}。",
)
COHERES_STILL: Final = _(
    "With {what}: {before} of pixels continue the copy to their left, as before.",
    "{what}：延续左边拷贝的像素仍为 {before}。",
)

# ---- the card

PICTURES_DATA: Final = _("6 pictures", "6 张图片")
HALVES: Final = _("left halves", "左半边")
WITH_BLOCK: Final = _("PSNR, {split}", "峰值信噪比，{split}")
WITHOUT_BLOCK: Final = _("without the block {value} dB", "没有块：{value} dB")
UNPUBLISHED: Final = _(
    "The paper of 2018 reports video and recognition, so there is no published figure to compare"
    " with.",
    "2018 年的论文报告视频与识别任务，所以没有可以并列的发表值。",
)
LICENCE: Final = _(
    "Apache-2.0: these weights; the pictures are in the public domain",
    "Apache-2.0：这些权重；图片属于公有领域",
)
VARIANTS: Final[Mapping[str, Text]] = {
    "block": _("with the block", "有块"),
    "block_without": _("without the block", "没有块"),
}
CURVE_UNITS: Final = _("PSNR on held-out rows, higher is better", "留出行上的 PSNR，越高越好")
CURVE_SAYS: Final = _("At the end of training: {figures}.", "训练结束时：{figures}。")
SEEN: Final = _("crops seen", "看过的小块")
CURVE_AXES: Final = (SEEN, PSNR)

# ---- the guided steps: their inputs and views stand in views.py

STEP_TITLES: Final[Mapping[str, Text]] = {
    "likes": _("Find the likes", "找到相像的"),
    "average": _("Average them", "平均它们"),
    "bias": _("Take the key bias away", "去掉键偏置"),
    "heat": _("From a copy to the mean", "从复制到平均"),
    "grass": _("Where nothing repeats", "毫无重复之处"),
    "block": _("Silence the block", "让块静音"),
    "grow": _("Copy instead of averaging", "不平均，而是复制"),
    "music": _("Bars are patches too", "小节也是图块"),
}
STEPS: Final[Mapping[str, Text]] = {
    "likes": _(
        "One pixel of a noisy brick wall asks: who has surroundings like mine? Three kernels answer"
        " on one scale. The bright places run along the mortar: the likes lie where the picture"
        " repeats.",
        "含噪砖墙上的一个像素问：谁的周围与我相像？三种核在同一刻度上回答。亮处沿着灰缝："
        "图片重复的地方就有同类。",
    ),
    "average": _(
        "Each pixel becomes the mean of its likes. Noise differs from place to place and averages"
        " out; the wall stays. Nothing was trained for this.",
        "每个像素变成同类的平均。噪声处处不同，一平均就抵消；墙还在。这里没有训练任何东西。",
    ),
    "bias": _(
        "Non-local means is attention whose keys have a bias −‖k‖². Without it a plain dot product"
        " remains, and that prefers bright patches, alike or not. The number says what that costs.",
        "非局部均值就是键带有偏置 −‖k‖² 的注意力。去掉它只剩点积，而点积偏爱亮的图块，"
        "不管像不像。数字说明代价有多大。",
    ),
    "heat": _(
        "h is the temperature. Near 0 only the pixel and its best like count, and the noise stays;"
        " at four times the usual h nearly all 441 pixels of the window count alike, and the wall"
        " blurs. The effective neighbours say how many count.",
        "h 是温度。接近 0 时只有像素自己和最像它的一个算数，噪声留下；取平常的四倍时，窗口里的 441"
        " 个像素几乎同等重要，墙就模糊了。有效邻居数说明有多少个算数。",
    ),
    "grass": _(
        "Blades of grass are never quite alike. The likes are few and poor, and averaging them"
        " gains"
        " much less than on the wall.",
        "草叶从不完全相同。同类又少又差，平均它们的收益比砖墙小得多。",
    ),
    "block": _(
        "A small network has learned to use these averages. Silence its non-local block: the"
        " network relied on it, and its PSNR falls below that of a network which never had one.",
        "一个小网络学会了使用这些平均值。让它的非局部块静音：网络依赖它，PSNR"
        " 降到从未有过块的网络之下。",
    ),
    "grow": _(
        "The same search, but one like is copied instead of averaging all. So a texture grows pixel"
        " by pixel from the middle. Scrub back, then click a pixel: its source lights up in the"
        " sample.",
        "同样的搜索，但不平均，只复制其中一个同类。纹理就这样从中间一个像素一个像素地长出来。"
        "拖回去看，再点一个像素：它在样本中的来源会亮起。",
    ),
    "music": _(
        "Compare every part of a picture with every other part, and every bar of a chorale with"
        " every other bar. The stripes beside the diagonal are what comes again: four bars return"
        " whole. Attention finds such stripes by learning.",
        "把图片的每一块与其余各块比较，把众赞歌的每一小节与其余各小节比较。"
        "对角线旁的条纹就是再次出现的东西：有四小节原样返回。注意力靠学习找到这样的条纹。",
    ),
}
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "likes": _("Which pixels look like this one?", "哪些像素与它相像？"),
    "average": _("How much noise goes?", "去掉了多少噪声？"),
    "bias": _("What does the key bias do?", "键偏置起什么作用？"),
    "heat": _("How many neighbours should count?", "该算上多少邻居？"),
    "grass": _("Does it help on grass?", "在草地上有用吗？"),
    "block": _("Does the network need its block?", "网络需要它的块吗？"),
    "grow": _("Where does each pixel come from?", "每个像素从哪里来？"),
    "music": _("What comes again?", "什么会再次出现？"),
}
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "likes": _(
        "This pixel lies on the mortar. Where in its window are its likes?",
        "这个像素在灰缝上。它的窗口里，同类在哪里？",
    ),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "likes": _(
        "Click a pixel inside a brick, then one on the mortar.", "先点砖里的像素，再点灰缝上的。"
    ),
    "average": _("Point at the PSNR under each picture.", "指向每张图下面的 PSNR。"),
    "bias": _("Hold B: the map before, and the number.", "按住 B：看之前的图和数字。"),
    "heat": _("Drag h from the left end to the right one.", "把 h 从左端拖到右端。"),
    "grass": _("Compare the gain with that on the wall.", "与砖墙上的收益比较。"),
    "block": _("Hold B for the whole network.", "按住 B 看完整的网络。"),
    "grow": _(
        "Press Space, then click a pixel of the texture.", "按空格播放，再点纹理中的一个像素。"
    ),
    "music": _("Point at the stripe four bars beside the diagonal.", "指向离对角线四小节的条纹。"),
}
STEP_RANKS: Final[Mapping[str, int]] = {"likes": 1, "average": 2, "grow": 2, "heat": 3, "grass": 3}
