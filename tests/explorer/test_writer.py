"""What the input bar of the labs on long texts is given and what it answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest

from explorer.widgets import writer
from tests.conftest import built

TEXT = {"en": "a word", "zh": "一个词"}
LIMITS = writer.Limits(40, (0, 100, 10))
PAGES = (writer.Page("sea", TEXT, TEXT, "The sea.\r\nThe shore.", TEXT), writer.Page("hill", TEXT, TEXT, "A hill.", TEXT))
EXAMPLE: dict[str, object] = {
    "text": "",
    "page": "sea",
    "length": 20,
    "seed": 7,
    "temperature": 0.8,
    "memory": 512,
    "query": "v=1",
    "title": TEXT,
    "short": TEXT,
}
CHOICE = writer.Choice("memory", TEXT, ((0, TEXT), (512, TEXT)))


def placed(**changed: Any) -> dict[str, Any]:
    """The props of a bar on a page."""
    given: dict[str, Any] = {
        "texts": dict.fromkeys(("region", "label", "placeholder", "run"), TEXT),
        "limits": LIMITS,
        "pages": PAGES,
        "examples": [EXAMPLE],
        "choices": [CHOICE],
    }

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            props: dict[str, Any] = writer.writer(writer.empty(), **{**given, **changed}).props
        return props

    return built(inside)


def test_everything_the_bar_is_given_is_json_and_pages_end_their_lines_as_a_box_does() -> None:
    props = placed()
    told = json.loads(json.dumps({key: props[key] for key in ("texts", "limits", "pages", "examples", "choices")}))
    assert told["limits"] == {"characters": 40, "written": [0, 100, 10], "temperature": [0.0, 2.0, 0.1], "seed": 999_999}
    assert [page["text"] for page in told["pages"]] == ["The sea.\nThe shore.", "A hill."]
    assert told["choices"] == [{"field": "memory", "label": TEXT, "options": [[0, TEXT], [512, TEXT]]}]
    assert told["examples"] == [EXAMPLE]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"texts": {"region": TEXT}}, "no text for label, placeholder, run"),
        ({"examples": []}, "needs an example"),
        ({"pages": (*PAGES, PAGES[0])}, "called alike"),
        ({"examples": [{**EXAMPLE, "page": "moon"}]}, "'moon'; there are sea, hill"),
        ({"examples": [{key: value for key, value in EXAMPLE.items() if key not in ("memory", "short")}]}, "no memory, short"),
        ({"examples": [{**EXAMPLE, "text": "x" * 41}]}, "41 characters; the bar takes 40"),
        ({"limits": replace(LIMITS, characters=10)}, "19 characters; the bar takes 10"),
        ({"choices": [replace(CHOICE, options=())]}, "choice of memory has no options"),
    ],
)
def test_a_bar_that_could_not_be_worked_is_an_error(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        placed(**changed)


def test_waiting_and_refused_leave_the_last_request_in_view() -> None:
    for value in (writer.reading(), writer.waiting(3, 12, 2.0), writer.refused(TEXT)):
        assert "request" not in value and "query" not in value
    running = writer.running(EXAMPLE, "v=1", 19, 10, 20, "cpu")
    assert running["badge"] == {"read": 19, "written": 10, "of": 20, "device": "cpu"}


def test_a_result_names_every_model_that_read_and_what_it_wrote() -> None:
    readers = (writer.Reader(TEXT, 1.5, " And"), writer.Reader(TEXT, 2.0))
    how: dict[str, Any] = {"state": "live", "milliseconds": 3.0, "device": "cpu", "given": "The sea."}
    done = writer.done(EXAMPLE, "v=1", readers=readers, warning=TEXT, **how)
    told = [{"name": TEXT, "bits": 1.5, "written": " And"}, {"name": TEXT, "bits": 2.0, "written": None}]
    assert json.loads(json.dumps(done["readers"])) == told
    assert (done["given"], done["warning"], done["notice"]) == ("The sea.", TEXT, None)
    with pytest.raises(ValueError, match="needs a model"):
        writer.done(EXAMPLE, "v=1", readers=(), **how)
