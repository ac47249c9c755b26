"""What crosses the border between the encoders and a page: frozen records of arrays, strings and numbers. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import fields, folders
from models.turns import Apart

Array = NDArray[np.float32]

VARIANTS = ("mlm", "minilm")  # ours, which says what is hidden; a pretrained one, which gives a sentence its vector
SIDES = ("both", "left", "right")  # what a guess may read: all, what stands before the hidden word, what stands behind it
WAYS = ("hide", "draw")  # how words are hidden: those that are named, or as training draws them
DRAWN = ("", "mask", "other", "kept")  # what became of a piece: nothing, [MASK], another piece, drawn and left as it is
PATTERNS = ("previous", "next", "first", "last", "same")  # one to the left, one to the right, [CLS], [SEP], the same piece (itself too)
BEST = 5  # guesses that are told of each hidden piece
MAX_TEXT = 600  # characters
MAX_PIECES = 64  # that are read of a text, [CLS] and [SEP] among them


def shipped() -> tuple[str, ...]:
    """The variants of which a model is shipped, in the order of VARIANTS."""
    return folders.trained("bert", VARIANTS)


@dataclass(frozen=True)
class Request(Apart):
    """A text, what of it is hidden, and what is changed in the model meanwhile.

    hidden: words of `text`, counted from 0 as `Explanation.word` has them; those behind its end hide nothing; `mlm` alone. side: what the
    map's run may read, up to the first hidden word or from the last one on. way: `draw` hides as training does, drawn by `seed`, and
    `hidden` counts for nothing.
    other: a second text, `minilm` alone; "" for none. silenced: (variant, layer, head) from 0. positions: are they added?
    """

    text: str = fields.characters("", MAX_TEXT)
    hidden: tuple[int, ...] = fields.anything(())
    side: str = fields.choice(SIDES[0], SIDES, en="side", zh="一侧")
    variant: str = fields.choice(VARIANTS[0], VARIANTS, en="model", zh="模型")
    way: str = fields.choice(WAYS[0], WAYS, en="way of hiding", zh="遮盖方式")
    seed: int = fields.seed(1)
    other: str = fields.characters("", MAX_TEXT)
    silenced: tuple[tuple[str, int, int], ...] = fields.heads(VARIANTS)
    positions: bool = fields.switch(True)

    @property
    def task(self) -> str:
        """Which views show the run: those of its variant."""
        return self.variant


@dataclass(frozen=True)
class Guess:
    """What stands in one hidden piece's place. position: of the piece; truth: what it is. For each of SIDES: best (side, guess) the
    likeliest pieces and p (side, guess) their probabilities; truth_p (side,) that of the truth."""

    position: int
    truth: str
    best: tuple[tuple[str, ...], ...]
    p: Array
    truth_p: Array


@dataclass(frozen=True)
class Explanation:
    """One run.

    pieces: of the text, [CLS] first, [SEP] last; read: the same as the model read them. word: (piece,) of which word, −1 for [CLS] and
    [SEP]. unknown: (piece,) not in the vocabulary. folded: were capital letters or accents taken off? drawn: (piece,) number in DRAWN.
    allowed: (piece,) could be read, by `side`. guesses: of each drawn piece. nats: (piece,) −log p of each while it alone is hidden,
    0 for [CLS] and [SEP]: minus their sum is the pseudo-log-likelihood; none in `minilm`, which has no head.

    weights: (layer, head, query, key) float16; norms: (layer, head, key) length of what each head adds per unit of weight, ‖W_O v‖
    (Kobayashi et al., 2020), so that weights × norms is how much really flows. patterns: (layer, head, kind of PATTERNS) mean weight of
    the text's pieces there, [CLS] and [SEP] not asked.

    `minilm`: other: as pieces, of the second text; similarity: cosine of the two sentence vectors, None without a second text; shares:
    (piece, other piece), whose sum is the similarity. vectors: (text, d_model) of length 1.
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
    """(…, word, word) weights between words of (…, piece, piece) ones: *to* the pieces of a word summed, *from* them the mean; [CLS] and
    [SEP] are left out (Clark et al., 2019, §4.1)."""
    member = (word[:, None] == np.arange(word.max(initial=-1) + 1)).astype(np.float32)  # (piece, word)
    found: Array = (member / np.maximum(member.sum(0), 1)).T @ np.asarray(weights, np.float32) @ member
    return found


# The last but two: a grammar head's sentence; then two texts that mean about the same, and two that share words alone.
OFFERED: tuple[Request, ...] = (
    Request("Two dogs are running through the snow.", hidden=(3,)),
    Request("He opened the door and went into the room.", hidden=(2,)),
    Request("A little girl in a pink dress is climbing a tree.", way=WAYS[1], seed=3),
    Request("The old man gave his dog a bone after dinner.", variant="minilm"),
    Request("A man is playing a guitar.", other="Somebody makes music on a stringed instrument.", variant="minilm"),
    Request("The bank raised its interest rates.", other="They sat on the bank of the river.", variant="minilm"),
)
EXAMPLES: tuple[Request, ...] = tuple(one for one in OFFERED if one.variant in (shipped() or VARIANTS[:1]))
