"""The texts of the music lab, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _
from models.checkpoints import folders

TITLE: Final = _("Music Transformer", "音乐 Transformer")
SHORT: Final = _("Music", "音乐")
LINE: Final = _(
    "A note looks back at earlier notes and knows how far away each one is.",
    "一个音回头看更早的音，并知道每个音离得多远。",
)
CARD: Final = _("Knows how far\nback each note is.", "知道每个音\n在多远之前。")
KICKER: Final = _("Huang et al., 2018 · arXiv 1809.04281", "Huang 等，2018 · arXiv 1809.04281")
EQUATION: Final = (
    "softmax(({query:Q}{key:K}{sup:⊤} + Skew({query:Q}{key:E_r}{sup:⊤}))/{root:d_k}) {value:V}"
)
SPOKEN: Final = _(
    "softmax of Q times K transposed plus the skewed product of Q and E r transposed, divided by"
    " the square root of d k, times V; E r has an embedding for every distance, so the second term"
    " says how far back a key lies",
    "softmax（Q 乘 K 的转置，加上 Q 乘 E r 的转置再经倾斜变换，除以 d k 的平方根）再乘 V；"
    "E r 为每个距离各有一个嵌入，所以第二项说明键在多远之前",
)

# The input bar.
REGION: Final = _("What the models continue", "从什么音乐接着写")
STYLE: Final = _("style", "风格")
MODE: Final = shared.MAKE
MODES: Final[Mapping[str, Text]] = {
    "continue": _("continue", "续写"),
    "harmonise": _("harmonise", "配和声"),
}
MODE_HINT: Final = _(
    "Continue: the models go on from the motif. Harmonise: its melody stays, and they make alto,"
    " tenor and bass below it",
    "续写：模型从动机往下写。配和声：保留旋律，由模型写出女低音、男高音和男低音",
)
MOTIF: Final = _("motif", "动机")
LENGTH: Final = shared.LENGTH
LENGTH_HINT: Final = _("How much the models write after the motif", "在动机之后写多长")
BARS: Final = _("{n} bars", "{n} 小节")
EVENTS: Final[Mapping[str, Text]] = {
    "chorale": _("{n} cells", "{n} 格"),
    "piano": _("{n} events", "{n} 个事件"),
}
TEMPERATURE: Final = shared.TEMPERATURE
TEMPERATURE_HINT: Final = _(
    "Temperature {value}: 1 is the models' own distribution, less plays safe, more dares, 0 takes"
    " the likeliest every time",
    "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆，0 每次取最可能的",
)
SEED_LABEL: Final = shared.SEED
SEED_HINT: Final = _(
    "Seed of all draws, the same for every model: the same seed makes the same music",
    "所有抽样的种子，各模型相同：同一种子得到同样的音乐",
)
PROGRESS: Final[Mapping[str, Text]] = {
    "chorale": _("live · cell {at} of {of}", "实时 · 第 {at} / {of} 格"),
    "piano": _("live · event {at} of {of}", "实时 · 第 {at} / {of} 个事件"),
}
MADE: Final = _(
    "{name}: {n} notes made, {nats} nats per {event}",
    "{name}：写出 {n} 个音，每{event} {nats} 纳特",
)
STYLES: Final[Mapping[str, Text]] = {"chorale": _("Chorale", "众赞歌"), "piano": _("Piano", "钢琴")}
# Our motifs: a description of each, and the word or two on its button.
EXAMPLES: Final[tuple[tuple[Text, Text], ...]] = (
    (
        _("Vom Himmel hoch, a tune of 1539, harmonised", "《我从高天而来》，1539 年的旋律，配和声"),
        _("Vom Himmel hoch", "我从高天来"),
    ),
    (
        _("Ode to Joy, Beethoven, harmonised", "《欢乐颂》，贝多芬，配和声"),
        _("Ode to Joy", "欢乐颂"),
    ),
    (_("Mo Li Hua (Jasmine Flower), harmonised", "《茉莉花》，配和声"), _("Mo Li Hua", "茉莉花")),
    (
        _(
            "Ein feste Burg: two lines of Bach’s four voices, the first line begun again,"
            " continued",
            "《上主是我坚固保障》：巴赫四声部的两行，再从第一行开头起，续写",
        ),
        _("Ein feste Burg", "坚固保障"),
    ),
    (
        _("Prelude in C, four bars of Bach, continued", "《C 大调前奏曲》，巴赫的四小节，续写"),
        _("Prelude in C", "C 大调前奏曲"),
    ),
    (
        _("Für Elise, Beethoven, its opening continued", "《致爱丽丝》，贝多芬，从开头续写"),
        _("Für Elise", "致爱丽丝"),
    ),
)

# The models, by variant: the name of each, and the difference to the others.
NAMES: Final[Mapping[str, Text]] = {
    "jsb_relative": _("Music Transformer", "音乐 Transformer"),
    "jsb_transformer": shared.TRANSFORMER,
    "relative": _("Music Transformer", "音乐 Transformer"),
    "transformer": shared.TRANSFORMER,
    "lstm": shared.LSTM,
}
ABOUT: Final[Mapping[str, Text]] = {
    "jsb_relative": _("relative positions", "相对位置"),
    "jsb_transformer": _("absolute positions", "绝对位置"),
    "relative": _("relative positions", "相对位置"),
    "transformer": _("absolute positions", "绝对位置"),
    "lstm": _("one state, no attention", "只有一个状态，没有注意力"),
}

ROLLS: Final = {
    "title": _("What the models made of the motif", "由动机作成的音乐"),
    "empty": _("Nothing has been made yet.", "还没有生成音乐。"),
}
HEADS: Final = {"title": _("Where each head looks", "每个头看向哪里")}
HOT: Final = _(
    "Temperature 1 is the models' own distribution; these notes are drawn from a {changed} one, at"
    " {temperature}.",
    "温度 1 是模型自己的分布；这些音取自更{changed}的分布，温度 {temperature}。",
)
PIANO_LICENCE: Final = _(
    "Piano: the models learned from ASAP, so they and what is taken from them are CC BY-NC-SA 4.0:"
    " not for commercial use.",
    "钢琴：模型从 ASAP 学习，因此模型和取自其中的内容遵循 CC BY-NC-SA 4.0：不可用于商业用途。",
)


def find_licence(style: str) -> Text | None:
    """Return the conditions for using the generated music; None for music without conditions, and
    for a user's own model."""
    return PIANO_LICENCE if style == "piano" and not folders.find_user_folder("music") else None


# The changes, and their effects.
FARTHEST: Final = _("distance at most", "距离不超过")
NO_TERM: Final = _("relative term off", "无相对位置项")
TRAINED: Final = shared.AS_TRAINED
SEMITONES: Final = _("motif, semitones", "动机移调，半音")
STRETCH: Final = _("motif’s times", "动机时间")
TIMES: Final = shared.TIMES
WITHOUT_TERM: Final = _("without the relative term", "去掉相对位置项")
CLIPPED: Final = _("with every distance beyond {n} counted as {n}", "超过 {n} 的距离都按 {n} 计算")
HEAD: Final = _("head {name} of the {model}", "{model}的头 {name}")
MOVED: Final = _("with the motif {n} semitones {way}", "把动机{way} {n} 个半音")
MOVED_ONE: Final = _("with the motif a semitone {way}", "把动机{way}一个半音")
UP, DOWN = _("higher", "升高"), _("lower", "降低")
STRETCHED: Final = _("with the motif’s times × {n}", "把动机的时间乘以 {n}")
MOVED_ALONG: Final = _(", changed along with it,", "（随动机一起改变）")
COSTS: Final = _(
    "what the {model} made{moved} costs it {nats} nats per {event} {more}",
    "{model}原先写出的音乐{moved}，每{event}的代价{more} {nats} 纳特",
)
COSTS_SAME: Final = _(
    "what the {model} made{moved} costs it as much as before",
    "{model}原先写出的音乐{moved}代价不变",
)
MORE, LESS = _("more", "增加"), _("less", "减少")
IN_BAR: Final = _(", most in bar {n}", "，第 {n} 小节变化最大")
IN_SECOND: Final = _(", most around second {n}", "，第 {n} 秒附近变化最大")
KEPT: Final = _(
    "{n} of the {of} notes it had made are made again", "原先写出的 {of} 个音中有 {n} 个再次出现"
)
KEPT_MOVED: Final = _(
    "{n} of the {of} notes it had made are made again, moved with the motif",
    "原先写出的 {of} 个音中有 {n} 个随动机一起移动后再次出现",
)
ALL_KEPT: Final = _("the music is the same, note for note", "写出的音乐逐音相同")
UNTOUCHED: Final = _("nothing changes for these models", "这里的模型不受影响")
EVENT: Final[Mapping[str, Text]] = {"chorale": _("cell", "格"), "piano": _("event", "个事件")}

NOTES: Final[tuple[Text, ...]] = (
    _(
        "The seed is fixed until you change it, so the same request gives the same notes; all"
        " models draw with the same numbers.",
        "种子在您改动之前是固定的，所以同样的请求得到同样的音；各模型使用同一组随机数。",
    ),
    _(
        "Temperature 1 is the models' own distribution; anything else changes it. Nats are"
        " always those of their own distribution.",
        "温度 1 是模型自己的分布；其他设置都会改变它。纳特数始终按模型自己的分布计算，与抽取时的"
        "设置无关。",
    ),
    _(
        "A chorale is read as soprano, alto, tenor, bass of one sixteenth after another. The"
        " model cannot tell a held note from a repeated one.",
        "众赞歌按一个个十六分音符读取，每个依次是女高音、女低音、男高音、男低音。延续的音与重复"
        "的音在它看来相同。",
    ),
    _(
        "Arcs are weights of one head, summed over the events that belong to a note; weights on"
        " silences and on the start are given separately.",
        "弧线是一个头的权重，按音的各个事件求和；给休止和开头的权重另行说明。",
    ),
    _(
        "A harmonised melody is given as it goes: each voice knows the soprano up to its own"
        " sixteenth, not what comes later.",
        "配和声时旋律是边走边给的：每个声部只知道到它那个十六分音符为止的女高音，不知道后面的。",
    ),
)

# The card, and the figure of the measurements.
RUNG_VALUE: Final = shared.NAME_AND_VALUE
PIANO_SIZE: Final = _("piano {value}", "钢琴 {value}")
CHORALES: Final = _("Bach’s chorales", "巴赫众赞歌")
NON_COMMERCIAL: Final = _("ASAP: CC BY-NC-SA 4.0", "ASAP：CC BY-NC-SA 4.0")
SEEDS: Final = _(" By seed, ours: {values}.", "我们的各个种子：{values}。")
METRIC: Final[Mapping[str, Text]] = {
    "chorale": _("nats per cell, {split}", "每格纳特，{split}"),
    "piano": _("nats per event, {split}", "每事件纳特，{split}"),
}
STANDING: Final[Mapping[str, Text]] = {
    "chorale": _("Who reads Bach best?", "谁最会读巴赫？"),
    "piano": _("Who reads piano best?", "谁最会读钢琴演奏？"),
}
STANDING_UNITS: Final[Mapping[str, Text]] = {
    "chorale": _("nats per grid cell, lower is better", "每格纳特，越低越好"),
    "piano": _("nats per event, lower is better", "每事件纳特，越低越好"),
}
RUNGS: Final[Mapping[str, Text]] = {
    "jsb_relative": _("relative", "相对位置"),
    "jsb_transformer": _("absolute", "绝对位置"),
    "relative": _("relative", "相对位置"),
    "transformer": _("absolute", "绝对位置"),
    "lstm": shared.LSTM,
}
PUBLISHED: Final = _("{name}, published", "{name}，发表值")
MODEL: Final = shared.MODEL
NATS: Final = shared.NATS
SEED: Final = shared.SEED
SOURCE: Final = shared.WHERE_FROM
HERE: Final = _("measured here, {split}", "在此测得，{split}")
STANDS: Final = _("Held out: {order}.", "留出数据：{order}。")
IN_PRINT: Final = _("The paper{where} has {order}.", "论文{where}为：{order}。")
SAME_ORDER: Final = _(
    "The paper{where} has the same order: {order}.", "论文{where}的顺序相同：{order}。"
)
OTHER_ORDER: Final = _(
    "The paper{where} has another order: {order}.", "论文{where}的顺序不同：{order}。"
)
ELSEWHERE: Final = _(", on other performances,", "（用的是别的演奏）")
BY_SEED: Final = _("Seeds of {name}: {values}.", "{name}的各个种子：{values}。")

CURVE_UNITS: Final = _(
    "nats per cell of held-out chorales, lower is better", "留出的众赞歌每格纳特，越低越好"
)
CURVE_SAYS: Final = _(
    "At the end of training: {figures} nats a cell.", "训练结束时：{figures} 纳特/格。"
)
SEEN: Final = _("chorales read", "读过的众赞歌")
HELD_OUT: Final = _("nats per cell, held out", "留出曲子的每格纳特")
CURVE_AXES: Final = (SEEN, HELD_OUT)

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "language": _("Music as a language", "音乐是一种语言"),
    "motifs": _("A motif comes back", "动机回来了"),
    "motif": _("The same motif, side by side", "同一个动机，并排来看"),
    "motif_piano": _("The same motif, three models", "同一个动机，三个模型"),
    "distance": _("How far apart", "相隔多远"),
    "skew": _("The skewing trick", "倾斜的技巧"),
    "arcs": _("Which earlier notes", "看向哪些更早的音"),
    "lengths": _("Beyond the trained length", "超过训练的长度"),
}
STEPS: Final[Mapping[str, Text]] = {
    "language": _(
        "The grey melody is given; the model makes the other three voices. It reads soprano,"
        " alto, tenor and bass of each sixteenth one after another, like words, and predicts"
        " what comes next. Press play: one cursor runs through all rolls.",
        "灰色的旋律是给定的，另外三个声部是生成的。模型像读词一样，依次读每个十六分音符的女高"
        "音、女低音、男高音、男低音，再预测下一个。按播放键：一条光标走过所有钢琴卷帘。",
    ),
    "motifs": _(
        "The input is two lines of Bach's chorale, then the first notes of line one again."
        " Brackets join a motif and its return. With this seed the Music Transformer's soprano"
        " continues that line for a bar; the Transformer's leaves it. Choose a note in the"
        " second bracket: do its arcs reach the same place in the first?",
        "给出的是巴赫众赞歌的两行，之后又是第一行开头的几个音。括号连起一个动机和它的再现。用这"
        "个种子，音乐 Transformer 的女高音把第一行再接着写一小节，Transformer 的则离开了它。选后"
        "一个括号里的一个音：它的弧线是否回到前一个括号的同一处？",
    ),
    "motif": _(
        "Each model gets the same tune, seed and temperature; they differ only in how they know"
        " the position of a note. The number beside each name says how unsure the model was, in"
        " nats per generated cell. Listen to one, then to the other, from the same place.",
        "各模型用同样的旋律、种子和温度，不同的只是怎样知道一个音的位置。名字旁的数字说明它有多"
        "拿不准：所生成的每一格多少纳特。先听一个，再从同一处听另一个。",
    ),
    "motif_piano": _(
        "The paper found: given a motif, an LSTM soon drifts, a Transformer repeats at first and"
        " later falls apart, and relative attention keeps the thread. Here are all three with"
        " the same seed. Listen in turn: is it so?",
        "论文发现：给定一个动机，LSTM 很快跑题，Transformer 先是重复、后来散掉，相对注意力则能抓"
        "住主线。这里三者用同一个种子。轮流听一听：是这样吗？",
    ),
    "distance": _(
        "A weighted average forgets distance; a convolution has a separate map for each"
        " distance. The relative term joins both: Q Kᵀ says what a note is, Q E_rᵀ how far back"
        " it is. Here the term is off: the number says how much more the same music costs"
        " without it.",
        "加权平均会忘记距离；卷积对每个距离各用一个映射。相对项把两者结合：Q Kᵀ 说音是什么，Q"
        " E_rᵀ 说它在多远之前。现在这一项被去掉了：那个数字是同样的音乐因此多花的代价。",
    ),
    "skew": _(
        "The direct way gives every pair of notes its own vector: an L × L × D tensor, 8.5 GB a"
        " layer at L = 2,048, D = 512. Skewing multiplies by distance first, then shifts the"
        " rows until each column is a key: 4.2 MB. Each board is a step; the last equals the"
        " direct way.",
        "直接做法为每一对音各取一个向量：L × L × D 的张量，L = 2,048、D = 512 时每层 8.5 GB。倾"
        "斜变换先按距离相乘，再移动各行，直到每一列是一个键：4.2 MB。每块板是一步，最后一块与直"
        "接做法相等。",
    ),
    "arcs": _(
        "A learned distance is the same anywhere in a piece. So, the paper found, such a model"
        " works beyond the length it was trained on. Arcs show which earlier notes a note leans"
        " on; ↑ and ↓ go through the heads: some look one beat back, others several bars.",
        "学到的距离在曲子的任何位置都一样，所以论文发现，这样的模型在超过训练长度时仍然成立。弧"
        "线显示一个音依靠哪些更早的音；按 ↑ 和 ↓ 换头：有的看一拍之前，有的看几小节之前。",
    ),
    "lengths": _(
        "The models read music twice as long as in training: whose loss stays the same? A"
        " learned distance is the same anywhere in a piece; an absolute position past the end"
        " was never seen. The curves are measured; the arcs above show what a note leans on.",
        "读到训练长度的两倍，谁的损失不变？学到的距离在曲子的任何位置都一样，而末尾之后的绝对位"
        "置从未见过。曲线是实测的；上方的弧线显示一个音依靠什么。",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "language": _("How is music written like language?", "音乐怎样像语言一样写出来？"),
    "motifs": _("Who brings the motif back?", "谁让动机回来？"),
    "motif": _("Who keeps to the motif?", "谁守住动机？"),
    "motif_piano": _("Who keeps the thread?", "谁守住主线？"),
    "distance": _("What is lost without distances?", "没有距离会失去什么？"),
    "skew": _("How do distances become keys?", "距离怎样变成键？"),
    "arcs": _("Which notes does a note lean on?", "一个音依靠哪些音？"),
    "lengths": _("Who holds beyond the trained length?", "超过训练长度，谁还稳得住？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "lengths": _(
        "Each model reads music twice as long as in training. Whose loss rises, and from where on?",
        "每个模型读的音乐都是训练时最长的两倍。谁的损失会上升，从哪里开始？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "language": _(
        "Sound on. Play eight seconds; the arcs say which notes each one leans on.",
        "打开声音，播放八秒；弧线表示每个音依靠哪些音。",
    ),
    "motifs": _(
        "Play the first line, then the second bracket: is it the same tune?",
        "先播放第一句，再播放第二个括号：是同一旋律吗？",
    ),
    "motif": _(
        "Play one model after the other, the same seed for each.", "依次播放每个模型，种子相同。"
    ),
    "motif_piano": _(
        "Play the three models in turn; ask after each whether the motif is still there.",
        "依次播放三个模型；每次问动机是否还在。",
    ),
    "distance": _(
        "Hold B for the run with distances; compare the cost above each roll.",
        "按住 B 看有距离时的运行；比较每个卷帘上方的代价。",
    ),
    "skew": _(
        "Step through the boards with →; say what each axis counts.",
        "用 → 逐步看各块板；说明每个轴数的是什么。",
    ),
    "arcs": _(
        "Click notes one after another and follow their arcs back.", "依次点击音符，沿弧线往回看。"
    ),
    "lengths": _(
        "Point at the trained length, then at each line beyond it.",
        "指向训练时的长度，再看每条线在它之后怎样。",
    ),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {
    "language": 1,
    "motifs": 3,
    "motif": 3,
    "distance": 3,
    "skew": 1,
    "arcs": 3,
}
