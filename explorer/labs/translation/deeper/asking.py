"""What the folded panels do alike: read the run that the address names, ask the engine, and say in words what cannot be answered."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine
from explorer.widgets.folded import Question, Value, refused, shown
from models.errors import InputError
from models.translation.records import EXAMPLES, Request

logger = logging.getLogger(__name__)


def run_of(question: Question) -> Request:
    """The request that a question is about, as the address spells it; the first example where it names none. InputError as `decode`."""
    return permalink.decode(Request, question.run)[0] if question.run else EXAMPLES[0]


async def answers(
    engine: Engine,
    function: str,
    question: Question,
    wish: Callable[[], Any],
    draw: Callable[[Any], Mapping[str, object]],
    session: str = "",
) -> AsyncGenerator[Value, None]:
    """What a panel draws of one question: nothing new while the engine is at it, then the answer, or a refusal in words.

    function: as the engine names it. wish: reads its request; an InputError of it is a refusal too. draw: makes of the result what the
    panel draws; it runs in a thread of its own, since a first figure imports Plotly.
    """
    try:
        async with contextlib.aclosing(engine.watch(function, wish(), session)) as news:
            async for told in news:  # a handler that yields nothing is never told that its page was closed
                yield shown(question, **await asyncio.to_thread(draw, told.value)) if isinstance(told, Answer) else gr.skip()
    except InputError as error:
        yield refused(question, error.text)
    except Exception:
        logger.exception("a panel could not be drawn")
        yield refused(question, labels.DEFECT)
