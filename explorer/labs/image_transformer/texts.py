"""The texts of the image lab, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Image Transformer", "图像 Transformer")
SHORT: Final = _("Image", "图像")
LINE: Final = _(
    "A picture grows pixel by pixel; each pixel looks only at a block already drawn.",
    "图片一个像素一个像素地长出来；每个像素只看已经画好的一块。",
)
CARD: Final = _("Draws each pixel\nfrom nearby.", "每个像素\n只看附近。")
KICKER: Final = _("Parmar et al., 2018 · arXiv 1802.05751", "Parmar 等，2018 · arXiv 1802.05751")
EQUATION: Final = "softmax({query:q}{key:K_M}{sup:⊤}/{root:d_k}) {value:V_M}"
SPOKEN: Final = _(
    "softmax of q times K M transposed, divided by the square root of d k, times V M; q is the"
    " query of one pixel, K and V come only from its memory block M",
    "softmax（q 乘 K M 的转置，除以 d k 的平方根）再乘 V M；q 是一个像素的查询，K 与 V 只取自它"
    "的记忆块 M",
)

# The input bar.
REGION: Final = _("What the models draw", "画什么图")
RUN: Final = _("Generate", "生成")
MAKE: Final = shared.MAKE
MODES: Final[Mapping[str, Text]] = {
    "generate": _("a class", "一个类别"),
    "complete": _("the rest of mine", "补完我的图"),
    "enlarge": _("larger", "放大"),
}
PICTURE: Final = shared.PICTURE_TITLE
KIND: Final = _("class", "类别")
UNTOLD: Final = _("not told", "不告知")
KEPT: Final = _("rows kept", "保留行数")
TEMPERATURE_HINT: Final = _(
    "Temperature {value}: 1 is the model's own distribution, less plays safe, more dares",
    "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆",
)
TOP_K: Final = shared.TOP_K
TOP_K_HINT: Final = _(
    "How many of the likeliest grey levels each pixel is drawn from",
    "每个像素从最可能的多少个灰度中抽取",
)
ALL: Final = shared.ALL
SEED_HINT: Final = _(
    "Seed of all draws: the same seed makes the same picture",
    "所有抽样的种子：同一种子得到同一张图",
)
COUNT: Final = _("pictures", "张数")
AT_PIXEL: Final = shared.LIVE_PIXEL_OF

# Classes of the grey training pictures, and of the coloured ones.
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
COLOURED: Final[tuple[Text, ...]] = (
    _("aeroplane", "飞机"),
    _("car", "汽车"),
    _("bird", "鸟"),
    _("cat", "猫"),
    _("deer", "鹿"),
    _("dog", "狗"),
    _("frog", "青蛙"),
    _("horse", "马"),
    _("ship", "船"),
    _("lorry", "卡车"),
)
NUMBERED: Final = _("{kind}, held out", "{kind}，留出的图")
MINE: Final = _("picture {n}, held out", "第 {n} 张，留出的图")
EXAMPLES: Final[tuple[Text, ...]] = (
    shared.AN_ANKLE_BOOT,
    _("Three ways to finish a picture", "把一张图接着画完的三种可能"),
    _("Four dresses", "四条连衣裙"),
    _("A small picture made larger, three times", "把小图放大，三种可能"),
)

PATTERNS: Final[Mapping[str, Text]] = {
    "local_1d": shared.ONE_DIMENSION,
    "local_2d": shared.TWO_DIMENSIONS,
    "colour": _("colour", "彩色"),
}
NUMBER: Final = _("bits/dim", "比特/维")
MEMORY: Final = _("1D memory", "1D 记忆")
FLANGE: Final = _("2D flange", "2D 周边")
ROWS: Final = _("{n} rows", "{n} 行")
PIXELS: Final = _("{n} px", "{n} 像素")
SPANS: Final = {
    "title": _("What one pixel may look at", "一个像素能看到什么"),
    "empty": _("Nothing has been made yet.", "还没有生成图片。"),
}
SURPRISE: Final = {"title": _("What surprised it", "什么让它意外")}
NO_SURPRISE: Final = _(
    "The three models of the first ladder read grey pictures of 28 × 28; a coloured one has no map"
    " here.",
    "第一个阶梯上的三个模型读 28 × 28 的灰度图；彩色图在这里没有意外图。",
)

# The effects of a change in words.
HEAD: Final = _("head {model} {name}", " {model} 的头 {name} ")
LESS_MEMORY: Final = _(
    "with {n} of {most} rows of memory in 1D", "1D 的记忆为 {most} 行中的 {n} 行"
)
LESS_FLANGE: Final = _(
    "with a flange of {n} of {most} pixels in 2D", "2D 的周边为 {most} 像素中的 {n} 像素"
)
UNTOUCHED: Final = _(
    "which changes nothing in the model that makes this picture", "画这张图的模型没有任何改变"
)
DEARER: Final = _(
    "the same {pattern} picture costs {bits} bits/dim more",
    "同一张 {pattern} 图每维多花 {bits} 比特",
)
CHEAPER: Final = _(
    "the same {pattern} picture costs {bits} bits/dim less",
    "同一张 {pattern} 图每维少花 {bits} 比特",
)
EQUAL: Final = _(
    "the same {pattern} picture costs as much as before", "同一张 {pattern} 图的代价不变"
)
ROW: Final = shared.MOST_OF_IT_IN_K_ROW
OTHER: Final = shared.DRAWN_AGAIN_OF_PIXELS_DIFFER
SAME: Final = _("drawn again, the picture is the same", "重新画时，图不变")

UNUSUAL: Final = _(
    "This picture is unlike those the models learned from: only 1 held-out picture in 100 surprises"
    " the 2D model more.",
    "这张图不像模型学过的图：留出的图中，只有百分之一更让 2D 模型意外。",
)
HOT: Final = _(
    "Temperature 1 is the model's own distribution; this picture is drawn from a {changed} one, at"
    " {temperature}.",
    "温度 1 是模型自己的分布；这张图取自更{changed}的分布，温度 {temperature}。",
)

NOTES: Final[tuple[Text, ...]] = (
    _(
        "The seed is fixed until you change it, so the same request gives the same picture.",
        "种子在您改动之前是固定的，所以同样的请求得到同样的图。",
    ),
    _(
        "Temperature 1 with all 256 levels is the models' own distribution; anything else"
        " changes it.",
        "温度 1 且用全部 256 级是模型自己的分布；其他设置都会改变它。",
    ),
    _(
        "Bits always refer to the models' own distribution, whatever settings drew the picture;"
        " 1D and 2D use the same random draws.",
        "比特数始终按模型自己的分布计算，与画图时的设置无关；1D 和 2D 用同一组随机数。",
    ),
    _(
        "A key belongs to the pixel being drawn and carries the level drawn just before it.",
        "键位于正在画的像素处，带着刚刚画好的那个像素的灰度。",
    ),
    _(
        "The model enlarges 8 × 8 to 16 × 16, not to the paper's 32 × 32: it was trained without"
        " a GPU.",
        "把 8 × 8 放大到 16 × 16，而不是论文中的 32 × 32：这个模型是在没有 GPU 的机器上训练的。",
    ),
)

# The card.
EACH: Final = shared.EACH
TEST: Final = _("bits/dim, {split}", "每维比特数，{split}")

LADDERS: Final[Mapping[str, Text]] = {
    "grey": _("The ladder", "阶梯"),
    "colour": _("The ladder in colour", "彩色图的阶梯"),
}
LADDER_UNITS: Final = _("bits/dim, lower is better", "比特/维，越低越好")
RUNGS: Final[Mapping[str, Text]] = {
    "uniform": _("uniform", "均匀分布"),
    "histogram": _("histogram, per pixel", "逐像素直方图"),
    "png": _("PNG", "PNG"),
    "webp": _("WebP lossless", "无损 WebP"),
    "pixelcnn": _("PixelCNN, same size", "同等大小的 PixelCNN"),
    "glow": _("Glow, as published", "Glow（发表值）"),
    "local_1d": _("Image T., local 1D", "图像 T.，局部 1D"),
    "local_2d": _("Image T., local 2D", "图像 T.，局部 2D"),
    "linear_block": _("linear, own block", "线性，只看本块"),
    "linear": _("linear, neighbours", "线性，加上邻近像素"),
    "colour": _("Image T., colour", "图像 T.，彩色"),
}
LADDER_SAYS: Final = _(
    "{best}: {value} bits a pixel, {beside} than the PixelCNN of the same size, {less} less than"
    " guessing evenly.",
    "{best}：每像素 {value} 比特，比同等大小的 PixelCNN {beside}，比均匀猜测少 {less}。",
)
LADDER_BEATS: Final = _("{bits} less", "少 {bits}")
LADDER_LOSES: Final = _("{bits} more", "多 {bits}")
COLOUR_SAYS: Final = _(
    "Given the small picture, the model needs {value} bits for a colour value of the large one:"
    " {beside} than a linear coder that sees the small picture and the pixels beside it, {less}"
    " less than guessing evenly.",
    "已知小图时，模型对大图的每个数值平均用 {value} 比特：比同样知道小图和旁边像素的线性编码器"
    "{beside}，比均匀猜测少 {less}。",
)
BEST: Final[Mapping[str, Text]] = {
    "local_1d": shared.LOCAL_1D,
    "local_2d": shared.LOCAL_2D,
}
IN_PRINT: Final = _(
    "In print, on CIFAR-10: 2.90 against 3.03.", "论文在 CIFAR-10 上：2.90 对 3.03。"
)
SAME_ORDER: Final = _(
    "The paper found the same order on CIFAR-10: 2.90 against 3.03.",
    "论文在 CIFAR-10 上得到同样的顺序：2.90 对 3.03。",
)
OTHER_ORDER: Final = _(
    "The paper found the other order on CIFAR-10: 2.90 against the PixelCNN's 3.03.",
    "论文在 CIFAR-10 上的顺序相反：2.90，而 PixelCNN 为 3.03。",
)
WAY: Final = _("way of describing a picture", "描述图片的方式")
COST: Final = _("bits/dim", "比特/维")
SOURCE: Final = shared.WHERE_FROM

CURVE_UNITS: Final = _(
    "bits/dim of held-out pictures, lower is better", "留出图的比特/维，越低越好"
)
CURVE_SAYS: Final = _(
    "After {seen} pictures seen, each the same ones: {figures} bits/dim.",
    "各看过同样的 {seen} 张图之后：{figures} 比特/维。",
)
CURVE_UNEQUAL: Final = _(
    "Not yet trained equally: {figures}; compare the curves where they have seen equally many.",
    "尚未训练到同样程度：{figures}；请在看过同样多图的位置比较曲线。",
)
AFTER: Final = _("{name} {value} after {seen}", "{name} 看过 {seen} 张后 {value}")
SEEN: Final = _("pictures seen", "看过的图")
HELD_OUT: Final = _("bits/dim, held out", "留出图的比特/维")
CURVE_AXES: Final = (SEEN, HELD_OUT)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "grow": _("A boot, pixel by pixel", "一只短靴，逐像素"),
    "query": _("The block that asks", "提问的块"),
    "memory": _("The block it may see", "能看到的块"),
    "order": _("In rows or in tiles", "按行还是按块"),
    "surprise": _("What surprised it", "什么让它意外"),
    "enlarge": _("A small picture made larger", "把小图放大"),
    "cut": _("Cut the memory", "切掉记忆"),
}
STEPS: Final[Mapping[str, Text]] = {
    "grow": _(
        "The probability of the whole picture is a product over its pixels: each pixel is drawn"
        " given all pixels before it, and is never changed again. Press play to watch it again;"
        " press Generate with another seed for another boot.",
        "整张图的概率写成各像素概率之积：每个像素都以之前的全部为条件来抽取，从不反悔。按播放键"
        "再看一遍；换一个种子再按“生成”，就是另一只靴子。",
    ),
    "query": _(
        "If every pixel looked at every pixel, there would be 784 × 784 weights; for a 32 × 32"
        " photo in colour, 3,072². So pixels ask in blocks: the vermilion frame is the query"
        " block of this pixel.",
        "每个像素看所有像素，要 784 × 784 个权重；32 × 32 的彩色照片要 3,072²。所以像素按块提"
        "问：朱红色的框就是这个像素所在的查询块。",
    ),
    "memory": _(
        "Every query of the block sees the same memory, the blue frame, and its own block so"
        " far. Yellow shows where this head looks: at nearby strokes, and often straight up"
        " along the same edge.",
        "块内每个查询看到同一块记忆（蓝框）和本块已画好的部分。黄色是这个头看的地方：附近的笔"
        "触，常常是正上方，同一条边刚从那里经过。",
    ),
    "order": _(
        "1D keeps the reading order and remembers whole rows. 2D draws the picture tile by tile,"
        " so left, right and above are near. Move to any pixel in both and compare what it can"
        " know.",
        "1D 按阅读顺序，记住整行；2D 一块一块地画，左、右、上方都在近处。在两边拖到任一像素，比"
        "较它各能知道什么。",
    ),
    "surprise": _(
        "The top half of a test picture is given. Bits per pixel show how surprised a model is:"
        " edges and texture cost many bits, black almost none. A better model needs fewer bits"
        " in all; the ladder compares the models.",
        "一张测试图，给出上半部分。每像素的比特数说明模型有多意外：边缘和纹理贵，黑色几乎不花"
        "钱。总比特越少，模型越好；阶梯作了比较。",
    ),
    "enlarge": _(
        "The encoder sees the whole small picture of 8 × 8; the decoder draws 16 × 16 in colour,"
        " each pixel given the small picture and the pixels before it. The small picture sets"
        " the mean of every 2 × 2 block; the details of the three draws differ. Given the small"
        " picture, a colour value costs {bits} bits.",
        "编码器看到整张 8 × 8 的小图；解码器画出 16 × 16 的彩色图，每个像素以小图和已经画好的部"
        "分为条件。画了三次：小图告知每个 2 × 2 块的平均值，细节各不相同。已知小图时，每个颜色值"
        "平均只需 {bits} 比特。",
    ),
    "cut": _(
        "Now the 2D model sees nothing beyond its own tile, and tiles no longer fit together. B"
        " shows the earlier picture; the number says how much more that picture costs now."
        " Restore the flange pixel by pixel; you can also cut the 1D memory row by row.",
        "现在 2D 模型看不到本块以外的任何东西，块与块接不上了。按 B 看之前的图；那个数字是之前那"
        "张图多花的比特。再把周边一个像素一个像素地还回去；1D 的记忆也可以一行行减掉。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "grow": _("How does a picture become a sequence?", "图像怎样变成序列？"),
    "query": _("Which pixels ask together?", "哪些像素一起提问？"),
    "memory": _("What may a block of pixels see?", "一块像素能看到什么？"),
    "order": _("Rows or tiles: who knows more?", "按行还是按块：谁知道得更多？"),
    "surprise": _("Where was the model surprised?", "模型在哪里感到意外？"),
    "enlarge": _("What does a small picture leave open?", "小图没有决定的是什么？"),
    "cut": _("What is lost without the memory around it?", "没有周围的记忆会失去什么？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "surprise": _(
        "The top half of a picture is given. Which pixels of the rest cost the most bits: edges,"
        " texture, or the black around?",
        "给出图片的上半部分。其余像素中哪些花的比特最多：边缘、纹理，还是四周的黑色？",
    ),
    "cut": _(
        "Each tile is drawn without seeing its neighbours. What will the boot look like?",
        "每一块都在看不到邻块的情况下画出。靴子会变成什么样？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "grow": _(
        "Press Space: the picture is drawn again, pixel by pixel.", "按空格：图片再次逐像素画出。"
    ),
    "query": _(
        "Move along the frame with ← and →: all of its pixels ask together.",
        "用 ← → 沿方框移动：框内像素一起提问。",
    ),
    "memory": _(
        "Point at the frame of the memory, then at the brightest pixels inside it.",
        "先指记忆块的方框，再指其中最亮的像素。",
    ),
    "order": _(
        "Put the same pixel into both pictures and count what each could know.",
        "在两张图中选同一个像素，数一数各自能知道什么。",
    ),
    "surprise": _(
        "Find the most expensive pixels together; nearly all of them lie on an edge.",
        "一起找花费最大的像素；几乎都在边缘上。",
    ),
    "enlarge": _(
        "Compare the three draws: where do they differ, and where do they agree?",
        "比较三次抽样：哪里不同，哪里一致？",
    ),
    "cut": _(
        "Hold B for the picture with its memory; look at the borders of the tiles.",
        "按住 B 看有记忆时的图；看各块的边界。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {
    "grow": 1,
    "query": 3,
    "memory": 1,
    "order": 3,
    "enlarge": 3,
}
