"""Bits per character: which characters count, and with how much before them, in every way of
reading."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from models.evaluation import bits_per_character


def before(begins: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    """A model whose every character costs as many nats as it has characters before it in its
    window."""
    return np.broadcast_to(np.arange(length, dtype=np.float64), (len(begins), length))


@pytest.mark.parametrize("length", [1, 7, 8, 9, 12, 13, 40, 41])
@pytest.mark.parametrize("step", [4, 8])
def test_every_character_counts_once(length: int, step: int) -> None:
    counted: list[int] = []
    for begin, end, first in bits_per_character.cut_windows(length, 8, step):
        assert begin % step == 0
        assert end - begin <= 8
        assert begin == 0 or first - begin >= 8 - step
        counted += range(first, end)
    assert counted == list(range(length))


def test_half_a_window_of_context() -> None:
    found = bits_per_character.measure_costs(bits_per_character.Text(20, before), window=8)
    assert found["half_overlap"].tolist() == [0, 1, 2, 3, *[4, 5, 6, 7] * 4]
    assert found["cold"].tolist() == [*range(8), *range(8), *range(4)]
    assert "memory" not in found


def test_carried_state_is_not_the_headline() -> None:
    texts = [
        bits_per_character.Text(20, before, lambda: np.full(20, 9.0)),
        bits_per_character.Text(4, before, lambda: np.full(4, 3.0)),
    ]
    figure = bits_per_character.build_figure("test", texts, window=8)
    sums = {"half_overlap": 6 + 4 * 22 + 6, "cold": 28 + 28 + 6 + 6, "memory": 9 * 20 + 3 * 4}
    assert figure["by_reading"] == {
        way: round(total / 24 / math.log(2), 4) for way, total in sums.items()
    }
    assert (figure["value"], figure["n"], figure["window"]) == (
        figure["by_reading"]["half_overlap"],
        24,
        8,
    )
    said = bits_per_character.describe_figure(figure)
    assert all(
        f"{value:.4f} bits per character, {bits_per_character.WAYS[way]}" in said
        for way, value in figure["by_reading"].items()
    )


def test_windows_of_one_length_are_read_together_and_each_once() -> None:
    asked: list[tuple[int, int]] = []

    def read(begins: NDArray[np.int64], length: int) -> NDArray[np.float64]:
        assert len(begins) <= bits_per_character.TOGETHER
        asked.extend((int(begin), length) for begin in begins)
        return before(begins, length)

    bits_per_character.measure_costs(bits_per_character.Text(100, read), window=4)
    assert len(asked) == len(set(asked))
