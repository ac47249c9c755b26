"""The requests to the agents and their explanations: frozen records of NumPy arrays, strings and
numbers, without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining.batching import Apart
from models.explaining.errors import InputError, clean_for_sentence
from models.explaining.request_fields import (
    choice_field,
    heads_field,
    number_field,
    read_narrow,
    seed_field,
    several_field,
    switch_field,
    text_field,
)

NETWORKS = ("gtrxl", "trxl", "trxl_i", "lstm")
WITH_HEADS = ("gtrxl", "trxl_i", "trxl")
SHORTEST, LONGEST = 2, 100  # N of a request
ALL = 3 * LONGEST + 8  # steps of the longest episode; as k, the whole memory
PLACES = ("1a", "1m", "2a", "2m")  # gates: the layer, behind attention or behind the small network
SAMPLE = 100  # corridors in which a change is measured
GAMES = 8  # corridors that a visitor may walk
PLAIN, LAMPS = ".", "AB"  # a wall without and with a lamp, as a request spells them
BLOCK = "#"


@dataclass(frozen=True)
class Request(Apart):
    """A request: a corridor, an agent, and the changes to it.

    length: N. above, below: the walls from x = 0 on, a letter for each cell: A and B are lamps, a
    dot is a plain wall; the rest is plain. An empty `below` is drawn: decoys is the probability of
    a lamp. seed: of all draws. sampled: whether moves are drawn, or the likeliest is taken.
    covered: whether the lamps above are covered. memory: k, the earlier steps in reach. forced: the
    gates that are forced, to z.
    """

    network: str = choice_field("gtrxl", NETWORKS, en="network", zh="网络")
    length: int = number_field(12, SHORTEST, LONGEST, en="length N", zh="长度 N")
    above: str = text_field("A", LONGEST)
    below: str = text_field("", LONGEST)
    decoys: float = number_field(0.3, 0, 1, en="share of decoys", zh="诱饵比例")
    seed: int = seed_field(0)
    sampled: bool = switch_field(False)
    covered: bool = switch_field(False)
    memory: int = number_field(ALL, 0, ALL, en="memory k", zh="记忆 k")
    silenced: tuple[tuple[str, int, int], ...] = heads_field(WITH_HEADS)
    forced: tuple[str, ...] = several_field(PLACES, en="gate", zh="门")
    z: float = number_field(0.0, 0, 1, en="forced z", zh="强制的 z")


@dataclass(frozen=True)
class Game:
    """A corridor for a visitor to walk, with the turn that the agent took there, "" for none.

    above, below: the walls, a letter for each cell. answer: the right turn.
    """

    above: str
    below: str
    answer: str
    turn: str


@dataclass(frozen=True)
class Explanation:
    """The explanation of one walk.

    above, below: the walls, a letter for each cell. cue: the lamp that the agent could see, "A",
    "B" or "". answer, turn: the right turn and the one that was taken, "up", "down" or "". late:
    whether the steps ran out. place: x before each move, (step,). action: 0 … 3 for right, left,
    up, down, (step,). probability: of each move, (step, move). value: the expected reward, (step,).
    weights: of attention, (layer, head, step, step), without layers where the network has none.
    gates: z of each unit, (layer, place, step, unit), place 0 behind attention and 1 behind the
    small network; without layers where there are no gates. games: other corridors of this length.
    """

    network: str
    length: int
    above: str
    below: str
    cue: str
    answer: str
    turn: str
    right: bool
    late: bool
    place: NDArray[np.int64]
    action: NDArray[np.int64]
    probability: NDArray[np.float32]
    value: NDArray[np.float32]
    weights: NDArray[np.float16]
    gates: NDArray[np.float16]
    games: tuple[Game, ...]


@dataclass(frozen=True)
class MeasuredSuccess:
    """The success of an agent in `sample` corridors: the share of right turns, and of episodes that
    ran out of steps."""

    right: float
    late: float
    sample: int
    milliseconds: float


def read_walls(text: str, length: int, side: str) -> str:
    """Return the walls of one side, a letter for each of `length` cells.

    side: the name of the field, "above" or "below". Raise InputError for another letter, for a
    blocked corridor, for more letters than there are cells, and for two lamps above.
    """
    walls = read_narrow(text).strip().upper().replace("·", PLAIN)
    if BLOCK in walls:
        raise InputError(
            "blocked",
            en="The corridor is blocked by #; only lamps A and B and plain walls (.) can be set.",
            zh="走廊被 # 堵住了；只能放灯 A、B 和空墙（.）。",
        )
    wrong = next((letter for letter in walls if letter not in PLAIN + LAMPS), None)
    if wrong is not None:
        spelled = clean_for_sentence(wrong)
        raise InputError(
            "no_lamp",
            en=f"“{spelled}” is no lamp; a wall is written with A, B and . for a plain cell.",
            zh=f"“{spelled}”不是灯；墙用 A、B 和表示空格的“.”来写。",
        )
    if len(walls.rstrip(PLAIN)) > length:
        raise InputError(
            "too_many_cells",
            en=f"Lamps reach cell {len(walls.rstrip(PLAIN)) - 1}; with N = {length} they can hang"
            f" at the cells 0 to {length - 1}.",
            zh=f"灯放到了第 {len(walls.rstrip(PLAIN)) - 1} 格；N = {length} 时可以放在第 0 到"
            f" {length - 1} 格。",
        )
    lamps = sum(letter in LAMPS for letter in walls)
    if side == "above" and lamps > 1:
        raise InputError(
            "two_lamps",
            en=f"There are {lamps} lamps above the corridor; one can name the turn.",
            zh=f"走廊上方有 {lamps} 盏灯；只能由一盏来指明转向。",
        )
    return walls[:length].ljust(length, PLAIN)


EXAMPLES: tuple[Request, ...] = (
    Request(length=12, above="B", seed=3),
    Request(length=12, above="A", seed=3),
    Request(length=60, above="B", seed=1),
    Request(length=12, above="B", seed=3, covered=True),
    Request(network="lstm", length=12, above="B", seed=3),
)
