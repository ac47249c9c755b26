"""The functions that a page calls: requests in, arrays and strings out, nothing of torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from models.explaining.errors import InputError, refuse_head
from models.explaining.request_fields import check_request
from models.explaining.trace import Trace
from models.new_lab.model import NONE
from models.new_lab.pretrained import load
from models.new_lab.recipe import accuracy, draw_digits, right
from models.new_lab.records import (
    HEADS,
    LAYERS,
    LONGEST,
    Explanation,
    Measured,
    Request,
    read_digits,
)

SAMPLE = 200  # held-out inputs on which a change is measured


def explain(requests: Sequence[Request]) -> list[Explanation | InputError]:
    """Run the network and record its attention; requests share one pass, and one that cannot be
    read spoils no other."""
    found: list[Explanation | InputError | None] = []
    readable: list[tuple[Request, tuple[int, ...]]] = []
    for request in requests:
        try:
            _check(request)
            readable.append((request, read_digits(request.text)))
            found.append(None)
        except InputError as error:
            found.append(error)
    answers = iter(_explain_readable(readable))
    return [next(answers) if one is None else one for one in found]


def measure(requests: Sequence[Request]) -> list[Measured | InputError]:
    """Measure the share of right digits on held-out inputs, changed as each request says."""
    rows = draw_digits(np.random.default_rng(2), SAMPLE, "test")
    model = load().model
    found: list[Measured | InputError] = []
    for request in requests:
        try:
            _check(request)
            found.append(Measured(accuracy(right(model, rows, *_changes([request])), rows), SAMPLE))
        except InputError as error:
            found.append(error)
    return found


def _check(request: Request) -> None:
    """Raise InputError for a value outside its range, and for a head that the network does not
    have."""
    check_request(request)
    for _, layer, head in request.silenced:
        if layer >= LAYERS or head >= HEADS:
            raise refuse_head(layer, head, layers=LAYERS, heads=HEADS)


def _changes(requests: Sequence[Request]) -> tuple[list[Tensor], Tensor]:
    """Return for each layer (batch, head), 0 where a request silences a head; and (batch,) how many
    layers each uses."""
    device = load().model.readout.weight.device
    gains = torch.ones(LAYERS, len(requests), HEADS)
    for row, request in enumerate(requests):
        for _, layer, head in request.silenced:
            gains[layer, row, head] = 0
    return list(gains.to(device)), torch.tensor(
        [request.layers or LAYERS for request in requests], device=device
    )


@torch.no_grad()
def _explain_readable(read: Sequence[tuple[Request, tuple[int, ...]]]) -> list[Explanation]:
    if not read:
        return []
    model = load().model
    digits = torch.full((len(read), LONGEST), NONE)
    for row, (_, given) in enumerate(read):
        digits[row, : len(given)] = torch.tensor(given)
    trace = Trace("layer/*/weights")
    gains, used = _changes([request for request, _ in read])
    logits = model(digits.to(used.device), gains, used, trace)
    probability, answer = (one.cpu().numpy() for one in logits.softmax(-1).max(-1))
    weights = trace.stack("layer/*/weights")  # (layer, batch, head, query, key)
    explained = []
    for row, (_, given) in enumerate(read):
        n = len(given)
        explained.append(
            Explanation(
                digits=tuple(map(str, given)),
                answer="".join(map(str, answer[row, :n])),
                expected="".join(map(str, reversed(given))),
                probability=probability[row, :n].astype(np.float32),
                attention=np.ascontiguousarray(
                    weights[:, row, :, :n, :n]
                    * (np.arange(LAYERS) < used[row].item())[:, None, None, None]
                ),
            )
        )
    return explained
