"""What crosses the border between the pondering network and a page: frozen records of NumPy arrays, strings and numbers. No torch here."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

from models import thinking
from models.errors import InputError
from models.fields import characters, choice, number, shown, switch
from models.thinking import Thinking

TASKS = ("parity", "addition")
WITHOUT = "_without"  # what the name of a variant without adaptive computation time ends in
MAX_BITS = 16  # entries of a vector
MAX_DIGITS = 6  # digits of a number
MAX_CHARACTERS = 200  # of what is typed
EPSILON = 0.01  # ε as trained
MAX_EPSILON = 0.9
LIMIT = {"parity": 20, "addition": 8}  # M as trained
MAX_LIMIT = 20  # of a request; 0 stands for the limit as trained
MAX_BIAS = 5.0  # added to the input of the halting unit, up or down
_BIT = {"0": -1, "1": 1, ".": 0, "·": 0, "_": 0}
_SPACE = re.compile(r"[\s,;|]+")
read_sum = partial(thinking.read_sum, most=MAX_DIGITS)


@dataclass(frozen=True)
class Request:
    """Bits or a sum, and what is changed in the network meanwhile.

    text: bits such as "1011", an empty place written ".", at most 16; or a sum such as "478+256", numbers of at most 6 digits.
    epsilon: ε. limit: M, or 0 for the limit as trained. forced: updates that every input takes, or 0 where the network decides.
    bias: added to the input of the halting unit. told: the first update of an input is marked as such.
    """

    task: str = choice("addition", TASKS, en="task", zh="任务")
    text: str = characters("478+256", MAX_CHARACTERS)
    epsilon: float = number(EPSILON, 0, MAX_EPSILON, en="ε", zh="ε")
    limit: int = number(0, 0, MAX_LIMIT, en="limit of updates", zh="更新次数上限")
    forced: int = number(0, 0, MAX_LIMIT, en="forced number of updates", zh="强制更新次数")
    bias: float = number(0.0, -MAX_BIAS, MAX_BIAS, en="halting bias", zh="停止偏置")
    told: bool = switch(True)

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same task."""
        return self.task


@dataclass(frozen=True, kw_only=True)
class Explanation(Thinking):
    """One run; its positions are inputs, its steps updates, and its difficulty counts bits that are not empty, or carries.

    inputs: what each says, "1011001" or digits, "8", "6", …, "=". without: what the network without adaptive computation time answers; ""
    where it is not shipped.
    """

    inputs: tuple[str, ...]
    without: str


def read_bits(text: str) -> tuple[int, ...]:
    """The entries that a text says: 1 for "1", −1 for "0", 0 for "."; InputError where it says something else, nothing or too much."""
    bits = _SPACE.sub("", text)
    if not bits:
        raise InputError("empty", en="There are no bits: type up to 16 of 0 and 1.", zh="没有比特：请输入最多 16 个 0 或 1。")
    wrong = next((c for c in bits if c not in _BIT), None)
    if wrong is not None:
        raise InputError(
            "not_bits",
            en=f"“{shown(wrong)}” is no bit: this network reads 0, 1 and . for an empty place.",
            zh=f"“{shown(wrong)}”不是比特：该网络只读 0、1，以及表示空位的“.”。",
        )
    if len(bits) > MAX_BITS:
        raise InputError(
            "too_long",
            en=f"There are {len(bits)} bits; this network reads up to {MAX_BITS}.",
            zh=f"共有 {len(bits)} 个比特；该网络最多读 {MAX_BITS} 个。",
        )
    entries = tuple(_BIT[c] for c in bits)
    if not any(entries):
        raise InputError("no_bit", en="All places are empty: type at least one 0 or 1.", zh="所有位置都是空的：请至少输入一个 0 或 1。")
    return entries


EXAMPLES: tuple[Request, ...] = (
    Request("addition", "478+256"),
    Request("addition", "99999+1"),
    Request("parity", "001011111010"),
    Request("parity", "1"),
    Request("parity", "1111101100101000"),
)
