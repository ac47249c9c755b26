"""How networks of this lab begin, whatever their attention."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

BRANCH = 0.3  # size of what leads out of a sublayer at the start of training, against Xavier's
EMBEDDING = 0.5  # spread of embeddings


def quiet_start(letter: nn.Embedding, projections: Iterable[Tensor], branches: Iterable[nn.Linear]) -> None:
    """Xavier's sizes, with quiet branches: the residual stream begins as the embedding, and each sublayer earns its voice."""
    nn.init.normal_(letter.weight, std=EMBEDDING)
    for matrix in projections:
        nn.init.xavier_uniform_(matrix)
    for linear in branches:
        nn.init.xavier_uniform_(linear.weight, BRANCH)
        nn.init.zeros_(linear.bias)
