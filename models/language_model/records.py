"""The requests to the language models and their explanations: frozen records of arrays, strings and
numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.checkpoints import folders
from models.data.corpus import WAYS
from models.explaining import request_fields

Array = NDArray[np.float32]

# In the order of the page.
VARIANTS = ("plain", "last_only", "layers", "targets", "all", "words", "induction", "one_layer")
EXITS = "all"  # the variant with classifiers on its lower layers
MAX_TEXT = 512  # the most characters given and symbols written, together
MAX_WRITTEN = 400  # the most symbols written
MAX_TYPED = 120  # the most characters of a typed continuation
MAX_LAYERS = 8
# Kinds of models: of the books' characters, of their pieces, of repeated random symbols.
KINDS = ("characters", "pieces", "copies")
KIND = {"words": KINDS[1], "induction": KINDS[2], "one_layer": KINDS[2]}
MODES = ("write", "learn")  # continue a text, or fine-tune on labels
MOST_LABELS = 1000  # labels for fine-tuning in the page


def list_shipped() -> tuple[str, ...]:
    """Return the variants with a shipped model, in the order of VARIANTS."""
    return folders.list_trained("language_model", VARIANTS)


@dataclass(frozen=True)
class Request:
    """A request: a text to continue, the way its continuation is drawn, and the changes to the
    model.

    With `mode` "learn", it is a fine-tuning of the model of pieces, or of the same network from
    scratch (`way`), on some `labels`, drawn by `seed`. text: the beginning; "" starts after a line
    break. length: symbols to write, characters or pieces. variant: one of the shipped variants.
    top_k: draw from so many of the likeliest symbols, 0 for all. top_p: the probability of the
    nucleus. seed: of all draws. typed: a user's continuation whose probability is measured; "" for
    none. temperature: 0 always takes the likeliest. silenced: (kind of symbols, layer, head) from
    0. skipped: layers, from "1". positions: whether positions are added.
    """

    text: str = request_fields.text_field("", MAX_TEXT)
    length: int = request_fields.number_field(44, 0, MAX_WRITTEN, en="length", zh="长度")
    variant: str = request_fields.choice_field(
        "plain", list_shipped() or VARIANTS[:1], en="model", zh="模型"
    )
    top_k: int = request_fields.number_field(
        0, 0, 5000, en="number of likeliest symbols", zh="最可能符号的个数"
    )
    top_p: float = request_fields.number_field(0.9, 0.01, 1, en="top-p", zh="top-p")
    seed: int = request_fields.seed_field(7)
    typed: str = request_fields.text_field("", MAX_TYPED)
    temperature: float = request_fields.temperature_field(1.0)
    silenced: tuple[tuple[str, int, int], ...] = request_fields.heads_field(KINDS)
    skipped: tuple[str, ...] = request_fields.several_field(
        tuple(str(n + 1) for n in range(MAX_LAYERS)), en="layer", zh="层"
    )
    positions: bool = request_fields.switch_field(True)
    mode: str = request_fields.choice_field(MODES[0], MODES, en="mode", zh="模式")
    labels: int = request_fields.number_field(
        500, 2, MOST_LABELS, en="number of labels", zh="标签数"
    )
    way: str = request_fields.choice_field(WAYS[0], WAYS[:2], en="beginning", zh="起点")

    @property
    def live(self) -> bool:
        """Whether the result is computed anew each time and can be stopped, as a fine-tuning is."""
        return self.mode == MODES[1]

    @property
    def task(self) -> str:
        """The task, which selects the views: characters, pieces or labels."""
        return "labels" if self.live else KINDS[self.kind == KINDS[1]]

    @property
    def kind(self) -> str:
        """The kind of its model, to which silenced heads belong."""
        return KIND.get(self.variant, KINDS[0])

    def group(self) -> Hashable:
        """Return the key of a batch: requests with the same model, layers and positions may share
        one."""
        return (self.mode, self.variant, frozenset(self.skipped), self.positions)

    def plain(self) -> Request:
        """Return the same request without changes to the model."""
        return replace(self, temperature=1.0, silenced=(), skipped=(), positions=True)


@dataclass(frozen=True)
class Guesses:
    """The predictions of each layer of a network at each position.

    variant: its name. best: the likeliest symbols, (layer, position). numbers: their numbers, which
    decide whether they are right. nats: −log p of the actual symbols, (layer, position).
    """

    variant: str
    best: tuple[tuple[str, ...], ...]
    numbers: NDArray[np.int32]
    nats: Array


@dataclass(frozen=True)
class Tree:
    """The likely continuations: a node for each symbol, parents before children, the likeliest
    child first.

    parent: −1 for those that come first, (node,). symbols: of each node. chance: its probability
    after its parent, at temperature 1, (node,). kept: whether it can be drawn, (node,). sampled:
    the nodes of the written text.
    """

    parent: NDArray[np.int16]
    symbols: tuple[str, ...]
    chance: Array
    kept: NDArray[np.bool_]
    sampled: tuple[int, ...]


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    variant: the model's name. numbers, symbols: of each position, read or written, a character or a
    piece each; a piece that is part of a character is spelled as bytes. given: the number of
    symbols read. written: the others as text. nats: −log p of each in the model as it ran,
    temperature 1, (position,). unknown: whether the model does not know a character, (position,).
    lens: the logit lens of each layer. exits: the predictions of the layers' own classifiers on the
    same text, in this model or in that of EXITS; None if neither has any. tree: the likely first
    symbols. weights: (layer, head, position, position), float16: row t shows the attention that
    predicts symbol t, column j stands for symbol j − 1, and column 0 for the start. typed: symbols
    of the typed continuation. typed_nats: −log p of each.
    """

    variant: str
    numbers: tuple[int, ...]
    symbols: tuple[str, ...]
    given: int
    written: str
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
    """An evaluation during a fine-tuning.

    seen: sentences read, with repetitions. accuracy: on the held-out sentences. fit: on the
    sentences learned since the last evaluation, each judged just before; None at the beginning.
    """

    seen: int
    accuracy: float
    fit: float | None


@dataclass(frozen=True)
class Learned:
    """A fine-tuning.

    counts: the accuracy of word counts with the same labels. held_out: the number of sentences
    judged. stopped: whether the user pressed Stop.
    """

    points: tuple[Point, ...]
    counts: float
    held_out: int
    stopped: bool


@dataclass(frozen=True)
class Rereading:
    """The symbols of a run, by number, to read again under the changes of `request`."""

    request: Request
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Losses:
    """The cost of a text that is read again, at the temperature of the request.

    nats: (position,).
    """

    nats: Array


@dataclass(frozen=True)
class Step:
    """Symbols just read or written.

    first: the position of the first. symbols: the symbols. nats: of each. given: whether they were
    read.
    """

    first: int
    symbols: tuple[str, ...]
    nats: Array
    given: bool


# Jane Austen, Persuasion (1818), chapter 4: a book that no model has read.
OPENING = "She had been forced into prudence in her youth, she "
UNICORNS = (
    "In a valley high in the Andes, where nobody had been before, the travellers met a herd of"
    " unicorns, and the first of them said"
)
OFFERED: tuple[Request, ...] = (
    Request(OPENING, typed="learned romance as she grew older"),
    Request(UNICORNS, length=160, seed=5),
    Request("“I do not know what you mean,” said", length=120, temperature=0.0),
    Request("", length=160, seed=6),
    Request(
        OPENING.strip(), length=40, variant="words", typed=" learned romance as she grew older"
    ),
    Request("kQ7mXa3RzBt0vEkQ7mXa3", length=7, variant="induction", temperature=0.0),
)
# A shipped fine-tuning, and its file.
LEARN, LEARNED = Request(mode=MODES[1], labels=200), "learned.npz"
# Variants with a model; before the first training, those of the first variant.
EXAMPLES: tuple[Request, ...] = tuple(
    one for one in OFFERED if one.variant in (list_shipped() or VARIANTS[:1])
)
LINES: tuple[str, ...] = (  # whose queries and keys are displayed together
    "She had been forced into prudence in her youth.",
    "“I do not know what you mean,” said the old man.",
    "It was late, and nobody had come to the house.",
    "He looked at her for a moment, and then he went away.",
    "The river was high that spring, and the road was wet.",
    "There were three men in the room, and one of them spoke.",
)
