"""What a lab declares: the program of its page, and the lab of that program with its examples, steps and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from explorer import api, controls, own
from explorer.drawn import once
from explorer.engine import Engine, Function
from explorer.lab import Lab, Picture, Text, Thumbnail, readable
from explorer.program import About, Program

R = TypeVar("R")
S = TypeVar("S")

OF_VIEWS = ("first", "answer", "warning", "notice", "lines", "pick", "prepare", "progress", "growing", "items")


def program_of(texts: Any, views: Any, about: Any, /, **fields: Any) -> Program[Any, Any]:
    """A program whose functions stand in a lab's module `views` by the names of its fields, whose words stand in its `texts`, and what
    stands above its bar in its `about`; that may leave out its `prose`: card.md, filled in from its facts(), by variant. A run that
    `prepare` makes holds what is looked at on arrival as its `pick`. fields: all others, and those that are found elsewhere."""

    def prose() -> Mapping[str, str]:
        from explorer.labs.about import prose  # here, for the labs import this module

        return prose(about.SLUG, about.facts())

    above = About(texts.KICKER, texts.SPOKEN, about.pairs, getattr(about, "prose", prose), getattr(about, "curves", lambda: None))
    words = {"about": above, "region": texts.REGION, "run": getattr(texts, "RUN", None)}
    found = {name: getattr(views, name) for name in OF_VIEWS if hasattr(views, name)}
    if "prepare" in found:
        found.setdefault("pick", lambda run, _request: run.pick)
    return Program(**{"answer": lambda _seen, _request: None, **words, **found, **fields})


class Named(Protocol):
    """The texts of a lab that every lab has."""

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
    probes: Callable[[], Iterable[R]] | None = None,
    **facts: Any,
) -> Lab:
    """A lab of one program. Its other facts are named as in `Lab`: year, paper, authors, arxiv, licence, ancestors, changed, exports.

    explain: of its program, which is called when a page is built: so a file that cannot be read closes this lab alone. texts: its module.
    network: its parts, or several columns of them. views: its module too, with steps(), the guided steps, first(), what is stored of the
    first example, and thumbnail(seen), that as a picture for the family map.
    interventions: key -> an example changed so. probes(): small requests that load the models; the first example if not said;
    probe=None where there are none.
    """

    async def probe(engine: Engine) -> None:
        for request in probes() if probes else examples[:1]:
            await engine.ask(explain, request)

    def thumbnail() -> Thumbnail | Picture | None:
        kept = views.first()
        return None if kept is None else once(f"picture {slug} {kept.milliseconds}", lambda: views.thumbnail(kept.seen))

    mine = own.facts(slug)

    def declared() -> Program[R, S]:
        found = replace(program(), slug=slug)
        return replace(found, about=replace(found.about, pairs=lambda: own.pairs(mine), prose=lambda: own.prose(mine))) if mine else found

    return Lab(
        slug=slug,
        title=texts.TITLE,
        short=texts.SHORT,
        line=texts.LINE,
        card=texts.CARD,
        equation=texts.EQUATION,
        page=lambda lab, engine: declared().place(lab, engine),
        examples=tuple(controls.query(example) for example in examples),
        steps=() if mine else readable(slug, views.steps),  # they speak of what the shipped models do
        interventions={key: controls.query(request) for key, request in interventions.items()},
        endpoint=lambda lab, engine: api.place(declared(), lab, engine),
        again=lambda engine, asked, session: declared().again(engine, asked, session),
        thumbnail=thumbnail,
        network=network if isinstance(network[0], tuple) else (network,),
        **{"probe": probe, "stored": lambda engine, spelled: declared().stored(engine, spelled), "own": bool(mine), **facts},
    )
