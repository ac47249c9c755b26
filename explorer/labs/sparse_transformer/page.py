"""The page of Sparse Transformer: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine, Waiting
from explorer.lab import FIGURE, Lab, readable
from explorer.labs import wiring
from explorer.labs.runs import Run, as_stored
from explorer.labs.sparse_transformer import about, change, texts, views, writing
from explorer.labs.wiring import whole
from explorer.widgets import figure, remake, reread, sketch
from explorer.widgets.attention import attention
from explorer.widgets.card import card
from explorer.widgets.digits import digits
from explorer.widgets.newest import Newest
from explorer.widgets.notes import notes
from explorer.widgets.patterns import patterns
from explorer.widgets.reading import reading
from models.errors import InputError
from models.sparse_transformer.records import EXAMPLES, SIDE, Comparison, Explanation, Request, Step

GENERATE = "models.sparse_transformer.explain:generate"
COMPARE = "models.sparse_transformer.explain:compare"
WIDGETS = ("sketch", "digits", "reading", "attention", "remake", "reread")

logger = logging.getLogger(__name__)

Text = Mapping[str, str]
Value = dict[str, object]
Update = tuple[Any, ...]  # what each of WIDGETS draws next


@dataclass(frozen=True)
class Boards:
    """How the runs of one task are drawn.

    growing, draw: what the widgets draw of one under way and of a finished one, by name. knobs: the widget of what may be changed;
    compared: what it draws of a comparison; running, refused: while it waits, and where nothing comes of it.
    """

    growing: Callable[[Request, Sequence[Step]], dict[str, Value]]
    draw: Callable[[Explanation, Request, Run], dict[str, Value]]
    knobs: str
    compared: Callable[[Request, Comparison], Value]
    running: Callable[[Value | None], Value]
    refused: Callable[[Text | None], Value]


DIGITS = Boards(views.growing, views.draw, "remake", views.compared, remake.running, remake.refused)
TEXTS = Boards(writing.growing, writing.draw, "reread", writing.compared, reread.running, reread.refused)


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    kept = views.first()
    drawn: dict[str, Value] = {"sketch": sketch.empty(), "remake": remake.idle(), "reread": reread.idle()}
    if kept is not None:
        drawn = views.draw(kept.seen, kept.request, Run("stored", kept.milliseconds, kept.device))
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
    pictures, kinds = views.held_out()
    bar = sketch.sketch(
        drawn["sketch"],
        texts=texts.SKETCH,
        tasks=about.tasks(),
        pictures=pictures,
        names=[texts.DIGITS[int(kind)] for kind in kinds],
        limits=views.LIMITS,
        examples=views.examples(),
        neutral=views.neutral(),
    )
    with gr.Column(elem_classes=["tfe-bench"]):
        patterns(trained={"side": SIDE, **about.trained()})
    with gr.Row(elem_classes=["tfe-bench", "tfe-of-digit"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            boards = digits(drawn.get("digits"))
            notes(texts.NOTES, label=texts.NOTES_LABEL)
        with gr.Column(elem_classes=["tfe-bench-side"]):
            variants = tuple(about.facts())
            knobs = remake.remake(
                drawn["remake"],
                knobs=change.knobs(variants),
                patterns={variant: texts.MODELS[variant] for variant in variants},
                heads={variant: size for variant, size in about.heads().items() if variant in variants},
                number_label=texts.NUMBER,
                number_key="nats",
                view="model",
                raster=True,
            )
            figure.figure(about.standing())
    with gr.Row(elem_classes=["tfe-bench", "tfe-of-text"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            passage = reading(empty=texts.NO_READING)
            notes(texts.TEXT_NOTES, label=texts.NOTES_LABEL)
        with gr.Column(elem_classes=["tfe-bench-side"]):
            text_knobs = reread.reread(drawn["reread"], knobs=writing.knobs())
    heads = attention(drawn.get("attention"), empty=texts.NO_ATTENTION)
    for measured in (about.speed(), about.on_text()):
        if measured is not None:
            with gr.Column(elem_classes=["tfe-bench"]):
                figure.figure(measured)

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: linked(detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session)

    outputs = [bar, boards, passage, heads, knobs, text_knobs]
    bar.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    for panel in (knobs, text_knobs):
        panel.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    about_it.unfold(about.curves, None, curve, **wiring.HOW)


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


def asked(detail: object) -> tuple[Request, Text | None]:
    """The request that the browser sends as JSON. Ranges are the model's affair; InputError for what has not even the right form."""
    try:
        given = detail["request"] if isinstance(detail, Mapping) and "request" in detail else detail
        if not isinstance(given, Mapping):
            raise TypeError("an object is meant")
        return Request(**{field.name: READ.get(field.name, whole)(given[field.name]) for field in fields(Request)}), None
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("malformed", en=texts.MALFORMED["en"], zh=texts.MALFORMED["zh"]) from None


def _words(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _heads(value: Any) -> tuple[tuple[str, int, int], ...]:
    return tuple((_words(variant), whole(layer), whole(head)) for variant, layer, head in value)


READ: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("task", "drawing", "text", "pattern"), _words),
    "temperature": _number,
    "silenced": _heads,
}


def linked(detail: object) -> tuple[Request, Text | None]:
    """The request of a permalink {query}, and a notice where the link says more than this page knows; no query is the first example."""
    address = detail.get("query", "") if isinstance(detail, Mapping) else ""
    return permalink.decode(Request, str(address)) if address else (EXAMPLES[0], None)


# ---- what comes back ---------------------------------------------------------------------------------------------------------------


def update(drawn: Mapping[str, Value]) -> Update:
    """What each of WIDGETS draws next; those that nothing is said of stay as they are."""
    return tuple(drawn.get(name, gr.skip()) for name in WIDGETS)


async def answers(
    engine: Engine, wish: Callable[[], tuple[Request, Text | None]], session: str = "", *, anew: bool = False
) -> AsyncGenerator[Update, None]:
    """Everything the page draws until a wish is fulfilled: digits or texts as they grow, what the heads looked at, what a change does.

    wish: reads the request, with a notice for the visitor. anew: run the first example too, instead of showing what is stored of it.
    """
    try:
        request, notice = wish()
        views.there(request)
        kept = views.first()
        plain = change.plain(request)
        boards = TEXTS if request.task == "text" else DIGITS
        if kept is not None and plain == kept.request and not anew:
            seen, how = kept.seen, Run("stored", kept.milliseconds, kept.device, notice)
        else:
            steps: list[Step] = []
            async with contextlib.aclosing(engine.stream(GENERATE, plain, session)) as updates:
                async for news in updates:
                    if isinstance(news, Answer):
                        seen, how = news.value, Run.of(news, notice)
                    elif isinstance(news, list):
                        steps += news
                        yield update(boards.growing(request, steps))
                    else:
                        yield update({"sketch": waiting(news)})
        drawn = await asyncio.to_thread(boards.draw, seen, request, how)
    except InputError as error:
        yield update(refused(error.text))
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield update(refused(labels.DEFECT))
        return
    comparing = plain != request
    yield update({**drawn, boards.knobs: boards.running(views.spelled(request))} if comparing else drawn)
    if not comparing:
        return
    try:
        async with contextlib.aclosing(engine.watch(COMPARE, request, session)) as watched:
            async for step in watched:
                if isinstance(step, Answer):
                    yield update({boards.knobs: await asyncio.to_thread(boards.compared, request, step.value)})
                else:
                    yield update({boards.knobs: boards.running(None)})
    except InputError as error:
        yield update({boards.knobs: boards.refused(error.text)})


def refused(error: Text) -> dict[str, Value]:
    """What the input bar and the panels of knobs draw of a wish of which nothing comes."""
    return {"sketch": sketch.refused(error), **{one.knobs: one.refused(None) for one in (DIGITS, TEXTS)}}


def waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return sketch.waiting(where.place, where.of, where.seconds) if where.place else sketch.reading()


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished."""
    drawn: dict[str, Any] = {}
    async with contextlib.aclosing(answers(engine, lambda: linked({"query": query}))) as updates:
        async for each in updates:
            drawn |= {name: value for name, value in zip(WIDGETS, each, strict=True) if value != gr.skip()}
    if "refused" in {drawn[name]["state"] for name in ("sketch", DIGITS.knobs, TEXTS.knobs)}:
        return None
    return as_stored(drawn)


async def probe(engine: Engine) -> None:
    """One digit and, where models of texts are there, one letter to read, which loads the models."""
    await engine.ask(GENERATE, Request(keep=SIDE))
    if "text" in about.tasks():
        await engine.ask(GENERATE, Request("text", text="a", length=0))


LAB = Lab(
    slug="sparse_transformer",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2019,
    paper="Generating Long Sequences with Sparse Transformers",
    authors="Child et al.",
    arxiv="1904.10509",
    licence="Apache-2.0; MIT: the copy of MNIST that the models learned from; the books are in the public domain",
    equation=texts.EQUATION,
    ancestors=("translation", "image_transformer"),
    changed="cost",
    page=page,
    examples=tuple(views.query(example) for example in EXAMPLES),
    steps=readable("sparse_transformer", views.steps),
    words=("patterns", "digits", "reading", "attention", "standing", "change"),
    interventions={
        "pattern": permalink.changed(EXAMPLES[0], pattern="full"),
        "stride": permalink.changed(EXAMPLES[0], stride=7),
        "summary": permalink.changed(EXAMPLES[0], summary=1),
        "silence": permalink.changed(EXAMPLES[0], silenced=(("strided", 1, 2),)),
    },
    exports={
        "patterns": FIGURE,
        "digits": FIGURE,
        "reading": FIGURE,
        "attention": FIGURE,
        "remake": ("PNG", "NPZ", "TXT"),
        "reread": (*FIGURE, "TXT"),
    },
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
