"""What the page asks for: a run of the clock, point by point, or the softmax and the heads at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from models.cost import clock, model
from models.cost.records import Explanation, Point, Request, check
from models.errors import InputError
from models.turns import each


def explain(requests: Sequence[Request]) -> list[Explanation | InputError] | Iterator[list[list[Point] | Explanation | InputError]]:
    """One result per request, in order, an InputError where a request cannot be met; of the clock a generator, one request alone."""
    if len(requests) == 1 and requests[0].live:
        return _timed(requests[0])
    return each(requests, _explained)


def _timed(request: Request) -> Iterator[list[list[Point] | Explanation | InputError]]:
    try:
        check(request)
    except InputError as error:
        yield [error]
        return
    yield from clock.run(request)  # also what is thrown into it: Stopped


@torch.no_grad()
def _explained(request: Request) -> Explanation:
    check(request)
    return Explanation(scale=model.scale(request)) if request.task == "scale" else Explanation(heads=model.heads(request))
