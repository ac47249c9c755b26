"""The music page without a browser: what a visitor's wish becomes, and what the widgets are told to draw."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import torch

from explorer import controls, permalink
from explorer.engine import Engine
from explorer.labs.music import about, change, page, texts, views
from explorer.program import answer
from explorer.runs import Stored
from models.music import chorales, events, lstm
from models.music.explain import explain
from models.music.lstm import PerformanceRNN
from models.music.model import Config, MusicTransformer
from models.music.pretrained import Network
from models.music.records import (
    CHORALES,
    MAX_MOTIF,
    MODELS,
    PIANO,
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

T = TypeVar("T")
SMALL: dict[str, Any] = {"d_model": 24, "d_ff": 32, "n_heads": 3, "n_layers": 2}
TUNE = Request(motif=melody((72, 0, 71, 67), 2))
PLAYED = Request("piano", "continue", motif(SCALE[:4]), 24)
NOTHING = Explanation((), 125)


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in a thread of its own: where a browser is driven, this thread has a running loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


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


Told = dict[str, list[dict[str, Any]]]


def everything(request: Request, anew: bool = True, **fields: str) -> Told:
    """What each widget was told to draw until a wish was fulfilled. fields: as texts, in place of the request's."""

    async def collect() -> list[dict[str, Any]]:
        engine = Engine()
        given: tuple[str, Any] = ("", controls.texts(request) | fields) if anew else (controls.query(request), None)
        try:
            async with contextlib.aclosing(answer(page.program(), engine, *given)) as updates:
                return [update async for update in updates]
        finally:
            engine.close(1)

    updates = alone(collect())
    return {name: [update[name] for update in updates if name in update] for name in page.program().widgets}


def with_(request: Request = TUNE, **changes: Any) -> Request:
    return dataclasses.replace(request, **changes)


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


@pytest.mark.parametrize("request_", [*CHORALES, *PIANO])
def test_every_example_travels_in_the_address_and_is_music(request_: Request) -> None:
    address = controls.query(request_)
    assert len(address) < 2048
    assert controls.read(Request, address) == (request_, None)
    assert len(read_motif(request_)) > 32


def test_the_longest_motif_still_has_a_link() -> None:
    noise = np.random.default_rng(1).integers(0, events.EVENTS, MAX_MOTIF["piano"])
    longest = Request("piano", "continue", spelled(noise))
    assert permalink.decode(Request, controls.query(longest)) == (longest, None)


# ---- what comes back ---------------------------------------------------------------------------------------------------------------


def test_a_melody_is_harmonised_by_models_side_by_side_and_its_address_restores_it() -> None:
    told = everything(with_(seed=2))
    last = told["ask"][-1]
    assert last["state"] == "live"
    assert permalink.decode(Request, last["query"])[0] == with_(seed=2)
    rolls = told["roll"][-1]
    assert rolls["state"] == "live"
    assert [model["key"] for model in rolls["models"]] == list(MODELS["chorale"])
    assert [model["name"] for model in rolls["models"]] == [dict(texts.NAMES[key]) for key in MODELS["chorale"]]
    assert all(model["sound"]["wav"].startswith("/sound/") and model["look"].startswith("/looks/") for model in rolls["models"])
    assert [(one["key"], one["heads"], one["note"]) for one in told["heads"][-1]["models"]] == [
        (one["key"], one["heads"], one["note"]) for one in rolls["models"]
    ]
    assert told["change"][-1]["state"] == "empty"
    assert told["change"][-1]["pick"] == rolls["pick"] == last["pick"], "a change leaves the note in view"
    assert len(last["lines"]) == 2 and "nats per cell" in last["lines"][0]["en"]
    assert json.dumps(told)


def test_notes_arrive_while_they_are_made() -> None:
    told = everything(with_(PLAYED, length=300))
    said = [value["badge"]["progress"]["en"] for value in told["ask"] if value["state"] == "running"]
    reached = [int(one.removeprefix("live · event ").split(" of ")[0].replace(",", "")) for one in said]
    assert reached == sorted(reached)
    assert {one.split(" of ")[1] for one in said} == {f"{3 * (300 + len(read_motif(PLAYED))):,}"}
    growing = [value for value in told["roll"] if value["state"] == "running"]
    assert growing and all(model["events"] <= model["of"] for value in growing for model in value["models"])
    assert told["roll"][-1]["state"] == "live"


def test_what_is_made_by_piano_models_says_its_licence() -> None:
    told, free = everything(PLAYED), everything(TUNE)
    assert all("CC BY-NC-SA 4.0" in text for text in told["roll"][-1]["licence"].values()), "beside the music, and in its files"
    assert free["roll"][-1]["licence"] is None


@pytest.mark.parametrize(
    ("request_", "reached"),
    [
        (with_(farthest=0), ["jsb_relative"]),
        (with_(silenced=(("jsb_transformer", 0, 1),)), ["jsb_transformer"]),
        (with_(semitones=-2), ["jsb_relative", "jsb_transformer"]),
        (with_(PLAYED, stretch=2.0), ["relative", "transformer", "lstm"]),
    ],
)
def test_a_change_is_in_the_rolls_and_gives_a_number_for_each_model_it_reaches(request_: Request, reached: list[str]) -> None:
    told = everything(request_)
    bar, rolls, panel = (told[name][-1] for name in ("ask", "roll", "change"))
    assert panel["state"] == "done"
    assert [one["key"] for one in panel["rolls"]] == reached
    assert all(one["number"]["before"] > 0 and one["number"]["after"] > 0 for one in panel["rolls"])
    assert all(one["before"]["sound"]["wav"] != "" for one in panel["rolls"])
    assert panel["sentence"]["en"].endswith(".") and panel["sentence"]["zh"].endswith("。")
    assert "{" not in panel["sentence"]["en"] + panel["sentence"]["zh"]
    assert bar["query"] == panel["query"] == rolls["query"] == controls.query(request_), "the rolls show the run as it was asked for"
    plain = controls.read(Request, bar["plain"])[0]
    assert rolls["same"] == everything(plain)["roll"][-1]["same"] == bar["plain"], "a lock stays under a change"
    assert bar["changes"]["en"] and panel["pick"] == bar["pick"]


def test_a_change_that_reaches_no_model_says_so() -> None:
    panel = everything(with_(PLAYED, farthest=8))["change"][-1]
    assert [one["key"] for one in panel["rolls"]] == ["relative"]
    assert everything(with_(stretch=2.0))["change"][-1]["state"] == "empty", "chorales are not stretched"


def test_a_motif_that_would_leave_its_range_is_refused_in_words() -> None:
    told = everything(with_(motif=melody((81, 81)), semitones=5))
    assert told["ask"][-1]["state"] == "refused" and "36 to 81" in told["ask"][-1]["error"]["en"]
    assert told["change"] == [{"state": "refused", "error": None}] and told["roll"] == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"temperature": "9.0"}, "9"),
        ({"length": "5000", "mode": "continue"}, "5000"),
        ({"length": "600", "mode": "continue"}, "600"),
        ({"motif": "%%%"}, "motif"),
        ({"style": "polka"}, "polka"),
        ({"seed": "seven"}, "seven"),
        ({"silenced": "jsb_relative.1"}, "silenced"),
        ({"silenced": "lstm.0.0"}, "lstm"),
    ],
)
def test_what_no_model_reads_gets_one_sentence(fields: dict[str, str], says: str) -> None:
    told = everything(TUNE, **fields)
    assert says in told["ask"][-1]["error"]["en"]
    assert told["roll"] == []
    assert told["change"] == [{"state": "refused", "error": None}]


def test_the_first_example_is_shown_from_its_store_unless_it_is_run_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    (seen,) = explain([TUNE])
    assert isinstance(seen, Explanation)
    monkeypatch.setattr(views, "first", lambda: Stored(TUNE, seen, 840.0, "cpu"))
    assert everything(TUNE, anew=False)["ask"][-1]["state"] == "stored"
    assert everything(TUNE)["ask"][-1]["state"] == "live"


def test_a_result_that_is_held_ready_names_every_widget() -> None:
    async def ask() -> Any:
        engine = Engine()
        try:
            return [await page.LAB.stored(engine, query) for query in (controls.query(with_(farthest=0)), "style=polka")]
        finally:
            engine.close(1)

    held, refused = alone(ask())
    assert refused is None
    assert {name: value["state"] for name, value in held.items()} == {
        "ask": "stored",
        "roll": "stored",
        "heads": "stored",
        "change": "done",
    }


# ---- in words, on the card, on the family map --------------------------------------------------------------------------------------


def test_a_bent_distribution_is_said_to_be_one() -> None:
    assert views.notice(Request(temperature=1.0), NOTHING) is None
    sharp, flat = views.notice(Request(temperature=0.4), NOTHING), views.notice(Request(temperature=1.6), NOTHING)
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


def test_the_family_map_shows_notes_and_who_looks_at_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    (seen,) = explain([CHORALES[0]])
    assert isinstance(seen, Explanation)
    monkeypatch.setattr(views, "first", lambda: Stored(CHORALES[0], seen, 1.0, "cpu"))
    views.telling.cache_clear()
    try:
        picture = views.thumbnail()
    finally:
        views.telling.cache_clear()
    assert picture is not None
    assert {role for role, _ in picture.outlines} == {"query", "key"}
    assert {views.LOUD[True], views.LOUD[False]} <= set(picture.levels.ravel().tolist())


def test_styles_are_those_with_a_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("models.music.records.SHIPPED", tmp_path)
    assert styles() == ()
    (tmp_path / "lstm").mkdir()
    (tmp_path / "lstm" / "model.json").write_text("{}", "utf-8")
    assert styles() == ("piano",)
