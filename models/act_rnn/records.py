"""The requests to the adaptive recurrent networks and their explanations: frozen records of NumPy
arrays, strings and numbers, without torch."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

from models.adaptive_computation import records
from models.adaptive_computation.records import Thinking
from models.explaining.errors import InputError
from models.explaining.request_fields import (
    choice_field,
    clean_for_sentence,
    number_field,
    read_narrow,
    switch_field,
    text_field,
)

TASKS = ("parity", "addition")
WITHOUT = "_without"  # the ending of the name of a variant without adaptive computation time
MAX_BITS = 16  # entries of a vector
MAX_DIGITS = 6  # digits of a number
MAX_CHARACTERS = 200  # of the text
EPSILON = 0.01  # ε as trained
MAX_EPSILON = 0.9
LIMIT = {"parity": 20, "addition": 8}  # M as trained
MAX_LIMIT = 20  # of a request; 0 is the limit as trained
MAX_BIAS = 5.0  # added to the input of the halting unit, positive or negative
_BIT = {"0": -1, "1": 1, ".": 0, "·": 0, "_": 0}
_SPACE = re.compile(r"[\s,;|]+")
read_sum = partial(records.read_sum, most=MAX_DIGITS)


@dataclass(frozen=True)
class Request:
    """A request: bits or a sum, and the changes to the network.

    text: bits such as "1011", with "." for an empty place, at most 16; or a sum such as "478+256"
    of numbers with at most 6 digits. epsilon: ε. limit: M, or 0 for the limit as trained. forced:
    updates for every input, or 0 if the network decides. bias: added to the input of the halting
    unit. step_signal: whether the first update of an input is marked.
    """

    task: str = choice_field("addition", TASKS, en="task", zh="任务")
    text: str = text_field("478+256", MAX_CHARACTERS)
    epsilon: float = number_field(EPSILON, 0, MAX_EPSILON, en="ε", zh="ε")
    limit: int = number_field(0, 0, MAX_LIMIT, en="limit of updates", zh="更新次数上限")
    forced: int = number_field(0, 0, MAX_LIMIT, en="forced number of updates", zh="强制更新次数")
    bias: float = number_field(0.0, -MAX_BIAS, MAX_BIAS, en="halting bias", zh="停止偏置")
    step_signal: bool = switch_field(True, former="told")

    def group(self) -> Hashable:
        """Return the key of a batch: requests of the same task may share one."""
        return self.task


@dataclass(frozen=True, kw_only=True)
class Explanation(Thinking):
    """The explanation of one run: positions are inputs and steps are updates.

    The difficulty is the number of bits that are not empty, or of carries. inputs: the text of each
    input, "1011001" or digits, "8", "6", …, "=". without: the answer of the network without
    adaptive computation time; "" where it is not shipped.
    """

    inputs: tuple[str, ...]
    without: str


def read_bits(text: str) -> tuple[int, ...]:
    """Return the entries of a text: 1 for "1", −1 for "0" and 0 for ".".

    Raise InputError if the text is empty, too long or contains another character.
    """
    bits = _SPACE.sub("", read_narrow(text))
    if not bits:
        raise InputError(
            "empty",
            en="There are no bits: type up to 16 of 0 and 1.",
            zh="没有比特：请输入最多 16 个 0 或 1。",
        )
    wrong = next((c for c in bits if c not in _BIT), None)
    if wrong is not None:
        raise InputError(
            "not_bits",
            en=(
                f"“{clean_for_sentence(wrong)}” is no bit: this network reads 0, 1 and . for an"
                " empty place."
            ),
            zh=f"“{clean_for_sentence(wrong)}”不是比特：该网络只读 0、1，以及表示空位的“.”。",
        )
    if len(bits) > MAX_BITS:
        raise InputError(
            "too_long",
            en=f"There are {len(bits)} bits; this network reads up to {MAX_BITS}.",
            zh=f"共有 {len(bits)} 个比特；该网络最多读 {MAX_BITS} 个。",
        )
    entries = tuple(_BIT[c] for c in bits)
    if not any(entries):
        raise InputError(
            "no_bit",
            en="All places are empty: type at least one 0 or 1.",
            zh="所有位置都是空的：请至少输入一个 0 或 1。",
        )
    return entries


EXAMPLES: tuple[Request, ...] = (
    Request("addition", "478+256"),
    Request("addition", "99999+1"),
    Request("parity", "001011111010"),
    Request("parity", "1"),
    Request("parity", "1111101100101000"),
)
