"""A page with one long run on it, for `benchmarks.long_attention`: python -m
tests.support.visitors.long_page PORT.

Queries and keys of 2,048 positions stand in memory, as a model leaves them. The button requests the
pooled maps of every head, which are computed then and there. Exact rows are computed on request.
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

from benchmarks.sizes import size
from explorer.components.stage import place_picture
from explorer.contract.lab import GuidedStep, OpenLab
from explorer.figures import attention
from explorer.figures.attention import Blocks, Kind
from explorer.values.exact_rows import RowSource, exact_row_store
from explorer.web import launch
from models.layers.attention import attention_weights
from models.layers.masks import causal_mask

LENGTH, LAYERS, HEADS, D_HEAD = size((2048, 2, 8, 64), (512, 1, 2, 64))
SIDE = 256  # rows and columns of a pooled map
BLOCK = LENGTH // SIDE
TOGETHER = 64  # queries that are pooled at once: their scores stay in the processor's cache
TEXT = {"en": "A long run", "zh": "长序列"}
SLUG = "long"


@cache
def run() -> tuple[Tensor, Tensor]:
    """Return queries and keys, (layer, head, position, d_head): heads that look nearby, heads that
    look back at one motif, diffuse ones."""
    random = torch.Generator().manual_seed(0)
    motif = torch.randn(64, D_HEAD, generator=random).repeat(LENGTH // 64, 1)
    place = torch.arange(LENGTH)[:, None] / 40 * torch.linspace(0.2, 3, D_HEAD // 2)
    near = torch.cat((place.sin(), place.cos()), 1) * 2
    kinds = [near, motif, torch.randn(LENGTH, D_HEAD, generator=random) * 0.3]
    made = [
        torch.stack([kinds[(head + layer) % 3] for head in range(HEADS)]) for layer in range(LAYERS)
    ]
    queries = torch.stack(made)
    return queries + torch.randn(queries.shape, generator=random) * 0.2, queries


def pooled() -> NDArray[np.float32]:
    """Return the maps of every head, (layer, head, side, side), pooled as they are made. The whole
    ones would take half a gigabyte."""
    queries, keys = run()
    found = torch.zeros(LAYERS, HEADS, SIDE, SIDE)
    for first in range(0, LENGTH, TOGETHER):
        last, side = first + TOGETHER, slice(first // BLOCK, (first + TOGETHER) // BLOCK)
        weights = attention_weights(
            queries[:, :, first:last], keys[:, :, :last], causal_mask(range(first, last), last)
        )
        found[:, :, side, : side.stop] = (
            weights.view(LAYERS, HEADS, -1, BLOCK, side.stop, BLOCK).mean(3).sum(4)
        )
    return found.numpy()


def rows(layer: int, head: int, which: range) -> NDArray[np.float32]:
    """Return exact rows of one head, from its queries and keys alone."""
    queries, keys = run()
    query, key = (
        queries[layer, head, which.start : which.stop][None, None],
        keys[layer, head][None, None],
    )
    found: NDArray[np.float32] = attention_weights(query, key, causal_mask(list(which), LENGTH))[
        0, 0
    ].numpy()
    return found


def value() -> dict[str, object]:
    """Return the attention view's value of the run."""
    pieces = [f"token{i}" for i in range(LENGTH)]
    queries, keys = run()
    look = exact_row_store().put(
        RowSource(rows, LAYERS, HEADS, LENGTH, (queries.nbytes + keys.nbytes)), b"the long run"
    )
    every = Blocks(BLOCK, BLOCK, pieces, pieces, look)
    kind = Kind(
        "self",
        {"en": "Self", "zh": "自注意力"},
        pooled(),
        pieces[::BLOCK],
        pieces[::BLOCK],
        mask="causal",
        blocks=every,
    )
    return attention.draw_attention([kind], query="")


def page(lab: OpenLab, engine: object) -> None:
    """Place the attention view, empty, and a button that fills it."""
    place = place_picture("attention", texts={})
    gr.Button("Show", elem_id="show").click(value, None, place, api_visibility="private")


def serve(port: int) -> None:
    """Serve the site with that one page, until it is ended."""
    torch.set_num_threads(1)
    run()
    step = GuidedStep(TEXT, TEXT, "", {})
    facts: dict[str, Any] = dict.fromkeys(("title", "short", "line", "card"), TEXT)
    texts: dict[str, Any] = dict.fromkeys(("paper", "authors", "arxiv", "licence", "equation"), "")
    tuples: dict[str, Any] = {
        "ancestors": (),
        "examples": ("",) * 3,
        "steps": (step,) * 5,
        "exports": (),
    }
    rest: dict[str, Any] = {
        "interventions": {"none": ""},
        "changed": "cost",
        "thumbnail": lambda: None,
        "probe": None,
    }
    launch.serve(
        [OpenLab(slug=SLUG, year=2020, page=page, **facts, **texts, **tuples, **rest)],
        "127.0.0.1",
        port,
    )


if __name__ == "__main__":
    serve(int(sys.argv[1]))
