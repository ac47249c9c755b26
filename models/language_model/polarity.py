"""Film reviews judged by the language model, and a fine-tuning in the page.

`models.evaluation.polarity` has the rest.
"""

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

from models.checkpoints import checkpoint, folders
from models.data.corpus import WAYS, Labelled
from models.data.corpus import read_polarity as reviews
from models.evaluation import polarity
from models.evaluation.polarity import (
    Learning,
    choose_subset,
    measure_accuracy,
    measure_naive_bayes,
)
from models.explaining import request_fields
from models.explaining.errors import InputError, Stopped, reading_file
from models.language_model.pieces import END, Pieces
from models.language_model.pretrained import PIECES, SLUG, load
from models.language_model.records import MOST_LABELS, Learned, Point, Request

RATE = 2e-3  # the largest learning rate of a fine-tuning in the page
SENTENCES = "sentences.json.gz"  # labelled sentences for the page, next to the models
EVERY = 200  # sentences between two evaluations on held-out ones, in the page
LIVE = {"train": MOST_LABELS, "test": 200}  # the number of sentences
EPOCHS, SECONDS = 12, 15.0  # a fine-tuning in the page ends after either of them


class Judge(polarity.Judge):
    """A language model that judges a text.

    It reads END, the pieces and END; the first END does not count, because it follows no text.
    """

    def list_states(self, rows: Sequence[polarity.Row]) -> tuple[list[Tensor], Tensor]:
        """Return the vectors as in `models.evaluation.polarity`."""
        model, rows = self.model, [row[: self.model.config.window - 2] for row in rows]
        pieces = np.full((len(rows), max(map(len, rows)) + 2), END, np.int64)
        for line, row in zip(pieces, rows, strict=True):
            line[1 : len(row) + 1] = row
        read = torch.from_numpy(pieces)
        ends, places = torch.tensor([len(row) + 1 for row in rows]), torch.arange(read.shape[1])
        return [model.symbol(read) * model.scale, *model.climb(read)], (places > 0) & (
            places <= ends[:, None]
        )


def encode_texts(texts: Sequence[str]) -> list[polarity.Row]:
    """Return the pieces of each text, (piece,) each."""
    return Pieces.load(checkpoint.find_folder(SLUG, "words") / PIECES).encode_all(texts)


SUBJECT = polarity.Subject(SLUG, Judge, lambda: load("words").model, encode_texts)


def curve(data: Path, runs: Path) -> Path:
    """Run every training of the label curve and write sentences for the page; return the file of
    figures."""
    shipped = {split: choose_subset(reviews(data, split), most, 0) for split, most in LIVE.items()}
    with gzip.GzipFile(
        folders.find_lab_folder(SLUG, checkpoint.ASSETS) / SENTENCES, "wb", mtime=0
    ) as file:
        file.write(json.dumps({"source": polarity.SOURCE, **shipped}, ensure_ascii=False).encode())
    return polarity.measure_curve(SUBJECT, data, runs)


# ---- in the page


@lru_cache(maxsize=1)
def sentences() -> dict[str, list[Labelled]]:
    """Return the labelled sentences for the page: `train` to learn from and `test` to measure on.

    Raise DamagedFile if the file is damaged.
    """
    path = folders.find_lab_folder(SLUG, checkpoint.ASSETS) / SENTENCES
    with reading_file(path), gzip.open(path, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return {split: [(text, label) for text, label in found[split]] for split in LIVE}


def finetune(labelled: Sequence[Labelled], way: str, seed: int) -> Iterator[Point | None]:
    """Fine-tune on labels without end: yield None after each batch, so that other requests get
    their turn, and a point at the beginning and after every EVERY sentences."""
    test = sentences()["test"]
    rows, asked = (encode_texts([text for text, _ in one]) for one in (labelled, test))
    judge = polarity.build_judge(SUBJECT.kind, SUBJECT.known(), way == WAYS[0], seed)
    learning = Learning(judge, rows, [label for _, label in labelled], RATE, seed)
    fit: float | None = None
    while True:
        shares = []
        for share in measure_accuracy(learning.averaged_judge, asked, [label for _, label in test]):
            shares.append(share)
            yield None
        yield Point(learning.seen, shares[-1], fit)
        begin, found = learning.seen, 0
        while learning.seen < begin + EVERY:
            found += learning.take_step()
            yield None
        fit = found / (learning.seen - begin)


def live(request: Request, seconds: float = SECONDS) -> Iterator[list[Any]]:
    """Run a fine-tuning for the engine: yield its evaluations and the whole result last.

    It ends after EPOCHS, after this many seconds of computing, or when it is stopped.
    """
    try:
        request_fields.check_request(request)
    except InputError as error:
        yield [error]
        return
    load("words")  # loading does not count as its time
    points: list[Point] = []
    known, spent, stopped = sentences(), 0.0, False
    labelled = choose_subset(known["train"], request.labels, request.seed)
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
    yield [
        Learned(
            tuple(points), measure_naive_bayes(labelled, known["test"]), len(known["test"]), stopped
        )
    ]
