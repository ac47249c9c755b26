"""What `explain`, `generate` and `measure` do alike: refusals beside answers, groups that share a batch, turns of all requests."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

from models.errors import InputError

Asked = TypeVar("Asked")  # a request, or what else is asked
Read = TypeVar("Read")  # a request that can be answered
Entry = TypeVar("Entry")  # what a turn has for a request: a list of steps, or at its end the explanation
Seen = TypeVar("Seen")  # an explanation
News = dict[int, Any]  # by request: its newest steps, a list, or at its end the explanation
TURN = 0.05  # seconds that a turn works before it lets others


class Apart:
    """A request that shares a batch with no other: each is answered by itself."""

    def group(self) -> Hashable:
        """Its own."""
        return self


def each(asked: Iterable[Asked], read: Callable[[Asked], Read]) -> list[Read | InputError]:
    """`read` of each, in order, or the InputError that it raised."""
    found: list[Read | InputError] = []
    for one in asked:
        try:
            found.append(read(one))
        except InputError as error:
            found.append(error)
    return found


def alone(answer: Callable[[Asked], Read]) -> Callable[[Sequence[Asked]], list[Read | InputError]]:
    """A function of one request as the engine calls it: of several, each by itself; one answer per request, in order, or the InputError
    that it raised."""

    @functools.wraps(answer)
    def answers(asked: Sequence[Asked]) -> list[Read | InputError]:
        return each(asked, answer)

    return answers


def readable(found: Sequence[Read | InputError]) -> list[Read]:
    """Those that can be answered, in order."""
    return [one for one in found if not isinstance(one, InputError)]


def beside(found: Sequence[Read | InputError], answers: Iterable[Seen]) -> list[Seen | InputError]:
    """One answer per request, in order: the refusals where they stood, `answers` in the place of what could be read."""
    left = iter(answers)
    return [one if isinstance(one, InputError) else next(left) for one in found]


def grouped(
    read: Sequence[Read], group: Callable[[Read], object], work: Callable[[list[Read]], Iterator[dict[int, Entry]]], most: int = 1 << 16
) -> Iterator[dict[int, Entry]]:
    """The turns of all groups, one group after another, entries by their number in `read`. work: the turns of one group, at most `most`
    requests at once, entries by their number there."""
    groups: dict[object, list[int]] = {}
    for i, one in enumerate(read):
        groups.setdefault(group(one), []).append(i)
    for whole in groups.values():
        for begin in range(0, len(whole), most):
            indices = whole[begin : begin + most]
            for news in work([read[i] for i in indices]):
                yield {indices[i]: entry for i, entry in news.items()}


def finished(turns: Iterable[Mapping[int, object]], kind: type[Seen], count: int) -> list[Seen]:
    """The explanations, which are of this kind, of `count` requests, once all turns are over."""
    found: dict[int, Seen] = {}
    for news in turns:
        found.update((i, entry) for i, entry in news.items() if isinstance(entry, kind))
    return [found[i] for i in range(count)]


def served(
    read: Callable[[Asked], Read], work: Callable[[list[Read]], Iterator[dict[int, Any]]], kind: type[Seen]
) -> tuple[Callable[[Sequence[Asked]], list[Seen | InputError]], Callable[[Sequence[Asked]], Iterator[list[Any]]]]:
    """What a lab answers with: `explain` and `generate`, of requests that `read` reads and `work` answers with explanations of this kind.

    explain(requests): one answer per request, in order; an InputError stands where a request could not be read. generate(requests): the
    same as it comes about. Each of its turns works for about TURN at most and yields one entry per request: the steps since the last turn;
    at its end the explanation, or the InputError; None once it is over.
    """

    def explain(requests: Sequence[Asked]) -> list[Seen | InputError]:
        found = each(requests, read)
        return beside(found, finished(work(readable(found)), kind, len(readable(found))))

    return explain, lambda requests: turns(each(requests, read), work)


def after(asked: Sequence[Asked], found: Sequence[Read | InputError], answer: Callable[[Asked, Read], Seen]) -> list[Seen | InputError]:
    """`answer` of each that is asked and what was found of it, in order; InputErrors, those that it raises too, in their places."""

    def one(pair: tuple[Asked, Read | InputError]) -> Seen:
        if isinstance(pair[1], InputError):
            raise pair[1]
        return answer(pair[0], pair[1])

    return each(zip(asked, found, strict=True), one)


def together(
    found: Sequence[Read | InputError], group: Callable[[Read], object], work: Callable[[list[Read]], Sequence[Seen]]
) -> list[Seen | InputError]:
    """One answer per request, in order; those of one group are answered by `work` at once."""
    read = readable(found)
    answers: dict[int, Seen] = {}
    for news in grouped(read, group, lambda some: iter([dict(enumerate(work(some)))])):
        answers |= news
    return beside(found, [answers[i] for i in range(len(read))])


def worked(step: Callable[[], bool], seconds: float) -> None:
    """Call `step` until it has nothing left to do, or until one call more might take longer than so many seconds in all."""
    begin = last = time.perf_counter()
    longest = 0.0
    while last - begin + longest < seconds and step():
        now = time.perf_counter()
        last, longest = now, max(longest, now - last)


class Writes(Protocol):
    """What makes something position by position (`models.sampling.Writer`)."""

    position: int

    @property
    def done(self) -> bool:
        """Is everything made?"""

    def step(self) -> object:
        """Some positions more."""


def abreast(
    writers: Mapping[str, Writes], lengths: Sequence[int], step: Callable[[str, int, slice], Iterable[Any]], seconds: float = TURN
) -> Iterator[dict[int, list[Any]]]:
    """All writers side by side, the one that is behind first, about so many seconds at a time: after each turn the new steps of each row.

    lengths: positions of each row in the end. step(name, row, positions): the steps that tell of new positions.
    """

    def work() -> bool:
        due = [one for one in writers.values() if not one.done]
        if due:
            min(due, key=lambda one: one.position).step()
        return bool(due)

    while any(not one.done for one in writers.values()):
        told = {name: one.position for name, one in writers.items()}
        worked(work, seconds)
        news: dict[int, list[Any]] = {row: [] for row in range(len(lengths))}
        for row, length in enumerate(lengths):
            for name, one in writers.items():
                here = slice(told[name], min(one.position, length))
                news[row] += step(name, row, here) if here.start < here.stop else ()
        yield news


def turns(
    found: Sequence[Read | InputError], work: Callable[[list[Read]], Iterator[dict[int, Entry]]]
) -> Iterator[list[Entry | InputError | None]]:
    """Each turn has one entry per request: the steps since the last turn; at its end the explanation, or the InputError; None once it is
    over. work: the turns of all that could be read, entries by their number there."""
    over: set[int] = set()

    def turn(news: Mapping[int, Entry | InputError]) -> list[Entry | InputError | None]:
        entries = [None if i in over else news.get(i, cast(Entry, [])) for i in range(len(found))]
        over.update(i for i, entry in news.items() if not isinstance(entry, list))
        return entries

    refused: dict[int, Entry | InputError] = {i: one for i, one in enumerate(found) if isinstance(one, InputError)}
    if refused:
        yield turn(refused)
    places = [i for i, one in enumerate(found) if not isinstance(one, InputError)]
    for news in work(readable(found)):
        yield turn({places[i]: entry for i, entry in news.items()})


def paced(row: int, work: Generator[None, None, Seen], seconds: float = TURN) -> Iterator[dict[int, list[Any] | Seen]]:
    """The turns of one request whose work pauses where it likes: others come in between after about so many seconds; its result last."""
    begin = last = time.perf_counter()
    longest = 0.0
    while True:
        try:
            next(work)
        except StopIteration as stop:
            yield {row: stop.value}
            return
        now = time.perf_counter()
        last, longest = now, max(longest, now - last)
        if now - begin + longest > seconds:
            yield {row: []}
            begin = last = time.perf_counter()
            longest = 0.0


def each_paced(work: Callable[[Read], Generator[None, None, Seen]]) -> Callable[[list[Read]], Iterator[dict[int, list[Any] | Seen]]]:
    """The turns of some requests, one after another, whose work pauses where it likes."""
    return lambda read: (news for row, one in enumerate(read) for news in paced(row, work(one)))


def in_turns(
    read: Callable[[Asked], Read], work: Callable[[Read], Generator[None, None, Seen]]
) -> Callable[[Sequence[Asked]], Iterator[Any]]:
    """What answers what is asked, which `read` reads, by work that pauses where it likes: turns as of `served`, without steps."""
    return lambda asked: turns(each(asked, read), each_paced(work))
