"""The translation page: components and wiring. What the widgets draw is made in views.py, what they say in texts.py."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine, Waiting
from explorer.figures import bertviz as drawing
from explorer.lab import FIGURE, Lab, readable
from explorer.labs import wiring
from explorer.labs.runs import Run, as_stored
from explorer.labs.translation import about, deeper, texts, views
from explorer.labs.wiring import whole
from explorer.widgets import bertviz, figure, prompt, whatif
from explorer.widgets.attention import attention
from explorer.widgets.card import card
from explorer.widgets.newest import Newest
from models.errors import InputError
from models.translation.records import EXAMPLES, MAX_ALPHA, MAX_BEAM, MAX_CHARACTERS, MAX_TOKENS, Explanation, Request, Step

EXPLAIN = "models.translation.explain:explain"
GENERATE = "models.translation.explain:generate"
COMPARE = "models.translation.explain:compare"
VECTORS = "models.translation.vectors:vectors"

LIMITS = prompt.Limits(
    tokens=MAX_TOKENS, words=45, characters=MAX_CHARACTERS, beam=(1, MAX_BEAM), alpha=(0.0, MAX_ALPHA, 0.1)
)  # a word is about 1.3 pieces

logger = logging.getLogger(__name__)

Text = Mapping[str, str]
Value = dict[str, object]
Update = tuple[Any, Any, Any]  # what the prompt, the attention view and the panel below draw next


def page(lab: Lab, engine: Engine) -> None:
    """Place the components, draw the stored first example, and wire every visitor's wish to the engine."""
    stored = views.first()
    drawn: tuple[Value, Value | None, Value] = (prompt.empty(), None, whatif.idle(None, None))
    if stored is not None:
        result = views.result(stored.seen, stored.request, state="stored", milliseconds=stored.milliseconds, device=stored.device)
        drawn = result, views.maps(stored.seen, stored.request, "stored"), views.untouched(stored.seen, stored.request)
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
    box = prompt.prompt(
        drawn[0],
        texts=texts.PROMPT,
        limits=LIMITS,
        examples=[{**views.spelled(example), "query": views.query(example)} for example in EXAMPLES],
        output_language="de",
    )
    heads = attention(drawn[1])
    change = whatif.whatif(
        drawn[2],
        modes=views.MODES,
        parts=views.PARTS,
        number_label=texts.NUMBER,
        output_language="de",
    )

    for place in deeper.PANELS:
        place(engine)
    others = bertviz.bertviz(note=bertviz.ENCODER_DECODER)

    newest = Newest()

    def run(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session, anew=True)

    def reopen(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: linked(detail), session)

    def intervene(detail: Any, session: str) -> AsyncGenerator[Update, None]:
        return answers(engine, lambda: asked(detail), session)

    async def show(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(bertviz_of(engine, bertviz.Look.of(wiring.detail(event)), wiring.session(caller))) as updates:
            async for update in updates:
                yield update

    outputs = [box, heads, change]
    box.run(wiring.following(newest, run), None, outputs, **wiring.HOW)
    box.open(wiring.following(newest, reopen), None, outputs, **wiring.HOW)
    change.ask(wiring.following(newest, intervene), None, outputs, **wiring.HOW)
    box.stop(wiring.halting(newest), None, None, **wiring.HOW)
    others.show(show, None, others, **wiring.HOW)
    about_it.unfold(about.curve, None, curve, **wiring.HOW)


# ---- what a visitor wants ----------------------------------------------------------------------------------------------------------


def asked(detail: object) -> tuple[Request, Text | None]:
    """The request that the browser sends as JSON. Ranges are the model's affair; InputError for what has not even the right form."""
    try:
        if not isinstance(detail, Mapping):
            raise TypeError("an object is meant")
        sentence, beam, alpha = detail["sentence"], detail["beam"], detail["alpha"]
        silenced = tuple((kind, whole(layer), whole(head)) for kind, layer, head in detail["silenced"])
        without = tuple(detail.get("without", ()))
        if not all(isinstance(text, str) for text in (sentence, *(kind for kind, _, _ in silenced), *without)):
            raise TypeError("texts are meant")
        if not isinstance(alpha, int | float):
            raise TypeError("a number is meant")
        return Request(sentence, whole(beam), float(alpha), silenced, tuple(map(whole, detail["hidden"])), without), None
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
    """Everything the page draws until a wish is fulfilled: words as they come, then all heads, then what an intervention changes.

    wish: reads the request, with a notice for the visitor. anew: run the first example too, instead of showing what is stored of it.
    """
    try:
        request, notice = wish()
        plain = request.plain()
        start = views.first()
        if start is not None and plain == start.request and not anew:
            seen, how = start.seen, Run("stored", start.milliseconds, start.device)
        else:
            async with contextlib.aclosing(translated(engine, plain, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen, how = update.value, Run.of(update)
                    else:
                        yield update, gr.skip(), gr.skip()
        drawn = views.result(seen, request, state=how.state, milliseconds=how.milliseconds, device=how.device, notice=notice)
    except InputError as error:
        yield prompt.refused(error.text), gr.skip(), whatif.refused(None)
        return
    except Exception:
        logger.exception("a wish could not be fulfilled")
        yield prompt.refused(labels.DEFECT), gr.skip(), whatif.refused(None)
        return
    yield drawn, views.maps(seen, request, how.state), whatif.running() if request.changed else views.untouched(seen, request)
    if not request.changed:
        return
    try:
        async with contextlib.aclosing(engine.watch(COMPARE, request, session)) as comparing:
            async for step in comparing:
                yield gr.skip(), gr.skip(), views.change(step.value, request) if isinstance(step, Answer) else whatif.running()
    except InputError as error:
        yield gr.skip(), gr.skip(), whatif.refused(error.text)


async def translated(engine: Engine, request: Request, session: str) -> AsyncGenerator[Value | Answer[Explanation], None]:
    """What the prompt draws while a sentence is translated, and the answer last. Greedy words appear one by one."""
    if request.beam > 1:
        async with contextlib.aclosing(engine.watch(EXPLAIN, request, session)) as updates:
            async for update in updates:
                yield update if isinstance(update, Answer) else waiting(update)
        return
    pieces: list[Step] = []
    async with contextlib.aclosing(engine.stream(GENERATE, request, session)) as updates:
        async for news in updates:
            if isinstance(news, list):
                pieces += news
                yield prompt.running(views.spelled(request), "", [step.piece for step in pieces], [step.space for step in pieces])
            else:
                yield news if isinstance(news, Answer) else waiting(news)


async def bertviz_of(engine: Engine, look: bertviz.Look, session: str) -> AsyncGenerator[Any, None]:
    """bertviz's own view of the run that the address names."""
    try:
        request, _ = linked({"query": look.run})
        plain = request.plain()
        start = views.first()
        seen = start.seen if start is not None and plain == start.request else None
        vectors = None
        # A handler that yields nothing is never told that its page was closed.
        if look.view == "neuron":  # the run comes again with its queries and keys, which nobody keeps
            async with contextlib.aclosing(engine.watch(VECTORS, plain, session)) as news:
                async for told in news:
                    if isinstance(told, Answer):
                        seen = told.value.seen
                        vectors = {kind: getattr(told.value, kind) for kind in ("encoder", "decoder", "cross")}
                    else:
                        yield gr.skip()
        elif seen is None:
            async with contextlib.aclosing(translated(engine, plain, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        seen = update.value
                    else:
                        yield gr.skip()
        assert seen is not None
        attentions = drawing.encoder_decoder(seen.encoder, seen.decoder, seen.cross, *views.tokens(seen), vectors)
        yield await asyncio.to_thread(bertviz.shown, look, attentions, views=drawing.VIEWS)
    except InputError as error:
        yield bertviz.refused(look, error.text)


def waiting(where: Waiting) -> Value:
    """The badge of a request in the queue; place 0 is running, and the badge already says that."""
    return prompt.waiting(where.place, where.of, where.seconds) if where.place else prompt.reading()


async def stored(engine: Engine, query: str) -> dict[str, object] | None:
    """What the page draws of an example or a guided step, finished."""
    drawn: dict[str, Any] = {}
    async with contextlib.aclosing(answers(engine, lambda: linked({"query": query}))) as updates:
        async for update in updates:
            drawn |= {name: value for name, value in zip(("prompt", "attention", "whatif"), update, strict=True) if value != gr.skip()}
    if drawn["prompt"]["state"] == "refused" or drawn["whatif"]["state"] == "refused":
        return None
    return as_stored(drawn)


async def probe(engine: Engine) -> None:
    """One small translation, which loads the model."""
    await engine.ask(EXPLAIN, Request("A dog runs."))


LAB = Lab(
    slug="translation",
    title=texts.TITLE,
    short=texts.SHORT,
    line=texts.LINE,
    card=texts.CARD,
    year=2017,
    paper="Attention Is All You Need",
    authors="Vaswani et al.",
    arxiv="1706.03762",
    licence="research and teaching only: the images behind Multi30k are licensed for non-commercial research and education",
    equation=texts.EQUATION,
    ancestors=(),
    changed="input",
    page=page,
    examples=tuple(views.query(example) for example in EXAMPLES),
    steps=readable("translation", views.steps),
    words=("attention", "change"),
    interventions={
        "silence": permalink.changed(EXAMPLES[0], silenced=(("cross", 0, 1),)),
        "hide": permalink.changed(EXAMPLES[0], hidden=(1,)),
        "parts": permalink.changed(EXAMPLES[0], without=("position",)),
    },
    exports={
        "attention": FIGURE,
        "whatif": ("PNG", "CSV", "NPZ", "TXT"),
        "weight": FIGURE,
        "beam": FIGURE,
        "forced": FIGURE,
        "positions": FIGURE * 3,
    },
    thumbnail=views.thumbnail,
    probe=probe,
    stored=stored,
)
