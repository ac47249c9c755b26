"""Exact rows of long maps: kept within bounds, and answered as 16-bit numbers."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.figures.attention import Blocks, Kind, value
from explorer.looks import Look, Looks
from explorer.packing import LEVELS

LABEL = {"en": "Self", "zh": "自注意力"}


def look(size: int = 10, factor: float = 1.0) -> Look:
    def rows(layer: int, head: int, which: range) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return np.array([[factor * i / 100, layer / 10, head / 10] for i in which], np.float32)

    return Look(rows, 2, 3, 50, size)


def test_rows_come_as_weights_of_16_bits() -> None:
    raw = look().answer(1, 2, 48, 2)
    assert raw is not None
    weights = np.frombuffer(raw, "<u2").reshape(2, 3) / LEVELS
    np.testing.assert_allclose(weights, [[0.48, 0.1, 0.2], [0.49, 0.1, 0.2]], atol=1e-5)


def test_the_last_block_may_be_shorter() -> None:
    raw = look().answer(0, 0, 48, 8)
    assert raw is not None
    assert len(raw) == 2 * 3 * 2


@pytest.mark.parametrize("wanted", [(2, 0, 0, 1), (0, 3, 0, 1), (0, 0, 50, 1), (0, 0, 0, 0), (0, 0, 0, 257), (-1, 0, 0, 1), (0, 0, -1, 1)])
def test_what_is_not_there_is_no_answer(wanted: tuple[int, int, int, int]) -> None:
    assert look().answer(*wanted) is None


def test_what_was_not_asked_for_longest_leaves_first() -> None:
    store = Looks(capacity=25)
    first, second = (store.put(look(), name).rpartition("/")[2] for name in (b"one", b"two"))
    assert store.get(first) is not None
    third = store.put(look(), b"three").rpartition("/")[2]
    assert [store.get(digest) is None for digest in (first, second, third)] == [False, True, False]
    with pytest.raises(ValueError, match="keeps 25"):
        store.put(look(26), b"four")


def test_a_map_of_blocks_says_what_its_cells_stand_for() -> None:
    weights, pieces = np.full((1, 1, 3, 3), 1 / 3, np.float32), [f"t{i}" for i in range(10)]
    blocks = Blocks(4, 4, pieces, pieces, "/looks/abc")
    (made,) = value([Kind("self", LABEL, weights, pieces[::4], pieces[::4], blocks=blocks)], query="")["kinds"]  # type: ignore[misc]
    assert (made["pooled"], made["look"], made["whole"]["keys"][-1]) == ([4, 4], "/looks/abc", "t9")
    with pytest.raises(ValueError, match="blocks of"):
        Kind("self", LABEL, weights, pieces[:3], pieces[:3], blocks=Blocks(2, 2, pieces, pieces, "/looks/abc"))


def test_a_map_without_blocks_names_no_rows_to_ask_for() -> None:
    (made,) = value([Kind("self", LABEL, np.full((1, 1, 2, 2), 0.5, np.float32), ["a", "b"], ["a", "b"])], query="")["kinds"]  # type: ignore[misc]
    assert made["look"] is None
