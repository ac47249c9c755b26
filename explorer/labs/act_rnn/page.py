"""The page of adaptive computation time: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import gradio as gr

from explorer import permalink
from explorer.engine import Engine
from explorer.lab import FIGURE, Lab, readable
from explorer.labs import pondering, wiring
from explorer.labs.act_rnn import about, texts, views
from explorer.labs.pondering import Value
from explorer.labs.runs import Run
from explorer.widgets import asker, figure, rethink
from explorer.widgets.card import card
from explorer.widgets.difficulty import difficulty
from explorer.widgets.newest import Newest
from explorer.widgets.notes import notes
from explorer.widgets.ponder import ponder
from models.act_rnn.records import EXAMPLES, Explanation, Request

SUBJECT: pondering.Subject[Request, Explanation] = pondering.Subject(
    explain="models.act_rnn.explain:explain",
    compare="models.act_rnn.explain:compare",
    kind=Request,
    start=EXAMPLES[0],
    first=views.first,
    draw=views.draw,
    words=views.WORDS,
    widgets=("asker", "ponder", "difficulty", "rethink"),
)


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    kept = views.first()
    drawn: tuple[Value, Value | None, Value | None] = (asker.empty(), None, about.difficulty(EXAMPLES[0].task))
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
    bar = asker.asker(drawn[0], texts=texts.ASKER, tasks=views.TASKS, examples=views.examples(), neutral=pondering.neutral(Request))
    with gr.Row(elem_classes=["tfe-bench"]):
        with gr.Column(elem_classes=["tfe-bench-wide"]):
            mechanism = ponder(drawn[1], texts=texts.PONDER)
            notes(texts.NOTES, label=texts.NOTES_LABEL)
        with gr.Column(elem_classes=["tfe-bench-side"]):
            knobs = rethink.rethink(rethink.idle(pondering.spelled(EXAMPLES[0])), limits=views.LIMITS, texts=texts.RETHINK)
            hardness = difficulty(drawn[2])

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[tuple[Any, ...], None]:
        return pondering.answers(engine, SUBJECT, lambda: pondering.asked(Request, detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[tuple[Any, ...], None]:
        return pondering.answers(engine, SUBJECT, lambda: pondering.linked(SUBJECT, detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[tuple[Any, ...], None]:
        return pondering.answers(engine, SUBJECT, lambda: pondering.asked(Request, detail), session)

    outputs = [bar, mechanism, hardness, knobs]
    bar.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    bar.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    knobs.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    bar.stop(wiring.halting(newest), None, None, **wiring.HOW)
    about_it.unfold(about.curves, None, curve, **wiring.HOW)


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished."""
    return await pondering.stored(engine, SUBJECT, query)


async def probe(engine: Engine) -> None:
    """One input of each task, which loads the models."""
    for task, text in (("parity", "1"), ("addition", "1+1")):
        await engine.ask(SUBJECT.explain, Request(task, text))


LAB = Lab(
    slug="act_rnn",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2016,
    paper="Adaptive Computation Time for Recurrent Neural Networks",
    authors="Graves",
    arxiv="1603.08983",
    licence=texts.LICENCE["en"],
    equation=texts.EQUATION,
    ancestors=(),
    changed="depth",
    page=page,
    examples=tuple(pondering.query(example) for example in EXAMPLES),
    steps=readable("act_rnn", views.steps),
    words=("ponder", "difficulty", "change"),
    interventions={
        "forced": permalink.changed(EXAMPLES[0], forced=1),
        "epsilon": permalink.changed(EXAMPLES[0], epsilon=0.9),
        "limit": permalink.changed(EXAMPLES[0], limit=1),
        "bias": permalink.changed(EXAMPLES[0], bias=5.0),
        "told": permalink.changed(EXAMPLES[0], told=False),
    },
    exports={"ponder": FIGURE, "difficulty": FIGURE, "rethink": ("TXT", "CSV")},
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
