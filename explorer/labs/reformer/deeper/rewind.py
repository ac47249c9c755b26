"""The panel about layers that run backwards: forward and back on the run in view, and what has been measured of the memory it saves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import gradio as gr

from explorer import labels
from explorer.engine import Answer, Engine
from explorer.labs import wiring
from explorer.labs.reformer import texts, views
from explorer.labs.reformer.deeper.wish import chosen, wished
from explorer.widgets.folded import Question, Value, refused, shown
from explorer.widgets.newest import Newest
from explorer.widgets.rewind import boards, rewind
from models.errors import InputError
from models.reformer.records import Backwards, Explanation, Place, Read

EXPLAIN = "models.reformer.explain:explain"
BACKWARDS = "models.reformer.asked:backwards"
RESULTS = Path(__file__).parents[4] / "benchmarks" / "results"

logger = logging.getLogger(__name__)


def place(engine: Engine) -> None:
    """Place the panel and answer it."""
    panel = rewind()

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
        read, layer, _ = chosen(seen, run, wished(question))
        async with contextlib.aclosing(engine.watch(BACKWARDS, Place(run, read.variant, layer), session)) as news:
            async for told in news:
                if isinstance(told, Answer):
                    yield shown(question, **await asyncio.to_thread(value, seen, told.value, read, layer))
                else:
                    yield gr.skip()
    except InputError as error:
        yield refused(question, error.text)
    except Exception:
        logger.exception("a panel could not be drawn")
        yield refused(question, labels.DEFECT)


def value(seen: Explanation, found: Backwards, read: Read, layer: int) -> Value:
    """What the panel draws of a model."""
    rewound, parts = found.rewound, found.parts
    return boards(
        texts.NAMES[read.variant],
        forward=rewound.forward,
        again=rewound.again,
        single=rewound.single,
        double=rewound.double,
        tokens=views.spelled_tokens(seen),
        hashed=bool(read.buckets.shape[2]),
        layer=layer,
        chunks=parts.chunks,
        difference=parts.difference,
        inner_bytes=parts.inner_bytes,
        reversible=measured("reversible"),
        lsh=measured("lsh_attention"),
    )


def measured(name: str) -> dict[str, Any] | None:
    """What `python -m benchmarks NAME --save` has measured; None before it did."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found
