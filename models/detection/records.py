"""The requests to the detector and its explanations: frozen records of NumPy arrays, strings and
numbers, without torch."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.detection.scenes import DARK, KINDS, LIGHT, SIDE, Item
from models.explaining.errors import InputError
from models.explaining.request_fields import (
    any_field,
    clean_for_sentence,
    heads_field,
    number_field,
    switch_field,
    text_field,
)

Array = NDArray[np.float32]

LAYERS, HEADS, QUERIES = 3, 4, 12  # as trained
PARTS = ("encoder", "queries", "cross")  # the three kinds of attention
MAX_ITEMS = 20  # objects of a scene
MAX_CHARACTERS = 500  # of a scene's text
DRAWN = "d"  # in place of a sample's number: the shape that the visitor draws
STROKES = 28  # rows and columns of that shape
SMALLEST, LARGEST = 6, SIDE  # the longest side of an object that a visitor places, pixels
_ITEM = re.compile(r"(\d{1,2})\.(d|\d{1,3})\.(-?\d{1,3})\.(-?\d{1,3})\.(\d{1,3})\.([01])")


@dataclass(frozen=True)
class Request:
    """A request: a scene, and the changes to the network.

    scene: the ground's number and the objects, "3,0.5.12.20.30.1,…": kind, sample or "d" for the
    drawn shape, left and top edge, longest side, and 1 for light ink or 0 for dark. drawing: the
    drawn shape, base64 of 28 × 28 bits in raster order. picture: base64 of a picture file that
    takes the place of the scene. silenced: (kind of attention, layer, head) from 0. agree: whether
    the object queries attend to each other. depth: layers of the decoder in use. queries: object
    queries in use.
    """

    scene: str = text_field(
        "0,2.0.6.10.34.1,8.0.52.8.36.1,6.1.14.54.38.1,0.3.62.58.28.0", MAX_CHARACTERS
    )
    drawing: str = any_field("")
    picture: str = any_field("")
    silenced: tuple[tuple[str, int, int], ...] = heads_field(PARTS)
    agree: bool = switch_field(True)
    depth: int = number_field(LAYERS, 1, LAYERS, en="number of decoder layers", zh="解码器层数")
    queries: int = number_field(QUERIES, 1, QUERIES, en="number of queries", zh="查询数")

    def group(self) -> Hashable:
        """Return the key of a batch: requests with as many queries may share one."""
        return self.queries


@dataclass(frozen=True)
class Explanation:
    """The explanation of one run.

    picture: what the network saw, levels, (row, column). kinds, boxes: the objects that were
    placed, (object,) and (object, 4): center x, center y, width, height as fractions of the side;
    none for a visitor's picture. chances: of each class and, last, of ∅, after each layer, (layer,
    query, class). found: the boxes after each layer, (layer, query, 4). encoder: attention among
    tokens, (layer, head, token, token), float16. among: among queries, (layer, head, query,
    query). cross: from queries to tokens, (layer, head, query, token). cost: the three terms of
    the matching cost, (layer, object, query, term). pairs: the query of each object, (layer,
    object). notice: how a visitor's picture was changed, in both languages; empty where it was
    not.
    """

    picture: NDArray[np.uint8]
    kinds: NDArray[np.int64]
    boxes: Array
    chances: Array
    found: Array
    encoder: NDArray[np.float16]
    among: Array
    cross: Array
    cost: Array
    pairs: NDArray[np.int64]
    notice: tuple[str, ...]

    @property
    def answers(self) -> tuple[NDArray[np.int64], Array]:
        """The best class other than ∅ of each query after each layer, and its probability, (layer,
        query) each."""
        named = self.chances[..., :-1]
        return named.argmax(-1), named.max(-1)


def read_scene(text: str, grounds: int, samples: int) -> tuple[int, tuple[Item, ...]]:
    """Return the ground and the objects of a scene's text; the drawn shape has the sample −1.

    grounds, samples: how many grounds there are, and samples of each kind. Raise InputError for a
    text that is no scene, or that names what does not exist.
    """
    first, *rest = text.split(",")
    if not first.isascii() or not first.isdigit() or int(first[:4]) >= grounds:
        raise _refuse(
            f"There is no ground {clean_for_sentence(first)}; there are 0 to {grounds - 1}.",
            f"没有背景 {clean_for_sentence(first)}；可用 0 到 {grounds - 1}。",
        )
    if len(rest) > MAX_ITEMS:
        raise _refuse(
            f"This scene has {len(rest)} objects; a scene has up to {MAX_ITEMS}.",
            f"这个场景有 {len(rest)} 个物体；最多 {MAX_ITEMS} 个。",
        )
    return int(first), tuple(_read_item(part, samples) for part in rest)


def _read_item(text: str, samples: int) -> Item:
    match = _ITEM.fullmatch(text)
    if match is None:
        raise _refuse(
            f"“{clean_for_sentence(text)}” is no object; one is spelled 0.5.12.20.30.1: kind,"
            " sample, left, top, size, ink.",
            f"“{clean_for_sentence(text)}”不是物体；写法为 0.5.12.20.30.1：类别、样本、左、上、"
            "大小、墨色。",
        )
    kind, number, x, y, size, ink = match.groups()
    if int(kind) >= len(KINDS):
        raise _refuse(
            f"There is no kind {kind}; there are 0 to {len(KINDS) - 1}.",
            f"没有类别 {kind}；可用 0 到 {len(KINDS) - 1}。",
        )
    sample = -1 if number == DRAWN else int(number)
    if sample >= samples:
        raise _refuse(
            f"There is no sample {number}; there are 0 to {samples - 1}.",
            f"没有样本 {number}；可用 0 到 {samples - 1}。",
        )
    if not SMALLEST <= int(size) <= LARGEST:
        raise _refuse(
            f"An object has a size of {size}; it can be {SMALLEST} to {LARGEST} pixels.",
            f"物体大小为 {size}；可以取 {SMALLEST} 到 {LARGEST} 像素。",
        )
    return Item(int(kind), sample, int(x), int(y), int(size), LIGHT if ink == "1" else DARK)


def _refuse(en: str, zh: str) -> InputError:
    return InputError("scene", en=en, zh=zh)


EXAMPLES: tuple[Request, ...] = (
    Request(),
    Request("3,7.0.30.30.30.1,7.1.46.34.30.1,5.2.4.50.38.1,9.0.60.66.26.1"),
    Request(
        "6,1.0.2.2.30.1,1.1.34.2.30.1,1.2.66.2.30.1,1.3.2.50.30.0,1.4.34.50.30.0,1.5.66.50.30.0"
    ),
    Request("4"),
)
