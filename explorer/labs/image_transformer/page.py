"""The image page: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import fields
from typing import Any

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine, Waiting
from explorer.figures import image
from explorer.lab import Lab, readable
from explorer.labs import wiring
from explorer.labs.image_transformer import about, texts, views
from explorer.labs.runs import Run, as_stored
from explorer.labs.wiring import whole
from explorer.widgets import figure, maker, remake
from explorer.widgets.card import card
from explorer.widgets.newest import Newest
from explorer.widgets.notes import notes
from explorer.widgets.spans import looked, spans
from explorer.widgets.surprise import surprise
from models.errors import InputError
from models.image_transformer.records import EXAMPLES, Explanation, Request, Step

GENERATE = "models.image_transformer.explain:generate"
COMPARE = "models.image_transformer.explain:compare"

logger = logging.getLogger(__name__)

Text = Mapping[str, str]
Value = dict[str, object]
Update = tuple[Any, Any, Any, Any]  # what the input bar, the mechanism, the surprise and the panel of knobs draw next


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    kept = views.first()
    drawn: tuple[Value, Value | None, Value | None, Value] = (maker.empty(), None, None, remake.idle())
    if kept is not None:
        drawn = views.finished(kept.seen, kept.request, state="stored", milliseconds=kept.milliseconds, device=kept.device)
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
    bar = maker.maker(
        drawn[0], texts=texts.MAKER, kinds=texts.KINDS, examples=views.examples(), pictures=views.held_out(), limits=views.LIMITS
    )
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            mechanism = spans(drawn[1])
            companion = looked()
            notes(texts.NOTES, label=texts.NOTES_LABEL)
        with gr.Column(elem_classes=["tfe-bench-side"]):
            surprised = surprise(drawn[2])
            knobs = remake.remake(drawn[3], knobs=views.KNOBS, patterns=texts.PATTERNS, heads=views.HEADS, number_label=texts.NUMBER)
            figure.figure(about.ladder("grey"))
            figure.figure(about.ladder("colour"))

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: linked(detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session)

    async def look(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(looks(engine, wiring.detail(event), wiring.session(caller))) as updates:
            async for update in updates:
                yield update

    outputs = [bar, mechanism, surprised, knobs]
    bar.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    knobs.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    mechanism.look(look, None, companion, **wiring.HOW)
    about_it.unfold(about.curves, None, curve, **wiring.HOW)


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


def asked(detail: object) -> tuple[Request, Text | None]:
    """The request that the browser sends as JSON. Ranges are the model's affair; InputError for what has not even the right form."""
    try:
        given = detail["request"] if isinstance(detail, Mapping) and "request" in detail else detail
        if not isinstance(given, Mapping):
            raise TypeError("an object is meant")
        values: dict[str, Any] = {}
        for field in fields(Request):
            value = given[field.name]
            if field.name == "silenced":
                heads = tuple((pattern, whole(layer), whole(head)) for pattern, layer, head in value)
                if not all(isinstance(pattern, str) for pattern, _, _ in heads):
                    raise TypeError("names of patterns are meant")
                values[field.name] = heads
            elif field.name == "temperature":
                if not isinstance(value, int | float) or isinstance(value, bool):
                    raise TypeError("a number is meant")
                values[field.name] = float(value)
            elif field.name in {"mode", "picture"}:
                if not isinstance(value, str):
                    raise TypeError("a text is meant")
                values[field.name] = value
            else:
                values[field.name] = whole(value)
        return Request(**values), None
    except (KeyError, TypeError, ValueError):
        raise InputError("malformed", en=texts.MALFORMED["en"], zh=texts.MALFORMED["zh"]) from None


def linked(detail: object) -> tuple[Request, Text | None]:
    """The request of a permalink {query}, and a notice where the link says more than this page knows; no query is the first example."""
    address = detail.get("query", "") if isinstance(detail, Mapping) else ""
    return permalink.decode(Request, str(address)) if address else (EXAMPLES[0], None)


# ---- what comes back ---------------------------------------------------------------------------------------------------------------


async def answers(
    engine: Engine, wish: Callable[[], tuple[Request, Text | None]], session: str = "", *, anew: bool = False
) -> AsyncGenerator[Update, None]:
    """Everything the page draws until a wish is fulfilled: pixels as they come, the surprise, then what an intervention changes.

    wish: reads the request, with a notice for the visitor. anew: run the first example too, instead of showing what is stored of it.
    """
    skip = gr.skip()
    try:
        request, notice = wish()
        plain = views.plain(request)
        kept = views.first()
        if kept is not None and plain == kept.request and not anew:
            seen, run = kept.seen, Run("stored", kept.milliseconds, kept.device)
        else:
            async with contextlib.aclosing(made(engine, plain, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen, run = update.value, Run.of(update)
                    else:
                        yield *update, skip, skip
        how: dict[str, Any] = {"state": run.state, "milliseconds": run.milliseconds, "device": run.device, "notice": notice}
        bar, mechanism, surprised, panel = await asyncio.to_thread(views.finished, seen, request, **how)
    except InputError as error:
        yield maker.refused(error.text), skip, skip, remake.refused(None)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield maker.refused(labels.DEFECT), skip, skip, remake.refused(None)
        return
    comparing = bool(views.touched(request))
    yield bar, mechanism, surprised, remake.running(views.spelled(request)) if comparing else panel
    if not comparing:
        return
    try:
        async with contextlib.aclosing(engine.watch(COMPARE, request, session)) as watched:
            async for step in watched:
                changed = await asyncio.to_thread(views.change, step.value, request) if isinstance(step, Answer) else remake.running()
                yield skip, skip, skip, changed
    except InputError as error:
        yield skip, skip, skip, remake.refused(error.text)


async def made(engine: Engine, request: Request, session: str) -> AsyncGenerator[tuple[Any, Any] | Answer[Explanation], None]:
    """What the input bar and the mechanism draw while pictures grow, and the answer last."""
    steps: list[Step] = []
    async with contextlib.aclosing(engine.stream(GENERATE, request, session)) as updates:
        async for news in updates:
            if isinstance(news, Answer):
                yield news
            elif isinstance(news, list):
                steps += news
                yield views.growing(request, steps)
            else:
                yield waiting(news), gr.skip()


async def looks(engine: Engine, detail: object, session: str) -> AsyncGenerator[Any, None]:
    """The weights of one layer that the mechanism asks for: of the run that {query} names, {pattern} and {layer} from 0."""
    wish: Mapping[str, Any] = detail if isinstance(detail, Mapping) else {}
    address, pattern, layer = str(wish.get("query", "")), str(wish.get("pattern", "")), wish.get("layer")
    try:
        request, _ = linked(wish)
        plain = views.plain(request)
        kept = views.first()
        seen = kept.seen if kept is not None and plain == kept.request else None
        if seen is None:
            # A handler that yields nothing is never told that its page was closed.
            async with contextlib.aclosing(engine.stream(GENERATE, plain, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen = update.value
                    else:
                        yield gr.skip()
        assert seen is not None
        yield await asyncio.to_thread(views.look, seen, address, pattern, whole(layer))
    except InputError as error:
        yield image.unseen(address, pattern, layer if isinstance(layer, int) else 0, error.text)
    except (KeyError, TypeError):
        yield image.unseen(address, pattern, layer if isinstance(layer, int) else 0, texts.MALFORMED)


def waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return maker.waiting(where.place, where.of, where.seconds) if where.place else maker.reading()


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished."""
    drawn: dict[str, Any] = {}
    async with contextlib.aclosing(answers(engine, lambda: linked({"query": query}))) as updates:
        async for update in updates:
            names = ("maker", "spans", "surprise", "remake")
            drawn |= {name: value for name, value in zip(names, update, strict=True) if value != gr.skip()}
    if drawn["maker"]["state"] == "refused" or drawn["remake"]["state"] == "refused":
        return None
    return as_stored(drawn)


async def probe(engine: Engine) -> None:
    """One picture, which loads the models."""
    await engine.ask(GENERATE, Request(seed=1))


LAB = Lab(
    slug="image_transformer",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2018,
    paper="Image Transformer",
    authors="Parmar et al.",
    arxiv="1802.05751",
    licence="MIT for the grey models: Fashion-MNIST (Xiao et al., 2017) and their weights. CIFAR-10, which the coloured one learned from, "
    "names no licence: research and teaching only",
    equation=texts.EQUATION,
    ancestors=("translation",),
    changed="input",
    page=page,
    examples=tuple(views.query(example) for example in EXAMPLES),
    steps=readable("image_transformer", views.steps),
    words=("spans", "surprise", "ladder", "change"),
    interventions={
        "silence": permalink.changed(EXAMPLES[0], silenced=(("local_1d", 0, 0),)),
        "memory": permalink.changed(EXAMPLES[0], memory_rows=1),
        "flange": permalink.changed(EXAMPLES[0], flange=1),
    },
    exports={"spans": ("PNG", "SVG", "HTML", "NPZ", "PNG 8×"), "surprise": ("PNG", "SVG", "CSV"), "remake": ("PNG", "NPZ", "TXT")},
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
