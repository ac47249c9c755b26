"""Requests of the picture models and the pictures that travel in them; the pictures that are shipped beside the models."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from models.errors import InputError
from models.image_transformer.examples import mixed
from models.image_transformer.records import EXAMPLES, KINDS, LARGE, MAX_COUNT, MODES, SIDE, Request, spelled
from models.pixels import read_picture, shipped


def test_a_spelled_picture_is_read_as_it_was() -> None:
    draw = np.random.default_rng(1)
    for shape in ((28, 28), (16, 16, 3), (3, 5)):
        picture = draw.integers(0, 256, shape).astype(np.uint8)
        text = spelled(picture)
        assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        np.testing.assert_array_equal(read_picture(text, shape), picture)


@pytest.mark.parametrize("text", ["", "A", "AAAA", "!!!!", "é", "AAAA AAAA", "A" * 5000, "\x00", "+/+/"])
def test_a_text_that_is_no_picture_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_picture(text, (28, 28))
    assert caught.value.code == "picture" and "28 × 28" in caught.value.text["en"] and caught.value.text["zh"]


def test_what_needs_another_program_is_another_group() -> None:
    request = Request()
    for change in ({"kind": 1}, {"seed": 3}, {"temperature": 0.5}, {"top_k": 9}, {"count": 4}, {"silenced": (("local_1d", 0, 0),)}):
        assert dataclasses.replace(request, **change).group() == request.group()  # type: ignore[arg-type]
    for change in ({"mode": "complete"}, {"memory_rows": 2}, {"flange": 3}):
        assert dataclasses.replace(request, **change).group() != request.group()  # type: ignore[arg-type]
    completing = Request(mode="complete")
    assert dataclasses.replace(completing, keep=7).group() != completing.group()


def test_the_examples_show_every_mode_with_pictures_that_are_shipped() -> None:
    assert {example.mode for example in EXAMPLES} == set(MODES)
    assert EXAMPLES[0].mode == "generate" and EXAMPLES[0].count <= MAX_COUNT
    held = shipped("image_transformer")
    for example in EXAMPLES:
        if example.picture:
            number = int(example.picture.removeprefix("test:"))
            assert number < len(held["colour" if example.mode == "enlarge" else "grey"])


def test_the_shipped_pictures_are_mixed_and_of_the_right_size() -> None:
    held = shipped("image_transformer")
    assert held["grey"].shape == (24, SIDE, SIDE) and held["grey"].dtype == np.uint8
    assert held["colour"].shape == (8, LARGE, LARGE, 3) and held["colour"].dtype == np.uint8
    assert np.bincount(held["grey_kinds"], minlength=KINDS).min() >= 2
    assert len(set(held["colour_kinds"].tolist())) == 8
    assert all(np.ptp(picture) > 100 for picture in held["grey"])


def test_no_kind_comes_again_before_the_others_had_their_turn() -> None:
    assert mixed(np.array([1, 1, 0, 1, 0, 2]), 3) == [0, 2, 5]
    assert mixed(np.array([1, 1, 0, 1, 0]), 4) == [0, 2, 1, 4]
    with pytest.raises(ValueError, match="5 mixed pictures"):
        mixed(np.array([1, 1, 0, 1, 1]), 5)
