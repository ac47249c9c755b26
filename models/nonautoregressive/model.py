"""The translation lab's network without a causal mask: every position of the translation sees every other (Ghazvininejad et al., 2019).

p(Y | X, Y_seen) = p(N | X) Π_{i masked} p(y_i | X, N, Y_seen): the length first, from the mean of the encoder's states, then every masked
piece on its own. With everything masked it is p(N | X) Π_i p(y_i | X, N): one pass writes the whole translation.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.encoder import Config
from models.encoder_decoder import Changes, Transformer
from models.layers.loss import smoothed_loss
from models.multi30k import PAD, START, Batch
from models.trace import OFF, Trace

MASK = START  # nothing is read before the first piece here, so its token stands for "masked"; no translation contains it
SHORTER, LONGER = 16, 15  # a translation has S − 16 … S + 15 pieces, S those of the source
LENGTH_WEIGHT = 0.1  # of −log p(N | X) beside the pieces' mean


class AllAtOnce(Transformer):
    """The Transformer, with a readout of the translation's length."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.length = nn.Linear(config.d_model, SHORTER + 1 + LONGER)

    def lengths(self, memory: Tensor, allowed: Tensor) -> Tensor:
        """memory: (batch, source, d_model) of the encoder; allowed: (batch, source). Logits of N − S = −SHORTER … LONGER: (batch, 32)."""
        shares = allowed / allowed.sum(1, keepdim=True)
        return self.length((shares[:, :, None] * memory).sum(1))  # type: ignore[no-any-return]

    def fill(self, seen: Tensor, memory: Tensor | Sequence[tuple[Tensor, Tensor]], allowed: Tensor, trace: Trace = OFF) -> Tensor:
        """What `decode` makes of the source and what is seen of the translation.

        seen: (batch, target) tokens, MASK where a piece is to be found, PAD behind the end.

        (batch, target, d_model); taps of `decode`.
        """
        return self.decode(seen, memory, allowed, trace=trace, changes=Changes(reads=seen != PAD))


def some(real: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Which pieces are masked: n of each sentence, n uniform in 1 … N. real: (batch, target) bool, False behind the end."""
    uniform = torch.rand((len(real), 1 + real.shape[1]), generator=generator).to(real.device)
    count = 1 + (uniform[:, :1] * real.sum(1, keepdim=True)).floor()
    order = uniform[:, 1:].masked_fill(~real, 2.0).argsort(1).argsort(1)
    return (order < count) & real


class Objective(nn.Module):
    """What training minimises: the smoothed cross-entropy of the masked pieces alone, no stop token among them, and of the length."""

    def __init__(self, model: AllAtOnce, smoothing: float, one_pass: bool = False) -> None:
        """one_pass: everything is always masked."""
        super().__init__()
        self.model, self.smoothing, self.one_pass = model, smoothing, one_pass

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sum of losses in nats, number of masked pieces: of a batch always the same ones where nothing is learned."""
        allowed, wanted = batch.source != PAD, batch.target[:, 1:]
        real = wanted != PAD
        masked = real if self.one_pass else some(real, None if self.training else torch.Generator().manual_seed(0))
        memory = self.model.encode(batch.source, allowed)
        offset = (real.sum(1) - allowed.sum(1)).clamp(-SHORTER, LONGER)
        length = F.cross_entropy(self.model.lengths(memory, allowed).float(), offset + SHORTER)
        hidden = self.model.fill(wanted.masked_fill(masked, MASK), memory, allowed)[masked]
        loss = smoothed_loss(hidden, self.model.embedding.weight, wanted[masked], self.smoothing, never=(PAD, MASK))
        return loss + LENGTH_WEIGHT * masked.sum() * length, masked.sum()
