"""The views of the sparse models, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.components import input_bar
from explorer.contract.control_kinds import (
    ChoiceControl,
    Control,
    DrawingControl,
    PassageControl,
    SamplePictures,
    SeedControl,
    SliderControl,
)
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import SIZES, Text, fill_text
from explorer.figures import attention, head_jobs
from explorer.figures import reading as passage
from explorer.figures.attention import Kind
from explorer.labs.sparse_transformer import about, drawn, texts
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import passages
from explorer.values.exact_rows import RowSource, digest_arrays, exact_row_store, keep_rows
from models.data.pixels import SHIPPED, load_shipped_pictures
from models.explaining.shared_records import LIMIT
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
SHOWN = 56  # blocks of the picture on the family map, each four pixels: eight rows of a digit


first = runs.load_first_once("sparse_transformer", EXAMPLES[0], Explanation)


def load_digits() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Load the example digits, (picture, row, column) of 0 and 1, and the class of each; none where
    they are not shipped."""
    ours = load_shipped_pictures("sparse_transformer")
    return ours.get("pixels", np.zeros((0, SIDE, SIDE), np.uint8)), ours.get(
        "kinds", np.zeros(0, np.uint8)
    )


# ---- the input bar


def list_controls() -> tuple[Control, ...]:
    """Return the controls of a digit whose upper rows stay, or of a text where models of texts are
    shipped, and of how the rest is generated."""
    pixels, kinds = load_digits()
    both = "text" in about.list_tasks()
    digit, text = ({"task": (task,)} if both else {} for task in ("digit", "text"))
    drawings = SamplePictures(pixels, [texts.DIGITS[int(kind)] for kind in kinds], "keep")
    return (
        *([ChoiceControl("task", texts.TASK, names=texts.TASKS)] if both else []),
        DrawingControl("drawing", texts.DIGIT, drawings=drawings, when=digit),
        *(
            [
                PassageControl(
                    "text",
                    texts.TEXT,
                    hint=texts.PLACEHOLDER,
                    shares="length",
                    when=text,
                )
            ]
            if both
            else []
        ),
        SliderControl(
            "keep",
            texts.KEPT,
            names=texts.KEPT_ALL,
            unit=texts.KEPT_SOME,
            hint=texts.KEPT_HINT,
            when=digit,
        ),
        *(
            [
                SliderControl(
                    "length",
                    passages.LENGTH,
                    unit=passages.CHARACTERS,
                    hint=passages.LENGTH_HINT,
                    when=text,
                )
            ]
            if both
            else []
        ),
        SliderControl("temperature", passages.TEMPERATURE, hint=texts.TEMPERATURE_HINT, step=0.1),
        SeedControl("seed", passages.SEED, hint=texts.SEED_HINT),
    )


def find_given_digit(request: Request) -> NDArray[np.uint8] | None:
    """Return the digit that a request begins with, (row, column), before any of it is cut; None
    where only the model's side knows it."""
    if not request.drawing.startswith(SHIPPED):
        return read_drawing(request.drawing)
    pixels, _ = load_digits()
    number = request.drawing.removeprefix(SHIPPED)
    return pixels[int(number)] if number.isdigit() and int(number) < len(pixels) else None


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return a warning for a digit or a text that is unlike the training data of the models as
    trained."""
    return texts.UNUSUAL[request.task] if any(made.unusual for made in explanation.made) else None


def notice(request: Request, _seen: Explanation) -> Text | None:
    """Return a note where a digit or a text is not drawn from the model's own distribution; None
    for small changes."""
    drawn = request.keep < SIDE if request.task == "digit" else request.length > 0
    return (
        passages.warn_of_temperature(request.temperature, texts.HOT[request.task])
        if drawn
        else None
    )


def lines(explanation: Explanation, request: Request) -> list[Text]:
    """Return the lines of a run's text file; a digit has none."""
    if request.task == "digit":
        return []
    given = len(request.plain_text)
    read = [
        (
            texts.NAMES[made.variant],
            _measure_bits(made, given),
            made.drawn[given:] if request.length else None,
        )
        for made in explanation.made
    ]
    return passages.write_lines(request, request.plain_text, None, read)


def describe_endings(explanation: Explanation, request: Request) -> list[Value]:
    """Return why generation ends: the requested number of characters is reached, or the digit is
    whole."""
    written = int((~explanation.made[0].given).sum())
    if request.task == "text":
        return passages.describe_endings(written)
    return [input_bar.describe_ending(LIMIT, written, SIZES["pixels"])] if written else []


def _measure_bits(made: Made, given: int) -> float:
    """Return the bits per character of the given text, or of the whole text where nothing was
    given."""
    return float(made.nats[: given or None].mean() / np.log(2))


# ---- a run under way


def progress(steps: Sequence[Step], request: Request) -> Text:
    """Return the sentence that says how far the slowest model has come."""
    reached = dict.fromkeys(about.facts(request.task), 0)
    for step in steps:
        reached[step.variant] = step.first + len(step.symbols)
    at = min(reached.values(), default=0)
    if request.task == "text":
        return passages.describe_progress(len(request.plain_text), at, request.length)
    return fill_text(texts.AT_PIXEL, at=at, of=POSITIONS["digit"])


def draw_growing_digits(steps: Sequence[Step], request: Request) -> Value:
    """Draw the digits while they are generated. steps: all so far."""
    sizes = {
        variant: size
        for variant, size in about.list_head_sizes().items()
        if variant in MODELS["digit"]
    }
    return drawn.draw_growing_digits(
        sizes,
        steps,
        query=spell_query(request),
        same=_describe_input(request),
        keep=request.keep,
        whole=find_given_digit(request),
    )


def draw_growing_text(steps: Sequence[Step], request: Request) -> Value:
    """Draw the text while it is read and written. steps: all so far."""
    parts = {
        variant: [step for step in steps if step.variant == variant]
        for variant in about.facts("text")
    }
    return passages.draw_growing_text(
        parts, texts.MODELS, texts.ABOUT, request, len(request.plain_text), lambda step: step.drawn
    )


# ---- a finished run


@dataclass(frozen=True)
class Run:
    """A run with what all of its pictures need: addresses of exact weights, and the first
    selection."""

    seen: Explanation
    addresses: Mapping[str, str]
    pick: Value | None


def prepare(explanation: Explanation, request: Request) -> Run:
    """Prepare a run with what all of its pictures need."""
    addresses = {
        made.variant: keep_rows(_name_model(made), partial(look, made), made.queries, made.keys)
        for made in explanation.made
    }
    return Run(explanation, addresses, find_telling_pixel(explanation, request))


def draw_digits(run: Run, request: Request, state: str) -> Value:
    """Draw the digits."""
    seen = run.seen
    return drawn.draw_digits(
        seen.made,
        state=state,
        query=spell_query(request),
        same=_describe_input(request),
        whole=seen.whole,
        kind=seen.kind,
        looks=run.addresses,
        rollouts={made.variant: keep_rollout(made) for made in seen.made},
        pick=run.pick,
    )


def _describe_input(request: Request) -> str:
    """Return what runs of the same digit, drawn alike, have in common, whatever is changed in the
    models."""
    return spell_query(_remove_changes(request))


def _remove_changes(request: Request) -> Request:
    return replace(request, pattern="", stride=0, summary=0, silenced=())


def draw_text(run: Run, request: Request, state: str) -> Value:
    """Draw the text with its losses."""
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
            pattern={
                "kind": made.pattern.kind,
                "l": made.pattern.stride,
                "c": made.pattern.summary,
            },
        )
        for made in run.seen.made
    ]
    return passage.draw_reading(
        models,
        given=len(request.plain_text),
        query=spell_query(request),
        state=state,
        pick=run.pick,
    )


def find_telling_pixel(explanation: Explanation, request: Request) -> Value | None:
    """Return the selection on arrival, where there is one: a model, a pixel and a head that is sure
    of a place far from it, or a character and a head that looks far to predict it."""
    return (
        drawn.find_telling_pixel(explanation.made, look)
        if request.task == "digit"
        else passage.find_telling_place(explanation.made, look, given=len(request.plain_text))
    )


def _name_model(made: Made, what: str = "") -> str:
    return f"{made.variant} {made.pattern} {made.use} {what}"


def keep_rollout(made: Made) -> str:
    """Keep the attention rollout of a run, from its first layer to any other, and return its
    address."""
    rolled = drawn.Rollout(made)
    look_ = RowSource(rolled.rows, rolled.layers, 1, rolled.length, rolled.size)
    return exact_row_store().put(
        look_, digest_arrays(_name_model(made, "rollout"), made.queries, made.keys)
    )


# ---- attention


def draw_heads(run: Run, request: Request, state: str) -> Value:
    """Draw the attention view: every head of every model, pooled, and exact on zooming in."""
    seen, pick = run.seen, run.pick
    wholes = [overview(made) for made in seen.made]
    kinds = [
        draw_attention(made, whole, run.addresses[made.variant])
        for made, whole in zip(seen.made, wholes, strict=True)
    ]
    place = None
    if pick is not None:
        made, whole = next(
            (made, whole)
            for made, whole in zip(seen.made, wholes, strict=True)
            if made.variant == pick["model"]
        )
        place = attention.find_locked_cell(made.variant, pick, whole.by, partial(look, made))
    return attention.draw_attention(
        kinds,
        pick=place,
        found=find_jobs(seen, wholes),
        query=spell_query(request),
        state=state,
        silences=False,
    )


def draw_attention(made: Made, whole: Overview, address: str) -> Kind:
    """Draw the attention of all layers and heads of one model."""
    names = list(made.drawn) or [f"{row},{column}" for row in range(SIDE) for column in range(SIDE)]
    # A character is named where it stands. For a digit the page names places, and the key at a
    # place carries the pixel generated before it.
    keys = [texts.START, *names[:-1]] if made.drawn else names
    return attention.make_pooled_kind(
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


def find_jobs(
    explanation: Explanation, wholes: Sequence[Overview], least: float = 0.2
) -> list[Value]:
    """Find heads that do one recognisable thing: they look at the pixel or character before, or at
    the pixel straight above."""
    found: list[Value] = []
    for made, whole in zip(explanation.made, wholes, strict=True):
        # A key carries the pixel before its place, so the pixel above stands one place less far
        # back than a row is long.
        places = {"last": 0, "but_one": 1} if made.drawn else {"before": 0, "above": SIDE - 1}
        shares = {
            job: whole.distances[..., at]
            for job, at in places.items()
            if at < whole.distances.shape[2]
        }
        found += head_jobs.find_jobs_by_score(made.variant, shares, texts.JOBS, least, most=1)
    return sorted(found, key=lambda one: -float(str(one["score"])))


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the attention of the first model among some rows of the first digit, for the family map:
    rows, columns, and the dark between."""
    whole = overview(explanation.made[0])
    end = whole.pooled.shape[2] // 2 + SHOWN // 2
    shown = whole.pooled.max((0, 1))[end - SHOWN : end, end - SHOWN : end]
    weights = np.sqrt(shown / shown.max()).astype(np.float32)
    row = SHOWN - 3
    return Thumbnail(weights, pick=(row, int(weights[row, : row - 4].argmax())))


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views and panels in which the stored
    run shows the point."""
    kept = first()
    pick: Value | None = None if kept is None else find_telling_pixel(kept.seen, kept.request)
    place = (
        {"model": "strided", "head": "1.1", "pos": "530"}
        if pick is None
        else {key: str(value) for key, value in pick.items()}
    )
    start = EXAMPLES[0]
    shown: dict[str, Shown] = {
        "split": ("", {"pattern": "full"}, "patterns"),
        "strided": ("", {"pattern": "strided"}, "patterns"),
        "fixed": ("", {"pattern": "fixed"}, "patterns"),
        "paths": ("", {"pattern": "strided", "patternto": "31"}, "patterns"),
        "digit": ("", place, "digits"),
        "wrong": (spell_query(replace(start, stride=SIDE - 1)), place, "digits", "change"),
        "swap": (spell_query(replace(start, pattern="fixed")), place, "digits", "change"),
        "text": (spell_query(TEXTS[0]), {}, "reading"),
    }
    gaps = about.measure_block_gaps()
    return build_steps(
        texts, {key: one for key, one in shown.items() if gaps or key != "text"}, **gaps
    )
