"""Reading and remembering with the learned spans, beside the same network with all of S for every
head, float32.

The spans of the shipped model are stretched to S = 4,096: each z keeps its share of S, the ramp its
32 positions. One text of 8,192 characters is read in one pass without gradients, once with those
spans and once with the full span, by networks of the shipped widths with random weights (time does
not depend on the weights). Both sides run the same blocks over no more than the last S positions.
vs_fixed_ratio: time of the full span over ours, the whole network.
attention_vs_fixed_ratio: the same for attention alone, all layers' spans in turn.
write_vs_fixed_ratio: the same for writing, character by character, after 4,096 were read.
cache_vs_fixed_ratio: bytes of remembered keys and values, ours over the full span's.
share: mean span over S, ramp included.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from benchmarks.measure import Bound, Figure, Report, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.adaptive_span.decode import Reader
from models.adaptive_span.model import Config, LearnedSpan, SpanTransformer, network
from models.adaptive_span.pretrained import load
from models.checkpoints.checkpoint import CheckpointError
from models.layers.span import span_attention

SPAN, LENGTH = size((4096, 8192), (128, 256))
WRITTEN = size(64, 2)  # characters that are written during the measurement


def read_learned_spans() -> tuple[Config, list[list[float]]]:
    """Return the shipped adaptive model's config and, for each layer and head, z / S. Raise
    SystemExit with a sentence where none is shipped."""
    try:
        shipped = load("adaptive")
    except CheckpointError as error:
        raise SystemExit(
            f"There are no learned spans to measure with: no adaptive model is shipped ({error})."
        ) from None
    config = shipped.model.config
    return config, [[z / config.span for z in row] for row in shipped.model.longest()]


def build_networks(
    config: Config, shares: Sequence[Sequence[float]], span: int, device: torch.device
) -> dict[str, SpanTransformer]:
    """Build two networks of one config and with the same weights but for their spans: `ours` with z
    = share · S, `fixed` with all of S."""
    config = dataclasses.replace(config, span=span)
    found = {}
    for name, variant in (("ours", "adaptive"), ("fixed", "fixed")):
        torch.manual_seed(1)
        model = network(variant, config).eval().requires_grad_(False)
        for layer, row in zip(model.spans, shares, strict=True):
            if isinstance(layer, LearnedSpan):
                layer.share.copy_(torch.tensor(row))
        found[name] = model.to(device)
    return found


def measure_spans(
    config: Config,
    shares: Sequence[Sequence[float]],
    device: torch.device,
    span: int = SPAN,
    length: int = LENGTH,
) -> Report:
    """Measure all figures, from made-up or learned spans.

    shares: (layer, head) z / S.
    """
    models = build_networks(config, shares, span, device)
    letters = torch.randint(
        1, len(models["ours"].alphabet), (1, length), generator=torch.Generator().manual_seed(1)
    ).to(device)
    heads, d_head = config.n_heads, config.d_model // config.n_heads
    query, key, value = (torch.randn(1, heads, length, d_head, device=device) for _ in range(3))
    table = torch.randn(1, span, d_head, device=device)

    def attention(model: SpanTransformer) -> Callable[[], object]:
        spans: list[Tensor] = [layer(query) for layer in model.spans]
        return lambda: [
            span_attention(query, key, value, table, z, span, config.ramp) for z in spans
        ]

    def read(model: SpanTransformer) -> Callable[[], object]:
        return lambda: model(letters)

    readers = {name: Reader(model, 1) for name, model in models.items()}

    def write(name: str) -> Callable[[], object]:
        return lambda: [readers[name].read(letters[:, i : i + 1]) for i in range(WRITTEN)]

    with torch.no_grad():
        whole = time_in_turns({name: read(model) for name, model in models.items()}, device)
        alone = time_in_turns({name: attention(model) for name, model in models.items()}, device)
        for reader in readers.values():
            reader.read(letters[:, : min(length, span)])
        writing = time_in_turns({name: write(name) for name in models}, device)
    bytes_of = {name: reader.cache.bytes for name, reader in readers.items()}
    used = [min(span, z + config.ramp) for row in models["ours"].longest() for z in row]
    share = sum(used) / len(used) / span
    figures: dict[str, Figure] = {
        f"{name}_ms": median(seconds) * 1e3 for name, seconds in whole.items()
    }
    figures |= {f"{name}_attention_ms": median(seconds) * 1e3 for name, seconds in alone.items()}
    figures |= {
        f"{name}_characters_per_s": WRITTEN / median(seconds) for name, seconds in writing.items()
    }
    figures |= {f"{name}_cache_mb": count / 1e6 for name, count in bytes_of.items()}
    figures |= {
        "vs_fixed_ratio": (ratio(whole, "fixed", "ours"), Bound(1.5, at_least=True)),
        "attention_vs_fixed_ratio": ratio(alone, "fixed", "ours"),
        "write_vs_fixed_ratio": ratio(writing, "fixed", "ours"),
        "cache_vs_fixed_ratio": (bytes_of["ours"] / bytes_of["fixed"], Bound(share * 1.1)),
        "share": share,
    }
    notes = {
        "spans": (
            f"learned with S = {config.span:,} and stretched to S = {span:,}: each z keeps its"
            f" share of S, the ramp its {config.ramp}"
        )
    }
    return Report.of(figures, notes)


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    return measure_spans(*read_learned_spans(), device)
