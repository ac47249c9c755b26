"""The texts that labs share, in English and Chinese. The code that shows a text fills in its names
in braces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from models.explaining.errors import name_invisible

Text: TypeAlias = Mapping[str, str]  # {"en": "…", "zh": "…"}
Texts: TypeAlias = Mapping[str, Text]


def text(en: str, zh: str) -> Text:
    """Return a text in both languages. The texts.py of a lab calls it `_`."""
    return MappingProxyType({"en": en, "zh": zh})


_ = text

# Shared with the labs (shared_texts.py).
HEAD: Final = _("head", "头")
MODEL: Final = _("model", "模型")
RUN: Final = _("Run", "运行")
STEP: Final = _("step", "步")

SITE: Final[Texts] = {
    "name": _("Transformer family explorer", "Transformer 家族探索"),
    "short": _("Transformer family", "Transformer 家族"),
    "description": _(
        "The whole Transformer family, live: trained models run on your own input and show their"
        " mechanism while they work.",
        "活的 Transformer 家族：训练好的模型在您自己的输入上运行，边运行边画出内部机制。",
    ),
}

SHELL: Final[Texts] = {
    "skip": _("Skip to the content", "跳到正文"),
    "site": _("Site", "站点"),
    "where": _("Where am I", "我在哪里"),
    "map": _("Family map", "家族图谱"),
    "labs": _("Labs", "实验"),
    "compare": _("Compare", "对比"),
    "lecture": _("Guided lecture", "导览讲座"),
    "language": _("switch to Chinese", "切换到英文"),
    "dark": _("Dark", "深色"),
    "light": _("Light", "浅色"),
    "project": _("Project", "投影"),
    "copy": _("Copy link", "复制链接"),
    "copied": _("Copied", "已复制"),
    "refused": _(
        "Your browser does not let this page copy. Take the link from here:",
        "浏览器不允许本页复制。请从这里取链接：",
    ),
    "close": _("Close", "关闭"),
    "menu": _("Menu", "菜单"),
    "family": _("The family", "家族"),
    "of_year": _("{n} labs", "{n} 个实验"),
    "steps": _("Guided steps", "导览步骤"),
    "step": _("Step {step} of {of}", "第 {step} 步，共 {of} 步"),
    "done": _("done", "已看过"),
    "back": _("Back", "上一步"),
    "next": _("Next step", "下一步"),
    "begin": _("First step", "第一步"),
    "onward": _("Next: {lab}", "下一个：{lab}"),
    "tour": _("{of} steps to go through", "共 {of} 步导览"),
    "over": _("End of the lecture", "讲座结束"),
    "leave_step": _("Close this note", "收起这段说明"),
    "keys": _("Keys and clicks", "键盘与点击"),
    "grammar_where": _(
        "Keys act while a view has the focus, and in projector mode.",
        "视图获得焦点时，或在投影模式下，按键才起作用。",
    ),
    "esc": _("Esc leaves", "Esc 退出"),
    "qr": _("QR code of the link to this view", "本视图链接的二维码"),
    "projecting": _("Projector mode. Esc leaves.", "投影模式。按 Esc 退出。"),
    "whole": _("Open the whole lab", "打开整个实验"),
    "expecting": _("This figure is being computed.", "这幅图正在计算。"),
    "guess": _("Guess first", "先猜一猜"),
    "reveal": _("Show the figure", "揭晓"),
}

CLOSED: Final[Texts] = {
    "kicker": _("This lab is closed", "本实验暂时关闭"),
    "line": _(
        "A file of this lab cannot be read; the server's log names it. The other labs work: the"
        " list of the family and the map lead there.",
        "本实验有一个文件无法读取，服务器日志写明了是哪一个。其他实验不受影响，"
        "可从家族列表或家族图谱前往。",
    ),
    "spoken": _("The equation of this lab", "本实验的公式"),
}

# One grammar of interaction for every view: each gesture and its effect on the view.
GRAMMAR: Final[tuple[tuple[Text, Text], ...]] = (
    (_("hover", "悬停"), _("preview", "预览")),
    (_("click", "点击"), _("lock", "锁定")),
    (_("shift-click", "shift-点击"), _("add", "追加")),
    (_("Esc", "Esc"), _("reset", "复位")),
    (_("←→", "←→"), STEP),
    (_("↑↓", "↑↓"), HEAD),
    (_("Space", "空格"), _("play", "播放")),
    (_("B", "B"), _("before", "之前")),
    (_("P", "P"), _("project", "投影")),
    (_("?", "?"), _("all keys", "全部按键")),
)

# The same in full sentences, for the sheet that “?” opens.
GRAMMAR_IN_FULL: Final[tuple[tuple[Text, Text], ...]] = (
    (_("hover, tap", "悬停、轻触"), _("show what is under the pointer", "显示指针下的内容")),
    (_("click, tap again", "点击、再次轻触"), _("lock it", "锁定")),
    (_("shift-click", "shift-点击"), _("add it to what is chosen", "加入所选")),
    (
        _("Esc", "Esc"),
        _("return the view to its start; leave projector mode", "视图复位；退出投影模式"),
    ),
    (_("← →", "← →"), _("the step before, the step after", "上一步，下一步")),
    (_("↑ ↓", "↑ ↓"), _("another head", "换一个头")),
    (_("Space", "空格"), _("play, pause", "播放、暂停")),
    (
        _("B", "B"),
        _(
            "hold to show the run before the change; tap to keep it",
            "按住时显示改动之前的运行；短按则保持",
        ),
    ),
    (
        _("PageUp PageDown", "PageUp PageDown"),
        _(
            "guided steps, in projector mode and in the guided lecture",
            "导览步骤（投影模式下、导览讲座中）",
        ),
    ),
    (_("P", "P"), _("projector mode", "投影模式")),
    (
        _("Enter", "Enter"),
        _("show the projected figure that waits for a guess", "揭晓正等着大家猜的投影图"),
    ),
    (_("?", "?"), _("this sheet", "本页按键表")),
)

CHANGED: Final[Texts] = {
    "input": _("new kind of input", "新的输入"),
    "memory": _("longer memory", "更长的记忆"),
    "cost": _("lower cost", "更低的开销"),
    "depth": _("depth on demand", "按需加深"),
    "reading": _("reads both ways", "双向阅读"),
    "measured": _("the same parts, measured", "同样的部件，测量开销"),
}

HOME: Final[Texts] = {
    "title": _("One idea,\na whole family", "一个想法，\n一整个家族"),
    "lead": _(
        "Nearly every card opens a small trained model. Give it your own words, pixels or notes,"
        " and watch its mechanism at work.",
        "几乎每张卡片都打开一个训练好的小模型。给它您自己的文字、像素或音符，看它的机制如何运转。",
    ),
    "lecture": _("Start the guided lecture", "开始导览讲座"),
    "surprise": _("Surprise me", "随便看一个"),
    "open": _("Open the lab", "打开实验"),
    "steps": _("{of} steps", "{of} 步"),
    "changed": _("What it changed", "它改变了什么"),
    "from_": _("From {lab}.", "来自{lab}。"),
    "before": _("before {year}", "{year} 年以前"),
    "looks": _("looks at", "看向"),
    "map": _("Family map", "家族图谱"),
}

LECTURE: Final[Texts] = {
    "title": _("Guided lecture", "导览讲座"),
    "lead": _(
        "One walk through the whole family. Each step opens a real run with the view that makes its"
        " point; change whatever you like on the way, the next step is always there.",
        "带您走遍整个家族。每一步都打开一次真实的运行和最能说明问题的视图；途中随意改动，下一步总在那里。",
    ),
    "begin": _("Begin", "开始"),
    "keys": _(
        "→ or PageDown goes on, ← or PageUp goes back, from the last step of one lab to the first"
        " of the next. P projects a figure, and the lecture goes on there.",
        "→ 或 PageDown 前进，← 或 PageUp 后退，从一个实验的最后一步直接到下一个实验的第一步。按 P"
        " 投影一幅图，讲座在投影中继续。",
    ),
    "steps": _("Steps: {lab}", "步骤：{lab}"),
    "presenter": _("Presenter's window", "演讲者窗口"),
    "handout": _("Print the handout", "打印讲义"),
    "exercises": _("Exercise sheet", "练习题"),
    "drawing": _("Drawing slide {n} of {of}", "正在绘制第 {n} / {of} 张"),
}

COMPARE: Final[Texts] = {
    "title": _("Side by side", "并排对比"),
    "lead": _(
        "Compare two heads, two inputs, or two labs with the same input. Both sides are live:"
        " what you lock on one side is locked on both.",
        "两个头、两个输入，或输入相同的两个实验：两边都是活的；您在一边锁定，另一边随之锁定。",
    ),
    "left": _("left side", "左边"),
    "right": _("right side", "右边"),
    "lab": _("lab, {side}", "{side}的实验"),
    "input": _("input, {side}", "{side}的输入"),
    "picture": _("picture, {side}", "{side}的图"),
    "attention": _("Attention", "注意力"),
    "ponder": _("Ponder steps", "思考步数"),
    "reading": _("Reading", "阅读"),
    "passes": _("Pieces in time", "词片与时间"),
    "own": _("Your own text", "您自己的文字"),
    "run": RUN,
    "open": _("Open lab", "打开实验"),
    "swap": _("Swap sides", "左右互换"),
    "difference": _("Difference", "差值"),
    "unlike": _(
        "The two pictures have different shapes, so there is no difference to draw.",
        "两幅图形状不同，因此没有差值可画。",
    ),
    "waits": _(
        "The difference is drawn once both sides show their result.",
        "两边都显示所要求的内容后，才画差值。",
    ),
}

PRESENTER: Final[Texts] = {
    "title": _("Presenter", "演讲者窗口"),
    "lead": _(
        "Notes, time and the next step, beside the window that is projected.",
        "备注、时间与下一步，与投影窗口配合使用。",
    ),
    "route": _("Route", "路线"),
    "minutes": _("{n} min", "{n} 分钟"),
    "projected": _("projected · {size}", "正在投影 · {size}"),
    "followed": _("not projected yet", "尚未投影"),
    "nobody": _("no window to project", "没有投影窗口"),
    "open": _("Open the window to project", "打开投影窗口"),
    "project": _("Project it", "开始投影"),
    "again": _("Start again", "重新开始"),
    "screen": _("On the screen", "屏幕上"),
    "place": _("{lab}, step {step} of {of}", "{lab}，第 {step} 步，共 {of} 步"),
    "notes": _("Notes", "备注"),
    "ask": _("Ask first: {guess}", "先问：{guess}"),
    "show": _("Show: {show}", "展示：{show}"),
    "says": _("The figure says: {sentence}", "图中的话：{sentence}"),
    "covered": _(
        "The figure is covered until the hall has guessed.", "图已遮住，等大家猜过再揭晓。"
    ),
    "reveal": _("Show the figure", "揭晓"),
    "gone": _("time elapsed", "已用时间"),
    "this": _("this step", "这一步"),
    "planned": _("planned {time}", "计划 {time}"),
    "now": _("now {time}", "现在 {time}"),
    "behind": _("{time} behind", "落后 {time}"),
    "ahead": _("{time} ahead", "提前 {time}"),
    "fits": _("in time", "按时"),
    "wins": _("Skip {steps} to save {time}.", "跳过{steps}可省 {time}。"),
    "one": _("{lab} {step}", "{lab} {step}"),
    "skip_them": _("Skip them", "跳过这些"),
    "next": _("Next", "接下来"),
    "then": _("Then", "然后"),
    "end": _("This is the last step of the route.", "这是路线的最后一步。"),
    "back": _("Back", "上一步"),
    "forward": _("Next step", "下一步"),
    "may_skip": _("may skip", "可跳过"),
    "skipped": _("skipped", "已跳过"),
    "off": _("not on this route", "不在此路线上"),
    "skip": _("Skip step {step} of {lab}", "跳过{lab}第 {step} 步"),
    "steps": _("Steps", "步骤"),
    "labs": _("Labs of the route", "路线上的实验"),
}

# The texts on every lab's card, and the message of every page after an error.
CARD: Final[Texts] = {
    "model": MODEL,
    "parameters": _("parameters", "参数"),
    "data": _("data", "数据"),
    "trained": _("trained in", "训练用时"),
    "missing": _("not yet measured", "尚未测量"),
    "published": _("published {value}", "发表值 {value}"),
    "unfinished": _("training unfinished", "训练未完成"),
    "curve": _("How it was trained", "训练过程"),
}
MALFORMED: Final[Text] = {
    "en": "The request does not have the form that this page sends.",
    "zh": "请求的格式与本页发送的不同。",
}
DEFECT: Final[Text] = {
    "en": (
        "Something in the program went wrong with this input; it is in the server's log. Other"
        " inputs still work."
    ),
    "zh": "程序在处理这个输入时出错，已记入服务器日志。其他输入不受影响。",
}


NO_SUCH_VIEW: Final = _("This run does not have this view.", "这次运行做的事没有这个视图。")

# The reasons why a generated result ends, as in models/explaining/shared_records.py.
ENDED: Final[Texts] = {
    "token": _("the stop token ended it after {size}.", "由终止符结束，共 {size}。"),
    "limit": _("the limit of {size} ended it.", "达到上限而结束：{size}。"),
    "cancelled": _("it was cancelled after {size}.", "已取消，当时有 {size}。"),
}
ENDED_BRIEFLY: Final[Texts] = {
    "token": _("stop token", "终止符"),
    "limit": _("limit {n}", "上限 {n}"),
    "cancelled": _("cancelled", "已取消"),
}
ENDED_OF: Final = _("{of}: {said}", "{of}：{said}")
SIZES: Final[Texts] = {
    name: _(f"{{n}} {name}", f"{{n}} {chinese}")
    for name, chinese in {
        "pieces": "个词片",
        "tokens": "个词元",
        "characters": "个字符",
        "pixels": "个像素",
        "values": "个数值",
        "cells": "格",
        "events": "个事件",
        "sentences": "个句子",
    }.items()
}

NOT_BY_LINK: Final = _(
    "this input is too long for the link that opens the view.",
    "输入太长，放不进打开该视图所需的链接。",
)

# Nouns behind a number in a text: the second form follows every number but 1. `lib/lang.js` has the
# same table for texts that the browser fills in.
_MANY: Final = (
    "answers bars beats blocks boxes buckets carries cells characters checkpoints columns"
    " comparisons coordinates corridors digits edges epochs events facts gates guesses heads"
    " hypotheses inputs keys kinds labels labs layers letters levels models nodes notes objects"
    " octaves pairs parts pictures pieces pixels places positions queries rounds rows runs"
    " semitones sentences spans steps symbols threads tokens units updates values ways weights"
    " words"
)
_ODD: Final = {"boxes": "box", "guesses": "guess", "hypotheses": "hypothesis"}
NOUNS: Final[Mapping[str, str]] = {
    many: _ODD.get(many) or re.sub("ies$", "ys", many)[:-1] for many in _MANY.split()
}
_COUNTED = re.compile(rf"\{{(\w+)\}}((?: other| more)? )({'|'.join(NOUNS)})\b")
_CHOSEN = re.compile(r"\{(\w+)\|([^{}|]*)\|([^{}|]*)\}")


def quote_text(words: str) -> Text:
    """Return words that stay as they are in every language, such as an input in English."""
    return text(words, words)


def agree_with_numbers(text: str, values: Mapping[str, object]) -> str:
    """Return a text whose words agree with their numbers: "{n} layers" becomes "{n} layer" where n
    is 1, and "{n|this layer is|these are}" is treated in the same way."""

    def is_one(name: str) -> bool:
        return str(values.get(name)) == "1"

    text = _COUNTED.sub(lambda m: f"{{{m[1]}}}{m[2]}{NOUNS[m[3]]}" if is_one(m[1]) else m[0], text)
    return _CHOSEN.sub(
        lambda m: m[0] if m[1] not in values else m[2] if is_one(m[1]) else m[3], text
    )


def fill_text(text: Text, **values: object) -> Text:
    """Return a text with its names in braces replaced and its nouns in agreement with their
    numbers. A value may itself be a text in two languages.

    Invisible characters and direction marks in a visitor's text are named.
    """
    made: dict[str, str] = {}
    for language in ("en", "zh"):
        made[language] = agree_with_numbers(text[language], values)
        for name, value in values.items():
            said = value[language] if isinstance(value, Mapping) else name_invisible(str(value))
            made[language] = made[language].replace("{" + name + "}", said)
    return made


def join_with_and(parts: Sequence[Text]) -> Text | None:
    """Return several parts as one text, joined by "and"; None for no parts."""
    return join_parts(parts, " and ") if parts else None


def join_sentences(*remarks: Text | None) -> Text | None:
    """Return several sentences as one remark, or None for no sentences."""
    said = [one for one in remarks if one]
    return join_parts(said, " ", "") if said else None


def join_parts(parts: Sequence[Text], english: str = ", ", chinese: str = "，") -> Text:
    """Return several parts as one text, with the given separator of each language between them."""
    return {
        "en": english.join(part["en"] for part in parts),
        "zh": chinese.join(part["zh"] for part in parts),
    }


def capitalise(text: Text) -> Text:
    """Return a text as the beginning of a sentence."""
    return {"en": text["en"][:1].upper() + text["en"][1:], "zh": text["zh"]}


def build_sentence(parts: Sequence[Text], last: Text | None = None) -> Text:
    """Return the parts of a sentence as one text, with `last` behind a semicolon."""
    whole = capitalise(
        join_parts(parts) if last is None else join_parts([join_parts(parts), last], "; ", "；")
    )
    return {"en": f"{whole['en']}.", "zh": f"{whole['zh']}。"}


def name_split(name: object) -> Text:
    """Return the page's name for a part of a data set, from the name in `model.json`: "val" ->
    validation, 验证集; "test_2016" -> test 2016, 2016 测试集."""
    known = {
        "test": ("test", "测试集"),
        "val": ("validation", "验证集"),
        "valid": ("validation", "验证集"),
    }
    part, _, year = str(name).partition("_")
    if part not in known:
        return dict.fromkeys(("en", "zh"), str(name).replace("_", " "))
    english, chinese = known[part]
    return {"en": f"{english} {year}".rstrip(), "zh": f"{year} {chinese}".lstrip()}


def name_device(name: str) -> Text:
    """Return the device that a network was trained on, from its name in `model.json`: "cpu, 1
    threads" -> CPU, 1 thread; CPU，1 线程."""
    named = name.replace("cpu", "CPU")
    english = re.sub(r"\b1 threads", "1 thread", named)
    return {"en": english, "zh": re.sub(r"(\d+) threads?", r"\1 线程", named.replace(", ", "，"))}


def name_machine(result: Mapping[str, object]) -> Text:
    """Return the machine that a benchmark ran on.

    result: {device, threads, …}, as `python -m benchmarks NAME --save` keeps it.
    """
    return name_device(f"{result['device']}, {result['threads']} threads")


def format_two_digits(value: float) -> str:
    """Return a number as most sentences print it: 0.57, −8.44. A number that rounds to zero has no
    sign."""
    return f"{value:z,.2f}".replace("-", "−")


def write_change_sentence(
    moves: Text,
    stays: Text,
    before: float,
    after: float,
    *,
    show: Callable[[float], str] = format_two_digits,
    **values: object,
) -> Text:
    """Return the sentence of a change: `moves` with {before} and {after} as `show` prints them, and
    `stays` where both are printed alike.

    This way no sentence says that 0.57 became 0.57.
    """
    was, now = show(before), show(after)
    return fill_text(stays if was == now else moves, before=was, after=now, **values)
