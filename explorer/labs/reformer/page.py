"""The page of the Reformer: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine, Waiting
from explorer.figures import hashing as drawing
from explorer.lab import FIGURE, Lab, readable
from explorer.labs import wiring
from explorer.labs.reformer import about, change, deeper, texts, views
from explorer.labs.runs import Run, as_stored
from explorer.widgets import asker, bertviz, figure, reread
from explorer.widgets.attention import attention
from explorer.widgets.card import card
from explorer.widgets.hashing import hashing, looked
from explorer.widgets.newest import Newest
from explorer.widgets.notes import notes
from explorer.widgets.twice import twice
from models.errors import InputError
from models.reformer.records import Place, Request

EXPLAIN = "models.reformer.explain:explain"
COMPARE = "models.reformer.explain:compare"
HASHINGS = "models.reformer.asked:hashings"
WIDGETS = (
    "asker",
    "hashing",
    "twice",
    "attention",
    "reread",
)  # in the order of every update: the bar first, the knobs last

Text = Mapping[str, str]
Value = dict[str, object]
Update = tuple[Any, ...]  # what each of WIDGETS draws next
Wish = Callable[[], tuple[Request, Text | None]]

logger = logging.getLogger(__name__)


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    kept = views.first()
    drawn: tuple[Value | None, ...] = (asker.empty(), *(None for _ in WIDGETS[1:-1]))
    begin = reread.idle()
    if kept is not None:
        drawn = views.draw(kept.seen, kept.request, Run("stored", kept.milliseconds, kept.device))
        begin = idle(kept.request, drawn)
    about_it = card(
        kicker=texts.KICKER,
        title=lab.title,
        line=lab.line,
        equation=lab.equation,
        spoken=texts.SPOKEN,
        pairs=about.pairs(),
        prose=about.prose(),
    )
    with gr.Column(elem_classes=["tfe-card-curve"]):
        curve = figure.figure()
    bar = asker.asker(drawn[0] or asker.empty(), texts=texts.BAR, tasks=views.tasks(), examples=views.examples(), neutral=views.neutral())
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            walk = hashing(drawn[1], empty=texts.NO_HASHING)
            companion = looked()
            letters = twice(drawn[2], table=about.table())
        with gr.Column(elem_classes=["tfe-bench-side"]):
            knobs = reread.reread(begin, knobs=change.knobs({**about.sizes("word"), **about.sizes("text")}))
    heads = attention(drawn[3], empty=texts.NO_ATTENTION)
    for place in deeper.PANELS:
        place(engine)
    others = bertviz.bertviz(bertviz.ready(("head", "model")))
    notes((*texts.NOTES, texts.TEXT_NOTE) if views.reads() else texts.NOTES, label=texts.NOTES_LABEL)

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: views.asked(detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: views.linked(detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: views.asked(detail), session)

    async def show(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(bertviz_of(engine, bertviz.Look.of(wiring.detail(event)), wiring.session(caller))) as updates:
            async for update in updates:
                yield update

    async def look(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(looks(engine, wiring.detail(event), wiring.session(caller))) as updates:
            async for update in updates:
                yield update

    outputs = [bar, walk, letters, heads, knobs]
    bar.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    knobs.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    others.show(show, None, others, **wiring.HOW)
    walk.look(look, None, companion, **wiring.HOW)
    about_it.unfold(about.curves, None, curve, **wiring.HOW)


def idle(request: Request, drawn: Update) -> Value:
    """The panel of knobs for a run in which nothing is changed. drawn: what the views draw of it."""
    letters = drawn[2] or {}
    return reread.idle(views.spelled(request), letters.get("pick"))


async def answers(engine: Engine, wish: Wish, session: str = "", *, anew: bool = False) -> AsyncGenerator[Update, None]:
    """Everything the page draws until a wish is fulfilled: the run as it was asked for, then what the change in it does.

    wish: reads the request, with a notice for the visitor. anew: run the first example too, instead of showing what is stored of it.
    """
    skip = gr.skip()
    skips = (skip,) * (len(WIDGETS) - 2)
    try:
        request, notice = wish()
        kept = views.first()
        if kept is not None and request == kept.request and not anew:
            seen, run = kept.seen, Run("stored", kept.milliseconds, kept.device, notice)
        else:
            async with contextlib.aclosing(engine.watch(EXPLAIN, request, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen, run = update.value, Run.of(update, notice)
                    else:
                        yield waiting(update), *skips, skip
        drawn = await asyncio.to_thread(views.draw, seen, request, run)
    except InputError as error:
        yield asker.refused(error.text), *skips, reread.refused(None)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield asker.refused(labels.DEFECT), *skips, reread.refused(None)
        return
    comparing = request != change.plain(request)
    yield *drawn, reread.running(views.spelled(request)) if comparing else idle(request, drawn)
    if not comparing:
        return
    try:
        async with contextlib.aclosing(engine.watch(COMPARE, request, session)) as watched:
            async for step in watched:
                if isinstance(step, Answer):
                    yield skip, *skips, await asyncio.to_thread(views.compared, step.value, request)
                else:
                    yield skip, *skips, reread.running()
    except InputError as error:
        yield skip, *skips, reread.refused(error.text)


def waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return asker.waiting(where.place, where.of, where.seconds) if where.place else asker.reading()


async def bertviz_of(engine: Engine, look: bertviz.Look, session: str) -> AsyncGenerator[Any, None]:
    """bertviz's own view of the run that the address names; a refusal for one that is too long for it."""
    try:
        request, _ = views.linked({"query": look.run})
        kept = views.first()
        seen = kept.seen if kept is not None and request == kept.request else None
        if seen is None:
            # A handler that yields nothing is never told that its page was closed.
            async with contextlib.aclosing(engine.watch(EXPLAIN, request, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen = update.value
                    else:
                        yield gr.skip()
        assert seen is not None
        yield await asyncio.to_thread(lambda: bertviz.shown(look, [views.bertviz(seen, request)]))
    except InputError as error:
        yield bertviz.refused(look, error.text, ("head", "model"))


async def looks(engine: Engine, detail: object, session: str) -> AsyncGenerator[Any, None]:
    """One head and round of the run that the widget looks at, or all rounds of it together; a refusal in words where there is none."""
    given = detail if isinstance(detail, Mapping) else {}
    try:
        request, _ = views.linked(given)
        model, head, turn = str(given.get("model")), str(given.get("head")), wiring.whole(given.get("round"))
        layer, number = (int(part) - 1 for part in head.split("."))
    except (InputError, TypeError, ValueError):
        return
    place: dict[str, Any] = {"query": str(given.get("query", "")), "model": model, "layer": layer, "head": number}
    wish = {"wished": given["wished"]} if "wished" in given else {}
    try:
        if turn == drawing.ALL:
            async with contextlib.aclosing(engine.watch(EXPLAIN, request, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        weights = await asyncio.to_thread(views.together, update.value, model, layer, number)
                        yield {**drawing.together(**place, weights=weights), **wish}
                    else:
                        yield gr.skip()
            return
        async with contextlib.aclosing(engine.watch(HASHINGS, Place(request, model, layer, number, turn - 1), session)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    yield {**drawing.looked(**place, turn=turn - 1, seen=update.value), **wish}
                else:
                    yield gr.skip()
    except InputError as error:
        yield {**drawing.unseen(**place, turn=turn - 1, error=error.text), **wish}


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished, by widget name; None where it is refused."""
    drawn: dict[str, Any] = {}
    async with contextlib.aclosing(answers(engine, lambda: views.linked({"query": query}))) as updates:
        async for update in updates:
            drawn |= {name: value for name, value in zip(WIDGETS, update, strict=True) if value != gr.skip()}
    if "refused" in {drawn[name]["state"] for name in (WIDGETS[0], WIDGETS[-1])}:
        return None
    return as_stored(drawn)


async def probe(engine: Engine) -> None:
    """One word, which loads the models."""
    await engine.ask(EXPLAIN, Request(text="a"))


# A text: a word is said without a mistake under most changes, so that the share of right letters stays.
CHANGED = Request("text", "The captain of the ship was an old man, and nobody had ever heard him laugh. ")

LAB = Lab(
    slug="reformer",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2020,
    paper="Reformer: The Efficient Transformer",
    authors="Kitaev et al.",
    arxiv="2001.04451",
    licence="Apache-2.0: words are made by this project's own seeded code, and so are the weights; the books are in the public domain",
    equation=texts.EQUATION,
    ancestors=("translation",),
    changed="cost",
    page=page,
    examples=tuple(views.query(example) for example in views.given()),
    steps=readable("reformer", views.steps),
    words=("hashing", "twice", "attention", "missed", "rewind", "change"),
    interventions={
        "rounds": permalink.changed(CHANGED, rounds=1),
        "buckets": permalink.changed(CHANGED, buckets=2),
        "chunk": permalink.changed(CHANGED, chunk=2),
        "seed": permalink.changed(CHANGED, seed=2),
        "silence": permalink.changed(CHANGED, silenced=(("text", 0, 0),)),
    },
    exports={
        "hashing": FIGURE,
        "twice": ("PNG", "SVG", "HTML", "CSV", "TXT"),
        "attention": FIGURE,
        "missed": FIGURE,
        "rewind": FIGURE * 4,
        "reread": (*FIGURE, "TXT"),
    },
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
