"""Where models run."""

from __future__ import annotations

import torch


def device(name: str | None = None) -> torch.device:
    """The device called `name` ("cpu", "cuda", "cuda:1"), or, unnamed, the first GPU where there is one and the CPU elsewhere."""
    if name is not None:
        return torch.device(name)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
