"""Updates of pages cost what they must: values go to the browser unread, and once; and the newest
wish of a page wins."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator
from importlib.util import module_from_spec
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from explorer import GradioWithoutInterfaces
from explorer.gradio_adapter.lean_blocks import LeanBlocks
from explorer.page import wiring
from explorer.page.newest import Newest
from tests.conftest import built


def _made(handler: Any, extra: bool = False) -> tuple[LeanBlocks, Any]:
    def make() -> LeanBlocks:
        with LeanBlocks(analytics_enabled=False) as blocks:
            outputs: list[Any] = [
                gr.HTML(html_template="<p></p>"),
                gr.HTML(html_template="<p></p>"),
            ]
            if extra:
                outputs.append(gr.Textbox())
            blocks.load(handler, None, outputs)
        return blocks

    blocks = built(make)
    return blocks, next(fn for fn in blocks.fns.values() if fn.fn is handler)


def test_gradio_is_imported_without_writing_files_for_editors() -> None:
    """Whichever was imported first here: the module is loaded anew, as the hook loads it."""
    assert any(isinstance(finder, GradioWithoutInterfaces) for finder in sys.meta_path)
    spec = GradioWithoutInterfaces().find_spec("gradio.component_meta", gr.__path__)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.create_or_modify_pyi.__module__ == "explorer"


def test_values_go_out_unchanged() -> None:
    blocks, fn = _made(lambda: None)
    value = {"state": "live", "pieces": ["<b>"]}
    before = dict(blocks.blocks)
    sent = asyncio.run(blocks.postprocess_data(fn, (value, gr.skip()), None))
    assert sent[0] is value and sent[1] == gr.skip()
    assert blocks.blocks == before


def test_other_components_and_other_updates_go_gradios_way() -> None:
    blocks, fn = _made(lambda: None, extra=True)
    sent = asyncio.run(blocks.postprocess_data(fn, ("a", "b", "c"), None))
    assert sent == ["a", "b", "c"]
    blocks, fn = _made(lambda: None)
    sent = asyncio.run(blocks.postprocess_data(fn, (gr.update(visible=False), "b"), None))
    assert sent[0]["visible"] is False


def test_the_last_values_of_a_run_are_not_sent_twice() -> None:
    def words() -> Iterator[tuple[object, object]]:
        yield {"n": 1}, gr.skip()

    blocks, fn = _made(words)
    first = blocks.handle_streaming_diffs(fn, [{"n": 1}, gr.skip()], "page", "run", final=False)
    second = blocks.handle_streaming_diffs(fn, [{"n": 2}, {"m": 1}], "page", "run", final=False)
    last = blocks.handle_streaming_diffs(fn, [None, None], "page", "run", final=True)
    assert first == [{"n": 1}, gr.skip()]
    assert second[0] == [["replace", ["n"], 2]]
    assert last == [gr.skip(), gr.skip()]


@pytest.mark.parametrize("values", [("only one",), ("a", "b", "c")])
def test_a_handler_with_too_few_or_too_many_values_is_told(values: tuple[str, ...]) -> None:
    blocks, fn = _made(lambda: None)
    if len(values) < 2:
        with pytest.raises(ValueError):
            asyncio.run(blocks.postprocess_data(fn, values, None))
    else:
        with pytest.warns(UserWarning):
            asyncio.run(blocks.postprocess_data(fn, values, None))


async def counting(closed: list[str], name: str, most: int = 100) -> AsyncGenerator[str, None]:
    try:
        for number in range(most):
            yield f"{name}{number}"
            await asyncio.sleep(0)
    finally:
        closed.append(name)


def nothing(_update: str) -> str:
    """What Gradio is told in place of an update that comes too late: it repeats the last update of
    an event that ends."""
    return "nothing"


async def rest(updates: AsyncGenerator[str, None]) -> list[str]:
    """All that is still said."""
    return [update async for update in updates]


async def test_a_newer_wish_ends_the_older_one() -> None:
    newest, closed = Newest(), list[str]()
    pages = (("mine", "a"), ("their", "b"), ("", "?"))
    old, theirs, unknown = (
        newest.follow_newest(page, counting(closed, name), nothing) for page, name in pages
    )
    assert [await anext(updates) for updates in (old, theirs, unknown)] == ["a0", "b0", "?0"]
    new = newest.follow_newest("mine", counting(closed, "c", 2), nothing)
    assert await anext(new) == "c0" and await rest(old) == ["nothing"] and closed == ["a"]
    newest.stop_page("nobody")
    assert [await anext(theirs), await anext(unknown)] == ["b1", "?1"]
    assert await rest(new) == ["c1"], "what nothing overtook ends with its result alone"
    newest.stop_page("their")
    assert await rest(theirs) == ["nothing"]
    await unknown.aclose()
    assert len(newest) == 0


async def test_a_late_older_wish_is_over_at_once() -> None:
    newest, closed = Newest(), list[str]()
    new = newest.follow_newest("page", counting(closed, "b"), number=2)
    assert await anext(new) == "b0"
    assert (
        await rest(newest.follow_newest("page", counting(closed, "a"), nothing, number=1))
        == ["nothing"]
        and await anext(new) == "b1"
    )
    await new.aclose()
    late = newest.follow_newest("page", counting(closed, "a"), nothing, number=1)
    assert await rest(late) == ["nothing"], "the newer one has been answered meanwhile"
    assert closed == ["a", "b", "a"] and len(newest) == 0


async def test_a_stop_ends_what_was_asked_before() -> None:
    newest, closed = Newest(), list[str]()
    newest.stop_page("page", 2)
    assert await rest(newest.follow_newest("page", counting(closed, "a"), nothing, number=1)) == [
        "nothing"
    ]
    after = newest.follow_newest("page", counting(closed, "b"), number=3)
    assert await anext(after) == "b0"
    newest.stop_page("page", 2)
    assert await anext(after) == "b1"
    await after.aclose()


@pytest.mark.parametrize(("detail", "more"), [({"wished": 3}, {"wished": 3, "said": 1}), ({}, {})])
async def test_a_value_says_which_wish_of_its_page_it_answers(
    detail: dict[str, int], more: dict[str, int]
) -> None:
    async def updates(asked: object, session: str) -> AsyncGenerator[tuple[object, ...], None]:
        yield {"state": "live"}, None, gr.skip()

    handler: Any = wiring.follow_newest_request(Newest(), updates)
    told = [
        update
        async for update in handler(
            SimpleNamespace(_data=detail), SimpleNamespace(session_hash="a")
        )
    ]
    assert told == [({"state": "live", **more}, None, gr.skip())]
