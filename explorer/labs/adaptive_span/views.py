"""From what the models of adaptive span explain to what the widgets draw: pure functions of records, no model and no Gradio."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures import attention, masks, reading
from explorer.figures import bertviz as drawing
from explorer.figures.attention import Blocks, Kind
from explorer.lab import GuidedStep, Thumbnail
from explorer.labels import filled
from explorer.labs import longtext, runs
from explorer.labs.adaptive_span import about, change, texts
from explorer.labs.longtext import query
from explorer.labs.runs import Run, Stored
from explorer.labs.wiring import whole
from explorer.looks import Look, looks
from explorer.widgets import reread, writer
from models.adaptive_span.records import (
    EVERY,
    EXAMPLES,
    HOTTEST,
    MAX_SEED,
    MAX_TEXT,
    MAX_WRITTEN,
    OFFERED,
    PAGES,
    VARIANTS,
    Again,
    Explanation,
    Losses,
    Request,
    Step,
    page,
    read_text,
)
from models.adaptive_span.weights import Overview, look, overview
from models.errors import InputError

Text = Mapping[str, str]
Value = dict[str, object]
Array = NDArray[np.float32]

LIMITS = writer.Limits(characters=MAX_TEXT, written=(0, MAX_WRITTEN, 20), temperature=(0.0, HOTTEST, 0.1), seed=MAX_SEED)
BERTVIZ = 48  # characters that bertviz shows, the last ones
SHOWN = 48  # blocks of the family map's picture
LEAST = 32  # characters below which a text says little about where it comes from


@cache
def first() -> Stored[Request, Explanation] | None:
    """The stored first example, or None where none is shipped."""
    return runs.first("adaptive_span", EXAMPLES[0], Explanation)


# ---- requests ----------------------------------------------------------------------------------------------------------------------


def spelled(request: Request) -> Value:
    """A request as the browser holds it."""
    return {**asdict(request), "spans": [list(span) for span in request.spans]}


def asked(given: Mapping[str, Any]) -> Request:
    """The request that the browser sends. KeyError, TypeError or ValueError for what has not its form."""

    def spans(value: Any) -> tuple[tuple[int, int, float], ...]:
        return tuple((whole(layer), whole(head), longtext.number(z)) for layer, head, z in value)

    words = dict.fromkeys(("text", "page", "variant"), longtext.words)
    return longtext.read(Request, given, {**words, "temperature": longtext.number, "spans": spans})


def plain(request: Request) -> Request:
    """The same text for the model as trained."""
    return replace(request, spans=())


def again(request: Request, seen: Explanation) -> Again:
    """What was read and written, to be read under the spans that a request forces."""
    return Again(replace(request, text="", page=PAGES[0], length=0), seen.text)


def there(request: Request) -> None:
    """InputError where a request's model is not shipped; what is no model at all, the model's side refuses."""
    known = about.facts()
    if request.variant in known or request.variant not in VARIANTS:
        return
    listed = {language: ", ".join(texts.NAMES[variant][language] for variant in known) or "–" for language in ("en", "zh")}
    said = filled(texts.NOT_THERE, variant=texts.NAMES[request.variant], variants=listed)
    raise InputError("variant", en=said["en"], zh=said["zh"])


# ---- the input bar -----------------------------------------------------------------------------------------------------------------


def offered() -> tuple[tuple[Request, tuple[Text, Text]], ...]:
    """Our examples whose models are there, and what each is called."""
    return tuple((request, named) for request, named in zip(OFFERED, texts.EXAMPLES, strict=True) if request in EXAMPLES)


def pages() -> list[writer.Page]:
    """The held-out pages that the bar offers."""
    named = {example.page: text for example, text in zip(OFFERED, texts.EXAMPLES, strict=True) if not example.text}
    return [writer.Page(name, *named[name], page(name), texts.SOURCES[name]) for name in PAGES]


def examples() -> list[Value]:
    """What the bar offers to begin with."""
    return [
        {**spelled(request), "query": query(request), "title": dict(title), "short": dict(short)} for request, (title, short) in offered()
    ]


def choices() -> list[writer.Choice]:
    """Which model reads."""
    return [writer.Choice("variant", texts.MODEL_CHOICE, [(v, texts.BRIEF[v]) for v in about.facts() or VARIANTS[:1]])]


def knobs() -> list[reread.Knob]:
    """What may be changed in the models."""
    layers, heads_, span, ramp = about.size()
    return [reread.Spans(layers=layers, heads=heads_, span=span, ramp=ramp)]


def growing(request: Request, steps: Sequence[Step]) -> tuple[Value, ...]:
    """What the bar and the views draw while a text is read and written. steps: all so far."""
    given, address = len(read_text(request)), query(request)
    of = given + request.length
    text, nats = "".join(step.text for step in steps), np.concatenate([step.nats for step in steps])
    how: dict[str, Any] = {"request": spelled(request), "query": address}
    variant = request.variant
    bar = writer.running(spelled(request), address, min(len(text), given), max(0, len(text) - given), request.length)
    grown = reading.Growing(variant, texts.NAMES[variant], texts.ABOUT[variant], text, nats)
    return (
        bar,
        reading.growing([grown], given=given, of=of, segment=0, **how),
        masks.growing(variant=variant, name=texts.NAMES[variant], text=text, given=given, of=of, **how),
        {},
    )


# ---- a finished run ----------------------------------------------------------------------------------------------------------------


def draw(seen: Explanation, request: Request, run: Run) -> tuple[Value, Value, Value, Value]:
    """What the bar, the text, the masks and the attention view draw of a run. It takes some tenths of a second: not in the thread that
    serves pages."""
    whole = overview(seen)
    before, after = (keep(seen, name, part) for name, part in (("before", _before), ("after", _after)))
    pick = telling(seen)
    how: dict[str, Any] = {"request": spelled(request), "query": query(request), "state": run.state}
    return (
        bar(seen, request, run),
        text_of(seen, whole, after, pick, how),
        spans_of(seen, whole, (before, after), pick, how),
        heads(seen, whole, (before, after), pick, run.state),
    )


def bar(seen: Explanation, request: Request, run: Run) -> Value:
    """What the input bar draws of a run."""
    address = query(request)
    read = {seen.variant: seen.nats} | {one.variant: one.nats for one in seen.beside}
    costs = {variant: float(nats[: seen.given].mean() / np.log(2)) for variant, nats in read.items()}
    changes = filled(texts.UNDER, change=change.said(request)) if request.spans else None
    strange = [letter for letter, flag in zip(seen.text[: seen.given], seen.unknown, strict=False) if flag]
    return writer.done(
        spelled(request),
        address,
        state=run.state,
        milliseconds=run.milliseconds,
        device=run.device,
        given=seen.text[: seen.given],
        readers=[
            writer.Reader(texts.NAMES[variant], bits, seen.text[seen.given :] if variant == seen.variant else None)
            for variant, bits in costs.items()
        ],
        notice=longtext.remarks(
            run.notice if address else longtext.LONG_LINK, changes, longtext.unknown(tuple(dict.fromkeys(strange)), len(strange))
        ),
        warning=unlike(costs[seen.variant], seen.given) if not request.spans else None,
    )


def unlike(bits: float, given: int) -> Text | None:
    """What to say of a text that costs more than nearly every page of a held-out book; None for others, and for a few words."""
    limit = about.unusual()
    if limit is None or bits <= limit or given < LEAST:
        return None
    return filled(longtext.UNLIKE, bits=f"{bits:.2f}")


def _before(seen: Explanation, layer: int, head: int, rows: Sequence[int]) -> Array:
    return look(seen, layer, head, rows).before


def _after(seen: Explanation, layer: int, head: int, rows: Sequence[int]) -> Array:
    return look(seen, layer, head, rows).after


def keep(seen: Explanation, name: str, part: Callable[[Explanation, int, int, Sequence[int]], Array]) -> str:
    """The address of exact weights of a run. name: before or after the mask; part: those weights."""
    layers, heads_, length = seen.queries.shape[:3]
    made = hashlib.sha256(f"{name} {seen.variant} {seen.span} {seen.ramp}".encode())
    for array in (seen.queries, seen.keys, seen.z):
        made.update(array.tobytes())

    def rows(layer: int, head: int, which: range) -> Array:
        return part(seen, layer, head, list(which))

    size = sum(array.nbytes for array in (seen.queries, seen.keys, seen.table))
    return looks().put(Look(rows, layers, heads_, length, size), made.digest())


def telling(seen: Explanation) -> Value | None:
    """What is locked on arrival: a character, and a head that looks far to say it."""
    return reading.telling([seen], _after, given=seen.given)


def text_of(seen: Explanation, whole: Overview, address: str, pick: Value | None, how: Mapping[str, Any]) -> Value:
    """What the text with its losses draws: the model that ran, and beside it one that read the same."""
    layers, heads_, length = seen.queries.shape[:3]
    models = [
        reading.Model(
            seen.variant,
            texts.NAMES[seen.variant],
            texts.ABOUT[seen.variant],
            seen.text,
            seen.nats,
            look=address,
            layers=layers,
            heads=heads_,
            profiles=whole.distances_after[..., :length],
            ends=seen.z.mean(2),
        ),
        *(reading.Model(one.variant, texts.NAMES[one.variant], texts.ABOUT[one.variant], seen.text, one.nats) for one in seen.beside[:1]),
    ]
    unknown = np.flatnonzero(seen.unknown).tolist()
    return reading.value(models, given=seen.given, segment=0, memory=0, unknown=unknown, pick=pick, **how)


def spans_of(seen: Explanation, whole: Overview, addresses: tuple[str, str], pick: Value | None, how: Mapping[str, Any]) -> Value:
    """What the masks draw."""
    learned = seen.learned if seen.forced.any() and not np.isnan(seen.learned).any() else None
    return masks.value(
        variant=seen.variant,
        name=texts.NAMES[seen.variant],
        text=seen.text,
        given=seen.given,
        z=seen.z,
        learned=learned,
        forced=seen.forced,
        span=seen.span,
        ramp=seen.ramp,
        before=whole.distances_before,
        after=whole.distances_after,
        look_before=addresses[0],
        look_after=addresses[1],
        pick=pick,
        **how,
    )


def heads(seen: Explanation, whole: Overview, addresses: tuple[str, str], pick: Value | None, state: str) -> Value:
    """What the attention view draws: under the mask, and before it."""
    length = len(seen.text)
    keys = [texts.START, *seen.text[:-1]]
    starts = range(0, length, whole.by)
    kinds = [
        Kind(
            name,
            texts.KIND[name],
            pooled,
            [seen.text[i] for i in starts],
            [keys[i] for i in starts],
            mask="causal",
            question=texts.QUESTIONS[name],
            roles=texts.ROLES,
            blocks=Blocks(whole.by, whole.by, list(seen.text), keys, address) if attention.long(length) else None,
            first_key=-1,
        )
        for name, pooled, address in (("after", whole.pooled_after, addresses[1]), ("before", whole.pooled_before, addresses[0]))
    ]
    place = None
    if pick is not None:
        layer, head = (int(n) - 1 for n in str(pick["head"]).split("."))
        position = int(str(pick["pos"]))
        column = int(_after(seen, layer, head, [position])[0].argmax())
        place = {"kind": "after", "layer": layer, "head": head, "row": position // whole.by, "col": column // whole.by}
    return attention.value(kinds, pick=place, found=jobs(seen, whole), state=state, silences=False)


def jobs(seen: Explanation, whole: Overview, least: float = 0.25) -> list[Value]:
    """Heads that do one recognisable thing: they look at the last character, the one before it, or far."""
    far = whole.distances_after
    reach = np.minimum(seen.span, seen.z.mean(2) + seen.ramp) / seen.span
    shares = {"written": far[..., 0], "before": far[..., 1] if far.shape[2] > 1 else np.zeros(far.shape[:2]), "far": reach}
    found: list[Value] = []
    for job, share in shares.items():
        for place in np.argsort(-share, axis=None)[: 1 if job == "far" else 2]:
            layer, head = (int(n) for n in np.unravel_index(int(place), share.shape))
            score = round(float(min(1, share[layer, head])), 4)
            if score >= (0.1 if job == "far" else least):
                one = {"layer": layer, "head": head, "job": job, "name": dict(texts.JOBS[job]), "score": score}
                found += [{"kind": name, **one} for name in texts.KIND]
    return sorted(found, key=lambda one: -float(str(one["score"])))


def bertviz(seen: Explanation) -> drawing.Attention:
    """The attention among the last characters as bertviz shows it."""
    layers, heads_, length = seen.queries.shape[:3]
    rows = list(range(max(0, length - BERTVIZ), length))
    weights = np.stack([np.stack([_after(seen, layer, head, rows)[:, rows] for head in range(heads_)]) for layer in range(layers)])
    keys = [texts.START, *seen.text]
    return drawing.Attention(
        seen.variant, texts.NAMES[seen.variant], weights, [seen.text[i] for i in rows], [keys[i] for i in rows], causal=True
    )


def compared(request: Request, before: Explanation, after: Explanation, losses: Losses) -> Value:
    """What the panel draws of a comparison."""
    return change.done(request, before, after, losses, spelled(request))


# ---- the family map and the guided steps -------------------------------------------------------------------------------------------


def thumbnail() -> Thumbnail | None:
    """The soft masks of all heads as rows, for the family map: how far each of them looks, the longest last."""
    kept = first()
    if kept is None:
        return None
    seen = kept.seen
    z = np.sort(seen.z.mean(2).ravel())
    farthest = min(seen.span, float(z.max()) + seen.ramp) * 1.2
    distance = np.linspace(farthest, 0, 2 * len(z))
    weights = np.clip((seen.ramp + z[:, None] - distance) / seen.ramp, 0, 1).astype(np.float32)
    row = len(z) - 1
    return Thumbnail(weights, pick=(row, int(np.argmax(weights[row] > 0))))


def steps() -> tuple[GuidedStep, ...]:
    """The guided steps: inputs as permalinks, views and panels that show what these runs have to tell."""
    kept = first()
    start = EXAMPLES[0]
    head, pos = "1.1", len(page(start.page)) + 12
    if kept is not None:
        pick = telling(kept.seen)
        if pick is not None:
            pos = int(str(pick["pos"]))
        far = np.unravel_index(int(kept.seen.z.mean(2).argmax()), kept.seen.z.shape[:2])
        head = f"{int(far[0]) + 1}.{int(far[1]) + 1}"
    here = {"head": head, "pos": str(pos)}
    span = about.size()[2]
    shown: dict[str, tuple[str, Mapping[str, str], str]] = {
        "differ": ("", here, "masks"),
        "mask": ("", {**here, "masksaxis": "log"}, "masks"),
        "price": ("", {**here, "kind": "before"}, "attention"),
        "short": (query(replace(start, spans=((EVERY, EVERY, 16.0),))), here, "reading"),
        "long": (query(replace(start, spans=((EVERY, EVERY, float(span)),))), here, "reading"),
        "token": (query(OFFERED[2]), {"head": head}, "masks"),
        "saving": ("", {"saving": "open"}, ""),
    }
    return tuple(GuidedStep(title, said, *shown[key]) for key, title, said in texts.STEPS if key != "token" or OFFERED[2] in EXAMPLES)
