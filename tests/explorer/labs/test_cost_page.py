"""The page of the cost laboratory: what its clock draws of a run, of one that was stopped, and of
one that grows."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from explorer.contract.controls import spell_query
from explorer.engine import Engine
from explorer.labs.cost import about, clock, lab, texts
from explorer.page.answers import stream_answer
from models.cost.records import LAYERS, Clock, Explanation, Point, Request, lengths, operations
from tests.explorer.wishes import program_of, said

SMALL = Request(length=128, width=16)


def timed(request: Request, count: int = 20, **changed: Any) -> Explanation:
    """A run whose times are those of the formulas at 10⁹ operations a second, cut off after some
    points."""
    points = [
        Point(layer, n, operations(layer, n, request) / 1e9, 5)
        for n in lengths(request.length)
        for layer in LAYERS
    ]
    run = Clock(tuple(points[:count]), (), False, 1.0, 1, "cpu")
    return Explanation(clock=dataclasses.replace(run, **changed))


def test_clock_results_are_never_remembered() -> None:
    async def twice(engine: Engine) -> Any:
        for _ in range(2):
            async for update in stream_answer(
                program_of("cost"), engine, spell_query(SMALL), {}, "a page"
            ):
                yield update

    bars = [update["ask"]["state"] for update in said(twice) if "ask" in update]
    assert bars.count("live") == 2 and "remembered" not in bars and "running" in bars


@pytest.mark.parametrize(
    ("count", "more", "said"),
    [
        (5, {"stopped": True}, "Stopped after 5 of 16 points, at L = 32."),
        (0, {"stopped": True}, "Stopped before the first point."),
        (15, {"left": (("recurrence", 128),)}, "Not reached in 5 s: recurrence at L = 128."),
    ],
)
def test_a_run_that_was_stopped_or_ran_out_of_time_says_where(
    count: int, more: dict[str, Any], said: str
) -> None:
    value: Any = clock.draw_clock(timed(SMALL, count, **more), SMALL, "live")["sentence"]
    assert value["en"] == said if "stopped" in more else value["en"].startswith(said)


def test_an_untimed_change_is_refused() -> None:
    request = dataclasses.replace(SMALL, fused=False)
    with pytest.raises(Exception, match="did not get that far"):
        lab.describe_change(
            (timed(request, 4), timed(request, 4)), (None, None), request, {"en": "x", "zh": "x"}
        )


def test_the_family_is_charted_as_it_was_measured() -> None:
    for what in ("seconds", "bytes"):
        value: Any = about.draw_chart(what)
        assert len(value["table"]["rows"]) == sum(map(len, about.read_family()["kinds"].values()))
        assert set(about.read_family()["kinds"]) == set(texts.KINDS)
