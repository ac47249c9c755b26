"""Scenes: digits and clothes on textured ground, composed from a description.

The same code paints the scenes of training, those that are measured, and those that a visitor
composes. No torch here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from models.data.pixels import read_mnist, select_split

Levels = NDArray[np.uint8]
Array = NDArray[np.float32]

SIDE = 96  # rows and columns of a scene, pixels
MOST = 6  # objects of a scene of training
SMALLEST, LARGEST = 14, 40  # the longest side of an object, pixels
OVERLAP = 0.25  # of two boxes, as a share of the smaller one
KINDS = ("0", "2", "3", "4", "7", "trousers", "pullover", "dress", "bag", "boot")
DIGITS, CLOTHES = (0, 2, 3, 4, 7), (1, 2, 3, 8, 9)  # their numbers in the two data sets
DARK, LIGHT = 20, 235  # usual levels of ink
PICTURES = ("starry_night", "the_scream", "shipwreck", "brick", "grass", "gravel")
LEFT = 0.7  # of each picture: the part that training cuts its grounds from


@dataclass(frozen=True)
class Item:
    """An object of a scene.

    kind: its number in KINDS. sample: which of the samples of this kind. x, y: left and top edge,
    pixels. size: its longest side, pixels. ink: the grey level of a digit; clothes keep their own.
    """

    kind: int
    sample: int
    x: int
    y: int
    size: int
    ink: int = LIGHT


@dataclass(frozen=True)
class Sample:
    """An object cut out of its picture.

    cover: how much of the ground each pixel hides, (row, column). levels: its grey levels, or None
    where it is drawn in ink.
    """

    cover: Levels
    levels: Levels | None

    def fit_size(self, size: int) -> tuple[int, int]:
        """Return the height and width whose longer side is `size`."""
        rows, columns = self.cover.shape
        scale = size / max(rows, columns)
        return max(2, round(rows * scale)), max(2, round(columns * scale))

    def paint(self, canvas: Array, item: Item) -> tuple[int, int, int, int]:
        """Paint the object on a canvas; return its box: left, top, right and bottom edge, pixels,
        cut at the edges of the canvas."""
        height, width = self.fit_size(item.size)
        top, left = max(0, item.y), max(0, item.x)
        bottom, right = min(SIDE, item.y + height), min(SIDE, item.x + width)
        if bottom <= top or right <= left:
            return left, top, left, top
        inside = (
            slice(top - item.y, bottom - item.y),
            slice(left - item.x, right - item.x),
        )
        cover = _resize(self.cover, height, width)[inside] / 255
        levels = (
            item.ink * cover if self.levels is None else _resize(self.levels, height, width)[inside]
        )
        part = canvas[top:bottom, left:right]
        part[...] = part * (1 - cover) + levels
        return left, top, right, bottom


def _resize(levels: Levels, height: int, width: int) -> Array:
    image = Image.fromarray(levels).resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(image, np.float32)


def cut_sample(picture: Levels, is_ink: bool) -> Sample:
    """Cut an object, bright on black, out of its picture. Raise ValueError for an empty picture.

    is_ink: whether it is a drawn shape that ink of any level fills, or keeps its levels.
    """
    marked = picture > (60 if is_ink else 12)
    rows, columns = (np.flatnonzero(marked.any(axis)) for axis in (1, 0))
    if not len(rows):
        raise ValueError("an empty picture holds no object")
    part = np.ascontiguousarray(picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])
    # the rim of clothes fades out, so that no dark line surrounds them
    faded = np.minimum(part.astype(int) * 6, 255).astype(np.uint8)
    return Sample(part, None) if is_ink else Sample(faded, part)


@dataclass(frozen=True)
class Scene:
    """A scene.

    picture: (SIDE, SIDE). kinds: of its objects, (object,). boxes: center x, center y, width and
    height as fractions of the side, (object, 4).
    """

    picture: Levels
    kinds: NDArray[np.int64]
    boxes: Array


@dataclass(frozen=True)
class Pool:
    """Samples and grounds that scenes are drawn from.

    samples: per kind. grounds: grey pictures, at least SIDE × SIDE.
    """

    samples: tuple[tuple[Sample, ...], ...]
    grounds: tuple[Array, ...]


def load_pool(data: Path, split: str) -> Pool:
    """Load the pool of a split: "train" and "val" share the left part of each ground, "test" has
    the right part and objects of its own. Raise FileNotFoundError where the data are missing."""
    samples: list[tuple[Sample, ...]] = []
    part = select_split(split, "MNIST")
    for folder, numbers in (("mnist", DIGITS), ("fashion-mnist", CLOTHES)):
        pictures, labels = (entry[part] for entry in read_mnist(data / folder, split))
        samples += [
            tuple(cut_sample(entry, folder == "mnist") for entry in pictures[labels == number])
            for number in numbers
        ]
    grounds = []
    with np.load(data / "images_pd.npz", allow_pickle=False) as file:
        for name in PICTURES:
            grey = file[name].astype(np.float32)
            grey = grey.mean(2) if grey.ndim == 3 else grey
            edge = int(grey.shape[1] * LEFT)
            grounds.append(grey[:, edge:] if split == "test" else grey[:, :edge])
    return Pool(tuple(samples), tuple(grounds))


def draw_ground(generator: np.random.Generator, grounds: Sequence[Array]) -> Array:
    """Draw a ground of low contrast, (SIDE, SIDE): a mirrored or turned part of a picture."""
    whole = grounds[int(generator.integers(len(grounds)))]
    top, left = (int(generator.integers(side - SIDE + 1)) for side in whole.shape)
    part = np.rot90(whole[top : top + SIDE, left : left + SIDE], int(generator.integers(4)))
    part = part[:, :: int(generator.choice((-1, 1)))]
    contrast, level = generator.uniform(6, 20), generator.uniform(75, 180)
    ground = (part - part.mean()) / (part.std() + 1) * contrast + level
    clipped: Array = np.clip(ground, 0, 255).astype(np.float32)
    return clipped


def draw_items(
    generator: np.random.Generator, pool: Pool, count: int
) -> tuple[tuple[Item, Sample], ...]:
    """Draw up to `count` objects that overlap by at most OVERLAP of the smaller one."""
    placed: list[tuple[Item, Sample]] = []
    boxes: list[tuple[int, int, int, int]] = []
    for _ in range(count):
        kind = int(generator.integers(len(KINDS)))
        number = int(generator.integers(len(pool.samples[kind])))
        sample, size = pool.samples[kind][number], int(generator.integers(SMALLEST, LARGEST + 1))
        height, width = sample.fit_size(size)
        is_light = generator.random() < 0.5
        ink = int(generator.integers(200, 256) if is_light else generator.integers(46))
        for _ in range(30):
            x, y = (int(generator.integers(SIDE - side + 1)) for side in (width, height))
            box = (x, y, x + width, y + height)
            if all(_share_overlap(box, other) <= OVERLAP for other in boxes):
                boxes.append(box)
                placed.append((Item(kind, number, x, y, size, ink), sample))
                break
    return tuple(placed)


def _share_overlap(a: tuple[int, ...], b: tuple[int, ...]) -> float:
    """Return the overlap of two boxes as a share of the smaller one."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / min((entry[2] - entry[0]) * (entry[3] - entry[1]) for entry in (a, b))


def compose_scene(ground: Array, items: Sequence[tuple[Item, Sample]]) -> Scene:
    """Paint objects on a ground, one after another. An object outside the picture has no box."""
    canvas = ground.astype(np.float32, copy=True)
    boxes = [sample.paint(canvas, item) for item, sample in items]
    inside = [i for i, box in enumerate(boxes) if box[2] > box[0] and box[3] > box[1]]
    corners = np.array([boxes[i] for i in inside], np.float32).reshape(-1, 4) / SIDE
    return Scene(
        np.clip(np.rint(canvas), 0, 255).astype(np.uint8),
        np.array([items[i][0].kind for i in inside], np.int64),
        np.concatenate(((corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]), 1),
    )


def draw_scene(generator: np.random.Generator, pool: Pool) -> Scene:
    """Draw a scene of 1 to MOST objects."""
    items = draw_items(generator, pool, int(generator.integers(1, MOST + 1)))
    return compose_scene(draw_ground(generator, pool.grounds), items)
