"""What the ponder widget is sent: what a run counted, and why each position stopped."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from explorer.figures import ponder
from tests.explorer.rolls import unpacked

AXIS = {"en": "position", "zh": "位置"}
ODD, EVEN = {"en": "odd", "zh": "奇数"}, {"en": "even", "zh": "偶数"}


def run(**more: Any) -> dict[str, Any]:
    """Three positions: the first stops at once, the second after three steps, the third comes to the limit of three."""
    told: dict[str, Any] = {
        "state": "live",
        "query": "v=1",
        "positions": ["7", "+", "5"],
        "wanted": (2,),
        "steps": np.array([1, 3, 3]),
        "remainder": np.array([1, 0.4, 0.7], np.float32),
        "halting": np.array([[0.995, 0.2, 0.1], [0, 0.4, 0.2], [0, 0.6, 0.3]], np.float32),
        "weights": np.array([[1, 0.2, 0.1], [0, 0.4, 0.2], [0, 0.4, 0.7]], np.float32),
        "totals": np.array([[1, 0.2, 0.1], [1, 0.6, 0.3], [1, 1, 1]], np.float32),
        "distance": np.array([[0, 1.5, 2], [0, 0.5, 1], [0, 0, 0]], np.float32),
        "stopped": ["1", "12", "12"],
        "answer": "12",
        "expected": "12",
        "threshold": 0.99,
        "limit": 3,
        "axis": AXIS,
        "say": lambda answer: answer,
        **more,
    }
    about = {name: told.pop(name) for name in [*told] if name in {"state", "query", "positions", "axis", "forced", "marks", "pick", "say"}}
    return cast(dict[str, Any], ponder.value(SimpleNamespace(**told), **about))


def test_the_numbers_travel_unrounded_and_as_json() -> None:
    made = json.loads(json.dumps(run()))
    np.testing.assert_array_equal(unpacked(made["halting"])[:, 1], np.array([0.2, 0.4, 0.6], np.float32))
    np.testing.assert_array_equal(unpacked(made["remainder"]), np.array([1, 0.4, 0.7], np.float32))
    assert made["steps"] == [1, 3, 3]
    assert made["positions"] == ["7", "+", "5"]


def test_a_position_stops_by_its_sum_by_the_limit_or_because_it_was_told_to() -> None:
    assert run()["reasons"] == ["enough", "enough", "limit"]
    assert run(forced=3)["reasons"] == ["forced"] * 3


def test_a_sum_that_reaches_its_end_just_at_the_limit_was_enough() -> None:
    halting = np.array([[0.5], [0.25], [0.24]], np.float32)
    assert ponder.reasons(np.array([3]), halting, 0.99, 3) == ["enough"]
    assert ponder.reasons(np.array([3]), halting - np.float32(0.001), 0.99, 3) == ["limit"]
    assert ponder.reasons(np.array([3]), halting - np.float32(0.001), 0.99, 4) == ["enough"]


def test_the_answer_after_each_step_is_compared_with_the_right_one() -> None:
    assert [each["right"] for each in run()["stopped"]] == [False, True, True]
    assert run()["right"] and not run(answer="13")["right"]


def test_answers_in_two_languages_are_compared_as_wholes() -> None:
    made = run(stopped=[EVEN, ODD, ODD], answer=ODD, expected=ODD)
    assert [each["right"] for each in made["stopped"]] == [False, True, True]
    assert made["stopped"][0]["answer"] == EVEN


def test_signs_can_be_told_apart_where_each_has_a_position() -> None:
    assert run(wanted=(1, 2))["signs"] and not run()["signs"]


def test_the_position_locked_on_arrival_is_the_one_of_the_answer_that_thinks_longest() -> None:
    assert run()["pick"] == 2
    assert run(wanted=())["pick"] == 2, "N + R is 3.7 there and 3.4 at position 1"
    assert run(wanted=(0,))["pick"] == 2, "a single step tells little"
    assert run(wanted=(0, 1))["pick"] == 1
    assert run(pick=0)["pick"] == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"steps": np.array([1, 3])}, "steps of shape"),
        ({"halting": np.zeros((2, 3), np.float32)}, "halting of shape"),
        ({"stopped": ["1", "12"]}, "of shape"),
        ({"steps": np.array([1, 2, 2])}, "3 steps are told"),
        ({"steps": np.array([0, 3, 3])}, "3 steps are told"),
        ({"wanted": (3,)}, r"positions \[3\] of 3"),
        ({"marks": (-1,)}, r"positions \[-1\] of 3"),
        ({"pick": 7}, r"positions \[7\] of 3"),
        ({"halting": np.full((3, 3), np.nan, np.float32)}, "not finite"),
    ],
)
def test_what_does_not_fit_together_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        run(**wrong)
