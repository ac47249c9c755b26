"""Updates of pages cost what they must: values go to the browser unread, and once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest
from gradio import component_meta

from explorer.quick import Quick
from tests.conftest import built


def _made(handler: Any, extra: bool = False) -> tuple[Quick, Any]:
    def make() -> Quick:
        with Quick(analytics_enabled=False) as blocks:
            outputs: list[Any] = [gr.HTML(html_template="<p></p>"), gr.HTML(html_template="<p></p>")]
            if extra:
                outputs.append(gr.Textbox())
            blocks.load(handler, None, outputs)
        return blocks

    blocks = built(make)
    return blocks, next(fn for fn in blocks.fns.values() if fn.fn is handler)


def test_gradio_is_imported_without_writing_files_for_editors() -> None:
    assert component_meta.create_or_modify_pyi.__module__ == "explorer"


def test_values_go_out_as_they_are_and_what_is_skipped_is_left_alone() -> None:
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
