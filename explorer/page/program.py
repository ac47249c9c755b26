"""The declaration of a lab's page: its controls, its views, and how a run becomes their values.

A request is a query string and some fields set anew. Input bar and views show the requested run,
changes of the model included. The change panel shows the effect of these changes. The run without
them is another query, which every answer names. A link, a guided step, an example, a stored result
and a knob take the same path.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Generic, cast

import gradio as gr

from explorer.components import change_panel, figure, input_bar
from explorer.components.card import TitleFigure, place_card
from explorer.contract import controls, labels
from explorer.contract.control_kinds import Control, Item, Value
from explorer.contract.lab import OpenLab, Text
from explorer.engine import Answer, Engine, Function, QueuePlace
from explorer.page import wiring
from explorer.page.answers import (
    describe_request,
    read_event,
    render_folded_view,
    render_run_before,
    stream_answer,
)
from explorer.page.drawings import drawings
from explorer.page.newest import Newest
from explorer.page.rendered_results import RenderedResult, make_once
from explorer.page.runs import ResultOrigin, StoredRun, is_live, mark_as_stored
from explorer.page.type_variables import R, R_contra, S, S_contra, T, V
from explorer.page.views import OpeningEvent, View
from explorer.values.packing import convert_to_json, record_origin


@dataclass(frozen=True)
class Change(Generic[R_contra, S_contra]):
    """The effect of a change of the model, as draw(both runs, both measures, request, changes in
    words).

    measure: the engine function that reads the same output again, for each of two requests; None
        where the runs themselves suffice.
    ask(request, before): its question, without and with the change; None where there is none.
    """

    draw: Callable[[tuple[S_contra, S_contra], tuple[Any, Any], R_contra, Text], change_panel.Shown]
    measure: Function | None = None
    ask: Callable[[R_contra, S_contra], object] = lambda request, _before: request


@dataclass(frozen=True)
class About:
    """The facts above the input bar, beside those of `OpenLab`. The functions are called when the
    page is built, `curves` on demand."""

    kicker: Text
    spoken: Text
    pairs: Callable[[], Sequence[TitleFigure]]
    prose: Callable[[], Mapping[str, str]]
    curves: Callable[[], Value | None] = lambda: None


@dataclass(frozen=True)
class AnswerBar(Generic[R, S, V, T]):
    """The input bar of a page: its words, and what it says of a run.

    region: the bar's name.
    run: the text of its button.
    answer(explanation, request): the answer in the input bar, None where it stands in a view.
    describe_warning(request, explanation): the remark on an input outside of the training data.
    notice(request, explanation): any other remark.
    lines(explanation, request): the further lines of the answer's text file.
    describe_endings(explanation, request): why the generated result ends, from
        `input_bar.describe_ending`.
    pick(explanation, request): the model, head and position in view on arrival, where the page has
        these.
    items(explanation, request): the entries that a control of kind "items" offers of a run, by its
        field.
    progress(steps so far, request): the progress of an answer that grows.
    draw_partial_answer(steps so far, request): the part of it that exists, where it stands in the
        input bar.
    """

    region: Text
    run: Text | None = None
    answer: Callable[[S, R], Value | None] = lambda _explanation, _request: None
    describe_warning: Callable[[R, S], Text | None] = lambda _request, _explanation: None
    notice: Callable[[R, S], Text | None] = lambda _request, _explanation: None
    lines: Callable[[S, R], Sequence[Text]] = lambda _explanation, _request: ()
    describe_endings: Callable[[S, R], Sequence[Value]] = lambda _explanation, _request: ()
    pick: Callable[[V, R], Value | None] | None = None
    items: Callable[[V, R], Mapping[str, Sequence[Item]]] | None = None
    progress: Callable[[Sequence[T], R], Text] | None = None
    draw_partial_answer: Callable[[Sequence[T], R], Value | None] = lambda _steps, _request: None


@dataclass(frozen=True)
class Program(Generic[R, S, V, T]):
    """The program of a lab's page: what `explorer.page.lab.Lab` declares, with the files read that
    it speaks of.

    kind: the class of the requests that `explain` answers.
    examples: with their titles; shorts: the titles on chips, beside a long text.
    slug: that of its lab, "" for a page that no lab declares.
    """

    explain: Function
    kind: type[R]
    controls: tuple[Control, ...]
    views: tuple[View[R, S, V, T], ...]
    change: Change[R, S] | None
    examples: Sequence[tuple[R, Text]]
    first: Callable[[], StoredRun[R, S] | None]
    bar: AnswerBar[R, S, V, T]
    about: About
    shorts: Sequence[Text | None] = ()
    others: Sequence[Callable[[], StoredRun[R, Any] | None]] = ()
    prepare: Callable[[S, R], V] | None = None
    slug: str = ""

    @property
    def widget_names(self) -> tuple[str, ...]:
        """The names of all widgets that an answer draws."""
        return ("ask", *(view.name for view in self.views if view.draw), "change")

    def read_request(self, query: str, given: object = None) -> tuple[R, Text | None]:
        """Return the request of an event, and a notice for the visitor. No query, or one that names
        no request, stands for the first example. Raise InputError for a value that cannot be read.
        """
        return controls.read_request(
            self.kind, query, given, first=controls.spell_query(self.examples[0][0])
        )

    def remove_changes(self, request: R) -> R:
        """Return the same input for the model as it was trained."""
        return controls.remove_changes(request, self.controls)

    def name_request(self, request: R, prepared: Any = None) -> Value:
        """Return a request as widgets know it: its query, that of the run without changes, every
        field as text, and the selection of a run."""
        about: Value = {
            "query": controls.spell_query(request),
            "plain": controls.spell_query(self.remove_changes(request)),
            "fields": controls.spell_fields(request),
        }
        if task := getattr(request, "task", ""):
            about["task"] = task
        if prepared is None:
            return about
        if self.bar.items is not None:
            about["items"] = {
                field: convert_to_json(items)
                for field, items in self.bar.items(prepared, request).items()
            }
        return (
            about if self.bar.pick is None else {**about, "pick": self.bar.pick(prepared, request)}
        )

    def describe_changes(self, request: R) -> Text | None:
        """Return the changes of a request to the model, in words; None for no changes."""
        return labels.join_with_and(controls.describe_changes(request, self.controls))

    def address_request(self, request: R, **more: str) -> contextlib.AbstractContextManager[None]:
        """Record, with every address given inside this context, how its content is made again: from
        this request, which no clock measures and a link holds."""
        query = controls.spell_query(request)
        again = self.slug and query and not is_live(request)
        return record_origin(of=self.slug, run=query, **more) if again else contextlib.nullcontext()

    async def recompute_result(
        self, engine: Engine, asked: Mapping[str, str], session: str
    ) -> None:
        """Draw the content of an address again that was given for this (`packing.made_of`). Raise
        InputError where it cannot be read."""
        request, _ = self.read_request(asked.get("run", ""))
        if is_live(request):
            return
        look = next(
            (view.look for view in self.views if view.look and view.name == asked.get("view")), None
        )
        if look is None:
            await self.render_finished_run(engine, asked.get("run", ""), None, session)
            return
        async with contextlib.aclosing(
            render_folded_view(
                self, engine, look, json.loads(asked.get("asked", "")), session, again=True
            )
        ) as updates:
            async for _update in updates:
                pass

    def drawing_key(self, request: R, *parts: object) -> str:
        """Return the key of a request's drawing, or "" where the drawing differs every time, or no
        link could tell the request from another one."""
        query = controls.spell_query(request)
        if not self.slug or not query or is_live(request):
            return ""
        return repr((self.slug, self.explain, query, *parts))

    def draw(
        self,
        seen: S,
        request: R,
        run: ResultOrigin,
        session: str,
        since: float,
    ) -> AsyncGenerator[QueuePlace | Answer[Mapping[str, Any]], None]:
        """Yield the result of `render_run` once its turn has come, or a stored run from disk."""
        stored = None
        if run.state == "stored":
            stored = next((kept for kept in self._list_stored_runs() if kept.seen is seen), None)
        key = self.drawing_key(request, "run", run.state, run.milliseconds, run.device)

        def make() -> Mapping[str, Any]:
            return (
                self.render_run(seen, request, run)
                if stored is None
                else self._render_stored_example(stored)
            )

        return drawings().draw(make, session, key=key, kind=self.slug, since=since)

    def _list_stored_runs(self) -> Iterator[StoredRun[R, S]]:
        """Yield the stored result of the first example, then those of others."""
        return (kept for one in (self.first, *self.others) if (kept := one()) is not None)

    def render_run(self, seen: S, request: R, run: ResultOrigin) -> dict[str, Any]:
        """Render a run for the input bar and the views. This may take some tenths of a second: do
        not call it in the thread that serves pages."""
        with self.address_request(request):
            return self._render_views(seen, request, run)

    def prepare_run(self, seen: S, request: R) -> V:
        """Return what the views are given: without `prepare`, the explanation itself."""
        return cast("V", seen) if self.prepare is None else self.prepare(seen, request)

    def _render_views(self, seen: S, request: R, run: ResultOrigin) -> dict[str, Any]:
        prepared = self.prepare_run(seen, request)
        bar = input_bar.show_result(
            self.name_request(request, prepared),
            state=run.state,
            milliseconds=run.milliseconds,
            device=run.device,
            answer=self.bar.answer(seen, request),
            lines=self.bar.lines(seen, request),
            changes=self.describe_changes(request),
            notice=self.bar.notice(request, seen),
            warning=self.bar.describe_warning(request, seen),
            ended=self.bar.describe_endings(seen, request),
        )
        views = [view for view in self.views if view.draws_request(request)]
        return {
            "ask": bar,
            **{view.name: view.draw(prepared, request, run.state) for view in views if view.draw},
        }

    def render_growing_run(self, steps: Sequence[Any], request: R) -> dict[str, Any]:
        """Render an answer that grows for the input bar and the views.

        steps: all so far.
        """
        said = self.bar.progress(steps, request) if self.bar.progress else {}
        views = [view for view in self.views if view.draws_request(request)]
        bar = input_bar.show_growing(
            self.name_request(request), said, self.bar.draw_partial_answer(steps, request)
        )
        return {"ask": bar, **{view.name: view.grow(steps, request) for view in views if view.grow}}

    def place_page(self, lab: OpenLab, engine: Engine) -> None:
        """Place the components, draw the stored first example, and connect every event of a visitor
        to the engine."""
        kept = self.first()
        drawn: Mapping[str, Any] = (
            {"ask": input_bar.show_empty()} if kept is None else self._render_stored_example(kept)
        )
        start = self.examples[0][0]
        about = self.about
        titled = place_card(
            kicker=about.kicker,
            title=lab.title,
            line=lab.line,
            equation=lab.equation,
            spoken=about.spoken,
            pairs=about.pairs(),
            prose=about.prose(),
        )
        with gr.Column(elem_classes=["tfe-card-curve"]):
            curve = figure.place_figure()
        bar = input_bar.place_input_bar(
            drawn["ask"],
            region=self.bar.region,
            run=self.bar.run,
            controls=self.controls,
            kind=self.kind,
            examples=[
                input_bar.Example(
                    title, controls.spell_query(one), controls.spell_fields(one), short
                )
                for (one, title), short in zip(
                    self.examples, chain(self.shorts, repeat(None)), strict=False
                )
            ],
            answers=self.widget_names,
            begins=lab.own,
        )
        placed = {"ask": bar, **self._place_views("above", drawn)}
        known = change_panel.show_unchanged(
            describe_request(drawn["ask"]) if kept else self.name_request(start)
        )
        if any(view.at in {"wide", "beside", "side"} for view in self.views):
            with gr.Row(elem_classes=["tfe-bench"]):
                with gr.Column(elem_classes=["tfe-bench-wide"]):
                    placed |= self._place_views("wide", drawn)
                with gr.Column(elem_classes=["tfe-bench-side"]):
                    placed |= self._place_views("beside", drawn)
                    placed["change"] = change_panel.place_change_panel(
                        known, controls=self.controls, kind=self.kind
                    )
                    placed |= self._place_views("side", drawn)
        else:
            placed["change"] = change_panel.place_change_panel(
                known, controls=self.controls, kind=self.kind, across=True
            )
        placed |= self._place_views("below", drawn)
        self._wire_events(engine, placed)
        titled.unfold(about.curves, None, curve, **wiring.HOW)

    def _render_stored_example(self, kept: StoredRun[R, S]) -> Mapping[str, Any]:
        """Return the drawing of the stored first example."""

        def draw() -> dict[str, Any]:
            return self.render_run(
                kept.seen, kept.request, ResultOrigin("stored", kept.milliseconds, kept.device)
            )

        if not self.slug:  # a page that no lab declares
            return draw()
        named = f"first {self.slug} {controls.spell_query(kept.request)} {kept.milliseconds}"
        return make_once(named, lambda: RenderedResult.record_values(draw())).restore_values(draw)

    def _place_views(self, at: str, drawn: Mapping[str, Value | None]) -> dict[str, Any]:
        found = {}
        for view in self.views:
            if view.at == at:
                tasks = [f"tfe-of-{task}" for task in view.task.split()]
                with gr.Column(elem_classes=tasks) if tasks else contextlib.nullcontext():
                    found[view.name] = view.place(drawn.get(view.name))
        return found

    def _wire_events(self, engine: Engine, placed: Mapping[str, Any]) -> None:
        newest = Newest()

        async def answers(detail: Any, session: str) -> AsyncGenerator[tuple[Any, ...], None]:
            async with contextlib.aclosing(
                stream_answer(self, engine, *read_event(detail), session)
            ) as updates:
                async for update in updates:
                    yield tuple(update.get(name, gr.skip()) for name in self.widget_names)

        def earlier(detail: Any, session: str) -> AsyncGenerator[Any, None]:
            return render_run_before(self, engine, read_event(detail)[0], session)

        bar = placed["ask"]
        bar.ask(
            wiring.follow_newest_request(newest, answers),
            None,
            [placed[name] for name in self.widget_names],
            **wiring.HOW,
        )
        bar.before(wiring.follow_newest_request(Newest(), earlier), None, bar, **wiring.HOW)
        bar.stop(wiring.stop_on_event(newest, engine.halt), None, None, **wiring.HOW)
        for view in self.views:
            if view.look and placed[view.name] is not None:
                self._listen_to_view(
                    engine, placed[view.name], placed[view.look.into or view.name], view.look
                )

    def _listen_to_view(
        self, engine: Engine, placed: Any, drawn: Any, look: OpeningEvent[R, S]
    ) -> None:
        def updates(detail: Any, session: str) -> AsyncGenerator[Any, None]:
            return render_folded_view(self, engine, look, detail, session)

        async def each(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
            async with contextlib.aclosing(
                updates(wiring.read_detail(event), wiring.read_session(caller))
            ) as told:
                async for update in told:
                    yield update

        handler = wiring.follow_newest_request(Newest(), updates) if look.newest else each
        getattr(placed, look.event)(handler, None, drawn, **wiring.HOW)

    async def render_finished_run(
        self, engine: Engine, query: str, given: object = None, session: str = ""
    ) -> dict[str, Any]:
        """Return the page's last drawing of a request, by widget name."""
        drawn: dict[str, Any] = {}
        async with contextlib.aclosing(
            stream_answer(self, engine, query, given, session)
        ) as updates:
            async for update in updates:
                drawn |= update
        return drawn

    async def render_stored_result(self, engine: Engine, query: str) -> dict[str, object] | None:
        """Return the page's finished drawing of an example or a guided step, by widget name; None
        where it is refused."""
        drawn = await self.render_finished_run(engine, query)
        return (
            None
            if "refused" in {drawn["ask"]["state"], drawn["change"]["state"]}
            else mark_as_stored(drawn)
        )
