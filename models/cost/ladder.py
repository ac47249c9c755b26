"""python -m models ladder cost: what every attention of the family takes, in time and memory, as sequences grow.

One layer's attention without projections: 4 heads of 64 numbers, float32, no gradients, one sequence, one thread; causal where the
lab's own is. Time is the processor's, the fastest of three runs after one that warms up; memory the profiler's peak of bytes allocated by a
run, result included, each kind of attention in a process of its own. A length is left out where the one before says that a run would take
more than SECONDS or MEMORY.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models.checkpoint import ASSETS
from models.cost.clock import seconds
from models.cost.model import additive
from models.cost.records import SIDE
from models.layers import lsh, relative
from models.layers.attention import attention_weights
from models.layers.local import blocks_1d, local_attention
from models.layers.patterns import Factor
from models.layers.span import span_attention
from models.layers.sparse import gathered_attention
from models.peak import peak_bytes

HEADS, D_HEAD = 4, 64
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
SECONDS, MEMORY = 12.0, 2e9
SPANS = (16.0, 64.0, 128.0, 512.0)  # of the heads of adaptive span, positions
ROUNDS, CHUNK = 4, 64  # of hashing
TEST, PICTURES = "fashion-mnist/t10k-images-idx3-ubyte.gz", (0, 1, 8, 2, 3)  # a boot, a pullover, a sandal, two pairs of trousers
BLOCK = 128  # queries of a local block, and positions of its memory
Attention = Callable[[Tensor, Tensor, Tensor], object]


def _table(length: int, rows: int) -> Tensor:
    return torch.randn(rows, length, D_HEAD)


def _lsh(length: int) -> Attention:
    rotation = lsh.rotations(HEADS, D_HEAD, ROUNDS, max(2, 2 * length // CHUNK // 2))
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
    return lambda q, k, v: torch.stack([additive(q[0, h], k[0, h], h).softmax(-1) @ v[0, h] for h in range(HEADS)])


def _local(length: int) -> Attention:
    blocks = blocks_1d(length, BLOCK, BLOCK)
    return lambda q, k, v: local_attention(q, k, v, blocks)


KINDS: dict[str, Callable[[int], Attention]] = {
    "additive": _additive,
    "direct": lambda length: _relative(length, relative.direct_attention),
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
def measured(kind: str, device: str = "cpu", threads: int = 1, longest: int = LENGTHS[-1]) -> list[dict[str, float]]:
    """[{length, seconds, bytes}, …] of one kind of attention, up to `longest` positions; call it in a fresh process."""
    torch.set_num_threads(threads)
    where = torch.device(device)
    found: list[dict[str, float]] = []
    for length in (n for n in LENGTHS if n <= longest):
        if len(found) > 1:  # it grows at least as it did last
            growth = {name: max(1.0, found[-1][name] / found[-2][name]) for name in ("seconds", "bytes")}
            if found[-1]["seconds"] * growth["seconds"] > SECONDS or found[-1]["bytes"] * growth["bytes"] > MEMORY:
                break
        torch.manual_seed(1)
        arguments = torch.randn(3, 1, HEADS, length, D_HEAD).to(where).unbind()
        attention = KINDS[kind](length)
        peak = peak_bytes(partial(attention, *arguments), where)
        fastest = min(seconds(partial(attention, *arguments), where) for _ in range(3))
        found.append({"length": length, "seconds": fastest, "bytes": peak})
    return found


def write(data: Path) -> Path:
    """Measure the whole family on the CPU and store it; returns the file. Where `data` holds Fashion-MNIST, the pictures too."""
    if (data / TEST).is_file():
        with gzip.open(data / TEST) as file:
            levels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, SIDE, SIDE)
        np.savez_compressed(ASSETS / "cost" / "pictures.npz", levels=levels[list(PICTURES)])
    made: dict[str, Any] = {"device": "cpu", "threads": 1, "heads": HEADS, "d_head": D_HEAD, "kinds": {}}
    for kind in KINDS:
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            made["kinds"][kind] = fresh.apply(measured, (kind,))
        print(
            kind,
            *(f"{one['length']}: {one['seconds'] * 1e3:.1f} ms, {one['bytes'] / 1e6:.1f} MB;" for one in made["kinds"][kind]),
            flush=True,
        )
    path = ASSETS / "cost" / "family.json"
    path.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    return path
