"""English captions, as many different ones as there are visitors: typical inputs of a translation
page, none twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

ONE = "A man/A woman/An old man/A young girl/A tall boy/A couple/A small dog/A mother"
MANY = "Two children/Three friends/Some people/Four students"
WEARING = (
    "/ in a red shirt/ with a blue hat/ in a black jacket/ wearing a white dress/ with a backpack/"
    " in a green coat/ with glasses"
)
DOING = (
    "reading a book/playing the guitar/riding a bike/eating an apple/waiting for a bus/holding a"
    " camera/looking at a map/climbing a rock/jumping over a fence/drinking coffee/painting a"
    " picture/throwing a ball"
)
WHERE = (
    "in the park/on the beach/near a river/in front of a store/on a busy street/at the train"
    " station/behind a house/under a tree/in a kitchen/on a mountain/by the sea/in the snow"
)
WHEN = "/ at night/ in the morning/ on a sunny day/ while it rains/ in winter"


def captions(seed: int = 0) -> Iterator[str]:
    """Yield every sentence of this small language once (82,944), in an order that follows from the
    seed."""
    who = [f"{one}{{}} is" for one in ONE.split("/")] + [
        f"{many}{{}} are" for many in MANY.split("/")
    ]
    every = list(product(who, *(words.split("/") for words in (WEARING, DOING, WHERE, WHEN))))
    random.Random(seed).shuffle(every)
    for subject, wearing, act, where, when in every:
        yield f"{subject.format(wearing)} {act} {where}{when}."


def stories(seed: int = 0) -> Iterator[str]:
    """Yield sentences about as long as the page reads, all different. Their translations stream
    longest."""
    for first, second, third in zip(
        *(captions(seed + place) for place in range(1, 4)), strict=True
    ):
        yield (
            f"{first[:-1]} while {second[0].lower()}{second[1:-1]} and"
            f" {third[0].lower()}{third[1:]}"
        )
