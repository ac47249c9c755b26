"""Exercises of a lab: questions that the page itself can check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from explorer.contract.lab import Text, bilingual
from explorer.contract.labels import Texts
from explorer.contract.labels import text as _

R_co = TypeVar("R_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)
R_contra = TypeVar("R_contra", contravariant=True)
S_contra = TypeVar("S_contra", contravariant=True)


@dataclass(frozen=True)
class Attempt(Generic[R_co, S_co]):
    """The state of a page when a student asks whether an exercise is solved.

    request: the request of the run in view.
    explanation: its result.
    plain: the result of the same input for the model as it was trained, the same object as
        `explanation` where nothing is changed.
    look: the selection, key → value as in the address without the underscore: {"head": "3.5"}.
    """

    request: R_co
    explanation: S_co
    plain: S_co
    look: Mapping[str, str]


@dataclass(frozen=True)
class Exercise(Generic[R_contra, S_contra]):
    """One question about the live model, and the check of an answer.

    key: its name in links, in the browser's memory and in handed-in codes; unique in its lab.
    question: one or two sentences that say what to reach, not which knob reaches it.
    answer: the sentence of the printed sheet with answers.
    solution: an address that solves it, without the path: "v=1&silenced=cross.1.2&_head=2.3".
    is_solved(attempt): whether the page's state solves it. It compares numbers of the run, and is
        false for the first example as the page opens.
    """

    key: str
    question: Text
    answer: Text
    solution: str
    is_solved: Callable[[Attempt[R_contra, S_contra]], bool]

    def __post_init__(self) -> None:
        bilingual(f"question of exercise “{self.key}”", self.question)
        bilingual(f"answer of exercise “{self.key}”", self.answer)
        if not self.solution.startswith("v="):
            raise ValueError(f"exercise “{self.key}”: its solution begins with the version, “v=”")


TEXTS: Final[Texts] = {
    "title": _("Exercises", "练习"),
    "lead": _(
        "Questions about live models. The page itself checks an answer: bring its run and its"
        " selection to where they show it, then press Check. What you have solved is kept in this"
        " browser alone.",
        "关于活模型的问题，由页面自己检查：让运行和所选内容给出答案，再按“检查”。做对的题目只记在这个浏览器里。",
    ),
    "check": _("Check", "检查"),
    "checking": _("The model is computing …", "模型正在计算……"),
    "solved": _("Solved.", "做对了。"),
    "open": _("Not solved yet.", "还没有做对。"),
    "not_yet": _(
        "Not yet: the run and the selection in view do not show it.",
        "还不对：眼前的运行和所选内容还不能说明这一点。",
    ),
    "all": _("All exercises", "全部练习"),
    "count": _("{n} of {of} solved", "共 {of} 题，做对 {n} 题"),
    "sheet": _("Print the sheet", "打印题目"),
    "answers": _("Print with answers", "打印题目和答案"),
    "answer": _("Answer:", "答案："),
    "see": _("see it live", "现场看"),
    "csv": _("Results as CSV", "结果存为 CSV"),
    "code": _("Your code", "您的代码"),
    "hand_in": _(
        "Hand in this code: it says which exercises this browser has solved. It is a note, not a"
        " proof.",
        "交上这个代码：它记着这个浏览器做对了哪些题。它是一张便条，不是证明。",
    ),
    "read": _("Read a code", "读一个代码"),
    "says": _(
        "This code says {n} of {of}: {which}.", "这个代码：共 {of} 题，做对 {n} 题：{which}。"
    ),
    "none": _("none of them", "一题也没有"),
    "broken": _(
        "This is no code of these exercises: a letter is missing, or it is of another version.",
        "这不是这套练习的代码：可能少了字符，或属于另一个版本。",
    ),
    "lab": _("Lab", "实验"),
    "exercise": _("Exercise", "练习"),
    "done": _("Solved on", "做对的日期"),
}
