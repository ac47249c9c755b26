"""Runs of attention by hashing with queries of a fixed seed, for tests of its figures.

One head knows places: what asks and the letter that it is to say are alike. One knows letters:
    equal ones are alike. Others know nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.labs.reformer.figures import hashing
from models.layers.lsh import (
    draw_rotations,
    hash_vectors,
    mark_meetings,
    normalise_keys,
    shared_weights,
    sort_by_bucket,
)
from models.reformer.records import Hashing, Read
from models.reformer.weights import compute_shared_weights
from tests.explorer.numbers import scaled

WIDTH = 16
unpacked = scaled  # an array as the browser reads it
NAMES = {
    "lsh_4": {"en": "LSH, 4 rounds", "zh": "LSH，4 轮"},
    "full": {"en": "Full attention", "zh": "全注意力"},
    "lsh_2": {"en": "LSH, 2 rounds", "zh": "LSH，2 轮"},
    "text": {"en": "Text", "zh": "文本"},
}
WORD = "locality sensitive hashing"
ODD = "a <b>bold</b> 😀 文 & so on: to be, or not to be\n"


def twice(word: str) -> tuple[str, ...]:
    """0 w 0 w, without the last letter."""
    return ("0", *word, "0", *word[:-1])


def long_word(letters: int = 128) -> str:
    """A word of as many letters as the models read."""
    return "".join(
        np.random.default_rng(9).choice(list("abcdefghijklmnopqrstuvwxyz .,-!"), letters)
    )


@cache
def queries(
    tokens: tuple[str, ...], word: int | None, layers: int = 1, heads: int = 4
) -> NDArray[np.float16]:
    """(layer, head, position, d_head)."""
    generator = np.random.default_rng(3)
    n = len(tokens)
    found = generator.normal(size=(layers, heads, n, WIDTH)) * 2.4
    place = np.arange(n) % word if word else np.arange(n) // 3
    letters = np.array([ord(token) % 97 for token in tokens])
    for layer in range(layers):
        found[layer, 0] = 2.6 * generator.normal(size=(n, WIDTH))[place] + 0.35 * found[layer, 0]
        found[layer, 2] = 1.6 * generator.normal(size=(97, WIDTH))[letters] + 0.3 * found[layer, 2]
    return found.astype(np.float16)


def rotation(read: Read, layer: int, head: int, seed: int = 1) -> torch.Tensor:
    """(round, d_head, half) of one head."""
    heads = read.queries.shape[1]
    drawn = draw_rotations(
        heads, WIDTH, read.buckets.shape[2], read.kinds, torch.Generator().manual_seed(seed + layer)
    )
    return drawn[head]


@cache
def read(
    variant: str,
    tokens: tuple[str, ...],
    word: int | None,
    rounds: int = 4,
    kinds: int = 32,
    chunk: int = 16,
    layers: int = 1,
) -> Read:
    """What a network with such queries would hand over."""
    own = queries(tokens, word, layers)
    empty = np.zeros((layers, own.shape[1], rounds, len(tokens)), np.int16)
    made = Read(
        variant,
        np.zeros(0, np.int16),
        "",
        np.zeros(0, np.bool_),
        np.zeros(0, np.float32),
        0.0,
        own,
        empty,
        chunk,
        kinds,
    )
    for layer in range(layers if rounds else 0):
        turns = torch.stack([rotation(made, layer, head) for head in range(own.shape[1])])
        empty[layer] = hash_vectors(torch.from_numpy(own[layer].astype(np.float32))[None], turns)[
            0
        ].numpy()
    return replace(made, buckets=empty)


def look(made: Read, layer: int, head: int, turn: int) -> Hashing:
    """One round of one head, as `models.reformer.explain.hash_round` works it out."""
    query = torch.from_numpy(made.queries[layer, head].astype(np.float32))
    rotated = normalise_keys(query) @ rotation(made, layer, head)[turn]
    buckets = torch.from_numpy(made.buckets[layer, head, turn].copy())
    order = sort_by_bucket(buckets)
    pairs = mark_meetings(order, made.chunk).tril()
    return Hashing(
        rotated=rotated.numpy(),
        buckets=buckets.numpy(),
        order=order.numpy().astype(np.int16),
        chunk=made.chunk,
        seen=pairs.numpy(),
        weights=shared_weights(query, pairs).numpy().astype(np.float16),
    )


def seen(made: Read, layer: int, head: int) -> torch.Tensor:
    """(query, key) what any round lets a query see, its own key left aside."""
    turns = [
        mark_meetings(sort_by_bucket(torch.from_numpy(one.copy())), made.chunk)
        for one in made.buckets[layer, head]
    ]
    return torch.stack(turns).any(0).tril(-1)


def weights(made: Read, layer: int, head: int) -> NDArray[np.float32]:
    """(query, key) of all rounds together."""
    return compute_shared_weights(made, layer, head, range(made.queries.shape[2]), True)


def models(kind: str) -> tuple[tuple[str, ...], int | None, list[Read]]:
    """Tokens, letters of the word, and what each model made of it: "word", "long" or "four"
    (buckets)."""
    if kind == "word":
        tokens, word = twice(WORD), len(WORD)
        return (
            tokens,
            word,
            [
                read("lsh_4", tokens, word),
                read("full", tokens, word, rounds=0),
                read("lsh_2", tokens, word, rounds=2),
            ],
        )
    if kind == "long":
        tokens, word = twice(long_word()), 128
        return tokens, word, [read("lsh_4", tokens, word, rounds=8)]
    return tuple(ODD), None, [read("text", tuple(ODD), None, rounds=2, kinds=4, chunk=8)]


def pick(kind: str) -> Mapping[str, Any]:
    """What is shown on arrival: the first head, in its first round, finds the letter that it is to
    say in the middle of a word."""
    head, pos = {"word": ("1.1", 39), "long": ("1.1", 192), "four": ("1.3", 44)}[kind]
    return {"model": models(kind)[2][0].variant, "head": head, "round": 1, "pos": pos}


def answer(kind: str, query: str, model: str, head: str, turn: int) -> dict[str, object]:
    """What the page answers to a look."""
    made = next(one for one in models(kind)[2] if one.variant == model)
    layer, column = (int(n) - 1 for n in head.split("."))
    address: dict[str, object] = {"query": query, "model": model, "head": head, "round": turn}
    if turn == hashing.ALL:
        return hashing.answer_all_rounds(address, weights(made, layer, column))
    return hashing.answer_look(address, look(made, layer, column, turn - 1))


def value(kind: str = "word", state: str = "stored", query: str = "") -> dict[str, object]:
    """A finished run."""
    tokens, word, made = models(kind)
    told = pick(kind)
    return hashing.draw_hashing(
        tokens=tokens,
        wanted=np.arange(word + 1 if word else 0, len(tokens)),
        read=made,
        names=NAMES,
        query=query,
        state=state,
        pick=told,
        word=word,
        look=answer(kind, query, str(told["model"]), str(told["head"]), int(told["round"])),
    )
