"""The page of the Reformer: what it is asked, what it draws, what may be changed. Its texts stand in texts.py."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Any, Final

import gradio as gr

from explorer import wiring
from explorer.declared import lab_of, program_of
from explorer.engine import Answer, Engine
from explorer.figures import bertviz as drawing
from explorer.figures import hashing as hashes
from explorer.lab import FIGURE, part
from explorer.labs.reformer import about, change, deeper, texts, views
from explorer.program import Change, Program
from explorer.views import View, in_bertviz, in_figure, on_stage
from explorer.widgets.notes import notes
from explorer.widgets.stage import looked, stage
from models.errors import InputError, whole
from models.reformer.records import Explanation, Place, Request

EXPLAIN = "models.reformer.explain:explain"
HASHINGS = "models.reformer.asked:hashings"
OPENED: Final[tuple[drawing.View, ...]] = ("head", "model")  # bertviz's views of a run; queries and keys are one here


def hashing(value: Mapping[str, object] | None = None) -> gr.HTML:
    """Place the picture of hashing."""
    return stage("hashing", value, texts=texts.HASHING, picture="reformer/hashing", events=("look",))


def follow(walk: Any, engine: Engine) -> None:
    """Rounds of heads that were not looked at yet are asked for, and arrive through a companion of the picture."""
    companion = looked()

    async def look(event: gr.EventData, caller: gr.Request) -> AsyncGenerator[Any, None]:
        async with contextlib.aclosing(looks(engine, wiring.detail(event), wiring.session(caller))) as updates:
            async for update in updates:
                yield update

    walk.look(look, None, companion, **wiring.HOW)


async def looks(engine: Engine, detail: object, session: str) -> AsyncGenerator[Any, None]:
    """One head and round of the run that is looked at, or all rounds of it together; a refusal in words where there is none."""
    given = detail if isinstance(detail, Mapping) else {}
    try:
        request, _ = views.read(str(given.get("query") or ""))
        model, head, turn = str(given.get("model")), str(given.get("head")), whole(given.get("round"))
        layer, number = (int(part) - 1 for part in head.split("."))
    except (InputError, TypeError, ValueError):
        return
    place: dict[str, Any] = {"query": str(given.get("query", "")), "model": model, "layer": layer, "head": number}
    wish = {"wished": given["wished"]} if "wished" in given else {}
    try:
        if turn == hashes.ALL:
            async with contextlib.aclosing(engine.watch(EXPLAIN, request, session)) as updates:
                async for update in updates:
                    if isinstance(update, Answer):
                        weights = await asyncio.to_thread(views.together, update.value, model, layer, number)
                        yield {**hashes.together(**place, weights=weights), **wish}
                    else:
                        yield gr.skip()
            return
        async with contextlib.aclosing(engine.watch(HASHINGS, Place(request, model, layer, number, turn - 1), session)) as updates:
            async for update in updates:
                if isinstance(update, Answer):
                    yield {**hashes.looked(**place, turn=turn - 1, seen=update.value), **wish}
                else:
                    yield gr.skip()
    except InputError as error:
        yield {**hashes.unseen(**place, turn=turn - 1, error=error.text), **wish}


def program() -> Program[Request, Explanation]:
    """What the page declares; which models are there is looked up when it is built."""
    return program_of(
        texts,
        views,
        about,
        explain=EXPLAIN,
        kind=Request,
        controls=(*views.asked(), *change.knobs({**about.sizes("word"), **about.sizes("text")})),
        views=(
            View("hashing", hashing, views.hashed, wire=follow),
            on_stage("spelling", views.spelling_of, texts.SPELLING, picture="reformer/spelling"),
            in_figure("rounds", views.rounds_of, first=about.table),
            on_stage("attention", views.heads, {"empty": texts.NO_ATTENTION}, at="below"),
            *deeper.PANELS,
            in_bertviz(OPENED, views.bertviz),
            View(
                "notes",
                lambda _value: notes((*texts.NOTES, texts.TEXT_NOTE) if views.reads() else texts.NOTES, label=texts.NOTES_LABEL),
                at="below",
            ),
        ),
        change=Change(change.difference),
        examples=tuple(zip(views.given(), (*texts.EXAMPLES, texts.TEXT_EXAMPLE), strict=False)),
        pick=views.telling,
    )


# A text: a word is said without a mistake under most changes, so that the share of right letters stays.
CHANGED = Request("text", "The captain of the ship was an old man, and nobody had ever heard him laugh. ")

LAB = lab_of(
    "reformer",
    EXPLAIN,
    program,
    views.given(),
    texts,
    views,
    year=2020,
    paper="Reformer: The Efficient Transformer",
    authors="Kitaev et al.",
    arxiv="2001.04451",
    licence="Apache-2.0: words are made by this project's own seeded code, and so are the weights; the books are in the public domain",
    ancestors=("translation",),
    changed="cost",
    network=(
        (
            part("letters", "字母", "ask"),
            part("hash, sort, chunk", "哈希、排序、分块", "hashing"),
            part("attention", "注意力", "attention"),
            part("reversible layers", "可逆层", "rewind", rewind="open"),
            part("next letter", "下一个字母", "spelling"),
        ),
    ),
    interventions={
        "rounds": replace(CHANGED, rounds=1),
        "buckets": replace(CHANGED, buckets=2),
        "chunk": replace(CHANGED, chunk=2),
        "seed": replace(CHANGED, seed=2),
        "silence": replace(CHANGED, silenced=(("text", 0, 0),)),
    },
    exports={
        "hashing": FIGURE,
        "spelling": FIGURE,
        "rounds": FIGURE,
        "attention": FIGURE,
        "missed": FIGURE,
        "rewind": FIGURE * 4,
        "change": (*FIGURE[:4], "TXT", "NPZ"),
    },
    probes=lambda: (Request(text="a"),),
)
