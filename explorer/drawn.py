"""What is drawn of a result as it lies on disk, and what a start draws of this tree alone: later starts read it from there."""

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

from explorer.disk import Disk
from explorer.looks import looks
from explorer.packing import arrays
from explorer.sound import Score, sounds
from models import folders

ROOT = Path(__file__).parent.parent
WHAT_IS_COMPUTED = ("models/**/*.py", "assets/*/**/model.json", "assets/*/*.npz")  # its files; weights have their hash in model.json
WHAT_IS_DRAWN = (*WHAT_IS_COMPUTED, "explorer/**/*.py", "explorer/**/*.js")

T = TypeVar("T")


@dataclass(frozen=True)
class Drawn:
    """What the widgets draw of a result, with all that it names by an address.

    text: their values, as JSON. arrays: by digest, compressed by gzip. scores: the notes of its sounds.
    looks: digests; where their exact rows come from is made again when the first visitor asks.
    """

    text: str
    arrays: Mapping[str, NDArray[np.uint8]]
    scores: tuple[Score, ...]
    looks: tuple[str, ...]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Drawn:
        """These values, of what this process has just drawn."""
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        packed = {digest: np.frombuffer(kept, np.uint8) for digest, kept in named("arrays", text, arrays()).items()}
        return cls(text, packed, tuple(named("sound", text, sounds()).values()), tuple(named("looks", text, looks())))

    def values(self, draw: Callable[[], Any]) -> dict[str, Any]:
        """The values, once this process holds all that they name. draw: makes the exact rows again when somebody asks for them."""
        for digest, packed in self.arrays.items():
            arrays().hold(digest, packed.tobytes())
        for score in self.scores:
            sounds().put(score)
        looks().promise(self.looks, draw)
        found: dict[str, Any] = json.loads(self.text)
        return found


def named(kind: str, text: str, store: Any) -> dict[str, Any]:
    """What a store holds of all that is named in `text` by an address of this kind, by digest."""
    digests = dict.fromkeys(re.findall(rf"/{kind}/([0-9a-f]{{32}})\b", text))
    return {digest: kept for digest in digests if (kept := store.get(digest)) is not None}


def version(patterns: Sequence[str]) -> str:
    """A digest of the files that fit these patterns, of torch, and of models of somebody's own."""
    digest = hashlib.sha256(metadata.version("torch").encode())
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    for path in sorted(Path(os.environ.get(folders.NAME) or os.devnull).glob("*/*/model.json")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def _of_this_tree(own: str) -> str:
    return f"{version(WHAT_IS_DRAWN)} {own}"


def once(name: str, make: Callable[[], T]) -> T:
    """A record that follows from the files of this tree alone: read where an earlier start has left it, else made and left there."""
    disk = Disk.of_environment()
    if disk is None:
        return make()
    key = f"{_of_this_tree(os.environ.get(folders.NAME, ''))} {name}"
    if (kept := disk.get(key)) is not None:
        found: T = kept[0]
        return found
    made = make()
    disk.put(key, made)
    return made
