"""The language model judges film reviews: its verdict, and a fine-tuning that is watched in the page (`models.polarity` has the rest)."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models import checkpoint, fields, folders, polarity
from models.corpus import WAYS, Labelled
from models.corpus import polarity as reviews
from models.errors import InputError, Stopped, reading
from models.language_model.pieces import END, Pieces
from models.language_model.pretrained import PIECES, SLUG, load
from models.language_model.records import MOST_LABELS, Learned, Point, Request
from models.polarity import Learning, counted, right, subset

RATE = 2e-3  # largest learning rate of a fine-tuning in the page
SENTENCES = "sentences.json.gz"  # labelled ones for the page, beside the models
EVERY = 200  # sentences between two looks at the held-out ones, in the page
LIVE = {"train": MOST_LABELS, "test": 200}  # how many of them
EPOCHS, SECONDS = 12, 15.0  # a fine-tuning in the page ends after either


class Judge(polarity.Judge):
    """A language model with a verdict. It reads END, the pieces and END; the first, before which nothing was read, does not count."""

    def states(self, rows: Sequence[polarity.Row]) -> tuple[list[Tensor], Tensor]:
        """As in `models.polarity`."""
        model, rows = self.model, [row[: self.model.config.window - 2] for row in rows]
        pieces = np.full((len(rows), max(map(len, rows)) + 2), END, np.int64)
        for line, row in zip(pieces, rows, strict=True):
            line[1 : len(row) + 1] = row
        read = torch.from_numpy(pieces)
        ends, places = torch.tensor([len(row) + 1 for row in rows]), torch.arange(read.shape[1])
        return [model.symbol(read) * model.scale, *model.climb(read)], (places > 0) & (places <= ends[:, None])


def encoded(texts: Sequence[str]) -> list[polarity.Row]:
    """(piece,) of each text."""
    return Pieces.load(checkpoint.folder(SLUG, "words") / PIECES).encode_all(texts)


SUBJECT = polarity.Subject(SLUG, Judge, lambda: load("words").model, encoded)


def curve(data: Path, runs: Path) -> Path:
    """Every training of the label curve, and sentences for the page; returns the file of figures."""
    shipped = {split: subset(reviews(data, split), most, 0) for split, most in LIVE.items()}
    with gzip.GzipFile(folders.lab(SLUG, checkpoint.ASSETS) / SENTENCES, "wb", mtime=0) as file:
        file.write(json.dumps({"source": polarity.SOURCE, **shipped}, ensure_ascii=False).encode())
    return polarity.curve(SUBJECT, data, runs)


# ---- in the page -------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def sentences() -> dict[str, list[Labelled]]:
    """The labelled sentences that are shipped for the page: of `train` to learn from, of `test` to measure on. DamagedFile."""
    path = folders.lab(SLUG, checkpoint.ASSETS) / SENTENCES
    with reading(path), gzip.open(path, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return {split: [(text, label) for text, label in found[split]] for split in LIVE}


def finetune(labelled: Sequence[Labelled], way: str, seed: int) -> Iterator[Point | None]:
    """Learn from these labels without end: None after each batch, so that others come in between; a point at the beginning and after
    every EVERY sentences."""
    test = sentences()["test"]
    rows, asked = (encoded([text for text, _ in one]) for one in (labelled, test))
    judge = polarity.judge(SUBJECT.kind, SUBJECT.known(), way == WAYS[0], seed)
    learning = Learning(judge, rows, [label for _, label in labelled], RATE, seed)
    fit: float | None = None
    while True:
        shares = []
        for share in right(learning.mean, asked, [label for _, label in test]):
            shares.append(share)
            yield None
        yield Point(learning.seen, shares[-1], fit)
        begin, found = learning.seen, 0
        while learning.seen < begin + EVERY:
            found += learning.learn()
            yield None
        fit = found / (learning.seen - begin)


def live(request: Request, seconds: float = SECONDS) -> Iterator[list[Any]]:
    """For the engine: the looks at a fine-tuning as they come, then all of it. It ends after EPOCHS, or so many seconds of computing, or
    when it is stopped."""
    try:
        fields.check(request)
    except InputError as error:
        yield [error]
        return
    load("words")  # takes none of its time
    points: list[Point] = []
    known, spent, stopped = sentences(), 0.0, False
    labelled = subset(known["train"], request.labels, request.seed)
    turns = finetune(labelled, request.way, request.seed)
    try:
        while spent < seconds and (not points or points[-1].seen < EPOCHS * request.labels):
            begin = time.perf_counter()
            news = [point] if (point := next(turns)) else []
            spent += time.perf_counter() - begin
            points += news
            yield [news]
    except Stopped:
        stopped = True
    yield [Learned(tuple(points), counted(labelled, known["test"]), len(known["test"]), stopped)]
