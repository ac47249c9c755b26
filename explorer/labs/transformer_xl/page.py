"""The page of Transformer-XL: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import gradio as gr

from explorer import permalink
from explorer.engine import Answer, Engine
from explorer.lab import FIGURE, Lab, readable
from explorer.labs import longtext, wiring
from explorer.labs.runs import Run
from explorer.labs.transformer_xl import about, deeper, texts, views
from explorer.widgets import bertviz, figure, reread, writer
from explorer.widgets.attention import attention
from explorer.widgets.card import card
from explorer.widgets.newest import Newest
from explorer.widgets.notes import notes
from explorer.widgets.reading import reading, readside
from explorer.widgets.segments import segments
from models.errors import InputError
from models.transformer_xl.records import EXAMPLES, Explanation, Request

GENERATE = "models.transformer_xl.explain:generate"
REREAD = "models.transformer_xl.explain:reread"

Text = Mapping[str, str]
Value = dict[str, object]
Update = tuple[Any, ...]  # what the input bar, the text, the segments, the attention and the panel of knobs draw next


def subject() -> longtext.Subject[Request, Explanation]:
    """This lab's side of what its page does."""
    return longtext.Subject(
        generate=GENERATE,
        reread=REREAD,
        kind=Request,
        start=EXAMPLES[0],
        first=views.first,
        plain=views.plain,
        again=views.again,
        growing=views.growing,
        draw=views.draw,
        change=views.compared,
        spelled=views.spelled,
        asked=views.asked,
        there=lambda request: None,
        widgets=("writer", "reading", "segments", "attention", "reread"),
    )


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    ours = subject()
    kept = views.first()
    drawn: tuple[Value, Value | None, Value | None, Value | None] = (writer.empty(), None, None, None)
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
    bar = writer.writer(drawn[0], texts=texts.WRITER, limits=views.LIMITS, pages=views.pages(), examples=views.examples())
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            border = segments(drawn[2])
            text = reading(drawn[1])
        with gr.Column(elem_classes=["tfe-bench-side"]):
            knobs = reread.reread(
                reread.idle(views.spelled(EXAMPLES[0]) if kept is not None else None),
                knobs=views.knobs(),
            )
            readside()
    heads = attention(drawn[3], empty=texts.NO_ATTENTION)
    for place in deeper.PANELS:
        place(engine)
    speed = about.speed()
    if speed is not None:
        with gr.Column(elem_classes=["tfe-bench"]):
            figure.figure(speed)
    others = bertviz.bertviz(bertviz.ready(("head", "model")))
    notes(texts.NOTES, label=texts.NOTES_LABEL)

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return longtext.answers(engine, ours, lambda: longtext.asked(ours, detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return longtext.answers(engine, ours, lambda: longtext.linked(ours, detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return longtext.answers(engine, ours, lambda: longtext.asked(ours, detail), session)

    async def show(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(bertviz_of(engine, bertviz.Look.of(wiring.detail(event)), wiring.session(caller))) as updates:
            async for update in updates:
                yield update

    outputs = [bar, text, border, heads, knobs]
    bar.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    knobs.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    others.show(show, None, others, **wiring.HOW)
    about_it.unfold(about.curves, None, curve, **wiring.HOW)


async def bertviz_of(engine: Engine, look: bertviz.Look, session: str) -> AsyncGenerator[Any, None]:
    """bertviz's own view of the run that the address names."""
    try:
        request, _ = longtext.linked(subject(), {"query": look.run})
        kept = views.first()
        seen = kept.seen if kept is not None and request == kept.request else None
        if seen is None:
            # A handler that yields nothing is never told that its page was closed.
            async with contextlib.aclosing(engine.watch(GENERATE, request, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen = update.value
                    else:
                        yield gr.skip()
        assert seen is not None
        yield await asyncio.to_thread(bertviz.shown, look, [views.bertviz(seen)])
    except InputError as error:
        yield bertviz.refused(look, error.text, ("head", "model"))


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished."""
    return await longtext.stored(engine, subject(), query)


async def probe(engine: Engine) -> None:
    """A few characters, which loads the models."""
    await engine.ask(GENERATE, Request(text="It was late.", length=2))


LAB = Lab(
    slug="transformer_xl",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2019,
    paper="Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context",
    authors="Dai et al.",
    arxiv="1901.02860",
    licence="Apache-2.0: the books that the models learned from are in the public domain",
    equation=texts.EQUATION,
    ancestors=("translation", "music"),
    changed="memory",
    page=page,
    examples=tuple(longtext.query(example) for example in EXAMPLES),
    steps=readable("transformer_xl", views.steps),
    words=("reading", "segments", "attention", "terms", "bought", "change"),
    interventions={
        "memory": permalink.changed(EXAMPLES[0], memory=0),
        "cut": permalink.changed(EXAMPLES[0], intervention="cut"),
        "shuffled": permalink.changed(EXAMPLES[0], intervention="shuffled"),
        "foreign": permalink.changed(EXAMPLES[0], intervention="foreign"),
        "segment": permalink.changed(EXAMPLES[0], segment=64),
    },
    exports={"segments": FIGURE, "reading": FIGURE, "attention": FIGURE, "terms": FIGURE, "bought": FIGURE, "reread": (*FIGURE, "TXT")},
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
