"""Exercises of a lab: questions that the page itself can check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from explorer.contract.lab import Text, bilingual

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
