"""Fashion-MNIST and the colour pictures, as tensors of levels."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps
from torch import Tensor

from models.pixels import mnist, part

OWN = "pictures.npz"  # in a data folder of somebody's own, in the place of CIFAR-10: an array for each split
SIDE, LARGEST = 32, 50_000_000  # pixels: a side of a picture that is learned from, and all of a file that is read


@dataclass(frozen=True)
class Pictures:
    """levels: (picture, row, column) or (picture, row, column, channel), uint8; kinds: (picture,), from 0.

    small: (picture, small row, small column, channel), what each is to be raised from, or None.
    """

    levels: NDArray[np.uint8]
    kinds: NDArray[np.int64]
    small: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, part: slice) -> Pictures:
        return Pictures(self.levels[part], self.kinds[part], None if self.small is None else self.small[part])

    @property
    def told(self) -> NDArray[np.int64] | NDArray[np.uint8]:
        """What a model is told of each picture: the small one where there is one, else its kind."""
        return self.kinds if self.small is None else self.small


class Batch(NamedTuple):
    """picture: (batch, row, column) or (batch, row, column, channel) levels; told: kinds (batch,), or small pictures like `picture`."""

    picture: Tensor
    told: Tensor


def fashion(data: Path, split: str) -> Pictures:
    """Fashion-MNIST. split: "train" (59,000), "val" (the last 1,000 of the official training set) or "test" (10,000).

    FileNotFoundError where the data are missing, ValueError for another split.
    """
    chosen = part(split, "Fashion-MNIST")
    return Pictures(*mnist(data / "fashion-mnist", split))[chosen]


def colour(data: Path, split: str, count: int | None = None) -> Pictures:
    """CIFAR-10 from its JPEG copy, (picture, 32, 32, 3); the first `count` of the split, or all.

    split: "train" (49,000), "val" (the last 1,000 of the training set) or "test" (10,000). Where somebody's own pictures lie in `data`:
    those, all of one kind.
    """
    inside = part(split, "CIFAR-10")
    if (data / OWN).is_file():
        with np.load(data / OWN) as file:
            own = file[split][:count]
        return Pictures(own, np.zeros(len(own), np.int64))
    with np.load(data / "cifar10_jpeg.npz") as file:
        name = "test" if split == "test" else "train"
        jpeg, offset, label = file[f"{name}_jpeg"], file[f"{name}_offset"], file[f"{name}_label"]
    chosen = range(len(label))[inside][:count]
    levels = np.stack([np.asarray(Image.open(io.BytesIO(jpeg[offset[i] : offset[i + 1]].tobytes()))) for i in chosen])
    return Pictures(levels, label[list(chosen)].astype(np.int64))


def square(path: Path) -> NDArray[np.uint8]:
    """The middle square of a picture file, (32, 32, 3). ValueError, in words, where it cannot be read or is too large."""
    try:
        with Image.open(path) as found:
            if found.width * found.height > LARGEST:
                raise ValueError(f"{found.width:,} × {found.height:,} pixels are too many")
            upright = ImageOps.exif_transpose(found).convert("RGB")
            return np.asarray(ImageOps.fit(upright, (SIDE, SIDE), Image.Resampling.BOX))
    except (OSError, SyntaxError, Image.DecompressionBombError):
        raise ValueError("it is no picture") from None


def write(data: Path, splits: Mapping[str, Sequence[NDArray[np.uint8]]]) -> None:
    """Put pictures where `colour` reads them."""
    data.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(data / OWN, **{split: np.stack(levels) for split, levels in splits.items()})  # type: ignore[arg-type]


def reduced(levels: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Pictures made smaller by averaging whole squares: (picture, row, column, …) -> (picture, side, side, …), rounded.

    ValueError where the sides are no multiples of `side`.
    """
    count, rows, columns, *rest = levels.shape
    if rows % side or columns % side:
        raise ValueError(f"{rows} × {columns} pixels cannot be averaged to {side} × {side}")
    squares = levels.reshape(count, side, rows // side, side, columns // side, *rest)
    small: NDArray[np.uint8] = np.rint(squares.mean((2, 4))).astype(np.uint8)
    return small


def enlarged(data: Path, split: str, side: int, small: int, count: int | None = None) -> Pictures:
    """The colour pictures of `colour`, averaged to (side, side, 3), each with its own average of (small, small, 3) beside it."""
    whole = colour(data, split, count)
    large = reduced(whole.levels, side)
    return Pictures(large, whole.kinds, reduced(large, small))


class Round:
    """Some batches of a pass in an order of its own; a few pictures come without their kind, so that the model can do without.

    number: counts the rounds of a run; each takes the next `size` batches, and after all pictures a new order begins.
    forget: the share of pictures whose kind becomes `unknown`.
    """

    def __init__(self, pictures: Pictures, batch: int, size: int, seed: int, number: int, unknown: int, forget: float) -> None:
        rounds = max(1, len(pictures) // (batch * size))
        order = np.random.default_rng((seed, number // rounds)).permutation(len(pictures))
        begin = number % rounds * batch * size
        self._order = order[begin : begin + batch * size]
        self._pictures = pictures
        self._batch = batch
        self._told = pictures.told[self._order].astype(np.int64)
        self._told[np.random.default_rng((seed, number, 1)).random(len(self._order)) < forget] = unknown

    def __len__(self) -> int:
        return len(self._order) // self._batch

    def __getitem__(self, index: int) -> Batch:
        part = slice(index * self._batch, (index + 1) * self._batch)
        levels = self._pictures.levels[self._order[part]].astype(np.int64)
        return Batch(torch.from_numpy(levels), torch.from_numpy(self._told[part]))


def in_batches(pictures: Pictures, size: int) -> Iterator[Batch]:
    """All pictures, in order, with what is told of them."""
    for begin in range(0, len(pictures), size):
        part = pictures[slice(begin, begin + size)]
        yield Batch(torch.from_numpy(part.levels.astype(np.int64)), torch.from_numpy(part.told.astype(np.int64)))
