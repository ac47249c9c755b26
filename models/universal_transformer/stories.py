"""Short stories of people, places and things, and a question that needs one, two or three of their
facts.

A fact is a sentence; time passes from one to the next. People walk ("mary went to the garden"),
take things ("mary took the key") and put things into containers ("mary put the key in the box"); a
person with a container carries its contents. The last fact about a person or thing holds. The
answer is a place, or "nobody" (nobody knows) if the story does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.data.splits import belongs_to_split
from models.universal_transformer.data import NONE, Inputs
from models.universal_transformer.vocabulary import CONTAINERS, NOBODY, PEOPLE, PLACES, THINGS

Ints = NDArray[np.int64]

WORDS = (
    "",
    *PEOPLE,
    *PLACES,
    *THINGS,
    *CONTAINERS,
    NOBODY,
    "went",
    "to",
    "the",
    "took",
    "put",
    "in",
    "where",
    "is",
)
TOKEN = {word: token for token, word in enumerate(WORDS) if word}
LONGEST = 10  # facts of a story
LEAST = 2
SENTENCE = 7  # words of the longest sentence
WENT, TOOK, PUT = 0, 1, 2  # kinds of fact
UNKNOWN = 0  # facts needed for the answer "nobody"


@dataclass(frozen=True)
class Fact:
    """A fact of a story.

    kind: WENT (who, a place), TOOK (who, a thing or container) or PUT (who, a thing, a container).
    words: as in the vocabulary.
    """

    kind: int
    who: str
    what: str
    into: str = ""

    def words(self) -> tuple[str, ...]:
        """Return the words of the sentence."""
        if self.kind == WENT:
            return (self.who, "went", "to", "the", self.what)
        if self.kind == TOOK:
            return (self.who, "took", "the", self.what)
        return (self.who, "put", "the", self.what, "in", "the", self.into)


def question(about: str) -> tuple[str, ...]:
    """Return the words of a question, for example "where is mary" or "where is the key"."""
    return ("where", "is", about) if about in PEOPLE else ("where", "is", "the", about)


def answer(facts: list[Fact] | tuple[Fact, ...], about: str) -> tuple[str, tuple[int, ...]]:
    """Return the place of a person or thing, and the facts that determine it, in the order of need;
    "nobody" and no facts if there are none."""
    used: list[int] = []
    now = about
    while True:
        found = _last(facts, now)
        if found is None:
            return NOBODY, ()
        used.append(found)
        fact = facts[found]
        if fact.kind == WENT:
            return fact.what, tuple(used)
        now = fact.who if fact.kind == TOOK else fact.into


def _last(facts: list[Fact] | tuple[Fact, ...], about: str) -> int | None:
    """Return the last fact that tells the place of a person or thing."""
    for i in range(len(facts) - 1, -1, -1):
        fact = facts[i]
        if (fact.kind == WENT and fact.who == about) or (fact.kind != WENT and fact.what == about):
            return i
    return None


def _fact(generator: np.random.Generator, kind: int) -> Fact:
    def choose_word(words: tuple[str, ...]) -> str:
        return words[int(generator.integers(len(words)))]

    if kind == WENT:
        return Fact(WENT, choose_word(PEOPLE), choose_word(PLACES))
    if kind == TOOK:
        return Fact(
            TOOK,
            choose_word(PEOPLE),
            choose_word(CONTAINERS if generator.random() < 0.5 else THINGS),
        )
    return Fact(PUT, choose_word(PEOPLE), choose_word(THINGS), choose_word(CONTAINERS))


def story(generator: np.random.Generator, needed: int) -> tuple[tuple[Fact, ...], str]:
    """Draw a story and the subject of its question, so that the answer needs `needed` facts: 1, 2,
    3, or UNKNOWN."""
    while True:
        count = int(generator.integers(max(LEAST, needed), LONGEST + 1))
        facts = [
            _fact(generator, int(kind)) for kind in generator.choice(3, count, p=(0.5, 0.3, 0.2))
        ]
        if needed:  # a chain of facts at random places, in any order, among the other facts
            who, container, thing = (
                pool[int(generator.integers(len(pool)))] for pool in (PEOPLE, CONTAINERS, THINGS)
            )
            place = PLACES[int(generator.integers(len(PLACES)))]
            carried = container if needed == 3 or generator.random() < 0.3 else thing
            chain = [Fact(WENT, who, place), Fact(TOOK, who, carried)]
            if needed == 3:
                chain.append(
                    Fact(PUT, PEOPLE[int(generator.integers(len(PEOPLE)))], thing, container)
                )
            for at, fact in zip(generator.permutation(count)[:needed], chain[:needed], strict=True):
                facts[int(at)] = fact
            about = {1: who, 2: carried, 3: thing}[needed]
        else:
            pool = (PEOPLE, THINGS, CONTAINERS)[int(generator.integers(3))]
            about = pool[int(generator.integers(len(pool)))]
        found, used = answer(facts, about)
        if len(used) == needed and (found == NOBODY) == (needed == UNKNOWN):
            return tuple(facts), about


def encode_story(
    facts: tuple[Fact, ...], about: str, length: int = LONGEST + 1
) -> tuple[Ints, int]:
    """Return the tokens of a story, (length, SENTENCE), and the number of rows without padding.

    There is one row for each fact, then the question, then padding.
    """
    rows = np.zeros((length, SENTENCE), np.int64)
    sentences = [*(fact.words() for fact in facts), question(about)]
    for i, words in enumerate(sentences):
        rows[i, : len(words)] = [TOKEN[word] for word in words]
    return rows, len(sentences)


def inputs(stories: list[tuple[tuple[Fact, ...], str]]) -> Inputs:
    """Return stories with their questions as inputs; the answer is due at the question, and the
    difficulty is the number of facts that it needs."""
    made = [encode_story(facts, about) for facts, about in stories]
    used = [answer(facts, about) for facts, about in stories]
    tokens, sizes = np.stack([rows for rows, _ in made]), np.array([size for _, size in made])
    width = int(sizes.max())
    place = np.broadcast_to(np.arange(width), (len(made), width)).astype(np.int64)
    targets = np.full((len(made), width), NONE, np.int64)
    targets[np.arange(len(made)), sizes - 1] = [TOKEN[found] for found, _ in used]
    return Inputs(
        tokens[:, :width],
        place,
        place < sizes[:, None],
        targets,
        np.array([len(facts) for _, facts in used]),
    )


def draw_stories(generator: np.random.Generator, count: int, split: str = "train") -> Inputs:
    """Draw `count` stories: one quarter each needs one, two and three facts, and one quarter does
    not tell.

    split: "train", "val" or "test"; the hash of story and question alone decides it.
    """
    kept: list[tuple[tuple[Fact, ...], str]] = []
    while len(kept) < count:
        more = [
            story(generator, (len(kept) + i) % 4) for i in range(16 if split == "train" else 64)
        ]
        rows = np.stack([encode_story(*one)[0].reshape(-1) for one in more])
        kept += [one for one, fits in zip(more, belongs_to_split(rows, split), strict=True) if fits]
    return inputs(kept[:count])
