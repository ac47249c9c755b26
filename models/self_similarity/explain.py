"""Explanations of self-similarity: requests are answered with arrays and strings, without
tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.data.pixels import Levels
from models.explaining.arrays import freeze
from models.explaining.batching import answer_together, read_each
from models.explaining.errors import InputError
from models.self_similarity.data import add_noise, as_grey
from models.self_similarity.growth import grow_texture, measure_coherence
from models.self_similarity.nonlocal_means import (
    dot_product_means,
    measure_psnr,
    nonlocal_means,
)
from models.self_similarity.pretrained import load
from models.self_similarity.records import (
    GROWN,
    METHODS,
    SAMPLE,
    SOFTNESS,
    Array,
    Denoised,
    Explanation,
    Growth,
    Request,
    check,
    find_picture,
    load_chorale,
)
from models.self_similarity.similarity import compare_bars, compare_patches


@dataclass(frozen=True)
class _Read:
    """A request with its picture, (row, column, channel)."""

    request: Request
    picture: Levels


def _read(request: Request) -> _Read:
    """Read a request. Raise InputError if an option is out of range or there is no picture."""
    check(request)
    return _Read(request, find_picture(request.picture))


def cut_sample(picture: Levels, side: int) -> Levels:
    """Return the middle of a picture at half its size, (side, side, channel)."""
    halves = picture.reshape(SAMPLE, 2, SAMPLE, 2, -1).mean((1, 3))
    first = (SAMPLE - side) // 2
    sample: Levels = np.rint(halves[first : first + side, first : first + side]).astype(np.uint8)
    return sample


def _denoise(request: Request, clean: Array) -> Denoised:
    sigma = request.sigma / 255
    h = SOFTNESS * sigma * request.heat / 100
    noisy = add_noise(clean, sigma, np.random.default_rng((request.seed, 3)))
    given = torch.from_numpy(noisy)
    block = load("block").model
    restored = torch.stack(
        [
            nonlocal_means(given, h, sigma),
            dot_product_means(given, h, request.bias),
            *(
                load(variant).model(given[None], gain=torch.full((1,), float(request.block)))[0]
                for variant in ("block", "block_without")
            ),
        ]
    )
    assert len(restored) == len(METHODS)
    truth: Tensor = torch.from_numpy(clean)
    psnr = tuple(round(measure_psnr(truth, item), 4) for item in (given, *restored))
    return Denoised(
        sigma,
        h,
        (block.config.sigma, block.config.softness * block.config.sigma),
        freeze(block.readout.weight[:, 0]),
        freeze(noisy),
        freeze(restored),
        psnr,
    )


def _grow(request: Request, picture: Levels) -> Growth:
    sample = cut_sample(picture, request.sample)
    texture = grow_texture(
        np.divide(sample, 255, dtype=np.float32), GROWN, request.window, request.seed
    )
    return Growth(
        sample,
        freeze(texture.source, np.uint8),
        freeze(texture.order, np.int16),
        freeze(texture.error),
        round(measure_coherence(texture.source), 4),
        len(np.unique(texture.source.reshape(-1, 2), axis=0)),
    )


@torch.no_grad()
def _explain_one(read: _Read) -> Explanation:
    request, clean = read.request, as_grey(read.picture)
    return Explanation(
        read.picture,
        freeze(clean),
        _denoise(request, clean) if request.task == "denoise" else None,
        _grow(request, read.picture) if request.task == "grow" else None,
        freeze(compare_patches(clean)),
        freeze(compare_bars(load_chorale())),
    )


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Explain each request, in order.

    An InputError takes the place of a request that cannot be read.
    """
    return answer_together(
        read_each(requests, _read),
        lambda item: item.request.task,
        lambda some: [_explain_one(item) for item in some],
    )
