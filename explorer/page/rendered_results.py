"""The drawings of a result as they lie on disk, and the records that a start derives from this tree
alone. Later starts read them from there."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.engine.disk_store import Disk
from explorer.media.sound import Score, sound_store
from explorer.values.exact_rows import exact_row_store
from explorer.values.packing import array_store
from models.checkpoints import folders

ROOT = Path(__file__).parents[2]
# its files; weights have their hash in model.json
WHAT_IS_COMPUTED = ("models/**/*.py", "assets/*/**/model.json", "assets/*/*.npz")
WHAT_IS_DRAWN = (*WHAT_IS_COMPUTED, "explorer/**/*.py", "explorer/**/*.js")

T = TypeVar("T")


@dataclass(frozen=True)
class RenderedResult:
    """The widgets' drawings of a result, with everything that they name by an address.

    text: their values, as JSON.
    arrays: by digest, compressed by gzip.
    scores: the notes of its sounds.
    looks: digests. The source of their exact rows is made again when the first visitor requests
        them.
    """

    text: str
    arrays: Mapping[str, NDArray[np.uint8]]
    scores: tuple[Score, ...]
    looks: tuple[str, ...]

    @classmethod
    def record_values(cls, values: Mapping[str, Any]) -> RenderedResult:
        """Return a record of the values that this process has just drawn."""
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        packed = {
            digest: np.frombuffer(kept, np.uint8)
            for digest, kept in collect_named("arrays", text, array_store()).items()
        }
        return cls(
            text,
            packed,
            tuple(collect_named("sound", text, sound_store()).values()),
            tuple(collect_named("looks", text, exact_row_store())),
        )

    def restore_values(self, draw: Callable[[], Any]) -> dict[str, Any]:
        """Return the values, once this process holds everything that they name.

        draw: makes the exact rows again when they are requested.
        """
        for digest, packed in self.arrays.items():
            array_store().hold(digest, packed.tobytes())
        for score in self.scores:
            sound_store().put(score)
        exact_row_store().promise(self.looks, draw)
        found: dict[str, Any] = json.loads(self.text)
        return found


def collect_named(kind: str, text: str, store: Any) -> dict[str, Any]:
    """Return the entries of a store that `text` names by an address of this kind, by digest."""
    digests = dict.fromkeys(re.findall(rf"/{kind}/([0-9a-f]{{32}})\b", text))
    return {digest: kept for digest in digests if (kept := store.get(digest)) is not None}


def digest_files(patterns: Sequence[str]) -> str:
    """Return a digest of the files that fit these patterns, of torch, and of users' own models."""
    digest = hashlib.sha256(metadata.version("torch").encode())
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    for path in sorted(Path(os.environ.get(folders.NAME) or os.devnull).glob("*/*/model.json")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def _digest_tree(own: str) -> str:
    return f"{digest_files(WHAT_IS_DRAWN)} {own}"


def make_once(name: str, make: Callable[[], T]) -> T:
    """Return a record that follows from the files of this tree alone: read from disk where an
    earlier start left it, else made and left there."""
    disk = Disk.from_environment()
    if disk is None:
        return make()
    key = f"{_digest_tree(os.environ.get(folders.NAME, ''))} {name}"
    if (kept := disk.get(key)) is not None:
        found: T = kept[0]
        return found
    made = make()
    disk.put(key, made)
    return made
