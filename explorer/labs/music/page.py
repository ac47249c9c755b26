"""The music page: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

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
from explorer.lab import FIGURE, Lab, readable
from explorer.labels import filled
from explorer.labs import wiring
from explorer.labs.music import about, change, deeper, texts, views
from explorer.labs.runs import Run, as_stored
from explorer.labs.wiring import whole
from explorer.widgets import figure, remix, tune
from explorer.widgets.card import card
from explorer.widgets.newest import Newest
from explorer.widgets.notes import notes
from explorer.widgets.roll import roll, rollside
from models.errors import InputError
from models.music.records import EXAMPLES, PIANO, STYLES, Explanation, Request, Step, melody, styles

GENERATE = "models.music.explain:generate"
COMPARE = "models.music.explain:compare"

logger = logging.getLogger(__name__)

Text = Mapping[str, str]
Value = dict[str, object]
Update = tuple[Any, Any, Any]  # what the input bar, the rolls and the panel of knobs draw next


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    kept = views.first()
    drawn: tuple[Value, Value | None, Value] = (tune.empty(), None, remix.idle())
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
    bar = tune.tune(drawn[0], texts=texts.TUNE, examples=views.examples(), styles=views.offered(), limits=views.LIMITS)
    with gr.Row(elem_classes=["tfe-bench", "tfe-bench-music"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            mechanism = roll(drawn[1])
            for standing in about.standings():
                figure.figure(standing)
            notes(texts.NOTES, label=texts.NOTES_LABEL)
        with gr.Column(elem_classes=["tfe-bench-side"]):
            rollside()
            knobs = remix.remix(drawn[2], names=texts.NAMES, heads=views.heads(), distances=views.distances(), limits=views.KNOBS)
    for place in deeper.PANELS:
        place(engine)

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: linked(detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session)

    outputs = [bar, mechanism, knobs]
    bar.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    knobs.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
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
                heads = tuple((variant, whole(layer), whole(head)) for variant, layer, head in value)
                if not all(isinstance(variant, str) for variant, _, _ in heads):
                    raise TypeError("names of models are meant")
                values[field.name] = heads
            elif field.name in {"temperature", "stretch"}:
                if not isinstance(value, int | float) or isinstance(value, bool):
                    raise TypeError("a number is meant")
                values[field.name] = float(value)
            elif field.name in {"style", "mode", "motif"}:
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


def there(request: Request) -> None:
    """InputError where no model of the request's style is shipped; what is no style at all, the model refuses."""
    known = styles()
    if request.style in known or request.style not in STYLES:
        return
    listed = {language: ", ".join(texts.STYLES[style][language] for style in known) or "–" for language in ("en", "zh")}
    said = filled(texts.NOT_THERE, style=texts.STYLES[request.style], styles=listed)
    raise InputError("style", en=said["en"], zh=said["zh"])


# ---- what comes back ---------------------------------------------------------------------------------------------------------------


async def answers(
    engine: Engine, wish: Callable[[], tuple[Request, Text | None]], session: str = "", *, anew: bool = False
) -> AsyncGenerator[Update, None]:
    """Everything the page draws until a wish is fulfilled: notes as they come, all rolls, then what an intervention changes.

    wish: reads the request, with a notice for the visitor. anew: run the first example too, instead of showing what is stored of it.
    """
    skip = gr.skip()
    try:
        request, notice = wish()
        plain = change.plain(request)
        kept = views.first()
        if kept is not None and plain == kept.request and not anew:
            seen, run = kept.seen, Run("stored", kept.milliseconds, kept.device)
        else:
            there(request)
            async with contextlib.aclosing(made(engine, plain, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen, run = update.value, Run.of(update)
                    else:
                        yield *update, skip
        how: dict[str, Any] = {"state": run.state, "milliseconds": run.milliseconds, "device": run.device, "notice": notice}
        bar, mechanism, panel = await asyncio.to_thread(views.finished, seen, request, **how)
    except InputError as error:
        yield tune.refused(error.text), skip, remix.refused(None)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield tune.refused(labels.DEFECT), skip, remix.refused(None)
        return
    comparing = any(made.variant in change.touched(request) for made in seen.made)
    yield bar, mechanism, remix.running() if comparing else panel
    if not comparing:
        return
    try:
        async with contextlib.aclosing(engine.watch(COMPARE, request, session)) as watched:
            async for step in watched:
                drawn = await asyncio.to_thread(views.changed, step.value, request) if isinstance(step, Answer) else remix.running()
                yield skip, skip, drawn
    except InputError as error:
        yield skip, skip, remix.refused(error.text)


async def made(engine: Engine, request: Request, session: str) -> AsyncGenerator[tuple[Any, Any] | Answer[Explanation], None]:
    """What the input bar and the rolls draw while music grows, and the answer last."""
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


def waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return tune.waiting(where.place, where.of, where.seconds) if where.place else tune.reading()


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished."""
    drawn: dict[str, Any] = {}
    async with contextlib.aclosing(answers(engine, lambda: linked({"query": query}))) as updates:
        async for update in updates:
            drawn |= {name: value for name, value in zip(("tune", "roll", "remix"), update, strict=True) if value != gr.skip()}
    if drawn["tune"]["state"] == "refused" or drawn["remix"]["state"] == "refused":
        return None
    return as_stored(drawn)


async def probe(engine: Engine) -> None:
    """A few notes of each style, which loads the models."""
    short = {"chorale": Request(motif=melody((72,))), "piano": Request("piano", "continue", length=4)}
    for style in styles():
        await engine.ask(GENERATE, short[style])


LAB = Lab(
    slug="music",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2018,
    paper="Music Transformer: Generating Music with Long-Term Structure",
    authors="Huang et al.",
    arxiv="1809.04281",
    licence="Apache-2.0 for the chorale models: Bach's music is in the public domain, its encoding names no licence. The piano models "
    "learned from ASAP (Foscarin et al., 2020): CC BY-NC-SA 4.0, not for commercial use",
    equation=texts.EQUATION,
    ancestors=("translation",),
    changed="input",
    page=page,
    examples=tuple(views.query(example) for example in EXAMPLES),
    steps=readable("music", views.steps),
    words=("roll", "change"),
    interventions={
        "silence": permalink.changed(EXAMPLES[0], silenced=(("jsb_relative", 1, 1),)),
        "relative": permalink.changed(EXAMPLES[0], farthest=0),
        "distance": permalink.changed(EXAMPLES[0], farthest=16),
        "transpose": permalink.changed(EXAMPLES[0], semitones=5),
        "stretch": permalink.changed(PIANO[0], stretch=2.0),
    },
    exports={
        "roll": ("MIDI", "WAV", *FIGURE, "events"),
        "skew": FIGURE,
        "meter": ("PNG", "SVG", "HTML", "CSV"),
        "lengths": FIGURE,
        "remix": ("PNG", "CSV", "NPZ", "TXT"),
    },
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
