"""A place in a text has one number: whoever asks, is looked at, or is taken along, the token with number n is the same."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import gradio as gr
import pytest

from explorer.engine import Engine
from explorer.lab import Lab
from explorer.labs import LABS


def drawn(lab: Lab) -> list[dict[str, Any]]:
    """What the widgets of a page draw on arrival."""
    return _drawn(lab.slug)


@cache
def _drawn(slug: str) -> list[dict[str, Any]]:
    lab = next(lab for lab in LABS if lab.slug == slug)

    async def inside() -> gr.Blocks:  # outside of a running loop Gradio opens loops of its own
        with gr.Blocks(analytics_enabled=False) as page:
            lab.page(lab, Engine())
        return page

    with ThreadPoolExecutor(1) as pool:  # where a browser is driven, this thread has a running loop already
        page = pool.submit(asyncio.run, inside()).result()
    return [block.value for block in page.blocks.values() if isinstance(block, gr.HTML) and isinstance(block.value, dict)]


@pytest.mark.parametrize("lab", LABS, ids=[lab.slug for lab in LABS])
def test_a_key_has_the_number_that_the_same_token_has_as_a_query(lab: Lab) -> None:
    kinds = [kind for value in drawn(lab) for kind in value.get("kinds") or [] if kind["own"]]
    for kind in kinds:
        every = kind["whole"] or kind
        queries, keys, first = every["queries"], every["keys"], kind["first_key"]
        numbered = {j + first: key for j, key in enumerate(keys)}
        assert [(n, token) for n, token in numbered.items() if n >= 0] == [(n, queries[n]) for n in numbered if n >= 0]
        assert set(numbered) - set(range(len(queries))) <= {-1}


def test_some_labs_have_keys_that_begin_before_the_text() -> None:
    begun = [lab.slug for lab in LABS for value in drawn(lab) for kind in value.get("kinds") or [] if kind["first_key"] == -1]
    assert {"translation", "transformer_xl", "adaptive_span"} <= set(begun)
