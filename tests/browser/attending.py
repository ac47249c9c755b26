"""Pages with attention from a fixed seed, and what the pen drew on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from explorer.components import figure
from explorer.components.stage import place_picture
from explorer.contract.lab import OpenLab
from explorer.figures import attention
from explorer.figures.attention import Kind
from explorer.figures.curves import Curve, draw_curves
from tests.bench import TEXT

Array = NDArray[np.float32]
SOURCE = ["A", "blond", "holding", "hands", "with", "a", "guy", "in", "the", "sand", "."]
TARGET = ["Eine", "Blond", "ine", "hält", "mit", "einem", "Mann", "im", "Sand", "Händ", "chen", "."]
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<b>bold</b>",
    '<a href="javascript:alert(2)">x</a>',
    "<svg/onload=alert(3)>",
]
HOSTILE += [
    "&lt;img src=x onerror=alert(4)&gt;",
    "${alert(5)}",
    "{{alert(6)}}",
    "%{z}",
    "\u202eevil",
    "שלום",
    "\n",
    "a\x00b",
    "=cmd()",
]


def softmax(scores: Array) -> Array:
    """Rows that sum to 1."""
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    made: Array = (raised / raised.sum(-1, keepdims=True)).astype(np.float32)
    return made


@cache
def kinds(
    source: tuple[str, ...], target: tuple[str, ...], layers: int = 4, heads: int = 8
) -> tuple[Kind, ...]:
    """A run: random heads, of which some look along the line from first to last word."""
    random = np.random.default_rng(5)
    made: dict[str, Array] = {}
    for key, queries, keys in (
        ("encoder", source, source),
        ("decoder", target, target),
        ("cross", target, source),
    ):
        scores = random.normal(0, 1.1, (layers, heads, len(queries), len(keys))).astype(np.float32)
        line = np.arange(len(queries)) * len(keys) // len(queries)
        scores[:, ::3, np.arange(len(queries)), line] += 4
        if key == "decoder":
            scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -1e9)
        made[key] = softmax(scores)
    labels = {
        "encoder": {"en": "Encoder self", "zh": "编码器自注意力"},
        "decoder": {"en": "Decoder self", "zh": "解码器自注意力"},
    }
    english, german = {"en": "English", "zh": "英文"}, {"en": "German", "zh": "德文"}
    question = {
        "en": "Which English word is each German word looking at?",
        "zh": "每个德文词在看哪个英文词？",
    }
    return (
        Kind("encoder", labels["encoder"], made["encoder"], source, source),
        Kind(
            "decoder",
            labels["decoder"],
            made["decoder"],
            target,
            ("<s>", *target[:-1]),
            mask="causal",
            first_key=-1,
        ),
        Kind(
            "cross",
            {"en": "Cross", "zh": "交叉"},
            made["cross"],
            target,
            source,
            [text not in {"ine", "chen", "."} for text in target],
            None,
            through="encoder",
            question=question,
            roles=(german, english),
        ),
    )


def words(count: int) -> tuple[str, ...]:
    """As many tokens as asked."""
    return tuple(f"{'Straßenbahn' if i % 7 == 0 else 'of'}" for i in range(count))


RUNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "trial": (tuple(SOURCE), tuple(TARGET)),
    "hostile": (tuple(HOSTILE), tuple(HOSTILE)),
    "longest": (words(60), words(58)),
    "large": (words(128), words(3)),
    "pooled": (words(300), words(3)),
}


def page_of(slug: str) -> Callable[[OpenLab, object], None]:
    """What stands on one trial page."""

    def page(lab: OpenLab, engine: object) -> None:
        if slug == "figures":
            epochs = range(1, 6)
            losses = {"loss": [6 / i for i in epochs], "held out": [5 / i for i in epochs]}
            lines = [
                Curve({"en": name, "zh": name}, epochs, of, f"var(--cat-{n})")
                for n, (name, of) in enumerate(losses.items(), 1)
            ]
            rows = [[str(i), *(of[i - 1] for of in losses.values())] for i in epochs]
            table = figure.Table(
                [
                    {"en": "epoch", "zh": "轮"},
                    {"en": "loss", "zh": "损失"},
                    {"en": "held out", "zh": "留出"},
                ],
                rows,
            )
            sentence = {
                "en": "After 5 epochs the held-out loss is 1.00.",
                "zh": "5 轮之后留出损失是 1.00。",
            }
            drawn = figure.describe_figure(
                lambda language: draw_curves(lines, ("a", "b"), language),
                title=TEXT,
                sentence=sentence,
                table=table,
                name="training",
            )
            figure.place_figure(drawn)
            return
        made = attention.draw_attention(kinds(*RUNS[slug]), silenced=[("cross", 1, 3)], query=slug)
        place = place_picture("attention", made, texts={})
        again = gr.Button("Another run", elem_id="again")
        other = kinds(tuple(SOURCE[:6]), tuple(TARGET[:5]))
        again.click(
            lambda: attention.draw_attention(other, query="again"),
            None,
            place,
            api_visibility="private",
        )

    return page


def cross() -> Array:
    """The weights that the trial page was sent."""
    weights: Array = kinds(*RUNS["trial"])[2].weights
    return weights
