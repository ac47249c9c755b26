"""The one handler of all pages: a request goes to the engine, and the values of all widgets come
back, as they grow. So do a view that is opened on demand and the run before a change."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import gradio as gr

from explorer.components import change_panel, input_bar
from explorer.contract import labels
from explorer.contract.controls import Value
from explorer.contract.lab import Text
from explorer.engine import Answer, Engine, Function, QueuePlace
from explorer.page.drawings import drawings
from explorer.page.runs import ResultOrigin
from explorer.page.views import Found, OpeningEvent
from explorer.values.packing import convert_to_json
from models.explaining.errors import InputError

if TYPE_CHECKING:
    from explorer.page.program import Change, Program

R = TypeVar("R")
S = TypeVar("S")

logger = logging.getLogger(__name__)


def describe_request(bar: Value) -> Value:
    """Return the input bar's facts about the request in view."""
    return {
        name: bar[name]
        for name in ("query", "plain", "fields", "task", "pick", "items")
        if name in bar
    }


def _prepend_notice(drawn: Mapping[str, Any], notice: Text | None) -> Mapping[str, Any]:
    """Return a drawing with one more notice in its input bar, before its own."""
    if notice is None:
        return drawn
    bar = drawn["ask"]
    return {
        **drawn,
        "ask": {**bar, "notice": convert_to_json(labels.join_sentences(notice, bar["notice"]))},
    }


def read_event(detail: object) -> tuple[str, object]:
    """Return query and fields of an event. Any event is accepted."""
    given = detail if isinstance(detail, Mapping) else {}
    return str(given.get("query") or ""), given.get("set")


async def stream_answer(
    program: Program[R, S], engine: Engine, query: str, given: object = None, session: str = ""
) -> AsyncGenerator[dict[str, Value | None], None]:
    """Yield every drawing of a page until a request is answered, by widget name: the requested run,
    then the effect of its changes.

    The first example is shown as it is stored, unless a field was set. Nothing is raised: a refusal
    is an answer too.
    """
    began = time.monotonic()
    grown: Value | None = None
    try:
        request, notice = program.read_request(query, given)
        async with contextlib.aclosing(
            _stream_run(program, engine, request, session, anew=given is not None)
        ) as updates:
            async for update in updates:
                if isinstance(update, QueuePlace):
                    # What has grown stays in view while the next step is computed.
                    yield {"ask": grown or _describe_queue_place(update)}
                elif isinstance(update, list):
                    growing = program.render_growing_run(update, request)
                    grown = growing.get("ask")
                    yield growing
                else:
                    seen, run = update
        drawn: Mapping[str, Any] = {}
        async with contextlib.aclosing(program.draw(seen, request, run, session, began)) as updates:
            async for place in updates:
                if isinstance(place, QueuePlace):
                    yield {"ask": _describe_queue_place(place)}
                else:
                    drawn = _prepend_notice(place.value, notice)
    except InputError as error:
        yield {"ask": input_bar.show_refusal(error.text), "change": change_panel.show_refusal(None)}
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield {
            "ask": input_bar.show_refusal(labels.DEFECT),
            "change": change_panel.show_refusal(None),
        }
        return
    about = describe_request(drawn["ask"])
    # A changed control of another task counts as no change.
    if program.change is None or program.describe_changes(request) is None:
        yield {**drawn, "change": change_panel.show_unchanged(about)}
        return
    yield {**drawn, "change": change_panel.show_running(about)}
    try:
        compared = _stream_comparison(
            program, program.change, engine, request, seen, session, began, about
        )
        async with contextlib.aclosing(compared) as found:
            async for difference in found:
                yield {
                    "change": change_panel.show_running(about) if difference is None else difference
                }
    except InputError as error:
        yield {"change": change_panel.show_refusal(error.text)}
    except Exception:
        logger.exception("a change could not be drawn")
        yield {"change": change_panel.show_refusal(labels.DEFECT)}


async def _stream_run(
    program: Program[R, S], engine: Engine, request: R, session: str, *, anew: bool = False
) -> AsyncGenerator[QueuePlace | list[Any] | tuple[S, ResultOrigin], None]:
    """Yield the run of a request, last, with how it came about. Before it, of an answer that grows,
    yield all steps so far.

    anew: the first example is run too, instead of its stored result.
    """
    for kept in () if anew else program._list_stored_runs():
        if request == kept.request:
            yield kept.seen, ResultOrigin("stored", kept.milliseconds, kept.device)
            return
    steps: list[Any] = []
    follow = engine.stream if program.progress else engine.watch
    async with contextlib.aclosing(follow(program.explain, request, session)) as updates:
        async for update in updates:
            if isinstance(update, list):
                steps += update
                yield steps
            else:
                yield (
                    (update.value, ResultOrigin.from_answer(update))
                    if isinstance(update, Answer)
                    else update
                )


async def render_folded_view(
    program: Program[R, S],
    engine: Engine,
    look: OpeningEvent[R, S],
    detail: object,
    session: str = "",
    *,
    again: bool = False,
) -> AsyncGenerator[Any, None]:
    """Yield the drawing of a view that is opened on demand, for the run that it names. Nothing is
    raised: a refusal is an answer too.

    again: for a page of another web server, so that no clock is read.
    """
    asked, began = look.read(detail), time.monotonic()
    view = next((view for view in program.views if view.look is look), None)
    name = view.name if view else ""
    given = detail if isinstance(detail, Mapping) else {}
    wanted = ""

    def draw() -> Value:
        with program.address_request(found.request, view=name, asked=wanted):
            return look.draw(found, asked)

    try:
        wanted = json.dumps({field: value for field, value in given.items() if field != "wished"})
        request, _ = program.read_request(asked.run)
        if view and not view.draws_request(request):
            raise InputError("view", **labels.NO_SUCH_VIEW)
        found: Found[R, S] = Found(request)
        is_live = False
        if look.needs == "run":
            async with contextlib.aclosing(
                _stream_run(program, engine, request, session)
            ) as updates:
                async for update in updates:
                    if isinstance(update, tuple):
                        found = Found(request, update[0])
                    else:
                        # Gradio tells a handler that its page was closed only when the handler
                        # yields
                        yield gr.skip()
        function = look.function(asked)
        if function is not None:
            wish = look.wish(found, asked)
            is_live = getattr(wish, "live", False)
            if again and is_live:
                return
            async with contextlib.aclosing(engine.watch(function, wish, session, began)) as news:
                async for told in news:
                    if isinstance(told, Answer):
                        found = replace(found, answer=told.value)
                    else:
                        yield gr.skip()
        key = "" if is_live else program.drawing_key(found.request, name, look.event, wanted)
        kind = f"{program.slug} {name}"
        drawing = drawings().draw(draw, session, key=key, kind=kind, since=began)
        async with contextlib.aclosing(drawing) as places:
            async for place in places:
                yield place.value if isinstance(place, Answer) else gr.skip()
    except InputError as error:
        yield look.refused(asked, error.text)
    except Exception:
        logger.exception("a view could not be opened")
        yield look.refused(asked, labels.DEFECT)


async def _stream_comparison(
    program: Program[R, S],
    changing: Change[R, S],
    engine: Engine,
    request: R,
    after: S,
    session: str,
    since: float,
    about: Value,
) -> AsyncGenerator[Value | None, None]:
    """Yield None while the effect of a change is computed, and at last the value of its panel.

    since: the time of the request, so that no part of it queues anew.
    about: as in `change_panel.show_unchanged`.
    """
    plain = program.remove_changes(request)
    # this run measures both sides itself: two runs would differ by more than the change, or cost
    # twice as much
    both = getattr(request, "live", False) or getattr(request, "holds_both", False)
    results: list[Any] = [after] if both else []
    calls: list[tuple[Function, Callable[[], Any]]] = (
        [] if both else [(program.explain, lambda: plain)]
    )
    if changing.measure is not None:
        calls += [
            (changing.measure, lambda one=one: changing.ask(one, results[0]))  # type: ignore[misc]
            for one in (plain, request)
        ]
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

    def draw() -> Value:
        with program.address_request(request):
            changes = program.describe_changes(request) or {}
            difference = changing.draw((seen, after), (before, now), request, changes)
            return change_panel.show_change(about, difference)

    key = program.drawing_key(request, "change")
    kind = f"{program.slug} change"
    drawing = drawings().draw(draw, session, key=key, kind=kind, since=since)
    async with contextlib.aclosing(drawing) as places:
        async for place in places:
            yield place.value if isinstance(place, Answer) else None


async def render_run_before(
    program: Program[R, S], engine: Engine, query: str, session: str = ""
) -> AsyncGenerator[Any, None]:
    """Yield the widgets' drawings of a run without its changes, as a value of the input bar;
    nothing where it is refused."""
    last: dict[str, Any] = {}
    async with contextlib.aclosing(stream_answer(program, engine, query, None, session)) as updates:
        async for update in updates:
            last |= update
            if "answer" not in last["ask"]:
                # Gradio tells a handler that its page was closed only when the handler yields
                yield gr.skip()
    if "answer" in last["ask"]:
        yield input_bar.show_run_before(last["ask"]["query"], last)


def _describe_queue_place(where: QueuePlace) -> Value:
    """Return the badge of a request in the queue. Place 0 is running, and the badge already says
    that."""
    return (
        input_bar.show_waiting(where.place, where.of, where.seconds)
        if where.place
        else input_bar.show_reading()
    )
