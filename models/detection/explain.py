"""Explanations of the detector: they answer a page's requests with arrays and strings and return no
tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from models.checkpoints.checkpoint import CheckpointError
from models.data.pixels import load_shipped_pictures, unpack_pixels
from models.detection.loss import match_queries, measure_cost
from models.detection.model import Detections, Detector, Gains
from models.detection.pretrained import SLUG, load
from models.detection.records import PARTS, STROKES, Explanation, Request, read_scene
from models.detection.scenes import DIGITS, SIDE, Item, Sample, Scene, compose_scene, cut_sample
from models.explaining.arrays import freeze
from models.explaining.batching import answer_together, read_each
from models.explaining.errors import InputError, check_heads
from models.explaining.head_mask import build_head_gains
from models.explaining.request_fields import check_request
from models.explaining.trace import Trace
from models.media.pictures import picture as read_picture_file

POOL = "pool"  # the file of samples and grounds that scenes are composed from
TAPS = ("encoder/*/self/weights", "decoder/*/self/weights", "decoder/*/cross/weights")
GREY = np.array((0.299, 0.587, 0.114), np.float32)  # the share of each channel in a grey level


@dataclass(frozen=True)
class _Read:
    """A request as the network reads it. notice: how a visitor's picture was changed."""

    request: Request
    scene: Scene
    notice: tuple[str, ...] = ()


def _read(request: Request) -> _Read:
    """Read a request. Raise InputError for a scene, a drawing or a picture that cannot be read, or
    for a head that does not exist."""
    check_request(request)
    config = load().model.config
    check_heads(request.silenced, dict.fromkeys(PARTS, (config.n_layers, config.n_heads)))
    if request.picture:
        levels, notice = _read_picture(request.picture)
        none = np.zeros(0, np.int64), np.zeros((0, 4), np.float32)
        return _Read(request, Scene(levels, *none), notice)
    pool = load_shipped_pictures(SLUG, POOL)
    if not pool:
        raise CheckpointError("no pool of samples is shipped: train the detector first")
    ground, items = read_scene(request.scene, len(pool["grounds"]), pool["samples"].shape[1])
    shape = _read_drawing(request.drawing) if any(entry.sample < 0 for entry in items) else None

    def find_sample(item: Item) -> Sample:
        if item.sample < 0 and shape is not None:
            return shape
        return cut_sample(pool["samples"][item.kind, item.sample], item.kind < len(DIGITS))

    placed = [(item, find_sample(item)) for item in items]
    return _Read(request, compose_scene(pool["grounds"][ground].astype(np.float32), placed))


def _read_drawing(text: str) -> Sample:
    """Return the shape that a visitor drew. Raise InputError where there is none."""
    try:
        bits = np.unpackbits(np.frombuffer(unpack_pixels(text), np.uint8))[: STROKES**2]
        return cut_sample(bits.reshape(STROKES, STROKES) * np.uint8(255), True)
    except ValueError:
        raise InputError(
            "drawing",
            en=f"The drawing is empty or cannot be read; it has {STROKES} × {STROKES} pixels.",
            zh=f"图画是空的或无法读取；应有 {STROKES} × {STROKES} 像素。",
        ) from None


def _read_picture(text: str) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Return the grey square of a picture file, (SIDE, SIDE), and how it was changed."""
    try:
        data = unpack_pixels(text)
    except ValueError:
        raise InputError(
            "picture",
            en="The link carries no picture that can be read; a PNG, JPEG or WebP file is read.",
            zh="链接中没有可读取的图片；可读 PNG、JPEG 或 WebP 文件。",
        ) from None
    given = read_picture_file(data, SIDE, 3)
    levels = np.rint(given.levels.astype(np.float32) @ GREY).astype(np.uint8)
    return levels, () if given.notice is None else (
        given.notice["en"],
        given.notice["zh"],
    )


def _build_gains(requests: Sequence[Request], model: Detector) -> Gains:
    """Return the factors on all heads. A request in which queries do not agree silences every head
    among them."""
    parts = [build_head_gains(requests, part, model) for part in PARTS]
    alone = [row for row, entry in enumerate(requests) if not entry.agree]
    if alone:
        config = model.config
        among = torch.ones(config.n_layers, len(requests), config.n_heads)
        among = (among if parts[1] is None else parts[1]).clone()
        among[:, alone] = 0
        parts[1] = among.to(model.place.device)
    return Gains(*parts)


@torch.no_grad()
def _watch_run(read: Sequence[_Read]) -> list[Explanation]:
    model = load().model
    trace = Trace(*TAPS, budget=(8 << 20) * len(read))
    requests = [entry.request for entry in read]
    pictures = torch.from_numpy(np.stack([entry.scene.picture for entry in read])).float()
    detections = model(
        pictures.to(model.place.device), _build_gains(requests, model), requests[0].queries, trace
    )
    detections = Detections(*(part.float().cpu() for part in detections))
    maps = [trace.stack(tap) for tap in TAPS]
    return [
        _fold_explanation(
            entry,
            Detections(*(part[:, row] for part in detections)),
            [each[:, row] for each in maps],
        )
        for row, entry in enumerate(read)
    ]


def _fold_explanation(
    entry: _Read, detections: Detections, maps: Sequence[NDArray[np.float32]]
) -> Explanation:
    depth = entry.request.depth
    kept = Detections(*(part[:depth, None] for part in detections))
    kinds = torch.from_numpy(entry.scene.kinds)[None]
    boxes = torch.from_numpy(entry.scene.boxes)[None]
    cost = measure_cost(kept, kinds, boxes)[:, 0]
    # Beyond the number of queries, further objects have none.
    most = detections.boxes.shape[1]
    pairs = match_queries(kept, kinds[:, :most], boxes[:, :most])[:, 0]
    return Explanation(
        picture=freeze(entry.scene.picture, np.uint8),
        kinds=freeze(entry.scene.kinds, np.int64),
        boxes=freeze(entry.scene.boxes),
        chances=freeze(kept.logits[:, 0].softmax(-1)),
        found=freeze(kept.boxes[:, 0]),
        encoder=freeze(maps[0], np.float16),
        among=freeze(maps[1][:depth]),
        cross=freeze(maps[2][:depth]),
        cost=freeze(cost),
        pairs=freeze(pairs, np.int64),
        notice=entry.notice,
    )


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Explain each request, in order.

    An InputError takes the place of a request that cannot be read.
    """
    return answer_together(
        read_each(requests, _read), lambda entry: entry.request.group(), _watch_run
    )
