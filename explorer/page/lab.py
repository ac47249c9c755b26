"""The declaration of a lab, one value of one class: `LAB` in explorer/labs/<slug>/lab.py.

A declaration reads no file. `open_lab` reads the files that it speaks of: a damaged file closes
that lab alone, and a model that a visitor trained takes the place of the shipped one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeAlias

from explorer.contract.control_kinds import Control
from explorer.contract.controls import spell_query
from explorer.contract.exercises import Exercise
from explorer.contract.lab import (
    Changed,
    GuidedStep,
    MapPicture,
    OpenLab,
    Part,
    Text,
    Thumbnail,
    read_steps,
)
from explorer.engine import Engine, Function
from explorer.page import api, user_models
from explorer.page.exercises import view_exercises
from explorer.page.program import About, AnswerBar, Change, Program
from explorer.page.rendered_results import make_once
from explorer.page.runs import StoredRun
from explorer.page.type_variables import R, S, T, V
from explorer.page.views import View

Title: TypeAlias = Text | tuple[Text, Text]  # a title, or one with its short form


class LabTexts(Protocol):
    """The texts that every lab has, in its texts.py."""

    @property
    def TITLE(self) -> Text:
        """The name of the lab."""

    @property
    def SHORT(self) -> Text:
        """Its name in the rail."""

    @property
    def LINE(self) -> Text:
        """One sentence about it."""

    @property
    def CARD(self) -> Text:
        """At most three short lines for the family map."""

    @property
    def EQUATION(self) -> str:
        """The equation as the page's card draws it."""


@dataclass(frozen=True)
class Paper:
    """The source of a mechanism."""

    year: int
    title: str
    authors: str
    arxiv: str


@dataclass(frozen=True)
class Lab(Generic[R, S, V, T]):
    """The declaration of one lab: its facts, and its page. Its `slug` names its package, page,
    assets, tests and address.

    R is the class of its requests, S that of its explanations, V what `prepare` makes of one (by
    default S), T a step of an answer that grows.

    paper: the source of the mechanism.
    licence: the terms of the shipped weights.
    ancestors: slugs of the labs that it descends from; changed: the difference from these.
    texts: its module of texts.
    network: its parts from the inputs upwards, or several columns of them that feed each other.
    request: the class of its requests, with the default, range and refusal of each field.
    explain: the engine function that answers requests.
    controls: the control of each field, or a function that reads shipped files to list them.
    views: the pictures of a run, in their order.
    bar: the functions of the input bar.
    about: the facts above the bar.
    change: the effect of a change of the model; None where nothing can be changed.
    prepare(explanation, request): the value that the views, and `pick` and `items` of the bar, are
        given in place of the explanation, where several of them need the same.
    examples: at least three. The first is the stored one, and a bare address stands for it.
    titles: those of the examples; a pair is a title and its short form on a chip.
    first(): the stored result of the first example; others: further stored results.
    thumbnail(explanation): the picture of that result for the family map.
    steps(): 5 to 8 guided steps.
    interventions: the changes that a visitor may make to the live model, key → an example with this
        change. Each changes a printed number.
    exports: kinds of files that a view offers, the widget's name → kinds as its buttons say, beside
        "JSON" where its picture holds a Plotly figure.
    probes: small requests that load the models, or a function that lists them; None for the first
        example, empty where the lab runs no model.
    exercises: three questions that the page can check, none for a visitor's own model.
    is_shipped: whether its models are this project's own. A visitor's own model has no stored
        result, no guided step and perhaps no intervention.
    """

    slug: str
    paper: Paper
    licence: str
    ancestors: tuple[str, ...]
    changed: Changed
    texts: LabTexts
    network: tuple[Part, ...] | tuple[tuple[Part, ...], ...]
    request: type[R]
    explain: Function
    controls: tuple[Control, ...] | Callable[[], tuple[Control, ...]]
    views: tuple[View[R, S, V, T], ...]
    bar: AnswerBar[R, S, V, T]
    about: About
    change: Change[R, S] | None
    examples: tuple[R, ...]
    titles: Sequence[Title]
    first: Callable[[], StoredRun[R, S] | None]
    thumbnail: Callable[[S], Thumbnail | MapPicture | None]
    steps: Callable[[], tuple[GuidedStep, ...]]
    interventions: Mapping[str, R]
    exports: Mapping[str, Sequence[str]]
    prepare: Callable[[S, R], V] | None = None
    others: tuple[Callable[[], StoredRun[R, Any] | None], ...] = ()
    probes: Iterable[R] | Callable[[], Iterable[R]] | None = None
    exercises: tuple[Exercise[R, S], ...] = ()
    is_shipped: bool = field(default=True, kw_only=True)

    def build_program(self) -> Program[R, S, V, T]:
        """Return the program of its page. This reads the files that its controls speak of."""
        named = [title if isinstance(title, tuple) else (title, None) for title in self.titles]
        program = Program(
            explain=self.explain,
            kind=self.request,
            controls=self.controls() if callable(self.controls) else self.controls,
            views=self.views,
            change=self.change,
            examples=tuple(
                (request, title) for request, (title, _) in zip(self.examples, named, strict=True)
            ),
            shorts=tuple(short for _, short in named),
            first=self.first,
            others=self.others,
            bar=self.bar,
            prepare=self.prepare,
            about=self.about,
            slug=self.slug,
        )
        mine = user_models.facts(self.slug)
        if not mine:
            panel = view_exercises(self.slug, self.exercises, self.explain, program.remove_changes)
            return replace(program, views=(*self.views, panel)) if self.exercises else program
        about = replace(
            program.about,
            pairs=lambda: user_models.pairs(mine),
            prose=lambda: user_models.prose(mine),
        )
        return replace(program, about=about)


def select_titles(
    offered: Sequence[R], titles: Sequence[Title], shipped: Sequence[R]
) -> tuple[Title, ...]:
    """Return the titles of those examples whose models are shipped.

    offered: all examples, each with its title.
    """
    return tuple(
        title for request, title in zip(offered, titles, strict=True) if request in shipped
    )


def open_lab(lab: Lab[R, S, V, T]) -> OpenLab:
    """Return a lab as the site shows it. Its program is built when its page is, so a file that
    cannot be read closes this lab alone."""

    async def probe(engine: Engine) -> None:
        probes = lab.probes() if callable(lab.probes) else lab.probes
        for request in lab.examples[:1] if probes is None else probes:
            await engine.ask(lab.explain, request)

    async def render_stored(engine: Engine, query: str) -> Mapping[str, object] | None:
        return await lab.build_program().render_stored_result(engine, query)

    async def recompute(engine: Engine, asked: Mapping[str, str], session: str) -> None:
        await lab.build_program().recompute_result(engine, asked, session)

    def draw_thumbnail() -> Thumbnail | MapPicture | None:
        kept = lab.first()
        if kept is None:
            return None
        named = f"picture {lab.slug} {kept.milliseconds}"
        return make_once(named, lambda: lab.thumbnail(kept.seen))

    is_own = not lab.is_shipped or bool(user_models.facts(lab.slug))
    columns = (lab.network,) if isinstance(lab.network[0], Part) else lab.network
    return OpenLab(
        slug=lab.slug,
        title=lab.texts.TITLE,
        short=lab.texts.SHORT,
        line=lab.texts.LINE,
        card=lab.texts.CARD,
        equation=lab.texts.EQUATION,
        year=lab.paper.year,
        paper=lab.paper.title,
        authors=lab.paper.authors,
        arxiv=lab.paper.arxiv,
        licence=lab.licence,
        ancestors=lab.ancestors,
        changed=lab.changed,
        network=columns,
        examples=tuple(map(spell_query, lab.examples)),
        # these steps speak of the shipped models' results
        steps=() if is_own else read_steps(lab.slug, lab.steps),
        exercises=() if is_own else lab.exercises,
        interventions={key: spell_query(example) for key, example in lab.interventions.items()},
        exports=lab.exports,
        thumbnail=draw_thumbnail,
        probe=None if lab.probes == () else probe,
        page=lambda opened, engine: lab.build_program().place_page(opened, engine),
        endpoint=lambda opened, engine: api.place_endpoint(lab.build_program(), opened, engine),
        stored=render_stored if lab.is_shipped else None,
        again=recompute,
        own=is_own,
    )
