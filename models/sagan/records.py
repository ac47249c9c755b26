"""The requests to the self-attention GAN and their explanations: frozen records of NumPy arrays,
strings and numbers, without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.explaining.batching import Apart
from models.explaining.request_fields import any_field, choice_field, number_field, seed_field

Array = NDArray[np.float32]
Levels = NDArray[np.uint8]

SIDE = 32  # pixels of a picture's side
GIVEN = 28  # pixels of a side of a visitor's picture; a black edge surrounds it
CELLS = 8  # cells of a side where attention stands: 4 × 4 pixels each
VERDICTS = 4  # cells of a side of the verdict map: 8 × 8 pixels each
FIELD = 22  # pixels of a side that a verdict sees without attention
KINDS = 10
TASKS = ("make", "judge")
MAX_GAMMA = 2.0  # times the learned γ
FACTORS = tuple(n / 2 for n in range(-4, 5))  # of the ladder of γ
STOPS = tuple(n / 8 for n in range(9))  # of the walk
UNCUT = 4.0  # the bound on |z| that stands for none


@dataclass(frozen=True)
class Request(Apart):
    """A request: a picture to make or to judge, and the changes to the networks.

    task: "make" a picture from noise, or "judge" a given one. kind: the class, 0 … 9. seed: of the
    noise. other: the seed of the noise at the far end of the walk. walk: the share of the way
    there. bound: the noise is drawn from a normal distribution cut off at ± this; 4 cuts nothing.
    picture: base64 of 28 × 28 levels, or "test:17", the 18th of the shipped held-out pictures; read
    only to be judged. erase: the cell of the verdict map that is painted black, 1 … 16 row by row,
    0 for none. gamma_g, gamma_d: what the learned γ of generator and discriminator is multiplied
    by.
    """

    task: str = choice_field("make", TASKS, en="task", zh="任务")
    kind: int = choice_field(2, range(KINDS), en="class", zh="类别")
    seed: int = seed_field(7)
    other: int = seed_field(8)
    walk: float = number_field(0.0, 0, 1, en="share of the walk", zh="行走的比例")
    bound: float = number_field(UNCUT, 0.1, UNCUT, en="bound of the noise", zh="噪声的界限")
    picture: str = any_field("test:0")
    erase: int = number_field(0, 0, VERDICTS**2, en="number of the cell", zh="格子编号")
    gamma_g: float = number_field(
        1.0, -MAX_GAMMA, MAX_GAMMA, en="factor of γ in the generator", zh="生成器 γ 的倍数"
    )
    gamma_d: float = number_field(
        1.0, -MAX_GAMMA, MAX_GAMMA, en="factor of γ in the discriminator", zh="判别器 γ 的倍数"
    )


@dataclass(frozen=True)
class Judgement:
    """The discriminator's opinion of one picture.

    picture: levels, (32, 32). verdicts: what each cell adds to the logit, (4, 4). logit: their sum
    and the bias. weights: of attention, (query, key), 8 × 8 cells each, row by row.
    """

    picture: Levels
    verdicts: Array
    logit: float
    weights: Array


@dataclass(frozen=True)
class ErasedCell:
    """The same picture with one cell painted black.

    judged: the opinion of it. inside: the verdicts whose 22 pixels reach the cell, (4, 4).
    plain: the change of the verdicts in a discriminator whose γ is 0, (4, 4): 0 outside.
    """

    judged: Judgement
    inside: NDArray[np.bool_]
    plain: Array


@dataclass(frozen=True)
class GeneratorRun:
    """The generator at work.

    weights: of attention, (query, key). ladder: the picture at FACTORS times the learned γ,
    (factor, 32, 32), with the logit of each. walk: pictures at STOPS between both anchors, with
    logits. kinds: the same noise in every class, with the probability of that class.
    """

    weights: Array
    ladder: Levels
    ladder_logits: Array
    walk: Levels
    walk_logits: Array
    kinds: Levels
    kept: Array


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    judged: the picture in view and the discriminator's opinion. bias: of the logit. made: None
    where the picture was given. erased: None where nothing is. gamma_g, gamma_d: γ as used.
    """

    judged: Judgement
    bias: float
    made: GeneratorRun | None
    erased: ErasedCell | None
    gamma_g: float
    gamma_d: float


@dataclass(frozen=True)
class GammaEffect:
    """The figure that a change of γ moves.

    distance: Fréchet distance of `count` pictures from fixed noise to the test pictures. logit: the
    discriminator's mean logit of them. change: mean |Δ| of their pixels against γ as learned, in
    levels.
    """

    distance: float
    logit: float
    change: float
    count: int


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request(kind=9, seed=3),
    Request(kind=3, seed=11, other=25, walk=0.5),
    Request(kind=9, seed=3, erase=14),
    Request(task="judge", picture="test:0"),
)
