"""The texts of the lab of the Universal Transformer, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Universal Transformer", "通用 Transformer")
SHORT: Final = _("Universal", "通用")
LINE: Final = _(
    "One block is used again and again; every position decides for itself when it has thought"
    " enough.",
    "同一个块反复使用；每个位置自己决定何时想够了。",
)
CARD: Final = _("One block,\nas often as needed.", "同一个块，\n需要几次用几次。")
KICKER: Final = _(
    "Dehghani et al., 2019 · arXiv 1807.03819", "Dehghani 等，2019 · arXiv 1807.03819"
)
EQUATION: Final = (
    "u = s + P + T{sub:t};  s ← FFN(u + softmax({query:Q}{key:K}{sup:⊤}/{root:d_k}) {value:V})"
)
SPOKEN: Final = _(
    "u is the state s plus the signal P of the place plus the signal T t of the step; s becomes"
    " the feed-forward layer of u plus attention of u to itself, with Q, K and V made of u; this"
    " repeats for steps t from 1 to N, where each position has its own N; layer norms are left"
    " out",
    "u 等于状态 s 加位置信号 P 加步信号 T t；s 更新为前馈层作用于 u 加上 u 的自注意力，Q、K、V "
    "都由 u 算出；如此反复，步 t 从 1 到 N，每个位置有自己的 N；此处略去层归一化",
)

# ---- the input

REGION: Final = _("A story, a sum or a word", "故事、算式或单词")
TASK: Final = shared.TASK
TASKS: Final[Mapping[str, Text]] = {
    "stories": _("Story", "故事"),
    "addition": _("Sum", "加法"),
    "reverse": _("Reverse a word", "倒写单词"),
    "copy": _("Copy a word", "抄写单词"),
}
PROMPTS: Final[Mapping[str, Text]] = {
    "stories": _(
        "A story, one sentence after the other, and a question",
        "一个故事，一句接一句，再加一个问题",
    ),
    "addition": _("Two numbers to add", "两个要相加的数"),
    "reverse": _("Letters to write backwards", "要倒着写的字母"),
    "copy": _("Letters to write again", "要抄写的字母"),
}
HINTS: Final[Mapping[str, Text]] = {
    "stories": _(
        "Up to {facts} sentences: somebody went to the …, took the …, put the … in the …. Then ask:"
        " where is …?",
        "最多 {facts} 句：somebody went to the …、took the …、put the … in the …。然后提问：where"
        " is …?",
    ),
    "addition": _(
        "Numbers of up to {digits} digits; training saw up to 9.",
        "每个数最多 {digits} 位；训练时最多 9 位。",
    ),
    "reverse": _(
        "a to z, up to {letters} letters; training saw up to 20.",
        "a 到 z，最多 {letters} 个字母；训练时最多 20 个。",
    ),
    "copy": _(
        "a to z, up to {letters} letters; training saw up to 20.",
        "a 到 z，最多 {letters} 个字母；训练时最多 20 个。",
    ),
}
QUESTION: Final = _("Question", "问题")
GROUPS: Final[Mapping[str, Text]] = {
    "people": _("people", "人"),
    "verbs": _("what they do", "动作"),
    "places": _("places", "地点"),
    "things": _("things", "物品"),
    "containers": _("containers", "容器"),
    "asking": _("to ask", "提问"),
}
EXAMPLES: Final[tuple[Text, ...]] = (
    _("Three facts: a key in a basket that is carried", "三个事实：钥匙在被拿走的篮子里"),
    _("One fact: she went twice", "一个事实：她去了两处"),
    _("Nobody knows", "没有人知道"),
    _("A sum whose carry runs all the way", "进位一路传到头的加法"),
    _("A word backwards", "倒写一个单词"),
    _("A word copied", "抄写一个单词"),
)
NOBODY: Final = _("nobody knows", "nobody（无人知道）")

ORDINARY: Final = _("ordinary Transformer", "普通 Transformer")
FIXED: Final = _("four steps everywhere", "处处四步")
BESIDE: Final[Mapping[str, Text]] = {"ordinary": ORDINARY, "fixed": FIXED}
BEYOND: Final = _(
    "Longer than anything in training ({limit} {what} at most): expect mistakes.",
    "比训练时见过的都长（最多 {limit} {what}），可能出错。",
)
DIGITS: Final = _("digits", "位")
LETTERS: Final = _("letters", "个字母")

# ---- the mechanism

PONDER: Final[Mapping[str, Text]] = {
    "title": _("How long each position thinks", "每个位置想多久"),
    "step": shared.STEP,
    "question": _("Who may stop, and who thinks on?", "谁可以停下，谁继续想？"),
    "empty": _(
        "Ask something above, or begin with one of the examples.", "在上方提问，或从一个例子开始。"
    ),
}
PLACE: Final = shared.POSITION
STEP: Final = _("{n} step", "{n} 步")
STEPS_OF: Final = shared.STEP_COUNT
NO_SIGNAL: Final = _("no step signal", "没有步信号")

KIND: Final = _("Self-attention, step by step", "逐步的自注意力")
ROLES: Final[Mapping[str, Text]] = {"stories": _("sentences", "句子"), "": shared.CHARACTERS}
QUESTIONS: Final[Mapping[str, Text]] = {
    "stories": _(
        "Which sentence does each sentence look at, at this step?",
        "在这一步，每个句子看向哪个句子？",
    ),
    "": _(
        "Which character does each place look at, at this step?", "在这一步，每个位置看向哪个字符？"
    ),
}
NO_ATTENTION: Final = _(
    "Attention of every step and head comes with the first answer.",
    "有了第一个答案，就能看到每一步、每个头的注意力。",
)
JOBS: Final[Mapping[str, Text]] = {
    "previous": shared.THE_POSITION_BEFORE,
    "next": _("the position after", "后一个位置"),
    "itself": _("the position itself", "自身"),
    "first": _("the first position", "第一个位置"),
    "last": _("the last position", "最后一个位置"),
}

KNOBS: Final[Mapping[str, Text]] = {
    "limit": _("Steps at most, M", "最多步数 M"),
    "forced": _("Every position takes exactly", "每个位置恰好走"),
    "step_signal": _("Step signal", "步信号"),
}

# ---- hard inputs take longer

HARD: Final[Mapping[str, tuple[Text, Text, Text, Text]]] = MappingProxyType(
    {  # the axis, the measure, singular, plural
        "stories": (
            _("facts that the answer needs", "答案需要的事实数"),
            _("held-out stories, ponder of the question", "留出的故事，问题处的思考代价"),
            _("{n} fact", "{n} 个事实"),
            _("{n} facts", "{n} 个事实"),
        ),
        "addition": (
            _("carries", "进位数"),
            _("held-out sums, mean ponder of the answer", "留出的算式，答案处的平均思考代价"),
            shared.ONE_CARRY,
            shared.CARRIES,
        ),
        "reverse": (
            _("letters", "字母数"),
            _("held-out words, mean ponder of the answer", "留出的单词，答案处的平均思考代价"),
            _("{n} letter", "{n} 个字母"),
            _("{n} letters", "{n} 个字母"),
        ),
        "copy": (
            _("letters", "字母数"),
            _("held-out words, mean ponder of the answer", "留出的单词，答案处的平均思考代价"),
            _("{n} letter", "{n} 个字母"),
            _("{n} letters", "{n} 个字母"),
        ),
    }
)
ON_BABI: Final = _(
    "Published on bAbI, as the mean over all positions, not of the question: {figures}; ours over"
    " all positions: {all}.",
    "论文在 bAbI 上是所有位置的平均，不是问题处的：{figures}；这里所有位置的平均为 {all}。",
)

# ---- the comparisons

LENGTHS: Final = _("Twice as long as in training", "长度是训练时的两倍")
LENGTHS_UNITS: Final = _(
    "share of the answers that is right; a line for each seed", "答对的比例；每个随机种子一条线"
)
SHORT_NAMES: Final[Mapping[str, Text]] = {
    "reverse": _("reverse", "倒写"),
    "addition": shared.ADDITION,
    "copy": _("copy", "抄写"),
    "stories": _("stories", "故事"),
}
CHARACTERS: Final = shared.CHARACTERS
WHOLE: Final = _("whole answers", "整个答案")
TRAINED_AT: Final = _("≤ 20", "≤ 20")
NETWORKS: Final[Mapping[str, Text]] = {
    "": _(
        "Universal Transformer, each position stops by itself", "通用 Transformer，各位置自己停止"
    ),
    "_fixed": _("the same block, four steps everywhere", "同样的块，处处四步"),
    "_ordinary": _("ordinary Transformer, as many parameters", "参数量相同的普通 Transformer"),
}
BRIEF: Final[Mapping[str, Text]] = {
    "": _("Universal", "通用"),
    "_fixed": _("four steps", "四步"),
    "_ordinary": _("ordinary", "普通"),
}
PRINTED: Final = _("published, at 400, after training up to 40", "发表值：训练到 40，测试 400")
COLUMNS: Final[tuple[Text, ...]] = (
    _("task", "任务"),
    shared.NETWORK,
    shared.SEED,
    _("characters, ≤ 20", "字符，≤ 20"),
    _("whole, ≤ 20", "整个，≤ 20"),
    _("characters, 40", "字符，40"),
    _("whole, 40", "整个，40"),
    shared.MEAN_N_R,
)
AT_TWICE: Final = _("{task}: {shares}", "{task}：{shares}")
SHARE: Final = _("{network} {share}", "{network} {share}")
SAYS: Final = _(
    "At 40 characters, means over seeds: {tasks}.",
    "长度 40，各种子平均：{tasks}。",
)
IN_PRINT: Final = _(
    "In print, at 400 characters, the Universal Transformer leads in all three.",
    "论文在长度 400 上，通用 Transformer 三项全部领先。",
)
LEADS: Final = _(
    "Here all three seeds of it are ahead of all three of the ordinary one in: {tasks}.",
    "这里它的三个种子全部领先于普通 Transformer 的三个种子的任务：{tasks}。",
)
UNDONE: Final = _(
    "No network gets a single input of {tasks} entirely right, so those shares do not rank the"
    " networks.",
    "没有网络把任何一个{tasks}输入整个答对，所以那些比例排不出先后。",
)

# ---- the card

DATA: Final = _("made by a generator", "由生成器产生")
EACH: Final = shared.EACH
STORY_FIGURE: Final = _("stories, {split}", "故事，{split}")
OTHERS: Final = _("characters: {figures}", "字符：{figures}")
WHY: Final = _(
    "{source} has no figure to compare with this one. {why} In print, at 400 characters: {tasks}.",
    "{source} 没有可直接比较的数字。{why}论文中长度 400 的结果：{tasks}。",
)
WHY_TASK: Final = _(
    "{task} {universal}, ordinary Transformer {transformer}",
    "{task} {universal}，普通 Transformer {transformer}",
)

CURVE_UNITS: Final = _(
    "share of held-out answers that is wrong, lower is better", "留出答案中答错的比例，越低越好"
)
CURVE_SAYS: Final = _(
    "After {seen} inputs seen, the same number by each: {figures}.",
    "各看过 {seen} 个输入之后：{figures}。",
)
CURVE_EACH: Final = _("{name} {value} wrong", "{name} 错 {value}")
SEEN: Final = _("inputs seen", "看过的输入")
WRONG: Final = _("wrong", "答错")
CURVE_AXES: Final = (SEEN, WRONG)

NOTES: Final[tuple[Text, ...]] = (
    _(
        "Attention is drawn for every step; a stopped position asks nothing more, so its row is"
        " grey. Others can still look at it.",
        "每一步的注意力都画出；已停止的位置不再提问，所以它那一行是灰色。它仍可被看到。",
    ),
    _(
        "“If all stopped now” runs the network once more with that many steps at most; the"
        " remainder then takes what is left.",
        "“如果此刻全部停止”是让网络最多走这么多步再运行一次，余量取剩下的部分。",
    ),
    _(
        "Time in the panel is that of the held-out inputs as one batch, stopped positions not"
        " computed.",
        "面板中的时间是留出输入作为一批的用时，已停止的位置不再计算。",
    ),
    _(
        "One stack reads the input and fills all places of the answer at once; the paper has an"
        " encoder and a decoder.",
        "这里由同一个栈读入输入并同时填写答案的所有位置；论文用编码器和解码器。",
    ),
)

# The guided steps: (key, title, text). Their inputs and views stand in views.py, which finds
# telling positions in the stored run.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "block": _("One block, again and again", "同一个块，反复使用"),
    "halting": _("When is it enough?", "何时算够？"),
    "stopped": _("Each stops by itself", "各自停止"),
    "signal": _("A place and a step", "位置与步"),
    "facts": _("One fact, two facts, three", "一个、两个、三个事实"),
    "carries": _("A carry that runs", "一路传递的进位"),
    "forced": _("No time to think", "不给时间想"),
}
STEPS: Final[Mapping[str, Text]] = {
    "block": _(
        "A Transformer has a stack of layers, each with weights of its own. This one has a"
        " single block, used step after step on all positions at once: the sentences of a story"
        " and its question. Move through the steps and read what it would answer if it stopped"
        " now.",
        "普通 Transformer 是一叠各有权重的层。这里只有一个块，一步一步作用于所有位置：故事的句子"
        "和问题。拖动步数，看若此刻停下，它会怎么回答。",
    ),
    "halting": _(
        "After each step a unit gives a probability h of stopping. The sum grows to 1 − ε; the"
        " rest of 1 is the remainder R. The output is the mean of the states, weighted by these"
        " numbers. The cost N + R keeps it from thinking for ever.",
        "每走一步，一个单元给出停止的概率 h。h 累加到 1 − ε 为止，离 1 还差的是余量 R。输出是各"
        "步状态按这些数的加权平均。代价 N + R 使它不会一直想下去。",
    ),
    "stopped": _(
        "Every position chooses its own depth. A stopped one is copied to the next step: its row"
        " is grey in the attention view and costs nothing, but the question can still look at"
        " it. That saves time. (The paper still adds each step's signal to it; the model card"
        " says what that changes.)",
        "每个位置自己选择深度。停下的位置原样抄到下一步：它在注意力图中的那一行是灰色，不再计"
        "算，但问题仍可看向它。这样就省下时间。（论文仍给它加上每一步的步信号；模型卡说明有何不"
        "同。）",
    ),
    "signal": _(
        "The block is the same at every step, so a signal tells it the step: sinusoids of the"
        " step are added to those of the position. Here that signal is off, and the word no"
        " longer comes out backwards. The panel says how many held-out words still do.",
        "每次都是同一个块，所以要告诉它现在是第几步：除了位置的正弦信号，还加上步的正弦信号。这"
        "里关掉了步信号，单词便倒写不对了；面板显示留出的单词还有多少能写对。",
    ),
    "facts": _(
        "This answer needs one fact, the ringed sentence: where she went last. On held-out"
        " stories a question costs {one} with one fact, {two} with two and {three} with three:"
        " the network thinks longer when it must combine more. The diamond is this story; the"
        " first story needs three.",
        "知道她最后去了哪里就够了：这个答案只需一个事实，即圈出的句子。在留出的故事里，一个事实"
        "的问题平均代价 {one}，两个 {two}，三个 {three}：要拼起来的越多，想得越久。菱形就是这个"
        "故事；第一个故事需要三个事实。",
    ),
    "carries": _(
        "95,678 + 4,322: the last digits give a carry, and it runs through every column. The"
        " network fills in all digits of the answer at once, so the carry can only move from"
        " column to column in steps. Which digits think longest?",
        "95,678 + 4,322：末位产生进位，一路传过每一列。答案的所有数字同时填写，要逐列传递的东西"
        "只能一步一步传。哪些数字想得最久？",
    ),
    "forced": _(
        "The same sum, but every position gets only one step. The panel says what happens to"
        " this answer and to held-out ones. Add steps one by one: how many does the answer need?",
        "还是那个算式，每个位置只给一步。面板显示这个答案和留出的答案变成什么样。再一步步还给"
        "它：答案需要几步？",
    ),
}


# The question of each step, which is its title on the projector.
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "block": _("What does the same block do again and again?", "同一个块反复做了什么？"),
    "halting": _("When is it enough?", "何时算够？"),
    "stopped": _("Who has stopped, who goes on?", "谁已停下，谁还继续？"),
    "signal": _("Must it know which step it is?", "它必须知道是第几步吗？"),
    "facts": _("Do more facts take more thought?", "事实越多，想得越久吗？"),
    "carries": _("How does a carry run through?", "进位怎样一路传递？"),
    "forced": _("What if there is no time to think?", "没有时间想会怎样？"),
}

# Guesses for the audience before the lecturer opens the projected figure.
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "carries": _(
        "95,678 + 4,322: which digits of the answer take the most steps?",
        "95,678 + 4,322：答案的哪几位需要最多的步数？",
    ),
}

# Notes for the presenter's window: what the lecturer does or points at in each step.
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "block": _("Press Space; read the answer after each step.", "按空格；每一步后读答案。"),
    "halting": _(
        "Point at the step where the sum passes the threshold.", "指出和超过阈值的那一步。"
    ),
    "stopped": _(
        "Count the grey rows: they have stopped and are only copied.",
        "数灰色的行：它们已停下，只被复制下去。",
    ),
    "signal": _("Hold B for the word as it should be.", "按住 B 看正确的词。"),
    "facts": _(
        "Compare the middles of the three groups, then find the diamond.",
        "比较三组的中间位置，再找到菱形。",
    ),
    "carries": _(
        "Read the bars under the answer from right to left, as the carry runs.",
        "从右到左读答案下的条形，和进位的方向一样。",
    ),
    "forced": _("Hold B for the answer with time to think.", "按住 B 看有时间思考时的答案。"),
}

# 1: a step of every lecture; 3: only for a long lecture; the others may be skipped.
STEP_RANKS: Final[Mapping[str, int]] = {
    "block": 1,
    "halting": 3,
    "signal": 3,
    "carries": 1,
    "forced": 3,
}
