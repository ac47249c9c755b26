"""The translation lab's network without a causal mask: every position of the translation sees every
other (Ghazvininejad et al., 2019).

p(Y | X, Y_seen) = p(N | X) Π_{i masked} p(y_i | X, N, Y_seen): the length first, from the mean of
the encoder's states, then every masked piece independently. If everything is masked, it is p(N | X)
Π_i p(y_i | X, N): one pass writes the whole translation.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.data.multi30k import PAD, START, SentenceBatch
from models.explaining.trace import OFF, Trace
from models.layers.loss import smoothed_cross_entropy
from models.networks.encoder import Config
from models.networks.encoder_decoder import Changes, Transformer

# No start token is read here, so its number stands for a masked piece; no translation contains it.
MASK = START
SHORTER, LONGER = 16, 15  # a translation has S − 16 … S + 15 pieces for S source pieces
LENGTH_WEIGHT = 0.1  # weight of −log p(N | X) relative to the mean over pieces


class AllAtOnce(Transformer):
    """The Transformer with a readout of the translation's length."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.length = nn.Linear(config.d_model, SHORTER + 1 + LONGER)

    def lengths(self, memory: Tensor, allowed: Tensor) -> Tensor:
        """Return the logits of N − S = −SHORTER … LONGER, (batch, 32).

        memory: the encoder's output, (batch, source, d_model). allowed: (batch, source).
        """
        shares = allowed / allowed.sum(1, keepdim=True)
        return self.length((shares[:, :, None] * memory).sum(1))  # type: ignore[no-any-return]

    def fill(
        self,
        seen: Tensor,
        memory: Tensor | Sequence[tuple[Tensor, Tensor]],
        allowed: Tensor,
        trace: Trace = OFF,
    ) -> Tensor:
        """Decode the translation from the source and the visible pieces; return (batch, target,
        d_model).

        seen: tokens, MASK where a piece is missing, PAD after the end, (batch, target). The taps
        are those of `decode`.
        """
        return self.decode(seen, memory, allowed, trace=trace, changes=Changes(reads=seen != PAD))


def some(real: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw the masked pieces: n of each sentence, n uniform in 1 … N.

    real: False after the end, (batch, target).
    """
    uniform = torch.rand((len(real), 1 + real.shape[1]), generator=generator).to(real.device)
    count = 1 + (uniform[:, :1] * real.sum(1, keepdim=True)).floor()
    order = uniform[:, 1:].masked_fill(~real, 2.0).argsort(1).argsort(1)
    return (order < count) & real


class Objective(nn.Module):
    """The training objective: the smoothed cross-entropy of masked pieces, without a stop token,
    and of the length."""

    def __init__(self, model: AllAtOnce, smoothing: float, one_pass: bool = False) -> None:
        """Store the model and the smoothing.

        one_pass: mask everything always.
        """
        super().__init__()
        self.model, self.smoothing, self.one_pass = model, smoothing, one_pass

    def forward(self, batch: SentenceBatch) -> tuple[Tensor, Tensor]:
        """Return the sum of losses in nats and the number of masked pieces; outside training, a
        batch is always masked in the same way."""
        allowed, wanted = batch.source != PAD, batch.target[:, 1:]
        real = wanted != PAD
        masked = (
            real
            if self.one_pass
            else some(real, None if self.training else torch.Generator().manual_seed(0))
        )
        memory = self.model.encode(batch.source, allowed)
        offset = (real.sum(1) - allowed.sum(1)).clamp(-SHORTER, LONGER)
        length = F.cross_entropy(self.model.lengths(memory, allowed).float(), offset + SHORTER)
        hidden = self.model.fill(wanted.masked_fill(masked, MASK), memory, allowed)[masked]
        loss = smoothed_cross_entropy(
            hidden, self.model.embedding.weight, wanted[masked], self.smoothing, never=(PAD, MASK)
        )
        return loss + LENGTH_WEIGHT * masked.sum() * length, masked.sum()
