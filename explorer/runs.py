"""A run of a lab's models, as its page speaks of it: where a result came from, and the one that is shipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from explorer.engine import Answer
from models import folders, stored
from models.errors import reading

Text = Mapping[str, str]

ASSETS = folders.ASSETS

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
    """How a result came about. state: "stored", "live", or "remembered" where it was known already and nothing was computed for this wish;
    milliseconds that it took to compute on `device`; notice: a remark for the visitor."""

    state: str
    milliseconds: float
    device: str
    notice: Text | None = None

    @staticmethod
    def of(answer: Answer[Any], notice: Text | None = None) -> Run:
        """How an answer of the engine came about."""
        return Run("remembered" if answer.known else "live", answer.milliseconds, answer.device, notice)


def as_stored(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """What the widgets of a page draw of a finished run, by their names, to be held ready: each that says where it comes from says so."""
    made = {"live", "remembered"}
    return {name: {**value, "state": "stored"} if value and value.get("state") in made else value for name, value in drawn.items()}


def kept(slug: str, request: AskingT, kind: type[SeenT], name: str = "first.npz") -> Callable[[], Stored[AskingT, SeenT] | None]:
    """What is shipped of a lab's first example, as of `first`: read when it is first asked for, and then kept."""
    return cache(lambda: first(slug, request, kind, name))


def first(slug: str, request: AskingT, kind: type[SeenT], name: str = "first.npz") -> Stored[AskingT, SeenT] | None:
    """What is shipped of a lab's first example, or of another request in a file called `name`; None where nothing is. kind: what its
    models answer. DamagedFile where it cannot be read."""
    path = folders.lab(slug, ASSETS) / name
    if not path.exists():
        return None
    with reading(path):
        seen, milliseconds, device = stored.load(path, kind)
    return Stored(request, seen, milliseconds, device)
