"""The texts of the lab of truncated self-attention, English and Chinese, and its guided steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.contract import shared_texts as shared
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

TITLE: Final = _("Speech: truncated self-attention", "语音：截断自注意力")
SHORT: Final = _("Speech", "语音")
LINE: Final = _(
    "A recogniser of spoken digits attends to a window around each moment, so it writes while you"
    " speak.",
    "一个识别语音数字的网络只注意每个时刻附近的一个窗口，于是您一边说它一边写。",
)
CARD: Final = _("Hears a window,\nwrites at once.", "只听一个窗口，\n边说边写。")
KICKER: Final = _("Yeh et al., 2019 · arXiv 1910.12977", "Yeh 等，2019 · arXiv 1910.12977")
EQUATION: Final = (
    "y{sub:t} = Σ{sub:j=t−L…t+R} softmax({query:q_t}{key:k_j}/{root:d_k} + b{sub:j−t}) {value:v_j}"
)
SPOKEN: Final = _(
    "The output y t is the sum over keys j from t minus L to t plus R of the softmax of q t times k"
    " j over the root of d plus a bias for the distance, times the value v j",
    "输出 y t 是键 j 从 t 减 L 到 t 加 R 的加权和：权重是 q t 乘 k j 除以根号 d 再加距离偏置的"
    " softmax，乘以值 v j",
)

REGION: Final = _("What the network hears", "网络听什么")
RUN: Final = _("Listen", "识别")
SOURCE: Final = _("Sound", "声音")
SOURCES: Final[Mapping[str, Text]] = {
    "number": _("A number, spoken from clips", "由录音片段读出的数"),
    "recording": _("My own voice or file", "我的声音或文件"),
}
NUMBER: Final = _("A number to be spoken", "要读出的数")
NUMBER_HINT: Final = _(
    "1 to 10 digits; the clips are ones that no network learned from.",
    "1 到 10 位数字；所用片段没有任何网络学过。",
)
VOICE: Final = _("Voice", "嗓音")
SEED_LABEL: Final = _("Clips and pauses", "片段与停顿")
SEED_HINT: Final = _("Chooses the clips and the pauses.", "决定用哪些片段和停顿。")
RECORDING: Final = _("Your recording", "您的录音")
PIECE: Final = _("Fed in pieces of", "每次送入")
MILLISECONDS: Final = shared.MILLISECONDS
EXAMPLES: Final[tuple[Text, ...]] = (
    _("Two threes side by side", "两个相邻的 3"),
    _("Another voice: 1998", "另一个嗓音：1998"),
    _("Five digits in turn", "交替的五位数"),
    _("Ten digits, one of each", "十个数字各一次"),
    _("One digit three times", "同一数字三次"),
)

# The answer.
NOTHING: Final = _("nothing heard", "什么也没听到")
LATENCY: Final = _("look-ahead {s} s", "前瞻 {s} 秒")
LATENCY_MEANS: Final = _(
    "Layers × R × 40 ms: what must come after a frame before its digit is final",
    "层数 × R × 40 毫秒：一帧之后还必须到来多少声音，它的数字才算定下",
)
SURE: Final = _("least sure digit {p}", "最不确定的数字 {p}")
SURE_MEANS: Final = _(
    "The smallest probability among the digits that were written", "所写各数字的概率中最小的一个"
)
STREAMED: Final = _("in pieces as at once: {difference}", "分段与整段之差：{difference}")
STREAMED_MEANS: Final = _(
    "The largest difference between the probabilities of the stream and those of the whole"
    " sound at once",
    "逐段送入与整段一次算出的概率之间的最大差",
)
UNSURE: Final = _(
    "The network is less sure here than on 99 of 100 held-out numbers: words that are no digits"
    " become digits too.",
    "网络在这里比 100 个留出数中的 99 个都更没有把握：不是数字的词也会被写成数字。",
)

# The pictures.
STREAM: Final[Mapping[str, Text]] = {
    "title": _("The sound, and what a digit could hear", "声音，以及一个数字能听到的部分"),
    "question": _("What could the network hear when it wrote?", "网络写下时能听到什么？"),
}
PATH: Final[Mapping[str, Text]] = {
    "title": _("Every 40 ms: a digit or a blank", "每 40 毫秒：一个数字，或空白"),
    "question": _("How do frames become a number?", "一帧帧怎样变成一个数？"),
}
BANDS: Final[Mapping[str, Text]] = {
    "title": _("Attention, a band for each head", "注意力：每个头一条带"),
    "question": _("How far back does each head listen?", "每个头往回听多远？"),
}
WAITS: Final[Mapping[str, Text]] = {
    "title": _("The real wait, for every R", "每个 R 的真实等待"),
    "question": _("How late is each digit written?", "每个数字晚多久才写下？"),
}

# The change panel.
LEFT: Final = _("Left window L, frames", "左窗口 L，帧")
RIGHT: Final = _("Look-ahead R, frames", "前瞻 R，帧")
LEFT_IS: Final = _("L = {n}", "L = {n}")
RIGHT_IS: Final = _("R = {n}", "R = {n}")
NOISE: Final = _("Noise below the speech", "噪声低于语音")
DECIBELS: Final = _("{n} dB", "{n} 分贝")
NO_NOISE: Final = shared.NONE
NOISY: Final = _("noise {n} dB below", "噪声低 {n} 分贝")
SPEED: Final = _("Speed", "语速")
TIMES: Final = shared.TIMES
SPED: Final = _("{n} times as fast", "{n} 倍语速")
UNHEARD: Final = _("Network that never heard this voice", "从未听过这个嗓音的网络")
UNHEARD_SAYS: Final = _("a network that never heard this voice", "从未听过这个嗓音的网络")
ON: Final = shared.SWITCHED_ON
OFF: Final = shared.SWITCHED_OFF
MODEL: Final = _("the network", "网络")
HEAD: Final = shared.HEAD_NAME
POINTS: Final = _("points of digit error, shipped clips", "个百分点：随附片段的数字错误率")
OWN: Final = _("this sound", "这段声音")
SHIPPED: Final = _("error on {n} shipped digits", "随附的 {n} 个数字上的错误率")
WRITTEN: Final = _("written", "写下")
EDITS: Final = _("digits wrong", "错误的数字")
AHEAD_S: Final = _("look-ahead, s", "前瞻，秒")
ERROR_ALL: Final = _("all voices, %", "全部嗓音，%")
ERROR_VOICE: Final = _("{voice}, %", "{voice}，%")
COST: Final = _("ms a second", "每秒用时，毫秒")
VERDICTS: Final[Mapping[str, Text]] = {
    "same": shared.THE_SAME,
    "other": shared.ANOTHER,
    "lost": shared.NOW_WRONG,
    "won": shared.NOW_RIGHT,
}
OTHER: Final = _(
    "the network writes “⟦o:{now}⟧” in place of “{was}”", "网络写下“⟦o:{now}⟧”，而不是“{was}”"
)
SAME: Final = _("the network still writes “⟦o:{now}⟧”", "网络仍写下“⟦o:{now}⟧”")
MOVES: Final = _(
    "With {changes}, {own}; on {n} shipped digits the error goes from {before} to {after}.",
    "{changes}：{own}；在 {n} 个随附数字上，错误率由 {before} 变为 {after}。",
)
STAYS: Final = _(
    "With {changes}, {own}; on {n} shipped digits the error stays {before}.",
    "{changes}：{own}；在 {n} 个随附数字上，错误率仍为 {before}。",
)

# The stored curves.
BACK: Final = _("L: how far back, R = 2", "L：往回多远，R = 2")
AHEAD: Final = _("R: how far ahead, L = 16", "R：往前多远，L = 16")
NO_LIMIT: Final = _("no limit", "不限")
WINDOW: Final = _("The past decides, the future hardly matters", "过去起决定作用，未来几乎无关")
WINDOW_UNITS: Final = _(
    "digit error, %, stored: {n} held-out digits; the line marks your window",
    "数字错误率，%，存储的结果：{n} 个留出数字；竖线之间是您的窗口",
)
WINDOW_AXES: Final = (
    _("seconds that four layers reach", "四层能及的秒数"),
    _("digit error, %", "数字错误率，%"),
)
WINDOW_COLUMNS: Final = (
    _("window", "窗口"),
    _("frames", "帧"),
    _("four layers, s", "四层，秒"),
    _("digit error, %", "数字错误率，%"),
)
WINDOW_SAYS: Final = _(
    "L = {few} errs on {worst} of digits, the best L on {best}, L = {most} on {wide}. R from 0 to 8"
    " stays between {low} and {high}: looking ahead gains next to nothing here. Without any limit"
    " ahead the same network errs on {full}; it never learned that.",
    "L = {few} 时数字错误率为 {worst}，最好的 L 为 {best}，L = {most} 为 {wide}。R 从 0 到 8 始终在"
    " {low} 与 {high} 之间：在这里往前看几乎没有好处。往前不设限时同一网络错 {full}；它没有学过"
    "这种情形。",
)
VOICES: Final = _("A voice that was never heard", "从未听过的嗓音")
EACH_VOICE: Final = _("Each voice that it learned from", "学过的各个嗓音")
VOICES_UNITS: Final = _(
    "digit error, %, stored: R = 2, held-out clips", "数字错误率，%，存储的结果：R = 2，留出片段"
)
VOICE_AXES: Final = (_("voice", "嗓音"), _("digit error, %", "数字错误率，%"))
HEARD: Final = _("heard in training", "训练时听过")
NEVER_HEARD: Final = _("never heard", "从未听过")
VOICES_HEARD: Final = _(
    "The mean over the six voices of training is {error}.", "训练过的六个嗓音平均为 {error}。"
)
VOICES_SAY: Final = _(
    "The mean over the six voices of training is {error}. Networks that never heard a voice,"
    " trained for fewer steps, err on {unheard} of its digits ({n} of six voices tried).",
    "训练过的六个嗓音平均为 {error}。从未听过某个嗓音、训练步数也更少的网络，"
    "在该嗓音上平均错 {unheard}（六个嗓音中试了 {n} 个）。",
)

NOTES: Final[tuple[Text, ...]] = (
    _(
        "A number is spoken from clips of takes 0 to 4, at equal loudness, with random pauses; no"
        " network learned from these takes.",
        "数由第 0 到 4 次录音的片段读出，音量相同，停顿随机；没有任何网络学过这些录音。",
    ),
    _(
        "The end of a digit is where its clip ends: that may hold some breath or silence, so a"
        " digit may be written before it.",
        "数字的结束以片段结束为准：其中可能含有气息或静音，所以数字可能在此之前就被写下。",
    ),
    _(
        "Your recording stays on this server only for the answer; a link cannot hold it, a saved"
        " view can.",
        "您的录音只为得到回答而留在本服务器；链接装不下它，保存的视图可以。",
    ),
    _(
        "Silenced heads, L and R act in the live network; it was trained with L = 16 and R from 0"
        " to 8.",
        "关掉的头、L 和 R 都作用于实时的网络；它训练时 L = 16，R 为 0 到 8。",
    ),
)

# The card.
CLIPS: Final = _("FSDD, 6 voices", "FSDD，6 个嗓音")
ERROR_ON: Final = _("digit error, {split}", "数字错误率，{split}")
AT_R0: Final = _("R = 2; {error} at R = 0", "R = 2；R = 0 时 {error}")
UNPUBLISHED: Final = _(
    "Yeh et al. (2019) train a transducer on LibriSpeech and count words: their error rates, lower"
    " with the whole recording than with a window, cannot stand beside digits.",
    "Yeh 等（2019）在 LibriSpeech 上训练转录器，按词计算：其错误率（看全句时低于看窗口时）不能与"
    "数字并列。",
)
LICENCE: Final = _(
    "CC BY-SA 4.0: the clips and these weights (Free Spoken Digit Dataset, Zohar Jackson and"
    " contributors)",
    "CC BY-SA 4.0：录音片段与这些权重（Free Spoken Digit Dataset，Zohar Jackson 等）",
)
VARIANTS: Final[Mapping[str, Text]] = {"base": _("the network", "网络")}
COLOURS: Final[Mapping[str, str]] = {"base": "var(--cat-1)"}
CURVE_UNITS: Final = _(
    "digit error on numbers for choosing, R = 2, lower is better",
    "选择用数上的数字错误率，R = 2，越低越好",
)
CURVE_SAYS: Final = shared.AT_THE_END
CURVE_AXES: Final = (shared.TRAINING_STEPS, _("digit error, %", "数字错误率，%"))

# The guided steps: (key, title, text). Their inputs and views stand in views.py.
STEP_TITLES: Final[Mapping[str, Text]] = {
    "hear": _("Hear it, see it", "听一听，看一看"),
    "path": _("Frames, blank, collapse", "帧、空白、合并"),
    "cone": _("Depth adds up", "层层累加"),
    "band": _("Each head is a band", "每个头是一条带"),
    "wait": _("The real wait", "真实的等待"),
    "window": _("Cut the past", "截短过去"),
    "noise": _("Add noise", "加入噪声"),
    "voice": _("Another voice, ten digits", "另一个嗓音，十个数字"),
}
STEPS: Final[Mapping[str, Text]] = {
    "hear": _(
        "The picture is the sound: time runs to the right, pitch upwards. Press play. The network"
        " reads a column every 40 ms and writes a digit when it is sure, long before the number is"
        " over.",
        "图就是声音：向右是时间，向上是音高。按播放。网络每 40 毫秒读一列，有把握时就写下一个数字，"
        "远在整个数说完之前。",
    ),
    "path": _(
        "Every 40 ms the network names a digit or the blank. Repeats merge, blanks vanish: that is"
        " the number. Without a blank between them, the two threes would merge into one.",
        "网络每 40 毫秒给出一个数字或空白。重复的合并，空白消失，剩下的就是这个数。若两个 3"
        " 之间没有空白，它们就会合成一个。",
    ),
    "cone": _(
        "One layer sees 16 frames back and 2 ahead. The next layer sees what these saw: four layers"
        " reach 64 back and 8 ahead. The cone is all that this digit could hear; outside of it the"
        " gradient is exactly 0. Play it.",
        "一层往回看 16 帧，往前看 2 帧；下一层看到的是它们所看到的：四层往回 64 帧，往前 8 帧。"
        "锥体就是这个数字能听到的全部，锥体之外梯度恰好为 0。播放听听。",
    ),
    "band": _(
        "Full attention would fill a square and wait for the end of the sound. Here each row has a"
        " window, so all rows together are a band. Go through the heads with ↑ and ↓: some listen"
        " to the last moment, some half a second back.",
        "全注意力会填满整个方形，并且要等声音结束。这里每一行只有一个窗口，合起来就是一条带。按"
        " ↑ ↓ 换头：有的听刚才一瞬，有的听半秒之前。",
    ),
    "wait": _(
        "Each row is one R, each mark the moment at which a digit is final. A larger R writes"
        " later: 0.16 s for every frame ahead. The digits stay the same, so here R = 0 costs"
        " next to nothing.",
        "每一行是一个 R，每个标记是一个数字定下的时刻。R 越大写得越晚：每多看一帧晚 0.16"
        " 秒。数字却不变，所以在这里 R = 0 几乎没有代价。",
    ),
    "window": _(
        "Now each layer sees two frames back. Four layers together hear a third of a second: less"
        " than many digits last. The number shows how many more digits go wrong. What a"
        " recogniser of digits needs is its past.",
        "现在每层只往回看两帧，四层一共听到三分之一秒，比许多数字还短。那个数字显示多错了多少。"
        "识别数字需要的是过去。",
    ),
    "noise": _(
        "White noise only 6 dB below the voice. The digits are still there for your ear; the"
        " network learned from noise of 8 to 40 dB below and loses some. Turn the noise down and"
        " see where it hears again.",
        "白噪声只比语音低 6 分贝。您的耳朵仍能听出数字；网络学过低 8 到 40 分贝的噪声，这里会丢掉"
        "一些。把噪声调低，看它从哪里起又能听清。",
    ),
    "voice": _(
        "Ten digits of another voice. The sound is fed 160 ms at a time, and what comes out equals"
        " the whole at once to a millionth. Now speak a number yourself: these six voices are"
        " all that it ever heard.",
        "另一个嗓音的十个数字。声音每次送入 160 毫秒，结果与一次算完只差百万分之一量级。现在请您"
        "自己说一个数：它一共只听过这六个嗓音。",
    ),
}
STEP_QUESTIONS: Final[Mapping[str, Text]] = {
    "hear": _("When does it write?", "它什么时候写？"),
    "path": _("How do frames become a number?", "一帧帧怎样变成一个数？"),
    "cone": _("What could this digit hear?", "这个数字能听到什么？"),
    "band": _("Where does a head listen?", "一个头听哪里？"),
    "wait": _("What does looking ahead cost?", "往前看的代价是什么？"),
    "window": _("What if the past is cut?", "截短过去会怎样？"),
    "noise": _("How much noise can it bear?", "它能承受多少噪声？"),
    "voice": _("Does it follow another voice?", "换个嗓音它跟得上吗？"),
}
STEP_GUESSES: Final[Mapping[str, Text]] = {
    "window": _(
        "Each layer now sees 2 frames back in place of 16. Of a hundred digits, how many go wrong?",
        "每层往回看的帧数由 16 变为 2。一百个数字里会错多少个？",
    ),
}
STEP_SHOWS: Final[Mapping[str, Text]] = {
    "hear": _("Press Space; the digits appear one by one.", "按空格；数字逐个出现。"),
    "path": _("Point at the blank between the threes.", "指向两个 3 之间的空白。"),
    "cone": _("Play what the digit could hear.", "播放这个数字能听到的声音。"),
    "band": _("Go through the heads with ↑ and ↓.", "按 ↑ ↓ 换头。"),
    "wait": _("Follow one digit from row to row.", "沿着一个数字逐行往下看。"),
    "window": _("Point at the number, then at the answer.", "先指数字，再指回答。"),
    "noise": _("Turn the noise down step by step.", "把噪声一步步调低。"),
    "voice": _("Let somebody in the hall speak a number.", "请在场的一位说一个数。"),
}
STEP_RANKS: Final[Mapping[str, int]] = {
    "hear": 1,
    "cone": 2,
    "window": 2,
    "band": 2,
    "noise": 3,
    "voice": 3,
}
