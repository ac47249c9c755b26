"""A batch is answered in turns: refusals where they stand, groups one after another, an entry for
every request."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from models.explaining.batching import collect_finished, pace_one, run_groups, take_turns
from models.explaining.errors import InputError

REFUSED = InputError("no", en="No.", zh="否。")
FOUND: list[str | InputError] = ["a1", REFUSED, "b2", "a3"]


def work(part: list[str]) -> Iterator[dict[int, list[str] | int]]:
    """A step for each request, then for the last one first its end: the number in its name."""
    yield {i: [one] for i, one in enumerate(part)}
    for i, one in reversed(list(enumerate(part))):
        yield {i: int(one[1])}


def grouping(read: list[str]) -> Iterator[dict[int, list[str] | int]]:
    """The same, those with the same letter together."""
    return run_groups(read, lambda one: one[0], work)


def test_each_turn_has_an_entry_per_request() -> None:
    assert list(take_turns(FOUND, grouping)) == [
        [[], REFUSED, [], []],
        [["a1"], None, [], ["a3"]],
        [[], None, [], 3],
        [1, None, [], None],
        [None, None, ["b2"], None],
        [None, None, 2, None],
    ]


def test_a_group_is_worked_on_so_many_at_a_time() -> None:
    sizes: list[int] = []

    def counted(part: list[str]) -> Iterator[dict[int, list[str] | int]]:
        sizes.append(len(part))
        return work(part)

    news: Iterator[dict[int, list[str] | int]] = run_groups(
        [f"a{i}" for i in range(5)], lambda one: one[0], counted, most=2
    )
    assert collect_finished(news, int, 5) == [0, 1, 2, 3, 4]
    assert sizes == [2, 2, 1]


def test_long_work_lets_others_in() -> None:
    def five() -> Generator[None, None, str]:
        for _ in range(5):
            yield
        return "done"

    assert list(pace_one(3, five(), seconds=0)) == [{3: []}] * 5 + [{3: "done"}]
    assert list(pace_one(3, five(), seconds=1e9)) == [{3: "done"}]
