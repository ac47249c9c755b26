"""The speech recogniser fed piece by piece, with cached keys and values, beside the same pieces
where the whole window is computed anew for each.

A network of the shipped size and 12 s of noise in pieces of 160 ms, R = 2, one thread, features
included.
realtime_factor: seconds of computation for a second of sound, cached.
realtime_factor_40ms, realtime_factor_whole: the same in pieces of 40 ms, and all at once.
cached_vs_recomputed_ratio: time of computing each piece's window anew over ours.
max_difference: the largest difference between the probabilities of the stream and those of the
    whole.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.measure import Bound, Figure, Report, median, ratio, threads, time_in_turns
from benchmarks.sizes import size
from models.speech.features import compute_mels
from models.speech.model import FRAME, SpeechConfig, SpeechNetwork, SpeechStream
from models.speech.records import FRAME_SAMPLES, LAYERS, LEFT, NEWEST, OLDEST, RATE, RIGHT

SECONDS = size(12, 2)
PIECE = 1_280  # samples: 160 ms
SHORT = 320  # 40 ms


def run_stream(model: SpeechNetwork, sound: Tensor, piece: int) -> Tensor:
    """Return the log-probabilities of a sound that comes in pieces, (frame, output)."""
    stream = SpeechStream(model, LEFT, RIGHT)
    return torch.cat(
        [
            stream.feed(sound[at : at + piece], last=at + piece >= len(sound))
            for at in range(0, len(sound), piece)
        ]
    )


def recompute_windows(model: SpeechNetwork, sound: Tensor, piece: int) -> Tensor:
    """Return the same where each piece computes all that its new frames can hear anew."""
    pieces, done = [], 0
    for end in range(piece, len(sound) + piece, piece):
        come = min(end, len(sound))
        last = come == len(sound)
        final = (come - NEWEST) // FRAME_SAMPLES + 1 - (0 if last else LAYERS * RIGHT)
        if final <= done:
            continue
        # as many whole frames earlier as the first new one can hear
        first = max(0, done - LAYERS * LEFT - OLDEST // FRAME_SAMPLES - 1)
        mels = compute_mels(sound[None, FRAME_SAMPLES * first : come])
        mels = mels[:, : mels.shape[1] // FRAME * FRAME]
        pieces.append(model(mels, None, LEFT, RIGHT)[0, done - first : final - first])
        done = final
    return torch.cat(pieces)


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    model = SpeechNetwork(SpeechConfig()).to(device).eval().requires_grad_(False)
    sound = (torch.randn(SECONDS * RATE) * 0.05).to(device)
    sides: dict[str, Callable[[], Tensor]] = {
        "cached": lambda: run_stream(model, sound, PIECE),
        "recomputed": lambda: recompute_windows(model, sound, PIECE),
        "short": lambda: run_stream(model, sound, SHORT),
        "whole": lambda: model(compute_mels(sound[None]), None, LEFT, RIGHT)[0],
    }
    with torch.inference_mode(), threads(1):
        whole = sides["whole"]()
        differences = [
            float((sides[name]().exp() - whole.exp()).abs().max())
            for name in ("cached", "recomputed", "short")
        ]
        times = time_in_turns(sides, device, calls=1)
    figures: dict[str, Figure] = {
        "realtime_factor": (median(times["cached"]) / SECONDS, Bound(0.05)),
        "realtime_factor_40ms": median(times["short"]) / SECONDS,
        "realtime_factor_whole": median(times["whole"]) / SECONDS,
        "cached_vs_recomputed_ratio": (
            ratio(times, "recomputed", "cached"),
            Bound(3, at_least=True),
        ),
        "max_difference": (max(differences), Bound(1e-5)),
    }
    notes = {"recomputed": "the window of every piece computed anew, by the masked pass"}
    return Report.of(figures, notes)
