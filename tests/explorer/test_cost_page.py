"""The page of the cost laboratory: what it draws of a run, of one that was stopped, and of a change; figures keep to their scales."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from explorer.controls import query
from explorer.engine import Engine
from explorer.labs.cost import about, clock, page, texts
from explorer.labs.cost.drawn import power
from explorer.program import answer
from models.cost import model
from models.cost.records import EXAMPLES, LAYERS, Clock, Explanation, Point, Request, lengths, operations
from tests.explorer.wishes import answered, said

SMALL = Request(length=128, width=16)
NAME = {"en": "line", "zh": "线"}


def timed(request: Request, count: int = 20, **changed: Any) -> Explanation:
    """A run whose times are those of the formulas at 10⁹ operations a second, cut off after some points."""
    points = [Point(layer, n, operations(layer, n, request) / 1e9, 5) for n in lengths(request.length) for layer in LAYERS]
    run = Clock(tuple(points[:count]), (), False, 1.0, 1, "cpu")
    return Explanation(clock=dataclasses.replace(run, **changed))


def test_the_bare_page_shows_the_stored_run_and_a_run_of_ones_own_grows_point_by_point_and_is_never_remembered() -> None:
    assert answered(page.program(), "")["ask"][-1]["state"] == "stored"

    async def twice(engine: Engine) -> Any:
        for _ in range(2):
            async for update in answer(page.program(), engine, query(SMALL), {}, "a page"):
                yield update

    bars = [update["ask"]["state"] for update in said(twice) if "ask" in update]
    assert bars.count("live") == 2 and "remembered" not in bars and "running" in bars


def test_the_sentence_names_times_and_the_length_beyond_which_the_square_loses() -> None:
    value = clock.clock(timed(EXAMPLES[0]), EXAMPLES[0], "live")
    assert "recurrence 16,000 ms. Recurrence takes 4 × the operations of self-attention but 4 × the time" in value["sentence"]["en"]  # type: ignore[index]
    assert "L = 4 d = 4,000" in value["sentence"]["en"]  # type: ignore[index]
    fitted = [mark["text"]["en"] for mark in value["legend"]]  # type: ignore[attr-defined]
    assert fitted[0] == "self-attention: exponent 2.00, on paper 2" and fitted[3] == "restricted: exponent 1.00, on paper 1"


@pytest.mark.parametrize(
    ("count", "more", "said"),
    [
        (5, {"stopped": True}, "Stopped after 5 of 16 points, at L = 32."),
        (0, {"stopped": True}, "Stopped before the first point."),
        (15, {"left": (("recurrence", 128),)}, "Not reached in 5 s: recurrence at L = 128."),
    ],
)
def test_a_run_that_was_stopped_or_ran_out_of_time_says_where(count: int, more: dict[str, Any], said: str) -> None:
    value: Any = clock.clock(timed(SMALL, count, **more), SMALL, "live")["sentence"]
    assert value["en"] == said if "stopped" in more else value["en"].startswith(said)


def test_a_change_of_the_clock_is_measured_in_the_run_itself() -> None:
    shown = answered(page.program(), query(dataclasses.replace(SMALL, window=128)))
    panel = shown["change"][-1]
    assert panel["state"] == "done" and panel["number"]["before"] != panel["number"]["after"]
    assert panel["unit"]["en"] == "ms, restricted attention at L = 128"
    assert [row["key"] for row in panel["rows"]] == ["restricted", "operations"]
    assert shown["ask"][-1]["changes"]["en"] == "attention restricted to 128 keys"


def test_a_change_that_the_clock_did_not_reach_is_refused_in_words() -> None:
    request = dataclasses.replace(SMALL, fused=False)
    with pytest.raises(Exception, match="did not get as far"):
        page.changed((timed(request, 4), timed(request, 4)), (None, None), request, {"en": "x", "zh": "x"})


def test_the_paper_gives_the_numbers_of_the_lecture() -> None:
    value = clock.paper(Explanation(), EXAMPLES[0], "live")
    words = [note["text"] for note in value["figures"]["en"]["layout"]["annotations"]]  # type: ignore[index]
    assert words[:5] == ["operations", "4.00·10⁹", "16.0·10⁹", "6.00·10⁹", "256·10⁶"]
    assert [row[2:] for row in value["table"]["rows"]][:2] == [[4e9, 1, 1], [16e9, 1000, 1000]]  # type: ignore[index]


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [(16e9, 3, "16.0·10⁹"), (4e9, 1, "4.00·10⁹"), (1.2e-14, 1, "1.20·10⁻¹⁴"), (0.25, 1, "0.25"), (256e6, 3, "256·10⁶")],
)
def test_large_and_small_numbers_are_written_as_a_lecture_writes_them(value: float, step: int, text: str) -> None:
    assert power(value, step) == text


@pytest.mark.parametrize("request_", EXAMPLES[1:], ids=query)
def test_every_view_of_an_example_says_something_and_has_its_numbers(request_: Request) -> None:
    seen = Explanation(scale=model.scale(request_)) if request_.task == "scale" else Explanation(heads=model.heads(request_))
    for view in page.program().views:
        if view.task == request_.task and view.draw:
            value: Any = view.draw(seen, request_, "live")
            assert value["table"]["rows"] and set(value["figures"]) == {"en", "zh"}
            for text in value["sentence"].values():
                assert len(text) > 15 and not re.search(r"\{\w+\}|nan|inf\b", text), text


def test_the_family_is_charted_as_it_was_measured() -> None:
    for what in ("seconds", "bytes"):
        value: Any = about.chart(what)
        assert len(value["table"]["rows"]) == sum(map(len, about.family()["kinds"].values()))
        assert set(about.family()["kinds"]) == set(texts.KINDS)
