"""The time and memory of one layer of every attention of the family, as sequences grow.

KIND_LENGTH_ms, KIND_LENGTH_mb: those of one layer's attention without projections: 4 heads of 64
numbers, float32, no gradients, one sequence, one thread; causal where the lab's own is.

Time is the processor's, the fastest of three runs after one that warms up. Memory is the profiler's
peak of bytes allocated by a run, result included, each kind of attention in a process of its own. A
length is left out where the one before says that a run would take more than SECONDS or MEMORY. The
page of the cost laboratory draws the figures that --save keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measure import Report, fresh, peak_bytes, threads
from benchmarks.sizes import size
from models.cost.clock import seconds
from models.cost.model import additive
from models.layers import lsh, relative
from models.layers.attention import attention_weights
from models.layers.local import blocks_1d, local_attention
from models.layers.patterns import Factor
from models.layers.span import span_attention
from models.layers.sparse import gathered_attention

HEADS, D_HEAD = 4, 64
LENGTHS = size((256, 512, 1024, 2048, 4096, 8192, 16384), (256,))
SECONDS, MEMORY = 12.0, 2e9
SPANS = (16.0, 64.0, 128.0, 512.0)  # of the heads of adaptive span, positions
ROUNDS, CHUNK = 4, 64  # of hashing
BLOCK = 128  # queries of a local block, and positions of its memory
Attention = Callable[[Tensor, Tensor, Tensor], object]


def _table(length: int, rows: int) -> Tensor:
    return torch.randn(rows, length, D_HEAD)


def _lsh(length: int) -> Attention:
    rotation = lsh.draw_rotations(HEADS, D_HEAD, ROUNDS, max(2, 2 * length // CHUNK // 2))
    return lambda q, k, v: lsh.lsh_attention(q, v, lsh.hash_vectors(q, rotation), CHUNK)


def _span(length: int) -> Attention:
    table, z = _table(512, 1), torch.tensor(SPANS)[None, :, None]
    return lambda q, k, v: span_attention(q, k, v, table, z, 512, 32)


def _relative(length: int, way: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> Attention:
    table = _table(length, HEADS)
    return lambda q, k, v: way(q, k, v, table)


def _factor(name: str, length: int) -> Attention:
    stride = 2 ** round((length.bit_length() - 1) / 2)
    return lambda q, k, v: gathered_attention(q, k, v, Factor(name, stride, min(8, stride)))


def _additive(length: int) -> Attention:
    return lambda q, k, v: torch.stack(
        [additive(q[0, h], k[0, h], h).softmax(-1) @ v[0, h] for h in range(HEADS)]
    )


def _local(length: int) -> Attention:
    blocks = blocks_1d(length, BLOCK, BLOCK)
    return lambda q, k, v: local_attention(q, k, v, blocks)


KINDS: dict[str, Callable[[int], Attention]] = {
    "additive": _additive,
    "direct": lambda length: _relative(length, relative.attend_by_definition),
    "explicit": lambda length: lambda q, k, v: attention_weights(q, k) @ v,
    "fused": lambda length: F.scaled_dot_product_attention,
    "relative": lambda length: _relative(length, relative.relative_attention),
    "local": _local,
    "span": _span,
    "strided": lambda length: _factor("strided", length),
    "fixed": lambda length: _factor("fixed", length),
    "lsh": _lsh,
}


@torch.no_grad()
def measure_kind(kind: str, device: str = "cpu", longest: int = LENGTHS[-1]) -> dict[str, float]:
    """Measure the figures of one kind of attention, up to `longest` positions. Call it in a fresh
    process."""
    where = torch.device(device)
    found: dict[str, float] = {}
    last: list[tuple[float, float]] = []
    for length in (n for n in LENGTHS if n <= longest):
        if len(last) > 1:  # it grows at least as fast as in the last step
            growth = [
                max(1.0, now / before) for now, before in zip(last[-1], last[-2], strict=True)
            ]
            if last[-1][0] * growth[0] > SECONDS or last[-1][1] * growth[1] > MEMORY:
                break
        torch.manual_seed(1)
        call = partial(
            KINDS[kind](length), *torch.randn(3, 1, HEADS, length, D_HEAD).to(where).unbind()
        )
        with threads(1):
            peak = peak_bytes(call, where)
            last.append((min(seconds(call, where) for _ in range(3)), peak))
        found |= {f"{kind}_{length}_ms": last[-1][0] * 1e3, f"{kind}_{length}_mb": peak / 1e6}
    return found


def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    figures: dict[str, float] = {}
    for kind in KINDS:
        figures |= fresh(measure_kind, kind, str(device))
    return Report(figures, notes={"heads": f"{HEADS} of {D_HEAD} numbers, float32"})
