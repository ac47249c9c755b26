"""What the two labs of adaptive computation time do alike with requests: side by side, each with its own way to stop."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from models.layers.act import Stop
from models.windows import NONE

Inputs = TypeVar("Inputs", bound=Any)


def joined(parts: Sequence[Inputs]) -> Inputs:
    """Inputs of one task side by side, padded to the longest: with 0, targets with NONE. parts: dataclasses of arrays, (batch, position, …)
    or (batch,)."""
    length = max(part.targets.shape[1] for part in parts)

    def padded(name: str, values: NDArray[Any]) -> NDArray[Any]:
        if values.ndim == 1:
            return values
        width = [(0, 0), (0, length - values.shape[1]), *[(0, 0)] * (values.ndim - 2)]
        return np.pad(values, width, constant_values=NONE if name == "targets" else 0)

    names = [field.name for field in dataclasses.fields(parts[0])]
    return type(parts[0])(**{name: np.concatenate([padded(name, getattr(one, name)) for one in parts]) for name in names})  # type: ignore[no-any-return]


def stop_of(requests: Sequence[Any], limit: int, device: torch.device, *axes: int) -> Stop:
    """When positions stop, a row for each request: tensors (batch, *axes). limit: M where a request names none."""

    def column(values: Sequence[float]) -> torch.Tensor:
        return torch.tensor(values, device=device).view(-1, *axes)

    forced = column([one.forced for one in requests])
    epsilon, bias = (column([float(getattr(one, name)) for one in requests]) for name in ("epsilon", "bias"))
    return Stop(epsilon, column([one.limit or limit for one in requests]), bias, forced if bool(forced.any()) else None)


def shortened(request: Any, most: int) -> list[Any]:
    """The request with 1 … `most` steps at the latest."""
    name = "forced" if request.forced else "limit"
    return [dataclasses.replace(request, **{name: n}) for n in range(1, most + 1)]
