"""The views of Transformer-XL, from explanations to values of the widgets: pure functions of
records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.contract.control_kinds import Control, ShippedText
from explorer.contract.controls import spell_query
from explorer.contract.lab import GuidedStep, Text, Thumbnail
from explorer.figures import attention, head_jobs, reading
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Kind
from explorer.labs.transformer_xl import about, texts
from explorer.labs.transformer_xl.figures import segments
from explorer.page import runs
from explorer.page.guided_steps import Shown, build_steps
from explorer.panels import passages
from explorer.values.exact_rows import keep_rows
from models.transformer_xl.records import (
    EXAMPLES,
    PAGES,
    Explanation,
    Reading,
    Request,
    Step,
    check,
    page,
)
from models.transformer_xl.weights import Overview, find_farthest_known, look, overview

Value = dict[str, object]

SHOWN = 48  # blocks of the picture on the family map
TRAINED = Request()
OWN = {"none", "shuffled"}  # interventions that leave the text's own past in the memory


first = runs.load_first_once("transformer_xl", EXAMPLES[0], Explanation)


# ---- the input bar


def list_controls() -> tuple[Control, ...]:
    """Return the controls of the text, with the held-out pages."""
    named = {
        example.page: text
        for example, text in zip(EXAMPLES, texts.EXAMPLES, strict=True)
        if not example.text
    }
    return passages.list_controls(
        [ShippedText(name, *named[name], page(name), texts.SOURCES[name]) for name in PAGES],
        step=16,
    )


def _measure_bits(explanation: Explanation) -> list[float]:
    """Return the bits per character of the given text, by each model."""
    return [float(one.nats[: explanation.given].mean() / np.log(2)) for one in explanation.readings]


def lines(explanation: Explanation, request: Request) -> list[Text]:
    """Return the lines of a run's text file."""
    given = explanation.readings[0].text[: explanation.given]
    read = [
        (texts.NAMES[one.variant], bits, one.text[explanation.given :])
        for one, bits in zip(explanation.readings, _measure_bits(explanation), strict=True)
    ]
    return passages.write_lines(
        request, given, None if request.text else texts.SOURCES[request.page], read
    )


def describe_endings(explanation: Explanation, _request: Request) -> list[Value]:
    """Return why the written text ends."""
    return passages.describe_endings(len(explanation.readings[0].text) - explanation.given)


def notice(_request: Request, explanation: Explanation) -> Text | None:
    """Return a note on characters that no model was trained on."""
    return passages.warn_of_unknown_characters(explanation.unknown, explanation.unknown_count)


def describe_warning(request: Request, explanation: Explanation) -> Text | None:
    """Return a warning for a text unlike the books of training, read by the model as trained."""
    start = Request()
    changed = ("memory", "segment", "intervention")
    if any(getattr(request, field) != getattr(start, field) for field in changed):
        return None
    return passages.warn_of_unlikely_text(
        _measure_bits(explanation)[0], explanation.given, about.find_unusual_bound()
    )


# ---- a run under way


def _group_steps(steps: Sequence[Step]) -> dict[str, list[Step]]:
    """Return the steps by model."""
    parts: dict[str, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.variant, []).append(step)
    return parts


def progress(steps: Sequence[Step], request: Request) -> Text:
    """Return the sentence that says how far the slowest model has come."""
    made = min(sum(len(step.text) for step in some) for some in _group_steps(steps).values())
    return passages.describe_progress(len(check(request)), made, request.length)


def draw_growing_text(steps: Sequence[Step], request: Request) -> Value:
    """Draw the text while it is read and written."""
    return passages.draw_growing_text(
        _group_steps(steps), texts.NAMES, texts.ABOUT, request, len(check(request))
    )


def draw_growing_border(steps: Sequence[Step], request: Request) -> Value:
    """Draw segments and memory while the text is read and written."""
    given = len(check(request))
    return segments.draw_growing_segments(
        [
            segments.Growing(
                v,
                texts.NAMES[v],
                texts.ABOUT[v],
                "".join(step.text for step in some),
                request.memory if v == "xl" else 0,
            )
            for v, some in _group_steps(steps).items()
        ],
        of=given + request.length,
        given=given,
        segment=request.segment,
        memory=request.memory,
        layers=about.count_layers(),
        intervention=request.intervention,
        book=texts.BOOK,
        query=spell_query(request),
    )


# ---- a finished run


@dataclass(frozen=True)
class Run:
    """A run with what all of its pictures need: overviews and addresses of exact weights of each
    reading, and the first selection."""

    seen: Explanation
    overviews: tuple[Overview, ...]
    addresses: tuple[str, ...]
    pick: Value | None


def prepare(explanation: Explanation, _request: Request) -> Run:
    """Prepare a run with what all of its pictures need."""
    return Run(
        explanation,
        tuple(map(overview, explanation.readings)),
        tuple(map(_keep_exact_rows, explanation.readings)),
        find_telling_place(explanation),
    )


def find_telling_place(explanation: Explanation) -> Value | None:
    """Return the selection on arrival: a character, and a head that looks far across the border of
    its segment to predict it; far within the segment, where no head is sure of what lies before the
    border."""
    inside = [one for one in explanation.readings if one.memory]
    for one in inside:
        crossing = reading.find_farthest_look(one, _read_before_border, given=explanation.given)
        if crossing and crossing[0]:
            return crossing[1]
    return reading.find_telling_place(inside or explanation.readings, look, given=explanation.given)


def _read_before_border(
    one: Reading, layer: int, head: int, positions: Sequence[int]
) -> NDArray[np.float32]:
    """Return the rows of `look` without the keys of a query's own segment."""
    border = np.array(positions)[:, None] // one.segment * one.segment
    weights = look(one, layer, head, positions)
    return np.where(np.arange(weights.shape[1]) < border, weights, 0)


def _keep_exact_rows(one: Reading, own: bool = False) -> str:
    """Keep the exact weights of a reading and return their address; column j of a row is the key at
    j, another book's last. own: leave another book's columns out."""
    end = one.queries.shape[2] if own else one.keys.shape[2]

    def rows(layer: int, head: int, which: Sequence[int]) -> NDArray[np.float32]:
        return look(one, layer, head, which)[:, :end]

    return keep_rows(
        f"{one.variant} {one.segment} {one.memory} {end}",
        rows,
        one.queries,
        one.keys,
        one.table,
        one.remembered,
    )


def draw_text(run: Run, request: Request, state: str) -> Value:
    """Draw the text with its losses."""
    seen = run.seen
    own = request.intervention in OWN
    models = []
    for one, whole, address in zip(seen.readings, run.overviews, run.addresses, strict=True):
        layers, heads_, length = one.queries.shape[:3]
        models.append(
            reading.Model(
                one.variant,
                texts.NAMES[one.variant],
                texts.ABOUT[one.variant],
                one.text,
                one.nats,
                look=address,
                layers=layers,
                heads=heads_,
                profiles=whole.distances[..., :length],
                first_seen=np.arange(length) // one.segment * one.segment if one.memory else None,
                memory=one.memory if own else 0,
            )
        )
    first_ = seen.readings[0]
    unknown = np.flatnonzero(first_.characters[: seen.given] == 0).tolist()
    return reading.draw_reading(
        models,
        given=seen.given,
        segment=first_.segment,
        memory=first_.memory,
        unknown=unknown,
        pick=run.pick,
        query=spell_query(request),
        state=state,
    )


def draw_border(run: Run, request: Request, state: str) -> Value:
    """Draw segments and memory."""
    seen = run.seen
    own = request.intervention in OWN
    layers = seen.readings[0].queries.shape[0]
    models = [
        segments.Model(
            one.variant,
            texts.NAMES[one.variant],
            texts.ABOUT[one.variant],
            one.text,
            one.across,
            one.remembered,
            address,
            find_farthest_known(len(one.text), one.segment, one.memory if own else 0, layers),
            one.memory,
        )
        for one, address in zip(seen.readings, run.addresses, strict=True)
    ]
    return segments.draw_segments(
        models,
        given=seen.given,
        segment=request.segment,
        memory=request.memory,
        layers=layers,
        intervention=request.intervention,
        pick=run.pick,
        book=texts.BOOK,
        query=spell_query(request),
        state=state,
    )


def draw_attention_kind(one: Reading, whole: Overview) -> Kind:
    """Return the attention of all layers and heads of a reading; pooled where it is long."""
    keys = [texts.START, *one.text[:-1]]
    return attention.make_pooled_kind(
        one.variant,
        texts.KIND[one.variant],
        whole.pooled,
        whole.by,
        one.text,
        keys,
        lambda: _keep_exact_rows(one, own=True),
        question=texts.QUESTIONS[one.variant],
        roles=texts.ROLES,
        first_key=-1,
    )


def draw_heads(run: Run, request: Request, state: str) -> Value:
    """Draw the attention view: both models."""
    seen, overviews, pick = run.seen, run.overviews, run.pick
    kinds = [
        draw_attention_kind(one, whole) for one, whole in zip(seen.readings, overviews, strict=True)
    ]
    place = None
    if pick is not None:
        one, whole = next(
            (one, whole)
            for one, whole in zip(seen.readings, overviews, strict=True)
            if one.variant == pick["model"]
        )
        place = attention.find_locked_cell(
            one.variant, pick, whole.by, lambda *where: look(one, *where)[:, : len(one.text)]
        )
    found = [
        job
        for one, whole in zip(seen.readings, overviews, strict=True)
        for job in find_jobs(one.variant, whole, one.segment)
    ]
    return attention.draw_attention(
        kinds, pick=place, found=found, query=spell_query(request), state=state, silences=False
    )


def find_jobs(variant: str, whole: Overview, segment: int, least: float = 0.25) -> list[Value]:
    """Find heads that do one recognisable thing: they look at the last character, the one before
    it, or mostly into the memory."""
    shares = {
        "written": whole.distances[..., 0],
        "before": (
            whole.distances[..., 1]
            if whole.distances.shape[2] > 1
            else np.zeros(whole.distances.shape[:2])
        ),
        "far": whole.distances[..., segment:].sum(2),
    }
    return head_jobs.find_jobs_by_score(variant, shares, texts.JOBS, least)


def list_for_bertviz(explanation: Explanation) -> drawing.Attention:
    """Return the attention among the last characters as bertviz shows it; that of the model with a
    memory, where it is shipped."""
    one = explanation.readings[0]
    return passages.show_last_characters(
        one.variant, texts.NAMES[one.variant], one.text, one.queries.shape[:2], partial(look, one)
    )


# ---- the family map and the guided steps


def thumbnail(explanation: Explanation) -> Thumbnail:
    """Draw the attention of the first example's model, for the family map: every block of
    characters at its own segment and at the memory."""
    maps = overview(explanation.readings[0], SHOWN).pooled
    mean = np.sqrt(maps.mean((0, 1)))
    weights = (mean / mean.max(1, keepdims=True)).astype(np.float32)
    row = len(weights) - 4
    return Thumbnail(np.clip(weights, 0, 1), pick=(row, int(weights[row, : row - 6].argmax())))


def steps() -> tuple[GuidedStep, ...]:
    """Return the guided steps: inputs as permalinks, with the views and panels in which these runs
    show the point."""
    kept = first()
    start = EXAMPLES[0]
    border_, far, head = 2 * TRAINED.segment, 5 * TRAINED.segment + 20, "3.1"
    if kept is not None:
        pick = find_telling_place(kept.seen)
        if pick is not None:
            far, head = int(str(pick["pos"])), str(pick["head"])
    here = {"model": "xl", "pos": str(far), "head": head}
    shown: dict[str, Shown] = {
        "fixed": ("", {"model": "absolute", "pos": str(border_ + 1)}, "reading"),
        "memory": ("", here, "segments"),
        "depth": ("", {**here, "head": "mean"}, "segments"),
        "terms": ("", {**here, "terms": "open"}, ""),
        "cut": (
            spell_query(replace(start, intervention="cut")),
            {"model": "xl", "pos": str(border_ + 1)},
            "wave",
        ),
        "foreign": (spell_query(EXAMPLES[2]), {"model": "xl"}, "reading"),
        "memories": ("", {"memories": "open"}, ""),
    }
    return build_steps(texts, shown)
