"""Pictures as requests carry them, as files of MNIST hold them, and as they are shipped under a
name. No torch here."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.checkpoints.folders import ASSETS, find_lab_folder
from models.explaining.errors import InputError, reading_file
from models.explaining.request_fields import clean_for_sentence

Levels = NDArray[np.uint8]

SHIPPED = "test:"  # stands before the number in the name of a shipped picture
# pictures at the end of a training set that no model learns from, for the choice of the learning
# rate and the curve
HELD_OUT = 1_000


def pack_pixels(values: ArrayLike, kind: str = "u1") -> str:
    """Return numbers as a request carries them: base64 of so many bytes each, in raster order."""
    return (
        base64.urlsafe_b64encode(np.ascontiguousarray(values, kind).tobytes()).decode().rstrip("=")
    )


def unpack_pixels(text: str) -> bytes:
    """Return the bytes that `pack_pixels` wrote. Raise ValueError where the text is no base64."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def read_picture(text: str, shape: tuple[int, ...]) -> Levels:
    """Return the levels that `pack_pixels` wrote. Raise InputError where the text is no picture of
    this shape."""
    try:
        return np.frombuffer(unpack_pixels(text), np.uint8).reshape(shape)
    except ValueError:
        sides = " × ".join(map(str, shape))
        raise InputError(
            "picture",
            en=f"The link carries no picture of {sides} levels.",
            zh=f"链接中没有 {sides} 的图片。",
        ) from None


@cache
def load_shipped_pictures(slug: str, name: str = "examples") -> Mapping[str, NDArray[Any]]:
    """Return the pictures that are shipped with a lab and the kind of each, by the names in their
    file; an empty mapping where there is no file."""
    # pictures of a user's own, or those of the project
    for path in (find_lab_folder(slug) / f"{name}.npz", ASSETS / slug / f"{name}.npz"):
        if path.is_file():
            with reading_file(path), np.load(path, allow_pickle=False) as file:
                return dict(file)
    return {}


def read_picture_number(text: str, count: int) -> int | None:
    """Return the number, from 0, of the shipped picture that a text like “test:17” names; None
    where the text names none. Raise InputError where no picture has this number."""
    if not text.startswith(SHIPPED):
        return None
    number = text.removeprefix(SHIPPED)
    if not (number.isascii() and number.isdigit() and len(number) < 9 and int(number) < count):
        given = clean_for_sentence(number)
        raise InputError(
            "picture",
            en=f"There is no held-out picture {given}; there are 0 to {count - 1}.",
            zh=f"没有编号为 {given} 的留出图片；可用 0 到 {count - 1}。",
        )
    return int(number)


def find_picture(text: str, ours: Levels) -> Levels:
    """Return the picture that a request names or carries. Raise InputError as `read_picture_number`
    and `read_picture` do. ours: the shipped pictures, (picture, …)."""
    number = read_picture_number(text, len(ours))
    found: Levels = read_picture(text, ours.shape[1:]) if number is None else ours[number]
    return found


def read_mnist(folder: Path, split: str) -> tuple[Levels, NDArray[np.int64]]:
    """Return levels (picture, row, column) and kinds (picture,) of the file that holds a split of
    MNIST, or of a data set of its form.

    Raise FileNotFoundError where it is missing.
    """

    def idx(name: str, header: int) -> Levels:
        with gzip.open(
            folder / f"{'t10k' if split == 'test' else 'train'}-{name}-ubyte.gz"
        ) as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    return idx("images-idx3", 16).reshape(-1, 28, 28), idx("labels-idx1", 8).astype(np.int64)


def select_split(split: str, what: str) -> slice:
    """Return the part of its file that is a split: "train" is all but the last HELD_OUT, "val"
    these, "test" all of the other file.

    Raise ValueError for another split. what: the data set of the split, for the message.
    """
    parts = {"train": slice(None, -HELD_OUT), "val": slice(-HELD_OUT, None), "test": slice(None)}
    if split not in parts:
        raise ValueError(f"{what} has the splits {', '.join(parts)}, not {split}")
    return parts[split]
