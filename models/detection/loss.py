"""The loss of a set of boxes: match queries to objects, then compare each pair (Carion et al.,
2020, §3.1)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from models.data.windows import NONE
from models.detection.matching import match_rows
from models.detection.model import Detections

L1, GIOU = 5.0, 2.0  # weights of the two distances between boxes, beside a class's weight of 1


class Losses(NamedTuple):
    """The three parts of the loss, summed over the layers of the decoder and weighted."""

    classes: Tensor
    distance: Tensor
    overlap: Tensor


def find_corners(boxes: Tensor) -> Tensor:
    """Return left, top, right and bottom of boxes given by center and size, (…, 4) each."""
    center, size = boxes.chunk(2, -1)
    return torch.cat((center - size / 2, center + size / 2), -1)


def compare_boxes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the IoU and the generalised IoU of boxes, (…, 4) by center and size -> (…) each.

    IoU = |a ∩ b| / |a ∪ b|; GIoU = IoU − |hull \\ (a ∪ b)| / |hull| with the smallest box around
    both as the hull (Rezatofighi et al., 2019).
    """
    (a1, a2), (b1, b2) = (find_corners(box).chunk(2, -1) for box in (a, b))
    shared = (torch.minimum(a2, b2) - torch.maximum(a1, b1)).clamp(min=0).prod(-1)
    union = (a2 - a1).prod(-1) + (b2 - b1).prod(-1) - shared
    hull = (torch.maximum(a2, b2) - torch.minimum(a1, b1)).prod(-1)
    overlap = shared / union
    return overlap, overlap - (hull - union) / hull


@torch.no_grad()
def measure_cost(answers: Detections, kinds: Tensor, boxes: Tensor) -> Tensor:
    """Return the three terms of the matching cost, −p(class), 5 · L1 and −2 · GIoU, (layer, batch,
    object, query, term).

    kinds: (batch, object), NONE where a scene has fewer. boxes: (batch, object, 4).
    """
    chances = answers.logits.float().softmax(-1)  # (layer, batch, query, class)
    picked = kinds.clamp(min=0)[None, :, None].expand(*chances.shape[:3], -1)
    terms = chances.gather(-1, picked).transpose(2, 3)
    ours, there = answers.boxes.float()[:, :, None], boxes[None, :, :, None]
    distance = (ours - there).abs().sum(-1)
    return torch.stack((-terms, L1 * distance, -GIOU * compare_boxes(ours, there)[1]), -1)


def match_queries(answers: Detections, kinds: Tensor, boxes: Tensor) -> Tensor:
    """Return the query of each object by the assignment of least cost, (layer, batch, object); NONE
    where there is no object. Arguments as in `measure_cost`."""
    cost = measure_cost(answers, kinds, boxes).sum(-1).tolist()
    counts, most = (kinds != NONE).sum(1).tolist(), kinds.shape[1]
    return torch.tensor(
        [
            [
                match_rows(rows[:count]) + [NONE] * (most - count)
                for rows, count in zip(layer, counts, strict=True)
            ]
            for layer in cost
        ]
    ).to(kinds.device)


def measure_losses(answers: Detections, kinds: Tensor, boxes: Tensor, none: float) -> Losses:
    """Return the parts of the loss, each summed over the layers.

    Cross-entropy is a weighted mean in which ∅ has the weight `none`; the two distances are means
    over all objects of the batch. Arguments as in `measure_cost`.
    """
    pairs, last = match_queries(answers, kinds, boxes), answers.logits.shape[-1] - 1
    targets = torch.full(answers.logits.shape[:3], last, device=kinds.device)
    layer, scene, thing = (pairs != NONE).nonzero(as_tuple=True)
    query = pairs[layer, scene, thing]
    targets[layer, scene, query] = kinds[scene, thing]
    weights = torch.ones(last + 1, device=kinds.device)
    weights[last] = none
    classes = torch.stack(
        [
            F.cross_entropy(logits.float().flatten(0, 1), right.flatten(), weights)
            for logits, right in zip(answers.logits, targets, strict=True)
        ]
    ).sum()
    ours, there = answers.boxes.float()[layer, scene, query], boxes[scene, thing]
    count = (kinds != NONE).sum().clamp(min=1)
    overlap = (1 - compare_boxes(ours, there)[1]).sum() / count
    return Losses(classes, L1 * (ours - there).abs().sum() / count, GIOU * overlap)
