"""Spectral normalisation: every weight matrix is divided by an estimate of its largest singular
value (Miyato et al., 2018), so that a layer changes no distance by more than about one."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

WARM = 15  # power iterations before the first use


class SpectralNorm(nn.Module):
    """A layer whose weight W is used as W / σ, σ = uᵀ W v.

    u and v, estimates of the first singular vectors, are shipped with the weights, so they are
    parameters, which no gradient moves. Each forward pass in training mode improves them by one
    power iteration, u ← Wv / |Wv| and v ← Wᵀu / |Wᵀu|. An average over networks must average W and
    iterate anew, because averaged u and v fit no matrix.
    """

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        matrix = self.matrix().detach()
        self.u, self.v = (
            nn.Parameter(F.normalize(torch.randn(size), dim=0), requires_grad=False)
            for size in matrix.shape
        )
        self.iterate(WARM)

    def matrix(self) -> Tensor:
        """Return the weight as a matrix, (outputs, inputs · kernel)."""
        weight: Tensor = self.layer.weight  # type: ignore[assignment]
        if isinstance(self.layer, nn.ConvTranspose2d):  # stored as (inputs, outputs, …)
            weight = weight.transpose(0, 1)
        return weight.flatten(1)

    @torch.no_grad()
    def iterate(self, times: int = 1) -> None:
        """Take some power iterations."""
        matrix = self.matrix()
        for _ in range(times):
            self.u.copy_(F.normalize(matrix @ self.v, dim=0))
            self.v.copy_(F.normalize(matrix.T @ self.u, dim=0))

    def sigma(self) -> Tensor:
        """Return the estimate of the largest singular value; W has a gradient, u and v have none.

        A copy of u and v, because the next iteration overwrites what backward still needs.
        """
        return self.u.clone() @ self.matrix() @ self.v.clone()

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output for the normalised weight."""
        if self.training:
            self.iterate()
        weight: Tensor = self.layer.weight  # type: ignore[assignment]
        weight = weight / self.sigma()
        return functional_call(self.layer, {"weight": weight}, (x,))  # type: ignore[no-any-return]


def iterate_all(model: nn.Module, times: int) -> None:
    """Take some power iterations in every normalised layer of a network."""
    for module in model.modules():
        if isinstance(module, SpectralNorm):
            module.iterate(times)
