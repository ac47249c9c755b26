"""The records that cross the border between the network and its page: frozen, made of NumPy arrays,
strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining.errors import InputError
from models.explaining.request_fields import (
    clean_for_sentence,
    heads_field,
    number_field,
    read_narrow,
    text_field,
)

Array = NDArray[np.float32]

LONGEST = 8  # digits that the network reads
SHORTEST = 3  # digits in training; a visitor may give fewer
MAX_CHARACTERS = 200  # characters that may be typed
KIND = "self"  # the one kind of attention
LAYERS, HEADS = 2, 2  # of the network
EVERY_HEAD = tuple((KIND, layer, head) for layer in range(LAYERS) for head in range(HEADS))


@dataclass(frozen=True)
class Request:
    """Digits to be written backwards, and the changes in the network.

    layers: how many are used, from the first on; 0 for all. silenced: heads, (kind, layer, head),
    both from 0.
    """

    text: str = text_field("31415926", MAX_CHARACTERS)
    layers: int = number_field(0, 0, LAYERS, en="number of layers", zh="层数")
    silenced: tuple[tuple[str, int, int], ...] = heads_field((KIND,))

    def group(self) -> Hashable:
        """Return the group of requests that may share a batch: all of them, each with its own
        changes."""
        return None


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    digits: as they were given. answer: the digits that the network writes; expected: the right
    answer. probability: (position,) of each digit of the answer. attention: (layer, head, query,
    key), rows sum to 1, or to 0 in a layer that is not used.
    """

    digits: tuple[str, ...]
    answer: str
    expected: str
    probability: Array
    attention: Array

    @property
    def right(self) -> bool:
        """Whether the answer is the right one."""
        return self.answer == self.expected


@dataclass(frozen=True)
class Measured:
    """The share of right digits on `sample` held-out inputs."""

    accuracy: float
    sample: int


def read_digits(text: str) -> tuple[int, ...]:
    """Return the digits of a text, spaces left out. Raise InputError where it holds something else,
    nothing, or too many."""
    digits = "".join(read_narrow(text).split())
    if not digits:
        raise InputError(
            "empty",
            en="There are no digits: type up to 8, such as 31415926.",
            zh="没有数字：请输入最多 8 位，例如 31415926。",
        )
    wrong = next((one for one in digits if one not in "0123456789"), None)
    if wrong is not None:
        raise InputError(
            "no_digit",
            en=f"“{clean_for_sentence(wrong)}” is no digit from 0 to 9.",
            zh=f"“{clean_for_sentence(wrong)}”不是 0 到 9 的数字。",
        )
    if len(digits) > LONGEST:
        raise InputError(
            "too_long",
            en=f"There are {len(digits)} digits; this network reads up to {LONGEST}.",
            zh=f"共有 {len(digits)} 位数字；该网络最多读 {LONGEST} 位。",
        )
    return tuple(map(int, digits))


EXAMPLES: tuple[Request, ...] = (Request("31415926"), Request("1234567"), Request("90210"))
