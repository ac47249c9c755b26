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
    one: Inner


def test_an_old_file_is_refused_by_the_names_of_its_fields(tmp_path: Path) -> None:
    stored.save(tmp_path / "first.npz", Inner("a", np.zeros(1, np.float32)), 1, "cpu")
    with pytest.raises(ValueError, match="missing"):
        stored.load(tmp_path / "first.npz", Outer)


def test_what_is_no_plain_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"value\.name"):
        stored.save(tmp_path / "first.npz", Inner(object(), np.zeros(1, np.float32)), 1, "cpu")  # type: ignore[arg-type]
