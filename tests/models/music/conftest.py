"""A few seconds of music in the layout of the real data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two tiny data sets in the layout of the real ones."""
    generator = np.random.default_rng(1)
    (tmp_path / "jsb").mkdir()
    pieces = [[[int(p) for p in generator.integers(36, 82, 4)] for _ in range(n)] for n in (6, 9, 4)]
    pieces[0][2][3] = -1
    with gzip.open(tmp_path / "jsb" / "Jsb16thSeparated.json.gz", "wt") as file:
        json.dump({"train": pieces[:2], "valid": pieces[2:], "test": pieces[:1]}, file)
    (tmp_path / "asap").mkdir()
    counts, splits = (40, 30, 20), ("train", "valid", "test")
    total = sum(counts)
    np.savez(
        tmp_path / "asap" / "asap_notes.npz",
        offset=np.cumsum((0, *counts)).astype(np.int32),
        dt_ms=generator.integers(0, 400, total).astype(np.uint16),
        dur_ms=np.full(total, 5, np.uint16),
        dur_sustain_ms=generator.integers(20, 900, total).astype(np.uint16),
        pitch=generator.integers(21, 109, total).astype(np.uint8),
        velocity=generator.integers(1, 127, total).astype(np.uint8),
    )
    items = [{"composer": "A", "title": f"T{i}", "split": split} for i, split in enumerate(splits)]
    (tmp_path / "asap" / "split.json").write_text(json.dumps({"items": items}), encoding="utf-8")
    return tmp_path
