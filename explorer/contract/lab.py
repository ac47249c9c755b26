"""The declaration that every lab makes. Every field is required, so no promise is forgotten."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from explorer.contract.exercises import Exercise
    from explorer.engine import Engine

Text: TypeAlias = Mapping[str, str]  # {"en": "…", "zh": "…"}
Changed: TypeAlias = Literal["input", "memory", "cost", "depth", "reading", "measured"]

LANGUAGES = ("en", "zh")
FIGURE = ("PNG", "SVG", "HTML", "CSV", "NPZ")  # kinds of files that a figure with numbers offers
# kinds of files of a change whose picture shows both sides
READ_AGAIN = (*FIGURE[:4], "TXT", "NPZ")
NUMBERS = ("TXT", "CSV")  # kinds of files of a change in a table

logger = logging.getLogger(__name__)


def bilingual(name: str, text: Text) -> None:
    """Raise ValueError unless `text` says something in each language of the page.

    name: the name of the text in the message.
    """
    missing = [language for language in LANGUAGES if not text.get(language, "").strip()]
    if missing:
        raise ValueError(f"{name} has no text for {', '.join(missing)}")


@dataclass(frozen=True)
class GuidedStep:
    """One step of a lecture: choosing it restores its input and its view.

    title: a few words for the rail.
    say: one to three sentences, shown while the step is open.
    question: the question of the step, the projector's title; by default its title.
    query: the request part of a permalink ("v=1&sentence=…"), empty for the first example.
    view: the selection, key → value as in the address without the underscore: {"kind": "cross",
        "head": "3.5"}.
    panel: the widget that the step speaks about, or a part of one, by its class without the "tfe-".
        It is brought into view, or shown in the projector; by default the folded panel that the
        view opens.
    figure: the widget that the projector shows in its place, where it cannot be shown alone.
    show: the lecturer's action or the part of the figure to point at, for the presenter's window.
    rank: 1: part of every lecture; 2: may be skipped; 3: only a long lecture has time for it.
    guess: the quantity that the hall guesses: the projected figure stays covered until the lecturer
        opens it. None: it is never covered.
    """

    title: Text
    say: Text
    query: str
    view: Mapping[str, str]
    panel: str = ""
    figure: str = ""
    question: Text | None = None
    guess: Text | None = None
    show: Text | None = None
    rank: int = 2

    def __post_init__(self) -> None:
        bilingual("title of a guided step", self.title)
        bilingual(f"question of step “{self.title['en']}”", self.projected_question)
        bilingual(f"step “{self.title['en']}”", self.say)
        for name in ("guess", "show"):
            if getattr(self, name) is not None:
                bilingual(f"{name} of step “{self.title['en']}”", getattr(self, name))
        if self.query.startswith("?") or any(key.startswith("_") for key in self.view):
            raise ValueError(
                f"step “{self.title['en']}”: the query has no “?” in front and view keys have no"
                " underscore"
            )

    @property
    def projected_question(self) -> Text:
        """The title above the figure of this step in the projector."""
        return self.question or self.title

    @property
    def figure_name(self) -> str:
        """The name of the widget that the step speaks about, "" for none."""
        return self.panel or next((key for key, text in self.view.items() if text == "open"), "")


@dataclass(frozen=True)
class Part:
    """One part of a lab's network in its small diagram.

    panel: the widget that shows the part, as in a guided step.
    view: the selection that belongs to the part, as in a guided step. It tells parts that share a
        panel apart.
    """

    name: Text
    panel: str
    view: Mapping[str, str]

    def __post_init__(self) -> None:
        bilingual(f"part of a network, shown in {self.panel}", self.name)


def name_part(en: str, zh: str, panel: str, **view: str) -> Part:
    """Return a part of a network by its name in both languages."""
    return Part({"en": en, "zh": zh}, panel, view)


def name_shared_part(name: Text, panel: str, **view: str) -> Part:
    """Return a part of a network by a shared text (explorer/contract/shared_texts.py)."""
    return Part(name, panel, view)


def read_steps(slug: str, make: Callable[[], tuple[GuidedStep, ...]]) -> tuple[GuidedStep, ...]:
    """Return the guided steps that `make` makes, or none where a file that they speak of cannot be
    read. The lab is then closed."""
    try:
        return make()
    except Exception:
        logger.exception("%s cannot be read, and is closed", slug)
        return ()


@dataclass(frozen=True)
class Thumbnail:
    """The picture of a lab on the family map, from its stored first result.

    weights: (query, key), in [0, 1], NaN for an empty cell.
    queries, keys: the labels of rows and columns, drawn where the picture is large; empty where it
        has none, otherwise as long as the sides of weights.
    pick: the (query, key) that the picture points at, or None.
    """

    weights: NDArray[np.float32]
    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    pick: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        rows, columns = self.weights.shape
        if self.queries and (len(self.queries), len(self.keys)) != (rows, columns):
            raise ValueError(
                f"thumbnail: weights ({rows}, {columns}) for {len(self.queries)} queries and"
                f" {len(self.keys)} keys"
            )


@dataclass(frozen=True)
class MapPicture:
    """A grey picture of a lab on the family map, from its stored first result, with blocks outlined
    in the colours of their roles.

    levels: (row, column) uint8.
    made: (row, column) bool, the pixels that exist already. The rest is drawn empty.
    outlines: (role, (top, left, bottom, right)), role "query" or "key", edges in pixels from 0,
        bottom and right excluded.
    """

    levels: NDArray[np.uint8]
    made: NDArray[np.bool_]
    outlines: tuple[tuple[str, tuple[int, int, int, int]], ...] = ()

    def __post_init__(self) -> None:
        if self.made.shape != self.levels.shape:
            raise ValueError(f"picture: levels {self.levels.shape}, made {self.made.shape}")
        for role, (top, left, bottom, right) in self.outlines:
            rows, columns = self.levels.shape
            if role not in {"query", "key"} or not (
                0 <= top < bottom <= rows and 0 <= left < right <= columns
            ):
                raise ValueError(
                    f"picture of {rows} × {columns}: an outline {role} {(top, left, bottom, right)}"
                )


@dataclass(frozen=True)
class OpenLab:
    """One lab as the site shows it, opened from its declaration (explorer/page/lab.py): its facts,
    and the functions that place its page and answer for it. Its `slug` names its package, page,
    assets, tests and address.

    title: the name of the lab.
    short: its name in the rail.
    line: one sentence about it.
    card: at most three short lines for the family map.
    year, paper, authors, arxiv: the source of the mechanism.
    licence: the terms of the shipped weights.
    equation: the equation as the page's card draws it.
    ancestors: slugs of the labs that it descends from.
    changed: the difference from these labs.
    page(lab, engine): builds the page's components and wiring inside the route that is open,
        without loading a model.
    program(): what the page declares, `explorer.page.program.Program`, for what draws it elsewhere.
    examples: queries, at least three. The first is the stored one.
    steps: 5 to 8 guided steps, none where the lab is closed.
    interventions: the changes that a visitor may make to the live model, key → the query of an
        example with this change. Each changes a printed number.
    exports: kinds of files that a view offers, the widget's name → kinds as its buttons say, beside
        "JSON" where its picture holds a Plotly figure.
    thumbnail(): the picture of the stored first result for the family map, None where nothing is
        stored.
    probe(engine): asks the engine one small question, which loads the model. It is awaited in the
        background once the server listens, and the server counts as ready when every lab's probe
        was answered. None where the lab runs no model.
    stored(engine, query): the values that the widgets of the page draw for one of its examples or
        steps, by widget name, as JSON. They are made once in the background and then given to every
        page that asks, without a queue. It may answer None where they are too expensive to make in
        advance.
    again(engine, asked, session): recomputes the drawings that an address names
        (explorer/web/recompute.py).
    network: its parts from the inputs upwards, in one column or in several that feed each other;
        none where the lab is closed.
    own: whether a visitor's own model stands in it. No guided step speaks of that model, and
        the lab may have no intervention.
    endpoint(lab, engine): places the function by which a script asks the lab (api.py).
    exercises: three questions that the page can check, none where the lab is closed.
    """

    slug: str
    title: Text
    short: Text
    line: Text
    card: Text
    year: int
    paper: str
    authors: str
    arxiv: str
    licence: str
    equation: str
    ancestors: tuple[str, ...]
    changed: Changed
    page: Callable[[OpenLab, Engine], None]
    examples: tuple[str, ...]
    steps: tuple[GuidedStep, ...]
    interventions: Mapping[str, str]
    exports: Mapping[str, Sequence[str]]
    thumbnail: Callable[[], Thumbnail | MapPicture | None]
    probe: Callable[[Engine], Awaitable[object]] | None
    stored: Callable[[Engine, str], Awaitable[Mapping[str, object] | None]] | None = None
    endpoint: Callable[[OpenLab, Engine], None] | None = None
    again: Callable[[Engine, Mapping[str, str], str], Awaitable[None]] | None = None
    own: bool = False
    network: tuple[tuple[Part, ...], ...] = ()
    exercises: tuple[Exercise[Any, Any], ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.slug):
            raise ValueError(f"slug {self.slug!r}: lower-case letters, digits and underscores")
        for name in ("title", "short", "line", "card"):
            bilingual(f"{self.slug}.{name}", getattr(self, name))
        if len(self.examples) < 3 and not self.own:
            raise ValueError(
                f"{self.slug} has {len(self.examples)} examples; a lab offers at least 3"
            )
        if self.steps and not 5 <= len(self.steps) <= 8:
            raise ValueError(f"{self.slug} has {len(self.steps)} guided steps; a lab has 5 to 8")
        if not self.interventions and not self.own:
            raise ValueError(
                f"{self.slug} lets the visitor change nothing; a lab has at least one intervention"
            )

    @property
    def is_closed(self) -> bool:
        """Whether a file of the lab cannot be read."""
        return not self.steps and not self.own

    @property
    def path(self) -> str:
        """The address of the lab's page on this server."""
        return f"/{self.slug}"
