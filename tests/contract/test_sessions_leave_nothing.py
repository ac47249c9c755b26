"""The server keeps nothing of a visitor's session: no memory for a new one, and nothing of one that
another could see."""

from __future__ import annotations

import asyncio
import tracemalloc
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio.components.api_component import Api

from explorer.gradio_adapter.lean_blocks import LeanBlocks
from explorer.gradio_adapter.stateless_sessions import StatelessSessions
from explorer.web.server import Site
from tests.conftest import built
from tests.explorer.asking import ask
from tests.explorer.web.test_site import lab

SECRET = "what only one visitor wrote"


def test_no_page_of_a_lab_asks_the_server_to_remember_anything(pages: gr.Blocks) -> None:
    for handler in pages.fns.values():
        if handler.api_visibility == "public":  # a script's: it sends all with its call
            assert {type(block) for block in [*handler.inputs, *handler.outputs]} == {Api}
            continue
        assert not handler.inputs, "what a visitor wrote comes with the event, and goes with it"
        assert {type(output) for output in handler.outputs} <= {gr.HTML}


def test_a_new_session_costs_no_memory(pages: gr.Blocks) -> None:
    states = StatelessSessions(pages)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        seen = {id(states[f"visitor {number}"]) for number in range(1000)}
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(seen) == 1 and grown < 100_000


def test_all_visitors_get_the_same_state() -> None:
    site = built(lambda: Site([lab(probe=None)]))
    try:
        assert ask(site, "/healthz").status_code == 200
        holder = site.blocks.app.state_holder
        assert isinstance(holder, StatelessSessions) and site.blocks.state_holder is holder
        assert holder["one"] is holder["another"]
    finally:
        site.engine.close(0)


def test_a_page_that_keeps_data_is_refused() -> None:
    def make() -> LeanBlocks:
        with LeanBlocks(analytics_enabled=False) as blocks:
            gr.State([])
        return blocks

    with pytest.raises(TypeError, match="State"):
        StatelessSessions(built(make))


def test_what_one_visitor_sends_and_is_shown_reaches_no_other() -> None:
    """Even through components that Gradio keeps the values of, which no page of ours has."""

    def make() -> LeanBlocks:
        with LeanBlocks(analytics_enabled=False) as blocks:
            box = gr.Textbox("at first")
            box.submit(lambda text: text.upper(), box, box)
            box.focus(lambda text: gr.update(label=text), box, box)
        return blocks

    blocks = built(make)
    states = StatelessSessions(blocks)
    answers, relabels = blocks.fns.values()
    key, box = next(iter(blocks.blocks.items()))

    async def send(handler: Any, session: str) -> Any:
        request: Any = SimpleNamespace(headers={}, query_params={})
        return await blocks.process_api(
            handler, [SECRET], state=states[session], request=request, session_hash=session
        )

    assert asyncio.run(send(answers, "one"))["data"] == [SECRET.upper()]
    with pytest.raises(TypeError, match="no update"):
        asyncio.run(send(relabels, "one"))
    other = states["another"]
    assert (
        SECRET not in repr(list(other.components)).lower()
        and SECRET not in repr(vars(other[key])).lower()
    )
    assert other[key] is box and other[key].value == "at first"
    for kept in (
        other.config_values,
        other.blocks_config.blocks,
        other.blocks_config.fns,
        other.state_data,
    ):
        with pytest.raises(TypeError):
            kept[key] = SECRET
