"""The image page without a browser: what a visitor's wish becomes, and what the widgets are told to draw."""

from __future__ import annotations

import base64
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.figures.ladder import Rung, ladder
from explorer.lab import Picture
from explorer.labs.heads import without as heads_in_words
from explorer.labs.image_transformer import about, change, page, texts, views
from explorer.looks import looks
from explorer.picture_files import FILE
from explorer.uploads import routes
from models.image_transformer.records import LARGE, PATTERNS, SIDE, Request
from models.image_transformer.weights import weights
from tests.explorer.drawn_pictures import explanation, generate, made, measure
from tests.explorer.wishes import finished


@pytest.fixture(autouse=True)
def nothing_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here depends on the first example that happens to be shipped, or on models."""
    monkeypatch.setattr(views, "first", lambda: None)
    monkeypatch.setattr(page, "GENERATE", generate)
    monkeypatch.setattr(page, "MEASURE", measure)


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


def test_a_picture_that_is_none_leaves_the_answer_to_the_model() -> None:
    assert views.given(Request()) is None
    assert views.given(Request(mode="complete", picture="test:9999")) is None
    assert views.given(Request(mode="complete", picture="test:-1")) is None


def test_pictures_travel_inside_the_page_and_files_are_sent_to_where_they_are_read() -> None:
    drawn = [json.loads(json.dumps(one.drawn(Request)))["drawings"] for one in views.asked() if one.kind == "drawing"]
    assert [(one["side"], one["channels"], one["ink"], one["small"]) for one in drawn] == [(SIDE, 1, False, 0), (LARGE, 3, False, 8)]
    assert sorted(one["upload"] for one in drawn) == sorted(route.path for route in routes())
    for one, (levels, names) in zip(drawn, views.held_out().values(), strict=True):
        packed = one["pixels"]
        assert one["file"] == FILE and len(one["names"]) == len(names) == len(levels) and "url" not in packed
        assert np.array_equal(np.frombuffer(base64.b64decode(packed["data"]), packed["dtype"]).reshape(packed["shape"]), levels)


def test_without_coloured_pictures_nothing_is_made_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    grey = views.held_out()["grey"]
    monkeypatch.setattr(views, "held_out", lambda: {"grey": grey})
    asked = [one.drawn(Request) for one in views.asked()]
    assert asked[0]["values"] == ["generate", "complete"]
    assert len([one for one in asked if one["kind"] == "drawing"]) == 1


def test_of_numbers_those_with_names_are_offered() -> None:
    drawn = next(one.drawn(Request) for one in views.asked() if one.field == "top_k")
    assert drawn["values"] == ["1", "4", "16", "64", "256"] and drawn["names"][-1] == ["256", dict(texts.ALL)]


# ---- what comes back, with a model of a few lines ----------------------------------------------------------------------------------


def test_a_silenced_head_gives_before_after_and_one_number() -> None:
    request = Request(silenced=(("local_2d", 2, 1),))
    drawn = finished(page.program(), request)
    panel = drawn["change"]
    assert panel["state"] == "done" and panel["measure"]["key"] == "bits_per_dim"
    assert [pair["key"] for pair in panel["pairs"]] == ["local_2d"], "1D was not touched"
    assert panel["pairs"][0]["number"] == {"before": pytest.approx(3.0), "after": pytest.approx(3.1, abs=1e-4)}
    assert panel["sentence"]["en"].startswith(
        "Without head 2D 3·2, the same 2D picture costs 0.10 bits/dim more, most of it in ⟦k:row 20⟧;"
    )
    assert "2D 的头 3·2" in panel["sentence"]["zh"]
    assert drawn["ask"]["query"] == drawn["spans"]["query"] == "v=1&silenced=local_2d.2.1", "the views show the run as it was asked"
    assert drawn["spans"]["silenced"] == [["local_2d", 2, 1]]
    assert drawn["spans"]["same"] == drawn["ask"]["plain"] == "v=1", "a lock stays under a change"


def test_a_coloured_picture_has_no_map_and_says_why() -> None:
    drawn = finished(page.program(), Request(mode="enlarge", picture="test:0", flange=0))
    assert drawn["ask"]["state"] == "live" and drawn["ask"]["changes"] is None
    assert [pattern["channels"] for pattern in drawn["spans"]["patterns"]] == [3]
    assert drawn["surprise"]["sentence"] == dict(texts.NO_SURPRISE)
    assert drawn["change"]["state"] == "empty", "a flange belongs to 2D"


def test_a_head_of_the_coloured_model_is_silenced_too() -> None:
    panel = finished(page.program(), Request(mode="enlarge", picture="test:0", silenced=(("colour", 3, 0),)))["change"]
    assert [pair["key"] for pair in panel["pairs"]] == ["colour"]
    assert panel["pairs"][0]["before"]["shape"] == [16, 16, 3]
    assert panel["sentence"]["en"].startswith("Without head colour 4·1, the same colour picture costs 0.20 bits/dim more")


def test_a_picture_grows_with_the_memory_that_a_change_leaves() -> None:
    for request in (Request(memory_rows=1, flange=2), Request(mode="enlarge", picture="test:0", memory_rows=0)):
        layouts = views._layouts(request)
        assert [len(layout.memory[-1]) for layout in layouts] == ([28, 32] if request.mode == "generate" else [0])
        grown: Any = views.spans_growing([], request)
        assert [pattern["made"] for pattern in grown["patterns"]] == [0] * len(layouts)


def test_the_weights_of_every_layer_are_at_an_address_all_heads_of_a_position_in_a_row() -> None:
    request = Request(seed=3)
    addresses = [pattern["look"] for pattern in finished(page.program(), request)["spans"]["patterns"]]
    for seen, address in zip(explanation(request).made, addresses, strict=True):
        look = looks().get(address.removeprefix("/looks/"))
        assert look is not None and (look.layers, look.heads, look.queries) == (change.HEADS[seen.pattern][0], 1, SIDE * SIDE)
        answer_ = look.answer(5, 0, 128, 128)
        assert answer_ is not None
        rows = np.frombuffer(answer_, "<u2").reshape(128, change.HEADS[seen.pattern][1], -1) / 65_535
        np.testing.assert_allclose(rows, weights(seen, 5)[:, 128:256].swapaxes(0, 1), atol=1e-4)
        assert look.answer(99, 0, 0, 8) is None


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
    heads = (("local_1d", 0, 0), ("local_2d", 5, 3))
    said = page.program().changes(Request(silenced=heads, memory_rows=1, flange=0))
    assert said is not None and said["en"] == (
        "with 1 of 4 rows of memory in 1D and with a flange of 0 of 7 pixels in 2D and without head 1D 1·1, head 2D 6·4"
    )
    assert heads_in_words(heads * 2, texts.PATTERNS)["en"] == "without 4 heads"
    assert change.touched(Request(flange=0)) == ("local_2d",)
    assert change.touched(Request(memory_rows=0, silenced=(("local_2d", 0, 0),))) == PATTERNS


def test_a_bent_distribution_is_said_to_be_one() -> None:
    seen = explanation(Request())
    assert views.notice(Request(temperature=1.0), seen) is None
    sharp, flat = views.notice(Request(temperature=0.4), seen), views.notice(Request(temperature=1.6), seen)
    assert sharp is not None and "sharper" in sharp["en"] and "0.4" in sharp["en"]
    assert flat is not None and "平坦" in flat["zh"]


def test_an_unusual_picture_carries_its_warning() -> None:
    seen = explanation(Request())
    assert views.warning(Request(), seen) is None
    assert views.warning(Request(), dataclasses.replace(seen, unusual=True)) == texts.UNUSUAL


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


def test_the_ladder_says_the_order_that_came_out_whatever_it_is_and_none_that_seeds_do_not_bear_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "order on CIFAR-10" not in about.ladder_sentence(MEASURED)["en"]
    assert "too few to name an order" in about.ladder_sentence(MEASURED)["en"]
    monkeypatch.setattr(about.about, "order_of", lambda *_: None)
    said = about.ladder_sentence(MEASURED)
    assert "Local 2D: 2.90 bits a pixel, 0.20 less than the PixelCNN" in said["en"] and "same order" in said["en"]
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
        ladder([Rung({"en": "free", "zh": "免费"}, 0.0, "other")])


def test_an_outline_beyond_the_picture_is_refused() -> None:
    blank = np.zeros((4, 4), np.uint8)
    with pytest.raises(ValueError, match="outline"):
        Picture(blank, blank == 0, (("key", (0, 0, 5, 4)),))
    with pytest.raises(ValueError, match="made"):
        Picture(blank, np.ones((4, 5), bool))
