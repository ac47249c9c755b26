"""The declaration of a lab: the program of its page, and the lab of that program with its examples,
steps and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from explorer.contract import controls
from explorer.contract.exercises import Exercise
from explorer.contract.lab import Lab, MapPicture, Text, Thumbnail, read_steps
from explorer.engine import Engine, Function
from explorer.page import api, user_models
from explorer.page.exercises import view_exercises
from explorer.page.program import About, Program
from explorer.page.rendered_results import make_once

R = TypeVar("R")
S = TypeVar("S")

OF_VIEWS = (
    "first",
    "answer",
    "describe_warning",
    "notice",
    "lines",
    "describe_endings",
    "pick",
    "prepare",
    "progress",
    "draw_partial_answer",
    "items",
)


def program_of(texts: Any, views: Any, about: Any, /, **fields: Any) -> Program[Any, Any]:
    """Return a program whose functions stand in a lab's module `views` by the names of its fields,
    whose words stand in its `texts`, and whose facts above the bar stand in its `about`.

    about: it may leave out its `prose`: card.md, filled in from its facts(), by variant. A run that
        `prepare` makes holds the selection on arrival as its `pick`.
    fields: all other fields, and those that are found elsewhere.
    """

    def prose() -> Mapping[str, str]:
        # imported here, because the labs import this module
        from explorer.page.card_facts import prose

        return prose(about.SLUG, about.facts())

    above = About(
        texts.KICKER,
        texts.SPOKEN,
        about.pairs,
        getattr(about, "prose", prose),
        getattr(about, "curves", lambda: None),
    )
    words = {"about": above, "region": texts.REGION, "run": getattr(texts, "RUN", None)}
    found = {name: getattr(views, name) for name in OF_VIEWS if hasattr(views, name)}
    if "prepare" in found:
        found.setdefault("pick", lambda run, _request: run.pick)
    return Program(**{"answer": lambda _seen, _request: None, **words, **found, **fields})


class Named(Protocol):
    """The texts that every lab has."""

    TITLE: Text
    SHORT: Text
    LINE: Text
    CARD: Text
    EQUATION: str


def lab_of(
    slug: str,
    explain: Function,
    program: Callable[[], Program[R, S]],
    examples: Sequence[R],
    texts: Named,
    views: Any,
    *,
    network: tuple[Any, ...],
    interventions: Mapping[str, R],
    exercises: tuple[Exercise[R, S], ...] = (),
    probes: Callable[[], Iterable[R]] | None = None,
    **facts: Any,
) -> Lab:
    """Return the lab of one program. Its other facts are named as in `Lab`: year, paper, authors,
    arxiv, licence, ancestors, changed, exports.

    explain: the engine function of its program. It is called when a page is built, so a file that
        cannot be read closes this lab alone.
    texts: its module of texts.
    network: its parts, or several columns of them.
    views: its module of views, with steps(), the guided steps, first(), the stored result of the
        first example, and thumbnail(run), this result as a picture for the family map.
    interventions: key -> an example with this change.
    exercises: those that the page checks; a brought model has none.
    probes(): small requests that load the models, by default the first example; probe=None where
        there are none.
    """

    async def probe(engine: Engine) -> None:
        for request in probes() if probes else examples[:1]:
            await engine.ask(explain, request)

    def thumbnail() -> Thumbnail | MapPicture | None:
        kept = views.first()
        return (
            None
            if kept is None
            else make_once(
                f"picture {slug} {kept.milliseconds}", lambda: views.thumbnail(kept.seen)
            )
        )

    mine = user_models.facts(slug)

    def make_program() -> Program[R, S]:
        found = replace(program(), slug=slug)
        if exercises and not mine:
            panel = view_exercises(slug, exercises, explain, found.remove_changes)
            found = replace(found, views=(*found.views, panel))
        return (
            replace(
                found,
                about=replace(
                    found.about,
                    pairs=lambda: user_models.pairs(mine),
                    prose=lambda: user_models.prose(mine),
                ),
            )
            if mine
            else found
        )

    return Lab(
        slug=slug,
        title=texts.TITLE,
        short=texts.SHORT,
        line=texts.LINE,
        card=texts.CARD,
        equation=texts.EQUATION,
        page=lambda lab, engine: make_program().place_page(lab, engine),
        examples=tuple(controls.spell_query(example) for example in examples),
        # these steps speak of the shipped models' results
        steps=() if mine else read_steps(slug, views.steps),
        interventions={
            key: controls.spell_query(request) for key, request in interventions.items()
        },
        exercises=() if mine else exercises,
        program=make_program,
        endpoint=lambda lab, engine: api.place_endpoint(make_program(), lab, engine),
        again=lambda engine, asked, session: make_program().recompute_result(
            engine, asked, session
        ),
        thumbnail=thumbnail,
        network=network if isinstance(network[0], tuple) else (network,),
        **{
            "probe": probe,
            "stored": lambda engine, spelled: make_program().render_stored_result(engine, spelled),
            "own": bool(mine),
            **facts,
        },
    )
