"""What the panel of what changes if … is given and what it shows, for networks that decide how long they think."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
import numpy as np
import pytest

from explorer.widgets import rethink
from tests.conftest import built

TEXT = {"en": "a word", "zh": "一个词"}
LIMITS = rethink.Limits(max_epsilon=0.9, max_limit=20, max_bias=5, most_forced=20, trained={"parity": 20, "addition": 8})
TEXTS = {"limit": TEXT, "forced": TEXT, "told": TEXT}
REQUEST: dict[str, object] = {"task": "addition", "text": "478+256", "epsilon": 0.01, "limit": 0, "forced": 2, "bias": 0.0, "told": True}


def placed(texts: dict[str, Any]) -> dict[str, Any]:
    """The props of a panel on a page."""

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            props: dict[str, Any] = rethink.rethink(rethink.idle(REQUEST), limits=LIMITS, texts=texts).props
        return props

    return built(inside)


def test_the_knobs_know_how_far_they_go_and_what_was_trained() -> None:
    limits = json.loads(json.dumps(placed(TEXTS)["limits"]))
    assert limits["trained"] == {"parity": 20, "addition": 8} and limits["epsilon"] == 0.01
    assert (limits["max_epsilon"], limits["max_limit"], limits["max_bias"], limits["most_forced"]) == (0.9, 20, 5, 20)


def test_a_panel_whose_knobs_have_no_names_is_an_error() -> None:
    with pytest.raises(ValueError, match="no text for forced, told"):
        placed({"limit": TEXT})


def test_numbers_of_numpy_become_json() -> None:
    value = rethink.done(
        REQUEST,
        answers=("734", TEXT),
        right=(np.True_, np.False_),  # type: ignore[arg-type]
        own_ponder=(np.float32(4.5), 2.0),  # type: ignore[arg-type]
        accuracy=(0.9, 0.5),
        ponder=(4.0, 2.0),
        milliseconds=(200.0, 90.0),
        sample=1000,
        sentence=TEXT,
    )
    assert json.loads(json.dumps(value)) == value
    assert value["answers"] == ["734", TEXT] and value["right"] == [True, False] and value["own_ponder"] == [4.5, 2.0]


def test_running_and_refused_keep_the_last_comparison() -> None:
    assert rethink.running() == {"state": "running"}
    assert rethink.refused(TEXT) == {"state": "refused", "error": TEXT} and rethink.refused(None)["error"] is None
    assert rethink.idle() == {"state": "empty", "request": None}
