"""A run of a lab's models, as its page speaks of it: where a result came from, and the one that is shipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from models import stored
from models.errors import reading

Text = Mapping[str, str]

ASSETS = Path(__file__).parents[2] / "assets"

AskingT = TypeVar("AskingT")
SeenT = TypeVar("SeenT")


@dataclass(frozen=True)
class Stored(Generic[AskingT, SeenT]):
    """The shipped result of a lab's first example: a real run, drawn before any model is loaded. milliseconds of compute on `device`."""

    request: AskingT
    seen: SeenT
    milliseconds: float
    device: str


@dataclass(frozen=True)
class Run:
    """How a result came about. state: "stored" or "live"; milliseconds of compute on `device`; notice: a remark for the visitor."""

    state: str
    milliseconds: float
    device: str
    notice: Text | None = None


def first(slug: str, request: AskingT, kind: type[SeenT]) -> Stored[AskingT, SeenT] | None:
    """What is shipped of a lab's first example, or None where nothing is. kind: what its models answer. DamagedFile where it cannot be
    read."""
    path = ASSETS / slug / "first.npz"
    if not path.exists():
        return None
    with reading(path):
        seen, milliseconds, device = stored.load(path, kind)
    return Stored(request, seen, milliseconds, device)
