"""What crosses the border between the Universal Transformer and a page: frozen records of NumPy arrays and texts. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.fields import characters, choice, number, switch

Array = NDArray[np.float32]
Whole = NDArray[np.int64]

TASKS = ("stories", "reverse", "copy", "addition")
MAX_LETTERS = 40  # of a word; training saw up to 20
MAX_DIGITS = 19  # of a number; training saw up to 9
MAX_FACTS = 10  # of a story
MAX_CHARACTERS = 2_000  # of text and question together
EPSILON = 0.01  # ε as trained
MAX_EPSILON = 0.9
LIMIT = 8  # M as trained
MAX_LIMIT = 16  # of a request; 0 stands for the limit as trained
MAX_BIAS = 5.0  # added to the input of the halting unit, up or down


@dataclass(frozen=True)
class Request:
    """A word, a sum or a story with a question, and what is changed in the network meanwhile.

    text: the word, the sum ("478+256"), or the story, one sentence after the other, each ending in a full stop.
    question: of a story, such as "where is the key"; else empty.
    epsilon: ε. limit: M, or 0 for the limit as trained. forced: steps that every position takes, or 0 where each stops by itself.
    bias: added to the input of the halting unit. told: the step signal is added.
    """

    task: str = choice("stories", TASKS, en="task", zh="任务")
    text: str = characters(
        "peter put the key in the basket. sandra took the basket. daniel went to the office. sandra went to the bedroom.", MAX_CHARACTERS
    )
    question: str = characters("where is the key", MAX_CHARACTERS)
    epsilon: float = number(EPSILON, 0, MAX_EPSILON, en="ε", zh="ε")
    limit: int = number(0, 0, MAX_LIMIT, en="limit of steps", zh="步数上限")
    forced: int = number(0, 0, MAX_LIMIT, en="forced number of steps", zh="强制步数")
    bias: float = number(0.0, -MAX_BIAS, MAX_BIAS, en="halting bias", zh="停止偏置")
    told: bool = switch(True)

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same task."""
        return self.task


@dataclass(frozen=True)
class Beside:
    """What another network makes of the same input. variant: "ordinary" or "fixed"."""

    variant: str
    answer: str
    right: bool


@dataclass(frozen=True)
class Explanation:
    """One run. Axes: position, in the order of the input; step, up to the most that any position took; key as position.

    positions: what stands at each: a character, or a whole sentence; the places of an answer are "_". wanted: where the answer is read,
    their indices in order.
    answer: the letters, the sum's digits, a place or "nobody"; expected: the right one; probability: of each part of the answer.
    facts: of a story, the positions of the facts that the answer needs, in the order in which they are needed; else empty.
    steps: (position,) N. remainder: (position,) R. halting: (step, position) h_n, weights: (step, position) p_n, both 0 once a position has
    stopped. totals: (step, position) h_1 + … + h_n as they add up to 1 − ε, 1 from N on.
    distance: (step, position) ‖s_n − s_N‖ over √d_model, 0 from N on.
    attention: (step, head, position, key); rows of stopped positions are what they would ask for, though nobody reads it.
    stopped: for each step n, the answer if every position had stopped at its n-th step at the latest.
    threshold: 1 − ε. limit: M. ponder: mean of N + R over all positions; ponder_of_answer: over those of the answer.
    difficulty: letters, carries, or facts needed. beside: the networks that it is compared with, where they are shipped.
    """

    positions: tuple[str, ...]
    wanted: tuple[int, ...]
    answer: str
    expected: str
    probability: Array
    facts: tuple[int, ...]
    steps: Whole
    remainder: Array
    halting: Array
    weights: Array
    totals: Array
    distance: Array
    attention: Array
    stopped: tuple[str, ...]
    threshold: float
    limit: int
    ponder: float
    ponder_of_answer: float
    difficulty: int
    beside: tuple[Beside, ...]

    @property
    def right(self) -> bool:
        """Is the answer the right one?"""
        return self.answer == self.expected


@dataclass(frozen=True)
class Measured:
    """What a network does on `sample` held-out inputs of a task: share of right answers, mean ponder N + R, milliseconds for all."""

    accuracy: float
    ponder: float
    milliseconds: float
    sample: int


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request("stories", "sandra went to the park. john went to the office. sandra went to the cellar.", "where is sandra"),
    Request("stories", "emma took the ball. john went to the kitchen. emma went to the school.", "where is peter"),
    Request("addition", "95678+4322", ""),
    Request("reverse", "transformer", ""),
    Request("copy", "universal", ""),
)
