"""What the folded panels that look into a run do alike: find the run that the address names, and say in words what cannot be answered."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping

import gradio as gr

from explorer import labels, permalink
from explorer.engine import Answer, Engine
from explorer.labs.music import change, views
from explorer.widgets.folded import Question, Value, refused, shown
from models.errors import InputError
from models.music.records import EXAMPLES, Explanation, Request

GENERATE = "models.music.explain:generate"

logger = logging.getLogger(__name__)


def run_of(question: Question) -> Request:
    """The run that a question is about: the motif as it came, the models as trained, as the rolls show it. InputError as `decode`."""
    return change.plain(permalink.decode(Request, question.run)[0]) if question.run else EXAMPLES[0]


async def answers(
    engine: Engine, question: Question, draw: Callable[[Explanation], Mapping[str, object]], session: str = ""
) -> AsyncGenerator[Value, None]:
    """What a panel draws of the run in view: nothing new while it is being made, then the answer, or a refusal in words.

    draw: makes of the run what the panel draws, in a thread of its own; an InputError of it is a refusal too.
    """
    try:
        run, kept = run_of(question), views.first()
        if kept is not None and run == kept.request:
            yield shown(question, **await asyncio.to_thread(draw, kept.seen))
            return
        async with contextlib.aclosing(engine.watch(GENERATE, run, session)) as news:
            async for told in news:  # a handler that yields nothing is never told that its page was closed
                yield shown(question, **await asyncio.to_thread(draw, told.value)) if isinstance(told, Answer) else gr.skip()
    except InputError as error:
        yield refused(question, error.text)
    except Exception:
        logger.exception("a panel could not be drawn")
        yield refused(question, labels.DEFECT)
