"""A page with one long run on it, for `benchmarks.long_attention`: python -m benchmarks.visitors.long_page PORT.

Queries and keys of 2,048 positions stand in memory, as a model leaves them. The button asks for the pooled maps of every head, which are
computed then and there; exact rows are computed as the page asks for them.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import gradio as gr
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer import server
from explorer.figures import attention
from explorer.figures.attention import Blocks, Kind
from explorer.lab import GuidedStep, Lab
from explorer.looks import Look, looks
from explorer.widgets.stage import stage
from models.layers.attention import attention_weights
from models.layers.masks import causal

LENGTH, LAYERS, HEADS, D_HEAD = 2048, 2, 8, 64
SIDE = 256  # rows and columns of a pooled map
BLOCK = LENGTH // SIDE
TOGETHER = 64  # queries that are pooled at once: their scores stay in the processor's cache
TEXT = {"en": "A long run", "zh": "长序列"}
SLUG = "long"


@cache
def run() -> tuple[Tensor, Tensor]:
    """Queries and keys, (layer, head, position, d_head): heads that look nearby, heads that look back at one motif, diffuse ones."""
    random = torch.Generator().manual_seed(0)
    motif = torch.randn(64, D_HEAD, generator=random).repeat(LENGTH // 64, 1)
    place = torch.arange(LENGTH)[:, None] / 40 * torch.linspace(0.2, 3, D_HEAD // 2)
    near = torch.cat((place.sin(), place.cos()), 1) * 2
    kinds = [near, motif, torch.randn(LENGTH, D_HEAD, generator=random) * 0.3]
    made = [torch.stack([kinds[(head + layer) % 3] for head in range(HEADS)]) for layer in range(LAYERS)]
    queries = torch.stack(made)
    return queries + torch.randn(queries.shape, generator=random) * 0.2, queries


def pooled() -> NDArray[np.float32]:
    """The maps of every head, pooled as they are made: (layer, head, side, side). The whole ones would take half a gigabyte."""
    queries, keys = run()
    found = torch.zeros(LAYERS, HEADS, SIDE, SIDE)
    for first in range(0, LENGTH, TOGETHER):
        last, side = first + TOGETHER, slice(first // BLOCK, (first + TOGETHER) // BLOCK)
        weights = attention_weights(queries[:, :, first:last], keys[:, :, :last], causal(range(first, last), last))
        found[:, :, side, : side.stop] = weights.view(LAYERS, HEADS, -1, BLOCK, side.stop, BLOCK).mean(3).sum(4)
    return found.numpy()


def rows(layer: int, head: int, which: range) -> NDArray[np.float32]:
    """Exact rows of one head, from its queries and keys alone."""
    queries, keys = run()
    query, key = queries[layer, head, which.start : which.stop][None, None], keys[layer, head][None, None]
    found: NDArray[np.float32] = attention_weights(query, key, causal(list(which), LENGTH))[0, 0].numpy()
    return found


def value() -> dict[str, object]:
    """What the attention view draws of the run."""
    pieces = [f"token{i}" for i in range(LENGTH)]
    queries, keys = run()
    look = looks().put(Look(rows, LAYERS, HEADS, LENGTH, (queries.nbytes + keys.nbytes)), b"the long run")
    every = Blocks(BLOCK, BLOCK, pieces, pieces, look)
    kind = Kind("self", {"en": "Self", "zh": "自注意力"}, pooled(), pieces[::BLOCK], pieces[::BLOCK], mask="causal", blocks=every)
    return attention.value([kind], query="")


def page(lab: Lab, engine: object) -> None:
    """The attention view, empty, and a button that fills it."""
    place = stage("attention", texts={})
    gr.Button("Show", elem_id="show").click(value, None, place, api_visibility="private")


def serve(port: int) -> None:
    """The site with that one page, until it is ended."""
    torch.set_num_threads(1)
    run()
    step = GuidedStep(TEXT, TEXT, "", {})
    facts: dict[str, Any] = dict.fromkeys(("title", "short", "line", "card"), TEXT)
    texts: dict[str, Any] = dict.fromkeys(("paper", "authors", "arxiv", "licence", "equation"), "")
    tuples: dict[str, Any] = {"ancestors": (), "examples": ("",) * 3, "steps": (step,) * 5, "words": (), "exports": ()}
    rest: dict[str, Any] = {"interventions": {"none": ""}, "changed": "cost", "thumbnail": lambda: None, "probe": None}
    server.serve([Lab(slug=SLUG, year=2020, page=page, **facts, **texts, **tuples, **rest)], "127.0.0.1", port)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
