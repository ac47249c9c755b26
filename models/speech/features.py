"""Log-mel features of sound, each frame computed from 25 ms alone.

Nothing here looks at a whole recording, not even for its mean: a frame is final as soon as its
last sample has come.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

RATE = 8_000  # samples a second
WINDOW, STEP = 200, 80  # samples of a frame (25 ms), and from one frame to the next (10 ms)
FFT = 256  # points of the Fourier transform
MELS = 40  # bands
LOW, HIGH = 60.0, 3_900.0  # the edges of the lowest and of the highest band, Hz
FLOOR = 1e-5  # added to the power, so that silence has a logarithm


def convert_to_mel(hertz: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the pitch in mel: 2595 log10(1 + f / 700)."""
    return np.asarray(2595 * np.log10(1 + np.asarray(hertz) / 700))


def list_band_edges() -> NDArray[np.float64]:
    """Return the edges of the bands in Hz, (MELS + 2,): band m rises from edge m to m + 1 and
    falls to m + 2."""
    mel = np.linspace(convert_to_mel(LOW), convert_to_mel(HIGH), MELS + 2)
    return np.asarray(700 * (10 ** (mel / 2595) - 1))


def make_mel_filters() -> NDArray[np.float64]:
    """Return the triangular filters, (frequency, mel), of height 1."""
    edges = list_band_edges()
    hertz = np.arange(FFT // 2 + 1)[:, None] * RATE / FFT
    rise = (hertz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - hertz) / (edges[2:] - edges[1:-1])
    return np.maximum(0.0, np.minimum(rise, fall))


@lru_cache(maxsize=4)
def _constants(device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the Hann window, (sample,), and the filters, (frequency, mel)."""
    filters = torch.from_numpy(make_mel_filters()).float().to(device)
    return torch.hann_window(WINDOW, device=device), filters


def count_frames(samples: int) -> int:
    """Return how many whole frames so many samples hold."""
    return max(0, (samples - WINDOW) // STEP + 1)


def compute_mels(samples: Tensor) -> Tensor:
    """Return (ln(P + 1e-5) + 4) / 3 of the power P in each band: (…, sample) -> (…, frame, mel).

    samples: from -1 to 1.
    """
    if samples.shape[-1] < WINDOW:
        return samples.new_zeros(*samples.shape[:-1], 0, MELS)
    window, filters = _constants(samples.device)
    spectrum = torch.fft.rfft(samples.unfold(-1, WINDOW, STEP) * window, FFT)
    power = spectrum.real.square() + spectrum.imag.square()
    mels: Tensor = ((power @ filters + FLOOR).log() + 4) / 3
    return mels
