"""The reading of many recordings at once, and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from models.speech.ctc import count_edits, find_best_path
from models.speech.data import Spoken
from models.speech.features import compute_mels, count_frames
from models.speech.model import FRAME, SpeechNetwork
from models.speech.records import LEFT, RIGHT


def count_network_frames(samples: int) -> int:
    """Return how many frames of the network so many samples give."""
    return count_frames(samples) // FRAME


def pad_recordings(spoken: Sequence[Spoken]) -> tuple[Tensor, Tensor]:
    """Return samples, (recording, sample), zero behind each end, and frames, (recording,)."""
    samples = torch.zeros(len(spoken), max(len(number.samples) for number in spoken))
    for row, number in zip(samples, spoken, strict=True):
        row[: len(number.samples)] = torch.from_numpy(number.samples)
    return samples, torch.tensor([count_network_frames(len(number.samples)) for number in spoken])


@torch.no_grad()
def score_recordings(
    model: SpeechNetwork,
    spoken: Sequence[Spoken],
    left: int | None = LEFT,
    right: int | None = RIGHT,
    gain: Tensor | None = None,
    together: int = 20,
) -> list[Tensor]:
    """Return the log-probabilities of each recording, (frame, output).

    gain: as in `SpeechNetwork.forward`, for at most `together` recordings.
    """
    device = model.readout.weight.device
    result: dict[int, Tensor] = {}
    order = sorted(range(len(spoken)), key=lambda i: len(spoken[i].samples))
    for begin in range(0, len(order), together):
        rows = order[begin : begin + together]
        samples, frames = pad_recordings([spoken[i] for i in rows])
        mels = compute_mels(samples.to(device))
        scores = model(mels, frames.to(device), left, right, gain).cpu()
        for i, some, count in zip(rows, scores, frames.tolist(), strict=True):
            result[i] = some[:count]
    return [result[i] for i in range(len(spoken))]


def recognise(
    model: SpeechNetwork, spoken: Sequence[Spoken], *how: Any, **more: Any
) -> list[list[tuple[int, int]]]:
    """Return the digits of each recording with the frame at which each is written.

    how, more: as in `score_recordings`.
    """
    return [find_best_path(scores) for scores in score_recordings(model, spoken, *how, **more)]


def list_confidences(model: SpeechNetwork, spoken: Sequence[Spoken]) -> list[float]:
    """Return the mean probability of the digits that are written, of each recording with any."""
    result = []
    for scores in score_recordings(model, spoken):
        sure = [float(scores[frame, digit].exp()) for digit, frame in find_best_path(scores)]
        if sure:
            result.append(sum(sure) / len(sure))
    return result


def count_errors(
    spoken: Sequence[Spoken], result: Sequence[Sequence[tuple[int, int]]]
) -> list[int]:
    """Return the edits between the digits found in each recording and those that were said."""
    return [
        count_edits([digit for digit, _ in path], number.labels)
        for number, path in zip(spoken, result, strict=True)
    ]


def measure_digit_error(
    model: SpeechNetwork,
    spoken: Sequence[Spoken],
    left: int | None = LEFT,
    right: int | None = RIGHT,
) -> float:
    """Return edits per digit that was said."""
    edits = count_errors(spoken, recognise(model, spoken, left, right))
    return sum(edits) / sum(len(number.labels) for number in spoken)
