"""The common part of `explain`, `generate` and `measure`: refusals beside answers, groups that
share a batch, turns of all requests."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

from models.explaining.errors import InputError

Asked = TypeVar("Asked")  # a request, or another question
Read = TypeVar("Read")  # a request that can be answered
# the entry of a turn for a request: a list of steps, or at its end the explanation
Entry = TypeVar("Entry")
Seen = TypeVar("Seen")  # an explanation
News = dict[int, Any]  # by request: its newest steps, a list, or at its end the explanation
TURN = 0.05  # seconds that a turn works before others have theirs


class Apart:
    """A request that shares a batch with no other: each is answered by itself."""

    def group(self) -> Hashable:
        """Return a group that no other request has."""
        return self


def read_each(asked: Iterable[Asked], read: Callable[[Asked], Read]) -> list[Read | InputError]:
    """Return `read` of each request, in order, or the InputError that it raised."""
    found: list[Read | InputError] = []
    for one in asked:
        try:
            found.append(read(one))
        except InputError as error:
            found.append(error)
    return found


def answer_one_by_one(
    answer: Callable[[Asked], Read],
) -> Callable[[Sequence[Asked]], list[Read | InputError]]:
    """Turn a function of one request into one that the engine calls with several. It answers each
    by itself and returns one answer per request, in order, or the InputError that was raised."""

    @functools.wraps(answer)
    def answers(asked: Sequence[Asked]) -> list[Read | InputError]:
        return read_each(asked, answer)

    return answers


def select_readable(found: Sequence[Read | InputError]) -> list[Read]:
    """Return the requests that can be answered, in order."""
    return [one for one in found if not isinstance(one, InputError)]


def place_beside_refusals(
    found: Sequence[Read | InputError], answers: Iterable[Seen]
) -> list[Seen | InputError]:
    """Return one answer per request, in order: refusals stay where they are, and `answers` fill the
    places of the requests that could be read."""
    left = iter(answers)
    return [one if isinstance(one, InputError) else next(left) for one in found]


def run_groups(
    read: Sequence[Read],
    group: Callable[[Read], object],
    work: Callable[[list[Read]], Iterator[dict[int, Entry]]],
    most: int = 1 << 16,
) -> Iterator[dict[int, Entry]]:
    """Yield the turns of all groups, one group after another, with entries by their number in
    `read`. work: the turns of one group, at most `most` requests at once, with entries by their
    number in the group."""
    groups: dict[object, list[int]] = {}
    for i, one in enumerate(read):
        groups.setdefault(group(one), []).append(i)
    for whole in groups.values():
        for begin in range(0, len(whole), most):
            indices = whole[begin : begin + most]
            for news in work([read[i] for i in indices]):
                yield {indices[i]: entry for i, entry in news.items()}


def collect_finished(
    turns: Iterable[Mapping[int, object]], kind: type[Seen], count: int
) -> list[Seen]:
    """Return the explanations of `count` requests, which are of this kind, once all turns are
    over."""
    found: dict[int, Seen] = {}
    for news in turns:
        found.update((i, entry) for i, entry in news.items() if isinstance(entry, kind))
    return [found[i] for i in range(count)]


def serve_requests(
    read: Callable[[Asked], Read],
    work: Callable[[list[Read]], Iterator[dict[int, Any]]],
    kind: type[Seen],
) -> tuple[
    Callable[[Sequence[Asked]], list[Seen | InputError]],
    Callable[[Sequence[Asked]], Iterator[list[Any]]],
]:
    """Return the two functions by which a lab answers, `explain` and `generate`. `read` reads a
    request, and `work` answers with explanations of this kind.

    explain(requests): one answer per request, in order; an InputError stands where a request could
        not be read.
    generate(requests): the same, step by step. Each of its turns works for about TURN at most and
        yields one entry per request: the steps since the last turn; at its end the explanation, or
        the InputError; None once it is over.
    """

    def explain(requests: Sequence[Asked]) -> list[Seen | InputError]:
        found = read_each(requests, read)
        return place_beside_refusals(
            found, collect_finished(work(select_readable(found)), kind, len(select_readable(found)))
        )

    return explain, lambda requests: take_turns(read_each(requests, read), work)


def answer_after(
    asked: Sequence[Asked],
    found: Sequence[Read | InputError],
    answer: Callable[[Asked, Read], Seen],
) -> list[Seen | InputError]:
    """Return `answer` of each request and of what was read of it, in order. InputErrors, also those
    that `answer` raises, stand in their places."""

    def answer_one(pair: tuple[Asked, Read | InputError]) -> Seen:
        if isinstance(pair[1], InputError):
            raise pair[1]
        return answer(pair[0], pair[1])

    return read_each(zip(asked, found, strict=True), answer_one)


def answer_together(
    found: Sequence[Read | InputError],
    group: Callable[[Read], object],
    work: Callable[[list[Read]], Sequence[Seen]],
) -> list[Seen | InputError]:
    """Return one answer per request, in order; `work` answers those of one group at once."""
    read = select_readable(found)
    answers: dict[int, Seen] = {}
    for news in run_groups(read, group, lambda some: iter([dict(enumerate(work(some)))])):
        answers |= news
    return place_beside_refusals(found, [answers[i] for i in range(len(read))])


def work_for(step: Callable[[], bool], seconds: float) -> None:
    """Call `step` until it has nothing left to do, or until one call more might exceed this many
    seconds in all."""
    begin = last = time.perf_counter()
    longest = 0.0
    while last - begin + longest < seconds and step():
        now = time.perf_counter()
        last, longest = now, max(longest, now - last)


class Writes(Protocol):
    """A writer that makes a text or picture position by position
    (`models.decoding.sampling.Writer`)."""

    position: int

    @property
    def is_done(self) -> bool:
        """Whether every position is made."""

    def write_more(self) -> object:
        """Make some more positions."""


def write_side_by_side(
    writers: Mapping[str, Writes],
    lengths: Sequence[int],
    step: Callable[[str, int, slice], Iterable[Any]],
    seconds: float = TURN,
) -> Iterator[dict[int, list[Any]]]:
    """Run all writers side by side, the one that is behind first, about so many seconds at a time,
    and yield after each turn the new steps of each row.

    lengths: positions of each row in the end.
    step(name, row, positions): the steps that describe new positions.
    """

    def work() -> bool:
        due = [one for one in writers.values() if not one.is_done]
        if due:
            min(due, key=lambda one: one.position).write_more()
        return bool(due)

    while any(not one.is_done for one in writers.values()):
        told = {name: one.position for name, one in writers.items()}
        work_for(work, seconds)
        news: dict[int, list[Any]] = {row: [] for row in range(len(lengths))}
        for row, length in enumerate(lengths):
            for name, one in writers.items():
                here = slice(told[name], min(one.position, length))
                news[row] += step(name, row, here) if here.start < here.stop else ()
        yield news


def take_turns(
    found: Sequence[Read | InputError], work: Callable[[list[Read]], Iterator[dict[int, Entry]]]
) -> Iterator[list[Entry | InputError | None]]:
    """Yield turns with one entry per request: the steps since the last turn; at its end the
    explanation, or the InputError; None once it is over. work: the turns of all requests that could
    be read, with entries by their number there."""
    over: set[int] = set()

    def turn(news: Mapping[int, Entry | InputError]) -> list[Entry | InputError | None]:
        entries = [None if i in over else news.get(i, cast(Entry, [])) for i in range(len(found))]
        over.update(i for i, entry in news.items() if not isinstance(entry, list))
        return entries

    refused: dict[int, Entry | InputError] = {
        i: one for i, one in enumerate(found) if isinstance(one, InputError)
    }
    if refused:
        yield turn(refused)
    places = [i for i, one in enumerate(found) if not isinstance(one, InputError)]
    for news in work(select_readable(found)):
        yield turn({places[i]: entry for i, entry in news.items()})


def pace_one(
    row: int, work: Generator[None, None, Seen], seconds: float = TURN
) -> Iterator[dict[int, list[Any] | Seen]]:
    """Yield the turns of one request whose work pauses wherever it likes. Others get their turn
    after about so many seconds; the result comes last."""
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


def pace_each(
    work: Callable[[Read], Generator[None, None, Seen]],
) -> Callable[[list[Read]], Iterator[dict[int, list[Any] | Seen]]]:
    """Return a function that yields the turns of some requests, one after another, whose work
    pauses wherever it likes."""
    return lambda read: (news for row, one in enumerate(read) for news in pace_one(row, work(one)))


def serve_in_turns(
    read: Callable[[Asked], Read], work: Callable[[Read], Generator[None, None, Seen]]
) -> Callable[[Sequence[Asked]], Iterator[Any]]:
    """Return the function that answers requests, which `read` reads, by work that pauses wherever
    it likes. It yields turns as `generate` of `serve_requests` does, without steps."""
    return lambda asked: take_turns(read_each(asked, read), pace_each(work))
