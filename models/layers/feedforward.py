"""The feed-forward sublayer."""

from __future__ import annotations

from torch import Tensor, nn


class FeedForward(nn.Module):
    """The feed-forward network FFN(x) = W2 · relu(W1 x + b1) + b2, the same at every position
    (Vaswani et al., 2017, eq. 2)."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the network: (..., d_model) -> (..., d_model)."""
        return self.outer(self.inner(x).relu_())  # type: ignore[no-any-return]
