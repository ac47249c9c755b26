"""The page of adaptive computation time: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

from dataclasses import replace

from explorer import permalink
from explorer.controls import query
from explorer.engine import Engine
from explorer.lab import FIGURE, Lab, Text, readable
from explorer.labs import adaptive_depth
from explorer.labs.act_rnn import about, texts, views
from explorer.program import About, Change, Program
from explorer.views import View
from explorer.widgets.change import Difference
from explorer.widgets.difficulty import difficulty
from explorer.widgets.notes import notes
from explorer.widgets.stage import stage
from models.act_rnn.records import EXAMPLES, Explanation, Measured, Request


def changed(seen: tuple[Explanation, Explanation], measured: tuple[Measured, Measured], request: Request, what: Text) -> Difference:
    """What a change does to the answer, and on held-out inputs."""
    return adaptive_depth.difference(seen, measured, request, views.WORDS, what)


PROGRAM: Program[Request, Explanation] = Program(
    explain="models.act_rnn.explain:explain",
    kind=Request,
    controls=views.CONTROLS,
    views=(
        View("ponder", lambda value: stage("ponder", value, texts=texts.PONDER), views.mechanism),
        View("notes", lambda _value: notes(texts.NOTES, label=texts.NOTES_LABEL)),
        View(
            "difficulty",
            lambda value: difficulty(value or about.difficulty(EXAMPLES[0].task)),
            lambda seen, request, _state: about.difficulty(request.task, (seen.difficulty, seen.ponder)),
            at="side",
        ),
    ),
    change=Change(changed, "models.act_rnn.explain:measure", lambda request, _before: replace(request, text="")),
    examples=tuple(zip(EXAMPLES, texts.EXAMPLES, strict=True)),
    first=views.first,
    answer=views.answer,
    about=About(texts.KICKER, texts.SPOKEN, about.pairs, about.prose, about.curves),
    region=texts.REGION,
)


async def probe(engine: Engine) -> None:
    """One input of each task, which loads the models."""
    for task, text in (("parity", "1"), ("addition", "1+1")):
        await engine.ask(PROGRAM.explain, Request(task, text))


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
    page=PROGRAM.place,
    examples=tuple(query(example) for example in EXAMPLES),
    steps=readable("act_rnn", views.steps),
    words=("ponder", "difficulty", "change"),
    interventions={
        "forced": permalink.changed(EXAMPLES[0], forced=1),
        "epsilon": permalink.changed(EXAMPLES[0], epsilon=0.9),
        "limit": permalink.changed(EXAMPLES[0], limit=1),
        "bias": permalink.changed(EXAMPLES[0], bias=5.0),
        "told": permalink.changed(EXAMPLES[0], told=False),
    },
    exports={"ponder": FIGURE, "difficulty": FIGURE, "change": ("TXT", "CSV")},
    thumbnail=views.thumbnail,
    probe=probe,
    stored=PROGRAM.stored,
)
