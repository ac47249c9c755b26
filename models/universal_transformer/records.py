"""The requests to the Universal Transformer and its explanations: frozen records of NumPy arrays
and texts, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from models.adaptive_computation.records import Array, Thinking
from models.explaining.request_fields import choice_field, number_field, switch_field, text_field

TASKS = ("stories", "reverse", "copy", "addition")
MAX_LETTERS = 40  # of a word; training saw up to 20
MAX_DIGITS = 19  # of a number; training saw up to 9
MAX_FACTS = 10  # of a story
MAX_CHARACTERS = 2_000  # of text and question together
EPSILON = 0.01  # ε as trained
MAX_EPSILON = 0.9
LIMIT = 8  # M as trained
MAX_LIMIT = 16  # of a request; 0 is the limit as trained
MAX_BIAS = 5.0  # added to the input of the halting unit, positive or negative


@dataclass(frozen=True)
class Request:
    """A request: a word, a sum or a story with a question, and the changes to the network.

    text: the word, the sum ("478+256"), or the story, one sentence after the other, each ending in
    a full stop. question: of a story, for example "where is the key"; otherwise empty. epsilon: ε.
    limit: M, or 0 for the limit as trained. forced: steps of every position, or 0 if each stops by
    itself. bias: added to the input of the halting unit. step_signal: whether the step signal is
    added.
    """

    task: str = choice_field("stories", TASKS, en="task", zh="任务")
    text: str = text_field(
        "peter put the key in the basket. sandra took the basket. daniel went to the office. sandra"
        " went to the bedroom.",
        MAX_CHARACTERS,
    )
    question: str = text_field("where is the key", MAX_CHARACTERS)
    epsilon: float = number_field(EPSILON, 0, MAX_EPSILON, en="ε", zh="ε")
    limit: int = number_field(0, 0, MAX_LIMIT, en="limit of steps", zh="步数上限")
    forced: int = number_field(0, 0, MAX_LIMIT, en="forced number of steps", zh="强制步数")
    bias: float = number_field(0.0, -MAX_BIAS, MAX_BIAS, en="halting bias", zh="停止偏置")
    step_signal: bool = switch_field(True, former="told")

    def group(self) -> Hashable:
        """Return the key of a batch: requests of the same task may share one."""
        return self.task


@dataclass(frozen=True)
class Beside:
    """The result of another network on the same input.

    variant: "ordinary" or "fixed".
    """

    variant: str
    answer: str
    right: bool


@dataclass(frozen=True, kw_only=True)
class Explanation(Thinking):
    """The explanation of one run; its difficulty counts letters, carries, or facts needed.

    It has a further axis, key, like position. positions: the text at each position, a character or
    a whole sentence; places of the answer are "_". facts: the positions of the facts that a story's
    answer needs, in the order of need; otherwise empty. attention: (step, head, position, key);
    rows of stopped positions are computed but not used. ponder_of_answer: the mean of N + R over
    the positions of the answer. beside: the shipped networks for comparison.
    """

    positions: tuple[str, ...]
    facts: tuple[int, ...]
    attention: Array
    ponder_of_answer: float
    beside: tuple[Beside, ...]


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request(
        "stories",
        "sandra went to the park. john went to the office. sandra went to the cellar.",
        "where is sandra",
    ),
    Request(
        "stories",
        "emma took the ball. john went to the kitchen. emma went to the school.",
        "where is peter",
    ),
    Request("addition", "95678+4322", ""),
    Request("reverse", "transformer", ""),
    Request("copy", "universal", ""),
)
