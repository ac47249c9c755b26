"""Fashion-MNIST and colour pictures as tensors of levels."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from models.data.pixels import read_mnist, select_split
from models.media.files import read_bytes
from models.media.picture_files import PictureBounds
from models.media.pictures import as_png, picture

# A user's own data folder has an array per split instead of CIFAR-10.
OWN = "pictures.npz"
SIDE = 32  # pixels: the side of a training picture
# Photo formats of cameras.
TRAINING = PictureBounds(64 << 20, dict.fromkeys(("PNG", "JPEG", "WebP"), 50_000_000))


@dataclass(frozen=True)
class Pictures:
    """Pictures of a split.

    levels: (picture, row, column) or (picture, row, column, channel), uint8. kinds: from 0,
    (picture,). small: the small pictures to enlarge, (picture, small row, small column, channel),
    or None.
    """

    levels: NDArray[np.uint8]
    kinds: NDArray[np.int64]
    small: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, part: slice) -> Pictures:
        return Pictures(
            self.levels[part], self.kinds[part], None if self.small is None else self.small[part]
        )

    @property
    def condition(self) -> NDArray[np.int64] | NDArray[np.uint8]:
        """The condition of each picture: the small picture if there is one, otherwise the kind."""
        return self.kinds if self.small is None else self.small


class Batch(NamedTuple):
    """A batch of pictures with their conditions.

    picture: levels, (batch, row, column) or (batch, row, column, channel). told: kinds, (batch,),
    or small pictures with the axes of `picture`.
    """

    picture: Tensor
    told: Tensor


def fashion(data: Path, split: str) -> Pictures:
    """Load Fashion-MNIST.

    split: "train" (59,000), "val" (the last 1,000 of the official training set) or "test" (10,000).
    Raise FileNotFoundError if the data are missing, and ValueError for another split.
    """
    chosen = select_split(split, "Fashion-MNIST")
    return Pictures(*read_mnist(data / "fashion-mnist", split))[chosen]


def colour(data: Path, split: str, count: int | None = None) -> Pictures:
    """Load CIFAR-10 from its JPEG copy, (picture, 32, 32, 3): the first `count` pictures of the
    split, or all.

    split: "train" (49,000), "val" (the last 1,000 of the training set) or "test" (10,000). If
    `data` holds a user's own pictures, load those, all of one kind.
    """
    inside = select_split(split, "CIFAR-10")
    if (data / OWN).is_file():
        with np.load(data / OWN) as file:
            own = file[split][:count]
        return Pictures(own, np.zeros(len(own), np.int64))
    with np.load(data / "cifar10_jpeg.npz") as file:
        name = "test" if split == "test" else "train"
        jpeg, offset, label = file[f"{name}_jpeg"], file[f"{name}_offset"], file[f"{name}_label"]
    chosen = range(len(label))[inside][:count]
    levels = np.stack(
        [
            np.asarray(Image.open(io.BytesIO(jpeg[offset[i] : offset[i + 1]].tobytes())))
            for i in chosen
        ]
    )
    return Pictures(levels, label[list(chosen)].astype(np.int64))


def square(path: Path) -> NDArray[np.uint8]:
    """Return the middle square of a picture file as the page reads it, (32, 32, 3).

    Raise InputError or OSError if it cannot be read.
    """
    return picture(as_png(read_bytes(path, TRAINING.size), TRAINING), SIDE, 3, TRAINING).levels


def write(data: Path, splits: Mapping[str, Sequence[NDArray[np.uint8]]]) -> None:
    """Write pictures in the format that `colour` reads."""
    data.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(data / OWN, **{split: np.stack(levels) for split, levels in splits.items()})  # type: ignore[arg-type]


def reduce_pictures(levels: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Shrink pictures by averaging whole squares, rounded: (picture, row, column, …) -> (picture,
    side, side, …).

    Raise ValueError if the sides are no multiples of `side`.
    """
    count, rows, columns, *rest = levels.shape
    if rows % side or columns % side:
        raise ValueError(f"{rows} × {columns} pixels cannot be averaged to {side} × {side}")
    squares = levels.reshape(count, side, rows // side, side, columns // side, *rest)
    small: NDArray[np.uint8] = np.rint(squares.mean((2, 4))).astype(np.uint8)
    return small


def read_enlarged(
    data: Path, split: str, side: int, small: int, count: int | None = None
) -> Pictures:
    """Load the pictures of `colour`, averaged to (side, side, 3), each with its own average of
    (small, small, 3)."""
    whole = colour(data, split, count)
    large = reduce_pictures(whole.levels, side)
    return Pictures(large, whole.kinds, reduce_pictures(large, small))


class Round:
    """Some batches of a shuffled pass; a share of the pictures has no kind, so that the model
    learns to do without.

    number: counts the rounds of a run; each takes the next `size` batches, and a new order starts
    after all pictures. forget: the share of pictures whose kind becomes `unknown`.
    """

    def __init__(
        self,
        pictures: Pictures,
        batch: int,
        size: int,
        seed: int,
        number: int,
        unknown: int,
        forget: float,
    ) -> None:
        rounds = max(1, len(pictures) // (batch * size))
        order = np.random.default_rng((seed, number // rounds)).permutation(len(pictures))
        begin = number % rounds * batch * size
        self._order = order[begin : begin + batch * size]
        self._pictures = pictures
        self._batch = batch
        self._told = pictures.condition[self._order].astype(np.int64)
        self._told[np.random.default_rng((seed, number, 1)).random(len(self._order)) < forget] = (
            unknown
        )

    def __len__(self) -> int:
        return len(self._order) // self._batch

    def __getitem__(self, index: int) -> Batch:
        part = slice(index * self._batch, (index + 1) * self._batch)
        levels = self._pictures.levels[self._order[part]].astype(np.int64)
        return Batch(torch.from_numpy(levels), torch.from_numpy(self._told[part]))


def in_batches(pictures: Pictures, size: int) -> Iterator[Batch]:
    """Yield all pictures in order, with their conditions."""
    for begin in range(0, len(pictures), size):
        part = pictures[slice(begin, begin + size)]
        yield Batch(
            torch.from_numpy(part.levels.astype(np.int64)),
            torch.from_numpy(part.condition.astype(np.int64)),
        )
