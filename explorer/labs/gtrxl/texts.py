"""The texts of the lab of the gated Transformer-XL, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Gated Transformer-XL", "门控 Transformer-XL")
SHORT: Final = _("GTrXL", "门控 TrXL")
LINE: Final = _(
    "An agent that walks a foggy corridor and looks back at what it saw at the start.",
    "一个走在迷雾走廊里的智能体，到岔路口时回看自己在起点见过的东西。",
)
CARD: Final = _("An agent that\nremembers.", "会记忆的智能体，\n会打开的门。")
KICKER: Final = _(
    "Parisotto et al., 2019 · arXiv 1910.06764", "Parisotto 等，2019 · arXiv 1910.06764"
)
EQUATION: Final = "{value:g} = (1 − z) ⊙ {query:x} + z ⊙ tanh(W {key:y} + U (r ⊙ {query:x}))"
SPOKEN: Final = _(
    "The gate's output g is one minus z times the input x, plus z times the hyperbolic tangent of"
    " W y plus U times r times x; y is what attention or the small network made of the normalised"
    " input",
    "门的输出 g 等于 1 减 z 乘输入 x，再加 z 乘双曲正切：W y 加 U 乘 r 与 x 的积；y 是注意力或小网"
    "络从"
    "归一化后的输入得到的结果",
)

REGION: Final = _("The corridor and its agent", "走廊与智能体")
RUN: Final = _("Walk", "出发")
NETWORK: Final = _("Agent", "智能体")
NETWORKS: Final[Mapping[str, Text]] = {
    "gtrxl": _("GTrXL, gated", "GTrXL（有门）"),
    "trxl": _("TrXL, norm after the sum", "TrXL（求和后归一化）"),
    "trxl_i": _("TrXL-I, norm on the input", "TrXL-I（对输入归一化）"),
    "lstm": shared.LSTM,
}
BRIEF: Final[Mapping[str, Text]] = {
    "gtrxl": _("GTrXL", "GTrXL（有门）"),
    "trxl": _("TrXL", "TrXL（后归一化）"),
    "trxl_i": _("TrXL-I", "TrXL-I（前归一化）"),
    "lstm": shared.LSTM,
}
LENGTH: Final = _("Length N", "长度 N")
LAMP: Final = _("Lamp above the start", "起点上方的灯")
LAMPS: Final[Mapping[str, Text]] = {
    "A": _("A: turn up", "A：向上转"),
    "B": _("B: turn down", "B：向下转"),
    ".": _("none", "没有"),
}
DECOYS: Final = _("Decoys below, share", "下方诱饵的比例")
BELOW: Final = _("Lamps below, by hand", "手工设置下方的灯")
BELOW_HINT: Final = _(
    "A, B or a dot for each cell from the start on; empty: drawn by the seed.",
    "从起点起每格一个 A、B 或点；留空则由种子抽取。",
)
SEED: Final = shared.SEED_TITLE
SAMPLED: Final = _("Moves", "走法")
SAMPLED_NAMES: Final[Mapping[bool, Text]] = {
    False: _("the likeliest", "取最可能的"),
    True: _("drawn by π", "按 π 抽取"),
}
COVERED: Final = _("lamp above", "上方的灯")
COVERED_NAMES: Final[Mapping[bool, Text]] = {
    False: _("in view", "可见"),
    True: _("covered", "盖住"),
}
COVERED_SAYS: Final = _("with the lamp covered", "盖住灯")
MEMORY: Final = _("memory, k steps", "记忆 k 步")
WHOLE: Final = shared.ALL
MEMORY_SAYS: Final = _("with {n} steps of memory", "记忆 {n} 步")
HEAD: Final = shared.HEAD_OF_MODEL
FORCED: Final = _("gates that are forced", "强制的门")
FORCED_SAYS: Final = _("with {n} gates forced", "强制 {n} 个门")
PLACES: Final[Mapping[str, Text]] = {
    "1a": _("layer 1, attention", "第 1 层，注意力"),
    "1m": _("layer 1, MLP", "第 1 层，MLP"),
    "2a": _("layer 2, attention", "第 2 层，注意力"),
    "2m": _("layer 2, MLP", "第 2 层，MLP"),
}
LEVEL: Final = _("forced to z", "强制为 z")
LEVEL_SAYS: Final = _("z = {z} where forced", "强制处 z = {z}")

EXAMPLES: Final[tuple[Text, ...]] = (
    _("Twelve cells, lamp B", "十二格，灯 B"),
    _("The same, lamp A", "同一走廊，灯 A"),
    _("Sixty cells: five times as far as it ever trained", "六十格：训练时最远的五倍"),
    _("The lamp is covered", "灯被盖住"),
    _("An LSTM walks it", "由 LSTM 来走"),
)
TURNS: Final[Mapping[str, Text]] = {
    "up": _("up", "向上"),
    "down": _("down", "向下"),
    "": _("no turn", "没有转"),
}
GIVEN: Final = "N = {n}, {cue}"
STEPS_TAKEN: Final = shared.STEP_COUNT
STEPS_MEAN: Final = _("Moves until the turn, or until 3N + 8", "到转弯为止，或到 3N + 8 为止的步数")
SURE: Final = _("π of the last move {p}", "最后一步的 π {p}")
SURE_MEANS: Final = _(
    "The probability that the policy gave to its last move", "策略给最后一步的概率"
)
NO_CUE: Final = _(
    "No lamp names the turn: expect one right turn in two.",
    "没有灯指明转向：平均两次对一次。",
)
ALL_OFF: Final = _(
    "All heads are silenced: the agent knows only what it sees now.",
    "所有头都被关掉：智能体只知道眼前所见。",
)
FAR: Final = _(
    "It trained on corridors of up to 12 cells; this one has {n}.",
    "它只在最多 12 格的走廊里训练过；这条有 {n} 格。",
)

# The effect of a change.
POINTS: Final = _("points of success", "个百分点：成功率")
OWN_CORRIDOR: Final = _("this corridor", "这条走廊")
CORRIDORS: Final = _("{n} corridors of N = {length}", "{n} 条 N = {length} 的走廊")
TURN: Final = _("turn", "转向")
SUCCESS: Final = _("right turns, %", "转对，%")
LATE: Final = _("steps ran out, %", "步数用尽，%")
MOVED: Final = _(
    "{changes}: {after} of the turns are right instead of {before}, in {n} corridors.",
    "{changes}：{n} 条走廊里，转对的比例由 {before} 变为 {after}。",
)
STAYED: Final = _(
    "{changes}: {before} of the turns are right, as before, in {n} corridors.",
    "{changes}：{n} 条走廊里，转对的比例仍为 {before}。",
)

# Titles of the pictures; their other texts stand in their modules.
WALK: Final[Mapping[str, Text]] = {
    "title": _("The corridor from above", "从上方看走廊"),
    "question": _("What does it look back at?", "它回看什么？"),
}
OWN: Final[Mapping[str, Text]] = {
    "title": _("Walk it yourself", "自己走一走"),
    "question": _("What must you keep in mind?", "您必须记住什么？"),
}
SWITCHES: Final[Mapping[str, Text]] = {
    "title": _("Pretty or needed: heads and gates", "好看还是有用：头与门"),
    "question": _("Which head decides?", "哪个头起决定作用？"),
    "empty": _("An LSTM has neither heads nor gates.", "LSTM 既没有头也没有门。"),
}
GATES: Final[Mapping[str, Text]] = {
    "title": _("How far each gate opens", "每个门开多大"),
    "question": _("Which gate did training open?", "训练打开了哪个门？"),
    "empty": _("This agent has no gates.", "这个智能体没有门。"),
}

# Stored measurements.
CLIFF: Final = _("Success against memory", "成功率与记忆长度")
CLIFF_UNITS: Final = _(
    "right turns in {n} corridors of {length} cells, the likeliest moves · stored",
    "{n} 条 {length} 格走廊里转对的比例，取最可能的走法 · 已存储",
)
CLIFF_AXES: Final = (_("memory k, steps", "记忆 k，步"), _("right turns", "转对的比例"))
CLIFF_SAYS: Final = _(
    "With k = {below} steps {name} is right in {low}, with k = {above} in {high} of the corridors:"
    " the lamp is in view at cells 0 and 1, and the junction is at step 12.",
    "{name} 在 k = {below} 步时转对 {low}，k = {above} 步时转对 {high}：灯只在第 0、1 格可见，岔路"
    "口在第"
    " 12 步。",
)
YOURS: Final = _("your k", "您的 k")
CHANCE: Final = _("chance", "随机")
RATES_TITLE: Final = _("Which network learns at which rate?", "哪种网络在哪个学习率下学得会？")
RATES: Final = _("Success after training, each run a point", "训练后的成功率，每次训练一个点")
RATES_UNITS: Final = _(
    "right turns in {n} corridors of 12 cells, moves drawn by π · {runs} runs of {steps} steps,"
    " stored",
    "{n} 条 12 格走廊里转对的比例，按 π 抽取走法 · {runs} 次训练，各 {steps} 步，已存储",
)
RATES_AXES: Final = (_("learning rate", "学习率"), _("right turns", "转对的比例"))
RATES_SAYS: Final = _("Runs with at least 95 % right: {each}.", "至少 95 % 转对的训练：{each}。")
RATE_ONE: Final = _("{name} at {rate}: {good} of {n}", "{name}，{rate}：{good}/{n}")
CURVES: Final = _("Success while training at {rate}", "学习率 {rate} 时训练中的成功率")
CURVES_UNITS: Final = _(
    "right turns among the episodes that end in a segment · every run, stored",
    "每段中结束的回合里转对的比例 · 每次训练一条线，已存储",
)
CURVES_SAYS: Final = _(
    "First segment with 95 % right, in thousands of steps: {each}.",
    "首次有一段达到 95 % 转对，以千步计：{each}。",
)
NEVER: Final = _("never", "从未")
RATE: Final = shared.RATE
RATES_NOTE: Final = _(
    "All four have 170,000 to 200,000 parameters; the Transformers have 4 layers. The agent on "
    "this page"
    " has 2 layers and learned at 3e-3. The paper's TrXL fails on its tasks; ours, on this one, "
    "does"
    " not.",
    "四种网络各有 17 万到 20 万个参数，Transformer 有 4 层。本页的智能体有 2 层，学习率 3e-3。论文"
    "中的 TrXL"
    " 在其任务上失败；在这里的任务上并没有。",
)

NOTES: Final[tuple[Text, ...]] = (
    _(
        "Memory is each layer's inputs of earlier steps; k counts steps, not cells. An agent that"
        " strays needs more.",
        "记忆是每层在较早各步的输入；k 数的是步，不是格。走了弯路的智能体需要更多。",
    ),
    _(
        "An attention weight is no evidence of use: silence the head and measure.",
        "注意力权重不能证明它有用：关掉这个头，再测一测。",
    ),
    _(
        "In training a step looks back 48 steps at most. Distances beyond count as 48, so that it"
        " walks longer corridors than it trained on.",
        "训练时每一步最多回看 48 步。更远的距离按 48 计，所以它能走比训练时更长的走廊。",
    ),
    _(
        "The paper trains with V-MPO; we use PPO, which is shorter to read.",
        "论文用 V-MPO 训练；我们用 PPO，读起来更短。",
    ),
)

# The card.
DATA: Final = shared.GENERATED
SIZE: Final = _("the gated agent", "有门的智能体")
FIGURE: Final = _("right turns, {split}", "转对，{split}")
FIGURE_NOTE: Final = _(
    "N = 60: {far} · lamp covered: {covered}", "N = 60：{far} · 灯被盖住：{covered}"
)
UNPUBLISHED: Final = _(
    "Parisotto et al. (2019) report DMLab-30, not this corridor: mean human-normalised score 117.6"
    " for GTrXL, 107.0 for TrXL-I, 99.3 for an LSTM, 5.0 for TrXL.",
    "Parisotto 等（2019）报告的是 DMLab-30，不是这种走廊：按人类水平归一的平均分，GTrXL 117.6，"
    "TrXL-I 107.0，LSTM 99.3，TrXL 5.0。",
)
LICENCE: Final = shared.APACHE_2_0_THE_GENERATOR_AND
CURVE_UNITS: Final = _(
    "right turns among the episodes of a segment, %, higher is better",
    "每段各回合里转对的比例（%），越高越好",
)
CURVE_SAYS: Final = shared.AT_THE_END
CURVE_AXES: Final = (_("thousand steps", "千步"), _("right turns, %", "转对（%）"))
LEARNED_AT: Final = _("{name} at {rate}", "{name}，学习率 {rate}")

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "play": _("Walk it yourself", "自己走一走"),
    "covered": _("Cover the lamp", "盖住灯"),
    "lstm": _("Carried in a state", "装在状态里"),
    "lookup": _("Looked up", "回头去看"),
    "cliff": _("Cut the memory", "截断记忆"),
    "silence": _("Pretty or needed", "好看还是有用"),
    "gates": _("Gates that open", "打开的门"),
    "rates": _("What the gate buys", "门换来了什么"),
}
STEPS: Final[Mapping[str, Text]] = {
    "play": _(
        "You see nine cells. A lamp hangs above the start: A means up, B means down. The lamps "
        "below"
        " mean nothing. Walk to the junction with the arrow keys and turn. What did you have to "
        "keep,"
        " and for how long?",
        "您只看得见九格。起点上方挂着一盏灯：A 表示向上，B 表示向下；下方的灯毫无意义。用方向键走"
        "到岔路"
        "口再转弯。您必须记住什么，记多久？",
    ),
    "covered": _(
        "With the lamp covered, nothing in view names the turn. The agent walks on as before and is"
        " right in half of the corridors: the rest of its success was memory.",
        "灯被盖住后，眼前没有任何东西指明转向。智能体照样往前走，只在一半的走廊里转对：其余的成功"
        "都来自"
        "记忆。",
    ),
    "lstm": _(
        "An LSTM has nowhere to look back to. It writes the lamp into its state at the start and"
        " carries it, step by step, past every decoy. Here that works; there is nothing to draw but"
        " its policy.",
        "LSTM 没有地方可以回看。它在起点把灯写进状态，一步一步带过所有诱饵。在这里这样行得通，只是"
        "除了"
        "策略没有什么可画。",
    ),
    "lookup": _(
        "A Transformer keeps the inputs of its earlier steps and looks at them again. Step back"
        " and forth: this head looks at the cell where the lamp hung at every step, long before it"
        " is needed. Only at the junction does the policy use it.",
        "Transformer 保存较早各步的输入，需要时再去看。前后走几步：这个头每一步都看着挂灯的那一格"
        "，远早于"
        "需要的时候。到了岔路口，策略才用上它。",
    ),
    "cliff": _(
        "With twelve steps of memory every turn is right; with eleven, success falls to chance. The"
        " lamp is still in view at step 1, but this agent looks at step 0 alone. Layers could pass"
        " the lamp on from step to step: only TrXL-I learned to.",
        "记忆十二步时每次都转对；十一步时成功率落到随机水平。灯在第 1 步仍可见，但这个智能体只看第"
        " 0 步。各层"
        "本可以把灯一步步传下去：只有 TrXL-I 学会了。",
    ),
    "silence": _(
        "Several heads put all their weight on the lamp. Silence most of them and nothing happens."
        " Silence head {deciding}, and the turns fall to chance. What a head looks at does not say"
        " what the agent needs.",
        "好几个头把全部权重放在灯上。关掉其中大多数，什么也不会发生；关掉头 {deciding}，转向就落到"
        "随机水"
        "平。一个头看哪里，并不说明智能体需要什么。",
    ),
    "gates": _(
        "Every gate is born almost shut: z is 0.12, so a layer begins as the identity. Training"
        " opened the gates of layer 2 and left those of layer 1 nearly shut. Shut the gate behind"
        " attention in layer 2, and the memory is lost.",
        "每个门生来几乎关着：z 为 0.12，所以一层起初就是恒等映射。训练打开了第 2 层的门，第 1 层的"
        "仍几乎"
        "关着。关上第 2 层注意力之后的门，记忆就没有了。",
    ),
    "rates": _(
        "Each point is one training, whatever came out. Look at the lowest rate first: who needs "
        "the"
        " fewest steps? Then go to the right: who still stands? In this task the gate costs steps "
        "at"
        " ordinary rates.",
        "每个点是一次训练，结果如何就如何。先看最低的学习率：谁需要的步数最少？再往右看：谁还站得"
        "住？在"
        "这个任务里，普通学习率下门要多花一些步数。",
    ),
}
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "play": _("What must you keep in mind?", "您必须记住什么？"),
    "covered": _("How good is it without the lamp?", "没有灯时它有多好？"),
    "lstm": _("Where does an LSTM keep the lamp?", "LSTM 把灯存在哪里？"),
    "lookup": _("What does it look back at?", "它回看什么？"),
    "cliff": _("How much memory is enough?", "多少记忆才够？"),
    "silence": _("Which head decides?", "哪个头起决定作用？"),
    "gates": _("Which gate did training open?", "训练打开了哪个门？"),
    "rates": _("Who survives a high rate?", "谁能承受高学习率？"),
}
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "silence": _(
        "Three heads look at nothing but the lamp. How many of them can be silenced?",
        "有三个头只看灯。其中有几个可以关掉？",
    ),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "play": _(
        "Walk one corridor with →, then ask the hall: up or down?",
        "用 → 走一条走廊，再问：上还是下？",
    ),
    "covered": _(
        "Read the number in the panel; hold B for the lamp.", "读面板里的数；按住 B 看有灯时。"
    ),
    "lstm": _("Step with → and watch π at the junction.", "按 → 前进，看岔路口的 π。"),
    "lookup": _(
        "Go back with ←: the thread stays, only π changes.", "按 ← 后退：线不变，只有 π 在变。"
    ),
    "cliff": _("Move k from 11 to 12.", "把 k 从 11 调到 12。"),
    "silence": _("Silence another head first: nothing happens.", "先关掉另一个头：什么也没发生。"),
    "gates": _("Point at the two rows of layer 2.", "指向第 2 层的两行。"),
    "rates": _("Read the columns from left to right.", "从左到右读各列。"),
}
STEP_RANKS: Final[Mapping[str, int]] = {"play": 1, "lookup": 2, "silence": 1, "rates": 3}
