"""Explanations of the self-attention GAN: they answer a page's requests with arrays and strings and
return no tensors."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from models.checkpoints.checkpoint import ASSETS
from models.checkpoints.device import answer_without_gradients
from models.checkpoints.folders import find_lab_folder
from models.data.pixels import find_picture, load_shipped_pictures
from models.decoding.latent import draw_noise, walk_between
from models.evaluation.frechet import measure_moments, measure_moments_distance
from models.evaluation.picture_classifier import Classifier, read_features
from models.explaining.arrays import freeze
from models.explaining.errors import InputError, reading_file
from models.explaining.request_fields import check_request
from models.explaining.trace import OFF, Trace
from models.sagan import records
from models.sagan.data import Levels, pad_pictures, to_levels, to_tensor
from models.sagan.model import AdversarialPair
from models.sagan.pretrained import CLASSIFIER, SLUG, load
from models.sagan.records import (
    ErasedCell,
    Explanation,
    GammaEffect,
    GeneratorRun,
    Judgement,
    Request,
)

COUNT = 500  # pictures by which a change is measured
STEP = records.SIDE // records.VERDICTS  # pixels between the fields of two verdicts
EDGE = 7  # pixels by which the first field begins before the picture


def find_fields(cell: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the verdicts whose pixels reach a cell, counted from 0: (4, 4)."""
    first = np.arange(records.VERDICTS) * STEP - EDGE
    reach = [
        (first < (at + 1) * STEP) & (first + records.FIELD > at * STEP)
        for at in divmod(cell, records.VERDICTS)
    ]
    return reach[0][:, None] & reach[1][None]


def judge(
    pair: AdversarialPair, pictures: Tensor, kind: Tensor, factor: float, trace: Trace = OFF
) -> tuple[Tensor, Tensor]:
    """Return verdicts (batch, 4, 4) and logits of pictures, with so many times the learned γ."""
    discriminator = pair.discriminator
    gamma = (discriminator.block.gamma * factor).expand(len(pictures))
    verdicts = discriminator.verdicts(pictures, kind, gamma, trace)
    return verdicts, verdicts.sum((1, 2)) + discriminator.bias


def _watch_judgement(pair: AdversarialPair, picture: Tensor, request: Request) -> Judgement:
    trace, kind = Trace("discriminator/weights"), torch.tensor([request.kind])
    verdicts, logits = judge(pair, picture[None], kind, request.gamma_d, trace)
    weights = freeze(trace.stack("discriminator/weights")[0, 0])
    return Judgement(_freeze_levels(picture), freeze(verdicts[0]), float(logits[0]), weights)


def _freeze_levels(picture: Tensor) -> Levels:
    return freeze(to_levels(picture), np.uint8)


def make_pictures(pair: AdversarialPair, request: Request) -> tuple[Tensor, GeneratorRun]:
    """Return the picture of a request, (32, 32), and the generator's record of it."""
    size = pair.config.noise
    start, end = (draw_noise(s, request.bound, size) for s in (request.seed, request.other))
    noise = walk_between(start, end, request.walk)
    stops = [walk_between(start, end, share) for share in records.STOPS]
    count, ways = len(records.FACTORS), len(records.STOPS)
    factors = [request.gamma_g, *records.FACTORS] + [request.gamma_g] * (ways + records.KINDS)
    every = torch.stack([noise] * (1 + count) + stops + [noise] * records.KINDS)
    kind = torch.tensor([request.kind] * (1 + count + ways) + list(range(records.KINDS)))
    trace = Trace("generator/weights")
    gamma = pair.generator.block.gamma * torch.tensor(factors)
    pictures = pair.generator(every, kind, gamma, trace)
    logits = judge(pair, pictures, kind, request.gamma_d)[1]
    ladder, walk = slice(1, 1 + count), slice(1 + count, 1 + count + ways)
    kinds = slice(1 + count + ways, None)
    judge_of_class: Classifier = load(CLASSIFIER).model
    kept = judge_of_class(pictures[kinds]).softmax(-1).diagonal()
    return pictures[0], GeneratorRun(
        weights=freeze(trace.stack("generator/weights")[0, 0]),
        ladder=_freeze_levels(pictures[ladder]),
        ladder_logits=freeze(logits[ladder]),
        walk=_freeze_levels(pictures[walk]),
        walk_logits=freeze(logits[walk]),
        kinds=_freeze_levels(pictures[kinds]),
        kept=freeze(kept),
    )


def load_examples() -> Levels:
    """Return the shipped held-out pictures, (picture, 28, 28)."""
    examples: Levels = load_shipped_pictures(SLUG).get(
        "pictures", np.zeros((0, records.GIVEN, records.GIVEN), "u1")
    )
    return examples


def read_given(request: Request) -> Tensor:
    """Return the picture that a request brings, (32, 32). Raise InputError where it is empty."""
    levels = find_picture(request.picture, load_examples())
    if not levels.any():
        raise InputError(
            "picture",
            en="The picture is empty: draw something, choose a picture or bring a file.",
            zh="图片是空的：请画点什么、选一张图片或上传一个文件。",
        )
    return to_tensor(pad_pictures(levels[None]))[0]


def answer(request: Request) -> Explanation:
    """Return the explanation of a request.

    Raise InputError where a field lies outside its range or the picture cannot be read.
    """
    check_request(request)
    pair: AdversarialPair = load().model
    run: GeneratorRun | None = None
    if request.task == "make":
        picture, run = make_pictures(pair, request)
    else:
        picture = read_given(request)
    return Explanation(
        judged=_watch_judgement(pair, picture, request),
        bias=pair.discriminator.bias.item(),
        made=run,
        erased=_erase_cell(pair, picture, request) if request.erase else None,
        gamma_g=pair.generator.block.gamma.item() * request.gamma_g,
        gamma_d=pair.discriminator.block.gamma.item() * request.gamma_d,
    )


def _erase_cell(pair: AdversarialPair, picture: Tensor, request: Request) -> ErasedCell:
    row, column = divmod(request.erase - 1, records.VERDICTS)
    black = picture.clone()
    black[row * STEP : (row + 1) * STEP, column * STEP : (column + 1) * STEP] = -1
    both, kind = torch.stack([picture, black]), torch.tensor([request.kind] * 2)
    before, after = judge(pair, both, kind, 0.0)[0]
    judged = _watch_judgement(pair, black, request)
    return ErasedCell(
        judged, freeze(find_fields(request.erase - 1), np.bool_), freeze(after - before)
    )


explain = answer_without_gradients(answer)


@cache
def read_reference() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return mean and covariance of the test pictures' features, as they are stored."""
    path = find_lab_folder(SLUG, ASSETS) / CLASSIFIER / "reference.npz"
    with reading_file(path), np.load(path, allow_pickle=False) as file:
        return file["mean"], file["covariance"]


@cache
def paint_usual() -> Tensor:
    """Return the 500 pictures from fixed noise with γ as learned."""
    return _paint_with(1.0)


def _paint_with(factor: float) -> Tensor:
    """Return the 500 pictures with so many times the learned γ."""
    generator = load().model.generator
    noise = torch.randn(COUNT, generator.config.noise, generator=torch.Generator().manual_seed(0))
    gamma = generator.block.gamma.detach() * factor
    return cast(Tensor, generator(noise, torch.arange(COUNT) % records.KINDS, gamma.expand(COUNT)))


def measure_change(request: Request) -> GammaEffect:
    """Return the distance and the logit of 500 pictures under the changes of a request."""
    check_request(request)
    usual = paint_usual()
    pictures = usual if request.gamma_g == 1 else _paint_with(request.gamma_g)
    features, _ = read_features(load(CLASSIFIER).model, pictures)
    distance = measure_moments_distance(measure_moments(features.numpy()), read_reference())
    kind = torch.arange(COUNT) % records.KINDS
    logit = float(judge(load().model, pictures, kind, request.gamma_d)[1].mean())
    return GammaEffect(distance, logit, float((pictures - usual).abs().mean()) * 127.5, COUNT)


measure = answer_without_gradients(measure_change)
