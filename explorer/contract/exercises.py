"""Exercises of a lab: questions that the page itself can check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from explorer.contract.lab import Text, bilingual

R = TypeVar("R")
S = TypeVar("S")


@dataclass(frozen=True)
class Attempt(Generic[R, S]):
    """The state of a page when a student asks whether an exercise is solved.

    request: the request of the run in view.
    explanation: its result.
    plain: the result of the same input for the model as it was trained, the same object as
        `explanation` where nothing is changed.
    look: the selection, key → value as in the address without the underscore: {"head": "3.5"}.
    """

    request: R
    explanation: S
    plain: S
    look: Mapping[str, str]


@dataclass(frozen=True)
class Exercise(Generic[R, S]):
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
    is_solved: Callable[[Attempt[R, S]], bool]

    def __post_init__(self) -> None:
        bilingual(f"question of exercise “{self.key}”", self.question)
        bilingual(f"answer of exercise “{self.key}”", self.answer)
        if not self.solution.startswith("v="):
            raise ValueError(f"exercise “{self.key}”: its solution begins with the version, “v=”")
