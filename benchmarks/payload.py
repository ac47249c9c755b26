"""The bytes that travel to the browser for one run: our attention value beside bertviz's head view,
12 layers × 12 heads × 256 tokens.

Both are prepared for serving from the same float32 array. Sizes are those of the bytes before
compression, on both sides; the sizes after gzip are printed beside them.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
import zlib
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measure import ROUNDS, Bound, Report
from benchmarks.sizes import size
from explorer.figures.attention import Kind, draw_attention
from explorer.values.packing import ArrayStore, array_store

LAYERS, HEADS, TOKENS = size((12, 12, 256), (2, 2, 16))
EFFORT = 4  # of gzip, as the server's
T = TypeVar("T")


def weights() -> NDArray[np.float32]:
    """Return attention like a trained model's, (layer, head, query, key): heads that look nearby,
    heads that look at few keys, diffuse ones."""
    random = np.random.default_rng(0)
    distance = np.abs(np.arange(TOKENS)[:, None] - np.arange(TOKENS)[None, :])
    maps = np.empty((LAYERS, HEADS, TOKENS, TOKENS), np.float32)
    for layer in range(LAYERS):
        for head in range(HEADS):
            scores = (
                random.standard_normal((TOKENS, TOKENS)) * (0.5, 2.0, 4.0)[head % 3]
                - distance * (0.0, 0.1, 0.5)[(head + layer) % 3]
            )
            raised = np.exp(scores - scores.max(-1, keepdims=True))
            maps[layer, head] = raised / raised.sum(-1, keepdims=True)
    return maps


def measure_ours(maps: NDArray[np.float32], tokens: list[str]) -> tuple[int, int]:
    """Return the bytes of the value with its array, and the bytes that leave the server: JSON and
    array compressed. Nothing is kept from the call before."""
    # the process's store, empty: a second run of the same weights would be free
    array_store.cache_clear()
    label = {"en": "Self-attention", "zh": "自注意力"}
    drawn = json.dumps(
        draw_attention([Kind("self", label, maps, tokens, tokens)], query="")
    ).encode()
    kept: ArrayStore = array_store()
    return len(drawn) + maps.size, len(zlib.compress(drawn, EFFORT)) + kept.size


def bertviz(layers: list[torch.Tensor], tokens: list[str]) -> str:
    """Return bertviz's head view as it makes it."""
    from bertviz import head_view

    return str(head_view(layers, tokens, html_action="return").data)


def measure(device: torch.device) -> Report:
    """Measure time and size of both sides, one after the other in each round. bertviz's page alone
    takes three gigabytes while it is made."""
    maps, tokens = weights(), [f"token{place}" for place in range(TOKENS)]
    layers = [torch.from_numpy(layer)[None] for layer in maps]
    bertviz(layers[:1], tokens)  # imports and first accesses are not measured
    measure_ours(maps, tokens)
    mine, theirs = [], []
    for turn in range(ROUNDS):
        seconds, sizes = time_call(lambda: measure_ours(maps, tokens))
        mine.append(seconds)
        seconds, page = time_call(lambda: bertviz(layers, tokens))
        theirs.append(seconds)
        if turn == ROUNDS - 1:
            size, squeezed = len(page), squeeze(page)
        del page
    return Report.of(
        figures={
            "ours_mb": sizes[0] / 1e6,
            "bertviz_mb": size / 1e6,
            "size_vs_bertviz_ratio": (size / sizes[0], Bound(35, at_least=True)),
            "ours_compressed_mb": sizes[1] / 1e6,
            "bertviz_compressed_mb": squeezed / 1e6,
            "compressed_size_ratio": squeezed / sizes[1],
            "ours_s": statistics.median(mine),
            "bertviz_s": statistics.median(theirs),
            "time_vs_bertviz_ratio": (
                statistics.median(b / a for a, b in zip(mine, theirs, strict=True)),
                Bound(25, at_least=True),
            ),
        },
        notes={
            "size": (
                "bytes as made, uncompressed on both sides; ours: JSON and array of the attention"
                " view's value"
            ),
            "time": (
                "until ready to serve; ours with first cell, jobs of heads and compression;"
                " bertviz's page is left as it is"
            ),
        },
    )


def time_call(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds of one call, and its result."""
    gc.collect()
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def squeeze(page: str, piece: int = 8 << 20) -> int:
    """Return the gzipped size of a page in bytes. The page is taken piece by piece, so that it does
    not stand in memory a second time."""
    packer = zlib.compressobj(EFFORT)
    return sum(
        len(packer.compress(page[at : at + piece].encode())) for at in range(0, len(page), piece)
    ) + len(packer.flush())
