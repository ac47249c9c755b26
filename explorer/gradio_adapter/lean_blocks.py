"""Gradio's pages without the work that none of ours needs, which is most of an update's cost.

For every update Gradio builds the component anew, for a skipped one too, keeps its configuration
and value for the session, looks for files in it and changes threads on the way: 2 ms for each
output. A widget of ours is a `gr.HTML` that draws JSON as it stands.

For every session Gradio copies what it knows about the components of all pages, 0.3 MB and 15 ms
with nine labs, and keeps 10,000 of these copies. Ours would all be alike, because everything a
visitor does is kept in the browser.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

import gradio as gr
from gradio.components import _Keywords
from gradio.routes import App
from gradio.state_holder import SessionState, StateHolder

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


class StatelessSessions(StateHolder):
    """One state for the sessions of all visitors, in which nothing can be kept.

    Nothing that one visitor does can reach another.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        """Share one state among all sessions.

        Raise TypeError where a page keeps something of its visitors.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        keeping = {
            type(block).__name__
            for block in blocks.blocks.values()
            if getattr(block, "stateful", False)
        }
        if keeping:
            raise TypeError(
                f"a page holds {', '.join(sorted(keeping))}: the server keeps nothing of a session"
            )
        self.set_blocks(blocks)
        self._state = _Unchanging(blocks)

    def __getitem__(self, session_id: str) -> SessionState:
        """Return the state of any session."""
        return self._state

    def __contains__(self, session_id: object) -> bool:
        """Return True: every session has the state."""
        return True


class _Unchanging(SessionState):
    """The pages as they were built.

    A value that Gradio would note of a visitor is dropped. A handler that updates properties of a
    component, which needs them noted, is refused.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__(blocks)
        here: Any = self
        for owner, names in (
            (here.blocks_config, ("blocks", "fns")),
            (here, ("config_values", "state_data")),
        ):
            for name in names:
                setattr(owner, name, MappingProxyType(getattr(owner, name)))

    def __setitem__(self, key: int, value: Any) -> None:
        raise TypeError(
            "pages keep nothing of a visitor: give a widget a value, no update of its properties"
        )

    def _update_config(self, key: int) -> None:
        pass

    def _update_value_in_config(self, key: int, value: Any) -> None:
        pass


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
