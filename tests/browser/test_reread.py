"""What changes if …, for long texts, in a real browser: knobs, strips, the number, the marked character, files, phones, languages."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.widgets import reread
from tests.browser import trial
from tests.browser.waiting import addressed, becomes

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = "<img src=x onerror=alert(1)>"
XL = {"en": "Transformer-XL", "zh": "有记忆的模型"}
ABSOLUTE = {"en": "Absolute positions", "zh": "绝对位置模型"}
CHARACTERS = {"en": "characters", "zh": "个字符"}
GIVEN, COUNT = 800, 1056
TEXT = ("The sea 😀 was all before them,\n" * 40)[:COUNT]
MEMORY = {"text": HOSTILE, "memory": 512, "segment": 128, "intervention": "none", "temperature": 0.7}
SPANS = {"text": "", "variant": "adaptive", "spans": []}
PICK = {"model": "xl", "head": "2.3", "pos": 640}
SENTENCE = {"en": "With ⟦k:64 states⟧ of memory, segment 3 costs most " + HOSTILE, "zh": "记忆为⟦k:64 个状态⟧时，第 3 个片段变化最大"}
REFUSED, SLOW = 1024, 32  # lengths of memory that the trial page refuses, and that it takes its time over

REMEMBERING = [
    reread.Range(
        "memory",
        {"en": "memory", "zh": "记忆"},
        (0, 32, 64, 128, 256, 384, 512, 768, 1024),
        512,
        {"en": "characters", "zh": "个字符"},
        {"en": "beyond training", "zh": "超出训练"},
    ),
    reread.Pick(
        "intervention",
        {"en": "what the memory holds", "zh": "记忆里是什么"},
        (
            ("none", {"en": "the text", "zh": "本文"}),
            ("cut", {"en": "nothing", "zh": "空"}),
            ("shuffled", {"en": "shuffled", "zh": "打乱"}),
            ("foreign", {"en": "another book", "zh": "另一本书"}),
        ),
        "none",
    ),
    reread.Pick(
        "segment",
        {"en": "read at once, characters", "zh": "一次读入的字符"},
        [(n, {"en": str(n), "zh": str(n)}) for n in (16, 32, 64, 128)],
        128,
    ),
]
SPANNING = [reread.Spans(layers=4, heads=4, span=512, ramp=32)]


def side(key: str, name: reread.Text, worse: float, seed: int) -> reread.Side:
    """Made-up costs of a text: dear where a segment begins, dearer still where the change is felt."""
    draw = np.random.default_rng(seed)
    at = np.arange(COUNT)
    before = (draw.gamma(1.4, 0.9, COUNT) * (1 + 0.8 * np.exp(-(at % 128) / 24))).astype(np.float32)
    felt = np.exp(-(((at - 500) / 180) ** 2)) + 0.4 * (at % 128 < 40)
    after = np.maximum(before + (worse * felt + draw.normal(0, 0.3, COUNT) * worse).astype(np.float32), 0) if worse else before
    first = TEXT[GIVEN:]
    wrote = (first, first[:90] + "and " + HOSTILE + " nobody could say why they had come at all. " + first[:120])
    return reread.Side(
        key,
        name,
        before,
        after,
        GIVEN,
        128,
        wrote,
        TEXT,
        {"en": "It has no memory.", "zh": "它没有记忆。"} if key == "absolute" else None,
    )


def changed(request: dict[str, Any]) -> reread.Value:
    """What the trial page answers: a change of the segment reaches both models, others the one that remembers."""
    both = request.get("segment", 128) != 128
    known = request.get("memory", 512) > 512  # no text is so long
    sides = [side("xl", XL, 0.0 if known else 0.4, 1), side("absolute", ABSOLUTE, 0.15 if both else 0.0, 2)]
    return reread.done(request, sides if "memory" in request else sides[:1], SENTENCE, PICK)


def page_of(knobs: list[reread.Knob], request: dict[str, Any]) -> Callable[[Lab, object], None]:
    """The panel, narrow as it stands on a page, a box that shows what it has asked for, and a link to another request."""

    def build(lab: Lab, engine: object) -> None:
        with gr.Row(elem_classes=["tfe-bench"]):
            with gr.Column(elem_classes=["tfe-bench-wide"]):
                box = gr.Textbox(label="asked", elem_id="asked")
                linked = gr.Button("a link", elem_id="linked")
            with gr.Column(elem_classes=["tfe-bench-side"]):
                panel = reread.reread(reread.idle(request, PICK), knobs=knobs)

        async def ask(event: gr.EventData) -> AsyncGenerator[Any, None]:
            asked = {key: value for key, value in event._data.items() if key != "wished"}
            yield reread.running(), json.dumps(asked)
            if asked.get("memory") == REFUSED:
                yield reread.refused({"en": f"So much is refused. {HOSTILE}", "zh": "太多，被拒绝。"}), gr.skip()
                return
            await asyncio.sleep(1 if asked.get("memory") == SLOW else 0.05)
            yield reread.idle(asked, PICK) if asked == request else changed(asked), gr.skip()

        def other() -> reread.Value:
            return changed({**request, **({"memory": 200} if "memory" in request else {"spans": [[-1, -1, 16], [1, 2, 12.5]]})})

        how: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private", "concurrency_limit": None}
        panel.ask(ask, None, [panel, box], **how)
        linked.click(other, None, panel, **how)

    return build


def serve(port: int) -> None:
    """The site with a trial page for each lab's knobs."""
    trial.serve(port, {"memory": page_of([*REMEMBERING], MEMORY), "spans": page_of([*SPANNING], SPANS)}, year=2019)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of that server."""
    yield from trial.served(__file__)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
