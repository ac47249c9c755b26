"""The image page without a browser: what a visitor's wish becomes, and what widgets and growing
pictures are told to draw."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.contract.lab import MapPicture
from explorer.figures.ladder import Rung, draw_ladder
from explorer.labs.image_transformer import about, change, texts, views
from explorer.labs.image_transformer import drawn as image
from explorer.labs.image_transformer.drawn import Layout, lay_out_rows, lay_out_tiles
from explorer.values.exact_rows import exact_row_store
from models.image_transformer.records import SIDE, Made, Request, Step
from models.image_transformer.weights import weights
from models.layers import local
from tests.explorer import drawn_pictures
from tests.explorer.drawn_pictures import explanation, generate, measure
from tests.explorer.numbers import refused, rows_at, scaled, unpacked
from tests.explorer.reached import known, reach
from tests.explorer.wishes import finished, program_of


@pytest.fixture(autouse=True)
def nothing_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here depends on the first example that happens to be shipped, or on models."""
    monkeypatch.setattr(views, "first", lambda: None)


def drawn(request: Request) -> dict[str, Any]:
    """What all widgets draw of a request in the end."""
    whole = program_of("image_transformer")
    assert whole.change is not None
    return finished(
        replace(
            whole,
            first=lambda: None,
            explain=generate,
            change=replace(whole.change, measure=measure),
        ),
        request,
    )


# ---- what a visitor wants


def test_a_picture_that_is_none_leaves_the_answer_to_the_model() -> None:
    for request in (
        Request(),
        *(Request(mode="complete", picture=picture) for picture in ("test:9999", "test:-1")),
    ):
        assert views.find_given_picture(request) is None


def test_shares_of_levels_and_enlarging(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = next(
        one.describe_control(Request) for one in views.list_controls() if one.field == "top_k"
    )
    assert shares["values"] == ["1", "4", "16", "64", "256"] and shares["names"][-1] == [
        "256",
        dict(texts.ALL),
    ]
    grey = views.load_pictures()["grey"]
    monkeypatch.setattr(views, "load_pictures", lambda: {"grey": grey})
    asked = [one.describe_control(Request) for one in views.list_controls()]
    assert (
        asked[0]["values"] == ["generate", "complete"]
        and [one["kind"] for one in asked].count("drawing") == 1
    )


# ---- what comes back, with a model of a few lines


def test_a_change_reaches_the_patterns_that_have_what_it_changes() -> None:
    assert change.list_changed_patterns(Request(flange=0)) == ("local_2d",)
    assert change.list_changed_patterns(Request(memory_rows=0, silenced=(("local_2d", 0, 0),))) == (
        "local_1d",
        "local_2d",
    )
    assert [
        pair["key"] for pair in drawn(Request(silenced=(("local_2d", 2, 1),)))["change"]["pairs"]
    ] == ["local_2d"]


def test_a_coloured_picture_has_no_map() -> None:
    found = drawn(Request(mode="enlarge", picture="test:0", flange=0))
    assert found["ask"]["state"] == "live" and found["ask"]["changes"] is None
    assert [pattern["channels"] for pattern in found["spans"]["patterns"]] == [3]
    assert found["surprise"]["sentence"] == dict(texts.NO_SURPRISE)
    assert found["change"]["state"] == "empty", "a flange belongs to 2D"
    panel = drawn(Request(mode="enlarge", picture="test:0", silenced=(("colour", 3, 0),)))["change"]
    assert [(pair["key"], pair["before"]["shape"]) for pair in panel["pairs"]] == [
        ("colour", [16, 16, 3])
    ]
    assert panel["sentence"]["en"].startswith(
        "Without head colour 4·1, the same colour picture costs 0.20 bits/dim more"
    )


def test_a_picture_grows_with_the_memory_that_a_change_leaves() -> None:
    for request in (
        Request(memory_rows=1, flange=2),
        Request(mode="enlarge", picture="test:0", memory_rows=0),
    ):
        layouts = views._list_layouts(request)
        assert [len(layout.memory[-1]) for layout in layouts] == (
            [28, 32] if request.mode == "generate" else [0]
        )
        grown: Any = views.draw_growing_spans([], request)
        assert [pattern["made"] for pattern in grown["patterns"]] == [0] * len(layouts)


def test_layer_weights_have_an_address() -> None:
    request = Request(seed=3)
    for seen, pattern in zip(
        explanation(request).made, drawn(request)["spans"]["patterns"], strict=True
    ):
        look: Any = exact_row_store().get(pattern["look"].removeprefix("/looks/"))
        layers, heads = change.HEADS[seen.pattern]
        assert (look.layers, look.heads, look.queries) == (
            layers,
            1,
            SIDE * SIDE,
        ) and look.encode_rows(99, 0, 0, 8) is None
        rows = rows_at(pattern["look"], 5, 0, 128, 128).reshape(128, heads, -1)
        np.testing.assert_allclose(rows, weights(seen, 5)[:, 128:256].swapaxes(0, 1), atol=1e-4)


# ---- in words


def test_an_unusual_picture_carries_its_warning() -> None:
    seen = explanation(Request())
    assert views.describe_warning(Request(), seen) is None
    assert (
        views.describe_warning(Request(), dataclasses.replace(seen, unusual=True)) == texts.UNUSUAL
    )


# ---- the ladder, the card, the family map


@pytest.mark.parametrize(
    ("pictures", "ours"), [("grey", {"local_1d", "local_2d"}), ("colour", {"colour"})]
)
def test_a_ladder_is_sorted_and_marked(pictures: str, ours: set[str]) -> None:
    rungs: Any = sorted(about.list_rungs(pictures), key=lambda one: -one["value"])
    figure: Any = about.draw_ladder(pictures)["figures"]["en"]  # type: ignore[index]
    assert (
        figure["data"][0]["x"] == [one["value"] for one in rungs]
        and figure["layout"]["xaxis"]["range"][0] == 0
    )
    bold = [name.startswith("<b>") for name in figure["layout"]["yaxis"]["ticktext"]]
    assert [one["key"] for one, own in zip(rungs, bold, strict=True) if own] == [
        one["key"] for one in rungs if one["key"] in ours
    ]
    assert [shape["x1"] for shape in figure["layout"]["shapes"]] == [
        one["value"] for one in rungs if one["published"]
    ]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (3.1, ("0.20 less", "same order")),
        (2.5, ("0.40 more", "other order")),
        (3.0, ("0.10 less", "same order")),
    ],
)
def test_a_ladder_claims_what_seeds_bear_out(
    other: float, said: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {
        "uniform": 8.0,
        "local_1d": 3.0,
        "local_2d": 2.9,
        "pixelcnn": other,
        "colour": 2.9,
        "linear": other,
    }
    rungs = [{"key": key, "value": value} for key, value in values.items()]
    assert "differences may be chance" in about.describe_ladder(rungs)["en"]
    monkeypatch.setattr(about.card_facts, "explain_order_of", lambda *_: None)
    grey, colour = about.describe_ladder(rungs)["en"], about.describe_colour_ladder(rungs)["en"]
    assert f"Local 2D: 2.90 bits a pixel, {said[0]} than the PixelCNN" in grey and said[1] in grey
    assert f"{said[0]} than a linear coder" in colour


def test_curves_say_when_pictures_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = {"local_1d": 3, "local_2d": 3, "pixelcnn": 2}
    monkeypatch.setattr(
        about, "facts", lambda: {variant: {"recipe": {"batch": 8}} for variant in logs}
    )

    def read_log(_: str, variant: str) -> list[dict[str, float]]:
        steps = range(1, logs[variant] + 1)
        return [{"step": 100 * n, "validation": 2.1 - 0.1 * n} for n in steps]

    monkeypatch.setattr(about.card_facts, "read_training_log", read_log)
    said = about.curves()["sentence"]["en"]
    assert "Not yet trained equally" in said and "PixelCNN, same size 2.74 after 1,600" in said
    logs["pixelcnn"] = 3
    assert about.curves()["sentence"]["en"].startswith(
        "After 2,400 pictures seen, each the same ones"
    )


# ---- layouts and receptive fields


def made(layout: Layout, count: int = 1) -> Made:
    """A result of that layout, its levels and what they cost drawn by lot."""
    one = drawn_pictures.made(layout, count, 3)
    return replace(one, bits=np.random.default_rng(3).random(one.bits.shape, dtype=np.float32) * 9)


GREY = (lay_out_rows(SIDE, SIDE, 2, 4), lay_out_tiles(SIDE, SIDE, 7, 7))
COLOUR = lay_out_rows(16, 16, 2, 4, channels=3, pattern="colour")


@pytest.mark.parametrize(
    ("layout", "blocks", "order"),
    [
        *(
            (
                lay_out_tiles(SIDE, SIDE, tile, flange),
                local.blocks_2d(SIDE, SIDE, *size),
                local.order_2d(SIDE, SIDE, size[0]),
            )
            for tile, flange in ((7, 7), (7, 3), (7, 0), (4, 2), (5, 9))
            for size in [((tile, tile), (flange, flange))]
        ),
        (GREY[0], local.blocks_1d(784, 56, 112), None),
        (COLOUR, local.blocks_1d(768, 96, 192), None),
        (lay_out_rows(5, 3, 2, 1), local.blocks_1d(15, 6, 3), None),
    ],
)
def test_tiles_and_rows_are_laid_out_as_the_model_lays_them_out(
    layout: Layout, blocks: Any, order: Any
) -> None:
    assert [tuple(each) for each in layout.memory] == [block.memory for block in blocks]
    assert layout.starts == (*(block.start for block in blocks), layout.length)
    assert order is None or [(int(p) // SIDE, int(p) % SIDE) for p in layout.order] == order


@pytest.mark.parametrize(
    "layout", [*GREY, lay_out_tiles(12, 10, 4, 3), lay_out_rows(9, 7, 2, 1), COLOUR]
)
def test_a_query_sees_no_future(
    layout: Layout,
) -> None:
    sees = np.zeros((layout.length, layout.length), bool)
    for position in range(layout.length):
        keys = layout.list_keys(position)
        assert keys[-1] == position == keys.max() and len(set(keys.tolist())) == len(keys)
        sees[position, keys] = True
    for position in (0, layout.length // 3, layout.length - 1):
        through = sees[position]
        for seen in reach(layout, position, 4):
            np.testing.assert_array_equal(seen, through)
            through = (through[None].astype(np.float32) @ sees.astype(np.float32))[0] > 0


def test_rows_need_five_layers_tiles_two() -> None:
    one, two = ([known(seen) for seen in reach(layout, 529, 6)] for layout in GREY)
    assert (one, two) == ([138, 250, 362, 474, 529, 529], [236, 529, 529, 529, 529, 529])
    assert [known(seen) for seen in reach(GREY[1], 0, 2)] == [0, 0]


# ---- what travels to the browser


def test_a_finished_run_keeps_its_values() -> None:
    runs = [made(layout, count=3) for layout in GREY]
    how = {
        "state": "live",
        "query": "v=1&flange=3",
        "same": "v=1",
        "silenced": [("local_2d", 3, 2)],
        "kept": 14,
    }
    value: Any = image.draw_spans(runs, **how, truth=runs[0].pictures[0])
    assert [pattern["key"] for pattern in value["patterns"]] == ["local_1d", "local_2d"]
    for pattern, run in zip(value["patterns"], runs, strict=True):
        np.testing.assert_array_equal(unpacked(pattern["pictures"]), run.pictures)
        np.testing.assert_array_equal(unpacked(pattern["order"]), run.order)
        np.testing.assert_allclose(scaled(pattern["bits"]), run.bits, atol=0.5 / image.BITS)
        assert (pattern["made"], pattern["kept"], pattern["layers"], pattern["heads"]) == (
            784,
            14,
            6,
            4,
        )
    np.testing.assert_array_equal(unpacked(value["truth"]), runs[0].pictures[0])
    assert (value["query"], value["same"], value["silenced"]) == (
        "v=1&flange=3",
        "v=1",
        [["local_2d", 3, 2]],
    )
    for layout in (*GREY, lay_out_tiles(SIDE, SIDE, 7, 3)):
        one: Any = image.draw_spans([made(layout)], state="live", query="")["patterns"]
        for spelled, memory in zip(one[0]["memory"], layout.memory, strict=True):
            pairs = zip(spelled[::2], spelled[1::2], strict=True)
            assert [p for first, stop in pairs for p in range(first, stop)] == memory.tolist()


@pytest.mark.parametrize("layouts", [GREY, (COLOUR,)], ids=["grey", "colour"])
def test_a_picture_that_has_grown_is_the_finished_one(layouts: tuple[Layout, ...]) -> None:
    runs = [made(layout, count=2) for layout in layouts]
    places = [layout.places for layout in layouts]
    levels, bits = (
        np.stack(
            [getattr(run, part).reshape(2, -1)[:, at] for run, at in zip(runs, places, strict=True)]
        )
        for part in ("pictures", "bits")
    )
    steps = [
        Step(a, levels[:, :, a:b], bits[:, :, a:b])
        for a, b in itertools.pairwise([0, 1, 50, 331, layouts[0].length])
    ]
    value: Any = image.draw_growing_spans(layouts, steps, count=2, query="v=1")
    for pattern, run in zip(value["patterns"], runs, strict=True):
        np.testing.assert_array_equal(unpacked(pattern["pictures"]), run.pictures)
        assert pattern["made"] == layouts[0].length
    some: Any = image.draw_growing_spans(layouts, steps[:3], count=2, query="v=1")
    assert [pattern["made"] for pattern in some["patterns"]] == [331] * len(layouts)


def test_given_rows_come_first_in_updates() -> None:
    truth = made(GREY[0]).pictures[0]
    value: Any = image.draw_growing_spans(GREY, [], count=3, query="v=1", kept=14, truth=truth)
    for pattern in value["patterns"]:
        assert pattern["made"] == 14 * SIDE and all(
            (picture[:14] == truth[:14]).all() for picture in unpacked(pattern["pictures"])
        )
    steps = [Step(0, np.zeros((2, 4, 784), np.uint8), np.zeros((2, 4, 784), np.float32))]
    assert len(str(image.draw_growing_spans(GREY, steps, count=4, query="v=1"))) < 40_000


def test_the_default_place_looks_far() -> None:
    run, found = made(GREY[1]), np.zeros((4, 784, 294), np.float32)
    for position in range(784):
        found[:, position, len(GREY[1].list_keys(position)) - 1] = 1.0  # everybody looks at itself
    far = GREY[1].list_keys(480)
    found[2, 480] = 0
    # but one head at some pixels far away
    found[2, 480, : len(far)] = np.where(np.arange(len(far)) < 16, 1 / 16, 0)
    bright = replace(run, pictures=np.full_like(run.pictures, 200), bits=np.full_like(run.bits, 6))
    assert image.find_telling_place([bright], {"local_2d": found}) == {
        "pattern": "local_2d",
        "position": 480,
        "layer": 3,
        "head": 2,
    }
    place: Any = image.find_telling_place([made(layout) for layout in GREY])
    row, column = divmod(int(GREY[1].order[place["position"]]), SIDE)
    assert place["pattern"] == "local_2d" and 0 < row < SIDE - 1 and 4 < column < SIDE - 5


# ---- what does not fit is refused with its sizes

BLANK = np.zeros((SIDE, SIDE), np.uint8)
FEW, RUN = {"pixelcnn": np.zeros((3, 3), np.float32)}, made(GREY[0])


@pytest.mark.parametrize(
    ("says", "call"),
    [
        (
            r"bits \(3, 3\) of pixelcnn for a picture \(28, 28\)",
            lambda: image.draw_surprise(BLANK, FEW, state="live"),
        ),
        (
            "784 positions and blocks up to 700 for 784 levels",
            lambda: Layout("local_1d", SIDE, SIDE, 1, GREY[0].order, (0, 700), ()),
        ),
        (
            "for a layout of",
            lambda: image.draw_spans([replace(RUN, bits=RUN.bits[:, :3])], state="live", query=""),
        ),
        ("0 rungs", lambda: draw_ladder([])),
        ("positive", lambda: draw_ladder([Rung({"en": "free", "zh": "免费"}, 0.0, "other")])),
        (
            "outline",
            lambda: MapPicture(BLANK[:4, :4], BLANK[:4, :4] == 0, (("key", (0, 0, 5, 4)),)),
        ),
        ("made", lambda: MapPicture(BLANK, np.ones((4, 5), bool))),
    ],
)
def test_what_does_not_fit_is_refused_with_its_sizes(says: str, call: Any) -> None:
    refused(says, call)
