"""The music page without a browser: what a visitor's wish becomes, and what the widgets are told to draw."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from explorer import controls, permalink
from explorer.labs.music import about, page, texts, views
from models.music import events
from models.music.records import (
    MAX_MOTIF,
    MODELS,
    SCALE,
    Explanation,
    Request,
    melody,
    motif,
    read_motif,
    spelled,
    styles,
)
from tests.explorer.wishes import answered, finished
from tests.models.networks import composers

TUNE = Request(motif=melody((72, 0, 71, 67), 2))
FACTS = about.facts()
PLAYED = Request("piano", "continue", motif(SCALE[:4]), 24)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small networks that have learned nothing in the places of the shipped ones, of both styles; no first example is stored."""
    composers(monkeypatch)
    monkeypatch.setattr(views, "first", lambda: None)
    there(monkeypatch, "chorale", "piano")


def there(monkeypatch: pytest.MonkeyPatch, *known: str) -> None:
    """Models of these styles are shipped."""
    for module in ("explorer.labs.music.page", "explorer.labs.music.views", "explorer.labs.music.change", "models.music.records"):
        monkeypatch.setattr(f"{module}.styles", lambda: known)
    monkeypatch.setattr(about, "facts", lambda: {variant: FACTS[variant] for style in known for variant in MODELS[style]})


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


def test_everything_the_bar_and_the_panel_are_given_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = json.loads(json.dumps([one.drawn(Request) for one in page.program().controls]))
    motif_ = next(one for one in drawn if one["kind"] == "motif")["own"]
    assert motif_["styles"]["chorale"] == {"most": 512, "grid": 125, "keys": [48, 81], "upload": "/music/chorale", "models": 2}
    assert motif_["styles"]["piano"]["models"] == 3 and motif_["file"] == 256 << 10
    assert not any(pitch % 12 in {1, 3, 6, 8, 10} for style in motif_["styles"].values() for pitch in style["keys"]), "white keys"
    lengths = [one for one in drawn if one["field"] == "length"]
    assert [one["values"] for one in lengths] == [["64", "128", "256", "384", "512"], ["128", "256", "512", "768", "1024"]]
    assert [one["names"][0][1]["en"] for one in lengths] == ["1 bar", "128 events"]
    stops = [[value for value, _ in one["names"]] for one in drawn if one["field"] == "farthest"]
    assert len(stops) == 2 and all(one[0] == "0" and one[-1] == "-1" for one in stops), "as trained last"
    there(monkeypatch, "chorale")
    left = [one.field for one in page.program().controls]
    assert "style" not in left and "stretch" not in left


def test_the_longest_motif_still_has_a_link() -> None:
    noise = np.random.default_rng(1).integers(0, events.EVENTS, MAX_MOTIF["piano"])
    longest = Request("piano", "continue", spelled(noise))
    assert permalink.decode(Request, controls.query(longest)) == (longest, None)


# ---- what comes back ---------------------------------------------------------------------------------------------------------------


def test_a_melody_is_harmonised_by_models_side_by_side_with_their_sound() -> None:
    drawn = finished(page.program(), dataclasses.replace(TUNE, seed=2))
    rolls, bar = drawn["roll"], drawn["ask"]
    assert [model["key"] for model in rolls["models"]] == list(MODELS["chorale"])
    assert [model["name"] for model in rolls["models"]] == [dict(texts.NAMES[key]) for key in MODELS["chorale"]]
    assert all(model["sound"]["wav"].startswith("/sound/") and model["look"].startswith("/looks/") for model in rolls["models"])
    assert [(one["key"], one["heads"], one["note"]) for one in drawn["heads"]["models"]] == [
        (one["key"], one["heads"], one["note"]) for one in rolls["models"]
    ]
    assert rolls["pick"] == bar["pick"]
    assert len(bar["lines"]) == 2 and "nats per cell" in bar["lines"][0]["en"]
    assert rolls["licence"] is None, "what is made by piano models says its licence"


def test_notes_arrive_while_they_are_made() -> None:
    told = answered(page.program(), "", controls.texts(dataclasses.replace(PLAYED, length=300)))
    said = [value["badge"]["progress"]["en"] for value in told["ask"] if value["state"] == "running"]
    reached = [int(one.removeprefix("live · event ").split(" of ")[0].replace(",", "")) for one in said]
    assert reached == sorted(reached)
    assert {one.split(" of ")[1] for one in said} == {f"{3 * (300 + len(read_motif(PLAYED))):,}"}
    growing = [value for value in told["roll"] if value["state"] == "running"]
    assert growing and all(model["events"] <= model["of"] for value in growing for model in value["models"])
    licence = told["roll"][-1]["licence"]
    assert all("CC BY-NC-SA 4.0" in text for text in licence.values()), "beside the music, and in its files"


# ---- in words, on the card, on the family map --------------------------------------------------------------------------------------


def test_a_bent_distribution_is_said_to_be_one() -> None:
    assert views.notice(Request(temperature=1.0), Explanation((), 125)) is None
    sharp, flat = views.notice(Request(temperature=0.4), Explanation((), 125)), views.notice(Request(temperature=1.6), Explanation((), 125))
    assert sharp is not None and "sharper" in sharp["en"] and "0.4" in sharp["en"]
    assert flat is not None and "平坦" in flat["zh"]


@pytest.mark.parametrize("known", [(), ("chorale",), ("chorale", "piano")])
def test_the_lab_stands_with_whatever_models_are_there(monkeypatch: pytest.MonkeyPatch, known: tuple[str, ...]) -> None:
    there(monkeypatch, *known)
    assert [*next(one.own for one in views.asked() if one.own).styles] == list(known or ("chorale",))
    assert len(views.titles()) >= 3
    assert set(about.prose()) <= {"en", "zh"}
    assert about.curves() is None or known
    steps = views.steps()
    assert len(steps) == 6
    assert any("LSTM" in step.say["en"] for step in steps) == ("piano" in known)
    for step in steps:
        assert page.program().read(step.query)[0].style in (known or ("chorale",))


def test_a_step_goes_beyond_the_trained_length_once_that_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for measured in (True, False):
        monkeypatch.setattr(about, "beyond", lambda measured=measured: measured)
        assert any("lengths" in step.view for step in views.steps()) == measured


def test_the_card_speaks_of_piano_only_where_its_models_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not for commercial use" in about.prose()["en"]
    there(monkeypatch, "chorale")
    assert "ASAP" not in about.prose()["en"]
    assert "not yet measured" not in about.prose()["en"] and "尚未测量" not in about.prose()["zh"]


def test_styles_are_those_with_a_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("models.music.records.SHIPPED", tmp_path)
    assert styles() == ()
    (tmp_path / "lstm").mkdir()
    (tmp_path / "lstm" / "model.json").write_text("{}", "utf-8")
    assert styles() == ("piano",)
