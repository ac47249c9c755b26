"""A field of a request says once what it may be, and what lies outside gets a sentence."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import Any

import pytest

from models.explaining.errors import InputError
from models.explaining.request_fields import (
    check_request,
    choice_field,
    number_field,
    switch_field,
    text_field,
)


@dataclass(frozen=True)
class Ask:
    task: str = choice_field("sum", ("sum", "word"), en="task", zh="任务")
    text: str = text_field("1+1", 8)
    rounds: int = number_field(2, 1, 4, en="number of rounds", zh="轮数")
    share: float = number_field(0.5, -1, 1, en="share", zh="份额")
    told: bool = switch_field(True)


@pytest.mark.parametrize(
    "fields",
    [{}, {"rounds": 4}, {"share": -1}, {"text": "12345678"}, {"task": "word"}, {"told": False}],
)
def test_what_lies_inside_is_accepted(fields: dict[str, Any]) -> None:
    check_request(replace(Ask(), **fields))


@pytest.mark.parametrize(
    ("fields", "code", "says"),
    [
        ({"rounds": 5}, "rounds", "The number of rounds is 5; it can be 1 to 4."),
        ({"rounds": 2.0}, "rounds", "The number of rounds is 2.0; it can be 1 to 4."),
        ({"rounds": True}, "rounds", "The number of rounds is True; it can be 1 to 4."),
        ({"share": float("nan")}, "share", "The share is nan; it can be -1 to 1."),
        ({"share": "much"}, "share", "The share is much; it can be -1 to 1."),
        ({"text": "123456789"}, "too_long", "Your text has 9 characters; at most 8 can be read."),
        ({"text": 5}, "no_text", "There is no text."),
        (
            {"task": "a\n" * 40},
            "task",
            f"There is no task {('a ' * 40)[:39]}…; there are sum, word.",
        ),
        ({"told": 1}, "told", "“told” is 1; it can be 0 or 1."),
    ],
)
def test_what_lies_outside_is_refused_in_both_languages(
    fields: dict[str, Any], code: str, says: str
) -> None:
    with pytest.raises(InputError) as caught:
        check_request(replace(Ask(), **fields))
    assert (caught.value.code, caught.value.text["en"]) == (code, says)
    assert caught.value.text["zh"].strip()


def test_an_input_error_survives_pickling() -> None:
    error = InputError("empty", en="The text is empty.", zh="文本为空。")
    assert str(error) == "The text is empty."
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.text) == (error.code, error.text)
