"""The one handler of all pages: a request goes to the engine, and the values of all widgets come
back, as they grow. So do a view that is opened on demand and the run before a change."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import gradio as gr

from explorer.components import change_panel, input_bar
from explorer.contract import labels
from explorer.contract.control_kinds import Value
from explorer.contract.lab import Text
from explorer.engine import Answer, Engine, QueuePlace
from explorer.page.drawings import drawings
from explorer.page.runs import ResultOrigin, holds_both, is_live
from explorer.page.type_variables import R, S, T, V
from explorer.page.views import Found, OpeningEvent
from explorer.values.packing import convert_to_json
from models.explaining.errors import InputError

if TYPE_CHECKING:
    from explorer.page.program import Change, Program


U = TypeVar("U")

HEARTBEAT = 2.0  # seconds between two updates about a change

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
    program: Program[R, S, V, T],
    engine: Engine,
    query: str,
    given: object = None,
    session: str = "",
) -> AsyncGenerator[dict[str, Value | None], None]:
    """Yield every drawing of a page until a request is answered, by widget name: the requested run,
    then the effect of its changes.

    The first example is shown as it is stored, unless a field was set. Nothing is raised: a refusal
    is an answer too.
    """
    began = time.monotonic()
    try:
        request, notice = program.read_request(query, given)
        before = _start_run_before(program, engine, request, session, began)
    except InputError as error:
        yield _show_refusal(error.text)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield _show_refusal(labels.DEFECT)
        return
    asked = _Asked(program, engine, request, session, began)
    try:
        updates = _answer_request(asked, notice, before, anew=given is not None)
        async with contextlib.aclosing(updates) as news:
            async for update in news:
                yield update
    finally:
        if before is not None:
            before.cancel()


@dataclass(frozen=True)
class _Asked(Generic[R, S, V, T]):
    """A request that a page is to answer.

    since: its time, so that no part of it queues anew.
    """

    program: Program[R, S, V, T]
    engine: Engine
    request: R
    session: str
    since: float


def _show_refusal(sentence: Text) -> dict[str, Value | None]:
    return {"ask": input_bar.show_refusal(sentence), "change": change_panel.show_refusal(None)}


def _start_run_before(
    program: Program[R, S, V, T], engine: Engine, request: R, session: str, since: float
) -> asyncio.Task[Answer[S]] | None:
    """Start the run of a request without its changes; return None where it has none.

    The engine gets it together with the request itself, so that both share a batch. A run that is
    measured live is not started, nor one that holds both sides: two runs would differ by more than
    the change, or cost twice as much.
    """
    # A changed control of another task counts as no change.
    if program.change is None or program.describe_changes(request) is None:
        return None
    if is_live(request) or holds_both(request):
        return None
    plain = program.remove_changes(request)
    return _start_task(engine.ask(program.explain, plain, session, since))


async def _answer_request(
    asked: _Asked[R, S, V, T],
    notice: Text | None,
    before: asyncio.Task[Answer[S]] | None,
    *,
    anew: bool,
) -> AsyncGenerator[dict[str, Value | None], None]:
    program, request = asked.program, asked.request
    grown: Value | None = None
    try:
        async with contextlib.aclosing(
            _stream_run(program, asked.engine, request, asked.session, anew=anew)
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
                    explanation, origin = update
        values: Mapping[str, Any] = {}
        async with contextlib.aclosing(
            program.draw(explanation, request, origin, asked.session, asked.since)
        ) as places:
            async for place in places:
                if isinstance(place, QueuePlace):
                    yield {"ask": _describe_queue_place(place)}
                else:
                    values = _prepend_notice(place.value, notice)
    except InputError as error:
        yield _show_refusal(error.text)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield _show_refusal(labels.DEFECT)
        return
    about = describe_request(values["ask"])
    if program.change is None or program.describe_changes(request) is None:
        yield {**values, "change": change_panel.show_unchanged(about)}
        return
    yield {**values, "change": change_panel.show_running(about)}
    try:
        compared = _stream_comparison(asked, program.change, explanation, before, about)
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
    program: Program[R, S, V, T], engine: Engine, request: R, session: str, *, anew: bool = False
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
    follow = engine.stream if program.bar.progress else engine.watch
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
    program: Program[R, S, V, T],
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
        is_measurement = False
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
            is_measurement = is_live(wish)
            if again and is_measurement:
                return
            async with contextlib.aclosing(engine.watch(function, wish, session, began)) as news:
                async for told in news:
                    if isinstance(told, Answer):
                        found = replace(found, answer=told.value)
                    else:
                        yield gr.skip()
        key = "" if is_measurement else program.drawing_key(found.request, name, look.event, wanted)
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
    asked: _Asked[R, S, V, T],
    changing: Change[R, S],
    after: S,
    before: asyncio.Task[Answer[S]] | None,
    about: Value,
) -> AsyncGenerator[Value | None, None]:
    """Yield None while the effect of a change is computed, and at last the value of its panel.

    after: the run of the request.
    before: its run without the change, None where the request's run measures both sides.
    about: as in `change_panel.show_unchanged`.
    """
    program, request, session, since = asked.program, asked.request, asked.session, asked.since
    if before is not None:
        async for _ in _follow_tasks([before]):
            yield None
    unchanged = after if before is None else before.result().value
    tasks = [
        _start_task(_measure(asked, changing, side, unchanged))
        for side in (program.remove_changes(request), request)
    ]
    try:
        async for _ in _follow_tasks(tasks):
            yield None
    finally:
        for task in tasks:
            task.cancel()
    without, with_ = (task.result() for task in tasks)

    def draw() -> Value:
        with program.address_request(request):
            changes = program.describe_changes(request) or {}
            difference = changing.draw((unchanged, after), (without, with_), request, changes)
            return change_panel.show_change(about, difference)

    key = program.drawing_key(request, "change")
    kind = f"{program.slug} change"
    drawing = drawings().draw(draw, session, key=key, kind=kind, since=since)
    async with contextlib.aclosing(drawing) as places:
        async for place in places:
            yield place.value if isinstance(place, Answer) else None


async def _measure(asked: _Asked[R, S, V, T], changing: Change[R, S], request: R, seen: S) -> Any:
    """Return the measure of one side of a change; None where there is none."""
    wish = None if changing.measure is None else changing.ask(request, seen)
    if changing.measure is None or wish is None:
        return None
    return (await asked.engine.ask(changing.measure, wish, asked.session, asked.since)).value


def _start_task(coroutine: Coroutine[Any, Any, U]) -> asyncio.Task[U]:
    """Return a task whose error may stay unread, because another one was raised before it."""
    task = asyncio.create_task(coroutine)
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    return task


async def _follow_tasks(tasks: Sequence[asyncio.Task[Any]]) -> AsyncGenerator[None, None]:
    """Yield now and then until all tasks are done, or one fails.

    Gradio tells a handler that its page was closed only when the handler yields.
    """
    while True:
        done, left = await asyncio.wait(
            tasks, timeout=HEARTBEAT, return_when=asyncio.FIRST_EXCEPTION
        )
        if not left or any(task.cancelled() or task.exception() for task in done):
            break
        yield
    for task in done:
        task.result()  # raises its error


async def render_run_before(
    program: Program[R, S, V, T], engine: Engine, query: str, session: str = ""
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
