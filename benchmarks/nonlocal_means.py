"""Non-local means beside scikit-image and OpenCV, and the growth of a texture; one thread, float32.

A grey picture of 256 × 256 pixels under noise, patches of 7 × 7, a search window of 21 × 21.
vs_skimage_classic_ratio: the time of scikit-image's classic mode, which weighs patches by the same
    Gaussian, over ours.
vs_skimage_fast_ratio: that of its fast mode, whose patches have no Gaussian, over ours.
vs_opencv_ratio: that of OpenCV, on pictures of 8 bits and without the Gaussian, over ours.
grow_s, grow_colour_s: a texture of 64 × 64 pixels from a sample of 40 × 40, window 11.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Bound, Figure, Report, median, ratio, threads, time_in_turns
from benchmarks.sizes import size
from models.self_similarity.growth import grow_texture
from models.self_similarity.nonlocal_means import nonlocal_means
from models.self_similarity.records import GROWN, REACH, SIGMA, SOFTNESS

SIDE = size(256, 24)
TEXTURE = size(GROWN, 12)


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    restoration, cv2 = (importlib.import_module(name) for name in ("skimage.restoration", "cv2"))
    cv2.setNumThreads(1)
    draws, sigma = np.random.default_rng(1), SIGMA / 255
    h = SOFTNESS * sigma
    waves = np.sin(np.arange(SIDE) / 5)[:, None] * np.cos(np.arange(SIDE) / 7) / 3 + 0.5
    noisy = (waves + sigma * draws.standard_normal(waves.shape)).astype(np.float32)
    given = torch.from_numpy(noisy).to(device)
    levels = np.clip(np.rint(noisy * 255), 0, 255).astype(np.uint8)
    more: dict[str, Any] = {"patch_size": 7, "patch_distance": REACH, "h": h, "sigma": sigma}

    def restore() -> object:
        return nonlocal_means(given, h, sigma)

    sample = draws.random((40, 40, 3), np.float32)
    with threads(1):
        times = time_in_turns(
            {
                "ours": restore,
                "fast": lambda: restoration.denoise_nl_means(noisy, fast_mode=True, **more),
                "opencv": lambda: cv2.fastNlMeansDenoising(levels, None, h * 255, 7, 2 * REACH + 1),
            },
            device,
            calls=3,
        )
        classic = time_in_turns(
            {
                "ours": restore,
                "classic": lambda: restoration.denoise_nl_means(noisy, fast_mode=False, **more),
            },
            device,
            rounds=3,
        )
        grown = time_in_turns(
            {
                "grey": lambda: grow_texture(sample[:, :, :1].copy(), TEXTURE, 11, 1),
                "colour": lambda: grow_texture(sample, TEXTURE, 11, 1),
            },
            device,
        )
    figures: dict[str, Figure] = {
        "ours_ms": median(times["ours"]) * 1e3,
        "skimage_classic_ms": median(classic["classic"]) * 1e3,
        "skimage_fast_ms": median(times["fast"]) * 1e3,
        "opencv_ms": median(times["opencv"]) * 1e3,
        "vs_skimage_classic_ratio": (ratio(classic, "classic", "ours"), Bound(20, at_least=True)),
        "vs_skimage_fast_ratio": (ratio(times, "fast", "ours"), Bound(1.5, at_least=True)),
        "vs_opencv_ratio": ratio(times, "opencv", "ours"),
        "grow_s": (median(grown["grey"]), Bound(1)),
        "grow_colour_s": (median(grown["colour"]), Bound(1)),
    }
    return Report.of(figures)
