"""What the input bar of the lab of sparse attention is given and what it answers."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, fields
from typing import Any

import gradio as gr
import numpy as np
import pytest

from explorer.picture_files import FILE
from explorer.uploads import routes
from explorer.widgets import sketch
from models.sparse_transformer.records import DIGITS, HOTTEST, MAX_SEED, POSITIONS, SIDE, TASKS, TEXTS, Request, drawing, read_drawing
from tests.conftest import built

TEXT = {"en": "a word", "zh": "一个词"}
DIGIT_PIXELS = np.random.default_rng(0).integers(0, 2, (20, SIDE, SIDE)).astype(np.uint8)
NEUTRAL: dict[str, object] = {"pattern": "", "stride": 0, "summary": 0, "silenced": []}


def told(request: Request) -> dict[str, Any]:
    """An example as a page gives it."""
    return {**asdict(request), "silenced": [], "query": "v=1", "title": TEXT}


def placed(**changed: Any) -> dict[str, Any]:
    """The props of a bar on a page."""
    given: dict[str, Any] = {
        "texts": dict.fromkeys(("region", "label", "placeholder"), TEXT),
        "tasks": TASKS,
        "pictures": DIGIT_PIXELS,
        "names": (TEXT,) * 20,
        "limits": sketch.Limits(),
        "examples": [told(request) for request in (*DIGITS, *TEXTS)],
        "neutral": NEUTRAL,
    }

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            props: dict[str, Any] = sketch.sketch(sketch.empty(), **{**given, **changed}).props
        return props

    return built(inside)


def unpacked(packed: dict[str, Any]) -> Any:
    """The pixels that travel inside the page."""
    return np.frombuffer(base64.b64decode(packed["data"]), packed["dtype"]).reshape(packed["shape"])


def test_digits_travel_inside_the_page_and_everything_is_json() -> None:
    props = placed()
    assert "url" not in props["pictures"] and np.array_equal(unpacked(props["pictures"]), DIGIT_PIXELS)
    keys = ("texts", "tasks", "pictures", "names", "thresholds", "limits", "examples", "neutral", "upload")
    assert json.loads(json.dumps({key: props[key] for key in keys}))["limits"] == {
        "side": SIDE,
        "positions": POSITIONS["text"],
        "temperature": [0.0, HOTTEST, 0.1],
        "seed": MAX_SEED,
        "file": FILE,
    }
    assert props["upload"] in {route.path for route in routes()}


def test_the_bar_and_the_panel_have_all_fields_of_a_request_between_them() -> None:
    assert {field.name for field in fields(Request)} == {*sketch.FIELDS, *NEUTRAL}


def test_greys_become_the_pixels_that_the_models_would_draw() -> None:
    levels = np.random.default_rng(3).integers(0, 256, (SIDE, SIDE))
    inked = levels >= unpacked(placed()["thresholds"])
    assert np.array_equal(inked, read_drawing(drawing(levels / 255)))
    thresholds = sketch.thresholds(SIDE)
    assert thresholds.min() >= 1, "black is never ink"
    assert 0.4 < (thresholds <= 128).mean() < 0.6, "a grey of one half is ink half the time"


def test_a_lab_without_texts_offers_none_of_their_examples() -> None:
    props = placed(tasks=("digit",), texts={"region": TEXT})
    assert {example["task"] for example in props["examples"]} == {"digit"} and len(props["examples"]) == len(DIGITS)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tasks": ()}, "there are digit, text"),
        ({"tasks": ("digit", "sound")}, "sound"),
        ({"texts": {"region": TEXT}}, "no text for label, placeholder"),
        ({"pictures": DIGIT_PIXELS[:0], "names": ()}, "some of 28 × 28"),
        ({"pictures": DIGIT_PIXELS * 255}, "up to 255"),
        ({"names": (TEXT,)}, "20 pictures and 1 names"),
        ({"examples": [told(request) for request in DIGITS]}, "no example of text"),
        ({"examples": [{key: value for key, value in told(DIGITS[0]).items() if key not in ("keep", "stride")}]}, "no keep, stride"),
    ],
)
def test_a_bar_that_could_not_be_worked_is_an_error(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        placed(**changed)


def test_waiting_and_refused_leave_the_last_request_in_view() -> None:
    request: dict[str, object] = {"task": "digit"}
    for value in (sketch.reading(), sketch.waiting(3, 12, 2.0), sketch.refused(TEXT)):
        assert "request" not in value and "query" not in value
    assert sketch.running(request, "v=1", 530, 784)["badge"] == {"done": {"at": 530, "of": 784}, "device": ""}
    done = sketch.done(request, "v=1", state="live", milliseconds=3.0, device="cpu", warning=TEXT)
    assert done["warning"] == TEXT and done["notice"] is None and done["badge"] == {"milliseconds": 3.0, "device": "cpu"}
