"""From what the models of long texts explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer import runs
from explorer.controls import Control, Page, query
from explorer.figures import attention, reading, segments
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Kind
from explorer.lab import GuidedStep, Text, Thumbnail
from explorer.labs import passages
from explorer.labs.guided import Shown, guided
from explorer.labs.transformer_xl import about, texts
from explorer.looks import keep
from models.transformer_xl.records import EXAMPLES, PAGES, Explanation, Reading, Request, Step, check, page
from models.transformer_xl.weights import Overview, look, overview, travelled

Value = dict[str, object]

SHOWN = 48  # blocks of the family map's picture
TRAINED = Request()
OWN = {"none", "shuffled"}  # interventions that leave the text's own past in the memory


first = runs.kept("transformer_xl", EXAMPLES[0], Explanation)


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def asked() -> tuple[Control, ...]:
    """The controls of the text, with the held-out pages."""
    named = {example.page: text for example, text in zip(EXAMPLES, texts.EXAMPLES, strict=True) if not example.text}
    return passages.asked([Page(name, *named[name], page(name), texts.SOURCES[name]) for name in PAGES], step=16)


def _costs(seen: Explanation) -> list[float]:
    """Bits per character of the text given, by each model."""
    return [float(one.nats[: seen.given].mean() / np.log(2)) for one in seen.readings]


def lines(seen: Explanation, request: Request) -> list[Text]:
    """What a text file of a run says."""
    given = seen.readings[0].text[: seen.given]
    read = [(texts.NAMES[one.variant], bits, one.text[seen.given :]) for one, bits in zip(seen.readings, _costs(seen), strict=True)]
    return passages.lines(request, given, None if request.text else texts.SOURCES[request.page], read)


def notice(_request: Request, seen: Explanation) -> Text | None:
    """What to say of characters that no model has seen."""
    return passages.unknown(seen.unknown, seen.unknown_count)


def warning(_request: Request, seen: Explanation) -> Text | None:
    """What to say of a text that is unlike the books of training."""
    return passages.unlike(_costs(seen)[0], seen.given, about.unusual())


# ---- a run under way ---------------------------------------------------------------------------------------------------------------


def _made(steps: Sequence[Step]) -> dict[str, list[Step]]:
    """Steps by model."""
    parts: dict[str, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.variant, []).append(step)
    return parts


def progress(steps: Sequence[Step], request: Request) -> Text:
    """How far the slowest model has come."""
    made = min(sum(len(step.text) for step in some) for some in _made(steps).values())
    return passages.progress(len(check(request)), made, request.length)


def text_growing(steps: Sequence[Step], request: Request) -> Value:
    """What the text draws while it is read and written."""
    return passages.growing(_made(steps), texts.NAMES, texts.ABOUT, request, len(check(request)))


def border_growing(steps: Sequence[Step], request: Request) -> Value:
    """What segments and memory draw meanwhile."""
    given = len(check(request))
    return segments.growing(
        [
            segments.Growing(v, texts.NAMES[v], texts.ABOUT[v], "".join(step.text for step in some), request.memory if v == "xl" else 0)
            for v, some in _made(steps).items()
        ],
        of=given + request.length,
        given=given,
        segment=request.segment,
        memory=request.memory,
        layers=about.layers(),
        intervention=request.intervention,
        book=texts.BOOK,
        query=query(request),
    )


# ---- a finished run ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run with what all of its pictures need: overviews and addresses of exact weights of each reading, and what is looked at first."""

    seen: Explanation
    overviews: tuple[Overview, ...]
    addresses: tuple[str, ...]
    pick: Value | None


def prepare(seen: Explanation, _request: Request) -> Run:
    """A run with what all of its pictures need."""
    return Run(seen, tuple(map(overview, seen.readings)), tuple(map(_address, seen.readings)), telling(seen))


def telling(seen: Explanation) -> Value | None:
    """What is locked on arrival: a character, and a head that looks far across the border of its segment to say it; far within it, where
    none is sure of what lies before the border."""
    inside = [one for one in seen.readings if one.memory]
    for one in inside:
        crossing = reading.farthest(one, _before_the_border, given=seen.given)
        if crossing and crossing[0]:
            return crossing[1]
    return reading.telling(inside or seen.readings, look, given=seen.given)


def _before_the_border(one: Reading, layer: int, head: int, positions: Sequence[int]) -> NDArray[np.float32]:
    """`look` without the keys of a query's own segment."""
    border = np.array(positions)[:, None] // one.segment * one.segment
    weights = look(one, layer, head, positions)
    return np.where(np.arange(weights.shape[1]) < border, weights, 0)


def _address(one: Reading, own: bool = False) -> str:
    """The address of exact weights of a reading; column j of a row is the key at j, another book's last, and those left out where only its
    own are meant."""
    end = one.queries.shape[2] if own else one.keys.shape[2]

    def rows(layer: int, head: int, which: Sequence[int]) -> NDArray[np.float32]:
        return look(one, layer, head, which)[:, :end]

    return keep(f"{one.variant} {one.segment} {one.memory} {end}", rows, one.queries, one.keys, one.table, one.remembered)


def text_of(run: Run, request: Request, state: str) -> Value:
    """What the text with its losses draws."""
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
    return reading.value(
        models,
        given=seen.given,
        segment=first_.segment,
        memory=first_.memory,
        unknown=unknown,
        pick=run.pick,
        query=query(request),
        state=state,
    )


def border(run: Run, request: Request, state: str) -> Value:
    """What segments and memory draw."""
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
            travelled(len(one.text), one.segment, one.memory if own else 0, layers),
            one.memory,
        )
        for one, address in zip(seen.readings, run.addresses, strict=True)
    ]
    return segments.value(
        models,
        given=seen.given,
        segment=request.segment,
        memory=request.memory,
        layers=layers,
        intervention=request.intervention,
        pick=run.pick,
        book=texts.BOOK,
        query=query(request),
        state=state,
    )


def kind(one: Reading, whole: Overview) -> Kind:
    """The attention of all layers and heads of a reading; pooled where it is long."""
    keys = [texts.START, *one.text[:-1]]
    return attention.blocked(
        one.variant,
        texts.KIND[one.variant],
        whole.pooled,
        whole.by,
        one.text,
        keys,
        lambda: _address(one, own=True),
        question=texts.QUESTIONS[one.variant],
        roles=texts.ROLES,
        first_key=-1,
    )


def heads(run: Run, request: Request, state: str) -> Value:
    """What the attention view draws: both models."""
    seen, overviews, pick = run.seen, run.overviews, run.pick
    kinds = [kind(one, whole) for one, whole in zip(seen.readings, overviews, strict=True)]
    place = None
    if pick is not None:
        one, whole = next((one, whole) for one, whole in zip(seen.readings, overviews, strict=True) if one.variant == pick["model"])
        place = attention.cell(one.variant, pick, whole.by, lambda *where: look(one, *where)[:, : len(one.text)])
    found = [job for one, whole in zip(seen.readings, overviews, strict=True) for job in jobs(one.variant, whole, one.segment)]
    return attention.value(kinds, pick=place, found=found, query=query(request), state=state, silences=False)


def jobs(variant: str, whole: Overview, segment: int, least: float = 0.25) -> list[Value]:
    """Heads that do one recognisable thing: they look at the last character, the one before it, or mostly into the memory."""
    shares = {
        "written": whole.distances[..., 0],
        "before": whole.distances[..., 1] if whole.distances.shape[2] > 1 else np.zeros(whole.distances.shape[:2]),
        "far": whole.distances[..., segment:].sum(2),
    }
    return attention.working(variant, shares, texts.JOBS, least)


def bertviz(seen: Explanation) -> drawing.Attention:
    """The attention among the last characters as bertviz shows it; of the model with a memory, where it is there."""
    one = seen.readings[0]
    return passages.last(one.variant, texts.NAMES[one.variant], one.text, one.queries.shape[:2], partial(look, one))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail(seen: Explanation) -> Thumbnail:
    """Where the first example's model looks, for the family map: every block of characters at its own segment and at the memory."""
    maps = overview(seen.readings[0], SHOWN).pooled
    mean = np.sqrt(maps.mean((0, 1)))
    weights = (mean / mean.max(1, keepdims=True)).astype(np.float32)
    row = len(weights) - 4
    return Thumbnail(np.clip(weights, 0, 1), pick=(row, int(weights[row, : row - 6].argmax())))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views and panels that show what these runs have to tell."""
    kept = first()
    start = EXAMPLES[0]
    border_, far, head = 2 * TRAINED.segment, 5 * TRAINED.segment + 20, "3.1"
    if kept is not None:
        pick = telling(kept.seen)
        if pick is not None:
            far, head = int(str(pick["pos"])), str(pick["head"])
    here = {"model": "xl", "pos": str(far), "head": head}
    shown: dict[str, Shown] = {
        "fixed": ("", {"model": "absolute", "pos": str(border_ + 1)}, "reading"),
        "memory": ("", here, "segments"),
        "depth": ("", {**here, "head": "mean"}, "segments"),
        "terms": ("", {**here, "terms": "open"}, ""),
        "cut": (query(replace(start, intervention="cut")), {"model": "xl", "pos": str(border_ + 1)}, "wave"),
        "foreign": (query(EXAMPLES[2]), {"model": "xl"}, "reading"),
        "memories": ("", {"memories": "open"}, ""),
    }
    return guided(texts, shown)
