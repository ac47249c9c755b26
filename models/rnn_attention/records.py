"""What crosses the border between the recurrent translators and a page: frozen records of arrays, strings and numbers. No torch here."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from models import fields
from models.results import Array as Array
from models.results import Retranslated, Translated

Again = Retranslated

VARIANTS = ("additive", "dot", "general", "none")  # g, and the model without attention
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
    """One sentence, which model translates it, how it is searched for, and what is changed meanwhile.

    sentence: English text. variant: the score g, or "none". beam: hypotheses kept, 1 = greedy. alpha: length penalty α (Wu et al., 2016).
    words: source pieces that share all weight, evenly; () where the model decides. rows: the outputs where they do; () for all.
    context: "attended" as trained; "uniform": every word weighs the same; "frozen": the weights of the first output stay; "zero": c_t = 0.
    donor: the sentence of DONORS whose last state [→h_S; ←h_1] this decoder begins with, OWN for its own.
    """

    sentence: str = fields.characters("", 2_000)
    variant: str = fields.choice("additive", VARIANTS, en="score", zh="打分函数")
    beam: int = fields.number(1, 1, MAX_BEAM, en="beam", zh="束宽")
    alpha: float = fields.number(0.6, 0.0, 2.0, en="length penalty", zh="长度惩罚")
    words: tuple[int, ...] = fields.anything(())
    rows: tuple[int, ...] = fields.anything(())
    context: str = fields.choice("attended", CONTEXTS, en="context", zh="上下文")
    donor: str = fields.choice(OWN, (OWN, *DONORS), en="sentence", zh="句子")

    @property
    def task(self) -> str:
        """Which pictures a run has: those of attention, or those of one vector."""
        return "vector" if self.variant == "none" else "attention"

    def group(self) -> Hashable:
        """Requests of one group may share a batch: the same model."""
        return self.variant

    def plain(self) -> Request:
        """The same sentence, model and search, with nothing changed."""
        return replace(self, words=(), rows=(), context="attended", donor=OWN)


@dataclass(frozen=True, kw_only=True)
class Explanation(Translated):
    """A translation and the weights behind it.

    weights (target, source): α; row t belongs to the step that produced target[t]. scores: g(s_{t−1}, h_j) of the same cells. shares: what
    part of c_t each α_tj h_j is, measured along c_t; a row sums to 1. All three have no rows in the model without attention.
    remains (direction, source): ‖∂h/∂x_j‖ of the last state of each direction, → then ←, estimated, over their sum.
    """

    weights: Array
    scores: Array
    shares: Array
    remains: Array


@dataclass(frozen=True)
class Gradients:
    """How much each word bears on each output of one German sentence, in two models.

    norms, others (target, source): ‖∂ log p_t / ∂x_j‖, x_j the vector of source piece j, in the model of the request and in `other`.
    """

    norms: Array
    other: str
    others: Array


EXAMPLES: tuple[Request, ...] = (
    Request("Children are playing soccer on a green field."),
    Request("Two dogs are running through the snow."),
    Request("A man in a blue shirt is standing on a ladder and cleaning a window."),
    Request("A group of young people in colorful clothes is sitting on the steps of a building while a man plays music."),
    Request("A man in a blue shirt is standing on a ladder and cleaning a window.", variant="none"),
)
