"""What the pages of networks that decide how long they think do alike: read a wish, answer it, and tell what an intervention changes.

Their requests share the fields of `Asking`; a page says in a `Subject` which functions run its network and what its widgets draw.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import typing
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine, Waiting
from explorer.labels import change_sentence, filled
from explorer.labs.adaptive_depth import COSTS, COSTS_SAME, MEASURED, OTHER, RIGHT, RIGHT_SAME, SAME, Seen, Words
from explorer.labs.runs import Run, Stored, as_stored
from explorer.labs.wiring import whole
from explorer.widgets import asker, rethink
from models.errors import InputError

logger = logging.getLogger(__name__)

Text = Mapping[str, str]
Value = dict[str, object]


def _(en: str, zh: str) -> Text:
    return MappingProxyType({"en": en, "zh": zh})


MALFORMED: Final = _(
    "The request does not have the form in which this page sends it: a task, a text, ε, a limit, numbers, a signal.",
    "请求的格式与本页发送的不同：应含任务、文本、ε、上限、几个数与信号。",
)
LONG_LINK: Final = _("This input is too long for a link; save the view as a file instead.", "该输入太长，放不进链接；请把视图存为文件。")
UNDER: Final = _("This is the network {change}.", "此处的网络：{change}。")

# An intervention in words. {count} is a number of steps, {place} one of those that think.
FORCED: Final = _("with exactly {count} for every {place}", "每个{place}恰好 {count}")
EPSILON: Final = _("with ε = {epsilon}", "ε = {epsilon}")
LIMIT: Final = _("with at most {count}", "最多 {count}")
BIAS: Final = _("with {bias} on the halting unit", "停止单元的输入加 {bias}")


class Asking(Protocol):
    """What the requests of these labs have in common: an input, and what is changed in the network meanwhile."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __hash__(self) -> int:
        """It is frozen, and stands for its result."""

    @property
    def task(self) -> str:
        """Which task."""

    @property
    def text(self) -> str:
        """What was typed."""

    @property
    def epsilon(self) -> float:
        """ε."""

    @property
    def limit(self) -> int:
        """M, or 0 for the limit as trained."""

    @property
    def forced(self) -> int:
        """Steps that everything takes, or 0."""

    @property
    def bias(self) -> float:
        """Added to the input of the halting unit."""

    @property
    def told(self) -> bool:
        """Is the step signal on?"""


AskingT = TypeVar("AskingT", bound=Asking)
SeenT = TypeVar("SeenT", bound=Seen)
SeenT_co = TypeVar("SeenT_co", bound=Seen, covariant=True)


class Compared(Protocol[SeenT_co]):
    """What the comparisons of these labs have in common: every pair is without and with the intervention."""

    @property
    def before(self) -> SeenT_co:
        """Nothing changed."""

    @property
    def after(self) -> SeenT_co:
        """Under the intervention."""

    @property
    def accuracy(self) -> tuple[float, float]:
        """Share of right answers of the sample."""

    @property
    def ponder(self) -> tuple[float, float]:
        """Mean N + R of the sample."""

    @property
    def milliseconds(self) -> tuple[float, float]:
        """Of the sample."""

    @property
    def sample(self) -> int:
        """How many held-out inputs."""


@dataclass(frozen=True)
class Subject(Generic[AskingT, SeenT]):
    """One lab's side of what its page does.

    explain, compare: functions as the engine calls them. kind: the class of its requests. start: the request that a bare address stands
    for. first(): its stored result, None where none is shipped. draw(seen, request, run): what the input bar and then every view draw of
    a run. words: what its things are called. widgets: names, the bar's first and the panel's last, in the order of the page's outputs.
    """

    explain: Any
    compare: Any
    kind: type[AskingT]
    start: AskingT
    first: Callable[[], Stored[AskingT, SeenT] | None]
    draw: Callable[[SeenT, AskingT, Run], Sequence[Value | None]]
    words: Words
    widgets: tuple[str, ...]

    @property
    def views(self) -> int:
        """How many views stand between the bar and the panel."""
        return len(self.widgets) - 2


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def spelled(request: Asking) -> Value:
    """A request as the browser holds it: every field."""
    return {field.name: getattr(request, field.name) for field in fields(request)}


def query(request: Asking) -> str:
    """The request part of the permalink; empty for an input that no link carries."""
    try:
        return permalink.encode(request)
    except permalink.LinkTooLong:
        return ""


def neutral(kind: type[Asking]) -> Value:
    """The fields that say how the network runs, with nothing changed."""
    return {field.name: field.default for field in fields(kind) if field.name in CHANGES}


CHANGES: Final = ("epsilon", "limit", "forced", "bias", "told")


def changed(request: Asking) -> bool:
    """Is anything changed in the network?"""
    return any(getattr(request, name) != value for name, value in neutral(type(request)).items())


def plain(request: AskingT) -> AskingT:
    """The same input for the network as it was trained."""
    return replace(request, **neutral(type(request)))


def asked(kind: type[AskingT], detail: object) -> tuple[AskingT, Text | None]:
    """The request that the browser sends as JSON. Ranges are the model's affair; InputError for what has not even the right form."""
    try:
        given = detail["request"] if isinstance(detail, Mapping) and "request" in detail else detail
        if not isinstance(given, Mapping):
            raise TypeError("an object is meant")
        hints = typing.get_type_hints(kind)
        return kind(**{field.name: _read(hints[field.name], given[field.name]) for field in fields(kind)}), None
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("malformed", en=MALFORMED["en"], zh=MALFORMED["zh"]) from None


def _read(kind: object, value: object) -> object:
    if kind is int:
        return whole(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind in {str, bool} and type(value) is kind:
        return value
    raise TypeError(f"{value!r} is no {kind}")


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
    """Everything the page draws until a wish is fulfilled: the run as it was asked for, then what an intervention changes about it.

    wish: reads the request, with a notice for the visitor. anew: run the first example too, instead of showing what is stored of it.
    Bar and views show the run under the intervention, the panel both. Each update has one entry for each of the subject's widgets.
    """
    skip = gr.skip()
    skips = (skip,) * subject.views
    try:
        request, notice = wish()
        kept = subject.first()
        if kept is not None and request == kept.request and not anew:
            seen, run = kept.seen, Run("stored", kept.milliseconds, kept.device, notice)
        else:
            async with contextlib.aclosing(engine.watch(subject.explain, request, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen, run = update.value, Run.of(update, notice)
                    else:
                        yield waiting(update), *skips, skip
        drawn = await asyncio.to_thread(subject.draw, seen, request, run)
    except InputError as error:
        yield asker.refused(error.text), *skips, rethink.refused(None)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield asker.refused(labels.DEFECT), *skips, rethink.refused(None)
        return
    comparing = changed(request)
    yield *drawn, rethink.running() if comparing else rethink.idle(spelled(request))
    if not comparing:
        return
    try:
        async with contextlib.aclosing(engine.watch(subject.compare, request, session)) as watched:
            async for step in watched:
                yield skip, *skips, change(step.value, request, subject.words) if isinstance(step, Answer) else rethink.running()
    except InputError as error:
        yield skip, *skips, rethink.refused(error.text)


def waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return asker.waiting(where.place, where.of, where.seconds) if where.place else asker.reading()


async def stored(engine: Engine, subject: Subject[AskingT, SeenT], address: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished, by widget name; None where it is refused."""
    drawn: dict[str, Any] = {}
    async with contextlib.aclosing(answers(engine, subject, lambda: linked(subject, {"query": address}))) as updates:
        async for update in updates:
            drawn |= {name: value for name, value in zip(subject.widgets, update, strict=True) if value != gr.skip()}
    if "refused" in {drawn[name]["state"] for name in (subject.widgets[0], subject.widgets[-1])}:
        return None
    return as_stored(drawn)


# ---- what the bar and the panel draw -----------------------------------------------------------------------------------------------


def bar(seen: Seen, request: Asking, run: Run, words: Words, beside: Sequence[asker.Beside] = (), warning: Text | None = None) -> Value:
    """What the input bar draws of a run. beside: what other networks answer."""
    address = query(request)
    changes = filled(UNDER, change=changed_in(request, words)) if changed(request) else None
    return asker.done(
        spelled(request),
        address,
        state=run.state,
        milliseconds=run.milliseconds,
        device=run.device,
        answer=words.say(request.task, seen.answer),
        right=seen.right,
        expected=words.say(request.task, seen.expected),
        sure=float(seen.probability.min()),
        ponder=seen.ponder,
        beside=beside,
        notice=joined(run.notice if address else LONG_LINK, changes),
        warning=warning,
    )


def joined(*notices: Text | None) -> Text | None:
    """Several remarks as one, or None for none."""
    said = [notice for notice in notices if notice]
    return {"en": " ".join(one["en"] for one in said), "zh": "".join(one["zh"] for one in said)} if said else None


def change(compared: Compared[Seen], request: Asking, words: Words) -> Value:
    """What the panel draws of a comparison."""
    before, after = compared.before, compared.after
    return rethink.done(
        spelled(request),
        answers=(words.say(request.task, before.answer), words.say(request.task, after.answer)),
        right=(before.right, after.right),
        own_ponder=(before.ponder, after.ponder),
        accuracy=compared.accuracy,
        ponder=compared.ponder,
        milliseconds=compared.milliseconds,
        sample=compared.sample,
        sentence=sentence(compared, request, words),
    )


def changed_in(request: Asking, words: Words) -> Text:
    """What a request changes in the network, in words; "" where it changes nothing."""
    started = neutral(type(request))
    differs = {name for name, value in started.items() if getattr(request, name) != value}
    parts: list[Text] = []
    if "forced" in differs:
        parts.append(filled(FORCED, count=counted(request.forced, words.step, words.steps), place=words.place))
    if "epsilon" in differs:
        parts.append(filled(EPSILON, epsilon=f"{request.epsilon:g}"))
    if "limit" in differs:
        parts.append(filled(LIMIT, count=counted(request.limit, words.step, words.steps)))
    if "bias" in differs:
        parts.append(filled(BIAS, bias=f"{request.bias:+g}".replace("-", "−")))
    if "told" in differs:
        parts.append(words.signal)
    return {"en": " and ".join(part["en"] for part in parts), "zh": "，".join(part["zh"] for part in parts)}


def counted(n: int, one: Text, several: Text) -> Text:
    """A number with its noun."""
    return filled(one if n == 1 else several, n=n)


def sentence(compared: Compared[Seen], request: Asking, words: Words) -> Text:
    """The comparison in words: what was changed, what became of the answer, and of accuracy and ponder on the sample."""
    before, after = (words.say(request.task, one.answer) for one in (compared.before, compared.after))
    answer = filled(SAME if before == after else OTHER, before=before, after=after)
    right = change_sentence(RIGHT, RIGHT_SAME, *compared.accuracy, show=lambda share: f"{100 * share:.0f} %")
    ponder = change_sentence(COSTS, COSTS_SAME, *compared.ponder, place=words.place)
    measured = filled(MEASURED, sample=compared.sample, right=right, ponder=ponder)
    what = changed_in(request, words)
    english = f"{what['en']}, {answer['en']}; {measured['en']}."
    return {"en": f"{english[0].upper()}{english[1:]}", "zh": f"{what['zh']}：{answer['zh']}；{measured['zh']}。"}
