"""The labs as one Gradio app: the family map at "/", and one route per lab."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import gradio as gr

from explorer.components import compare as comparing
from explorer.components import exercises as exercising
from explorer.components import presenter as presenting
from explorer.components.closed import close_lab
from explorer.components.home import place_home
from explorer.components.lecture import LEAD, TITLE, place_lecture, write_handout
from explorer.components.shell import place_shell
from explorer.contract.lab import OpenLab
from explorer.gradio_adapter.document import Facts
from explorer.gradio_adapter.lean_blocks import LeanBlocks
from explorer.gradio_adapter.queue_events import set_up_queue

if TYPE_CHECKING:
    from explorer.engine import Engine

NAME = "Transformer family explorer"
LINE = (
    "Every member of the Transformer family alive: trained models run on your own input, their"
    " mechanism drawn while they work."
)
API = "/api"  # Gradio wants the functions for scripts on some page; nobody can open this one
LECTURE = "/lecture"  # the address of the guided lecture
PRESENTER = "/presenter"  # the address of the lecturer's own window
EXERCISES = "/exercises"  # the address of the exercises of all labs
COMPARE = "/compare"  # the address of two pictures side by side
# Events that Gradio lets wait or run at once; the engine has its own, shorter queue and reports the
# place in it.
VISITORS = 1200
# Seconds that Gradio's queue sleeps while nothing waits in it; its own thousandth keeps 7 % of a
# core busy for nobody.
REST = 0.02

logger = logging.getLogger(__name__)


class Unreadable(Exception):
    """The page of a lab could not be built; `slug` is the lab's."""

    def __init__(self, slug: str) -> None:
        super().__init__(slug)
        self.slug = slug


def open_site(labs: Sequence[OpenLab], engine: Engine) -> tuple[tuple[OpenLab, ...], gr.Blocks]:
    """Return the labs that the site shows, and the whole site.

    A lab whose files cannot be read has a closed page, and the log has the reason.
    """
    shown = tuple(close_lab(lab) if lab.is_closed else _draw_thumbnail(lab) for lab in labs)
    while True:
        try:
            return shown, build_blocks(shown, engine)
        except Unreadable as error:
            if any(lab.slug == error.slug and lab.is_closed for lab in shown):
                raise  # because not even its closed page can be built
            logger.exception("%s cannot be read, and is closed", error.slug)
            shown = tuple(close_lab(lab) if lab.slug == error.slug else lab for lab in shown)


def _draw_thumbnail(lab: OpenLab) -> OpenLab:
    """Return the lab with its picture, drawn once; a closed one where that fails."""
    try:
        picture = lab.thumbnail()
    except Exception:
        logger.exception("%s cannot be read, and is closed", lab.slug)
        return close_lab(lab)
    return dataclasses.replace(lab, thumbnail=lambda: picture)


def build_blocks(labs: Sequence[OpenLab], engine: Engine) -> gr.Blocks:
    """Build the whole site.

    No model is loaded and no array is read beyond the labs' stored first results. Pages hold no
    session state and no heartbeat: each would keep a second connection open in every tab. Raise
    Unreadable for a lab whose page fails.
    """
    site = LeanBlocks(title=NAME, fill_width=True, analytics_enabled=False)
    with site:
        _place_frame(labs, None)
        with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
            place_home(labs, lecture=LECTURE if labs else None)
    for lab in labs:
        with site.route(lab.title["en"], lab.path):
            _place_frame(labs, lab)
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                try:
                    lab.page(lab, engine)
                except Exception as error:
                    raise Unreadable(lab.slug) from error
    if labs:
        with site.route(TITLE, LECTURE):
            _place_frame(labs, None, at="lecture")
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                place_lecture(labs)
        with site.route(presenting.TITLE, PRESENTER):
            _place_frame(labs, None, at="lecture")
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                presenting.place_presenter(labs)
        with site.route(exercising.TITLE, EXERCISES):
            _place_frame(labs, None, at="lecture")
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                exercising.place_exercise_sheet(labs)
        with site.route(comparing.TITLE, COMPARE):
            _place_frame(labs, None, at="compare")
            with gr.Column(elem_classes=["tfe-main"], elem_id="main"):
                comparing.place_comparison(labs)
        with site.route("API", API):
            for lab in labs:
                try:
                    if lab.endpoint:
                        lab.endpoint(lab, engine)
                except Exception as error:
                    raise Unreadable(lab.slug) from error
    # Handlers that the queue lets run side by side; ours wait on the engine, not on threads.
    site.max_threads = VISITORS
    set_up_queue(site, VISITORS, REST)
    return site


def _place_frame(labs: Sequence[OpenLab], here: OpenLab | None, *, at: str = "map") -> None:
    gr.Navbar(visible=False)  # type: ignore[attr-defined] # Gradio's own bar appears with the second page; ours stands in the shell
    place_shell(
        labs, here, lecture=LECTURE if labs else None, compare=COMPARE if labs else None, at=at
    )


def facts(labs: Sequence[OpenLab], heads: Mapping[str, str] | None = None) -> dict[str, Facts]:
    """Return the title and description of every page, by its path.

    heads: by a lab's slug, further elements for the head of its page, as HTML.
    """
    more = heads or {}
    pages = {
        lab.path: Facts(f"{lab.title['en']} · {NAME}", lab.line["en"], more.get(lab.slug, ""))
        for lab in labs
    }
    if labs:
        pages[LECTURE] = Facts(f"{TITLE} · {NAME}", LEAD, plain=write_handout(labs))
        pages[PRESENTER] = Facts(f"{presenting.TITLE} · {NAME}", presenting.LEAD)
        pages[EXERCISES] = Facts(f"{exercising.TITLE} · {NAME}", exercising.LEAD)
        pages[COMPARE] = Facts(f"{comparing.TITLE} · {NAME}", comparing.LEAD)
    return {"/": Facts(NAME, LINE)} | pages
