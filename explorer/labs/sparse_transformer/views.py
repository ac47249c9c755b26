"""From what the sparse models explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, Drawings, query
from explorer.figures import attention
from explorer.figures import reading as passage
from explorer.figures.attention import Kind
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import Text, filled
from explorer.labs import passages
from explorer.labs.guided import Shown, guided
from explorer.labs.sparse_transformer import about, drawn, texts
from explorer.looks import Look, digest, keep, looks
from models.pixels import SHIPPED, shipped
from models.sparse_transformer.records import (
    EXAMPLES,
    MODELS,
    POSITIONS,
    SIDE,
    TEXTS,
    Explanation,
    Made,
    Request,
    Step,
    read_drawing,
)
from models.sparse_transformer.weights import Overview, look, overview

Value = dict[str, object]
Array = NDArray[np.float32]

ASSETS = Path(__file__).parents[3] / "assets" / "sparse_transformer"
SHOWN = 56  # blocks of the family map's picture, each four pixels: eight rows of a digit


first = runs.kept("sparse_transformer", EXAMPLES[0], Explanation)


def held_out() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The digits to begin with, (picture, row, column) of 0 and 1, and which digit each is; none where they are not shipped."""
    ours = shipped("sparse_transformer")
    return ours.get("pixels", np.zeros((0, SIDE, SIDE), np.uint8)), ours.get("kinds", np.zeros(0, np.uint8))


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def asked() -> tuple[Control, ...]:
    """The controls of a digit whose upper rows stay, or of a text where models of texts are there, and of how the rest is made."""
    pixels, kinds = held_out()
    both = "text" in about.tasks()
    digit, text = ({"task": (task,)} if both else {} for task in ("digit", "text"))
    drawings = Drawings(pixels, [texts.DIGITS[int(kind)] for kind in kinds], "keep")
    return (
        *([Control("task", texts.TASK, "choice", names=texts.TASKS)] if both else []),
        Control("drawing", texts.DIGIT, "drawing", drawings=drawings, when=digit),
        *([Control("text", texts.TEXT, "passage", hint=texts.PLACEHOLDER, shares="length", when=text)] if both else []),
        Control("keep", texts.KEPT, "number", names=texts.KEPT_ALL, unit=texts.KEPT_SOME, hint=texts.KEPT_HINT, when=digit),
        *([Control("length", passages.LENGTH, "number", unit=passages.CHARACTERS, hint=passages.LENGTH_HINT, when=text)] if both else []),
        Control("temperature", passages.TEMPERATURE, "number", hint=texts.TEMPERATURE_HINT, step=0.1),
        Control("seed", passages.SEED, "seed", hint=texts.SEED_HINT),
    )


def given(request: Request) -> NDArray[np.uint8] | None:
    """The digit that a request begins with, (row, column), before any of it is cut; None where only the model's side knows it."""
    if not request.drawing.startswith(SHIPPED):
        return read_drawing(request.drawing)
    pixels, _ = held_out()
    number = request.drawing.removeprefix(SHIPPED)
    return pixels[int(number)] if number.isdigit() and int(number) < len(pixels) else None


def warning(request: Request, seen: Explanation) -> Text | None:
    """What to say of a digit or a text that is unlike what the models learned from, for the models as trained."""
    return texts.UNUSUAL[request.task] if request == _plain(request) and any(made.unusual for made in seen.made) else None


def notice(request: Request, _seen: Explanation) -> Text | None:
    """What to say where a digit or a text is not drawn from the model's own distribution; None for small changes."""
    drawn = request.keep < SIDE if request.task == "digit" else request.length > 0
    return passages.heated(request.temperature, texts.HOT[request.task]) if drawn else None


def lines(seen: Explanation, request: Request) -> list[Text]:
    """What a text file of a run says; of a digit there is none."""
    if request.task == "digit":
        return []
    given = len(request.text)
    read = [(texts.NAMES[made.variant], _bits(made, given), made.drawn[given:] if request.length else None) for made in seen.made]
    return passages.lines(request, request.text, None, read)


def _bits(made: Made, given: int) -> float:
    """Bits per character of the text given, or of all of it where nothing was given."""
    return float(made.nats[: given or None].mean() / np.log(2))


# ---- a run under way ---------------------------------------------------------------------------------------------------------------


def progress(steps: Sequence[Step], request: Request) -> Text:
    """How far the slowest model has come."""
    reached = dict.fromkeys(about.facts(request.task), 0)
    for step in steps:
        reached[step.variant] = step.first + len(step.symbols)
    at = min(reached.values(), default=0)
    if request.task == "text":
        return passages.progress(len(request.text), at, request.length)
    return filled(texts.AT_PIXEL, at=at, of=POSITIONS["digit"])


def digits_growing(steps: Sequence[Step], request: Request) -> Value:
    """What the digits draw while they are made. steps: all so far."""
    sizes = {variant: size for variant, size in about.heads().items() if variant in MODELS["digit"]}
    return drawn.growing(sizes, steps, query=query(request), same=_input(request), keep=request.keep, whole=given(request))


def text_growing(steps: Sequence[Step], request: Request) -> Value:
    """What the text draws while it is read and written. steps: all so far."""
    parts = {variant: [step for step in steps if step.variant == variant] for variant in about.facts("text")}
    return passages.growing(parts, texts.MODELS, texts.ABOUT, request, len(request.text), lambda step: step.drawn)


# ---- a finished run ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run with what all of its pictures need: addresses of exact weights, and what is looked at first."""

    seen: Explanation
    addresses: Mapping[str, str]
    pick: Value | None


def prepare(seen: Explanation, request: Request) -> Run:
    """A run with what all of its pictures need."""
    addresses = {made.variant: keep(_named(made), partial(look, made), made.queries, made.keys) for made in seen.made}
    return Run(seen, addresses, telling(seen, request))


def digits_of(run: Run, request: Request, state: str) -> Value:
    """What the digits draw."""
    seen = run.seen
    return drawn.value(
        seen.made,
        state=state,
        query=query(request),
        same=_input(request),
        whole=seen.whole,
        kind=seen.kind,
        looks=run.addresses,
        rollouts={made.variant: keep_rollout(made) for made in seen.made},
        pick=run.pick,
    )


def _input(request: Request) -> str:
    """What runs of the same digit, drawn alike, have in common, whatever is changed in the models."""
    return query(_plain(request))


def _plain(request: Request) -> Request:
    return replace(request, pattern="", stride=0, summary=0, silenced=())


def text_of(run: Run, request: Request, state: str) -> Value:
    """What the text with its losses draws."""
    models = [
        passage.Model(
            made.variant,
            texts.MODELS[made.variant],
            texts.ABOUT[made.variant],
            made.drawn,
            made.nats,
            look=run.addresses[made.variant],
            layers=made.queries.shape[0],
            heads=made.queries.shape[1],
            profiles=overview(made).distances,
            pattern={"kind": made.pattern.kind, "l": made.pattern.stride, "c": made.pattern.summary},
        )
        for made in run.seen.made
    ]
    return passage.value(models, given=len(request.text), query=query(request), state=state, pick=run.pick)


def telling(seen: Explanation, request: Request) -> Value | None:
    """What is locked on arrival, where something is to be seen: a model, a pixel and a head that is sure of a place far from it, or a
    character and a head that looks far to say it."""
    return drawn.telling(seen.made, look) if request.task == "digit" else passage.telling(seen.made, look, given=len(request.text))


def _named(made: Made, what: str = "") -> str:
    return f"{made.variant} {made.pattern} {made.use} {what}"


def keep_rollout(made: Made) -> str:
    """The address of what a run's layers bring together, from the first up to one of them."""
    rolled = drawn.Rollout(made)
    look_ = Look(rolled.rows, rolled.layers, 1, rolled.length, rolled.size)
    return looks().put(look_, digest(_named(made, "rollout"), made.queries, made.keys))


# ---- attention ---------------------------------------------------------------------------------------------------------------------


def heads(run: Run, request: Request, state: str) -> Value:
    """What the attention view draws: every head of every model, pooled, and exact where one looks closer."""
    seen, pick = run.seen, run.pick
    wholes = [overview(made) for made in seen.made]
    kinds = [kind(made, whole, run.addresses[made.variant]) for made, whole in zip(seen.made, wholes, strict=True)]
    place = None
    if pick is not None:
        made, whole = next((made, whole) for made, whole in zip(seen.made, wholes, strict=True) if made.variant == pick["model"])
        place = attention.cell(made.variant, pick, whole.by, partial(look, made))
    return attention.value(kinds, pick=place, found=jobs(seen, wholes), query=query(request), state=state, silences=False)


def kind(made: Made, whole: Overview, address: str) -> Kind:
    """The attention of all layers and heads of one model."""
    names = list(made.drawn) or [f"{row},{column}" for row in range(SIDE) for column in range(SIDE)]
    # A character is named where it stands. Of a digit the page names places, and the key at a place carries the pixel made before it.
    keys = [texts.START, *names[:-1]] if made.drawn else names
    return attention.blocked(
        made.variant,
        texts.MODELS[made.variant],
        whole.pooled,
        whole.by,
        names,
        keys,
        lambda: address,
        question=texts.QUESTIONS[made.variant],
        roles=texts.ROLES["text" if made.drawn else "digit"],
        first_key=-1 if made.drawn else 0,
    )


def jobs(seen: Explanation, wholes: Sequence[Overview], least: float = 0.2) -> list[Value]:
    """Heads that do one recognisable thing: they look at the pixel or character before, or at the pixel straight above."""
    found: list[Value] = []
    for made, whole in zip(seen.made, wholes, strict=True):
        # A key carries what stands before its place, so the pixel above stands one place less far back than a row is long.
        places = {"last": 0, "but_one": 1} if made.drawn else {"before": 0, "above": SIDE - 1}
        shares = {job: whole.distances[..., at] for job, at in places.items() if at < whole.distances.shape[2]}
        found += attention.working(made.variant, shares, texts.JOBS, least, most=1)
    return sorted(found, key=lambda one: -float(str(one["score"])))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail(seen: Explanation) -> Thumbnail:
    """The attention of the first model among some rows of the first digit, for the family map: rows, columns, and the dark between."""
    whole = overview(seen.made[0])
    end = whole.pooled.shape[2] // 2 + SHOWN // 2
    shown = whole.pooled.max((0, 1))[end - SHOWN : end, end - SHOWN : end]
    weights = np.sqrt(shown / shown.max()).astype(np.float32)
    row = SHOWN - 3
    return Thumbnail(weights, pick=(row, int(weights[row, : row - 4].argmax())))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views and panels that show what the stored run has to tell."""
    kept = first()
    pick: Value | None = None if kept is None else telling(kept.seen, kept.request)
    place = {"model": "strided", "head": "1.1", "pos": "530"} if pick is None else {key: str(value) for key, value in pick.items()}
    start = EXAMPLES[0]
    shown: dict[str, Shown] = {
        "split": ("", {"pattern": "full"}, "patterns"),
        "strided": ("", {"pattern": "strided"}, "patterns"),
        "fixed": ("", {"pattern": "fixed"}, "patterns"),
        "paths": ("", {"pattern": "strided", "patternto": "31"}, "patterns"),
        "digit": ("", place, "digits"),
        "wrong": (query(replace(start, stride=SIDE - 1)), place, "digits", "change"),
        "swap": (query(replace(start, pattern="fixed")), place, "digits", "change"),
        "text": (query(TEXTS[0]), {}, "reading"),
    }
    gaps = about.block_gaps()
    return guided(texts, {key: one for key, one in shown.items() if gaps or key != "text"}, **gaps)
