"""The page of the Universal Transformer: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import gradio as gr

from explorer import permalink
from explorer.engine import Answer, Engine
from explorer.lab import FIGURE, Lab, readable
from explorer.labs import pondering, wiring
from explorer.labs.runs import Run
from explorer.labs.universal_transformer import about, texts, views
from explorer.widgets import asker, bertviz, figure, rethink
from explorer.widgets.attention import attention
from explorer.widgets.card import card
from explorer.widgets.difficulty import difficulty
from explorer.widgets.newest import Newest
from explorer.widgets.notes import notes
from explorer.widgets.ponder import ponder
from models.errors import InputError
from models.universal_transformer.records import EXAMPLES, Explanation, Request

EXPLAIN = "models.universal_transformer.explain:explain"
COMPARE = "models.universal_transformer.explain:compare"

Text = Mapping[str, str]
Value = dict[str, object]
Update = tuple[Any, ...]  # what the input bar, the steps, the attention, the difficulty and the panel of knobs draw next


def subject() -> pondering.Subject[Request, Explanation]:
    """This lab's side of what its page does."""
    return pondering.Subject(
        explain=EXPLAIN,
        compare=COMPARE,
        kind=Request,
        start=EXAMPLES[0],
        first=views.first,
        draw=views.draw,
        words=views.WORDS,
        widgets=("asker", "ponder", "attention", "difficulty", "rethink"),
    )


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    ours = subject()
    kept = views.first()
    drawn: tuple[Value, Value | None, Value | None, Value | None] = (asker.empty(), None, None, None)
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
    bar = asker.asker(
        drawn[0],
        texts=texts.BAR,
        tasks=views.tasks(),
        examples=views.examples(),
        neutral=pondering.neutral(Request),
        vocabulary=views.vocabulary(),
    )
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            mechanism = ponder(drawn[1], texts=texts.PONDER)
        with gr.Column(elem_classes=["tfe-bench-side"]):
            start = pondering.spelled(EXAMPLES[0]) if kept is not None else None
            knobs = rethink.rethink(rethink.idle(start), limits=views.LIMITS, texts=texts.RETHINK)
            harder = difficulty(drawn[3] or None)
    heads = attention(drawn[2], empty=texts.NO_ATTENTION)
    with gr.Column(elem_classes=["tfe-bench"]):
        figure.figure(about.longer())
    others = bertviz.bertviz(bertviz.ready(("head", "model")))
    notes(texts.NOTES, label=texts.NOTES_LABEL)

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return pondering.answers(engine, ours, lambda: pondering.asked(Request, detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return pondering.answers(engine, ours, lambda: pondering.linked(ours, detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return pondering.answers(engine, ours, lambda: pondering.asked(Request, detail), session)

    async def show(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(bertviz_of(engine, bertviz.Look.of(wiring.detail(event)), wiring.session(caller))) as updates:
            async for update in updates:
                yield update

    outputs = [bar, mechanism, heads, harder, knobs]
    bar.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    knobs.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    others.show(show, None, others, **wiring.HOW)
    about_it.unfold(about.curves, None, curve, **wiring.HOW)


async def bertviz_of(engine: Engine, look: bertviz.Look, session: str) -> AsyncGenerator[Any, None]:
    """bertviz's own view of the run that the address names."""
    try:
        request, _ = pondering.linked(subject(), {"query": look.run})
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
        yield await asyncio.to_thread(bertviz.shown, look, [views.bertviz(seen)])
    except InputError as error:
        yield bertviz.refused(look, error.text, ("head", "model"))


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished."""
    return await pondering.stored(engine, subject(), query)


async def probe(engine: Engine) -> None:
    """One word, which loads a network."""
    await engine.ask(EXPLAIN, Request("copy", "a", ""))


LAB = Lab(
    slug="universal_transformer",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2019,
    paper="Universal Transformers",
    authors="Dehghani et al.",
    arxiv="1807.03819",
    licence="Apache-2.0: the stories, words and sums are made by this project's own seeded code, and so are the weights",
    equation=texts.EQUATION,
    ancestors=("translation", "act_rnn"),
    changed="depth",
    page=page,
    examples=tuple(pondering.query(example) for example in EXAMPLES),
    steps=readable("universal_transformer", views.steps),
    words=("ponder", "attention", "difficulty", "lengths", "change"),
    interventions={
        "forced": permalink.changed(EXAMPLES[0], forced=1),
        "epsilon": permalink.changed(EXAMPLES[0], epsilon=0.9),
        "limit": permalink.changed(EXAMPLES[0], limit=1),
        "bias": permalink.changed(EXAMPLES[0], bias=5.0),
        "told": permalink.changed(EXAMPLES[0], told=False),
    },
    exports={"ponder": FIGURE, "attention": FIGURE, "difficulty": FIGURE, "rethink": ("TXT", "CSV")},
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
