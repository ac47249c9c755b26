"""Made-up runs of the Reformer's lab: vectors from a fixed seed, answers as a test wants them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models.reformer.records import Explanation, Read

ROUNDS = {"lsh_4": 4, "full": 0, "lsh_2": 2, "lsh_1": 1, "text": 2}


def read(
    variant: str,
    text: str,
    wrong: tuple[int, ...] = (),
    *,
    mode: str = "word",
    layers: int = 1,
    rounds: int | None = None,
    salt: int = 0,
) -> Read:
    """What a model makes of a text: the right letters but for the places `wrong`, where it says the
    next one of the alphabet."""
    generator = np.random.default_rng([len(variant), salt])
    length = 2 * len(text) + 1 if mode == "word" else len(text)
    count = ROUNDS[variant] if rounds is None else rounds
    said = "".join(chr(ord(letter) + 1) if i in wrong else letter for i, letter in enumerate(text))
    right = np.array([i not in wrong for i in range(len(text))])
    return Read(
        variant=variant,
        answer=np.zeros(len(text), np.int16),
        said=said,
        right=right,
        nats=np.where(right, 0.01 + 0.001 * salt, 3.0).astype(np.float32),
        correct=float(right.mean()),
        queries=generator.normal(size=(layers, 4, length, 8)).astype(np.float16),
        buckets=generator.integers(0, 8, (layers, 4, count, length)).astype(np.int16),
        chunk=4,
        kinds=8,
    )


def word(
    text: str = "locality sensitive hashing",
    wrong: Mapping[str, tuple[int, ...]] | None = None,
    salt: int = 0,
) -> Explanation:
    """A word said twice by the four models. wrong: places where each is wrong, by default three of
    the one with a single round."""
    missed = {"lsh_1": (3, 9, 20)} if wrong is None else wrong
    reads = tuple(
        read(variant, text, missed.get(variant, ()), salt=salt)
        for variant in ("lsh_4", "full", "lsh_2", "lsh_1")
    )
    tokens = ("0", *text, "0", *text[:-1])
    return Explanation(
        tokens, np.arange(len(text) + 1, 2 * len(text) + 1).astype(np.int16), reads, 1
    )


def book(text: str, salt: int = 0) -> Explanation:
    """A text read by the model of texts."""
    one = read("text", text, tuple(range(0, len(text), 7)), mode="text", layers=2, salt=salt)
    return Explanation(
        ("\N{REPLACEMENT CHARACTER}", *text[:-1]), np.arange(len(text)).astype(np.int16), (one,), 1
    )
