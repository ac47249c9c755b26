"""Explanations for the page of costs: a run of the clock, point by point, or the softmax and the
heads at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from models.cost import clock, model
from models.cost.records import Explanation, Point, Request, check
from models.explaining.batching import read_each
from models.explaining.errors import InputError


def explain(
    requests: Sequence[Request],
) -> list[Explanation | InputError] | Iterator[list[list[Point] | Explanation | InputError]]:
    """Explain each request, in order, with an InputError for an invalid one.

    For the clock, return a generator of a single request.
    """
    if len(requests) == 1 and requests[0].live:
        return _time_layers(requests[0])
    return read_each(requests, _explain_one)


def _time_layers(request: Request) -> Iterator[list[list[Point] | Explanation | InputError]]:
    try:
        check(request)
    except InputError as error:
        yield [error]
        return
    yield from clock.run(request)  # passes on Stopped if it is thrown into the generator


@torch.no_grad()
def _explain_one(request: Request) -> Explanation:
    check(request)
    return (
        Explanation(scale=model.scale(request))
        if request.task == "scale"
        else Explanation(heads=model.heads(request))
    )
