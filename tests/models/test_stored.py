"""Results on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from models import stored


@dataclass(frozen=True)
class Inner:
    name: str
    values: NDArray[np.float32]


@dataclass(frozen=True)
class Outer:
    words: tuple[str, ...]
    pairs: tuple[tuple[str, float], ...]
    one: Inner
    many: tuple[Inner, ...]
    maybe: int | None
    flag: bool
    score: float


def test_a_stored_result_comes_back_as_it_was_and_cannot_be_changed(tmp_path: Path) -> None:
    inner = Inner("שלום </script>", np.arange(6, dtype=np.float32).reshape(2, 3))
    outer = Outer(("a", "␣"), (("x", 1.5), ("y", -2.0)), inner, (inner, inner), None, True, -3.0)
    stored.save(tmp_path / "first.npz", outer, 214, "cpu")
    again, milliseconds, device = stored.load(tmp_path / "first.npz", Outer)
    assert (again.words, again.pairs, again.maybe, again.flag, again.score) == (outer.words, outer.pairs, None, True, -3.0)
    assert (milliseconds, device) == (214, "cpu")
    np.testing.assert_array_equal(again.many[1].values, inner.values)
    with pytest.raises(ValueError, match="read-only"):
        again.one.values[0, 0] = 1


def test_an_old_file_is_refused_by_the_names_of_its_fields(tmp_path: Path) -> None:
    stored.save(tmp_path / "first.npz", Inner("a", np.zeros(1, np.float32)), 1, "cpu")
    with pytest.raises(ValueError, match="missing"):
        stored.load(tmp_path / "first.npz", Outer)


def test_what_is_no_plain_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"value\.name"):
        stored.save(tmp_path / "first.npz", Inner(object(), np.zeros(1, np.float32)), 1, "cpu")  # type: ignore[arg-type]
