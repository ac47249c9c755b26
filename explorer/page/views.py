"""The views that a page declares: the pictures of a run, the event by which a picture sends a
question of its own about a run, and folded panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeAlias

from explorer.components import bertviz, folded
from explorer.components.figure import (
    place_folded_figures,
    place_measured_figure,
    place_run_figure,
)
from explorer.components.folded import Question
from explorer.components.notes import place_notes
from explorer.components.stage import place_folded_picture, place_picture
from explorer.contract.control_kinds import Value
from explorer.contract.lab import Text
from explorer.engine import Function
from explorer.figures.bertviz import convert_kind
from explorer.page.type_variables import (
    R,
    R_contra,
    S,
    S_contra,
    T_contra,
    V_contra,
)

At: TypeAlias = Literal["above", "wide", "beside", "side", "below"]


@dataclass(frozen=True)
class Found(Generic[R, S]):
    """The findings for a view's question: the request that it is about; the run, None where it
    needs none; the engine's answer to the question itself."""

    request: R
    seen: S | None = None
    answer: Any = None

    @property
    def run(self) -> S:
        """The run of a question that needs one."""
        assert self.seen is not None
        return self.seen


@dataclass(frozen=True)
class OpeningEvent(Generic[R, S]):
    """An event of a view that is opened on demand.

    event: its name.
    read(detail): the question, its `run` the query of the run that it is about. It raises nothing.
    draw(found, asked), refused(asked, sentence): the value of the view.
    into: the view that draws it, where it is another one.
    function(asked): the engine function that is called beside the lab's own, None for none.
    wish(found, asked): the question to this function.
    needs: whether it is about the run, or about its request alone.
    newest: whether a newer request of the same page ends an older one.
    """

    event: str
    read: Callable[[object], Any]
    draw: Callable[[Found[R, S], Any], Value]
    refused: Callable[[Any, Text], Value]
    into: str = ""
    function: Callable[[Any], Function | None] = lambda _asked: None
    wish: Callable[[Found[R, S], Any], Any] = lambda found, _asked: found.request
    needs: Literal["run", "request"] = "run"
    newest: bool = False


@dataclass(frozen=True)
class View(Generic[R_contra, S_contra, V_contra, T_contra]):
    """A picture of a run.

    name: that of its widget.
    place(value): puts the widget on the page; None where nothing is there to be drawn.
    draw(explanation, request, state): its value, None where no answer to a request draws it. state
        is the source of the result.
    grow(steps so far, request): its value while the answer grows.
    at: above both columns, in the wide one, in the narrow one beside it ("beside": above the change
        panel, "side": below), or below both.
    task: the `task` of the requests that it draws, or several, "a b". While another task is in view
        it keeps its drawing, hidden.
    look: its own event, by which it sends questions about a run.
    """

    name: str
    place: Callable[[Value | None], Any]
    draw: Callable[[V_contra, R_contra, str], Value | None] | None = None
    grow: Callable[[Sequence[T_contra], R_contra], Value] | None = None
    at: At = "wide"
    task: str = ""
    look: OpeningEvent[R_contra, S_contra] | None = None

    def draws_request(self, request: R_contra) -> bool:
        """Return whether this view draws a request of this kind."""
        return not self.task or getattr(request, "task", "") in self.task.split()


def view_on_stage(
    name: str,
    draw: Callable[[V_contra, R_contra, str], Value | None],
    texts: Mapping[str, Text] | None = None,
    *,
    picture: str = "",
    grow: Callable[[Sequence[T_contra], R_contra], Value] | None = None,
    at: At = "wide",
    task: str = "",
) -> View[R_contra, object, V_contra, T_contra]:
    """Return a picture of a run on the stage.

    texts, picture: as in `stage.place_picture`.
    draw, grow, at, task: as in `View`.
    """
    return View(
        name,
        lambda value: place_picture(name, value, texts=texts or {}, picture=picture),
        draw,
        grow,
        at,
        task,
    )


def view_in_figure(
    name: str,
    draw: Callable[[V_contra, R_contra, str], Value | None],
    first: Callable[[], Value | None] = lambda: None,
    *,
    main: bool = False,
    grow: Callable[[Sequence[T_contra], R_contra], Value] | None = None,
    at: At = "wide",
    task: str = "",
) -> View[R_contra, object, V_contra, T_contra]:
    """Return a figure of a run.

    first(): its value before any run.
    main: as in `figure.place_run_figure`.
    draw, grow, at, task: as in `View`.
    """
    return View(
        name,
        lambda value: place_run_figure(name, value or first(), main=main),
        draw,
        grow,
        at,
        task,
    )


def view_placed(
    name: str, place: Callable[[], object], *, at: At = "wide", task: str = ""
) -> View[object, object]:
    """Return a part of the page that no run changes.

    place(): puts it there, when the page is built.
    at, task: as in `View`.
    """
    return View(name, lambda _value: place(), at=at, task=task)


def view_measured(
    name: str,
    draw: Callable[[], Value | None],
    *,
    anchor: str = "bench",
    at: At = "wide",
    task: str = "",
) -> View[object, object]:
    """Return a figure of measured values; nothing where they are missing.

    draw(): its value.
    anchor: the name by which a guided step finds it, as in `figure.place_measured_figure`.
    at, task: as in `View`.
    """
    return view_placed(name, lambda: place_measured_figure(draw(), anchor), at=at, task=task)


def view_notes(
    texts: Any, at: Any = "below", links: Mapping[str, Text] | None = None, task: str = ""
) -> View[Any, Any]:
    """Return the notes of a lab, NOTES in its texts.

    at, task: as in `View`.
    links: as in `place_notes`.
    """
    return View(
        "notes",
        lambda _value: place_notes(texts.NOTES, links=links),
        at=at,
        task=task,
    )


def view_in_bertviz(
    opened: tuple[bertviz.View, ...],
    attention: Callable[[Any], bertviz.Attention | Sequence[bertviz.Attention | bertviz.Kind]],
    *,
    note: Text | None = None,
    neuron: Function | None = None,
) -> View[Any, Any]:
    """Return bertviz's own views of a run, opened on demand.

    attention(explanation): the attentions that they show, or those that the attention picture
        draws. It raises InputError for a run that is too long.
    note: a remark that a visitor needs to compare them with the views around them.
    neuron: the engine function that records queries and keys of a run,
        `models.explaining.query_key_plane.Vectors` by the key of an attention, for the view that
        shows them.
    """

    def render(found: Found[Any, Any], asked: bertviz.BertvizSelection) -> Value:
        drawn = attention(found.run)
        each = (
            [drawn]
            if isinstance(drawn, bertviz.Attention)
            else [convert_kind(one) for one in drawn]
        )
        if found.answer is not None:
            each = [
                replace(one, queries=found.answer[one.key].queries, keys=found.answer[one.key].keys)
                for one in each
            ]
        return bertviz.render_frame(asked, each)

    def function(asked: bertviz.BertvizSelection) -> Function | None:
        return neuron if asked.view == "neuron" else None

    look: OpeningEvent[Any, Any] = OpeningEvent(
        "ask",
        bertviz.BertvizSelection.from_event,
        render,
        folded.show_refusal,
        function=function,
        newest=True,
    )
    return View(
        "bertviz", lambda _value: bertviz.place_bertviz(opened, note=note), at="below", look=look
    )


def view_in_folded_panel(
    name: str,
    title: Text,
    draw: Callable[[Found[R, S], Question], Mapping[str, object]],
    *,
    picture: str = "",
    texts: Mapping[str, Text] | None = None,
    asks: Sequence[str] = (),
    function: Function | None = None,
    wish: Callable[[Found[R, S], Question], Any] = lambda found, _question: found.request,
    needs: Literal["run", "request"] = "run",
    is_offered: Callable[[], bool] = lambda: True,
) -> View[R, S]:
    """Return a folded panel, which sends its own question about the run in view.

    title: that question.
    draw(found, question): its drawing: parts as in `figure.place_folded_figures`, with the same
        `asks`; or the value of a picture with further texts, as in `stage.place_folded_picture`.
    function, wish, needs: as in `OpeningEvent`.
    is_offered(): whether the files that it draws are there, when the page is built.
    """

    def place(_value: Value | None) -> Any:
        if not is_offered():
            return None
        return (
            place_folded_picture(name, texts={"title": title, **(texts or {})}, picture=picture)
            if picture
            else place_folded_figures(name, title, asks=asks)
        )

    look: OpeningEvent[R, S] = OpeningEvent(
        "ask",
        Question.from_event,
        lambda found, question: folded.show_answer(question, **draw(found, question)),
        folded.show_refusal,
        function=lambda _question: function,
        wish=wish,
        needs=needs,
        newest=True,
    )
    return View(name, place, at="below", look=look)
