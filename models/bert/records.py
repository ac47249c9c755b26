"""The requests to the encoders and their explanations: frozen records of arrays, strings and
numbers, without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.checkpoints import folders
from models.explaining import request_fields
from models.explaining.batching import Apart

Array = NDArray[np.float32]

# Our model predicts hidden pieces; a pretrained model gives a sentence its vector.
VARIANTS = ("mlm", "minilm")
# The readable text of a prediction: all, before the hidden word, after it.
SIDES = ("both", "left", "right")
WAYS = ("hide", "draw")  # words are hidden by name, or drawn as in training
# The states of a piece: unchanged, [MASK], another piece, drawn but kept.
DRAWN = ("", "mask", "other", "kept")
# One to the left, one to the right, [CLS], [SEP], the same piece (including itself).
PATTERNS = ("previous", "next", "first", "last", "same")
BEST = 5  # predictions listed for each hidden piece
MAX_TEXT = 600  # characters
MAX_PIECES = 64  # of a text, [CLS] and [SEP] included


def list_shipped() -> tuple[str, ...]:
    """Return the variants with a shipped model, in the order of VARIANTS."""
    return folders.list_trained("bert", VARIANTS)


@dataclass(frozen=True)
class Request(Apart):
    """A request: a text, its hidden words, and the changes to the model.

    hidden: words of `text`, numbered from 0 as in `Explanation.word`; numbers beyond the end hide
    nothing; `mlm` alone. side: the readable text of the displayed run, up to the first hidden word
    or from the last one on. way: `draw` hides pieces as training does, drawn by `seed`, and ignores
    `hidden`. other: a second text, `minilm` alone; "" for none. silenced: (variant, layer, head)
    from 0. positions: whether positions are added.
    """

    text: str = request_fields.text_field("", MAX_TEXT)
    hidden: tuple[int, ...] = request_fields.any_field(())
    side: str = request_fields.choice_field(SIDES[0], SIDES, en="side", zh="一侧")
    variant: str = request_fields.choice_field(VARIANTS[0], VARIANTS, en="model", zh="模型")
    way: str = request_fields.choice_field(WAYS[0], WAYS, en="way of hiding", zh="遮盖方式")
    seed: int = request_fields.seed_field(1)
    other: str = request_fields.text_field("", MAX_TEXT)
    silenced: tuple[tuple[str, int, int], ...] = request_fields.heads_field(VARIANTS)
    positions: bool = request_fields.switch_field(True)

    @property
    def task(self) -> str:
        """The task, which is the variant; it selects the views that show the run."""
        return self.variant


@dataclass(frozen=True)
class Guess:
    """The predictions for one hidden piece.

    position: of the piece. truth: the true piece. number: its number. For each of SIDES: best: the
    likeliest pieces, (side, guess). numbers: their numbers. p: their probabilities, (side, guess).
    truth_p: the probability of the truth, (side,). A prediction is right if its number equals that
    of the truth, however both are spelled.
    """

    position: int
    truth: str
    number: int
    best: tuple[tuple[str, ...], ...]
    numbers: NDArray[np.int64]
    p: Array
    truth_p: Array

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each prediction is right, (side, guess)."""
        return np.equal(self.numbers, self.number)


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    pieces: of the text, [CLS] first, [SEP] last. read: the pieces as the model read them. word: the
    word of each piece, −1 for [CLS] and [SEP], (piece,). unknown: whether a piece is missing from
    the vocabulary, (piece,). folded: whether capital letters or accents were removed. drawn:
    numbers in DRAWN, (piece,). allowed: whether a piece is readable under `side`, (piece,).
    guesses: for each drawn piece. nats: −log p of each piece while it alone is hidden, 0 for [CLS]
    and [SEP], (piece,); minus their sum is the pseudo-log-likelihood. It is empty for `minilm`,
    which has no head.

    weights: (layer, head, query, key), float16. norms: the length that a head adds per unit of
    weight, ‖W_O v‖ (Kobayashi et al., 2020), (layer, head, key); weights × norms is the actual
    flow. patterns: the mean weight of the text's pieces there, without [CLS] and [SEP] as queries,
    (layer, head, kind of PATTERNS).

    For `minilm`: other: the pieces of the second text. similarity: the cosine of the two sentence
    vectors, None without a second text. shares: (piece, other piece), which sum to the similarity.
    vectors: (text, d_model), of length 1.
    """

    variant: str
    pieces: tuple[str, ...]
    read: tuple[str, ...]
    word: NDArray[np.int64]
    unknown: NDArray[np.bool_]
    folded: bool
    drawn: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    guesses: tuple[Guess, ...]
    nats: Array
    weights: NDArray[np.float16]
    norms: Array
    patterns: Array
    other: tuple[str, ...]
    similarity: float | None
    shares: Array
    vectors: Array


def by_word(weights: NDArray[np.floating], word: NDArray[np.int64]) -> Array:
    """Return the weights between words, (…, word, word), from those between pieces, (…, piece,
    piece).

    Weights *to* the pieces of a word are summed, weights *from* them averaged; [CLS] and [SEP] are
    left out (Clark et al., 2019, §4.1).
    """
    # (piece, word).
    member = (word[:, None] == np.arange(word.max(initial=-1) + 1)).astype(np.float32)
    found: Array = (
        (member / np.maximum(member.sum(0), 1)).T @ np.asarray(weights, np.float32) @ member
    )
    return found


# The third last shows a grammar head; then follow two texts with the same meaning, and two with
# shared words only.
OFFERED: tuple[Request, ...] = (
    Request("Two dogs are running through the snow.", hidden=(3,)),
    Request("He opened the door and went into the room.", hidden=(2,)),
    Request("A little girl in a pink dress is climbing a tree.", way=WAYS[1], seed=3),
    Request("The old man gave his dog a bone after dinner.", variant="minilm"),
    Request(
        "A man is playing a guitar.",
        other="Somebody makes music on a stringed instrument.",
        variant="minilm",
    ),
    Request(
        "The bank raised its interest rates.",
        other="They sat on the bank of the river.",
        variant="minilm",
    ),
)
EXAMPLES: tuple[Request, ...] = tuple(
    one for one in OFFERED if one.variant in (list_shipped() or VARIANTS[:1])
)
