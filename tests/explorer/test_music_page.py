"""The music page without a browser: what a visitor's wish becomes, and what the widgets are told to draw."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from explorer import controls, permalink
from explorer.labs.music import about, change, page, texts, views
from models.music import chorales, events, lstm
from models.music.lstm import PerformanceRNN
from models.music.model import Config, MusicTransformer
from models.music.pretrained import Network
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
from models.pretrained import Pretrained
from tests.explorer.wishes import answered, finished

SMALL: dict[str, Any] = {"d_model": 24, "d_ff": 32, "n_heads": 3, "n_layers": 2}
TUNE = Request(motif=melody((72, 0, 71, 67), 2))
PLAYED = Request("piano", "continue", motif(SCALE[:4]), 24)


def facts(variant: str, **more: Any) -> dict[str, Any]:
    """A model.json as the recipe writes it."""
    config = (
        {"events": 388, "d_model": 16, "n_layers": 2} if variant == "lstm" else {**SMALL, "distances": 40 * (variant in change.RELATIVE)}
    )
    value = {"jsb_relative": 0.49, "jsb_transformer": 0.58, "relative": 1.9, "transformer": 2.0, "lstm": 2.1}[variant]
    published = {"jsb_relative": 0.357, "jsb_transformer": 0.417, "relative": 1.835, "transformer": 1.861, "lstm": 1.969}[variant]
    why = {"en": "The same grid.", "zh": "同样的网格。"}
    return {
        "slug": "music",
        "variant": variant,
        "seed": 1,
        "config": config,
        "recipe": {"batch": 2, "window": 1024, "schedule": {"peak": 0.003, "average": 5}},
        "parameters": 1_320_000,
        "steps": 3000,
        "training_seconds": 2400,
        "training_device": "cpu, 1 threads",
        "finished": True,
        "data": "chorales",
        "licence": "free",
        "figure": {"metric": "nats per grid cell", "split": "valid", "value": value, "n": 73_632, "pieces": 76},
        "published": {"value": published, "source": "Huang et al. (2018)", "comparable": variant.startswith("jsb"), "why": why},
        **more,
    }


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Network]:
    """Small networks that have learned nothing in the places of the shipped ones, of both styles; no first example is stored."""
    torch.manual_seed(8)
    chorale, piano = Config(chorales.CELLS, 40, (4, 64), **SMALL), Config(events.EVENTS, 40, **SMALL)
    networks: dict[str, Network] = {
        "jsb_relative": MusicTransformer(chorale),
        "jsb_transformer": MusicTransformer(dataclasses.replace(chorale, distances=0)),
        "relative": MusicTransformer(piano),
        "transformer": MusicTransformer(dataclasses.replace(piano, distances=0)),
        "lstm": PerformanceRNN(lstm.Config(events.EVENTS, d_model=16)),
    }
    shipped = {name: Pretrained(network.eval().requires_grad_(False), {"variant": name}) for name, network in networks.items()}
    monkeypatch.setattr("models.music.explain.load", lambda variant, seed=1: shipped[variant])
    monkeypatch.setattr(views, "first", lambda: None)
    there(monkeypatch, "chorale", "piano")
    return networks


def there(monkeypatch: pytest.MonkeyPatch, *known: str) -> None:
    """Models of these styles are shipped."""
    for module in ("explorer.labs.music.page", "explorer.labs.music.views", "explorer.labs.music.change", "models.music.records"):
        monkeypatch.setattr(f"{module}.styles", lambda: known)
    variants = [variant for style in known for variant in MODELS[style]]
    monkeypatch.setattr(about, "facts", lambda: {variant: facts(variant) for variant in variants})
    monkeypatch.setattr(about, "seeds", lambda variant: {1: float(facts(variant)["figure"]["value"])})


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
    assert stops == [["0", "1", "2", "3", "4", "6", "8", "12", "16", "24", "32", "-1"]] * 2, "as trained last"
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


def test_the_card_tells_size_data_figure_and_time() -> None:
    size, data, figure, time = about.pairs()
    assert (size.value, figure.value) == ("1.32 M", "0.490")
    assert figure.note == {"en": "absolute 0.580 · published 0.357", "zh": "绝对位置 0.580 · 发表值 0.357"}
    assert data.value == "JSB · ASAP" and "CC BY-NC-SA" in str(data.note)
    assert time.value == {"en": "3.3 h", "zh": "3.3 小时"}


def test_the_order_that_came_out_stands_beside_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    chorales_, piano = about.standings()
    bars: Any = chorales_["figures"]
    assert bars["en"]["data"][0]["x"] == [0.58, 0.49, 0.417, 0.357]
    assert len(bars["en"]["layout"]["shapes"]) == 2, "published figures are dashed outlines"
    said: Any = chorales_["sentence"]
    held_out, in_print = "Held out: relative 0.490, absolute 0.580.", "relative 0.357, absolute 0.417."
    assert said["en"] == f"{held_out} The paper has {in_print} Fewer than three seeds of each here: too few to name an order."
    assert "on other performances" in str(piano["sentence"])
    runs = {"jsb_relative": (0.49, 0.5, 0.48), "jsb_transformer": (0.58, 0.56, 0.55)}
    monkeypatch.setattr(about, "seeds", lambda variant: dict(enumerate(runs[variant], 1)))
    known = {variant: facts(variant) for variant in runs}
    assert f"{held_out} The paper has the same order: {in_print}" in about.standing_sentence(known)["en"]
    turned = {"jsb_transformer": facts("jsb_transformer"), "jsb_relative": facts("jsb_relative")}
    assert "another order" in about.standing_sentence(turned)["en"]
    runs["jsb_transformer"] = (0.58, 0.495, 0.55)
    assert "Seeds of different models overlap" in about.standing_sentence(known)["en"]


def test_every_seed_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "seeds", lambda variant: {1: 0.49, 2: 0.5, 3: 0.48})
    chorales_ = about.standings()[0]
    table: Any = chorales_["table"]
    assert [row[1:3] for row in table["rows"] if row[0]["en"] == "relative"] == [[1, 0.49], [2, 0.5], [3, 0.48]]
    assert "relative by seed: 0.490 · 0.500 · 0.480." in str(chorales_["sentence"])


def test_seeds_are_read_from_their_own_checkpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("explorer.labs.about.ASSETS", tmp_path)
    assert about.seeds("jsb_relative") == {}
    for seed, name, split in ((1, "jsb_relative", "valid"), (2, "jsb_relative-seed2", "valid"), (3, "jsb_relative-seed3", "test")):
        folder = tmp_path / "music" / name
        folder.mkdir(parents=True)
        figure = {**facts("jsb_relative")["figure"], "value": 0.4 + seed / 100, "split": split}
        (folder / "model.json").write_text(json.dumps(facts("jsb_relative", seed=seed, figure=figure)), "utf-8")
    assert about.seeds("jsb_relative") == {1: pytest.approx(0.41), 2: pytest.approx(0.42)}


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
    assert not any("lengths" in step.view for step in views.steps())
    monkeypatch.setattr(about, "facts", lambda: {"relative": facts("relative", figure_times_2={"ratio": 1.01})})
    assert views.steps()[-1].view["lengths"] == "open"


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
