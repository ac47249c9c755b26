"""The one handler of a lab's page: a wish goes to the engine, and the values of all widgets come back.

A wish is a query string and some fields set anew. Input bar and views show the run as it was asked for, changes of the model included; the
panel of changes shows what they do; the run without them is another query, which every answer names. A link, a guided step, an example,
a stored result and a knob take the same path.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Generic, TypeVar

import gradio as gr

from explorer import controls, labels, wiring
from explorer.controls import Control, Item, Value
from explorer.drawn import Drawn, once
from explorer.engine import Answer, Engine, Function, Waiting
from explorer.lab import Lab, Text
from explorer.packing import made_of, spelled
from explorer.runs import Run, Stored, as_stored
from explorer.views import Found, Look, View
from explorer.widgets import ask, change, figure
from explorer.widgets.card import card
from explorer.widgets.newest import Newest
from models.errors import InputError

R = TypeVar("R")
S = TypeVar("S")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Change(Generic[R, S]):
    """What a change of the model does. draw(both runs, both measures, request, changes in words).

    measure: the engine function that reads the same output again, for each of two requests; None where the runs themselves tell.
    ask(request, before): what it is asked, without and with the change; None where there is nothing to ask.
    """

    draw: Callable[[tuple[S, S], tuple[Any, Any], R, Text], change.Shown]
    measure: Function | None = None
    ask: Callable[[R, S], Any] = lambda request, _before: request


@dataclass(frozen=True)
class About:
    """What stands above the input bar, beside what `Lab` says: the functions are called when the page is built, `curves` when asked for."""

    kicker: Text
    spoken: Text
    pairs: Callable[[], Sequence[Any]]
    prose: Callable[[], Mapping[str, str]]
    curves: Callable[[], Value | None]


@dataclass(frozen=True)
class Program(Generic[R, S]):
    """What a lab declares of its page.

    explain: the engine function that answers requests, of the class `kind`. controls: of all fields. views: in their order. examples: with
    their titles, the first is what a bare address stands for, and first() its stored result; others: further ones that are shipped. shorts:
    their titles on chips, beside a long text. answer(seen, request): what stands as the answer in the input bar, None where it stands in
    a view. region: the bar's name. run: what its button says. warning(request, seen): what to say of an input outside of what the model
    knows; notice(request, seen): what else.
    lines(seen, request): what a text file of the answer says. progress(steps so far, request): how far an answer has come that grows, and
    growing(steps so far, request): the part of it that is there, where it stands in the input bar. items(seen, request): what a control of
    kind "items" offers of a run, by its field.
    prepare(seen, request): what views and `pick` are given in place of what was seen, where several of them need the same.
    pick(seen, request): the model, head and position that are looked at on arrival, where the page has such.
    slug: of its lab, as `lab_of` says it.
    """

    explain: Function
    kind: type[R]
    controls: tuple[Control, ...]
    views: tuple[View[R, S], ...]
    change: Change[R, S] | None
    examples: Sequence[tuple[R, Text]]
    first: Callable[[], Stored[R, S] | None]
    answer: Callable[[S, R], Value | None]
    about: About
    region: Text
    run: Text | None = None
    shorts: Sequence[Text] = ()
    others: Sequence[Callable[[], Stored[Any, Any] | None]] = ()
    warning: Callable[[R, S], Text | None] = lambda _request, _seen: None
    notice: Callable[[R, S], Text | None] = lambda _request, _seen: None
    pick: Callable[[Any, R], Value | None] | None = None
    prepare: Callable[[S, R], Any] = lambda seen, _request: seen
    progress: Callable[[Sequence[Any], R], Text] | None = None
    growing: Callable[[Sequence[Any], R], Value | None] = lambda _steps, _request: None
    items: Callable[[Any, R], Mapping[str, Sequence[Item]]] | None = None
    lines: Callable[[S, R], Sequence[Text]] = lambda _seen, _request: ()
    slug: str = ""

    @property
    def widgets(self) -> tuple[str, ...]:
        """Names of all that an answer draws."""
        return ("ask", *(view.name for view in self.views if view.draw), "change")

    def read(self, query: str, given: object = None) -> tuple[R, Text | None]:
        """The request of a wish, and a notice for the visitor; no query, or none of a request, is the first example. InputError for what
        cannot be read."""
        return controls.read(self.kind, query, given, first=controls.query(self.examples[0][0]))

    def plain(self, request: R) -> R:
        """The same input for the model as it was trained."""
        return controls.plain(request, self.controls)

    def named(self, request: R, prepared: Any = None) -> Value:
        """A request as widgets know it: its query, that of the run without changes, and every field as text; what is looked at in a run."""
        about: Value = {"query": controls.query(request), "plain": controls.query(self.plain(request)), "fields": controls.texts(request)}
        if task := getattr(request, "task", ""):
            about["task"] = task
        if prepared is None:
            return about
        if self.items is not None:
            about["items"] = {field: spelled(items) for field, items in self.items(prepared, request).items()}
        return about if self.pick is None else {**about, "pick": self.pick(prepared, request)}

    def changes(self, request: R) -> Text | None:
        """What a request changes in the model, in words; None for nothing."""
        return labels.listed(controls.changes(request, self.controls))

    def of(self, request: R, **more: str) -> contextlib.AbstractContextManager[None]:
        """Addresses given meanwhile say how what they name is made again: of this request, which no clock measures and a link holds."""
        query = controls.query(request)
        again = self.slug and query and not getattr(request, "live", False)
        return made_of(of=self.slug, run=query, **more) if again else contextlib.nullcontext()

    async def again(self, engine: Engine, asked: Mapping[str, str], session: str) -> None:
        """Draw once more what an address names that was given of this (`packing.made_of`). InputError where it cannot be read."""
        request, _ = self.read(asked.get("run", ""))
        if getattr(request, "live", False):
            return
        look = next((view.look for view in self.views if view.look and view.name == asked.get("view")), None)
        if look is None:
            await self.finished(engine, asked.get("run", ""), None, session)
            return
        async with contextlib.aclosing(looked(self, engine, look, json.loads(asked.get("asked", "")), session, again=True)) as updates:
            async for _update in updates:
                pass

    def drawn(self, seen: S, request: R, run: Run) -> dict[str, Any]:
        """What the input bar and the views draw of a run. It may take some tenths of a second: not in the thread that serves pages."""
        with self.of(request):
            return self._drawn(seen, request, run)

    def _drawn(self, seen: S, request: R, run: Run) -> dict[str, Any]:
        prepared = self.prepare(seen, request)
        bar = ask.done(
            self.named(request, prepared),
            state=run.state,
            milliseconds=run.milliseconds,
            device=run.device,
            answer=self.answer(seen, request),
            lines=self.lines(seen, request),
            changes=self.changes(request),
            notice=labels.joined(run.notice, self.notice(request, seen)),
            warning=self.warning(request, seen),
        )
        views = [view for view in self.views if view.of(request)]
        return {"ask": bar, **{view.name: view.draw(prepared, request, run.state) for view in views if view.draw}}

    def grown(self, steps: Sequence[Any], request: R) -> dict[str, Any]:
        """What the input bar and the views draw of an answer that grows. steps: all so far."""
        said = self.progress(steps, request) if self.progress else {}
        views = [view for view in self.views if view.of(request)]
        bar = ask.growing(self.named(request), said, self.growing(steps, request))
        return {"ask": bar, **{view.name: view.grow(steps, request) for view in views if view.grow}}

    def place(self, lab: Lab, engine: Engine) -> None:
        """Place the components, draw the stored first example, and wire every wish of a visitor to the engine."""
        kept = self.first()
        drawn: Mapping[str, Any] = {"ask": ask.empty()} if kept is None else self._shipped(kept)
        start = self.examples[0][0]
        about = self.about
        titled = card(
            kicker=about.kicker,
            title=lab.title,
            line=lab.line,
            equation=lab.equation,
            spoken=about.spoken,
            pairs=about.pairs(),
            prose=about.prose(),
        )
        with gr.Column(elem_classes=["tfe-card-curve"]):
            curve = figure.figure()
        bar = ask.ask(
            drawn["ask"],
            region=self.region,
            run=self.run,
            controls=self.controls,
            kind=self.kind,
            examples=[
                ask.Example(title, controls.query(one), controls.texts(one), short)
                for (one, title), short in zip_longest(self.examples, self.shorts)
            ],
            answers=self.widgets,
            begins=lab.own,
        )
        placed = {"ask": bar, **self._placed("above", drawn)}
        known = change.idle(_about(drawn["ask"]) if kept else self.named(start))
        if any(view.at in {"wide", "beside", "side"} for view in self.views):
            with gr.Row(elem_classes=["tfe-bench"]):
                with gr.Column(elem_classes=["tfe-bench-wide"]):
                    placed |= self._placed("wide", drawn)
                with gr.Column(elem_classes=["tfe-bench-side"]):
                    placed |= self._placed("beside", drawn)
                    placed["change"] = change.change(known, controls=self.controls, kind=self.kind)
                    placed |= self._placed("side", drawn)
        else:
            placed["change"] = change.change(known, controls=self.controls, kind=self.kind, across=True)
        placed |= self._placed("below", drawn)
        self._wire(engine, placed)
        titled.unfold(about.curves, None, curve, **wiring.HOW)

    def _shipped(self, kept: Stored[R, S]) -> Mapping[str, Any]:
        """What is drawn of the stored first example."""

        def draw() -> dict[str, Any]:
            return self.drawn(kept.seen, kept.request, Run("stored", kept.milliseconds, kept.device))

        if not self.slug:  # a page that no lab declares
            return draw()
        named = f"first {self.slug} {controls.query(kept.request)} {kept.milliseconds}"
        return once(named, lambda: Drawn.of(draw())).values(draw)

    def _placed(self, at: str, drawn: Mapping[str, Value | None]) -> dict[str, Any]:
        found = {}
        for view in self.views:
            if view.at == at:
                tasks = [f"tfe-of-{task}" for task in view.task.split()]
                with gr.Column(elem_classes=tasks) if tasks else contextlib.nullcontext():
                    found[view.name] = view.place(drawn.get(view.name))
        return found

    def _wire(self, engine: Engine, placed: Mapping[str, Any]) -> None:
        newest = Newest()

        async def answers(detail: Any, session: str) -> AsyncGenerator[tuple[Any, ...], None]:
            async with contextlib.aclosing(answer(self, engine, *_wish(detail), session)) as updates:
                async for update in updates:
                    yield tuple(update.get(name, gr.skip()) for name in self.widgets)

        def earlier(detail: Any, session: str) -> AsyncGenerator[Any, None]:
            return before(self, engine, _wish(detail)[0], session)

        bar = placed["ask"]
        bar.ask(wiring.following(newest, answers), None, [placed[name] for name in self.widgets], **wiring.HOW)
        bar.before(wiring.following(Newest(), earlier), None, bar, **wiring.HOW)
        bar.stop(wiring.halting(newest, engine.halt), None, None, **wiring.HOW)
        for view in self.views:
            if view.look:
                self._listen(engine, placed[view.name], placed[view.look.into or view.name], view.look)

    def _listen(self, engine: Engine, placed: Any, drawn: Any, look: Look[R, S]) -> None:
        def updates(detail: Any, session: str) -> AsyncGenerator[Any, None]:
            return looked(self, engine, look, detail, session)

        async def each(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
            async with contextlib.aclosing(updates(wiring.detail(event), wiring.session(caller))) as told:
                async for update in told:
                    yield update

        handler = wiring.following(Newest(), updates) if look.newest else each
        getattr(placed, look.event)(handler, None, drawn, **wiring.HOW)

    async def finished(self, engine: Engine, query: str, given: object = None, session: str = "") -> dict[str, Any]:
        """What the page draws in the end of a wish, by widget name."""
        drawn: dict[str, Any] = {}
        async with contextlib.aclosing(answer(self, engine, query, given, session)) as updates:
            async for update in updates:
                drawn |= update
        return drawn

    async def stored(self, engine: Engine, query: str) -> dict[str, object] | None:
        """What the page draws of an example or a guided step, finished, by widget name; None where it is refused."""
        drawn = await self.finished(engine, query)
        return None if "refused" in {drawn["ask"]["state"], drawn["change"]["state"]} else as_stored(drawn)


def _about(bar: Value) -> Value:
    """What the input bar knows of the request in view."""
    return {name: bar[name] for name in ("query", "plain", "fields", "task", "pick", "items") if name in bar}


def _wish(detail: object) -> tuple[str, object]:
    """Query and fields of an event, whatever was sent."""
    given = detail if isinstance(detail, Mapping) else {}
    return str(given.get("query") or ""), given.get("set")


async def answer(
    program: Program[R, S], engine: Engine, query: str, given: object = None, session: str = ""
) -> AsyncGenerator[dict[str, Value | None], None]:
    """Everything that a page draws until a wish is fulfilled, by widget name: the run as asked for, then what its changes do.

    The first example is shown as it is stored, unless a field was set. Nothing is raised: what is refused is an answer too.
    """
    began = time.monotonic()
    try:
        request, notice = program.read(query, given)
        async with contextlib.aclosing(_seen(program, engine, request, session, anew=given is not None)) as updates:
            async for update in updates:
                if isinstance(update, Waiting):
                    yield {"ask": _waiting(update)}
                elif isinstance(update, list):
                    yield program.grown(update, request)
                else:
                    seen, run = update
        drawn = await asyncio.to_thread(program.drawn, seen, request, replace(run, notice=notice))
    except InputError as error:
        yield {"ask": ask.refused(error.text), "change": change.refused(None)}
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield {"ask": ask.refused(labels.DEFECT), "change": change.refused(None)}
        return
    about = _about(drawn["ask"])
    if program.change is None or program.changes(request) is None:  # or of what another task has
        yield {**drawn, "change": change.idle(about)}
        return
    yield {**drawn, "change": change.running(about)}
    try:
        async with contextlib.aclosing(_compared(program, program.change, engine, request, seen, session, began)) as found:
            async for difference in found:
                yield {"change": change.running(about) if difference is None else change.done(about, difference)}
    except InputError as error:
        yield {"change": change.refused(error.text)}
    except Exception:
        logger.exception("a change could not be drawn")
        yield {"change": change.refused(labels.DEFECT)}


async def _seen(
    program: Program[R, S], engine: Engine, request: R, session: str, *, anew: bool = False
) -> AsyncGenerator[Waiting | list[Any] | tuple[S, Run], None]:
    """The run of a request, last, and how it came about; before it, of an answer that grows, all steps so far. anew: the first example is
    run too, instead of taking what is stored of it."""
    shipped = () if anew else (program.first, *program.others)
    for kept in (one() for one in shipped):
        if kept is not None and request == kept.request:
            yield kept.seen, Run("stored", kept.milliseconds, kept.device)
            return
    steps: list[Any] = []
    follow = engine.stream if program.progress else engine.watch
    async with contextlib.aclosing(follow(program.explain, request, session)) as updates:
        async for update in updates:
            if isinstance(update, list):
                steps += update
                yield steps
            else:
                yield (update.value, Run.of(update)) if isinstance(update, Answer) else update


async def looked(
    program: Program[R, S], engine: Engine, look: Look[R, S], detail: object, session: str = "", *, again: bool = False
) -> AsyncGenerator[Any, None]:
    """What a view that is opened on demand draws of the run that it asks about. Nothing is raised: what is refused is an answer too.

    again: for a page of another web server, so that nothing is measured by a clock."""
    asked, began = look.read(detail), time.monotonic()
    view = next((view for view in program.views if view.look is look), None)

    def drawn() -> Value:
        name = view.name if view else ""
        given = detail if isinstance(detail, Mapping) else {}
        with program.of(found.request, view=name, asked=json.dumps({key: value for key, value in given.items() if key != "wished"})):
            return look.draw(found, asked)

    try:
        request, _ = program.read(asked.run)
        if view and not view.of(request):
            raise InputError("view", **labels.NO_SUCH_VIEW)
        found: Found[R, S] = Found(request)
        if look.needs == "run":
            async with contextlib.aclosing(_seen(program, engine, request, session)) as updates:
                async for update in updates:
                    if isinstance(update, tuple):
                        found = Found(request, update[0])
                    else:
                        yield gr.skip()  # a handler that says nothing is not told that its page was closed
        function = look.function(asked)
        if function is not None:
            wish = look.wish(found, asked)
            if again and getattr(wish, "live", False):
                return
            async with contextlib.aclosing(engine.watch(function, wish, session, began)) as news:
                async for told in news:
                    if isinstance(told, Answer):
                        found = replace(found, answer=told.value)
                    else:
                        yield gr.skip()
        yield await asyncio.to_thread(drawn)
    except InputError as error:
        yield look.refused(asked, error.text)
    except Exception:
        logger.exception("a view could not be opened")
        yield look.refused(asked, labels.DEFECT)


async def _compared(
    program: Program[R, S], changing: Change[R, S], engine: Engine, request: R, after: S, session: str, since: float
) -> AsyncGenerator[change.Shown | None, None]:
    """What a change does, last; None while it is worked out. since: when it was wished for, so that no part of it queues anew."""
    plain = program.plain(request)
    live = getattr(request, "live", False)  # such a run measures both sides itself: two runs would differ by more than the change
    results: list[Any] = [after] if live else []
    calls: list[tuple[Function, Callable[[], Any]]] = [] if live else [(program.explain, lambda: plain)]
    if changing.measure is not None:
        calls += [(changing.measure, lambda one=one: changing.ask(one, results[0])) for one in (plain, request)]  # type: ignore[misc]
    for function, wish in calls:
        asked = wish()
        if asked is None:
            results.append(None)
            continue
        async with contextlib.aclosing(engine.watch(function, asked, session, since)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    results.append(update.value)
                else:
                    yield None
    seen, *measured = results
    before, now = measured or (None, None)

    def drawn() -> change.Shown:
        with program.of(request):
            return changing.draw((seen, after), (before, now), request, program.changes(request) or {})

    yield await asyncio.to_thread(drawn)  # not where the pages are served: it may take some tenths of a second


async def before(program: Program[R, S], engine: Engine, query: str, session: str = "") -> AsyncGenerator[Any, None]:
    """What the widgets draw of a run without its changes, as a value of the input bar; nothing where it is refused."""
    last: dict[str, Any] = {}
    async with contextlib.aclosing(answer(program, engine, query, None, session)) as updates:
        async for update in updates:
            last |= update
            if "answer" not in last["ask"]:
                yield gr.skip()  # a handler that says nothing is not told that its page was closed
    if "answer" in last["ask"]:
        yield ask.before(last["ask"]["query"], last)


def _waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return ask.waiting(where.place, where.of, where.seconds) if where.place else ask.reading()
