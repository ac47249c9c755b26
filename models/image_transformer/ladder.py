"""What the test pictures cost under other descriptions, beside the models: the rungs of assets/image_transformer/ladder.json.

Every rung is bits per dimension, bits of all pictures over the number of their pixels, on the same pictures.
"""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from models import checkpoint
from models.image_transformer.data import Pictures, fashion
from models.image_transformer.recipe import PUBLISHED
from models.image_transformer.records import MODELS

SPLIT = "test"
LEVELS = 256
SMOOTHING = 0.25  # of a picture, that each level of each pixel has been seen before anything was


def histogram(learn: Pictures, held_out: Pictures) -> float:
    """bits/dim where each pixel draws from its own histogram over the training pictures, smoothed; no pixel knows of another."""
    pixels = learn.levels[0].size
    place = np.arange(pixels)
    counts = np.full((pixels, LEVELS), SMOOTHING)
    for levels in learn.levels.reshape(len(learn), -1):
        counts[place, levels] += 1
    cost = -np.log2(counts / counts.sum(1, keepdims=True))
    return float(np.mean([cost[place, levels].mean() for levels in held_out.levels.reshape(len(held_out), -1)]))


def filed(pictures: Pictures, name: str, **options: object) -> tuple[float, float]:
    """bits/dim of each picture alone in a file of its own, as Pillow writes it losslessly; and how many of them a black picture takes.

    name: "PNG" or "WEBP". The second figure is what the file's frame alone costs: its header, and everything else that is not pixels.
    """
    sizes = [_bytes(levels, name, options) for levels in pictures.levels]
    bits = 8 / pictures.levels[0].size
    return float(np.mean(sizes)) * bits, _bytes(np.zeros_like(pictures.levels[0]), name, options) * bits


def _bytes(levels: NDArray[np.uint8], name: str, options: dict[str, object]) -> int:
    file = io.BytesIO()
    Image.fromarray(levels).save(file, name, **options)
    return file.tell()


def rungs(data: Path) -> list[dict[str, Any]]:
    """Every rung, measured or published: {key, value, published, source}; n, the number of pictures, where it was measured.

    The models' figures come from their model.json; a model without one has no rung. FileNotFoundError where the data are missing.
    """
    held_out = fashion(data, SPLIT)
    png, png_frame = filed(held_out, "PNG", optimize=True)
    webp, webp_frame = filed(held_out, "WEBP", lossless=True, quality=100, method=6)
    measured = {
        "uniform": (math.log2(LEVELS), "every level equally likely"),
        "histogram": (
            histogram(fashion(data, "train"), held_out),
            f"each pixel's own histogram over the training pictures, {SMOOTHING} added to every level",
        ),
        "png": (png, f"one file a picture, Pillow, optimize; of it {png_frame:.2f} for a file of nothing but black"),
        "webp": (webp, f"one lossless file a picture, Pillow, method 6; of it {webp_frame:.2f} for a file of nothing but black"),
    }
    found: list[dict[str, Any]] = [
        {"key": key, "value": round(value, 4), "published": False, "source": source, "n": len(held_out)}
        for key, (value, source) in measured.items()
    ]
    for variant in MODELS:
        where = checkpoint.folder("image_transformer", variant)
        facts = checkpoint.read_facts(where) if (where / "model.json").is_file() else {}
        figure = facts.get("figure")
        if figure is not None and figure["split"] == SPLIT:
            source = f"{facts['parameters']:,} parameters, {facts['steps'] * facts['recipe']['batch']:,} training pictures"
            found.append({"key": variant, "value": figure["value"], "published": False, "source": source, "n": figure["n"]})
    return [*found, {"key": "glow", "value": PUBLISHED["value"], "published": True, "source": PUBLISHED["source"]}]


def write(data: Path) -> Path:
    """Measure and write ladder.json in one move; returns it."""
    path = checkpoint.ASSETS / "image_transformer" / "ladder.json"
    found = rungs(data)
    for rung in found:
        print(f"{rung['key']:<10} {rung['value']:.3f} bits/dim: {'published, ' if rung['published'] else ''}{rung['source']}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    return path
