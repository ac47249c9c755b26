"""What the input bar of the music lab is given and what it answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest

from explorer.widgets import tune
from models.music.records import GRID, MAX_MADE, MAX_MOTIF
from tests.conftest import built

TEXT = {"en": "a word", "zh": "一个词"}
LIMITS = tune.Limits(motif=MAX_MOTIF, made=MAX_MADE, grid=GRID, keys={"chorale": (48, 81), "piano": (21, 108)})
CHORALE: dict[str, object] = {"key": "chorale", "name": TEXT, "modes": ["continue", "harmonise"], "models": 2}
PIANO: dict[str, object] = {"key": "piano", "name": TEXT, "modes": ["continue"]}
EXAMPLES: list[dict[str, object]] = [
    {"style": style, "mode": "continue", "motif": "AAA", "query": "v=1", "title": TEXT} for style in ("piano", "chorale")
]


def placed(**changed: Any) -> dict[str, Any]:
    """The props of a bar on a page."""
    given: dict[str, Any] = {
        "texts": {"region": TEXT},
        "examples": EXAMPLES,
        "styles": [CHORALE, PIANO],
        "limits": LIMITS,
    }

    def inside() -> dict[str, Any]:
        with gr.Blocks():
            props: dict[str, Any] = tune.tune(tune.empty(), **{**given, **changed}).props
        return props

    return built(inside)


def test_everything_the_bar_is_given_is_json() -> None:
    props = placed()
    written = json.loads(json.dumps({key: props[key] for key in ("texts", "examples", "styles", "limits", "upload")}))
    assert written["limits"]["keys"]["chorale"] == [48, 81]
    assert written["limits"]["file"] == 256 << 10
    assert written["upload"] == {"chorale": "/music/chorale", "piano": "/music/piano"}


def test_a_style_whose_models_are_missing_takes_its_examples_along() -> None:
    assert [example["style"] for example in placed()["examples"]] == ["piano", "chorale"]
    assert [example["style"] for example in placed(styles=[CHORALE])["examples"]] == ["chorale"]


def test_a_bar_without_a_name_a_style_or_an_example_is_an_error() -> None:
    for missing in ({"texts": {}}, {"styles": []}, {"examples": []}, {"examples": EXAMPLES[:1], "styles": [CHORALE]}):
        with pytest.raises(ValueError, match="region"):
            placed(**missing)


def test_a_style_without_an_address_for_its_files_is_an_error() -> None:
    with pytest.raises(ValueError, match="piano"):
        placed(upload={"chorale": "/music/chorale"})


def test_a_keyboard_that_ends_with_half_a_key_is_an_error() -> None:
    for keys in ((48, 82), (49, 81)):
        with pytest.raises(ValueError, match="white"):
            placed(limits=replace(LIMITS, keys={"chorale": keys, "piano": (21, 108)}))


def test_waiting_and_refused_leave_the_last_request_in_view() -> None:
    request: dict[str, object] = {"style": "chorale"}
    for value in (tune.reading(), tune.waiting(3, 12, 2.0), tune.refused(TEXT)):
        assert "request" not in value and "query" not in value
    assert tune.running(request, "v=1", 64, 512)["badge"] == {"done": {"at": 64, "of": 512}, "device": ""}
    done = tune.done(request, "v=1", state="live", milliseconds=3.0, device="cpu", warning=TEXT)
    assert done["warning"] == TEXT and done["notice"] is None and done["badge"] == {"milliseconds": 3.0, "device": "cpu"}
