"""The labs as one Gradio app: the family map at "/", and one route per lab."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import gradio as gr

from explorer.cancelled import Messages
from explorer.document import Facts
from explorer.lab import Lab
from explorer.quick import Quick
from explorer.widgets import compare as comparing
from explorer.widgets import presenter as presenting
from explorer.widgets.closed import closed
from explorer.widgets.home import home
from explorer.widgets.lecture import LEAD, TITLE, lecture, plain
from explorer.widgets.shell import shell

if TYPE_CHECKING:
    from explorer.engine import Engine

NAME = "Transformer family explorer"
LINE = "Every member of the Transformer family alive: trained models run on your own input, their mechanism drawn while they work."
API = "/api"  # Gradio wants the functions for scripts on some page; nobody can open this one
LECTURE = "/lecture"  # the address of the guided lecture
PRESENTER = "/presenter"  # the address of the lecturer's own window
COMPARE = "/compare"  # the address of two pictures side by side
VISITORS = 1200  # events that Gradio lets wait or run at once; the engine has its own, shorter queue and says one's place in it
REST = 0.02  # seconds that Gradio's queue sleeps while nothing waits in it; its own thousandth keeps 7 % of a core busy for nobody

logger = logging.getLogger(__name__)


class Unreadable(Exception):
    """The page of a lab could not be built; `slug` is the lab's."""

    def __init__(self, slug: str) -> None:
        super().__init__(slug)
        self.slug = slug


def opened(labs: Sequence[Lab], engine: Engine) -> tuple[tuple[Lab, ...], gr.Blocks]:
    """The whole site, and the labs that it shows: one whose files cannot be read has a closed page, and the log says why."""
    shown = tuple(closed(lab) if lab.closed else _with_its_picture(lab) for lab in labs)
    while True:
        try:
            return shown, build(shown, engine)
        except Unreadable as error:
            if any(lab.slug == error.slug and lab.closed for lab in shown):
                raise  # not even its closed page can be built
            logger.exception("%s cannot be read, and is closed", error.slug)
            shown = tuple(closed(lab) if lab.slug == error.slug else lab for lab in shown)


def _with_its_picture(lab: Lab) -> Lab:
    """The lab with its picture, drawn once; a closed one where that fails."""
    try:
        picture = lab.thumbnail()
    except Exception:
        logger.exception("%s cannot be read, and is closed", lab.slug)
        return closed(lab)
    return dataclasses.replace(lab, thumbnail=lambda: picture)


def build(labs: Sequence[Lab], engine: Engine) -> gr.Blocks:
    """The whole site. No model is loaded and no array is read beyond the labs' stored first results.

    Pages hold no session state and no heartbeat: each would keep a second connection open in every tab. Raises Unreadable for a lab whose
    page fails.
    """
    site = Quick(title=NAME, fill_width=True, analytics_enabled=False)
    with site:
        _frame(labs, None)
        with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
            home(labs, lecture=LECTURE if labs else None)
    for lab in labs:
        with site.route(lab.title["en"], lab.path):
            _frame(labs, lab)
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                try:
                    lab.page(lab, engine)
                except Exception as error:
                    raise Unreadable(lab.slug) from error
    if labs:
        with site.route(TITLE, LECTURE):
            _frame(labs, None, at="lecture")
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                lecture(labs)
        with site.route(presenting.TITLE, PRESENTER):
            _frame(labs, None, at="lecture")
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                presenting.presenter(labs)
        with site.route(comparing.TITLE, COMPARE):
            _frame(labs, None, at="compare")
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                comparing.compare(labs)
        with site.route("API", API):
            for lab in labs:
                try:
                    if lab.endpoint:
                        lab.endpoint(lab, engine)
                except Exception as error:
                    raise Unreadable(lab.slug) from error
    site.max_threads = VISITORS  # how many handlers the queue lets run side by side; ours wait on the engine, not on threads
    # Nothing ever waits in Gradio's own queue, so nobody needs to hear of each other's place in it: a message to all for every run.
    site.queue(max_size=VISITORS, default_concurrency_limit=VISITORS, api_open=False, status_update_rate=5)
    site._queue.pending_messages_per_session = Messages(site._queue)
    site._queue.sleep_when_free = REST
    site._queue.progress_update_sleep_when_free = 1.0  # for gr.Progress, which no page of ours uses
    return site


def _frame(labs: Sequence[Lab], here: Lab | None, *, at: str = "map") -> None:
    gr.Navbar(visible=False)  # type: ignore[attr-defined] # Gradio's own bar appears with the second page; ours stands in the shell
    shell(labs, here, lecture=LECTURE if labs else None, compare=COMPARE if labs else None, at=at)


def facts(labs: Sequence[Lab], heads: Mapping[str, str] | None = None) -> dict[str, Facts]:
    """Title and description of every page, by its path. heads: by a lab's slug, further elements for the head of its page, as HTML."""
    more = heads or {}
    pages = {lab.path: Facts(f"{lab.title['en']} · {NAME}", lab.line["en"], more.get(lab.slug, "")) for lab in labs}
    if labs:
        pages[LECTURE] = Facts(f"{TITLE} · {NAME}", LEAD, plain=plain(labs))
        pages[PRESENTER] = Facts(f"{presenting.TITLE} · {NAME}", presenting.LEAD)
        pages[COMPARE] = Facts(f"{comparing.TITLE} · {NAME}", comparing.LEAD)
    return {"/": Facts(NAME, LINE)} | pages
