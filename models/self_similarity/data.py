"""Six pictures: three paintings and three textures. The left half of each is learned from, its
last rows choose, and the right half is reported on."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.data.pixels import Levels
from models.self_similarity.nonlocal_means import nonlocal_means
from models.self_similarity.records import BAR, PICTURES, SIDE, SIGMA, SOFTNESS

FILE = "images_pd.npz"
LUMINANCE = (0.299, 0.587, 0.114)  # of red, green and blue, ITU-R BT.601
CHOOSING = 112  # last rows of the left half, that choose and are not learned from
CROP = {"val": 112, "test": 192}  # rows and columns of a held-out crop
NOISES = 3  # draws of noise that a training knows of each picture
# Upper left corners of the page's pictures: chosen for what they show, on the right halves.
CORNERS = ((120, 256), (24, 230), (160, 345), (200, 300), (200, 300), (200, 300))
CHORALE = 41  # of the validation split: its first bars come again

Array = NDArray[np.float32]


class Crops(NamedTuple):
    """Crops of pictures, (crop, row, column): clean, noisy, and by non-local means."""

    clean: Tensor
    noisy: Tensor
    average: Tensor


def as_grey(levels: Levels) -> Array:
    """Return a picture in grey, 0 … 1. levels: (row, column) or (row, column, channel)."""
    values: Array = np.divide(levels, 255, dtype=np.float32)
    if values.ndim == 3:
        values = values @ np.array(LUMINANCE, np.float32)
    return values


def read_pictures(data: Path, split: str) -> list[Array]:
    """Return the part of every picture that is a split, (row, column) each.

    Raise ValueError for another split than train, val and test.
    """
    if split not in ("train", *CROP):
        raise ValueError(f"the pictures have the splits train, val and test, not {split}")
    parts = []
    with np.load(data / FILE, allow_pickle=False) as file:
        for name in PICTURES:
            grey = as_grey(file[name])
            rows, middle = len(grey) - CHOOSING, grey.shape[1] // 2
            part = {"train": np.s_[:rows, :middle], "val": np.s_[rows:, :middle]}
            parts.append(grey[part.get(split, np.s_[:, middle:])])
    return parts


def add_noise(clean: Array, sigma: float, draws: np.random.Generator) -> Array:
    """Return a picture with Gaussian noise, which is not clipped."""
    return clean + sigma * draws.standard_normal(clean.shape, np.float32)


def draw_crops(data: Path, split: str, draw: int = 0) -> tuple[Array, Array]:
    """Return a crop of every picture of a split, clean and noisy, (picture, row, column) each.

    draw: the number of the set of crops and of their noise.
    """
    draws, side = np.random.default_rng((20, draw)), CROP[split]
    clean = []
    for part in read_pictures(data, split):
        top, left = (int(draws.integers(0, size - side + 1)) for size in part.shape)
        clean.append(part[top : top + side, left : left + side])
    stacked = np.stack(clean)
    return stacked, add_noise(stacked, SIGMA / 255, draws)


def prepare_training(data: Path, sigma: float = SIGMA / 255) -> list[Crops]:
    """Return every picture's part to learn from, under NOISES draws of noise: their averages need
    no training and are computed once."""
    draws = np.random.default_rng(7)
    parts = []
    for part in read_pictures(data, "train"):
        clean = np.broadcast_to(part, (NOISES, *part.shape))
        noisy = torch.from_numpy(add_noise(clean, sigma, draws))
        average = nonlocal_means(noisy, SOFTNESS * sigma, sigma)
        parts.append(Crops(torch.from_numpy(part.copy()).expand_as(noisy), noisy, average))
    return parts


def write_examples(data: Path, path: Path) -> None:
    """Write the pictures of the page, in colour, (picture, row, column, channel), and a chorale,
    (sixteenth, voice), −1 for a rest."""
    pictures = []
    with np.load(data / FILE, allow_pickle=False) as file:
        for name, (top, left) in zip(PICTURES, CORNERS, strict=True):
            levels = file[name][top : top + SIDE, left : left + SIDE]
            pictures.append(levels if levels.ndim == 3 else np.stack([levels] * 3, -1))
    with gzip.open(data / "jsb" / "Jsb16thSeparated.json.gz") as packed:
        chorale = np.array(json.load(packed)["valid"][CHORALE])
    whole = len(chorale) // BAR * BAR
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, pictures=np.stack(pictures), chorale=chorale[:whole].astype(np.int8))
