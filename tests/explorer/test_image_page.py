"""The image page without a browser: what a visitor's wish becomes, and what the widgets are told to draw."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from explorer import permalink
from explorer.engine import Engine
from explorer.figures import image
from explorer.figures.ladder import Rung, ladder
from explorer.lab import Picture
from explorer.labs.image_transformer import about, page, texts, views
from explorer.labs.runs import Stored
from explorer.widgets import remake
from explorer.widgets.home import _picture
from models.errors import InputError
from models.image_transformer.records import (
    EXAMPLES,
    KINDS,
    PATTERNS,
    SIDE,
    Comparison,
    Explanation,
    Made,
    Request,
    Step,
    spelled,
)
from models.image_transformer.weights import weights

T = TypeVar("T")
D_HEAD = 4


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in a thread of its own: where a browser is driven, this thread has a running loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def made(layout: image.Layout, count: int = 1, seed: int = 0, cost: float = 3.0) -> Made:
    """Pictures of noise in this layout, each level of the same cost."""
    draw = np.random.default_rng(seed)
    shape = (count, layout.rows, layout.columns, *([layout.channels] if layout.channels > 1 else []))
    seen = (*views.HEADS[layout.pattern], layout.length, D_HEAD)
    return Made(
        layout.pattern,
        draw.integers(0, 256, shape).astype(np.uint8),
        np.full(shape, cost, np.float32),
        layout.order.astype(np.int16),
        np.asarray(layout.starts, np.int16),
        np.concatenate(layout.memory).astype(np.int16),
        np.cumsum([len(memory) for memory in layout.memory]).astype(np.int32),
        draw.normal(size=seen).astype(np.float16),
        draw.normal(size=seen).astype(np.float16),
    )


def explanation(request: Request, seed: int = 0) -> Explanation:
    if request.mode == "enlarge":
        coloured = made(views.LAYOUTS["colour"][0], request.count, seed)
        return Explanation((coloured,), coloured.pictures[0], np.zeros((8, 8, 3), np.uint8), None, None, False)
    both = tuple(made(layout, request.count, seed + at) for at, layout in enumerate(views.LAYOUTS["grey"]))
    read = both[1].pictures[0]
    return Explanation(both, read if request.mode == "complete" else None, None, read, np.full((3, SIDE, SIDE), 2.0, np.float32), False)


@pytest.fixture(autouse=True)
def nothing_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here depends on the first example that happens to be shipped."""
    monkeypatch.setattr(views, "first", lambda: None)


def wish(**more: Any) -> dict[str, Any]:
    return views.spelled(Request()) | more


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


def test_what_the_browser_sends_becomes_a_request() -> None:
    request, notice = page.asked({"request": wish(kind=3, temperature=1, silenced=[["local_2d", 2, 1]], flange=0)})
    assert request == Request(kind=3, silenced=(("local_2d", 2, 1),), flange=0)
    assert isinstance(request.temperature, float)
    assert notice is None


@pytest.mark.parametrize(
    "detail",
    [
        None,
        [],
        {},
        {"request": None},
        wish(seed="7"),
        wish(kind=True),
        wish(temperature="hot"),
        wish(temperature=None),
        wish(picture=7),
        wish(mode=["generate"]),
        wish(count=1.5),
        wish(silenced=5),
        wish(silenced=[["local_1d", 1]]),
        wish(silenced=[[1, 1, 1]]),
        wish(silenced=[["local_1d", 1.5, 1]]),
    ],
)
def test_a_made_up_request_is_refused_in_one_sentence(detail: object) -> None:
    with pytest.raises(InputError) as refusal:
        page.asked(detail)
    assert refusal.value.code == "malformed"
    assert set(refusal.value.text) == {"en", "zh"}


def test_a_link_without_a_request_is_the_first_example() -> None:
    assert page.linked({"query": ""}) == (EXAMPLES[0], None)


def test_a_drawn_picture_travels_in_the_address() -> None:
    drawn = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE)).astype(np.uint8)
    request = Request(mode="complete", picture=spelled(drawn), keep=7, kind=KINDS, silenced=(("local_1d", 0, 3),), memory_rows=1)
    address = views.query(request)
    assert len(address) < 2048
    back, notice = permalink.decode(Request, address)
    assert back == request and notice is None
    assert np.array_equal(views.given(back) if views.given(back) is not None else [], drawn)


def test_a_picture_that_is_none_leaves_the_answer_to_the_model() -> None:
    assert views.given(Request()) is None
    assert views.given(Request(mode="complete", picture="test:9999")) is None
    assert views.given(Request(mode="complete", picture="test:-1")) is None


# ---- what comes back, with a model of a few lines ----------------------------------------------------------------------------------


def generate(requests: list[Request]) -> Iterator[list[Any]]:
    """A generate() that makes every picture in two turns."""
    seen = [explanation(request) for request in requests]
    for first, stop in ((0, 300), (300, None)):
        turn = []
        for one in seen:
            parts = [(each, image.laid_out(each).places[first:stop]) for each in one.made]
            levels = np.stack([each.pictures.reshape(len(each.pictures), -1)[:, places] for each, places in parts])
            turn.append([Step(first, levels, np.ones(levels.shape, np.float32))])
        yield turn
    yield list(seen)


def compare(requests: list[Request]) -> list[Comparison | InputError]:
    def one(request: Request) -> Comparison | InputError:
        if request.flange < 0:
            return InputError("flange", en="No such flange.", zh="没有这样的翼缘。")
        if request.mode == "enlarge":
            return Comparison(explanation(request), explanation(request, 5), np.full((1, 16, 16, 3), 3.2, np.float32))
        forced = np.full((2, SIDE, SIDE), 3.0, np.float32)
        forced[1, 20] += 2.8  # 0.1 bits/dim, all of it in row 20
        return Comparison(explanation(request), explanation(request, 5), forced)

    return [one(request) for request in requests]


Told = dict[str, list[dict[str, Any]]]


def everything(monkeypatch: pytest.MonkeyPatch, detail: object, **how: Any) -> Told:
    """What each widget was told to draw until a wish was fulfilled, the models replaced by those above."""
    monkeypatch.setattr(page, "GENERATE", generate)
    monkeypatch.setattr(page, "COMPARE", compare)

    async def collect() -> list[Any]:
        engine = Engine()
        try:
            return [update async for update in page.answers(engine, lambda: page.asked(detail), "", **how)]
        finally:
            engine.close(1)

    updates = alone(collect())
    names = ("maker", "spans", "surprise", "remake")
    return {name: [update[at] for update in updates if "__type__" not in update[at]] for at, name in enumerate(names)}


def test_a_picture_grows_and_ends_live_with_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    told = everything(monkeypatch, wish(kind=3, seed=2, count=2))
    last = told["maker"][-1]
    assert last["state"] == "live"
    assert last["query"] == "v=1&kind=3&seed=2&count=2"
    growing = [value for value in told["spans"] if value["state"] == "running"]
    assert [pattern["made"] for value in growing for pattern in value["patterns"]] in ([300, 300, 784, 784], [784, 784])
    assert next(one["badge"]["done"]["of"] for one in told["maker"] if one["state"] == "running") == 784
    finished = told["spans"][-1]
    assert finished["state"] == "live"
    assert [pattern["key"] for pattern in finished["patterns"]] == list(PATTERNS)
    assert {look["pattern"] for look in finished["looks"]} == set(PATTERNS), "the first view needs no question"
    assert len(told["surprise"][-1]["maps"]) == 3
    assert told["remake"][-1]["state"] == "empty"
    assert json.dumps(told)


def test_a_silenced_head_gives_before_after_and_one_number(monkeypatch: pytest.MonkeyPatch) -> None:
    told = everything(monkeypatch, wish(silenced=[["local_2d", 2, 1]]))
    change = told["remake"][-1]
    assert change["state"] == "done"
    assert [pair["key"] for pair in change["pictures"]] == ["local_2d"], "1D was not touched"
    assert change["pictures"][0]["number"] == {"before": pytest.approx(3.0), "after": pytest.approx(3.1, abs=1e-4)}
    assert change["sentence"]["en"].startswith(
        "Without head 2D 3·2, the same 2D picture costs 0.10 bits/dim more, most of it in ⟦k:row 20⟧;"
    )
    assert "2D 的头 3·2" in change["sentence"]["zh"]
    assert told["maker"][-1]["query"] == "v=1&silenced=local_2d.2.1"
    assert told["spans"][-1]["request"]["silenced"] == [["local_2d", 2, 1]]


def test_what_a_knob_cannot_do_is_refused_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = everything(monkeypatch, wish(flange=-1))
    assert told["remake"][-1] == {"state": "refused", "error": {"en": "No such flange.", "zh": "没有这样的翼缘。"}}
    assert told["maker"][-1]["state"] == "live"


def test_a_coloured_picture_has_no_map_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    told = everything(monkeypatch, wish(mode="enlarge", picture="test:0", flange=0))
    assert told["maker"][-1]["state"] == "live"
    assert [pattern["channels"] for pattern in told["spans"][-1]["patterns"]] == [3]
    assert told["surprise"][-1]["sentence"] == dict(texts.NO_SURPRISE)
    assert told["remake"][-1]["state"] == "empty", "a flange belongs to 2D, which makes no coloured picture"
    assert told["remake"][-1]["patterns"] == ["colour"]


def test_a_head_of_the_coloured_model_is_silenced_too(monkeypatch: pytest.MonkeyPatch) -> None:
    change = everything(monkeypatch, wish(mode="enlarge", picture="test:0", silenced=[["colour", 3, 0]]))["remake"][-1]
    assert [pair["key"] for pair in change["pictures"]] == ["colour"]
    assert change["pictures"][0]["before"]["shape"] == [16, 16, 3]
    assert change["sentence"]["en"].startswith("Without head colour 4·1, the same colour picture costs 0.20 bits/dim more")


def test_a_refusal_touches_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    told = everything(monkeypatch, wish(seed=None))
    assert told["maker"] == [{"state": "refused", "error": dict(texts.MALFORMED)}]
    assert told["spans"] == told["surprise"] == []
    assert told["remake"] == [{"state": "refused", "error": None}]


def test_the_first_example_is_shown_from_its_store_unless_it_is_run_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Stored(EXAMPLES[0], explanation(EXAMPLES[0]), 840.0, "cpu")
    monkeypatch.setattr(views, "first", lambda: kept)
    again = views.spelled(EXAMPLES[0])
    assert everything(monkeypatch, again)["maker"][-1]["state"] == "stored"
    assert everything(monkeypatch, again, anew=True)["maker"][-1]["state"] == "live"


def looks(monkeypatch: pytest.MonkeyPatch, detail: object) -> dict[str, Any]:
    monkeypatch.setattr(page, "GENERATE", generate)

    async def collect() -> list[Any]:
        engine = Engine()
        try:
            return [update async for update in page.looks(engine, detail, "")]
        finally:
            engine.close(1)

    return dict(alone(collect())[-1])


def test_a_layer_that_was_not_looked_at_yet_is_sent_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    told = looks(monkeypatch, {"query": "v=1&seed=3", "pattern": "local_2d", "layer": 5, "picture": 0})
    assert (told["query"], told["pattern"], told["layer"]) == ("v=1&seed=3", "local_2d", 5)
    assert told["roots"]["shape"][:2] == [views.HEADS["local_2d"][1], SIDE * SIDE]


@pytest.mark.parametrize("detail", [None, {}, {"pattern": "x", "layer": 1}, {"pattern": "local_1d", "layer": 99}, {"query": "v=9"}])
def test_a_look_at_nothing_is_answered_in_one_sentence(monkeypatch: pytest.MonkeyPatch, detail: object) -> None:
    assert set(looks(monkeypatch, detail)["error"]) == {"en", "zh"}


def test_weights_of_every_query_sum_to_one_and_never_see_the_future() -> None:
    for layout in (*views.LAYOUTS["grey"], *views.LAYOUTS["colour"]):
        found = weights(made(layout), 2)
        assert np.allclose(found.sum(-1), 1, atol=1e-5)
        for position in (0, 57, layout.length - 1):
            keys = layout.keys(position)
            assert keys.max() == position
            assert not found[:, position, len(keys) :].any()


# ---- in words ----------------------------------------------------------------------------------------------------------------------


def test_several_changes_are_named_together() -> None:
    said = views.changed_in(Request(silenced=(("local_1d", 0, 0), ("local_2d", 5, 3)), memory_rows=1, flange=0))
    assert said["en"] == ("Without head 1D 1·1, head 2D 6·4 and with 1 of 4 rows of memory in 1D and with a flange of 0 of 7 pixels in 2D")
    assert views.touched(Request(flange=0)) == ("local_2d",)
    assert views.touched(Request(memory_rows=0, silenced=(("local_2d", 0, 0),))) == PATTERNS


def test_a_bent_distribution_is_said_to_be_one() -> None:
    assert views.bent(Request(temperature=1.0)) is None
    sharp, flat = views.bent(Request(temperature=0.4)), views.bent(Request(temperature=1.6))
    assert sharp is not None and "sharper" in sharp["en"] and "0.4" in sharp["en"]
    assert flat is not None and "平坦" in flat["zh"]


def test_an_unusual_picture_carries_its_warning() -> None:
    seen = dataclasses.replace(explanation(Request()), unusual=True)
    assert views.result(seen, Request(), state="live", milliseconds=1.0, device="cpu")["warning"] == dict(texts.UNUSUAL)


# ---- the ladder, the card, the family map ------------------------------------------------------------------------------------------

MEASURED = [
    {"key": "uniform", "value": 8.0, "published": False, "source": "256 levels"},
    {"key": "local_2d", "value": 2.9, "published": False, "source": "this model"},
    {"key": "pixelcnn", "value": 3.1, "published": False, "source": "this model"},
    {"key": "glow", "value": 2.96, "published": True, "source": "as reported"},
    {"key": "local_1d", "value": 3.0, "published": False, "source": "this model"},
]


def test_the_ladder_is_sorted_and_says_what_is_only_published() -> None:
    drawn: Any = about.ladder("grey", MEASURED)
    bars, layout = drawn["figures"]["en"]["data"][0], drawn["figures"]["en"]["layout"]
    assert bars["x"] == [8.0, 3.1, 3.0, 2.96, 2.9]
    assert layout["xaxis"]["range"][0] == 0
    assert layout["yaxis"]["ticktext"][3:] == ["Glow, as published", "<b>Image T., local 2D</b>"]
    assert [(shape["line"]["dash"], shape["x1"]) for shape in layout["shapes"]] == [("dot", 2.96)]
    assert next(row[0]["en"] for row in drawn["table"]["rows"]) == "uniform"


def test_the_ladder_says_the_order_that_came_out_whatever_it_is() -> None:
    said = about.ladder_sentence(MEASURED)
    assert "Local 2D reads best, 2.90 bits a pixel: 0.20 less than the PixelCNN" in said["en"] and "same order" in said["en"]
    worse = [rung | {"value": 2.5} if rung["key"] == "pixelcnn" else rung for rung in MEASURED]
    said = about.ladder_sentence(worse)
    assert "0.40 more than the PixelCNN" in said["en"] and "other order" in said["en"]


COLOURED = [
    {"key": "colour", "value": 3.1, "published": False, "source": "this model"},
    {"key": "uniform", "value": 8.0, "published": False, "source": "256 levels"},
    {"key": "linear", "value": 3.3, "published": False, "source": "least squares"},
]


def test_coloured_pictures_have_a_ladder_of_their_own() -> None:
    drawn: Any = about.ladder("colour", COLOURED)
    assert drawn["figures"]["en"]["data"][0]["x"] == [8.0, 3.3, 3.1]
    assert drawn["figures"]["en"]["layout"]["yaxis"]["ticktext"][2] == "<b>Image T., colour</b>"
    grey: Any = about.ladder("grey", MEASURED)
    assert drawn["title"] != grey["title"] and drawn["name"] != grey["name"]
    assert "3.10 bits for a level of the large one: 0.20 less than a linear coder" in drawn["sentence"]["en"]
    assert "线性编码器少 0.20" in drawn["sentence"]["zh"] and "均匀猜测少 4.90" in drawn["sentence"]["zh"]
    worse = [rung | {"value": 3.5} if rung["key"] == "colour" else rung for rung in COLOURED]
    assert "0.20 more than a linear coder" in about.colour_sentence(worse)["en"]
    assert about.colour_sentence(COLOURED[1:])["en"] == "linear, neighbours: 3.30"


def test_rungs_stand_on_the_ladder_of_their_pictures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "image_transformer").mkdir()
    rungs = [{**rung, "pictures": "grey"} for rung in MEASURED] + [{**rung, "pictures": "colour"} for rung in COLOURED]
    (tmp_path / "image_transformer" / "ladder.json").write_text(json.dumps(rungs), encoding="utf-8")
    monkeypatch.setattr(about.about, "ASSETS", tmp_path)
    assert [len(about.measured(pictures)) for pictures in ("grey", "colour")] == [5, 3]
    assert {rung["key"] for rung in about.measured("colour")} == {"colour", "uniform", "linear"}


def test_curves_say_when_the_models_have_not_seen_the_same_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = {"local_1d": 3, "local_2d": 3, "pixelcnn": 2}
    monkeypatch.setattr(about, "facts", lambda: {variant: {"recipe": {"batch": 8}} for variant in logs})
    monkeypatch.setattr(
        about.about, "log", lambda slug, variant: [{"step": 100 * n, "validation": 2.1 - 0.1 * n} for n in range(1, logs[variant] + 1)]
    )
    drawn: Any = about.curves()
    assert "Not yet alike" in drawn["sentence"]["en"] and "PixelCNN, same size 2.74 after 1,600" in drawn["sentence"]["en"]
    logs["pixelcnn"] = 3
    drawn = about.curves()
    assert drawn["sentence"]["en"].startswith("After 2,400 pictures seen, each the same ones")


def test_a_ladder_needs_costs() -> None:
    with pytest.raises(ValueError, match="0 rungs"):
        ladder([])
    with pytest.raises(ValueError, match="positive"):
        ladder([Rung("free", 0.0, "other")])


def test_before_and_after_of_different_shape_are_never_subtracted() -> None:
    with pytest.raises(ValueError, match="one shape"):
        remake.Pair("local_1d", np.zeros((2, 2), np.uint8), np.zeros((2, 3), np.uint8), (1.0, 1.0))


def test_the_family_map_shows_the_first_picture_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "first", lambda: Stored(EXAMPLES[0], explanation(EXAMPLES[0]), 1.0, "cpu"))
    picture = views.thumbnail()
    assert picture is not None
    assert 0.5 < picture.made.mean() < 1
    (key, memory), (query, block) = picture.outlines
    assert (key, query) == ("key", "query")
    assert memory[2] >= block[0] and memory[0] < block[0], "the memory lies above the block that asks"
    drawn: Any = _picture(picture)
    assert drawn["levels"]["shape"] == [SIDE, SIDE]


def test_an_outline_beyond_the_picture_is_refused() -> None:
    blank = np.zeros((4, 4), np.uint8)
    with pytest.raises(ValueError, match="outline"):
        Picture(blank, blank == 0, (("key", (0, 0, 5, 4)),))
    with pytest.raises(ValueError, match="made"):
        Picture(blank, np.ones((4, 5), bool))
