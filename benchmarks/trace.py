"""What it costs that every activation can be watched: nothing while nobody looks.

off_overhead_ratio: an encoder forward with `trace=OFF` over the same network with its taps cut out (same parameters).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import Bound, Report, interleaved, median, ratio, threads
from models.encoder import Config, EncoderLayer
from models.encoder_decoder import Transformer
from models.layers.attention import MultiHeadAttention
from models.layers.masks import keys_allowed

SENTENCE = 24  # source pieces of one caption


def attend_untraced(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, gain: Tensor | None = None, causal: bool = False
) -> Tensor:
    """`models.layers.attention.attend` with its taps cut out."""
    if causal and mask is not None:
        raise ValueError("a causal pass takes no mask beside the kernel's own flag")
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal)
    return output if gain is None else output * gain[..., None, None]


class UntracedAttention(MultiHeadAttention):
    """Multi-head attention that nobody could watch."""

    def plain(
        self, x: Tensor, source: Tensor | None = None, mask: Tensor | None = None, gain: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """As `MultiHeadAttention.forward`."""
        query, key, value = self.self_projections(x) if source is None else (self.query(x), *self.key_value(source))
        return self.join(attend_untraced(query, key, value, mask, gain, causal))

    forward = plain  # type: ignore[assignment]


class UntracedLayer(EncoderLayer):
    """An encoder layer around it."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.self_attention = UntracedAttention(config.d_model, config.n_heads)

    def plain(self, x: Tensor, mask: Tensor | None, gain: Tensor | None = None) -> Tensor:
        """As `EncoderLayer.forward`."""
        x = self.norms[0](x + self.dropout(self.self_attention(x, mask=mask, gain=gain)))
        return self.norms[1](x + self.dropout(self.feed_forward(x)))  # type: ignore[no-any-return]

    forward = plain  # type: ignore[assignment]


class UntracedEncoder(Transformer):
    """The encoder of the translation lab without a single tap."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.encoder = torch.nn.ModuleList(UntracedLayer(config) for _ in range(config.n_layers))

    def encode_plainly(self, source: Tensor, allowed: Tensor) -> Tensor:
        """As `Transformer.encode`."""
        mask, x = keys_allowed(allowed), self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask)
        return x


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """All figures of this benchmark."""
    torch.manual_seed(1)
    config = Config()
    watched = Transformer(config).to(device).eval()
    plain = UntracedEncoder(config).to(device).eval()
    plain.load_state_dict(watched.state_dict(), assign=True)  # the very same memory
    source = torch.randint(config.vocabulary, (1, SENTENCE), device=device)
    allowed = torch.ones_like(source, dtype=torch.bool)
    if not torch.equal(watched.encode(source, allowed), plain.encode_plainly(source, allowed)):
        raise AssertionError("the two encoders must give the same numbers")
    with threads(1):  # what a tap costs is Python's, and a caption gives a second thread nothing to do
        encoder = interleaved(
            {"off": lambda: watched.encode(source, allowed), "plain": lambda: plain.encode_plainly(source, allowed)}, device, calls=500
        )
    figures = {
        "encoder_off_ms": median(encoder["off"]) * 1e3,
        "encoder_without_taps_ms": median(encoder["plain"]) * 1e3,
        "off_overhead_ratio": ratio(encoder, "off", "plain"),
    }
    return Report(figures, {"off_overhead_ratio": Bound(1.01)})
