"""A run of a lab's models, as its page speaks of it: the source of a result, and the shipped
result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from explorer.engine import Answer
from models.checkpoints import folders, stored_results
from models.explaining.errors import reading_file

Text = Mapping[str, str]

ASSETS = folders.ASSETS

AskingT = TypeVar("AskingT")
SeenT = TypeVar("SeenT")


@dataclass(frozen=True)
class StoredRun(Generic[AskingT, SeenT]):
    """The shipped result of a lab's first example: a real run, drawn before any model is loaded. It
    took `milliseconds` of compute on `device`."""

    request: AskingT
    seen: SeenT
    milliseconds: float
    device: str


@dataclass(frozen=True)
class ResultOrigin:
    """The way in which a result came about.

    state: "stored", "live", or "remembered" where it was known already and nothing was computed for
        this request.
    milliseconds: the time to compute it on `device`.
    """

    state: str
    milliseconds: float
    device: str

    @staticmethod
    def from_answer(answer: Answer[Any]) -> ResultOrigin:
        """Return how an answer of the engine came about."""
        return ResultOrigin(
            "remembered" if answer.known else "live", answer.milliseconds, answer.device
        )


@runtime_checkable
class Timed(Protocol):
    """A request that says whether its answer is a measurement of this moment."""

    @property
    def live(self) -> bool:
        """Whether it is: the answer is neither stored nor remembered."""


def is_live(request: object) -> bool:
    """Return whether a request measures something of this moment."""
    return isinstance(request, Timed) and bool(request.live)


@runtime_checkable
class Paired(Protocol):
    """A request whose run may hold both sides of its change."""

    @property
    def holds_both(self) -> bool:
        """Whether it does, so that no second run is needed for the comparison."""


def holds_both(request: object) -> bool:
    """Return whether the run of a request holds both sides of its change."""
    return isinstance(request, Paired) and bool(request.holds_both)


def mark_as_stored(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return the widgets' drawings of a finished run, by their names, for later use: each that
    names its source says that it is stored."""
    made = {"live", "remembered"}
    return {
        name: {**value, "state": "stored"} if value and value.get("state") in made else value
        for name, value in drawn.items()
    }


def load_first_once(
    slug: str, request: AskingT, kind: type[SeenT], name: str = "first.npz"
) -> Callable[[], StoredRun[AskingT, SeenT] | None]:
    """Return a function that returns `load_first`. It reads the result at the first call and keeps
    it."""
    return cache(lambda: load_first(slug, request, kind, name))


def load_first(
    slug: str, request: AskingT, kind: type[SeenT], name: str = "first.npz"
) -> StoredRun[AskingT, SeenT] | None:
    """Return the shipped result of a lab's first example, or of another request in a file called
    `name`; None where there is none.

    kind: the class of its models' explanation.
    Raise DamagedFile where it cannot be read.
    """
    path = folders.find_lab_folder(slug, ASSETS) / name
    if not path.exists():
        return None
    with reading_file(path):
        seen, milliseconds, device = stored_results.load(path, kind)
    return StoredRun(request, seen, milliseconds, device)
