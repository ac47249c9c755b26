"""The requests to the recurrent translators and their explanations: frozen records of arrays,
strings and numbers, without torch."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from models.explaining import request_fields
from models.explaining.shared_records import Array as Array
from models.explaining.shared_records import Retranslated, Translated

Rereading = Retranslated

VARIANTS = ("additive", "dot", "general", "none")  # g, and the model without attention
# the scores that are products: there are networks that divide them, and some that do not
PRODUCTS = ("dot", "general")
UNSCALED = "_unscaled"  # at the end of the name of a network that does not
# every network that is trained
NETWORKS = (*VARIANTS[:-1], *(f"{one}{UNSCALED}" for one in PRODUCTS), VARIANTS[-1])
CONTEXTS = ("attended", "uniform", "frozen", "zero")  # where c_t comes from
DONORS: dict[str, str] = {  # whose last state another sentence can be given
    "dogs": "Two dogs are running through the snow.",
    "book": "A woman is reading a book on a bench.",
    "boat": "An old man is sitting in a small boat on the lake.",
}
OWN = "own"
MAX_TOKENS = 60  # source pieces
LONGEST = 49  # source pieces of the longest sentence that was learned from
MAX_BEAM = 8  # hypotheses


@dataclass(frozen=True)
class Request:
    """A request: a sentence, the model that translates it, the search, and the changes.

    sentence: English text. variant: the score g, or "none". divided: whether a score that is a
    product is divided by √d; False selects the network trained without. beam: hypotheses kept, 1 =
    greedy. alpha: length penalty α (Wu et al., 2016).
    words: source pieces that share all weight evenly; ()
    if the model decides. rows: the outputs where they do; () for all. context: "attended" as
    trained; "uniform": equal weights for all words; "frozen": the weights of the first output for
    all outputs; "zero": c_t = 0. donor: the sentence of DONORS whose last state [→h_S; ←h_1]
    initialises this decoder, OWN for its own.
    """

    sentence: str = request_fields.text_field("", 2_000)
    variant: str = request_fields.choice_field("additive", VARIANTS, en="score", zh="打分函数")
    divided: bool = request_fields.switch_field(True)
    beam: int = request_fields.number_field(1, 1, MAX_BEAM, en="beam", zh="束宽")
    alpha: float = request_fields.number_field(0.6, 0.0, 2.0, en="length penalty", zh="长度惩罚")
    words: tuple[int, ...] = request_fields.any_field(())
    rows: tuple[int, ...] = request_fields.any_field(())
    context: str = request_fields.choice_field("attended", CONTEXTS, en="context", zh="上下文")
    donor: str = request_fields.choice_field(OWN, (OWN, *DONORS), en="sentence", zh="句子")

    @property
    def task(self) -> str:
        """The task, which selects the pictures of a run: those of attention, or those of one
        vector."""
        return "vector" if self.variant == "none" else "attention"

    @property
    def network(self) -> str:
        """The network that is asked, one of NETWORKS."""
        return (
            self.variant
            if self.divided or self.variant not in PRODUCTS
            else f"{self.variant}{UNSCALED}"
        )

    def group(self) -> Hashable:
        """Return the key of a batch: requests with the same model may share one."""
        return self.network

    def plain(self) -> Request:
        """Return the same sentence, model and search without changes."""
        return replace(self, words=(), rows=(), context="attended", donor=OWN)


@dataclass(frozen=True, kw_only=True)
class Explanation(Translated):
    """A translation and its weights.

    weights: α, (target, source); row t belongs to the step that predicts target[t]. scores:
    g(s_{t−1}, h_j) of the same cells. shares: the part of c_t that each α_tj h_j contributes,
    measured along c_t; a row sums to 1. All three have no rows in the model without attention.
    remains: the estimated ‖∂h/∂x_j‖ of the last state of each direction, → then ←, divided by their
    sum, (direction, source).
    """

    weights: Array
    scores: Array
    shares: Array
    remains: Array


@dataclass(frozen=True)
class Gradients:
    """The effect of each word on each output of one German sentence, in two models.

    norms, others: ‖∂ log p_t / ∂x_j‖, where x_j is the vector of source piece j, in the model of
    the request and in `other`, (target, source).
    """

    norms: Array
    other: str
    others: Array


@dataclass(frozen=True)
class Scales:
    """The spread of scores in two networks that read the same German: one divides them by √d, one
    does not.

    product: their score, one of PRODUCTS. spreads (network, target): the largest score of a row
    less the smallest, the network that divides first. largest (network, target): the largest weight
    of a row.
    """

    product: str
    spreads: Array
    largest: Array


EXAMPLES: tuple[Request, ...] = (
    Request("Children are playing soccer on a green field."),
    Request("Two dogs are running through the snow."),
    Request("A man in a blue shirt is standing on a ladder and cleaning a window."),
    Request(
        "A group of young people in colorful clothes is sitting on the steps of a building while a"
        " man plays music."
    ),
    Request("A man in a blue shirt is standing on a ladder and cleaning a window.", variant="none"),
)
