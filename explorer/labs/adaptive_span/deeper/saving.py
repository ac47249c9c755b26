"""The panel about what spans save: positions, operations and bytes of the run in view against the full span, and what was measured."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import gradio as gr

from explorer import labels, permalink, wiring
from explorer.engine import Answer, Engine
from explorer.labs.adaptive_span import texts, views
from explorer.widgets import saving as widget
from explorer.widgets.folded import Question, Value, refused, shown
from explorer.widgets.newest import Newest
from models.adaptive_span.records import EXAMPLES, Explanation, Request
from models.errors import InputError

GENERATE = "models.adaptive_span.explain:generate"
RESULT = Path(__file__).parents[4] / "benchmarks" / "results" / "adaptive_span.json"

logger = logging.getLogger(__name__)


def place(engine: Engine) -> None:
    """Place the panel and answer it."""
    panel = widget.saving()

    def answer(detail: Any, session: str) -> AsyncGenerator[Value, None]:
        return answers(engine, Question.of(detail), session)

    panel.ask(wiring.following(Newest(), answer), None, panel, **wiring.HOW)


def measured(result: Path = RESULT) -> dict[str, float] | None:
    """The figures that `python -m benchmarks adaptive_span` has kept; None where it has not run."""
    if not result.exists():
        return None
    found: dict[str, float] = json.loads(result.read_text("utf-8"))["figures"]
    return found


async def answers(engine: Engine, question: Question, session: str = "") -> AsyncGenerator[Value, None]:
    """What the panel draws of the run in view: nothing new while it is being made, then the answer, or a refusal in words."""
    try:
        run = permalink.decode(Request, question.run)[0] if question.run else EXAMPLES[0]
        kept = views.first()
        if kept is not None and run == kept.request:
            yield shown(question, figure=await asyncio.to_thread(value, kept.seen))
            return
        async with contextlib.aclosing(engine.watch(GENERATE, run, session)) as news:
            async for told in news:  # a handler that yields nothing is never told that its page was closed
                yield shown(question, figure=await asyncio.to_thread(value, told.value)) if isinstance(told, Answer) else gr.skip()
    except InputError as error:
        yield refused(question, error.text)
    except Exception:
        logger.exception("a panel could not be drawn")
        yield refused(question, labels.DEFECT)


def value(seen: Explanation) -> Value:
    """What the panel draws of a run. What was measured is of the spans as the adaptive model learned them."""
    own = seen.variant == "adaptive" and not seen.forced.any()
    saved = seen.saved
    return widget.value(
        name=texts.NAMES[seen.variant],
        positions=saved.positions,
        full_positions=saved.full_positions,
        long_positions=saved.long_positions,
        full_long_positions=saved.full_long_positions,
        flops=saved.flops,
        full_flops=saved.full_flops,
        other_flops=saved.other_flops,
        cache_bytes=saved.cache_bytes,
        full_cache_bytes=saved.full_cache_bytes,
        measured=measured() if own else None,
    )
