"""From what the models of long texts explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import attention, reading, segments
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Blocks, Kind
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import filled
from explorer.labs import longtext, runs
from explorer.labs.longtext import query
from explorer.labs.runs import Run, Stored
from explorer.labs.transformer_xl import about, change, texts
from explorer.looks import Look, looks
from explorer.widgets import reread, writer
from models.transformer_xl.records import (
    EXAMPLES,
    HOTTEST,
    INTERVENTIONS,
    MAX_SEED,
    MAX_TEXT,
    MAX_WRITTEN,
    MEMORIES,
    PAGES,
    SEGMENTS,
    Again,
    Explanation,
    Losses,
    Reading,
    Request,
    Step,
    check,
    page,
)
from models.transformer_xl.weights import Overview, look, overview, travelled

Text = Mapping[str, str]
Value = dict[str, object]

LIMITS = writer.Limits(characters=MAX_TEXT, written=(0, MAX_WRITTEN, 16), temperature=(0.0, HOTTEST, 0.1), seed=MAX_SEED)
BERTVIZ = 48  # characters that bertviz shows, the last ones
SHOWN = 48  # blocks of the family map's picture
TRAINED = Request()
OWN = {"none", "shuffled"}  # interventions that leave the text's own past in the memory


@cache
def first() -> Stored[Request, Explanation] | None:
    """The stored first example, or None where none is shipped."""
    return runs.first("transformer_xl", EXAMPLES[0], Explanation)


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def spelled(request: Request) -> Value:
    """A request as the browser holds it."""
    return asdict(request)


def asked(given: Mapping[str, Any]) -> Request:
    """The request that the browser sends. KeyError or TypeError for what has not its form."""
    words = dict.fromkeys(("text", "page", "intervention"), longtext.words)
    return longtext.read(Request, given, {**words, "temperature": longtext.number})


def plain(request: Request) -> Request:
    """The same text for the models as trained."""
    return replace(request, memory=TRAINED.memory, segment=TRAINED.segment, intervention=TRAINED.intervention)


def again(request: Request, seen: Explanation) -> Again:
    """What was read and written, to be read under what a request changes."""
    return Again(replace(request, text="", page=EXAMPLES[0].page, length=0), tuple(one.text for one in seen.readings))


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def pages() -> list[writer.Page]:
    """The held-out pages that the bar offers."""
    named = {example.page: text for example, text in zip(EXAMPLES, texts.EXAMPLES, strict=True) if not example.text}
    return [writer.Page(name, *named[name], page(name), texts.SOURCES[name]) for name in PAGES]


def examples() -> list[Value]:
    """What the bar offers to begin with."""
    return [
        {**spelled(request), "query": query(request), "title": dict(title), "short": dict(short)}
        for request, (title, short) in zip(EXAMPLES, texts.EXAMPLES, strict=True)
    ]


def knobs() -> list[reread.Knob]:
    """What may be changed in the models."""
    named = texts.KNOBS
    return [
        reread.Range(
            "memory", named["memory"], MEMORIES, TRAINED.memory, named["unit"], named["beyond"], ("intervention", "cut", named["unused"])
        ),
        reread.Pick("intervention", named["intervention"], [(one, named[one]) for one in INTERVENTIONS], TRAINED.intervention),
        reread.Pick("segment", named["segment"], [(n, {"en": str(n), "zh": str(n)}) for n in SEGMENTS], TRAINED.segment),
    ]


def growing(request: Request, steps: Sequence[Step]) -> tuple[Value, ...]:
    """What the bar and the views draw while texts are read and written. steps: all so far."""
    given, address = len(check(request)), query(request)
    of = given + request.length
    parts: dict[str, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.variant, []).append(step)
    made = {variant: "".join(step.text for step in some) for variant, some in parts.items()}
    nats = {variant: np.concatenate([step.nats for step in some]) for variant, some in parts.items()}
    slowest = min(map(len, made.values()))
    how: dict[str, Any] = {"request": spelled(request), "query": address}
    bar = writer.running(spelled(request), address, min(slowest, given), max(0, slowest - given), request.length)
    grown = [reading.Growing(v, texts.NAMES[v], texts.ABOUT[v], text, nats[v]) for v, text in made.items()]
    return (
        bar,
        reading.growing(grown, given=given, of=of, segment=request.segment, **how),
        segments.growing(
            [segments.Growing(v, texts.NAMES[v], texts.ABOUT[v], text, request.memory if v == "xl" else 0) for v, text in made.items()],
            of=of,
            given=given,
            segment=request.segment,
            memory=request.memory,
            layers=about.layers(),
            intervention=request.intervention,
            book=texts.BOOK,
            **how,
        ),
        {},
    )


# ---- a finished run ----------------------------------------------------------------------------------------------------------------


def draw(seen: Explanation, request: Request, run: Run) -> tuple[Value, Value, Value, Value]:
    """What the bar, the text, the segments and the attention view draw of a run. It takes some tenths of a second: not in the thread that
    serves pages."""
    overviews = [overview(one) for one in seen.readings]
    addresses = [keep(one) for one in seen.readings]
    pick = telling(seen)
    how: dict[str, Any] = {"request": spelled(request), "query": query(request), "state": run.state}
    return (
        bar(seen, request, run),
        text_of(seen, request, overviews, addresses, pick, how),
        border(seen, request, addresses, pick, how),
        heads(seen, overviews, pick, run.state),
    )


def bar(seen: Explanation, request: Request, run: Run) -> Value:
    """What the input bar draws of a run."""
    address = query(request)
    costs = [float(one.nats[: seen.given].mean() / np.log(2)) for one in seen.readings]
    changes = filled(texts.UNDER, change=change.said(request)) if plain(request) != request else None
    return writer.done(
        spelled(request),
        address,
        state=run.state,
        milliseconds=run.milliseconds,
        device=run.device,
        given=seen.readings[0].text[: seen.given],
        readers=[
            writer.Reader(texts.NAMES[one.variant], bits, one.text[seen.given :]) for one, bits in zip(seen.readings, costs, strict=True)
        ],
        notice=longtext.remarks(run.notice if address else longtext.LONG_LINK, changes, longtext.unknown(seen.unknown, seen.unknown_count)),
        warning=unlike(costs[0], seen.given),
    )


def unlike(bits: float, given: int) -> Text | None:
    """What to say of a text that costs more than nearly every page of a held-out book; None for others, and for a few words."""
    limit = about.unusual()
    if limit is None or bits <= limit or given < LEAST:
        return None
    return filled(longtext.UNLIKE, bits=f"{bits:.2f}")


LEAST = 32  # characters below which a text says little about where it comes from


def telling(seen: Explanation) -> Value | None:
    """What is locked on arrival: a character, and a head that looks far across the border of its segment to say it."""
    inside = [one for one in seen.readings if one.memory]
    return reading.telling(inside or seen.readings, look, given=seen.given)


def keep(one: Reading) -> str:
    """The address of exact weights of a reading; column j of a row is the key at j, another book's last."""
    layers, heads, length = one.queries.shape[:3]

    def rows(layer: int, head: int, which: range) -> NDArray[np.float32]:
        return look(one, layer, head, list(which))

    size = sum(array.nbytes for array in (one.queries, one.keys, one.table))
    return looks().put(Look(rows, layers, heads, length, size), _digest(one))


def _digest(one: Reading) -> bytes:
    made = hashlib.sha256(f"{one.variant} {one.segment} {one.memory}".encode())
    for array in (one.queries, one.keys, one.remembered):
        made.update(array.tobytes())
    return made.digest()


def text_of(
    seen: Explanation,
    request: Request,
    overviews: Sequence[Overview],
    addresses: Sequence[str],
    pick: Value | None,
    how: Mapping[str, Any],
) -> Value:
    """What the text with its losses draws."""
    own = request.intervention in OWN
    models = []
    for one, whole, address in zip(seen.readings, overviews, addresses, strict=True):
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
    return reading.value(models, given=seen.given, segment=first_.segment, memory=first_.memory, unknown=unknown, pick=pick, **how)


def border(seen: Explanation, request: Request, addresses: Sequence[str], pick: Value | None, how: Mapping[str, Any]) -> Value:
    """What segments and memory draw."""
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
        for one, address in zip(seen.readings, addresses, strict=True)
    ]
    return segments.value(
        models,
        given=seen.given,
        segment=request.segment,
        memory=request.memory,
        layers=layers,
        intervention=request.intervention,
        pick=pick,
        book=texts.BOOK,
        **how,
    )


def kind(one: Reading, whole: Overview) -> Kind:
    """The attention of all layers and heads of a reading; pooled where it is long."""
    length = len(one.text)
    keys = [texts.START, *one.text[:-1]]
    starts = range(0, length, whole.by)
    blocks = None
    if attention.long(length):
        columns = one.keys.shape[2]
        address = keep(one) if columns == length else looks().put(_own(one), _digest(one) + b"own")
        blocks = Blocks(whole.by, whole.by, list(one.text), keys, address)
    return Kind(
        one.variant,
        texts.KIND[one.variant],
        whole.pooled,
        [one.text[i] for i in starts],
        [keys[i] for i in starts],
        mask="causal",
        question=texts.QUESTIONS[one.variant],
        roles=texts.ROLES,
        blocks=blocks,
        first_key=-1,
    )


def _own(one: Reading) -> Look:
    """Exact weights without those of another book's memory."""
    layers, heads_, length = one.queries.shape[:3]

    def rows(layer: int, head: int, which: range) -> NDArray[np.float32]:
        return look(one, layer, head, list(which))[:, :length]

    return Look(rows, layers, heads_, length, one.queries.nbytes + one.keys.nbytes + one.table.nbytes)


def heads(seen: Explanation, overviews: Sequence[Overview], pick: Value | None, state: str) -> Value:
    """What the attention view draws: both models."""
    kinds = [kind(one, whole) for one, whole in zip(seen.readings, overviews, strict=True)]
    place = None
    if pick is not None:
        number = next(i for i, one in enumerate(seen.readings) if one.variant == pick["model"])
        layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
        position = int(str(pick["pos"]))
        row = position // overviews[number].by
        column = int(look(seen.readings[number], layer, head, [position])[0, : len(seen.readings[number].text)].argmax())
        place = {"kind": pick["model"], "layer": layer, "head": head, "row": row, "col": min(row, column // overviews[number].by)}
    found = [job for one, whole in zip(seen.readings, overviews, strict=True) for job in jobs(one.variant, whole, one.segment)]
    return attention.value(kinds, pick=place, found=found, state=state, silences=False)


def jobs(variant: str, whole: Overview, segment: int, least: float = 0.25) -> list[Value]:
    """Heads that do one recognisable thing: they look at the last character, the one before it, or mostly into the memory."""
    shares = {
        "written": whole.distances[..., 0],
        "before": whole.distances[..., 1] if whole.distances.shape[2] > 1 else np.zeros(whole.distances.shape[:2]),
        "far": whole.distances[..., segment:].sum(2),
    }
    found: list[Value] = []
    for job, share in shares.items():
        for place in np.argsort(-share, axis=None)[:2]:
            layer, head = (int(n) for n in np.unravel_index(int(place), share.shape))
            score = round(float(min(1, share[layer, head])), 4)
            if score >= least:
                found.append({"kind": variant, "layer": layer, "head": head, "job": job, "name": dict(texts.JOBS[job]), "score": score})
    return sorted(found, key=lambda one: -float(str(one["score"])))


def bertviz(seen: Explanation) -> drawing.Attention:
    """The attention among the last characters as bertviz shows it; of the model with a memory, where it is there."""
    one = seen.readings[0]
    layers, heads_, length = one.queries.shape[:3]
    rows = list(range(max(0, length - BERTVIZ), length))
    weights = np.stack([np.stack([look(one, layer, head, rows)[:, rows] for head in range(heads_)]) for layer in range(layers)])
    keys = [texts.START, *one.text]
    return drawing.Attention(
        one.variant, texts.NAMES[one.variant], weights, [one.text[i] for i in rows], [keys[i] for i in rows], causal=True
    )


def compared(request: Request, before: Explanation, after: Explanation, losses: Losses) -> Value:
    """What the panel draws of a comparison."""
    return change.done(request, before, after, losses, spelled(request))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail() -> Thumbnail | None:
    """Where the first example's model looks, for the family map: every block of characters at its own segment and at the memory."""
    kept = first()
    if kept is None:
        return None
    maps = overview(kept.seen.readings[0], SHOWN).pooled
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
    shown: dict[str, tuple[str, Mapping[str, str], str]] = {
        "fixed": ("", {"model": "absolute", "pos": str(border_ + 1)}, "reading"),
        "memory": ("", here, "segments"),
        "depth": ("", {**here, "head": "mean"}, "segments"),
        "terms": ("", {**here, "terms": "open"}, ""),
        "cut": (query(replace(start, intervention="cut")), {"model": "xl", "pos": str(border_ + 1)}, "reading"),
        "foreign": (query(EXAMPLES[2]), {"model": "xl"}, "reading"),
        "bought": ("", {"bought": "open"}, ""),
    }
    return tuple(GuidedStep(title, said, *shown[key]) for key, title, said in texts.STEPS)
