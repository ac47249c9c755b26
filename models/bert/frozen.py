"""MiniLM judges film reviews as it is: a linear readout of its sentence vectors learns from labels,
and nothing else does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from models.bert.minilm import VARIANT
from models.bert.pretrained import load, pieces_of
from models.data.corpus import FROZEN, read_polarity
from models.evaluation.polarity import CHOSEN, REPORTED, CurveTraining, choose_subset

Array = NDArray[np.float64]

PENALTIES = tuple(10.0**n for n in range(-5, 2))  # of squared weights, against the mean loss
SIZE = 32  # sentences read at once
STEPS = 50  # of Newton's method, at most


@torch.no_grad()
def read_vectors(texts: Sequence[str]) -> Array:
    """Return a vector of each text, (text, d_model): the mean over its pieces, of length 1."""
    model, pieces = load(VARIANT).model, pieces_of(VARIANT)
    rows = [
        pieces.row(row[: model.config.max_positions - 2]) for row in pieces.encode_all(list(texts))
    ]
    order = np.argsort([len(row) for row in rows], kind="stable")
    found = np.zeros((len(rows), model.config.d_model))
    for begin in range(0, len(order), SIZE):
        chosen = order[begin : begin + SIZE]
        given = [torch.from_numpy(rows[i]) for i in chosen]
        read = torch.nn.utils.rnn.pad_sequence(given, batch_first=True, padding_value=pieces.pad)
        allowed = read != pieces.pad
        behind = model(read, None if allowed.all() else allowed) * allowed[..., None]
        found[chosen] = F.normalize(behind.sum(1) / allowed.sum(1, keepdim=True), dim=1).numpy()
    return found


def fit_readout(vectors: Array, labels: Array, penalty: float) -> Array:
    """Return weights and, last, a bias: the least mean −log p of the labels plus half the penalty
    times the squared weights."""
    x = np.column_stack((vectors, np.ones(len(vectors))))
    weights, shrink = np.zeros(x.shape[1]), np.full(x.shape[1], penalty)
    shrink[-1] = 1e-9  # the bias is free
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (p - labels) / len(x) + shrink * weights
        curvature = (x.T * (p * (1 - p))) @ x / len(x) + np.diag(shrink)
        step = np.linalg.solve(curvature, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def measure_accuracy(weights: Array, vectors: Array, labels: Array) -> float:
    """Return the share of vectors whose side of the readout is their label."""
    return float(((vectors @ weights[:-1] + weights[-1] > 0) == (labels > 0.5)).mean())


class Readouts:
    """The readouts of all subsets, of vectors that are read once. data: the folder of the
    reviews."""

    def __init__(self, data: Path) -> None:
        self._splits = {split: read_polarity(data, split) for split in ("train", CHOSEN, REPORTED)}
        self._read: dict[str, Array] = {}

    def train(self, labels: int, number: int) -> CurveTraining:
        """Learn from a subset; the penalty is the one that `valid` likes best, and stands as
        `rate`. Seconds are not measured."""
        for split, one in self._splits.items():
            if split not in self._read:
                self._read[split] = read_vectors([text for text, _ in one])
        chosen = choose_subset(range(len(self._splits["train"])), labels, number)
        truth = {
            split: np.array([label for _, label in one], float)
            for split, one in self._splits.items()
        }
        x, y = self._read["train"][chosen], truth["train"][chosen]
        every = {penalty: fit_readout(x, y, penalty) for penalty in PENALTIES}
        shares = {
            penalty: [
                measure_accuracy(weights, self._read[split], truth[split])
                for split in (CHOSEN, REPORTED)
            ]
            for penalty, weights in every.items()
        }
        best = max(shares, key=lambda penalty: shares[penalty][0])
        valid, test = shares[best]
        return CurveTraining(FROZEN, labels, number, best, labels, valid, test, 0.0)
