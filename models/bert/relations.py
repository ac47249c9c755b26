"""Patterns of attention heads, and the grammatical relations of a treebank that heads find (Clark
et al., 2019, §4)."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from models.bert.model import Encoder
from models.bert.pieces import GOES_ON, Encoded, Pieces
from models.bert.pretrained import PIECES, SLUG
from models.bert.records import PATTERNS, Array, by_word
from models.checkpoints import checkpoint, folders
from models.data import captions
from models.explaining.errors import reading_file
from models.explaining.trace import Trace
from models.training.driver import FigureRequest, Measurement

RELATIONS = (
    "det",
    "amod",
    "nsubj",
    "obj",
    "case",
    "nmod:poss",
    "aux",
    "mark",
    "cop",
    "advmod",
    "compound",
)
WAYS = ("governor", "dependent")  # from a dependent to its governor, or back
# A head counts as finding a relation if its accuracy exceeds that of the best distance by this
# much.
BETTER = 0.10
MOST = 64  # pieces of a sentence
SENTENCES = 120  # captions on which patterns are measured
CLASSES = "classes.json"  # next to the networks
TREEBANK = (
    "UD English-EWT, training part, github.com/UniversalDependencies/UD_English-EWT at 15d613d8, CC"
    " BY-SA 4.0"
)


class Sentence(NamedTuple):
    """A tree: its words, and the relations between them, each with its dependent before its
    governor."""

    words: tuple[str, ...]
    pairs: tuple[tuple[str, int, int], ...]


def blocks(data: Path, split: str) -> Iterator[list[list[str]]]:
    """Yield the rows of each tree of `ud_ewt`, one per word.

    Raise FileNotFoundError if the treebank is missing.
    """
    with gzip.open(data / "ud_ewt" / f"{split}.conllu.gz", "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            rows = [line.split("\t") for line in block.split("\n") if line and line[0] != "#"]
            # Omitted or contracted words have no number of their own.
            if rows := [row for row in rows if row[0].isdecimal()]:
                yield rows


def treebank(data: Path, split: str) -> list[Sentence]:
    """Return the words and relations of each tree of a split, `dev` or `test`."""
    return [
        Sentence(
            tuple(row[1] for row in rows),
            tuple((row[7], int(row[0]) - 1, int(row[6]) - 1) for row in rows if row[6] != "0"),
        )
        for rows in blocks(data, split)
    ]


def classes(data: Path) -> Path:
    """Write the most frequent word class (UPOS) of each form in the training part, without names;
    return the file.

    data: the folder of `ud_ewt/train.conllu.gz`, the treebank's own `en_ewt-ud-train.conllu`.
    """
    often: dict[str, Counter[str]] = defaultdict(Counter)
    for rows in blocks(data, "train"):
        for row in rows:
            if row[3] != "PROPN":  # Brown, Green and Street are also colours and streets
                often[row[1].lower()][row[3]] += 1
    found: dict[str, list[str]] = defaultdict(list)
    for word, counts in sorted(often.items()):
        found[counts.most_common(1)[0][0]].append(word)
    path = folders.find_lab_folder(SLUG, checkpoint.ASSETS) / CLASSES
    path.write_text(
        json.dumps(
            {"source": TREEBANK} | {name: " ".join(words) for name, words in sorted(found.items())},
            indent=1,
        )
        + "\n"
    )
    return path


@cache
def known_classes() -> dict[str, str]:
    """Return the word class of each form that `classes` found; empty if its file is missing."""
    path = folders.find_lab_folder(SLUG, checkpoint.ASSETS) / CLASSES
    with reading_file(path):
        found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return {
        word: name for name, words in found.items() if name != "source" for word in words.split()
    }


def classes_of(text: Encoded) -> tuple[str, ...]:
    """Return the class of each piece's word, (piece,); X if unknown, "" for [CLS] and [SEP]."""
    known = known_classes()
    words: dict[int, str] = defaultdict(str)
    for piece, at in zip(text.shown, text.word.tolist(), strict=True):
        words[at] += piece.removeprefix(GOES_ON)
    return (
        tuple(known.get(words[at], "X") if at >= 0 else "" for at in text.word.tolist())
        if known
        else ()
    )


@torch.no_grad()
def collect_weights(model: Encoder, ids: NDArray[np.int64]) -> Array:
    """Return the weights of one text, (layer, head, query, key)."""
    trace = Trace("*/self/weights")
    model(torch.from_numpy(ids)[None].to(model.words.weight.device), trace=trace)
    return trace.stack("*/self/weights")[:, 0]


def patterns(weights: NDArray[np.floating[Any]], ids: NDArray[np.int64]) -> Array:
    """Return the mean weight that the text's pieces give to each pattern, (layer, head, kind of
    PATTERNS).

    [CLS] first and [SEP] last are no queries. weights: (layer, head, query, key). The first piece
    has no left neighbour and is left out there, and so is the last piece to the right.
    """
    inner = weights[:, :, 1:-1].astype(np.float32)
    beside = [np.diagonal(weights, step, 2, 3)[..., 1:-1].astype(np.float32) for step in (-1, 1)]
    same = (inner * (ids[1:-1, None] == ids)).sum(-1)
    return np.stack(
        [
            given.sum(-1) / max(1, given.shape[-1])
            for given in (*beside, inner[..., 0], inner[..., -1], same)
        ],
        -1,
    )


def tally(
    model: Encoder, pieces: Pieces, trees: Sequence[Sentence]
) -> dict[str, tuple[NDArray[np.int64], Counter[int]]]:
    """Count for each relation how often the most attended word is the right one, (way, layer,
    head), by WAYS.

    Also count how often the governor lies at each distance from its dependent. Trees of more than
    MOST pieces are left out.
    """
    right: dict[str, Any] = defaultdict(int)
    distances: dict[str, Counter[int]] = defaultdict(Counter)
    for tree in trees:
        ids, word = pieces.encode_words(tree.words)
        if len(ids) > MOST or set(word) - {-1} != set(range(len(tree.words))):
            continue
        weights = by_word(collect_weights(model, ids), word)
        index = np.arange(len(tree.words))
        weights[:, :, index, index] = -1  # a word is not related to itself
        best = weights.argmax(-1)
        for relation, dependent, governor in tree.pairs:
            if relation in RELATIONS:
                right[relation] += np.stack(
                    (best[:, :, dependent] == governor, best[:, :, governor] == dependent)
                ).astype(np.int64)
                distances[relation][governor - dependent] += 1
    return {relation: (right[relation], distances[relation]) for relation in right}


def table(model: Encoder, pieces: Pieces, data: Path) -> list[dict[str, Any]]:
    """Return for each relation the way, the head (from 0) and the distance that are best on dev,
    and their accuracy on test."""
    dev, test = (tally(model, pieces, treebank(data, split)) for split in ("dev", "test"))
    rows = []
    for relation in (one for one in RELATIONS if one in dev and one in test):
        (right, distances), (again, others) = dev[relation], test[relation]
        way, layer, head = highest(right)
        distance, n = distances.most_common(1)[0][0], others.total()
        row = {"relation": relation, "way": WAYS[way], "layer": layer, "head": head}
        row |= {
            "dev": round(float(right.max() / distances.total()), 4),
            "n": n,
            "test": round(float(again[way, layer, head] / n), 4),
        }
        rows.append(
            row
            | {
                "distance": -distance if way else distance,
                "distance_test": round(others[distance] / n, 4),
            }
        )
    return rows


def highest(scores: NDArray[Any]) -> tuple[int, ...]:
    """Return the index of the largest score, the first of several."""
    return tuple(map(int, np.unravel_index(int(scores.argmax()), scores.shape)))


def pattern_heads(model: Encoder, pieces: Pieces, data: Path) -> list[dict[str, Any]]:
    """Return for each pattern the head (from 0) that is best on captions of val, and its mean
    weight on captions of test."""
    means = []
    for split in ("val", "test_2016_flickr"):
        rows = [
            pieces.row(ids)
            for ids in pieces.encode_all(captions.read_captions(data, split)[0][:SENTENCES])
        ]
        means.append(np.mean([patterns(collect_weights(model, ids), ids) for ids in rows], 0))
    chosen, reported = means
    found = []
    for kind, name in enumerate(PATTERNS):
        layer, head = highest(chosen[..., kind])
        found.append(
            {
                "pattern": name,
                "layer": layer,
                "head": head,
                "test": round(float(reported[layer, head, kind]), 4),
            }
        )
    return found


def measure_heads(asked: FigureRequest[Any]) -> Measurement:
    """Measure the heads of a pretrained encoder; each is chosen on one part and reported on
    another."""
    model, pieces = asked.shipped.model, Pieces.load(asked.where / PIECES)
    rows, heads = table(model, pieces, asked.data), pattern_heads(model, pieces, asked.data)
    above = sum(row["test"] - row["distance_test"] >= BETTER for row in rows)
    figure = {
        "metric": "relations that a head finds",
        "split": asked.split,
        "value": above,
        "n": len(rows),
    }
    figure |= {"relations_above_offset": above} | {
        f"{one['pattern']}_head": one["test"] for one in heads
    }
    said = [
        f"{row['relation']} {row['layer'] + 1}·{row['head'] + 1} {row['test']:.2f}"
        f" ({row['distance_test']:.2f})"
        for row in rows
    ]
    return Measurement(
        figure,
        f"{above} relations: {', '.join(said)}",
        facts=lambda: {"relations": rows, "patterns": heads},
        higher=True,
    )
