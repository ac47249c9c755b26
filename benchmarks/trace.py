"""The cost of taps on every activation: none while no tap is in use.

off_overhead_ratio: an encoder forward with `trace=OFF` over the same network with its taps cut out
    (same parameters), both on the plain path.
watched_vs_off_ratio: the same forward with all attention weights tapped, over the plain one.
watched_vs_fused_ratio: the same over one fused call for all layers (`models.layers.fused`), which
    runs only while no tap is in use.
Times are the processor's, the fastest of CALLS calls in turn, so that a busy machine counts for
little.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import ROUNDS, Bound, Report, median, ratio, threads
from benchmarks.sizes import size
from models.cost.clock import seconds
from models.explaining.trace import Trace
from models.layers import fused
from models.layers.attention import MultiHeadAttention
from models.layers.masks import broadcast_key_mask
from models.networks.encoder import Config, EncoderLayer
from models.networks.encoder_decoder import Transformer

CALLS = size(500, 1)  # in a round
SENTENCE = 24  # source pieces of one caption


def attend_untraced(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    gain: Tensor | None = None,
    causal: bool = False,
) -> Tensor:
    """Attend as `models.layers.attention.attend` with its taps cut out."""
    if causal and mask is not None:
        raise ValueError("a causal pass takes no mask beside the kernel's own flag")
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal)
    return output if gain is None else output * gain[..., None, None]


class UntracedAttention(MultiHeadAttention):
    """Multi-head attention without taps."""

    def plain(
        self,
        x: Tensor,
        source: Tensor | None = None,
        mask: Tensor | None = None,
        gain: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """Run as `MultiHeadAttention.forward`."""
        query, key, value = (
            self.project_self(x)
            if source is None
            else (self.project_query(x), *self.project_key_value(source))
        )
        return self.join_heads(attend_untraced(query, key, value, mask, gain, causal))

    forward = plain  # type: ignore[assignment]


class UntracedLayer(EncoderLayer):
    """An encoder layer around the untraced attention."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.self_attention = UntracedAttention(config.d_model, config.n_heads)

    def plain(self, x: Tensor, mask: Tensor | None, gain: Tensor | None = None) -> Tensor:
        """Run as `EncoderLayer.forward`."""
        x = self.norms[0](x + self.dropout(self.self_attention(x, mask=mask, gain=gain)))
        return self.norms[1](x + self.dropout(self.feed_forward(x)))  # type: ignore[no-any-return]

    forward = plain  # type: ignore[assignment]


class UntracedEncoder(Transformer):
    """The encoder of the translation lab without a single tap."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.encoder = torch.nn.ModuleList(UntracedLayer(config) for _ in range(config.n_layers))

    def encode_plainly(self, source: Tensor, allowed: Tensor) -> Tensor:
        """Encode as `Transformer.encode`."""
        mask, x = broadcast_key_mask(allowed), self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask)
        return x


def fastest(sides: dict[str, Callable[[], object]], device: torch.device) -> dict[str, list[float]]:
    """Return the processor's seconds of the fastest of CALLS calls of each side, taken in turn, for
    each of ROUNDS rounds."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        runs = [{name: seconds(side, device) for name, side in sides.items()} for _ in range(CALLS)]
        for name, times in found.items():
            times.append(min(run[name] for run in runs))
    return found


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    config = Config()
    watched = Transformer(config).to(device).eval()
    plain = UntracedEncoder(config).to(device).eval()
    plain.load_state_dict(watched.state_dict(), assign=True)  # the very same memory
    source = torch.randint(config.vocabulary, (1, SENTENCE), device=device)
    allowed = torch.ones_like(source, dtype=torch.bool)
    wanted = plain.encode_plainly(source, allowed)
    with fused.without_fusion():
        if not torch.equal(watched.encode(source, allowed), wanted):
            raise AssertionError("the two encoders must give the same numbers")
    # fused, in another order of sums
    torch.testing.assert_close(watched.encode(source, allowed), wanted, atol=1e-5, rtol=1e-5)

    def off() -> None:
        with fused.without_fusion():
            watched.encode(source, allowed)

    def without_taps() -> None:
        with fused.without_fusion():  # this costs a little itself, on both sides
            plain.encode_plainly(source, allowed)

    sides: dict[str, Callable[[], object]] = {
        "off": off,
        "without_taps": without_taps,
        "watched": lambda: watched.encode(source, allowed, Trace("encoder/*/self/weights")),
        "fused": lambda: watched.encode(source, allowed),
    }
    # the cost of a tap is Python's, and a caption gives a second thread nothing to do
    with threads(1):
        encoder = fastest(sides, device)
    figures = {f"encoder_{name}_ms": median(times) * 1e3 for name, times in encoder.items()}
    figures |= {
        "off_overhead_ratio": ratio(encoder, "off", "without_taps"),
        "watched_vs_off_ratio": ratio(encoder, "watched", "off"),
        "watched_vs_fused_ratio": ratio(encoder, "watched", "fused"),
    }
    return Report(figures, {"off_overhead_ratio": Bound(1.01)})
