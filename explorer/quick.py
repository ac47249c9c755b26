"""Gradio's pages without the work that none of ours needs, which is most of what an update of them costs.

For every update Gradio builds the component anew, for a skipped one too, keeps its configuration and value for the session, looks for
files in it and changes threads on the way: 2 ms for each output. A widget of ours is a `gr.HTML` that draws JSON as it stands.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr
from gradio.components import _Keywords
from gradio.routes import App

UPDATE = "__type__"  # marks what changes properties of a component instead of its value


class Quick(gr.Blocks):
    """`gr.Blocks` whose handlers give values of widgets, which go to the browser unread, and once."""

    def __exit__(self, *raised: Any) -> None:
        """The end of a page."""
        with _no_app():
            super().__exit__(*raised)

    def queue(self, *settings: Any, **named: Any) -> gr.Blocks:
        """`gr.Blocks.queue`."""
        with _no_app():
            itself: gr.Blocks = super().queue(*settings, **named)
        return itself

    async def postprocess_data(self, block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        """What is sent for each output of a handler: the value, or an empty update where `gr.skip()` stands.

        Anything else, such as an update of properties, or an output that is no widget, goes Gradio's own way.
        """
        outputs = block_fn.outputs
        values = [predictions] if len(outputs) == 1 else predictions
        if isinstance(values, Sequence) and len(values) == len(outputs) and all(map(_plain, outputs, values)):
            return [None if value is _Keywords.FINISHED_ITERATING else value for value in values]
        return list(await super().postprocess_data(block_fn, predictions, state))

    def handle_streaming_diffs(
        self, block_fn: Any, data: list[Any], session_hash: str | None, run: str | None, final: bool, simple_format: bool = False
    ) -> list[Any]:
        """Of the values of a generator the first is sent whole, then what changed; at the end, where Gradio sends all again, nothing."""
        sent = super().handle_streaming_diffs(block_fn, data, session_hash, run, final, simple_format)
        return [gr.skip() for _ in sent] if final and all(type(output) is gr.HTML for output in block_fn.outputs) else list(sent)


@contextlib.contextmanager
def _no_app() -> Iterator[None]:
    """Gradio makes a web application after every page and for its queue, 0.1 s each, and throws all away for the one that is mounted."""
    create = vars(App)["create_app"]
    App.create_app = staticmethod(lambda *_, **__: None)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        App.create_app = create  # type: ignore[method-assign]


def _plain(output: object, value: object) -> bool:
    return type(output) is gr.HTML and not (isinstance(value, dict) and len(value) > 1 and UPDATE in value)
