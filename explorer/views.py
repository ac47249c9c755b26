"""What a page declares of its views: the pictures of a run, the event by which one asks of its own about a run, and folded panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from explorer.controls import Value
from explorer.engine import Function
from explorer.lab import Text
from explorer.widgets import bertviz, folded
from explorer.widgets.figure import opened, own
from explorer.widgets.folded import Question
from explorer.widgets.notes import notes
from explorer.widgets.stage import asked, stage

R = TypeVar("R")
S = TypeVar("S")


@dataclass(frozen=True)
class Found(Generic[R, S]):
    """What a look has found: the request that it is about; the run, None where it needs none; what the engine answered to its own wish."""

    request: R
    seen: S | None = None
    answer: Any = None

    @property
    def run(self) -> S:
        """The run, of a look that needs one."""
        assert self.seen is not None
        return self.seen


@dataclass(frozen=True)
class Look(Generic[R, S]):
    """An event of a view that is opened on demand. event: its name. read(detail): what is asked, its `run` the query of the run that it is
    about; it raises nothing. draw(found, asked) and refused(asked, sentence): the value of the view. into: the view that draws it, where it
    is another one.

    function(asked): the engine function that is asked beside the lab's own, None for none; wish(found, asked): what it is asked. needs: is
    it about the run, or about its request alone? newest: a newer wish of the same page ends an older one.
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
class View(Generic[R, S]):
    """A picture of a run. name: its widget's. place(value): puts the widget on the page. draw(seen, request, state): its value; state says
    where the result comes from; None where no answer to a wish draws it. grow(steps so far, request): its value while the answer grows.
    at: above both columns, in the wide one, in the narrow one beside it ("beside": above the panel of changes, "side": below), or below
    both. task: of requests with this `task` alone, or one of these, "a b"; while another is in view it keeps what it drew, hidden. look:
    its own event, by which it asks about a run."""

    name: str
    place: Callable[[Value | None], Any]
    draw: Callable[[Any, R, str], Value | None] | None = None
    grow: Callable[[Sequence[Any], R], Value] | None = None
    at: Literal["above", "wide", "beside", "side", "below"] = "wide"
    task: str = ""
    look: Look[R, S] | None = None

    def of(self, request: R) -> bool:
        """Is it a picture of such a run?"""
        return not self.task or getattr(request, "task", "") in self.task.split()


Draw = Callable[[Any, Any, str], Value | None]


def on_stage(name: str, draw: Draw, texts: Mapping[str, Text] | None = None, *, picture: str = "", **how: Any) -> View[Any, Any]:
    """A picture of a run. texts, picture: as of `stage`; how: as of `View`."""
    return View(name, lambda value: stage(name, value, texts=texts or {}, picture=picture), draw, **how)


def in_figure(
    name: str, draw: Draw | None, first: Callable[[], Value | None] = lambda: None, *, main: bool = False, **how: Any
) -> View[Any, Any]:
    """A figure of a run. first(): what stands before any; main: as of `own`; how: as of `View`."""
    return View(name, lambda value: own(name, value or first(), main=main), draw, **how)


def noted(texts: Any, at: Any = "below", links: Mapping[str, Text] | None = None, task: str = "") -> View[Any, Any]:
    """The notes of a lab, NOTES in its texts. at, task: as of `View`; links: as of `notes`."""
    return View("notes", lambda _value: notes(texts.NOTES, label=texts.NOTES_LABEL, links=links), at=at, task=task)


def in_bertviz(
    opened: tuple[bertviz.View, ...],
    attention: Callable[[Any], bertviz.Attention | Sequence[bertviz.Attention | bertviz.Kind]],
    *,
    note: Text | None = None,
    neuron: Function | None = None,
) -> View[Any, Any]:
    """bertviz's own views of a run, opened on demand. attention(what was seen): what they show, or what the attention
    picture draws of it; InputError for a run that is too long.

    note: what a visitor has to know to compare them with the views around them. neuron: the engine function that watches queries and keys
    of a run, `models.plane.Vectors` by the key of an attention, for the view that shows them.
    """

    def shown(found: Found[Any, Any], asked: bertviz.Look) -> Value:
        drawn = attention(found.run)
        each = [drawn] if isinstance(drawn, bertviz.Attention) else [bertviz.of(one) for one in drawn]
        if found.answer is not None:
            each = [replace(one, queries=found.answer[one.key].queries, keys=found.answer[one.key].keys) for one in each]
        return bertviz.shown(asked, each)

    def function(asked: bertviz.Look) -> Function | None:
        return neuron if asked.view == "neuron" else None

    look: Look[Any, Any] = Look("ask", bertviz.Look.of, shown, folded.refused, function=function, newest=True)
    return View("bertviz", lambda _value: bertviz.bertviz(opened, note=note), at="below", look=look)


def unfolded(
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
) -> View[R, S]:
    """A folded panel, which asks its own question of the run in view. title: that question. draw(found, question): what it draws: parts as
    of `figure.opened`, asks as there; or what a picture, with further texts, draws, as of `stage.asked`. function, wish, needs: as of
    `Look`."""

    def place(_value: Value | None) -> Any:
        return asked(name, texts={"title": title, **(texts or {})}, picture=picture) if picture else opened(name, title, asks=asks)

    look: Look[R, S] = Look(
        "ask",
        Question.of,
        lambda found, question: folded.shown(question, **draw(found, question)),
        folded.refused,
        function=lambda _question: function,
        wish=wish,
        needs=needs,
        newest=True,
    )
    return View(name, place, at="below", look=look)
