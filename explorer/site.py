"""The labs as one Gradio app: the family map at "/", and one route per lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import gradio as gr

from explorer.document import Facts
from explorer.lab import Lab
from explorer.widgets.home import home
from explorer.widgets.shell import shell

if TYPE_CHECKING:
    from explorer.engine import Engine

NAME = "Transformer family explorer"
LINE = "Every member of the Transformer family alive: trained models run on your own input, their mechanism drawn while they work."
VISITORS = 1200  # events that Gradio lets wait or run at once; the engine has its own, shorter queue and says one's place in it


def build(labs: Sequence[Lab], engine: Engine) -> gr.Blocks:
    """The whole site. No model is loaded and no array is read beyond the labs' stored first results.

    Pages hold no session state and no heartbeat: each would keep a second connection open in every tab.
    """
    site: gr.Blocks = gr.Blocks(title=NAME, fill_width=True, analytics_enabled=False)
    with site:
        _frame(labs, None)
        with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
            home(labs)
    for lab in labs:
        with site.route(lab.title["en"], lab.path):
            _frame(labs, lab)
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                lab.page(lab, engine)
    site.max_threads = VISITORS  # how many handlers the queue lets run side by side; ours wait on the engine, not on threads
    site.queue(max_size=VISITORS, default_concurrency_limit=VISITORS, api_open=False)
    return site


def _frame(labs: Sequence[Lab], here: Lab | None) -> None:
    gr.Navbar(visible=False)  # type: ignore[attr-defined] # Gradio's own bar appears with the second page; ours stands in the shell
    shell(labs, here)


def facts(labs: Sequence[Lab]) -> dict[str, Facts]:
    """Title and description of every page, by its path."""
    return {"/": Facts(NAME, LINE)} | {lab.path: Facts(f"{lab.title['en']} · {NAME}", lab.line["en"]) for lab in labs}
