"""The Transformer without its residual paths, and with learned positions: small networks that are
trained alike.

with             x ← LN(x + Drop f(x))
without          x ← LN(Drop f(x)) at all five kinds of sublayer
timing           the same, and x ← x + PE before every layer of encoder and decoder
without_encoder  only the decoder keeps its paths
timing_encoder   the same, and x ← x + PE before every layer of the encoder
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.data.multi30k import PAD, pad_rows
from models.explaining.trace import Trace
from models.networks.encoder import Config
from models.networks.encoder_decoder import Paths, Transformer

RIDGE = 1.0  # penalty of the squared weights that read a position, vectors of unit variance

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AblatedConfig(Config):
    """The sizes of a network."""

    residual: str = "with"
    positions: str = "sinusoids"  # or "learned"


def paths_of(config: AblatedConfig) -> Paths:
    """Return the residual paths of a network."""
    layers = config.n_layers
    encoder, decoder = ((0.0, 0.0),) * layers, ((0.0, 0.0, 0.0),) * layers
    return {
        "with": Paths(),
        "without": Paths(encoder, decoder),
        "timing": Paths(encoder, decoder, ("encoder", "decoder")),
        "without_encoder": Paths(encoder),
        "timing_encoder": Paths(encoder, timing=("encoder",)),
    }[config.residual]


class Ablated(Transformer):
    """The Transformer with some residual paths.

    Sublayers with a path start small, as in the translation model; those without start at full
    size.
    """

    def __init__(self, config: AblatedConfig) -> None:
        super().__init__(config)
        self.paths = paths_of(config)
        if config.positions == "learned":
            # as large as the sinusoids
            learned = torch.randn_like(self.positions) * self.positions.square().mean().sqrt()
            del self.positions
            self.positions = nn.Parameter(learned)

    def branch_scale(self, side: str) -> float:
        """Return the factor of a sublayer's initial output: as in the translation model if the side
        has its paths, otherwise 1, because the following norm would enlarge a small output again.
        """
        assert isinstance(self.config, AblatedConfig)
        return 1.0 if getattr(paths_of(self.config), side) else super().branch_scale(side)


@torch.no_grad()
def watch_encoder(
    model: Transformer, sentences: list[list[int]], size: int = 64
) -> tuple[list[list[Tensor]], list[list[Tensor]]]:
    """Return the weights (head, source, source) and the output (source, d_model) of every layer of
    the encoder for every sentence.

    sentences: tokens each.
    """
    layers = range(model.config.n_layers)
    weights: list[list[Tensor]] = [[] for _ in layers]
    outputs: list[list[Tensor]] = [[] for _ in layers]
    for begin in range(0, len(sentences), size):
        chosen = sentences[begin : begin + size]
        tokens = pad_rows(chosen).to(model.embedding.weight.device)
        trace = Trace("encoder/*/self/weights", "encoder/*/output", budget=1 << 30)
        model.encode(tokens, tokens != PAD, trace=trace)
        maps, vectors = (
            torch.from_numpy(trace.stack(f"encoder/*/{name}"))
            for name in ("self/weights", "output")
        )
        for layer in layers:
            weights[layer] += [
                maps[layer, row, :, : len(one), : len(one)] for row, one in enumerate(chosen)
            ]
            outputs[layer] += [vectors[layer, row, : len(one)] for row, one in enumerate(chosen)]
    return weights, outputs


def diagonality(maps: list[Tensor]) -> float:
    """Return the mean over positions i, heads and sentences of Σ_{|i − j| ≤ 1} A_ij, minus its
    value for even rows.

    maps: (head, n, n) each.
    """
    found, even, count = 0.0, 0.0, 0
    for one in maps:
        near = torch.ones(one.shape[-2:]).tril(1).triu(-1)
        found += float((one.mean(0) * near).sum())
        even += float(near.mean(1).sum())
        count += len(near)
    return (found - even) / count


def position_r2(fitted: list[Tensor], tested: list[Tensor]) -> float:
    """Return the R² of positions read from vectors by ridge regression, on sentences outside the
    fit.

    fitted, tested: (source, d_model) each.
    """
    x, y = _pairs(fitted)
    mean, scale, middle = x.mean(0), x.std(0) + 1e-9, y.mean()
    z = (x - mean) / scale
    weights = np.linalg.solve(z.T @ z + RIDGE * np.eye(z.shape[1]), z.T @ (y - middle))
    x, y = _pairs(tested)
    left = y - middle - (x - mean) / scale @ weights
    return float(1 - (left**2).sum() / ((y - y.mean()) ** 2).sum())


def _pairs(vectors: list[Tensor]) -> tuple[Array, Array]:
    return torch.cat(vectors).double().numpy(), np.concatenate(
        [np.arange(len(one), dtype=np.float64) for one in vectors]
    )
