"""The cost of the test pictures under simpler descriptions, the rungs of
assets/image_transformer/ladder.json.

Every rung is in bits per dimension, the bits of all pictures over the number of their levels. There
are two ladders, one for grey pictures and one for coloured pictures given their small ones. All
rungs of a ladder are measured on the same pictures.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from models.checkpoints import checkpoint
from models.image_transformer.data import Pictures, fashion
from models.image_transformer.recipe import COLOUR, PUBLISHED, read_colour
from models.image_transformer.records import MODELS

SPLIT = "test"
LEVELS = 256
SMOOTHING = 0.25  # pseudo-count of each level of each pixel
# Pseudo-count of each distance in the linear coder.
MISSED = 0.05
AROUND = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]
# Earlier pixels around a pixel: the row above, and to the left.
BEFORE = AROUND[:4]


def histogram(learn: Pictures, held_out: Pictures) -> float:
    """Return bits/dim if each pixel follows its own smoothed histogram over the training pictures,
    independent of other pixels."""
    pixels = learn.levels[0].size
    place = np.arange(pixels)
    counts = np.full((pixels, LEVELS), SMOOTHING)
    for levels in learn.levels.reshape(len(learn), -1):
        counts[place, levels] += 1
    cost = -np.log2(counts / counts.sum(1, keepdims=True))
    return float(
        np.mean(
            [cost[place, levels].mean() for levels in held_out.levels.reshape(len(held_out), -1)]
        )
    )


def measure_files(pictures: Pictures, name: str, **options: object) -> tuple[float, float]:
    """Return bits/dim of each picture alone in a file that Pillow writes losslessly, and bits/dim
    of a black picture.

    name: "PNG" or "WEBP". The second figure is the cost of the file's frame: its header and
    everything else that is not pixels.
    """
    sizes = [_bytes(levels, name, options) for levels in pictures.levels]
    bits = 8 / pictures.levels[0].size
    return (
        float(np.mean(sizes)) * bits,
        _bytes(np.zeros_like(pictures.levels[0]), name, options) * bits,
    )


def _bytes(levels: NDArray[np.uint8], name: str, options: dict[str, object]) -> int:
    file = io.BytesIO()
    Image.fromarray(levels).save(file, name, **options)
    return file.tell()


# ---- a linear coder of the large picture given the small one


def linear(learn: Pictures, held_out: Pictures, *, neighbours: bool) -> float:
    """Return bits/dim if least squares predict each level from what is known before it, and a
    histogram codes its distance from the prediction.

    Each place in the block of a small pixel, and each channel, has its own weights and histogram.
    neighbours: use also the pixels beside it and the small pixels around its own, besides its own
    block. Raise ValueError without small pictures.
    """
    costs = []
    for turn in range(_side(learn) ** 2):
        for channel in range(learn.levels.shape[-1]):
            known, level = _list_known_values(learn, turn, channel, neighbours)
            weights = np.linalg.lstsq(known.T @ known, known.T @ level, rcond=None)[0].astype(
                np.float64
            )
            # Distances of levels from their prediction, −255 … 255.
            seen = np.full(2 * LEVELS - 1, MISSED)
            seen += np.bincount(level - _foretold(known, weights) + LEVELS - 1, minlength=len(seen))
            known, level = _list_known_values(held_out, turn, channel, neighbours)
            foretold = _foretold(known, weights)
            total = np.concatenate(([0.0], seen.cumsum()))
            # The distances that lead to each level, 0 … 255.
            possible = total[2 * LEVELS - 1 - foretold] - total[LEVELS - 1 - foretold]
            costs.append(float(np.log2(possible / seen[level - foretold + LEVELS - 1]).mean()))
    return float(np.mean(costs))


def _foretold(known: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    levels: NDArray[np.int64] = np.rint(known @ weights).clip(0, LEVELS - 1).astype(np.int64)
    return levels


def _side(pictures: Pictures) -> int:
    """Return the number of large pixels that a small pixel covers in a row.

    Raise ValueError without small pictures.
    """
    if pictures.small is None:
        raise ValueError("a linear coder needs small pictures")
    return int(pictures.levels.shape[1] // pictures.small.shape[1])


def _list_known_values(
    pictures: Pictures, turn: int, channel: int, neighbours: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return what is known before each value of a channel in the turn-th pixel of every block,
    (value, feature), and the levels, (value,).

    Known are the mean of what remains for the block, per channel; the earlier channels of the same
    pixel; and the earlier pixels of the block. With `neighbours`, also the four earlier pixels
    around it, in any block, and the eight small pixels around its own; beyond an edge, the small
    picture's edge is repeated.
    """
    side = _side(pictures)
    large, small = pictures.levels.astype(np.float64), np.asarray(pictures.small, np.float64)
    # Each (picture, small row, small column, channel)
    blocks = [large[:, i // side :: side, i % side :: side] for i in range(turn + 1)]
    remains = (side**2 * small - sum(blocks[:-1])) / (side**2 - turn)
    found = [remains, blocks[turn][..., :channel]]
    if neighbours:
        padded = _pad_edges(small.repeat(side, 1).repeat(side, 2))
        padded[:, 1:-1, 1:-1] = large
        found += [
            _beside(padded, *step)[:, turn // side :: side, turn % side :: side] for step in BEFORE
        ]
        found += [_beside(_pad_edges(small), *step) for step in AROUND]
    else:
        found += blocks[:-1]
    features = np.concatenate([*found, np.ones((*remains.shape[:3], 1))], -1)
    return (
        features.reshape(-1, features.shape[-1]),
        blocks[turn][..., channel].astype(np.int64).ravel(),
    )


def _pad_edges(pictures: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.pad(pictures, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")


def _beside(edged: NDArray[np.float64], down: int, right: int) -> NDArray[np.float64]:
    """Return for each pixel the one `down` rows below and `right` columns to its right.

    edged: pictures with an extra edge of one pixel.
    """
    rows, columns = edged.shape[1] - 2, edged.shape[2] - 2
    return edged[:, 1 + down : 1 + down + rows, 1 + right : 1 + right + columns]


# ---- the rungs


def rungs(data: Path) -> list[dict[str, Any]]:
    """Return every rung of both ladders, measured or published: {key, pictures, value, published,
    source}, and n, the number of pictures, if measured.

    pictures: "grey" or "colour". The models' figures come from their model.json; a model without
    one has no rung. Raise FileNotFoundError if the data are missing.
    """
    return [*_grey(data), *_measure_colour(data)]


def _grey(data: Path) -> list[dict[str, Any]]:
    held_out = fashion(data, SPLIT)
    png, png_frame = measure_files(held_out, "PNG", optimize=True)
    webp, webp_frame = measure_files(held_out, "WEBP", lossless=True, quality=100, method=6)
    measured = {
        "uniform": (math.log2(LEVELS), "every level equally likely"),
        "histogram": (
            histogram(fashion(data, "train"), held_out),
            (
                f"each pixel's own histogram over the training pictures, {SMOOTHING} added to every"
                " level"
            ),
        ),
        "png": (
            png,
            (
                f"one file a picture, Pillow, optimize; of it {png_frame:.2f} for a file of nothing"
                " but black"
            ),
        ),
        "webp": (
            webp,
            (
                f"one lossless file a picture, Pillow, method 6; of it {webp_frame:.2f} for a file"
                " of nothing but black"
            ),
        ),
    }
    found = [*_add_figures("grey", measured, len(held_out)), *_models("grey", MODELS)]
    return [
        *found,
        {
            "key": "glow",
            "pictures": "grey",
            "value": PUBLISHED["value"],
            "published": True,
            "source": PUBLISHED["source"],
        },
    ]


def _measure_colour(data: Path) -> list[dict[str, Any]]:
    steps, batch = COLOUR.recipe.schedule.steps, COLOUR.recipe.batch
    learn, held_out = read_colour(data, "train")[: steps * batch], read_colour(data, SPLIT)
    # As many as the model was trained on.
    how = (
        f"weights and a histogram of misses for each place and channel, {len(learn):,} training"
        " pictures"
    )
    measured = {
        "uniform": (math.log2(LEVELS), "every level equally likely"),
        "linear_block": (
            linear(learn, held_out, neighbours=False),
            f"least squares from its own small pixel and what was made of its block; {how}",
        ),
        "linear": (
            linear(learn, held_out, neighbours=True),
            f"least squares from that, the pixels beside it and the small ones around; {how}",
        ),
    }
    return [*_add_figures("colour", measured, len(held_out)), *_models("colour", ("colour",))]


def _add_figures(
    pictures: str, found: Mapping[str, tuple[float, str]], n: int
) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "pictures": pictures,
            "value": round(value, 4),
            "published": False,
            "source": source,
            "n": n,
        }
        for key, (value, source) in found.items()
    ]


def _models(pictures: str, variants: tuple[str, ...]) -> list[dict[str, Any]]:
    found = []
    for variant in variants:
        where = checkpoint.find_folder("image_transformer", variant)
        facts = checkpoint.read_facts(where) if (where / "model.json").is_file() else {}
        figure = facts.get("figure")
        if figure is not None and figure["split"] == SPLIT:
            source = (
                f"{facts['parameters']:,} parameters, {facts['steps'] * facts['recipe']['batch']:,}"
                " training pictures"
            )
            found += _add_figures(pictures, {variant: (figure["value"], source)}, figure["n"])
    return found


def write(data: Path) -> Path:
    """Measure and write ladder.json atomically; return it."""
    found = rungs(data)
    for rung in found:
        source = f"{'published, ' if rung['published'] else ''}{rung['source']}"
        print(f"{rung['pictures']:<6} {rung['key']:<12} {rung['value']:.3f} bits/dim: {source}")
    return checkpoint.write_json(
        checkpoint.ASSETS / "image_transformer" / "ladder.json", found, indent=1
    )
