"""What crosses the border between the Universal Transformer and a page: frozen records of NumPy arrays and texts. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from models.fields import characters, choice, number, switch
from models.thinking import Array, Thinking

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


@dataclass(frozen=True, kw_only=True)
class Explanation(Thinking):
    """One run; its difficulty counts letters, carries, or facts needed. Further axis: key, as position.

    positions: what stands at each: a character, or a whole sentence; the places of an answer are "_".
    facts: of a story, the positions of the facts that the answer needs, in the order in which they are needed; else empty.
    attention: (step, head, position, key); rows of stopped positions are what they would ask for, though nobody reads it.
    ponder_of_answer: mean of N + R over the positions of the answer. beside: the networks that it is compared with, where they are shipped.
    """

    positions: tuple[str, ...]
    facts: tuple[int, ...]
    attention: Array
    ponder_of_answer: float
    beside: tuple[Beside, ...]


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request("stories", "sandra went to the park. john went to the office. sandra went to the cellar.", "where is sandra"),
    Request("stories", "emma took the ball. john went to the kitchen. emma went to the school.", "where is peter"),
    Request("addition", "95678+4322", ""),
    Request("reverse", "transformer", ""),
    Request("copy", "universal", ""),
)
