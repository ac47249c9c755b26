"""Gradio's pages without the work that none of ours needs, which is most of an update's cost.

For every update Gradio builds the component anew, for a skipped one too, keeps its configuration
and value for the session, looks for files in it and changes threads on the way: 2 ms for each
output. A widget of ours is a `gr.HTML` that draws JSON as it stands.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr
from gradio.components import _Keywords
from gradio.routes import App

WRITTEN_FOR = "6.31.0"  # the version of Gradio

UPDATE = "__type__"  # marks an update that changes properties of a component instead of its value


class LeanBlocks(gr.Blocks):
    """A `gr.Blocks` whose handlers return values of widgets.

    The values go to the browser unread, and once.
    """

    def __exit__(self, *raised: Any) -> None:
        """End a page.

        The configuration of all pages is put together once, behind the last of them (`queue`), and
        not behind each.
        """
        self.get_config_file = dict  # type: ignore[method-assign,assignment]
        try:
            with _skip_application():
                super().__exit__(*raised)
        finally:
            del self.get_config_file

    def queue(self, *settings: Any, **named: Any) -> gr.Blocks:
        """Set up the queue; see `gr.Blocks.queue`."""
        with _skip_application():
            itself: gr.Blocks = super().queue(*settings, **named)
        return itself

    async def postprocess_data(self, block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        """Return the value for each output of a handler, or an empty update for `gr.skip()`.

        Anything else goes Gradio's own way, for example an update of properties, or an output that
        is no widget.
        """
        outputs = block_fn.outputs
        values = [predictions] if len(outputs) == 1 else predictions
        if (
            isinstance(values, Sequence)
            and len(values) == len(outputs)
            and all(map(_postprocess_plain, outputs, values))
        ):
            return [None if value is _Keywords.FINISHED_ITERATING else value for value in values]
        return list(await super().postprocess_data(block_fn, predictions, state))

    def handle_streaming_diffs(
        self,
        block_fn: Any,
        data: list[Any],
        session_hash: str | None,
        run: str | None,
        final: bool,
        simple_format: bool = False,
    ) -> list[Any]:
        """Return the values of a generator as changes: the first whole, then the differences.

        At the end, where Gradio sends all again, nothing is sent. The browser applies changes to
        the value that it got before, which may not be drawn yet where several come at once. So a
        value that follows an empty update, or precedes one, is sent whole.
        """
        before = list(self.pending_diff_streams.get(session_hash or "", {}).get(run or "", ()))
        now = list(data)
        sent = super().handle_streaming_diffs(
            block_fn, data, session_hash, run, final, simple_format
        )
        if final and all(type(output) is gr.HTML for output in block_fn.outputs):
            return [gr.skip() for _ in sent]
        if final or simple_format or not before:
            return list(sent)
        anew = [_is_skip(old) != _is_skip(new) for old, new in zip(before, now, strict=True)]
        return [
            [["replace", [], new]] if whole else steps
            for whole, new, steps in zip(anew, now, sent, strict=True)
        ]


def _is_skip(value: object) -> bool:
    return isinstance(value, dict) and value.get(UPDATE) == "update"


@contextlib.contextmanager
def _skip_application() -> Iterator[None]:
    """Stop Gradio from making web applications inside this context.

    It makes one after every page and for its queue, 0.1 s each, and throws all away for the one
    that is mounted.
    """
    create = vars(App)["create_app"]
    App.create_app = staticmethod(lambda *_, **__: None)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        App.create_app = create  # type: ignore[method-assign]


def _postprocess_plain(output: object, value: object) -> bool:
    return type(output) is gr.HTML and not (
        isinstance(value, dict) and len(value) > 1 and UPDATE in value
    )
