"""What the input bar of the labs of adaptive depth is given and what it answers."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
import pytest

from explorer.widgets import asker
from tests.conftest import built

TEXT = {"en": "a word", "zh": "一个词"}
NEUTRAL = {"epsilon": 0.01, "limit": 0, "forced": 0, "bias": 0.0, "told": True}
TASKS = (
    asker.Task("parity", TEXT, TEXT, "1011", "bits", TEXT, most=200, places=16),
    asker.Task("stories", TEXT, TEXT, "mary went to the park.", "story", TEXT, most=2000, question="where is mary"),
)


def placed(**changed: Any) -> dict[str, Any]:
    """The props of a bar on a page."""
    given: dict[str, Any] = {"texts": {"region": TEXT}, "tasks": TASKS, "examples": [{"task": "parity", "text": "1"}], "neutral": NEUTRAL}

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            props: dict[str, Any] = asker.asker(asker.empty(), **{**given, **changed}).props
        return props

    return built(inside)


def done(**changed: Any) -> asker.Value:
    """An answer."""
    given: dict[str, Any] = {
        "state": "live",
        "milliseconds": 3.0,
        "device": "cpu",
        "answer": "734",
        "right": True,
        "expected": "734",
        "sure": 0.9,
        "ponder": 4.5,
    }
    return asker.done({"task": "addition", "text": "478+256", **NEUTRAL}, "v=1", **{**given, **changed})


def test_everything_the_bar_is_given_is_json() -> None:
    words = (asker.Group(TEXT, ("key", "coin"), "the"),)
    props = placed(vocabulary=words)
    told = json.loads(json.dumps({key: props[key] for key in ("texts", "tasks", "examples", "neutral", "vocabulary")}))
    assert [(task["key"], task["keyboard"], task["most"]) for task in told["tasks"]] == [
        ("parity", "bits", 200),
        ("stories", "story", 2000),
    ]
    assert told["vocabulary"] == [{"name": TEXT, "words": ["key", "coin"], "before": "the"}]
    assert told["neutral"] == NEUTRAL


def test_a_bar_without_a_name_or_a_task_is_an_error() -> None:
    for missing in ({"texts": {}}, {"tasks": ()}):
        with pytest.raises(ValueError, match="region"):
            placed(**missing)


def test_waiting_and_refused_leave_the_last_answer_in_view() -> None:
    for value in (asker.reading(), asker.waiting(3, 12, 2.0), asker.refused(TEXT), asker.empty()):
        assert not {"request", "query", "answer"} & value.keys()
    assert asker.waiting(3, 12, 2.0)["badge"] == {"place": 3, "of": 12, "seconds": 2.0}


def test_an_answer_may_be_a_text_in_two_languages() -> None:
    beside = (asker.Beside(TEXT, TEXT, False), asker.Beside(TEXT, "634", True))
    value = done(answer=TEXT, expected=TEXT, right=False, beside=beside, warning=TEXT)
    assert json.loads(json.dumps(value)) == value
    assert value["answer"] == TEXT and value["right"] is False and value["warning"] == TEXT and value["notice"] is None
    assert value["beside"] == [{"name": TEXT, "answer": TEXT, "right": False}, {"name": TEXT, "answer": "634", "right": True}]


def test_where_nobody_knows_the_right_answer_none_says_so() -> None:
    assert done(right=None, expected="")["right"] is None
