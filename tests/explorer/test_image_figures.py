"""Growing pictures as the widgets draw them: layouts, receptive fields, what travels to the browser, and the sentences."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.figures import image
from explorer.figures.image import Layout, in_rows, in_tiles, known, reach
from models.image_transformer.records import Made, Step
from models.layers import local
from tests.explorer import drawn_pictures
from tests.explorer.rolls import unpacked

SIDE = 28


def made(layout: Layout, count: int = 1) -> Made:
    """A result of that layout, its levels and what they cost drawn by lot."""
    one = drawn_pictures.made(layout, count, 3)
    return replace(one, bits=np.random.default_rng(3).random(one.bits.shape, dtype=np.float32) * 9)


GREY = (in_rows(SIDE, SIDE, 2, 4), in_tiles(SIDE, SIDE, 7, 7))
COLOUR = in_rows(16, 16, 2, 4, channels=3, pattern="colour")


@pytest.mark.parametrize(("tile", "flange"), [(7, 7), (7, 3), (7, 0), (4, 2), (5, 9)])
def test_tiles_are_laid_out_as_the_model_lays_them_out(tile: int, flange: int) -> None:
    layout = in_tiles(SIDE, SIDE, tile, flange)
    blocks = local.blocks_2d(SIDE, SIDE, (tile, tile), (flange, flange))
    assert [tuple(memory) for memory in layout.memory] == [block.memory for block in blocks]
    assert layout.starts == (*(block.start for block in blocks), SIDE * SIDE)
    assert [(int(p) // SIDE, int(p) % SIDE) for p in layout.order] == local.order_2d(SIDE, SIDE, (tile, tile))


@pytest.mark.parametrize(("layout", "query", "memory"), [(GREY[0], 56, 112), (COLOUR, 96, 192), (in_rows(5, 3, 2, 1), 6, 3)])
def test_rows_are_laid_out_as_the_model_lays_them_out(layout: Layout, query: int, memory: int) -> None:
    blocks = local.blocks_1d(layout.length, query, memory)
    assert [tuple(each) for each in layout.memory] == [block.memory for block in blocks]
    assert layout.starts == (*(block.start for block in blocks), layout.length)


def test_the_notes_name_sizes_in_pixels() -> None:
    assert GREY[0].note["en"] == "rows, query 2 × 28, memory 4 more"
    assert GREY[1].note["en"] == "tiles 7 × 7, flange 7 above, left, right"
    assert in_tiles(SIDE, SIDE, 7, 3).note["en"].endswith("flange 3 above, left, right")
    assert COLOUR.note["en"] == "rows, query 2 × 16, memory 4 more"


@pytest.mark.parametrize("layout", GREY)
def test_a_query_sees_nothing_that_comes_after_it(layout: Layout) -> None:
    for position in range(0, layout.length, 37):
        keys = layout.keys(position)
        assert keys[-1] == position == keys.max()
        assert len(set(keys.tolist())) == len(keys)


@pytest.mark.parametrize("layout", [*GREY, in_tiles(12, 10, 4, 3), in_rows(9, 7, 2, 1), COLOUR])
def test_the_receptive_field_is_what_whole_masks_multiplied_give(layout: Layout) -> None:
    sees = np.zeros((layout.length, layout.length), bool)
    for position in range(layout.length):
        sees[position, layout.keys(position)] = True
    for position in (0, layout.length // 3, layout.length - 1):
        through = sees[position]
        for seen in reach(layout, position, 4):
            np.testing.assert_array_equal(seen, through)
            through = (through[None].astype(np.float32) @ sees.astype(np.float32))[0] > 0


def test_rows_need_five_layers_where_tiles_need_two() -> None:
    one, two = ([known(seen) for seen in reach(layout, 529, 6)] for layout in GREY)
    assert one == [138, 250, 362, 474, 529, 529]
    assert two == [236, 529, 529, 529, 529, 529]


def test_the_first_pixel_knows_of_none() -> None:
    assert [known(seen) for seen in reach(GREY[1], 0, 2)] == [0, 0]


def test_a_finished_run_carries_levels_bits_and_order_unchanged() -> None:
    runs = [made(layout, count=3) for layout in GREY]
    value: Any = image.value(
        runs, state="live", query="v=1&flange=3", same="v=1", silenced=[("local_2d", 3, 2)], kept=14, truth=runs[0].pictures[0]
    )
    assert [pattern["key"] for pattern in value["patterns"]] == ["local_1d", "local_2d"]
    for pattern, run in zip(value["patterns"], runs, strict=True):
        np.testing.assert_array_equal(unpacked(pattern["pictures"]), run.pictures)
        np.testing.assert_array_equal(unpacked(pattern["order"]), run.order)
        np.testing.assert_allclose(unpacked(pattern["bits"]) * pattern["bits"]["scale"], run.bits, atol=0.5 / image.BITS)
        assert (pattern["made"], pattern["kept"], pattern["layers"], pattern["heads"]) == (784, 14, 6, 4)
    np.testing.assert_array_equal(unpacked(value["truth"]), runs[0].pictures[0])
    assert (value["query"], value["same"], value["silenced"]) == ("v=1&flange=3", "v=1", [["local_2d", 3, 2]])


def test_memory_travels_as_runs_that_say_the_same() -> None:
    for layout in (*GREY, in_tiles(SIDE, SIDE, 7, 3)):
        value: Any = image.value([made(layout)], state="live", query="")
        for runs, memory in zip(value["patterns"][0]["memory"], layout.memory, strict=True):
            spelled = [p for first, stop in zip(runs[::2], runs[1::2], strict=True) for p in range(first, stop)]
            assert spelled == memory.tolist()


@pytest.mark.parametrize("layouts", [GREY, (COLOUR,)], ids=["grey", "colour"])
def test_a_picture_that_has_grown_is_the_finished_one(layouts: tuple[Layout, ...]) -> None:
    runs = [made(layout, count=2) for layout in layouts]
    flat = [
        (run.pictures.reshape(2, -1)[:, at.places], run.bits.reshape(2, -1)[:, at.places]) for run, at in zip(runs, layouts, strict=True)
    ]
    cuts = [0, 1, 50, 331, layouts[0].length]
    steps = [
        Step(a, np.stack([levels[:, a:b] for levels, _ in flat]), np.stack([bits[:, a:b] for _, bits in flat]))
        for a, b in itertools.pairwise(cuts)
    ]
    value: Any = image.growing(layouts, steps, count=2, query="v=1")
    for pattern, run in zip(value["patterns"], runs, strict=True):
        np.testing.assert_array_equal(unpacked(pattern["pictures"]), run.pictures)
        assert pattern["made"] == layouts[0].length
    some: Any = image.growing(layouts, steps[:3], count=2, query="v=1")
    assert [pattern["made"] for pattern in some["patterns"]] == [331] * len(layouts)


def test_rows_that_stay_are_there_before_anything_is_made() -> None:
    truth = made(GREY[0]).pictures[0]
    value: Any = image.growing(GREY, [], count=3, query="v=1", kept=14, truth=truth)
    for pattern in value["patterns"]:
        assert pattern["made"] == 14 * SIDE
        for picture in unpacked(pattern["pictures"]):
            np.testing.assert_array_equal(picture[:14], truth[:14])


def test_an_update_of_four_growing_pictures_stays_small() -> None:
    steps = [Step(0, np.zeros((2, 4, 784), np.uint8), np.zeros((2, 4, 784), np.float32))]
    value = image.growing(GREY, steps, count=4, query="v=1")
    assert len(str(value)) < 40_000


def test_the_telling_place_lies_where_a_look_goes_far() -> None:
    run = made(GREY[1])
    weights = np.zeros((4, 784, 294), np.float32)
    for position in range(784):
        keys = GREY[1].keys(position)
        weights[:, position, len(keys) - 1] = 1.0  # everybody looks at itself
    far = GREY[1].keys(480)
    weights[2, 480] = 0
    weights[2, 480, : len(far)] = np.where(np.arange(len(far)) < 16, 1 / 16, 0)  # but one head at some pixels far away
    bright = replace(run, pictures=np.full_like(run.pictures, 200), bits=np.full_like(run.bits, 6))
    assert image.telling([bright], {"local_2d": weights}) == {"pattern": "local_2d", "position": 480, "layer": 3, "head": 2}


def test_without_weights_a_place_in_the_midst_of_the_picture_is_chosen() -> None:
    found: Any = image.telling([made(layout) for layout in GREY])
    row, column = divmod(int(GREY[1].order[found["position"]]), SIDE)
    assert found["pattern"] == "local_2d"
    assert 0 < row < SIDE - 1 and 4 < column < SIDE - 5


def test_surprise_names_the_dearest_row_and_the_best_reader() -> None:
    one, two, three = (np.full((SIDE, SIDE), each, np.float32) for each in (3.0, 2.5, 2.0))
    two[18] = 6.1
    two[2] = 0.3
    read = np.zeros((SIDE, SIDE), np.uint8)
    value: Any = image.surprise(read, {"local_1d": one, "local_2d": two, "pixelcnn": three}, state="live", unusual=True)
    assert (
        value["sentence"]["en"]
        == "For 2D, row 18 costs most, 6.1 bits a pixel; row 2 costs 0.3. PixelCNN reads this picture best: 2.00 bits a pixel."
    )
    assert "第 18 行" in value["sentence"]["zh"]
    assert [each["mean"] for each in value["maps"]] == [3.0, pytest.approx(two.mean(), abs=1e-4), 2.0]
    np.testing.assert_allclose(unpacked(value["maps"][1]["bits"]) / image.BITS, two, atol=1e-3)
    assert value["unusual"]


def test_shapes_that_do_not_fit_are_told_with_both_sizes() -> None:
    with pytest.raises(ValueError, match=r"bits \(3, 3\) of pixelcnn for a picture \(28, 28\)"):
        image.surprise(np.zeros((SIDE, SIDE), np.uint8), {"pixelcnn": np.zeros((3, 3), np.float32)}, state="live")
    with pytest.raises(ValueError, match=r"784 positions and blocks up to 700 for 784 levels"):
        Layout("local_1d", SIDE, SIDE, 1, GREY[0].order, (0, 700), (np.array([], np.int32),))
    run = made(GREY[0])
    with pytest.raises(ValueError, match="for a layout of"):
        image.value([replace(run, bits=run.bits[:, :3])], state="live", query="")
