"""The Transformer without its residual paths, and with learned positions: small networks that are trained alike.

with             x ← LN(x + Drop f(x))
without          x ← LN(Drop f(x)) at all five kinds of sublayer
timing           the same, and x ← x + PE before every layer of encoder and decoder
without_encoder  only the decoder keeps its paths
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.encoder import Config
from models.encoder_decoder import Paths, Transformer
from models.multi30k import PAD, padded
from models.trace import Trace

RIDGE = 1.0  # penalty of the squared weights that read a position, vectors of unit variance

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AblatedConfig(Config):
    """What the network is."""

    residual: str = "with"
    positions: str = "sinusoids"  # or "learned"


def paths_of(config: AblatedConfig) -> Paths:
    """Which residual paths the network has."""
    layers = config.n_layers
    encoder, decoder = ((0.0, 0.0),) * layers, ((0.0, 0.0, 0.0),) * layers
    return {
        "with": Paths(),
        "without": Paths(encoder, decoder),
        "timing": Paths(encoder, decoder, timing=True),
        "without_encoder": Paths(encoder),
    }[config.residual]


class Ablated(Transformer):
    """Sublayers with a path beside them begin small, as in the translation model; those without at their full size."""

    def __init__(self, config: AblatedConfig) -> None:
        super().__init__(config)
        self.paths = paths_of(config)
        if config.positions == "learned":
            learned = torch.randn_like(self.positions) * self.positions.square().mean().sqrt()  # as large as the sinusoids
            del self.positions
            self.positions = nn.Parameter(learned)

    def branch(self, side: str) -> float:
        """As in the translation model where the side has its paths; else 1: what is small the norm behind makes large again."""
        assert isinstance(self.config, AblatedConfig)
        return 1.0 if getattr(paths_of(self.config), side) else super().branch(side)


@torch.no_grad()
def encoded(model: Transformer, sentences: list[list[int]], size: int = 64) -> tuple[list[list[Tensor]], list[list[Tensor]]]:
    """Of every layer of the encoder and every sentence, tokens each: weights (head, source, source) and output (source, d_model)."""
    layers = range(model.config.n_layers)
    weights: list[list[Tensor]] = [[] for _ in layers]
    outputs: list[list[Tensor]] = [[] for _ in layers]
    for begin in range(0, len(sentences), size):
        chosen = sentences[begin : begin + size]
        tokens = padded(chosen).to(model.embedding.weight.device)
        trace = Trace("encoder/*/self/weights", "encoder/*/output", budget=1 << 30)
        model.encode(tokens, tokens != PAD, trace=trace)
        maps, vectors = (torch.from_numpy(trace.stack(f"encoder/*/{name}")) for name in ("self/weights", "output"))
        for layer in layers:
            weights[layer] += [maps[layer, row, :, : len(one), : len(one)] for row, one in enumerate(chosen)]
            outputs[layer] += [vectors[layer, row, : len(one)] for row, one in enumerate(chosen)]
    return weights, outputs


def diagonality(maps: list[Tensor]) -> float:
    """Mean over positions i, heads and sentences of Σ_{|i − j| ≤ 1} A_ij, less what even rows give. maps: (head, n, n) each."""
    found, even, count = 0.0, 0.0, 0
    for one in maps:
        near = torch.ones(one.shape[-2:]).tril(1).triu(-1)
        found += float((one.mean(0) * near).sum())
        even += float(near.mean(1).sum())
        count += len(near)
    return (found - even) / count


def position_r2(fitted: list[Tensor], tested: list[Tensor]) -> float:
    """How well a position is read from a vector by ridge regression, R² on sentences that it was not fitted on. (source, d_model) each."""
    x, y = _pairs(fitted)
    mean, scale, middle = x.mean(0), x.std(0) + 1e-9, y.mean()
    z = (x - mean) / scale
    weights = np.linalg.solve(z.T @ z + RIDGE * np.eye(z.shape[1]), z.T @ (y - middle))
    x, y = _pairs(tested)
    left = y - middle - (x - mean) / scale @ weights
    return float(1 - (left**2).sum() / ((y - y.mean()) ** 2).sum())


def _pairs(vectors: list[Tensor]) -> tuple[Array, Array]:
    return torch.cat(vectors).double().numpy(), np.concatenate([np.arange(len(one), dtype=np.float64) for one in vectors])
