"""The panel about what hashing misses: one head of the run in view, its full attention beside what the rounds see."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import Any

import gradio as gr

from explorer import labels
from explorer.engine import Answer, Engine
from explorer.labs import wiring
from explorer.labs.reformer import about, texts, views
from explorer.labs.reformer.deeper.wish import Wish, chosen, wished
from explorer.widgets.folded import Question, Value, refused, shown
from explorer.widgets.missed import boards, missed
from explorer.widgets.newest import Newest
from models.errors import InputError
from models.reformer.records import Explanation, Missed, Place

EXPLAIN = "models.reformer.explain:explain"
MISSES = "models.reformer.asked:misses"

logger = logging.getLogger(__name__)


def place(engine: Engine) -> None:
    """Place the panel and answer it."""
    panel = missed()

    def answer(detail: Any, session: str) -> AsyncGenerator[Value, None]:
        return answers(engine, Question.of(detail), session)

    panel.ask(wiring.following(Newest(), answer), None, panel, **wiring.HOW)


async def answers(engine: Engine, question: Question, session: str = "") -> AsyncGenerator[Value, None]:
    """What the panel draws of the run in view: nothing new while it is being made, then the answer, or a refusal in words."""
    try:
        run, _ = views.linked({"query": question.run})
        kept = views.first()
        seen: Explanation | None = kept.seen if kept is not None and run == kept.request else None
        if seen is None:
            async with contextlib.aclosing(engine.watch(EXPLAIN, run, session)) as news:
                async for told in news:  # a handler that yields nothing is never told that its page was closed
                    if isinstance(told, Answer):
                        seen = told.value
                    else:
                        yield gr.skip()
        assert seen is not None
        wish = wished(question)
        read, layer, head = chosen(seen, run, wish)
        async with contextlib.aclosing(engine.watch(MISSES, Place(run, read.variant, layer, head, wish.number), session)) as news:
            async for told in news:
                if isinstance(told, Answer):
                    yield shown(question, **await asyncio.to_thread(value, seen, told.value, read.variant, layer, head, wish))
                else:
                    yield gr.skip()
    except InputError as error:
        yield refused(question, error.text)
    except Exception:
        logger.exception("a panel could not be drawn")
        yield refused(question, labels.DEFECT)


def value(seen: Explanation, found: Missed, variant: str, layer: int, head: int, wish: Wish) -> Value:
    """What the panel draws of a head."""
    read = next(one for one in seen.read if one.variant == variant)
    return boards(
        texts.NAMES[variant],
        (layer, head),
        (read.queries.shape[0], read.queries.shape[1]),
        log_full=found.log_full,
        first=found.first,
        table=found.table,
        pairs=found.pairs,
        kinds=found.kinds,
        chosen=found.chosen,
        ran=(read.buckets.shape[2], read.kinds),
        trained=about.rounds(variant),
        chunk=read.chunk,
        seed=seen.seed,
        tokens=views.spelled_tokens(seen),
    )
