"""What crosses the border between the language models and a page: frozen records of arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models import fields, folders
from models.corpus import WAYS

Array = NDArray[np.float32]

VARIANTS = ("plain", "last_only", "layers", "targets", "all", "words", "induction", "one_layer")  # in the order of the page
EXITS = "all"  # whose lower layers have classifiers of their own
MAX_TEXT = 512  # characters that are given and symbols that are written, at most together
MAX_WRITTEN = 400  # symbols that are written
MAX_TYPED = 120  # characters of a continuation whose probability is asked
MAX_LAYERS = 8
KINDS = ("characters", "pieces", "copies")  # of models: of the books' characters, of their pieces, of random symbols that come again
KIND = {"words": KINDS[1], "induction": KINDS[2], "one_layer": KINDS[2]}
MODES = ("write", "learn")  # what is asked for: a text that goes on, or a fine-tuning on labels
MOST_LABELS = 1000  # that the page has to learn from


def shipped() -> tuple[str, ...]:
    """The variants of which a trained model is shipped, in the order of VARIANTS."""
    return folders.trained("language_model", VARIANTS)


@dataclass(frozen=True)
class Request:
    """A text to go on with, how its continuation is drawn, and what is changed in the model meanwhile; or, by `mode`, a fine-tuning of
    the model of pieces, or of the same network from scratch (`way`), on so many `labels`, drawn by `seed`.

    text: what stands first; "" begins behind a line break. length: symbols to write, characters or pieces. variant: of those that are
    shipped. top_k: of how many of the likeliest is drawn, 0 for all; top_p: the probability that the nucleus reaches. seed: of all draws.
    typed: a continuation of the visitor's own, whose probability is asked; "" for none.
    temperature: 0 takes the likeliest every time. silenced: (kind of symbols, layer, head) from 0. skipped: layers, from "1".
    positions: are they added?
    """

    text: str = fields.characters("", MAX_TEXT)
    length: int = fields.number(44, 0, MAX_WRITTEN, en="length", zh="长度")
    variant: str = fields.choice("plain", shipped() or VARIANTS[:1], en="model", zh="模型")
    top_k: int = fields.number(0, 0, 5000, en="number of likeliest symbols", zh="最可能符号的个数")
    top_p: float = fields.number(0.9, 0.01, 1, en="top-p", zh="top-p")
    seed: int = fields.seed(7)
    typed: str = fields.characters("", MAX_TYPED)
    temperature: float = fields.temperature(1.0)
    silenced: tuple[tuple[str, int, int], ...] = fields.heads(KINDS)
    skipped: tuple[str, ...] = fields.several(tuple(str(n + 1) for n in range(MAX_LAYERS)), en="layer", zh="层")
    positions: bool = fields.switch(True)
    mode: str = fields.choice(MODES[0], MODES, en="mode", zh="模式")
    labels: int = fields.number(500, 2, MOST_LABELS, en="number of labels", zh="标签数")
    way: str = fields.choice(WAYS[0], WAYS[:2], en="beginning", zh="起点")

    @property
    def live(self) -> bool:
        """A fine-tuning is computed anew whenever it is asked for, and can be stopped."""
        return self.mode == MODES[1]

    @property
    def task(self) -> str:
        """What there is to see, as views tell it apart: characters, pieces or labels."""
        return "labels" if self.live else KINDS[self.kind == KINDS[1]]

    @property
    def kind(self) -> str:
        """The kind of its model, of which heads are silenced."""
        return KIND.get(self.variant, KINDS[0])

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same model, with the same layers and positions."""
        return (self.mode, self.variant, frozenset(self.skipped), self.positions)

    def plain(self) -> Request:
        """The same with nothing changed in the model."""
        return replace(self, temperature=1.0, silenced=(), skipped=(), positions=True)


@dataclass(frozen=True)
class Guesses:
    """What each layer of a network would say at each position. variant: its name. best: (layer, position) the likeliest symbol;
    nats: (layer, position) −log p of the one that stands there."""

    variant: str
    best: tuple[tuple[str, ...], ...]
    nats: Array


@dataclass(frozen=True)
class Tree:
    """What could come next: a node for each symbol, parents before children, the likeliest child first.

    parent: (node,) −1 for those that come first. symbols: of each. chance: (node,) its probability after its parent, at temperature 1.
    kept: (node,) can it be drawn? sampled: nodes of what was written.
    """

    parent: NDArray[np.int16]
    symbols: tuple[str, ...]
    chance: Array
    kept: NDArray[np.bool_]
    sampled: tuple[int, ...]


@dataclass(frozen=True)
class Explanation:
    """One run.

    variant: the model's name. numbers, symbols: of each position, what was read and what was written, a character or a piece each. given:
    how many were read. nats: (position,) −log p of each in the model as it ran, temperature 1. unknown: (position,) bool, characters that
    the model does not know. lens: the logit lens of each layer. exits: what classifiers of the layers' own say of the same text, in this
    model or in that of EXITS; None where neither has any. tree: of what could be written first.
    weights: (layer, head, position, position) float16: row t is where the network looked to say symbol t, column j stands for the symbol
    j − 1, column 0 for the start. typed: symbols of the continuation that the visitor typed; typed_nats: −log p of each.
    """

    variant: str
    numbers: tuple[int, ...]
    symbols: tuple[str, ...]
    given: int
    nats: Array
    unknown: NDArray[np.bool_]
    lens: Guesses
    exits: Guesses | None
    tree: Tree
    weights: NDArray[np.float16]
    typed: tuple[str, ...]
    typed_nats: Array


@dataclass(frozen=True)
class Point:
    """A look at a fine-tuning. seen: sentences read, each as often as it was read; accuracy: of the held-out sentences; fit: of those that
    were learned from since the last look, each judged just before; None at the beginning."""

    seen: int
    accuracy: float
    fit: float | None


@dataclass(frozen=True)
class Learned:
    """A fine-tuning. counts: what counting words makes of the same labels. held_out: how many sentences are judged. stopped: somebody
    pressed Stop."""

    points: tuple[Point, ...]
    counts: float
    held_out: int
    stopped: bool


@dataclass(frozen=True)
class Again:
    """What was read and written, by numbers, to be read once more under what `request` changes."""

    request: Request
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Losses:
    """What a text costs when it is read again, at the temperature of the request. nats: (position,)."""

    nats: Array


@dataclass(frozen=True)
class Step:
    """Some symbols read or written. first: position of the first; symbols: they; nats: of each; given: whether they were read."""

    first: int
    symbols: tuple[str, ...]
    nats: Array
    given: bool


OPENING = "She had been forced into prudence in her youth, she "  # Jane Austen, Persuasion (1818), chapter 4: a book that no model has read
UNICORNS = "In a valley high in the Andes, where nobody had been before, the travellers met a herd of unicorns, and the first of them said"
OFFERED: tuple[Request, ...] = (
    Request(OPENING, typed="learned romance as she grew older"),
    Request(UNICORNS, length=160, seed=5),
    Request("“I do not know what you mean,” said", length=120, temperature=0.0),
    Request("", length=160, seed=6),
    Request(OPENING.strip(), length=40, variant="words", typed=" learned romance as she grew older"),
    Request("kQ7mXa3RzBt0vEkQ7mXa3", length=7, variant="induction", temperature=0.0),
)
LEARN, LEARNED = Request(mode=MODES[1], labels=200), "learned.npz"  # a fine-tuning that is shipped, and its file
# Those whose models are there; before anything was trained, those of the first variant.
EXAMPLES: tuple[Request, ...] = tuple(one for one in OFFERED if one.variant in (shipped() or VARIANTS[:1]))
LINES: tuple[str, ...] = (  # of which queries and keys are looked at together
    "She had been forced into prudence in her youth.",
    "“I do not know what you mean,” said the old man.",
    "It was late, and nobody had come to the house.",
    "He looked at her for a moment, and then he went away.",
    "The river was high that spring, and the road was wet.",
    "There were three men in the room, and one of them spoke.",
)
