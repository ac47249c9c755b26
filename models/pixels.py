"""Pictures: as requests carry them, as files of MNIST hold them, and those that are shipped and may be named. No torch here."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.errors import InputError, reading
from models.fields import shown
from models.folders import ASSETS, lab

Levels = NDArray[np.uint8]

SHIPPED = "test:"  # what a shipped picture is called with, before its number
HELD_OUT = 1_000  # pictures at the end of a training set that no model learns from, for the choice of the learning rate and the curve


def packed(values: ArrayLike, kind: str = "u1") -> str:
    """Numbers as a request carries them: base64 of so many bytes each, in raster order."""
    return base64.urlsafe_b64encode(np.ascontiguousarray(values, kind).tobytes()).decode().rstrip("=")


def unpacked(text: str) -> bytes:
    """The bytes that `packed` wrote. ValueError where the text is none of that."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def read_picture(text: str, shape: tuple[int, ...]) -> Levels:
    """The levels that `packed` wrote. InputError where the text is no picture of this shape."""
    try:
        return np.frombuffer(unpacked(text), np.uint8).reshape(shape)
    except ValueError:
        sides = " × ".join(map(str, shape))
        raise InputError("picture", en=f"The link carries no picture of {sides} levels.", zh=f"链接中没有 {sides} 的图片。") from None


@cache
def shipped(slug: str, name: str = "examples") -> Mapping[str, NDArray[Any]]:
    """The pictures that are shipped with a lab and what kind each is, by the names in their file; nothing where there is no file."""
    for path in (lab(slug) / f"{name}.npz", ASSETS / slug / f"{name}.npz"):  # somebody's own, or those of the project
        if path.is_file():
            with reading(path), np.load(path, allow_pickle=False) as file:
                return dict(file)
    return {}


def number_of(text: str, count: int) -> int | None:
    """Which of so many shipped pictures “test:17” names, from 0; None where the text names none. InputError where there is no such one."""
    if not text.startswith(SHIPPED):
        return None
    number = text.removeprefix(SHIPPED)
    if not (number.isascii() and number.isdigit() and len(number) < 9 and int(number) < count):
        given = shown(number)
        raise InputError(
            "picture",
            en=f"There is no held-out picture {given}; there are 0 to {count - 1}.",
            zh=f"没有编号为 {given} 的留出图片；可用 0 到 {count - 1}。",
        )
    return int(number)


def picture_of(text: str, ours: Levels) -> Levels:
    """The picture that a request names or carries. InputError as for `number_of` and `read_picture`. ours: (picture, …), the shipped."""
    number = number_of(text, len(ours))
    found: Levels = read_picture(text, ours.shape[1:]) if number is None else ours[number]
    return found


def mnist(folder: Path, split: str) -> tuple[Levels, NDArray[np.int64]]:
    """Levels (picture, row, column) and kinds (picture,) of the file in which a split of MNIST, or of what has its form, stands.

    FileNotFoundError where it is missing.
    """

    def idx(name: str, header: int) -> Levels:
        with gzip.open(folder / f"{'t10k' if split == 'test' else 'train'}-{name}-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    return idx("images-idx3", 16).reshape(-1, 28, 28), idx("labels-idx1", 8).astype(np.int64)


def part(split: str, what: str) -> slice:
    """Which pictures of its file a split is: "train" all but the last HELD_OUT, "val" these, "test" all of the other file.

    ValueError for another split; what: it is of.
    """
    parts = {"train": slice(None, -HELD_OUT), "val": slice(-HELD_OUT, None), "test": slice(None)}
    if split not in parts:
        raise ValueError(f"{what} has the splits {', '.join(parts)}, not {split}")
    return parts[split]
