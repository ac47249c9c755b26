"""What the pages of models of long texts do alike: read a wish, stream a reading, and tell what a change in the model costs.

A page says in a `Subject` which functions run its models and what its widgets draw.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine, Waiting
from explorer.labs.runs import Run, Stored, as_stored
from explorer.labs.wiring import whole
from explorer.widgets import reread, writer
from models.errors import InputError

logger = logging.getLogger(__name__)

Text = Mapping[str, str]
Value = dict[str, object]


def _(en: str, zh: str) -> Text:
    return MappingProxyType({"en": en, "zh": zh})


MALFORMED: Final = _(
    "The request does not have the form in which this page sends it: a text, a page, numbers, what is changed in the model.",
    "请求的格式与本页发送的不同：应含文本、页面、几个数，以及对模型的改动。",
)
LONG_LINK: Final = _("This text is too long for a link; save the view as a file instead.", "该文本太长，放不进链接；请把视图存为文件。")
UNKNOWN: Final = _(
    "{n} of the characters stand in no book of training ({letters}): they are read and scored as one unknown character.",
    "有 {n} 个字符在训练的书中从未出现（{letters}）：它们都按同一个未知字符读取和评分。",
)
UNKNOWN_ONE: Final = _(
    "One character stands in no book of training ({letters}): it is read and scored as an unknown one.",
    "有 1 个字符在训练的书中从未出现（{letters}）：它按未知字符读取和评分。",
)
UNLIKE: Final = _(
    "This text is unlike the books of training: {bits} bits per character, more than 99 of 100 pages of a held-out book cost.",
    "这段文本与训练的书很不一样：每字符 {bits} 比特，高于留出的书中 100 页里的 99 页。",
)
LISTED = 8  # unknown characters that are named


class Asking(Protocol):
    """What the requests of these labs have in common: a text or a page, and how it is written on."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __hash__(self) -> int:
        """It is frozen, and stands for its result."""

    @property
    def text(self) -> str:
        """The visitor's own, or "" for a page."""

    @property
    def length(self) -> int:
        """Characters to write."""


AskingT = TypeVar("AskingT", bound=Asking)
SeenT = TypeVar("SeenT")


@dataclass(frozen=True)
class Subject(Generic[AskingT, SeenT]):
    """One lab's side of what its page does.

    generate, reread: functions as the engine calls them. start: the request that a bare address stands for. first(): its stored result,
    None where none is shipped. plain(request): the same text for the models as trained. again(request, seen): what `reread` is asked.
    growing(request, steps): what the bar and then every view draw of a reading under way. draw(seen, request, run): of a finished one.
    change(request, before, after, losses): what the panel draws of a comparison; losses: what `reread` answers. spelled: the request as
    the browser holds it. asked(detail): the request that the browser sends. there(request): InputError where its model is not shipped.
    widgets: names, the bar's first and the panel's last, in the order of the page's outputs.
    """

    generate: Any
    reread: Any
    kind: type[AskingT]
    start: AskingT
    first: Callable[[], Stored[AskingT, SeenT] | None]
    plain: Callable[[AskingT], AskingT]
    again: Callable[[AskingT, SeenT], Hashable]
    growing: Callable[[AskingT, Sequence[Any]], Sequence[Value | None]]
    draw: Callable[[SeenT, AskingT, Run], Sequence[Value | None]]
    change: Callable[[AskingT, SeenT, SeenT, Any], Value]
    spelled: Callable[[AskingT], Value]
    asked: Callable[[Mapping[str, Any]], AskingT]
    there: Callable[[AskingT], None]
    widgets: tuple[str, ...]

    @property
    def views(self) -> int:
        """How many views stand between the bar and the panel."""
        return len(self.widgets) - 2


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def query(request: Asking) -> str:
    """The request part of the permalink; empty for a text that no link carries."""
    try:
        return permalink.encode(request)
    except permalink.LinkTooLong:
        return ""


def number(value: object) -> float:
    """A number that came as JSON. TypeError for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def words(value: object) -> str:
    """A text that came as JSON. TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def read(kind: type[AskingT], given: Mapping[str, Any], how: Mapping[str, Callable[[Any], object]]) -> AskingT:
    """A request out of JSON. how: what makes a field of its value, where it is not a whole number; KeyError for a field that is missing."""
    return kind(**{field.name: how.get(field.name, whole)(given[field.name]) for field in fields(kind)})


def asked(subject: Subject[AskingT, SeenT], detail: object) -> tuple[AskingT, Text | None]:
    """The request that the browser sends as JSON. Ranges are the model's affair; InputError for what has not even the right form."""
    try:
        given = detail["request"] if isinstance(detail, Mapping) and "request" in detail else detail
        if not isinstance(given, Mapping):
            raise TypeError("an object is meant")
        return subject.asked(given), None
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("malformed", en=MALFORMED["en"], zh=MALFORMED["zh"]) from None


def linked(subject: Subject[AskingT, SeenT], detail: object) -> tuple[AskingT, Text | None]:
    """The request of a permalink {query}, and a notice where the link says more than this page knows; no query is the first example."""
    address = detail.get("query", "") if isinstance(detail, Mapping) else ""
    return permalink.decode(subject.kind, str(address)) if address else (subject.start, None)


# ---- what comes back ---------------------------------------------------------------------------------------------------------------


async def answers(
    engine: Engine,
    subject: Subject[AskingT, SeenT],
    wish: Callable[[], tuple[AskingT, Text | None]],
    session: str = "",
    *,
    anew: bool = False,
) -> AsyncGenerator[tuple[Any, ...], None]:
    """Everything the page draws until a wish is fulfilled: characters as they are read and written, the finished run as it was asked for,
    then what the change in it costs.

    wish: reads the request, with a notice for the visitor. anew: run the first example too, instead of showing what is stored of it.
    Each update has one entry for each of the subject's widgets.
    """
    skip = gr.skip()
    skips = (skip,) * subject.views
    try:
        request, notice = wish()
        kept = subject.first()
        if kept is not None and request == kept.request and not anew:
            seen, run = kept.seen, Run("stored", kept.milliseconds, kept.device, notice)
        else:
            subject.there(request)
            steps: list[Any] = []
            async with contextlib.aclosing(engine.stream(subject.generate, request, session)) as updates:
                async for news in updates:
                    if isinstance(news, Answer):
                        seen, run = news.value, Run.of(news, notice)
                    elif isinstance(news, list):
                        steps += news
                        yield *subject.growing(request, steps), skip
                    else:
                        yield waiting(news), *skips, skip
        drawn = await asyncio.to_thread(subject.draw, seen, request, run)
    except InputError as error:
        yield writer.refused(error.text), *skips, reread.refused(None)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield writer.refused(labels.DEFECT), *skips, reread.refused(None)
        return
    plain = subject.plain(request)
    comparing = plain != request
    yield *drawn, reread.running(subject.spelled(request)) if comparing else reread.idle(subject.spelled(request))
    if not comparing:
        return
    try:
        before = kept.seen if kept is not None and plain == kept.request else None
        if before is None:
            async with contextlib.aclosing(engine.watch(subject.generate, plain, session)) as watched:
                async for step in watched:
                    if isinstance(step, Answer):
                        before = step.value
                    else:
                        yield skip, *skips, reread.running()
        assert before is not None
        async with contextlib.aclosing(engine.watch(subject.reread, subject.again(request, before), session)) as watched:
            async for step in watched:
                if isinstance(step, Answer):
                    yield skip, *skips, await asyncio.to_thread(subject.change, request, before, seen, step.value)
                else:
                    yield skip, *skips, reread.running()
    except InputError as error:
        yield skip, *skips, reread.refused(error.text)


def waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return writer.waiting(where.place, where.of, where.seconds) if where.place else writer.reading()


async def stored(engine: Engine, subject: Subject[AskingT, SeenT], address: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished, by widget name; None where it is refused."""
    drawn: dict[str, Any] = {}
    async with contextlib.aclosing(answers(engine, subject, lambda: linked(subject, {"query": address}))) as updates:
        async for update in updates:
            drawn |= {name: value for name, value in zip(subject.widgets, update, strict=True) if value != gr.skip()}
    if "refused" in {drawn[name]["state"] for name in (subject.widgets[0], subject.widgets[-1])}:
        return None
    return as_stored(drawn)


def remarks(*notices: Text | None) -> Text | None:
    """Several remarks as one, or None for none."""
    said = [notice for notice in notices if notice]
    return {"en": " ".join(one["en"] for one in said), "zh": "".join(one["zh"] for one in said)} if said else None


def unknown(letters: Sequence[str], places: int) -> Text | None:
    """What to say of characters that no model has seen, each named once, which take so many places; None for none."""
    if not places:
        return None
    named = "".join(letters[:LISTED]) + ("…" if len(letters) > LISTED else "")
    return labels.filled(UNKNOWN_ONE if places == 1 else UNKNOWN, n=f"{places:,}", letters=named)
