"""Results on disk."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from models.checkpoints import stored_results


@dataclass(frozen=True)
class Inner:
    name: str
    values: NDArray[np.float32]


@dataclass(frozen=True)
class Outer:
    one: Inner


def test_an_old_file_is_refused_by_the_names_of_its_fields(tmp_path: Path) -> None:
    stored_results.save(tmp_path / "first.npz", Inner("a", np.zeros(1, np.float32)), 1, "cpu")
    with pytest.raises(ValueError, match="missing"):
        stored_results.load(tmp_path / "first.npz", Outer)


def archive(path: Path, how: int, **members: bytes) -> None:
    """A file as `save` leaves it, of these members."""
    with zipfile.ZipFile(path, "w", how) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)


def member(array: NDArray[np.uint8]) -> bytes:
    """An array as a file."""
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def facts(text: str) -> bytes:
    """The member that says what a file holds."""
    return member(np.frombuffer(text.encode(), np.uint8))


def crowd(path: Path) -> None:
    """A file whose list of contents is longer than all that it holds."""
    archive(path, zipfile.ZIP_STORED, **{f"{n}": b"" for n in range(300)})


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (os.mkfifo, "no regular file"),
    "large": (lambda path: path.write_bytes(bytes(1_000_001)), "it has 1,000,001 bytes"),
    "bomb": (
        lambda path: archive(path, zipfile.ZIP_DEFLATED, json=facts(" " * 2_000_000)),
        "its arrays have 2,000,1",
    ),
    "crowd": (crowd, "its list of contents is damaged, or has more than 9,000 bytes"),
    "deep": (
        lambda path: archive(path, zipfile.ZIP_STORED, json=facts("[" * 100_000)),
        "more than 32 levels",
    ),
    "text": (lambda path: path.write_text("no archive"), "its list of contents is damaged"),
    "empty": (lambda path: path.touch(), "its list of contents is damaged"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_file_is_refused_by_its_size(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_results, "LARGEST", 1_000_000)
    monkeypatch.setattr(stored_results, "LISTED", 9_000)
    spoil, said = SPOILED[name]
    spoil(tmp_path / "first.npz")
    for read in (
        lambda path: stored_results.load(path, Outer),
        lambda path: stored_results.recall(path, "key"),
    ):
        with pytest.raises((OSError, ValueError), match=said):
            read(tmp_path / "first.npz")


def test_what_is_no_plain_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"value\.name"):
        stored_results.save(
            tmp_path / "first.npz", Inner(object(), np.zeros(1, np.float32)), 1, "cpu"
        )  # type: ignore[arg-type]
