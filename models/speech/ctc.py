"""Connectionist temporal classification (Graves et al., 2006): the loss of a text whose places in
the sound nobody knows, the best path, and the distance of two texts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from models.speech.model import BLANK

NEVER = -1e30  # the logarithm of a probability of 0 whose gradient is 0, not undefined


def measure_ctc_loss(scores: Tensor, frames: Tensor, labels: Tensor, counts: Tensor) -> Tensor:
    """Return −ln p(labels) of each recording, (batch,): the sum over all paths that collapse to
    them (Graves et al., 2006, eq. 6 to 8).

    scores: log-probabilities, (batch, frame, output).
    frames: frames of each recording, (batch,).
    labels: digits, (batch, label), anything behind the last.
    counts: labels of each recording, (batch,), at least 1.
    """
    batch, length, _ = scores.shape
    states = 2 * labels.shape[1] + 1  # a blank before, between and behind the labels
    extended = labels.new_full((batch, states), BLANK)
    extended[:, 1::2] = labels
    emitted = scores.gather(2, extended[:, None].expand(-1, length, -1))  # (batch, frame, state)
    # α may skip the blank between two labels that differ (eq. 7)
    skips = torch.zeros(batch, states, dtype=torch.bool, device=scores.device)
    skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    closed = torch.zeros(batch, states, device=scores.device).masked_fill(~skips, NEVER)
    alpha = torch.full((batch, states), NEVER, device=scores.device)
    alpha = torch.cat((emitted[:, 0, :2], alpha[:, 2:]), 1)
    wall = torch.full((batch, 2), NEVER, device=scores.device)
    every = [alpha]
    for t in range(1, length):
        padded = torch.cat((wall, alpha), 1)
        came = torch.stack((alpha, padded[:, 1:-1], padded[:, :-2] + closed)).logsumexp(0)
        alpha = came + emitted[:, t]
        every.append(alpha)
    ends = torch.stack(every, 1)[torch.arange(batch), frames - 1]  # (batch, state)
    final = torch.stack((2 * counts, 2 * counts - 1), 1)
    return -ends.gather(1, final).logsumexp(1)


def collapse_path(path: Sequence[int]) -> list[tuple[int, int]]:
    """Return the digits of a path with the frame at which each is written: repeats are merged,
    blanks dropped.

    path: the likeliest output of each frame.
    """
    return [
        (digit, t)
        for t, digit in enumerate(path)
        if digit != BLANK and (t == 0 or path[t - 1] != digit)
    ]


def find_best_path(scores: Tensor) -> list[tuple[int, int]]:
    """Return `collapse_path` of the likeliest output of each frame. scores: (frame, output)."""
    return collapse_path(scores.argmax(-1).tolist())


def count_edits(given: Sequence[object], reference: Sequence[object]) -> int:
    """Return the fewest insertions, deletions and replacements between two sequences
    (Levenshtein, 1966)."""
    row = list(range(len(reference) + 1))
    for i, symbol in enumerate(given, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(reference, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (symbol != other))
    return row[-1]
