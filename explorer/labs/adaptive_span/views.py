"""The views of adaptive span, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.contract.control_kinds import Control, MenuControl, ShippedText
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Thumbnail
from explorer.contract.labels import Text, fill_text
from explorer.figures import attention, head_jobs, reading
from explorer.figures import bertviz as drawing
from explorer.labs.adaptive_span import about, texts
from explorer.labs.adaptive_span.figures import masks
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import passages
from explorer.values.exact_rows import keep_rows
from models.adaptive_span.records import (
    EVERY,
    EXAMPLES,
    OFFERED,
    PAGES,
    VARIANTS,
    Explanation,
    Request,
    Step,
    check,
    page,
)
from models.adaptive_span.weights import Overview, look, overview

Value = dict[str, object]
Array = NDArray[np.float32]

SHOWN = 48  # blocks of the picture on the family map


first = runs.load_first_once("adaptive_span", EXAMPLES[0], Explanation)


# ---- the input bar


def list_controls() -> tuple[Control, ...]:
    """Return the controls of the text, with the held-out pages, and of the model that reads."""
    named = {
        example.page: text
        for example, text in zip(OFFERED, texts.EXAMPLES, strict=True)
        if not example.text
    }
    there = {variant: texts.BRIEF[variant] for variant in about.facts() or VARIANTS[:1]}
    return (
        *passages.list_controls(
            [ShippedText(name, *named[name], page(name), texts.SOURCES[name]) for name in PAGES],
            step=20,
        ),
        MenuControl("variant", texts.MODEL_CHOICE, names=there),
    )


def _measure_bits(explanation: Explanation) -> dict[str, float]:
    """Return the bits per character of the given text, by each model, the one that ran first."""
    read = {explanation.variant: explanation.nats} | {
        one.variant: one.nats for one in explanation.beside
    }
    return {
        variant: float(nats[: explanation.given].mean() / np.log(2))
        for variant, nats in read.items()
    }


def lines(explanation: Explanation, request: Request) -> list[Text]:
    """Return the lines of a run's text file."""
    written = {explanation.variant: explanation.text[explanation.given :]}
    read = [
        (texts.NAMES[variant], bits, written.get(variant))
        for variant, bits in _measure_bits(explanation).items()
    ]
    return passages.write_lines(
        request,
        explanation.text[: explanation.given],
        None if request.text else texts.SOURCES[request.page],
        read,
    )


def describe_endings(explanation: Explanation, _request: Request) -> list[Value]:
    """Return why the written text ends."""
    return passages.describe_endings(len(explanation.text) - explanation.given)


def notice(_request: Request, explanation: Explanation) -> Text | None:
    """Return a note on characters that the model does not know."""
    strange = [
        letter
        for letter, flag in zip(
            explanation.text[: explanation.given], explanation.unknown, strict=False
        )
        if flag
    ]
    return passages.warn_of_unknown_characters(tuple(dict.fromkeys(strange)), len(strange))


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return a warning for a text that is unlike the books of training, for the model as
    trained."""
    return (
        None
        if request.spans
        else passages.warn_of_unlikely_text(
            _measure_bits(explanation)[explanation.variant],
            explanation.given,
            about.find_unusual_bound(),
        )
    )


# ---- a run under way


def progress(steps: Sequence[Step], request: Request) -> Text:
    """Return the sentence that says how far the reading has come."""
    return passages.describe_progress(
        len(check(request)), sum(len(step.text) for step in steps), request.length
    )


def draw_growing_text(steps: Sequence[Step], request: Request) -> Value:
    """Draw the text while it is read and written."""
    return passages.draw_growing_text(
        {request.variant: steps}, texts.NAMES, texts.ABOUT, request, len(check(request))
    )


# ---- a finished run


@dataclass(frozen=True)
class Run:
    """A run with what all of its pictures need: an overview and the addresses of exact weights,
    before the mask and after it, and the first selection."""

    seen: Explanation
    whole: Overview
    addresses: tuple[str, str]
    pick: Value | None


def prepare(explanation: Explanation, _request: Request) -> Run:
    """Prepare a run with what all of its pictures need."""
    return Run(
        explanation,
        overview(explanation),
        (
            _keep_exact_rows(explanation, "before", _read_before),
            _keep_exact_rows(explanation, "after", _read_after),
        ),
        find_telling_place(explanation),
    )


def _read_before(explanation: Explanation, layer: int, head: int, rows: Sequence[int]) -> Array:
    return look(explanation, layer, head, rows).before


def _read_after(explanation: Explanation, layer: int, head: int, rows: Sequence[int]) -> Array:
    return look(explanation, layer, head, rows).after


def _keep_exact_rows(
    explanation: Explanation,
    name: str,
    part: Callable[[Explanation, int, int, Sequence[int]], Array],
) -> str:
    """Keep exact weights of a run and return their address. name: before or after the mask; part:
    those weights."""
    named = f"{name} {explanation.variant} {explanation.span} {explanation.ramp}"
    return keep_rows(
        named,
        partial(part, explanation),
        explanation.queries,
        explanation.keys,
        explanation.table,
        explanation.z,
    )


def find_telling_place(explanation: Explanation) -> Value | None:
    """Return the selection on arrival: a character, and a head that looks far to predict it."""
    return reading.find_telling_place([explanation], _read_after, given=explanation.given)


def reaches(explanation: Explanation) -> Array:
    """Return how far each head (layer, head) looks back: min(S, ⌈z + R⌉), as the bars of the masks
    show it."""
    return np.asarray(
        np.minimum(
            explanation.span, np.maximum(1, np.ceil(explanation.z.mean(2) + explanation.ramp))
        ),
        np.float32,
    )


def draw_text(run: Run, request: Request, state: str) -> Value:
    """Draw the text with its losses: the model that ran, and beside it one that read the same."""
    seen = run.seen
    layers, heads_, length = seen.queries.shape[:3]
    wrote = len(seen.text) > seen.given
    along = fill_text(texts.READS_ALONG, name=texts.NAMES[seen.variant]) if wrote else texts.READS
    models = [
        reading.Model(
            seen.variant,
            texts.NAMES[seen.variant],
            texts.WRITES if wrote else texts.ABOUT[seen.variant],
            seen.text,
            seen.nats,
            look=run.addresses[1],
            layers=layers,
            heads=heads_,
            profiles=run.whole.distances_after[..., :length],
            ends=reaches(seen),
        ),
        *(
            reading.Model(one.variant, texts.NAMES[one.variant], along, seen.text, one.nats)
            for one in seen.beside[:1]
        ),
    ]
    unknown = np.flatnonzero(seen.unknown).tolist()
    return reading.draw_reading(
        models,
        given=seen.given,
        unknown=unknown,
        pick=run.pick,
        query=spell_query(request),
        state=state,
    )


def draw_spans(run: Run, request: Request, state: str) -> Value:
    """Draw the masks."""
    seen = run.seen
    learned = seen.learned if seen.forced.any() and not np.isnan(seen.learned).any() else None
    return masks.draw_masks(
        variant=seen.variant,
        name=texts.NAMES[seen.variant],
        text=seen.text,
        given=seen.given,
        z=seen.z,
        learned=learned,
        forced=seen.forced,
        span=seen.span,
        ramp=seen.ramp,
        before=run.whole.distances_before,
        after=run.whole.distances_after,
        look_before=run.addresses[0],
        look_after=run.addresses[1],
        pick=run.pick,
        query=spell_query(request),
        state=state,
    )


def draw_heads(run: Run, request: Request, state: str) -> Value:
    """Draw the attention view: under the mask, and before it."""
    seen, whole, addresses, pick = run.seen, run.whole, run.addresses, run.pick
    keys = [texts.START, *seen.text[:-1]]
    kinds = [
        attention.make_pooled_kind(
            name,
            texts.KIND[name],
            pooled,
            whole.by,
            seen.text,
            keys,
            partial(str, address),
            question=texts.QUESTIONS[name],
            roles=texts.ROLES,
            first_key=-1,
        )
        for name, pooled, address in (
            ("after", whole.pooled_after, addresses[1]),
            ("before", whole.pooled_before, addresses[0]),
        )
    ]
    place = (
        None
        if pick is None
        else attention.find_locked_cell("after", pick, whole.by, partial(_read_after, seen))
    )
    return attention.draw_attention(
        kinds,
        pick=place,
        found=find_jobs(seen, whole),
        query=spell_query(request),
        state=state,
        silences=False,
    )


def find_jobs(explanation: Explanation, whole: Overview, least: float = 0.25) -> list[Value]:
    """Find heads that do one recognisable thing: they look at the last character, the one before
    it, or far."""
    far = whole.distances_after
    reach = (
        np.minimum(explanation.span, explanation.z.mean(2) + explanation.ramp) / explanation.span
    )
    shares = {
        "written": far[..., 0],
        "before": far[..., 1] if far.shape[2] > 1 else np.zeros(far.shape[:2], np.float32),
    }
    near = head_jobs.find_jobs_by_score("after", shares, texts.JOBS, least)
    found = [*near, *head_jobs.find_jobs_by_score("after", {"far": reach}, texts.JOBS, 0.1, most=1)]
    return sorted(
        ({**one, "kind": name} for one in found for name in texts.KIND),
        key=lambda one: -one["score"],
    )


def list_for_bertviz(explanation: Explanation) -> drawing.Attention:
    """Return the attention among the last characters as bertviz shows it."""
    return passages.show_last_characters(
        explanation.variant,
        texts.NAMES[explanation.variant],
        explanation.text,
        explanation.queries.shape[:2],
        partial(_read_after, explanation),
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the soft masks of all heads as rows, for the family map: how far each of them looks, the
    longest last."""
    z = np.sort(explanation.z.mean(2).ravel())
    farthest = min(explanation.span, float(z.max()) + explanation.ramp) * 1.2
    distance = np.linspace(farthest, 0, 2 * len(z))
    weights = np.clip((explanation.ramp + z[:, None] - distance) / explanation.ramp, 0, 1).astype(
        np.float32
    )
    row = len(z) - 1
    return Thumbnail(weights, pick=(row, int(np.argmax(weights[row] > 0))))


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views and panels in which these runs
    show the point."""
    kept = first()
    start = EXAMPLES[0]
    head, pos = "1.1", len(page(start.page)) + 12
    if kept is not None:
        pick = find_telling_place(kept.seen)
        if pick is not None:
            pos = int(str(pick["pos"]))
        far = np.unravel_index(int(kept.seen.z.mean(2).argmax()), kept.seen.z.shape[:2])
        head = f"{int(far[0]) + 1}.{int(far[1]) + 1}"
    here = {"head": head, "pos": str(pos)}
    span = about.read_size()[2]
    shown: dict[str, Shown] = {
        "differ": ("", here, "masks"),
        "mask": ("", {**here, "masksaxis": "log"}, "masks"),
        "price": ("", {**here, "kind": "before"}, "attention"),
        "short": (
            spell_query(replace(start, spans=((EVERY, EVERY, 0.0),))),
            here,
            "reading",
            "change",
        ),
        "long": (
            spell_query(replace(start, spans=((EVERY, EVERY, float(span)),))),
            here,
            "reading",
            "change",
        ),
        "token": (spell_query(OFFERED[2]), {"head": head}, "masks"),
        "saving": ("", {"saving": "open"}, ""),
    }
    spans: Array = (
        np.zeros(1, np.float32) if kept is None else np.sort(reaches(kept.seen), axis=None)
    )
    learned = {
        "middle": f"{float(np.median(spans)):.0f}",
        "most": f"{float(spans[-1]):.0f}",
        "head": head.replace(".", "·"),
    }
    there = {key: one for key, one in shown.items() if key != "token" or OFFERED[2] in EXAMPLES}
    return build_steps(texts, there, **learned)
