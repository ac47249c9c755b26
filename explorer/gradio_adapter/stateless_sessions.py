"""One state for the sessions of all visitors.

For every session Gradio copies what it knows about the components of all pages, 0.3 MB and 15 ms
with nine labs, and keeps 10,000 of these copies. Ours would all be alike, because everything a
visitor does is kept in the browser.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import gradio as gr
from gradio.routes import App
from gradio.state_holder import SessionState, StateHolder
from starlette.applications import Starlette
from starlette.routing import Mount

WRITTEN_FOR = "6.31.0"  # the version of Gradio


def share_state(blocks: gr.Blocks, web: Starlette) -> None:
    """Let all sessions of the pages that are mounted in a web application share one state."""
    # Gradio keeps here the application of its own that it would have launched.
    blocks.app = next(
        route.app for route in web.routes if isinstance(route, Mount) and isinstance(route.app, App)
    )
    blocks.app.state_holder = StatelessSessions(blocks)


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
